"""Seventy-five villages of Karnataka: the households, who is linked to whom, and what a census asked of each.

The networks are the union of twelve relations between the members of households. Only about half of the households
were asked for their relations (``attributes["hhSurveyed"]``), and two that were not asked are never linked.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import networkx as nx
import pandas as pd

from ..validation import InputError, InputTypeError, check_choice, listing
from .archives import gunzip
from .dataset import Dataset, DatasetError
from .dataverse import ARCHIVE, COLUMNS, PAGE, archive_address, convert_archive
from .store import Source, Table, load_tables, store, writable_home

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
CODINGS = {"survey16": ("hohreligion", *NUMBERS[:7], "electricity", "latrine")}


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
    """Turn the Dataverse's ``datav4.0.zip`` into our two files; return the folder they are in.

    Parameters
    ----------
    archive : path of the zip file, fetched from https://doi.org/10.7910/DVN/U3BIHX
    data_home : path, optional
        Where to put the files; the user's cache by default.
    """
    home = writable_home(data_home)
    try:
        store(VILLAGES, Path(archive), home)
    except DatasetError as error:
        raise DatasetError(f"{error}; download {ARCHIVE} again from {PAGE}") from error
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
        return CODINGS[check_choice("signals", signals, CODINGS, hint=", or a list of columns")]
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


def read_households(content: bytes) -> pd.DataFrame:
    """Read our table of households."""
    text = io.BytesIO(gunzip(content, HOUSEHOLDS_FILE))
    frame = pd.read_csv(text, usecols=list(COLUMNS), dtype=COLUMNS)
    return frame[list(COLUMNS)].fillna({"castesubcaste": "", "rooftypeoth": ""})


def read_edges(content: bytes) -> pd.DataFrame:
    """Read our table of edges: village, i, j."""
    frame = pd.read_csv(io.BytesIO(gunzip(content, EDGES_FILE)), dtype="int64")
    return frame[["village", "i", "j"]]


HOUSEHOLDS_FILE = "villages/households.csv.gz"
HOUSEHOLDS_SHA256 = "ee05dbfc35419025c493453d5e4128d7220dcc68519a0a5bce57d342592e0551"
EDGES_FILE = "villages/edges_HH_allVillageRelationships.csv.gz"
EDGES_SHA256 = "a5ac4fe7f1e3f82f991f1d3db608e7789004b5201c8cba91bfb60f4d3fd4b2f2"
# Free text and the answers on ownership, which public copies of the census code differently, are not pinned.
PINNED = tuple(column for column in COLUMNS if column not in ("rooftypeoth", "ownrent"))

VILLAGES = Source(
    name="villages",
    title="the survey of the Indian villages",
    size="75 villages, 14,904 households, 66,862 edges",
    page=PAGE,
    archive=ARCHIVE,
    address=archive_address,
    convert=convert_archive,
    tables=(
        Table(HOUSEHOLDS_FILE, read_households, HOUSEHOLDS_SHA256, PINNED),
        Table(EDGES_FILE, read_edges, EDGES_SHA256),
    ),
    citation="A. Banerjee, A. G. Chandrasekhar, E. Duflo and M. O. Jackson, The diffusion of microfinance, "
    "Science 341, 2013",
)
