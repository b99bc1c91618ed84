r"""Priors that are the value of node dynamics at rest, with one fixed-point implementation for all of them.

.. math:: \Phi(W) = g(y), \quad y = \varphi(b + \delta\, W f(y))

With :math:`z = b + \delta W f(y)` and the adjoint
:math:`u = \nabla g(y) + \delta f'(y) \circ W^\top(\varphi'(z) \circ u)` the gradient has one column,
:math:`\nabla\Phi = \delta\,(\varphi'(z) \circ u) f(y)^\top` (fact 9 of docs/mathematics.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np

from ..games import (
    FixedPoint,
    Interaction,
    Linear,
    as_interaction,
    as_welfare,
    solve_affine,
    solve_response,
)
from ..games.interactions import Response
from ..pairs import HERE, Place
from ..validation import Array, InputError, check_number
from .prior import EXACT, Combinable, Graph, products

AT_REST = 1e-3  # a residual above this was not solved at all: the roughest states asked for have 1e-4


@dataclass(frozen=True, eq=False)
class DynamicsState:
    """Dynamics at rest on a weight matrix: actions y, adjoint u, value g(y), and the gradient left right^T."""

    actions: Array
    adjoint: Array
    value: float
    left: Array
    right: Array


class FixedPointPrior(Combinable):
    """What all such priors share: solving for y and u. A subclass has the five attributes below."""

    benefit: Array
    response: Response
    interaction: Any
    welfare: Any
    share: float
    per_node: ClassVar[str] = "benefit"

    @property
    def plain(self) -> bool:
        """Whether φ does nothing on the graphs of S and δ is not negative, so that Newton's method is monotone."""
        return False

    def evaluate(self, weights: Graph, *, tol: float = EXACT, start: DynamicsState | None = None) -> DynamicsState:
        rest, adjoint = self.solve(weights, tol, start)
        # The adjoint times the defect is the first-order error of the value: added, it leaves one of order tol^2.
        value = float(self.welfare.value(rest.point)) + float(adjoint @ rest.defect)
        return self.state(weights, rest.point, adjoint, value)

    def solve(self, weights: Graph, tol: float, start: DynamicsState | None) -> tuple[FixedPoint, Array]:
        """Return the point of rest, with its defect, and the adjoint."""
        rest = self.rest(weights, tol=tol, start=None if start is None else start.actions)
        if not rest.residual <= AT_REST:
            raise InputError(
                f"the dynamics do not come to rest on a graph (residual {rest.residual:.1g}): their map must contract, "
                "for example by slopes of at most 1"
            )
        return rest, self.adjoint(weights, rest.point, tol=tol, start=None if start is None else start.adjoint)

    def rest(self, weights: Graph, *, tol: float, start: Array | None) -> FixedPoint:
        """Solve y = φ(b + δ W f(y)); in a plain game on the device where the graph lives."""
        if not self.plain:
            product = times(self.share, products(weights)[0])
            return solve_response(product, self.benefit, self.interaction, self.response, tol=tol, start=start)
        # Newton's method on the device: only the first and last vectors cross over.
        put, get = weights.place
        y = solve_response(
            times(self.share, weights.dot),
            put(self.benefit),
            at_place(self.interaction, weights.place),
            tol=tol,
            start=None if start is None else put(start),
        )
        return FixedPoint(get(y.point), get(y.defect), y.products)

    def reply(self, weights: Graph, actions: Array) -> Array:
        """Return the map's image of some actions, φ(b + δ W f(y))."""
        return self.response.value(self.inner(weights, actions))

    def inner(self, weights: Graph, actions: Array) -> Array:
        """Return z = b + δ W f(y)."""
        inner: Array = self.benefit + self.share * products(weights)[0](self.interaction.value(actions))
        return inner

    def outer_slope(self, weights: Graph, actions: Array) -> Array:
        """Return δ φ'(z); in a plain game φ' is 1 and z need not be known."""
        if self.plain:
            return np.full(len(actions), float(self.share))
        return self.share * self.response.slope(self.inner(weights, actions))

    def adjoint(self, weights: Graph, actions: Array, *, tol: float = EXACT, start: Array | None = None) -> Array:
        """Solve for the adjoint u at given actions, on the device where the graph lives."""
        put, get = weights.place
        outer, slope = put(self.outer_slope(weights, actions)), put(self.interaction.slope(actions))
        constant, first = put(self.welfare.gradient(actions)), None if start is None else put(start)

        # Transposed, the derivative of the map is f'(y) W^T (δ φ'(z) v).
        def linear(vector: Array) -> Array:
            return slope * weights.tdot(outer * vector)

        return get(solve_affine(linear, constant, tol=tol, start=first).point)

    def state(self, weights: Graph, actions: Array, adjoint: Array, value: float) -> DynamicsState:
        """Return a state of given actions and adjoint."""
        left = self.outer_slope(weights, actions) * adjoint
        return DynamicsState(actions, adjoint, value, left, self.interaction.value(actions))


