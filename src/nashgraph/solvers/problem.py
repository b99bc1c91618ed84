r"""The GLGP problem, as every solver sees it.

.. math:: \min_{W \in S} \; \ell(W) = J(W) - \lambda\, g(y(W)), \quad y = \max(0, b + W f(y))

Its hypergradient is :math:`D + 2\beta W - \lambda\, u f(y)^\top` (fact 1 of the design), so W is stationary exactly
when it is the row best response to the bonus :math:`\lambda\, u f(y)^\top` (fact 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..couplings import DenseCoupling, DenseStorage
from ..games import Interaction, Welfare, as_interaction, as_welfare, solve_affine, solve_concave
from ..validation import Array

EXACT = 1e-13


class Play(NamedTuple):
    """The game played on a graph: actions y, adjoint u, and how far the two are solved.

    Examples
    --------
    >>> import numpy as np
    >>> Play(np.ones(2), np.ones(2)).actions
    array([1., 1.])
    """

    actions: Array
    adjoint: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """Signals, prior and game.

    Attributes
    ----------
    storage : DenseStorage, which knows X, beta and c
    benefit : array of shape (n_nodes,), non-negative
    lam : float
    interaction : Interaction
    welfare : Welfare

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]), lam=2.0, beta=1.0)
    >>> smooth = problem.storage.smooth()
    >>> round(problem.objective(smooth, problem.play(smooth).actions), 4)
    0.0133
    """

    storage: DenseStorage
    benefit: Array
    lam: float
    interaction: Interaction
    welfare: Welfare

    @classmethod
    def from_signals(
        cls,
        X: Array,
        benefit: Array,
        *,
        lam: float = 1.0,
        beta: float = 1.0,
        c: float = 0.95,
        interaction: str | Interaction = "log1p",
        welfare: str | Welfare = "total",
    ) -> Problem:
        """Make a problem of plain arrays and names."""
        return cls(DenseStorage(X, beta, c), benefit, lam, as_interaction(interaction), as_welfare(welfare))

    def play(self, coupling: DenseCoupling, *, tol: float = EXACT, start: Play | None = None) -> Play:
        """Solve the game on W for its equilibrium and adjoint, from a warm start if there is one."""
        actions = solve_concave(
            coupling.dot, self.benefit, self.interaction, tol=tol, start=None if start is None else start.actions
        ).point
        return Play(actions, self.adjoint(coupling, actions, tol=tol, start=None if start is None else start.adjoint))

    def adjoint(self, coupling: DenseCoupling, actions: Array, *, tol: float = EXACT, start: Array | None = None) -> Array:
        """Solve u = grad g(y) + f'(y) (W^T u) at the given actions."""
        slope = self.interaction.slope(actions)
        return solve_affine(
            lambda v: slope * coupling.tdot(v), self.welfare.gradient(actions), tol=tol, start=start
        ).point

    def objective(self, coupling: DenseCoupling, actions: Array) -> float:
        """Return J(W) - lam g(y), with y taken to be the equilibrium of W."""
        return self.storage.fidelity(coupling) - self.lam * self.welfare.value(actions)

    def bonus(self, play: Play) -> tuple[Array, Array]:
        """Return the two sides of the rank-one bonus lam u f(y)^T."""
        return self.lam * play.adjoint, self.interaction.value(play.actions)

    def respond(self, play: Play) -> DenseCoupling:
        """Return the row best response to a play."""
        return self.storage.respond(*self.bonus(play))

    def stationarity(self, coupling: DenseCoupling, play: Play) -> float:
        """Return ||W - best_response(W)||_F / ||W||_F at the play of W."""
        return coupling.distance(self.respond(play)) / coupling.square**0.5

    def hypergradient(self, coupling: DenseCoupling, play: Play) -> Array:
        """Return the N x N hypergradient D + 2 beta W - lam u f(y)^T (for checks; no solver needs it whole)."""
        left, right = self.bonus(play)
        return self.storage.distances + 2.0 * self.storage.beta * coupling.weights - left[:, None] * right
