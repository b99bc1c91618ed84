"""Seventy-five villages of Karnataka: the households, who is linked to whom, and what a census asked of each.

The networks are the union of twelve relations between the members of households. Only about half of the households
were asked for their relations (``attributes["hhSurveyed"]``), and two that were not asked are never linked.

The archive ``datav4.0.zip`` of doi:10.7910/DVN/U3BIHX on the Harvard Dataverse holds a Stata file of household
characteristics and, for each village, the household network as a square 0/1 matrix in CSV. We keep two compact tables.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from ..validation import InputError, InputTypeError, check_choice, listing
from .store import (
    Dataset,
    DatasetError,
    Source,
    Table,
    csv_bytes,
    download_file,
    gunzip,
    load_tables,
    read_member,
    store,
    writable_home,
)

ARCHIVE = "datav4.0.zip"
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

# The villages in which every household reports one religion.
ONE_RELIGION_VILLAGES = (
    *(2, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 24, 26, 27, 30, 33, 36, 37, 38, 41),
    *(42, 43, 44, 47, 49, 50, 51, 52, 54, 55, 57, 58, 61, 62, 63, 67, 68, 70, 73, 77),
)

CATEGORIES: dict[str, tuple[int | str, ...]] = {
    "hohreligion": (1, 2, 3),  # Hinduism, Islam, Christianity
    "castesubcaste": ("GENERAL", "MINORITY", "OBC", "SCHEDULE CASTE", "SCHEDULE TRIBE"),
    "electricity": (1, 2, 3),  # private, government, none
    "latrine": (1, 2, 3),  # owned, common, none
    "ownrent": (1, 2, 3, 4, 5),  # owned, owned but shared, rented, leased, given by the government
}
NUMBERS = (*(f"rooftype{kind}" for kind in range(1, 6)), "room_no", "bed_no", "hhSurveyed", "leader")


def load_villages(
    ids: Iterable[int] | None = None,
    signals: str | Sequence[str] = "survey16",
    data_home: str | Path | None = None,
    *,
    download: bool = True,
) -> dict[int, Dataset]:
    """Return the household networks of Indian villages, with what the census says of each household as signals.

    Parameters
    ----------
    ids : list of int, optional
        Village numbers, 1 to 77 without 13 and 22; all 75 by default. The 40 in which every household reports one
        religion are ``ONE_RELIGION_VILLAGES``.
    signals : "survey16" or list of str
        The columns of the census to take as signals, unscaled. Of "hohreligion", "castesubcaste", "electricity",
        "latrine" and "ownrent" each category becomes a signal of zeros and ones; a household that gave no answer, or
        none of the codebook's, has zeros in all. "rooftype1" ... "rooftype5", "room_no", "bed_no", "hhSurveyed" and
        "leader" are taken as they are. "survey16" is religion, roof, rooms, beds, electricity and latrine: sixteen
        signals.
    data_home, download
        As for :func:`load_dolphins`.

    Returns
    -------
    villages : dict of village number to Dataset, in the order of ``ids``
        Nodes are named by the household id ``hhid``; ``attributes`` has every column of the census, also
        ``hhSurveyed`` and ``leader``.

    Examples
    --------
    >>> load_villages([10])[10]  # doctest: +SKIP
    Dataset('village 10': 77 nodes, 334 edges, 16 signals)
    """
    columns = check_columns(signals)
    households, edges = load_tables(VILLAGES, data_home, download)
    wanted = check_ids(ids, households["village"].unique().tolist())
    return {number: _village(number, households, edges, columns) for number in wanted}


def import_villages(archive: str | Path, data_home: str | Path | None = None) -> Path:
    """Turn ``datav4.0.zip``, fetched from https://doi.org/10.7910/DVN/U3BIHX, into our two files.

    Return the folder they are in: ``data_home``, or the user's cache by default.
    """
    home = writable_home(data_home)
    try:
        store(VILLAGES, Path(archive), home)
    except DatasetError as error:
        raise DatasetError(f"{error}; download {ARCHIVE} again from {VILLAGES.page}") from error
    return home


def check_ids(ids: Iterable[int] | None, known: list[int]) -> list[int]:
    """Return the numbers of the villages asked for, or say which there are not."""
    if ids is None:
        return known
    if not isinstance(ids, Iterable):
        raise InputTypeError(f"ids must be a list of village numbers, got {ids!r}: write ids=[10] for one village")
    wanted = list(ids)
    if unknown := [number for number in wanted if number not in known]:
        raise InputError(f"ids has no such village: {listing(unknown)}; the numbers are 1 to 77 without 13 and 22")
    return wanted


def check_columns(signals: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a coding is made of."""
    if isinstance(signals, str):
        check_choice("signals", signals, ("survey16",), hint=", or a list of columns")
        return ("hohreligion", *NUMBERS[:7], "electricity", "latrine")
    unknown = [column for column in signals if column not in CATEGORIES and column not in NUMBERS]
    if unknown or not signals:
        raise InputError(
            f"signals has columns that cannot be used: {listing(unknown) or 'none given'}; choose from "
            f"{', '.join([*CATEGORIES, *NUMBERS])}"
        )
    return tuple(signals)


