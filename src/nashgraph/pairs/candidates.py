r"""The pairs that can be edges, and the bound that proves that no other pair is one.

A row's best response needs only its pairs of high score :math:`s_{ij} = \langle L_i, R_j \rangle - D_{ij}`. A candidate
set holds, for every row, all pairs that scored at least the row's *cut* under the bonus :math:`(L^0, R^0)` the row was
last searched with. Two facts make it exact:

1. The threshold of a row's best response on a subset of its pairs is a lower bound of the exact one (safe screening):
   every edge of the exact response scores more than the threshold on the subset.
2. Under another bonus a pair that is not a candidate scores less than
   :math:`cut_i + \max_j (\langle L_i, R_j \rangle - \langle L^0_i, R^0_j \rangle)`; this *increase* has a cheap bound.

Where a row's threshold lies above that, its best response among the candidates is that among all pairs; only the other
rows are searched again. So a solver takes the same steps on every storage and engine, and most of them cost nothing
that grows with the number of pairs. For few nodes the set is that of all pairs, with cuts of minus infinity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .bonus import Bonus
from .search import ROUNDING, PairSearch
from .weights import SparseWeights, closed_up, csr_of, merged_rows, narrow, rows_of

# How far below its threshold a row is searched, in units of the best score above it. A larger one lists more pairs, a
# smaller one searches more often; between 0.5 and 2 fits of 20,000 nodes take the same time to 10%.
MARGIN = 1.0
FIRST_NEAREST = 32  # candidates of a row where nothing is known: more than most graphs have neighbours


class Searched(NamedTuple):
    """A bonus that rows were searched with: its sides, the right one by rows of nodes, and that side's inverse."""

    left: Array
    right: Array
    inverse: Array


