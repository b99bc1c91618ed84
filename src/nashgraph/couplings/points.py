r"""Where the signals live: each node is a point in R^M, and the cost of an edge is a squared distance.

With M signals the paper's edge cost is ``D_ij = ||x_i - x_j||^2 / (2M)``. All of it follows from the node-major
array ``Z = (X - median)^T / sqrt(2M)``, with the median of each signal over the nodes: ``D_ij = ||z_i - z_j||^2``, a
matrix of rank M + 2 at most. Where signals have gaps (NaN), two nodes are compared on the signals both have, and count
as typical in the others.

Two other geometries are the same family (fact 7 of the design). The cosine is the distance of nodes scaled to one norm.
The inner product is the distance with strong nodes cheaper: with :math:`s_j` the energy of node j and l the *lift*
:math:`l_j = (\max s - s_j) / (2M)`, the cost :math:`D_{ij} + l_i + l_j` is :math:`\max s / M - \langle x_i, x_j \rangle
/ M`.

:class:`Points` is the only thing that knows where the points are and how a pass over all pairs runs. Another place, a
GPU or a cluster, is a subclass with a ``run`` of its own, registered in ``ENGINES``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from ..validation import Array, check_choice, check_observed, check_range
from . import _kernels, _partial_kernels
from .engines import ENGINES
from .levels import Level
from .passes import Bonus, Nearest, Part, RowsTimes, Work
from .threads import shared

if TYPE_CHECKING:
    from .smoothness import Smoothness

# A block of rows of distances should stay in a core's cache while it is worked on.
BLOCK_BYTES = 2 << 20

DTYPES = {"float64": np.float64, "float32": np.float32}
GEOMETRIES = ("distance", "cosine", "inner")


def node_points(X: Array) -> Array:
    """Return Z of shape (n_nodes, n_signals), C-contiguous, with ``D_ij = ||z_i - z_j||^2``.

    Taking each signal's median off leaves the distances as they are and keeps the cancellation in
    ``n_i + n_j - 2 <z_i, z_j>`` small, for all nodes but the outliers. O(NM) time and memory.

    Examples
    --------
    >>> import numpy as np
    >>> node_points(np.array([[0.0, 2.0], [1.0, 1.0]]))
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """
    centred = X - np.median(X, axis=1, keepdims=True)
    return np.ascontiguousarray(centred.T) / np.asarray(np.sqrt(2.0 * len(X)), dtype=X.dtype)


def fine_share(dtype: np.dtype[np.floating]) -> float:
    """Return the share of two norms below which a distance is taken by differences: most of the digits are left."""
    return float(np.finfo(dtype).eps ** 0.3)


def fine_error(dtype: np.dtype[np.floating]) -> float:
    """Return how far two ways of taking a distance may be apart, relative to it: a few digits above rounding."""
    return 16.0 * float(np.finfo(dtype).eps ** 0.7)


class Points:
    """The nodes as points, and their distances in blocks of rows: O(NM) memory and one block.

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes)
    lift : array of shape (n_nodes,), optional
        What a node adds to the cost of each of its edges, at either end.

    Examples
    --------
    >>> import numpy as np
    >>> points = Points(np.array([[0.0, 1.0, 3.0]]))
    >>> points.rows(1, 3)
    array([[0.5, 0. , 2. ],
           [4.5, 2. , 0. ]])
    """

    near: tuple[Array, Array] | None = None  # the last answer of ``nearest``, without bonus

    def __init__(self, X: Array, lift: Array | None = None) -> None:
        self.points = node_points(X)
        self.lift = lift
        self.norms = np.einsum("ij,ij->i", self.points, self.points)

    @property
    def held(self) -> type[Smoothness] | None:
        """The term whose graphs are held where the points are, where that is not memory."""
        return None

    @property
    def spread(self) -> type[Smoothness] | None:
        """The term for graphs that memory here does not suffice for, where there is more of it elsewhere."""
        return None

    def __len__(self) -> int:
        return len(self.points)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The kind of float that everything is held in."""
        return self.points.dtype

    @property
    def block_size(self) -> int:
        """How many rows of distances are made at a time."""
        return min(len(self), max(16, BLOCK_BYTES // (self.dtype.itemsize * len(self))))

    def rows(self, first: int, last: int, out: Array | None = None) -> Array:
        """Return rows ``first`` to ``last`` of the distance matrix."""
        return self.rows_of(np.arange(first, last), out)

    def rows_of(self, nodes: Array, out: Array | None = None) -> Array:
        """Return the rows of the given nodes of the distance matrix: one BLAS product, then one pass in place."""
        block = np.matmul(self.points[nodes], self.points.T, out=out)
        _kernels.gram_to_distances(block, nodes, self.points, self.norms, fine_share(self.dtype))
        return self._lifted(block, nodes)

    def _lifted(self, block: Array, nodes: Array) -> Array:
        """Add the lifts of both ends to rows of distances, in place."""
        if self.lift is not None:
            block += self.lift[nodes, None]
            block += self.lift
            block[np.arange(len(nodes)), nodes] = 0.0
        return block

    def listed(self, pattern: Any) -> Array:
        """Return the distances of the pairs that a CSR pattern lists."""
        distances = np.empty(pattern.nnz, self.dtype)
        _kernels.listed_distances(pattern.indptr, pattern.indices, self.points, distances)
        return self._lifted_list(distances, pattern)

    def _lifted_list(self, distances: Array, pattern: Any) -> Array:
        """Add the lifts of both ends to listed distances, in place."""
        if self.lift is not None:
            distances += np.repeat(self.lift, np.diff(pattern.indptr))
            distances += self.lift[pattern.indices]
        return distances

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the distance matrix.

        D = n 1^T + 1 n^T - 2 Z Z^T has rank M + 2 at most, so its top eigenvector comes from a QR factorisation of
        [n, 1, Z] and a small symmetric eigenproblem: O(N (M+2) min(N, M+2)) instead of O(N^3), and no N x N array.
        """
        ends = self.norms if self.lift is None else self.norms + self.lift
        factor = np.column_stack([ends, np.ones_like(ends), self.points])
        q, r = linalg.qr(factor, mode="economic", check_finite=False)
        middle = np.outer(r[:, 0], r[:, 1])
        middle += middle.T
        middle -= 2.0 * r[:, 2:] @ r[:, 2:].T
        size = len(middle)
        _, vectors = linalg.eigh(middle, subset_by_index=[size - 1, size - 1], check_finite=False)
        top: Array = q @ vectors[:, 0]
        return top

    def nearest(self, kept: int, bonus: Bonus | None = None) -> tuple[Array, Array]:
        """Return each node's ``kept`` smallest costs to others, less a bonus, sorted upward, and whose they are.

        O(N^2 M) time, O(N kept) memory and a few blocks.
        """
        parts = list(self.run(Nearest(kept, bonus)))
        found = parts[0]
        if len(parts) > 1:
            costs, labels = zip(*parts, strict=True)
            found = np.concatenate(costs), np.concatenate(labels)
        if bonus is None:
            self.near = found
        return found

    def level(self, degree: float, kept: int) -> Level:
        """Return the level at which nodes have ``degree`` neighbours on average, from the ``kept`` nearest of each."""
        return Level.of(self.nearest(kept)[0], degree)

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Yield ``work(first node, rows of distances)`` for each block of rows, in order.

        The blocks are shared among threads, each with a buffer of its own that is overwritten by its next block.
        """
        n, size = len(self), self.block_size

        def block(first: int, buffer: Array) -> Part:
            last = min(n, first + size)
            return work(first, self.rows(first, last, out=buffer[: last - first]))

        yield from shared(block, range(0, n, size), lambda: np.empty((size, n), self.dtype))


class PartialPoints(Points):
    r"""The nodes as points with gaps: two nodes are compared on the signals both have, and are typical in the others.

    .. math:: D_{ij} = \frac{1}{M} \Big( \sum_{m \in m_{ij}} \frac{(x_{mi} - x_{mj})^2}{2}
              + \sum_{m \notin m_{ij}} v_m \Big)

    with :math:`m_{ij}` the signals observed at both nodes and :math:`v_m` the variance of signal m over the nodes that
    have it, which is half the squared difference of two nodes on average. So a distance is drawn to the typical one by
    as much as is missing of it: who answered one question like somebody else is not nearest to everybody. Without gaps
    it is the distance of :class:`Points`. It need not be a metric.

    With O the mask of what is observed and gaps as zeros in X, the sums of squares are
    :math:`(X^2)^\top O + O^\top (X^2) - 2 X^\top X`, and what is typical
    :math:`(1 - O)^\top v 1^\top + O^\top \mathrm{diag}(v) (1 - O)`, in which nothing cancels: a block of rows is one
    BLAS product of width 3M and one of width M, and memory stays O(NM).

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes), NaN where nothing is observed

    Examples
    --------
    >>> import numpy as np
    >>> PartialPoints(np.array([[0.0, 1.0, 3.0], [0.0, 4.0, np.nan]])).rows(0, 2)
    array([[0.  , 4.25, 4.25],
           [4.25, 0.  , 3.  ]])
    """

    def __init__(self, X: Array, lift: Array | None = None) -> None:
        check_observed(X, np.arange(X.shape[1]))
        self.lift = lift
        observed = ~np.isnan(X)
        centred = np.where(observed, X - np.nanmedian(X, axis=1, keepdims=True), 0.0)
        self.points = np.ascontiguousarray(centred.T) / np.asarray(np.sqrt(2.0), dtype=X.dtype)
        self.observed = np.ascontiguousarray(observed.T, dtype=X.dtype)
        self.typical = np.nanvar(X, axis=1)
        squares = self.points * self.points
        self.totals = squares.sum(axis=1)
        self.norms = self.totals / observed.sum(axis=0).astype(X.dtype)
        self.facing = np.hstack([self.observed, squares, -2.0 * self.points])

    def rows_of(self, nodes: Array, out: Array | None = None) -> Array:
        """Return the rows of the given nodes of the distance matrix, made in blocks."""
        rows = np.empty((len(nodes), len(self)), self.dtype) if out is None else out
        for first in range(0, len(nodes), self.block_size):
            span = slice(first, first + self.block_size)
            self._fill(nodes[span], rows[span])
        return self._lifted(rows, nodes)

    def _fill(self, nodes: Array, rows: Array) -> None:
        """Write the distances of a few nodes to all: two BLAS products, then one pass in place."""
        points, observed = self.points[nodes], self.observed[nodes]
        np.matmul(np.hstack([points * points, observed, points]), self.facing.T, out=rows)
        missing = ((1.0 - observed) @ self.typical)[:, None] + (observed * self.typical) @ (1.0 - self.observed).T
        fine = fine_share(self.dtype)
        _partial_kernels.sums_to_distances(rows, missing, nodes, self.points, self.observed, self.totals, fine)

    def listed(self, pattern: Any) -> Array:
        """Return the distances of the pairs that a CSR pattern lists."""
        distances = np.empty(pattern.nnz, self.dtype)
        rows = pattern.indptr, pattern.indices, self.points, self.observed
        _partial_kernels.listed_distances(*rows, self.typical, distances)
        return self._lifted_list(distances, pattern)

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the distance matrix by Lanczos's method, for gaps leave it no low rank.

        Its positive eigenvalue stands alone, so about nine products do, each one pass over all pairs; O(NM) memory and
        a few blocks.
        """
        n = len(self)

        def product(vector: Array) -> Array:
            return np.concatenate(list(self.run(RowsTimes(vector.ravel()))))

        distances = LinearOperator((n, n), product, dtype=self.dtype)
        start = np.ones(n, self.dtype)
        _, vectors = eigsh(distances, k=1, which="LA", v0=start, ncv=min(n, 8), tol=1e-12)
        top: Array = vectors[:, 0]
        return top


def points_of(X: Array, engine: str = "threads", dtype: str = "float64", geometry: str = "distance") -> Points:
    """Return the nodes of the signals X as points, where an engine keeps them; made once, they serve a whole fit.

    The geometry says what makes two nodes alike: their distance, their cosine or their inner product.

    Examples
    --------
    >>> type(points_of(np.array([[0.0, 1.0], [0.0, np.nan]]))).__name__
    'PartialPoints'
    >>> points_of(np.array([[1.0, 3.0], [0.0, 4.0]]), geometry="inner").rows(0, 1)  # (25 - 3) / 2
    array([[ 0., 11.]])
    """
    kind = DTYPES[check_choice("dtype", dtype, DTYPES)]
    if dtype == "float32":  # the wider range was checked before
        check_range(X, dtype)
    lift = None
    if check_choice("geometry", geometry, GEOMETRIES) != "distance":
        energy = np.nanmean(X * X, axis=0)
        if geometry == "cosine":
            X = X * np.sqrt(np.divide(energy.mean(), energy, out=np.ones_like(energy), where=energy > 0))
        else:
            lift = (0.5 * (energy.max() - energy)).astype(kind)
    return ENGINES[check_choice("engine", engine, ENGINES)](X.astype(kind, copy=False), lift)


def squared_distances(X: Array) -> Array:
    """Return the matrix ``D_ij = ||x_i - x_j||^2 / (2M)`` of the signals X, shape (n_signals, n_nodes).

    Where X has NaN, as in :class:`PartialPoints`.

    One BLAS product of O(N^2 M) and one pass in place: the result is the only N x N array.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 1.0, 3.0]]))
    array([[0. , 0.5, 4.5],
           [0.5, 0. , 2. ],
           [4.5, 2. , 0. ]])
    """
    points = points_of(X)
    return points.rows(0, len(points))
