"""The form: its fields are the options of ``nashgraph learn``, and what is filled in becomes that command's arguments.

Nothing about an option is written here. Its name, help, choices and default come from the signature of the
command, and the command's own parser reads what the form says.
"""

from __future__ import annotations

import inspect
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from ...io import TableOptions
from ...io.coding import ordered
from ...validation import InputError
from ..app import app, learn
from ..commands import registered
from ..options import PANELS, TABLE, TableArguments
from .columns import CATEGORY, COUNT, ID, NAMES, NUMBER, ORDERED, OUT, Column, Guess

# Options that the table of columns fills in, and that are a column of the table.
BY_ROLE = ("id", "drop", "keep", "categorical", "ordinal", "na", "counts", "ties", "names")
BY_COLUMN = ("group", "benefit")
# Options that the app sets itself, and those that name a place on this machine: use the command for these.
NOT_OFFERED = ("quiet", "json", "verbose", "debug", "out", "scheduler", "workers", "layout_of")
# A change of these has the file read again.
READING = ("nodes", "long", "separator", "encoding", "decimal", "thousands", "header", "sheet", "array", "max_cells")

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

    def said(self, given: Given) -> list[str]:
        """Return the arguments that say what is filled in; none for the default."""
        value = given.get(f"set:{self.name}", "")
        if (value in ("", self.default) and self.kind != "switch") or self.kind == "file":
            return []
        if self.kind in ("switch", "flag"):
            return {"yes": [self.option], "no": [self.off]}.get(value, [])
        if self.kind == "list":
            return [word for part in value.split(";") for word in (self.option, part.strip())]
        return [self.option, value]


@cache
def options_of_learn() -> dict[str, Field]:
    """Return every option of the command as a field, by its name as a parameter."""
    return {name: _field(name, given) for name, given in inspect.signature(learn).parameters.items()}


def form_fields() -> list[Field]:
    """Return the fields of the form that columns do not fill in, in the order of the help."""
    apart = {"file", *BY_ROLE, *BY_COLUMN, *NOT_OFFERED}
    found = [field for field in options_of_learn().values() if field.name not in apart]
    return sorted(found, key=lambda field: PANELS.index(field.panel))


def uploads() -> list[str]:
    """Return the options that are a file to upload: the table, known ties and the like."""
    return ["file", *(field.name for field in form_fields() if field.kind == "file")]


def _field(name: str, parameter: inspect.Parameter) -> Field:
    """Return an option as a field, out of its annotation."""
    kind, info = get_args(parameter.annotation)
    # Typer takes the first word of an annotated option for its default.
    words = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    option, _, off = (words[0] if words else f"--{name.replace('_', '-')}").partition("/")
    types = [each for each in get_args(kind) or (kind,) if each is not type(None)]
    choices = tuple(map(str, types)) if get_origin(kind) is Literal else ()
    if ":" in (info.metavar or ""):
        choices = tuple(registered(info.metavar))
    known = None if parameter.default in (None, "", False, inspect.Parameter.empty) else parameter.default
    shown = info.show_default if isinstance(info.show_default, str) else {None: "", True: "yes"}.get(known, str(known))
    if choices:
        how: Any = "choice"
    elif bool in types:
        how = "switch" if off else "flag"
    elif {int, float} & {*types}:
        how = "number"
    elif Path in types:
        how = "file"  # uploaded: the form names no path on this machine
    else:
        how = "list" if any(get_origin(each) is list for each in types) else "text"
    return Field(name, option, off, how, str(info.help), shown, info.rich_help_panel or TABLE, choices)


def arguments(file: str, guess: Guess, given: Given, known: Mapping[str, str]) -> list[str]:
    """Return the arguments of the command that does what the form says; ``known`` has the names of other files."""
    options = options_of_learn()
    said = ["learn", file, *_about_columns(guess, given)]
    said += [word for name, other in known.items() for word in (options[name].option, other)]
    rest = [*(options[name] for name in BY_COLUMN), *form_fields()]
    return said + [word for each in rest for word in each.said(given)]


