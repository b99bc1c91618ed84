"""Decide whether the rows of a table are people, and if not, what they are and which columns show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..plan import ColumnPlan
from .columns import as_name
from .names import words_of
from .profiles import Profile, metadata, persons
from .shapes import Rows, of_columns, of_matrix, of_ties
from .vocabulary import ANSWERS, PLACES, QUESTIONS

FEW_MARKS = 4  # different cells of an attendance list: present, absent, excused, late
FEW_REPEATS = 0.1  # of the rows: more repeated ids mean that rows are something else
MOST_WAVES = 30


def kind_of_rows(table: pd.DataFrame, profiles: Sequence[Profile], wanted: str | None = None) -> Rows:
    """Return what the rows of a table are; ``wanted`` is the column that identifies people, if the user gave it."""
    profiles = list(profiles)
    aside = metadata(profiles)
    for way in (_of_redcap, of_ties, of_matrix, of_columns):
        rows = way(table, profiles, aside) if wanted is None else None
        if rows is not None:
            return replace(rows, aside=aside)
    rows = _by_person(table, profiles, aside, wanted)
    return replace(rows, aside=aside)


# ------------------------------------------------------------------------------------------- who is it


def _by_person(table: pd.DataFrame, profiles: list[Profile], aside: dict[str, str], wanted: str | None) -> Rows:
    """Return what the rows are by the column that identifies people: unique, or what its repeats mean."""
    likely = persons(profiles, aside)
    if wanted is not None:
        likely = [(9.0, profile) for profile in profiles if profile.name == wanted]
    complete = [(score, profile) for score, profile in likely if profile.unique]
    repeated = [(score, profile) for score, profile in likely if not profile.unique and profile.distinct > 1]
    best = complete[0] if complete else (0.0, None)
    # A form's own number identifies the form: where a person's id repeats, rows are something else.
    again = [pair for pair in repeated if pair[1].distinct < pair[1].filled]
    rival = next((pair for pair in again if pair[0] >= 5.0 > best[0] and _is_person(pair[1], aside)), None)
    if rival is None and best[1] is not None:
        return _people(best[1], likely)
    household = _household(profiles)
    if rival is None:
        partly = (profile for score, profile in repeated if score >= 2.5 and profile.distinct == profile.filled)
        person = next((profile for profile in partly if profile.filled >= 0.5 * len(table)), None)
        rows = household or _compound(table, profiles) or (_people(person, likely) if person is not None else None)
        return rows or Rows("people", why="no column identifies people, so they are numbered by row", unsure=True)
    rows = _compound(table, profiles) or _repeated(table, rival[1], profiles, aside) or household
    if rows is None and rival[1].distinct >= (1 - FEW_REPEATS) * rival[1].filled:
        rows = _few_repeats(table, rival[1], likely)
    if rows is None and best[1] is not None and (best[1].text or best[0] >= 4.0):
        rows = _people(best[1], likely)  # a group's name repeats, and the rows have names of their own
    return rows or _unclear(rival[1])


def _is_person(profile: Profile, aside: dict[str, str]) -> bool:
    """Tell whether a repeated column may identify people. A place or an answer with a few values does not."""
    words = {*words_of(profile.spoken)}
    place = bool(words & (PLACES - {"household", "hh", "hhid"})) or profile.named("group")
    return profile.name not in aside and not place and profile.distinct > 2 and not profile.named("wave")


def _people(person: Profile, likely: Sequence[tuple[float, Profile]]) -> Rows:
    columns = [ColumnPlan(person.name, "id", why="a value of its own in every row")]
    for score, profile in likely:
        if profile is not person and profile.unique and profile.text and score >= 4.0:
            columns.append(ColumnPlan(profile.name, "label", why="another name of the person"))
    return Rows("people", tuple(columns), f"every row has its own {person.name!r}")


def _few_repeats(table: pd.DataFrame, person: Profile, likely: Sequence[tuple[float, Profile]]) -> Rows:
    """Return that some people have two rows, which may be a mistake or two people of one name."""
    twice = [value for value, count in person.counts.items() if count > 1]
    texts = person.column.map(as_name, na_action="ignore")
    shown = []
    for value in twice[:3]:
        places = [str(row + 1) for row in np.flatnonzero((texts == value).to_numpy(bool))]
        shown.append(f"{value!r} in rows {' and '.join(places)}")
    more = f" and {len(twice) - 3} more" if len(twice) > 3 else ""
    question = (
        f"{len(twice)} {person.name!r} occur in several rows: {', '.join(shown)}{more}. Say in the plan which rows "
        'count: repeats = "first", "last", "mean", or "separate" if they are different people'
    )
    rows = _people(person, likely)
    if table.duplicated().sum() == person.filled - person.distinct:
        return replace(rows, why=f"every row has its own {person.name!r}, except for copies of rows")
    return replace(rows, why=f"nearly every row has its own {person.name!r}", unsure=True, question=question)


def _unclear(person: Profile) -> Rows:
    question = (
        f"{person.name!r} seems to identify people, but its values repeat: {person.distinct} of them in "
        f'{person.filled} rows. Say in the plan what a row is: rows = "waves", "answers", "events", "members" or '
        '"reports", or "people" with another id'
    )
    return Rows("people", (ColumnPlan(person.name, "id", unsure=True),), "its id repeats", True, question)


@dataclass(frozen=True)
class _Repeated:
    """A table in which the column that identifies people repeats, for the rules that say why."""

    table: pd.DataFrame
    person: Profile
    others: list[Profile]
    rest: list[Profile]  # the others without what tools wrote, dates, and columns of one value

    @property
    def who(self) -> ColumnPlan:
        """The plan of the person's column."""
        return ColumnPlan(self.person.name, "id", why="its values repeat: a person has several rows")

    def rows(self, kind: str, why: str, **roles: Profile) -> Rows:
        """Return the kind of the rows, with the roles of further columns."""
        columns = [ColumnPlan(profile.name, role) for role, profile in roles.items()]
        return Rows(kind, (self.who, *columns), f"{self.person.name!r} repeats, {why}")


