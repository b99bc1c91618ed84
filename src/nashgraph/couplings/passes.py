"""What a pass over all pairs of nodes does with a block of rows of their costs, as values that can be sent anywhere.

A work is called with the number of its first node and the rows, which it may overwrite, and returns its part of the
answer: it holds all that it needs, writes to nothing else, and can be pickled. Where it says that its parts add up
(``adds``), the caller adds them, and an engine may add some before. An engine runs it where the points live;
one with kernels of its own may know a work by its type and do the same in another way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import sparse

from ..validation import Array, InputError
from . import _kernels
from .csr import csr_of

SORT_SHARE = 8
MANY = 0.1

Part = TypeVar("Part", covariant=True)  # noqa: PLC0105 (it is no more than the part)


class Work(Protocol[Part]):
    """Something to do with every block of rows."""

    def __call__(self, first: int, rows: Array) -> Part:
        """Return the part of the nodes from ``first`` on; ``rows`` may be overwritten, and is not to be kept."""


class Bonus(NamedTuple):
    """A rank-one bonus l r^T with its row constants taken off, in the points' kind of float.

    A constant added to a row of scores changes its threshold and nothing else. Taking off l_i max(r) leaves small
    numbers where it matters, near the row's best, and so keeps digits that l_i r_j - d_ij would lose when lam is large.

    Examples
    --------
    >>> bonus = Bonus.of(np.ones(2), np.array([1.0, 3.0]), np.dtype(float))
    >>> bonus.right, bonus.shift
    (array([-2.,  0.]), array([3., 3.]))
    """

    left: Array
    right: Array
    shift: Array

    @classmethod
    def of(cls, left: Array, right: Array, dtype: np.dtype[np.floating]) -> Bonus:
        """Shift and convert."""
        top = right.max()
        shifted = right - top
        if not float(np.abs(left).max()) * float(np.abs(shifted).max()) <= np.finfo(dtype).max / 1e3:
            raise InputError(f"the prior is too strong to be computed with in {dtype}: take a smaller lam")
        return cls(left.astype(dtype, copy=False), shifted.astype(dtype, copy=False), left * top)


class Answer(NamedTuple):
    """Best responses of some nodes: both thresholds, cost and square of each row."""

    eta: Array
    sums: Array


@dataclass(frozen=True)
class Respond:
    """Compute the best responses to a rank-one bonus, and keep no edges."""

    bonus: Bonus
    gain: float
    total: float

    def __call__(self, first: int, rows: Array) -> Answer:
        """Return the answers of a block of nodes."""
        eta, sums = np.empty((len(rows), 2), rows.dtype), np.empty((len(rows), 2))
        left, right, _ = self.bonus
        _kernels.respond_block(rows, first, left, right, self.gain, self.total, eta, sums)
        return Answer(eta, sums)


@dataclass(frozen=True)
class Candidates:
    """List the pairs that may be edges of the best response to a bonus, or nearly, with their costs.

    ``cut`` is a score above which all of them are, row by row. Where it lets through more than a share ``MANY`` of a
    block, it is raised to what the rows themselves say: the score of an edge of no weight, less ``slack``.
    """

    bonus: Bonus
    gain: float
    total: float
    cut: Array
    slack: Array

    def __call__(self, first: int, rows: Array) -> Any:
        """Return a block's pairs as CSR."""
        left, right, _ = self.bonus
        room = max(rows.shape[1], int(MANY * rows.size))
        counts = np.empty(len(rows), np.int64)
        indices, costs = np.empty(room, np.int32), np.empty(room, rows.dtype)
        cut = self.cut
        if not _kernels.list_above(rows, first, left, right, cut, counts, indices, costs):
            raised = np.empty(len(rows), rows.dtype)
            _kernels.tighten(rows, first, left, right, self.gain, self.total, raised)
            cut = cut.copy()
            cut[first : first + len(rows)] = raised - self.slack[first : first + len(rows)]
            indices, costs = np.empty(rows.size, np.int32), np.empty(rows.size, rows.dtype)
            _kernels.list_above(rows, first, left, right, cut, counts, indices, costs)
        count = counts.sum()
        return csr_of(counts, indices[:count].copy(), costs[:count].copy(), rows.shape[1])


