"""The plan as a file that people read and edit: TOML with comments, checked field by field on the way in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Table

from ..files import written_whole
from ..plan import ROLES, ROWS, SCALES, ColumnPlan, Plan, PlanError, TablePlan
from ..validation import InputError, listing

HEAD = (
    "How nashgraph read these files. Change a line where it is wrong, and give this file instead of the data:",
    "    nashgraph learn plan.toml",
    "Lines with unsure = true are guesses: please look at them.",
)
MOST_LINES = 400  # of columns: above, columns that are read alike share a line wherever they stand
READING = ("encoding", "separator", "decimal", "thousands", "sheet", "array", "header")
RUN = ".."  # "q1..q40": all columns of the file from q1 to q40


def plan_text(plan: Plan) -> str:
    r"""Return a plan as the text of its file.

    Examples
    --------
    >>> table = TablePlan("survey.csv", columns=(ColumnPlan("name", "id"), ColumnPlan("age", scale="number")))
    >>> print("\n".join(plan_text(Plan((table,))).splitlines()[-2:]))
    name = {role = "id"}
    age = {role = "answer", scale = "number"}
    """
    document = tomlkit.document()
    for line in HEAD:
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    document.add("gaps", tomlkit.item(plan.gaps).comment("missing answers: auto, error, pairwise or impute"))
    if plan.standardize is not None:
        document.add("standardize", plan.standardize)
    if plan.names:
        document.add("names", tomlkit.item(plan.names).comment("who was meant by the names that people wrote"))
    if plan.anonymous:
        document.add("anonymous", tomlkit.item(True).comment("codes in place of ids; key.csv says who they are"))
    if plan.learn:
        document.add("learn", tomlkit.item(dict(plan.learn)))
    tables = tomlkit.aot()
    for table in plan.tables:
        tables.append(_table(table))
    document.add("tables", tables)
    return tomlkit.dumps(document)


def _table(plan: TablePlan) -> Table:
    table = tomlkit.table()
    table.add("file", plan.file)
    if plan.sha256:
        table.add("sha256", plan.sha256)
    for name, value in plan.reading.items():
        table.add(name, value)
    if plan.no_data:
        table.add("no_data", tomlkit.item(list(plan.no_data)).comment("rows that are totals, notes or headers"))
    table.add("rows", tomlkit.item(plan.rows).comment(ROWS[plan.rows]))
    if plan.repeats != "ask":
        table.add("repeats", plan.repeats)
    if plan.only:
        table.add("only", tomlkit.item(plan.only).comment("column=value: only these rows"))
    if plan.why:
        table.add("why", plan.why)
    if plan.unsure:
        table.add("unsure", True)
    table.add(tomlkit.nl())
    columns = tomlkit.table()
    columns.add(tomlkit.comment(f"role: {', '.join(ROLES)}"))
    columns.add(tomlkit.comment(f"scale: {', '.join(SCALES)}"))
    for key, also, column in _lines(plan.columns):
        columns.add(key, _line(column, also))
    table.add("columns", columns)
    return table


def _line(column: ColumnPlan, also: Sequence[str]) -> InlineTable:
    """Return the line of a column, without default values."""
    line = tomlkit.inline_table()
    if also:
        line.update({"also": list(also)})
    line.update({"role": column.role})
    for part in ("scale", "order", "missing", "of", "split", "why"):
        value = getattr(column, part)
        if value:
            line.update({part: list(value) if isinstance(value, tuple) else value})
    if column.unsure:
        line.update({"unsure": True})
    return line


def _lines(columns: Sequence[ColumnPlan]) -> Iterator[tuple[str, list[str], ColumnPlan]]:
    """Yield the key of every line, other columns that share it, and its plan."""
    runs: list[list[ColumnPlan]] = []
    for column in columns:
        if runs and runs[-1][0].same_reading() == column.same_reading():
            runs[-1].append(column)
        else:
            runs.append([column])
    if len(runs) <= MOST_LINES:
        for run in runs:
            yield _run(run), [], run[0]
        return
    alike: dict[tuple[Any, ...], list[list[ColumnPlan]]] = {}
    for run in runs:
        alike.setdefault(run[0].same_reading(), []).append(run)
    for group in alike.values():
        yield _run(group[0]), [_run(run) for run in group[1:]], group[0][0]


def _run(run: Sequence[ColumnPlan]) -> str:
    if len(run) == 1:
        return run[0].name
    return f"{run[0].name}{RUN}{run[-1].name}"


def write_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan as TOML, completely or not at all."""
    with written_whole(path) as beside:
        beside.write_text(plan_text(plan), encoding="utf-8")


