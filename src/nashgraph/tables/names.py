"""Names of columns and of nodes: those a user gives must be there, those a graph gets must be fit to be written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

import pandas as pd

from ..validation import listing
from .errors import TableError

# What XML, and so GraphML, has no way to hold.
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def chosen_column(name: str, columns: Iterable[str], kind: str = "column") -> str:
    """Return a name if it is that of a column, or say which it may have been.

    Examples
    --------
    >>> chosen_column("incom", ["age", "income"])
    Traceback (most recent call last):
    ...
    nashgraph.tables.errors.TableError: there is no column 'incom' (did you mean 'income'?): there are age, income
    """
    known = list(columns)
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise TableError(f"there is no {kind} {name!r}{hint}: there are {listing(known, 8)}")


def chosen_columns(given: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the columns meant by names, or by several names with commas between.

    Examples
    --------
    >>> chosen_columns(["a,b", "c"], ["a", "b", "c", "d"])
    ['a', 'b', 'c']
    """
    known = list(columns)
    return [chosen_column(name, known) for name in split_names(given, known)]


def split_names(given: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the names in a list in which one item may hold several, with commas between; a column may have commas too.

    Examples
    --------
    >>> split_names(["auto,b", "c,d"], ["a", "b", "c,d"])
    ['auto', 'b', 'c,d']
    """
    known = set(columns)
    return [name for item in given for name in ([item] if item in known else item.split(","))]


def check_nodes(names: Sequence[str], kind: str) -> None:
    """Refuse nodes that cannot be told apart, or written, or are too few."""
    if len(names) < 2:
        other = {"rows": "columns", "columns": "rows"}[kind]
        count = "one node" if names else "no node"
        raise TableError(
            f"the table has {count} only, because nodes are {kind}: a network needs two; is it --nodes {other}?"
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
