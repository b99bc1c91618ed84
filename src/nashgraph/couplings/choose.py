"""Which storage suits a problem: by the number of nodes, the neighbours expected, and the memory that is free."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..validation import Array, check_choice
from . import _kernels
from .dense import DenseStorage
from .distances import points_of
from .implicit import ImplicitStorage
from .protocol import Storage
from .sparse import SparseStorage

STORAGES: dict[str, Any] = {"dense": DenseStorage, "sparse": SparseStorage, "implicit": ImplicitStorage}
DTYPES = {"float64": np.float64, "float32": np.float32}

# Below this, dense arrays fit the cache and BLAS beats everything; above, distances are cheaper made than read.
DENSE_NODES = 3000
DENSE_ARRAYS = 6  # distances, three graphs of a line search, and what making them takes
SPARSE_BYTES = 4 * 16  # per neighbour: four graphs, 8 bytes of weight, 4 of column, the rest in passing
SAMPLE = 256


def make_storage(
    X: Array, beta: float, c: float, storage: str = "auto", dtype: str = "float64", verbose: int = 0
) -> Storage:
    """Return a storage for the signals X: the one named, or the one that suits.

    Dense while N x N arrays are small and fit a quarter of the free memory; else sparse while its rows do; else
    implicit.

    Examples
    --------
    >>> import numpy as np
    >>> make_storage(np.random.default_rng(0).normal(size=(5, 40)), 1.0, 0.95).name
    'dense'
    """
    check_choice("storage", storage, ("auto", *STORAGES))
    kind = DTYPES[check_choice("dtype", dtype, DTYPES)]
    signals = X.astype(kind, copy=False)
    if storage == "auto":
        storage, why = suitable_storage(signals, beta, c)
        if verbose:
            print(f"storage: {storage} ({why})")
    made: Storage = STORAGES[storage](signals, beta, c)
    return made


def suitable_storage(X: Array, beta: float, c: float, free: float | None = None) -> tuple[str, str]:
    """Return the name of the storage that suits, and the reason in words.

    Examples
    --------
    >>> import numpy as np
    >>> suitable_storage(np.random.default_rng(0).normal(size=(5, 40)), 1.0, 0.95, free=1e9)[0]
    'dense'
    """
    n = X.shape[1]
    free = free_memory() if free is None else free
    dense = DENSE_ARRAYS * n * n * X.dtype.itemsize
    if n <= DENSE_NODES and dense <= free / 4:
        return "dense", f"{n} nodes need {dense / 1e9:.2g} of {free / 1e9:.2g} GB free"
    degree = expected_degree(X, beta, c)
    needed = SPARSE_BYTES * n * degree
    if needed <= free / 4:
        return (
            "sparse",
            f"{n} nodes with about {degree:.3g} neighbours need {needed / 1e9:.2g} of {free / 1e9:.2g} GB free",
        )
    return (
        "implicit",
        f"{n} nodes with about {degree:.3g} neighbours would need {needed / 1e9:.2g} of {free / 1e9:.2g} GB free",
    )


def expected_degree(X: Array, beta: float, c: float) -> float:
    """Return the mean number of Smooth-GL neighbours over a sample of the nodes.

    Examples
    --------
    >>> import numpy as np
    >>> 0 < expected_degree(np.random.default_rng(0).normal(size=(5, 40)), 1.0, 0.95) <= 39
    True
    """
    points = points_of(X)
    n = len(points)
    nothing = np.zeros(n, points.dtype)
    found = []
    for first in np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(int)):
        row = points.rows(first, first + 1)
        _kernels.respond_block(row, first, nothing, nothing, 0.5 / beta, c, np.empty(1, row.dtype), np.empty((1, 2)))
        found.append(int((row > 0).sum()))
    return float(np.mean(found))


def free_memory() -> float:
    """Return the bytes of memory free for use, or 4 GB where the system does not say.

    Examples
    --------
    >>> free_memory() > 0
    True
    """
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024.0 * next(float(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 4e9
