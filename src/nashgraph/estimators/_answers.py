"""The members of a consensus that have a game prior: best responses to the game played on the mean of the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import skew

from ..games import Interaction, Welfare, adjoint, equilibrium
from ..pairs import make_search
from ..smoothness import answering_ladder, make_smoothness
from ..solvers import lam_for_cost
from ..validation import Array
from ._ladders import Ladders
from ._members import Mean

# The prior counts half at the most. The consensus's own influence is a benefit only where hubs make it skewed.
PRIOR_SHARE, SKEW_NONE, SKEW_FULL = 0.5, 0.5, 1.0
OWN_COSTS, GIVEN_COSTS = (1e-2,), (0.1, 1.0, 10.0)
LEAST_SHARE = 0.05


class PriorPlan(NamedTuple):
    """The members with a prior: their share of the consensus, the benefit and its origin, what each may cost of J."""

    share: float
    benefit: Array
    origin: str
    costs: tuple[float, ...]


def prior_share(influence: Array) -> float:
    """Return how much a prior of one's own influence may count: nothing unless hubs make the influence skewed."""
    if np.ptp(influence) <= 1e-9 * influence.max():
        return 0.0
    share = float(np.clip((float(skew(influence)) - SKEW_NONE) / (SKEW_FULL - SKEW_NONE), 0.0, 1.0))
    return PRIOR_SHARE * share if share >= LEAST_SHARE else 0.0


def answer_the_game(
    plan: PriorPlan,
    mean: Mean,
    signals: Array,
    ladders: Ladders,
    geometries: dict[str, float],
    interaction: Interaction,
    welfare: Welfare,
) -> float:
    """Add the best responses to the game on the consensus, each at several strengths; return the mean strength."""
    graph = mean.weights.csr()
    actions = equilibrium(graph, plan.benefit, interaction)
    left, right = adjoint(graph, actions, interaction, welfare), interaction.value(actions)
    mean.scale(1.0 - plan.share)
    lams = list[float]()
    for geometry, weight in geometries.items():
        points = make_search(signals, ladders.engine, geometry=geometry)
        betas = ladders(signals, geometry).betas
        middle = make_smoothness(points, float(betas[len(betas) // 2]), ladders.c)
        for cost in plan.costs:
            lams.append(lam_for_cost(middle, left, right, cost))
            answers = answering_ladder(points, betas, ladders.c, ladders.kept, lams[-1] * left, right)
            mean.add(answers, plan.share * weight / len(plan.costs))
            ladders.done()
    return float(np.mean(lams))
