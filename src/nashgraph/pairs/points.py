r"""The nodes as points, and what a pair of them costs: the geometry of a search.

With M signals the paper's edge cost is ``D_ij = ||x_i - x_j||^2 / (2M)``. It follows from the node-major array
``Z = (X - median)^T / sqrt(2M)``: ``D_ij = ||z_i - z_j||^2``, a matrix of rank M + 2 at most.

Two other geometries are the same family (fact 7 of docs/mathematics.md). The cosine is the distance of nodes scaled to
one norm.
The inner product is the distance with strong nodes cheaper: with :math:`s_j` the energy of node j and the *node cost*
:math:`h_j = (\max s - s_j) / (2M)`, the cost :math:`D_{ij} + h_i + h_j` is :math:`\max s / M - \langle x_i, x_j \rangle
/ M`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from ..validation import Array
from . import _costs
from .threads import blas_threads
from .tree import Order, Tree
from .weights import rows_of

# A block of rows of costs should stay in a core's cache while it is worked on.
BLOCK_BYTES = 2 << 20
# A distance below this share of the norms it is a difference of is computed signal by signal: eps ** 0.3 leaves 70% of
# its digits. Two ways of computing a distance then differ by less than ROUNDING, relative to it.
FINE_SHARE = float(np.finfo(float).eps ** 0.3)
ROUNDING = 16.0 * float(np.finfo(float).eps ** 0.7) + 2.0**-31  # and costs are rounded to 32 bits


def signal_sizes(X: Array) -> Array:
    """Return the mean square of each node's signals, halved: the scale of rounding in the distances to it."""
    return np.asarray(0.5 * np.nanmean(X * X, axis=0))


