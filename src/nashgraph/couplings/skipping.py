"""Points in memory whose passes skip the pairs that cannot matter, where the signals allow it.

Surveys repeat the same answers, and signals lie near few dimensions: most leaves of a :class:`~.tree.Tree` are then
too far from a node to hold any of its nearest, or an edge. What is skipped is proved not to matter, so answers are
those of a pass over all pairs. A cloud in many dimensions allows little of the kind; leaves that meet in the nearest
cache may be faster all the same. Where a few of them show that they are not, passes go through all pairs from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from ..certificate import LOG
from ..validation import Array
from . import _kernels, _tree_kernels
from .csr import csr_of
from .passes import MANY, SORT_SHARE, Candidates, Nearest, Part, Work
from .points import PartialPoints, Points, fine_error
from .threads import blas_threads, shared
from .tree import WIDTH, Order, Pull, Rows, Tree

FIRST_NODES = 10_000  # below, a pass takes less than a second
FIRST_CUT = 32  # the nearest so many of a row give its first cut
TRIED = 3  # leaves, or a hundredth of them
PAYS = 0.5  # of the estimated cost of all pairs

# Nanoseconds for a pair of all, a box, a pair in a tile and a pair that a tile leaves, each with what a signal or axis
# adds. They only have to be in proportion; they are constants so that what is skipped does not depend on a clock.
PAIR, PAIR_SIGNAL = 3.5, 0.18
BOX, BOX_AXIS = 4.0, 0.4
TILE, TILE_AXIS = 0.5, 0.06
HIT, HIT_SIGNAL = 120.0, 0.5

OfLeaf = Callable[[Tree, int, Rows], Any]


@dataclass(frozen=True)
class NearestOfLeaf:
    """Find the nearest of each of a leaf's nodes; like all work of a pass, it can be sent anywhere."""

    kept: int
    pull: Pull

    def __call__(self, tree: Tree, number: int, rows: Rows) -> tuple[Array, Array, Array]:
        """Return what was looked at, the costs and whose they are."""
        shape = len(tree.nodes_of(number)), self.kept
        looked, costs, labels = np.zeros(3, np.int64), np.empty(shape), np.empty(shape, np.int32)
        _tree_kernels.nearest_leaf(tree, self.pull, number, rows, costs, labels, looked)
        return looked, costs, labels


@dataclass(frozen=True)
class CandidatesOfLeaf:
    """List the pairs of a leaf's nodes that may be edges, or nearly; cuts are in the tree's order of nodes."""

    work: Candidates
    pull: Pull
    cut: Array

    def __call__(self, tree: Tree, number: int, rows: Rows) -> tuple[Array, Array, Array]:
        """Return what was looked at, and how many pairs each node has, and with whom."""
        nodes, work = tree.nodes_of(number), self.work
        count, room = _tree_kernels.FULL, len(tree.nodes) + 512 * len(nodes)
        while count == _tree_kernels.FULL:
            looked, owners = np.zeros(3, np.int64), np.empty(room, np.int64)
            indices, costs = np.empty(room, np.int32), np.empty(room)
            count = _tree_kernels.list_leaf(tree, self.pull, number, self.cut, rows, owners, indices, costs, looked)
            room *= 2
        counts, columns = np.empty(len(nodes), np.int64), np.empty(count, np.int32)
        _tree_kernels.by_owner(owners[:count], indices, counts, columns)
        if count > MANY * len(nodes) * len(tree.nodes):
            values = np.empty(count)
            _tree_kernels.by_owner(owners[:count], costs, counts, values)
            sides = (side.astype(np.float64, copy=False) for side in (*work.bonus[:2], work.slack))
            count = _tree_kernels.shorten(nodes, *sides, work.gain, work.total, counts, columns, values)
        return looked, counts, columns[:count]