def code_signals(households: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the signals, one row each ("religion=1", ..., "room_no"), with a column for each household."""
    rows = {}
    for column in columns:
        if column in CATEGORIES:
            for value in CATEGORIES[column]:
                rows[f"{column.removeprefix('hoh')}={value}"] = (households[column] == value).fillna(False)
        else:
            rows[column] = households[column]
    return pd.DataFrame(rows, dtype=float).T


def _village(number: int, households: pd.DataFrame, edges: pd.DataFrame, columns: Sequence[str]) -> Dataset:
    households = households[households["village"] == number].set_index("hhid")
    edges = edges[edges["village"] == number]
    names = households.index.tolist()
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[i - 1], names[j - 1]) for i, j in zip(edges["i"], edges["j"], strict=True))
    signals = code_signals(households, columns)
    return Dataset(f"village {number}", graph, signals, names, households, VILLAGES.page, VILLAGES.citation)


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
    """Return the archive's households and edges as the bytes of our two files, gzipped CSV without a time."""
    content = io.BytesIO(read_member(path, "household_characteristics.dta"))
    raw = pd.read_stata(content, convert_categoricals=False)[list(COLUMNS)]
    coded = pd.DataFrame({column: _coded(raw[column], kind) for column, kind in COLUMNS.items()})
    households = coded.sort_values(["village", "adjmatrix_key"], ignore_index=True)
    edges = [_edges(path, village) for village in households["village"].unique()]
    return [gzip.compress(csv_bytes(table), mtime=0) for table in (households, pd.concat(edges))]


def _coded(column: pd.Series, kind: Any) -> pd.Series:
    """Return a column as whole numbers, or as text without stray blanks."""
    if kind == "str":
        return column.fillna("").astype(str).str.split().str.join(" ")
    return column.astype("Int64").astype(kind)


def _edges(archive: Path, village: int) -> pd.DataFrame:
    """Return the edges i < j of one village's matrix, counted from 1 as ``adjmatrix_key`` is."""
    content = io.BytesIO(read_member(archive, f"adj_allVillageRelationships_HH_vilno_{village}.csv"))
    matrix = pd.read_csv(content, header=None).dropna(axis=1, how="all")  # a comma ends each line
    first, second = np.nonzero(np.triu(matrix.to_numpy(dtype=np.int64)))
    return pd.DataFrame({"village": village, "i": first + 1, "j": second + 1})


def read_households(content: bytes) -> pd.DataFrame:
    """Read our table of households."""
    text = io.BytesIO(gunzip(content, HOUSEHOLDS.path))
    frame = pd.read_csv(text, usecols=list(COLUMNS), dtype=COLUMNS)
    return frame[list(COLUMNS)].fillna({"castesubcaste": "", "rooftypeoth": ""})


def read_edges(content: bytes) -> pd.DataFrame:
    """Read our table of edges: village, i, j."""
    frame = pd.read_csv(io.BytesIO(gunzip(content, EDGES.path)), dtype="int64")
    return frame[["village", "i", "j"]]


HOUSEHOLDS = Table(
    "villages/households.csv.gz",
    read_households,
    "ee05dbfc35419025c493453d5e4128d7220dcc68519a0a5bce57d342592e0551",
    # Free text and the answers on ownership, which public copies of the census code differently, are not pinned.
    tuple(column for column in COLUMNS if column not in ("rooftypeoth", "ownrent")),
)
EDGES = Table(
    "villages/edges_HH_allVillageRelationships.csv.gz",
    read_edges,
    "a5ac4fe7f1e3f82f991f1d3db608e7789004b5201c8cba91bfb60f4d3fd4b2f2",
)

VILLAGES = Source(
    name="villages",
    title="the survey of the Indian villages",
    size="75 villages, 14,904 households, 66,862 edges",
    page="https://doi.org/10.7910/DVN/U3BIHX",
    archive=ARCHIVE,
    address=archive_address,
    convert=convert_archive,
    tables=(HOUSEHOLDS, EDGES),
    citation="A. Banerjee, A. G. Chandrasekhar, E. Duflo and M. O. Jackson, The diffusion of microfinance, "
    "Science 341, 2013",
)
