"""A user's file as a table, whatever its kind; every way in which that can fail has its own sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .errors import TableError
from .names import split_names
from .options import TableOptions
from .text import checked_names, read_text

ID_NAMES = tuple(write(name) for name in ("id", "name", "node") for write in (str.lower, str.upper, str.title))
TEXT = (".csv", ".tsv", ".txt", ".tab")
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
PARQUET = (".parquet", ".pq")
KINDS = ".csv, .tsv, .txt, .parquet, .npy, .npz and .xlsx"
EXTRA = "pip install 'nashgraph[tables]'"


def read_table(path: str | Path, options: TableOptions | None = None) -> tuple[pd.DataFrame, list[str]]:
    r"""Read a file of signals as a table with columns that have names, and say what was decided about it.

    Text, Parquet, NPY, NPZ and Excel files are told apart by the ending of their name.

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
    read = reader_of(check_file(path))
    try:
        table, notes = read(path, options)
    except PermissionError as error:
        raise TableError(f"{path} cannot be read: you have no permission") from error
    except ImportError as error:
        raise TableError(_what_to_install(path, error)) from error
    table = _with_index_as_column(table)
    table.columns = pd.Index(checked_names(path.name, [str(name) for name in table.columns]), dtype=object)
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


def reader_of(path: Path) -> Callable[[Path, TableOptions], tuple[pd.DataFrame, list[str]]]:
    """Return the function that reads files of this kind."""
    ending = path.suffix.lower()
    readers: dict[tuple[str, ...], Callable[[Path, TableOptions], tuple[pd.DataFrame, list[str]]]] = {
        TEXT: _read_text,
        PARQUET: _read_parquet,
        EXCEL: _read_excel,
        (".npy", ".npz"): _read_array,
    }
    for endings, read in readers.items():
        if ending in endings:
            return read
    raise TableError(f"{path.name} is of no known kind: known are {KINDS}")


def _read_text(path: Path, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    return read_text(
        path,
        separator=options.separator,
        encoding=options.encoding,
        decimal=options.decimal,
        header=options.header,
        exact=_name_columns(options),
        as_text=[*options.categorical, *split_names(options.categorical, ())],
    )


def _name_columns(options: TableOptions) -> list[str]:
    """Return the columns that may name the rows: there 007 and NA stay what they are."""
    if options.id is not None:
        return [options.id]
    guessed = ["", *ID_NAMES] if options.nodes == "rows" else [""]
    return [name for name in guessed if name not in options.categorical]


def _read_parquet(path: Path, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    try:
        return pd.read_parquet(path, engine="pyarrow"), []
    except (ImportError, PermissionError):
        raise
    except Exception as error:  # whatever a parser meets in a broken file
        raise TableError(f"{path.name} cannot be read as a Parquet file: {_first_line(error)}") from error


def _read_excel(path: Path, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    notes = []
    try:
        with pd.ExcelFile(path) as book:
            sheets = [str(sheet) for sheet in book.sheet_names]
            sheet = sheets[0] if options.sheet is None else options.sheet
            if sheet not in sheets:
                raise TableError(f"{path.name} has no sheet {sheet!r}: it has {listing(sheets)}")
            cells = pd.read_excel(book, sheet_name=sheet, header=None)
    except (ImportError, PermissionError, TableError):
        raise
    except Exception as error:  # whatever a parser meets in a broken file
        raise TableError(f"{path.name} cannot be read as an Excel file: {_first_line(error)}") from error
    if len(sheets) > 1 and options.sheet is None:
        notes.append(f"{path.name}: read the first of its {len(sheets)} sheets, {sheet!r}; --sheet takes another")
    cells = cells.dropna(how="all")
    if cells.empty:
        raise TableError(f"{path.name} is empty: the sheet {sheet!r} has no cells")
    names = [f"column {k + 1}" for k in range(cells.shape[1])]
    if options.header:
        first = ["" if pd.isna(name) else str(name) for name in cells.iloc[0]]
        names, cells = checked_names(path.name, first), cells.iloc[1:]
    if cells.empty:
        raise TableError(f"{path.name} has a header and no rows below it")
    table = cells.infer_objects().reset_index(drop=True)
    table.columns = pd.Index(names)
    return table, notes


def _read_array(path: Path, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            values = _chosen(path, loaded, options.array) if isinstance(loaded, np.lib.npyio.NpzFile) else loaded
    except TableError:
        raise
    except Exception as error:
        if "allow_pickle" in str(error):
            raise TableError(
                f"{path.name} holds pickled Python objects, which may run code when read and are refused: save it "
                "again as an array of numbers"
            ) from error
        raise TableError(f"{path.name} cannot be read as a NumPy file: {_first_line(error)}") from error
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise TableError(
            f"{path.name} must hold a two-dimensional array of numbers, got shape {values.shape} of {values.dtype}"
        )
    return pd.DataFrame(values, columns=[f"column {k + 1}" for k in range(values.shape[1])]), []


def _chosen(path: Path, arrays: Any, wanted: str | None) -> Array:
    if wanted is None and len(arrays.files) != 1:
        raise TableError(
            f"{path.name} has {len(arrays.files)} arrays, {listing(arrays.files)}: choose one with --array"
        )
    name = arrays.files[0] if wanted is None else wanted
    if name not in arrays.files:
        raise TableError(f"{path.name} has no array {name!r}: it has {listing(arrays.files)}")
    array: Array = arrays[name]
    return array


def _with_index_as_column(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an index that was saved with it as its first column."""
    if isinstance(table.index, pd.RangeIndex):
        return table
    name = table.index.name
    return table.reset_index(names="" if name is None else str(name))


def _without_empty_unnamed(table: pd.DataFrame, notes: list[str], file: str) -> tuple[pd.DataFrame, list[str]]:
    """Leave out columns with neither name nor values: separators at the ends of lines make them."""
    unnamed = [name for k, name in enumerate(table.columns) if name == f"column {k + 1}"]
    empty = [name for name in unnamed if table[name].isna().all()]
    if empty:
        notes = [*notes, f"{file}: left out {len(empty)} column(s) with neither name nor values"]
    return table.drop(columns=empty), notes


def _what_to_install(path: Path, error: ImportError) -> str:
    if path.suffix.lower() in (".xls", ".ods"):
        return f"{path.name} cannot be read: {_first_line(error)}; or save it as .xlsx"
    package = "pyarrow" if path.suffix.lower() in PARQUET else "openpyxl"
    return f"{path.name} cannot be read without {package}: {EXTRA}"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
