"""CSR matrices made narrow, and what SciPy does to two of them, on all threads and without what is not needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads
from scipy import sparse

from ..validation import Array
from . import _csr_kernels

# From so many entries on products are shared among threads; below, a graph and what a product takes are in a core's
# cache, and threads take as long to start.
MANY_ENTRIES = 200_000
TURNING_THREADS = 16  # at the most: more of them would wait for memory


def csr_of(counts: Array, indices: Array, data: Array, columns: int) -> Any:
    """Return a CSR matrix of rows with so many entries each, with indices of 32 bits where they suffice.

    SciPy would make all indices as wide as the pointers are.

    Examples
    --------
    >>> matrix = csr_of(np.array([1, 2]), np.array([0, 0, 1], np.int32), np.ones(3), columns=2)
    >>> matrix.toarray(), matrix.indices.dtype
    (array([[1., 0.],
           [1., 1.]]), dtype('int32'))
    """
    pointers = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    kind = np.int32 if max(pointers[-1], columns) <= np.iinfo(np.int32).max else np.int64
    parts = data, indices.astype(kind, copy=False), pointers.astype(kind)
    return sparse.csr_array(parts, shape=(len(counts), columns))


def row_products(one: Any, other: Any) -> Array:
    """Return the inner products of like rows of two CSR matrices.

    Examples
    --------
    >>> one = sparse.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> row_products(one, sparse.csr_array(np.ones((2, 2))))
    array([3., 3.])
    """
    products = np.empty(one.shape[0])
    _csr_kernels.multiply_rows(*_sorted(one), *_sorted(other), products)
    return products


def squared_difference(one: Any, other: Any) -> float:
    """Return ||A - B||_F^2 of two CSR matrices, the same bits on any number of threads.

    Examples
    --------
    >>> squared_difference(sparse.csr_array(np.eye(2)), sparse.csr_array(np.array([[0.0, 2.0], [0.0, 3.0]])))
    9.0
    """
    squares = np.empty(one.shape[0])
    _csr_kernels.subtract_rows(*_sorted(one), *_sorted(other), squares)
    return float(squares.sum())


def union(one: Any, other: Any) -> Any:
    """Return where either of two CSR matrices has entries, zeros included, as a CSR pattern of ones.

    Examples
    --------
    >>> union(sparse.csr_array(np.eye(2)), sparse.csr_array(np.array([[0.0, -2.0], [0.0, -1.0]]))).toarray()
    array([[1, 1],
           [0, 1]], dtype=int8)
    """
    (pointers, indices, _), (others, other_indices, _) = _sorted(one), _sorted(other)
    starts = pointers[:-1].astype(np.int64) + others[:-1]
    columns, lengths = np.empty(len(indices) + len(other_indices), indices.dtype), np.empty(len(starts), np.int64)
    _csr_kernels.join_rows(pointers, indices, others, other_indices, starts, columns, lengths)
    joined = closed_up(starts, columns, np.concatenate([[0], np.cumsum(lengths)]))
    return csr_of(lengths, joined, np.ones(len(joined), np.int8), one.shape[1])


def closed_up(starts: Array, values: Array, ends: Array) -> Array:
    """Return the spans that begin at ``starts`` one after the other, the k-th from ``ends[k]`` to ``ends[k + 1]``.

    Examples
    --------
    >>> closed_up(np.array([0, 3]), np.array([1, 2, 0, 3, 0]), np.array([0, 2, 3]))
    array([1, 2, 3])
    """
    out = np.empty(ends[-1], values.dtype)
    _csr_kernels.close_up(starts, values, ends, out)
    return out


def product(matrix: Any, vector: Array) -> Array:
    """Return a sparse matrix times a vector, a large CSR matrix on all threads; sums are in SciPy's order.

    Examples
    --------
    >>> product(sparse.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]])), np.ones(2))
    array([3., 3.])
    """
    if matrix.nnz < MANY_ENTRIES or matrix.dtype != vector.dtype:
        found: Array = matrix @ vector
        return found
    rows, runs = matrix.shape[0], get_num_threads()
    ends = np.searchsorted(matrix.indptr, (np.arange(runs + 1) * matrix.nnz // runs).astype(matrix.indptr.dtype))
    ends[0], ends[-1] = 0, rows  # runs of as many entries each, and the rows without any at either end
    out = np.empty(rows, matrix.dtype)
    _csr_kernels.apply_rows(ends.view(np.uint64), *_unsigned(matrix), vector, out)
    return out


def transposed(matrix: Any) -> Any:
    """Return the transpose of a CSR matrix for products: a large one as CSR, made on all threads, else as a view.

    Sums are in the same order either way. A large one takes as much memory again as the matrix, and meanwhile an index
    for every column and thread.

    Examples
    --------
    >>> transposed(sparse.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))).toarray()
    array([[1., 0.],
           [2., 3.]])
    """
    if matrix.nnz < MANY_ENTRIES:
        return matrix.T
    kind, parts = matrix.indices.dtype, min(get_num_threads(), TURNING_THREADS)
    places, starts = np.empty((parts, matrix.shape[1]), kind), np.zeros(matrix.shape[1] + 1, kind)
    rows, values = np.empty(matrix.nnz, kind), np.empty(matrix.nnz, matrix.dtype)
    unsigned = (part.view(f"u{kind.itemsize}") for part in (places, starts, rows))
    _csr_kernels.turn_rows(*_unsigned(matrix), *unsigned, values)
    return sparse.csr_array((values, rows, starts), shape=matrix.shape[::-1])


def narrow(matrix: Any) -> Any:
    """Return a CSR matrix with indices of 32 bits where they suffice: its products have a quarter less to read.

    Examples
    --------
    >>> wide = sparse.csr_array((np.ones(1), np.array([1]), np.array([0, 1, 1])), shape=(2, 2))
    >>> narrow(wide).indices.dtype
    dtype('int32')
    """
    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max:
        return matrix
    pointers, indices = (part.astype(np.int32, copy=False) for part in (matrix.indptr, matrix.indices))
    return sparse.csr_array((matrix.data, indices, pointers), shape=matrix.shape)


def _unsigned(matrix: Any) -> tuple[Array, Array, Array]:
    pointers, indices = (part.view(f"u{part.itemsize}") for part in (matrix.indptr, matrix.indices))
    return pointers, indices, matrix.data


def _sorted(matrix: Any) -> tuple[Array, Array, Array]:
    matrix.sort_indices()
    return matrix.indptr, matrix.indices, matrix.data
