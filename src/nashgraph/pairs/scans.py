"""The tasks of a scan over all pairs, on a block of rows of costs.

A work holds all that it needs, writes to nothing else, and can be pickled: an engine runs it where the signals are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .bonus import Bonus
from .weights import csr_of

SORT_SHARE = 8  # sorting whole rows is faster than a heap where more than 1/8 of a row is wanted
CROWDED = 0.1  # share of a block's pairs above which the rows' cuts are raised to their exact thresholds

Part = TypeVar("Part", covariant=True)  # noqa: PLC0105 (a work returns it and nothing else)


class Work(Protocol[Part]):
    """Something to do with every block of rows."""

    def __call__(self, nodes: Array, rows: Array) -> Part:
        """Return the part of some nodes; ``rows`` may be overwritten, and is not to be kept."""


@dataclass(frozen=True)
class Nearest:
    """Find the nearest others of each node: their costs, less a bonus if there is one, and who they are."""

    kept: int
    bonus: Bonus | None = None

    def __call__(self, nodes: Array, rows: Array) -> tuple[Array, Array]:
        """Return both for a block of nodes."""
        if self.bonus is not None:
            rows -= self.bonus.left[nodes] @ self.bonus.right.T
        if SORT_SHARE * self.kept >= rows.shape[1]:
            rows[np.arange(len(rows)), nodes] = np.inf
            order = np.argsort(rows, axis=1, kind="stable")[:, : self.kept]
            return np.take_along_axis(rows, order, axis=1), order.astype(np.int32)
        costs, labels = np.empty((len(rows), self.kept)), np.empty((len(rows), self.kept), np.int32)
        _kernels.nearest_in_rows(rows, nodes, costs, labels)
        return costs, labels


@dataclass(frozen=True)
class Above:
    """List the pairs whose score, bonus less cost, is not below their row's cut.

    A cut is raised to the row's exact threshold, less ``margin`` times the best score above it, if the given one lets
    through more than a share ``CROWDED`` of a block: minus infinity asks for that.
    """

    bonus: Bonus
    gain: float
    total: float
    cut: Array
    margin: float

    def __call__(self, nodes: Array, rows: Array) -> tuple[Any, Array]:
        """Return a block's pairs as CSR, and the cuts they were listed with."""
        sides = self.bonus.left[nodes], np.ascontiguousarray(self.bonus.right.T)
        capacity = max(rows.shape[1], int(CROWDED * rows.size))
        counts, cut = np.empty(len(rows), np.int64), self.cut[nodes]
        indices, costs = np.empty(capacity, np.int32), np.empty(capacity)
        if not _kernels.list_above(rows, nodes, *sides, cut, counts, indices, costs):
            _kernels.exact_cuts(rows, nodes, *sides, self.gain, self.total, self.margin, cut)
            indices, costs = np.empty(rows.size, np.int32), np.empty(rows.size)
            _kernels.list_above(rows, nodes, *sides, cut, counts, indices, costs)
        count = counts.sum()
        return csr_of(counts, indices[:count].copy(), costs[:count].copy(), rows.shape[1]), cut


@dataclass(frozen=True)
class RowsTimes:
    """Multiply the rows with a vector."""

    vector: Array

    def __call__(self, nodes: Array, rows: Array) -> Array:
        """Return a block's part of the product."""
        product: Array = rows @ self.vector
        return product


@dataclass(frozen=True)
class LamRange:
    """Find the least lam at which a bonus adds or removes an edge, and that at which it outweighs the costs."""

    left: Array
    right: Array
    threshold: Array
    floor: float

    def __call__(self, nodes: Array, rows: Array) -> tuple[float, float]:
        """Return both for a block of nodes.

        Row i is ``max(0, eta_i - d_ij)`` up to scale. With its neighbours fixed, the bonus moves ``eta_i`` by lam times
        the neighbours' mean bonus, so pair (i, j) crosses zero at (d_ij - eta_i) / (its bonus - the mean bonus), where
        that is positive. Pairs within ``slack`` of zero are on the edge already and are passed over.
        """
        slack, pairs = 1e-9 * float(rows.max()), np.arange(rows.shape[1]) != nodes[:, None]
        bonus = self.left[nodes] @ (self.right - self.right.mean(axis=0)).T
        gap = rows - self.threshold[nodes, None]
        near = (gap < 0.0) & pairs
        mean = np.where(near, bonus, 0.0).sum(axis=1) / np.maximum(near.sum(axis=1), 1)
        pull = bonus - mean[:, None]
        moves = (np.abs(gap) > slack) & (gap * pull > 0.0) & pairs
        found = np.divide(gap, pull, out=np.full_like(gap, np.inf), where=moves)
        others = rows.max(axis=1) - np.partition(rows, 1, axis=1)[:, 1] + self.floor
        weighed = np.abs(self.left[nodes]) @ np.ptp(self.right, axis=0)
        return float(found.min()), float((others / np.maximum(weighed, np.finfo(float).tiny)).max())


def stacked(blocks: Any) -> Any:
    """Return blocks of rows as one CSR array: the block itself, if there is only one."""
    first, *others = blocks
    return sparse.csr_array(sparse.vstack([first, *others])) if others else first
