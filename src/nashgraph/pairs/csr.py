"""CSR matrices made narrow, and their products with vectors on all threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads, prange
from scipy import sparse

from ..compiled import kernel
from ..validation import Array

# From so many entries on products are shared among threads; below, a graph and what a product takes are in a core's
# cache, and threads take as long to start.
MANY_ENTRIES = 200_000


def csr_of(counts: Array, indices: Array, data: Array, columns: int) -> Any:
    """Return a CSR matrix of rows with so many entries each, with indices of 32 bits where they suffice.

    SciPy would make all indices as wide as the pointers are.
    """
    pointers = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    kind = np.int32 if max(pointers[-1], columns) <= np.iinfo(np.int32).max else np.int64
    parts = data, indices.astype(kind, copy=False), pointers.astype(kind)
    return sparse.csr_array(parts, shape=(len(counts), columns))


def narrow(matrix: Any) -> Any:
    """Return a CSR matrix with indices of 32 bits where they suffice: its products have a quarter less to read."""
    return csr_of(np.diff(matrix.indptr), matrix.indices, matrix.data, matrix.shape[1])


def replaced_rows(matrix: Any, nodes: Array, rows: Any) -> Any:
    """Return a CSR matrix in which some rows are those of another."""
    lengths, starts = np.diff(matrix.indptr).astype(np.int64), matrix.indptr[:-1].astype(np.int64)
    lengths[nodes], starts[nodes] = np.diff(rows.indptr), matrix.nnz + rows.indptr[:-1].astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    columns = closed_up(starts, np.concatenate([matrix.indices, rows.indices]), ends)
    found = csr_of(lengths, columns, closed_up(starts, np.concatenate([matrix.data, rows.data]), ends), matrix.shape[1])
    found.has_sorted_indices = bool(matrix.has_sorted_indices and rows.has_sorted_indices)
    return found


def closed_up(starts: Array, values: Array, ends: Array) -> Array:
    """Return the spans that begin at ``starts`` one after the other, the k-th from ``ends[k]`` to ``ends[k + 1]``."""
    out = np.empty(ends[-1], values.dtype)
    _close_up(starts, values, ends, out)
    return out


@kernel(parallel=True)
def _close_up(starts: Array, values: Array, pointers: Array, out: Array) -> None:
    for i in prange(len(starts)):
        length = pointers[i + 1] - pointers[i]
        out[pointers[i] : pointers[i + 1]] = values[starts[i] : starts[i] + length]


def product(matrix: Any, vector: Array) -> Array:
    """Return a sparse matrix times a vector, a large CSR matrix on all threads; sums are in SciPy's order."""
    if matrix.nnz < MANY_ENTRIES or matrix.dtype != vector.dtype:
        found: Array = matrix @ vector
        return found
    rows, runs = matrix.shape[0], get_num_threads()
    ends = np.searchsorted(matrix.indptr, (np.arange(runs + 1) * matrix.nnz // runs).astype(matrix.indptr.dtype))
    ends[0], ends[-1] = 0, rows  # runs of as many entries each, and the rows without any at either end
    out = np.empty(rows, matrix.dtype)
    # As unsigned numbers: to look whether an index is negative, and counts from the end, takes half of the time.
    pointers, indices = (part.view(f"u{part.itemsize}") for part in (matrix.indptr, matrix.indices))
    _apply_rows(ends.view(np.uint64), pointers, indices, matrix.data, vector, out)
    return out


@kernel(parallel=True)
def _apply_rows(ends: Array, pointers: Array, indices: Array, data: Array, vector: Array, out: Array) -> None:
    """Write the product with a vector, each sum in the order of its row; a run of rows begins where the last ends."""
    for run in prange(len(ends) - 1):
        for i in range(ends[run], ends[run + 1]):
            total = out.dtype.type(0)
            for k in range(pointers[i], pointers[i + 1]):
                total += data[k] * vector[indices[k]]
            out[i] = total