class CandidateSet:
    """Candidate pairs in memory: a CSR array of their costs, zeros included, with sorted columns.

    Every pair of a row that scores more than the row's ``cut`` without bonus is among them. An engine that keeps its
    candidates elsewhere replaces what is done with arrays; what proves a response is the same for all.

    Examples
    --------
    >>> search = PairSearch(np.array([[0.0, 1.0, 5.0, 5.5]]))
    >>> search.candidates(everything=False).respond(Bonus.none(4), gain=0.5, total=0.9).csr.toarray()[0]
    array([0. , 0.9, 0. , 0. ])
    """

    search_all = 0.25  # share of the rows beyond which all are searched: a scan by leaves costs less than all pairs do

    def __init__(self, search: PairSearch, pairs: Any, cut: Array) -> None:
        self.search = search
        self.pairs = narrow(pairs)
        self.cut = cut
        self.bonuses = [self._searched(Bonus.none(len(cut)))]  # those that rows were searched with
        self.searched_with: Any = np.zeros(len(cut), np.int64)  # which of them, row by row
        self.renewals = 0  # how often rows were searched again

    @classmethod
    def of(cls, search: PairSearch, *, everything: bool) -> CandidateSet:
        """Return all pairs, or each node's nearest: those that the search knows already, or a few."""
        if everything:
            return cls.all_pairs(search)
        known = search.known_nearest
        return cls.nearest(search, min(len(search) - 1, FIRST_NEAREST) if known is None else known[0].shape[1])

    @classmethod
    def all_pairs(cls, search: PairSearch) -> CandidateSet:
        """Return the set of all pairs: 12 bytes for each."""
        n = len(search)
        search.scans += 1.0
        columns = np.broadcast_to(np.arange(n, dtype=np.int32), (n, n))
        others = ~np.eye(n, dtype=bool)
        counts = np.full(n, n - 1)
        costs = search.costs(np.repeat(np.arange(n), counts), columns[others])
        return cls(search, csr_of(counts, columns[others], costs, n), np.full(n, -np.inf))

    @classmethod
    def nearest(cls, search: PairSearch, kept: int) -> CandidateSet:
        """Return the set of each node's nearest others, known already or found by one scan."""
        known = search.known_nearest
        costs, labels = search.nearest(kept) if known is None or known[0].shape[1] < kept else known
        n, kept = costs.shape
        columns = np.sort(labels, axis=1).ravel()
        counts = np.full(n, kept)
        pairs = csr_of(counts, columns, search.costs(np.repeat(np.arange(n), counts), columns), n)
        pairs.has_sorted_indices = True
        return cls(search, pairs, -costs[:, -1] if kept < n - 1 else np.full(n, -np.inf))

    def respond(self, bonus: Bonus, *, gain: float, total: float, proved: bool = True) -> Any:
        """Return the best response to a bonus, proved to be that among all pairs, or only among the candidates.

        A proof searches rows again for which the set is too small, and adds what it finds to their candidates.
        """
        response, top, above = self._respond(bonus, gain, total)
        if not proved:
            return response
        floor = top - above / gain
        # Lower the floor by the rounding errors of a score and its bonus.
        floor = floor - ROUNDING * (abs(floor) + self.largest_product(abs(bonus.left), abs(bonus.right.T)))
        # The candidates say which pairs can be edges: those above their own thresholds. Other pairs score less than
        # the cut and its increase, so rows with a lower floor may lack a pair.
        short = ~(floor >= self.cut + self._increase(bonus))
        if not short.any():
            return response
        if short.sum() > self.search_all * len(short):
            short[:] = True
        self.renewals += 1
        self._list(short, bonus, floor, floor - MARGIN * above / gain, gain, total)
        self.searched_with[short] = len(self.bonuses)
        self.bonuses.append(self._searched(bonus))
        used = [number for number in range(len(self.bonuses)) if (self.searched_with == number).any()]
        for place, number in enumerate(used):
            self.searched_with[self.searched_with == number] = place
        self.bonuses = [self.bonuses[number] for number in used]
        return self._respond(bonus, gain, total)[0]

    def hold(self, matrix: Any) -> Any:
        """Return a given W in S, with its costs."""
        csr = sparse.csr_array(matrix, dtype=float)
        csr.eliminate_zeros()
        csr.sort_indices()
        rows = rows_of(csr)
        costs = np.bincount(rows, csr.data * self.search.costs(rows, csr.indices), csr.shape[0])
        return SparseWeights(narrow(csr), costs, float(np.vdot(csr.data, csr.data)))

    def step(self, weights: SparseWeights, bonus: Bonus, *, keep: float, gain: float, total: float) -> SparseWeights:
        """Return the projection of ``keep * W + gain * (bonus - D)`` onto S; needs all pairs."""
        pairs = self.pairs
        csr = weights.csr
        values = np.empty(pairs.nnz)
        candidates = (pairs.indptr, pairs.indices, pairs.data)
        edges = (csr.indptr, csr.indices, csr.data)
        _kernels.step_candidates(candidates, bonus[:2], edges, keep, gain, total, values)
        costs = np.bincount(rows_of(pairs), values * pairs.data, pairs.shape[0])
        square = float(np.vdot(values, values))  # before zeros are dropped, which moves the values
        out = sparse.csr_array((values, pairs.indices.copy(), pairs.indptr.copy()), shape=pairs.shape)
        out.eliminate_zeros()
        return SparseWeights(out, costs, square)

    def _respond(self, bonus: Bonus, gain: float, total: float) -> tuple[Any, Any, Any]:
        """Return the best response among the candidates, each row's best score and what it is above the threshold."""
        pairs = self.pairs
        n = self.pairs.shape[0]
        counted = pairs.indptr.dtype
        columns = np.empty_like(pairs.indices)
        values = np.empty(pairs.nnz)
        lengths = np.empty(n, counted)
        eta = np.empty((n, 2))
        sums = np.empty((n, 2))
        candidates = (pairs.indptr, pairs.indices, pairs.data)
        response = (columns, values, lengths, eta, sums)
        _kernels.respond_candidates(candidates, bonus[:2], gain, total, response)
        pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(counted)
        runs = _kernels.runs(n)
        found = (closed_up(pairs.indptr[runs[:-1]], part, pointers[runs]) for part in (values, columns))
        csr = sparse.csr_array((*found, pointers), shape=pairs.shape)
        csr.has_sorted_indices = pairs.has_sorted_indices
        top, above = np.ascontiguousarray(eta.T)
        threshold = above / gain - top - bonus.shift
        return SparseWeights(csr, sums[:, 0].copy(), float(sums[:, 1].sum()), threshold), top, above

    def _list(self, short: Any, bonus: Bonus, floor: Any, cut: Any, gain: float, total: float) -> None:
        """Make the pairs of some rows candidates that score at least the cut under a bonus.

        Where they are many, the cut may be higher, but not above ``floor``.
        """
        nodes = None if short.all() else np.flatnonzero(short)
        rounding = ROUNDING * (np.where(np.isfinite(cut), np.abs(cut), 0.0) + bonus.sizes)
        found, cuts = self.search.above(cut - rounding, bonus, gain=gain, total=total, margin=MARGIN, nodes=nodes)
        # What a row had stays: a descent's graph keeps its pairs, so that the way to a response leads downward.
        self.pairs = merged_rows(self.pairs, found, nodes)
        self.cut[short] = cuts + 2.0 * rounding[short]

    def _searched(self, bonus: Bonus) -> Searched:
        """Find the pseudoinverse, by which later bonuses are compared."""
        return Searched(bonus.left, np.ascontiguousarray(bonus.right.T), np.linalg.pinv(bonus.right))

    def _increase(self, bonus: Bonus) -> Any:
        r"""Return a bound of how much any score of each row has increased since the row was searched.

        With any matrix A, :math:`\langle L_i, R_j \rangle - \langle L^0_i, R^0_j \rangle = \langle L_i, (R - R^0 A)_j
        \rangle + \langle A L_i - L^0_i, R^0_j \rangle`, and each part is largest, column by column, where its right
        side is largest or least. A is that of least squares: columns that only grew leave the first part empty.
        """
        increase = 0.0 * bonus.shift
        for number, before in enumerate(self.bonuses):
            mine = self.searched_with == number
            change = before.inverse @ bonus.right
            part = self.largest_product(bonus.left[mine], bonus.right.T - change.T @ before.right)
            part += self.largest_product(bonus.left[mine] @ change.T - before.left[mine], before.right)
            increase[mine] = part
        return increase

    @staticmethod
    def largest_product(left: Any, right: Any) -> Any:
        """Return a bound of ``max_j <left_i, right_j>``, column by column; ``right`` has one row for each column."""
        right = np.ascontiguousarray(right)
        return np.maximum(left * right.max(axis=1), left * right.min(axis=1)).sum(axis=1)
