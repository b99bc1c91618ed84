r"""What a solver needs of a functional prior Φ: its value at W and its gradient :math:`\nabla\Phi = L R^\top`.

Any differentiable functional that comes from solving a task on the network has such a gradient with few columns (fact
9 of docs/mathematics.md), so a stationary W of :math:`J(W) - \lambda\,\Phi(W)` is its own best response to the bonus
:math:`\lambda L R^\top`. A new prior is one class with an ``evaluate``; no solver, storage or engine knows it.

Interventions ask three more things, each of which a prior may lack: ``benefit`` and ``with_benefit(b)`` (what a unit of
support changes), and ``without(nodes)`` (what is left when people leave). A question that a prior cannot answer is
refused with an :class:`UnansweredError`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import numpy as np
import pandas as pd

from ..matching import fields_in_order, has_labels, names_of, square
from ..registry import Settings
from ..validation import Array, InputError, check_number, check_weights

# The relative residual to which a state is solved when it is solved for good: a few hundred roundings.
EXACT = 1e-13


class UnansweredError(InputError):
    """A question about a network that the prior it is played with cannot answer."""


class Graph(Protocol):
    """What a prior may ask of a weight matrix: products with vectors in memory, or where :func:`put` has them."""

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

    def evaluate(self, weights: Any, *, tol: float = EXACT, start: Any = None) -> Any:
        """Return the :class:`State` at a weight matrix: an array, CSR, a learned graph, or a solver's own weights.

        ``tol`` is the relative error allowed in ``left`` and ``right``; that of ``value`` should be of second order in
        it, so that rough states are enough to compare objectives. ``start`` is the state at a similar weight matrix.
        """


def put(weights: Graph, vector: Array) -> Array:
    """Return a vector where its products with W are fast: on a device if W is there; ``np.asarray`` brings it back."""
    if hasattr(weights, "put"):
        vector = weights.put(vector)
    return vector


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
    """A state of a prior made of other priors: value, gradient, and the states of its parts for a warm start.

    ``actions`` are what people do and ``worth`` is the gradient by the benefits; None where a prior has none.
    """

    value: float
    left: Array
    right: Array
    parts: tuple[Any, ...] = ()
    actions: Array | None = None
    worth: Array | None = None


class Combinable(Settings):
    """Base of priors: their arithmetic, ``prior_a + 2.0 * prior_b``, ``-prior``, and the number of their nodes.

    A subclass writes ``_evaluate``, which gets the weights as products.
    """

    per_node: ClassVar[str] = ""  # the field that has an entry for every node

    def evaluate(self, weights: Any, *, tol: float = EXACT, start: Any = None) -> Any:
        """Return the prior's state at an array, CSR, a learned graph or a solver's weights."""
        prior = self
        if has_labels(self):  # a Series of benefits, for example: matched once the nodes are known
            nodes: Any = names_of(weights)
            if nodes is None:
                nodes = range(self.n_nodes or 0)
            prior = fields_in_order("prior", self, nodes, "W")
        return prior._evaluate(as_products(weights), tol=tol, start=start)

    def _evaluate(self, weights: Graph, *, tol: float, start: Any) -> Any:
        raise NotImplementedError

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
        return SumOfPriors(tuple((factor * before, prior) for before, prior in terms_of(self)))

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

    def _evaluate(self, weights: Graph, *, tol: float, start: Any) -> PriorState:
        value = 0.0
        for left, right in zip(self.left.T, self.right.T, strict=True):
            value += float(left @ weights.dot(right))
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
        # Some priors are for any number of nodes.
        return sizes.pop() if sizes else None

    def _evaluate(self, weights: Graph, *, tol: float, start: PriorState | None) -> PriorState:
        starts: tuple[Any, ...] = (None,) * len(self.terms)
        if start is not None:
            starts = start.parts
        value = 0.0
        parts = []
        lefts = []
        rights = []
        worths: list[Any] = []
        for (strength, prior), before in zip(self.terms, starts, strict=True):
            part = prior.evaluate(weights, tol=tol, start=before)
            parts.append(part)
            value += strength * part.value
            # Strengths multiply the left sides only, so that the product L R^T has them once.
            lefts.append(strength * columns(part.left))
            rights.append(columns(part.right))
            if getattr(part, "worth", None) is not None:
                worths.append(strength * part.worth)
        # Where a term does not say what benefits are worth, the sum cannot either.
        worth = np.sum(worths, axis=0) if len(worths) == len(parts) else None
        actions = _same([getattr(part, "actions", None) for part in parts])
        return PriorState(float(value), np.hstack(lefts), np.hstack(rights), tuple(parts), actions, worth)

    @property
    def played_benefit(self) -> Array:
        """The benefits that all terms share."""
        benefit = _same([played_benefit(prior) for _, prior in self.terms])
        if benefit is None:
            raise UnansweredError("the terms of this sum have different benefits, so a unit of support has no meaning")
        return benefit

    def without(self, nodes: Array) -> SumOfPriors:
        """Return the sum when some nodes are gone from every term."""
        return SumOfPriors(tuple((strength, without(prior, nodes)) for strength, prior in self.terms))

    def with_benefit(self, benefit: Array) -> SumOfPriors:
        """Return the sum with other benefits, which all terms share."""
        self.played_benefit  # noqa: B018 (refuses a sum whose terms have different ones)
        return SumOfPriors(tuple((strength, with_benefit(prior, benefit)) for strength, prior in self.terms))

    def rules(self) -> dict[str, Any] | None:
        """Return the rules of the only term with its strength; a longer sum has none that a page could play."""
        [(strength, prior), *others] = self.terms
        inner = rules_of(prior)
        if others or inner is None:
            return None
        return {**inner, "strength": strength * inner["strength"]}


def _same(vectors: list[Any]) -> Array | None:
    """Return the vector that all terms of a sum share, or None if they differ or one has none."""
    first = vectors[0]
    for vector in vectors:
        if vector is None or first is None:
            return None
        if vector is not first and not (vector.shape == first.shape and np.allclose(vector, first)):
            return None
    return cast(Array, first)


def played_benefit(prior: Any) -> Array:
    """Return a prior's benefits, or refuse."""
    for name in ("played_benefit", "benefit"):
        benefit = getattr(prior, name, None)
        if benefit is not None:
            return np.asarray(benefit, dtype=float)
    raise UnansweredError(f"{title(prior)} has no benefits, so it does not say what support is worth")


