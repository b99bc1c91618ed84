r"""Which pairs score highest: the only package whose work grows with the number of pairs.

With M signals the paper's edge cost is ``D_ij = ||x_i - x_j||^2 / (2M)``. It follows from the node-major array
``Z = (X - median)^T / sqrt(2M)``: ``D_ij = ||z_i - z_j||^2``, a matrix of rank M + 2 at most.

Two other geometries are the same family (fact 7 of docs/mathematics.md). The cosine is the distance of nodes scaled to
one norm.
The inner product is the distance with strong nodes cheaper: with :math:`s_j` the energy of node j and the *node cost*
:math:`h_j = (\max s - s_j) / (2M)`, the cost :math:`D_{ij} + h_i + h_j` is :math:`\max s / M - \langle x_i, x_j \rangle
/ M`.

:class:`PairSearch` scans blocks of rows on threads. Another engine, a GPU or a cluster, is a subclass that searches in
another way, registered in ``ENGINES``; it implements the search and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from ..validation import Array, check_choice, check_observed
from . import _costs
from .bonus import Bonus
from .engines import ENGINES
from .scans import Above, Nearest, Part, Work
from .threads import shared
from .weights import csr_of, rows_of

if TYPE_CHECKING:
    from .candidates import CandidateSet

# A block of rows of costs should stay in a core's cache while it is worked on.
BLOCK_BYTES = 2 << 20
GEOMETRIES = ("distance", "cosine", "inner")
# A distance below this share of the norms it is a difference of is computed signal by signal: eps ** 0.3 leaves 70% of
# its digits. Two ways of computing a distance then differ by less than ROUNDING, relative to it.
FINE_SHARE = float(np.finfo(float).eps ** 0.3)
ROUNDING = 16.0 * float(np.finfo(float).eps ** 0.7) + 2.0**-31  # and costs are rounded to 32 bits


def node_points(X: Array) -> Array:
    """Return Z of shape (n_nodes, n_signals), C-contiguous, with ``D_ij = ||z_i - z_j||^2``.

    Taking each signal's median off leaves the distances as they are and keeps the cancellation in
    ``n_i + n_j - 2 <z_i, z_j>`` small, for all nodes but the outliers.
    """
    centred = X - np.median(X, axis=1, keepdims=True)
    return np.ascontiguousarray(centred.T) / np.sqrt(2.0 * len(X))


def signal_sizes(X: Array) -> Array:
    """Return the mean square of each node's signals, halved: the scale of rounding in the distances to it."""
    return np.asarray(0.5 * np.nanmean(X * X, axis=0))


