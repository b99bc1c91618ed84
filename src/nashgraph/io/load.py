"""A file of a study as it is loaded: its table without totals and notes, and what else the file contains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lazy_loader
import numpy as np
import pandas as pd

from ..decisions import Decision
from ..plan import TablePlan
from .columns import DECIMAL_COMMA, as_name, is_text
from .errors import reading
from .options import TableOptions
from .plan_file import checked_hash
from .profiles import Profile, profiles_of
from .read import check_file, read_table
from .reshape import PERSON
from .scales import CURRENCY, UNITS
from .text import checked_names
from .ties import GRAPHS, _read_graph
from .trim import Trimmed, trimmed

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # it takes a tenth of a second, and learning does without

Source = str | Path | pd.DataFrame


@dataclass(eq=False)
class Raw:
    """A file as it was loaded: its table without totals and notes, and what else the file contains."""

    file: str
    sha256: str
    table: pd.DataFrame
    reading: dict[str, Any]
    trim: Trimmed
    decisions: list[Decision]
    network: pd.DataFrame | None = None

    def profiles(self, table: pd.DataFrame | None = None) -> list[Profile]:
        """Return the columns of a table, each with its question."""
        table = self.table if table is None else table
        return profiles_of(table, self.trim.labels)


NESTED = (list, tuple, set, dict, np.ndarray)  # cells that hold several values


def load(source: Source, options: Mapping[str, Any], plan: TablePlan | None = None) -> Raw:
    """Load a file or a table; decimal commas are recognised."""
    if isinstance(source, pd.DataFrame):
        table = _plain(source)
        return _raw("the table", "", table, {}, [], plan)
    path = check_file(Path(source))
    digest = sha256(path.read_bytes()).hexdigest()
    if plan is not None:
        checked_hash(plan, digest)
    if path.suffix.lower() in GRAPHS:
        return _network(path, digest)
    chosen = TableOptions(**{name: value for name, value in options.items() if name != "format"})
    table, notes = read_table(path, chosen)
    if "decimal" not in options and chosen.decimal == "." and _has_decimal_commas(table):
        chosen = replace(chosen, decimal=",")
        table, notes = read_table(path, chosen)
    format_of = dict(table.attrs.get("reading", {})) | dict(options)
    reading_kept = {name: value for name, value in format_of.items() if name not in ("format", "max_cells", "group")}
    if reading_kept.get("header", True):
        reading_kept.pop("header", None)
    if chosen.decimal == ".":
        reading_kept.pop("decimal", None)
    decisions = [Decision("file", (), note) for note in notes]
    return _raw(path.name, digest, table, reading_kept, decisions, plan)


def _raw(
    file: str, digest: str, table: pd.DataFrame, kept: dict[str, Any], decisions: list[Decision], plan: TablePlan | None
) -> Raw:
    questions = table.attrs.get("questions", {})
    table.attrs = {}  # pandas copies them with every column
    for place, dtype in enumerate(table.dtypes):
        column: Any = table.iloc[:, place]
        if isinstance(dtype, pd.IntervalDtype):
            table.isetitem(place, column.astype(object).map(str, na_action="ignore").to_numpy())
        elif pd.api.types.is_object_dtype(dtype) and column.map(lambda cell: isinstance(cell, NESTED)).any():
            table.isetitem(place, column.map(_as_text))
        elif is_text(column) and (column == "None").any():
            table.isetitem(place, _without_none(column))
    trim = trimmed(table, None if plan is None else plan.no_data)
    trim.labels = {**questions, **trim.labels}
    data = trim.table
    blank = data.isna().all(axis=1)
    if blank.any():
        decisions.append(Decision("blank rows", (), f"{int(blank.sum())} rows without any value are left out"))
        data = data[~blank].reset_index(drop=True)
    if kept.get("decimal") == ",":
        data = data.apply(_swapped)
    return Raw(file, digest, data, kept, trim, [*decisions, *trim.decisions])


def _plain(source: pd.DataFrame) -> pd.DataFrame:
    """Return a user's table with columns of numbers, words and dates, and its index as a column if it has names."""
    table = source.copy(deep=False)
    if table.index.name or (table.index.nlevels == 1 and pd.api.types.is_string_dtype(table.index.dtype)):
        table = table.reset_index(names=str(table.index.name or "name"))
    table = table.reset_index(drop=True)
    names = list(map(str, table.columns))
    table.columns = pd.Index(checked_names("the table", names), dtype=object)
    for name in names:
        column = table[name]
        if column.dtype.kind in "biufM" or isinstance(column.dtype, pd.CategoricalDtype):
            continue
        # Lists, complex numbers and the like are read as the text that they print.
        table[name] = column.map(lambda cell: cell if isinstance(cell, str | bool) else _cell(cell), na_action="ignore")
    return table


