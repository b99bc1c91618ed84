r"""Priors that are the value of node dynamics at rest, with one fixed-point implementation for all of them.

.. math:: \Phi(W) = g(y), \quad y = \varphi(b + \delta\, W f(y))

With :math:`z = b + \delta W f(y)` and the adjoint
:math:`u = \nabla g(y) + \delta f'(y) \circ W^\top(\varphi'(z) \circ u)` the gradient has one column,
:math:`\nabla\Phi = \delta\,(\varphi'(z) \circ u) f(y)^\top` (fact 9 of docs/mathematics.md). A unit of benefit is worth
:math:`\varphi'(z) \circ u`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

import numpy as np

from ..games import (
    FixedPoint,
    Interaction,
    Linear,
    WeightedTotal,
    as_interaction,
    as_welfare,
    solve_affine,
    solve_response,
)
from ..games.feedback import NoEquilibriumError, feedback_of, too_much_feedback
from ..games.interactions import INTERACTIONS, Response
from ..games.welfares import WELFARES
from ..matching import node_values
from ..registry import Registry
from ..validation import Array, InputError, check_number
from .prior import EXACT, Combinable, Graph, put

AT_REST = 1e-3  # a residual above this was not solved at all: the roughest states asked for have 1e-4


@dataclass(frozen=True, eq=False)
class DynamicsState:
    """Dynamics at rest on a weight matrix: actions y, adjoint u, value g(y), and the gradient left right^T.

    ``worth`` is the gradient by the benefits; None for dynamics without benefits.
    """

    actions: Array
    adjoint: Array
    value: float
    left: Array
    right: Array
    worth: Array | None = None


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

    def _evaluate(self, weights: Graph, *, tol: float, start: DynamicsState | None) -> DynamicsState:
        rest, adjoint = self.solve(weights, tol, start)
        # The adjoint times the defect is the first-order error of the value: added, it leaves one of order tol^2.
        value = float(self.welfare.value(rest.point)) + float(adjoint @ rest.defect)
        return self.state(weights, rest.point, adjoint, value)

    def solve(self, weights: Graph, tol: float, start: DynamicsState | None) -> tuple[FixedPoint, Array]:
        """Return the point of rest, with its defect, and the adjoint."""
        actions = None
        adjoint = None
        if start is not None:
            actions = start.actions
            adjoint = start.adjoint
        rest = self.settle(weights, tol=tol, start=actions)
        return rest, self.adjoint(weights, rest.point, tol=tol, start=adjoint)

    def settle(self, weights: Graph, *, tol: float, start: Array | None) -> FixedPoint:
        """Return the point of rest; one that does not exist, or was not reached, is an error."""
        rest = self.rest(weights, tol=tol, start=start)
        if self.plain and tol > EXACT and self.ran_away(rest):
            # A rough solution may have small negative actions where benefits are zero; an exact one has none.
            rest = self.rest(weights, tol=EXACT, start=start)
        if self.plain and self.ran_away(rest):
            # Actions may be huge and still level off: only the feedback tells whether there is an equilibrium.
            if feedback(weights, self.interaction, self.share) < 1.0:
                rest = self.rest(weights, tol=tol, start=start, growth=np.inf)
            if self.ran_away(rest):
                raise NoEquilibriumError(feedback_sentence(weights, self.interaction, self.share))
        if not rest.residual <= AT_REST:
            raise NoEquilibriumError(
                f"the dynamics do not come to rest on a graph (residual {rest.residual:.1g}): their map must contract, "
                "for example by slopes of at most 1"
            )
        return rest

    def ran_away(self, rest: FixedPoint) -> bool:
        """Tell whether the solution of a plain game is not one of actions, because its feedback is too strong."""
        if not np.isfinite(rest.residual):
            return True
        # If W expands, I - W still has an inverse, but its solution of the linear game is not a set of actions.
        least_benefit = float(self.benefit.min())
        return least_benefit >= 0.0 and float(rest.point.min()) < -1e-6 * float(np.linalg.norm(rest.point))

    def rest(self, weights: Graph, *, tol: float, start: Array | None, growth: float = 1e8) -> FixedPoint:
        """Solve y = φ(b + δ W f(y)); in a plain game on the device where the graph lives."""
        if not self.plain:
            product = times(self.share, weights.dot)
            return solve_response(
                product, self.benefit, self.interaction, self.response, tol=tol, start=start, growth=growth
            )
        # Newton's method on the device: only the first and last vectors cross over.
        first = None if start is None else put(weights, start)
        benefit = put(weights, self.benefit)
        y = solve_response(
            times(self.share, weights.dot), benefit, self.interaction, tol=tol, start=first, growth=growth
        )
        return FixedPoint(np.asarray(y.point), np.asarray(y.defect), y.products)

    def reply(self, weights: Graph, actions: Array) -> Array:
        """Return the map's image of some actions, φ(b + δ W f(y))."""
        return self.response.value(self.inner(weights, actions))

    def inner(self, weights: Graph, actions: Array) -> Array:
        """Return z = b + δ W f(y)."""
        inner: Array = self.benefit + self.share * weights.dot(self.interaction.value(actions))
        return inner

    def response_slope(self, weights: Graph, actions: Array) -> Array:
        """Return φ'(z); in a plain game it is 1 and z need not be computed."""
        if self.plain:
            return np.ones(len(actions))
        return self.response.slope(self.inner(weights, actions))

    def outer_slope(self, weights: Graph, actions: Array) -> Array:
        """Return δ φ'(z)."""
        return self.share * self.response_slope(weights, actions)

    def adjoint(self, weights: Graph, actions: Array, *, tol: float = EXACT, start: Array | None = None) -> Array:
        """Solve for the adjoint u at given actions, on the device where the graph lives."""
        outer = put(weights, self.outer_slope(weights, actions))
        slope = put(weights, self.interaction.slope(actions))
        constant = put(weights, self.welfare.gradient(actions))
        first = None if start is None else put(weights, start)

        # Transposed, the derivative of the map is f'(y) W^T (δ φ'(z) v).
        def linear(vector: Array) -> Array:
            return slope * weights.tdot(outer * vector)

        return np.asarray(solve_affine(linear, constant, tol=tol, start=first).point)

    def state(self, weights: Graph, actions: Array, adjoint: Array, value: float) -> DynamicsState:
        """Return a state of given actions and adjoint."""
        worth = self.response_slope(weights, actions) * adjoint
        return DynamicsState(actions, adjoint, value, self.share * worth, self.interaction.value(actions), worth)

    def with_benefit(self, benefit: Array) -> Self:
        """Return the dynamics with other benefits; the response keeps its corners as they are."""
        other = copy(self)
        other._set(benefit=np.asarray(benefit, dtype=float))
        return other

    def with_share(self, share: float) -> Self:
        """Return the dynamics with another strength of what neighbours do."""
        other = copy(self)
        other._set(share=float(share))
        return other

    def without(self, nodes: Array) -> Self:
        """Return the dynamics when some nodes are gone: they have no benefit and do nothing."""
        stays = np.ones(len(self.benefit))
        stays[nodes] = 0.0
        other = self.with_benefit(self.benefit * stays)
        if not self.plain:  # else a node without ties and benefit does nothing already
            other._set(response=Silenced(self.response, stays))
        return other

    def rules(self) -> dict[str, Any] | None:
        """Return the rules of the game as data; None if the response is one that only Python can play."""
        response: dict[str, Any] | None = {"kind": "identity"}
        if not self.plain:
            response = response_rules(self.response)
        interaction = name_of(INTERACTIONS, self.interaction)
        welfare = name_of(WELFARES, self.welfare)
        if response is None or interaction is None or welfare is None:
            return None
        return {
            "interaction": interaction,
            "welfare": welfare,
            "share": float(self.share),
            "response": response,
            "strength": 1.0,
        }


