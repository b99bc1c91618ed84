"""Names of columns, rows and groups, and columns that name things instead of measuring them.

docs/guide/tables.md has the rules by which columns of codes are recognised.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .columns import as_name, is_code, is_text, whole_numbers
from .errors import TableError
from .vocabulary import CODE_WORDS, QUANTITIES

# What XML, and so GraphML, has no way to hold.
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def chosen_column(name: str, columns: Iterable[str], kind: str = "column") -> str:
    """Return a name if it is that of a column, or say which it may have been."""
    known = list(columns)
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise TableError(f"there is no {kind} {name!r}{hint}: there are {listing(known, 8)}")


def chosen_columns(given: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the columns meant by names, or by several names with commas between."""
    known = list(columns)
    return [chosen_column(name, known) for name in split_names(given, known)]


def split_names(given: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return single names, where an item may hold several with commas between, unless it is a column itself."""
    known = set(columns)
    return [name for item in given for name in ([item] if item in known else item.split(","))]


def plain_names(names: Sequence[str]) -> list[str]:
    """Return names that are whole numbers without the point that some programs add: 5.0 and 5 are the same id."""
    whole = all(re.fullmatch(r"\d+(?:\.0+)?", name) for name in names if name.strip())
    if whole:
        return [name.partition(".")[0] for name in names]
    return list(names)


def check_nodes(names: Sequence[str], kind: str) -> None:
    """Refuse nodes that cannot be told apart, or written, or are too few."""
    if len(names) < 2:
        other = {"rows": "columns", "columns": "rows"}[kind]
        count = "one node only" if names else "no node with values"
        raise TableError(
            f"the table has {count}, because nodes are {kind}: a network needs two; is it --nodes {other}?"
        )
    empty = [k + 1 for k, name in enumerate(names) if not name.strip()]
    if empty:
        raise TableError(f"{len(empty)} node(s) have an empty name, in {kind} {listing(empty)}: name them")
    if len(set(names)) < len(names):
        counts = pd.Series(list(names)).value_counts()
        name = str(counts.index[0])
        places = listing(k + 1 for k, other in enumerate(names) if other == name)
        raise TableError(
            f"the node name {name!r} occurs {counts.iloc[0]} times, in {kind} {places}: make names unique, take "
            "another column with --id (none takes row numbers), --group if they are unique within groups, or --long if "
            "a row is one answer"
        )
    for name in names:
        if found := UNWRITABLE.search(name):
            raise TableError(
                f"the node name {name!r} has the character U+{ord(found[0]):04X}, which GraphML cannot hold: rename it"
            )


WITH_POINT = re.compile(r"\d+\.0+")
SMALL = 100  # below, numbers that name nodes cannot be told from counts
MANY_ROWS = 10  # that it takes to tell numbers in a row from answers


def why_code(column: pd.Series) -> str:
    """Return why a column holds codes, as the end of a sentence; nothing if it does not."""
    given = column.dropna()
    if is_code(given):
        return "its numbers begin with zeros or are too long for numbers"
    values = whole_numbers(given)
    distinct = given.nunique()
    if distinct <= 2 or (values is None and not is_text(given)):
        return ""
    words = {*words_of(str(column.name))}
    if CODE_WORDS & words and values is not None:
        return "its name says so"
    if QUANTITIES & words:
        return ""
    if values is not None and distinct == len(column) >= 5:
        return _why_numbered(values)
    return ""


def _why_numbered(values: Array) -> str:
    """Return how whole numbers, all different, number the nodes."""
    if counts_rows(values):
        return "it counts the rows"
    if len(values) >= MANY_ROWS and values.min() >= SMALL and np.ptp(values) == len(values) - 1:
        return "it numbers the nodes"
    if values.min() >= 1e8 and _same_width(values):
        return "it is long numbers, all different"
    return ""


def is_few(column: pd.Series) -> bool:
    """Tell whether codes have so few values that they make a category: at most 20, each at three nodes on average."""
    distinct = column.nunique()
    return bool(distinct <= 20 and 3 * distinct <= column.count())


def counts_rows(values: Array) -> bool:
    """Tell whether whole numbers count down the file: ever larger, in equal steps or with few left out."""
    steps = np.diff(values)
    if len(values) < 5 or (steps <= 0).any():
        return False
    return bool((steps == steps[0]).all() or (len(values) >= MANY_ROWS and np.ptp(values) < 2 * len(values)))


def _same_width(values: Array) -> bool:
    return len({len(str(int(value))) for value in (values.min(), values.max())}) == 1


def words_of(name: str, digits: bool = False) -> list[str]:
    """Return the words of a column's name in small letters: friend_id, FriendId and "friend id" have two."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()
    return re.findall(r"[^\W_]+" if digits else r"[^\W\d_]+", apart)


def group_labels(column: pd.Series) -> pd.Series:
    """Return the group of every row as text, NaN where there is none.

    A column that a program wrote as 1.0, 2.0, … throughout is one of whole numbers; anything else stays as written.
    """
    labels = column.astype(object).map(as_name, na_action="ignore")
    labels = labels.where(labels.notna() & (labels.map(str).str.strip() != ""))
    if all(WITH_POINT.fullmatch(label) for label in labels.dropna().unique()):
        labels = labels.map(lambda label: label.partition(".")[0], na_action="ignore")
    return labels


def group_names(table: pd.DataFrame, column: str) -> tuple[list[str], int]:
    """Return the groups that a column tells apart, in order, and how many rows belong to none."""
    labels = group_labels(table[chosen_column(column, table.columns)])
    names = labels.dropna().drop_duplicates()
    if names.empty:
        raise TableError(f"the column {column!r} is empty, so there are no groups: choose another with --group")
    numbers = pd.to_numeric(names, errors="coerce")
    order = (numbers if numbers.notna().all() else names).sort_values(kind="stable").index
    return names[order].tolist(), int(labels.isna().sum())
