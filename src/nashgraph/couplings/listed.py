"""The set S cut down to listed pairs: what a best response costs when most pairs are known not to matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .passes import Bonus, Part, Work
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
        self.pairs, self.beta, self.c = pairs, beta, c
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
        weights, eta, sums = np.empty(pairs.nnz, kind), np.empty((n, 2), kind), np.empty((n, 2))
        rows = (pairs.indptr, pairs.indices, pairs.data)
        _kernels.respond_listed(*rows, bonus.left, bonus.right, self.gain, self.c, weights, eta, sums)
        kept = np.flatnonzero(weights > 0.0)
        pointers = np.searchsorted(kept, pairs.indptr)
        csr = sparse.csr_array((weights[kept], pairs.indices[kept], pointers), shape=pairs.shape)
        cost, square = sums.sum(axis=0)
        return SparseCoupling(csr, float(cost), float(square), self.threshold(eta, bonus)), eta

    def hold(self, weights: Any) -> SparseCoupling:
        """Return a given W on the listed pairs as a coupling."""
        csr = sparse.csr_array(weights, dtype=self.dtype)
        return SparseCoupling(csr, float(csr.multiply(self.pairs).sum()), float(np.vdot(csr.data, csr.data)))

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Refuse: the costs of pairs not listed are not known here."""
        raise NotImplementedError("listed pairs have no whole rows of costs: ask the term they were cut from")
