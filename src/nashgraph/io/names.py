"""Names of columns, rows and groups, and columns that name things instead of measuring them.

docs/guide/tables.md has the rules by which columns of codes are recognised.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .columns import DEFAULT, as_name, is_code, is_text, is_wordy, whole_numbers
from .errors import Problems, TableError
from .options import ID_NAMES, TableOptions
from .vocabulary import CODE_WORDS, NODE_WORDS, QUANTITIES, TIMES

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
    return [name.partition(".")[0] for name in names] if whole else list(names)


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


def why_code(column: pd.Series, nodes: Collection[str] = ()) -> str:
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
    if _names_nodes({as_name(value) for value in given.unique()}, nodes):
        return "it names other nodes"
    return _why_numbered(values) if values is not None and distinct == len(column) >= 5 else ""


def _why_numbered(values: Array) -> str:
    """Return how whole numbers, all different, number the nodes."""
    if counts_rows(values):
        return "it counts the rows"
    if len(values) >= MANY_ROWS and values.min() >= SMALL and np.ptp(values) == len(values) - 1:
        return "it numbers the nodes"
    return "it is long numbers, all different" if values.min() >= 1e8 and _same_width(values) else ""


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


def plain_id(table: pd.DataFrame, taken: Collection[str] = (), options: TableOptions = DEFAULT) -> str | None:
    """Return the column that names the rows: one called household or the like, or the first if it is not a signal.

    It has a value in every row, and no two alike.
    """
    allowed = NODE_WORDS | CODE_WORDS | {"no", "nr", "num", "number", "name", "label"}
    for place, name in enumerate(map(str, table.columns)):
        called = bool(NODE_WORDS & (words := {*words_of(name)})) and words <= allowed
        column = table[name]
        if name in taken or not (called or place == 0) or column.isna().any():
            continue
        able = is_text(column) or whole_numbers(column) is not None
        if not able or len({as_name(value) for value in column}) < len(column):
            continue
        if called or _is_first_id(column, options) or why_code(column):
            return name
    return None


def says_when(column: pd.Series, options: TableOptions = DEFAULT) -> bool:
    """Tell whether a column names the rows of recordings: dates or words, all different, or a clock that runs."""
    if column.isna().any() or len({as_name(value) for value in column}) < len(column):
        return False
    if is_text(column) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return not is_text(column) or is_wordy(column, options)
    runs = pd.api.types.is_numeric_dtype(column.dtype) and column.is_monotonic_increasing
    whole = whole_numbers(column) if runs else None
    return bool(runs and TIMES.intersection(words_of(str(column.name)))) or (whole is not None and counts_rows(whole))


def is_saved_index(table: pd.DataFrame) -> bool:
    """Tell whether the first column is row numbers that a program saved with the table: no name, all different."""
    if not len(table.columns) or not re.fullmatch(r"(?:Unnamed: \d+)?", str(table.columns[0])):
        return False
    values = whole_numbers(table.iloc[:, 0])
    return values is not None and len(values) == len(table) and len(np.unique(values)) == len(values)


def _is_first_id(column: pd.Series, options: TableOptions) -> bool:
    """Tell whether a first column, all different, names the rows: words, numbers without a hole, or as wide and rising.

    Numbers without a hole may be in any order: a file is often sorted by something else.
    """
    values = whole_numbers(column)
    if values is None:
        return is_wordy(column, options)
    if len(values) < MANY_ROWS:
        return False
    rising = values.min() >= SMALL and bool((np.diff(values) > 0).all()) and _same_width(values)
    return rising or bool(np.ptp(values) == len(values) - 1)


def _names_nodes(names: set[str], nodes: Collection[str]) -> bool:
    """Tell whether nine in ten values name nodes; numbers must be 100 or more and spread over all the names."""
    if len(names.intersection(nodes)) < 0.9 * len(names):
        return False
    if not all(name.isdecimal() for name in nodes):
        return True
    numbered = [int(name) for name in nodes]
    values = [int(name) for name in names if name.isdecimal()]
    return min(numbered) >= SMALL and max(values) - min(values) >= (max(numbered) - min(numbered)) / 2


def _same_width(values: Array) -> bool:
    return len({len(str(int(value))) for value in (values.min(), values.max())}) == 1


def words_of(name: str, digits: bool = False) -> list[str]:
    """Return the words of a column's name in small letters: friend_id, FriendId and "friend id" have two."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()
    return re.findall(r"[^\W_]+" if digits else r"[^\W\d_]+", apart)


def named_rows(
    table: pd.DataFrame, options: TableOptions, problems: Problems
) -> tuple[list[str], pd.DataFrame, list[str]]:
    """Return the rows' names, the table without the column that gave them, and notes on which it was."""
    what = "nodes" if options.nodes == "rows" else "signals"
    column = None
    notes = list[str]()
    with problems.kept():
        column = name_column(table, options)
    if is_saved_index(table) and column != table.columns[0]:
        notes = ["left out the first column, which has no name: row numbers that were saved with the table"]
        table = table.iloc[:, 1:]
    if column is None:
        names = [str(k + 1) for k in range(len(table))]
        note = f"{what} are named by row numbers, 1 to {len(table)}; --id names them by a column"
        return names, table, [*notes, *([note] if what == "nodes" else [])]
    given = table[column]
    names = ["" if missing else as_name(value) for value, missing in zip(given, given.isna(), strict=True)]
    plain = plain_names(names)
    names = plain if len({*plain}) == len({*names}) else names  # "5" and "5.0" of one table are two nodes
    shown = f"the column {column!r}" if column else "the first column, which has no name"
    return names, table.drop(columns=column), [*notes, f"{what} are named by {shown}"]


def name_column(table: pd.DataFrame, options: TableOptions) -> str | None:
    """Return the column that names the rows: as given, the first without a name, by its name, or plainly so.

    Row numbers that were saved with the table name its rows only where nothing else does.
    """
    if options.id is not None:
        if options.id == "none" and "none" not in table.columns:
            return None
        return chosen_column(options.id, table.columns)
    if not len(table.columns):
        return None
    first = str(table.columns[0])
    saved = is_saved_index(table)
    if not first and not saved:
        return first
    rest = table.iloc[:, 1:] if saved else table
    if options.nodes == "columns":
        return first if saved or says_when(table[first], options) else None
    given = [name for name in (*options.categorical, *options.keep, *options.ordinal, options.benefit) if name]
    given += [*options.names, *filter(None, [options.ties]), *(text.partition("=")[0] for text in options.counts)]
    taken = {*split_names(given, table.columns)}
    called = [str(name) for name in rest.columns if name in ID_NAMES and name not in taken]
    found = called[0] if called else plain_id(rest, taken, options)
    return first if found is None and saved else found


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


def of_group(table: pd.DataFrame, options: TableOptions) -> pd.DataFrame:
    """Return the rows of the group that the options ask for, without the column that tells it; else the table."""
    if options.group is None or options.only is None:
        return table
    column = chosen_column(options.group, table.columns)
    rows = table[group_labels(table[column]) == options.only]
    if rows.empty:
        raise TableError(f"no row has {options.only!r} in the column {column!r}")
    return rows.drop(columns=column).reset_index(drop=True)
