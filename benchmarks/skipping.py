"""Passes that skip against passes over all pairs: ``python -m benchmarks.skipping`` writes benchmarks/SKIPPING.md.

It takes about five minutes. Times are one thread's processor seconds, so other work on the machine hardly
matters. At the larger sizes a pass over all pairs is measured on a share of its blocks of rows, and scaled up.
"""

from __future__ import annotations

import os

os.environ.setdefault("NUMBA_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nashgraph.pairs import BlockSearch, Bonus, block_search
from nashgraph.pairs.scans import Above, Nearest
from nashgraph.pairs.tree_search import LeafScans

from .report import Report

SIGNALS, KEPT, NEIGHBOURS = 16, 48, 30  # 48 are stored if 20 neighbours are asked for
ALL = 2e8  # least number of pairs on which a pass over all of them is measured, in whole blocks of rows


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sizes", default="10000,30000,100000")
    asked.add_argument("--only", default="", help="a word in the names of the tables to measure")
    given = asked.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    report = Report("Passes that skip", "python -m benchmarks.skipping")
    report.say(
        f"One pass, processor seconds of one thread, {SIGNALS} signals. *Nearest* finds each node's {KEPT} nearest, "
        "tree and trial included; *candidates* lists the pairs above a cut, about "
        f"{NEIGHBOURS} a node, under a bonus. All pairs: measured on the first blocks of rows, {ALL:.0e} pairs or all, "
        "and scaled up to the pass. *Tiles* is the share of the blocks of 64 distances that were computed, of those "
        "between points that differ."
    )
    warm_up()
    rows = []
    for name, table in TABLES.items():
        if given.only not in name:
            continue
        report.section(name)
        found = [measure(table(n), n) for n in sizes]
        rows.append([name, *slopes(sizes, found)])
        report.table(
            ["N", "points that differ", *(f"{kind}: {each}" for kind in ("nearest", "candidates") for each in COLUMNS)],
            [[f"{n:,}", *cells(each)] for n, each in zip(sizes, found, strict=True)],
        )
    report.section(f"Exponents from N = {sizes[0]:,} to {sizes[-1]:,}")
    report.table(["table", "nearest", "candidates"], rows)
    if not given.only:
        report.write(Path(__file__).parent / "SKIPPING.md")


COLUMNS = ("skipping, s", "all pairs, s", "times faster", "tiles")


def latent(n: int) -> Any:
    """Five latent dimensions, and noise of half their size, in 16 signals."""
    random = np.random.default_rng(0)
    loadings = random.normal(size=(SIGNALS, 5)) / np.sqrt(5.0)
    return loadings @ random.normal(size=(5, n)) + 0.5 * random.normal(size=(SIGNALS, n))


def classes(n: int, values: int = 5, groups: int = 40, faithful: float = 0.8) -> Any:
    """Categorical answers: with some probability that of the latent class, else any."""
    random = np.random.default_rng(0)
    typical, member = random.integers(0, values, size=(SIGNALS, groups)), random.integers(0, groups, n)
    own = random.random((SIGNALS, n)) < faithful
    return np.where(own, typical[:, member], random.integers(0, values, size=(SIGNALS, n))).astype(float)


TABLES: dict[str, Callable[[int], Any]] = {
    "Five latent dimensions and noise": latent,
    "40 latent classes, answers 1 to 5, one in five at random": classes,
    "Few distinct answers: 4 latent classes, yes or no, three in ten at random": lambda n: classes(n, 2, 4, 0.7),
    "Gaussian cloud": lambda n: np.random.default_rng(0).normal(size=(SIGNALS, n)),
}


def warm_up() -> None:
    """Compile everything."""
    measure(latent(10_000), 10_000)


def clock(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


def measure(X: Any, n: int) -> dict[str, Any]:
    """Return the seconds of both passes both ways, and the shares computed."""
    ours, theirs = block_search(X), block_search(X)
    ours.leaves = LeafScans(ours.executor)
    block_size = theirs.geometry.block_size
    blocks = max(1, int(ALL / (n * block_size)))
    share = min(1.0, blocks * block_size / n)

    def all_pairs(work: Any) -> float:
        return clock(lambda: list(islice(theirs.scan(work), blocks)))[1] / share

    found: dict[str, Any] = {}
    (costs, _), seconds = clock(lambda: ours.nearest(KEPT))
    found["points"] = len(ours.geometry.tree.points)
    found["nearest"] = seconds, all_pairs(Nearest(KEPT)), tiles(ours, Nearest)
    random = np.random.default_rng(1)
    bonus = Bonus.of(random.random(n), random.random(n) * 0.1 * float(np.median(costs[:, -1])))
    cut = bonus.left[:, 0] * bonus.right.mean() - costs[:, NEIGHBOURS]
    _, seconds = clock(lambda: ours.above(cut, bonus, gain=1.0, total=0.95))
    found["candidates"] = seconds, all_pairs(Above(bonus, 1.0, 0.95, cut, 0.0)), tiles(ours, Above)
    return found


def tiles(search: BlockSearch, kind: type) -> str:
    """Return the share of tiles that the last pass computed, or a note that it gave up skipping."""
    assert search.leaves is not None
    if not search.leaves.pays[kind]:
        return "given up"
    tree = search.geometry.tree
    return f"{search.leaves.looked[1] / (len(tree.points) * len(tree.size)):.3f}"


def cells(found: dict[str, Any]) -> list[str]:
    """Return a table's cells."""
    told = [f"{found['points']:,}"]
    for kind in ("nearest", "candidates"):
        skipping, everything, share = found[kind]
        told += [f"{skipping:.2f}", f"{everything:.2f}", f"{everything / skipping:.2f}", share]
    return told


def slopes(sizes: list[int], found: list[dict[str, Any]]) -> list[str]:
    """Return the exponent of N with which the seconds grow, from the first size to the last."""
    ratio = np.log(sizes[-1] / sizes[0])
    return [f"{np.log(found[-1][kind][0] / found[0][kind][0]) / ratio:.2f}" for kind in ("nearest", "candidates")]


if __name__ == "__main__":
    main()
