r"""What a solver needs of a functional prior Φ: its value at W and its gradient :math:`\nabla\Phi = L R^\top`.

Any differentiable functional that comes from solving a task on the network has such a gradient with few columns (fact
9 of docs/mathematics.md), so a stationary W of :math:`J(W) - \lambda\,\Phi(W)` is its own best response to the bonus
:math:`\lambda L R^\top`. A new prior is one class with an ``evaluate``; no solver, storage or engine knows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ..pairs import HERE
from ..registry import Settings
from ..validation import Array, InputError, check_number

# The relative residual to which a state is solved when it is solved for good: a few hundred roundings.
EXACT = 1e-13


class Graph(Protocol):
    """What a prior may ask of a weight matrix: products, and where they take their vectors."""

    @property
    def place(self) -> Any: ...

    def dot(self, vector: Array) -> Array:
        """Return W v."""

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""


class State(Protocol):
    r"""A prior evaluated at a weight matrix: Φ(W), and L and R, of shape (n_nodes,) or (n_nodes, K)."""

    @property
    def value(self) -> float: ...
    @property
    def left(self) -> Array: ...
    @property
    def right(self) -> Array: ...


class Prior(Protocol):
    """A functional prior."""

    def evaluate(self, weights: Graph, *, tol: float = EXACT, start: Any = None) -> Any:
        """Return the :class:`State` at a weight matrix.

        ``tol`` is the relative error allowed in ``left`` and ``right``; that of ``value`` should be of second order in
        it, so that rough states are enough to compare objectives. ``start`` is the state at a similar weight matrix.
        """


def products(weights: Graph) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """Return v -> W v and v -> W^T v for vectors in memory, wherever W is."""
    # On a device every product costs two copies: use it for priors that need few.
    if weights.place is HERE:
        return weights.dot, weights.tdot
    put, get = weights.place
    return lambda vector: get(weights.dot(put(vector))), lambda vector: get(weights.tdot(put(vector)))


def by_column(product: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a product that takes one vector, or several as columns."""

    def times(vectors: Array) -> Array:
        if vectors.ndim == 1:
            return product(vectors)
        return np.column_stack([product(np.ascontiguousarray(column)) for column in vectors.T])

    return times


def columns(side: Array) -> Array:
    """Return one side of a gradient with its columns, of which there may be only one."""
    return np.reshape(side, (len(side), -1))


class PriorState(NamedTuple):
    """A state of a prior made of other priors: value, gradient, and the states of its parts for a warm start."""

    value: float
    left: Array
    right: Array
    parts: tuple[Any, ...] = ()


class Combinable(Settings):
    """Base of priors: their arithmetic, ``prior_a + 2.0 * prior_b``, ``-prior``, and the number of their nodes."""

    per_node: ClassVar[str] = ""  # the field that has an entry for every node

    @property
    def n_nodes(self) -> int | None:
        """The number of nodes the prior is for; None if it is for any number."""
        if not self.per_node:
            return None
        if (entries := getattr(self, self.per_node)) is None:
            raise InputError(f"this {type(self).__name__} has no {self.per_node}: give it one number per node")
        return len(entries)

    def _set(self, **values: Any) -> None:
        """Set fields while the prior is made; afterwards it is frozen."""
        vars(self).update(values)

    def __add__(self, other: Any) -> SumOfPriors:
        return SumOfPriors((*terms_of(self), *terms_of(other)))

    def __mul__(self, strength: float) -> SumOfPriors:
        factor = check_number("the strength of a prior", strength, remedy="multiply by a number, for example 2.0")
        return SumOfPriors(tuple((factor * own, prior) for own, prior in terms_of(self)))

    __rmul__ = __mul__

    def __neg__(self) -> SumOfPriors:
        return -1.0 * self

    def __sub__(self, other: Any) -> SumOfPriors:
        return self + -1.0 * other


@dataclass(frozen=True, eq=False, repr=False)
class LinearPrior(Combinable):
    r"""Knowledge about pairs other than their likeness: :math:`\Phi(W) = \langle W, L R^\top\rangle`.

    Its gradient is :math:`L R^\top` everywhere, so every pair of nodes has a bonus (fact 8 of docs/mathematics.md).
    ``TieModel.prior()`` is one, with the log-odds of ties as the bonus.

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(5, 8))
    >>> favour = LinearPrior(np.ones((8, 1)), np.eye(8)[:, :1])  # everybody listens to node 0
    >>> influence = [GLGP(prior=prior, lam=1.0).fit(X).graph_.influence[0] for prior in (0.0 * favour, favour)]
    >>> bool(influence[1] > influence[0])
    True
    """

    left: Array
    right: Array
    per_node: ClassVar[str] = "left"

    def evaluate(self, weights: Graph, *, tol: float = EXACT, start: Any = None) -> PriorState:
        dot, _ = products(weights)
        value = sum(float(left @ dot(right)) for left, right in zip(self.left.T, self.right.T, strict=True))
        return PriorState(value, self.left, self.right)


