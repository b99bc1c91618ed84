"""Graphs in S held as CSR matrices: costs are streamed from the points, and only neighbours are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from .listed import ListedSmoothness
from .passes import Bonus, CostOf, Respond, stacked
from .smoothness import Smoothness, SparseCoupling


class SparseSmoothness(Smoothness):
    """Nothing held but the points; each best response streams blocks of costs. See ``Smoothness``.

    O(NM) memory for the points and O(N degree) for each graph; a best response costs one BLAS product per block,
    O(N^2 M) in all.

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
    lists = True

    def respond(self, left: Array, right: Array) -> SparseCoupling:
        """Return the graph that answers a rank-one bonus, its neighbours only."""
        return self._answer(left, right, None)[0]

    def survey(self, left: Array, right: Array, margin: float) -> tuple[SparseCoupling, Any]:
        """Return the best response to a bonus, and the pairs within ``margin`` of being edges: one pass for both."""
        return self._answer(left, right, margin)

    def neighbour_spread(self, left: Array, right: Array) -> float:
        """Return how much a bonus varies among neighbours in the graph without prior, added up: no pass is needed."""
        graph: Any = self.smooth.sparse().weights
        counts = np.maximum(np.diff(graph.indptr), 1)
        neighbours = sparse.csr_array((np.ones_like(graph.data), graph.indices, graph.indptr), shape=graph.shape)
        centred = right[graph.indices] - np.repeat(neighbours @ right / counts, np.diff(graph.indptr))
        return float(np.repeat(left**2, np.diff(graph.indptr)) @ centred**2)

    def _answer(self, left: Array, right: Array, margin: float | None) -> tuple[SparseCoupling, Any]:
        bonus = Bonus.of(left, right, self.dtype)
        parts = list(self.run(Respond(bonus, self.gain, self.c, margin=margin)))
        eta = np.concatenate([part.eta for part in parts])
        cost, square = np.concatenate([part.sums for part in parts]).sum(axis=0)
        weights = stacked(part.weights for part in parts)
        graph = SparseCoupling(weights, float(cost), float(square), self.threshold(eta, bonus))
        return graph, None if margin is None else stacked(part.near for part in parts)

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
