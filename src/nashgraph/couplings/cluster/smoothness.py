"""The smoothness term with its graphs on the workers of a cluster: rows stay where they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...validation import Array
from .. import _kernels
from ..passes import Bonus
from ..smoothness import Smoothness
from . import rows
from .client import failures_said, put
from .coupling import DaskCoupling, Layout
from .points import DaskPoints

# So many blocks whatever the number of workers, up to that: a graph's parts are then added in the same order.
BLOCKS = 32
SAMPLE = 64
ROOM = 2.0  # how far below its threshold a row is searched, in units of what a typical best score is above it


class DaskSmoothness(Smoothness):
    """Points, lists of pairs and graphs on workers. See :class:`~nashgraph.couplings.Smoothness`.

    A best response sends the two sides of the bonus, and brings back thresholds and sums. Rows that their list does not
    suffice for are searched again by the worker that has them, so that every answer is that among all pairs.
    """

    name = "workers"
    proves = True
    points: DaskPoints

    def __init__(self, points: DaskPoints, beta: float, c: float) -> None:
        super().__init__(points, beta, c)
        n, client = len(points), points.client
        count = max(BLOCKS, sum(client.nthreads().values()))
        size = points.block_size * -(-n // (points.block_size * count))
        self.layout = Layout(client, [(first, min(n, first + size)) for first in range(0, n, size)])
        self.known: list[Any] = [None] * len(self.layout.spans)  # the blocks' lists of pairs
        self.term = rows.Term(beta, c, ROOM * self._typical())
        self.searched = 0

    def _typical(self) -> float:
        """Return how far above its threshold a row's best score typically is, without bonus, over a sample."""
        nothing, found = np.zeros(self.n_nodes, self.dtype), []
        for first in np.unique(np.linspace(0, self.n_nodes - 1, min(self.n_nodes, SAMPLE)).astype(int)):
            eta = np.empty((1, 2))
            row = self.points.rows(first, first + 1)
            _kernels.respond_block(row, first, nothing, nothing, self.gain, self.c, eta, np.empty((1, 2)))
            found.append(eta[0, 1])
        return 2.0 * self.beta * float(np.median(found))

    def respond(self, left: Array, right: Array) -> DaskCoupling:
        """Return the graph that answers a rank-one bonus."""
        layout, term = self.layout, [self.term] * len(self.layout.spans)
        with failures_said(layout.client):
            sent, points = layout.same(Bonus.of(left, right, self.dtype)), [self.points.sent] * len(term)
            blocks = layout.each(rows.answered, points, self.known, sent, term, *zip(*layout.spans, strict=True))
            graph, told = DaskCoupling.of(layout, blocks)
            for place, each in enumerate(told):
                if each.searched:
                    self.known[place] = layout.client.submit(rows.list_of, blocks[place], pure=False)
        self.searched += sum(each.searched for each in told)
        self.passes = -(-self.searched // self.n_nodes)
        return graph

    def hold(self, weights: Any) -> DaskCoupling:
        """Return a given W in S as a coupling."""
        csr = sparse.csr_array(weights, dtype=self.dtype)
        csr.eliminate_zeros()
        csr.sort_indices()
        costs = self.points.listed(csr)
        blocks = []
        for first, last in self.layout.spans:
            part, span = csr[first:last], slice(csr.indptr[first], csr.indptr[last])
            told = rows.Told(None, float(part.data @ costs[span]), float(part.data @ part.data))
            blocks.append(put(self.layout.client, rows.Rows(part, told)))
        return DaskCoupling.of(self.layout, self.layout.each(rows.unpacked, blocks))[0]

    def revive(self, arrays: Mapping[str, Array], cost: float, square: float, threshold: Array | None) -> DaskCoupling:
        """Return the graph that gave these ``arrays``, to the bit."""
        parts = tuple(arrays[part] for part in ("data", "indices", "indptr"))
        held = self.hold(sparse.csr_array(parts, shape=(self.n_nodes, self.n_nodes)))
        return replace(held, cost=cost, square=square, threshold=threshold)

    def neighbour_spread(self, left: Array, right: Array) -> float:
        """Return how much a bonus varies among neighbours in the graph without prior, added up: no pass is needed."""
        smooth, layout = self.smooth, self.layout
        assert isinstance(smooth, DaskCoupling)
        return sum(layout.all(layout.each(rows.spread, smooth.blocks, layout.shares(left), layout.same(right))))
