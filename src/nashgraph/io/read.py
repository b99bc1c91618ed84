"""A user's file as a table: text, Excel, Parquet, Feather, JSON, Stata, SPSS, SAS and NumPy files, also packed."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ..files import in_bytes
from ..validation import Array, listing
from .errors import TableError, cannot_read, too_large
from .missing import written
from .options import BYTES_A_CELL, MAX_CELLS, TableOptions, name_columns
from .parquet_sizes import unpacked_size
from .text import SAMPLE, checked_names, decoded, read_text, title_rows, titles_note
from .vocabulary import GAPS, NO_ANSWER

KINDS = ".csv, .tsv, .txt, .dat, .xlsx, .parquet, .feather, .json, .dta, .sav, .npy, .npz, and .gz or .zip of these"
Read = tuple[pd.DataFrame, list[str]]


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
    path, options = Path(path), options or TableOptions()
    exact = name_columns(options) if exact is None else exact
    try:
        with unpacked(check_file(path), options.max_cells) as inner:
            _check_bytes(check_file(inner), inner.stat().st_size, options.max_cells)
            read = READERS.get(inner.suffix.lower())
            if read is None:
                raise TableError(f"{inner.name} is of no known kind: known are {KINDS}")
            if read in (read_text, read_json):
                _check_marks(inner, options.max_cells)
            if options.sheet is not None and read is not read_excel:
                raise TableError(f"{inner.name} has no sheets, only Excel files do: leave out --sheet")
            table, notes = read(inner, options, exact)
    except PermissionError as error:
        raise TableError(f"{path} cannot be read: you have no permission") from error
    except ImportError as error:
        raise TableError(_what_to_install(path, error)) from error
    _check_cells(path, max(table.size, len(table)), options.max_cells)  # rows without cells take memory later
    names: list[Any] = list(table.columns)  # in several rows: tuples
    joined = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in names]
    table.columns = pd.Index(joined, dtype=object)
    table = _with_index_as_column(table, path.name)
    table.columns = pd.Index(checked_names(path.name, list(table.columns)), dtype=object)
    # pandas cannot count or sort half floats.
    table = table.astype({name: float for name, dtype in table.dtypes.items() if dtype == np.float16})
    # Separators at the ends of lines make columns with neither name nor values.
    unnamed = [name for k, name in enumerate(table.columns) if name == f"column {k + 1}"]
    if empty := [name for name in unnamed if table[name].isna().all()]:
        notes = [*notes, f"{path.name}: left out {len(empty)} column(s) with neither name nor values"]
    return table.drop(columns=empty), notes


def _check_bytes(path: Path, size: int, max_cells: int) -> None:
    if size > max_cells * BYTES_A_CELL:
        raise too_large(path.name, f"it has {in_bytes(size)}", max_cells)


def _check_cells(path: Path, cells: int, max_cells: int) -> None:
    if cells > max_cells:
        raise too_large(path.name, f"it has {cells:,} cells", max_cells)


def _check_marks(path: Path, max_cells: int) -> None:
    """Refuse text with far more separators or lines than cells are allowed, before it is decoded."""
    marks, counts = (b",", b";", b"\t", b"|", b"\n", b"\r"), np.zeros(6, dtype=np.int64)
    if path.stat().st_size > 2 * max_cells:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                counts += [piece.count(mark) for mark in marks]
        if (most := counts.max()) > 2 * max_cells:
            raise too_large(path.name, f"it has {most:,} separators or lines", max_cells)


# Data of .xlsx and .ods files, and parts that openpyxl does not read. It makes an object of each element in any other
# part, for each MB of formats about 3 seconds and 140 MB of memory; ordinary files have less than 1 MB of them.
DATA = ("xl/worksheets/", "xl/sharedstrings", "xl/pivotcache/", "xl/calcchain", "xl/externallinks/", "content.xml")
MOST_XML = 5_000_000  # bytes of a part that is not data


def _check_zipped(path: Path, max_cells: int) -> None:
    """Refuse a zip archive (Excel, NPZ) that would grow too large, or has a large part without cells, by its name."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            sizes = [(part.filename, part.file_size) for part in archive.infolist()]
        _check_bytes(path, sum(size for _, size in sizes), max_cells)
        for name, size in sizes:
            file = name.lower()
            if size > MOST_XML and (file.endswith(".rels") or (file.endswith(".xml") and not file.startswith(DATA))):
                what = f"{name}, a part without cells, has {in_bytes(size)}, and {in_bytes(MOST_XML)} are allowed"
                raise TableError(f"{path.name} is too large: {what}; save the sheet as .csv")


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
    levels, rows = range(table.index.nlevels), pd.RangeIndex(len(table))
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
    needed = "pyreadstat" if ending in STATISTICS else "openpyxl"
    needed = "pyarrow" if READERS[ending] in (read_parquet, read_feather) else needed
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
            held = f"{len(members)} files, {listing(member.filename for member in members)}" if members else "no file"
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


