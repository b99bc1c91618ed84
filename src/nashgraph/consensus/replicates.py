"""The replicates of a consensus, edges by replicates on one fixed pattern: intervals and stability are read off it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numba import prange
from scipy import sparse
from scipy.stats import rankdata

from ..compiled import kernel
from ..validation import Array

INTERVAL = (0.05, 0.95)
# Edges of all thinned graphs together, unless that leaves a node fewer than 16: enough for advice with intervals, and
# small enough to keep with a model.
THINNED_EDGES, LEAST_EACH = 1_000_000, 16
CHUNKS = 64  # runs of edges or rows that are dealt to threads, each with a buffer of its own


@kernel()
def quantile_of_sorted(values: Array, level: float) -> float:
    """Return a quantile, interpolated linearly."""
    place = level * (values.shape[0] - 1)
    below = int(place)
    above = min(below + 1, values.shape[0] - 1)
    return values[below] + (place - below) * (values[above] - values[below])


@kernel(parallel=True)
def edge_quantiles(values: Array, first: float, last: float, low: Array, high: Array) -> None:
    """Write two quantiles of each column, over the replicates."""
    count, n_edges = values.shape
    for chunk in prange(CHUNKS):
        row = np.empty(count, values.dtype)
        for edge in range(chunk * n_edges // CHUNKS, (chunk + 1) * n_edges // CHUNKS):
            for r in range(count):  # insertion sort: replicates are few
                value, place = values[r, edge], r
                while place > 0 and row[place - 1] > value:
                    row[place] = row[place - 1]
                    place -= 1
                row[place] = value
            low[edge], high[edge] = quantile_of_sorted(row, first), quantile_of_sorted(row, last)


@kernel()
def inclusion_threshold(values: Array, each: int) -> float:
    """Return t with sum_j min(1, values_j / t) = each, for more than ``each`` positive values.

    Examples
    --------
    >>> inclusion_threshold(np.array([1.0, 1.0, 4.0, 1.0, 1.0]), 3)
    2.0
    """
    count = len(values)
    parted = np.partition(values, count - each)
    largest, tail = np.sort(parted[count - each :]), parted[: count - each].sum() + 0.0
    # The k largest are certainly included, and the others share the other places. The smallest k that is consistent
    # wins: go down from k = each - 1.
    level = 0.0
    for k in range(each - 1, -1, -1):
        tail += largest[each - 1 - k]
        if k == each - 1 or largest[each - 1 - k] <= tail / (each - k) * (1.0 + 1e-12):
            level = tail / (each - k)
    return max(level, 1e-30)


@kernel(parallel=True)
def thin_rows(
    indptr: Array, indices: Array, values: Array, sums: Array, draws: Array, labels: Array, kept: Array, counts: Array
) -> None:
    """Write at most ``labels.shape[1] - 1`` entries of each row, drawn systematically, and scale rows to their sums.

    An entry w is included with probability min(1, w / t) and then weighs max(w, t), so that no influence changes in
    expectation, as it would if only the largest were kept. One random number per row.
    """
    each = labels.shape[1] - 1
    for i in prange(indptr.shape[0] - 1):
        row = np.maximum(values[indptr[i] : indptr[i + 1]], 0.0).astype(np.float64)
        positive = row[row > 0.0]
        least = inclusion_threshold(positive, each) if len(positive) > each else 1e-30
        passed, before, count, total = draws[i], 0.0, 0, 0.0
        for k in range(len(row)):
            passed += min(1.0, row[k] / least)
            if row[k] > 0.0 and np.floor(passed) > before and count <= each:
                labels[i, count], kept[i, count] = indices[indptr[i] + k], max(row[k], least)
                total += kept[i, count]
                count += 1
            before = np.floor(passed)
        for k in range(count):
            kept[i, k] *= sums[i] / total
        counts[i] = count


@dataclass(frozen=True, eq=False)
class Replicates:
    """The weights of every edge in every replicate.

    Attributes
    ----------
    indptr, indices : the pattern of the consensus, as in CSR
    values : float32 array of shape (n_replicates, n_edges); each row is the data of a CSR matrix with this pattern

    Examples
    --------
    >>> found = Replicates(np.array([0, 1, 2]), np.array([1, 0]), np.array([[1, 2], [3, 2]], dtype=np.float32))
    >>> [end.tolist() for end in found.intervals()]
    [[1.100000023841858, 2.0], [2.9000000953674316, 2.0]]
    """

    indptr: Array
    indices: Array
    values: Array

    def __len__(self) -> int:
        """Return the number of replicates."""
        return len(self.values)

    def intervals(self, levels: tuple[float, float] = INTERVAL) -> tuple[Array, Array]:
        """Return two quantiles of each edge's weight over the replicates."""
        low, high = np.empty((2, self.values.shape[1]), np.float32)
        edge_quantiles(self.values, *levels, low, high)
        return low, high

    def agreement(self) -> float:
        """Return the share of weight that two random replicates have in common; NaN with fewer than two."""
        totals = self.values.sum(axis=1, dtype=float)
        common = [np.minimum(one, other).sum(dtype=float) for one, other in pairwise(self.values)]
        return float(np.mean(common / np.maximum(totals[:-1], 1e-300))) if common else np.nan

    def influence(self) -> Array:
        """Return the influence of each node in each replicate, of shape (n_replicates, n_nodes)."""
        n = len(self.indptr) - 1
        return np.stack([np.bincount(self.indices, weights=row, minlength=n) for row in self.values])

    def node_intervals(self, moved: Array) -> dict[str, Array]:
        """Return the 90% intervals of each node's influence and of its rank.

        ``moved`` is by how much prior and known ties change each influence. It is the same in all replicates. It shifts
        the interval of the influence; a rank would look certain by it alone, so ranks are taken with it and without.
        """
        if not len(self):
            return {}
        plain = self.influence()
        ranks = np.stack([rankdata(-row, method="min") for row in (*plain, *(plain + moved))])
        low, high = np.maximum(np.quantile(plain + moved, INTERVAL, axis=0), 0.0)
        first, last = np.quantile(ranks, INTERVAL, axis=0)
        return {
            "influence_low": low,
            "influence_high": high,
            "rank_low": np.floor(first).astype(int),
            "rank_high": np.ceil(last).astype(int),
        }

    def thinned_graphs(self, moved: Array, sums: Array, n_edges: int = THINNED_EDGES) -> list[Any]:
        """Return the graph of each replicate in bounded memory, every second one with what prior and known ties moved.

        ``moved`` is their part of each edge's weight. It is the same in all replicates: added to all graphs it would
        look certain. All graphs are float32 CSR and in S: rows sum to ``sums``. With 20 replicates graphs are whole up
        to 220 nodes; beyond, a node keeps its heaviest ties and a draw of the others, so that there are ``n_edges`` in
        all graphs together, or 16 per node and graph.
        """
        n, longest = len(self.indptr) - 1, int(np.diff(self.indptr).max(initial=0))
        each = min(max(LEAST_EACH, n_edges // (max(len(self), 1) * n)), longest)
        every, shift = (2 if moved.any() else len(self) + 1), moved.astype(np.float32)
        graphs = []
        for number, row in enumerate(self.values, 1):
            draws = np.random.default_rng(number).random(n)
            labels, kept = np.zeros((n, each + 1), np.int32), np.zeros((n, each + 1))
            counts = np.zeros(n, np.int32)
            values = row if number % every else row + shift
            thin_rows(self.indptr, self.indices, values, sums, draws, labels, kept, counts)
            used = np.arange(each + 1) < counts[:, None]
            pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
            graphs.append(sparse.csr_array((kept[used].astype(np.float32), labels[used], pointers), shape=(n, n)))
        return graphs
