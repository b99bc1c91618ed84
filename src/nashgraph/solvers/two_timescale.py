r"""The paper's two-timescale gradient descent, exactly as published.

.. math::

    y^{k+1} &= y^k + \alpha\,(T(y^k; W^k) - y^k), \qquad T(y; W) = \max(0, b + W f(y)) \\
    W^{k+1} &= \mathrm{Proj}_S\big(W^k - \gamma\,(D + 2\beta W^k - \lambda\, u^{k+1} f(y^{k+1})^\top)\big)

with the adjoint :math:`u^{k+1} = \nabla g(y^{k+1}) + f'(y^{k+1}) \circ (W^{k\top} u^{k+1})`. Optimality: W is
stationary iff it is its own best response; the stopping measure is :math:`\|W - \mathrm{best\_response}(W)\|_F /
\|W\|_F`, taken every ``check_every`` iterations at the exact equilibrium of W. One iteration costs one pass over the
pairs and a few products with W; memory is about three N x N arrays.

Reference: Zhang, Liu, Wai, So, *Network Games Induced Prior for Graph Topology Learning*, equation (eq:ttgd).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..certificate import Measure, Monitor
from ..games import TotalAction
from ..pairs import Weights
from ..priors import DynamicsState, FixedPointPrior, GamePrior
from ..validation import Array, InputError, check_choice, check_integer, check_number
from .problem import Problem, Result, SolverOptions


class StepSizes(NamedTuple):
    """The two step sizes of TTGD: alpha for the actions, gamma for the graph."""

    alpha: float
    gamma: float


@dataclass(frozen=True, kw_only=True, repr=False)
class TTGD(SolverOptions):
    """The paper's two-timescale gradient descent and its settings.

    The settings of every solver are ``tol``, ``max_iter``, ``n_starts``, ``storage`` and ``callback``: see
    :class:`~nashgraph.solvers.SolverOptions`. With ``tol=0`` it runs all iterations, as in the paper. Graphs are held
    dense, because TTGD steps from any W.

    Attributes
    ----------
    alpha, gamma : float
        Step sizes; the defaults are the paper's.
    steps : {"given", "theory"}
        "theory" uses the step sizes of the theorem instead (see :func:`theory_steps`).
    check_every : int
        Steps from one check of the stationarity to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> GLGP(lam=1.0, beta=5.0, solver=TTGD(gamma=0.05)).fit(X).converged_
    True
    """

    max_iter: int = 2000
    alpha: float = 0.5
    gamma: float = 0.003
    steps: str = "given"
    check_every: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("steps", self.steps, ("given", "theory"))
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, remedy="the paper's is 0.5")
        check_number("gamma", self.gamma, low=0, open_low=True, remedy="the paper's is 0.003")
        check_integer("check_every", self.check_every, low=1, remedy="try 10")

    def solve(self, problem: Problem, lam: float, start: Weights | Result | None = None) -> Result:
        """Run from ``start`` and return the last iterate."""
        scans = problem.smoothness.search.scans
        first, _ = problem.start_of(start)
        sizes = StepSizes(self.alpha, self.gamma)
        if self.steps == "theory":
            sizes = theory_steps(problem, lam, first)
        monitor = Monitor(Measure.STATIONARITY, self.tol, self.max_iter, self.callback)
        exact: Any = None
        for iteration, weights in enumerate(iterates(problem, lam, first, sizes)):
            if iteration % self.check_every == 0 or iteration == self.max_iter:
                exact = problem.prior.evaluate(weights, start=exact)
                objective = problem.objective(weights, exact, lam)
                monitor.check(iteration, objective, problem.stationarity(weights, exact, lam), exact.value)
            if monitor.status is not None:  # the last iteration is checked, so that there is one
                break
        return Result(weights, exact, objective, problem.smoothness.search.scans - scans, monitor.certificate())


def iterates(problem: Problem, lam: float, start: Weights, steps: StepSizes) -> Iterator[Weights]:
    """Yield the iterates of TTGD without end, the start first."""
    problem.smoothness.check_all_pairs(start)
    weights = start
    prior = problem.prior
    state: Any = None
    if isinstance(prior, FixedPointPrior):
        actions = prior.benefit
        adjoint = prior.welfare.gradient(prior.benefit)
    while True:
        yield weights
        if isinstance(prior, FixedPointPrior):
            actions = actions + steps.alpha * (prior.reply(weights, actions) - actions)
            adjoint = prior.adjoint(weights, actions, start=adjoint)
            state = prior.state(weights, actions, adjoint, np.nan)
        else:  # without actions that could lag behind, both timescales are one: projected gradient at the exact state
            state = prior.evaluate(weights, start=state)
        weights = problem.smoothness.step(weights, problem.bonus(state, lam), steps.gamma)


def gradient_mapping(
    problem: Problem, lam: float, weights: Weights, gamma: float, state: DynamicsState | None = None
) -> Array:
    r"""Return :math:`\gamma^{-1}(W - \mathrm{Proj}_S(W - \gamma \nabla\ell(W)))`, the quantity of the theorem."""
    state = problem.prior.evaluate(weights) if state is None else state
    moved = problem.smoothness.step(weights, problem.bonus(state, lam), gamma)
    mapping: Array = (weights.matrix() - moved.matrix()).toarray() / gamma
    return mapping


def theory_steps(problem: Problem, lam: float, start: Weights) -> StepSizes:
    r"""Return the step sizes under which the theorem guarantees an O(1/K) squared gradient mapping.

    With :math:`\alpha = (1-c)/(1+c)^2` and :math:`\gamma = \min\{3/(4L_\ell),\; (1-c)\,\alpha/(4 L L_y)\}`, where

    .. math::

        L_y &= \sqrt N \|b\|_\infty / (1-c)^2 \\
        L_\ell &= \Big(\tfrac{\sqrt N \lambda}{1-c} + \tfrac{\lambda N \|b\|_\infty c}{(1-c)^3}\Big) L_y + 2\beta
                  + \tfrac{\lambda N \|b\|_\infty}{(1-c)^3} \\
        L &= \tfrac{\sqrt N \lambda}{1-c} + \tfrac{\lambda \sqrt N c}{(1-c)^2}\Big(\tfrac{\sqrt N \|b\|_\infty}{1-c}
             + \sqrt{(1 - \tfrac{\alpha(1-c)}{2})\|y^1 - \bar y^0\|^2 + 2 c L_y^2 (\tfrac{2}{(1-c)\alpha} - 1)}\Big)

    They are tiny: the theorem buys certainty with speed.
    """
    game = problem.prior
    if not (isinstance(game, GamePrior) and game.plain and game.share == 1.0):
        raise InputError("steps='theory' holds for the paper's game only: give alpha and gamma instead")
    if not isinstance(game.welfare, TotalAction):
        raise InputError(
            f"steps='theory' holds for welfare='total' only, got {game.welfare!r}: the theorem's constants are "
            "those of the total action; give alpha and gamma instead"
        )
    c = problem.smoothness.c
    n = problem.smoothness.n_nodes
    largest = float(game.benefit.max())
    root = float(np.sqrt(n))
    gap = 1.0 - problem.smoothness.c
    alpha = gap / (1.0 + c) ** 2
    exact = game.evaluate(start).actions
    first = game.benefit + alpha * start.dot(game.interaction.value(game.benefit))
    lipschitz_y = root * largest / gap**2
    lipschitz_loss = (
        (root * lam / gap + lam * n * largest * c / gap**3) * lipschitz_y
        + 2.0 * problem.smoothness.beta
        + lam * n * largest / gap**3
    )
    spread = (1.0 - 0.5 * alpha * gap) * float(np.sum((first - exact) ** 2))
    spread += 2.0 * c * lipschitz_y**2 * (2.0 / (gap * alpha) - 1.0)
    lipschitz = root * lam / gap + lam * root * c / gap**2 * (root * largest / gap + np.sqrt(spread))
    gamma = 0.75 / lipschitz_loss
    if lam > 0:
        gamma = min(gamma, gap * alpha / (4.0 * lipschitz * lipschitz_y))
    return StepSizes(alpha, float(gamma))
