"""Numba kernels on pairs of CSR matrices whose indices are sorted: rows are merged, and shared among threads."""

from __future__ import annotations

from numba import prange

from ..compiled import kernel
from ..validation import Array


@kernel(parallel=True)
def multiply_rows(
    pointers: Array, indices: Array, data: Array, others: Array, other_indices: Array, other_data: Array, out: Array
) -> None:
    """Write the inner products of like rows."""
    for i in prange(len(out)):
        k, other = pointers[i], others[i]
        product = 0.0
        while k < pointers[i + 1] and other < others[i + 1]:
            if indices[k] == other_indices[other]:
                product += data[k] * other_data[other]
                k += 1
                other += 1
            elif indices[k] < other_indices[other]:
                k += 1
            else:
                other += 1
        out[i] = product


@kernel(parallel=True)
def subtract_rows(
    pointers: Array, indices: Array, data: Array, others: Array, other_indices: Array, other_data: Array, out: Array
) -> None:
    """Write the squared distances of like rows."""
    for i in prange(len(out)):
        k, other = pointers[i], others[i]
        square = 0.0
        while k < pointers[i + 1] or other < others[i + 1]:
            difference = 0.0
            ours = other == others[i + 1] or (k < pointers[i + 1] and indices[k] <= other_indices[other])
            theirs = k == pointers[i + 1] or (other < others[i + 1] and indices[k] >= other_indices[other])
            if ours:
                difference += data[k]
                k += 1
            if theirs:
                difference -= other_data[other]
                other += 1
            square += difference * difference
        out[i] = square


@kernel(parallel=True)
def join_rows(
    pointers: Array, indices: Array, others: Array, other_indices: Array, starts: Array, out: Array, lengths: Array
) -> None:
    """Write the columns that either has, row i from ``starts[i]`` on, and how many they are."""
    for i in prange(len(lengths)):
        k, other, place = pointers[i], others[i], starts[i]
        while k < pointers[i + 1] and other < others[i + 1]:
            ours, theirs = indices[k], other_indices[other]
            out[place] = min(ours, theirs)
            place += 1
            k += ours <= theirs
            other += theirs <= ours
        while k < pointers[i + 1]:
            out[place] = indices[k]
            place += 1
            k += 1
        while other < others[i + 1]:
            out[place] = other_indices[other]
            place += 1
            other += 1
        lengths[i] = place - starts[i]


@kernel(parallel=True)
def close_up(starts: Array, values: Array, pointers: Array, out: Array) -> None:
    """Copy the rows that begin at ``starts`` to where they follow one another."""
    for i in prange(len(starts)):
        length = pointers[i + 1] - pointers[i]
        out[pointers[i] : pointers[i + 1]] = values[starts[i] : starts[i] + length]
