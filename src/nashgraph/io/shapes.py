"""Tables that are not people in rows: ties, matrices, alters, and people in columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from ..plan import ColumnPlan
from ..validation import listing
from .columns import as_name
from .names import counts_rows, plain_names, words_of
from .profiles import Profile, is_ego, looks_like_names, persons, spoken
from .vocabulary import END_PAIRS, QUESTIONS, STRENGTH

SHARED = 0.3  # of the names that two columns must share to be the two ends of ties


@dataclass(frozen=True)
class Rows:
    """The kind of rows of a table, the columns that decide it, and why; ``question`` is for the user."""

    kind: str
    columns: tuple[ColumnPlan, ...] = ()
    why: str = ""
    unsure: bool = False
    question: str = ""
    only: str = ""  # column=value: the rows that are meant
    aside: dict[str, str] = field(default_factory=dict)  # columns of tools, each with the reason


def _ends(profiles: list[Profile]) -> tuple[Profile, Profile] | None:
    """Return the columns of the two ends of ties, by their names."""
    by_name: dict[str, Profile] = {}
    for profile in profiles:
        for name in (spoken(profile.name), _end_name(profile)):
            by_name.setdefault(name, profile)
            by_name.setdefault(name.replace(" ", ""), profile)
    for one, other in END_PAIRS:
        for write in (str, lambda text: text.replace(" ", "")):
            if write(one) in by_name and write(other) in by_name:
                return by_name[write(one)], by_name[write(other)]
    return None


def _end_name(profile: Profile) -> str:
    """Return the name of an end of ties without what it is identified by: sender of "sender_id"."""
    return re.sub(r" (id|name|no|number|code|phone|email|uuid|user)$", "", spoken(profile.name))


def _names_in(profile: Profile) -> set[str]:
    return {*plain_names(list(profile.counts))}


def of_ties(table: pd.DataFrame, profiles: list[Profile], aside: dict[str, str]) -> Rows | None:
    """Return that rows are ties: two columns are called from and to or the like, or share the names of people."""
    ego = next((profile for profile in profiles if is_ego(profile)), None)
    called = _ends(profiles)
    if ego is not None:
        rows = _of_egos(ego, called, profiles)
        if rows is not None:
            return rows
    if called is not None:
        source, target = called
        people = [pair for pair in persons(profiles, aside) if pair[1].unique and pair[0] >= 2.0]
        ends = _end_name(source)
        alone = not people or ends in ALWAYS_ENDS
        if alone and (not source.unique or ends in ALWAYS_ENDS) and not source.is_date and not target.is_date:
            why = f"{source.name!r} and {target.name!r} are the ends of a tie"
            rows = _reports(source, target, profiles, aside, why)
            return replace(rows, question=_answers_beside(table, source, target, profiles, aside))
    if len(profiles) > 12 or any(score >= 2.5 and profile.unique for score, profile in persons(profiles, aside)):
        return None
    ids = [profile for profile in profiles if profile.name not in aside and _may_name(profile)]
    ids = [profile for profile in ids if not {*words_of(profile.name)} & QUESTIONS and not profile.named("event")]
    for source, target in pairwise(ids):
        one = _names_in(source)
        other = _names_in(target)
        numbered = all(name.isdecimal() for name in one | other)
        enough = 10 if numbered else 5
        shared = len(one & other) >= max(3, SHARED * min(len(one), len(other)))
        itself = (source.column.map(as_name) == target.column.map(as_name)).mean() > 0.05
        if min(len(one), len(other)) >= enough and shared and not itself:
            why = f"{source.name!r} and {target.name!r} share the names of people"
            return _reports(source, target, profiles, aside, why)
    return None


# Columns called so are ends of ties even if every row has a person of its own.
ALWAYS_ENDS = (
    "source",
    "from",
    "sender",
    "src",
    "caller",
    "ego",
    "node1",
    "i",
    "u",
    "from id",
    "source id",
    "id1",
    "person1",
)


def _may_name(profile: Profile) -> bool:
    """Tell whether a column may have names of people. Dates and numbers with decimals are not names."""
    whole = profile.whole is not None or profile.text
    return whole and not profile.is_date and profile.distinct >= 5 and profile.filled == profile.rows


def _of_egos(ego: Profile, ends: tuple[Profile, Profile] | None, profiles: list[Profile]) -> Rows | None:
    """Return alters or ties between alters as egor and Network Canvas write them, with the ego's id in each row."""
    spoken_names = {spoken(profile.name).replace(" ", ""): profile for profile in profiles}
    two = [spoken_names.get(name) for name in ("srcid", "tgtid")]
    two = (
        two if all(two) else [spoken_names.get(name) for name in ("networkcanvassourceuuid", "networkcanvastargetuuid")]
    )
    who = ColumnPlan(ego.name, "id", why="the person who was asked")
    if two[0] is not None and two[1] is not None:
        columns = (who, ColumnPlan(two[0].name, "source"), ColumnPlan(two[1].name, "target"))
        return Rows("alter ties", columns, "ties between the alters of one person")
    alter = next(
        (spoken_names[name] for name in ("altid", "networkcanvasuuid", "alterid") if name in spoken_names), None
    )
    several = not ego.unique and not any(profile.named("wave") for profile in profiles)
    if alter is None and several:
        return Rows("alters", (who,), f"{ego.name!r} repeats: a row is an alter")
    if alter is not None and alter is not ego:
        return Rows("alters", (who, ColumnPlan(alter.name, "ignore", why="numbers the alters")), "a row is an alter")
    return None


