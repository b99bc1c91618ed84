"""Options of a user that override single lines of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..plan import ColumnPlan, PlanError
from .names import chosen_column, split_names

ROLE_OPTIONS = ("n_ties", "group", "wave", "place", "weight", "benefit", "label", "names", "relation")


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

    def applied(self, columns: Sequence[ColumnPlan], names: Sequence[str]) -> list[ColumnPlan]:
        """Return the plans of columns with the options of the user."""
        plans = {column.name: column for column in columns}
        said = "as the option says"
        for option, value in self.columns.items():
            if option == "id":
                continue
            for name, more in _meant(option, value, names):
                before = plans[name]
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


def _meant(option: str, value: Any, names: Sequence[str]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the columns that an option is about, and the change for each."""
    if isinstance(value, Mapping):
        items = [(str(name), more) for name, more in value.items()]
    else:
        given = [value] if isinstance(value, str) else [str(item) for item in value]
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
