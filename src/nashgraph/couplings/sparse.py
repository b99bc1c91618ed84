"""Graphs in S held as CSR matrices: distances are streamed from the signals, and only neighbours are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .distances import BLOCK_BYTES, Points
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

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield dense blocks of rows."""
        n = self.weights.shape[0]
        size = max(1, BLOCK_BYTES // (8 * n))
        for first in range(0, n, size):
            yield first, self.weights[first : first + size].toarray()

    def matrix(self) -> Any:
        """Return W as CSR."""
        return self.weights


class SparseStorage:
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

    def __init__(self, X: Array, beta: float, c: float) -> None:
        self.points = Points(X)
        self.beta = beta
        self.c = c
        self.passes = 0

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.points)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The kind of float graphs are held in."""
        return self.points.dtype

    def respond(self, left: Array, right: Array) -> SparseCoupling:
        """Return the graph that answers a rank-one bonus, its neighbours only."""
        n, kind = self.n_nodes, self.points.dtype
        eta, sums = np.empty(n, kind), np.empty((n, 2))
        counts = np.empty(n, np.int64)
        indices: list[Any] = []
        data: list[Array] = []
        bonus = Bonus.of(left, right, kind)
        for first, weights in respond_blocks(self, bonus, eta, sums):
            counted = counts[first : first + len(weights)]
            _kernels.count_positive(weights, counted)
            ends = np.cumsum(counted)
            indices.append(np.empty(ends[-1], np.int32))
            data.append(np.empty(ends[-1], kind))
            _kernels.gather_positive(weights, ends - counted, indices[-1], data[-1])
        pointers = np.concatenate([[0], np.cumsum(counts)])
        csr = sparse.csr_array((np.concatenate(data), np.concatenate(indices), pointers), shape=(n, n))
        cost, square = sums.sum(axis=0)
        return SparseCoupling(csr, float(cost), float(square), 2.0 * self.beta * eta - bonus.shift)

    def hold(self, weights: Any) -> SparseCoupling:
        """Return a given W in S as a coupling."""
        csr = sparse.csr_array(weights, dtype=self.points.dtype)
        csr.eliminate_zeros()
        cost = sum(
            float(np.sum(csr[first : first + len(block)].multiply(block))) for first, block in self.distance_blocks()
        )
        return SparseCoupling(csr, cost, float(np.vdot(csr.data, csr.data)))

    def distance_blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield blocks of rows of the distances."""
        self.passes += 1
        yield from self.points.blocks()


def respond_blocks(storage: Any, bonus: Bonus, eta: Array, sums: Array) -> Iterator[tuple[int, Array]]:
    """Yield the best response in blocks of rows, filling the thresholds (in score units) and the row sums."""
    for first, block in storage.distance_blocks():
        rows = slice(first, first + len(block))
        gain = 0.5 / storage.beta
        _kernels.respond_block(block, first, bonus.left, bonus.right, gain, storage.c, eta[rows], sums[rows])
        yield first, block