def _without_none(column: pd.Series) -> Any:
    """Return numbers if all cells are numbers or "None", as Python writes a gap; among words it is an answer."""
    values = pd.to_numeric(column, errors="coerce")
    gaps = column.isna() | (column == "None")
    if values[~gaps].notna().all() and not gaps.all():
        return values
    return column


def _cell(cell: Any) -> Any:
    """Return a number that a float can hold, or the text of anything else."""
    if not isinstance(cell, Real):
        return str(cell)
    try:
        return float(cell)
    except OverflowError:
        return float("inf")


def _as_text(cell: object) -> object:
    """Return several values in a cell, as JSON and Parquet have them, in one text like a multiple choice."""
    if isinstance(cell, dict | pd.Period):
        return str(cell)
    if isinstance(cell, NESTED):
        return "; ".join(map(str, cell))
    return cell


def _has_decimal_commas(table: pd.DataFrame) -> bool:
    """Tell whether numbers have decimal commas: a whole column of them that cannot be groups of three digits."""
    for name in table.columns:
        if not is_text(table[name]):
            continue
        cells = [str(cell).strip() for cell in table[name].dropna().head(500)]
        matching = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
        grouped = [cell for cell in matching if len(cell.rpartition(",")[2]) == 3]
        if len(matching) >= max(3, 0.8 * len(cells)) and len(grouped) < 0.5 * len(matching):
            return True
    return False


def _swapped(column: pd.Series) -> pd.Series:
    """Return amounts such as 1.606 and 1 606,5 % of a table with decimal commas: numbers, or 1606.5% with its unit."""
    if not is_text(column):
        return column
    texts = column.map(lambda cell: cell.strip() if isinstance(cell, str) else cell, na_action="ignore")
    shaped = texts.dropna().map(lambda cell: bool(COMMA_AMOUNT.fullmatch(str(cell))))
    if not len(shaped) or not shaped.all():
        return column
    points = texts.map(_with_point, na_action="ignore")
    numbers = pd.to_numeric(points, errors="coerce")
    if (numbers.isna() & points.notna()).any():
        return points
    return numbers


def _with_point(cell: Any) -> Any:
    """Return an amount without marks between thousands, and with a decimal point."""
    if not isinstance(cell, str):
        return cell
    return re.sub(rf"(?<=\d){THOUSANDS}(?=\d)", "", cell).replace(",", ".")


THOUSANDS = r"[.'’ \u00a0\u202f]"
COMMA_AMOUNT = re.compile(
    rf"[-+−]?(?:(?:{CURRENCY})\s*)?[-+−]?(\d{{1,3}}({THOUSANDS}\d{{3}})+|\d+)(,\d+)?\s*(?:{CURRENCY}|(?i:{UNITS}))?"
)


def _network(path: Path, digest: str) -> Raw:
    """Load a network: its nodes with their attributes are the table."""
    kind = GRAPHS[path.suffix.lower()]
    with reading(path, kind):
        graph = _read_graph(path, kind)
    rows = [{PERSON: as_name(node), **attributes} for node, attributes in graph.nodes(data=True)]
    table = pd.DataFrame(rows)
    for name in ("name", "label"):
        if name in table and table[name].is_unique and table[name].notna().all():
            table[PERSON] = table.pop(name).map(as_name)
            break
    called = dict(zip(graph.nodes, table[PERSON], strict=True))
    weights = nx.get_edge_attributes(graph, "weight", default=1.0)
    edges = [(called[edge[0]], called[edge[1]], weight) for edge, weight in weights.items()]
    network = pd.DataFrame(edges, columns=["source", "target", "weight"])
    raw = _raw(path.name, digest, table, {}, [Decision("network", (), f"a network of {len(edges)} ties")], None)
    raw.network = network
    return raw
