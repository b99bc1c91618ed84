"""Values so far out that they decide a result alone.

How far a value is from the median is measured in spreads: the median of all differences from it that are not zero, or,
where a single one is not, the size of the median itself, at least 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .validation import Array

FAR, ABSURD = 1e3, 1e5  # spreads from the median at which a value is said aloud, and is no measurement


def far_out(values: Array, least: float) -> Iterator[tuple[int, int, float]]:
    """Yield row, column and spreads of every column's furthest value, if it is more than ``least`` spreads out."""
    for place in np.flatnonzero(_wide(values, least)).tolist():
        away = spreads_away(values[:, place])
        row = int(np.argmax(away))
        if away[row] > least:
            yield row, place, float(away[row])


def spreads_away(values: Array) -> Array:
    """Return how many spreads each value of a signal is away from the median, 0 for gaps."""
    middle = float(np.median(values[~np.isnan(values)]))
    with np.errstate(over="ignore"):  # what overflows is far out
        away = np.nan_to_num(np.abs(values - middle), nan=0.0, posinf=np.inf)
        moved = np.sort(away[away > 0])
        # The lower median: of two differences one may be the outlier's.
        spread = moved[(moved.size - 1) // 2] if moved.size > 1 else max(abs(middle), 1.0)
        found: Array = away / spread
    return found


def _wide(values: Array, least: float) -> Array:
    """Tell which signals may have a value far out at all: cheap, and nearly all signals end here."""
    with np.errstate(over="ignore"):
        deviation = np.abs(values - np.nanmedian(values, axis=0))
        return np.nanmax(deviation, axis=0) > least * np.nanmedian(deviation, axis=0)
