"""Missing answers: the codes that stand for them (docs/guide/tables.md has the rules), and how gaps are filled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..validation import Array

# 99, 98, 97, 999, ... 99997, and the doubled ones.
NUMBERS = np.array([10**digits - k for digits in range(2, 6) for k in (1, 2, 3)] + [77, 88, 777, 888])

BLOCK = 256  # nodes whose gaps are filled at a time: their distances to 50,000 others take 100 MB
TIED = 1e-9  # squared distances, for each signal and in units of its spread, that differ by less are equal

Names = Sequence[str] | Array


def written(cell: object) -> str:
    """Return a cell as codes are compared: without blanks around it, in small letters."""
    return str(cell).strip().casefold()


def plain_codes(values: Array) -> list[float]:
    """Return the numbers in a column that plainly are codes for a gap: -99 where no other is negative, 99 far out."""
    seen = np.unique(values[np.isfinite(values)])
    coded = np.isin(np.abs(seen), NUMBERS)
    others = seen[~(coded & (seen < 0))]
    if not coded.any() or (seen % 1).any():
        return []
    if others.size > 1 and others[0] >= 0:
        found = [float(value) for value in seen[coded & (seen < 0)]]
    else:
        found = []
    # From the top down: 99 is as far out as 98 lets it be.
    others = seen[~(coded & (seen > 0)) & ~np.isin(seen, found)]
    if others.size > 1:
        reach = max(1.0, float(others[-1] - others[0]))
        found += [float(value) for value in seen[coded & (seen > 0)] if value - others[-1] > 3 * reach]
    return found


def stray_codes(values: Array) -> list[float]:
    """Return 9, and 7 and 8 with it, where they stand apart from a short scale: 1 to 5 at most, or 0 and 1."""
    seen, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    short = seen < 7
    if counts[short].sum() < max(10, 3 * int(counts[~short].sum())):
        return []  # too few to tell a scale, or too many to be a code
    scale = seen[short]
    strays = seen[~short]
    if not np.isin(strays, (7.0, 8.0, 9.0)).all() or 9.0 not in strays:
        return []
    if scale[0] != 1.0 and scale.tolist() != [0.0, 1.0]:
        return []  # from 0 up it may be a count
    whole = (np.diff(scale) == 1.0).all() and strays[0] - scale[-1] > 2.0
    return [float(value) for value in strays] if whole else []


def filled(values: Array, centre: Array, spread: Array) -> tuple[Array, str]:
    """Return values with every gap filled by the mean of the nearest nodes that have a value; signals count equally.

    Nodes that are equally near share the last places, so that the order of rows and columns changes nothing. A node
    that has no signal in common with those gets the mean of all.
    """
    # Here, because it imports most of SciPy, which takes longer than reading a table.
    from sklearn.metrics.pairwise import nan_euclidean_distances  # noqa: PLC0415

    gaps = np.isnan(values)
    nearest = 5
    scaled = (values - centre) / spread
    found = values.copy()
    rounding = TIED * values.shape[1]
    some = np.flatnonzero(gaps.any(axis=1))
    for first in range(0, len(some), BLOCK):
        nodes = some[first : first + BLOCK]
        away = nan_euclidean_distances(scaled[nodes], scaled, squared=True)
        away[np.isnan(away)] = np.inf
        for signal in np.flatnonzero(gaps[nodes].any(axis=0)):
            lacking = gaps[nodes, signal]
            known = ~gaps[:, signal]
            near = away[lacking][:, known]
            found[nodes[lacking], signal] = mean_of_nearest(near, values[known, signal], nearest, rounding)
    note = (
        f"filled {gaps.sum()} gap(s) in {gaps.any(axis=0).sum()} signal(s), each with the mean of the {nearest} "
        "nearest nodes that have a value"
    )
    return found, note


def mean_of_nearest(distances: Array, values: Array, nearest: int, rounding: float) -> Array:
    """Return each row's mean of its nearest columns' values; columns as far as the last one share its place."""
    count = np.minimum(nearest, np.isfinite(distances).sum(axis=1))
    ordered = np.sort(np.partition(distances, min(nearest, distances.shape[1]) - 1, axis=1)[:, :nearest], axis=1)
    last = np.take_along_axis(ordered, np.maximum(count, 1)[:, None] - 1, axis=1)
    nearer = distances < last - rounding
    tied = np.isfinite(distances) & ~nearer & (distances <= last + rounding)
    shared = (count - nearer.sum(axis=1)) * (tied @ values) / np.maximum(tied.sum(axis=1), 1)
    means: Array = np.where(count > 0, (nearer @ values + shared) / np.maximum(count, 1), values.mean())
    return means
