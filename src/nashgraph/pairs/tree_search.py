"""A search that skips the pairs which cannot matter, where the signals allow it.

Surveys repeat the same answers, and signals lie near few dimensions: most leaves of a :class:`~.tree.Tree` are then
too far from a node to hold any of its nearest, or an edge. Skipped leaves are proved not to matter, so results are
those of a scan over all pairs. A cloud in many dimensions allows little of the kind. Where a few leaves show that
skipping does not pay, scans go through all pairs from then on; that for the nearest has a first look in single
precision (:func:`screened_nearest`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..certificate import LOG
from ..validation import Array
from . import _costs, _kernels, _tree_kernels
from .bonus import Bonus
from .scans import CROWDED, SORT_SHARE, Above, Nearest
from .search import GappedPairSearch, PairSearch
from .threads import blas_threads, shared
from .tree import WIDTH, BonusRanges, Order, Rows, Tree
from .weights import csr_of

FIRST_NODES = 10_000  # below, a scan takes less than a second
TRIED = 3  # leaves tried before a first scan, or a hundredth of them
ROWS = 64  # of products in single precision at a time
# of single precision; smaller products are lost
ROUNDOFF = 2.0**-24
SMALLEST = float(np.finfo(np.float32).tiny)
PAYS = 0.5  # share of the estimated cost of all pairs below which skipping pays (benchmarks/SKIPPING.md)

# Nanoseconds for a pair of all, for one in single precision and one that is left of those, a box, a pair in a tile and
# a pair that a tile leaves, each with what a signal or axis adds. They only have to be in proportion; they are
# constants so that what is skipped does not depend on a clock.
PAIR = 3.5
PAIR_SIGNAL = 0.18
SCREENED = 1.0
SCREENED_SIGNAL = 0.04
SCREENED_HIT = 165.0
BOX = 4.0
BOX_AXIS = 0.4
TILE = 0.5
TILE_AXIS = 0.06
HIT = 120.0
HIT_SIGNAL = 0.5


@dataclass(frozen=True)
class NearestOfLeaf:
    """Find the nearest of each of a leaf's nodes; like all work of a scan, it can be sent anywhere."""

    kept: int
    ranges: BonusRanges

    def __call__(self, search: TreeSearch, number: int, rows: Rows) -> tuple[Array, Array, Array]:
        """Return what was looked at, the costs and whose they are."""
        tree = search.tree
        shape = len(tree.nodes_of(number)), self.kept
        looked = np.zeros(3, np.int64)
        costs = np.empty(shape)
        labels = np.empty(shape, np.int32)
        _tree_kernels.nearest_leaf(tree, self.ranges, number, rows, costs, labels, looked)
        return looked, costs if self.ranges.left.shape[1] else _costs.undrawn(costs), labels


@dataclass(frozen=True)
class AboveOfLeaf:
    """List the pairs of a leaf's nodes whose score is not below their cut; cuts are in the tree's order of nodes."""

    work: Above
    ranges: BonusRanges
    cut: Array

    def __call__(self, search: TreeSearch, number: int, rows: Rows) -> tuple[Array, Array, Array, Array]:
        """Return the work done, how many pairs each node has, their partners, and the cuts for them."""
        nodes = search.tree.nodes_of(number)
        capacity = 0
        most = int(CROWDED * len(nodes) * len(search))
        while capacity < most:
            capacity = min(most, 2 * capacity or len(search) + 512 * len(nodes))
            looked = np.zeros(3, np.int64)
            owners = np.empty(capacity, np.int64)
            indices = np.empty(capacity, np.int32)
            given = search.tree, self.ranges, number, self.cut, rows
            count = _tree_kernels.list_leaf(*given, owners, indices, looked)
            if count != _tree_kernels.FULL:
                return looked, *_tree_kernels.by_owner(owners[:count], indices, len(nodes)), self.work.cut[nodes]
        # So many pairs that their cuts are to be raised: all pairs are gone through.
        blocks = np.split(nodes, range(search.block_size, len(nodes), search.block_size))
        parts = [self.work(some, search.rows(some)) for some in blocks]
        counts, partners, cuts = (np.concatenate(column) for column in zip(*parts, strict=True))
        return looked, counts, partners, cuts


OfLeaf = NearestOfLeaf | AboveOfLeaf


