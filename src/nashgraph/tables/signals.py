"""A table as signals: rows or columns become nodes, and every decision on the way is said aloud."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.impute import KNNImputer

from ..validation import Array, listing
from .columns import as_name, coded, is_categorical, numbers, refuse_gaps, refuse_infinite, refuse_silent
from .errors import TableError
from .groups import of_group
from .names import check_nodes, chosen_column, chosen_columns, split_names
from .options import TableOptions
from .read import ID_NAMES, read_table

NEAREST = 5
UNEVEN = 10.0  # spreads further apart than this are not of one unit, and leave the distances to the widest signal


@dataclass(frozen=True, eq=False)
class Signals:
    """Signals out of a user's file.

    Attributes
    ----------
    table : DataFrame of shape (n_signals, n_nodes), the columns named by the nodes
    benefit : array of shape (n_nodes,), where a column of the file gives it
    notes : list of str, what was decided on the way
    standardized : bool, whether every signal was brought to mean 0 and spread 1
    missing : array of shape (n_nodes,), the share of signals that each node lacks in the file
    columns : DataFrame, what the file says of each node, one row for each, before it is coded or scaled; columns that
        are left out as signals, too
    """

    table: pd.DataFrame
    benefit: Array | None
    notes: list[str]
    standardized: bool
    missing: Array
    columns: pd.DataFrame


@dataclass(frozen=True, eq=False)
class _Oriented:
    """A table with nodes as rows, all numbers."""

    nodes: list[str]
    signals: list[str]
    values: Array
    benefit: Array | None
    notes: list[str]


def load_signals(path: str | Path, options: TableOptions | None = None) -> Signals:
    r"""Read a file and return its signals.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "survey.csv"
    >>> _ = file.write_text("id,age,side\nann,31,n\nbob,45,s\ncat,28,n\n")
    >>> signals = load_signals(file)
    >>> list(signals.table.columns), list(signals.table.index)
    (['ann', 'bob', 'cat'], ['age', 'side=n', 'side=s'])
    """
    table, notes = read_table(path, options)
    found = signals_of(of_group(table, options or TableOptions()), options)
    return replace(found, notes=[*notes, *found.notes])


def signals_of(table: pd.DataFrame, options: TableOptions | None = None) -> Signals:
    """Return the signals in a table.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["ann", "bob"], "age": [31, 45], "rank": [1, 2]})
    >>> found = signals_of(table, TableOptions(benefit="rank"))
    >>> found.benefit, found.notes
    (array([1., 2.]), ["nodes are named by the column 'name'", 'scaled 1 signal(s) to mean 0 and spread 1 over ...'])
    """
    options = options or TableOptions()
    whole = table
    table = table.drop(columns=chosen_columns(options.drop, table.columns))
    found = _rows_as_nodes(table, options) if options.nodes == "rows" else _columns_as_nodes(table, options)
    if not found.signals:
        raise TableError("no signals are left: the table has no other columns")
    refuse_infinite(found.values, found.nodes, found.signals)
    refuse_silent(found.values, found.nodes)
    found = _without_constant(found)
    gaps = np.isnan(found.values)
    if gaps.any() and options.missing == "impute":
        found = _filled(found)
    elif gaps.any():
        found.notes.append(
            f"{gaps.sum()} values ({gaps.mean():.1%}) are missing: two nodes are compared over the signals both have, "
            "and count as typical in the others"
        )
    standardize, why = _scaling(found, options)
    values = _standardized(found.values) if standardize else found.values
    frame = pd.DataFrame(values.T, index=pd.Index(found.signals), columns=pd.Index(found.nodes))
    columns = _as_given(whole, table, options)
    return Signals(frame, found.benefit, [*found.notes, why], standardize, gaps.mean(axis=1), columns)


def _as_given(whole: pd.DataFrame, kept: pd.DataFrame, options: TableOptions) -> pd.DataFrame:
    """Return the table with one row for each node, named, and nothing else done to it; what was dropped is there."""
    names, values, _ = _named_rows(kept, options)
    if options.nodes == "columns":
        return values.set_axis(pd.Index(names), axis=0).T
    column = _name_column(kept, options)
    return whole.drop(columns=[] if column is None else column).set_axis(pd.Index(names), axis=0)


def _rows_as_nodes(table: pd.DataFrame, options: TableOptions) -> _Oriented:
    names, table, notes = _named_rows(table, options)
    check_nodes(names, "rows")
    benefit = None
    if options.benefit is not None:
        column = chosen_column(options.benefit, table.columns)
        benefit = _checked_benefit(numbers(table[column]), names, column)
        table = table.drop(columns=column)
    items = split_names(options.categorical, table.columns)
    auto = "auto" in items
    listed = [chosen_column(item, table.columns) for item in items if item not in ("auto", "none")]
    parts = []
    for column in map(str, table.columns):
        categorical = column in listed or (auto and is_categorical(table[column]))
        parts.append(coded(table[column], categorical=categorical))
        if categorical:
            values = [name.removeprefix(f"{column}=") for name in parts[-1].names]
            notes.append(
                f"column {column!r} is a category, coded as {len(values)} signals of 0 and 1: {listing(values)}"
            )
    if options.missing == "error":
        refuse_gaps(table.isna().to_numpy(), names, list(table.columns))
    return _Oriented(
        nodes=names,
        signals=[name for part in parts for name in part.names],
        values=np.column_stack([part.values for part in parts]) if parts else np.empty((len(names), 0)),
        benefit=benefit,
        notes=notes,
    )


def _columns_as_nodes(table: pd.DataFrame, options: TableOptions) -> _Oriented:
    if options.categorical not in (("auto",), ("none",)):
        raise TableError("--categorical codes columns, and with --nodes columns these are nodes: leave it out")
    signals, table, notes = _named_rows(table, options)
    nodes = [str(name) for name in table.columns]
    check_nodes(nodes, "columns")
    remedy = "pass --id if it names the rows"
    values = np.column_stack([numbers(table[name], remedy) for name in table])
    benefit = None
    if options.benefit is not None:
        place = signals.index(chosen_column(options.benefit, signals, "row"))
        benefit = _checked_benefit(values[place], nodes, options.benefit)
        values, signals = np.delete(values, place, axis=0), [*signals[:place], *signals[place + 1 :]]
    gaps = np.isnan(values)
    if options.missing == "error":
        refuse_gaps(gaps.T, nodes, signals)
    _check_no_empty_rows(gaps, signals)
    return _Oriented(nodes, signals, values.T, benefit, notes)


def _named_rows(table: pd.DataFrame, options: TableOptions) -> tuple[list[str], pd.DataFrame, list[str]]:
    """Return the rows' names, the table without the column that gave them, and a note on which it was."""
    what = "nodes" if options.nodes == "rows" else "signals"
    column = _name_column(table, options)
    if column is None:
        names = [str(k + 1) for k in range(len(table))]
        note = f"{what} are named by row numbers, 1 to {len(table)}; --id names them by a column"
        return names, table, [note] if what == "nodes" else []
    given = table[column]
    names = ["" if missing else as_name(value) for value, missing in zip(given, given.isna(), strict=True)]
    shown = f"the column {column!r}" if column else "the first column, which has no name"
    return names, table.drop(columns=column), [f"{what} are named by {shown}"]


