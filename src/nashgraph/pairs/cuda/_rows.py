"""Triton kernels on listed pairs: distances, projections of rows and products, each in one go.

They do what PyTorch does elsewhere with one array after the other; sums are taken in the same order every time.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

PAIRS, SIGNALS = 128, 16
LISTS = 1, 256, 1  # rows, candidates of each at a time, and warps of a program that projects
LONG_LIST, LONG_LISTS = 1024, (1, 4096, 16)
FEW_ROWS, SHORT = 32, 16  # a tile of short rows in a product
BLOCK = 1024  # entries of a long row taken at a time


@triton.jit(do_not_specialize=["n_pairs"])
def measure(points, rows, columns, found, n_pairs, width, PAIRS: tl.constexpr, SIGNALS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Write the squared distance of each pair, by differences."""
    pair = tl.program_id(0).to(tl.int64) * PAIRS + tl.arange(0, PAIRS)
    there = pair < n_pairs
    here = tl.load(rows + pair, mask=there, other=0).to(tl.int64) * width
    other = tl.load(columns + pair, mask=there, other=0).to(tl.int64) * width
    total = tl.zeros((PAIRS,), points.dtype.element_ty)
    for first in range(0, width, SIGNALS):
        k = first + tl.arange(0, SIGNALS)
        mask = there[:, None] & (k < width)[None, :]
        apart = tl.load(points + here[:, None] + k[None, :], mask=mask, other=0.0)
        apart -= tl.load(points + other[:, None] + k[None, :], mask=mask, other=0.0)
        total += tl.sum(apart * apart, 1)
    tl.store(found + pair, total, mask=there)


@triton.jit
def listed_scores(costs, columns, right, bonus, start, k, there):  # type: ignore[no-untyped-def]
    """Return the scores ``l_i r_j - D_ij`` of some entries of rows, minus infinity where there is none."""
    place = start[:, None] + k[None, :]
    j = tl.load(columns + place, mask=there, other=0)
    gained = bonus[:, None] * tl.load(right + j, mask=there, other=0.0)
    return tl.where(there, gained - tl.load(costs + place, mask=there, other=0.0).to(tl.float64), -float("inf"))


@triton.jit(do_not_specialize=["n_names"])
def project_tile(  # type: ignore[no-untyped-def]
    costs,
    columns,
    left,
    right,
    starts,
    lengths,
    numbers,
    names,
    n_names,
    edges,
    weights,
    counts,
    tops,
    aboves,
    ROWS: tl.constexpr,
    LISTED: tl.constexpr,
):
    """Project rows of scores onto the simplex: Michelot's algorithm; edges are written from each row's start on.

    The best entry has a weight of at most the sum wanted, which says at once that most others have none. Scores are
    computed again in every round: they come from the nearest cache, and rows may be as long as they are.
    """
    number = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = number < n_names
    i = tl.load(names + number, mask=inside, other=0)
    start = tl.load(starts + i, mask=inside, other=0)
    length = tl.load(lengths + i, mask=inside, other=0).to(tl.int32)
    longest = tl.max(length, 0)
    gain, wanted = tl.load(numbers), tl.load(numbers + 1)
    bonus = tl.load(left + i, mask=inside, other=0.0)
    within = tl.arange(0, LISTED)
    best = tl.full((ROWS, LISTED), -float("inf"), tl.float64)
    for first in range(0, longest, LISTED):
        k = first + within
        there = k[None, :] < length[:, None]
        best = tl.maximum(best, listed_scores(costs, columns, right, bonus, start, k, there))
    top = tl.where(length > 0, tl.max(best, 1), 0.0)
    above = tl.zeros((ROWS,), tl.float64) + wanted
    count = length + 1
    left_over = longest * 0 + 1
    while left_over > 0:
        sums = tl.zeros((ROWS, LISTED), tl.float64)
        kept = tl.zeros((ROWS, LISTED), tl.int32)
        for first in range(0, longest, LISTED):
            k = first + within
            there = k[None, :] < length[:, None]
            values = gain * (listed_scores(costs, columns, right, bonus, start, k, there) - top[:, None])
            alive = values + above[:, None] > 0.0
            sums += tl.where(alive, values, 0.0)
            kept += alive.to(tl.int32)
        now = tl.sum(kept, 1)
        fewer = (now < count) & (now > 0)
        above = tl.where(fewer, (wanted - tl.sum(sums, 1)) / tl.maximum(now, 1), above)
        count = tl.where(fewer, now, count)
        left_over = tl.max(fewer.to(tl.int32), 0)
    written = tl.zeros((ROWS,), tl.int32)
    for first in range(0, longest, LISTED):
        k = first + within
        there = k[None, :] < length[:, None]
        values = gain * (listed_scores(costs, columns, right, bonus, start, k, there) - top[:, None])
        alive = (values + above[:, None] > 0.0).to(tl.int32)
        places = start[:, None] + written[:, None] + tl.cumsum(alive, 1) - alive
        tl.store(edges + places, tl.broadcast_to(k[None, :], (ROWS, LISTED)), mask=alive > 0)
        tl.store(weights + places, values + above[:, None], mask=alive > 0)
        written += tl.sum(alive, 1)
    tl.store(counts + i, written, mask=inside)
    tl.store(tops + i, top, mask=inside)
    tl.store(aboves + i, above, mask=inside)


