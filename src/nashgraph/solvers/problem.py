r"""The problem as every solver sees it, the settings that all solvers share, and their result.

.. math:: \min_{W \in S} \; \ell(W) = J(W) - \lambda\,\Phi(W), \quad \nabla\Phi = L R^\top

W is stationary exactly when it is the row best response to the bonus :math:`\lambda L R^\top` (facts 1, 2 and 9 of
docs/mathematics.md). The paper's prior is the welfare of a network game.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..certificate import Callback, Certificate
from ..games import Interaction, Welfare
from ..pairs import Bonus, Weights, make_search
from ..priors import GamePrior, Prior, State
from ..registry import Settings
from ..smoothness import Smoothness, make_smoothness
from ..validation import Array, check_integer, check_number, check_observed


@dataclass(frozen=True, eq=False)
class Problem:
    """Smoothness and prior; how much the prior counts, lambda, is an argument of solving.

    ``smoothness`` is the term J, which knows the signals, beta and c; ``rounding`` is the relative error to which two
    objectives can be told apart.

    Examples
    --------
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]), beta=1.0)
    >>> round(problem.objective(problem.smooth, problem.smooth_state, lam=2.0), 4)
    0.0133
    """

    smoothness: Smoothness
    prior: Prior
    rounding: float = 64.0 * float(np.finfo(float).eps)

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
        engine: str = "threads",
    ) -> Problem:
        """Make a problem with a game prior of plain arrays and names; X may have gaps (NaN)."""
        check_observed(X, np.arange(X.shape[1]))
        smoothness = make_smoothness(make_search(X, engine), beta, c, storage)
        return cls(smoothness, GamePrior(benefit, interaction, welfare))

    @property
    def smooth(self) -> Weights:
        """The graph without prior, found once."""
        return self.smoothness.smooth

    @cached_property
    def smooth_state(self) -> Any:
        """The prior at the graph without prior."""
        return self.prior.evaluate(self.smooth)

    def start_of(self, start: Weights | Result | None) -> tuple[Weights, Any]:
        """Return the graph to start from, by default that without prior, and the prior at it if it is known."""
        if isinstance(start, Result):
            return start.weights, start.state
        return self.smooth if start is None else start, None

    def objective(self, weights: Weights, state: State, lam: float) -> float:
        """Return J(W) - lam Φ(W), given the state of W."""
        return self.smoothness.value(weights) - lam * state.value

    def bonus(self, state: Any, lam: float) -> Bonus:
        """Return the bonus lam L R^T."""
        with np.errstate(over="ignore"):  # the bonus refuses what is too large
            return Bonus.of(lam * state.left, state.right)

    def respond(self, state: Any, lam: float, *, proved: bool = True) -> Weights:
        """Return the row best response to the gradient of a state, among all pairs or only among the candidates."""
        return self.smoothness.respond(self.bonus(state, lam), proved=proved)

    def stationarity(self, weights: Weights, state: State, lam: float, *, proved: bool = True) -> float:
        """Return ||W - best_response(W)||_F / ||W||_F at the state of W."""
        response = self.respond(state, lam, proved=proved)
        return weights.distance(response) / float(np.sqrt(weights.square))


@dataclass(frozen=True, kw_only=True, repr=False)
class SolverOptions(Settings):
    """Settings of any solver; a solver is a subclass with the method ``solve``.

    Attributes
    ----------
    tol : float
        Stationarity at which to stop.
    max_iter : int
        Most steps to take.
    n_starts : int
        Number of starts, of which the lowest objective is kept: SmoothGL's graph, the best response to the uniform
        graph, the linear approximation, then random ones. Several stationary points exist at large ``lam``.
    storage : "auto", "dense" or "sparse"
        Whether the costs of all pairs are stored, or of candidate pairs; "auto" chooses by size and free memory, and
        logs which. The steps are the same.
    callback : callable, optional
        Called with the :class:`~nashgraph.certificate.Record` of every iterate (iteration, objective, value of the
        stationarity, welfare); a true answer stops. The same records are logged, at level DEBUG, as "nashgraph".
    """

    tol: float = 1e-6
    max_iter: int = 1000
    n_starts: int = 1
    storage: str = "auto"
    callback: Callback | None = None

    def __post_init__(self) -> None:
        check_number("tol", self.tol, low=0, remedy="tol is a stationarity; try 1e-6")
        check_integer("max_iter", self.max_iter, low=1, remedy=f"try {type(self).max_iter}")
        check_integer("n_starts", self.n_starts, low=1, high=1000, remedy="try 4")

    def solve(self, problem: Problem, lam: float, start: Weights | Result | None = None) -> Result:
        """Solve from ``start``: by default the Smooth-GL graph."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Result:
    """A graph learned by a solver, with what certifies it.

    ``weights`` is the graph W, ``state`` the prior at it (for a game its actions, adjoint and welfare), and ``scans``
    how many times all pairs of nodes were gone through, parts counted as shares. The certificate's value is the
    stationarity ||W - best_response(W)||_F / ||W||_F: zero exactly at stationary points.
    """

    weights: Weights
    state: Any
    objective: float
    scans: float
    certificate: Certificate

    @property
    def welfare(self) -> float:
        """The prior's value, for a game the welfare g(y)."""
        return float(self.state.value)

    @property
    def converged(self) -> bool:
        """Whether the stationarity asked for was reached."""
        return self.certificate.converged