def _repeated(table: pd.DataFrame, person: Profile, profiles: list[Profile], aside: dict[str, str]) -> Rows | None:
    """Return what rows are whose person repeats: waves, members, one answer each, or events."""
    others = [profile for profile in profiles if profile is not person]
    used = [profile for profile in others if profile.name not in aside]
    rest = [profile for profile in used if not profile.is_date and profile.distinct > 1]
    found = _Repeated(table, person, others, rest)
    for way in (_in_waves, _with_lines, _on_dates, _with_questions, _at_events):
        rows = way(found)
        if rows is not None:
            return rows
    return None


def _in_waves(found: _Repeated) -> Rows | None:
    for profile in found.others:
        few = 1 < profile.distinct <= MOST_WAVES and (profile.named("wave") or profile.spoken == "year")
        if few and _together_unique(found.table, found.person, profile):
            return found.rows("waves", f"once in each {profile.name!r}", wave=profile)
    return None


def _with_lines(found: _Repeated) -> Rows | None:
    line = next((profile for profile in found.others if _counts_within(found.table, found.person, profile)), None)
    related = any(profile.named("relation_to_head") for profile in found.others)
    if line is None or not (line.named("line") or related):
        return None
    rows = found.rows("members", f"and {line.name!r} counts the members")
    return replace(rows, columns=(*rows.columns, ColumnPlan(line.name, "ignore", why="counts the members")))


def _on_dates(found: _Repeated) -> Rows | None:
    moment = _moment_of_each(found.table, found.person, found.others, found.rest)
    if moment is None:
        return None
    return found.rows("answers", f"once on each {moment.name!r}", question=moment, answer=found.rest[0])


def _with_questions(found: _Repeated) -> Rows | None:
    rest = found.rest
    called = [profile for profile in rest if {*words_of(profile.name)} & QUESTIONS or profile.named("question")]
    if not called and len(rest) == 2:
        values = [profile for profile in rest if {*words_of(profile.name)} & ANSWERS]
        called = [profile for profile in rest if values and profile is not values[0]]
        called = called or [profile for profile in rest if profile.text or profile.why_code][:1]
    for question in called:
        values = [profile for profile in rest if profile is not question]
        answers = [profile for profile in values if {*words_of(profile.name)} & ANSWERS]
        alone = answers or (values if len(values) == 1 else [])
        if alone and _together_unique(found.table, found.person, question, few=0.02):
            why = f"each time with another {question.name!r}"
            return found.rows("answers", why, question=question, answer=alone[0])
    return None


def _at_events(found: _Repeated) -> Rows | None:
    if len(found.rest) == 1:
        events = found.rest
    else:
        events = [profile for profile in found.rest if profile.named("event")]
    if len(events) != 1 or events[0].distinct < 2:
        return None
    if len(found.rest) > 1 and not _together_unique(found.table, found.person, events[0], few=0.05):
        return None
    return found.rows("events", f"each time with another {events[0].name!r}", question=events[0])


def _moment_of_each(
    table: pd.DataFrame, person: Profile, others: Sequence[Profile], rest: Sequence[Profile]
) -> Profile | None:
    """Return the dates of a list that says for each person and date whether the person was there."""
    if len(rest) != 1 or rest[0].distinct > FEW_MARKS:
        return None
    for profile in others:
        shared = profile is not rest[0] and 1 < profile.distinct <= profile.filled / 2
        if shared and _together_unique(table, person, profile):
            return profile
    return None


