"""The study plan: how files are read, as a value that people see, edit and pass on.

Methods and interfaces take a plan or what was read with it. ``nashgraph.io`` makes it from files and writes TOML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .decisions import Remedy
from .validation import InputError, check_choice

# The kinds of rows of a table.
ROWS = {
    "people": "a row is a person (or household, firm, …)",
    "answers": "a row is one answer: who, the question, the answer",
    "events": "a row says that a person took part in something",
    "reports": "a row is a tie that somebody reported or a system recorded: from, to",
    "members": "a row is a member of a household or group, and the household is the person",
    "waves": "a row is a person in one wave; a person has several rows",
    "columns": "a column is a person, and a row a question or a moment",
    "matrix": "a table of ties: a row and a column for each person",
    "network": "a file of a network: its nodes are the people",
    "alters": "a row is an alter, somebody named by a person",
    "alter ties": "a row is a tie between two alters of one person",
}

# The roles of a column.
ROLES = {
    "id": "identifies the person",
    "label": "another name of the person",
    "answer": "an answer that makes people alike",
    "names": "people named by the person",
    "count": "how many ties of a kind the person has",
    "n_ties": "how many ties the person has",
    "trait": "whether the person has what others count among their ties",
    "relation": "the kind of a tie",
    "tie": "a column of a matrix of ties",
    "place": "where the person lives",
    "group": "a group, place or class that the person belongs to",
    "wave": "when it was asked",
    "weight": "a sampling weight",
    "benefit": "what the person gains from effort, for the game",
    "source": "where a tie starts",
    "target": "where a tie ends",
    "strength": "how strong a tie is",
    "question": "which question a row answers, or which event it is about",
    "ignore": "not used",
}

# How the cells of an answer are to be read.
SCALES = {
    "number": "numbers",
    "ordered": "levels in an order, numbered from the lowest",
    "category": "words without order, a 0/1 signal for each",
    "yes/no": "yes or no, in any spelling",
    "multiple": "several choices in a cell, a 0/1 signal for each",
    "tick": "a mark where it applies; a blank means no",
}

REPEATS = ("ask", "first", "last", "mean", "separate")


class PlanError(InputError):
    """A plan that cannot be followed, or a table that cannot be read without being asked about.

    ``plan`` is the plan as far as it was made, to be written for people to edit, ``line`` the line of its file at
    fault, where it has one.
    """

    def __init__(self, message: str, *, plan: Plan | None = None, line: int | None = None, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.plan = plan
        self.line = line


@dataclass(frozen=True)
class ColumnPlan:
    """How one column is read.

    Attributes
    ----------
    name : str
    role : one of ROLES
    scale : one of SCALES; only of answers and traits
    order : tuple of str, the levels of an ordered answer from the lowest, or the words for no and for yes
    missing : tuple of str, cells that stand for no answer
    of : str, what a count counts: the column of the trait, or column=value
    split : str, what separates several choices or names in a cell
    why : str, what the reading rests on
    unsure : bool, whether it was a guess that people should look at
    """

    name: str
    role: str = "answer"
    scale: str = ""
    order: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    of: str = ""
    split: str = ""
    why: str = ""
    unsure: bool = False

    def __post_init__(self) -> None:
        """Refuse roles and scales that do not exist."""
        check_choice("role", self.role, ROLES)
        if self.scale:
            check_choice("scale", self.scale, SCALES)

    def same_reading(self) -> tuple[Any, ...]:
        """Return all but the name: columns with the same reading may share a line."""
        return (self.role, self.scale, self.order, self.missing, self.of, self.split, self.why, self.unsure)


@dataclass(frozen=True)
class TablePlan:
    """How one file is read: its format, what its rows are, and what each column is for.

    ``reading`` holds what the format needs: encoding, separator, decimal, thousands, sheet, header (rows of names, 0
    for none). ``no_data`` are rows of the table, counted from 1, that are totals, notes or further headers.
    ``repeats`` says what happens if a person has several rows though a row is a person, ``only`` which rows are meant
    ("column=value"; nothing after the sign for an empty cell).
    """

    file: str
    sha256: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    no_data: tuple[int, ...] = ()
    rows: str = "people"
    repeats: str = "ask"
    only: str = ""
    why: str = ""
    unsure: bool = False
    columns: tuple[ColumnPlan, ...] = ()

    def __post_init__(self) -> None:
        """Refuse kinds of rows that do not exist."""
        check_choice("rows", self.rows, ROWS)
        check_choice("repeats", self.repeats, REPEATS)

    def column(self, name: str) -> ColumnPlan:
        """Return the plan of a column."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InputError(f"there is no column {name!r}", parameter="columns", value=name)

    def of_role(self, *roles: str) -> list[ColumnPlan]:
        """Return the columns that have one of some roles, in the order of the file."""
        return [column for column in self.columns if column.role in roles]

    def with_columns(self, changed: Iterable[ColumnPlan]) -> TablePlan:
        """Return the plan with some columns read in another way."""
        new = {column.name: column for column in changed}
        return replace(self, columns=tuple(new.get(column.name, column) for column in self.columns))


@dataclass(frozen=True)
class Plan:
    """How a study is read from one or several files, and how it is learned from.

    ``tables`` are the files; the first has the people. ``gaps`` says what happens to missing answers ("auto", "error",
    "pairwise" or "impute"), ``standardize`` whether answers are brought to one spread (None: as the rows suggest),
    ``names`` is a file in which people confirmed who was meant by a name, ``learn`` the method with its settings, and
    ``anonymous`` puts codes in place of people's ids.

    Examples
    --------
    >>> table = TablePlan("survey.csv", columns=(ColumnPlan("name", "id"), ColumnPlan("age", scale="number")))
    >>> plan = Plan((table,))
    >>> [column.name for column in plan.table.of_role("answer")]
    ['age']
    """

    tables: tuple[TablePlan, ...]
    gaps: str = "auto"
    standardize: bool | None = None
    names: str = ""
    learn: Mapping[str, Any] = field(default_factory=dict)
    anonymous: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that do not exist."""
        check_choice("gaps", self.gaps, ("auto", "error", "pairwise", "impute"))

    @property
    def table(self) -> TablePlan:
        """The table that has the people."""
        return self.tables[0]

    def with_table(self, table: TablePlan) -> Plan:
        """Return the plan with its first table read in another way."""
        return replace(self, tables=(table, *self.tables[1:]))


def ask(message: str, plan: Plan, parameter: str, value: Any = None) -> PlanError:
    """Return the question that a table leaves open, with the plan and the setting that answers it."""
    return PlanError(message, plan=plan, parameter=parameter, remedy=Remedy(parameter, value))
