"""Questionnaires: an XLSForm (Kobo, ODK, SurveyCTO) or a data dictionary of REDCap makes guesses unnecessary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..plan import ColumnPlan
from ..validation import listing
from .errors import TableError
from .options import TableOptions
from .profiles import Profile, last_part
from .read import read_table
from .scales import ordered
from .vocabulary import NO, NO_ANSWER, YES

# Types of questions whose columns are no answers, each with the reason.
ASIDE = {
    "start": "when the form was filled in",
    "end": "when the form was filled in",
    "today": "when the form was filled in",
    "date": "dates or times",
    "time": "dates or times",
    "datetime": "dates or times",
    "deviceid": "about the device",
    "phonenumber": "how to reach the person",
    "username": "about the interviewer",
    "email": "how to reach the person",
    "audit": "about the device",
    "image": "a file",
    "audio": "a file",
    "file": "a file",
    "descriptive": "no question",
    "note": "no question",
}
LEAST_SHARED = 0.3  # of the questions of a form that a table must have to be of that form


@dataclass(frozen=True)
class Question:
    """One question of a form: its name, kind, text, and its choices, each with its label."""

    name: str
    kind: str  # "one", "multiple", "yes/no", "place", "private", another type of the form
    text: str
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def silent(self) -> list[str]:
        """The choices that stand for no answer, by their value and their label."""
        codes = [value for value, label in self.choices if label.casefold().strip() in NO_ANSWER]
        labels = [label for _, label in self.choices if label.casefold().strip() in NO_ANSWER]
        return [*codes, *labels]

    def plan(self, profile: Profile) -> ColumnPlan | None:
        """Return how the column of this question is read; None if its values have to tell."""
        if self.kind in ASIDE:
            return ColumnPlan(profile.name, "ignore", why=f"{ASIDE[self.kind]}, as the form says")
        if self.kind == "private":
            return ColumnPlan(profile.name, "ignore", why="marked as an identifier in the form")
        if self.kind == "multiple":
            return ColumnPlan(profile.name, "answer", "multiple", split=" ", why="several choices, as the form says")
        if self.kind not in ("one", "yes/no") or profile.n_answers < 2:
            return None
        return self._by_choices(profile)

    def _by_choices(self, profile: Profile) -> ColumnPlan | None:
        """Return how a question with one choice is read, if all its answers are choices of the form."""
        missing = tuple(code for code in self.silent if code in profile.counts)
        answers = [(value, label) for value, label in self.choices if value not in self.silent]
        values = [value for value, _ in answers]
        labels = [label for _, label in answers]
        # Exports have the values of choices or their labels.
        if {*profile.answers} - {*missing} <= {*values}:
            levels = values
        else:
            levels = labels
        if not {*profile.answers} - {*missing} <= {*levels}:
            return None
        folded = {level.casefold() for level in labels}
        known = ordered(labels) if len(labels) > 2 else []
        numbered = [label for label in labels if re.match(r"\d+\b", label)]
        scale = "category"
        order = list[str]()
        if len(levels) == 2 and folded <= YES | NO:
            scale = "yes/no"
            order = sorted(levels, key=lambda level: labels[levels.index(level)].casefold() in YES)
        elif known or len(numbered) == len(labels) > 2:
            scale = "ordered"
            order = [levels[labels.index(label)] for label in known or labels]
        return ColumnPlan(profile.name, "answer", scale, tuple(order), missing, why="choices of the form")


@dataclass(frozen=True)
class Form:
    """A questionnaire: its questions by the names of their columns."""

    file: str
    questions: Mapping[str, Question]

    def question_of(self, column: str) -> Question | None:
        """Return the question of a column, by its whole name or without the groups before it."""
        return self.questions.get(column) or self.questions.get(last_part(column))

    def texts(self, columns: Iterable[str]) -> dict[str, str]:
        """Return the text of the question of each column."""
        found = {column: self.question_of(column) for column in columns}
        return {column: question.text for column, question in found.items() if question is not None}

    def plans(self, profiles: Sequence[Profile], file: str) -> list[ColumnPlan]:
        """Return the plans of the columns that the form settles, or refuse a form of another survey."""
        questions = {profile.name: self.question_of(profile.name) for profile in profiles}
        asked = [question for question in self.questions.values() if question.kind not in ASIDE]
        shared = {question.name for question in questions.values() if question is not None}
        if sum(question.name in shared for question in asked) < LEAST_SHARED * len(asked):
            raise TableError(
                f"{self.file} is the form of another survey: {file} has few of its questions, which are "
                f"{listing([question.name for question in asked])}",
                parameter="form",
                value=self.file,
            )
        plans: list[ColumnPlan] = []
        for profile in profiles:
            question = questions[profile.name]
            if question is None or not profile.filled:
                plan = None
            else:
                plan = question.plan(profile)
            if plan is not None:
                plans.append(plan)
        return plans


def read_form(path: Path) -> Form:
    """Read an XLSForm, or a data dictionary of REDCap."""
    if path.suffix.lower() in (".xlsx", ".xls", ".xlsm"):
        return _xlsform(path)
    table, _ = read_table(path, TableOptions(id="none"), ())
    columns = {name.casefold().strip(): name for name in map(str, table.columns)}
    if "variable / field name" in columns:
        return _dictionary(path, table, columns)
    if {"type", "name"} <= {*columns}:
        return Form(path.name, _questions(table, {}))
    raise TableError(
        f"{path.name} is no form: an XLSForm has the columns type and name, a data dictionary of REDCap has "
        f"'Variable / Field Name'; it has {listing(table.columns)}",
        parameter="form",
        value=str(path),
    )


def _xlsform(path: Path) -> Form:
    survey, _ = read_table(path, TableOptions(sheet="survey", id="none"), ())
    choices, _ = read_table(path, TableOptions(sheet="choices", id="none"), ())
    lists: dict[str, list[tuple[str, str]]] = {}
    names = {str(name).casefold().strip(): str(name) for name in choices.columns}
    label = next((names[name] for name in names if name.startswith("label")), None)
    name_of_list = names.get("list_name") or names.get("list name")
    if name_of_list is None or "name" not in names:
        raise TableError(f"{path.name}: the sheet choices must have the columns list_name and name")
    for _, row in choices.iterrows():
        value = _text(row[names["name"]])
        lists.setdefault(_text(row[name_of_list]), []).append((value, _text(row[label]) if label else value))
    return Form(path.name, _questions(survey, lists))


def _questions(survey: pd.DataFrame, lists: Mapping[str, list[tuple[str, str]]]) -> dict[str, Question]:
    names = {str(name).casefold().strip(): str(name) for name in survey.columns}
    label = next((names[name] for name in names if name.startswith("label")), None)
    questions: dict[str, Question] = {}
    for _, row in survey.iterrows():
        kind, _, choices = _text(row[names["type"]]).partition(" ")
        name = _text(row[names["name"]])
        if not name or kind in ("begin", "end", "begin_group", "end_group", "begin_repeat", "end_repeat"):
            continue
        plain = {"select_one": "one", "select_multiple": "multiple", "geopoint": "place"}.get(kind, kind.casefold())
        if choices.split():
            listed = tuple(lists.get(choices.split()[0], ()))
        else:
            listed = ()
        questions[name] = Question(name, plain, _text(row[label]) if label else "", listed)
    return questions


def _dictionary(path: Path, table: pd.DataFrame, columns: Mapping[str, str]) -> Form:
    """Read a data dictionary of REDCap: choices are written "1, Male | 2, Female"."""
    choices_of = next((columns[name] for name in columns if name.startswith("choices")), None)
    private = columns.get("identifier?")
    questions: dict[str, Question] = {}
    for place, row in table.iterrows():
        name = _text(row[columns["variable / field name"]])
        if "field type" in columns:
            kind = _text(row[columns.get("field type", "")]).casefold()
        else:
            kind = ""
        if "field label" in columns:
            text = _text(row[columns["field label"]])
        else:
            text = ""
        written = _text(row[choices_of]) if choices_of else ""
        if "," in written:
            parts = [part.partition(",") for part in written.split("|")]
        else:
            parts = []
        choices = tuple((value.strip(), label.strip()) for value, _, label in parts)
        plain = {"radio": "one", "dropdown": "one", "checkbox": "boxes"}.get(kind, kind)
        if kind in ("yesno", "truefalse"):
            plain = "yes/no"
            choices = (("0", "no"), ("1", "yes"))
        if private is not None and _text(row[private]).casefold() == "y" and place != 0:
            plain = "private"
        questions[name] = Question(name, plain, text, choices)
    return Form(path.name, questions)


def _text(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
