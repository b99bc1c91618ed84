"""What the page shows of every column: a guessed role and why, codes for missing values, a small chart.

The guesses are those with which ``nashgraph learn`` reads a table (:mod:`nashgraph.io`); nothing is recognised twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ...io import TableError, TableOptions, tie_columns
from ...io.coding import Coded, choices, coded, numbered, ordered
from ...io.columns import as_name
from ...io.errors import Problems
from ...io.names import name_column, named_rows
from ...io.recognize import counted_ties, possible_traits, refuse_what_is_no_table_of_answers
from ...io.signals import widened
from ...validation import Array

ID = "id"
NUMBER = "number"
ORDERED = "ordered"
CATEGORY = "category"
COUNT = "count"
NAMES = "names"
OUT = "out"
ROLES = {
    ID: "id, names the rows",
    NUMBER: "number",
    ORDERED: "ordered levels",
    CATEGORY: "category",
    COUNT: "count of ties",
    NAMES: "names of ties",
    OUT: "leave out",
}
# If every column is a node, there is less to choose.
NODE_ROLES = {ID: "names the rows", NUMBER: "node", OUT: "leave out"}
# bars of a chart; values named in a summary
BARS = 14
SHOWN = 3


@dataclass(frozen=True)
class Column:
    """A column as the page shows it: ``role`` is the guess, ``plain`` what the command makes of it without an option.

    ``codes`` mean missing, ``asked`` are those that the command would ask about; ``levels`` go from the lowest to the
    highest; ``trait`` is what it counts among ties, nothing if all; ``bars`` are heights between 0 and 1.
    """

    name: str
    role: str
    plain: str
    reason: str = ""
    codes: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    levels: list[str] = field(default_factory=list)
    trait: str = ""
    summary: str = ""
    bars: list[float] = field(default_factory=list)
    empty: int = 0


@dataclass(frozen=True)
class Guess:
    """All columns of a table, what may be counted among ties, and notes about the table as a whole."""

    columns: list[Column]
    traits: list[str]
    notes: list[str]
    rows: int


def guessed(table: pd.DataFrame, options: TableOptions, file: str = "the table") -> Guess:
    """Return the role of every column as the command would read it, or better where the table shows more."""
    if options.long:
        wide, _, notes = widened(table, options)
        return Guess([], [], [*notes, f"{wide.shape[1] - 1} questions; every question is read as it looks"], len(wide))
    if options.nodes == "rows" and options.id is None:
        refuse_what_is_no_table_of_answers(table, file)
    problems = Problems()
    own = name_column(table, options)
    names, rest, notes = named_rows(table, options, problems)
    found = [_unsaid(table[name], ID if name == own else OUT) for name in table.columns if name not in rest.columns]
    if options.nodes == "columns":
        found += [_unsaid(rest[name], NUMBER) for name in rest.columns]
    else:
        how = choices(options, list(map(str, rest.columns)), problems)
        problems.refuse()
        found += _with_ties([_looked_at(rest[name], how, names) for name in rest.columns], rest, names)
    places = {str(name): place for place, name in enumerate(table.columns)}
    return Guess(sorted(found, key=lambda each: places[each.name]), possible_traits(rest), notes, len(table))


def _unsaid(column: pd.Series, role: str) -> Column:
    """Return a column that is not read as answers: it names the rows, or is a node."""
    why = {ID: "names the rows", OUT: "row numbers that were saved with the table"}.get(role, "")
    values = column.dropna()
    empty = int(column.isna().sum())
    bars = _heights(values.to_numpy(float)) if values.dtype.kind in "iuf" and role == NUMBER else []
    return Column(str(column.name), role, role, why, summary=_examples(values), bars=bars, empty=empty)


def _looked_at(column: pd.Series, how: Any, names: Sequence[str]) -> Column:
    """Return a column by the way in which it would be coded as signals."""
    name = str(column.name)
    values = column.dropna()
    empty = int(column.isna().sum())
    try:
        part = coded(column, how, names)
    except TableError as error:
        return Column(name, OUT, "refused", str(error), summary=_examples(values), empty=empty)
    asked = [as_name(code) for code in part.strays]
    codes = [*part.gaps, *asked]
    answered = values[~values.map(as_name).isin(codes)] if codes else values
    role = part.kind
    why = part.said.partition(";")[0] or part.left_out or "every value is a number"
    if "--ordinal" in part.said:  # the command says that they seem to have an order
        role = ORDERED
        why = "the values seem to have an order"
    if asked:
        why = f"{', '.join(asked)} is far above the scale: it is read as missing unless you remove it"
    return Column(
        *(name, role, part.kind, why, codes, asked, _levels(answered, part.kind)),
        summary=_in_words(part, answered),
        bars=_heights(part.values[:, 0]) if part.kind in (NUMBER, ORDERED) else _shares(part.values),
        empty=empty,
    )


def _with_ties(columns: list[Column], table: pd.DataFrame, names: Sequence[str]) -> list[Column]:
    """Return the columns with those that count or name ties in that role; the command leaves these out by itself."""
    found = tie_columns(table, names)
    totals, traits = counted_ties(found, table)
    roles = {each.column: (COUNT if each.kind == "count" else NAMES, each.reason) for each in found}
    roles |= {name: (OUT, "counts ties of a kind: choose which") for name, trait in traits.items() if trait is None}
    about = []
    for column in columns:
        if column.name not in roles:
            about.append(column)
            continue
        role, why = roles[column.name]
        why = "the number of ties in all" if column.name in totals else why
        about.append(replace(column, role=role, plain=OUT, reason=why, trait=traits.get(column.name) or ""))
    return about


def _levels(values: pd.Series, kind: str) -> list[str]:
    """Return the different values of a column as text, from the lowest to the highest where that is known."""
    if kind == ORDERED:
        return numbered(values, [])[1]
    if values.nunique() > 20:  # too many to put in order by hand
        return []
    seen = sorted({as_name(value) for value in values})
    return ordered(seen) or seen


def _heights(values: Array) -> list[float]:
    """Return the bars of a histogram; few different values have a bar each."""
    values = values[np.isfinite(values)]
    seen, counts = np.unique(values, return_counts=True)
    if len(seen) > BARS:
        counts = np.histogram(values, bins=BARS)[0]
    return [float(count) / counts.max() for count in counts] if len(seen) else []


def _shares(signals: Array) -> list[float]:
    """Return the bars of a category, the most frequent value first."""
    counts = np.sort(np.nansum(signals, axis=0))[::-1][:BARS]
    return [float(count) / counts.max() for count in counts] if counts.size and counts.max() > 0 else []


def _in_words(part: Coded, values: pd.Series) -> str:
    """Return the values of a column in a few words: the range of numbers, the most frequent categories."""
    if part.kind == NUMBER and np.isfinite(part.values).any():
        low = np.nanmin(part.values)
        high = np.nanmax(part.values)
        return f"{low:.4g} to {high:.4g}"
    if part.kind not in (CATEGORY, ORDERED):
        return _examples(values)
    counts = values.map(as_name).value_counts(normalize=True)
    named = [f"{_short(name)} {share:.0%}" for name, share in counts.head(SHOWN).items()]
    return ", ".join(named) + (f" and {len(counts) - SHOWN} more" if len(counts) > SHOWN else "")


def _examples(values: pd.Series) -> str:
    return ", ".join(_short(as_name(value)) for value in values.head(SHOWN)) + (", …" if len(values) > SHOWN else "")


def _short(text: object) -> str:
    return str(text) if len(str(text)) <= 28 else f"{str(text)[:27]}…"
