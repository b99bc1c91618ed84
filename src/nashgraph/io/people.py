"""Match names that people wrote to the people of the table, with the distance, and report every guess."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..validation import Array
from .columns import as_name
from .names import WITH_POINT
from .vocabulary import GAPS, NO_ANSWER

SEPARATORS = re.compile(r"\s*(?:[;,|/\n]|\s+(?:and|und|y|et|e|&)\s+|\s*&\s*)\s*")
MOST_COMPARED = 2_000_000  # pairs of names whose distance is computed: about ten seconds
NAMES_TABLE = ("written", "matched", "distance", "by", "sure")


def plain(name: str) -> str:
    """Return a name without capitals, accents, marks and doubled blanks, by which spellings are compared."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(re.findall(r"[^\W_]+", letters))


def distance(one: str, other: str) -> int:
    """Return how many letters differ between two names, two swapped neighbours counted as one (Damerau)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        earlier = before
        before = row
        row = [i]
        for j, wanted in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                best = min(best, earlier[j - 2] + 1)
            row.append(best)
    return row[-1]


@dataclass(frozen=True)
class Match:
    """The person meant by a name ("" for nobody) and its distance; ``sure`` if it cannot be anybody else."""

    person: str
    distance: int
    by: str
    sure: bool


class Register:
    """The people of a table by everything they are called, to look names up."""

    def __init__(self, people: Sequence[str], labels: Iterable[Sequence[str]] = ()) -> None:
        self.exact: dict[str, str] = {}
        self.spelled: dict[str, set[str]] = {}
        self.first: dict[str, set[str]] = {}
        for names in (people, *labels):
            for person, name in zip(people, names, strict=True):
                text = name.strip()
                if not text:
                    continue
                self.exact.setdefault(text, person)
                key = plain(text)
                self.spelled.setdefault(key, set()).add(person)
                words = key.split()
                if len(words) > 1:
                    self.first.setdefault(words[0], set()).add(person)
                    # Surname first, as lists have it: "Rao, Asha" and "Rao Asha".
                    self.spelled.setdefault(" ".join([*words[1:], words[0]]), set()).add(person)
        self.keys = list(self.spelled)

    def match(self, name: str, own: str = "", near: bool = True) -> Match:
        """Return who is meant by a name that the person ``own`` wrote."""
        if name in self.exact:
            return Match(self.exact[name], 0, "to the letter", True)
        number = name.partition(".")[0]
        if WITH_POINT.fullmatch(name) and number in self.exact:
            return Match(self.exact[number], 0, "to the letter", True)
        key = plain(name)
        alike = self.spelled.get(key, set())
        if len(alike) == 1:
            return Match(next(iter(alike)), 0, "same name except for capitals, accents and blanks", True)
        called = self.first.get(key, set()) - {own}
        if len(called) == 1:
            return Match(next(iter(called)), 0, "by the first name, which nobody else has", False)
        if not near or alike or called or len(key) < 4 or re.search(r"\d", key):  # codes are right or wrong
            return Match("", 0, "several people have this name" if alike or called else "nobody has this name", False)
        return self._nearest(key, own)

    def _nearest(self, key: str, own: str) -> Match:
        """Return the person whose name is nearest, if it is near and nobody else's is as near."""
        most = 1 if len(key) < 8 else 2
        near: list[tuple[int, str]] = []
        for other in self.keys:
            if abs(len(other) - len(key)) <= most and self.spelled[other] != {own}:
                apart = distance(key, other)
                if apart <= most:
                    near.append((apart, other))
        if not near:
            return Match("", 0, "nobody has a name like it", False)
        least = min(near)[0]
        people = {person for apart, other in near if apart == least for person in self.spelled[other]}
        if len(people) > 1:
            return Match("", least, "several people have a name like it", False)
        return Match(next(iter(people)), least, "nearest name", False)


def names_in(cell: object, register: Register) -> list[str]:
    """Return the names in a cell: it is one if a person is called so, else what separators leave."""
    if cell is None or (isinstance(cell, float) and np.isnan(cell)) or cell is pd.NA:
        return []
    text = as_name(cell).strip()
    if text in register.exact:
        return [text]
    if (
        text in GAPS
        or text.casefold() in NO_ANSWER
        or text.casefold() in ("none", "nobody", "no one", "niemand", "nadie")
    ):
        return []
    parts = SEPARATORS.split(text)
    if len(parts) == 2 and plain(text) in register.spelled:  # "Rao, Asha" is one
        return [text]
    return [part for part in parts if part]


def share_of_people(block: pd.DataFrame, register: Register, most: int = 400) -> tuple[float, int]:
    """Return which share of the names in some columns are people of the table, and how many names were looked at."""
    cells = [cell for name in block for cell in block[name].dropna().tolist()]
    names = [name for cell in cells[:most] for name in names_in(cell, register)]
    if not names:
        return 0.0, 0
    near = len(register.keys) * len(names) < MOST_COMPARED / 10
    matches = {name: register.match(name, near=near) for name in dict.fromkeys(names)}
    return sum(bool(matches[name].person) for name in names) / len(names), len(names)


def named_people(
    block: pd.DataFrame, people: Sequence[str], register: Register, confirmed: Mapping[str, str]
) -> tuple[dict[str, list[str]], pd.DataFrame, dict[str, list[str]]]:
    """Return the people whom each person named, the table of inexact spellings, and names of others by person.

    ``confirmed`` are spellings that people looked at, each with the person meant or "" for nobody of the table. Others
    are used if nobody else can be meant (a matter of capitals, accents and blanks), and reported otherwise.
    """
    named: dict[str, list[str]] = {}
    outside: dict[str, list[str]] = {}
    found: dict[str, Match] = {}
    texts = {
        person: [name for cell in row for name in names_in(cell, register)] for person, row in _rows(block, people)
    }
    total = sum(map(len, texts.values()))
    near = total * len(register.keys) < MOST_COMPARED
    for person, names in texts.items():
        for name in names:
            if name in confirmed:
                match = Match(confirmed[name], 0, "confirmed", True)
            else:
                match = register.match(name, person, near)
            if match.by != "to the letter":
                found.setdefault(name, match)
            targets = named.setdefault(person, [])
            if match.sure and match.person and match.person != person:
                targets.append(match.person)
            elif match.person != person:
                outside.setdefault(person, []).append(name)
    rows = [(name, match.person, match.distance, match.by, match.sure) for name, match in found.items()]
    table = pd.DataFrame(rows, columns=list(NAMES_TABLE)).sort_values(["sure", "written"], ignore_index=True)
    return named, table, outside


def _rows(block: pd.DataFrame, people: Sequence[str]) -> Iterable[tuple[str, Array]]:
    return zip(people, block.to_numpy(dtype=object), strict=True)


def read_confirmed(table: pd.DataFrame) -> dict[str, str]:
    """Return the spellings that people confirmed in a table as ``names.csv``: those whose ``sure`` is true or yes."""
    sure = table["sure"].map(lambda cell: str(cell).strip().casefold() in ("true", "yes", "1", "y", "x", "1.0", "wahr"))
    matched = table["matched"].map(lambda cell: "" if pd.isna(cell) else as_name(cell))
    written = table["written"].map(as_name)
    return dict(zip(written[sure], matched[sure], strict=True))