@dataclass(frozen=True, eq=False, repr=False)
class Dynamics(FixedPointPrior):
    r"""A value of any node dynamics at rest: give the response φ, and the rest follows.

    .. math:: \Phi(W) = g(y), \quad y = \varphi(b + W f(y)), \quad
              \nabla\Phi = (\varphi'(z) \circ u) f(y)^\top

    Assumptions: φ and f are differentiable, and the map contracts, for example because both have slopes of at most 1
    (row sums of W are below 1). Then y is unique and found from any start.

    ``benefit`` is b, ``interaction`` f and ``welfare`` g. ``response`` is an object with ``value(z)`` and ``slope(z)``
    for arrays, and ``range``, the least and greatest value of φ.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> tanh = SimpleNamespace(value=np.tanh, slope=lambda z: 1.0 / np.cosh(z) ** 2, range=(-1.0, 1.0))
    >>> from nashgraph.pairs import PairSearch
    >>> from nashgraph.smoothness import make_smoothness
    >>> smoothness = make_smoothness(PairSearch(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> round(Dynamics(np.array([0.2, 0.3, 0.5]), tanh).evaluate(smoothness.smooth).value, 4)
    1.4971
    """

    benefit: Array
    response: Response
    interaction: Any = "linear"
    welfare: Any = "total"
    share: float = field(default=1.0, init=False)

    def __post_init__(self) -> None:
        benefit, interaction = np.asarray(self.benefit, float), as_interaction(self.interaction)
        self._set(benefit=benefit, interaction=interaction, welfare=as_welfare(self.welfare))


@dataclass(frozen=True)
class Infection:
    """φ(z) = τz / (1 + τz): the probability of being infected where the pressure of infection is z."""

    rate: float
    range = (0.0, 1.0)

    def value(self, z: Array) -> Array:
        return self.rate * z / (1.0 + self.rate * z)

    def slope(self, z: Array) -> Array:
        return self.rate / (1.0 + self.rate * z) ** 2


@dataclass(frozen=True, eq=False, repr=False)
class Epidemic(FixedPointPrior):
    r"""The size of an epidemic at its endemic state (mean field of the SIS model with imported cases).

    .. math:: \Phi(W) = \sum_i w_i y_i, \quad y = \frac{\tau z}{1 + \tau z}, \quad z = b + W y, \quad
              \nabla\Phi = \frac{\tau}{(1 + \tau z)^2} \circ u\; y^\top

    :math:`y_i` is the probability that node i is infected (or informed), :math:`\tau` the rate of infection over that
    of recovery. ``Epidemic(...)`` favours networks on which it spreads, as one wants of information;
    ``-Epidemic(...)`` those on which it stays small.

    Assumption: imports b are positive at every node. The endemic state is then unique for every :math:`\tau`, because
    the map increases and is concave.

    ``imports`` is b, the pressure of infection from outside, and ``rate`` is :math:`\tau`. The welfare "total" is the
    expected number of infected nodes.

    References
    ----------
    Van Mieghem, Omic, Kooij, *Virus spread in networks* (2009).

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> imports = np.where(np.arange(30) < 3, 0.5, 0.01)
    >>> spread, contained = (GLGP(lam=5.0, prior=sign * Epidemic(imports, 2.0)).fit(X).welfare_ for sign in (1, -1))
    >>> spread > -contained
    True
    """

    imports: Array
    rate: float = 1.0
    welfare: Any = "total"
    benefit: Array = field(init=False, repr=False)
    response: Response = field(init=False, repr=False)
    interaction: Any = field(default=Linear(), init=False, repr=False)
    share: float = field(default=1.0, init=False, repr=False)

    def __post_init__(self) -> None:
        imports = np.asarray(self.imports, float)
        if not (imports > 0).all():
            raise InputError("Epidemic imports must be positive at every node: add a small number, for example 0.001")
        rate = check_number("Epidemic rate", self.rate, low=0, open_low=True, remedy="try 1")
        self._set(benefit=imports, response=Infection(rate), welfare=as_welfare(self.welfare))


def times(share: float, product: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return v -> share product(v)."""
    return product if share == 1.0 else lambda vector: share * product(vector)


def at_place(interaction: Interaction, place: Place) -> Interaction:
    """Return an interaction for vectors on a device: itself if it takes them as they are, else computed in memory."""
    if place is HERE or getattr(interaction, "anywhere", False):
        return interaction
    put, get = place
    value, slope = (lambda x: put(interaction.value(get(x)))), (lambda x: put(interaction.slope(get(x))))
    return cast(Interaction, SimpleNamespace(value=value, slope=slope))
