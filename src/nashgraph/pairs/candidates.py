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

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .bonus import Bonus
from .points import ROUNDING
from .search import PairSearch
from .weights import SparseWeights, Weights, closed_up, csr_of, merged_rows, narrow, rows_of

# How far below its threshold a row is searched, in units of the best score above it. A larger one lists more pairs, a
# smaller one searches more often; between 0.5 and 2 fits of 20,000 nodes take the same time to 10%.
MARGIN = 1.0
FIRST_NEAREST = 32  # candidates of a row where nothing is known: more than most graphs have neighbours


class RowResponses(NamedTuple):
    """Best responses among some pairs: each row's best score, and the weight above it."""

    weights: Any
    top: Any
    above: Any


class CandidatePairs(Protocol):
    """The candidate pairs where an engine has them, with what is done with arrays; :class:`CandidateSet` proves.

    Every pair of a row that scored more than the row's ``cut``, when the row was last searched, is among them. Rows
    with numbers (``cut``, thresholds, masks) are arrays, or tensors on a device that index as arrays do.
    """

    cut: Any
    search_all: float  # share of the rows beyond which all are searched

    def put(self, bonus: Bonus) -> Bonus:
        """Return a bonus where the pairs are."""

    def respond(self, bonus: Bonus, gain: float, total: float) -> RowResponses:
        """Return the best response among the candidates."""

    def extend(self, rows: Any, bonus: Bonus, floor: Any, cut: Any, gain: float, total: float) -> None:
        """Add the pairs of some rows (a mask) that score at least the cut, or more if they are many, up to a floor."""

    def hold(self, matrix: Any) -> Any:
        """Return a given W in S, with its costs."""

    def pseudoinverse(self, right: Any) -> Any:
        """Return a matrix that maps the right side of a bonus to the identity, as nearly as may be."""

    def largest_product(self, left: Any, right: Any) -> Any:
        """Return a bound of ``max_j <left_i, right_j>``, column by column; ``right`` has one row for each column."""


class SearchedWith(NamedTuple):
    """A bonus that rows were searched with: its sides, the right one by rows of columns, and that side's inverse."""

    left: Any
    right: Any
    inverse: Any


class CandidateSet:
    """Candidate pairs and the proof that no other pair is an edge; one class for every engine and storage.

    ``pairs`` are the candidates, and ``renewals`` counts how often rows were searched again.

    Examples
    --------
    >>> from nashgraph.pairs import make_search
    >>> search = make_search(np.array([[0.0, 1.0, 5.0, 5.5]]))
    >>> CandidateSet.of(search).respond(Bonus.none(4), gain=0.5, total=0.9).matrix().toarray()[0]
    array([0. , 0.9, 0. , 0. ])
    """

    def __init__(self, search: PairSearch, pairs: CandidatePairs) -> None:
        self.search = search
        self.pairs = pairs
        self.bonuses = [self._searched(pairs.put(Bonus.none(len(search))))]  # those that rows were searched with
        self.searched_with = 0 * (pairs.cut > 0.0)  # which of them, row by row
        self.renewals = 0

    @classmethod
    def of(
        cls, search: PairSearch, *, everything: bool = False, nearest: tuple[Any, Any] | None = None
    ) -> CandidateSet:
        """Return the set of all pairs, or of each node's nearest: costs and labels if they are known, else a few."""
        # An engine may keep candidates where its graphs are; the proof is the same.
        elsewhere: Callable[..., CandidatePairs] | None = getattr(search, "candidate_pairs", None)
        if elsewhere is not None:  # an engine that keeps its candidates on a device
            return cls(search, elsewhere(everything=everything))
        if everything:
            return cls(search, ListedPairs.all_of(search))
        if nearest is None:
            nearest = search.nearest(min(len(search) - 1, FIRST_NEAREST))
        return cls(search, ListedPairs.nearest_of(search, *nearest))

    def respond(self, bonus: Bonus, *, gain: float, total: float, proved: bool = True) -> Weights:
        """Return the best response to a bonus, proved to be that among all pairs, or only among the candidates.

        A proof searches rows again for which the set is too small, and adds what it finds to their candidates.
        """
        bonus = self.pairs.put(bonus)
        response, top, above = self.pairs.respond(bonus, gain, total)
        if not proved:
            return cast(Weights, response)
        floor = top - above / gain
        # Lower the floor by the rounding errors of a score and its bonus.
        size = self.pairs.largest_product(abs(bonus.left), abs(bonus.right.T))
        floor = floor - ROUNDING * (abs(floor) + size)
        # The candidates say which pairs can be edges: those above their own thresholds. Other pairs score less than
        # the cut and its increase, so rows with a lower floor may lack a pair.
        short = ~(floor >= self.pairs.cut + self._increase(bonus))
        if not short.any():
            return cast(Weights, response)
        if short.sum() > self.pairs.search_all * len(short):
            short[:] = True
        self.renewals += 1
        self.pairs.extend(short, bonus, floor, floor - MARGIN * above / gain, gain, total)
        self._remember(short, bonus)
        return cast(Weights, self.pairs.respond(bonus, gain, total).weights)

    def _remember(self, rows: Any, bonus: Bonus) -> None:
        """Note that some rows were searched with a bonus, and forget those that no row was last searched with."""
        self.searched_with[rows] = len(self.bonuses)
        bonuses: list[SearchedWith] = []
        for number, before in enumerate([*self.bonuses, self._searched(bonus)]):
            mine = self.searched_with == number
            if mine.any():
                self.searched_with[mine] = len(bonuses)
                bonuses.append(before)
        self.bonuses = bonuses

    def _searched(self, bonus: Bonus) -> SearchedWith:
        """Find the pseudoinverse, by which later bonuses are compared."""
        return SearchedWith(bonus.left, bonus.right.T, self.pairs.pseudoinverse(bonus.right))

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
            part = self.pairs.largest_product(bonus.left[mine], bonus.right.T - change.T @ before.right)
            part += self.pairs.largest_product(bonus.left[mine] @ change.T - before.left[mine], before.right)
            increase[mine] = part
        return increase


