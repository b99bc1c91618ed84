"""Numba kernels over pairs of nodes, for solvers whose edges are ``max(0, m_i + m_j - scale * d_ij) / 2``.

Every function here trusts its input. Rows are independent, so loops over them run in parallel without races; each pair
is then visited from both of its ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from ..compiled import kernel
from ..pairs._kernels import FAST
from ..validation import Array

Integers = NDArray[np.integer[Any]]


@kernel()
def slack(one: float, other: float, scale: float, distance: float) -> float:
    """Return ``one + other - scale * distance``, in this order.

    A function of its own because the loops below may reorder sums: here nothing is reordered, so that the two ends of a
    pair see the same number and a pair counted is a pair listed.
    """
    return (one + other) - scale * distance


@kernel(parallel=True, fastmath=FAST)
def dense_sums(distances: Array, potential: Array, scale: float, out: Array) -> None:
    """Write the degree, the sum of squared weights and the number of edges of node i into ``out[i]``.

    The diagonal of the distances is infinite, so that no node is a neighbour of its own.
    """
    n = len(potential)
    for i in prange(n):
        degree = square = 0.0
        count = 0
        row, mine = distances[i], potential[i]
        for j in range(n):
            excess = slack(mine, potential[j], scale, row[j])
            count += excess > 0.0
            excess = max(excess, 0.0)
            degree += excess
            square += excess * excess
        out[i, 0], out[i, 1], out[i, 2] = 0.5 * degree, 0.25 * square, count


@kernel(parallel=True)
def dense_edges(
    distances: Array, potential: Array, scale: float, indptr: Integers, indices: Integers, weights: Array
) -> None:
    """List the edges of node i, with their weights, from ``indptr[i]`` on."""
    n = len(potential)
    for i in prange(n):
        place = indptr[i]
        for j in range(n):
            excess = slack(potential[i], potential[j], scale, distances[i, j])
            if excess > 0.0:
                indices[place] = j
                weights[place] = 0.5 * excess
                place += 1


@kernel(parallel=True, fastmath=FAST)
def listed_sums(
    pointers: Integers, neighbours: Integers, costs: Array, potential: Array, scale: float, out: Array
) -> None:
    """Do as ``dense_sums``, over the pairs of a CSR list."""
    for i in prange(len(potential)):
        degree = square = 0.0
        count = 0
        for p in range(pointers[i], pointers[i + 1]):
            excess = slack(potential[i], potential[neighbours[p]], scale, costs[p])
            if excess > 0.0:
                count += 1
                degree += excess
                square += excess * excess
        out[i, 0], out[i, 1], out[i, 2] = 0.5 * degree, 0.25 * square, count


@kernel(parallel=True)
def listed_edges(
    pointers: Integers,
    neighbours: Integers,
    costs: Array,
    potential: Array,
    scale: float,
    indptr: Integers,
    indices: Integers,
    weights: Array,
) -> None:
    """Do as ``dense_edges``, over the pairs of a CSR list."""
    for i in prange(len(potential)):
        place = indptr[i]
        for p in range(pointers[i], pointers[i + 1]):
            excess = slack(potential[i], potential[neighbours[p]], scale, costs[p])
            if excess > 0.0:
                indices[place] = neighbours[p]
                weights[place] = 0.5 * excess
                place += 1
