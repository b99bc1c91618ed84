r"""The problem, as every solver sees it.

.. math:: \min_{W \in S} \; \ell(W) = J(W) - \lambda\,\Phi(W), \quad \nabla\Phi = L R^\top

W is stationary exactly when it is the row best response to the bonus :math:`\lambda L R^\top` (facts 1, 2 and 11 of the
design). The paper's prior is the welfare of a network game.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..games import Interaction, Welfare
from ..pairs import Bonus, Weights, make_search
from ..priors import GamePrior, Prior, State
from ..smoothness import Smoothness, make_smoothness
from ..validation import Array


@dataclass(frozen=True, eq=False)
class Problem:
    """Smoothness and prior; how much the prior counts, lambda, is an argument of solving.

    Attributes
    ----------
    smoothness : Smoothness, the term J, which knows the signals, beta and c
    prior : Prior
    rounding : float, the relative error to which two objectives can be told apart

    Examples
    --------
    >>> import numpy as np
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

    def objective(self, weights: Weights, state: State, lam: float) -> float:
        """Return J(W) - lam Φ(W), given the state of W."""
        return self.smoothness.value(weights) - lam * state.value

    def bonus(self, state: Any, lam: float) -> Bonus:
        """Return the bonus lam L R^T."""
        with np.errstate(over="ignore"):  # the bonus refuses what is too large
            return Bonus.of(lam * state.left, state.right)

    def sides(self, state: Any, lam: float) -> Iterator[tuple[Array, Array]]:
        """Yield the columns of lam L and of R."""
        for left, right in zip(np.atleast_2d(state.left.T), np.atleast_2d(state.right.T), strict=True):
            yield lam * left, right

    def respond(self, state: Any, lam: float) -> Weights:
        """Return the row best response to the gradient of a state."""
        return self.smoothness.respond(self.bonus(state, lam))

    def stationarity(self, weights: Weights, state: State, lam: float) -> float:
        """Return ||W - best_response(W)||_F / ||W||_F at the state of W."""
        return weights.distance(self.respond(state, lam)) / float(np.sqrt(weights.square))