def _answers_beside(
    table: pd.DataFrame, source: Profile, target: Profile, profiles: list[Profile], aside: dict[str, str]
) -> str:
    """Return a question if the person who names others repeats with the same answers.

    What differs between a person's rows is about the tie. One column that does not may be a place or a group.
    """
    rest = [profile for profile in profiles if profile not in (source, target) and profile.name not in aside]
    answers = [
        profile.name for profile in rest if profile.numbers is not None and profile.distinct > 1 and not profile.is_date
    ]
    if source.distinct > 0.7 * source.filled or len(answers) < 2:  # too few repeat to tell
        return ""
    by_person = table.groupby(source.name, sort=False)[answers].nunique(dropna=False)
    same = [name for name in answers if (by_person[name] <= 1).all()]
    if len(same) < 2:
        return ""
    return (
        f"{source.name!r} repeats with the same answers ({listing(map(repr, same), 3)}): are the rows ties, or people "
        'with answers? rows = "reports" takes the ties and leaves the answers out; for both, give a table with a row '
        "for each person first, and this one after it"
    )


def _reports(source: Profile, target: Profile, profiles: list[Profile], aside: dict[str, str], why: str) -> Rows:
    columns = [ColumnPlan(source.name, "source"), ColumnPlan(target.name, "target")]
    for profile in profiles:
        if profile in (source, target):
            continue
        if profile.named("wave") and profile.distinct > 1:
            columns.append(ColumnPlan(profile.name, "wave"))
        elif profile.spoken in ("relation", "type", "relationship", "tie type", "layer", "kind"):
            columns.append(ColumnPlan(profile.name, "relation"))
        elif profile.name not in aside and STRENGTH.fullmatch(profile.spoken) and profile.numbers is not None:
            columns.append(ColumnPlan(profile.name, "strength"))
        else:
            columns.append(ColumnPlan(profile.name, "ignore", why=aside.get(profile.name, "not needed for ties")))
    return Rows("reports", tuple(columns), why)


def of_matrix(table: pd.DataFrame, profiles: list[Profile], aside: dict[str, str]) -> Rows | None:
    """Return that a table is a matrix of ties: the same names on both sides, or square with an empty diagonal."""
    first: ColumnPlan | None = None
    cells = table
    if len(table.columns) == len(table) + 1 and len(table) > 2 and _same_names(table):
        cells = table.iloc[:, 1:]
        first = ColumnPlan(str(table.columns[0]), "id", why="the same names as the columns have")
    elif len(table.columns) != len(table) or len(table) < 5:
        return None
    if any(dtype.kind not in "biuf" for dtype in cells.dtypes):
        return None
    values = np.nan_to_num(cells.to_numpy(dtype=float))
    plain = not np.diag(values).any() and bool((values == values.T).all() or np.isin(values, (0.0, 1.0)).all())
    if first is None and not plain:
        return None
    outside = values[~np.eye(len(values), dtype=bool)]
    role = ColumnPlan("", "tie")
    columns = [replace(role, name=str(name)) for name in cells.columns]
    if (outside > 0).mean() > 0.95 and not np.diag(values).any() and np.unique(outside).size > 2:
        # Hardly any zero outside the diagonal: the smaller, the closer.
        columns = [replace(column, role="place", why="a distance to each person") for column in columns]
        return Rows(
            "matrix", (*([first] if first else []), *columns), "a matrix of distances, not of ties", unsure=True
        )
    return Rows("matrix", (*([first] if first else []), *columns), "a matrix of ties")


