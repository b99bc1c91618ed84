"""``make bench``: solver x problem, memory and scale, side by side in one run; writes benchmarks/RESULTS.md."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np

from nashgraph import SmoothGL
from nashgraph.pairs import make_search
from nashgraph.smoothness import beta_for_degree, make_smoothness
from nashgraph.validation import Array

from .problems import Case, attachment, geometric, village
from .report import Report
from .rivals import at_its_best, fast, peak_arrays, published
from .scale import consensus, scale
from .working_sets import working_sets

SMALL = 600  # above this many nodes the published TTGD is timed over some iterations and scaled
TIMED = 15


PUBLISHED, BEST = "published TTGD", "TTGD at its best"
HEADINGS = [
    *("problem", "best-response", "steps / scans", "published", "its stationarity", "objective vs published"),
    *("TTGD's best", "its iterations", "objective vs best", "N x N arrays"),
]


def solvers(report: Report) -> None:
    """Compare best-response with both rivals on every problem."""
    report.section("Best-response against TTGD")
    report.say(
        "Time to stationarity 1e-6 of best-response, and how many times longer the two rivals take: TTGD as published "
        "(a LAPACK solve an iteration, alpha = 0.5, gamma = 0.003, the paper's 760, 320 or 700 iterations, wherever "
        "that leads) and TTGD at its best (adjoint by warm-started products, the best of eight constant step sizes, "
        "stopped at the same stationarity; above 600 nodes the best of two, within 160 iterations). An objective "
        "difference is (best-response - rival) / |rival|: negative is better. "
        "Memory is the peak of new arrays, in N x N float64."
    )
    cases = [village(330, beta, f) for beta in (1.0, 20.0) for f in ("linear", "log1p")]
    cases += [village(77, 20.0, "log1p"), village(1000, 20.0, "log1p")]
    cases += [attachment(50, 10, 10), attachment(500, 50, 50), attachment(2000, 50, 50), geometric(500, 50, 10)]
    rows: list[list[str]] = []
    ratios: dict[str, list[float]] = {PUBLISHED: [], BEST: []}
    for case in cases:
        row, times = raced(case)
        rows.append(row)
        if "N=330" in case.name:
            for name, ratio in times.items():
                ratios[name].append(ratio)
    report.table(HEADINGS, rows)
    report.say(f"\\* {TIMED} iterations timed and scaled up; published TTGD's end point was not computed there.")
    for name, values in ratios.items():
        report.say(in_geometric_mean(name, np.array(values)))


def raced(case: Case) -> tuple[list[str], dict[str, float]]:
    """Solve a problem with best-response and both rivals; return a line of the table, and how much longer each took."""
    problem, lam = case.make()
    small = problem.smoothness.n_nodes <= SMALL
    fast(problem, lam, repeats=1)
    quick = fast(problem, lam, repeats=5 if small else 2)
    paper = published(problem, lam, case.published_iterations, None if small else TIMED)
    within = {} if small else {"max_iter": 160, "gammas": (0.5, 1.0), "alphas": (1.0,)}
    tuned = at_its_best(problem, lam, **within)
    over_paper, over_tuned = paper.seconds / quick.seconds, tuned.seconds / quick.seconds
    row = [
        case.name,
        f"{1e3 * quick.seconds:.1f} ms",
        f"{quick.iterations} / {quick.scans:.1f}",
        f"{over_paper:.0f}x{'*' if paper.note else ''}",
        "" if paper.note else f"{paper.stationarity:.0e}",
        difference(quick.objective, paper.objective),
        f"{over_tuned:.0f}x" if np.isfinite(over_tuned) else f"never: {tuned.stationarity:.0e}",
        f"{tuned.iterations}",
        difference(quick.objective, tuned.objective),
        f"{peak_arrays(problem, lam):.1f}",
    ]
    return row, {PUBLISHED: over_paper, BEST: over_tuned}


def in_geometric_mean(name: str, ratios: Array) -> str:
    """Say how many times longer a rival takes on the village-like problems."""
    finite = ratios[np.isfinite(ratios)]
    mean = float(np.exp(np.mean(np.log(finite)))) if finite.size else np.nan
    missed = f"; in {ratios.size - finite.size} it never arrived" if finite.size < ratios.size else ""
    return (
        f"Village-like N = 330, four cases: {name} takes {mean:.0f} times as long in geometric mean, "
        f"{np.nanmin(ratios):.0f} times at the least{missed}."
    )


def difference(mine: float, other: float) -> str:
    """Write a relative difference of objectives."""
    return "" if not np.isfinite(other) else f"{(mine - other) / abs(other):+.0e}"


def memory(report: Report) -> None:
    """Measure SmoothGL's peak memory and where its time goes, at N = 2,000."""
    report.section("SmoothGL at N = 2,000, M = 50")
    X = np.random.default_rng(0).normal(size=(50, 2000))
    SmoothGL().fit(X)
    tracemalloc.start()
    SmoothGL().fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    start = time.perf_counter()
    SmoothGL().fit(X)
    whole = time.perf_counter() - start
    start = time.perf_counter()
    search = make_search(X)
    _ = make_smoothness(search, beta_for_degree(search, 10, 0.95), 0.95, "dense").smooth
    kernels = time.perf_counter() - start
    report.say(
        f"A fit takes {whole:.3f} s, of which {kernels:.3f} s ({100 * kernels / whole:.0f} %) are BLAS and the row "
        f"kernels (the same three calls made directly); at its peak it holds {peak / (8 * 2000**2):.2f} arrays of "
        "N x N float64."
    )


def main() -> None:
    """Run everything and write the results."""
    started = time.perf_counter()
    report = Report("Benchmarks", "make bench")
    solvers(report)
    memory(report)
    scale(report)
    working_sets(report)
    consensus(report)
    report.say(f"The whole took {time.perf_counter() - started:.0f} s.")
    report.write(Path(__file__).with_name("RESULTS.md"))


if __name__ == "__main__":
    main()
