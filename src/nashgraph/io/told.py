"""Read answers about ties from the columns that a plan gives this role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from ..decisions import Decision, Remedy
from ..plan import ColumnPlan, Plan, PlanError
from ..tie_survey import TieSurvey
from ..tie_tables import read_counts
from ..validation import Array, InputError, listing, warn
from .columns import as_name
from .people import NAMES_TABLE, Register, named_people
from .scales import AT_LEAST, coded_answers, parts_of
from .vocabulary import NO_ANSWER


@dataclass(eq=False)
class Building:
    """A study in the making: rows of a table, who each is about, and what is decided on the way."""

    plan: Plan
    table: pd.DataFrame
    columns: tuple[ColumnPlan, ...]
    who: Array  # the name of the person of every row
    people: list[str]  # each once, in the order of the file
    confirmed: Mapping[str, str] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    network: pd.DataFrame | None = None
    reports: pd.DataFrame | None = None

    def decide(
        self, kind: str, reason: str, columns: Sequence[str] = (), remedy: Remedy | None = None, **more: bool
    ) -> None:
        """Store a decision."""
        self.decisions.append(Decision(kind, tuple(map(str, columns)), reason, remedy, **more))

    def doubt(self, kind: str, reason: str, columns: Sequence[str], remedy: Remedy | None = None) -> None:
        """Store a decision that may be wrong and bears on the result, and warn of it."""
        self.decide(kind, reason, columns, remedy, unsure=True)
        warn(f"{listing(map(repr, columns))}: {reason}", parameter="columns", remedy=remedy)

    def of_role(self, *roles: str) -> list[ColumnPlan]:
        """Return the columns that have one of some roles."""
        return [column for column in self.columns if column.role in roles]

    def first_rows(self) -> list[int]:
        """Return the first row about each person."""
        rows: dict[str, int] = {}
        for row, person in enumerate(self.who):
            rows.setdefault(person, row)
        return [rows[person] for person in self.people]


def told_ties(building: Building) -> tuple[TieSurvey, pd.DataFrame]:
    """Return what the columns about ties say, and the names that are not spelt as in the table."""
    rows = building.table.iloc[building.first_rows()].reset_index(drop=True)
    index = pd.Index(building.people, dtype=object)
    traits, counts = _counted(building, rows, index)
    totals = building.of_role("n_ties")
    n_ties = None
    if totals:
        n_ties = _count_cells(building, rows[totals[0].name], totals[0]).set_axis(index)
    reports = [building.reports] if building.reports is not None else []
    named, spellings, room, asked = _nominations(building)
    reports += [named] if named is not None else []
    places = building.of_role("place")
    groups = building.of_role("group")
    survey = TieSurvey.of(
        building.people,
        traits=traits,
        counts=counts,
        n_ties=n_ties,
        reports=pd.concat(reports, ignore_index=True) if reports else None,
        asked=asked,
        room=room,
        places=_places(rows, places).set_axis(index) if places else None,
        groups=rows[[column.name for column in groups]].map(as_name, na_action="ignore").set_axis(index)
        if groups
        else None,
        outside="keep",
    )
    building.decisions += [decision for decision in survey.decisions if decision.kind != "outside"]
    return survey, spellings


def _counted(
    building: Building, rows: pd.DataFrame, index: pd.Index
) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """Return traits as 0 and 1, and how many ties with each trait people have."""
    counted = building.of_role("count")
    if not counted:
        return None, None
    by_name = {column.name: column for column in building.columns}
    traits: dict[str, Array] = {}
    counts: dict[str, pd.Series] = {}
    for column in counted:
        trait, _, value = column.of.partition("=") if column.of not in by_name else (column.of, "", "")
        if trait not in by_name:
            raise PlanError(
                f'{column.name!r} counts {column.of!r}, and there is no such column: write of = "COLUMN" or of = '
                '"COLUMN=VALUE"',
                plan=building.plan,
                parameter="counts",
                value=column.of,
            )
        if column.of in counts:
            raise PlanError(
                f"two columns count {column.of!r}, the second is {column.name!r}: one column counts one trait",
                plan=building.plan,
                parameter="counts",
                value=column.name,
                remedy=Remedy("drop", (column.name,)),
            )
        if value:
            texts = rows[trait].map(lambda cell: as_name(cell).strip(), na_action="ignore")
            has = (texts == value).astype(float).where(texts.notna()).to_numpy()
        else:
            plan = by_name[trait]
            has = coded_answers(rows[trait], plan if plan.scale else replace(plan, scale="yes/no"))[1][:, 0]
        if np.isnan(has).any():
            gaps = int(np.isnan(has).sum())
            building.doubt("trait", f"{gaps} people without an answer count as not having it", [trait])
        traits[column.of] = np.nan_to_num(has)
        counts[column.of] = _count_cells(building, rows[column.name], column)
    frames = [
        pd.DataFrame(part).set_axis(index, axis=0) for part in (traits, {k: v.to_numpy() for k, v in counts.items()})
    ]
    return frames[0], frames[1]


def _count_cells(building: Building, cells: pd.Series, plan: ColumnPlan) -> pd.Series:
    """Return counts as TieSurvey reads them: numbers, and texts such as "4+"; words for no answer are gaps.

    A number that no count can be (-3, 1.5) and a bare "+" are refused: they are slips or codes nobody declared.
    """
    missing = {code.casefold() for code in plan.missing}
    texts = cells.astype(object).map(lambda cell: as_name(cell).strip(), na_action="ignore")
    texts = texts.map(_plain_count, na_action="ignore").set_axis(pd.Index(building.people, dtype=object))
    coded = texts.map(lambda text: str(text).casefold() in missing).astype(bool)
    wrong = texts.map(lambda text: not any(map(str.isalpha, str(text)))).astype(bool)
    words = texts.notna() & ~coded & ~wrong
    unclear = [text for text in texts[words].unique() if text.casefold() not in NO_ANSWER]
    if unclear:
        reason = f"{listing(map(repr, unclear), 3)} are taken for no answer, because they are not numbers"
        building.decide("no number", reason, [plan.name], Remedy("missing", tuple(unclear)), unsure=True)
    counts = texts.mask(coded | words)
    what = "n_ties" if plan.role == "n_ties" else "counts"
    try:
        read_counts(what, counts.to_frame(plan.name))
    except InputError as error:
        remedy = Remedy("missing", (f"{plan.name}={error.value}",))
        raise PlanError(error.message, plan=building.plan, parameter=what, value=error.value, remedy=remedy) from error
    return counts.reset_index(drop=True)


def _plain_count(text: str) -> str:
    """Return "10 or more" as "10+"; other texts stay as they are."""
    match = AT_LEAST.fullmatch(text)
    if match is None or text.isdecimal():
        return text
    return f"{match[1]}+"


def _places(rows: pd.DataFrame, columns: Sequence[ColumnPlan]) -> pd.DataFrame:
    """Return coordinates as numbers; a point in one cell has two."""
    numbers: dict[str, pd.Series] = {}
    for column in columns:
        cells = rows[column.name]
        values = pd.to_numeric(cells, errors="coerce")
        if values.notna().any():
            numbers[column.name] = values
            continue
        parts = cells.astype(str).str.extract(r"(-?\d+(?:\.\d+)?)[ ,;]+(-?\d+(?:\.\d+)?)")
        numbers[f"{column.name} latitude"] = parts[0].astype(float)
        numbers[f"{column.name} longitude"] = parts[1].astype(float)
    return pd.DataFrame(numbers)


def _nominations(
    building: Building,
) -> tuple[pd.DataFrame | None, pd.DataFrame, dict[str, int] | None, pd.DataFrame | None]:
    """Return the names that people wrote, the spellings, the room of each list, and the respondents."""
    columns = building.of_role("names")
    empty = pd.DataFrame(columns=list(NAMES_TABLE))
    if not columns:
        return None, empty, None, None
    labels = [
        ["" if pd.isna(cell) else as_name(cell) for cell in building.table[label.name]]
        for label in building.of_role("label")
    ]
    register = Register(list(building.who), labels)
    relations: dict[str, list[ColumnPlan]] = {}
    for column in columns:
        relations.setdefault(column.of, []).append(column)
    rows: list[tuple[str, str, str, str]] = []
    asked: list[tuple[str, str]] = []
    spellings: list[pd.DataFrame] = []
    room: dict[str, int] = {}
    for relation, members in relations.items():
        block = building.table[[column.name for column in members]]
        named, spelt, outside = named_people(block, list(building.who), register, building.confirmed)
        spellings.append(spelt)
        for person, targets in named.items():
            asked.append((person, relation))
            rows += [(person, person, target, relation) for target in dict.fromkeys(targets)]
            rows += [(person, person, name, relation) for name in outside.get(person, [])]
        sizes = [len({*targets, *outside.get(person, [])}) for person, targets in named.items()]
        longest = max(sizes, default=0)
        several = any(len(parts_of(as_name(cell), ", ")) > 1 for name in block for cell in block[name].dropna())
        if len(members) > 1 and not several and longest <= len(members):
            room[relation] = len(members)
        _say_names(building, members, spelt, len(named))
    reports = pd.DataFrame(rows, columns=["respondent", "source", "target", "relation"]).assign(wave="")
    whole = pd.concat(spellings, ignore_index=True) if spellings else empty
    return (
        reports,
        whole.drop_duplicates("written", ignore_index=True),
        room or None,
        pd.DataFrame(asked, columns=["respondent", "relation"]).assign(wave=""),
    )


def _say_names(building: Building, members: Sequence[ColumnPlan], spelt: pd.DataFrame, asked: int) -> None:
    names = [column.name for column in members]
    if not asked:
        building.doubt("names", "nobody named anybody", names, Remedy("drop", tuple(names)))
        return
    building.decide("names", f"{asked} people named others", names)
    sure = spelt[spelt["sure"].astype(bool)]
    if len(sure):
        shown = listing([f"{row.written!r} is {row.matched!r}" for row in sure.itertuples()], 3)
        building.decide("spelling", f"{len(sure)} names differ in capitals, accents or blanks only: {shown}", names)
    open_ = spelt[~spelt["sure"].astype(bool) & (spelt["matched"] != "")]
    if len(open_):
        shown = listing([f"{row.written!r} may be {row.matched!r}" for row in open_.itertuples()], 3)
        reason = f"{len(open_)} names are not used until somebody confirms them in names.csv: {shown}"
        building.decide("misspelt", reason, names, Remedy("names", "names.csv"), unsure=True)
    lost = spelt[~spelt["sure"].astype(bool) & (spelt["matched"] == "")]
    if len(lost):
        building.decide(
            "outside", f"{len(lost)} names are of nobody in the table: {listing(lost['written'], 3)}", names
        )
