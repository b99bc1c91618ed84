r"""The pairs of nodes that may become edges, and one pass over them.

Solvers whose edges are :math:`w_{ij} = \tfrac12 \max(0,\, \mu_i + \mu_j - 2\theta D_{ij})`, with one potential
:math:`\mu_i` per node, need three things of the pairs: sums over each node's edges, the edges as a sparse matrix, and
the distances to the nearest nodes. ``DensePairs`` gives them for all pairs of an N x N array of distances,
``NearestPairs`` for a list of pairs, in memory proportional to the list. The kernels trust their input. Rows are
independent, so loops over them run in parallel without races; each pair is then visited from both of its ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy import sparse

from ..compiled import kernel
from ..pairs import PairSearch
from ..pairs._kernels import FAST, nearest_in_rows
from ..validation import Array

Integers = NDArray[np.integer[Any]]


@kernel()
def slack(one: float, other: float, scale: float, distance: float) -> float:
    """Return ``one + other - scale * distance``, in this order.

    A function of its own because the loops below may reorder sums: here nothing is reordered, so that the two ends of a
    pair see the same number and a pair counted is a pair listed.
    """
    return (one + other) - scale * distance


@kernel(parallel=True, fastmath=FAST)
def dense_sums(distances: Array, potential: Array, scale: float, out: Array) -> None:
    """Write the degree, the sum of squared weights and the number of edges of node i into ``out[i]``.

    The diagonal of the distances is infinite, so that no node is a neighbour of its own.
    """
    n = len(potential)
    for i in prange(n):
        degree = square = 0.0
        count = 0
        row, mine = distances[i], potential[i]
        for j in range(n):
            excess = slack(mine, potential[j], scale, row[j])
            count += excess > 0.0
            excess = max(excess, 0.0)
            degree += excess
            square += excess * excess
        out[i, 0], out[i, 1], out[i, 2] = 0.5 * degree, 0.25 * square, count


@kernel(parallel=True)
def dense_edges(
    distances: Array, potential: Array, scale: float, indptr: Integers, indices: Integers, weights: Array
) -> None:
    """List the edges of node i, with their weights, from ``indptr[i]`` on."""
    n = len(potential)
    for i in prange(n):
        place = indptr[i]
        for j in range(n):
            excess = slack(potential[i], potential[j], scale, distances[i, j])
            if excess > 0.0:
                indices[place] = j
                weights[place] = 0.5 * excess
                place += 1


@kernel(parallel=True, fastmath=FAST)
def sparse_sums(
    pointers: Integers, neighbours: Integers, costs: Array, potential: Array, scale: float, out: Array
) -> None:
    """Do as ``dense_sums``, over the pairs of a CSR list."""
    for i in prange(len(potential)):
        degree = square = 0.0
        count = 0
        for p in range(pointers[i], pointers[i + 1]):
            excess = slack(potential[i], potential[neighbours[p]], scale, costs[p])
            if excess > 0.0:
                count += 1
                degree += excess
                square += excess * excess
        out[i, 0], out[i, 1], out[i, 2] = 0.5 * degree, 0.25 * square, count


@kernel(parallel=True)
def sparse_edges(
    pointers: Integers,
    neighbours: Integers,
    costs: Array,
    potential: Array,
    scale: float,
    indptr: Integers,
    indices: Integers,
    weights: Array,
) -> None:
    """Do as ``dense_edges``, over the pairs of a CSR list."""
    for i in prange(len(potential)):
        place = indptr[i]
        for p in range(pointers[i], pointers[i + 1]):
            excess = slack(potential[i], potential[neighbours[p]], scale, costs[p])
            if excess > 0.0:
                indices[place] = neighbours[p]
                weights[place] = 0.5 * excess
                place += 1


BLOCK_BYTES = 1 << 25


class NodeSums(NamedTuple):
    """Sums of one pass over the pairs, per node: degree, sum of squared weights, number of edges."""

    degree: Array
    square: Array
    counts: Any


class CandidatePairs(ABC):
    """Pairs that may be edges."""

    n_nodes: int

    def sums(self, potential: Array, theta: float) -> NodeSums:
        """Return each node's degree, sum of squared weights and number of edges."""
        out = np.empty((self.n_nodes, 3))
        self._sum(potential, 2.0 * theta, out)
        return NodeSums(out[:, 0], out[:, 1], out[:, 2].astype(np.int64))

    def edges(self, potential: Array, theta: float) -> Any:
        """Return the weights as a CSR array with positive entries only."""
        pointers = np.append(0, np.cumsum(self.sums(potential, theta).counts))
        columns, weights = np.empty(pointers[-1], np.int64), np.empty(pointers[-1])
        self._list_edges(potential, 2.0 * theta, pointers, columns, weights)
        return sparse.csr_array((weights, columns, pointers), shape=(self.n_nodes, self.n_nodes))

    @abstractmethod
    def nearest(self, kept: int) -> Array:
        """Return each node's ``kept`` smallest distances, sorted."""

    @abstractmethod
    def _sum(self, potential: Array, scale: float, out: Array) -> None: ...

    @abstractmethod
    def _list_edges(self, potential: Array, scale: float, pointers: Any, columns: Any, weights: Array) -> None: ...


