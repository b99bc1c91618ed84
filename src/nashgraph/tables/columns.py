"""Columns of a table as numbers: what is a number and what is none, by its place."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .cells import POINT, Marks, is_text, understood
from .errors import TableError

DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+|[-+]?\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
CODE_IT = "code it with --categorical"
DATES = (datetime.date, datetime.time, datetime.timedelta, pd.Period)


def numbers(column: pd.Series, remedy: str = CODE_IT, marks: Marks = POINT) -> Array:
    """Return a column as floats, gaps as NaN, or say which cells are no numbers, with a remedy besides the usual ones.

    Examples
    --------
    >>> numbers(pd.Series(["1", None, "2.5"], name="age"))
    array([1. , nan, 2.5])
    >>> numbers(pd.Series(["1200", "1100", "12 kg"], name="weight"))
    Traceback (most recent call last):
    ...
    nashgraph.tables.errors.TableError: row 3, column 'weight': '12 kg' is not a number; correct it, take it as ...
    """
    return read_numbers(column, (), remedy, marks)[0]


def read_numbers(
    column: pd.Series, codes: Collection[str], remedy: str = CODE_IT, marks: Marks = POINT
) -> tuple[Array, str, list[str]]:
    """Return a column as floats, what had to be understood, by an example, and which of the codes for gaps it has.

    Examples
    --------
    >>> read_numbers(pd.Series(["45 %", ".", "50 %"], name="share"), ["."])
    (array([45., nan, 50.]), "'45 %' as 45", ['.'])
    """
    refuse_what_never_is_a_number(column)
    if isinstance(column.dtype, pd.IntervalDtype):
        raise TableError(f"column {column.name!r} holds intervals: --drop it, or make it a number")
    if not is_text(column) and not isinstance(column.dtype, pd.CategoricalDtype):
        return column.to_numpy(dtype=float, na_value=np.nan), "", []
    values = column.astype(object)
    words = among(values, codes)
    parsed, how = understood(values.mask(words, np.nan), marks)
    bad = np.flatnonzero((parsed.isna() & values.notna() & ~words).to_numpy())
    if bad.size:
        raise TableError(_no_numbers(values, bad, remedy))
    found = sorted({str(cell).strip() for cell in values[words]})
    return parsed.to_numpy(dtype=float, na_value=np.nan), how, found


def refuse_what_never_is_a_number(column: pd.Series) -> None:
    """Refuse dates, complex numbers, and cells that are tables themselves."""
    kind = column.dtype
    cells = tuple({type(cell) for cell in column.dropna()}) if pd.api.types.is_object_dtype(kind) else ()

    def some(*wanted: type) -> bool:
        return any(issubclass(cell, wanted) for cell in cells)

    timed = pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind)
    if timed or isinstance(kind, pd.PeriodDtype) or some(*DATES):
        raise TableError(f"column {column.name!r} holds dates or times: --drop it, or make it a number")
    if pd.api.types.is_complex_dtype(kind) or some(complex):
        raise TableError(f"column {column.name!r} holds complex numbers: --drop it, or make it real")
    if some(list, tuple, dict, set, np.ndarray):
        raise TableError(f"column {column.name!r} holds lists or records: --drop it, or make a column of each part")


def is_wordy(column: pd.Series, codes: Collection[str] = (), marks: Marks = POINT) -> bool:
    """Tell whether a column is words: truth values, categories, or text less than half of which is numbers.

    Codes for gaps do not count.

    Examples
    --------
    >>> is_wordy(pd.Series(["18-25", "26-35", "18-25"])), is_wordy(pd.Series(["1200", "1100", "12 kg"]))
    (True, False)
    """
    kind = column.dtype
    if pd.api.types.is_bool_dtype(kind) or isinstance(kind, pd.CategoricalDtype | pd.IntervalDtype):
        return True
    if not is_text(column):
        return False
    refuse_what_never_is_a_number(column)
    counts = column.value_counts()  # a word occurs often, and is looked at once
    values = pd.Series(counts.index, name=column.name)
    if all(isinstance(value, bool) for value in values):
        return True
    told = ~among(values, codes)
    values, counts = values[told], counts[told.to_numpy()]
    if not len(values):
        return True
    share = counts[understood(values, marks)[0].notna().to_numpy()].sum() / counts.sum()
    return bool(share < 0.5) and not all(DECIMAL_COMMA.fullmatch(str(value).strip()) for value in values)


def as_name(value: object) -> str:
    """Return the text of a name: whole numbers without a point.

    Examples
    --------
    >>> as_name(3.0), as_name("3.0"), as_name(7)
    ('3', '3.0', '7')
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def refuse_infinite(values: Array, nodes: list[str], names: list[str]) -> None:
    """Refuse infinities, whatever is done about gaps."""
    places = np.argwhere(np.isinf(values))
    if places.size:
        raise TableError(
            f"{len(places)} value(s) are infinite, {_first(places, nodes, names)}: correct them, or empty these cells "
            "and pass --missing"
        )


def refuse_gaps(gaps: Array, nodes: list[str], names: list[str], codes: str = "") -> None:
    """Refuse gaps, where the user has not said what to do about them; ``codes`` says what was taken for one."""
    places = np.argwhere(gaps)
    if places.size:
        raise TableError(
            f"{len(places)} value(s) are missing, {_first(places, nodes, names)}: pass --missing impute to fill them, "
            f"or --missing pairwise to compare nodes over what both have{f' ({codes})' if codes else ''}"
        )


def refuse_silent(values: Array, nodes: list[str]) -> None:
    """Refuse nodes of which nothing is known."""
    silent = np.flatnonzero(np.isnan(values).all(axis=1))
    if silent.size and values.size:
        names = listing(nodes[k] for k in silent)
        raise TableError(f"{silent.size} node(s) have no values at all: {names}; leave them out")


def among(values: pd.Series, codes: Collection[str]) -> pd.Series:
    """Tell which cells are one of some words, whatever their letters and blanks."""
    return (
        values.astype(object).map(lambda cell: isinstance(cell, str) and cell.strip().casefold() in codes).astype(bool)
    )


def _no_numbers(values: pd.Series, bad: Array, remedy: str) -> str:
    """Return what is wrong with cells that are no numbers, and what is right to do about it."""
    rest = bad[1:] + 1
    counted = "is 1 more, in row" if len(rest) == 1 else f"are {len(rest)} more, in rows"
    more = f" (nor {counted} {listing(rest)})" if len(rest) else ""
    place = f"row {bad[0] + 1}, column {values.name!r}: {_shown(values.iloc[bad[0]])} is not a number{more}"
    if all(DECIMAL_COMMA.fullmatch(str(cell).strip()) for cell in values.iloc[bad]):
        return f"{place}: pass --decimal ,"
    words = sorted({str(cell).strip() for cell in values.iloc[bad]})
    codes = f", take it as missing with --na {words[0]!r}" if len(words) == 1 else ""
    return f"{place}; correct it{codes}, leave the column out with --drop, or {remedy}"


def _first(places: Array, nodes: list[str], names: list[str]) -> str:
    row, column = places[0]
    return f"the first at node {nodes[row]}, {names[column]!r}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
