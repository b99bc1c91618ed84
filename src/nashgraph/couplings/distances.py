"""Signals as points: each node is a point in R^M, and the cost of an edge is a squared distance.

With M signals the paper's edge cost is ``D_ij = ||x_i - x_j||^2 / (2M)``. All of it follows from the node-major
array ``Z = (X - node mean)^T / sqrt(2M)``: ``D_ij = ||z_i - z_j||^2``, a matrix of rank M + 2 at most.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numpy as np
from numba import get_num_threads
from scipy import linalg
from threadpoolctl import ThreadpoolController

from ..validation import Array
from . import _kernels

Result = TypeVar("Result")

# A block of rows of distances should stay in a core's cache while it is worked on.
BLOCK_BYTES = 2 << 20


def node_points(X: Array) -> Array:
    """Return Z of shape (n_nodes, n_signals), C-contiguous, with ``D_ij = ||z_i - z_j||^2``.

    Taking each signal's mean off leaves the distances as they are and keeps the cancellation in
    ``n_i + n_j - 2 <z_i, z_j>`` small. O(NM) time and memory.

    Examples
    --------
    >>> import numpy as np
    >>> node_points(np.array([[0.0, 2.0], [1.0, 1.0]]))
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """
    centred = X - X.mean(axis=1, keepdims=True)
    return np.ascontiguousarray(centred.T) / np.asarray(np.sqrt(2.0 * len(X)), dtype=X.dtype)


class Points:
    """The nodes as points, and their distances in blocks of rows: O(NM) memory and one block.

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes)

    Examples
    --------
    >>> import numpy as np
    >>> points = Points(np.array([[0.0, 1.0, 3.0]]))
    >>> points.rows(1, 3)
    array([[0.5, 0. , 2. ],
           [4.5, 2. , 0. ]])
    """

    def __init__(self, X: Array) -> None:
        self.points = node_points(X)
        self.norms = np.einsum("ij,ij->i", self.points, self.points)
        self.noise = 32.0 * float(np.finfo(self.points.dtype).eps)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The kind of float that everything is held in."""
        return self.points.dtype

    def rows(self, first: int, last: int, out: Array | None = None) -> Array:
        """Return rows ``first`` to ``last`` of the distance matrix."""
        return self.rows_of(np.arange(first, last), out)

    def rows_of(self, nodes: Array, out: Array | None = None) -> Array:
        """Return the rows of the given nodes of the distance matrix: one BLAS product, then one pass in place."""
        block = np.matmul(self.points[nodes], self.points.T, out=out)
        _kernels.gram_to_distances(block, nodes, self.norms, self.noise)
        return block

    def nearest(self, kept: int) -> tuple[Array, Array]:
        """Return each node's ``kept`` smallest distances to others, sorted upward, and whose they are.

        O(N^2 M) time, O(N kept) memory and a few blocks.
        """
        distances = np.empty((len(self), kept), self.dtype)
        labels = np.empty((len(self), kept), np.int32)

        def work(first: int, rows: Array) -> None:
            span = slice(first, first + len(rows))
            _kernels.nearest_in_rows(rows, first, distances[span], labels[span])

        for _ in self.map(work):
            pass
        return distances, labels

    def map(self, work: Callable[[int, Array], Result]) -> Iterator[Result]:
        """Yield ``work(first node, rows of distances)`` for each block of rows, in order.

        The blocks are shared among threads, each with a buffer of its own, and ``work`` must let go of the rows when it
        returns: they are overwritten. A thread makes its blocks and works on them alone, with BLAS held to one thread
        too, so that a pass has no barriers but its end. A few blocks are under way at a time, whatever their number.
        """
        n = len(self)
        size = min(n, max(16, BLOCK_BYTES // (self.dtype.itemsize * n)))
        starts = range(0, n, size)
        workers = min(get_num_threads(), len(starts))
        buffers: queue.SimpleQueue[Array] = queue.SimpleQueue()
        for _ in range(workers):
            buffers.put(np.empty((size, n), self.dtype))

        def run(first: int) -> Result:
            buffer = buffers.get()
            try:
                last = min(n, first + size)
                return work(first, self.rows(first, last, out=buffer[: last - first]))
            finally:
                buffers.put(buffer)

        if workers == 1:
            yield from map(run, starts)
            return
        with blas_threads().limit(limits=1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
            waiting = deque(pool.submit(run, first) for first in starts[: 4 * workers])
            for first in starts[4 * workers :]:
                yield waiting.popleft().result()
                waiting.append(pool.submit(run, first))
            while waiting:
                yield waiting.popleft().result()


@cache
def blas_threads() -> ThreadpoolController:
    """Return the handle on BLAS's own threads, found once: looking for the libraries takes milliseconds."""
    return ThreadpoolController()


def squared_distances(X: Array) -> Array:
    """Return the matrix ``D_ij = ||x_i - x_j||^2 / (2M)`` of the signals X, shape (n_signals, n_nodes).

    One BLAS product of O(N^2 M) and one pass in place: the result is the only N x N array.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 1.0, 3.0]]))
    array([[0. , 0.5, 4.5],
           [0.5, 0. , 2. ],
           [4.5, 2. , 0. ]])
    """
    points = Points(X)
    return points.rows(0, len(points))


def distance_perron_vector(X: Array) -> Array:
    """Return the top eigenvector of the distance matrix, oriented to a non-negative sum, norm 1.

    D = n 1^T + 1 n^T - 2 Z Z^T has rank M + 2 at most, so its top eigenvector comes from a QR factorisation of
    [n, 1, Z] and a small symmetric eigenproblem: O(N (M+2) min(N, M+2)) instead of O(N^3), and no N x N array.

    Examples
    --------
    >>> import numpy as np
    >>> distance_perron_vector(np.array([[0.0, 0.0, 1.0]])).round(3)
    array([0.5  , 0.5  , 0.707])
    """
    points = Points(X)
    factor = np.column_stack([points.norms, np.ones_like(points.norms), points.points])
    q, r = linalg.qr(factor, mode="economic", check_finite=False)
    middle = np.outer(r[:, 0], r[:, 1])
    middle += middle.T
    middle -= 2.0 * r[:, 2:] @ r[:, 2:].T
    size = len(middle)
    _, vectors = linalg.eigh(middle, subset_by_index=[size - 1, size - 1], check_finite=False)
    top: Array = q @ vectors[:, 0]
    return -top if top.sum() < 0 else top
