"""A user's file as a table: text, Excel, Parquet, Feather, JSON, Stata, SPSS, SAS and NumPy files, also packed."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ..files import in_bytes
from ..validation import listing
from . import binary
from .apart import Read, read_apart
from .errors import TableError, reading, too_large
from .html import is_html, read_html
from .options import BYTES_A_CELL, MAX_CELLS, TableOptions, name_columns
from .text import checked_names, decoded, read_text

KINDS = ".csv, .tsv, .txt, .dat, .xlsx, .parquet, .feather, .json, .dta, .sav, .npy, .npz, and .gz or .zip of these"


def read_table(path: str | Path, options: TableOptions | None = None, exact: Collection[str] | None = None) -> Read:
    r"""Read a file of signals as a table with columns that have names, and say what was decided about it.

    Files are told apart by the ending of their name: text, Excel, Parquet, Feather, JSON, Stata, SPSS, SAS and NumPy
    files, and these packed. Columns in ``exact`` are read to the letter ("007", "NA"); None: those that may name rows.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "survey.csv"
    >>> _ = file.write_text("age,income\n31,1200\n45,900\n")
    >>> table, notes = read_table(file)
    >>> table.shape, notes
    ((2, 2), [])
    """
    path = Path(path)
    options = options or TableOptions()
    exact = name_columns(options) if exact is None else exact
    try:
        with unpacked(check_file(path), options.max_cells) as inner:
            _check_bytes(check_file(inner), inner.stat().st_size, options.max_cells)
            read = READERS.get(inner.suffix.lower())
            if read is None:
                raise TableError(f"{inner.name} is of no known kind: known are {KINDS}")
            if read in (read_text, read_json):
                _check_marks(inner, options.max_cells)
            if options.sheet is not None and binary.READERS.get(inner.suffix.lower()) is not binary.read_excel:
                raise TableError(f"{inner.name} has no sheets, only Excel files do: leave out the sheet")
            if inner.suffix.lower() == ".xls" and is_html(inner):
                read = read_html
            table, notes = read(inner, options, exact)
    except PermissionError as error:
        raise TableError(f"{path} cannot be read: you have no permission") from error
    except ImportError as error:
        raise TableError(_what_to_install(path, error)) from error
    _check_cells(path, max(table.size, len(table)), options.max_cells)  # rows without cells take memory later
    names: list[Any] = list(table.columns)  # in several rows: tuples
    joined = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in names]
    attributes = dict(table.attrs)
    table.columns = pd.Index(joined, dtype=object)
    table = _with_index_as_column(table, path.name)
    table.columns = pd.Index(checked_names(path.name, list(table.columns)), dtype=object)
    # pandas cannot count or sort half floats.
    if half := [name for name, dtype in table.dtypes.items() if dtype == np.float16]:
        table = table.astype(dict.fromkeys(half, float))
    # Separators at the ends of lines make columns with neither name nor values.
    unnamed = [name for k, name in enumerate(table.columns) if name == f"column {k + 1}"]
    empty = [name for name, is_empty in table[unnamed].isna().all().items() if is_empty]
    if empty:
        table = table.drop(columns=empty)
        notes = [*notes, f"{path.name}: left out {len(empty)} column(s) with neither name nor values"]
    table.attrs.update(attributes)
    return table, notes


def _check_bytes(path: Path, size: int, max_cells: int) -> None:
    if size > max_cells * BYTES_A_CELL:
        raise too_large(path.name, f"it has {in_bytes(size)}", max_cells)


def _check_cells(path: Path, cells: int, max_cells: int) -> None:
    if cells > max_cells:
        raise too_large(path.name, f"it has {cells:,} cells", max_cells)


def _check_marks(path: Path, max_cells: int) -> None:
    """Refuse text with far more separators or lines than cells are allowed, before it is decoded."""
    marks = (b",", b";", b"\t", b"|", b"\n", b"\r")
    counts = np.zeros(6, dtype=np.int64)
    if path.stat().st_size > 2 * max_cells:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                counts += [piece.count(mark) for mark in marks]
        if (most := counts.max()) > 2 * max_cells:
            raise too_large(path.name, f"it has {most:,} separators or lines", max_cells)


def check_file(path: Path) -> Path:
    """Return the path of a file that is there, and is a file."""
    if path.is_dir():
        raise TableError(f"{path} is a folder: give the file in it")
    if not path.exists():
        raise TableError(f"there is no file {path}")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path.name} is empty")
    return path


def _with_index_as_column(table: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return the table with an index that was saved with it as its first columns."""
    if isinstance(table.index, pd.RangeIndex):
        return table
    levels = range(table.index.nlevels)
    rows = pd.RangeIndex(len(table))
    parts = [table.index.get_level_values(level).to_series(index=rows) for level in levels]
    table = table.reset_index(drop=True)
    for part in reversed(parts):
        name = "" if part.name is None else str(part.name)
        if name not in table.columns:
            table.insert(0, name, part)
        elif not part.equals(table[name].rename(part.name)):
            raise TableError(f"{file} has an index and a column called {name!r} that differ: rename one of them")
    return table


