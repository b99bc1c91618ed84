"""A column of a table as signals: itself, its levels by number, or one 0/1 signal for each value of a category."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .columns import as_name, is_text, is_wordy, numbers, refuse_what_never_is_a_number
from .errors import Problems, TableError
from .missing import GapCodes, gap_codes, plain_codes, stray_codes
from .names import chosen_column, chosen_columns, is_few, split_names, why_code
from .options import TableOptions
from .vocabulary import SCALES

RATE = re.compile(
    r"(less|fewer|more)?.*?\b(once|twice|few|several|couple|every|three|four|\d+)\b.*\b(day|week|weekend|month|year)s?"
)
SELDOM = {"never": 0.0, "hardly ever": 0.1, "rarely": 0.2, "seldom": 0.2}  # how often a year each comes
SELDOM |= {"yearly": 1.0, "annually": 1.0, "monthly": 12.0, "weekly": 52.0, "daily": 365.0}
COLUMNS = "{columns}"  # in a sentence: the columns it is about
ABSENT = ("none",)  # a gap among numbers, as Python writes it; among words it is an answer


def ordinal_columns(given: Iterable[str], columns: Collection[str]) -> dict[str, list[str]]:
    """Return the columns of levels that a user names, each with its levels where they are given."""
    found = {}
    for item in given:
        names, _, levels = (item, "", "") if item in columns else item.partition("=")
        order = [level.strip() for level in levels.split("<")] if levels else []
        for name in split_names([names], columns):
            found[chosen_column(name, columns)] = order
    return found


def numbered(column: pd.Series, order: list[str]) -> tuple[Array, list[str]]:
    """Return a column of levels as 0, 1, 2, ... and the levels in their order."""
    given = column.astype(object).map(lambda cell: as_name(cell).strip(), na_action="ignore")
    seen = list(pd.unique(given.dropna()))
    if not order:
        order = ordered(seen) or _kept_order(column)
    unknown = [level for level in seen if level not in order]
    if not order or unknown:
        what = f"have {listing(unknown)}, which the order has not"
        what = what if order else f"are {listing(seen)}, in no known order"
        raise TableError(
            f"the levels of column {column.name!r} {what}: pass --ordinal '{column.name}=LOWEST<...<HIGHEST'"
        )
    places = {level: float(place) for place, level in enumerate(order)}
    return given.map(places).to_numpy(dtype=float, na_value=np.nan), order


def _kept_order(column: pd.Series) -> list[str]:
    """Return the order of a category's values in the file, unless it is alphabetical, which tells nothing."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return []
    kept = [as_name(level) for level in column.dtype.categories if (column == level).any()]
    return kept if column.dtype.ordered or kept != sorted(kept) else []


def ordered(levels: Collection[str]) -> list[str]:
    """Return levels from the lowest to the highest, or none if their order is not known."""
    plain = {level: " ".join(level.casefold().split()) for level in levels}
    ranks = ({word: k for k, words in enumerate(scale) for word in words} for scale in SCALES)
    ways: Iterator[Callable[[str], Any]] = itertools.chain((rank.get for rank in ranks), (_rate, _first_number))
    for way in ways:
        keys = {level: way(plain[level]) for level in levels}
        if None not in keys.values() and len({*keys.values()}) == len(keys):
            return sorted(levels, key=keys.__getitem__)
    return []


def _rate(level: str) -> float | None:
    """Return how often a year a level means: "once a month" is 12, "less than once a month" a little below."""
    if level in SELDOM or not (found := RATE.fullmatch(level)):
        return SELDOM.get(level)
    words = {"once": 1, "every": 1, "twice": 2, "couple": 2, "three": 3, "few": 3, "several": 3.5, "four": 4}
    a_year = {"day": 365, "week": 52, "weekend": 52, "month": 12, "year": 1}[found[3]]
    return float(words.get(found[2]) or found[2]) * a_year * {"less": 0.9, "fewer": 0.9, "more": 1.1}.get(found[1], 1.0)


def _first_number(level: str) -> tuple[float, int] | None:
    """Return the first number in a level such as 18-25, with "under 18" below it and "over 65" above."""
    found = re.search(r"\d+(?:\.\d+)?", level.replace(",", ""))
    below = re.match(r"<|under|below|less|up to|at most", level)
    above = re.match(r">|over|above|more", level)
    return (float(found[0]), bool(above) - bool(below)) if found else None


@dataclass(frozen=True)
class Choices:
    """A user's options for single columns, of which all exist."""

    options: TableOptions
    categorical: Collection[str]
    ordinal: dict[str, list[str]]
    keep: Collection[str]
    codes: GapCodes
    auto: bool  # whether words become categories


@dataclass(frozen=True, eq=False)
class Coded:
    """One column of a table as signals."""

    column: str
    names: list[str]  # of the signals; none where the column is left out
    values: Array  # of shape (n_rows, n_signals), NaN in all signals of a missing category
    kind: str  # "number", "ordered", "category" or "out"
    said: str = ""  # what was decided, if it was not obvious; the column is its subject
    left_out: str = ""  # why it is: "empty", or what codes it holds
    gaps: list[str] = field(default_factory=list)  # codes that were taken for gaps
    strays: list[float] = field(default_factory=list)  # numbers far above the scale of the others
    junk: list[str] = field(default_factory=list)  # cells that are not numbers and were taken for gaps


