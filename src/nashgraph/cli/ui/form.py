"""The form: menus for the lines of the plan, and a field for every option of ``nashgraph learn`` about the method.

Nothing about an option is written here. Its name, help, choices and default come from the signature of the
command, and the command's own parser reads what the form says.
"""

from __future__ import annotations

import inspect
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from ...plan import ColumnPlan, Plan
from ...validation import InputError
from ..app import app, learn
from ..commands import SET, registered
from ..options import BENEFITS, LINES, PANELS, TABLE, TableArguments
from ..reading import PLAN, overrides_of

# Options that are lines of the plan: the page has menus for them.
OF_PLAN = (
    *("nodes", "id", "drop", "keep", "categorical", "ordinal", "na", "counts", "ties", "names", "long"),
    *("missing", "standardize", *LINES),
)
# Options that the app sets itself, and those that name a place on this machine: use the command for these.
NOT_OFFERED = ("quiet", "json", "verbose", "debug", "out", "force", "scheduler", "workers", "layout_of", "max_cells")
# A change of these has the file read again.
READING = ("separator", "encoding", "decimal", "thousands", "header", "sheet", "array")

CHOSEN = "chosen in the app"
LONGEST_NAME = 150  # bytes of a file's name

Given = Mapping[str, str]


@dataclass(frozen=True)
class Field:
    """One option as a field: its name as a parameter and as an option, its kind, and what the help says of it."""

    name: str
    option: str
    off: str
    kind: Literal["choice", "switch", "flag", "number", "list", "text", "file"]
    help: str
    default: str
    panel: str
    choices: tuple[str, ...] = ()

    @property
    def is_setting(self) -> bool:
        """Whether it is typed as --set NAME=VALUE."""
        return self.option.startswith(SET)

    def typed(self, value: str) -> list[str]:
        """Return the words that give it a value."""
        return ["--set", f"{self.name}={value}"] if self.is_setting else [self.option, value]

    def words(self, given: Given) -> list[str]:
        """Return the arguments that say what is filled in; none for the default."""
        value = given.get(f"set:{self.name}", "")
        if (value in ("", self.default) and self.kind != "switch") or self.kind == "file":
            return []
        if self.is_setting:
            parts = value.split(";") if self.kind == "list" else [value]
            return [word for part in parts if part for word in self.typed(part.strip())]
        if self.kind in ("switch", "flag"):
            return {"yes": [self.option], "no": [self.off]}.get(value, [])
        if self.kind == "list":
            return [word for part in value.split(";") for word in (self.option, part.strip())]
        return [self.option, value]


@cache
def options_of_learn() -> dict[str, Field]:
    """Return every option of the command as a field, by its name as a parameter."""
    return {name: _field(name, parameter) for name, parameter in inspect.signature(learn).parameters.items()}


def form_fields() -> list[Field]:
    """Return the fields of options that the plan does not contain, in the order of the help."""
    apart = {"file", "group", *OF_PLAN, *NOT_OFFERED, *READING}
    offered = [field for field in options_of_learn().values() if field.name not in apart]
    return sorted(offered, key=lambda field: PANELS.index(field.panel))


def reading_fields() -> list[Field]:
    """Return the fields about how the file is written."""
    return [options_of_learn()[name] for name in READING]


def uploads() -> list[str]:
    """Return the options that are a file to upload: the table, known ties and the like."""
    return ["file", *(field.name for field in form_fields() if field.kind == "file")]


def _field(name: str, parameter: inspect.Parameter) -> Field:
    """Return an option as a field, out of its annotation."""
    kind, info = get_args(parameter.annotation)
    # Typer takes the first word of an annotated option for its default.
    words = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    option, _, off = (words[0] if words else f"--{name.replace('_', '-')}").partition("/")
    types = [part for part in get_args(kind) or (kind,) if part is not type(None)]
    choices = tuple(map(str, types)) if get_origin(kind) is Literal else ()
    if ":" in (info.metavar or ""):
        choices = tuple(registered(info.metavar))
    if name == "benefit":  # a column of benefits is a line of the plan
        choices = BENEFITS
    default = None if parameter.default in (None, "", False, inspect.Parameter.empty) else parameter.default
    if isinstance(info.show_default, str):
        shown = info.show_default
    else:
        shown = {None: "", True: "yes"}.get(default, str(default))
    if choices:
        how: Any = "choice"
    elif bool in types:
        how = "switch" if off else "flag"
    elif {int, float} & {*types}:
        how = "number"
    elif Path in types:
        how = "file"  # uploaded: the form names no path on this machine
    else:
        how = "list" if any(get_origin(part) is list for part in types) else "text"
    return Field(name, option, off, how, str(info.help), shown, info.rich_help_panel or TABLE, choices)


# ------------------------------------------------------------------------------------------------ the plan


def shown_list(values: Sequence[str], between: str = "; ") -> str:
    """Return codes or levels as the page shows them in a field."""
    return between.join(values)