class ListedPairs:
    """Candidate pairs in memory: ``csr`` has their costs, zeros included, with sorted columns."""

    search_all = 0.25  # a scan by leaves costs less than all pairs do

    def __init__(self, search: PairSearch, csr: Any, cut: Array) -> None:
        self.search = search
        self.csr = narrow(csr)
        self.cut = cut

    @classmethod
    def all_of(cls, search: PairSearch) -> ListedPairs:
        """Return all pairs: 12 bytes for each."""
        n = len(search)
        search.scans += 1.0
        columns = np.broadcast_to(np.arange(n, dtype=np.int32), (n, n))
        others = ~np.eye(n, dtype=bool)
        counts = np.full(n, n - 1)
        costs = search.costs(np.repeat(np.arange(n), counts), columns[others])
        return cls(search, csr_of(counts, columns[others], costs, n), np.full(n, -np.inf))

    @classmethod
    def nearest_of(cls, search: PairSearch, costs: Array, labels: Array) -> ListedPairs:
        """Return the pairs of each node and its nearest others, from the costs and labels of these."""
        n, count = costs.shape
        columns = np.sort(labels, axis=1).ravel()
        counts = np.full(n, count)
        csr = csr_of(counts, columns, search.costs(np.repeat(np.arange(n), counts), columns), n)
        csr.has_sorted_indices = True
        cut = -costs[:, -1] if count < n - 1 else np.full(n, -np.inf)
        return cls(search, csr, cut)

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The pointers, columns and costs, as kernels take them."""
        return self.csr.indptr, self.csr.indices, self.csr.data

    def put(self, bonus: Bonus) -> Bonus:
        """Return a bonus as it is."""
        return bonus

    def respond(self, bonus: Bonus, gain: float, total: float) -> RowResponses:
        """Return the best response among the candidates."""
        csr = self.csr
        n = csr.shape[0]
        columns = np.empty_like(csr.indices)
        values = np.empty(csr.nnz)
        lengths = np.empty(n, csr.indptr.dtype)
        eta = np.empty((n, 2))
        sums = np.empty((n, 2))
        response = (columns, values, lengths, eta, sums)
        _kernels.respond_candidates(self.arrays, bonus[:2], gain, total, response)
        pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(csr.indptr.dtype)
        # Rows of a run lie one after the other, with space after the run.
        runs = _kernels.runs(n)
        starts = csr.indptr[runs[:-1]]
        ends = pointers[runs]
        parts = closed_up(starts, values, ends), closed_up(starts, columns, ends), pointers
        matrix = sparse.csr_array(parts, shape=csr.shape)
        matrix.has_sorted_indices = csr.has_sorted_indices
        top, above = np.ascontiguousarray(eta.T)
        threshold = above / gain - top - bonus.shift
        weights = SparseWeights(matrix, sums[:, 0].copy(), float(sums[:, 1].sum()), threshold)
        return RowResponses(weights, top, above)

    def extend(self, rows: Array, bonus: Bonus, floor: Array, cut: Array, gain: float, total: float) -> None:
        """Add the pairs of some rows that score at least the cut; where they are many, the cut may be higher."""
        nodes = None if rows.all() else np.flatnonzero(rows)
        rounding = ROUNDING * (np.where(np.isfinite(cut), np.abs(cut), 0.0) + bonus.sizes)
        pairs, cuts = self.search.above(cut - rounding, bonus, gain=gain, total=total, margin=MARGIN, nodes=nodes)
        # What a row had stays: a descent's graph keeps its pairs, so that the way to a response leads downward.
        self.csr = merged_rows(self.csr, pairs, nodes)
        self.cut[rows] = cuts + 2.0 * rounding[rows]

    def hold(self, matrix: Any) -> SparseWeights:
        """Return a given W in S, with its costs."""
        csr = sparse.csr_array(matrix, dtype=float)
        csr.eliminate_zeros()
        csr.sort_indices()
        rows = rows_of(csr)
        costs = np.bincount(rows, csr.data * self.search.costs(rows, csr.indices), csr.shape[0])
        return SparseWeights(narrow(csr), costs, float(np.vdot(csr.data, csr.data)))

    def step(self, weights: SparseWeights, bonus: Bonus, *, keep: float, gain: float, total: float) -> SparseWeights:
        """Return the projection of ``keep * W + gain * (bonus - D)`` onto S; needs all pairs."""
        pairs = self.csr
        csr = weights.csr
        values = np.empty(pairs.nnz)
        edges = (csr.indptr, csr.indices, csr.data)
        _kernels.step_candidates(self.arrays, bonus[:2], edges, keep, gain, total, values)
        costs = np.bincount(rows_of(pairs), values * pairs.data, pairs.shape[0])
        square = float(np.vdot(values, values))  # before zeros are dropped, which moves the values
        out = sparse.csr_array((values, pairs.indices.copy(), pairs.indptr.copy()), shape=pairs.shape)
        out.eliminate_zeros()
        return SparseWeights(out, costs, square)

    def pseudoinverse(self, right: Array) -> Array:
        """Return the pseudoinverse of one side of a bonus."""
        return np.linalg.pinv(right)

    def largest_product(self, left: Array, right: Array) -> Array:
        """Return a bound of ``max_j <left_i, right_j>``, column by column."""
        right = np.ascontiguousarray(right)
        bound: Array = np.maximum(left * right.max(axis=1), left * right.min(axis=1)).sum(axis=1)
        return bound
