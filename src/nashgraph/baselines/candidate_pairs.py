r"""The pairs of nodes that may become edges, and one pass over them.

Solvers whose edges are :math:`w_{ij} = \tfrac12 \max(0,\, \mu_i + \mu_j - 2\theta D_{ij})`, with one potential
:math:`\mu_i` per node, need sums over each node's edges, the edges as a sparse matrix, and the distances to the nearest
nodes. ``CandidatePairs`` gives them for all pairs, ``NearestPairs`` for a list of pairs, in memory proportional to the
list. Rows are independent, so loops over them run in parallel without races; each pair is visited from both ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy import sparse

from ..compiled import kernel
from ..pairs import PairSearch
from ..pairs._kernels import FAST
from ..pairs._smallest import nearest_in_rows, node_draws
from ..validation import Array

Integers = NDArray[np.integer[Any]]


@kernel()
def slack(one: float, other: float, scale: float, distance: float) -> float:
    """Return ``one + other - scale * distance``, never reordered, so that both ends of a pair see the same number."""
    return (one + other) - scale * distance


@kernel(parallel=True, fastmath=FAST)
def node_sums(
    pointers: Integers, neighbours: Integers | None, costs: Array, potential: Array, scale: float, out: Array
) -> None:
    """Write the degree, the sum of squared weights and the number of edges of node i into ``out[i]``.

    Row i of the pairs is ``pointers[i]`` to ``pointers[i + 1]``; without neighbours it has all nodes in their order.
    """
    for i in prange(len(potential)):
        degree = square = 0.0
        count = 0
        mine = potential[i]
        row = costs[pointers[i] : pointers[i + 1]]  # a slice, so that the compiler uses vector instructions
        for p in range(len(row)):
            j = p if neighbours is None else neighbours[pointers[i] + p]
            excess = slack(mine, potential[j], scale, row[p])
            count += excess > 0.0
            excess = max(excess, 0.0)
            degree += excess
            square += excess * excess
        out[i, 0], out[i, 1], out[i, 2] = 0.5 * degree, 0.25 * square, count


@kernel(parallel=True)
def list_edges(
    pointers: Integers,
    neighbours: Integers | None,
    costs: Array,
    potential: Array,
    scale: float,
    indptr: Integers,
    indices: Integers,
    weights: Array,
) -> None:
    """List the edges of node i, with their weights, from ``indptr[i]`` on."""
    for i in prange(len(potential)):
        place = indptr[i]
        row = costs[pointers[i] : pointers[i + 1]]
        for p in range(len(row)):
            j = p if neighbours is None else neighbours[pointers[i] + p]
            excess = slack(potential[i], potential[j], scale, row[p])
            if excess > 0.0:
                indices[place] = j
                weights[place] = 0.5 * excess
                place += 1


class NodeSums(NamedTuple):
    """Sums of one pass over the pairs, per node: degree, sum of squared weights, number of edges."""

    degree: Array
    square: Array
    counts: Any


class CandidatePairs:
    """All pairs, by an N x N array of distances, the only array of that size."""

    _rows: tuple[Integers, Integers | None, Array]

    def __init__(self, search: PairSearch) -> None:
        self.search = search
        self.n_nodes = len(search)
        self._fill()

    def _fill(self) -> None:
        distances = self.search.geometry.rows(np.arange(self.n_nodes))
        np.fill_diagonal(distances, np.inf)  # so that no node is a neighbour of its own
        self._rows = np.arange(self.n_nodes + 1) * self.n_nodes, None, distances.ravel()

    def nearest(self, count: int) -> Array:
        """Return each node's ``count`` smallest distances, sorted."""
        nearest = np.empty((self.n_nodes, count))
        nodes = np.arange(self.n_nodes)
        labels = np.empty(nearest.shape, np.int32)
        nearest_in_rows(self._rows[2].reshape(self.n_nodes, -1), nodes, node_draws(self.n_nodes), nearest, labels)
        return nearest

    def sums(self, potential: Array, theta: float) -> NodeSums:
        """Return each node's degree, sum of squared weights and number of edges."""
        out = np.empty((self.n_nodes, 3))
        node_sums(*self._rows, potential, 2.0 * theta, out)
        return NodeSums(out[:, 0], out[:, 1], out[:, 2].astype(np.int64))

    def edges(self, potential: Array, theta: float) -> Any:
        """Return the weights as a CSR array with positive entries only."""
        pointers = np.append(0, np.cumsum(self.sums(potential, theta).counts))
        columns = np.empty(pointers[-1], np.int64)
        weights = np.empty(pointers[-1])
        list_edges(*self._rows, potential, 2.0 * theta, pointers, columns, weights)
        return sparse.csr_array((weights, columns, pointers), shape=(self.n_nodes, self.n_nodes))


class NearestPairs(CandidatePairs):
    """The pairs of which one node is among the ``count`` nearest of the other, and those added by ``extend``."""

    def __init__(self, search: PairSearch, count: int) -> None:
        self.count = count
        super().__init__(search)

    def _fill(self) -> None:
        self._nearest, labels = self.search.nearest(self.count)
        keys = self._keys(np.repeat(np.arange(self.n_nodes), self.count), labels.ravel())
        self._list(keys, self._nearest.ravel())

    @property
    def n_pairs(self) -> int:
        """The number of unordered pairs."""
        return len(self._costs)

    def nearest(self, count: int) -> Array:
        """Return each node's ``count`` smallest distances, sorted; no more than were listed in the beginning."""
        return self._nearest[:, :count]

    def extend(self, potential: Array, theta: float) -> int:
        r"""Add every pair that is not listed and would be an edge at these potentials; return how many.

        A pair left out is farther apart than the radius :math:`r` of either end (its farthest listed neighbour), so its
        slack is at most :math:`(\mu_i - \theta r_i) + (\mu_j - \theta r_j)`: only nodes with :math:`\mu_i > \theta r_i`
        have to be looked at again. Zero added means that leaving pairs out changed nothing.
        """
        suspects = np.flatnonzero(potential > theta * self._nearest[:, -1])
        keys = [self._pair_keys]
        costs = [self._costs]
        size = self.search.geometry.block_size
        for start in range(0, len(suspects), size):
            rows = suspects[start : start + size]
            distances = self.search.geometry.rows(rows)
            excess = (potential[rows, None] + potential) - 2.0 * theta * distances
            excess[np.arange(len(rows)), rows] = 0.0
            place, other = np.nonzero(excess > 0.0)
            keys.append(self._keys(rows[place], other))
            costs.append(distances[place, other])
        before = self.n_pairs
        self._list(np.concatenate(keys), np.concatenate(costs))
        return self.n_pairs - before

    def _keys(self, one: Any, other: Any) -> Any:
        """Return a number for each unordered pair."""
        low = np.minimum(one, other).astype(np.int64)
        high = np.maximum(one, other)
        return low * self.n_nodes + high

    def _list(self, keys: Any, costs: Array) -> None:
        """Hold each pair once by number, and from both ends by rows."""
        self._pair_keys, first = np.unique(keys, return_index=True)
        self._costs = costs[first]
        # Back from numbers to pairs, each of which is a neighbour at either end.
        low, high = np.divmod(self._pair_keys, self.n_nodes)
        both = np.concatenate([low, high]), np.concatenate([high, low])
        # A pair at distance zero is an entry like any other, which a sum of sparse matrices would drop.
        rows = sparse.coo_array((np.tile(self._costs, 2), both), shape=(self.n_nodes, self.n_nodes)).tocsr()
        rows.sort_indices()
        self._rows = rows.indptr, rows.indices, rows.data
