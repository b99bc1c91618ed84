"""Columns as numbers, as people write them: grouped thousands, a currency or percent sign, a decimal comma."""

from __future__ import annotations

import datetime
import re
import reprlib
from collections.abc import Collection

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .errors import TableError
from .options import TableOptions

CURRENCIES = r"[$€£¥₹₩₽₺₪₫฿]|USD|EUR|GBP|CHF|JPY|CNY|INR|KRW|KES|UGX|TZS|NGN|ZAR|BRL|MXN"
GROUPS = ",'’ \u00a0\u202f"  # what may stand between groups of three digits, where a point is the decimal mark
WRITTEN = rf"^([-+−]?)\s*({CURRENCIES}|)\s*([-+−]?[\d.{GROUPS}]*\d)\s*(%|{CURRENCIES}|)$"
DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+|[-+]?\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
SWAPPED = str.maketrans(",.", ".,")
DEFAULT = TableOptions()


def is_text(column: pd.Series) -> bool:
    """Tell whether a column may hold text."""
    return column.dtype == object or pd.api.types.is_string_dtype(column.dtype)


def as_name(value: object) -> str:
    """Return the text of a name: whole numbers without a point."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def among(values: pd.Series, codes: Collection[str]) -> pd.Series:
    """Tell which cells are one of some words, ignoring case and blanks."""
    found = values.astype(object).map(lambda cell: isinstance(cell, str) and cell.strip().casefold() in codes)
    return found.astype(bool)


def is_code(column: pd.Series) -> bool:
    """Tell whether text is digits of a code: one begins with a zero, or is too long for a number."""
    if not is_text(column):
        return False
    texts = [str(cell).strip() for cell in column.dropna().to_numpy(dtype=object)]
    return any(re.fullmatch(r"0\d+|\d{16,}", text) for text in texts) and all(text.isdecimal() for text in texts)


def whole_numbers(column: pd.Series) -> Array | None:
    """Return a column as whole numbers, if it is."""
    if pd.api.types.is_bool_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return None
    if is_text(column):
        values = pd.to_numeric(column, errors="coerce")
    else:
        values = column
    if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_complex_dtype(values.dtype):
        return None
    numbers: Array = values.to_numpy(dtype=float, na_value=np.nan)
    if numbers.size and np.isfinite(numbers).all() and not (numbers % 1).any():
        return numbers
    return None


def plain_numbers(column: pd.Series, decimal: str = ".") -> pd.Series:
    """Return text as numbers if every cell of it is plainly one and none is a code, else as it is."""
    values = pd.to_numeric(_pointed(column, decimal), errors="coerce")
    if (values.isna() & column.notna()).any() or is_code(column):
        return column
    return values


def understood(column: pd.Series, options: TableOptions = DEFAULT) -> tuple[pd.Series, str]:
    """Return a column of text as numbers, NaN for other cells, and an example of what had to be interpreted.

    A sign of currency or percent must be the same in every cell. Groups of three digits count as thousands if they can
    be nothing else, or if the mark is given.
    """
    decimal = options.decimal
    thousands = options.thousands
    texts = _pointed(column.astype(object), decimal)
    values = pd.to_numeric(texts, errors="coerce").astype(float)
    rest = texts[values.isna() & texts.map(lambda cell: isinstance(cell, str))]
    parts = rest.astype(str).str.extract(WRITTEN).dropna()
    if parts.empty:
        return values, ""
    units = parts[1] + parts[3]
    body = (parts[0] + parts[2]).str.replace("−", "-")
    between = GROUPS if thousands is None else thousands.translate(SWAPPED) if decimal == "," else thousands
    numbers = body.map(lambda text: _ungrouped(text, between)).astype(float)
    plain = values.dropna()
    if units.nunique() > 1 or (units.iloc[0] and len(plain)) or numbers.isna().all():
        return values, ""
    # A comma cannot be a decimal mark where other numbers have decimal points, or all are below 1000.
    grouped = len(plain) > 0 and ((plain % 1 != 0).any() or (plain.abs() < 1000).all())
    sure = grouped or thousands is not None or decimal == "," or units.iloc[0] not in ("", "%")
    if not sure and body.str.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}").all():
        first = parts.index[0]
        raise TableError(
            f"column {column.name!r} has numbers like {column.loc[first]!r}, which may be {numbers.loc[first]:.15g} or "
            f"{body.loc[first].replace(',', '.')}: pass --set thousands=, or --set decimal=,"
        )
    values.loc[numbers.index] = numbers
    first = numbers.first_valid_index()
    return values, f"{str(column.loc[first]).strip()!r} as {numbers.loc[first]:.15g}"


def _pointed(column: pd.Series, decimal: str) -> pd.Series:
    """Return text without blanks around it, its decimal marks points and the other way round."""
    table = {} if decimal == "." else SWAPPED
    return column.map(lambda cell: cell.strip().translate(table) if isinstance(cell, str) else cell, na_action="ignore")


def _ungrouped(text: str, marks: str) -> float:
    for mark in marks:
        if re.fullmatch(rf"[-+]?(?:[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+|\d+)(?:\.\d+)?", text):
            return float(text.replace(mark, ""))
    return np.nan


def numbers(
    column: pd.Series,
    options: TableOptions = DEFAULT,
    remedy: str = "code it with --set categorical=COLUMN",
    junk: float = 0.0,
) -> tuple[Array, str, list[str]]:
    """Return a column as floats, what had to be understood, by an example, and the cells that are not numbers.

    Such cells are refused, unless they are only a share ``junk`` of all (or one); then they are gaps.
    """
    refuse_what_never_is_a_number(column)
    if isinstance(column.dtype, pd.IntervalDtype):
        raise TableError(f"column {column.name!r} holds intervals: --drop it, or make it a number")
    if not is_text(column) and not isinstance(column.dtype, pd.CategoricalDtype):
        return column.to_numpy(dtype=float, na_value=np.nan), "", []
    values = column.astype(object)
    parsed, how = understood(values, options)
    bad = np.flatnonzero((parsed.isna() & values.notna()).to_numpy())
    if bad.size and (not junk or bad.size > max(1.0, junk * len(values))):
        raise TableError(_no_numbers(values, bad, remedy))
    return parsed.to_numpy(dtype=float, na_value=np.nan), how, sorted({str(cell) for cell in values.iloc[bad]})


def _no_numbers(values: pd.Series, bad: Array, remedy: str) -> str:
    """Return what is wrong with cells that are not numbers, and the remedy."""
    rest = bad[1:] + 1
    if len(rest) == 1:
        counted = "is 1 more, in row"
    else:
        counted = f"are {len(rest)} more, in rows"
    more = f" (nor {counted} {listing(rest)})" if len(rest) else ""
    place = f"row {bad[0] + 1}, column {values.name!r}: {reprlib.repr(values.iloc[bad[0]])} is not a number{more}"
    words = sorted({str(cell).strip() for cell in values.iloc[bad]})
    if all(map(DECIMAL_COMMA.fullmatch, words)):
        return f"{place}: pass --set decimal=,"
    if len(words) == 1:
        codes = f", take it as missing with --set na={words[0]!r}"
    else:
        codes = ""
    return f"{place}; correct it{codes}, leave the column out with --drop, or {remedy}"


def refuse_what_never_is_a_number(column: pd.Series) -> None:
    """Refuse dates, complex numbers, and cells that are tables themselves."""
    kind = column.dtype
    if pd.api.types.is_object_dtype(kind):
        cells = tuple({type(cell) for cell in column.dropna()})
    else:
        cells = ()

    def some(*wanted: type) -> bool:
        return any(issubclass(cell, wanted) for cell in cells)

    timed = pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind)
    if timed or isinstance(kind, pd.PeriodDtype) or some(datetime.date, datetime.time, datetime.timedelta, pd.Period):
        raise TableError(f"column {column.name!r} holds dates or times: --drop it, or make it a number")
    if pd.api.types.is_complex_dtype(kind) or some(complex):
        raise TableError(f"column {column.name!r} holds complex numbers: --drop it, or make it real")
    if some(list, tuple, dict, set, np.ndarray):
        raise TableError(f"column {column.name!r} holds lists or records: --drop it, or make a column of each part")
