"""Numba kernels for signals with gaps: distances in which a signal that is missing at either node counts as typical.

As in ``_kernels``, the input is trusted.
"""

from __future__ import annotations

from numba import prange

from ..compiled import kernel
from ..validation import Array
from ._kernels import FAST, snapped


@kernel(fastmath=FAST)
def sums_to_distances(
    sums: Array, missing: Array, nodes: Array, points: Array, observed: Array, totals: Array, fine: float
) -> None:
    """Add to the sums of squares of a block of rows, in place, what is typical of the signals missing at either end.

    Where a sum is less than a share ``fine`` of the totals it is a difference of, it is computed again, one signal after
    the other, as in ``gram_to_distances``. All of it is then the mean over the signals.
    """
    n_rows, n = sums.shape
    for k in range(n_rows):
        i = nodes[k]
        for j in range(n):
            total = sums[k, j]
            if total < fine * (totals[i] + totals[j]):
                total = 0.0
                for m in range(points.shape[1]):
                    difference = observed[i, m] * observed[j, m] * (points[i, m] - points[j, m])
                    total += difference * difference
            sums[k, j] = snapped((total + missing[k, j]) / points.shape[1], 0.0)
        sums[k, i] = 0.0


@kernel(parallel=True, fastmath=FAST)
def pair_distances(
    pointers: Array, indices: Array, points: Array, observed: Array, typical: Array, distances: Array
) -> None:
    """Write the distances of the pairs of points in a CSR pattern."""
    for i in prange(pointers.shape[0] - 1):
        for k in range(pointers[i], pointers[i + 1]):
            j = indices[k]
            total = 0.0
            for m in range(points.shape[1]):
                if observed[i, m] * observed[j, m] > 0.0:
                    difference = points[i, m] - points[j, m]
                    total += difference * difference
                else:
                    total += typical[m]
            distances[k] = snapped(total / points.shape[1], 0.0)
