"""Values of a table that are so far out that they would decide the result alone: said, or refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..outliers import ABSURD, FAR, far_out
from ..validation import Array, listing
from .errors import TableError


def check_outliers(values: Array, nodes: Sequence[str], signals: Sequence[str], keep: Collection[str]) -> list[str]:
    """Refuse absurd values, each signal's worst by its place, and return a note of those that are only far out."""
    far, absurd, worst = list[str](), list[str](), list[float]()
    for row, place, away in far_out(values, FAR):
        if signals[place] in keep:
            continue
        value = float(values[row, place])
        what = f"{value:.6g} at node {nodes[row]} (number {row + 1}), {signals[place]!r}, {away:.2g} times the spread"
        if away > ABSURD:
            absurd.append(what)
            worst.append(value)
        else:
            far.append(what)
    if absurd:
        raise TableError(
            f"{len(absurd)} signal(s) have a value so absurd that it would decide the result: {listing(absurd, 3)}; "
            f"correct it, take it as missing with --na {worst[0]!r}, or take the column as it is with --keep"
        )
    remedy = "beside it all others look alike: --na takes a value as missing, --drop leaves a column out"
    return [f"far out: {listing(far, 3)}; {remedy}"] if far else []
