"""The gains of other steps, other ways to lam="auto" and more starts: ``python -m benchmarks.steps``, STEPS.md.

Everything runs in one process and is counted, not timed: solved states of the prior, and best responses.
"""

from __future__ import annotations

import itertools
from collections import Counter
from functools import partial
from itertools import islice
from pathlib import Path
from unittest import mock

import numpy as np
from tests.problems import HARDEST, STRESS_GRID, TABLES, gaussian_clusters, hardest, likert, stress_problem

from nashgraph import spectral_benefit
from nashgraph.pairs import CandidateSet, make_search, project_rows
from nashgraph.priors import GamePrior
from nashgraph.smoothness import beta_for_degree
from nashgraph.solvers import (
    BestResponse,
    Problem,
    descent,
    lam_for_cost,
    solve_at_cost,
    starting_points,
    typical_share,
)
from nashgraph.solvers.strength import COST, Budget

from .report import Report

SIGNALS = (
    lambda random: likert(300, random, groups=8),
    lambda random: gaussian_clusters(300, random),
    lambda random: random.normal(size=(16, 300)),
    lambda random: random.lognormal(size=(60, 300)),
)
TABLES_200 = [partial(make, 200) for make in TABLES.values()]
COUNTS = Counter()


def problems(makers, strengths, seeds=(0,)):
    """Yield problems with the defaults of GLGP, each with so many times the lambda of the first order."""
    for make, seed, strength in itertools.product(makers, seeds, strengths):
        X = make(np.random.default_rng(seed))
        problem = Problem.from_signals(X, spectral_benefit(X), beta=beta_for_degree(make_search(X), 10, 0.95))
        share, state = COST * typical_share(problem.smoothness), problem.smooth_state
        yield problem, strength * lam_for_cost(problem.smoothness, state.left, state.right, share)


def hard_grid():
    """Yield a sample of the stress grid with a strong prior."""
    points = [
        point for point in itertools.product(*STRESS_GRID.values()) if point[1] >= 10 >= point[2] and point[4] > 3
    ]
    for k in np.random.default_rng(1).choice(len(points), 60, replace=False):
        yield stress_problem(*points[k], int(k)), points[k][1]


GROUPS = {
    "hardest": lambda: (hardest(name, "dense") for name in HARDEST),
    "grid": hard_grid,
    "tables": lambda: problems(TABLES_200, (1, 10, 1000), range(2)),
    "strong": lambda: problems(SIGNALS, (30.0,), range(4)),
    "ordinary": lambda: problems(SIGNALS, (1.0,), range(4)),
}


class Proximal(descent.Descent):
    """Fact 4: w_i = Proj((s_i + t_i w_i) / (2 beta + t_i)), t_i doubled if the row turned round, relaxed otherwise."""

    def row_by_row(self, now, response, stationarity, accuracy):  # noqa: D102
        term, W, floor = self.problem.smoothness, now.weights.matrix().toarray(), 2.0 * self.problem.smoothness.beta
        left, right = (np.reshape(side, (len(W), -1)) for side in (now.state.left, now.state.right))
        scores = self.lam * left @ right.T - term.search.geometry.rows(np.arange(len(W)))
        # Drop proximal weights after an accelerated step, and use none before a step is refused: keeping them is worse.
        way, held = (np.zeros_like(W), np.zeros(len(W))) if self.way is None else self.way
        held = np.where(np.sum((response.matrix().toarray() - W) * way, axis=1) < 0, 2.0 * held + floor, 0.8 * held)
        for _ in range(60):
            held[held < 0.05 * floor] = 0.0
            V = project_rows((scores + held[:, None] * W) / (floor + held)[:, None], term.c)[0]
            step = self.evaluate(term.hold(V), accuracy, now.state)
            promised = float((floor + held) @ np.sum((V - W) ** 2, axis=1))
            self.way = V - W, held
            if self.lower(now, step, self.options.armijo * promised, stationarity):
                self.acceleration.add(now.state, step.state)
                return step
            held = np.maximum(2.0 * held, floor)
        return None


STEPS = {
    "as it is: Anderson, a share for every row": (descent.Descent, {}),
    "without Anderson": (descent.Descent, {"memory": 0}),
    "Anderson, a proximal weight for every row": (Proximal, {}),
    "a proximal weight for every row": (Proximal, {"memory": 0}),
}


def counted(owner, name: str) -> None:
    """Count the calls of a method from now on."""
    method = getattr(owner, name)
    setattr(owner, name, lambda *given, **more: COUNTS.update([name]) or method(*given, **more))