class SkippingPoints(Points):
    """The nodes as points in memory. See :class:`~nashgraph.couplings.points.Points`.

    Attributes
    ----------
    skips : set of the kinds of work whose passes still try to skip
    judged : set of the kinds of work that have had such a pass, whose costs are known
    looked : array, how many boxes and tiles, of 64 distances, and pairs the last pass that skipped has looked at

    Examples
    --------
    >>> points = SkippingPoints(np.repeat(np.arange(20.0), 500)[None])
    >>> costs, labels = points.nearest(3)
    >>> Nearest in points.skips, float(costs.max()), bool((labels[0] < 500).all())
    (True, 0.0, True)
    """

    def __init__(self, X: Array, lift: Array | None = None) -> None:
        super().__init__(X, lift)
        self.skips: frozenset[type] = frozenset((Nearest, Candidates))
        self.judged: frozenset[type] = frozenset()
        self.looked = np.zeros(3, np.int64)

    @cached_property
    def order(self) -> Order:
        """Which nodes are a leaf, found once."""
        with blas_threads().limit(limits=1):  # the same bits on any number of threads
            return Order.of(self.points, self.lift)

    @cached_property
    def tree(self) -> Tree:
        """The points in leaves, made once."""
        with blas_threads().limit(limits=1):
            return Tree.of(self.points, self.lift, self.order)

    def job_of(self, work: Nearest | Candidates) -> OfLeaf:
        """Return what a work is, leaf by leaf."""
        pull = Pull.of(work.bonus, self.tree)
        if isinstance(work, Nearest):
            return NearestOfLeaf(work.kept, pull)
        return CandidatesOfLeaf(work, pull, work.cut[self.tree.nodes].astype(np.float64))

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Yield the parts of a pass; of one that skips there is one part, of all nodes."""
        found, asked = None, cast(object, work)
        if isinstance(asked, Nearest) and SORT_SHARE * asked.kept < len(self):
            found = self._nearest(asked)
        elif isinstance(asked, Candidates):
            found = self._candidates(asked)
        if found is None:
            yield from super().run(work)
        else:
            yield cast(Part, found)

    def _nearest(self, work: Nearest) -> tuple[Array, Array] | None:
        if not self._pays(work):
            return None
        shape = len(self), work.kept
        costs, labels = np.empty(shape, self.dtype), np.empty(shape, np.int32)
        self.looked, place = np.zeros(3, np.int64), 0
        for looked, near, names in self._leaves(work):
            nodes = self.tree.nodes[place : place + len(near)]
            costs[nodes], labels[nodes] = near, names
            self.looked, place = self.looked + looked, place + len(near)
        self._judge(type(work), self.looked, range(len(self.tree.size)))
        return costs, labels

    def _candidates(self, work: Candidates) -> Any:
        """Return the pairs as CSR: leaves list them, and what they cost is measured here, 4 bytes a pair to bring."""
        cut = self._first_cuts(work) if np.isneginf(work.cut).any() else work.cut
        if cut is None or not self._pays(work := replace(work, cut=cut)):
            return None
        looked, counts, indices = zip(*self._leaves(work), strict=True)
        self.looked = sum(looked, np.zeros(3, np.int64))
        self._judge(type(work), self.looked, range(len(looked)))
        lengths, columns, nodes = np.concatenate(counts), np.concatenate(indices), self.tree.nodes
        own = np.empty_like(lengths)
        own[nodes] = lengths
        found = csr_of(own, np.empty_like(columns), np.empty(len(columns), self.dtype), len(self))
        begins = np.concatenate([[0], np.cumsum(lengths)])
        _tree_kernels.place_rows(nodes, begins, columns, found.indptr, found.indices)
        found.has_sorted_indices = True
        found.data = self.listed(found)
        return found

    def _first_cuts(self, work: Candidates) -> Array | None:
        """Return cuts where there were none: what a row's nearest say, which more pairs can only raise."""
        kept = min(len(self) - 1, FIRST_CUT)
        near = self._nearest(Nearest(kept, work.bonus))
        if near is None:
            return None
        n, nothing = len(self), np.zeros(len(self), self.dtype)
        eta, ends = np.empty((n, 2), self.dtype), np.arange(0, n * kept + 1, kept)
        pairs = ends, near[1].ravel(), near[0].ravel()
        graph = np.empty(n * kept, np.int32), np.empty(n * kept, self.dtype), np.empty(n, np.int64)
        _kernels.respond_listed(*pairs, nothing, nothing, work.gain, work.total, *graph, eta, np.empty((n, 2)))
        lowest = eta[:, 0] - eta[:, 1] / work.gain
        found: Array = np.maximum(work.cut, lowest - work.slack - fine_error(self.dtype) * np.abs(lowest))
        return found

    def _leaves(self, work: Nearest | Candidates) -> Iterator[Any]:
        """Yield what is found for each leaf, in order: what was looked at, and more."""
        yield from self._here(work, range(len(self.tree.size)))

    def _here(self, work: Nearest | Candidates, numbers: Any) -> Iterator[Any]:
        """Yield what is found for some leaves, by threads."""
        yield from shared(partial(self.job_of(work), self.tree), numbers, partial(Rows.of, self.tree))

    def _pays(self, work: Nearest | Candidates) -> bool:
        """Return whether a pass of a kind costs less when it skips: as the last one did, or a few leaves say."""
        kind = type(work)
        if kind in self.skips - self.judged:
            count = len(self.tree.size)
            tried = np.unique(np.linspace(0, count - 1, max(TRIED, count // 100)).astype(int))
            self._judge(kind, sum((found[0] for found in self._here(work, tried)), np.zeros(3, np.int64)), tried)
        return kind in self.skips

    def _judge(self, kind: type, looked: Array, leaves: Any) -> None:
        """Go through all pairs from now on, where what some leaves have looked at shows that skipping costs more."""
        tree, signals = self.tree, self.points.shape[1]
        count, axes, _ = tree.tiles.shape
        boxes, tiles, pairs = looked
        ends = tree.starts[tree.leaves]
        nodes = int(np.diff(ends)[leaves].sum())
        ours = (BOX + BOX_AXIS * axes) * boxes + BOX_AXIS * axes * count * len(leaves)
        ours += WIDTH * (TILE + TILE_AXIS * axes) * tiles + (HIT + HIT_SIGNAL * signals) * pairs
        share = float(ours / ((PAIR + PAIR_SIGNAL * signals) * nodes * len(self)))
        if len(leaves) == count:
            self.judged = self.judged | {kind}
        if share > PAYS:
            self.skips = self.skips - {kind}
            LOG.info("passes go through all pairs (%s): to skip would cost %.2g of it", kind.__name__, share)


def threaded_points(X: Array, lift: Array | None = None) -> Points:
    """Return points in memory, gone through by threads: with gaps where X has NaN, and skipping where it may pay."""
    if np.isnan(X).any():
        return PartialPoints(X, lift)
    return (SkippingPoints if X.shape[1] >= FIRST_NODES else Points)(X, lift)
