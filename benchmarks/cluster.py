"""The engine dask on this machine: ``python -m benchmarks.cluster`` writes benchmarks/CLUSTER.md.

``--workers 1,2,4`` are the numbers of single-threaded workers. Each number is a separate cluster, which is started,
measured and closed before the next. This is repeated ``--repeats`` times, and the best time counts. ``--nodes 20000``
and ``--signals 16`` apply to whole fits, ``--scan-nodes`` to single scans. ``--fits`` measures only whole fits, and
``--out none`` writes no page.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from distributed import Client

from nashgraph import GLGP, BestResponse
from nashgraph.pairs import BlockSearch, points_of
from nashgraph.pairs.cluster import search as on_workers
from nashgraph.pairs.cluster.client import cluster, put
from nashgraph.pairs.cluster.search import Workers, dask_search, worked, worked_leaves
from nashgraph.pairs.scans import Nearest
from nashgraph.pairs.tree_search import LeafTask

from .report import PACKAGES, Report
from .scale import PRIOR, spectral_benefit, with_prior

SIGNALS, DEGREE = 16, 20
MEMORY_NODES = (20_000, 200_000, 1_000_000)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--workers", default="1,2,4")
    asked.add_argument("--nodes", type=int, default=20_000)
    asked.add_argument("--signals", type=int, default=SIGNALS)
    asked.add_argument("--scan-nodes", type=int, default=20_000)
    asked.add_argument("--repeats", type=int, default=2)
    asked.add_argument("--fits", action="store_true")
    asked.add_argument("--out", default=str(Path(__file__).parent / "CLUSTER.md"))
    given = asked.parse_args()
    counts = [int(count) for count in given.workers.split(",")]
    report = Report("The engine dask", "python -m benchmarks.cluster", (*PACKAGES, "distributed"))
    report.say(
        f"Workers are processes of one thread each on this machine. Signals: standard normal, {given.signals} of whole "
        f"fits and {SIGNALS} of all else; {PRIOR}. Times are the best of {given.repeats}, the numbers of "
        "workers taken in turn."
    )
    whole_fits(report, counts, signals(given.nodes, given.signals), given.repeats)
    if not given.fits:
        memory(report)
        single_scans(report, counts, given.scan_nodes, given.repeats)
    if given.out != "none":
        report.write(Path(given.out))


@contextmanager
def opened(count: int) -> Iterator[Client]:
    """Start a cluster as the command does, compile and load all kernels, and close it at the end.

    Only one runs at a time: each idle worker uses some per cent of a core.
    """
    with cluster(workers=count):
        client = Client.current()
        for _ in range(2):
            one_scan(client, 2000)
        # Scans of points in a plane skip pairs.
        with patch.object(on_workers, "LEAVES_NODES", 0):
            plane = signals(12_000)[:2]
            fit(plane, spectral_benefit(plane))
        yield client


def fit(X, benefit) -> GLGP:
    return with_prior(X, benefit, engine="dask", solver=BestResponse(storage="sparse"))


def signals(n: int, count: int = SIGNALS):
    return np.random.default_rng(0).normal(size=(count, n))


def one_scan(client: Client, n: int) -> tuple[float, float]:
    """Time the search for the nearest of every node, one scan over all pairs."""
    search = BlockSearch(Workers(points_of(signals(n)), client))
    return timed(client, lambda: search.nearest(2 * DEGREE + 8))


def timed(client: Client, measured) -> tuple[float, float]:
    """Return the elapsed seconds of a call, and the processor seconds of this process plus the busiest worker.

    The latter are the time with one core for each process, and can be measured even on a busy machine.
    """
    workers, ours, start = client.run(time.process_time), time.process_time(), time.perf_counter()
    measured()
    wall, ours = time.perf_counter() - start, time.process_time() - ours
    return wall, ours + max(now - workers[name] for name, now in client.run(time.process_time).items())


def single_scans(report: Report, counts: list[int], n: int, repeats: int) -> None:
    report.section(f"One scan of all pairs, N = {n:,}")
    seconds = in_turn(counts, repeats, lambda client: one_scan(client, n))
    table(report, seconds)


def whole_fits(report: Report, counts: list[int], X, repeats: int) -> None:
    report.section(f"A whole GLGP fit, N = {X.shape[1]:,}, {X.shape[0]} signals")
    graphs = {}
    benefit = spectral_benefit(X)

    def fit_with(client: Client) -> None:
        graphs[len(client.nthreads())] = fit(X, benefit).adjacency_

    table(report, in_turn(counts, repeats, lambda client: timed(client, lambda: fit_with(client))))
    (first, one), *others = graphs.items()
    same = all(
        np.array_equal(getattr(one, part), getattr(other, part))
        for _, other in others
        for part in ("indptr", "indices", "data")
    )
    words = "the same bits" if same else "NOT the same bits"
    report.say(f"The graphs with {', '.join(str(count) for count in (first, *dict(others)))} workers are {words}.")


def in_turn(counts: list[int], repeats: int, measure) -> dict[int, list[float]]:
    """Return the least times of each cluster; they are measured in turn, so that other load affects all alike."""
    found = {count: [] for count in counts}
    for _ in range(repeats):
        for count in counts:
            with opened(count) as client:
                found[count].append(measure(client))
            print(f"{count} workers: {found[count][-1][0]:.1f} s", file=sys.stderr, flush=True)
    return {count: [min(times) for times in zip(*pairs, strict=True)] for count, pairs in found.items()}


def table(report: Report, seconds: dict[int, list[float]]) -> None:
    first = min(seconds)
    rows = []
    for count, times in seconds.items():
        shares = [one / of_first for one, of_first in zip(times, seconds[first], strict=True)]
        cells = [f"{one:.1f} ({share:.2f})" for one, share in zip(times, shares, strict=True)]
        rows.append([str(count), *cells, *(f"{first / count / share:.0%}" for share in shares)])
    both = "seconds (of the first's)", "processor's, here and busiest worker"
    report.table(["workers", *both, "efficiency", "by the processor's"], rows)


def memory(report: Report) -> None:
    """Measure a worker's peak memory in a task of growing problems, without that of the libraries."""
    report.section("Memory of a worker")
    rows = []
    for n in MEMORY_NODES:
        with opened(1) as client:
            before = max(client.run(peak).values())
            points = one_task(client, n)
            most = max(client.run(peak).values()) - before
        arrays, block = n * (SIGNALS + 1) * 8 / 1e6, points.geometry.block_size * n * 8 / 1e6
        leaves = points.leaves is not None
        rows.append([f"{n:,}", f"{before:.0f}", f"{most:.0f}", f"{arrays:.0f}", "a tree" if leaves else f"{block:.0f}"])
    headings = ["N", "MB with the libraries", "MB more at the peak of a task", "MB of points", "MB of a block of rows"]
    report.table(headings, rows)


def one_task(client: Client, n: int) -> BlockSearch:
    """Have every worker do one task of a scan for the nearest of each node, as in the engine at this size."""
    points: Any = dask_search(signals(n))
    for place, worker in enumerate(client.nthreads()):
        sent = points.executor.sent
        if points.leaves is not None:
            leaves = LeafTask(Nearest(2 * DEGREE)), np.arange(4 * place + 4)
            task = worked_leaves, sent, put(client, leaves), 4 * place, 4 * place + 4
        else:
            size = 4 * points.geometry.block_size
            task = (
                worked,
                sent,
                put(client, (Nearest(2 * DEGREE), np.arange(n))),
                size * place,
                size * (place + 1),
            )
        client.submit(*task, workers=[worker], pure=False).result()
    return points


def peak() -> float:
    """Return the peak memory of this process in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3


if __name__ == "__main__":
    main()
