r"""Which pairs score highest: the only package whose work grows with the number of pairs.

:class:`PairSearch` says what every engine can do. :class:`BlockSearch` is made of parts: the geometry
(:class:`~.points.Points`), an executor that runs the parts of a scan (threads, or the workers of a cluster), and
where it pays :class:`~.tree_search.LeafScans`, which skips pairs. The engine for a GPU has a search of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ..validation import Array, check_choice, check_observed
from .bonus import Bonus
from .engines import ENGINES
from .points import Points, in_geometry, points_of
from .scans import Above, Executor, Nearest, Part, Task
from .threads import Threads
from .tree_search import FIRST_NODES, LeafScans
from .weights import csr_of

GEOMETRIES = ("distance", "cosine", "inner")


class PairSearch(Protocol):
    """The search among all pairs of nodes: what an engine does.

    ``geometry`` are the nodes as points, in memory, and ``scans`` how many times all pairs were gone through, parts as
    shares. An engine that keeps candidates and graphs elsewhere has ``candidate_pairs(everything=...)`` as well (see
    :class:`~nashgraph.pairs.candidates.CandidatePairs`).
    """

    scans: float

    @property
    def geometry(self) -> Points: ...

    def __len__(self) -> int: ...

    def nearest(self, count: int, bonus: Bonus | None = None, nodes: Array | None = None) -> tuple[Any, Any]:
        """Return the smallest costs of some nodes (default: all), less a bonus, sorted upward, and whose they are.

        Both are arrays, or live on a device and become arrays by ``np.asarray``.
        """

    def above(
        self, cut: Array, bonus: Bonus, *, gain: float, total: float, margin: float = 0.0, nodes: Array | None = None
    ) -> tuple[Any, Array]:
        """Return the pairs of some nodes (default: all) whose score is not below the row's cut, as CSR, and the cuts.

        A row whose cut lets many pairs through may be cut higher, down to its exact threshold for best responses of
        this gain and row sum, less ``margin`` times the best score above it: the cuts returned say where.
        """

    def costs(self, rows: Array, columns: Array) -> Array:
        """Return the costs of some pairs, from differences of signals and not rounded: weights are made of them."""

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the cost matrix."""


class BlockSearch:
    """The search by blocks of rows, wherever its executor runs them: O(NM) memory and a few blocks.

    ``leaves`` is asked first, if there is one: it skips pairs that cannot matter, or says that this does not pay.

    Examples
    --------
    >>> search = block_search(np.array([[0.0, 1.0, 3.0]]))
    >>> search.nearest(1)[0].ravel()
    array([0.5, 0.5, 2. ])
    """

    def __init__(self, executor: Executor, leaves: LeafScans | None = None) -> None:
        self.executor = executor
        self.leaves = leaves
        self.scans = 0.0

    @property
    def geometry(self) -> Points:
        """The nodes as points."""
        return self.executor.geometry

    def __len__(self) -> int:
        return len(self.geometry)

    def costs(self, rows: Array, columns: Array) -> Array:
        """Return the costs of some pairs, not rounded."""
        return self.geometry.costs(rows, columns)

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the cost matrix."""
        return self.geometry.top_eigenvector()

    def nearest(self, count: int, bonus: Bonus | None = None, nodes: Array | None = None) -> tuple[Array, Array]:
        """Return the smallest costs of some nodes, less a bonus, sorted upward, and whose they are.

        O(N^2 M) time, O(N count) memory and a few blocks.
        """
        if self.leaves is not None and nodes is None:
            result = self.leaves.nearest(Nearest(count, bonus))
            if result is not None:
                self.scans += result.scans
                return result.costs, result.labels
        parts = list(self.scan(Nearest(count, bonus), nodes))
        costs, labels = (np.concatenate(column) for column in zip(*parts, strict=True))
        return costs, labels

    def above(
        self, cut: Array, bonus: Bonus, *, gain: float, total: float, margin: float = 0.0, nodes: Array | None = None
    ) -> tuple[Any, Array]:
        """Return the pairs of some nodes whose score is not below the row's cut, as CSR, and the cuts."""
        task = Above(bonus, gain, total, cut, margin)
        if self.leaves is not None and nodes is None:
            result = self.leaves.above(task)
            if result is not None:
                self.scans += 1.0
                return result
        parts = list(self.scan(task, nodes))
        counts, indices, cuts = (np.concatenate(column) for column in zip(*parts, strict=True))
        everyone = np.arange(len(self)) if nodes is None else nodes
        return csr_of(counts, indices, self.costs(np.repeat(everyone, counts), indices), len(self)), cuts

    def scan(self, task: Task[Part], nodes: Array | None = None) -> Iterator[Part]:
        """Yield ``task(nodes, rows of costs)`` for blocks of some nodes (default: all), in order."""
        if nodes is None:
            nodes = np.arange(len(self))
        self.scans += len(nodes) / len(self)
        yield from self.executor.blocks(task, nodes)


def block_search(X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> BlockSearch:
    """Return a search on threads that goes through all pairs; X may have gaps."""
    return BlockSearch(Threads(points_of(X, node_costs, sizes)))


def threaded_search(X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> PairSearch:
    """Return a search on threads, by leaves where that may pay: the engine "threads"."""
    search = block_search(X, node_costs, sizes)
    if type(search.geometry) is Points and len(search) >= FIRST_NODES:
        search.leaves = LeafScans(search.executor, screens=True)
    return search


def make_search(X: Array, engine: str = "threads", geometry: str = "distance") -> PairSearch:
    """Return the search among the nodes of the signals X, where an engine keeps them; one serves a whole fit.

    The geometry says what makes two nodes alike: their distance, their cosine or their inner product. If X has gaps,
    every two nodes must share a signal (``validation.check_observed``): estimators check that once.

    Examples
    --------
    >>> search = make_search(np.array([[1.0, 3.0], [0.0, 4.0]]), geometry="inner")
    >>> search.costs(np.array([0]), np.array([1]))  # (25 - 3) / 2
    array([11.])
    """
    check_choice("geometry", geometry, GEOMETRIES)
    make = ENGINES[check_choice("engine", engine, ENGINES)]
    return make(*in_geometry(X, geometry))


def squared_distances(X: Array) -> Array:
    """Return the matrix ``D_ij = ||x_i - x_j||^2 / (2M)`` of the signals X, shape (n_signals, n_nodes).

    Where X has NaN, as in :class:`~nashgraph.pairs.GappedPoints`. The result is the only N x N array.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 1.0, 3.0]]))
    array([[0. , 0.5, 4.5],
           [0.5, 0. , 2. ],
           [4.5, 2. , 0. ]])
    """
    X = np.asarray(X, dtype=float)
    check_observed(X, np.arange(X.shape[1]))
    geometry = points_of(X)
    return geometry.rows(np.arange(len(geometry)))
