"""Values so far out that they decide the result alone: said, or refused.

How far a value is from the median is measured in spreads: the median of all differences from it that are not zero, or,
where a single one is not, the size of the median itself, 1 at the least.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ..validation import Array, listing
from .errors import TableError

FAR, ABSURD = 1e3, 1e5  # spreads from the median at which a value is said aloud, and refused


def spreads_away(values: Array) -> Array:
    """Return how many spreads each value of a signal is away from the median, 0 for gaps.

    Examples
    --------
    >>> spreads_away(np.array([1.0, 2.0, 3.0, 1e9])).round()
    array([3.e+00, 1.e+00, 1.e+00, 2.e+09])
    """
    middle = float(np.median(values[~np.isnan(values)]))
    with np.errstate(over="ignore"):  # what overflows is far out
        away = np.nan_to_num(np.abs(values - middle), nan=0.0, posinf=np.inf)
        moved = np.sort(away[away > 0])
        # The lower median: of two differences one may be the outlier's.
        spread = moved[(moved.size - 1) // 2] if moved.size > 1 else max(abs(middle), 1.0)
        found: Array = away / spread
    return found


def check_outliers(values: Array, nodes: Sequence[str], signals: Sequence[str], keep: Collection[str]) -> list[str]:
    """Refuse absurd values, each signal's worst by its place, and return a note of those that are only far out."""
    far, absurd, worst = list[str](), list[str](), list[float]()
    for place in np.flatnonzero(_wide(values)).tolist():
        away = spreads_away(values[:, place])
        row = int(np.argmax(away))
        if away[row] <= FAR or signals[place] in keep:
            continue
        value = float(values[row, place])
        what = (
            f"{value:.6g} at node {nodes[row]} (number {row + 1}), {signals[place]!r}, {away[row]:.2g} times the spread"
        )
        if away[row] > ABSURD:
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


def _wide(values: Array) -> Array:
    """Tell which signals may have a value far out at all: cheap, and nearly all signals end here."""
    deviation = np.abs(values - np.nanmedian(values, axis=0))
    return np.nanmax(deviation, axis=0) > FAR * np.nanmedian(deviation, axis=0)
