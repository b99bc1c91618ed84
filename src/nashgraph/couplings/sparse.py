"""Graphs in S held as CSR matrices: costs are streamed from the points, and only neighbours are kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from .csr import csr_of
from .listed import ListedSmoothness, Surveying
from .passes import CostOf
from .smoothness import Coupling, SparseCoupling

FEW = 0.1  # of all rows may be looked at again before a whole pass is the better way


class SparseSmoothness(Surveying):
    r"""Nothing held but the points and a list of pairs; each best response streams blocks of costs. See ``Smoothness``.

    O(NM) memory for the points and O(N degree) for each graph; a best response costs one BLAS product per block,
    O(N^2 M) in all, and hardly more.

    Examples
    --------
    >>> from nashgraph.couplings import points_of
    >>> smoothness = SparseSmoothness(points_of(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> smoothness.smooth.weights.toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ]])
    """

    name = "sparse"

    @cached_property
    def smooth(self) -> Coupling:
        """The Smooth-GL graph: without a pass where a degree was asked for, and each node's nearest are known.

        A row's neighbours are nearer than its threshold, and more pairs can only lower that. So where a row's nearest
        end before it, all pairs of that row are looked at again.
        """
        if self.points.near is None:
            return super().smooth
        costs, labels = self.points.near
        counts = np.full(len(labels), labels.shape[1])
        pairs = csr_of(counts, labels.flatten(), costs.flatten(), self.n_nodes)
        pairs.sort_indices()
        self.known = ListedSmoothness(pairs, self.beta, self.c)
        threshold = self.known.smooth.threshold
        assert threshold is not None  # it is a best response
        short = np.flatnonzero(threshold > costs[:, -1])
        if len(short) > FEW * self.n_nodes:
            return super().smooth
        if len(short):
            self.known = ListedSmoothness(self._completed(pairs, short, threshold), self.beta, self.c)
        return self.known.smooth

    def _completed(self, pairs: Any, short: Array, threshold: Array) -> Any:
        """Return listed pairs with all that are nearer than its threshold in some rows."""
        lengths = np.diff(pairs.indptr)
        kept = np.repeat(np.isin(np.arange(self.n_nodes), short, invert=True), lengths)
        parts = [(np.repeat(np.arange(self.n_nodes), lengths)[kept], pairs.indices[kept], pairs.data[kept])]
        for start in range(0, len(short), self.points.block_size):
            nodes = short[start : start + self.points.block_size]
            rows = self.points.rows_of(nodes)
            rows[np.arange(len(nodes)), nodes] = np.inf
            place, columns = np.nonzero(rows < threshold[nodes, None])
            parts.append((nodes[place], columns.astype(np.int32), rows[place, columns]))
        row, column, cost = (np.concatenate(each) for each in zip(*parts, strict=True))
        return sparse.csr_array((cost, (row, column)), shape=pairs.shape)

    def respond(self, left: Array, right: Array) -> SparseCoupling:
        """Return the graph that answers a rank-one bonus, its neighbours only."""
        return self.survey(left, right, 0.0)[0]

    def neighbour_spread(self, left: Array, right: Array) -> float:
        """Return how much a bonus varies among neighbours in the graph without prior, added up: no pass is needed."""
        graph: Any = self.smooth.sparse().weights
        counts = np.maximum(np.diff(graph.indptr), 1)
        neighbours = sparse.csr_array((np.ones_like(graph.data), graph.indices, graph.indptr), shape=graph.shape)
        centred = right[graph.indices] - np.repeat(neighbours @ right / counts, np.diff(graph.indptr))
        return float(np.repeat(left**2, np.diff(graph.indptr)) @ centred**2)

    def hold(self, weights: Any) -> SparseCoupling:
        """Return a given W in S as a coupling."""
        csr = sparse.csr_array(weights, dtype=self.dtype)
        csr.eliminate_zeros()
        return SparseCoupling(csr, sum(self.run(CostOf(csr))), float(np.vdot(csr.data, csr.data)))

    def listed(self, pattern: Any) -> ListedSmoothness:
        """Return the term on the pairs of a pattern only."""
        pattern.sort_indices()
        return ListedSmoothness.of(pattern, self.points.listed(pattern), self.beta, self.c)

    def adopt(self, coupling: SparseCoupling) -> SparseCoupling:
        """Return the graph as it is."""
        return coupling