def _same_names(table: pd.DataFrame) -> bool:
    """Tell whether the first column has the names of the others, as they are or as R writes them."""
    side = plain_names([as_name(value) for value in table.iloc[:, 0]])
    top = plain_names(list(map(str, table.columns[1:])))
    numbered = [re.sub(r"^(X|V|p|n)(?=\d)", "", name) for name in top]  # R writes X1 for 1
    in_r = [re.sub(r"[^\w]", ".", name) for name in side]  # and Asha.Rao for Asha Rao
    return {*side} in ({*top}, {*numbered}) or {*in_r} == {*top}


def of_columns(table: pd.DataFrame, profiles: list[Profile], aside: dict[str, str]) -> Rows | None:
    """Return that people are columns: the first column has questions or moments, and the others are numbers."""
    if len(profiles) < 4:
        return None
    first = profiles[0]
    rest = profiles[1:]
    if not first.unique or any(profile.values is None for profile in rest):
        return None
    if first.is_date or first.named("wave") or spoken(first.name) in MOMENTS:
        apart = [profile for profile in rest if profile.name in aside or profile.is_date]
        moments = _are_moments(first)
        if moments and not apart and _alike(rest):
            columns = _column_roles(first, rest, "a moment")
            return Rows("columns", columns, f"{first.name or 'the first column'!r} has moments, all others are alike")
    asks = first.named("question") or (
        first.text and sum(" " in value for value in first.counts) > len(first.counts) / 2
    )
    named = [profile.name for profile in rest if re.fullmatch(r"[A-ZÀ-Þ][\w.'’-]+( [A-ZÀ-Þ][\w.'’-]*)+", profile.name)]
    if first.text and len(rest) > len(table) and first.named("question"):
        return Rows("columns", _column_roles(first, rest, "a question"), f"{first.name!r} has questions")
    if asks and len(named) > 0.8 * len(rest) and not looks_like_names(first):
        return Rows("columns", _column_roles(first, rest, "a question"), "the columns have names of people")
    return None


MOMENTS = ("time", "timestamp", "date", "datetime", "hour", "t", "second", "seconds", "sample", "step", "minute", "")


def _column_roles(first: Profile, rest: Sequence[Profile], what: str) -> tuple[ColumnPlan, ...]:
    people = [ColumnPlan(profile.name, "answer", why="a person") for profile in rest]
    return (ColumnPlan(first.name, "question", why=f"{what} in each row"), *people)


def _are_moments(first: Profile) -> bool:
    """Tell whether values follow one another in time by equal steps, as a recording has them."""
    if first.whole is not None:
        return counts_rows(first.whole)
    if first.numbers is not None:
        steps = np.diff(first.numbers)
        return bool((steps > 0).all() and np.allclose(steps, steps[0], rtol=1e-3))
    with np.errstate(all="ignore"):
        times = pd.to_datetime(first.column, errors="coerce", format="mixed")
    if times.isna().any() or len(times) < 3:
        return False
    apart = times.diff().dropna()
    return bool((apart > pd.Timedelta(0)).all() and (apart == apart.iloc[0]).mean() > 0.8)


def _alike(profiles: Sequence[Profile]) -> bool:
    """Tell whether columns of numbers measure the same: most are of one type, and their spreads are comparable."""
    spreads = np.array([np.nanstd(profile.values) for profile in profiles if profile.values is not None])
    spreads = spreads[spreads > 0]
    return bool(spreads.size and np.quantile(spreads, 0.9) < 20 * np.quantile(spreads, 0.1))
