"""Recognise a table before it is read as answers: an edge list, a matrix, one answer a row; and columns about ties.

Answers about ties say who is tied, not what people are like: two people who both name Ann are not similar for it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..validation import listing
from .columns import as_name, is_text, whole_numbers
from .errors import TableError
from .names import is_few, plain_names, words_of
from .options import ID_NAMES
from .vocabulary import COUNTS, NODE_WORDS, PLACES, RATINGS

ENDS = (("source", "target"), ("from", "to"), ("ego", "alter"), ("sender", "receiver"))  # columns of an edge list
TIED = re.compile(
    r"(?:friend|contact|tie|neighbou?r|relative|relation|acquaintance|colleague|co-?worker|peer|classmate|alter|kin|"
    r"connection|confidant|advis[oe]r|follower|nominee|nomination|amie?|freund|amigo)e?s?"
)
HOW_MANY = re.compile(r"\b(?:how many|number|num|count|counts|total|no|nr|n|nb|wieviele|wie viele|combien|cuantos)\b")
KNOWN_PEOPLE = re.compile(r"how many\b.*\b(?:you know|do you have|are your|of your|among your|talk to|visit)\b")


class TieColumn(NamedTuple):
    """A column that seems to be about ties: its name, what it holds ("count" or "names") and why it seems so."""

    column: str
    kind: str
    reason: str


def tie_columns(table: pd.DataFrame, nodes: Sequence[str] = ()) -> list[TieColumn]:
    """Return the columns that seem to count or name a node's ties.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [31, 45, 28], "n_friends": [2, 0, 5], "friend1": ["bob", "cat", "ann"]})
    >>> for found in tie_columns(table, ["ann", "bob", "cat"]):
    ...     print(found)
    TieColumn(column='n_friends', kind='count', reason='its name asks for a number of ties')
    TieColumn(column='friend1', kind='names', reason='it names other nodes')
    """
    stems: dict[str, list[str]] = {}
    for name in map(str, table.columns):
        stems.setdefault(re.sub(r"[\W_]*\d+$", "", name), []).append(name)
    named = {name for stem, names in stems.items() if _name_ties(table[names], stem, nodes) for name in names}
    found = []
    flags = _flags(table)
    for name in map(str, table.columns):
        if name in named:
            found.append(TieColumn(name, "names", "it names other nodes"))
        elif (asked := _counts_ties(name)) or _trait_of(name, flags, whole=True):
            given = table[name].dropna()  # with 10+ (ten or more) as 10
            given = given.map(lambda cell: cell.rstrip("+ ") if isinstance(cell, str) else cell)
            values = whole_numbers(given)
            if values is None or values.min() < 0 or name in flags:
                continue
            why = "its name asks for a number of ties" if asked else "its name has that of a trait"
            found.append(TieColumn(name, "count", why))
    return found


def _flags(table: pd.DataFrame) -> list[str]:
    """Return the columns of 0 and 1."""
    plain = [name for name in table if table[name].dtype.kind in "biuf"]
    return [str(name) for name in plain if {*table[name].dropna().unique()} == {0, 1}]


def _trait_of(column: str, traits: Sequence[str], *, whole: bool = False) -> str | None:
    """Return the trait that a column such as friends_weaver may count; ``whole``: its name has no other words."""
    words = words_of(column, digits=True)
    others = [word.rstrip("s") for word in words if not TIED.fullmatch(word)]
    for trait in traits if others and len(others) < len(words) else []:
        names = [word.rstrip("s") for word in words_of(trait.rpartition("=")[2], digits=True)]
        if trait != column and (others == names if whole else {*others} & {*names}):
            return trait
    return None


def _counts_ties(name: str) -> bool:
    text = " ".join(words_of(name))
    asks = HOW_MANY.search(text) and any(map(TIED.fullmatch, text.split()))
    degree = re.fullmatch(r"(?:in|out)? ?degree|network size", text)
    return bool(degree or asks or KNOWN_PEOPLE.search(text))


def _name_ties(block: pd.DataFrame, stem: str, nodes: Sequence[str]) -> bool:
    """Tell whether columns of one stem (friend1, friend2, ...) hold names of nodes.

    Numbers below 100 may be answers on a scale as well, so they must name many nodes, never the row's own, and hardly
    any twice in a row; for a column that is not called friend or the like, at least two columns must agree.
    """
    known = set(nodes)
    if not known or any(not is_text(block[name]) and whole_numbers(block[name].dropna()) is None for name in block):
        return False
    cells = np.column_stack([block[name].map(as_name, na_action="ignore").to_numpy(object) for name in block])
    texts = np.where(pd.isna(cells), "", cells).astype(str)
    given = texts != ""
    values = pd.Series(plain_names(texts[given].tolist()), dtype=object)
    if not len(values) or values.isin(known).mean() < 0.9 or values.nunique() < 2:
        return False
    called = any(TIED.fullmatch(word) for word in words_of(stem))
    if not all(name.isdecimal() for name in known):
        return called or values.nunique() > 2
    texts[given] = values.to_numpy()
    own = (texts == np.array(list(map(str, nodes)))[:, None]) & given
    doubled = sum(len(row[kept]) - len({*row[kept]}) for row, kept in zip(texts, given, strict=True))
    # People do name a friend twice; answers on a scale repeat far more often.
    apart = own.sum() <= 0.01 * given.sum() and doubled <= (0.1 if called else 0.01) * given.sum()
    many = values.nunique() >= min(max(10, len(known) // 5), len(known) // 2)
    return bool(apart and many and (called or len(block.columns) > 1))


def tie_note(found: Sequence[TieColumn], table: pd.DataFrame, has_total: bool = False) -> list[str]:
    """Return what is said of columns about ties that were left out, with the options that learn from them.

    ``has_total`` says that a column with the number of ties is declared already. TRAIT stands for a trait not found.
    """
    if not found:
        return []
    reasons: dict[str, list[str]] = {}
    for each in found:
        reasons.setdefault(each.reason, []).append(repr(each.column))
    shown = "; ".join(f"{listing(names)} ({reason})" for reason, names in reasons.items())
    totals, traits = counted_ties(found, table, has_total)
    counts = [f"{column}={trait or 'TRAIT'}" for column, trait in traits.items()]
    names = [each.column for each in found if each.kind == "names"]
    given = {"--ties": totals, "--counts": counts, "--names": names}
    add = " ".join(f"{option} {shlex.quote(','.join(columns))}" for option, columns in given.items() if columns)
    add += " (TRAIT is the 0/1 column of those who are counted)" if "=TRAIT" in add else ""
    return [
        f"left out {len(found)} column(s) that seem to count or name ties: {shown}; they say who is tied, not what "
        f"people are like; to learn from them add {add}; --keep uses them as answers all the same"
    ]


def counted_ties(
    found: Sequence[TieColumn], table: pd.DataFrame, has_total: bool = False
) -> tuple[list[str], dict[str, str | None]]:
    """Return the column with the number of ties, if there is one, and the others that count, each with its trait.

    Among the columns that count no known trait, the one with the fewest words is read as the number of ties.
    """
    columns = [each.column for each in found if each.kind == "count"]
    known = possible_traits(table)
    traits = {column: _trait_of(column, known) for column in columns}
    untold = [column for column in columns if traits[column] is None]
    totals = [] if has_total else sorted(untold, key=lambda name: len(words_of(name, digits=True)))[:1]
    return totals, {column: trait for column, trait in traits.items() if column not in totals}


def possible_traits(table: pd.DataFrame) -> list[str]:
    """Return what may be counted among ties: the columns of 0 and 1, and every value of a column with few words."""
    words = [name for name in table if is_text(table[name]) and table[name].map(type).isin((str, float)).all()]
    few = [name for name in words if is_few(table[name])]
    return [*_flags(table), *(f"{name}={value}" for name in few for value in table[name].dropna().unique())]


def refuse_what_is_no_table_of_answers(table: pd.DataFrame, file: str = "the table") -> None:
    """Refuse an edge list, an adjacency matrix, and a table with one answer a row, with the command to use instead."""
    ends = _ends(table)
    if ends is not None or _is_matrix(table):
        what = "an adjacency matrix" if ends is None else f"an edge list ({ends[0]!r} to {ends[1]!r})"
        spelled = ends is None or tuple(str(end).lower() for end in ends) in ENDS
        rename = "" if spelled else "; first rename these two columns source and target"
        raise TableError(
            f"{file} is {what}: its ties are known, and learn finds ties from answers. For key people in it use "
            f"nashgraph act {file}; to use it with a table of answers, nashgraph learn ANSWERS --known {file} (or "
            f"--truth {file} to score a network){rename}. If it holds answers all the same, pass --id COLUMN or "
            "--id none"
        )
    if (ego := ego_column(table)) is not None and table[ego].duplicated().any():
        raise TableError(
            f"{file} has a row for every alter ({ego!r} repeats): give the table with one row for every ego, and this "
            f"one with it: nashgraph learn EGOS --alters {file}"
        )
    if (who := _is_long(table)) is not None:
        question, answer = (str(name) for name in table.columns if name != who)
        raise TableError(
            f"{file} has one answer a row, as it seems: {who!r} occurs in several rows, each with another {question!r} "
            f"and its {answer!r}; pass --long (or --id none if a row is a node)"
        )


def ego_column(table: pd.DataFrame) -> str | None:
    """Return the column with the ids of egos, as Network Canvas and egor call it, if there is one."""
    ids = ("networkcanvasegouuid", "egoid")  # without marks
    return next((str(name) for name in table if re.sub(r"[\W_]", "", str(name).lower()) in ids), None)


def _ends(table: pd.DataFrame) -> tuple[str, str] | None:
    """Return the columns of the two ends, if a table is an edge list: by their names, or because both name the same."""
    columns = {str(name).lower(): str(name) for name in table.columns}
    pair = next((pair for pair in ENDS if {*pair} <= {*columns}), None)
    if pair is not None and table.shape[1] <= 5:
        return columns[pair[0]], columns[pair[1]]
    if table.shape[1] not in (2, 3):
        return None
    first, second = (table.iloc[:, k] for k in (0, 1))
    if any(not is_text(end) and whole_numbers(end) is None for end in (first, second)):
        return None
    one, other = (pd.Series(plain_names([as_name(value) for value in end]), dtype=object) for end in (first, second))
    shared = {*one} & {*other}
    names = {*one} | {*other}
    repeated = len(names) < 1.5 * len(table) and pd.DataFrame({"a": one, "b": other}).duplicated().sum() == 0
    if len(shared) < max(2, 0.3 * len(names)) or not repeated or (one == other).mean() > 0.05:
        return None
    enough = len(names) >= 10 or (is_text(first) and not all(name.isdecimal() for name in names))
    return (str(first.name), str(second.name)) if enough and one.duplicated().any() else None


def _is_matrix(table: pd.DataFrame) -> bool:
    """Tell whether a table is an adjacency matrix: the same names on both sides, or square with an empty diagonal."""
    if table.shape[1] == len(table) + 1 and len(table) > 2:
        names = plain_names([as_name(value) for value in table.iloc[:, 0]])
        rest = table.iloc[:, 1:]
        if {*names} == {*plain_names(list(map(str, rest.columns)))}:
            return all(dtype.kind in "biuf" for dtype in rest.dtypes)
        return False
    if len(table) != table.shape[1] or len(table) < 5 or any(dtype.kind not in "biuf" for dtype in table.dtypes):
        return False
    cells = table.to_numpy(dtype=float)
    if np.nan_to_num(np.diag(cells)).any() or not np.nan_to_num(cells).any():
        return False
    return bool((cells == cells.T).all() or np.isin(np.nan_to_num(cells), (0.0, 1.0)).all())


def _is_long(table: pd.DataFrame) -> str | None:
    """Return the column of those who answer, if a row is one answer: three columns, and nobody answers twice."""
    if table.shape[1] != 3:
        return None
    for name in map(str, table.columns[:2]):
        called = bool((NODE_WORDS - PLACES).intersection(words_of(name))) or name in ID_NAMES
        others = [other for other in table.columns if other != name]
        if called and table[name].duplicated().mean() >= 0.5 and not table[[name, others[0]]].duplicated().any():
            return name
    return None


def is_count(column: pd.Series, name: str, share_given: float) -> bool:
    """Tell whether the answers of a long table are counts, so that a pair without a row is a 0 and not a gap.

    Counts are whole numbers from 1 on: called plays, visits or the like, or larger than any scale and given for few of
    the pairs.
    """
    values = whole_numbers(column.dropna())
    if values is None or values.min() < 1:
        return False
    words = {*words_of(name)}
    return bool(words & COUNTS or (values.max() > 12 and share_given < 0.5 and not words & RATINGS))
