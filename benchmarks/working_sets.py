"""What a fit with the prior costs next to one without: processor time, scans over all pairs, renewals of candidates.

``python -m benchmarks.working_sets --nodes 1048576 --engine cuda`` times the same tables on a GPU.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nashgraph.pairs import make_search
from nashgraph.priors import GamePrior
from nashgraph.smoothness import smoothness_of_degree
from nashgraph.solvers import PATIENCE, BestResponse, Problem, solve_at_cost
from nashgraph.validation import Array

from .report import Report

DEGREE, C, TOLERANCE = 20, 0.95, 1e-5
CLUSTERS = 30
HEADINGS = ["table", "SmoothGL", "GLGP", "ratio", "steps", "scans", "renewals", "stationarity", "lam"]


def gaussian(n: int, random: np.random.Generator) -> Array:
    return random.normal(size=(16, n))


def gaussian_clusters(n: int, random: np.random.Generator) -> Array:
    centres = 2.0 * random.normal(size=(16, CLUSTERS))
    return centres[:, random.integers(0, CLUSTERS, n)] + random.normal(size=(16, n))


def likert(n: int, random: np.random.Generator) -> Array:
    typical = random.integers(1, 6, size=(16, CLUSTERS))
    answers = typical[:, random.integers(0, CLUSTERS, n)] + random.integers(-1, 2, size=(16, n))
    return np.clip(answers, 1, 5).astype(float)


def latent(n: int, random: np.random.Generator) -> Array:
    loadings = random.normal(size=(64, 5))
    return loadings @ random.normal(size=(5, n)) + 0.1 * random.normal(size=(64, n))


def lognormal(n: int, random: np.random.Generator) -> Array:
    return random.lognormal(sigma=2.0, size=(24, n))


TABLES: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "Gaussian, M = 16": gaussian,
    "Gaussian clusters, M = 16": gaussian_clusters,
    "Likert clusters, M = 16": likert,
    "5 latent dimensions, M = 64": latent,
    "lognormal, sigma 2, M = 24": lognormal,
}


class Fit(NamedTuple):
    """Cost of a fit: processor seconds or, on a GPU, seconds by the clock."""

    smooth: float
    whole: float
    steps: int
    scans: float
    renewals: int
    stationarity: float
    lam: float


def fitted(X: Array, benefit: Array, engine: str) -> Fit:
    """Learn the graph without prior, then with it, from the same signals, each from the start."""
    clock = time.perf_counter if engine == "cuda" else time.process_time
    start = clock()
    search = make_search(X, engine)
    _ = smoothness_of_degree(search, DEGREE, C, "sparse").smooth.matrix()
    smooth = clock() - start
    steps = 0

    def count(_: object) -> bool:
        nonlocal steps
        steps += 1
        return False

    start = clock()
    search = make_search(X, engine)
    problem = Problem(smoothness_of_degree(search, DEGREE, C, "sparse"), GamePrior(benefit, "log1p", "total"))

    def solve(lam, budget):
        return budget.watching(BestResponse(tol=TOLERANCE, callback=count)).solve(problem, lam)

    lam, result = solve_at_cost(problem, solve, patience=PATIENCE)
    _ = result.weights.matrix()
    whole = clock() - start
    candidates = problem.smoothness.candidates
    return Fit(smooth, whole, steps, search.scans, candidates.renewals, result.certificate.value, lam)


def working_sets(report: Report, n: int = 20_000, engine: str = "threads", seed: int = 0) -> None:
    """Fit every table with benefits that are given, lognormal ones, and lam chosen."""
    report.section(f"With the prior and without: N = {n:,}, degree {DEGREE}, tol {TOLERANCE:g}, lam chosen")
    seconds = "Seconds by the clock" if engine == "cuda" else "Processor seconds on all threads"
    report.say(
        f"{seconds}; steps of all lambdas that were tried; scans over all pairs and renewals of the candidate set of "
        "the whole fit with the prior."
    )
    for make in TABLES.values():  # compiles
        fitted(make(12_000, np.random.default_rng(1)), np.random.default_rng(2).lognormal(size=12_000), engine)
    rows = []
    for name, make in TABLES.items():
        random = np.random.default_rng(seed)
        X = make(n, random)
        benefit = random.lognormal(size=n)
        fit = fitted(X, benefit / benefit.sum(), engine)
        times = [f"{fit.smooth:.2f}", f"{fit.whole:.2f}", f"{fit.whole / fit.smooth:.1f}"]
        work = [str(fit.steps), f"{fit.scans:.1f}", str(fit.renewals)]
        rows.append([name, *times, *work, f"{fit.stationarity:.0e}", f"{fit.lam:.3g}"])
        print(rows[-1], flush=True)
    report.table(HEADINGS, rows)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--nodes", type=int, default=20_000)
    asked.add_argument("--engine", default="threads")
    asked.add_argument("--seed", type=int, default=0)
    options = asked.parse_args()
    report = Report("Working sets", "python -m benchmarks.working_sets")
    working_sets(report, options.nodes, options.engine, options.seed)


if __name__ == "__main__":
    main()
