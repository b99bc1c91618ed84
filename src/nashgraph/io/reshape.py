"""Turn tables whose rows are not people into tables with a row for each person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..decisions import Decision
from ..plan import TablePlan
from ..validation import listing
from .columns import as_name, is_text, plain_numbers, whole_numbers
from .errors import TableError
from .names import plain_names, words_of
from .vocabulary import COUNTS, RATINGS

PERSON = "person"  # the column that names the people of a table that was turned


@dataclass(eq=False)
class Turned:
    """A table with a row for each person, and the network that the file has, if it has one."""

    table: pd.DataFrame
    decisions: tuple[Decision, ...] = ()
    network: pd.DataFrame | None = None
    reports: pd.DataFrame | None = None


def turned(table: pd.DataFrame, plan: TablePlan) -> Turned:
    """Return a table of people, as the kind of the rows says."""
    ways = {
        "answers": _answers,
        "events": _events,
        "columns": _columns,
        "reports": _reports,
        "matrix": _matrix,
    }
    way = ways.get(plan.rows)
    return Turned(table) if way is None else way(table, plan)


def _one(plan: TablePlan, role: str) -> str:
    columns = plan.of_role(role)
    if len(columns) != 1:
        raise TableError(
            f'{plan.file}: rows = "{plan.rows}" needs one column of the role "{role}", and there are {len(columns)}',
            parameter="columns",
            value=role,
        )
    return columns[0].name


def _named(column: pd.Series) -> list[str]:
    return plain_names(["" if pd.isna(cell) else as_name(cell).strip() for cell in column])


def _lost(columns: list[str], count: int) -> list[Decision]:
    """Return a decision to look at, if rows are left out because nobody knows whom they are about."""
    if not count:
        return []
    return [Decision("no id", tuple(columns), f"{count} row(s) with an empty cell here are left out", unsure=True)]


def _answers(table: pd.DataFrame, plan: TablePlan) -> Turned:
    """Return a column for each question; of two answers of a person to one question the last one counts."""
    who = _one(plan, "id")
    question = _one(plan, "question")
    # Questions have lines of their own in a plan, after the columns of the file.
    answers = [column.name for column in plan.of_role("answer") if column.name in table.columns]
    if len(answers) != 1:
        raise TableError(f'{plan.file}: rows = "answers" needs one column of answers, and there are {len(answers)}')
    answer = answers[0]
    filled = np.array([bool(name) for name in _named(table[who])]) & table[question].notna().to_numpy()
    lost = _lost([who, question], int((~filled).sum()))
    table = table[filled]
    named = pd.DataFrame({PERSON: _named(table[who]), question: _named(table[question])})
    twice = named.duplicated(keep="last").to_numpy()
    decisions = [Decision("answers", (who, question, answer), f"{len(table)} answers, a row each"), *lost]
    if twice.any():
        reason = f"{int(twice.sum())} answers were given twice: the last one counts"
        decisions.append(Decision("answered twice", (question,), reason, unsure=True))
    wide = named.assign(answer=table[answer].to_numpy())[~twice].pivot(index=PERSON, columns=question, values="answer")
    wide = wide.reindex(index=pd.unique(named[PERSON]), columns=pd.unique(named[question]))
    columns = {str(name): plain_numbers(wide[name]) if is_text(wide[name]) else wide[name] for name in wide}
    result = pd.DataFrame(columns)
    cells = max(1, result.size)
    if is_count(plain_numbers(table[answer]), answer, len(table) / cells):
        result = result.fillna(0)
        decisions.append(Decision("counts", (answer,), "counts: a pair without a row is 0"))
    return Turned(_with_person(result), tuple(decisions))


def _with_person(table: pd.DataFrame) -> pd.DataFrame:
    table = table.copy()
    table.insert(0, PERSON, table.index.to_numpy(dtype=object), allow_duplicates=True)
    return table.reset_index(drop=True)


def _events(table: pd.DataFrame, plan: TablePlan) -> Turned:
    """Return a 0/1 column for each event: who took part."""
    who = _one(plan, "id")
    event = _one(plan, "question")
    people = pd.Series(_named(table[who]))
    events = pd.Series(_named(table[event]))
    there = ((people != "") & (events != "")).to_numpy()
    wide = pd.crosstab(people[there], events[there]).clip(upper=1)
    wide = wide.reindex(index=pd.unique(people[there]), columns=pd.unique(events[there]))
    wide.columns.name = None
    reason = f"{len(table)} rows: {len(wide)} people took part in {wide.shape[1]} events"
    lost = _lost([who, event], int((~there).sum()))
    return Turned(_with_person(wide), (Decision("events", (who, event), reason), *lost))


def _columns(table: pd.DataFrame, plan: TablePlan) -> Turned:
    """Return the people of the columns as rows, with the questions or moments as columns."""
    asked = plan.of_role("question")
    people = [column.name for column in plan.of_role("answer") if column.name in table.columns]
    if asked:
        names = _named(table[asked[0].name])
    else:
        names = [f"row {row + 1}" for row in range(len(table))]
    if len({*names}) < len(names):
        names = [f"{name} ({row + 1})" for row, name in enumerate(names)]
    wide = table[people].T
    wide.columns = pd.Index(names, dtype=object)
    wide = wide.apply(lambda column: plain_numbers(column) if is_text(column) else column)
    return Turned(
        _with_person(wide.infer_objects()), (Decision("columns", (), f"the {len(people)} columns are people"),)
    )


def _reports(table: pd.DataFrame, plan: TablePlan) -> Turned:
    """Return the people in reports, and how often each tie was reported."""
    ends = {end: _named(table[_one(plan, end)]) for end in ("source", "target")}
    ties = pd.DataFrame(ends)
    for role in ("relation", "wave"):
        columns = plan.of_role(role)
        ties[role] = _named(table[columns[0].name]) if columns else ""
    inside = (ties["source"] != "") & (ties["target"] != "") & (ties["source"] != ties["target"])
    strengths = plan.of_role("strength")
    if strengths:  # a strength of 0 is no tie, and the two are people all the same
        inside &= pd.to_numeric(table[strengths[0].name], errors="coerce").fillna(1.0).to_numpy() != 0
    unnamed = int(((ties["source"] == "") | (ties["target"] == "")).sum())
    loops = int(((ties["source"] == ties["target"]) & (ties["source"] != "")).sum())
    people = pd.unique(ties[["source", "target"]].to_numpy().ravel())
    people = people[people != ""]
    ties = ties[inside].reset_index(drop=True)
    if ties.empty:
        raise TableError(f"{plan.file} has no tie between two different people")
    network = ties.groupby(["source", "target"], sort=False).size().rename("weight").reset_index()
    decisions = [Decision("network", (), f"{len(table)} rows are {len(network)} ties between {len(people)} people")]
    decisions += _lost(list(ends), unnamed)
    if loops:
        decisions.append(Decision("loops", (), f"{loops} rows tie a person to itself and are left out"))
    reports = ties.drop_duplicates(ignore_index=True).assign(respondent=lambda part: part["source"])
    wide = pd.DataFrame({PERSON: people.astype(object)})
    return Turned(wide, tuple(decisions), network, reports)


def _matrix(table: pd.DataFrame, plan: TablePlan) -> Turned:
    """Return the people of a matrix and their ties: a cell that is not 0 ties its row to its column."""
    ids = plan.of_role("id")
    columns = plan.of_role("tie", "place")
    if ids:
        names = _named(table[ids[0].name])
    else:
        names = [column.name for column in columns]
    network, known = matrix_ties(table[[column.name for column in columns]], names)
    what = f"a matrix of {len(network)} ties between {len(names)} people"
    reports = network.assign(respondent=network["source"], relation="", wave="").drop(columns="weight")
    wide = pd.DataFrame({PERSON: np.array(names, dtype=object)})
    if plan.of_role("place"):
        shown = listing(names, 2)
        reason = f"a matrix of distances between {len(names)} people ({shown}): near people need not be tied"
        return Turned(wide, (Decision("distances", (), reason, unsure=True),))
    return Turned(wide, (Decision("network", (), what),), network, reports if known else None)


def matrix_ties(cells: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, bool]:
    """Return the ties in a square of cells, with weights."""
    values = np.nan_to_num(cells.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float))
    np.fill_diagonal(values, 0.0)
    source, target = np.nonzero(values)
    people = np.array(names, dtype=object)
    ties = {"source": people[source], "target": people[target], "weight": values[source, target]}
    return pd.DataFrame(ties), bool(len(source))


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