@dataclass(frozen=True, eq=False)
class Silenced:
    """A response in which some nodes do nothing: φ is 0 where ``stays`` is."""

    response: Response
    stays: Array

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest action, 0 for those who are gone."""
        low, high = self.response.range
        return min(low, 0.0), max(high, 0.0)

    def value(self, z: Array) -> Array:
        return self.stays * self.response.value(z)

    def slope(self, z: Array) -> Array:
        return self.stays * self.response.slope(z)


def response_rules(response: Any) -> dict[str, Any] | None:
    """Return a response as data, if it has such a form."""
    rules: Callable[[], dict[str, Any]] | None = getattr(response, "rules", None)
    return None if rules is None else rules()


def name_of(registry: Registry[Any], rule: Any) -> str | None:
    """Return the name of a registered interaction or welfare without parameters; None for another."""
    if isinstance(rule, WeightedTotal):
        return "weighted"
    for name, kind in registry.items():
        if type(rule) is kind:
            return name
    return None


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
    >>> from nashgraph.pairs import make_search
    >>> from nashgraph.smoothness import make_smoothness
    >>> smoothness = make_smoothness(make_search(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> round(Dynamics(np.array([0.2, 0.3, 0.5]), tanh).evaluate(smoothness.smooth).value, 4)
    1.4971
    """

    benefit: Array
    response: Response
    interaction: Any = "linear"
    welfare: Any = "total"
    share: float = field(default=1.0, init=False)

    def __post_init__(self) -> None:
        benefit = node_values(self.benefit)
        interaction = as_interaction(self.interaction)
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

    def rules(self) -> dict[str, Any]:
        """Return the response as data."""
        return {"kind": "infection", "rate": self.rate}


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
        imports = node_values(self.imports)
        if not (imports > 0).all():
            raise InputError("Epidemic imports must be positive at every node: add a small number, for example 0.001")
        rate = check_number("Epidemic rate", self.rate, low=0, open_low=True, remedy="try 1")
        self._set(benefit=imports, response=Infection(rate), welfare=as_welfare(self.welfare))


def feedback(weights: Graph, interaction: Interaction, share: float) -> float:
    """Return the feedback of a plain game; infinite if the weights are known by their products only."""
    matrix = getattr(weights, "matrix", None)
    # A solver's weights have ``matrix`` as a method: on S the feedback is below c, so it is not asked for.
    if matrix is None or callable(matrix):
        return np.inf
    return feedback_of(share * matrix, interaction)


def feedback_sentence(weights: Graph, interaction: Interaction, share: float) -> str:
    """Say that a game has no equilibrium, and by how much its feedback must fall if that can be told."""
    if np.isinf(feedback(weights, interaction, share)):
        return "the game on this graph has no equilibrium: lower c or share"
    return too_much_feedback(share * cast(Any, weights).matrix, interaction)


def times(share: float, product: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return v -> share product(v)."""
    if share == 1.0:
        return product
    return lambda vector: share * product(vector)
