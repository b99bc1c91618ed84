"""Scans that skip the pairs which cannot matter, where the signals allow it.

Surveys repeat the same answers, and signals lie near few dimensions: most leaves of a :class:`~.tree.Tree` are then
too far from a node to hold any of its nearest, or an edge. Skipped leaves are proved not to matter, so results are
those of a scan over all pairs. A cloud in many dimensions allows little of the kind. Where a few leaves show that
skipping does not pay, scans go through all pairs from then on; that for the nearest has a first look in single
precision (:func:`screened_nearest`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..certificate import LOG
from ..validation import Array
from . import _tree_kernels
from ._costs import without_rounding
from ._smallest import nearest_in_rows, node_draws, sort_pairs
from .points import Points
from .scans import CROWDED, Above, Executor, Nearest
from .threads import shared
from .tree import WIDTH, BonusRanges, Rows, Tree
from .weights import csr_of

FIRST_NODES = 10_000  # below, a scan takes less than a second
PAYS = 0.5  # share of the estimated cost of all pairs below which skipping pays (benchmarks/SKIPPING.md)
ROUNDOFF = 2.0**-24  # of single precision


class Prices(NamedTuple):
    """Nanoseconds that parts of a scan take, each with what a signal or axis adds.

    They only have to be in proportion; they are constants so that what is skipped does not depend on a clock.
    """

    pair: float = 3.5  # a pair, in a scan of all
    pair_signal: float = 0.18
    screened: float = 1.0  # a pair in single precision, and one that is left of those
    screened_signal: float = 0.04
    screened_hit: float = 165.0
    box: float = 4.0
    box_axis: float = 0.4
    tile: float = 0.5  # a pair in a tile, and one that a tile leaves
    tile_axis: float = 0.06
    hit: float = 120.0
    hit_signal: float = 0.5


@dataclass(frozen=True)
class NearestOfLeaf:
    """Find the nearest of each of a leaf's nodes."""

    count: int
    ranges: BonusRanges

    def __call__(self, geometry: Points, number: int, rows: Rows) -> tuple[Array, Array, Array]:
        """Return what was looked at, the costs and whose they are."""
        tree = geometry.tree
        shape = len(tree.nodes_of(number)), self.count
        looked = np.zeros(3, np.int64)
        costs = np.empty(shape)
        labels = np.empty(shape, np.int32)
        _tree_kernels.nearest_leaf(tree, self.ranges, number, rows, costs, labels, looked)
        return looked, costs, labels


@dataclass(frozen=True)
class AboveOfLeaf:
    """List the pairs of a leaf's nodes whose score is not below their cut; cuts are in the tree's order of nodes."""

    task: Above
    ranges: BonusRanges
    cut: Array

    def __call__(self, geometry: Points, number: int, rows: Rows) -> tuple[Array, Array, Array, Array]:
        """Return what was looked at, how many pairs each node has, their partners, and the cuts for them."""
        nodes = geometry.tree.nodes_of(number)
        capacity = 0
        most = int(CROWDED * len(nodes) * len(geometry))
        while capacity < most:
            capacity = min(most, 2 * capacity or len(geometry) + 512 * len(nodes))
            looked = np.zeros(3, np.int64)
            owners = np.empty(capacity, np.int64)
            indices = np.empty(capacity, np.int32)
            count = _tree_kernels.list_leaf(geometry.tree, self.ranges, number, self.cut, rows, owners, indices, looked)
            if count != _tree_kernels.FULL:
                return looked, *_tree_kernels.by_owner(owners[:count], indices, len(nodes)), self.task.cut[nodes]
        # So many pairs that their cuts are to be raised: all pairs are gone through.
        parts = []
        for first in range(0, len(nodes), geometry.block_size):
            some = nodes[first : first + geometry.block_size]
            parts.append(self.task(some, geometry.rows(some)))
        counts, partners, cuts = (np.concatenate(column) for column in zip(*parts, strict=True))
        return looked, counts, partners, cuts


@dataclass(frozen=True)
class LeafTask:
    """A task of a scan, done leaf by leaf; like the task itself, it can be sent anywhere."""

    task: Nearest | Above

    def on(self, geometry: Points) -> NearestOfLeaf | AboveOfLeaf:
        """Return what is done with each leaf of some points."""
        tree = geometry.tree
        ranges = BonusRanges.of(self.task.bonus, tree)
        if isinstance(self.task, Nearest):
            return NearestOfLeaf(self.task.count, ranges)
        return AboveOfLeaf(self.task, ranges, self.task.cut[tree.nodes])