def compare_steps(report: Report, group: str) -> None:
    """Solve a group of problems with every kind of steps."""
    given, first, rows = list(GROUPS[group]()), None, []
    for name, (kind, options) in STEPS.items():
        COUNTS.clear()
        with mock.patch.object(descent, "Descent", kind):
            found = [BestResponse(**options).solve(*each) for each in given]
        objectives = np.array([each.objective for each in found])
        first = objectives if first is None else first
        gaps = (objectives - first) / np.maximum(np.abs(first), 1e-300)
        figures = sum(each.converged for each in found), sum(each.certificate.iterations for each in found)
        figures += COUNTS["evaluate"], COUNTS["respond"], (gaps < -1e-6).sum(), (gaps > 1e-6).sum()
        rows.append([name, *(f"{figure:,}" for figure in figures), f"{gaps.mean():+.1e}"])
    report.section(f"Steps: {group}, {len(given)} problems")
    report.table(["steps", "converged", "steps", "states", "responses", "lower", "higher", "mean"], rows)


def bisected(more: int, problem: Problem):
    """Return the graph at the default lambda, bisected so many times after the first lambda that is cheap enough."""
    budgets = []

    def solve(lam, budget):
        budgets.append(budget)
        return BestResponse(callback=budget).solve(problem, lam)

    low, result = solve_at_cost(problem, solve)
    high = 2.0 * low
    for _ in range(more if len(budgets) > 1 else 0):
        budget = Budget(float(np.sqrt(low * high)), budgets[0].limit)
        found = solve(budget.lam, budget)
        low, high, result = (low, budget.lam, result) if budget.spent else (budget.lam, high, found)
    return result


def compare_auto(report: Report) -> None:
    """Find the default lambda by halving alone, and with bisections after it."""
    given = [problem for problem, lam in [*problems(TABLES_200, (1,)), *GROUPS["ordinary"]()] if lam > 0]
    terms, rows = [problem.smoothness for problem in given], []
    allowed = [COST * typical_share(term) * term.value(term.smooth) for term in terms]
    for more in (0, 2, 4):
        COUNTS.clear()
        spent = [term.value(bisected(more, each).weights) for each, term in zip(given, terms, strict=True)]
        shares = (np.array(spent) - [term.value(term.smooth) for term in terms]) / allowed
        quartiles = (f"{value:.2f}" for value in np.quantile(shares, (0.0, 0.25, 0.5, 0.75, 1.0)))
        rows.append([f"{more} bisections", f"{COUNTS['evaluate']:,}", *quartiles])
    report.section(f"lam=auto: {len(given)} problems; what the prior costs, over what it should")
    report.table(["halved until cheap enough, then", "states", "least", "25%", "median", "75%", "most"], rows)


def compare_starts(report: Report) -> None:
    """Count how often a second start, or one of four, finds a lower objective."""
    rows = []
    for group in ("hardest", "strong", "ordinary"):
        given = list(GROUPS[group]())
        starts = [islice(starting_points(*each, np.random.RandomState(0)), 4) for each in given]
        found = np.array(
            [[BestResponse().solve(*each, w).objective for w in ws] for each, ws in zip(given, starts, strict=True)]
        )
        gains = [(found[:, 0] - found[:, :n].min(axis=1)) / np.abs(found[:, 0]) for n in (2, 4)]
        figures = [figure for gain in gains for figure in (f"{(gain > 1e-6).sum()}", f"{gain.mean():.1e}")]
        rows.append([group, f"{len(given)}", *figures])
    report.section("Starts: how often two, and four, find a lower objective than one, and by how much on average")
    report.table(["problems", "number", "two: lower", "mean gain", "four: lower", "mean gain"], rows)


def main() -> None:
    """Compare all, and write the results."""
    report = Report("Other steps, lambdas and starts", "python -m benchmarks.steps")
    report.say(
        "Objectives are lower or higher than in the first line by more than 1e-6; mean is the relative difference."
    )
    report.say(
        "Kept: a share for every row, because proximal weights solve for more states in all, although they "
        "end lower on the tables; halving alone, because bisections after it cost states and hardly move the "
        "median. The constants of the shares were chosen among a dozen variants on problems of these kinds, "
        "some of them the same. Of the proximal weights three variants were tried, on the hardest problems, "
        "and the one with the fewest states is here."
    )
    counted(GamePrior, "evaluate")
    counted(CandidateSet, "respond")
    for group in GROUPS:
        compare_steps(report, group)
    compare_auto(report)
    compare_starts(report)
    report.write(Path(__file__).with_name("STEPS.md"))


if __name__ == "__main__":
    main()