class DensePairs(CandidatePairs):
    """All pairs, by an N x N array of distances, the only array of that size.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.pairs import make_search
    >>> pairs = DensePairs(make_search(np.array([[0.0, 1.0, 3.0]])))
    >>> pairs.sums(np.ones(3), theta=1.0).degree
    array([0.5, 0.5, 0. ])
    >>> pairs.edges(np.ones(3), theta=1.0).toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0. , 0. ]])
    """

    def __init__(self, points: PairSearch) -> None:
        self.n_nodes = len(points)
        self.distances = points.rows(np.arange(self.n_nodes))
        np.fill_diagonal(self.distances, np.inf)  # so that no node is a neighbour of its own

    def nearest(self, kept: int) -> Array:
        """Return each node's ``kept`` smallest distances, sorted."""
        nearest = np.empty((self.n_nodes, kept))
        nearest_in_rows(self.distances, np.arange(self.n_nodes), nearest, np.empty(nearest.shape, np.int32))
        return nearest

    def _sum(self, potential: Array, scale: float, out: Array) -> None:
        dense_sums(self.distances, potential, scale, out)

    def _list_edges(self, potential: Array, scale: float, pointers: Any, columns: Any, weights: Array) -> None:
        dense_edges(self.distances, potential, scale, pointers, columns, weights)


class NearestPairs(CandidatePairs):
    """The pairs of which one node is among the ``kept`` nearest of the other.

    The nearest are found in blocks of rows: O(N^2 M) time, O(N (kept + M)) memory.
    """

    def __init__(self, points: PairSearch, kept: int) -> None:
        self.points = points
        self.n_nodes = len(points)
        self._nearest, labels = points.nearest(kept)
        keys = self._keys(np.repeat(np.arange(self.n_nodes), kept), labels.ravel())
        self._list(keys, self._nearest.ravel())

    @property
    def n_pairs(self) -> int:
        """The number of unordered pairs."""
        return len(self._costs)

    def nearest(self, kept: int) -> Array:
        """Return each node's ``kept`` smallest distances, sorted; no more than were kept to make the list."""
        return self._nearest[:, :kept]

    def extend(self, potential: Array, theta: float) -> int:
        r"""Add every pair that is not listed and would be an edge at these potentials; return how many.

        A pair left out is farther apart than the radius :math:`r` of either end (its farthest listed neighbour), so its
        slack is at most :math:`(\mu_i - \theta r_i) + (\mu_j - \theta r_j)`: only nodes with :math:`\mu_i > \theta r_i`
        have to be looked at again. Zero added means that leaving pairs out changed nothing.
        """
        suspects = np.flatnonzero(potential > theta * self._nearest[:, -1])
        keys, costs = [self._pair_keys], [self._costs]
        size = max(1, BLOCK_BYTES // (8 * self.n_nodes))
        for start in range(0, len(suspects), size):
            rows = suspects[start : start + size]
            distances = self.points.rows(rows)
            excess = (potential[rows, None] + potential) - 2.0 * theta * distances
            excess[np.arange(len(rows)), rows] = 0.0
            place, other = np.nonzero(excess > 0.0)
            keys.append(self._keys(rows[place], other))
            costs.append(distances[place, other])
        before = self.n_pairs
        self._list(np.concatenate(keys), np.concatenate(costs))
        return self.n_pairs - before

    def _sum(self, potential: Array, scale: float, out: Array) -> None:
        sparse_sums(*self._rows, potential, scale, out)

    def _list_edges(self, potential: Array, scale: float, pointers: Any, columns: Any, weights: Array) -> None:
        sparse_edges(*self._rows, potential, scale, pointers, columns, weights)

    def _keys(self, one: Any, other: Any) -> Any:
        """Return a number for each unordered pair."""
        low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other)
        return low * self.n_nodes + high

    def _list(self, keys: Any, costs: Array) -> None:
        """Hold each pair once by number, and from both ends by rows."""
        self._pair_keys, first = np.unique(keys, return_index=True)
        self._costs = costs[first]
        low, high = np.divmod(self._pair_keys, self.n_nodes)
        rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
        order = np.lexsort((columns, rows))
        pointers = np.zeros(self.n_nodes + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=self.n_nodes), out=pointers[1:])
        self._rows = pointers, columns[order].astype(np.int32), np.tile(self._costs, 2)[order]