# pyreadstat's reader of each statistics program's files.
STATISTICS = {f".{kind}": f"read_{kind}" for kind in ("dta", "sav", "por", "sas7bdat")}
STATISTICS.update({".zsav": "read_sav", ".xpt": "read_xport"})
SECONDS = 60.0  # in which it is read, many times over; a damaged one may go on for ever
TOO_LARGE = 97  # the code with which the process says that a file has too many cells


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn any error of a parser into one that names the file."""
    try:
        yield
    except (ImportError, PermissionError, TableError):
        raise
    except MemoryError as error:
        raise TableError(f"{path.name} needs more memory than there is: drop long texts, or save a part") from error
    except Exception as error:
        raise cannot_read(path, kind) from error


def read_parquet(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read Parquet."""
    with reading(path, "a Parquet file"):
        # Check sizes before unpacking: a column of one value takes no room in the file.
        import_module("pyarrow")
        _check_unpacked(path, import_module("pyarrow.parquet").ParquetFile(path), options.max_cells)
        table = pd.read_parquet(path, engine="pyarrow")
        for _, column in table.items():
            if pd.api.types.is_string_dtype(column.dtype):
                column.to_numpy(dtype=object)  # decodes all text, which Arrow does not check
        return table, []


def _check_unpacked(path: Path, file: Any, max_cells: int) -> None:
    """Refuse a Parquet file that is too large unpacked; texts may be written once for all rows that have them.

    They are unpacked in pieces of so few rows that each is allowed, even if every row had all the text of its column.
    """
    parts = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
    chunks = [part.column(k) for part in parts for k in range(part.num_columns)]
    cells = sum(abs(chunk.num_values) for chunk in chunks)
    _check_cells(path, max(cells, file.metadata.num_rows * file.metadata.num_columns), max_cells)
    with path.open("rb") as raw:
        sizes = [unpacked_size(raw, chunk) for chunk in chunks]
    _check_bytes(path, sum(sizes), max_cells)
    texts = [k for k, chunk in enumerate(chunks) if chunk.physical_type == "BYTE_ARRAY"]
    rows = max_cells * BYTES_A_CELL // 8 // max([1, *(sizes[k] for k in texts)])
    if texts and rows < file.metadata.num_rows:
        size, columns = 0, sorted({chunks[k].path_in_schema for k in texts})
        for piece in file.iter_batches(batch_size=min(max(1, rows), 65_536), columns=columns, use_threads=False):
            size += piece.nbytes + _spelled_out(piece.columns)
            _check_bytes(path, size, max_cells)


def _spelled_out(parts: Iterable[Any]) -> int:
    """Return how many letters coded texts may have where every row has its own, or 0 if none is coded."""
    coded = [part for part in parts if hasattr(part, "dictionary")]
    return sum(len(part) * max(map(len, map(str, part.dictionary.to_pylist())), default=0) for part in coded)


