"""``make stress``: the fast solver over the whole grid, on unprepared tables, against TTGD; writes STRESS.md."""

from __future__ import annotations

import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from tests.problems import STRESS_GRID, TABLES, largest_rise, stress_problem

from nashgraph import GLGP
from nashgraph.solvers import TTGD, BestResponse, multistart

from .report import Report

CHUNK = 60
TTGD_POINTS = 100
TTGD_ITERATIONS = 20_000
SIZES, STRENGTHS = (50, 300, 1500), (1, 10, 1000)  # of the tables: nodes, and times the default lambda


def lam_of(point) -> float:
    """Return the strength of the prior at a point of the grid."""
    return point[list(STRESS_GRID).index("lam")]


def run_point(point) -> dict:
    """Solve one point and check the result."""
    result = BestResponse().solve(stress_problem(*point), lam_of(point))
    certificate = result.certificate
    weights = result.weights.matrix().toarray()
    infeasible = max(
        float(np.abs(weights.sum(axis=1) - point[3]).max()),
        float(-weights.min()),
        float(np.abs(np.diag(weights)).max()),
    )
    return {
        "point": point,
        "finite": bool(np.isfinite(weights).all() and np.isfinite(result.objective)),
        "infeasible": infeasible,
        "rise": float(largest_rise(certificate.history)),
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
        slow = TTGD(gamma=gamma, tol=1e-12, max_iter=TTGD_ITERATIONS, check_every=200).solve(problem, lam)
        values = np.array([record.objective for record in slow.certificate.history])
        if np.diff(values).max(initial=-1.0) <= 1e-9 * np.abs(values).max() or gamma < 1e-9:
            break
    fast = BestResponse().solve(problem, lam)
    several = multistart(problem, lam, BestResponse(n_starts=4), np.random.RandomState(0))
    scale = max(abs(slow.objective), 1e-12)
    return {
        "point": point,
        "one": (fast.objective - slow.objective) / scale,
        "several": (several.objective - slow.objective) / scale,
    }


def run_table(table) -> list[dict]:
    """Fit a table at every strength and say how each fit ended."""
    shape, n = table
    X, default, found = TABLES[shape](n, np.random.default_rng(0)), None, []
    for strength in STRENGTHS:
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GLGP(lam="auto" if default is None else strength * default).fit(X)
        default = model.lam_ if default is None else default
        weights, certificate = model.adjacency_, model.certificate_
        found.append(
            {
                "point": (shape, n, strength),
                "infeasible": float(np.abs(weights.sum(axis=1) - 0.95).max()),
                "rise": float(largest_rise(certificate.history)),
                "status": certificate.status.name.lower(),
                "said": certificate.converged == (certificate.value <= 1e-6),
                "stationarity": certificate.value,
                "seconds": time.process_time() - started,
            }
        )
    return found


def tables(report: Report) -> None:
    """Fit the unprepared tables, and record how each fit ended."""
    asked = list(itertools.product(TABLES, SIZES))
    rows = [row for part in in_parallel(run_table, asked, chunk=1) for row in part]
    report.section(f"{len(rows)} fits of tables as they come")
    report.say(
        f"GLGP with nothing set but lam, {' '.join(map(str, STRENGTHS))} times the default, N in {list(SIZES)}. "
        f"Largest violation of S {max(row['infeasible'] for row in rows):.1e}, largest relative rise of the objective "
        f"{max(row['rise'] for row in rows):.1e}; ended above 1e-6 without saying so: "
        f"{sum(not row['said'] for row in rows)}. Of the {len(asked)} with the default lam "
        f"{sum(row['status'] == 'converged' for row in rows if row['point'][2] == 1)} converged."
    )
    lines = []
    for shape in TABLES:
        mine = [row for row in rows if row["point"][0] == shape]
        longest = max(mine, key=lambda row: row["seconds"])
        lines.append(
            [
                shape,
                *(str(sum(row["status"] == how for row in mine)) for how in ("converged", "max_iter", "stalled")),
                f"{max(row['stationarity'] for row in mine):.0e}",
                f"{longest['seconds']:.1f} s (N = {longest['point'][1]:,}, lam x {longest['point'][2]})",
            ]
        )
    report.table(["table", "converged", "max_iter", "stalled", "worst stationarity", "longest, CPU time"], lines)


def in_parallel(function, points, chunk: int = CHUNK) -> list:
    """Apply a function to all points, in chunks on both cores."""
    chunks = [points[k : k + chunk] for k in range(0, len(points), chunk)]
    parts = Parallel(n_jobs=-1)(delayed(lambda chunk: [function(point) for point in chunk])(chunk) for chunk in chunks)
    return [row for part in parts for row in part]


def grid(report: Report, points: list) -> None:
    """Solve the whole grid, and record the checks of the results."""
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


def comparison(report: Report, points: list) -> None:
    """Compare objectives with TTGD's on a sample of the grid."""
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
        ["what", "one start", "n_starts=4"],
        [
            ["above TTGD by more than 1e-6", f"{(one > 1e-6).sum()}", f"{(several > 1e-6).sum()}"],
            ["worst difference", f"{one.max():+.1e}", f"{several.max():+.1e}"],
            ["below TTGD by more than 1e-6", f"{(one < -1e-6).sum()}", f"{(several < -1e-6).sum()}"],
            ["best difference", f"{one.min():+.1e}", f"{several.min():+.1e}"],
        ],
    )
    report.say(f"The comparison took {time.perf_counter() - started:.0f} s.")


def main() -> None:
    """Run the grid, the tables and the comparison, and write the results."""
    report = Report("Stress grid of the fast solver", "make stress")
    points = [(*axes, seed) for seed, axes in enumerate(itertools.product(*STRESS_GRID.values()))]
    grid(report, points)
    tables(report)
    comparison(report, points)
    report.write(Path(__file__).with_name("STRESS.md"))


if __name__ == "__main__":
    main()
