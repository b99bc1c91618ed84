"""Numba kernels for signals with gaps: distances over the signals that two nodes share.

As in ``_kernels``, the input is trusted: every two nodes share a signal.
"""

from __future__ import annotations

from numba import njit, prange

from ..validation import Array
from ._kernels import FAST


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def sums_to_distances(
    sums: Array, shared: Array, nodes: Array, points: Array, observed: Array, totals: Array, fine: float
) -> None:
    """Divide the sums of squares of a block of rows, in place, by the number of signals shared.

    Where a sum is less than a share ``fine`` of the totals it is a difference of, it is taken anew, one signal after
    the other, as in ``gram_to_distances``.
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
            sums[k, j] = total / shared[k, j]
        sums[k, i] = 0.0


@njit(cache=True, parallel=True, nogil=True, fastmath=FAST, error_model="numpy")
def listed_distances(pointers: Array, indices: Array, points: Array, observed: Array, distances: Array) -> None:
    """Write the distances of listed pairs of points, each over the signals observed at both."""
    for i in prange(pointers.shape[0] - 1):
        for k in range(pointers[i], pointers[i + 1]):
            j = indices[k]
            total = shared = 0.0
            for m in range(points.shape[1]):
                both = observed[i, m] * observed[j, m]
                difference = both * (points[i, m] - points[j, m])
                total += difference * difference
                shared += both
            distances[k] = total / shared