@dataclass(frozen=True, eq=False, repr=False)
class SumOfPriors(Combinable):
    r"""A sum of priors with strengths of their own, some of which may be negative.

    .. math:: \Phi(W) = \sum_k s_k \Phi_k(W), \quad L = [s_1 L_1, s_2 L_2, \dots], \; R = [R_1, R_2, \dots]

    Assumptions: those of the priors. It is made by arithmetic, and ``terms`` are pairs of a strength and a prior.

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> from nashgraph.priors import Epidemic, GamePrior
    >>> benefit = np.arange(1.0, 31.0) / 465
    >>> prior = GamePrior(benefit) - 0.5 * Epidemic(benefit, 2.0)
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> GLGP(lam=1.0, prior=prior).fit(X).converged_
    True
    """

    terms: tuple[tuple[float, Any], ...]

    @property
    def n_nodes(self) -> int | None:
        """The number of nodes."""
        sizes = {getattr(prior, "n_nodes", None) for _, prior in self.terms} - {None}
        if len(sizes) > 1:
            raise InputError(f"the priors of a sum are for different numbers of nodes: {sorted(map(str, sizes))}")
        return sizes.pop() if sizes else None

    def evaluate(self, weights: Graph, *, tol: float = EXACT, start: PriorState | None = None) -> PriorState:
        starts = (None,) * len(self.terms) if start is None else start.parts
        parts = tuple(
            prior.evaluate(weights, tol=tol, start=each) for (_, prior), each in zip(self.terms, starts, strict=True)
        )
        # Strengths multiply the left sides only, so that the product L R^T has them once.
        strengths = [strength for strength, _ in self.terms]
        return PriorState(
            float(sum(strength * part.value for strength, part in zip(strengths, parts, strict=True))),
            np.hstack([strength * columns(part.left) for strength, part in zip(strengths, parts, strict=True)]),
            np.hstack([columns(part.right) for part in parts]),
            parts,
        )


def terms_of(prior: Any) -> tuple[tuple[float, Any], ...]:
    """Return a prior as terms of a sum."""
    if isinstance(prior, SumOfPriors):
        return prior.terms
    if not hasattr(prior, "evaluate"):
        raise InputError(f"only priors can be added to a prior, got {prior!r}: see nashgraph.priors")
    return ((1.0, prior),)


@dataclass(frozen=True, eq=False, repr=False)
class CustomPrior(Combinable):
    r"""A functional of your own, given as one function that returns its value and its gradient.

    .. math:: \Phi(W) = \text{value}, \quad \nabla\Phi = L R^\top

    Assumptions: the gradient is that of the value, exact to rounding (check it against differences). A constant added
    to a row of the gradient changes nothing, because every W in S has the same row sums.

    The function is called with W, of which it may ask the products ``W.dot(v)`` and ``W.tdot(v)`` with vectors, and
    returns the value and two arrays of shape (n_nodes,) or (n_nodes, K).

    Examples
    --------
    The number of walks of length two from one group to another, 1_A' W W 1_B, has a gradient of rank two:

    >>> a, b = np.eye(30)[:2]
    >>> def walks(W):
    ...     ahead, back = W.dot(b), W.tdot(a)
    ...     return a @ W.dot(ahead), np.stack([a, back], axis=1), np.stack([ahead, b], axis=1)
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> GLGP(lam=1.0, prior=CustomPrior(walks)).fit(X).converged_
    True
    """

    value_and_gradient: Callable[[Any], tuple[float, Array, Array]]

    def evaluate(self, weights: Graph, *, tol: float = EXACT, start: Any = None) -> PriorState:
        value, left, right = self.value_and_gradient(InMemory(*products(weights)))
        left, right = np.asarray(left, float), np.asarray(right, float)
        if left.shape != right.shape or left.ndim not in (1, 2):
            raise InputError(
                "value_and_gradient must return the value and two arrays of one shape, (n_nodes,) or (n_nodes, K), got "
                f"shapes {left.shape} and {right.shape}"
            )
        if not (np.isfinite(value) and np.isfinite(left).all() and np.isfinite(right).all()):
            raise InputError("value_and_gradient returned NaN or infinite numbers: make it finite on every graph of S")
        return PriorState(float(value), left, right)


class InMemory(NamedTuple):
    """A weight matrix as products with vectors in memory."""

    dot: Callable[[Array], Array]
    tdot: Callable[[Array], Array]
    place: Any = HERE

    @classmethod
    def of(cls, W: Any) -> InMemory:
        """Return a matrix as products."""
        return cls(lambda vector: W @ vector, lambda vector: W.T @ vector)
