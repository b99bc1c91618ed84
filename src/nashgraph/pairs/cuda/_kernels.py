"""Triton kernels: the search for pairs, a tile of scores at a time, and rows of candidates, each in one go.

They do what PyTorch does elsewhere with one array after the other; sums are taken in the same order every time.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

# of a tile of scores; benchmarks/gpu.py --sweep times others
ROWS = 16
COLUMNS = 64
WARPS = 1
STAGES = 3
WIDEST = 64  # signals that a tile of points takes at once
# that keep a GPU busy, and the fewest columns worth one
PROGRAMS = 4096
SPAN = 2048
LISTS = 1, 256, 1  # rows, candidates of each at a time, and warps of a program that projects
LONG_LIST = 1024
LONG_LISTS = (1, 4096, 16)
# a tile of short rows in a product
FEW_ROWS = 32
SHORT = 16
BLOCK = 1024  # entries of a long row taken at a time


@triton.jit(do_not_specialize=["n_rows"])
def append_hits(  # type: ignore[no-untyped-def]
    rows,
    row_names,
    left,
    need,
    columns,
    column_names,
    right,
    base,
    found,
    starts,
    counts,
    n_rows,
    n_columns,
    span,
    WIDTH: tl.constexpr,
    CHUNK: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Write the columns of score ``l_i r_j + <a_i, b_j> - base_j >= need_i`` of each row, in order, and their number.

    ``rows`` are the a_i, one after the other; ``columns`` the b_j, one signal after the other. A program has its rows
    for itself, and a span of the columns where rows are few, so that it counts alone and the order is the same every
    time. ``starts`` says where each row's places of each span begin and end; beyond them it counts only.
    """
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = i < n_rows
    place_of_row = i.to(tl.int64)
    k = tl.arange(0, CHUNK)
    who = tl.load(row_names + i, mask=inside, other=-1)
    bonus = tl.load(left + i, mask=inside, other=0.0)
    least = tl.load(need + i, mask=inside, other=float("inf"))
    a = tl.load(rows + place_of_row[:, None] * WIDTH + k[None, :], mask=inside[:, None], other=0.0)
    count = tl.zeros((ROWS,), tl.int32)
    own = place_of_row * tl.num_programs(1) + tl.program_id(1)
    start = tl.load(starts + own, mask=inside, other=0)
    capacity = tl.load(starts + own + 1, mask=inside, other=0) - start
    begin = tl.program_id(1) * span
    end = tl.minimum(begin + span, n_columns)
    for first in range(begin, end, COLUMNS):
        j = first + tl.arange(0, COLUMNS)
        there = j < end
        signals = columns + k.to(tl.int64)[:, None] * n_columns + j[None, :]
        b = tl.load(signals, mask=there[None, :], other=0.0)
        scores = tl.dot(a, b, input_precision="tf32x3")
        for more in tl.static_range(CHUNK, WIDTH, CHUNK):
            aa = tl.load(rows + place_of_row[:, None] * WIDTH + more + k[None, :], mask=inside[:, None], other=0.0)
            bb = tl.load(signals + more * tl.cast(n_columns, tl.int64), mask=there[None, :], other=0.0)
            scores = tl.dot(aa, bb, scores, input_precision="tf32x3")
        r = tl.load(right + j, mask=there, other=0.0)
        scores += bonus[:, None] * r[None, :] - tl.load(base + j, mask=there, other=float("inf"))[None, :]
        hits = (scores >= least[:, None]).to(tl.int32)
        if tl.max(tl.max(hits, 1), 0) > 0:
            names = tl.load(column_names + j, mask=there, other=-1)
            hits = tl.where((names[None, :] == who[:, None]) | (names[None, :] < 0), 0, hits)
            places = count[:, None] + tl.cumsum(hits, 1) - hits
            labels = tl.broadcast_to(names[None, :], (ROWS, COLUMNS))
            tl.store(found + start[:, None] + places, labels, mask=(hits > 0) & (places < capacity[:, None]))
            count += tl.sum(hits, 1)
    tl.store(counts + own, count, mask=inside)


