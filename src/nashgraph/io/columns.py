"""Columns as numbers, as people write them: grouped thousands, a currency or percent sign, a decimal comma."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .errors import TableError

CURRENCIES = r"[$€£¥₹₩₽₺₪₫฿]|USD|EUR|GBP|CHF|JPY|CNY|INR|KRW|KES|UGX|TZS|NGN|ZAR|BRL|MXN"
GROUPS = ",'’ \u00a0\u202f"  # what may stand between groups of three digits, where a point is the decimal mark
WRITTEN = rf"^([-+−]?)\s*({CURRENCIES}|)\s*([-+−]?[\d.{GROUPS}]*\d)\s*(%|{CURRENCIES}|)$"
ONE_GROUP = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
CODE = re.compile(r"0\d+|\d{16,}")
SWAPPED = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class Marks:
    """How numbers are written: the decimal mark, and the one between groups of three digits (None: detected)."""

    decimal: str = "."
    thousands: str | None = None


POINT = Marks()


def is_text(column: pd.Series) -> bool:
    """Tell whether a column may hold text."""
    return column.dtype == object or pd.api.types.is_string_dtype(column.dtype)


def plain_numbers(column: pd.Series, decimal: str = ".") -> pd.Series:
    """Return text as numbers if every cell of it is plainly one, else as it is.

    A value that begins with a zero, or has too many digits for a number, is a code and stays text.
    """
    values = pd.to_numeric(_pointed(column, decimal), errors="coerce")
    return column if (values.isna() & column.notna()).any() or is_code(column) else values


def is_code(column: pd.Series) -> bool:
    """Tell whether text is digits of a code: one begins with a zero, or is too long for a number."""
    if not is_text(column):
        return False
    texts = [str(cell).strip() for cell in column.dropna().to_numpy(dtype=object)]
    return any(map(CODE.fullmatch, texts)) and all(text.isdecimal() for text in texts)


def understood(column: pd.Series, marks: Marks = POINT) -> tuple[pd.Series, str]:
    """Return a column of text as numbers, NaN for other cells, and an example of what had to be interpreted.

    A sign of currency or percent must be the same in every cell. Groups of three digits count as thousands if they can
    be nothing else, or if the mark is given.
    """
    decimal, thousands = marks.decimal, marks.thousands
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
    sure = thousands is not None or decimal == "," or units.iloc[0] not in ("", "%")
    if not sure and all(map(ONE_GROUP.fullmatch, body)) and not _goes_with_groups(plain):
        first = parts.index[0]
        raise TableError(
            f"column {column.name!r} has numbers like {column.loc[first]!r}, which may be {numbers.loc[first]:.15g} or "
            f"{body.loc[first].replace(',', '.')}: pass --thousands , or --decimal ,"
        )
    values.loc[numbers.index] = numbers
    first = numbers.first_valid_index()
    return values, f"{str(column.loc[first]).strip()!r} as {numbers.loc[first]:.15g}"


def _pointed(column: pd.Series, decimal: str) -> pd.Series:
    """Return text without blanks around it, its decimal marks points and the other way round."""

    def point(cell: object) -> object:
        if not isinstance(cell, str):
            return cell
        return cell.strip() if decimal == "." else cell.strip().translate(SWAPPED)

    return column.map(point, na_action="ignore")


def _ungrouped(text: str, marks: str) -> float:
    for mark in marks:
        if re.fullmatch(rf"[-+]?(?:[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+|\d+)(?:\.\d+)?", text):
            return float(text.replace(mark, ""))
    return np.nan


def _goes_with_groups(plain: pd.Series) -> bool:
    """Tell whether a comma cannot be a decimal mark: other numbers have decimal points, or all are below 1000."""
    return len(plain) > 0 and bool((plain % 1 != 0).any() or (plain.abs() < 1000).all())


DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+|[-+]?\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
CODE_IT = "code it with --categorical"
DATES = (datetime.date, datetime.time, datetime.timedelta, pd.Period)


def numbers(column: pd.Series, remedy: str = CODE_IT, marks: Marks = POINT) -> Array:
    """Return a column as floats, gaps as NaN, or say which cells are not numbers, with a remedy."""
    return read_numbers(column, (), remedy, marks)[0]


def read_numbers(
    column: pd.Series, codes: Collection[str], remedy: str = CODE_IT, marks: Marks = POINT, junk: float = 0.0
) -> tuple[Array, str, list[str]]:
    """Return a column as floats, what had to be understood, by an example, and which of the codes for gaps it has.

    A share ``junk`` of cells (or one) that are not numbers is read as gaps; if it is 0, or there are more, they are
    refused.
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
    if bad.size and (not junk or bad.size > max(1.0, junk * len(values))):
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
    """Return the text of a name: whole numbers without a point."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def among(values: pd.Series, codes: Collection[str]) -> pd.Series:
    """Tell which cells are one of some words, ignoring case and blanks."""
    return (
        values.astype(object).map(lambda cell: isinstance(cell, str) and cell.strip().casefold() in codes).astype(bool)
    )


def _no_numbers(values: pd.Series, bad: Array, remedy: str) -> str:
    """Return what is wrong with cells that are not numbers, and the remedy."""
    rest = bad[1:] + 1
    counted = "is 1 more, in row" if len(rest) == 1 else f"are {len(rest)} more, in rows"
    more = f" (nor {counted} {listing(rest)})" if len(rest) else ""
    place = f"row {bad[0] + 1}, column {values.name!r}: {_shown(values.iloc[bad[0]])} is not a number{more}"
    if all(DECIMAL_COMMA.fullmatch(str(cell).strip()) for cell in values.iloc[bad]):
        return f"{place}: pass --decimal ,"
    words = sorted({str(cell).strip() for cell in values.iloc[bad]})
    codes = f", take it as missing with --na {words[0]!r}" if len(words) == 1 else ""
    return f"{place}; correct it{codes}, leave the column out with --drop, or {remedy}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
