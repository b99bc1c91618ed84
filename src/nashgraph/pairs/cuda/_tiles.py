"""The search for pairs as a Triton kernel: a tile of scores at a time, and few of them ever leave the registers."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

ROWS, COLUMNS, WARPS, STAGES = 16, 64, 1, 3
WIDEST = 64  # signals that a tile of points takes at once
PROGRAMS, SPAN = 4096, 2048  # that keep a GPU busy, and the fewest columns worth one


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
    room = tl.load(starts + own + 1, mask=inside, other=0) - start
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
            tl.store(found + start[:, None] + places, labels, mask=(hits > 0) & (places < room[:, None]))
            count += tl.sum(hits, 1)
    tl.store(counts + own, count, mask=inside)


def spans(n_rows: int, n_columns: int) -> int:
    """Return into how many spans the columns are cut, so that few rows too keep a GPU busy."""
    return max(1, min(PROGRAMS // triton.cdiv(n_rows, ROWS), n_columns // SPAN))


def launch(rows: dict[str, Any], columns: dict[str, Any], found: Any, starts: Any, counts: Any) -> None:
    """Run the kernel: ``rows`` has points, names, left and need, ``columns`` points, names, right and base."""
    (n_rows, width), n_columns = rows["points"].shape, columns["points"].shape[1]
    span = COLUMNS * triton.cdiv(triton.cdiv(n_columns, counts.shape[1]), COLUMNS)
    append_hits[(triton.cdiv(n_rows, ROWS), counts.shape[1])](
        rows["points"],
        rows["names"],
        rows["left"],
        rows["need"],
        columns["points"],
        columns["names"],
        columns["right"],
        columns["base"],
        found,
        starts,
        counts,
        n_rows,
        n_columns,
        span,
        WIDTH=width,
        CHUNK=min(width, WIDEST),
        ROWS=ROWS,
        COLUMNS=COLUMNS,
        num_warps=WARPS,
        num_stages=STAGES,
    )
