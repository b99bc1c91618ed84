"""Which column names the rows of a table."""

from __future__ import annotations

import pandas as pd

from .cells import Marks
from .columns import as_name
from .errors import Problems
from .identifiers import is_saved_index, plain_id, says_when
from .names import chosen_column, split_names
from .options import ID_NAMES, TableOptions


def named_rows(
    table: pd.DataFrame, options: TableOptions, problems: Problems
) -> tuple[list[str], pd.DataFrame, list[str]]:
    """Return the rows' names, the table without the column that gave them, and notes on which it was.

    Examples
    --------
    >>> table = pd.DataFrame({"": [0, 1], "household": [7, 9], "age": [31, 45]})
    >>> names, table, notes = named_rows(table, TableOptions(), Problems())
    >>> names, list(table.columns), notes[1]
    (['7', '9'], ['age'], "nodes are named by the column 'household'")
    """
    what = "nodes" if options.nodes == "rows" else "signals"
    column, notes = None, list[str]()
    with problems.kept():
        column = _name_column(table, options)
    if is_saved_index(table) and column != table.columns[0]:
        notes = ["left out the first column, which has no name: row numbers that were saved with the table"]
        table = table.iloc[:, 1:]
    if column is None:
        names = [str(k + 1) for k in range(len(table))]
        note = f"{what} are named by row numbers, 1 to {len(table)}; --id names them by a column"
        return names, table, [*notes, *([note] if what == "nodes" else [])]
    given = table[column]
    names = ["" if missing else as_name(value) for value, missing in zip(given, given.isna(), strict=True)]
    shown = f"the column {column!r}" if column else "the first column, which has no name"
    return names, table.drop(columns=column), [*notes, f"{what} are named by {shown}"]


def _name_column(table: pd.DataFrame, options: TableOptions) -> str | None:
    """Return the column that names the rows: as given, the first without a name, by its name, or plainly so.

    Row numbers that were saved with the table name its rows only where nothing else does.
    """
    if options.id is not None:
        if options.id == "none" and "none" not in table.columns:
            return None
        return chosen_column(options.id, table.columns)
    if not len(table.columns):
        return None
    first, saved = str(table.columns[0]), is_saved_index(table)
    if not first and not saved:
        return first
    rest, marks = table.iloc[:, 1:] if saved else table, Marks(options.decimal, options.thousands)
    if options.nodes == "columns":
        return first if saved or says_when(table[first], marks) else None
    given = [name for name in (*options.categorical, *options.keep, *options.ordinal, options.benefit) if name]
    taken = {*split_names(given, table.columns)}
    called = [str(name) for name in rest.columns if name in ID_NAMES and name not in taken]
    found = called[0] if called else plain_id(rest, taken, marks)
    return first if found is None and saved else found
