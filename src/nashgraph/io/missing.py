"""Missing answers: the codes that stand for them (docs/guide/tables.md has the rules), and how gaps are filled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .columns import among, is_text
from .errors import TableError
from .names import chosen_column
from .vocabulary import NO_ANSWER

# 99, 98, 97, 999, ... 99997, and the doubled ones.
NUMBERS = np.array([10**digits - k for digits in range(2, 6) for k in (1, 2, 3)] + [77, 88, 777, 888])

BLOCK = 256  # nodes whose gaps are filled at a time: their distances to 50,000 others take 100 MB
TIED = 1e-9  # squared distances, for each signal and in units of its spread, that differ by less are equal

Names = Sequence[str] | Array


@dataclass(frozen=True)
class GapCodes:
    """The codes of missing values: in all columns, in single ones, and whether obvious codes count as well."""

    anywhere: frozenset[str]
    within: dict[str, frozenset[str]]
    plain: bool

    @property
    def words(self) -> frozenset[str]:
        """Words that are gaps in every column."""
        return NO_ANSWER if self.plain else frozenset()

    def emptied(self, column: pd.Series) -> pd.Series:
        """Return a column with the given codes as gaps."""
        codes = self.anywhere | self.within.get(str(column.name), frozenset())
        if not codes:
            return column
        values = pd.to_numeric(pd.Series(sorted(codes)), errors="coerce").dropna()
        if is_text(column) or isinstance(column.dtype, pd.CategoricalDtype):
            texts = column.astype(object)
            same = texts.map(written).isin(codes) | pd.to_numeric(texts, errors="coerce").isin(values)
            return texts.mask(same.astype(bool), np.nan) if same.any() else column
        return column.mask(column.isin(values).astype(bool)) if pd.api.types.is_numeric_dtype(column.dtype) else column

    def answered(
        self, column: pd.Series, also: Collection[str] = (), spare: Collection[str] = ()
    ) -> tuple[pd.Series, list[str]]:
        """Return a column without the words that plainly say "no answer", and which those were."""
        silent = among(column, {*self.words, *also}) & ~column.isin(spare)
        return (column.mask(silent) if silent.any() else column), sorted({str(word).strip() for word in column[silent]})


def gap_codes(given: Iterable[str], columns: Collection[str]) -> GapCodes:
    """Return the codes in a user's list: values, or values of one column as column=value."""
    given = list(given)
    anywhere = set[str]()
    within = dict[str, frozenset[str]]()
    plain = True
    whole = {parts for parts in given if parts.rpartition("=")[0] in columns}  # a question may have commas
    for item in (part for parts in given for part in ([parts] if parts in whole else parts.split(","))):
        name, mark, value = item.rpartition("=")
        if mark:
            within[chosen_column(name, columns)] = within.get(name, frozenset()) | {written(value)}
        elif item == "none":
            plain = False
        elif item != "auto":
            anywhere.add(written(item))
    return GapCodes(frozenset(anywhere), within, plain)


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
    found = [float(value) for value in seen[coded & (seen < 0)]] if others.size > 1 and others[0] >= 0 else []
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


def ask_about_strays(found: dict[str, list[float]], others: Iterable[Array]) -> str:
    """Return the question whether 9 and the like in a scale from 1 to 3 are answers, and what to type."""
    codes = sorted({code for codes in found.values() for code in codes})
    alone = not any(np.isin(codes, values).any() for values in others)
    each = [f"{name}={code:g}" for name, codes in found.items() for code in codes]
    shown = listing(f"{name!r} has {', '.join(f'{code:g}' for code in codes)}" for name, codes in found.items())
    return (
        f"{len(found)} column(s) have a number far above their scale: {shown}. If it means no answer, pass --na "
        f"'{','.join(f'{code:g}' for code in codes) if alone else ','.join(each)}'; if it is an answer, --keep "
        f"'{','.join(found)}'"
    )


def refuse_where(wrong: Array, what: str, nodes: Names, signals: Names, remedy: str) -> None:
    """Refuse values that are missing or infinite, with the place of the first."""
    places = np.argwhere(wrong)
    if places.size:
        first = f"the first at node {nodes[places[0, 0]]}, {signals[places[0, 1]]!r}"
        raise TableError(f"{len(places)} value(s) are {what}, {first}: {remedy}")


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
