"""Games on large graphs, by two kinds of products: ``python -m benchmarks.games`` writes benchmarks/GAMES.md.

They are SciPy's, and ours on all threads. Each graph has 20 neighbours a node, drawn at random, which is the worst case
for a cache. Each game starts at the solution on a graph that differs by a tenth, as in a descent, and the two kinds
take turns. The data for a graph's products are computed again for each game.
"""

from __future__ import annotations

import time
from pathlib import Path

import numba
import numpy as np
from scipy import sparse

from nashgraph.pairs import SparseWeights, blas_threads
from nashgraph.priors import GamePrior

from .report import Report

NODES = (10_000, 20_000, 50_000, 100_000, 200_000, 400_000)
NEIGHBOURS, C, REPEATS = 20, 0.95, 7


def main() -> None:
    report = Report("Games on large graphs", "python -m benchmarks.games")
    report.say(
        f"The equilibrium and the adjoint of a graph of {NEIGHBOURS} neighbours a node, by SciPy's products, and by "
        f"ours on {numba.get_num_threads()} threads: the median of {REPEATS} games of each, in turn, to one residual."
    )
    for tol in (1e-6, 1e-13):
        report.section(f"To a residual of {tol:g}")
        with blas_threads().limit(limits=1):  # as in a fit
            rows = [compared(n, tol) for n in NODES]
        ways = "SciPy, ms", "on threads, ms", "times as fast"
        report.table(["N", *ways, "actions differ by"], rows)
    report.write(Path(__file__).parent / "GAMES.md")


class Plain(SparseWeights):
    """A graph by SciPy's products."""

    def dot(self, vector):
        """Return W v."""
        return self.csr @ vector

    def tdot(self, vector):
        """Return W^T v."""
        return self.csr.T @ vector


def compared(n: int, tol: float) -> list[str]:
    random = np.random.default_rng(0)
    before, now = (graph_of(n, random, moved) for moved in (0.0, 0.1))
    benefit, nothing = random.random(n), np.zeros(n)
    game = GamePrior(benefit / benefit.sum())
    start = game.evaluate(SparseWeights(before, nothing, 0.0), tol=tol)
    seconds, states = {kind: [] for kind in (Plain, SparseWeights)}, {}
    for _ in range(REPEATS):
        for kind, times in seconds.items():
            graph, begin = kind(now, nothing, 0.0), time.perf_counter()
            states[kind] = game.evaluate(graph, tol=tol, start=start)
            times.append(time.perf_counter() - begin)
    plain, ours = (1e3 * float(np.median(times)) for times in seconds.values())
    one, other = (state.actions for state in states.values())
    off = np.linalg.norm(one - other) / np.linalg.norm(one)
    return [f"{n:,}", f"{plain:.1f}", f"{ours:.1f}", f"{plain / ours:.2f}", f"{off:.0e}"]


def graph_of(n: int, random: np.random.Generator, moved: float) -> sparse.csr_array:
    """Return a graph with a seed's weights, except for a share of each that is new."""
    fixed = np.random.default_rng(1)
    columns = np.sort(fixed.integers(0, n, size=(n, NEIGHBOURS)), axis=1).astype(np.int32)
    weights = (1 - moved) * fixed.random(columns.shape) + moved * random.random(columns.shape)
    weights *= C / weights.sum(axis=1, keepdims=True)
    pointers = np.arange(0, columns.size + 1, NEIGHBOURS, dtype=np.int32)
    return sparse.csr_array((weights.ravel(), columns.ravel(), pointers), shape=(n, n))


if __name__ == "__main__":
    main()
