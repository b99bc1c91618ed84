"""The villages' archive on the Harvard Dataverse: where it is, and how it becomes our two compact tables.

The archive ``datav4.0.zip`` of doi:10.7910/DVN/U3BIHX holds a Stata file of household characteristics and, for each
village, the household network as a square 0/1 matrix in CSV. Members are read by their base name alone and nothing
is ever extracted, so that a path inside the archive can point nowhere.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from .archives import gzip_bytes, read_member
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
    """Return the archive's households and edges as the bytes of our two files, gzipped CSV.

    The pins tell whether they are the right ones, so an archive that is another is not looked at more closely here.
    """
    with zipfile.ZipFile(path) as archive:
        content = io.BytesIO(read_member(archive, "household_characteristics.dta"))
        raw = pd.read_stata(content, convert_categoricals=False)[list(COLUMNS)]
        coded = pd.DataFrame({column: _coded(raw[column], kind) for column, kind in COLUMNS.items()})
        households = coded.sort_values(["village", "adjmatrix_key"], ignore_index=True)
        edges = [_edges(archive, village) for village in households["village"].unique()]
    return [gzip_bytes(csv_bytes(households)), gzip_bytes(csv_bytes(pd.concat(edges)))]


def _coded(column: pd.Series, kind: Any) -> pd.Series:
    """Return a column as whole numbers, or as text without stray blanks."""
    if kind == "str":
        return column.fillna("").astype(str).str.split().str.join(" ")
    return column.astype("Int64").astype(kind)


def _edges(archive: zipfile.ZipFile, village: int) -> pd.DataFrame:
    """Return the edges i < j of one village's matrix, counted from 1 as ``adjmatrix_key`` is."""
    content = io.BytesIO(read_member(archive, f"adj_allVillageRelationships_HH_vilno_{village}.csv"))
    matrix = pd.read_csv(content, header=None).dropna(axis=1, how="all")  # a comma ends each line
    first, second = np.nonzero(np.triu(matrix.to_numpy(dtype=np.int64)))
    return pd.DataFrame({"village": village, "i": first + 1, "j": second + 1})
