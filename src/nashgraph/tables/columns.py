"""Columns of a table as numbers: what is a number, what is a category, and what is neither."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .errors import TableError

MANY = 50  # a text column with more values than this is no category unless the user says so
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


@dataclass(frozen=True, eq=False)
class Coded:
    """One column of a table as signals: itself, or a 0 and 1 for every value of a category.

    Attributes
    ----------
    names : list of str, of the signals
    values : array of shape (n_rows, n_signals), NaN in all signals of a missing category
    categorical : bool
    """

    names: list[str]
    values: Array
    categorical: bool


def coded(column: pd.Series, *, categorical: bool) -> Coded:
    """Return a column as signals.

    Examples
    --------
    >>> coded(pd.Series(["n", "s", None], name="side"), categorical=True).values
    array([[ 1.,  0.],
           [ 0.,  1.],
           [nan, nan]])
    """
    if column.isna().all():
        raise TableError(f"column {column.name!r} has no values at all: leave it out with --drop {column.name!r}")
    if categorical:
        return _coded_category(column)
    return Coded([str(column.name)], numbers(column)[:, None], categorical=False)


def _coded_category(column: pd.Series) -> Coded:
    texts = column.map(as_name, na_action="ignore").astype(object)
    values = sorted(texts.dropna().unique())
    table = (texts.to_numpy()[:, None] == np.array(values, dtype=object)[None, :]).astype(float)
    table[column.isna().to_numpy()] = np.nan
    return Coded([f"{column.name}={value}" for value in values], table, categorical=True)


def is_categorical(column: pd.Series) -> bool:
    """Tell whether a column is a category by itself: truth values, or text with few values that are not numbers.

    Examples
    --------
    >>> is_categorical(pd.Series(["18-25", "26-35", "18-25"], name="age"))
    True
    >>> is_categorical(pd.Series(["1200", "1100", "12 kg"], name="weight"))
    Traceback (most recent call last):
    ...
    nashgraph.tables.errors.TableError: row 3, column 'weight': '12 kg' is not a number; correct it, leave the ...
    """
    if pd.api.types.is_bool_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return True
    if not _is_text(column):
        return False
    values = column.dropna()
    if all(isinstance(value, bool) for value in values):
        return True
    parsed = _parsed(values).notna()
    if parsed.mean() >= 0.5:
        numbers(column)  # says which cell is no number
        return False
    if not parsed.any() and all(DECIMAL_COMMA.fullmatch(str(value).strip()) for value in values):
        raise TableError(f"column {column.name!r} has numbers like {values.iloc[0]!r}: pass --decimal ,")
    distinct = values.nunique()
    if distinct == len(column) or distinct > MANY:
        raise TableError(
            f"column {column.name!r} is text with {distinct} different values in {len(column)} rows, for example "
            f"{values.iloc[0]!r}: if it names the nodes pass --id {column.name!r}, else --drop {column.name!r}"
        )
    return True


def numbers(column: pd.Series, remedy: str = "code it with --categorical") -> Array:
    """Return a column as floats, gaps as NaN, or say which cell is no number, with a remedy besides the usual ones.

    Examples
    --------
    >>> numbers(pd.Series(["1", None, "2.5"], name="age"))
    array([1. , nan, 2.5])
    """
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        raise TableError(f"column {column.name!r} holds dates or times: --drop it, or make it a number")
    if not _is_text(column) and not isinstance(column.dtype, pd.CategoricalDtype):
        if pd.api.types.is_complex_dtype(column.dtype):
            raise TableError(f"column {column.name!r} holds complex numbers: --drop it, or make it real")
        return column.to_numpy(dtype=float, na_value=np.nan)
    values = column.astype(object)
    parsed = _parsed(values)
    bad = np.flatnonzero(parsed.isna().to_numpy() & values.notna().to_numpy())
    if bad.size:
        raise TableError(
            f"row {bad[0] + 1}, column {column.name!r}: {_shown(values.iloc[bad[0]])} is not a number; correct it, "
            f"leave the column out with --drop, or {remedy}"
        )
    return parsed.to_numpy(dtype=float, na_value=np.nan)


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


def refuse_gaps(gaps: Array, nodes: list[str], names: list[str]) -> None:
    """Refuse gaps, where the user has not said what to do about them."""
    places = np.argwhere(gaps)
    if places.size:
        raise TableError(
            f"{len(places)} value(s) are missing, {_first(places, nodes, names)}: pass --missing impute to fill them, "
            "or --missing pairwise to compare nodes over what both have"
        )


def refuse_silent(values: Array, nodes: list[str]) -> None:
    """Refuse nodes of which nothing is known."""
    silent = np.flatnonzero(np.isnan(values).all(axis=1))
    if silent.size:
        names = listing(nodes[k] for k in silent)
        raise TableError(f"{silent.size} node(s) have no values at all: {names}; leave them out")


def _first(places: Array, nodes: list[str], names: list[str]) -> str:
    row, column = places[0]
    return f"the first at node {nodes[row]}, {names[column]!r}"


def _is_text(column: pd.Series) -> bool:
    return column.dtype == object or pd.api.types.is_string_dtype(column.dtype)


def _parsed(values: pd.Series) -> pd.Series:
    return pd.to_numeric(values.astype(object).map(_stripped), errors="coerce")


def _stripped(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
