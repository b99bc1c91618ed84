"""The choices of the page for every line of the plan: roles, scales, traits, and the columns about ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...plan import REPEATS, ROLES, ROWS, SCALES, ColumnPlan, Plan
from .columns import Look

# Roles of columns in tables of ties and of answers; other tables have no use for them.
OF_OTHER_ROWS = ("tie", "source", "target", "strength", "question")


class Line(NamedTuple):
    """A column of the plan: its number in the form, its line, and how it looks."""

    place: int
    column: ColumnPlan
    look: Look


@dataclass(frozen=True, eq=False)
class Menu:
    """The choices for a plan."""

    plan: Plan
    looks: Mapping[str, Look]

    @property
    def rows(self) -> Mapping[str, str]:
        """The kinds of rows, in words."""
        return ROWS

    @property
    def repeats(self) -> dict[str, str]:
        """The ways to read several rows of a person."""
        return {name: name for name in REPEATS}

    @property
    def scales(self) -> Mapping[str, str]:
        """The scales, in words."""
        return SCALES

    @cached_property
    def roles(self) -> dict[str, str]:
        """The roles that a column of this table may have, in words."""
        present = {column.role for column in self.plan.table.columns}
        plain = self.plan.table.rows in ("people", "members", "waves", "columns")
        return {
            role: words for role, words in ROLES.items() if role not in OF_OTHER_ROWS or role in present or not plain
        }

    @cached_property
    def traits(self) -> list[str]:
        """The columns that may be counted among ties: answers of yes and no, and traits that are counted already."""
        names = []
        for line in self.lines:
            column = line.column
            if column.role == "trait" or column.scale in ("yes/no", "tick"):
                names.append(column.name)
        values = [column.of for column in self.plan.table.of_role("count") if column.of and column.of not in names]
        return [*names, *dict.fromkeys(values)]

    @cached_property
    def lines(self) -> list[Line]:
        """The columns of the plan."""
        columns = enumerate(self.plan.table.columns)
        return [Line(place, column, self.looks.get(column.name, Look())) for place, column in columns]

    @property
    def used(self) -> list[Line]:
        """The columns that are used."""
        return [line for line in self.lines if line.column.role != "ignore"]

    @property
    def unused(self) -> list[Line]:
        """The other columns: data of the tool about the form, free text, and the like."""
        return [line for line in self.lines if line.column.role == "ignore"]

    def names_of(self, *roles: str) -> list[str]:
        """Return the columns that have one of some roles, in all tables of the plan."""
        return [column.name for table in self.plan.tables for column in table.of_role(*roles)]
