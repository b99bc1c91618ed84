r"""The GLGP problem, as every solver sees it.

.. math:: \min_{W \in S} \; \ell(W) = J(W) - \lambda\, g(y(W)), \quad y = \max(0, b + W f(y))

Its hypergradient is :math:`D + 2\beta W - \lambda\, u f(y)^\top` (fact 1 of the design), so W is stationary exactly
when it is the row best response to the bonus :math:`\lambda\, u f(y)^\top` (fact 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..couplings import HERE, Coupling, Place, Smoothness, make_smoothness, place_of, points_of, single_of
from ..games import Interaction, Welfare, as_interaction, as_welfare, solve_affine, solve_concave
from ..validation import Array


@dataclass(frozen=True)
class There:
    """An interaction of vectors that live elsewhere, computed in memory."""

    interaction: Interaction
    place: Place

    @classmethod
    def of(cls, interaction: Interaction, place: Place) -> Interaction:
        """Return an interaction for vectors in a place: itself, where it takes them as they are."""
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


class Play(NamedTuple):
    """The game played on a graph: actions y, adjoint u, welfare g."""

    actions: Array
    adjoint: Array
    welfare: float


@dataclass(frozen=True, eq=False)
class Problem:
    """Signals and game; how much the game counts, lambda, is an argument of solving.

    Attributes
    ----------
    smoothness : Smoothness, the term J, which knows the signals, beta and c
    benefit : array of shape (n_nodes,), non-negative
    interaction : Interaction
    welfare : Welfare

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]), beta=1.0)
    >>> round(problem.objective(problem.smooth, problem.smooth_play, lam=2.0), 4)
    0.0133
    """

    smoothness: Smoothness
    benefit: Array
    interaction: Interaction
    welfare: Welfare

    @classmethod
    def from_signals(
        cls,
        X: Array,
        benefit: Array,
        *,
        beta: float = 1.0,
        c: float = 0.95,
        interaction: str | Interaction = "log1p",
        welfare: str | Welfare = "total",
        storage: str = "auto",
        dtype: str = "float64",
        engine: str = "threads",
    ) -> Problem:
        """Make a problem of plain arrays and names; where X has NaN, distances are over what two nodes share."""
        smoothness = make_smoothness(points_of(X, engine, dtype), beta, c, storage)
        return cls(smoothness, benefit, as_interaction(interaction), as_welfare(welfare))

    @property
    def smooth(self) -> Coupling:
        """The graph without prior, found once."""
        return self.smoothness.smooth

    @cached_property
    def smooth_play(self) -> Play:
        """The game on the graph without prior."""
        return self.play(self.smooth)

    @property
    def exact(self) -> float:
        """The relative residual to which a game is solved when it is solved for good."""
        return max(1e-13, 8.0 * float(np.finfo(self.smoothness.dtype).eps))

    @property
    def rounding(self) -> float:
        """The relative error to which two objectives can be told apart."""
        return 64.0 * float(np.finfo(self.smoothness.dtype).eps)

    def play(self, coupling: Coupling, *, tol: float | None = None, start: Play | None = None) -> Play:
        r"""Solve the game on W for its equilibrium and adjoint, from a warm start if there is one.

        The welfare returned is :math:`g(y) + u^\top (T(y) - y)`, corrected to first order for the residual of y. Its
        error is of second order in ``tol``, so half the digits of y are enough to compare objectives.
        """
        tol, place, single = self.exact if tol is None else tol, place_of(coupling), single_of(coupling)
        y = solve_concave(
            coupling.dot,
            place.put(self.benefit),
            There.of(self.interaction, place),
            tol=tol,
            start=None if start is None else place.put(start.actions),
            rough=None if single is None else single.dot,
        )
        actions = place.get(y.point)
        adjoint = self.adjoint(coupling, actions, tol=tol, start=None if start is None else start.adjoint)
        return Play(actions, adjoint, self.welfare.value(actions) + float(adjoint @ place.get(y.defect)))

    def adjoint(
        self, coupling: Coupling, actions: Array, *, tol: float | None = None, start: Array | None = None
    ) -> Array:
        """Solve u = grad g(y) + f'(y) (W^T u) at the given actions."""
        place, single = place_of(coupling), single_of(coupling)
        slope = There.of(self.interaction, place).slope(place.put(actions))
        gradient = place.put(self.welfare.gradient(actions))
        return place.get(
            solve_affine(
                scaled(slope, coupling.tdot),
                gradient,
                tol=self.exact if tol is None else tol,
                start=None if start is None else place.put(start),
                rough=None if single is None else scaled(slope.astype(np.float32), single.tdot),
            ).point
        )

    def objective(self, coupling: Coupling, play: Play, lam: float) -> float:
        """Return J(W) - lam g(y), given the play of W."""
        return self.smoothness.fidelity(coupling) - lam * play.welfare

    def bonus(self, play: Play, lam: float) -> tuple[Array, Array]:
        """Return the two sides of the rank-one bonus lam u f(y)^T."""
        with np.errstate(over="ignore"):  # the term says that it is too much
            return lam * play.adjoint, self.interaction.value(play.actions)

    def respond(self, play: Play, lam: float) -> Coupling:
        """Return the row best response to a play."""
        return self.smoothness.respond(*self.bonus(play, lam))

    def stationarity(self, coupling: Coupling, play: Play, lam: float) -> float:
        """Return ||W - best_response(W)||_F / ||W||_F at the play of W."""
        return coupling.distance(self.respond(play, lam)) / float(np.sqrt(coupling.square))
