"""The set S cut down to listed pairs: what a best response costs when most pairs are known not to matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .csr import closed_up, narrow, row_products
from .passes import Bonus, Candidates, Part, Work, stacked
from .points import fine_error
from .smoothness import Smoothness, SparseCoupling


class ListedSmoothness(Smoothness):
    """Costs of listed pairs only, as CSR: a best response costs O(pairs listed). See ``Smoothness``.

    A graph on it is feasible for the whole problem and has its true objective; what may be missing is a pair that is
    not listed.

    Parameters
    ----------
    pairs : CSR array of shape (n, n) whose entries are the costs of the pairs listed, zero costs included
    beta, c : float

    Examples
    --------
    >>> pairs = sparse.csr_array(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]))
    >>> ListedSmoothness(pairs, beta=1.0, c=0.5).smooth.weights.nnz
    3
    """

    name = "listed"
    holds = True

    def __init__(self, pairs: Any, beta: float, c: float) -> None:
        self.pairs, self.beta, self.c = narrow(pairs), beta, c
        self.passes = 0

    @classmethod
    def of(cls, pattern: Any, costs: Array, beta: float, c: float) -> ListedSmoothness:
        """Return the term on a CSR pattern whose entries have the given costs."""
        pairs = sparse.csr_array((costs, pattern.indices, pattern.indptr), shape=pattern.shape)
        return cls(pairs, beta, c)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self.pairs.shape[0]

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The kind of float graphs are held in."""
        return self.pairs.dtype

    def respond(self, left: Array, right: Array) -> SparseCoupling:
        """Return the graph that answers a rank-one bonus among the pairs listed."""
        return self.answer(Bonus.of(left, right, self.dtype))[0]

    def answer(self, bonus: Bonus) -> tuple[SparseCoupling, Array]:
        """Return the graph that answers a bonus, and its thresholds as the kernels have them."""
        n, kind, pairs = self.n_nodes, self.dtype, self.pairs
        rows, counted = (pairs.indptr, pairs.indices, pairs.data), pairs.indptr.dtype
        columns, weights = np.empty_like(pairs.indices), np.empty(pairs.nnz, kind)
        lengths, eta, sums = np.empty(n, counted), np.empty((n, 2), kind), np.empty((n, 2))
        each = bonus.left, bonus.right, self.gain, self.c
        _kernels.respond_listed(*rows, *each, columns, weights, lengths, eta, sums)
        pointers, runs = np.concatenate([[0], np.cumsum(lengths)]).astype(counted), _kernels.runs(n)
        found = (closed_up(pairs.indptr[runs[:-1]], part, pointers[runs]) for part in (weights, columns))
        csr = sparse.csr_array((*found, pointers), shape=pairs.shape)
        csr.has_sorted_indices = pairs.has_sorted_indices
        cost, square = sums.sum(axis=0)
        return SparseCoupling(csr, float(cost), float(square), self.threshold(eta, bonus)), eta

    def hold(self, weights: Any) -> SparseCoupling:
        """Return a given W on the listed pairs as a coupling."""
        csr = sparse.csr_array(weights, dtype=self.dtype)
        return SparseCoupling(csr, float(row_products(csr, self.pairs).sum()), float(np.vdot(csr.data, csr.data)))

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Refuse: the costs of pairs not listed are not known here."""
        raise NotImplementedError("listed pairs have no whole rows of costs: ask the term they were cut from")


class Surveying(Smoothness):
    """A term that lists the pairs which may be edges, one pass at a time. See ``Smoothness``.

    A row's answer among some of its pairs has a threshold, and more pairs can only raise it: pairs whose score lies
    below what the rows of *any* list say are no edges. So the list of the last pass, answering the new bonus, tells the
    next pass which few pairs to look at, and the answer among those is the answer among all.

    Attributes
    ----------
    known : ListedSmoothness or None, the term on the pairs listed last
    """

    lists = True
    known: ListedSmoothness | None = None

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
