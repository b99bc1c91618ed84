"""Read a study: find out how its files are to be read, or follow a plan, and say what was decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..decisions import Decision, Remedy
from ..plan import ColumnPlan, Plan, PlanError, TablePlan
from ..study import Study
from ..validation import InputError, listing
from .anonymous import anonymised
from .build import check_ids, finished, identified, one_row_each
from .errors import TableError
from .forms import read_form
from .load import Raw, Source, load
from .names import chosen_column, group_labels, group_names
from .options import TableOptions
from .overrides import Overrides
from .people import read_confirmed
from .plan_file import read_plan, resolved
from .profiles import Profile, profiles_of
from .read import read_table
from .reshape import PERSON, Turned, matrix_ties, turned
from .roles import guessed_columns
from .rows import kind_of_rows
from .shapes import Rows
from .together import with_others
from .told import Building

ROLE_OPTIONS = ("n_ties", "group", "wave", "place", "weight", "benefit", "label", "names", "relation")


def read_study(
    source: Source,
    *others: Source,
    plan: Plan | str | Path | None = None,
    form: str | Path | None = None,
    gaps: str | None = None,
    standardize: bool | None = None,
    anonymous: bool | None = None,
    **options: Any,
) -> Study:
    r"""Read a study from files or a table: who the people are, their answers, and what they said about ties.

    How it was read is the study's ``plan``, which :func:`nashgraph.io.write_plan` writes as a small file to edit, and
    which can be given instead of the data. Every decision on the way is in ``decisions``.

    Parameters
    ----------
    source : path or DataFrame
        A table with a row for each person, or whatever else people have (:data:`nashgraph.plan.ROWS`); or a plan.
    *others : paths or DataFrames
        Further files of the study: alters of egor, a list of ties.
    plan : Plan or path, optional, how to read ``source``
    form : path, optional
        The questionnaire: an XLSForm (Kobo, ODK, SurveyCTO) or a data dictionary of REDCap.
    gaps : "auto", "error", "pairwise" or "impute", what happens to missing answers
    standardize : bool, optional, bring every answer to mean 0 and spread 1 (default: True for people)
    anonymous : bool, optional, put codes in place of people's ids; the study's ``key`` says who they are
    **options
        Overrides of lines of the plan: ``id="name"``, ``drop=["age"]``, ``keep=["rank"]``, ``names=["friend"]``,
        ``counts={"n_farmers": "farmer"}``, ``n_ties``, ``group``, ``wave``, ``place``, ``weight``, ``benefit``,
        ``label`` (columns of this role), ``missing=["-99", "q1=9"]``, ``ordinal={"q1": ["no", "maybe", "yes"]}``,
        ``categorical``, ``rows="answers"``, ``repeats="mean"``, ``only="village=3"``, and of text files ``separator``,
        ``encoding``, ``decimal``, ``thousands``, ``sheet``, ``header``.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["ann", "bob", "cat"], "age": [31, 45, 28], "side": ["n", "s", "n"]})
    >>> study = read_study(table)
    >>> list(study.signals.index), list(study.signals.columns)
    (['age', 'side=n', 'side=s'], ['ann', 'bob', 'cat'])
    >>> study.plan.table.column("name").role
    'id'
    """
    overrides = Overrides.of(options)
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".toml":
        if plan is not None:
            raise PlanError("source is a plan, and plan= is another one: leave one out", parameter="plan")
        plan = source
    if plan is not None and form is not None:
        raise PlanError(
            "a plan has what the form says already: give the table with the form, or the plan alone", parameter="form"
        )
    file = None
    if isinstance(plan, str | Path):
        file = Path(plan)
        plan = read_plan(file)
        if not isinstance(source, pd.DataFrame) and Path(source) == file:
            source = file.parent / plan.table.file
            others = tuple(file.parent / table.file for table in plan.tables[1:])
    if plan is None:
        raw = load(source, overrides.reading)
        plan = guessed(raw, overrides, form)
    else:
        raw = load(source, {**plan.table.reading, **overrides.reading}, plan.table)
        plan = _followed(plan, raw, overrides, file)
    plan = replace(
        plan,
        gaps=plan.gaps if gaps is None else gaps,
        standardize=plan.standardize if standardize is None else standardize,
        anonymous=plan.anonymous if anonymous is None else anonymous,
    )
    study = _built(raw, plan, others, file, overrides.id)
    return anonymised(study) if plan.anonymous else study


def read_groups(
    source: Source,
    column: str,
    *,
    form: str | Path | None = None,
    gaps: str | None = None,
    standardize: bool | None = None,
    anonymous: bool | None = None,
    **options: Any,
) -> tuple[dict[str, Study | InputError], int]:
    """Read a study for each group that a column tells apart, from a table or by a plan; the file is loaded once.

    Return the study of every group, or the error that says why it has none, and how many rows belong to no group.
    The options are those of :func:`read_study`.

    Examples
    --------
    >>> table = pd.DataFrame({"who": [*"abcd"], "village": [1, 1, 2, 2], "age": [31, 45, 28, 70]})
    >>> studies, without_group = read_groups(table, "village", id="who")
    >>> studies
    {'1': <Study: 2 people, 1 signal>, '2': <Study: 2 people, 1 signal>}
    """
    overrides = Overrides.of(options)
    file = None
    plan = None
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".toml":
        file = Path(source)
        plan = read_plan(file)
        source = file.parent / plan.table.file
    layout: dict[str, Any] = {} if plan is None else dict(plan.table.reading)
    # The values of the column are read as names: "01" is not "1".
    raw = load(source, {**layout, **overrides.reading, "group": column}, None if plan is None else plan.table)
    column = chosen_column(column, map(str, raw.table.columns))
    names, without_group = group_names(raw.table, column)
    studies: dict[str, Study | InputError] = {}
    for name in names:
        group = replace(overrides, only=f"{column}={name}")
        try:
            if overrides.rows is None and len(selected(raw.table, str(group.only))) == 1:
                raise TableError("one row only, and a network needs two nodes")
            of_group = guessed(raw, group, form) if plan is None else _followed(plan, raw, group, file)
            of_group = replace(
                of_group,
                gaps=of_group.gaps if gaps is None else gaps,
                standardize=of_group.standardize if standardize is None else standardize,
                anonymous=of_group.anonymous if anonymous is None else anonymous,
            )
            study = _built(raw, of_group, (), file, overrides.id)
            studies[name] = anonymised(study) if of_group.anonymous else study
        except InputError as error:
            studies[name] = error
    return studies, without_group


# -------------------------------------------------------------------------------------------------- planning


def guessed(raw: Raw, overrides: Overrides, form: str | Path | None = None) -> Plan:
    """Guess the plan of a table; options of the user come first."""
    names = list(map(str, raw.table.columns))
    wanted = None if overrides.id in (None, "none") else chosen_column(str(overrides.id), names)
    questionnaire = None if form is None else read_form(Path(form))
    if questionnaire is not None:
        raw.trim.labels = {**questionnaire.texts(names), **raw.trim.labels}
    profiles = raw.profiles()
    # Numbers of households, for example, may be unique within a village only.
    part = raw.table if overrides.only is None else selected(raw.table, overrides.only)
    of_part = profiles if overrides.only is None else raw.profiles(part)
    dropped = overrides.dropped(names)
    rows = kind_of_rows(part, [profile for profile in of_part if profile.name not in dropped], wanted)
    if raw.network is not None:
        rows = Rows("network", (ColumnPlan(PERSON, "id", why="its nodes"),), "a file of a network")
    if overrides.id == "none":
        rows = Rows("people", why="people are numbered by row, as the option says")
    if overrides.rows is not None and overrides.rows != rows.kind:
        rows = replace(rows, kind=overrides.rows, why="as the option says", unsure=False, question="")
    if overrides.only is not None:
        rows = replace(rows, only=overrides.only)
    if overrides.rows is not None or overrides.repeats is not None:
        rows = replace(rows, question="")
    decided = [] if questionnaire is None else questionnaire.plans(profiles, raw.file)
    table = TablePlan(
        raw.file,
        raw.sha256,
        raw.reading,
        raw.trim.no_data,
        rows.kind,
        overrides.repeats or "ask",
        rows.only,
        rows.why,
        rows.unsure,
        tuple(decided),
    )
    table = replace(table, columns=tuple(_planned_columns(raw, table, rows, profiles, decided, overrides)))
    plan = Plan((table,))
    if rows.question:
        raise PlanError(
            f"{raw.file}: {rows.question}",
            plan=plan,
            parameter="rows",
            value=rows.kind,
            remedy=Remedy("rows", "reports") if rows.kind == "reports" else Remedy("repeats", "first"),
        )
    return plan


def _planned_columns(
    raw: Raw,
    table: TablePlan,
    rows: Rows,
    profiles: Sequence[Profile],
    decided: Sequence[ColumnPlan],
    overrides: Overrides,
) -> list[ColumnPlan]:
    """Return the plan of every column of the file, and of the questions that its rows are turned into."""
    shape = list(rows.columns)
    if rows.kind in ("people", "waves", "members", "network"):
        if rows.only:
            profiles = raw.profiles(selected(raw.table, rows.only))
        plans = guessed_columns(profiles, rows, decided)
        return overrides.applied(plans, [plan.name for plan in plans])
    named = {column.name for column in shape}
    rest = [
        ColumnPlan(str(name), "ignore", why=rows.aside.get(str(name), "not needed"))
        for name in raw.table
        if name not in named
    ]
    own = {column.name: column for column in (*shape, *rest)}
    plans = [own[str(name)] for name in raw.table.columns]
    if rows.kind in ("answers", "events", "columns"):
        shape_of_people = turned(raw.table, replace(table, columns=tuple(plans)))
        questions = guessed_columns(profiles_of(shape_of_people.table.drop(columns=PERSON)), Rows("people"))
        if any(decision.kind == "counts" for decision in shape_of_people.decisions):
            # 88 and 998 are many plays, and no codes for a missing answer.
            questions = [replace(plan, missing=(), unsure=False) for plan in questions]
        plans += questions
    return overrides.applied(plans, [plan.name for plan in plans])


def _followed(plan: Plan, raw: Raw, overrides: Overrides, file: Path | None) -> Plan:
    """Return a plan with a line for every column of the file, checked against it."""
    table = plan.table
    names = list(map(str, raw.table.columns))
    known = names
    if table.rows in ("answers", "events", "columns"):
        shape = resolved(replace(table, columns=tuple(c for c in table.columns if _is_of(c, names))), names)
        wide = turned(raw.table, replace(shape, rows=table.rows)).table
        known = [*names, *(str(name) for name in wide.columns if name != PERSON)]
    if not table.columns:
        # A plan without columns says how the file is laid out, and leaves the rest to be guessed.
        return plan.with_table(replace(guessed(raw, overrides).table, reading=table.reading, no_data=table.no_data))
    columns = resolved(table, known, file).columns
    columns = tuple(overrides.applied(columns, known))
    if overrides.id is not None:
        columns = tuple(_with_id(columns, overrides.id, known))
    more = {"rows": overrides.rows, "repeats": overrides.repeats, "only": overrides.only}
    chosen: dict[str, Any] = {name: value for name, value in more.items() if value is not None}
    return plan.with_table(replace(table, columns=columns, **chosen))


def _is_of(column: ColumnPlan, names: Sequence[str]) -> bool:
    start, mark, end = column.name.partition("..")
    return column.name in names or bool(mark and start in names and end in names)


def _with_id(columns: Sequence[ColumnPlan], name: str, known: Sequence[str]) -> Iterable[ColumnPlan]:
    chosen = "none" if name == "none" else chosen_column(name, known)
    for column in columns:
        if column.name == chosen:
            yield ColumnPlan(column.name, "id", why="as the option says")
        elif column.role == "id":
            yield replace(column, role="label")
        else:
            yield column


# -------------------------------------------------------------------------------------------------- building


def selected(table: pd.DataFrame, only: str) -> pd.DataFrame:
    """Return the rows that have a value in a column, or none."""
    if not only:
        return table
    names = list(map(str, table.columns))
    name, mark, value = only.rpartition("=")
    if name not in names:  # the value has the sign
        name, mark, value = only.partition("=")
    if not mark:
        raise PlanError(f'only = "{only}" must be "COLUMN=VALUE"', parameter="only", value=only)
    texts = group_labels(table[chosen_column(name, names)])
    texts = texts.map(str.strip, na_action="ignore")
    rows = table[texts.isna() if not value else texts == value.strip()]
    if rows.empty:
        raise TableError(f"no row has {value!r} in the column {name!r}", parameter="only", value=value)
    return rows.reset_index(drop=True)


def _built(raw: Raw, plan: Plan, others: Sequence[Source], file: Path | None, declared: str | None) -> Study:
    """Return the study of a table by its plan, with the other files."""
    table = plan.table
    if table.rows in ("alters", "alter ties"):
        what = (
            "alters, that is, people named by others"
            if table.rows == "alters"
            else "ties between the alters of one person"
        )
        raise PlanError(
            f"{raw.file} has {what}: give the table with a row for every person who was asked first, and this one "
            "after it",
            plan=plan,
            parameter="rows",
            value=table.rows,
        )
    part = selected(raw.table, table.only)
    shape: Turned = turned(part, table)
    columns = [column for column in table.columns if column.name in shape.table.columns]
    decisions = [
        *raw.decisions,
        Decision("rows", (), table.why or table.rows, Remedy("rows", table.rows), table.unsure),
    ]
    if table.only:
        gone = len(raw.table) - len(part)
        decisions.append(Decision("only", (), f"{gone} rows are left out: {table.only or 'others'}", Remedy("only")))
    decisions += shape.decisions
    rows = shape.table
    if PERSON in rows.columns and table.rows != "people":
        who = rows[PERSON].to_numpy(dtype=object)
        columns = [column for column in columns if column.name != PERSON]
    else:
        who = identified(rows, table)
    if table.rows == "people":
        rows, who = one_row_each(rows, who, plan, _question(raw, table, who))
    building = Building(
        plan=plan,
        table=rows,
        columns=tuple(columns),
        who=who,
        people=list(dict.fromkeys(who)),
        confirmed=_confirmed(plan, file),
        decisions=decisions,
        network=shape.network if raw.network is None else raw.network,
        reports=shape.reports,
    )
    check_ids(building, declared)
    _say_columns(building)
    ties = [column.name for column in building.of_role("tie")]
    if ties and table.rows != "matrix":
        building.network, _ = matrix_ties(rows[ties], building.people)
        reports = building.network.drop(columns="weight")
        building.reports = reports.assign(respondent=reports["source"], relation="", wave="")
    with_others(building, others)
    return finished(building)


def _question(raw: Raw, table: TablePlan, who: np.ndarray[Any, Any]) -> str:
    doubled = list(dict.fromkeys(pd.Series(who)[pd.Series(who).duplicated()]))
    places = [f"{name!r} in rows {listing(np.flatnonzero(who == name) + 1)}" for name in doubled[:3]]
    return (
        f"{raw.file}: {len(doubled)} people have several rows: {'; '.join(places)}. Say which count: repeats = "
        '"first", "last", "mean", or "separate" if they are different people'
    )


def _confirmed(plan: Plan, file: Path | None) -> dict[str, str]:
    if not plan.names:
        return {}
    path = Path(plan.names) if file is None else file.parent / plan.names
    table, _ = read_table(path, TableOptions(id="written"), ("written", "matched"))
    for name in ("written", "matched", "sure"):
        chosen_column(name, map(str, table.columns))
    return read_confirmed(table)


def _say_columns(building: Building) -> None:
    """Store one decision for all columns that are read alike."""
    groups: dict[tuple[str, str, str, bool], list[str]] = {}
    for column in building.columns:
        groups.setdefault((column.role, column.scale, column.why, column.unsure), []).append(column.name)
    for (role, scale, why, unsure), names in groups.items():
        kind = "left out" if role == "ignore" else role
        reason = f"{scale}: {why}" if scale and why else scale or why
        building.decide(
            kind, reason, names, Remedy("drop" if role == "answer" else "columns", tuple(names)), unsure=unsure
        )
    coded = [column for column in building.columns if column.missing]
    for codes in dict.fromkeys(column.missing for column in coded):
        names = [column.name for column in coded if column.missing == codes]
        building.decide("missing codes", f"{', '.join(codes)} stand for no answer", names, Remedy("missing", codes))
