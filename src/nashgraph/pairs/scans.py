"""The tasks of a scan over all pairs, and the executor that runs them.

A task holds all that it needs, writes to nothing else, and can be pickled: an executor runs it where the signals are.
It may also be a ``functools.partial`` of a function of a module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from ..validation import Array
from . import _kernels
from ._smallest import nearest_in_rows, node_draws
from .bonus import Bonus
from .points import Points

CROWDED = 0.1  # share of a block's pairs above which the rows' cuts are raised to their exact thresholds

Part = TypeVar("Part", covariant=True)  # noqa: PLC0105 (a task returns it and nothing else)
Result = TypeVar("Result")


class Task(Protocol[Part]):
    """Something to do with every block of rows."""

    def __call__(self, nodes: Array, rows: Array) -> Part:
        """Return the part of some nodes; ``rows`` may be overwritten, and must not be stored."""


class Executor(Protocol):
    """Where scans run: it holds the geometry and yields the parts of a task in order.

    An executor that can also go through the leaves of a tree has ``leaves(task, numbers)``.
    """

    @property
    def geometry(self) -> Points: ...

    def blocks(self, task: Task[Result], nodes: Array) -> Iterator[Result]:
        """Yield ``task(nodes, rows of costs)`` for blocks of some nodes, in order."""

    def leaves(self, task: Any, numbers: Any) -> Iterator[Any]:
        """Yield what a task of :mod:`~nashgraph.pairs.tree_search` finds for some leaves, in order."""


@dataclass(frozen=True)
class Nearest:
    """Find the nearest others of each node: their costs, less a bonus if there is one, and who they are.

    If a node has more equally near others than are wanted, chance chooses among them (``_smallest``).
    """

    count: int
    bonus: Bonus | None = None

    def __call__(self, nodes: Array, rows: Array) -> tuple[Array, Array]:
        """Return both for a block of nodes."""
        if self.bonus is not None:
            rows -= self.bonus.left[nodes] @ self.bonus.right.T
        costs = np.empty((len(rows), self.count))
        labels = np.empty((len(rows), self.count), np.int32)
        nearest_in_rows(rows, nodes, node_draws(rows.shape[1]), costs, labels)
        return costs, labels


@dataclass(frozen=True)
class Above:
    """List the pairs whose score, bonus less cost, is not below their row's cut.

    A cut is raised to the row's exact threshold, less ``margin`` times the best score above it, if the given one lets
    through more than a share ``CROWDED`` of a block: minus infinity asks for that, an infinite margin forbids it.
    """

    bonus: Bonus
    gain: float
    total: float
    cut: Array
    margin: float

    def __call__(self, nodes: Array, rows: Array) -> tuple[Array, Array, Array]:
        """Return how many pairs each node has, their columns, and the cuts they were listed with."""
        sides = self.bonus.left[nodes], np.ascontiguousarray(self.bonus.right.T)
        counts = np.empty(len(rows), np.int64)
        cut = self.cut[nodes]
        indices = np.empty(max(rows.shape[1], int(CROWDED * rows.size)), np.int32)
        if not _kernels.list_above(rows, nodes, *sides, cut, counts, indices):
            _kernels.exact_cuts(rows, nodes, *sides, self.gain, self.total, self.margin, cut)
            indices = np.empty(rows.size, np.int32)
            _kernels.list_above(rows, nodes, *sides, cut, counts, indices)
        return counts, indices[: counts.sum()].copy(), cut