def edited(plan: Plan, given: Given) -> Plan:
    """Return the plan with the lines that the form changes; a line that stays as it is keeps its reason."""
    columns = [_edited_line(column, place, given) for place, column in enumerate(plan.table.columns)]
    identifying = [column.name for column in columns if column.role == "id"]
    if len(identifying) > 1 and plan.table.rows != "members":
        raise InputError(f"{' and '.join(map(repr, identifying))} cannot both be the id: one column identifies people")
    table = replace(
        plan.table,
        columns=tuple(columns),
        repeats=given.get("plan:repeats", plan.table.repeats),
        only=given.get("plan:only", plan.table.only).strip(),
    )
    scaled = {"yes": True, "no": False}.get(given.get("plan:standardize", ""))
    if "plan:standardize" not in given:
        scaled = plan.standardize
    return replace(plan.with_table(table), gaps=given.get("plan:gaps", plan.gaps), standardize=scaled)


def _edited_line(column: ColumnPlan, place: int, given: Given) -> ColumnPlan:
    """Return the line of a column as the form has it."""
    role = given.get(f"role:{place}", column.role)
    changes: dict[str, Any] = {"role": role}
    if role in ("answer", "trait"):
        changes["scale"] = given.get(f"scale:{place}", column.scale)
    elif role != column.role:
        changes["scale"] = ""
    if role == "count":
        changes["of"] = given.get(f"of:{place}", column.of)
    elif role != column.role:
        changes["of"] = ""
    # A field shows codes and levels joined: split them only if somebody changed the text.
    order = given.get(f"order:{place}", "")
    if f"order:{place}" in given and order != shown_list(column.order, " < "):
        between = " < " if " < " in order else "<"  # a level may begin with the sign, but has no blank after it
        changes["order"] = tuple(level.strip() for level in order.split(between) if level.strip())
    codes = given.get(f"missing:{place}", "")
    if f"missing:{place}" in given and codes != shown_list(column.missing):
        changes["missing"] = tuple(code.strip() for code in codes.split(";") if code.strip())
    changed = replace(column, **changes)
    return column if changed == column else replace(changed, why=CHOSEN, unsure=False)


def answered(plan: Plan, given: Given) -> Plan:
    """Return the plan with the answer to how people tell of their ties: columns without a tick are not used.

    Somebody looked at the other lines, so they are not guesses any more.
    """
    kinds = {"names": "names", "count": "counts", "n_ties": "counts", "trait": "counts", "answer": "answers"}
    columns = []
    for column in plan.table.columns:
        if column.role not in kinds:
            line = column
        elif f"ask:{kinds[column.role]}" in given:
            line = replace(column, unsure=False)
        elif column.role == "trait":  # nobody counts it any more
            line = replace(column, role="answer", why=CHOSEN)
        else:
            line = replace(column, role="ignore", scale="", of="", why=CHOSEN, unsure=False)
        columns.append(line)
    return plan.with_table(replace(plan.table, columns=tuple(columns)))


# --------------------------------------------------------------------------------------------- the command


def arguments(file: str, given: Given, others: Mapping[str, str]) -> list[str]:
    """Return the arguments of the command that does what the form says; ``others`` has the names of other files.

    ``file`` is the table, or the plan if any line of it was changed. A plan names its further tables itself.
    """
    options = options_of_learn()
    words = ["learn", file]
    for name, other in others.items():
        if file != PLAN or name != "alters":
            words += options[name].typed(other)
    for field in (options["group"], *form_fields()):
        words += field.words(given)
    return words


def as_typed(words: Sequence[str]) -> str:
    """Return a command as it is typed in a terminal."""
    line = ["nashgraph", *words]
    return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)


def parsed(words: Sequence[str]) -> dict[str, Any]:
    """Return what the command's own parser makes of its arguments; a mistake is its usage error."""
    if odd := [word for word in words if "\0" in word]:
        raise InputError(f"{odd[0]!r} has the character zero, which no command can have: delete it")
    command: Any = typer.main.get_command(app)
    parameters: dict[str, Any] = command.commands["learn"].make_context("learn", list(words[1:])).params
    return parameters


def reading(file: str, given: Given) -> dict[str, Any]:
    """Return how the form would have the file read, as arguments of ``read_study``."""
    words = [word for field in reading_fields() for word in field.words(given)]
    asked: dict[str, Any] = {}
    if words:
        values = parsed(["learn", file, *words])
        table = TableArguments(**{option.name: values[option.name] for option in fields(TableArguments)})
        asked = overrides_of(table.options(None))
    if rows := given.get("plan:rows", ""):
        asked["rows"] = rows
    return asked


def safe_name(name: str) -> str:
    r"""Return the name of an uploaded file without a folder, and without what a shell or a system cannot have."""
    last = Path(name.replace("\\", "/")).name
    plain = "".join(letter for letter in last if letter.isprintable() and letter not in '<>:"|?*/')
    # Systems allow 255 bytes, of which the app needs some for its own words; the end of a name says what it is.
    end = plain.encode("utf-8", "ignore")[-LONGEST_NAME:].decode("utf-8", "ignore")
    return end.lstrip("-. ") or "table.csv"
