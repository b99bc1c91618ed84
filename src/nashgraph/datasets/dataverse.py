"""The villages' archive on the Harvard Dataverse: where it is, and how it becomes our two compact tables.

The archive ``datav4.0.zip`` of doi:10.7910/DVN/U3BIHX holds a Stata file of household characteristics and, for each
village, the household network as a square 0/1 matrix in CSV. Members are read by their base name alone and nothing
is ever extracted, so that a path inside the archive can point nowhere.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .archives import gzip_bytes, members, opened_zip, read_member
from .dataset import DatasetError
from .download import download_file
from .store import csv_bytes

ARCHIVE = "datav4.0.zip"
PAGE = "https://doi.org/10.7910/DVN/U3BIHX"
SERVER = "https://dataverse.harvard.edu"

# Our columns are those of the Stata file; "Int64" are whole numbers too, but some households gave no answer.
COLUMNS = {
    **dict.fromkeys(("village", "adjmatrix_key", "HHnum_in_village", "hhid", "hohreligion"), "int64"),
    "castesubcaste": "str",
    **dict.fromkeys(("rooftype1", "rooftype2", "rooftype3", "rooftype4", "rooftype5"), "int64"),
    "rooftypeoth": "str",
    **dict.fromkeys(("room_no", "bed_no"), "int64"),
    **dict.fromkeys(("electricity", "latrine", "ownrent"), "Int64"),
    **dict.fromkeys(("hhSurveyed", "leader"), "int64"),
}

_MATRIX = re.compile(r"adj_allVillageRelationships_HH_vilno_(\d{1,4})\.csv")
_HOUSEHOLDS = "household_characteristics.dta"


def archive_address() -> str:
    """Ask the Dataverse for the address of the archive among the files of the data set."""
    question = f"{SERVER}/api/datasets/:persistentId/?persistentId=doi:10.7910/DVN/U3BIHX"
    with TemporaryDirectory() as folder:
        answer = Path(folder) / "files.json"
        download_file(question, answer)
        try:
            files = json.loads(answer.read_bytes())["data"]["latestVersion"]["files"]
            [number] = [int(file["dataFile"]["id"]) for file in files if file["dataFile"]["filename"] == ARCHIVE]
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(f"{question} does not list one file {ARCHIVE}") from error
    return f"{SERVER}/api/access/datafile/{number}"


def convert_archive(path: Path) -> list[bytes]:
    """Return the archive's households and edges as the bytes of our two files, gzipped CSV."""
    with opened_zip(path) as archive:
        households = households_of(archive)
        sizes = Counter(households["village"].tolist())
        files = {int(match[1]): match[0] for name, _ in members(archive) if (match := _MATRIX.fullmatch(name))}
        if odd := sorted(set(sizes) ^ set(files)):
            raise DatasetError(f"{path}: the villages with households and those with a matrix differ: {listing(odd)}")
        edges = [edges_of(archive, files[village], village, size) for village, size in sizes.items()]
    return [gzip_bytes(csv_bytes(households)), gzip_bytes(csv_bytes(pd.concat(edges)))]


def households_of(archive: zipfile.ZipFile) -> pd.DataFrame:
    """Return the household characteristics in our columns, one row for each row of the matrices."""
    content = io.BytesIO(read_member(archive, _HOUSEHOLDS))
    try:
        raw = pd.read_stata(content, convert_categoricals=False)
    except (ValueError, LookupError, OverflowError, struct.error) as error:
        raise DatasetError(f"{_HOUSEHOLDS} is not a Stata file that can be read: {error}") from error
    if missing := [column for column in COLUMNS if column not in raw]:
        raise DatasetError(f"{_HOUSEHOLDS} has no column {listing(missing)}")
    frame = pd.DataFrame({column: _coded(raw[column], column) for column in COLUMNS})
    frame = frame.sort_values(["village", "adjmatrix_key"], ignore_index=True)
    expected = frame.groupby("village").cumcount() + 1
    if not (frame["adjmatrix_key"] == expected).all():
        first = frame.loc[frame["adjmatrix_key"] != expected, "village"].iloc[0]
        raise DatasetError(f"{_HOUSEHOLDS}: the adjmatrix_key of village {first} is not 1, 2, 3, ...")
    return frame


def edges_of(archive: zipfile.ZipFile, name: str, village: int, size: int) -> pd.DataFrame:
    """Return the edges i < j of one village's matrix, counted from 1 as ``adjmatrix_key`` is."""
    matrix = _matrix(read_member(archive, name), name)
    if matrix.shape != (size, size):
        raise DatasetError(f"{name} is {matrix.shape[0]} by {matrix.shape[1]}, and its village has {size} households")
    if not np.isin(matrix, (0, 1)).all() or (matrix != matrix.T).any() or np.diag(matrix).any():
        raise DatasetError(f"{name} is not a symmetric matrix of 0 and 1 with a zero diagonal")
    first, second = np.nonzero(np.triu(matrix))
    return pd.DataFrame({"village": village, "i": first + 1, "j": second + 1})


def _matrix(content: bytes, name: str) -> Array:
    """Read a CSV matrix without header; a comma at the end of each line makes no column."""
    lines = [line.rstrip(b",\r ").decode("latin-1") for line in content.split(b"\n") if line.strip()]
    if not lines:
        raise DatasetError(f"{name} is empty")
    try:
        return np.loadtxt(lines, dtype=np.int64, delimiter=",", ndmin=2)
    except ValueError as error:
        raise DatasetError(f"{name} is not a CSV matrix of whole numbers: {error}") from error


def _coded(column: pd.Series, name: str) -> pd.Series:
    """Return a column as whole numbers, or as text without stray blanks."""
    kind = COLUMNS[name]
    if kind == "str":
        return column.fillna("").astype(str).str.split().str.join(" ")
    try:
        numbers = column.astype("Int64")
        return numbers if kind == "Int64" else numbers.astype("int64")
    except (ValueError, TypeError) as error:
        raise DatasetError(f"{_HOUSEHOLDS}: the column {name} is not of whole numbers: {error}") from error