@triton.jit(do_not_specialize=["n_names"])
def multiply(  # type: ignore[no-untyped-def]
    starts, columns, weights, vector, names, product, n_names, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """Write the product of some rows and a vector."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = i < n_names
    name = tl.load(names + i, mask=inside, other=0)
    start = tl.load(starts + name, mask=inside, other=0)
    end = tl.load(starts + name + 1, mask=inside, other=0)
    sums = tl.zeros((ROWS, BLOCK), weights.dtype.element_ty)
    for first in range(0, tl.max(end - start, 0).to(tl.int32), BLOCK):
        k = start[:, None] + first + tl.arange(0, BLOCK)[None, :]
        there = k < end[:, None]
        j = tl.load(columns + k, mask=there, other=0)
        sums += tl.load(weights + k, mask=there, other=0.0) * tl.load(vector + j, mask=there, other=0.0)
    tl.store(product + name, tl.sum(sums, 1), mask=inside)


def distances(points: Any, rows: Any, columns: Any, found: Any) -> None:
    """Fill ``found`` with the squared distances of pairs."""
    if len(rows):
        grid = (triton.cdiv(len(rows), PAIRS),)
        measure[grid](
            points, rows, columns, found, len(rows), points.shape[1], PAIRS=PAIRS, SIGNALS=SIGNALS, num_warps=4
        )


def project_listed(listed: tuple[Any, ...], sides: tuple[Any, Any], numbers: Any, found: tuple[Any, ...]) -> None:
    """Project every row: ``listed`` has starts, lengths, columns and costs, ``numbers`` the gain and the sum wanted.

    ``found`` is filled with edges (places in the row) and weights, from each row's start on, counts, tops and aboves.
    """
    starts, lengths, columns, costs = listed
    long = lengths > LONG_LIST
    for names, (rows, block, warps) in ((long.nonzero().ravel(), LONG_LISTS), ((~long).nonzero().ravel(), LISTS)):
        if len(names):
            project_tile[(triton.cdiv(len(names), rows),)](
                costs,
                columns,
                *sides,
                starts,
                lengths,
                numbers,
                names,
                len(names),
                *found,
                ROWS=rows,
                LISTED=block,
                num_warps=warps,
            )


def multiply_rows(given: tuple[Any, ...], classes: tuple[Any, Any], vector: Any, product: Any) -> None:
    """Fill ``product`` with that of rows (starts, columns, weights) and a vector; ``classes``: short and long rows."""
    for names, rows, block, warps in zip(classes, (FEW_ROWS, 1), (SHORT, BLOCK), (4, 8), strict=True):
        if len(names):
            grid = (triton.cdiv(len(names), rows),)
            multiply[grid](*given, vector, names, product, len(names), ROWS=rows, BLOCK=block, num_warps=warps)
