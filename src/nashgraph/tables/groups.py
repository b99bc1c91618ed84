"""Groups in a table: villages, classes, years; each becomes a network of its own."""

from __future__ import annotations

import re

import pandas as pd

from .columns import as_name
from .errors import TableError
from .names import chosen_column
from .options import TableOptions

WHOLE_WITH_POINT = re.compile(r"[-+]?\d+\.0+")


def group_labels(column: pd.Series) -> pd.Series:
    """Return the group of every row as text, NaN where there is none.

    A column that a program wrote as 1.0, 2.0, … throughout is one of whole numbers; anything else stays as written.

    Examples
    --------
    >>> group_labels(pd.Series(["1.0", "2.0"])).tolist(), group_labels(pd.Series(["1.0", "01", "1"])).tolist()
    (['1', '2'], ['1.0', '01', '1'])
    """
    labels = column.astype(object).map(as_name, na_action="ignore")
    labels = labels.where(labels.notna() & (labels.map(str).str.strip() != ""))
    if all(WHOLE_WITH_POINT.fullmatch(label) for label in labels.dropna().unique()):
        labels = labels.map(lambda label: label.partition(".")[0], na_action="ignore")
    return labels


def group_names(table: pd.DataFrame, column: str) -> tuple[list[str], int]:
    """Return the groups that a column tells apart, in order, and how many rows belong to none.

    Examples
    --------
    >>> group_names(pd.DataFrame({"village": [10, 2, 10, None]}), "village")
    (['2', '10'], 1)
    """
    labels = group_labels(table[chosen_column(column, table.columns)])
    names = labels.dropna().drop_duplicates()
    if names.empty:
        raise TableError(f"the column {column!r} is empty, so there are no groups: choose another with --group")
    numbers = pd.to_numeric(names, errors="coerce")
    order = (numbers if numbers.notna().all() else names).sort_values(kind="stable").index
    return names[order].tolist(), int(labels.isna().sum())


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
    rows = table[group_labels(table[column]) == options.only]
    if rows.empty:
        raise TableError(f"no row has {options.only!r} in the column {column!r}")
    return rows.drop(columns=column).reset_index(drop=True)
