"""Groups in a table: villages, classes, years; each becomes a network of its own."""

from __future__ import annotations

import pandas as pd

from .columns import as_name
from .errors import TableError
from .names import chosen_column
from .options import TableOptions


def group_names(table: pd.DataFrame, column: str) -> tuple[list[str], int]:
    """Return the groups that a column tells apart, in order, and how many rows belong to none.

    Examples
    --------
    >>> group_names(pd.DataFrame({"village": [10, 2, 10, None]}), "village")
    (['2', '10'], 1)
    """
    given = table[chosen_column(column, table.columns)]
    none = given.isna() | (given.map(str).str.strip() == "")
    kept = given[~none]
    if kept.empty:
        raise TableError(f"the column {column!r} is empty, so there are no groups: take another with --group")
    names = kept.map(as_name).drop_duplicates()
    numbers = pd.to_numeric(names, errors="coerce")
    order = (numbers if numbers.notna().all() else names).sort_values().index
    return names[order].tolist(), int(none.sum())


def of_group(table: pd.DataFrame, options: TableOptions) -> pd.DataFrame:
    """Return the rows of the group that the options ask for, without the column that tells it; else the table.

    Examples
    --------
    >>> table = pd.DataFrame({"village": [1, 2, 1], "age": [31, 45, 28]})
    >>> of_group(table, TableOptions(group="village", only="1"))["age"].tolist()
    [31, 28]
    """
    if options.group is None or options.only is None:
        return table
    column = chosen_column(options.group, table.columns)
    rows = table[table[column].map(as_name, na_action="ignore") == options.only]
    if rows.empty:
        raise TableError(f"no row has {options.only!r} in the column {column!r}")
    return rows.drop(columns=column).reset_index(drop=True)
