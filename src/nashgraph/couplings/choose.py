"""Which way of holding graphs suits a problem: by the number of nodes, the neighbours expected, and the free memory."""

from __future__ import annotations

import numpy as np

from ..certificate import LOG
from ..validation import InputError, check_choice
from . import _kernels
from .dense import DenseSmoothness
from .implicit import ImplicitSmoothness
from .memory import free_memory
from .points import Points
from .smoothness import Smoothness
from .sparse import SparseSmoothness

STORAGES: dict[str, type[Smoothness]] = {
    kind.name: kind for kind in (DenseSmoothness, SparseSmoothness, ImplicitSmoothness)
}

WORKERS = "workers"  # the storage of points that are spread over a cluster

# Below this, dense arrays fit the cache and BLAS beats everything; above, distances are cheaper made than read.
DENSE_NODES = 3000
# Distances, the graph without prior, three graphs of a line search, and what making them takes: seven. Where rows go a
# share of their own of the way, way and steps of a graph with many edges take five more as CSR.
DENSE_ARRAYS = 12
# Per neighbour: four graphs, each 8 bytes of weight and 4 of column, the same of the transpose, and both in float32.
SPARSE_BYTES = 4 * 32
SAMPLE = 256


def make_smoothness(points: Points, beta: float, c: float, storage: str = "auto") -> Smoothness:
    """Return the smoothness term with its graphs held as named, or as suits.

    Dense while N x N arrays are small and fit a quarter of the free memory; else sparse while its rows do; else
    implicit, or on the workers of a cluster where the points are on one. Points that live elsewhere, on a GPU, have
    their graphs there.

    Examples
    --------
    >>> from nashgraph.couplings import points_of
    >>> make_smoothness(points_of(np.random.default_rng(0).normal(size=(5, 40))), 1.0, 0.95).name
    'dense'
    """
    check_choice("storage", storage, ("auto", *STORAGES, WORKERS))
    if points.held is not None:
        if storage != "auto":
            raise InputError(
                f"storage={storage!r} holds graphs in memory, and the signals live elsewhere: leave storage='auto', or "
                "take engine='threads' (solver='ttgd' needs that, too)"
            )
        return points.held(points, beta, c)
    if storage == "auto":
        storage, why = suitable_storage(points, beta, c)
        LOG.info("storage: %s (%s)", storage, why)
    if storage == WORKERS:
        if points.spread is None:
            raise InputError(f"storage={WORKERS!r} holds graphs on the workers of a cluster: it needs engine='dask'")
        return points.spread(points, beta, c)
    return STORAGES[storage](points, beta, c)


def suitable_storage(points: Points, beta: float, c: float, free: float | None = None) -> tuple[str, str]:
    """Return the name of the storage that suits, and the reason in words."""
    n = len(points)
    free = free_memory() if free is None else free
    dense = DENSE_ARRAYS * n * n * points.dtype.itemsize
    if n <= DENSE_NODES and dense <= free / 4:
        return "dense", f"{n} nodes need {dense / 1e9:.2g} of {free / 1e9:.2g} GB free"
    degree = expected_degree(points, beta, c)
    needed = SPARSE_BYTES * n * degree
    why = f"{n} nodes with about {degree:.3g} neighbours need {needed / 1e9:.2g} of {free / 1e9:.2g} GB free"
    if needed <= free / 4:
        return "sparse", why
    return ("implicit" if points.spread is None else WORKERS), why


def expected_degree(points: Points, beta: float, c: float) -> float:
    """Return the mean number of Smooth-GL neighbours over a sample of the nodes."""
    n = len(points)
    nothing = np.zeros(n, points.dtype)
    found = []
    for first in np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(int)):
        row = points.rows(first, first + 1)
        _kernels.respond_block(row, first, nothing, nothing, 0.5 / beta, c, np.empty((1, 2)), np.empty((1, 2)))
        found.append(int((row > 0).sum()))
    return float(np.mean(found))