def _name_column(table: pd.DataFrame, options: TableOptions) -> str | None:
    if options.id is not None:
        if options.id == "none" and "none" not in table.columns:
            return None
        return chosen_column(options.id, table.columns)
    if len(table.columns) and table.columns[0] == "":
        return ""
    taken = {*options.categorical, options.benefit}
    guessed = [name for name in table.columns if name in ID_NAMES and name not in taken]
    return guessed[0] if guessed and options.nodes == "rows" else None


def _checked_benefit(benefit: Array, nodes: list[str], name: str) -> Array:
    for wrong, what in ((~np.isfinite(benefit), "missing or infinite"), (benefit < 0, "negative")):
        if wrong.any():
            first = int(np.argmax(wrong))
            raise TableError(
                f"--benefit {name} is {what} at {int(wrong.sum())} node(s), first at {nodes[first]}: it must be a "
                "number of at least 0 for every node"
            )
    return benefit


def _check_no_empty_rows(gaps: Array, signals: list[str]) -> None:
    empty = np.flatnonzero(gaps.all(axis=1))
    if empty.size:
        raise TableError(f"signal {signals[empty[0]]!r} has no values at all: leave its row out of the file")


def _without_constant(found: _Oriented) -> _Oriented:
    """Leave out signals that are the same at every node that has them: they tell nothing."""
    constant = np.nanmax(found.values, axis=0) == np.nanmin(found.values, axis=0)
    if not constant.any():
        return found
    if constant.all():
        raise TableError("every signal is the same at all nodes, so they tell nothing of a network: check the table")
    names = [name for name, flat in zip(found.signals, constant, strict=True) if flat]
    return _Oriented(
        nodes=found.nodes,
        signals=[name for name, flat in zip(found.signals, constant, strict=True) if not flat],
        values=found.values[:, ~constant],
        benefit=found.benefit,
        notes=[*found.notes, f"left out {len(names)} signal(s) that are the same at every node: {listing(names)}"],
    )


def _filled(found: _Oriented) -> _Oriented:
    """Fill every gap with the mean of the nearest nodes that have the value, signals weighing alike."""
    centre, spread = np.nanmean(found.values, axis=0), np.nanstd(found.values, axis=0)
    gaps = np.isnan(found.values)
    filled = KNNImputer(n_neighbors=NEAREST).fit_transform((found.values - centre) / spread) * spread + centre
    note = (
        f"filled {gaps.sum()} gap(s) in {gaps.any(axis=0).sum()} signal(s), each with the mean of the {NEAREST} "
        "nearest nodes that have a value"
    )
    return replace(found, values=np.where(gaps, filled, found.values), notes=[*found.notes, note])


def _standardized(values: Array) -> Array:
    scaled: Array = (values - np.nanmean(values, axis=0)) / np.nanstd(values, axis=0)
    return scaled


def _scaling(found: _Oriented, options: TableOptions) -> tuple[bool, str]:
    """Return whether to standardise the signals, and a sentence that says so, why, and how to undo it."""
    spreads = np.nanstd(found.values, axis=0)
    widest, narrowest = int(np.argmax(spreads)), int(np.argmin(spreads))
    ratio = spreads[widest] / spreads[narrowest]
    apart = f"{found.signals[widest]!r} spreads {ratio:.0f} times as widely as {found.signals[narrowest]!r}"
    wanted = options.standardize
    if wanted or (wanted is None and (options.nodes == "rows" or ratio > UNEVEN)):
        why = f", for {apart}" if options.nodes == "columns" and ratio > UNEVEN else ""
        undo = "--no-standardize takes them as they are"
        return True, f"scaled {len(spreads)} signal(s) to mean 0 and spread 1 over the nodes{why}; {undo}"
    if ratio > UNEVEN:
        return False, f"{apart} and so decides the distances; --standardize puts them on one scale"
    return False, "signals are taken as they are; --standardize brings each to mean 0 and spread 1 over the nodes"