# ------------------------------------------------------------------------------------------------ reading


class _Lines:
    """The text of a plan, which knows the line of each entry."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.places: dict[tuple[str, ...], int] = {}
        section: tuple[str, ...] = ()
        tables = -1
        for number, line in enumerate(text.splitlines(), 1):
            heading = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
            if heading:
                tables += line.lstrip().startswith("[[")
                if heading[1].startswith("tables"):
                    section = (*heading[1].split("."), str(tables))
                else:
                    section = (heading[1],)
                self.places.setdefault(section, number)
            elif entry := re.match(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)\s*=""", line):
                key = next(iter(tomllib.loads(f"{entry[1]} = 0")))
                self.places.setdefault((*section, key), number)

    def error(self, message: str, *place: str, plan: Plan | None = None, **fields: Any) -> PlanError:
        """Return an error that names the line of an entry, or of the section that it is missing from."""
        line = self.places.get(place) or self.places.get(place[:-1])
        where = f"{self.file}, line {line}: " if line else f"{self.file}: "
        return PlanError(where + message, plan=plan, line=line, **fields)


def read_plan(path: str | Path) -> Plan:
    r"""Read a plan, and check every field; the columns are checked against the file when that is read.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> _ = file.write_text('[[tables]]\nfile = "a.csv"\nrows = "poeple"\n')
    >>> read_plan(file)
    Traceback (most recent call last):
    nashgraph.plan.PlanError: plan.toml, line 3: rows = "poeple" is not known: write people, answers, ...
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise PlanError(f"{path.name} is not UTF-8 text: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{path.name} is not a plan in TOML: {error}") from error
    lines = _Lines(text, path.name)
    _check_keys(content, ("gaps", "standardize", "names", "learn", "anonymous", "tables"), lines)
    _check_type(content, "gaps", str, lines)
    _check_one_of(content, "gaps", ("auto", "error", "pairwise", "impute"), lines)
    _check_type(content, "standardize", bool, lines)
    _check_type(content, "names", str, lines)
    _check_type(content, "anonymous", bool, lines)
    _check_type(content, "learn", dict, lines)
    tables = content.get("tables")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise lines.error('it names no file: write [[tables]] and below it file = "survey.csv"')
    read = tuple(_read_table(table, str(number), lines) for number, table in enumerate(tables))
    settings = {
        name: content[name] for name in ("gaps", "standardize", "names", "learn", "anonymous") if name in content
    }
    return Plan(read, **settings)


def _read_table(content: Mapping[str, Any], number: str, lines: _Lines) -> TablePlan:
    place = ("tables", number)
    allowed = [field.name for field in fields(TablePlan) if field.name != "reading"]
    _check_keys(content, (*allowed, *READING), lines, *place)
    for name in (
        "file",
        "sha256",
        "rows",
        "repeats",
        "only",
        "why",
        "encoding",
        "separator",
        "decimal",
        "thousands",
        "sheet",
    ):
        _check_type(content, name, str, lines, *place)
    if "file" not in content:
        raise lines.error('a table has no file: write file = "survey.csv"', *place, "file")
    _check_one_of(content, "rows", tuple(ROWS), lines, *place)
    _check_one_of(content, "repeats", ("ask", "first", "last", "mean", "separate"), lines, *place)
    _check_type(content, "unsure", bool, lines, *place)
    _check_type(content, "columns", dict, lines, *place)
    no_data = content.get("no_data", [])
    if not isinstance(no_data, list) or not all(type(row) is int and row > 0 for row in no_data):
        raise lines.error("no_data must be a list of row numbers, for example [1, 2]", *place, "no_data")
    columns: list[ColumnPlan] = []
    for key, line in content.get("columns", {}).items():
        columns += _read_line(key, line, lines, "tables", "columns", number)
    ids = [column.name for column in columns if column.role == "id"]
    if len(ids) > 1 and content.get("rows", "people") != "members":
        raise lines.error(
            f'{ids[1]!r} is a second id, and {ids[0]!r} is one already: make one of them "label"',
            *("tables", "columns", number, ids[1]),
            parameter="id",
            value=ids[1],
        )
    plain = {
        name: content[name]
        for name in ("file", "sha256", "rows", "repeats", "only", "why", "unsure")
        if name in content
    }
    reading = {name: content[name] for name in READING if name in content}
    return TablePlan(**plain, reading=reading, no_data=tuple(no_data), columns=tuple(columns))


def _read_line(key: str, line: Any, lines: _Lines, *place: str) -> list[ColumnPlan]:
    """Return the plans in a line, for its key and all columns that share it; runs are resolved with the file."""
    if isinstance(line, str):  # q1 = "ignore"
        line = {"role": line}
    if not isinstance(line, dict):
        raise lines.error(f'{key!r} must say its role, for example {{ role = "answer" }}', *place, key)
    parts = [field.name for field in fields(ColumnPlan) if field.name != "name"]
    for name in line:
        if name not in (*parts, "also"):
            raise lines.error(f"{name!r} is not part of a column: there are {', '.join(parts)}", *place, key)
    values = dict(line)
    for name in ("role", "scale"):
        known = ROLES if name == "role" else SCALES
        if name in values and values[name] not in known:
            what = f'{name} = "{values[name]}" is not known: write {", ".join(known)}'
            raise lines.error(what, *place, key, parameter=name, value=values[name])
    for name in ("order", "missing", "also"):
        items = values.get(name, [])
        if not isinstance(items, list):
            raise lines.error(f'{name} must be a list, for example ["98", "99"]', *place, key)
        values[name] = tuple(str(item) for item in items)
    for name in ("of", "split", "why"):
        if not isinstance(values.get(name, ""), str):
            raise lines.error(f"{name} must be a text in quotation marks", *place, key)
    if not isinstance(values.get("unsure", False), bool):
        raise lines.error("unsure must be true or false", *place, key)
    also = values.pop("also")
    first = ColumnPlan(key, **values)
    return [first, *(replace(first, name=name) for name in also)]


def _check_keys(content: Mapping[str, Any], allowed: Sequence[str], lines: _Lines, *place: str) -> None:
    for name in content:
        if name not in allowed:
            raise lines.error(f"{name!r} is not part of a plan: there are {', '.join(allowed)}", *place, name)


def _check_type(content: Mapping[str, Any], name: str, kind: type, lines: _Lines, *place: str) -> None:
    words = {str: "a text in quotation marks", bool: "true or false", dict: "a table"}
    if name in content and not isinstance(content[name], kind):
        raise lines.error(f"{name} must be {words[kind]}, got {content[name]!r}", *place, name)


def _check_one_of(content: Mapping[str, Any], name: str, known: Sequence[str], lines: _Lines, *place: str) -> None:
    if name in content and content[name] not in known:
        what = f'{name} = "{content[name]}" is not known: write {", ".join(known)}'
        raise lines.error(what, *place, name, parameter=name, value=content[name])


def resolved(plan: TablePlan, names: Sequence[str], path: Path | None = None) -> TablePlan:
    """Return the plan of a table with a line for every column of the file: runs are spelled out.

    Columns that the plan does not mention are ignored.
    """
    places = {name: number for number, name in enumerate(names)}
    spelled: dict[str, ColumnPlan] = {}
    for column in plan.columns:
        if column.name in places:
            meant: Sequence[str] = [column.name]
        else:
            meant = _columns_of_run(column, names, places, path)
        for name in meant:
            # The later line counts: a single column may be taken out of a run.
            spelled[name] = replace(column, name=name)
    unknown = ColumnPlan("", "ignore", why="not in the plan")
    return replace(plan, columns=tuple(spelled.get(name, replace(unknown, name=name)) for name in names))


def _columns_of_run(
    column: ColumnPlan, names: Sequence[str], places: Mapping[str, int], path: Path | None
) -> Sequence[str]:
    for mark in re.finditer(re.escape(RUN), column.name):  # names may have two points as well
        start = column.name[: mark.start()]
        end = column.name[mark.end() :]
        if start in places and end in places and places[start] <= places[end]:
            return names[places[start] : places[end] + 1]
    message = f"there is no column {column.name!r}: there are {listing(names, 8)}"
    if path is None:
        raise PlanError(message, parameter="columns", value=column.name)
    lines = _Lines(path.read_text(encoding="utf-8-sig"), path.name)
    found = [place for place in lines.places if place[-1] == column.name and "columns" in place]
    raise lines.error(message, *(found[0] if found else ()), parameter="columns", value=column.name)


def checked_hash(plan: TablePlan, actual: str) -> None:
    """Refuse a file that is not the one that the plan was made from."""
    if plan.sha256 and plan.sha256 != actual:
        raise InputError(
            f"{plan.file} has changed since the plan was made: read it again for a new plan, or remove the line "
            "sha256 from the plan if the change is right",
            parameter="sha256",
            value=actual,
        )
