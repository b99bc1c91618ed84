"""Columns that people filled in about their ties, read as declared: how many of which kind, how many in all, and names.

They never become signals, and neither do the traits that are counted.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..matching import NameIndex
from ..tie_survey import TieSurvey
from ..tie_tables import read_counts
from ..validation import Array, listing
from .columns import among, as_name, is_text
from .errors import Problems, TableError
from .missing import GapCodes, gap_codes, plain_codes
from .names import chosen_column, chosen_columns, plain_names, words_of
from .options import TableOptions
from .read import read_table
from .recognize import ego_column
from .vocabulary import GAPS, NO_ANSWER


def with_alters(table: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, TableOptions, list[str]]:
    r"""Return a table of egos with counts of their alters, declared; as Network Canvas and egor export both.

    A row of the other table is one person that an ego named. Both have a column with the ego's id
    (networkCanvasEgoUUID, .egoID, egoID). A column that both have is a trait if it is 0/1 or has few values: the alters
    with each value are counted. Egos without alters count as not asked; an unknown value leaves the ego's count open.
    """
    path = Path(str(options.alters))
    alters, _ = read_table(path, TableOptions())
    who = ego_column(table)
    whom = ego_column(alters)
    if who is None or whom is None:
        lacking = "the table" if who is None else path.name
        raise TableError(
            f"--alters needs a column with the ego's id in both tables, called networkCanvasEgoUUID, .egoID or egoID: "
            f"{lacking} has none; rename the column"
        )
    egos, of = (plain_names([as_name(name) for name in each]) for each in (table[who], alters[whom]))
    if strangers := {*of} - {*egos}:
        shown = listing(sorted(strangers))
        raise TableError(f"{path.name} has alters of {len(strangers)} ego(s) that the table does not have: {shown}")
    table = table.drop(columns=[name for name in table if name != who and str(name).startswith("networkCanvas")])
    columns: dict[str, Array] = {"alters": pd.Series(of).value_counts().reindex(egos).to_numpy(dtype=float)}
    counts = list[str]()
    left_out = list[str]()
    for name in (str(name) for name in alters if name in table and name not in (who, whom)):
        texts, own = (flag_texts(each[name]) for each in (alters, table))
        values = [value for value in sorted({*own.dropna()}) if (own == value).sum() < len(own)]  # not all have it
        if not values or len({*texts.dropna(), *values}) > 8 or own.isna().any():
            left_out.append(name)
            continue
        table = table.assign(**{name: own})
        for value in ["1"] if {*values} == {"0", "1"} else values:
            label = f"alters: {name}={value}"
            counted = (texts == value).astype(float).where(texts.notna()).groupby(pd.Index(of))
            columns[label] = counted.apply(lambda part: part.sum(skipna=False)).reindex(egos).to_numpy()
            counts.append(f"{label}={name}={value}")
    asked = int((columns["alters"] > 0).sum())
    said = f"{len(alters)} alters of {asked} egos, counted by {len(counts)} trait(s) that both tables have"
    notes = [f"{path.name}: {said}"]
    notes += [f"{len(egos) - asked} egos without alters count as not asked"] if asked < len(egos) else []
    notes += [f"not counted, because values are missing or too many: {listing(left_out)}"] if left_out else []
    table = pd.concat([table, pd.DataFrame(columns, index=table.index)], axis=1)
    found = replace(options, ties="alters", counts=(*options.counts, *counts), id=options.id or who, alters=None)
    return table, found, notes


def flag_texts(column: pd.Series) -> pd.Series:
    """Return a column as text, true and false as 1 and 0, whole numbers without a point."""
    texts = column.map(lambda cell: as_name(cell).strip().removesuffix(".0"), na_action="ignore")
    texts = texts.map(lambda text: {"true": "1", "false": "0"}.get(text.lower(), text), na_action="ignore")
    return texts.mask(texts == "")


def declared(options: TableOptions) -> bool:
    """Return whether any column is declared to be about ties."""
    return bool(options.counts or options.ties or options.names)


def take_tie_answers(
    table: pd.DataFrame,
    nodes: Sequence[str],
    options: TableOptions,
    problems: Problems,
    notes: list[str],
    warnings: list[str],
) -> tuple[TieSurvey | None, pd.DataFrame]:
    """Return what the declared columns tell, and the table without them and without the traits that they count."""
    if not declared(options):
        return None, table
    known = list(map(str, table.columns))
    index = pd.Index(list(nodes), dtype=object)
    codes = gap_codes(options.na, known)
    start = len(notes)
    traits: dict[str, pd.Series] = {}
    counts: dict[str, pd.Series] = {}
    columns: dict[str, str] = {}  # from each trait to the column that counts it
    used: set[str] = set()
    with problems.kept():
        for column, trait, value in (part for text in options.counts for part in counted_columns(text, known)):
            label = trait if value is None else f"{trait}={value}"
            if label in columns or column in columns.values():
                raise TableError(f"--counts has {label!r} or {column!r} twice: one column counts one trait")
            traits[label] = trait_of(table[trait], value, column)
            cells = count_of(table[column], codes, notes).set_axis(index)
            read_counts("counts", cells.to_frame())  # an error names this column and not the trait
            counts[label] = cells
            columns[label] = column
            used |= {column, trait}
    n_ties = None
    if options.ties is not None:
        with problems.kept():
            n_ties = count_of(table[chosen_column(options.ties, known)], codes, notes).set_axis(index)
            used.add(options.ties)
    names: dict[str, list[str | None]] | None = None
    room = None
    if options.names:
        with problems.kept():
            declared_names = chosen_columns(options.names, known)
            names, room = names_given(table, declared_names, nodes, notes, warnings)
            used |= {*declared_names}
    problems.refuse()
    survey = TieSurvey.of(
        index,
        traits=pd.DataFrame(traits, index=table.index).set_axis(index, axis=0),
        counts=pd.DataFrame(counts) if counts else None,
        n_ties=n_ties,
        reports=names,
        room=room,
    )
    answered = {columns[trait]: f"counts {trait!r}" for trait in columns} | {options.ties: "is the number of ties"}
    shown = "; ".join(
        f"{name!r} {what} ({table[name].notna().sum()} answers)" for name, what in answered.items() if name is not None
    )
    notes.insert(start, f"answers about ties: {shown or 'names'}; traits that are counted are not signals")
    return survey, table.drop(columns=[name for name in table.columns if str(name) in used])


def times_named(
    table: pd.DataFrame, nodes: Sequence[str], options: TableOptions, notes: list[str], warnings: list[str]
) -> tuple[Array, pd.DataFrame]:
    """Return how often each node is named in the columns of gossip, and the table without them."""
    if options.benefit is not None:
        raise TableError("--gossip and --benefit both give benefits: leave one out")
    columns = chosen_columns(options.gossip, map(str, table.columns))
    told, _ = names_given(table, columns, nodes, notes, warnings)
    named = pd.Series([name for names in told.values() for name in names if name is not None], dtype=object)
    return named.value_counts().reindex(list(nodes), fill_value=0).to_numpy(dtype=float), table.drop(columns=columns)


def counted_columns(text: str, known: Sequence[str]) -> list[tuple[str, str, str | None]]:
    """Return (column, trait's column, trait's value) for every part of COLUMN=TRAIT,COLUMN=TRAIT=VALUE.

    Names of columns may have commas and equals signs in them, values no commas.
    """
    name = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    part = re.compile(rf"\s*({name})\s*=\s*({name})\s*(?:=([^,]+))?(?:,|$)")
    place = 0
    found = []
    while place < len(text):
        if (match := part.match(text, place)) is None:
            column, mark, trait = text[place:].split(",", maxsplit=1)[0].partition("=")
            for wrong in (column, trait.partition("=")[0]) if mark else ():
                chosen_column(wrong.strip(), known)
            raise TableError(
                f"--counts {text[place:]} must be COLUMN=TRAIT: the column with the counts, and the 0/1 column of the "
                "trait that it counts (or COLUMN=TRAIT=VALUE for one value of a column with words)"
            )
        found.append((match[1], match[2], match[3] and match[3].strip()))
        place = match.end()
    return found


def trait_of(column: pd.Series, value: str | None, counter: str) -> pd.Series:
    """Return 1 where a node has the trait, 0 where not and NaN where that is not known."""
    name = str(column.name)
    texts = column.map(lambda cell: as_name(cell).strip(), na_action="ignore")
    if value is not None:
        if not (texts == value).any():
            raise TableError(
                f"--counts {counter}={name}={value}: nobody has {value!r} in {name!r}; there are "
                f"{listing(texts.dropna().unique())}"
            )
        return (texts == value).astype(float).where(column.notna())
    numbers = pd.to_numeric(flag_texts(column), errors="coerce")
    if (numbers.isna() & column.notna()).any() or not numbers.dropna().isin((0, 1)).all():
        values = texts.dropna().unique()
        raise TableError(
            f"--counts {counter}={name}: {name!r} is not 0 or 1 but has {listing(values)}; say which value is counted, "
            f"for example --counts '{counter}={name}={values[-1]}'"
        )
    return numbers.astype(float)


def count_of(column: pd.Series, codes: GapCodes, notes: list[str]) -> pd.Series:
    """Return a column of counts with codes for a gap (refused, -99) as gaps."""
    texts = codes.emptied(column).map(lambda cell: cell.strip() if isinstance(cell, str) else cell).astype(object)
    texts = texts.mask(texts.map(lambda cell: cell == "").astype(bool))
    if codes.plain:
        numbers = pd.to_numeric(texts.map(lambda cell: str(cell).rstrip("+"), na_action="ignore"), errors="coerce")
        plain = plain_codes(numbers.dropna().to_numpy(dtype=float))
        gap = (among(texts, NO_ANSWER) | numbers.isin(plain)).to_numpy(dtype=bool)
        if gap.any():
            shown = listing(dict.fromkeys(as_name(cell) for cell in texts[gap]))
            notes.append(f"{column.name!r}: {shown} taken as missing in {gap.sum()} cell(s); --na none keeps codes")
            texts = texts.mask(gap)
    return texts if is_text(column) else pd.to_numeric(texts)


def names_given(
    table: pd.DataFrame, columns: Sequence[str], nodes: Sequence[str], notes: list[str], warnings: list[str]
) -> tuple[dict[str, list[str | None]], int | None]:
    """Return the people that each node named, and how many names there was room for, if each has a column of its own.

    A cell is matched to a node to the letter, by its id or by another column with names. Nothing else is guessed.
    """
    places = {name: name for name in nodes}
    for other in (str(name) for name in table.columns if "name" in words_of(str(name)) and str(name) not in columns):
        labels = [str(label).strip() for label in table[other]]
        if is_text(table[other]) and len({*labels}) == len(labels) and not {*labels} & {*nodes}:
            places |= dict(zip(labels, nodes, strict=True))
            notes.append(f"names of ties are matched with the nodes' ids and with {other!r}")
    people = NameIndex(places)
    meant = list(places.values())
    told: dict[str, list[str | None]] = {}
    outside: list[tuple[str, str]] = []
    several = False
    for node, row in zip(nodes, table[list(columns)].to_numpy(dtype=object), strict=True):
        cells = [as_name(cell).strip() for cell in row if not pd.isna(cell)]
        cells = [cell for cell in cells if cell in places or not (cell in GAPS or cell.casefold() in NO_ANSWER)]
        parts = [[cell] if cell in places else re.split(r"\s*[;,|]\s*", cell) for cell in cells]
        several |= any(len(part) > 1 for part in parts)
        names = [name for part in parts for name in part if name]
        known_names = [people.place(name) for name in names]
        outside += [(node, name) for name, place in zip(names, known_names, strict=True) if place < 0]
        if names:
            told[node] = [None if place < 0 else meant[place] for place in known_names]
    inside = sum(map(len, told.values())) - len(outside)
    notes.append(
        f"{len(told)} of {len(nodes)} nodes gave {inside} names of others in {listing(columns)}; nodes without any "
        "name count as not asked"
    )
    warnings += outside_sentences(outside, list(places))
    return told, None if several or len(columns) == 1 else len(columns)


def outside_sentences(outside: Sequence[tuple[str, str]], places: Sequence[str]) -> list[str]:
    """Return what is said of names (who gave them, and the name) outside the table, with those nearly a node's name."""
    if not outside:
        return []
    by: dict[str, str] = {}
    for node, name in outside:
        by.setdefault(name, node)
    shown = listing(f"{name!r} (given by {node})" for name, node in by.items())
    sentences = [f"{len(outside)} name(s) given are not in the table and were left out: {shown}"]
    small = {place.casefold(): place for place in places}
    compared = list(by)[: max(20, 300_000 // len(small))]  # so many pairs of names take a second or two
    near = {
        name: small[close[0]]
        for name in compared
        if not name.isdecimal() and (close := difflib.get_close_matches(name.casefold(), small, n=1, cutoff=0.8))
    }
    if near:
        shown = listing((f"for {name!r} (given by {by[name]}) type {meant}" for name, meant in near.items()), 10)
        part = "" if len(compared) == len(by) else f" (among the first {len(compared)})"
        sentences.append(
            f"{len(near)} of these names{part} may be misspelled; if so, correct the cell and learn again: {shown}"
        )
    return sentences