class NearestPairs(NamedTuple):
    """The smallest costs of each node, sorted upward, whose they are, and how many scans it took."""

    costs: Array
    labels: Array
    scans: float


class LeafScans:
    """Scans leaf by leaf, wherever an executor runs them.

    ``screens`` says whether scans for the nearest that do not skip have a first look in single precision, on threads.
    ``pays`` says of each kind of task that was tried whether its scans skip, and ``looked`` how many boxes and tiles,
    of 64 distances, and pairs the last scan that skipped has looked at.
    """

    def __init__(self, executor: Executor, *, screens: bool = False) -> None:
        self.executor = executor
        self.screens = screens
        self.pays: dict[type, bool] = {}
        self.looked = np.zeros(3, np.int64)

    @property
    def tree(self) -> Tree:
        """The points in leaves."""
        return self.executor.geometry.tree

    def nearest(self, task: Nearest) -> NearestPairs | None:
        """Return the nearest of each node; None where skipping does not pay."""
        if 8 * task.count >= len(self.executor.geometry):  # so many that few leaves could be skipped
            return None
        if self._pays(task):
            return self._nearest(task)
        if self.screens and task.bonus is None:
            return screened_nearest(self.executor, task.count)
        return None

    def _nearest(self, task: Nearest) -> NearestPairs:
        shape = len(self.executor.geometry), task.count
        costs = np.empty(shape)
        labels = np.empty(shape, np.int32)
        self.looked = np.zeros(3, np.int64)
        first = 0
        for looked, costs_of_leaf, labels_of_leaf in self._leaves(task, range(len(self.tree.size))):
            nodes = self.tree.nodes[first : first + len(costs_of_leaf)]
            costs[nodes] = costs_of_leaf
            labels[nodes] = labels_of_leaf
            self.looked = self.looked + looked
            first += len(nodes)
        self._judge(task, self.looked, range(len(self.tree.size)))
        return NearestPairs(costs, labels, 1.0)

    def above(self, task: Above) -> tuple[Any, Array] | None:
        """Return the pairs above their cut, as CSR, and the cuts; None where skipping does not pay.

        Leaves list pairs, and costs are computed here, so that a cluster has 4 bytes a pair to bring.
        """
        if not self._pays(task):
            return None
        geometry = self.executor.geometry
        looked, counts, indices, cuts = zip(*self._leaves(task, range(len(self.tree.size))), strict=True)
        self.looked = sum(looked, np.zeros(3, np.int64))
        self._judge(task, self.looked, range(len(looked)))
        # From the tree's order of nodes to that of the rows.
        lengths_in_tree = np.concatenate(counts)
        columns = np.concatenate(indices)
        nodes = self.tree.nodes
        lengths = np.empty_like(lengths_in_tree)
        lengths[nodes] = lengths_in_tree
        applied = np.empty(len(geometry))
        applied[nodes] = np.concatenate(cuts)
        pairs = csr_of(lengths, np.empty_like(columns), np.empty(len(columns)), len(geometry))
        begins = np.concatenate([[0], np.cumsum(lengths_in_tree)])
        _tree_kernels.place_rows(nodes, begins, columns, pairs.indptr, pairs.indices)
        pairs.has_sorted_indices = True
        pairs.data = geometry.costs(np.repeat(np.arange(len(geometry)), lengths), pairs.indices)
        return pairs, applied

    def _leaves(self, task: Nearest | Above, numbers: Any) -> Any:
        """Yield what is found for some leaves, in order: what was looked at, and more."""
        return self.executor.leaves(LeafTask(task), numbers)

    def _pays(self, task: Nearest | Above) -> bool:
        """Return whether a scan of a kind costs less when it skips: as the last one did, or a few leaves say."""
        count = len(self.tree.size)
        few = 3
        if count <= few:  # so few points that differ are soon compared
            return True
        if type(task) not in self.pays:
            sample = np.unique(np.linspace(0, count - 1, max(few, count // 100)).astype(int))
            looked = np.zeros(3, np.int64)
            for part in self._leaves(task, sample):
                looked = looked + part[0]
            self._judge(task, looked, sample)
        return self.pays[type(task)]

    def _judge(self, task: Nearest | Above, looked: Array, leaves: Any) -> None:
        """Note whether skipping costs less than going through all pairs, by what some leaves have looked at."""
        prices = Prices()
        tree = self.tree
        n, signals = self.executor.geometry.points.shape
        count, axes, _ = tree.tiles.shape
        boxes, tiles, pairs = looked
        ends = tree.starts[tree.leaves]
        nodes = int(np.diff(ends)[leaves].sum())
        ours = (prices.box + prices.box_axis * axes) * boxes + prices.box_axis * axes * count * len(leaves)
        ours += WIDTH * (prices.tile + prices.tile_axis * axes) * tiles
        ours += (prices.hit + prices.hit_signal * signals) * pairs
        pair = prices.pair + prices.pair_signal * signals
        if isinstance(task, Nearest):  # so many of a row in random order were ever among its nearest
            hits = task.count * (1.0 + np.log(n / task.count)) / n
            pair = prices.screened + prices.screened_signal * signals + prices.screened_hit * hits
        share = float(ours / (pair * nodes * n))
        self.pays[type(task)] = share <= PAYS
        if share > PAYS:
            kind = type(task).__name__
            LOG.info("scans go through all pairs (%s): skipping would cost %.2g times as much", kind, share)


def screened_nearest(executor: Executor, wanted: int, block_rows: int = 64) -> NearestPairs | None:
    r"""Return the nearest of each node from a first look in single precision; None where that tells little.

    Costs are, up to a constant of the row, :math:`c_{ij} = b_j - 2 \langle z_i, z_j \rangle` with
    :math:`b_j = \|z_j\|^2 + h_j`. With u the unit roundoff of 32 bits and M signals, one computed in single precision
    is within :math:`e_i + e_j` of it, :math:`e_i = \gamma (\|z_i\|^2 + h_i)` and :math:`\gamma = 2 (M + 9) u`: twice
    what the sums of M + 9 rounded terms can be off. So if :math:`t_i` is the k-th smallest of some
    :math:`\tilde c_{ij} + e_j`, none of the k nearest has :math:`\tilde c_{ij} - e_j > t_i + 2 e_i`. A few more than k
    are listed by that lower end and computed exactly. Rows whose list ends below it have many equally near nodes, as of
    answers that repeat, and are scanned in double precision.
    """
    geometry = executor.geometry
    n = len(geometry)
    sizes = geometry.norms + geometry.node_costs
    unit = float(sizes.mean()) or 1.0
    wanted = min(wanted, n - 1)
    sizes = sizes / unit
    points = geometry.points * np.sqrt(2.0 / unit)
    if not np.isfinite(sizes).all():
        return None
    error = 2.0 * (points.shape[1] + 9) * ROUNDOFF
    lost = float(np.finfo(np.float32).tiny) * error / ROUNDOFF  # smaller products are lost
    left = np.column_stack([-points, np.ones(n)]).astype(np.float32)
    right = np.vstack([points.T, sizes * (1.0 - error)]).astype(np.float32)
    listed = min(n - 1, wanted + wanted // 4 + 16)
    nobody = np.empty(0, np.uint64)  # any of several equals may be listed

    def block(first: int, buffer: Array) -> tuple[Array, Array]:
        nodes = np.arange(first, min(first + block_rows, n))
        lows = np.empty((len(nodes), listed), np.float32)
        names = np.empty((len(nodes), listed), np.int32)
        rows = np.matmul(left[nodes], right, out=buffer[: len(nodes)])
        nearest_in_rows(rows, nodes, nobody, lows, names)
        highs = np.partition(lows + 2.0 * error * sizes[names], wanted - 1, axis=1)[:, wanted - 1]
        enough = lows[:, -1] > highs + 2.0 * error * sizes[nodes] + lost
        return names, enough | (listed == n - 1)

    parts = list[tuple[Array, Array]]()
    for part in shared(block, range(0, n, block_rows), lambda: np.empty((block_rows, n), np.float32)):
        if not parts and part[1].mean() < 0.5:
            return None
        parts.append(part)
    labels, enough = (np.concatenate(column) for column in zip(*parts, strict=True))
    exact = geometry.costs(np.repeat(np.arange(n), listed), labels.ravel()).reshape(n, listed)
    costs = without_rounding(exact)
    sort_pairs(costs, labels, node_draws(n))
    costs = costs[:, :wanted].copy()
    labels = labels[:, :wanted].copy()
    crowded = np.flatnonzero(~enough)
    if len(crowded):
        parts_again = zip(*executor.blocks(Nearest(wanted), crowded), strict=True)
        costs[crowded], labels[crowded] = (np.concatenate(column) for column in parts_again)
    return NearestPairs(costs, labels, 1.0 + len(crowded) / n)