def points_of(X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> Points:
    """Return the nodes of signals as points; with NaN in X, those that compare nodes over the signals both have."""
    if np.isnan(X).any():
        return GappedPoints.of(X, node_costs, sizes)
    return Points.of(X, node_costs, sizes)


class Points:
    """Nodes as points: the cost of a pair is their squared distance and a node cost for either end.

    ``points`` has one row per node, ``norms`` are their squares, ``sizes`` the scale of rounding in each node's signals
    and ``node_costs`` what a node adds to the cost of its edges.

    Examples
    --------
    >>> points_of(np.array([[0.0, 1.0, 3.0]])).rows(np.array([1, 2]))
    array([[0.5, 0. , 2. ],
           [4.5, 2. , 0. ]])
    """

    def __init__(self, points: Array, norms: Array, sizes: Array, node_costs: Array) -> None:
        self.points = points
        self.norms = norms
        self.sizes = sizes
        self.node_costs = node_costs

    @classmethod
    def of(cls, X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> Points:
        """Make points of signals.

        Taking each signal's median off leaves the distances as they are and keeps the cancellation in
        ``n_i + n_j - 2 <z_i, z_j>`` small, for all nodes but the outliers.
        """
        centred = X - np.median(X, axis=1, keepdims=True)
        points = np.ascontiguousarray(centred.T) / np.sqrt(2.0 * len(X))
        norms = np.einsum("ij,ij->i", points, points)
        if node_costs is None:
            node_costs = np.zeros(len(points))
        return cls(points, norms, signal_sizes(X) if sizes is None else sizes, node_costs)

    def __len__(self) -> int:
        return len(self.points)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to another process: all but the tree, which is twice as large and soon made there."""
        return {name: value for name, value in vars(self).items() if name != "tree"}

    @property
    def block_size(self) -> int:
        """How many rows of costs are made at a time."""
        return min(len(self), max(16, BLOCK_BYTES // (8 * len(self))))

    @cached_property
    def order(self) -> Order:
        """Which nodes are a leaf of the tree."""
        with blas_threads().limit(limits=1):  # the same bits on any number of threads
            return Order.of(self.points, self.node_costs)

    @cached_property
    def tree(self) -> Tree:
        """The points in leaves, for scans that skip some of them."""
        with blas_threads().limit(limits=1):
            return Tree.of(self.points, self.node_costs, self.sizes, self.order)

    def rows(self, nodes: Array, out: Array | None = None) -> Array:
        """Return the rows of some nodes of the cost matrix: one BLAS product, then one pass in place."""
        block = np.matmul(self.points[nodes], self.points.T, out=out)
        _costs.gram_to_costs(block, nodes, self.points, self.norms, self.sizes, self.node_costs, FINE_SHARE)
        return block

    def costs(self, rows: Array, columns: Array) -> Array:
        """Return the costs of some pairs, from differences of signals and not rounded: weights are made of them."""
        costs = np.empty(len(rows))
        _costs.costs_of_pairs(rows, columns, self.points, self.sizes, self.node_costs, costs)
        return costs

    def costs_for_ranks(self, pairs: Any) -> Array:
        """Return the costs of the pairs in a CSR pattern, rounded to 32 bits: ties in the data are equal."""
        return _costs.without_rounding(self.costs(rows_of(pairs), pairs.indices))

    def factors(self) -> tuple[Array, Array]:
        """Return two thin arrays whose product is the cost matrix, except for rounding and its diagonal."""
        ends = self.norms + self.node_costs
        ones = np.ones(len(self))
        return np.column_stack([ends, ones, -2.0 * self.points]), np.column_stack([ones, ends, self.points])

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the cost matrix.

        D = n 1^T + 1 n^T - 2 Z Z^T has rank M + 2 at most, so its top eigenvector comes from a QR factorisation of
        [n, 1, Z] and a small symmetric eigenproblem, without an N x N array.
        """
        ends = self.norms + self.node_costs
        factor = np.column_stack([ends, np.ones_like(ends), self.points])
        q, r = linalg.qr(factor, mode="economic", check_finite=False)
        middle = np.outer(r[:, 0], r[:, 1])
        middle += middle.T
        middle -= 2.0 * r[:, 2:] @ r[:, 2:].T
        size = len(middle)
        _, vectors = linalg.eigh(middle, subset_by_index=[size - 1, size - 1], check_finite=False)
        top: Array = q @ vectors[:, 0]
        return top


class GappedPoints(Points):
    r"""Points for signals with gaps: nodes are compared on the signals both have, and are typical in the others.

    .. math:: D_{ij} = \frac{1}{M} \Big( \sum_{m \in m_{ij}} \frac{(x_{mi} - x_{mj})^2}{2}
              + \sum_{m \notin m_{ij}} v_m \Big)

    with :math:`m_{ij}` the signals observed at both nodes and :math:`v_m` the variance of signal m over the nodes that
    have it, which is half the squared difference of two nodes on average. The more is missing, the nearer a distance
    is to the typical one, so people who skipped questions don't become everybody's nearest. Without gaps it is the
    distance of :class:`Points`. It need not be a metric.

    With O the mask of what is observed and gaps as zeros in X, the sums of squares are
    :math:`(X^2)^\top O + O^\top (X^2) - 2 X^\top X`, and what is typical
    :math:`(1 - O)^\top v 1^\top + O^\top \mathrm{diag}(v) (1 - O)`, in which nothing cancels: a block of rows is one
    BLAS product of width 3M and one of width M, and memory stays O(NM).

    Examples
    --------
    >>> points_of(np.array([[0.0, 1.0, 3.0], [0.0, 4.0, np.nan]])).rows(np.arange(1))
    array([[0.  , 4.25, 4.25]])
    """

    observed: Array  # 1 where a node has a signal, else 0
    typical: Array  # the variance of each signal
    totals: Array  # the sum of squares of each node
    facing: Array  # the right factor of the sums of squares

    @classmethod
    def of(cls, X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> GappedPoints:
        observed = ~np.isnan(X)
        centred = np.where(observed, X - np.nanmedian(X, axis=1, keepdims=True), 0.0)
        points = np.ascontiguousarray(centred.T) / np.sqrt(2.0)
        squares = points * points
        totals = squares.sum(axis=1)
        if node_costs is None:
            node_costs = np.zeros(len(points))
        made = cls(points, totals / observed.sum(axis=0), signal_sizes(X) if sizes is None else sizes, node_costs)
        made.observed = np.ascontiguousarray(observed.T, dtype=float)
        made.typical = np.nanvar(X, axis=1)
        made.totals = totals
        made.facing = np.hstack([made.observed, squares, -2.0 * points])
        return made

    def rows(self, nodes: Array, out: Array | None = None) -> Array:
        rows = np.empty((len(nodes), len(self))) if out is None else out
        for first in range(0, len(nodes), self.block_size):
            span = slice(first, first + self.block_size)
            self._fill(nodes[span], rows[span])
        return rows

    def _fill(self, nodes: Array, rows: Array) -> None:
        """Write the distances of a few nodes to all: two BLAS products, then one pass in place."""
        points = self.points[nodes]
        observed = self.observed[nodes]
        np.matmul(np.hstack([points * points, observed, points]), self.facing.T, out=rows)
        missing = ((1.0 - observed) @ self.typical)[:, None] + (observed * self.typical) @ (1.0 - self.observed).T
        arrays = self.points, self.observed, self.sizes
        _costs.sums_to_costs(rows, missing, nodes, arrays, self.totals, self.node_costs, FINE_SHARE)

    def costs(self, rows: Array, columns: Array) -> Array:
        costs = np.empty(len(rows))
        arrays = self.points, self.observed, self.sizes
        _costs.gapped_costs_of_pairs(rows, columns, arrays, self.typical, self.node_costs, costs)
        return costs

    def factors(self) -> tuple[Array, Array]:
        ones = np.ones(len(self))
        shared = self.observed * self.typical
        ends = ((1.0 - self.observed) @ self.typical) / len(self.typical) + self.node_costs
        left = np.hstack([self.points * self.points, self.observed, self.points, shared]) / len(self.typical)
        right = np.hstack([self.facing, 1.0 - self.observed])
        return np.column_stack([left, ends, ones]), np.column_stack([right, ones, self.node_costs])

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the cost matrix by Lanczos's method.

        Its positive eigenvalue stands alone, so about nine products do. A product takes the two factors, whose product
        has a diagonal that the cost matrix has not.
        """
        n = len(self)
        left, right = self.factors()
        diagonal = np.einsum("ij,ij->i", left, right)

        def product(vector: Array) -> Array:
            flat = vector.ravel()
            return np.asarray(left @ (right.T @ flat) - diagonal * flat)

        distances = LinearOperator((n, n), product, dtype=float)
        _, vectors = eigsh(distances, k=1, which="LA", v0=np.ones(n), ncv=min(n, 8), tol=1e-12)
        top: Array = vectors[:, 0]
        return top


def in_geometry(X: Array, geometry: str) -> tuple[Array, Array | None, Array | None]:
    """Return the signals, node costs and scale of rounding by which a geometry is one of distances.

    ``geometry`` is what makes two nodes alike: their distance, their cosine or their inner product.
    """
    if geometry == "distance":
        return X, None, None
    energy = np.nanmean(X * X, axis=0)
    if geometry == "inner":
        less = energy.max() - energy
        # Nodes of equal energy cost the same: a difference of 450 ulps is rounding, and must not set beta.
        return X, 0.5 * np.where(less > 1e-13 * energy.max(), less, 0.0), None
    # A node at the mean of every signal may have rounding instead of zeros, which has no direction. Up to nine
    # in ten nodes may be such ones, and a tenth may have huge cells.
    usual = np.quantile(energy, 0.9, method="lower")
    factors = np.zeros_like(energy)
    np.divide(energy.mean(), energy, out=factors, where=energy > _costs.SAME_POINT * usual)
    # Rounding is that of the signals, not of the node: scaled up, a node near the middle has more of it.
    return X * np.sqrt(factors), None, 0.5 * factors * np.maximum(energy, usual)
