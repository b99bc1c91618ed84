"""Cells as numbers, as people write them: thousands in groups, a currency, a percent sign, a decimal comma."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .errors import TableError

CURRENCIES = r"[$€£¥₹₩₽₺₪₫฿]|USD|EUR|GBP|CHF|JPY|CNY|INR|KRW|KES|UGX|TZS|NGN|ZAR|BRL|MXN"
GROUPS = ",'’ \u00a0\u202f"  # what may stand between groups of three digits, where a point is the decimal mark
WRITTEN = rf"^([-+−]?)\s*({CURRENCIES}|)\s*([-+−]?[\d.{GROUPS}]*\d)\s*(%|{CURRENCIES}|)$"
ONE_GROUP = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
CODE = re.compile(r"0\d+|\d{16,}")
SWAPPED = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class Marks:
    """How numbers are written: the decimal mark, and the one between groups of three digits; None is what it may be."""

    decimal: str = "."
    thousands: str | None = None


POINT = Marks()


def is_text(column: pd.Series) -> bool:
    """Tell whether a column may hold text."""
    return column.dtype == object or pd.api.types.is_string_dtype(column.dtype)


def plain_numbers(column: pd.Series, decimal: str = ".") -> pd.Series:
    """Return text as numbers if every cell of it is plainly one, else as it is.

    What begins with a zero, or has more digits than a number can hold, is a code and stays text.

    Examples
    --------
    >>> plain_numbers(pd.Series(["1", None, "2.5"])).tolist()
    [1.0, nan, 2.5]
    >>> plain_numbers(pd.Series(["02139", "10001"])).tolist()
    ['02139', '10001']
    """
    values = pd.to_numeric(_pointed(column, decimal), errors="coerce")
    return column if (values.isna() & column.notna()).any() or is_code(column) else values


def is_code(column: pd.Series) -> bool:
    """Tell whether text is digits that are no quantity: one begins with a zero, or is too long for a number.

    Examples
    --------
    >>> is_code(pd.Series(["007", "12"])), is_code(pd.Series(["0.7", "12"])), is_code(pd.Series(["0", "12"]))
    (True, False, False)
    """
    if not is_text(column):
        return False
    texts = [str(cell).strip() for cell in column.dropna().to_numpy(dtype=object)]
    return any(map(CODE.fullmatch, texts)) and all(text.isdecimal() for text in texts)


def understood(column: pd.Series, marks: Marks = POINT) -> tuple[pd.Series, str]:
    """Return a column of text as numbers, NaN where a cell is none, and what had to be understood, by an example.

    A sign of currency or percent must be the same in every cell. Groups of three digits count as thousands where they
    can be nothing else, or where the mark is given.

    Examples
    --------
    >>> values, how = understood(pd.Series(["$1,200", "$850"], name="income"))
    >>> values.tolist(), how
    ([1200.0, 850.0], "'$1,200' as 1200")
    >>> understood(pd.Series(["1.234", "999"], name="income"), Marks(","))[0].tolist()
    [1234.0, 999.0]
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
    """Tell whether a column's other numbers say that a comma is no decimal mark: decimal points, or all below 1000."""
    return len(plain) > 0 and bool((plain % 1 != 0).any() or (plain.abs() < 1000).all())
