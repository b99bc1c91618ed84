r"""The paper's prior: the welfare at the equilibrium of a network game.

.. math:: \Phi(W) = g(y), \quad y = \max(0, b + W f(y))

Its gradient has rank one (fact 1 of the design): with the adjoint :math:`u = \nabla g(y) + f'(y) \circ (W^\top u)`,
:math:`\nabla\Phi = u f(y)^\top`. Both are fixed points, found by a few products with W and its transpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..games import Interaction, as_interaction, as_welfare, solve_affine, solve_concave
from ..pairs import HERE, Place
from ..validation import Array
from .prior import EXACT, Graph


@dataclass(frozen=True, eq=False)
class GameState:
    """The game on a weight matrix: equilibrium actions y, adjoint u and welfare, and the gradient u f(y)^T."""

    actions: Array
    adjoint: Array
    value: float
    right: Array

    @property
    def left(self) -> Array:
        """The left side of the gradient, u."""
        return self.adjoint


@dataclass(frozen=True, eq=False)
class GamePrior:
    """The welfare of the network game as a functional prior.

    Parameters
    ----------
    benefit : array of shape (n_nodes,), non-negative
    interaction : str or Interaction
    welfare : str or Welfare

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.pairs import PairSearch
    >>> from nashgraph.smoothness import make_smoothness
    >>> smoothness = make_smoothness(PairSearch(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> prior = GamePrior(np.array([0.2, 0.3, 0.5]), "linear")
    >>> round(prior.evaluate(smoothness.smooth).value, 4)
    1.7667
    """

    benefit: Array
    interaction: Any = "log1p"
    welfare: Any = "total"

    def __post_init__(self) -> None:
        object.__setattr__(self, "interaction", as_interaction(self.interaction))
        object.__setattr__(self, "welfare", as_welfare(self.welfare))

    def evaluate(self, weights: Graph, *, tol: float = EXACT, start: GameState | None = None) -> GameState:
        r"""Solve the game on W for its equilibrium and adjoint.

        The value returned is :math:`g(y) + u^\top (T(y) - y)`, corrected to first order for the residual of y: its
        error is of second order in ``tol``.
        """
        place = weights.place
        y = solve_concave(
            weights.dot,
            place.put(self.benefit),
            There.of(self.interaction, place),
            tol=tol,
            start=None if start is None else place.put(start.actions),
        )
        actions = place.get(y.point)
        adjoint = self.adjoint(weights, actions, tol=tol, start=None if start is None else start.adjoint)
        value = self.welfare.value(actions) + float(adjoint @ place.get(y.defect))
        return self.state(actions, adjoint, value)

    def state(self, actions: Array, adjoint: Array, value: float) -> GameState:
        """Return a state of given actions and adjoint."""
        return GameState(actions, adjoint, value, self.interaction.value(actions))

    def adjoint(self, weights: Graph, actions: Array, *, tol: float = EXACT, start: Array | None = None) -> Array:
        """Solve u = grad g(y) + f'(y) (W^T u) at the given actions."""
        place = weights.place
        slope = There.of(self.interaction, place).slope(place.put(actions))
        gradient = place.put(self.welfare.gradient(actions))
        first = None if start is None else place.put(start)
        return place.get(solve_affine(scaled(slope, weights.tdot), gradient, tol=tol, start=first).point)


@dataclass(frozen=True)
class There:
    """An interaction of vectors that live on a device, computed in memory."""

    interaction: Interaction
    place: Place

    @classmethod
    def of(cls, interaction: Interaction, place: Place) -> Interaction:
        """Return an interaction for vectors in a place: itself, if it takes them as they are."""
        return interaction if place is HERE or getattr(interaction, "anywhere", False) else cls(interaction, place)

    def value(self, x: Array) -> Array:
        """Return f(x) there."""
        return self.place.put(self.interaction.value(self.place.get(x)))

    def slope(self, x: Array) -> Array:
        """Return f'(x) there."""
        return self.place.put(self.interaction.slope(self.place.get(x)))

    def curvature(self, x: Array) -> Array:
        """Return f''(x) there."""
        return self.place.put(self.interaction.curvature(self.place.get(x)))


def scaled(factors: Array, product: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return v -> factors product(v)."""
    return lambda vector: factors * product(vector)