def choices(options: TableOptions, columns: Collection[str], problems: Problems) -> Choices:
    """Return the options about single columns; columns that do not exist are kept as problems."""
    categorical = list[str]()
    ordinal = dict[str, list[str]]()
    keep = list[str]()
    codes = gap_codes((), columns)
    items = split_names(options.categorical, columns)
    for item in items:
        with problems.kept():
            categorical += [chosen_column(item, columns)] if item not in ("auto", "none") else []
    with problems.kept():
        ordinal = ordinal_columns(options.ordinal, columns)
    with problems.kept():
        keep = chosen_columns(options.keep, columns)
    with problems.kept():
        codes = gap_codes(options.na, columns)
    return Choices(options, categorical, ordinal, keep, codes, "none" not in items)


def coded(column: pd.Series, how: Choices, nodes: Collection[str] = ()) -> Coded:
    """Return a column as signals; ``nodes`` are the names of the rows."""
    name = str(column.name)
    column = how.codes.emptied(column)
    if column.isna().all():
        return _left_out(column, "empty")
    ranked = isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
    if name in how.ordinal or (ranked and name not in how.categorical):
        return _levels(column, how)
    if name in how.categorical:
        return _category(column)
    refuse_what_never_is_a_number(column)
    if name in how.keep:
        return _numbers(column, how)
    if why := why_code(column, nodes):
        return _category(column, f", for {why}") if is_few(column) else _left_out(column, why)
    wordy = how.auto and is_wordy(column, how.options, {*how.codes.words, *ABSENT})
    return _words(column, how) if wordy else _numbers(column, how)


def _words(column: pd.Series, how: Choices) -> Coded:
    """Return words as a category, unless they differ too much: more than 50 values, or 200 if each has ten people."""
    column, gaps = how.codes.answered(column)
    distinct = column.astype(object).nunique()
    many = distinct > 50 and (distinct > 200 or distinct * 10 > column.count())
    if is_text(column) and (distinct == len(column) or many):
        return _left_out(column, f"text with {distinct} different values")
    hint = _taken_as_missing(gaps)
    levels = ordered([as_name(value) for value in column.dropna().unique()])
    if len(levels) > 2:
        hint += f"; they seem to have an order ({' < '.join(levels)}): --ordinal '{COLUMNS}' numbers them in it"
    return replace(_category(column, hint=hint), gaps=gaps)


def _taken_as_missing(gaps: list[str]) -> str:
    return f"; {', '.join(gaps)} taken as missing" if gaps else ""


def _levels(column: pd.Series, how: Choices) -> Coded:
    """Return levels by their numbers; a cell that plainly says "no answer" is not a level unless given as one."""
    name = str(column.name)
    order = how.ordinal.get(str(column.name), [])
    column, gaps = how.codes.answered(column, spare=order)
    values, order = numbered(column, order)
    said = f"has levels in order, numbered from 0: {' < '.join(order)}{_taken_as_missing(gaps)}"
    return Coded(name, [name], values[:, None], "ordered", said, gaps=gaps)


def _numbers(column: pd.Series, how: Choices) -> Coded:
    name = str(column.name)
    strays = list[float]()
    column, gaps = how.codes.answered(column, also=ABSENT)
    # One of many groups is not worth stopping for a cell that cannot be read.
    values, example, junk = numbers(column, how.options, junk=0.0 if how.options.only is None else 0.05)
    if how.codes.plain and name not in how.keep:
        found = plain_codes(values)
        strays = stray_codes(values)
        values = np.where(np.isin(values, found), np.nan, values)
        gaps = [*gaps, *(as_name(code) for code in found)]
    said = [f"was read as numbers, {example}"] if example else []
    said += [f"has {', '.join(gaps)}, taken as missing; --na none takes codes as they are"] if gaps else []
    return Coded(name, [name], values[:, None], "number", ", and ".join(said), gaps=gaps, strays=strays, junk=junk)


def _category(column: pd.Series, why: str = "", hint: str = "") -> Coded:
    texts = column.astype(object).map(as_name, na_action="ignore")
    values = sorted(texts.dropna().unique())
    table = (texts.to_numpy()[:, None] == np.array(values, dtype=object)[None, :]).astype(float)
    table[column.isna().to_numpy()] = np.nan
    said = f"is a category{why}, coded as {len(values)} signals of 0 and 1: {listing(values)}{hint}"
    return Coded(str(column.name), [f"{column.name}={value}" for value in values], table, "category", said)


def _left_out(column: pd.Series, why: str) -> Coded:
    return Coded(str(column.name), [], np.empty((len(column), 0)), "out", left_out=why)


def coding_notes(parts: Iterable[Coded]) -> list[str]:
    """Return notes on how columns were coded, one for all that were coded alike."""
    alike = dict[str, list[str]]()
    notes = list[str]()
    for part in (part for part in parts if part.said):
        alike.setdefault(part.said, []).append(part.column)
    for said, names in alike.items():
        which = f"column {names[0]!r}"
        if len(names) > 1:
            which = f"each of {len(names)} columns ({listing(map(repr, names))})"
        notes.append(f"{which} {said.replace(COLUMNS, ','.join(names))}")
    return notes


def left_out_notes(parts: Iterable[Coded]) -> list[str]:
    """Return notes on the columns that were left out: the empty ones, and those of codes, each with the reason."""
    parts = list(parts)
    empty = [part.column for part in parts if part.left_out == "empty"]
    codes = [f"{part.column!r} ({part.left_out})" for part in parts if part.left_out not in ("", "empty")]
    notes = [f"left out {len(empty)} column(s) without values: {listing(empty)}"] if empty else []
    if codes:
        notes.append(
            f"left out {len(codes)} column(s) that name things and measure nothing: {listing(codes)}; --id names the "
            "nodes by one, --categorical and --keep take them as categories or numbers"
        )
    return notes
