r"""The nearest of every node by a first look in single precision, and a second at the few pairs it leaves.

Costs are, up to a constant of the row, :math:`c_{ij} = b_j - 2 \langle z_i, z_j \rangle` with
:math:`b_j = \|z_j\|^2 + h_j`. With u the unit roundoff of 32 bits and M signals, one computed in single precision is
within :math:`e_i + e_j` of it, :math:`e_i = \gamma (\|z_i\|^2 + h_i)` and :math:`\gamma = 2 (M + 8) u`: twice what
the sums of M + 8 rounded terms can be off. So if :math:`t_i` is the k-th smallest of :math:`\tilde c_{ij} + e_j`, none
of the k nearest has :math:`\tilde c_{ij} - e_j > t_i + 2 e_i`, and only the others are computed exactly. Results are
those of a scan over all pairs in double precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import prange
from scipy import sparse

from ..compiled import kernel
from ..validation import Array
from ._heaps import heap_sort, make_heap, sift_down
from ._kernels import FAST
from .scans import Nearest
from .threads import shared

if TYPE_CHECKING:
    from .search import PairSearch

ROWS, TILE = 128, 4096  # a tile of products in single precision is 2 MB, and its columns 16 KB a signal
STEP = 64  # products that are compared with the cut at once
ROUNDOFF = 2.0**-24
SMALLEST = float(np.finfo(np.float32).tiny)  # products below it are lost
SPARE = 4  # times as many pairs as wanted may wait for the second look; where more do, many are equally near


@kernel(fastmath=FAST)
def least_difference(low: Array, products: Array) -> Any:
    """Return the least of the differences."""
    least = np.float32(np.inf)
    for j in range(len(low)):
        least = min(least, low[j] - products[j])
    return least


@kernel()
def screen_tile(
    products: Array,
    start: int,
    nodes: Array,
    low: Array,
    high: Array,
    slack: Array,
    heaps: Array,
    names: Array,
    lows: Array,
    counts: Array,
) -> None:
    """List the columns of a tile that may be among the nearest of its rows.

    ``low`` and ``high`` are b_j less and plus e_j, ``slack`` is 2 e_i; ``heaps`` has the smallest upper ends so far,
    largest first. ``counts`` has how many are in the heap, and in the list; -1 where the list is full of equals.
    """
    kept, room = heaps.shape[1], names.shape[1]
    unused = np.empty(kept, np.int8)
    for row in range(len(nodes)):
        heap, filled, count = heaps[row], counts[row, 0], counts[row, 1]
        cut = heap[0] + slack[row] if filled == kept else np.float32(np.inf)
        for begin in range(0, products.shape[1] if count >= 0 else 0, STEP):
            part = products[row, begin : begin + STEP]
            if least_difference(low[start + begin : start + begin + len(part)], part) > cut:
                continue
            for k in range(len(part)):
                j = start + begin + k
                value = low[j] - part[k]
                if value > cut or j == nodes[row] or count < 0:
                    continue
                if count == room:
                    count = 0
                    for place in range(room):
                        names[row, count], lows[row, count] = names[row, place], lows[row, place]
                        count += lows[row, place] <= cut
                    if 2 * count > room:
                        count = -1
                        continue
                names[row, count], lows[row, count] = j, value
                count += 1
                upper = high[j] - part[k]
                if filled < kept:
                    heap[filled] = upper
                    filled += 1
                    if filled == kept:
                        make_heap(heap, unused, kept)
                        cut = heap[0] + slack[row]
                elif upper < heap[0]:
                    heap[0] = upper
                    sift_down(heap, unused, 0, kept)
                    cut = heap[0] + slack[row]
        counts[row, 0], counts[row, 1] = filled, count


@kernel(parallel=True)
def nearest_of_listed(indptr: Array, indices: Array, costs: Array, nearest: Array, labels: Array) -> None:
    """Write the smallest costs of each row of a CSR pattern, sorted upward, and the columns they are in."""
    kept = nearest.shape[1]
    for i in prange(len(indptr) - 1):
        size = indptr[i + 1] - indptr[i]
        if size >= kept:
            keys, names = costs[indptr[i] : indptr[i + 1]].copy(), indices[indptr[i] : indptr[i + 1]].copy()
            heap_sort(keys, names, size)
            nearest[i], labels[i] = keys[:kept], names[:kept]


class Screen:
    """The nodes in single precision. See the module's docstring."""

    def __init__(self, search: PairSearch, kept: int) -> None:
        sizes = search.norms if search.node_costs is None else search.norms + search.node_costs
        unit = float(sizes.mean()) or 1.0
        self.sizes, self.kept = sizes / unit, min(kept, len(sizes) - 1)
        error = 2.0 * (search.points.shape[1] + 8) * ROUNDOFF
        self.low, self.high = ((self.sizes * (1.0 + way * error)).astype(np.float32) for way in (-1.0, 1.0))
        self.slack = (2.0 * error * self.sizes + SMALLEST * error / ROUNDOFF).astype(np.float32)
        self.points = (search.points * np.sqrt(2.0 / unit)).astype(np.float32)
        self.facing = np.ascontiguousarray(self.points.T)

    def __call__(self, first: int, buffer: Array) -> tuple[Array, Array]:
        """Return how many pairs each row of a block leaves, -1 where there are too many, and their columns."""
        nodes = np.arange(first, min(first + ROWS, len(self.sizes)))
        shape, slack = (len(nodes), SPARE * self.kept + STEP), self.slack[nodes]
        heaps, counts = np.empty((len(nodes), self.kept), np.float32), np.zeros((len(nodes), 2), np.int64)
        names, lows = np.empty(shape, np.int32), np.empty(shape, np.float32)
        for start in range(0, len(self.sizes), TILE):
            facing = self.facing[:, start : start + TILE]
            products = buffer.ravel()[: len(nodes) * facing.shape[1]].reshape(len(nodes), -1)
            np.matmul(self.points[nodes], facing, out=products)
            screen_tile(products, start, nodes, self.low, self.high, slack, heaps, names, lows, counts)
        listed = np.arange(shape[1]) < counts[:, 1:]
        listed &= lows <= (heaps.max(axis=1) + slack)[:, None]
        return np.where(counts[:, 1] < 0, -1, listed.sum(axis=1)), names[listed]