def without(prior: Any, nodes: Array) -> Any:
    """Return a prior when some nodes are gone, or refuse."""
    if not hasattr(prior, "without"):
        raise UnansweredError(f"{title(prior)} does not say what is left when somebody leaves")
    return prior.without(nodes)


def with_benefit(prior: Any, benefit: Array) -> Any:
    """Return a prior with other benefits, or refuse."""
    if not hasattr(prior, "with_benefit"):
        raise UnansweredError(f"{title(prior)} has no benefits to change")
    return prior.with_benefit(benefit)


def rules_of(prior: Any) -> dict[str, Any] | None:
    """Return the rules of a game as data, for whoever plays it elsewhere; None if only Python can."""
    rules: Callable[[], dict[str, Any] | None] = getattr(prior, "rules", lambda: None)
    return rules()


def title(prior: Any) -> str:
    """Return what a prior is called in a sentence."""
    if isinstance(prior, SumOfPriors):
        terms = prior.terms
    else:
        terms = ((1.0, prior),)
    return "the prior " + " + ".join(type(term).__name__ for _, term in terms)


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

    Assumptions: the gradient is that of the value, exact to rounding (check it against differences on matrices with any
    row sums: inside :class:`Resilience` they are not c).

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

    def _evaluate(self, weights: Graph, *, tol: float, start: Any) -> PriorState:
        value, left, right = self.value_and_gradient(InMemory(weights.dot, weights.tdot))
        left = np.asarray(left, float)
        right = np.asarray(right, float)
        if left.shape != right.shape or left.ndim not in (1, 2):
            raise InputError(
                "value_and_gradient must return the value and two arrays of one shape, (n_nodes,) or (n_nodes, K), got "
                f"shapes {left.shape} and {right.shape}"
            )
        if not (np.isfinite(value) and np.isfinite(left).all() and np.isfinite(right).all()):
            raise InputError("value_and_gradient returned NaN or infinite numbers: make it finite on every graph of S")
        return PriorState(float(value), left, right)


@dataclass(frozen=True, eq=False)
class InMemory:
    """A weight matrix as products with vectors in memory; ``matrix`` is the matrix itself, if there is one."""

    dot: Callable[[Array], Array]
    tdot: Callable[[Array], Array]
    matrix: Any = None

    @classmethod
    def of(cls, W: Any) -> InMemory:
        """Return a matrix as products."""
        return cls(lambda vector: W @ vector, lambda vector: W.T @ vector, matrix=W)


def as_products(weights: Any) -> Graph:
    """Return an array, CSR or learned graph as products; a solver's weights as they are."""
    if hasattr(weights, "tdot"):
        return cast(Graph, weights)
    if isinstance(weights, pd.DataFrame):
        weights = square("W", weights).to_numpy()
    matrix = getattr(weights, "weights", weights)  # those of a learned graph
    return InMemory.of(check_weights(matrix))
