"""A user's file as a table, whatever its kind; every way in which that can fail has its own sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from .archives import PACKED, ZIP, unpacked
from .errors import TableError
from .formats import (
    STATISTICS,
    Read,
    first_line,
    read_array,
    read_excel,
    read_feather,
    read_json,
    read_parquet,
    read_statistics,
)
from .names import split_names
from .options import TableOptions, name_columns
from .text import checked_names, read_text

TEXT = (".csv", ".tsv", ".txt", ".tab")
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
PARQUET, FEATHER = (".parquet", ".pq"), (".feather",)
KINDS = ".csv, .tsv, .txt, .xlsx, .parquet, .feather, .json, .dta, .sav, .npy, .npz, and these packed as .gz or .zip"
EXTRA = "pip install 'nashgraph[tables]'"


def read_table(path: str | Path, options: TableOptions | None = None) -> tuple[pd.DataFrame, list[str]]:
    r"""Read a file of signals as a table with columns that have names, and say what was decided about it.

    Files are told apart by the ending of their name: text, Excel, Parquet, Feather, JSON, Stata, SPSS, SAS and NumPy
    files, and these packed.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "survey.csv"
    >>> _ = file.write_text("age,income\n31,1200\n45,900\n")
    >>> table, notes = read_table(file)
    >>> table.shape, notes
    ((2, 2), [])
    """
    path, options = Path(path), options or TableOptions()
    try:
        with unpacked(check_file(path)) as inner:
            table, notes = reader_of(inner)(check_file(inner), options)
    except PermissionError as error:
        raise TableError(f"{path} cannot be read: you have no permission") from error
    except ImportError as error:
        raise TableError(_what_to_install(path, error)) from error
    table.columns = pd.Index([_joined(name) for name in table.columns], dtype=object)
    table = _with_index_as_column(table, path.name)
    table.columns = pd.Index(checked_names(path.name, list(table.columns)), dtype=object)
    return _without_empty_unnamed(table, notes, path.name)


def check_file(path: Path) -> Path:
    """Return the path of a file that is there, and is a file."""
    if path.is_dir():
        raise TableError(f"{path} is a folder: give the file in it")
    if not path.exists():
        raise TableError(f"there is no file {path}")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path.name} is empty")
    return path


def reader_of(path: Path) -> Callable[[Path, TableOptions], Read]:
    """Return the function that reads files of this kind."""
    readers: dict[tuple[str, ...], Callable[[Path, TableOptions], Read]] = {
        TEXT: _read_text,
        PARQUET: read_parquet,
        FEATHER: read_feather,
        EXCEL: read_excel,
        (".json", ".jsonl", ".ndjson"): read_json,
        (".npy", ".npz"): read_array,
        tuple(STATISTICS): read_statistics,
    }
    for endings, read in readers.items():
        if path.suffix.lower() in endings:
            return read
    raise TableError(f"{path.name} is of no known kind: known are {KINDS}")


def _read_text(path: Path, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    return read_text(
        path,
        separator=options.separator,
        encoding=options.encoding,
        decimal=options.decimal,
        header=options.header,
        exact=name_columns(options),
        # A group is a name: 1, 01 and 1.0 stay three groups.
        as_text=[*options.categorical, *split_names(options.categorical, ()), *filter(None, [options.group])],
    )


def _joined(name: object) -> str:
    """Return a column's name as text; the parts of one in several rows with a blank between."""
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _with_index_as_column(table: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return the table with an index that was saved with it as its first columns."""
    if isinstance(table.index, pd.RangeIndex):
        return table
    parts = [
        table.index.get_level_values(level).to_series(index=pd.RangeIndex(len(table)))
        for level in range(table.index.nlevels)
    ]
    table = table.reset_index(drop=True)
    for part in reversed(parts):
        name = "" if part.name is None else str(part.name)
        if name not in table.columns:
            table.insert(0, name, part)
        elif not part.equals(table[name].rename(part.name)):
            raise TableError(f"{file} has an index and a column called {name!r} that differ: rename one of them")
    return table


def _without_empty_unnamed(table: pd.DataFrame, notes: list[str], file: str) -> tuple[pd.DataFrame, list[str]]:
    """Leave out columns with neither name nor values: separators at the ends of lines make them."""
    unnamed = [name for k, name in enumerate(table.columns) if name == f"column {k + 1}"]
    empty = [name for name in unnamed if table[name].isna().all()]
    if empty:
        notes = [*notes, f"{file}: left out {len(empty)} column(s) with neither name nor values"]
    return table.drop(columns=empty), notes


def _what_to_install(path: Path, error: ImportError) -> str:
    packed = path.suffix.lower() in (*PACKED, ZIP)
    ending = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    if ending in (".xls", ".ods"):
        return f"{path.name} cannot be read: {first_line(error)}; or save it as .xlsx"
    packages = {**dict.fromkeys((*PARQUET, *FEATHER), "pyarrow"), **dict.fromkeys(STATISTICS, "pyreadstat")}
    package = packages.get(ending, "openpyxl")
    return f"{path.name} cannot be read without {package}: {EXTRA}"