@dataclass(frozen=True)
class Nearest:
    """Find the nearest of each node: their costs, less a rank-one bonus if there is one, and who they are."""

    kept: int
    bonus: Bonus | None = None

    def __call__(self, first: int, rows: Array) -> tuple[Array, Array]:
        """Return both for a block of nodes."""
        if self.bonus is not None:
            rows -= np.outer(self.bonus.left[first : first + len(rows)], self.bonus.right)
        if SORT_SHARE * self.kept >= rows.shape[1]:  # sorting whole rows is then faster than keeping a heap
            rows[np.arange(len(rows)), first + np.arange(len(rows))] = np.inf
            order = np.argsort(rows, axis=1)[:, : self.kept]
            return np.take_along_axis(rows, order, axis=1), order.astype(np.int32)
        costs, labels = np.empty((len(rows), self.kept), rows.dtype), np.empty((len(rows), self.kept), np.int32)
        _kernels.nearest_in_rows(rows, first, costs, labels)
        return costs, labels


@dataclass(frozen=True)
class RowsTimes:
    """Multiply the rows with a vector."""

    vector: Array

    def __call__(self, first: int, rows: Array) -> Array:
        """Return a block's part of the product."""
        product: Array = rows @ self.vector
        return product


@dataclass(frozen=True)
class TimesRows:
    """Multiply a vector with the rows: the parts add up."""

    vector: Array
    adds: ClassVar[bool] = True

    def __call__(self, first: int, rows: Array) -> Array:
        """Return a block's part of the sum."""
        product: Array = self.vector[first : first + len(rows)] @ rows
        return product


@dataclass(frozen=True)
class SumOfSquares:
    """Add up the squares of the rows."""

    def __call__(self, first: int, rows: Array) -> float:
        """Return a block's part of the sum."""
        return float(np.vdot(rows, rows))


@dataclass(frozen=True)
class PositivePart:
    """Keep the positive entries."""

    def __call__(self, first: int, rows: Array) -> Any:
        """Return a block of them as CSR."""
        return positive_part(rows)


@dataclass(frozen=True)
class CostOf:
    """Add up the costs of a graph's edges."""

    weights: Any

    def __call__(self, first: int, rows: Array) -> float:
        """Return a block's part of <W, D>."""
        return float(self.weights[first : first + len(rows)].multiply(rows).sum())


@dataclass(frozen=True)
class NeighbourSpread:
    r"""Add up how much a bonus varies among the neighbours of each node in the graph without prior.

    It is :math:`\sum_i l_i^2 \sum_{j \in N_i} (r_j - \bar r_{N_i})^2`.
    """

    left: Array
    right: Array
    threshold: Array

    def __call__(self, first: int, rows: Array) -> float:
        """Return a block's part of the sum."""
        spread = np.empty(len(rows))
        _kernels.neighbour_spread(rows, first, self.right, self.threshold, spread)
        return float(self.left[first : first + len(rows)] ** 2 @ spread)


@dataclass(frozen=True)
class LamRange:
    """Find the least lam at which a bonus adds or removes an edge, and that at which it outweighs the costs."""

    left: Array
    right: Array
    threshold: Array
    floor: float

    def __call__(self, first: int, rows: Array) -> tuple[float, float]:
        """Return both for a block of nodes."""
        found = np.empty(len(rows), rows.dtype)
        slack = 1e-9 * float(rows.max())
        _kernels.first_change(rows, first, self.left, self.right, self.threshold, slack, found)
        others = rows.max(axis=1) - np.partition(rows, 1, axis=1)[:, 1] + self.floor
        weighed = self.left[first : first + len(rows)] * float(np.ptp(self.right))
        return float(found.min()), float((others / np.maximum(weighed, np.finfo(rows.dtype).tiny)).max())


def stacked(blocks: Any) -> Any:
    """Return blocks of rows as one CSR array: the block itself, where there is one."""
    first, *others = blocks
    return sparse.csr_array(sparse.vstack([first, *others])) if others else first


def positive_part(rows: Array) -> Any:
    """Return the positive entries of dense rows as CSR."""
    counts = np.empty(len(rows), np.int64)
    _kernels.count_positive(rows, counts)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    indices, data = np.empty(pointers[-1], np.int32), np.empty(pointers[-1], rows.dtype)
    _kernels.gather_positive(rows, pointers[:-1], indices, data)
    return csr_of(counts, indices, data, rows.shape[1])
