"""Numba kernels that select the smallest of a row, and the one rule that chooses among equals.

Answers to surveys repeat, so a node often has more equally near others than are wanted. If the order of rows chose
among them, the first rows would be everybody's neighbours. Instead a hash of the two nodes does: :func:`pair_chance`,
the same for i and j as for j and i, on every engine and in every order of rows.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from ..compiled import kernel
from ..validation import Array

CHANCE_SHIFT = 43  # of 64 bits of a product of two nodes' numbers, the highest 21 are used
MOST_CHANCE = 1 << 21


@cache
def node_draws(n_nodes: int) -> Array:
    """Return a random odd number of 64 bits for each node, always the same (the finalizer of SplitMix64)."""
    mixed = np.arange(1, n_nodes + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31)) | np.uint64(1)


@kernel()
def pair_chance(one: Any, other: Any) -> Any:
    """Return a hash of a pair, from 0 to 2^21, of its nodes' draws: the smaller comes first among equal costs.

    In a few of 10,000 rows two hashes are equal, and engines may differ.
    """
    return np.int64((one * other) >> np.uint64(CHANCE_SHIFT))


@kernel()
def comes_first(key: float, chance: int, other_key: float, other_chance: int) -> bool:
    """Tell whether a key comes before another: it is smaller, or chance chooses it among equals."""
    return key < other_key or (key == other_key and chance < other_chance)


@kernel()
def sift_down(keys: Array, chances: Array, labels: Array, start: int, size: int) -> None:
    """Move entry ``start`` of a heap, last key first, down to its place; chances and labels travel with keys."""
    key = keys[start]
    chance = chances[start]
    label = labels[start]
    parent = start
    while True:
        child = 2 * parent + 1
        if child >= size:
            break
        right = child + 1
        if right < size and comes_first(keys[child], chances[child], keys[right], chances[right]):
            child = right
        if not comes_first(key, chance, keys[child], chances[child]):
            break
        keys[parent], chances[parent], labels[parent] = keys[child], chances[child], labels[child]
        parent = child
    keys[parent], chances[parent], labels[parent] = key, chance, label


@kernel()
def make_heap(keys: Array, chances: Array, labels: Array, size: int) -> None:
    """Order the first ``size`` entries as a heap with its last key first."""
    for start in range(size // 2 - 1, -1, -1):
        sift_down(keys, chances, labels, start, size)


@kernel()
def push(keys: Array, chances: Array, labels: Array, size: int, key: float, chance: int, label: int) -> int:
    """Put a key among the smallest, a heap once they fill their places; return how many places are filled."""
    if size < len(keys):
        keys[size], chances[size], labels[size] = key, chance, label
        size += 1
        if size == len(keys):
            make_heap(keys, chances, labels, size)
    elif comes_first(key, chance, keys[0], chances[0]):
        keys[0], chances[0], labels[0] = key, chance, label
        sift_down(keys, chances, labels, 0, size)
    return size


@kernel()
def heap_sort(keys: Array, chances: Array, labels: Array, size: int) -> None:
    """Sort the first ``size`` keys upward in place; numpy's sort in a kernel costs seconds of compilation."""
    make_heap(keys, chances, labels, size)
    for last in range(size - 1, 0, -1):
        keys[0], keys[last] = keys[last], keys[0]
        chances[0], chances[last] = chances[last], chances[0]
        labels[0], labels[last] = labels[last], labels[0]
        sift_down(keys, chances, labels, 0, last)


@kernel()
def nearest_in_rows(costs: Array, nodes: Array, draws: Array, nearest: Array, labels: Array) -> None:
    """Write the smallest costs of each row, sorted upward, and their columns; ``nodes[i]`` is row i's own.

    Without ``draws`` any of several equals may be among them.
    """
    count = nearest.shape[1]
    chances = np.zeros(count, np.int64)
    by_chance = len(draws) > 0
    for i in range(len(costs)):
        row = costs[i]
        keys = nearest[i]
        names = labels[i]
        size = 0
        chance = 0
        for j in range(len(row)):
            if (size < count or row[j] <= keys[0]) and j != nodes[i]:
                if by_chance:
                    chance = pair_chance(draws[nodes[i]], draws[j])
                size = push(keys, chances, names, size, row[j], chance, j)
        heap_sort(keys, chances, names, count)


@kernel(parallel=True)
def sort_pairs(costs: Array, labels: Array, draws: Array) -> None:
    """Sort the pairs of every node by cost, in place; row i belongs to node i, ``labels`` are the others."""
    for i in prange(len(costs)):
        chances = np.empty(costs.shape[1], np.int64)
        for k in range(len(chances)):
            chances[k] = pair_chance(draws[i], draws[labels[i, k]])
        heap_sort(costs[i], chances, labels[i], len(chances))