def screened_nearest(search: PairSearch, kept: int) -> tuple[Array, Array] | None:
    """Return what ``search.nearest(kept)`` does; None where most nodes have many equally near.

    Other rows with many equally near nodes, as of answers that repeat, are scanned in double precision.

    Examples
    --------
    >>> from nashgraph.pairs.search import PairSearch
    >>> search = PairSearch(np.random.default_rng(0).normal(size=(5, 300)))
    >>> found, expected = screened_nearest(search, 8), search.nearest(8)
    >>> all((one == other).all() for one, other in zip(found, expected))
    True
    """
    screen, n = Screen(search, kept), len(search)
    if not np.isfinite(screen.sizes).all():
        return None
    counts, columns = list[Array](), list[Array]()
    for count, names in shared(screen, range(0, n, ROWS), lambda: np.empty((ROWS, TILE), np.float32)):
        if not counts and (count < 0).mean() > 0.5:
            return None
        counts.append(count)
        columns.append(names)
    lengths = np.concatenate(counts)
    pointers = np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))])
    indices = np.concatenate(columns)
    pattern = sparse.csr_array((np.empty(len(indices), np.int8), indices, pointers), shape=(n, n))
    nearest, labels = np.empty((n, screen.kept)), np.empty((n, screen.kept), np.int32)
    nearest_of_listed(pointers, indices, search.costs(pattern), nearest, labels)
    search.scans += 1.0
    if len(crowded := np.flatnonzero(lengths < 0)):
        parts = zip(*search.scan(Nearest(screen.kept), crowded), strict=True)
        nearest[crowded], labels[crowded] = map(np.concatenate, parts)
    return nearest, labels
