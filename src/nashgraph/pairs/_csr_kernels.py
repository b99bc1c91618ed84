"""Numba kernels on CSR matrices, and on pairs of them whose indices are sorted; rows are shared among threads.

Products and transposes take indices and pointers as unsigned numbers: to look whether an index is negative, and counts
from the end, takes half of the time of a product.
"""

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
    """Copy the spans that begin at ``starts`` to where they follow one another."""
    for i in prange(len(starts)):
        length = pointers[i + 1] - pointers[i]
        out[pointers[i] : pointers[i + 1]] = values[starts[i] : starts[i] + length]


@kernel(parallel=True)
def apply_rows(ends: Array, pointers: Array, indices: Array, data: Array, vector: Array, out: Array) -> None:
    """Write the product with a vector, each sum in the order of its row; a run of rows begins where the last ends."""
    for run in prange(len(ends) - 1):
        for i in range(ends[run], ends[run + 1]):
            total = out.dtype.type(0)
            for k in range(pointers[i], pointers[i + 1]):
                total += data[k] * vector[indices[k]]
            out[i] = total


@kernel(parallel=True)
def turn_rows(
    pointers: Array, indices: Array, data: Array, places: Array, starts: Array, rows: Array, values: Array
) -> None:
    """Write the transposed matrix, each of its rows sorted.

    As many runs of rows as ``places`` has are counted and placed by themselves. (k, j) of it first is how many entries
    of column j run k has, and then where its next one goes; ``starts`` begins with a zero.
    """
    n, columns = len(pointers) - 1, len(starts) - 1
    parts = len(places)
    for part in prange(parts):
        count = places[part]
        count[:] = 0
        for k in range(pointers[part * n // parts], pointers[(part + 1) * n // parts]):
            count[indices[k]] += 1
    for j in prange(columns):
        total = 0
        for part in range(parts):
            total += places[part, j]
        starts[j + 1] = total
    for j in range(columns):
        starts[j + 1] += starts[j]
    for j in prange(columns):
        place = starts[j]
        for part in range(parts):
            length = places[part, j]
            places[part, j] = place
            place += length
    for part in prange(parts):
        following = places[part]
        for i in range(part * n // parts, (part + 1) * n // parts):
            for k in range(pointers[i], pointers[i + 1]):
                place = following[indices[k]]
                rows[place], values[place] = i, data[k]
                following[indices[k]] += 1


@kernel(parallel=True)
def copy_rows(
    source: Array,
    pointers: Array,
    indices: Array,
    data: Array,
    new_pointers: Array,
    new_indices: Array,
    new_data: Array,
    out_pointers: Array,
    out_indices: Array,
    out_data: Array,
) -> None:
    """Copy row i from row ``source[i]`` of the new matrix, or from row i of the old one where that is negative."""
    for i in prange(len(source)):
        place = out_pointers[i]
        if source[i] >= 0:
            for k in range(new_pointers[source[i]], new_pointers[source[i] + 1]):
                out_indices[place], out_data[place] = new_indices[k], new_data[k]
                place += 1
        else:
            for k in range(pointers[i], pointers[i + 1]):
                out_indices[place], out_data[place] = indices[k], data[k]
                place += 1
