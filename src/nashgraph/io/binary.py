"""Tables in Parquet, Feather, Excel, Stata, SPSS, SAS and NumPy files, read by a process that may be ended.

``main`` answers one question of :func:`nashgraph.io.apart.read_apart`. Nothing here defends
itself against a file that is too large or damaged: the parent does.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..files import in_bytes
from ..validation import Array, listing
from .errors import TableError, reading, too_large
from .missing import written
from .options import BYTES_A_CELL, TableOptions
from .text import SAMPLE, checked_names, title_rows, titles_note
from .vocabulary import GAPS, NO_ANSWER

Read = tuple[pd.DataFrame, list[str]]

# pyreadstat's reader of each statistics program's files.
STATISTICS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read_parquet(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read Parquet."""
    import_module("pyarrow.parquet")
    with reading(path, "a Parquet file"):
        table = pd.read_parquet(path, engine="pyarrow")
        _decode(table)
    return table, []


def read_feather(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read Feather."""
    feather: Any = import_module("pyarrow.feather")
    with reading(path, "a Feather file"):
        arrow = feather.read_table(path, use_threads=False)
        arrow.validate(full=True)
        table: pd.DataFrame = arrow.to_pandas()
        _decode(table)
    return table, []


def _decode(table: pd.DataFrame) -> None:
    """Decode all text, which Arrow does not check."""
    for _, column in table.items():
        if pd.api.types.is_string_dtype(column.dtype):
            column.to_numpy(dtype=object)


def read_statistics(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read a file of Stata, SPSS or SAS: labels instead of numbers, levels in their order where the file has one."""
    pyreadstat: Any = import_module("pyreadstat")
    read = getattr(pyreadstat, STATISTICS[path.suffix.lower()])
    partly = []
    with reading(path, "a file of Stata, SPSS or SAS"):
        table, about = read(str(path))
        labels: dict[str, dict[Any, str]] = about.variable_value_labels
        for name in table.columns:
            if not labels.get(name):
                continue
            values = table[name].dropna().unique()
            if all(value in labels[name] for value in values):
                table[name] = _labelled(table[name], labels[name], about.variable_measure.get(name) == "ordinal")
            else:
                gaps = [value for value, label in labels[name].items() if written(label) in NO_ANSWER]
                table[name] = table[name].mask(table[name].isin(gaps))
                partly.append(name)
        table.attrs["questions"] = {name: text for name, text in about.column_names_to_labels.items() if text}
    note = "column(s) have labels for some values only, and are taken as numbers; labels such as refused and don't know"
    return table, [f"{path.name}: {len(partly)} {note} stand for gaps: {listing(partly)}"] if partly else []


def _labelled(column: pd.Series, labels: dict[Any, str], ordered: bool) -> pd.Series:
    """Return labels instead of values, in the values' order; two values of one label keep their numbers."""
    levels = sorted(value for value in labels if (column == value).any())
    names = [labels[value] for value in levels]
    if len(set(names)) < len(names):
        names = [f"{labels[value]} ({value:g})" for value in levels]
    places = {value: place for place, value in enumerate(levels)}
    codes = column.map(places).fillna(-1).to_numpy(int)
    values = pd.Categorical.from_codes(codes, pd.Index(names), ordered=ordered)
    return pd.Series(values, index=column.index, name=column.name)


def read_excel(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read a sheet of an Excel file."""
    notes = []
    with reading(path, "an Excel file"), pd.ExcelFile(path) as book:
        sheets = [str(sheet) for sheet in book.sheet_names]
        sheet = sheets[0] if options.sheet is None else options.sheet
        if sheet not in sheets:
            raise TableError(f"{path.name} has no sheet {sheet!r}: it has {listing(sheets)}")
        cells = pd.read_excel(book, sheet_name=sheet, header=None, keep_default_na=False, na_values=[""])
    if len(sheets) > 1 and options.sheet is None:
        notes.append(
            f"{path.name}: read the first of its {len(sheets)} sheets, {sheet!r}; --set sheet=NAME takes another"
        )
    cells = cells.dropna(how="all")
    if cells.empty:
        raise TableError(f"{path.name} is empty: the sheet {sheet!r} has no cells")
    names = [f"column {k + 1}" for k in range(cells.shape[1])]
    if options.header:
        top = [_as_text(row) for row in cells.iloc[:SAMPLE].to_numpy(object)]
        if titles := title_rows(top):
            notes.append(titles_note(path.name, top[:titles]))
            cells = cells.iloc[titles:].dropna(axis=1, how="all")
        names = checked_names(path.name, _as_text(cells.iloc[0]))
        cells = cells.iloc[1:]
    if cells.empty:
        raise TableError(f"{path.name} has a header and no rows below it")
    cells.columns = pd.Index(names)
    cells = cells.apply(lambda column: column if column.name in exact else column.mask(column.isin(GAPS)))
    return cells.infer_objects().reset_index(drop=True), notes


def _as_text(row: Any) -> list[str]:
    """Return cells as text, empty ones as nothing."""
    return ["" if pd.isna(cell) else str(cell) for cell in row]


def read_array(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read an array of a NumPy file."""
    with reading(path, "a NumPy file"), path.open("rb") as file:
        try:
            values: Any = np.load(file, allow_pickle=False)
            if isinstance(values, np.lib.npyio.NpzFile):
                values = _chosen(path, values, options.array)
        except ValueError as error:
            # NumPy also takes whatever it does not know for a pickle.
            if "allow_pickle" not in str(error) or path.read_bytes()[:1] not in (b"\x80", b"\x93", b"P"):
                raise
            raise TableError(
                f"{path.name} holds pickled Python objects, which may run code when read and are refused: save it "
                "again as an array of numbers"
            ) from error
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise TableError(
            f"{path.name} must hold a two-dimensional array of numbers, got shape {values.shape} of {values.dtype}"
        )
    # Rows without cells take no room in the file, and much of it as a table.
    _check_cells(path, len(values), options.max_cells)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)  # of another machine, which pandas cannot count
    return pd.DataFrame(values, columns=[f"column {k + 1}" for k in range(values.shape[1])]), []


def _chosen(path: Path, arrays: Any, wanted: str | None) -> Array:
    if wanted is None and len(arrays.files) != 1:
        raise TableError(
            f"{path.name} has {len(arrays.files)} arrays, {listing(arrays.files)}: choose one with --set array=NAME"
        )
    name = arrays.files[0] if wanted is None else wanted
    if name not in arrays.files:
        raise TableError(f"{path.name} has no array {name!r}: it has {listing(arrays.files)}")
    array: Array = arrays[name]
    return array


READERS: dict[str, Callable[[Path, TableOptions, Collection[str]], Read]] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), read_excel),
    **dict.fromkeys((".parquet", ".pq"), read_parquet),
    ".feather": read_feather,
    **dict.fromkeys((".npy", ".npz"), read_array),
    **dict.fromkeys(STATISTICS, read_statistics),
}