def _about_columns(guess: Guess, given: Given) -> list[str]:
    """Return the options about columns: only what the command would not do by itself."""
    apart = [given.get(f"set:{name}", "") for name in BY_COLUMN]
    chosen = [(k, each, given.get(f"role:{k}", each.role)) for k, each in enumerate(guess.columns)]
    chosen = [each for each in chosen if each[1].name not in apart]
    lists: dict[str, list[str]] = {name: [] for name in BY_ROLE}
    for k, column, role in chosen:
        option, value = _option_of(column, role, given.get(f"levels:{k}"), given.get(f"trait:{k}", column.trait))
        if option:
            lists[option].append(value)
    for name, what in (("id", "names the rows"), ("ties", "is the number of all ties")):
        if len(lists[name]) > 1:
            raise InputError(f"{' and '.join(map(repr, lists[name]))} cannot both be it: one column {what}")
    if not lists["id"] and any(each.plain == ID for each in guess.columns):
        lists["id"] = ["none"]
    coded = [(given.get(f"codes:{k}"), each) for k, each, role in chosen if role not in (ID, NAMES, OUT)]
    lists["na"] = _missing_codes(coded)
    return [word for name, values in lists.items() for word in _listed(name, values)]


def _option_of(column: Column, role: str, levels: str | None, trait: str) -> tuple[str, str]:
    """Return the option that gives a column its role, if it needs one, and what the option says."""
    name = column.name
    # A level may begin with the sign (<18), but then without a blank after it.
    between = " < " if levels is None or " < " in levels else "<"
    order = column.levels if levels is None else [each.strip() for each in levels.split(between) if each.strip()]
    if role == COUNT:
        return ("counts", f"{name}={trait}") if trait else ("ties", name)
    # A first column without a name names the rows by itself.
    if (role == column.plain != ID and (role != ORDERED or order == column.levels)) or (role == ID and not name):
        return "", ""
    if role == ORDERED:
        return "ordinal", name if not order or order == ordered(order) else f"{name}={'<'.join(order)}"
    options = {ID: "id", NAMES: "names", NUMBER: "keep", CATEGORY: "categorical", OUT: "drop"}
    return options.get(role, ""), name


def _missing_codes(columns: Sequence[tuple[str | None, Column]]) -> list[str]:
    """Return what stands for a missing value: what was added, or all of it if a code was taken away."""
    wanted = {
        column.name: column.codes if text is None else [code.strip() for code in text.split(",") if code.strip()]
        for text, column in columns
    }
    if any({*column.codes} - {*wanted[column.name]} for _, column in columns):
        return ["none", *(f"{name}={code}" for name, codes in wanted.items() for code in codes)]
    return [
        f"{column.name}={code}"
        for _, column in columns
        for code in wanted[column.name]
        if code not in column.codes or code in column.asked
    ]


def _listed(name: str, values: Sequence[str]) -> list[str]:
    """Return an option with its values, those without a comma of their own in one word."""
    option = options_of_learn()[name].option
    apart = [value for value in values if "," in value or (name == "ordinal" and "=" in value)]
    joined = ",".join(value for value in values if value not in apart)
    return [word for value in ([joined] if joined else []) + apart for word in (option, value)]


def as_typed(words: Sequence[str]) -> str:
    """Return a command as it is typed in a terminal."""
    line = ["nashgraph", *words]
    return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)


def parsed(words: Sequence[str]) -> dict[str, Any]:
    """Return what the command's own parser makes of its arguments; a mistake is its usage error."""
    if odd := [word for word in words if "\0" in word]:
        raise InputError(f"{odd[0]!r} has the character zero, which no command can have: delete it")
    command: Any = typer.main.get_command(app)
    found: dict[str, Any] = command.commands["learn"].make_context("learn", list(words[1:])).params
    return found


def reading(file: str, given: Given) -> TableOptions:
    """Return how the form would have the file read, before any column has a role."""
    chosen = [each for each in form_fields() if each.name in READING]
    return table_options(["learn", file, *(word for each in chosen for word in each.said(given))])


def table_options(words: Sequence[str]) -> TableOptions:
    """Return how a command would read its table."""
    found = parsed(words)
    return TableArguments(**{each.name: found[each.name] for each in fields(TableArguments)}).options(None)


def safe_name(name: str) -> str:
    r"""Return the name of an uploaded file without a folder, and without what a shell or a system cannot have."""
    last = Path(name.replace("\\", "/")).name
    plain = "".join(letter for letter in last if letter.isprintable() and letter not in '<>:"|?*/')
    # Systems allow 255 bytes, of which the app needs some for its own words; the end of a name says what it is.
    end = plain.encode("utf-8", "ignore")[-LONGEST_NAME:].decode("utf-8", "ignore")
    return end.lstrip("-. ") or "table.csv"