def _together_unique(table: pd.DataFrame, one: Profile, other: Profile, few: float = 0.0) -> bool:
    """Tell whether no pair of values of two columns occurs twice, or hardly any."""
    return bool(table[[one.name, other.name]].duplicated().mean() <= few)


def _counts_within(table: pd.DataFrame, group: Profile, line: Profile) -> bool:
    """Tell whether a column counts 1, 2, 3, … within each group."""
    values = line.whole
    if values is None or line.filled < len(table) or values.min() not in (0.0, 1.0):
        return False
    counted = table.groupby(group.name, sort=False).cumcount().to_numpy() + values.min()
    return bool((counted == values).mean() > 0.95)


def _household(profiles: list[Profile]) -> Rows | None:
    """Return that rows are members of households, if a household's number repeats and a line counts its members."""
    houses = [profile for profile in profiles if profile.named("household") and not profile.unique and profile.filled]
    lines = [profile for profile in profiles if profile.named("line") or profile.named("relation_to_head")]
    if not houses or not lines:
        return None
    house = houses[0]
    table = pd.DataFrame({profile.name: profile.column for profile in profiles})
    line = next((profile for profile in lines if profile.named("line") and profile is not house), None)
    groups = [
        profile for profile in profiles if profile.named("group") and profile.distinct > 1 and profile is not house
    ]
    for group in (None, *groups):
        keys = [house.name] if group is None else [group.name, house.name]
        if line is not None and table[[*keys, line.name]].duplicated().any():
            continue
        columns = [ColumnPlan(house.name, "id", of="" if group is None else group.name, why="the household")]
        if group is not None:
            columns.append(ColumnPlan(group.name, "group", why="numbers of households are its own"))
        if line is not None:
            columns.append(ColumnPlan(line.name, "ignore", why="counts the members"))
        return Rows("members", tuple(columns), f"{' with '.join(map(repr, keys))} repeats: rows are members")
    return None


def _compound(table: pd.DataFrame, profiles: list[Profile]) -> Rows | None:
    """Return an id that is unique within a group only: household 1 of village 1, household 1 of village 2."""
    numbers = [
        profile for profile in profiles if profile.named("household") or profile.spoken in ("no", "number", "id")
    ]
    groups = [profile for profile in profiles if profile.named("group") and profile.distinct > 1]
    for number in numbers:
        for group in groups:
            if number is not group and number.filled == len(table) and _together_unique(table, number, group):
                columns = (
                    ColumnPlan(number.name, "id", of=group.name, why=f"its own within {group.name!r}"),
                    ColumnPlan(group.name, "group"),
                )
                return Rows("people", columns, f"{number.name!r} is its own within {group.name!r}")
    return None


def _of_redcap(table: pd.DataFrame, profiles: list[Profile], aside: dict[str, str]) -> Rows | None:
    """Return the people of a REDCap export, without the rows of repeated instruments."""
    names = {profile.name: profile for profile in profiles}
    repeated = names.get("redcap_repeat_instrument")
    if "redcap_event_name" not in names and repeated is None:
        return None
    person = profiles[0]
    only = ""
    rows = table
    if repeated is not None and 0 < repeated.filled < len(table):
        only = "redcap_repeat_instrument="
        rows = table[table["redcap_repeat_instrument"].isna()]
    who = ColumnPlan(person.name, "id", why="REDCap's record")
    if rows[person.name].is_unique:
        if only:
            why = "REDCap: rows of repeated instruments are not people"
        else:
            why = "REDCap: a row is a record"
        return Rows("people", (who,), why, only=only)
    if "redcap_event_name" in names and not rows[[person.name, "redcap_event_name"]].duplicated().any():
        wave = ColumnPlan("redcap_event_name", "wave", why="REDCap's event")
        return Rows("waves", (who, wave), "REDCap: a record has a row for each event", only=only)
    return None


def in_blocks(profiles: Sequence[Profile]) -> Iterator[list[Profile]]:
    """Yield columns that stand together and differ only in a number or letter at the end: q1, q2, … or q12_a, q12_b."""
    block: list[Profile] = []
    stem = None
    for profile in profiles:
        own = re.sub(r"(?<=[\W_])[a-z]$|\s*\[.*\]$|[\W_]*\d+[a-z]?$|(?<=\d)(?=[a-z_])_?[a-z]+$", "", profile.name)
        if block and own == stem:
            block.append(profile)
            continue
        if block:
            yield block
        block = [profile]
        stem = own
    if block:
        yield block