def spans(n_rows: int, n_columns: int) -> int:
    """Return into how many spans the columns are cut, so that few rows too keep a GPU busy."""
    return max(1, min(PROGRAMS // triton.cdiv(n_rows, ROWS), n_columns // SPAN))


def launch(rows: tuple[Any, ...], columns: tuple[Any, ...], found: Any, starts: Any, counts: Any) -> None:
    """Run the kernel: ``rows`` are points, names, left and need, ``columns`` points, names, right and base."""
    (n_rows, width), n_columns, n_spans = rows[0].shape, columns[0].shape[1], counts.shape[1]
    sizes = n_rows, n_columns, COLUMNS * triton.cdiv(triton.cdiv(n_columns, n_spans), COLUMNS)
    fixed = {"WIDTH": width, "CHUNK": min(width, WIDEST), "ROWS": ROWS, "COLUMNS": COLUMNS}
    grid = triton.cdiv(n_rows, ROWS), n_spans
    append_hits[grid](*rows, *columns, found, starts, counts, *sizes, **fixed, num_warps=WARPS, num_stages=STAGES)


@triton.jit
def candidate_scores(costs, columns, right, bonus, start, k, there):  # type: ignore[no-untyped-def]
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
    CHUNKED: tl.constexpr,
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
    gain = tl.load(numbers)
    wanted = tl.load(numbers + 1)
    bonus = tl.load(left + i, mask=inside, other=0.0)
    within = tl.arange(0, CHUNKED)
    best = tl.full((ROWS, CHUNKED), -float("inf"), tl.float64)
    for first in range(0, longest, CHUNKED):
        k = first + within
        there = k[None, :] < length[:, None]
        best = tl.maximum(best, candidate_scores(costs, columns, right, bonus, start, k, there))
    top = tl.where(length > 0, tl.max(best, 1), 0.0)
    above = tl.zeros((ROWS,), tl.float64) + wanted
    count = length + 1
    left_over = longest * 0 + 1
    while left_over > 0:
        sums = tl.zeros((ROWS, CHUNKED), tl.float64)
        kept = tl.zeros((ROWS, CHUNKED), tl.int32)
        for first in range(0, longest, CHUNKED):
            k = first + within
            there = k[None, :] < length[:, None]
            values = gain * (candidate_scores(costs, columns, right, bonus, start, k, there) - top[:, None])
            alive = values + above[:, None] > 0.0
            sums += tl.where(alive, values, 0.0)
            kept += alive.to(tl.int32)
        now = tl.sum(kept, 1)
        fewer = (now < count) & (now > 0)
        above = tl.where(fewer, (wanted - tl.sum(sums, 1)) / tl.maximum(now, 1), above)
        count = tl.where(fewer, now, count)
        left_over = tl.max(fewer.to(tl.int32), 0)
    written = tl.zeros((ROWS,), tl.int32)
    for first in range(0, longest, CHUNKED):
        k = first + within
        there = k[None, :] < length[:, None]
        values = gain * (candidate_scores(costs, columns, right, bonus, start, k, there) - top[:, None])
        alive = (values + above[:, None] > 0.0).to(tl.int32)
        places = start[:, None] + written[:, None] + tl.cumsum(alive, 1) - alive
        tl.store(edges + places, tl.broadcast_to(k[None, :], (ROWS, CHUNKED)), mask=alive > 0)
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


def project_candidates(
    candidates: tuple[Any, ...], sides: tuple[Any, Any], numbers: Any, found: tuple[Any, ...]
) -> None:
    """Project every row: ``candidates`` has starts, lengths, columns and costs, ``numbers`` the gain and the sum.

    ``found`` is filled with edges (places in the row) and weights, from each row's start on, counts, tops and aboves.
    """
    starts, lengths, columns, costs = candidates
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
                CHUNKED=block,
                num_warps=warps,
            )


def multiply_rows(given: tuple[Any, ...], classes: tuple[Any, Any], vector: Any, product: Any) -> None:
    """Fill ``product`` with that of rows (starts, columns, weights) and a vector; ``classes``: short and long rows."""
    for names, rows, block, warps in zip(classes, (FEW_ROWS, 1), (SHORT, BLOCK), (4, 8), strict=True):
        if len(names):
            grid = (triton.cdiv(len(names), rows),)
            multiply[grid](*given, vector, names, product, len(names), ROWS=rows, BLOCK=block, num_warps=warps)
