"""What is done on listed pairs as Triton kernels: distances, projections of rows and products, each in one go.

They do what PyTorch does elsewhere with one array after the other; sums are taken in the same order every time.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

PAIRS, SIGNALS = 128, 16
LISTED = 256  # candidates of a row taken at a time
FEW_ROWS, SHORT = 16, 32  # a tile of short rows in a product
BLOCK = 1024  # entries of a long row taken at a time


@triton.jit
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
    """Return ``l_i r_j - D_ij`` of some entries of a row, nothing where there is none."""
    j = tl.load(columns + start + k, mask=there, other=0)
    gained = bonus * tl.load(right + j, mask=there, other=0.0)
    return gained - tl.load(costs + start + k, mask=there, other=0.0).to(tl.float64)


@triton.jit
def project_row(  # type: ignore[no-untyped-def]
    costs,
    columns,
    left,
    right,
    starts,
    lengths,
    numbers,
    edges,
    weights,
    counts,
    tops,
    aboves,
    LISTED: tl.constexpr,
):
    """Project a row's scores onto the simplex: Michelot's algorithm; edges are written from the row's start on.

    Scores are computed again in every round: they come from the nearest cache, and rows may be as long as they are.
    """
    i = tl.program_id(0).to(tl.int64)
    start, length = tl.load(starts + i), tl.load(lengths + i).to(tl.int32)
    gain, sum_wanted = tl.load(numbers), tl.load(numbers + 1)
    bonus = tl.load(left + i)
    within = tl.arange(0, LISTED)
    best = tl.full((LISTED,), -float("inf"), tl.float64)
    for first in range(0, length, LISTED):
        k = first + within
        scores = listed_scores(costs, columns, right, bonus, start, k, k < length)
        best = tl.where(k < length, tl.maximum(best, scores), best)
    top = tl.max(best, 0)
    above = sum_wanted * float("inf")
    before, count = length + 2, length + 1
    while count < before:
        sums = tl.zeros((LISTED,), tl.float64)
        kept = tl.zeros((LISTED,), tl.int32)
        for first in range(0, length, LISTED):
            k = first + within
            values = gain * (listed_scores(costs, columns, right, bonus, start, k, k < length) - top)
            alive = (k < length) & (values + above > 0.0)
            sums += tl.where(alive, values, 0.0)
            kept += alive.to(tl.int32)
        before = count
        count = tl.sum(kept, 0)
        above = tl.where(count < before, (sum_wanted - tl.sum(sums, 0)) / count, above)
    written = count * 0
    for first in range(0, length, LISTED):
        k = first + within
        values = gain * (listed_scores(costs, columns, right, bonus, start, k, k < length) - top)
        alive = ((k < length) & (values + above > 0.0)).to(tl.int32)
        places = start + written + tl.cumsum(alive, 0) - alive
        tl.store(edges + places, k, mask=alive > 0)
        tl.store(weights + places, values + above, mask=alive > 0)
        written += tl.sum(alive, 0)
    tl.store(counts + i, written)
    tl.store(tops + i, top)
    tl.store(aboves + i, above)


@triton.jit
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
    project_row[(len(lengths),)](
        costs, columns, *sides, starts, lengths, numbers, *found, LISTED=LISTED, num_warps=1
    )


def multiply_rows(given: tuple[Any, ...], classes: tuple[Any, Any], vector: Any, product: Any) -> None:
    """Fill ``product`` with that of rows (starts, columns, weights) and a vector; ``classes`` are short and long ones."""
    for names, rows, block, warps in zip(classes, (FEW_ROWS, 1), (SHORT, BLOCK), (4, 8), strict=True):
        if len(names):
            grid = (triton.cdiv(len(names), rows),)
            multiply[grid](
                *given, vector, names, product, len(names), ROWS=rows, BLOCK=block, num_warps=warps
            )
