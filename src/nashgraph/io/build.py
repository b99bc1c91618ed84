"""A study from a table and its plan: who the people are, their answers as signals, what they said about ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..decisions import Remedy
from ..plan import ColumnPlan, Plan, PlanError, TablePlan
from ..study import Study
from ..tie_survey import TieSurvey
from ..validation import ABSURD, FAR, Array, far_out, listing, silent_nodes, strangers
from .columns import as_name
from .errors import TableError
from .missing import filled
from .names import check_nodes, plain_names
from .scales import coded_answers
from .told import Building, told_ties

WORDS = ("category", "multiple", "tick")  # scales whose cells are words even if they are written as numbers
UNEVEN = 10.0  # spreads further apart than this are not of one unit, and leave the distances to the widest signal
MOST_ALONE = 10_000  # people; with more, the search for pairs that share no answer takes too long


# ------------------------------------------------------------------------------------------------ people


def identified(table: pd.DataFrame, plan: TablePlan) -> Array:
    """Return the name of the person of every row."""
    ids = plan.of_role("id")
    if not ids:
        return np.array([str(row + 1) for row in range(len(table))], dtype=object)
    column = ids[-1]
    names = plain_names(["" if pd.isna(cell) else as_name(cell).strip() for cell in table[column.name]])
    if column.of:
        within = plain_names(["" if pd.isna(cell) else as_name(cell).strip() for cell in table[column.of]])
        names = [f"{group}-{name}" for group, name in zip(within, names, strict=True)]
    return np.array([name or f"row {row + 1}" for row, name in enumerate(names)], dtype=object)


def check_ids(building: Building, declared: str | None) -> None:
    """Refuse rows without an id in the column that the user declared; say which they are if it was a guess."""
    ids = building.plan.table.of_role("id")
    if not ids or ids[-1].name not in building.table.columns:
        return
    column = ids[-1].name
    texts = ["" if pd.isna(cell) else as_name(cell).strip() for cell in building.table[column]]
    empty = np.flatnonzero([not text for text in texts])
    if not len(empty):
        return
    reason = f"{len(empty)} people have no id, in rows {listing(empty + 1)}"
    if declared is not None:
        raise PlanError(
            f"{column!r}: {reason}: write one for each, or number the people by row",
            plan=building.plan,
            parameter="id",
            value=column,
            remedy=Remedy("id", "none"),
        )
    building.decide("no id", f"{reason}; they are called by the row", [column], Remedy("id", "none"), unsure=True)


def one_row_each(table: pd.DataFrame, who: Array, plan: Plan, question: str) -> tuple[pd.DataFrame, Array]:
    """Return a table in which repeated ids are resolved as the plan says, or ask the user."""
    repeats: Any = plan.table.repeats
    doubled = pd.Series(who).duplicated(keep=False).to_numpy()
    if not doubled.any() or repeats == "mean":
        return table, who
    if repeats == "ask":
        same = table[doubled].duplicated().sum() + len(pd.unique(who[doubled])) == doubled.sum()
        if not same:
            raise PlanError(question, plan=plan, parameter="repeats", value="ask", remedy=Remedy("repeats", "first"))
        repeats = "first"  # the rows are copies
    if repeats == "separate":
        again = pd.Series(who).groupby(who).cumcount().to_numpy()
        return table, np.array(
            [name if not k else f"{name} ({k + 1})" for name, k in zip(who, again, strict=True)], dtype=object
        )
    rows = ~pd.Series(who).duplicated(keep=repeats).to_numpy()
    return table[rows].reset_index(drop=True), who[rows]


# ----------------------------------------------------------------------------------------------- signals


@dataclass(frozen=True, eq=False)
class Coded:
    """Answers as numbers: a row for each row of a table or for each person, and a column for each signal."""

    names: list[str]
    questions: list[str]
    values: Array

    def rows(self, which: Array) -> Coded:
        """Return some of the rows."""
        return replace(self, values=self.values[which])

    def signals(self, which: Array) -> Coded:
        """Return some of the signals."""
        names = [name for name, wanted in zip(self.names, which, strict=True) if wanted]
        questions = [name for name, wanted in zip(self.questions, which, strict=True) if wanted]
        return Coded(names, questions, self.values[:, which])


def coded_table(table: pd.DataFrame, columns: Sequence[ColumnPlan]) -> Coded:
    """Return all answers as their scales say."""
    names: list[str] = []
    questions: list[str] = []
    parts: list[Array] = [np.empty((len(table), 0))]
    numeric = {str(name) for name, dtype in table.dtypes.items() if isinstance(dtype, np.dtype) and dtype.kind in "iuf"}
    plain = [c.name for c in columns if c.name in numeric and not (c.missing or c.order or c.scale in WORDS)]
    # Columns of plain numbers are taken together: one by one, thousands of them take seconds.
    block = np.asfortranarray(table[plain].to_numpy(dtype=float))
    places = {name: place for place, name in enumerate(plain)}
    for column in columns:
        if column.name in places:
            signals = [column.name]
            values = block[:, places[column.name], None]
        else:
            signals, values = coded_answers(table[column.name], column)
        names += signals
        questions += [column.name] * len(signals)
        parts.append(values)
    return Coded(names, questions, np.hstack(parts))


def by_person(building: Building, coded: Coded) -> Coded:
    """Return a row for each person: the only one, the mean of several, or all waves side by side."""
    waves = building.of_role("wave")
    if building.plan.table.rows == "waves" and waves:
        return _side_by_side(building, coded, waves[0])
    if len(building.who) == len(building.people):
        return coded
    places = {person: place for place, person in enumerate(building.people)}
    rows = np.array([places[person] for person in building.who])
    filled_in = ~np.isnan(coded.values)
    sums = np.zeros((len(places), coded.values.shape[1]))
    counts = np.zeros_like(sums)
    np.add.at(sums, rows, np.where(filled_in, coded.values, 0.0))
    np.add.at(counts, rows, filled_in.astype(float))
    means = np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)
    building.decide("mean of rows", f"answers are means over the rows of each person, {len(building.who)} rows in all")
    return replace(coded, values=means)


def _side_by_side(building: Building, coded: Coded, wave: ColumnPlan) -> Coded:
    """Return a signal for each answer in each wave; who was absent has gaps."""
    places = {person: place for place, person in enumerate(building.people)}
    labels = building.table[wave.name].map(as_name)
    parts: list[Coded] = []
    for label in dict.fromkeys(labels):
        rows = np.flatnonzero((labels == label).to_numpy())
        values = np.full((len(places), coded.values.shape[1]), np.nan)
        values[[places[building.who[row]] for row in rows]] = coded.values[rows]
        names = [f"{name} ({wave.name} {label})" for name in coded.names]
        parts.append(Coded(names, coded.questions, values))
    present = ", ".join(f"{(labels == label).sum()} in {label}" for label in dict.fromkeys(labels))
    building.decide("waves", f"{len(parts)} waves side by side: {present}", [wave.name])
    return Coded(
        [name for part in parts for name in part.names],
        [name for part in parts for name in part.questions],
        np.hstack([part.values for part in parts]),
    )


def checked_signals(building: Building, coded: Coded) -> Coded:
    """Leave out signals that are the same for everybody, and say which values are far out."""
    with np.errstate(all="ignore"):
        low = np.nanmin(coded.values, axis=0, initial=np.inf)
        high = np.nanmax(coded.values, axis=0, initial=-np.inf)
    constant = ~(low < high)
    if np.isinf(coded.values).any():
        row, place = np.argwhere(np.isinf(coded.values))[0]
        raise TableError(
            f"{coded.names[place]!r} is infinite for {building.people[row]}: correct it, or make it missing"
        )
    if constant.any() and len(constant):
        left_out = [name for name, gone in zip(coded.names, constant, strict=True) if gone]
        building.decide("constant", "the same for everybody", left_out)
        coded = coded.signals(~constant)
    kept = {column.name for column in building.columns if "as it is" in column.why}
    far: list[str] = []
    for row, place, away in far_out(coded.values, FAR) if coded.names else ():
        if coded.questions[place] in kept:
            continue
        value = float(coded.values[row, place])
        what = f"{value:.6g} of {building.people[row]} in {coded.names[place]!r} is {away:.2g} times the spread away"
        if away > ABSURD:
            raise PlanError(
                f"{what}, and would decide the result: correct it, or list it under missing",
                plan=building.plan,
                parameter="missing",
                value=value,
                remedy=Remedy("missing", (f"{coded.questions[place]}={as_name(value)}",)),
            )
        far.append(what)
    if far:
        building.decide("far out", listing(far, 3), unsure=True, remedy=Remedy("missing"))
    return coded


def settled_gaps(building: Building, coded: Coded, gaps: str) -> Coded:
    """Fill gaps, leave them or refuse them, as the plan says."""
    missing = np.isnan(coded.values)
    if not missing.any():
        return coded
    share = f"{missing.sum()} values ({missing.mean():.1%}) are missing"
    if gaps == "error":
        row, place = np.argwhere(missing)[0]
        raise PlanError(
            f'{share}, the first of {building.people[row]} in {coded.names[place]!r}: gaps = "impute" fills them, '
            '"pairwise" compares people over what both answered',
            plan=building.plan,
            parameter="gaps",
            value="error",
            remedy=Remedy("gaps", "impute"),
        )
    # Two people who share no answer cannot be compared; among many it would take too long to look for them.
    alone = gaps == "auto" and len(missing) <= MOST_ALONE and strangers(~missing.T)[0] > 0
    if gaps == "impute" or alone:
        spreads = _spreads(coded.values)
        values, _ = filled(coded.values, np.nanmean(coded.values, axis=0), spreads)
        building.decide("filled", f"{share} and were filled from the nearest people", remedy=Remedy("gaps", "pairwise"))
        return replace(coded, values=values)
    reason = f"{share}: two people are compared over what both answered"
    building.decide("gaps", reason, remedy=Remedy("gaps", "impute"))
    return coded


def _spreads(values: Array) -> Array:
    """Return the standard deviation of every signal; squares of large and small values neither overflow nor vanish."""
    powers = np.ldexp(1.0, np.frexp(np.nanmax(np.abs(values), axis=0))[1] - 1)  # of two: no digit changes
    spreads: Array = powers * np.nanstd(values / powers, axis=0)
    return spreads


def on_one_scale(building: Building, coded: Coded) -> tuple[Coded, bool]:
    """Bring every signal to mean 0 and spread 1, unless the plan says not to; recordings only if units differ."""
    if not coded.names:
        return coded, False
    spreads = _spreads(coded.values)
    uneven = bool(spreads.max() > UNEVEN * spreads.min())
    wanted = building.plan.standardize
    if wanted is None:
        wanted = building.plan.table.rows != "columns" or uneven
    if wanted:
        building.decide("scaled", f"{len(spreads)} signals to mean 0 and spread 1", remedy=Remedy("standardize", False))
        return replace(coded, values=(coded.values - np.nanmean(coded.values, axis=0)) / spreads), True
    if uneven:
        widest = coded.names[int(np.argmax(spreads))]
        building.decide(
            "uneven", f"{widest!r} spreads widest and decides most", remedy=Remedy("standardize", True), unsure=True
        )
    return coded, False


# ------------------------------------------------------------------------------------------------- study


def finished(building: Building) -> Study:
    """Return the study: answers as signals by person, and what was said about ties."""
    plan = building.plan
    answers = building.of_role("answer")
    coded = by_person(building, coded_table(building.table, answers))
    coded = checked_signals(building, coded)
    survey, spellings = told_ties(building)
    people = building.table.iloc[building.first_rows()].set_axis(pd.Index(building.people, dtype=object), axis=0)
    weights = _one_number(building, people, "weight")
    benefit = _one_number(building, people, "benefit")
    answered = np.ones(len(building.people), dtype=bool)
    if coded.names:
        answered = np.asarray(~np.isnan(coded.values).all(axis=1))
    told = bool(
        len(survey.reports) or survey.counts.shape[1] or survey.n_ties.notna().any() or building.network is not None
    )
    if not answered.all() and not told:
        gone = [person for person, there in zip(building.people, answered, strict=True) if not there]
        if answered.sum() < 2:
            raise TableError(f"{len(gone)} of {len(answered)} people have no answers at all, and a network needs two")
        building.decide("no answers", "people without any answer are left out", gone)
        coded = coded.rows(answered)
        building.people = [person for person in building.people if person not in {*gone}]
        people = people.loc[building.people]
        survey = TieSurvey.of(
            building.people,
            places=survey.places.loc[building.people] if survey.places.shape[1] else None,
            groups=survey.groups.loc[building.people] if survey.groups.shape[1] else None,
        )
    if not coded.names and not told:
        what = "no answers are left: every column is ignored or the same for everybody"
        if plan.table.rows == "matrix":
            what = "a matrix of distances does not say who is tied: give it after a table of the people"
        raise PlanError(f"{plan.table.file}: {what}", plan=plan, parameter="columns")
    index = pd.Index(building.people, dtype=object)
    check_nodes(building.people, "rows")
    missing = np.isnan(coded.values).mean(axis=1) if coded.names else np.zeros(len(index))
    silent = silent_nodes(coded.values.T) if coded.names else np.zeros(len(index), dtype=bool)
    if silent.any():
        reason = f"{int(silent.sum())} people have 0 in every answer, so their ties cannot be learned"
        building.decide("silent", reason, index[silent].tolist(), unsure=True)
    coded = settled_gaps(building, coded, plan.gaps)
    coded, standardized = on_one_scale(building, coded)
    return Study(
        plan=plan,
        signals=pd.DataFrame(coded.values.T, index=pd.Index(coded.names, dtype=object), columns=index),
        people=people,
        ties=survey,
        decisions=tuple(building.decisions),
        network=building.network,
        names=spellings,
        weights=weights,
        benefit=benefit,
        missing=pd.Series(missing, index=index),
        silent=pd.Series(silent, index=index),
        standardized=standardized,
        questions=dict(zip(coded.names, coded.questions, strict=True)),
    )


def _one_number(building: Building, people: pd.DataFrame, role: str) -> pd.Series | None:
    """Return the numbers of the one column with a role: one for each person, none negative."""
    columns = building.of_role(role)
    if not columns:
        return None
    values = pd.Series(
        coded_answers(people[columns[0].name], replace(columns[0], scale="number"))[1][:, 0], index=people.index
    )
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any() and role == "benefit":
        raise PlanError(
            f"{columns[0].name!r} is missing or negative for {listing(values.index[bad])}: a benefit must be a number "
            "of at least 0 for everybody",
            plan=building.plan,
            parameter=role,
            value=columns[0].name,
        )
    return values