def read_feather(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read Feather."""
    with reading(path, "a Feather file"):
        feather: Any = import_module("pyarrow.feather")
        with path.open("rb") as file:
            packed = file.read(5) == b"ARROW"  # the first version of the format packs nothing
        if packed:
            about = import_module("pyarrow.dataset").dataset(path, format="feather")
            _check_cells(path, about.count_rows() * len(about.schema), options.max_cells)
        # In one thread, and looked at before it is used: else a broken file can end the program.
        table = feather.read_table(path, use_threads=False)
        table.validate(full=True)
        spelled_out = _spelled_out(part for column in table.columns for part in column.chunks)
        _check_bytes(path, table.nbytes + spelled_out, options.max_cells)
        return table.to_pandas(), []


def read_json(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read JSON: a list of records, or columns by name, as pandas and most programs write them; or a record a line."""
    text, notes = decoded(path, options.encoding)
    with reading(path, "a table in JSON"):
        lines = filter(str.strip, text.splitlines() if path.suffix.lower() != ".json" else ())
        # A number with more digits than a float can have is infinite.
        loads = partial(json.loads, parse_int=lambda digits: int(digits) if len(digits) <= 308 else float(digits))
        content: Any = list(map(loads, lines)) or loads(text)
        _check_cells(path, _cells_of(content), options.max_cells)
        if isinstance(content, dict) and isinstance(content.get("data"), list):  # orient="split" or "table" of pandas
            table = pd.DataFrame(content["data"], index=content.get("index"), columns=content.get("columns"))
        else:
            table = pd.DataFrame(content)
    if [str(name) for name in table.index] == [str(k) for k in range(len(table))]:
        table = table.reset_index(drop=True)
    if table.empty:
        raise TableError(f"{path.name} is empty: it must be a list of records, or lists by column")
    return table, notes


def _cells_of(content: Any) -> int:
    """Return how many cells a table in JSON has, with those that its records leave out: they may be nearly all."""
    if isinstance(content, dict):
        content = content["data"] if isinstance(content.get("data"), list) else [*content.values()]
    rows = content if isinstance(content, list) else []
    longest = max((len(row) for row in rows if isinstance(row, list)), default=1)
    return len(rows) * max(longest, len({name for row in rows if isinstance(row, dict) for name in row}))


def read_statistics(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read a file of Stata, SPSS or SAS: labels instead of numbers, levels in their order where the file has one."""
    pyreadstat: Any = import_module("pyreadstat")
    _check_survived(path, options.max_cells)
    read = getattr(pyreadstat, STATISTICS[path.suffix.lower()])
    with reading(path, "a file of Stata, SPSS or SAS"):
        table, about = read(str(path))
        labels: dict[str, dict[Any, str]] = about.variable_value_labels
        partly = []
        for name in (name for name in table.columns if labels.get(name)):
            values = table[name].dropna().unique()
            if all(value in labels[name] for value in values):
                table[name] = _labelled(table[name], labels[name], about.variable_measure.get(name) == "ordinal")
            else:
                gaps = [value for value, label in labels[name].items() if written(label) in NO_ANSWER]
                table[name] = table[name].mask(table[name].isin(gaps))
                partly.append(name)
    note = "column(s) have labels for some values only, and are taken as numbers; labels such as refused and don't know"
    return table, [f"{path.name}: {len(partly)} {note} stand for gaps: {listing(partly)}"] if partly else []


def _check_survived(path: Path, max_cells: int) -> None:
    """Read a file in a separate process first, because a damaged file can crash the process that reads it."""
    code = (  # in pieces, because texts of one letter over and over take no room in the file
        f"import sys, pyreadstat; read = pyreadstat.{STATISTICS[path.suffix.lower()]}; file = sys.argv[1]\n"
        f"about = read(file, metadataonly=True)[1]; rows, most = about.number_rows or 0, {max_cells}; size = 0\n"
        f"if rows * (about.number_columns or 0) > most: sys.exit({TOO_LARGE})\n"
        f"step = max(1, {BYTES_A_CELL} * most // max(1, sum(about.variable_storage_width.values())))\n"
        "for first in range(0, max(1, rows), step):\n"
        "    piece = read(file, output_format='dict', row_offset=first, row_limit=step if step < rows else 0)[0]\n"
        "    size += sum(len(cell) for cells in piece.values() for cell in cells if isinstance(cell, str))\n"
        f"    if size > {BYTES_A_CELL} * most: sys.exit({TOO_LARGE})"
    )
    allowed = SECONDS + path.stat().st_size / 1e6
    try:
        # -P: without it the child would import a pyreadstat.py or numpy.py that lies in the current folder.
        ended = subprocess.run(
            [sys.executable, "-P", "-c", code, str(path)], capture_output=True, check=False, timeout=allowed
        ).returncode
    except subprocess.TimeoutExpired:
        raise TableError(
            f"{path.name} was not read within {allowed:.0f} seconds, so it seems damaged: get it again, or "
            "save it as .csv"
        ) from None
    if ended == TOO_LARGE:
        raise too_large(path.name, "its cells or texts are too many", max_cells)
    if ended < 0 or ended > 255:  # by a signal; Windows has codes beyond those of programs
        raise TableError(f"{path.name} is damaged and cannot be read: get it again, or save it as .csv")


def _labelled(column: pd.Series, labels: dict[Any, str], ordered: bool) -> pd.Series:
    """Return labels instead of values, in the values' order; two values of one label keep their numbers."""
    levels = sorted(value for value in labels if (column == value).any())
    names = [labels[value] for value in levels]
    if len(set(names)) < len(names):
        names = [f"{labels[value]} ({value:g})" for value in levels]
    codes = column.map({value: place for place, value in enumerate(levels)}).fillna(-1).to_numpy(int)
    values = pd.Categorical.from_codes(codes, pd.Index(names), ordered=ordered)
    return pd.Series(values, index=column.index, name=column.name)


def read_excel(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read a sheet of an Excel file."""
    notes = []
    with reading(path, "an Excel file"):
        _check_zipped(path, options.max_cells)
    with reading(path, "an Excel file"), pd.ExcelFile(path) as book:
        sheets = [str(sheet) for sheet in book.sheet_names]
        sheet = sheets[0] if options.sheet is None else options.sheet
        if sheet not in sheets:
            raise TableError(f"{path.name} has no sheet {sheet!r}: it has {listing(sheets)}")
        _check_reach(path, book, sheet, options.max_cells)
        cells = pd.read_excel(book, sheet_name=sheet, header=None, keep_default_na=False, na_values=[""])
    if len(sheets) > 1 and options.sheet is None:
        notes.append(f"{path.name}: read the first of its {len(sheets)} sheets, {sheet!r}; --sheet takes another")
    cells = cells.dropna(how="all")
    if cells.empty:
        raise TableError(f"{path.name} is empty: the sheet {sheet!r} has no cells")
    names = [f"column {k + 1}" for k in range(cells.shape[1])]
    if options.header:
        top = [["" if pd.isna(cell) else str(cell) for cell in row] for row in cells.iloc[:SAMPLE].to_numpy(object)]
        if titles := title_rows(top):
            notes.append(titles_note(path.name, top[:titles]))
            cells = cells.iloc[titles:].dropna(axis=1, how="all")
        first = ["" if pd.isna(name) else str(name) for name in cells.iloc[0]]
        names, cells = checked_names(path.name, first), cells.iloc[1:]
    if cells.empty:
        raise TableError(f"{path.name} has a header and no rows below it")
    cells.columns = pd.Index(names)
    cells = cells.apply(lambda column: column if column.name in exact else column.mask(column.isin(GAPS)))
    return cells.infer_objects().reset_index(drop=True), notes


def _check_reach(path: Path, book: pd.ExcelFile, sheet: str, max_cells: int) -> None:
    """Refuse a sheet that reaches too far before its cells are made: one stray cell in a corner is enough for it."""
    page = book.book[sheet] if path.suffix.lower() in (".xlsx", ".xlsm") else None
    if page is None or not hasattr(page, "reset_dimensions"):  # a page of charts has none
        return
    page.reset_dimensions()  # what a file says of itself may be wrong
    rows, columns = 0, 0
    for row in page.iter_rows():
        rows, columns = rows + 1, max(columns, len(row), 1)
        if rows * columns > max_cells:  # said before the end, which a damaged row number may put anywhere
            raise TableError(
                f"{path.name}: the sheet {sheet!r} reaches to row {rows:,} and column {columns:,}, {rows * columns:,} "
                "cells: is there a stray cell far out (Ctrl+End goes to it)? Delete it, or save the table as .csv; if "
                f"it is right, raise the limit, for example --max-cells {10 * max_cells}"
            )


def read_array(path: Path, options: TableOptions, exact: Collection[str]) -> Read:
    """Read an array of a NumPy file."""
    with reading(path, "a NumPy file"):
        _check_zipped(path, options.max_cells)
        with path.open("rb") as file:
            try:
                loaded = np.load(file, allow_pickle=False)
                values = _chosen(path, loaded, options.array) if isinstance(loaded, np.lib.npyio.NpzFile) else loaded
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
    values = values.astype(values.dtype.newbyteorder("="), copy=False)  # of another machine, which pandas cannot count
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


READERS: dict[str, Callable[[Path, TableOptions, Collection[str]], Read]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat"), read_text),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), read_excel),
    **dict.fromkeys((".parquet", ".pq"), read_parquet),
    ".feather": read_feather,
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), read_json),
    **dict.fromkeys((".npy", ".npz"), read_array),
    **dict.fromkeys(STATISTICS, read_statistics),
}
