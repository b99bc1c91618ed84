"""Options of a user that override single lines of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..decisions import Remedy
from ..plan import ColumnPlan, PlanError
from .names import chosen_column, split_names

ROLE_OPTIONS = ("n_ties", "group", "wave", "place", "weight", "benefit", "label", "names", "relation")

ONE_COLUMN = ("n_ties", "wave", "weight", "benefit")  # roles of which every person has one value


@dataclass(frozen=True)
class Overrides:
    """Options of a user that override single lines of a plan."""

    columns: Mapping[str, Any] = field(default_factory=dict)
    rows: str | None = None
    repeats: str | None = None
    only: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Overrides:
        """Sort keyword arguments; an unknown one is refused."""
        reading = ("separator", "encoding", "decimal", "thousands", "sheet", "array", "header", "max_cells")
        about_columns = ("id", "drop", "keep", "counts", "missing", "ordinal", "categorical", *ROLE_OPTIONS)
        known = (*about_columns, "rows", "repeats", "only", *reading)
        for name in options:
            if name not in known:
                raise PlanError(f"{name!r} is not an option: there are {', '.join(known)}", parameter=name)
        return cls(
            {name: options[name] for name in about_columns if options.get(name) not in (None, (), [], {}, "")},
            options.get("rows"),
            options.get("repeats"),
            options.get("only"),
            {name: options[name] for name in reading if options.get(name) is not None},
        )

    @property
    def id(self) -> str | None:
        """The column that a user says identifies people."""
        name = self.columns.get("id")
        return None if name is None else str(name)

    def dropped(self, names: Sequence[str]) -> set[str]:
        """Return the columns that a user leaves out: they do not tell what rows are either."""
        return {name for name, _ in _meant("drop", self.columns.get("drop", ()), names)}

    def applied(self, columns: Sequence[ColumnPlan], names: Sequence[str]) -> list[ColumnPlan]:
        """Return the plans of columns with the options of the user."""
        plans = {column.name: column for column in columns}
        purposes = Purposes(self.id)
        said = "as the option says"
        for option, value in self.columns.items():
            if option == "id":
                continue
            for name, more in _meant(option, value, names):
                before = plans[name]
                purposes.add(option, name)
                if option == "missing":
                    codes = tuple(dict.fromkeys((*before.missing, *more["missing"])))
                    plans[name] = replace(before, missing=codes)
                    continue
                fresh = {"why": said, "unsure": False, **more}
                if option in ("ordinal", "categorical", "keep"):
                    scale = {"ordinal": "ordered", "categorical": "category", "keep": "number"}[option]
                    fresh |= {"role": "answer", "scale": scale}
                    fresh["why"] = "taken as it is" if option == "keep" else said
                    if option == "keep":
                        fresh["missing"] = ()
                elif option == "drop":
                    fresh |= {"role": "ignore", "scale": ""}
                elif option == "counts":
                    fresh |= {"role": "count", "scale": ""}
                else:
                    fresh |= {"role": option, "scale": ""}
                plans[name] = replace(before, **fresh)
                trait = plans.get(str(more.get("of"))) or plans.get(str(more.get("of")).partition("=")[0])
                if option == "counts" and trait is not None:
                    plans[trait.name] = replace(trait, role="trait", why="others count it among their ties")
        return [plans[column.name] for column in columns]


class Purposes:
    """What each column was said to be for: a column can be for one purpose only."""

    def __init__(self, person: str | None) -> None:
        self.by_column = {} if person in (None, "none") else {str(person): "id"}
        self.by_option: dict[str, str] = {}

    def add(self, option: str, column: str) -> None:
        """Store what a column is for, or refuse it if that contradicts what was said before."""
        if option == "missing":  # codes for no answer go with every purpose
            return
        before = self.by_column.setdefault(column, option)
        if before != option or (option == "counts" and column in self.by_option.values()):
            if before != option:
                two = f"{before} and {option}"
            else:
                two = f"{option} twice"
            raise PlanError(
                f"{column!r} is declared as {two}: a column is for one purpose, so leave one out",
                parameter=option,
                value=column,
            )
        other = self.by_option.setdefault(option, column)
        if option in ONE_COLUMN and other != column:
            raise PlanError(
                f"{option} has two columns, {other!r} and {column!r}: leave one out",
                parameter=option,
                value=(other, column),
                remedy=Remedy(option, other),
            )


def _meant(option: str, value: Any, names: Sequence[str]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the columns that an option is about, and the change for each."""
    if isinstance(value, Mapping):
        items = [(str(name), more) for name, more in value.items()]
    else:
        if isinstance(value, str):
            given = [value]
        else:
            given = [str(item) for item in value]
        items = []
        for item in split_names(given, names):
            name, mark, more = (item, "", "") if item in names else item.partition("=")
            items.append((name, more if mark else None))
    for name, more in items:
        if option == "missing":
            column, code = (name, more) if more is not None else (None, name)
            yield from ((each, {"missing": (str(code),)}) for each in ([column] if column else names))
            continue
        chosen = chosen_column(name, names)
        if option == "counts":
            if more is None:
                raise PlanError(
                    f"counts={name!r} must say what is counted: counts={{{name!r}: 'the column of the trait'}}",
                    parameter="counts",
                    value=name,
                )
            chosen_column(str(more).partition("=")[0] if more not in names else str(more), names)
            yield chosen, {"of": str(more)}
        elif option == "ordinal" and more:
            order = more.split("<") if isinstance(more, str) else more
            yield chosen, {"order": tuple(str(level).strip() for level in order)}
        else:
            yield chosen, {}