def read_checked(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read a table and refuse one that has more cells or text than are allowed."""
    table, notes = READERS[path.suffix.lower()](path, options, exact)
    _check_cells(path, max(table.size, len(table)), options.max_cells)
    letters = sum(_letters(column) for _, column in table.items())
    if letters > options.max_cells * BYTES_A_CELL:
        raise too_large(path.name, f"it has {in_bytes(letters)}", options.max_cells)
    return table, notes


def _check_cells(path: Path, cells: int, max_cells: int) -> None:
    if cells > max_cells:
        raise too_large(path.name, f"it has {cells:,} cells", max_cells)


def _letters(column: pd.Series) -> int:
    """Return how many letters a column has; a file may write a long text once for many rows."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        lengths = [len(str(level)) for level in column.cat.categories]
        codes = column.cat.codes.to_numpy()
        return int(np.append(lengths, 0)[codes].sum())  # -1 stands for a gap
    if column.dtype.kind in "biufcmM":
        return 0
    return sum(len(cell) for cell in column if isinstance(cell, str))


def main() -> None:
    """Answer the question that comes in with a table and notes, or with an error."""
    path, options, exact = pickle.load(sys.stdin.buffer)
    # What libraries print must not get between the bytes of the answer.
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    result: Any
    try:
        result = read_checked(path, options, exact)
    except Exception as error:  # what is not of the file is a bug, and the parent says so
        result = error
    with answer:
        pickle.dump(result, answer, protocol=5)