class TreeSearch(PairSearch):
    """The search by leaves. See :class:`~nashgraph.pairs.search.PairSearch`.

    ``pays`` says of each kind of work that was tried whether its scans skip, and ``looked`` how many boxes and tiles,
    of 64 distances, and pairs the last scan that skipped has looked at.
    """

    screens = True  # whether scans for the nearest that do not skip have a first look in single precision

    def __init__(self, X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> None:
        super().__init__(X, node_costs, sizes)
        self.pays: dict[type, bool] = {}
        self.looked = np.zeros(3, np.int64)

    @cached_property
    def order(self) -> Order:
        """Which nodes are a leaf, found once."""
        with blas_threads().limit(limits=1):  # the same bits on any number of threads
            return Order.of(self.points, self.node_costs)

    @cached_property
    def tree(self) -> Tree:
        """The points in leaves, made once."""
        with blas_threads().limit(limits=1):
            return Tree.of(self.points, self.node_costs, self.sizes, self.order)

    def job_of(self, work: Nearest | Above) -> OfLeaf:
        """Return what a work is, leaf by leaf."""
        ranges = BonusRanges.of(work.bonus, self.tree)
        if isinstance(work, Nearest):
            return NearestOfLeaf(work.kept, ranges)
        return AboveOfLeaf(work, ranges, work.cut[self.tree.nodes])

    def nearest(self, kept: int, bonus: Bonus | None = None) -> tuple[Array, Array]:
        few = SORT_SHARE * kept < len(self)
        found = self._nearest(Nearest(kept, bonus)) if few else None
        if self.screens and few and found is None and bonus is None:
            found = screened_nearest(self, kept)
        if found is None:
            return super().nearest(kept, bonus)
        if bonus is None:
            self.known_nearest = found
        return found

    def _nearest(self, work: Nearest) -> tuple[Array, Array] | None:
        if not self._pays(work):
            return None
        shape = len(self), work.kept
        costs = np.empty(shape)
        labels = np.empty(shape, np.int32)
        self.looked = np.zeros(3, np.int64)
        place = 0
        for looked, near, names in self._leaves(work):
            nodes = self.tree.nodes[place : place + len(near)]
            costs[nodes], labels[nodes] = near, names
            self.looked = self.looked + looked
            place = place + len(near)
        self.scans += 1.0
        self._judge(work, self.looked, range(len(self.tree.size)))
        return costs, labels

    def above(
        self, cut: Array, bonus: Bonus, *, gain: float, total: float, margin: float = 0.0, nodes: Array | None = None
    ) -> tuple[Any, Array]:
        given: dict[str, Any] = {"gain": gain, "total": total, "margin": margin}
        found = None if nodes is not None else self._above(Above(bonus, gain, total, cut, margin))
        return super().above(cut, bonus, nodes=nodes, **given) if found is None else found

    def _above(self, work: Above) -> tuple[Any, Array] | None:
        """Have leaves list pairs; costs are computed here, so that a cluster has 4 bytes a pair to bring."""
        if not self._pays(work):
            return None
        looked, counts, indices, cuts = zip(*self._leaves(work), strict=True)
        self.looked = sum(looked, np.zeros(3, np.int64))
        self.scans += 1.0
        self._judge(work, self.looked, range(len(looked)))
        lengths = np.concatenate(counts)
        columns = np.concatenate(indices)
        nodes = self.tree.nodes
        own = np.empty_like(lengths)
        applied = np.empty(len(self))
        own[nodes], applied[nodes] = lengths, np.concatenate(cuts)
        found = csr_of(own, np.empty_like(columns), np.empty(len(columns)), len(self))
        begins = np.concatenate([[0], np.cumsum(lengths)])
        _tree_kernels.place_rows(nodes, begins, columns, found.indptr, found.indices)
        found.has_sorted_indices = True
        found.data = self.costs(np.repeat(np.arange(len(self)), own), found.indices)
        return found, applied

    def _leaves(self, work: Nearest | Above) -> Iterator[Any]:
        """Yield what is found for each leaf, in order: what was looked at, and more."""
        yield from self._here(work, range(len(self.tree.size)))

    def _here(self, work: Nearest | Above, numbers: Any) -> Iterator[Any]:
        """Yield what is found for some leaves, by threads."""
        job = self.job_of(work)
        yield from shared(partial(job, self), numbers, partial(Rows.of, self.tree, job.ranges.left.shape[1]))

    def _pays(self, work: Nearest | Above) -> bool:
        """Return whether a scan of a kind costs less when it skips: as the last one did, or a few leaves say."""
        count = len(self.tree.size)
        if count <= TRIED:  # so few points that differ are soon compared
            return True
        if type(work) not in self.pays:
            tried = np.unique(np.linspace(0, count - 1, max(TRIED, count // 100)).astype(int))
            self._judge(work, sum((found[0] for found in self._here(work, tried)), np.zeros(3, np.int64)), tried)
        return self.pays[type(work)]

    def _judge(self, work: Nearest | Above, looked: Array, leaves: Any) -> None:
        """Note whether skipping costs less than going through all pairs, by what some leaves have looked at."""
        tree = self.tree
        signals = self.points.shape[1]
        count, axes, _ = tree.tiles.shape
        boxes, tiles, pairs = looked
        ends = tree.starts[tree.leaves]
        nodes = int(np.diff(ends)[leaves].sum())
        ours = (BOX + BOX_AXIS * axes) * boxes + BOX_AXIS * axes * count * len(leaves)
        ours += WIDTH * (TILE + TILE_AXIS * axes) * tiles + (HIT + HIT_SIGNAL * signals) * pairs
        pair = PAIR + PAIR_SIGNAL * signals
        n = len(self)
        if isinstance(work, Nearest):  # so many of a row in random order were ever among its nearest
            hits = work.kept * (1.0 + np.log(n / work.kept)) / n
            pair = SCREENED + SCREENED_SIGNAL * signals + SCREENED_HIT * hits
        share = float(ours / (pair * nodes * n))
        self.pays[type(work)] = share <= PAYS
        if share > PAYS:
            kind = type(work).__name__
            LOG.info("scans go through all pairs (%s): skipping would cost %.2g times as much", kind, share)


def screened_nearest(search: PairSearch, kept: int) -> tuple[Array, Array] | None:
    r"""Return what ``search.nearest(kept)`` does, from a first look in single precision; None where that tells little.

    Costs are, up to a constant of the row, :math:`c_{ij} = b_j - 2 \langle z_i, z_j \rangle` with
    :math:`b_j = \|z_j\|^2 + h_j`. With u the unit roundoff of 32 bits and M signals, one computed in single precision
    is within :math:`e_i + e_j` of it, :math:`e_i = \gamma (\|z_i\|^2 + h_i)` and :math:`\gamma = 2 (M + 9) u`: twice
    what the sums of M + 9 rounded terms can be off. So if :math:`t_i` is the k-th smallest of some
    :math:`\tilde c_{ij} + e_j`, none of the k nearest has :math:`\tilde c_{ij} - e_j > t_i + 2 e_i`. A few more than k
    are listed by that lower end and computed exactly. Rows whose list ends below it have many equally near nodes, as of
    answers that repeat, and are scanned in double precision.
    """
    n = len(search)
    sizes = search.norms + search.node_costs
    unit = float(sizes.mean()) or 1.0
    kept = min(kept, n - 1)
    sizes = sizes / unit
    points = search.points * np.sqrt(2.0 / unit)
    if not np.isfinite(sizes).all():
        return None
    error = 2.0 * (points.shape[1] + 9) * ROUNDOFF
    own = np.column_stack([-points, np.ones(n)]).astype(np.float32)
    facing = np.vstack([points.T, sizes * (1.0 - error)]).astype(np.float32)
    listed = min(n - 1, kept + kept // 4 + 16)

    def block(first: int, buffer: Array) -> tuple[Array, Array]:
        nodes = np.arange(first, min(first + ROWS, n))
        lows = np.empty((len(nodes), listed), np.float32)
        names = np.empty((len(nodes), listed), np.int32)
        rows = np.matmul(own[nodes], facing, out=buffer[: len(nodes)])
        _kernels.nearest_in_rows(rows, nodes, lows, names)
        highs = np.partition(lows + 2.0 * error * sizes[names], kept - 1, axis=1)[:, kept - 1]
        enough = lows[:, -1] > highs + 2.0 * error * sizes[nodes] + SMALLEST * error / ROUNDOFF
        return names, enough | (listed == n - 1)

    parts = list[tuple[Array, Array]]()
    for part in shared(block, range(0, n, ROWS), lambda: np.empty((ROWS, n), np.float32)):
        if not parts and part[1].mean() < 0.5:
            return None
        parts.append(part)
    labels, enough = map(np.concatenate, zip(*parts, strict=True))
    costs = search.costs(np.repeat(np.arange(n), listed), labels.ravel()).reshape(n, listed)
    _costs.draw_pairs(costs, np.arange(n), labels, _costs.node_draws(n))
    order = np.argsort(costs, axis=1, kind="stable")[:, :kept]
    costs = _costs.undrawn(np.take_along_axis(costs, order, axis=1))
    labels = np.take_along_axis(labels, order, axis=1)
    search.scans += 1.0
    if len(crowded := np.flatnonzero(~enough)):
        exact = zip(*search.scan(Nearest(kept), crowded), strict=True)
        costs[crowded], labels[crowded] = map(np.concatenate, exact)
    return costs, labels


def threaded_search(X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> PairSearch:
    """Return a search on threads: one for gaps if X has NaN, and by leaves where that may pay."""
    if np.isnan(X).any():
        return GappedPairSearch(X, node_costs, sizes)
    return (TreeSearch if X.shape[1] >= FIRST_NODES else PairSearch)(X, node_costs, sizes)
