"""The engine cuda on this machine's GPU: ``python -m benchmarks.gpu`` writes benchmarks/GPU.md, in about 5 minutes.

``--sizes 20000,50000,1048576`` are the numbers of nodes: the first is compared with the threads, all are timed.
``--sweep`` tries other tiles of the kernel; ``--profile`` prints where the last fit spent its time. ``--cpu`` tests
this script without a GPU, on small sizes, and writes nothing.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import resource
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy import sparse

from nashgraph import BestResponse
from nashgraph.pairs import ENGINES
from nashgraph.pairs.cuda.search import CudaSearch

from .report import PACKAGES, Report
from .scale import PRIOR, spectral_benefit, with_prior

TARGETS = {50_000: "at most 1 s", 1_048_576: "at most 20 s (30 s acceptable) and 60 GB"}
SWEEP_NODES = 262_144
SWEEP = [
    (16, 64, 1, 3),
    (32, 64, 2, 3),
    (32, 64, 4, 3),
    (64, 64, 4, 3),
    (32, 128, 4, 3),
    (64, 128, 4, 3),
    (16, 128, 1, 3),
]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sizes", default="20000,50000,1048576")
    for flag in ("--sweep", "--profile", "--cpu"):
        asked.add_argument(flag, action="store_true")
    given = asked.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    device = torch.device("cpu" if given.cpu else "cuda")
    ENGINES.register("measured")(partial(CudaSearch, device=device))
    report = Report("The engine cuda", "python -m benchmarks.gpu", (*PACKAGES, "torch", "triton"))
    if not given.cpu:
        report.say(f"GPU: {torch.cuda.get_device_name()}. Signals: 16 standard normal ones; {PRIOR}.")
    same_graph(report, sizes[0])
    nothing_missed(report, sizes[0], device)
    whole_fits(report, sizes, given)
    if given.sweep and not given.cpu:
        sweep(report, device)
    if not given.cpu:
        report.write(Path(__file__).parent / "GPU.md")


def signals(n: int):
    return np.random.default_rng(0).normal(size=(16, n))


def same_graph(report: Report, n: int) -> None:
    """Compare with the threads' graph at the same lambda, and warm up: the kernel is compiled here."""
    report.section(f"N = {n:,}: the same graph as the threads'")
    X = signals(n)
    benefit = spectral_benefit(X, "measured")
    ours = with_prior(X, benefit, engine="measured", solver=BestResponse(tol=1e-7))
    theirs = with_prior(X, benefit, lam=ours.lam_, solver=BestResponse(tol=1e-7, storage="sparse"))
    apart = abs(ours.objective_ - theirs.objective_) / abs(theirs.objective_)
    only = (ours.adjacency_ != 0).astype(int) - (theirs.adjacency_ != 0).astype(int)
    difference = sparse.linalg.norm(ours.adjacency_ - theirs.adjacency_) / sparse.linalg.norm(theirs.adjacency_)
    odd = abs(ours.adjacency_ - theirs.adjacency_).multiply(abs(only))
    report.say(
        f"Objectives differ by {apart:.1e} relative, graphs by {difference:.1e} (Frobenius); of "
        f"{theirs.adjacency_.nnz:,} edges {int(abs(only).sum())} are in one graph only, the heaviest of weight "
        f"{odd.max():.1e}; beta differs by {abs(ours.beta_ / theirs.beta_ - 1):.1e}. {ours.certificate_.sentence}."
    )


def nothing_missed(report: Report, n: int, device: torch.device) -> None:
    """Compare the kernel's results in float32 with those of plain blocks in float64."""
    report.section("The search misses no pair")
    search = CudaSearch(signals(n), device=device)
    rows = search.shuffled[:512]
    left, right = (torch.rand(size, 1, device=device).double() for size in (512, n))
    cut = search.best(rows, 150, left, right)[0][:, -1]
    fast, _ = search.find(rows, left, right, cut)
    search.tiles = False
    exact, _ = search.find(rows, left, right, cut)
    numbers = torch.arange(512, device=device)
    pairs = [numbers.repeat_interleave(each.lengths) * n + each.columns for each in (fast, exact)]
    missing = int((~torch.isin(pairs[1], pairs[0])).sum())
    more = len(pairs[0]) - len(pairs[1])
    report.say(f"Of {len(pairs[1]):,} pairs above the cut {missing} were missed; {more} more found.")


def whole_fits(report: Report, sizes: list[int], given: argparse.Namespace) -> None:
    report.section("Whole fits, from a NumPy array to the CSR result, tol = 1e-5")
    report.say("Each is done twice: the first may compile kernels that smaller ones had no need of.")
    rows = []
    for n in sizes:
        X, profile = signals(n), cProfile.Profile()
        benefit = spectral_benefit(X, "measured")
        if not given.cpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        times = []
        for again in (False, True):
            start = time.perf_counter()
            with profile if again and given.profile and n == sizes[-1] else nullcontext():
                model = with_prior(X, benefit, engine="measured", solver=BestResponse(tol=1e-5))
            times.append(time.perf_counter() - start)
        first, seconds = times
        device = 0.0 if given.cpu else torch.cuda.max_memory_allocated() / 1e9
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        passes = [f"{first:.2f}", f"{seconds:.2f}", TARGETS.get(n, ""), f"{device:.1f}", f"{memory:.1f}"]
        rows.append([f"{n:,}", *passes, f"{model.certificate_.value:.1e}", str(model.n_iter_), f"{model.lam_:.4g}"])
        report.console.print(f"N = {n:,}: {seconds:.2f} s, {device:.1f} GB on the GPU, {model.certificate_.sentence}")
        if given.profile and n == sizes[-1]:
            pstats.Stats(profile).sort_stats("tottime").print_stats(30)
    sizes_said = ["GB on the GPU", "GB in memory so far"]
    report.table(["N", "first, s", "again, s", "wanted", *sizes_said, "certificate", "iterations", "lam"], rows)


def sweep(report: Report, device: torch.device) -> None:
    """Time one search of all pairs with other tiles; results are the same."""
    from nashgraph.pairs.cuda import _kernels  # noqa: PLC0415 (Triton is not everywhere)

    report.section(f"Tiles: one search of all pairs, N = {SWEEP_NODES:,}")
    search = CudaSearch(signals(SWEEP_NODES), device=device)
    cut = search.first_cuts(128)
    rows = []
    for tile in SWEEP:
        _kernels.ROWS, _kernels.COLUMNS, _kernels.WARPS, _kernels.STAGES = tile
        times = []
        for _ in range(3):  # the first one compiles
            torch.cuda.synchronize()
            start = time.perf_counter()
            found, _ = search.find(search.everyone, *search.no_bonus, cut)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        rows.append(
            [" x ".join(map(str, tile[:2])), *map(str, tile[2:]), f"{min(times):.3f}", f"{len(found.columns):,}"]
        )
    report.table(["tile", "warps", "stages", "seconds", "pairs found"], rows)


if __name__ == "__main__":
    main()
