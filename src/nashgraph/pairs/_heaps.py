"""Numba kernels of a heap, largest key first, whose labels travel with its keys."""

from __future__ import annotations

from ..compiled import kernel
from ..validation import Array


@kernel()
def sift_down(keys: Array, labels: Array, start: int, size: int) -> None:
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


@kernel()
def make_heap(keys: Array, labels: Array, size: int) -> None:
    """Order the first ``size`` entries as a heap with its largest key first."""
    for start in range(size // 2 - 1, -1, -1):
        sift_down(keys, labels, start, size)


@kernel()
def heap_sort(keys: Array, labels: Array, size: int) -> None:
    """Sort the first ``size`` keys upward in place; numpy's sort in a kernel costs seconds of compilation."""
    make_heap(keys, labels, size)
    for last in range(size - 1, 0, -1):
        keys[0], keys[last] = keys[last], keys[0]
        labels[0], labels[last] = labels[last], labels[0]
        sift_down(keys, labels, 0, last)
