"""Graphs in S held as CSR matrices: costs are streamed from the points, and only neighbours are kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from .listed import ListedSmoothness
from .passes import Bonus, Candidates, CostOf, stacked
from .points import fine_error
from .smoothness import Coupling, Smoothness, SparseCoupling


class SparseSmoothness(Smoothness):
    r"""Nothing held but the points and a list of pairs; each best response streams blocks of costs. See ``Smoothness``.

    A row's answer among some of its pairs has a threshold, and more pairs can only raise it: pairs whose score lies
    below what the rows of *any* list say are no edges. So the list of the last pass, answering the new bonus, tells the
    next pass which few pairs to look at, and the answer among those is the answer among all.

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
    lists = True
    known: ListedSmoothness | None = None

    @cached_property
    def smooth(self) -> Coupling:
        """The Smooth-GL graph: without a pass where a degree was asked for, and each node's nearest are known."""
        if self.points.near is None:
            return super().smooth
        costs, labels = self.points.near
        pointers = np.arange(0, labels.size + 1, labels.shape[1])
        pairs = sparse.csr_array((costs.ravel(), labels.ravel(), pointers), shape=(self.n_nodes, self.n_nodes))
        pairs.sort_indices()
        listed = ListedSmoothness(pairs, self.beta, self.c)
        graph = listed.smooth
        assert graph.threshold is not None  # it is a best response
        self.known = listed
        return graph if (graph.threshold <= costs[:, -1]).all() else super().smooth

    def respond(self, left: Array, right: Array) -> SparseCoupling:
        """Return the graph that answers a rank-one bonus, its neighbours only."""
        return self.survey(left, right, 0.0)[0]

    def survey(self, left: Array, right: Array, margin: float) -> tuple[SparseCoupling, Any]:
        """Return the best response to a bonus, and the pairs within ``margin`` of being edges: one pass for both."""
        bonus = Bonus.of(left, right, self.dtype)
        self.known = self.candidates(bonus, margin)
        graph, _ = self.known.answer(bonus)
        return graph, self.known.pairs

    def candidates(self, bonus: Bonus, margin: float) -> ListedSmoothness:
        """Return the term on the pairs that are within ``margin`` of being edges, and few others: one pass."""
        cut = np.full(self.n_nodes, -np.inf, self.dtype)
        if self.known is not None:
            eta = self.known.answer(bonus)[1]
            cut = eta[:, 0] - 2.0 * self.beta * eta[:, 1]
        # A cost made by a block's product and one made pair by pair differ in rounding.
        slack = 2.0 * self.beta * margin + fine_error(self.dtype) * (
            np.abs(bonus.left) * float(np.abs(bonus.right).max()) + np.where(np.isfinite(cut), np.abs(cut), 0.0)
        )
        slack = slack.astype(self.dtype)
        parts = stacked(self.run(Candidates(bonus, self.gain, self.c, cut - slack, slack)))
        return ListedSmoothness(parts, self.beta, self.c)

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
