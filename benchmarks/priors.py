"""``python -m benchmarks.priors``: every functional prior over its grid, and the cost of resilience; PRIORS.md."""

from __future__ import annotations

import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from tests.problems import TABLES

from nashgraph import GLGP, BestResponse
from nashgraph.games import EqualGroups
from nashgraph.priors import Epidemic, GamePrior, GraphFilter, Opinions, Resilience, random_deletions

from .report import Report

# Makers of priors from an array of random numbers in (0, 1), one for every node.
PRIORS = {
    "game": lambda b: GamePrior(b / b.sum()),
    "game, cap": lambda b: GamePrior(b, cap=2.0),
    "substitutes": lambda b: GamePrior(b, "linear", share=-0.9),
    "fair game": lambda b: GamePrior(b, welfare=EqualGroups(np.arange(len(b)) % 2)),
    "epidemic, high": lambda b: Epidemic(0.01 + 0.1 * b, 1.5),
    "epidemic, low": lambda b: -Epidemic(0.01 + 0.1 * b, 1.5),
    "mean opinion": lambda b: Opinions(b, "mean"),
    "polarisation, low": lambda b: -Opinions(b - 0.5, "polarisation"),
    "polarisation, high": lambda b: Opinions(b - 0.5, "polarisation"),
    "disagreement, low": lambda b: -Opinions(b - 0.5, "disagreement"),
    "filter": lambda b: GraphFilter([0.0, 1.0, 1.0, 1.0], b / b.sum()),
    "resilience, mean": lambda b: Resilience(GamePrior(b / b.sum()), random_deletions(len(b))),
    "resilience, ties": lambda b: Resilience(GamePrior(b / b.sum()), random_deletions(len(b), 4, ties=True)),
    "resilience, worst case": lambda b: Resilience(GamePrior(b / b.sum()), random_deletions(len(b)), 0.5),
    "game - epidemic": lambda b: GamePrior(b / b.sum()) - 0.5 * Epidemic(0.01 + 0.1 * b, 1.5),
}
GRID = {
    "table": ["normal", "Likert clusters", "lognormal, sigma 1"],
    "n": [30, 150],
    "degree": [3, 10],
    "c": [0.5, 0.95],
    "strength": [1, 10, 100],  # times the default lambda
}
TIMED_NODES, TIMED_SCENARIOS, REPEATS = 2000, 8, 3


def table(shape: str, n: int):
    """Return signals of a shape."""
    random = np.random.default_rng(0)
    return random.normal(size=(10, n)) if shape == "normal" else TABLES[shape](n, random)


def fitted(X, **options) -> GLGP:
    """Return a fitted GLGP, without warnings about convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GLGP(**options).fit(X)


def stress(report: Report) -> None:
    """Solve the whole grid for every prior."""
    *axes, strengths = GRID.values()
    lines, total, reached = [], 0, 0
    for name, make in PRIORS.items():
        found, steps = [], []
        for shape, n, degree, c in itertools.product(*axes):
            X, prior = table(shape, n), make(np.random.default_rng(1).random(n))
            options = {"prior": prior, "degree": degree, "c": c}
            lam = fitted(X, **options).lam_
            for strength in strengths:
                model = fitted(X, lam=strength * lam, **options)
                found.append((strength, model.stationarity_ <= 1e-6))
                steps.append(model.n_iter_)
        each = [sum(ok for one, ok in found if one == strength) for strength in strengths]
        total, reached = total + len(found), reached + sum(each)
        lines.append(
            [name, f"{sum(each)} of {len(found)}", *map(str, each), f"{np.median(steps):.0f}", f"{max(steps)}"]
        )
        print(lines[-1], flush=True)
    report.section("Convergence")
    report.say(
        f"{reached} of {total} solves ({reached / total:.1%}) reached a stationarity of 1e-6: {', '.join(GRID)} as in "
        "GRID, strengths in multiples of the default lambda."
    )
    header = ["prior", "converged", *(f"at {strength} x" for strength in strengths), "median steps", "most"]
    report.table(header, lines)


def seconds_of(X, **options) -> float:
    """Return the least CPU seconds of some fits, which depend less on other work on the machine."""
    spent = []
    for _ in range(REPEATS):
        started = time.process_time()
        fitted(X, **options)
        spent.append(time.process_time() - started)
    return min(spent)


def resilience(report: Report) -> None:
    """Compare the time of a resilience prior with that of its game."""
    random = np.random.default_rng(0)
    X, b = random.normal(size=(20, TIMED_NODES)), random.random(TIMED_NODES)
    game = GamePrior(b / b.sum())
    scenarios = random_deletions(TIMED_NODES, TIMED_SCENARIOS)
    default, lines = fitted(X, prior=game).lam_, []
    for storage, strength in itertools.product(("dense", "sparse"), (0.3, 1.0)):
        priors = game, Resilience(game, scenarios), Resilience(game, scenarios, 1.0)
        spent = [
            seconds_of(X, prior=prior, lam=strength * default, solver=BestResponse(storage=storage)) for prior in priors
        ]
        ratios = [f"{each / spent[0]:.1f}" for each in spent[1:]]
        lines.append([storage, f"{strength:g}", *(f"{each:.2f} s" for each in spent), *ratios])
    report.section(f"Resilience over {TIMED_SCENARIOS} scenarios at N = {TIMED_NODES:,}, CPU seconds")
    header = ["storage", "lam / default", "game", "mean", "worst case", "mean / game", "worst case / game"]
    report.table(header, lines)


def main() -> None:
    """Run both parts and write PRIORS.md."""
    report = Report("Functional priors", "python -m benchmarks.priors")
    stress(report)
    resilience(report)
    report.write(Path(__file__).with_name("PRIORS.md"))


if __name__ == "__main__":
    main()