class PairSearch:
    """The nodes as points, and the search among their pairs in blocks of rows: O(NM) memory and a few blocks.

    ``node_costs`` are what a node adds to the cost of each of its edges, at either end, and ``sizes`` the scale of
    rounding in its signals (default: their mean square, halved). ``scans`` counts how many times
    all pairs were gone through, parts as shares; ``known_nearest`` is the last result of ``nearest`` without bonus.

    Examples
    --------
    >>> search = PairSearch(np.array([[0.0, 1.0, 3.0]]))
    >>> search.rows(np.array([1, 2]))
    array([[0.5, 0. , 2. ],
           [4.5, 2. , 0. ]])
    """

    def __init__(self, X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> None:
        self.points = node_points(X)
        self.node_costs = np.zeros(X.shape[1]) if node_costs is None else node_costs
        self.norms = np.einsum("ij,ij->i", self.points, self.points)
        self.sizes = signal_sizes(X) if sizes is None else sizes
        self.scans = 0.0
        self.known_nearest: tuple[Array, Array] | None = None

    def __len__(self) -> int:
        return len(self.points)

    stores_all_pairs = True  # whether the costs of all pairs may be stored where candidates are kept

    def candidates(self, *, everything: bool) -> CandidateSet:
        """Return the candidate pairs that best responses are found among, kept where the engine has its graphs."""
        from .candidates import CandidateSet  # noqa: PLC0415 (it imports this module)

        return CandidateSet.of(self, everything=everything)

    @property
    def block_size(self) -> int:
        """How many rows of costs are made at a time."""
        return min(len(self), max(16, BLOCK_BYTES // (8 * len(self))))

    def rows(self, nodes: Array, out: Array | None = None) -> Array:
        """Return the rows of the given nodes of the cost matrix: one BLAS product, then one pass in place."""
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

    def nearest(self, kept: int, bonus: Bonus | None = None) -> tuple[Array, Array]:
        """Return each node's ``kept`` smallest costs to others, less a bonus, sorted upward, and whose they are.

        O(N^2 M) time, O(N kept) memory and a few blocks.
        """
        parts = list(self.scan(Nearest(kept, bonus)))
        costs, labels = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        if bonus is None:
            self.known_nearest = costs, labels
        return costs, labels

    def nearest_costs(self, kept: int) -> Any:
        """Return the costs of ``nearest`` without bonus, as an array or tensor where the engine has them."""
        return self.nearest(kept)[0]

    def above(
        self, cut: Array, bonus: Bonus, *, gain: float, total: float, margin: float = 0.0, nodes: Array | None = None
    ) -> tuple[Any, Array]:
        """Return the pairs of some nodes (default: all) whose score is not below the row's cut, as CSR, and the cuts.

        A row whose cut lets many pairs through may be cut higher, down to its exact threshold for best responses of
        this gain and row sum, less ``margin`` times the best score above it: the cuts returned say where.
        """
        parts = list(self.scan(Above(bonus, gain, total, cut, margin), nodes))
        counts, indices, cuts = (np.concatenate(column) for column in zip(*parts, strict=True))
        rows = np.repeat(np.arange(len(self)) if nodes is None else nodes, counts)
        return csr_of(counts, indices, self.costs(rows, indices), len(self)), cuts

    def scan(self, work: Work[Part], nodes: Array | None = None) -> Iterator[Part]:
        """Yield ``work(nodes, rows of costs)`` for blocks of some nodes (default: all), in order.

        The blocks are shared among threads, each with a buffer of its own that is overwritten by its next block.
        """
        size = self.block_size
        asked = np.arange(len(self)) if nodes is None else nodes
        self.scans += len(asked) / len(self)

        def block(first: int, buffer: Array) -> Part:
            some = asked[first : first + size]
            return work(some, self.rows(some, out=buffer[: len(some)]))

        yield from shared(block, range(0, len(asked), size), lambda: np.empty((size, len(self))))


class GappedPairSearch(PairSearch):
    r"""The same for signals with gaps: nodes are compared on the signals both have, and are typical in the others.

    .. math:: D_{ij} = \frac{1}{M} \Big( \sum_{m \in m_{ij}} \frac{(x_{mi} - x_{mj})^2}{2}
              + \sum_{m \notin m_{ij}} v_m \Big)

    with :math:`m_{ij}` the signals observed at both nodes and :math:`v_m` the variance of signal m over the nodes that
    have it, which is half the squared difference of two nodes on average. The more is missing, the nearer a distance
    is to the typical one, so people who skipped questions don't become everybody's nearest. Without gaps it is the
    distance of :class:`PairSearch`. It need not be a metric.

    With O the mask of what is observed and gaps as zeros in X, the sums of squares are
    :math:`(X^2)^\top O + O^\top (X^2) - 2 X^\top X`, and what is typical
    :math:`(1 - O)^\top v 1^\top + O^\top \mathrm{diag}(v) (1 - O)`, in which nothing cancels: a block of rows is one
    BLAS product of width 3M and one of width M, and memory stays O(NM).

    Examples
    --------
    >>> GappedPairSearch(np.array([[0.0, 1.0, 3.0], [0.0, 4.0, np.nan]])).rows(np.arange(1))
    array([[0.  , 4.25, 4.25]])
    """

    def __init__(self, X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> None:
        check_observed(X, np.arange(X.shape[1]))
        self.node_costs = np.zeros(X.shape[1]) if node_costs is None else node_costs
        self.scans = 0.0
        self.known_nearest = None
        observed = ~np.isnan(X)
        centred = np.where(observed, X - np.nanmedian(X, axis=1, keepdims=True), 0.0)
        self.points = np.ascontiguousarray(centred.T) / np.sqrt(2.0)
        self.observed = np.ascontiguousarray(observed.T, dtype=float)
        self.typical = np.nanvar(X, axis=1)
        squares = self.points * self.points
        self.totals = squares.sum(axis=1)
        self.norms = self.totals / observed.sum(axis=0)
        self.sizes = signal_sizes(X) if sizes is None else sizes
        self.facing = np.hstack([self.observed, squares, -2.0 * self.points])

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

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the cost matrix by Lanczos's method, because with gaps it has no low rank.

        Its positive eigenvalue stands alone, so about nine products do, each one scan over all pairs.
        """
        n = len(self)

        def product(vector: Array) -> Array:
            return np.concatenate(list(self.scan(partial(times_rows, vector.ravel()))))

        distances = LinearOperator((n, n), product, dtype=float)
        _, vectors = eigsh(distances, k=1, which="LA", v0=np.ones(n), ncv=min(n, 8), tol=1e-12)
        top: Array = vectors[:, 0]
        return top


def times_rows(vector: Array, nodes: Array, rows: Array) -> Array:
    """Return a block's part of the product of the costs with a vector."""
    return np.asarray(rows @ vector)


def make_search(X: Array, engine: str = "threads", geometry: str = "distance") -> PairSearch:
    """Return the search among the nodes of the signals X, where an engine keeps them; one serves a whole fit.

    The geometry says what makes two nodes alike: their distance, their cosine or their inner product.

    Examples
    --------
    >>> make_search(np.array([[1.0, 3.0], [0.0, 4.0]]), geometry="inner").rows(np.arange(1))  # (25 - 3) / 2
    array([[ 0., 11.]])
    """
    node_costs = sizes = None
    if check_choice("geometry", geometry, GEOMETRIES) != "distance":
        energy = np.nanmean(X * X, axis=0)
        if geometry == "cosine":
            # A node at the mean of every signal may have rounding instead of zeros, which has no direction. Up to nine
            # in ten nodes may be such ones, and a tenth may have huge cells.
            usual = np.quantile(energy, 0.9, method="lower")
            factors = np.zeros_like(energy)
            np.divide(energy.mean(), energy, out=factors, where=energy > _costs.SAME_POINT * usual)
            # Rounding is that of the signals, not of the node: scaled up, a node near the middle has more of it.
            X = X * np.sqrt(factors)
            sizes = 0.5 * factors * np.maximum(energy, usual)
        else:
            less = energy.max() - energy
            # Nodes of equal energy cost the same: a difference of 450 ulps is rounding, and must not set beta.
            node_costs = 0.5 * np.where(less > 1e-13 * energy.max(), less, 0.0)
    return ENGINES[check_choice("engine", engine, ENGINES)](X, node_costs, sizes)


def squared_distances(X: Array) -> Array:
    """Return the matrix ``D_ij = ||x_i - x_j||^2 / (2M)`` of the signals X, shape (n_signals, n_nodes).

    Where X has NaN, as in :class:`GappedPairSearch`. The result is the only N x N array.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 1.0, 3.0]]))
    array([[0. , 0.5, 4.5],
           [0.5, 0. , 2. ],
           [4.5, 2. , 0. ]])
    """
    search = make_search(np.asarray(X, dtype=float))
    return search.rows(np.arange(len(search)))
