"""Columns that name things instead of measuring them: ids, zip codes, whom a person nominated, saved row numbers.

A column of whole numbers, or of digits, is one of codes and no quantity if

- a value begins with a zero (02139), or has more than 15 digits;
- its name says so: one of its words is id, zip, code and the like (`WORDS`), and it has more than two values;
- its values are names of nodes (nominations); numbers from 100 on only, and from all over the names;
- it counts down the file: all different, ever larger, in equal steps or with few left out;
- its values are all different, consecutive and not small (1001 to 1060 in any order);
- all are different and have the same nine or more digits.

The last four do not hold for a column called rank, score, age or the like (`QUANTITIES`), by which a file may be
sorted. Incomes, ages, ranks and counts are none of these. Codes of few values become a category, others are left out;
``keep`` takes them as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import pandas as pd

from ..validation import Array
from .cells import POINT, Marks, is_code, is_text
from .columns import as_name, is_wordy

WORDS = frozenset(
    [
        *("id", "ids", "uid", "uuid", "guid", "pid", "hhid", "caseid", "userid", "respid", "personid", "ssn"),
        *("zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "code", "codes", "fips"),
    ]
)
NODES = frozenset(
    [
        *(
            "household",
            "hh",
            "hhid",
            "person",
            "pid",
            "respondent",
            "participant",
            "subject",
            "member",
            "user",
            "userid",
        ),
        *("student", "pupil", "employee", "case", "caseid", "actor", "agent", "villager", "who", "farm", "firm"),
        *("school", "village", "country", "city", "sensor"),
    ]
)
BESIDES = frozenset(["no", "nr", "num", "number", "name", "label"])  # may stand with those
QUANTITIES = frozenset(["rank", "ranking", "score", "age", "year", "income", "seniority", "grade", "level", "position"])
TIMES = frozenset(
    ["time", "timestamp", "date", "t", "hour", "day", "week", "month", "year", "second", "sample", "step"]
)
UNNAMED = re.compile(r"(?:Unnamed: \d+)?")  # how a saved index is headed
SMALL = 100  # below, numbers that name nodes cannot be told from counts
FEW, SHARE = 20, 3  # codes of at most FEW values, each SHARE nodes on average, make a category
ENOUGH, MANY_ROWS = 5, 10  # rows that it takes to tell


def why_code(column: pd.Series, nodes: Collection[str] = ()) -> str:
    """Return why a column holds codes, as the end of a sentence; nothing if it does not.

    Examples
    --------
    >>> why_code(pd.Series([1001, 1002, 1003, 1004, 1005], name="who"))
    'it counts the rows'
    >>> why_code(pd.Series([1200, 900, 1550, 700, 1200], name="income"))
    ''
    >>> why_code(pd.Series([2139, 2140, 2138, 2139], name="zip_code"))
    'its name says so'
    """
    given = column.dropna()
    if is_code(given):
        return "its numbers begin with zeros or are too long for numbers"
    values, distinct = _whole(given), given.nunique()
    if distinct <= 2 or (values is None and not is_text(given)):
        return ""
    words = _words(str(column.name))
    if WORDS & words and values is not None:
        return "its name says so"
    if QUANTITIES & words:
        return ""
    if _names_nodes({as_name(value) for value in given.unique()}, nodes):
        return "it names other nodes"
    return _why_numbered(values) if values is not None and distinct == len(column) >= ENOUGH else ""


def _why_numbered(values: Array) -> str:
    """Return how whole numbers, all different, number the nodes."""
    if counts_rows(values):
        return "it counts the rows"
    if len(values) >= MANY_ROWS and values.min() >= SMALL and np.ptp(values) == len(values) - 1:
        return "it numbers the nodes"
    return "it is long numbers, all different" if values.min() >= 1e8 and _same_width(values) else ""


def is_few(column: pd.Series) -> bool:
    """Tell whether codes have so few values that they make a category."""
    distinct = column.nunique()
    return bool(distinct <= FEW and SHARE * distinct <= column.count())


def counts_rows(values: Array) -> bool:
    """Tell whether whole numbers count down the file: ever larger, in equal steps or with few left out."""
    steps = np.diff(values)
    if len(values) < ENOUGH or (steps <= 0).any():
        return False
    return bool((steps == steps[0]).all() or (len(values) >= MANY_ROWS and np.ptp(values) < 2 * len(values)))


def plain_id(table: pd.DataFrame, taken: Collection[str] = (), marks: Marks = POINT) -> str | None:
    """Return the column that plainly names the rows: one called household or the like, or the first if it is no signal.

    It has a value in every row, and no two alike.

    Examples
    --------
    >>> plain_id(pd.DataFrame({"age": [31, 45, 45], "Household": [7, 9, 8]}))
    'Household'
    >>> plain_id(pd.DataFrame({"town": ["Ava", "Bo", "Cy"], "age": [31, 45, 45]}))
    'town'
    """
    for place, name in enumerate(map(str, table.columns)):
        called = bool(NODES & (words := _words(name))) and words <= NODES | WORDS | BESIDES
        column = table[name]
        if name in taken or not (called or place == 0) or column.isna().any() or not _can_name(column):
            continue
        if called or _is_first_id(column, marks) or why_code(column):
            return name
    return None


def says_when(column: pd.Series, marks: Marks = POINT) -> bool:
    """Tell whether a column names the rows of recordings: dates or words, all different, or a clock that runs.

    Examples
    --------
    >>> says_when(pd.Series([0.0, 0.1, 0.25], name="time")), says_when(pd.Series([0.0, 0.1, 0.25], name="left"))
    (True, False)
    """
    if column.isna().any() or len({as_name(value) for value in column}) < len(column):
        return False
    if is_text(column) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return not is_text(column) or is_wordy(column, marks=marks)
    runs = pd.api.types.is_numeric_dtype(column.dtype) and column.is_monotonic_increasing
    whole = _whole(column) if runs else None
    return bool(runs and TIMES & _words(str(column.name))) or (whole is not None and counts_rows(whole))


def is_saved_index(table: pd.DataFrame) -> bool:
    """Tell whether the first column is row numbers that a program saved with the table: no name, all different."""
    if not len(table.columns) or not UNNAMED.fullmatch(str(table.columns[0])):
        return False
    values = _whole(table.iloc[:, 0])
    return values is not None and len(values) == len(table) and len(np.unique(values)) == len(values)


def _can_name(column: pd.Series) -> bool:
    if is_text(column):
        return len({as_name(value) for value in column}) == len(column)
    return _whole(column) is not None and column.nunique() == len(column)


def _is_first_id(column: pd.Series, marks: Marks) -> bool:
    """Tell whether a first column, all different, names the rows: words, numbers without a hole, or as wide and rising.

    Numbers without a hole may be in any order: a file is often sorted by something else.
    """
    values = _whole(column)
    if values is None:
        return is_wordy(column, marks=marks)
    if len(values) < MANY_ROWS:
        return False
    rising = values.min() >= SMALL and bool((np.diff(values) > 0).all()) and _same_width(values)
    return rising or bool(np.ptp(values) == len(values) - 1)


def _names_nodes(names: set[str], nodes: Collection[str]) -> bool:
    """Tell whether nine in ten values name nodes; numbers must be no small ones, and from all over the names."""
    if len(names.intersection(nodes)) < 0.9 * len(names):
        return False
    if not all(name.isdecimal() for name in nodes):
        return True
    numbered, values = [int(name) for name in nodes], [int(name) for name in names if name.isdecimal()]
    return min(numbered) >= SMALL and max(values) - min(values) >= (max(numbered) - min(numbered)) / 2


def _whole(column: pd.Series) -> Array | None:
    """Return a column as whole numbers, if it is."""
    if pd.api.types.is_bool_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return None
    values = pd.to_numeric(column, errors="coerce") if is_text(column) else column
    if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_complex_dtype(values.dtype):
        return None
    numbers: Array = values.to_numpy(dtype=float, na_value=np.nan)
    return numbers if numbers.size and np.isfinite(numbers).all() and not (numbers % 1).any() else None


def _same_width(values: Array) -> bool:
    return len({len(str(int(value))) for value in (values.min(), values.max())}) == 1


def _words(name: str) -> set[str]:
    """Return the words of a column's name: friend_id, FriendId and "friend id" have two."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
