"""Text in our CSV files that a spreadsheet would run as a formula: guarded when written, as it was when read."""

from __future__ import annotations

import re

import pandas as pd

# What a spreadsheet takes for a formula, and what we made of one; a plain number, "-5", is harmless.
FORMULA = re.compile(r"'*(?:[=@\t\r]|[+\-](?!\d+(?:\.\d+)?$))")


def guarded(text: str) -> str:
    """Return text with an apostrophe before what would be a formula; :func:`unguarded` takes it off again.

    Examples
    --------
    >>> [guarded(name) for name in ("ann", "=1+1", "'=1+1", "-5")]
    ['ann', "'=1+1", "''=1+1", '-5']
    """
    return f"'{text}" if FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """Return the text that :func:`guarded` was given.

    Examples
    --------
    >>> [unguarded(name) for name in ("ann", "'=1+1", "''=1+1", "'tis")]
    ['ann', '=1+1', "'=1+1", "'tis"]
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def guarded_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its headings and its text guarded."""
    return table.map(lambda value: guarded(value) if isinstance(value, str) else value).rename(columns=guarded)


def unguarded_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table that :func:`guarded_table` was given.

    Examples
    --------
    >>> given = pd.DataFrame({"=name": ["@ann", "bob"], "age": [30, 40]})
    >>> guarded_table(given).columns.tolist(), unguarded_table(guarded_table(given)).equals(given)
    (["'=name", 'age'], True)
    """
    return table.map(lambda value: unguarded(value) if isinstance(value, str) else value).rename(columns=unguarded)
