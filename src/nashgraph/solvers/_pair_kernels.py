"""Numba kernels over pairs of nodes, for solvers whose edges are ``max(0, m_i + m_j - scale * d_ij) / 2``.

Every function here trusts its input. Rows are independent, so loops over them run in parallel without races;
each pair is then visited from both of its ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from ..couplings._kernels import FAST
from ..validation import Array

Integers = NDArray[np.integer[Any]]


@njit(cache=True, nogil=True)
def slack(one: float, other: float, scale: float, distance: float) -> float:
    """Return ``one + other - scale * distance``, in this order.

    A function of its own because the loops below may reorder sums: here nothing is reordered, so that the two
    ends of a pair see the same number and a pair counted is a pair listed.
    """
    return (one + other) - scale * distance


@njit(cache=True, parallel=True, nogil=True, fastmath=FAST)
def dense_sums(distances: Array, potential: Array, scale: float, out: Array) -> None:
    """Write the degree, the sum of squared weights and the number of edges of node i into ``out[i]``."""
    n = len(potential)
    for i in prange(n):
        degree = square = 0.0
        count = 0
        row, mine = distances[i], potential[i]
        for j in range(i):
            excess = slack(mine, potential[j], scale, row[j])
            count += excess > 0.0
            excess = max(excess, 0.0)
            degree += excess
            square += excess * excess
        for j in range(i + 1, n):
            excess = slack(mine, potential[j], scale, row[j])
            count += excess > 0.0
            excess = max(excess, 0.0)
            degree += excess
            square += excess * excess
        out[i, 0], out[i, 1], out[i, 2] = 0.5 * degree, 0.25 * square, count


@njit(cache=True, parallel=True, nogil=True)
def dense_edges(
    distances: Array, potential: Array, scale: float, indptr: Integers, indices: Integers, weights: Array
) -> None:
    """List the edges of node i, with their weights, from ``indptr[i]`` on."""
    n = len(potential)
    for i in prange(n):
        place = indptr[i]
        for j in range(n):
            excess = slack(potential[i], potential[j], scale, distances[i, j])
            if excess > 0.0 and i != j:
                indices[place] = j
                weights[place] = 0.5 * excess
                place += 1


@njit(cache=True, parallel=True, nogil=True, fastmath=FAST)
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


@njit(cache=True, parallel=True, nogil=True)
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


@njit(cache=True, nogil=True)
def sift(keys: Array, labels: Integers, start: int, size: int) -> None:
    """Move entry ``start`` of a heap, largest key first, down to its place; labels travel with keys."""
    key, label = keys[start], labels[start]
    parent = start
    while True:
        child = 2 * parent + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[parent], labels[parent] = keys[child], labels[child]
        parent = child
    keys[parent], labels[parent] = key, label


@njit(cache=True, parallel=True, nogil=True)
def nearest_in_rows(distances: Array, first: int, nearest: Array, labels: Integers) -> None:
    """Write the smallest distances of each row, sorted upward, and the columns they are in.

    Row i belongs to node ``first + i``, whose own entry is left out. A heap keeps the nearest, so a row costs
    O(n) and a little.
    """
    n_rows, n = distances.shape
    kept = nearest.shape[1]
    for i in prange(n_rows):
        keys, names = nearest[i], labels[i]
        size = 0
        for j in range(n):
            if j == first + i:
                continue
            if size < kept:
                keys[size], names[size] = distances[i, j], j
                size += 1
                if size == kept:
                    for start in range(kept // 2 - 1, -1, -1):
                        sift(keys, names, start, kept)
            elif distances[i, j] < keys[0]:
                keys[0], names[0] = distances[i, j], j
                sift(keys, names, 0, kept)
        for last in range(kept - 1, 0, -1):
            keys[0], keys[last] = keys[last], keys[0]
            names[0], names[last] = names[last], names[0]
            sift(keys, names, 0, last)
