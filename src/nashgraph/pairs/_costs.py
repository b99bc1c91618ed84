"""Numba kernels of what a pair costs.

Weights come from exact costs. A search compares costs that are rounded to 32 bits, so that ties in the data are ties.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from ..compiled import kernel
from ..validation import Array
from ._kernels import FAST, Arrays

HALF_BIT = 1 << 20  # half of the last bit kept: 32 of a float's 53 stay, so ties survive errors of a few thousand ulps
# Squared distance, relative to the size of the signals, below which two points are one: 450 ulps. A node near the
# middle of the data has lost that many of its digits when it is scaled to length one.
SAME_POINT = 1e-26


@kernel()
def exact_cost(distance: float, scale: float, node_costs: float) -> float:
    """Return the cost of a pair from its distance, 0 where that is rounding of points of this scale, and node costs."""
    return (0.0 if distance <= SAME_POINT * scale else distance) + node_costs


@kernel()
def snapped(cost: float) -> float:
    """Round a cost to 32 bits, as an integer, which no compiler simplifies away."""
    bits = np.float64(cost).view(np.int64)
    return np.int64((bits + HALF_BIT) & ~np.int64(2 * HALF_BIT - 1)).view(np.float64)


@kernel()
def pair_cost(distance: float, scale: float, node_costs: float) -> float:
    """Return the cost of a pair rounded to 32 bits, by which a search compares pairs.

    Costs that differ by rounding only become equal, so that a tie in the data is a tie in the search whatever the order
    of nodes and questions is. They are rounded once, with node costs: rounded twice, one in a thousand ties was
    none. Weights come from :func:`exact_cost`: they move by a cost's rounding over 2 beta, which would be 1e-4 where
    costs are 1e5 times what they differ by, as inner products of nodes that are nearly the same.
    """
    return snapped(exact_cost(distance, scale, node_costs))


@kernel(parallel=True, fastmath=FAST)
def costs_of_pairs(rows: Array, columns: Array, points: Array, sizes: Array, node_costs: Array, costs: Array) -> None:
    """Write the costs of some pairs of points, from the differences of their signals, not rounded."""
    for k in prange(len(rows)):
        i = rows[k]
        j = columns[k]
        total = 0.0
        for m in range(points.shape[1]):
            difference = points[i, m] - points[j, m]
            total += difference * difference
        costs[k] = exact_cost(total, sizes[i] + sizes[j], node_costs[i] + node_costs[j])


@kernel(parallel=True, fastmath=FAST)
def gapped_costs_of_pairs(
    rows: Array, columns: Array, arrays: Arrays, typical: Array, node_costs: Array, costs: Array
) -> None:
    """Write the costs of some pairs of points with gaps, not rounded."""
    points, observed, sizes = arrays
    for k in prange(len(rows)):
        i = rows[k]
        j = columns[k]
        total = 0.0
        for m in range(points.shape[1]):
            if observed[i, m] * observed[j, m] > 0.0:
                difference = points[i, m] - points[j, m]
                total += difference * difference
            else:
                total += typical[m]
        costs[k] = exact_cost(total / points.shape[1], sizes[i] + sizes[j], node_costs[i] + node_costs[j])


@kernel(fastmath=FAST)
def gram_to_costs(
    gram: Array, nodes: Array, points: Array, norms: Array, sizes: Array, node_costs: Array, fine: float
) -> None:
    """Turn ``gram_kj = <z_i, z_j>``, i = nodes_k, in place into costs, ``||z_i - z_j||^2`` and node costs.

    The distance is ``n_i + n_j - 2 gram_kj``, which loses the digits that the norms have above it: where it is less
    than a share ``fine`` of them, the differences are taken one by one, so every distance is accurate.
    """
    n_rows, n = gram.shape
    for k in range(n_rows):
        i = nodes[k]
        for j in range(n):
            scale = norms[i] + norms[j]
            distance = scale - 2.0 * gram[k, j]
            if distance < fine * scale:
                distance = 0.0
                for m in range(points.shape[1]):
                    difference = points[i, m] - points[j, m]
                    distance += difference * difference
            gram[k, j] = pair_cost(distance, sizes[i] + sizes[j], node_costs[i] + node_costs[j])
        gram[k, i] = 0.0


@kernel(fastmath=FAST)
def sums_to_costs(
    sums: Array, missing: Array, nodes: Array, arrays: Arrays, totals: Array, node_costs: Array, fine: float
) -> None:
    """Add to the sums of squares of a block of rows, in place, what is typical of the signals missing at either end.

    Where a sum is less than a share ``fine`` of the totals it is a difference of, it is computed again, signal by
    signal, as in ``gram_to_costs``. All of it is then the mean over the signals.
    """
    (points, observed, sizes), (n_rows, n) = arrays, sums.shape
    for k in range(n_rows):
        i = nodes[k]
        for j in range(n):
            total = sums[k, j]
            if total < fine * (totals[i] + totals[j]):
                total = 0.0
                for m in range(points.shape[1]):
                    difference = observed[i, m] * observed[j, m] * (points[i, m] - points[j, m])
                    total += difference * difference
            distance = (total + missing[k, j]) / points.shape[1]
            sums[k, j] = pair_cost(distance, sizes[i] + sizes[j], node_costs[i] + node_costs[j])
        sums[k, i] = 0.0


def without_rounding(costs: Array) -> Array:
    """Return costs rounded to 32 bits (see :func:`snapped`), so that those that differ by rounding only are equal."""
    bits = (costs.view(np.int64) + HALF_BIT) & ~np.int64(2 * HALF_BIT - 1)
    rounded: Array = bits.view(float)
    return rounded