def _what_to_install(path: Path, error: ImportError) -> str:
    ending = Path(path.stem if path.suffix.lower() in (*PACKED, ".zip") else path).suffix.lower()
    if ending in (".xls", ".ods"):
        return f"{path.name} cannot be read without {error.name or 'another library'}: save it as .xlsx"
    if ending in binary.STATISTICS:
        needed = "pyreadstat"
    elif ending in (".parquet", ".pq", ".feather"):
        needed = "pyarrow"
    else:
        needed = "openpyxl"
    return f"{path.name} cannot be read without {needed}: pip install 'nashgraph[tables]'"


PACKED: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@contextmanager
def unpacked(path: Path, max_cells: int = MAX_CELLS) -> Iterator[Path]:
    r"""Give the path of the unpacked file; a file that is not packed keeps its own."""
    ending = path.suffix.lower()
    if ending not in (*PACKED, ".zip"):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            if ending == ".zip":
                inner = _unzip(path, Path(folder), max_cells)
            else:
                inner = Path(folder) / path.stem
                with PACKED[ending](path) as packed:
                    _copy(packed, inner, path, max_cells)
        except (TableError, PermissionError):
            raise
        except Exception as error:  # whatever an unpacker meets in a broken file
            raise TableError(f"{path.name} cannot be unpacked: it is damaged, or is not a {ending} file") from error
        yield inner


def _unzip(path: Path, folder: Path, max_cells: int) -> Path:
    """Return the one file in an archive; files that macOS adds, and hidden files, do not count."""
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        members = [member for member in members if not member.filename.startswith(("__MACOSX/", "."))]
        if len(members) != 1:
            if members:
                held = f"{len(members)} files, {listing(member.filename for member in members)}"
            else:
                held = "no file"
            raise TableError(f"{path.name} holds {held}: unpack it, and give the one that is the table")
        name = Path(members[0].filename).name
        inner = folder / (name if Path(name).suffix else f"{name}.csv")  # pandas packs "survey.zip" around "survey"
        with archive.open(members[0]) as packed:
            _copy(packed, inner, path, max_cells)
    return inner


def _copy(packed: IO[bytes], inner: Path, path: Path, max_cells: int) -> None:
    size = 0
    with inner.open("wb") as file:
        while piece := packed.read(1 << 20):
            size += file.write(piece)
            _check_bytes(path, size, max_cells)


def read_json(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read JSON: a list of records, or columns by name, as pandas and most programs write them; or a record a line."""
    text, notes = decoded(path, options.encoding)
    with reading(path, "a table in JSON"):
        lines = filter(str.strip, text.splitlines() if path.suffix.lower() != ".json" else ())
        # A number with more digits than a float can have is infinite.
        loads = partial(json.loads, parse_int=lambda digits: int(digits) if len(digits) <= 308 else float(digits))
        content: Any = list(map(loads, lines)) or loads(text)
        _check_cells(path, _cells_of(content), options.max_cells)
        content = _records(content)
        if isinstance(content, dict) and isinstance(content.get("data"), list):  # orient="split" or "table" of pandas
            table = pd.DataFrame(content["data"], index=content.get("index"), columns=content.get("columns"))
        else:
            table = pd.DataFrame(content)
    if [str(name) for name in table.index] == [str(k) for k in range(len(table))]:
        table = table.reset_index(drop=True)
    if table.empty:
        raise TableError(f"{path.name} is empty: it must be a list of records, or lists by column")
    return table, notes


RECORDS = ("value", "results", "records", "items", "submissions", "responses", "data")  # where tools put the rows


def _records(content: Any) -> Any:
    """Return the rows of an export that wraps them (ODK, Kobo), with nested groups as columns "group.question"."""
    if isinstance(content, dict):
        for name in RECORDS:
            rows = content.get(name)
            if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
                content = rows
                break
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        return content
    return [dict(_flat(row)) for row in content]


def _flat(record: dict[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the cells of a record; a point of GeoJSON gives its longitude and latitude."""
    for name, value in record.items():
        whole = f"{start}{name}"
        if isinstance(value, dict) and value.get("type") == "Point" and isinstance(value.get("coordinates"), list):
            parts = zip(("longitude", "latitude", "altitude"), value["coordinates"], strict=False)
            yield from ((f"{whole}.{part}", number) for part, number in parts)
        elif isinstance(value, dict):
            yield from _flat(value, f"{whole}.")
        elif not (isinstance(value, list) and any(isinstance(item, dict) for item in value)):  # no repeated groups
            yield whole, ", ".join(map(str, value)) if isinstance(value, list) else value


def _cells_of(content: Any) -> int:
    """Return how many cells a table in JSON has, with those that its records leave out: they may be nearly all."""
    if isinstance(content, dict):
        if isinstance(content.get("data"), list):
            content = content["data"]
        else:
            content = [*content.values()]
    rows = content if isinstance(content, list) else []
    longest = max((len(row) for row in rows if isinstance(row, list)), default=1)
    return len(rows) * max(longest, len({name for row in rows if isinstance(row, dict) for name in row}))


READERS: dict[str, Callable[[Path, TableOptions, Collection[str]], Read]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat"), read_text),
    **dict.fromkeys((".html", ".htm"), read_html),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), read_json),
    **dict.fromkeys(binary.READERS, read_apart),
}
