"""``make stress``: the fast solver over the whole grid, and against TTGD; writes benchmarks/STRESS.md."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from tests.problems import STRESS_GRID, largest_rise, stress_problem

from nashgraph.solvers import best_response, multistart, ttgd

from .report import Report

CHUNK = 60
TTGD_POINTS = 100
TTGD_ITERATIONS = 20_000


def lam_of(point) -> float:
    """Return the strength of the prior at a point of the grid."""
    return point[list(STRESS_GRID).index("lam")]


def run_point(point) -> dict:
    """Solve one point and say what is true of the answer."""
    result = best_response(stress_problem(*point), lam_of(point))
    certificate = result.certificate
    weights = result.coupling.weights
    infeasible = max(
        float(np.abs(weights.sum(axis=1) - point[3]).max()),
        float(-weights.min()),
        float(np.abs(np.diag(weights)).max()),
    )
    return {
        "point": point,
        "finite": bool(np.isfinite(weights).all() and np.isfinite(result.objective)),
        "infeasible": infeasible,
        "rise": float(largest_rise(result)),
        "converged": certificate.converged,
        "said": certificate.converged == (certificate.value <= 1e-6),
        "stationarity": certificate.value,
        "iterations": certificate.iterations,
    }


def against_ttgd(point) -> dict:
    """Compare objectives with a TTGD whose steps are small enough to descend."""
    problem, lam = stress_problem(*point), lam_of(point)
    gamma = 0.5 / problem.smoothness.beta
    while True:
        gamma /= 2.0
        slow = ttgd(problem, lam, gamma=gamma, tol=1e-12, max_iter=TTGD_ITERATIONS, check_every=200)
        values = np.array([record.objective for record in slow.certificate.history])
        if np.diff(values).max(initial=-1.0) <= 1e-9 * np.abs(values).max() or gamma < 1e-9:
            break
    fast = best_response(problem, lam)
    several = multistart(problem, lam, best_response, 4, np.random.RandomState(0))
    scale = max(abs(slow.objective), 1e-12)
    return {
        "point": point,
        "one": (fast.objective - slow.objective) / scale,
        "several": (several.objective - slow.objective) / scale,
    }


def in_parallel(function, points) -> list[dict]:
    """Apply a function to all points, in chunks on both cores."""
    chunks = [points[k : k + CHUNK] for k in range(0, len(points), CHUNK)]
    parts = Parallel(n_jobs=2)(delayed(lambda chunk: [function(point) for point in chunk])(chunk) for chunk in chunks)
    return [row for part in parts for row in part]


def main() -> None:
    """Run the grid and the comparison, and keep the results."""
    report = Report("Stress grid of the fast solver", "make stress")
    points = [(*axes, seed) for seed, axes in enumerate(itertools.product(*STRESS_GRID.values()))]
    started = time.perf_counter()
    rows = in_parallel(run_point, points)
    share = np.mean([row["converged"] for row in rows])
    report.section(f"{len(rows):,} problems")
    report.say("The grid: " + "; ".join(f"{name} in {values}" for name, values in STRESS_GRID.items()) + ".")
    report.table(
        ["what", "measured"],
        [
            ["finite", f"{sum(row['finite'] for row in rows):,} of {len(rows):,}"],
            ["largest violation of S", f"{max(row['infeasible'] for row in rows):.1e}"],
            ["largest relative rise of the objective", f"{max(row['rise'] for row in rows):.1e}"],
            ["stationarity 1e-6 reached", f"{100 * share:.2f} %"],
            ["ended above 1e-6 without saying so", f"{sum(not row['said'] for row in rows)}"],
            [
                "mean, largest number of steps",
                f"{np.mean([row['iterations'] for row in rows]):.1f}, {max(row['iterations'] for row in rows)}",
            ],
            ["seconds", f"{time.perf_counter() - started:.0f}"],
        ],
    )
    missed = [row for row in rows if not row["converged"]]
    if missed:
        report.say("Not reached, and said so:")
        names = [*STRESS_GRID, "seed", "stationarity"]
        report.table(names, [[str(v) for v in row["point"]] + [f"{row['stationarity']:.1e}"] for row in missed])
    started = time.perf_counter()
    small = [point for point in points if point[4] <= 50]
    chosen = [small[k] for k in np.random.default_rng(0).permutation(len(small))[:TTGD_POINTS]]
    compared = in_parallel(against_ttgd, chosen)
    one, several = (np.array([row[name] for row in compared]) for name in ("one", "several"))
    report.section(f"Against TTGD on {len(compared)} of them, N <= 50")
    report.say(
        f"TTGD runs up to {TTGD_ITERATIONS:,} iterations from the same start, its step halved until its objective "
        "descends. Differences are (best-response - TTGD) / |TTGD|."
    )
    report.table(
        ["what", "one start", "multistart=4"],
        [
            ["above TTGD by more than 1e-6", f"{(one > 1e-6).sum()}", f"{(several > 1e-6).sum()}"],
            ["worst difference", f"{one.max():+.1e}", f"{several.max():+.1e}"],
            ["below TTGD by more than 1e-6", f"{(one < -1e-6).sum()}", f"{(several < -1e-6).sum()}"],
            ["best difference", f"{one.min():+.1e}", f"{several.min():+.1e}"],
        ],
    )
    report.say(f"The comparison took {time.perf_counter() - started:.0f} s.")
    report.write(Path(__file__).with_name("STRESS.md"))


if __name__ == "__main__":
    main()
