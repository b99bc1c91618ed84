"""Graphs in S held as CSR matrices: distances are streamed from the signals, and only neighbours are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .distances import Result, points_of
from .protocol import Bonus


@dataclass(frozen=True, eq=False)
class SparseCoupling:
    """A graph in S as a CSR matrix. See :class:`~nashgraph.couplings.Coupling`.

    Examples
    --------
    >>> import numpy as np
    >>> graph = SparseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5).respond(np.zeros(3), np.zeros(3))
    >>> graph.weights.nnz
    3
    """

    weights: Any
    cost: float
    square: float
    threshold: Array | None = None

    def dot(self, vector: Array) -> Array:
        """Return W v."""
        product: Array = self.weights @ vector
        return product

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""
        product: Array = self.weights.T @ vector
        return product

    def distance(self, other: SparseCoupling) -> float:
        """Return ||W - V||_F."""
        difference = (self.weights - other.weights).data
        return float(np.sqrt(np.vdot(difference, difference)))

    def mix(self, other: SparseCoupling, share: float) -> SparseCoupling:
        """Return (1 - share) W + share V, on the union of their neighbours."""
        weights = (1.0 - share) * self.weights + share * other.weights
        cost = (1.0 - share) * self.cost + share * other.cost
        return SparseCoupling(weights, cost, float(np.vdot(weights.data, weights.data)))

    def matrix(self) -> Any:
        """Return W as CSR."""
        return self.weights


class StreamedStorage:
    """What storages share that hold the signals as points and stream distances in blocks: O(NM) memory.

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes)
    beta, c : float

    Examples
    --------
    >>> import numpy as np
    >>> StreamedStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5).n_nodes
    3
    """

    def __init__(self, X: Array, beta: float, c: float) -> None:
        self.points = points_of(X)
        self.beta = beta
        self.c = c
        self.passes = 0

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.points)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The kind of float everything is held in."""
        return self.points.dtype

    def map_distances(self, work: Callable[[int, Array], Result]) -> Iterator[Result]:
        """Yield ``work`` on blocks of rows of the distances: one pass."""
        self.passes += 1
        yield from self.points.map(work)

    def respond_block(self, bonus: Bonus, eta: Array, sums: Array, first: int, block: Array) -> None:
        """Turn a block of distances into best responses, filling the thresholds (in score units) and the row sums."""
        rows = slice(first, first + len(block))
        gain = 0.5 / self.beta
        _kernels.respond_block(block, first, bonus.left, bonus.right, gain, self.c, eta[rows], sums[rows])


class SparseStorage(StreamedStorage):
    """Signals held as points; each best response streams blocks of distances. See ``Storage``.

    O(NM) memory for the points and O(N degree) for each graph; a best response costs one BLAS product per block,
    O(N^2 M) in all.

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes)
    beta, c : float

    Examples
    --------
    >>> import numpy as np
    >>> storage = SparseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5)
    >>> storage.respond(np.zeros(3), np.zeros(3)).weights.toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ]])
    """

    name = "sparse"

    def respond(self, left: Array, right: Array) -> SparseCoupling:
        """Return the graph that answers a rank-one bonus, its neighbours only."""
        bonus = Bonus.of(left, right, self.dtype)
        eta, sums = np.empty(self.n_nodes, self.dtype), np.empty((self.n_nodes, 2))

        def work(first: int, block: Array) -> Any:
            self.respond_block(bonus, eta, sums, first, block)
            return positive_part(block)

        return self._coupling(list(self.map_distances(work)), bonus, eta, sums)

    def survey(self, left: Array, right: Array, margin: float) -> tuple[SparseCoupling, Any]:
        """Return the answer to a bonus and, as a CSR pattern, the pairs that lack less than ``margin`` of being in it.

        One pass for both.
        """
        bonus = Bonus.of(left, right, self.dtype)
        eta, sums = np.empty(self.n_nodes, self.dtype), np.empty((self.n_nodes, 2))
        gain = 0.5 / self.beta

        def work(first: int, block: Array) -> tuple[Any, Any]:
            lifted = block.copy()
            self.respond_block(bonus, eta, sums, first, block)
            _kernels.lift_block(lifted, first, bonus.left, bonus.right, gain, eta, margin)
            return positive_part(block), positive_part(lifted)

        weights, near = zip(*self.map_distances(work), strict=True)
        return self._coupling(weights, bonus, eta, sums), stacked(near)

    def _coupling(self, blocks: Sequence[Any], bonus: Bonus, eta: Array, sums: Array) -> SparseCoupling:
        cost, square = sums.sum(axis=0)
        return SparseCoupling(stacked(blocks), float(cost), float(square), 2.0 * self.beta * eta - bonus.shift)

    def hold(self, weights: Any) -> SparseCoupling:
        """Return a given W in S as a coupling."""
        csr = sparse.csr_array(weights, dtype=self.points.dtype)
        csr.eliminate_zeros()

        def work(first: int, distances: Array) -> float:
            return float(csr[first : first + len(distances)].multiply(distances).sum())

        return SparseCoupling(csr, sum(self.map_distances(work)), float(np.vdot(csr.data, csr.data)))


def stacked(blocks: Sequence[Any]) -> Any:
    """Return blocks of rows as one CSR array."""
    return sparse.csr_array(sparse.vstack(blocks))


def positive_part(rows: Array) -> Any:
    """Return the positive entries of dense rows as CSR."""
    counts = np.empty(len(rows), np.int64)
    _kernels.count_positive(rows, counts)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    indices, data = np.empty(pointers[-1], np.int32), np.empty(pointers[-1], rows.dtype)
    _kernels.gather_positive(rows, pointers[:-1], indices, data)
    return sparse.csr_array((data, indices, pointers), shape=rows.shape)
