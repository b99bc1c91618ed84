"""A weight matrix W in S as a solver holds it, multiplied, combined and measured, and what CSR matrices need for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numba import get_num_threads, prange
from scipy import sparse

from ..compiled import kernel
from ..validation import Array
from .bonus import Bonus

# From so many entries on products are shared among threads; below, a graph and what a product takes are in a core's
# cache, and threads take as long to start.
MANY_ENTRIES = 200_000


class Weights(Protocol):
    r"""A weight matrix W in S, with the numbers its objective needs; every engine has its own.

    ``cost`` is the linear part <W, D> of J, ``square`` :math:`\|W\|_F^2`, and ``threshold`` the :math:`\eta_i` of the
    row best response, where W is one.
    """

    @property
    def cost(self) -> float: ...
    @property
    def square(self) -> float: ...
    @property
    def threshold(self) -> Array | None: ...
    def put(self, vector: Array) -> Any:
        """Return a vector where products are fast, for example on a device: NumPy's functions and operators take it.

        A product with it stays there; ``np.asarray`` brings it back.
        """

    def dot(self, vector: Array) -> Array:
        """Return W v."""

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F."""

    def mix(self, other: Self, share: float | Array) -> Self:
        """Return (1 - share) W + share V, which is in S again; each row may have a share of its own."""

    def minus(self, other: Self) -> Self:
        """Return W - V, a direction; only ``row_products`` may be asked of it."""

    def row_products(self, other: Self) -> Array:
        """Return the inner products of like rows of two matrices."""

    def bonus_spread(self, bonus: Bonus) -> float:
        r"""Return how much a bonus varies among neighbours: :math:`\sum_i \sum_{j \in N_i} (b_{ij} - \bar b_i)^2`."""

    def matrix(self) -> Any:
        """Return W as a CSR array in memory."""


@dataclass(frozen=True, eq=False)
class SparseWeights:
    """A weight matrix in memory, as CSR. See :class:`Weights`.

    ``costs`` are those of each row, so that rows can go different shares of a way and the cost of the mixture is known
    without looking at a single distance.
    """

    csr: Any
    costs: Array
    square: float
    threshold: Array | None = None

    @property
    def cost(self) -> float:
        return float(self.costs.sum())

    @cached_property
    def transposed(self) -> Any:
        """W^T, found once: of a small graph a view of the same numbers, of a large one as much memory again."""
        return self.csr.T if self.csr.nnz < MANY_ENTRIES else sparse.csr_array(self.csr.T)

    def put(self, vector: Array) -> Array:
        return vector

    def dot(self, vector: Array) -> Array:
        return product(self.csr, vector)

    def tdot(self, vector: Array) -> Array:
        return product(self.transposed, vector)

    def distance(self, other: Self) -> float:
        return float(np.linalg.norm((self.csr - other.csr).data))

    def mix(self, other: Self, share: float | Array) -> Self:
        shares = np.broadcast_to(share, self.costs.shape)
        csr = sparse.csr_array(scaled_rows(self.csr, 1.0 - shares) + scaled_rows(other.csr, shares))
        # A row that goes all the way, or none of it, leaves zeros of the other graph.
        if not (0.0 < shares.min() <= shares.max() < 1.0):
            csr.eliminate_zeros()
        costs = (1.0 - shares) * self.costs + shares * other.costs
        return type(self)(csr, costs, float(np.vdot(csr.data, csr.data)))

    def minus(self, other: Self) -> Self:
        csr = sparse.csr_array(self.csr - other.csr)
        return type(self)(csr, self.costs - other.costs, float(np.vdot(csr.data, csr.data)))

    def row_products(self, other: Self) -> Array:
        return np.asarray(self.csr.multiply(other.csr).sum(axis=1)).ravel()

    def bonus_spread(self, bonus: Bonus) -> float:
        rows = rows_of(self.csr)
        lengths = np.diff(self.csr.indptr)
        values = np.einsum("ek,ek->e", bonus.left[rows], bonus.right[self.csr.indices])
        means = np.bincount(rows, values, len(lengths)) / np.maximum(lengths, 1)
        return float(np.square(values - means[rows]).sum())

    def matrix(self) -> Any:
        return self.csr


def rows_of(csr: Any) -> Array:
    """Return the row of each entry of a CSR matrix."""
    return np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))


def scaled_rows(csr: Any, factors: Array) -> Any:
    """Return a CSR matrix whose rows are multiplied by a factor each."""
    data = csr.data * np.repeat(factors, np.diff(csr.indptr))
    return sparse.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)


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


def merged_rows(matrix: Any, other: Any, nodes: Array | None = None) -> Any:
    """Return a CSR matrix with the entries of another added, whose rows are those of some nodes (default: all).

    Columns are sorted in both; where both have an entry, it is the same.
    """
    n_rows = matrix.shape[0]
    place_of = np.full(n_rows, -1)
    place_of[slice(None) if nodes is None else nodes] = np.arange(other.shape[0])
    first = matrix.indptr, matrix.indices, matrix.data
    second = other.indptr, other.indices, other.data
    counts = np.empty(n_rows, np.int64)
    nothing = np.empty(0, np.int32), np.empty(0)
    _merge_rows(first, second, place_of, np.zeros(0, np.int64), counts, *nothing)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    columns = np.empty(pointers[-1], np.int32)
    data = np.empty(pointers[-1])
    _merge_rows(first, second, place_of, pointers, counts, columns, data)
    merged = csr_of(counts, columns, data, matrix.shape[1])
    merged.has_sorted_indices = True
    return merged


@kernel(parallel=True)
def _merge_rows(
    first: tuple[Array, ...],
    second: tuple[Array, ...],
    place_of: Array,
    pointers: Array,
    counts: Array,
    columns: Array,
    data: Array,
) -> None:
    """Write the union of rows of two CSR matrices; without ``pointers``, only how many entries each has."""
    (starts, names, values), (other_starts, other_names, other_values) = first, second
    counts_only = len(pointers) == 0
    for i in prange(len(place_of)):
        k = starts[i]
        end = starts[i + 1]
        other = 0
        other_end = 0
        if place_of[i] >= 0:
            other = other_starts[place_of[i]]
            other_end = other_starts[place_of[i] + 1]
        place = 0 if counts_only else pointers[i]
        begin = place
        while k < end or other < other_end:
            from_first = other == other_end or (k < end and names[k] <= other_names[other])
            both = from_first and other < other_end and names[k] == other_names[other]
            if not counts_only:
                columns[place] = names[k] if from_first else other_names[other]
                data[place] = values[k] if from_first else other_values[other]
            place += 1
            k += 1 if from_first else 0
            other += 1 if both or not from_first else 0
        counts[i] = place - begin


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
    rows = matrix.shape[0]
    runs = get_num_threads()
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
