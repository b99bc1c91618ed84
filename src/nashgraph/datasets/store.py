"""Where the files of a data set are looked for, how they are checked, and how they get there.

A file is looked for in ``data_home``, then in the folder named by the environment variable ``NASHGRAPH_DATA``, then
in the user's cache; where it is nowhere, it is fetched from its original source into ``data_home`` or else the cache.

The content is pinned, not the archive: the SHA-256 of each table written as plain CSV, its rows in order.
The archives of the original sources differ in compression, headings and line ends from one copy to the next, while
the edges and the households in them do not. Files that were put in place by hand are checked in the same way.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pandas as pd
import pooch

from ..files import written_whole
from .dataset import DatasetError
from .download import Progress, download_file

VARIABLE = "NASHGRAPH_DATA"

Home = str | Path | None
Parsed = TypeVar("Parsed")


@dataclass(frozen=True)
class Table:
    """One file of a data home: its path below it, how to read its bytes, and the SHA-256 of what they say."""

    path: str
    read: Callable[[bytes], pd.DataFrame]
    sha256: str
    pinned_columns: tuple[str, ...] | None = None  # None: all of them


@dataclass(frozen=True)
class Source:
    """A data set that is kept in files: what it is, where it comes from, and how its archive becomes our tables."""

    name: str
    title: str
    size: str
    page: str  # for people
    archive: str  # the name of the file to fetch
    address: Callable[[], str]  # of that file
    convert: Callable[[Path], list[bytes]]  # the archive into the bytes of each table
    tables: tuple[Table, ...]
    citation: str


def load_tables(
    source: Source, data_home: Home = None, download: bool = True, progress: Progress = None
) -> list[pd.DataFrame]:
    """Return the tables of a data set, found or fetched, and checked."""
    home = find_home(source, data_home) or fetch(source, data_home, download, progress)
    try:
        return [read_checked(table, (home / table.path).read_bytes(), home / table.path) for table in source.tables]
    except DatasetError as error:
        raise DatasetError(f"{error}; remove the file and it is downloaded again") from error


def find_home(source: Source, data_home: Home = None) -> Path | None:
    """Return the first folder that holds every file of a data set, or None."""
    homes = _homes(data_home)
    return next((home for home in homes if all((home / table.path).is_file() for table in source.tables)), None)


def fetch(source: Source, data_home: Home = None, download: bool = True, progress: Progress = None) -> Path:
    """Download a data set, check it and write its files; return the folder they are in.

    Where the archive was put into the folder ``downloads`` by hand, nothing is downloaded.
    """
    home = writable_home(data_home)
    archive = home / "downloads" / source.archive
    by_hand = archive.is_file()
    if not (by_hand or download):
        raise DatasetError(f"{source.title} is not here, and download=False; {how_to_get(source, data_home)}")
    try:
        with TemporaryDirectory() as folder:
            if not by_hand:
                archive = Path(folder) / source.archive
                download_file(source.address(), archive, progress)
            store(source, archive, home)
    except OSError as error:
        raise DatasetError(f"{source.title} could not be fetched: {error}; {how_to_get(source, data_home)}") from error
    return home


def store(source: Source, archive: Path, home: Path) -> None:
    """Convert an archive, check every table, then write them; nothing is written unless all are right."""
    contents = _parsed(source.convert, archive, archive)
    for table, content in zip(source.tables, contents, strict=True):
        read_checked(table, content, archive)
    for table, content in zip(source.tables, contents, strict=True):
        with written_whole(home / table.path) as path:
            path.write_bytes(content)


def read_checked(table: Table, content: bytes, where: Path) -> pd.DataFrame:
    """Return a table, or say that it is not the one that was pinned."""
    frame = _parsed(table.read, content, where)
    got = digest(frame, table.pinned_columns)
    if got != table.sha256:
        raise DatasetError(
            f"{where} does not hold the {table.path} that was pinned: its content has SHA-256 {got}, and "
            f"{table.sha256} is expected"
        )
    return frame


def _parsed(parse: Callable[[Any], Parsed], given: Path | bytes, where: Path) -> Parsed:
    try:
        return parse(given)
    except Exception as error:  # whatever a parser meets in bytes that are not those it was written for
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DatasetError(f"{where} cannot be read: {reason}") from error


def digest(frame: pd.DataFrame, columns: tuple[str, ...] | None = None) -> str:
    """Return the SHA-256 of a table, or of some of its columns, written as CSV."""
    return hashlib.sha256(csv_bytes(frame if columns is None else frame[list(columns)])).hexdigest()


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV, the same bytes on every system."""
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text.encode()


def how_to_get(source: Source, data_home: Home = None) -> str:
    """Say what to fetch by hand and where to put it."""
    place = writable_home(data_home) / "downloads" / source.archive
    return (
        f"to fetch it by hand, get {source.archive} from {source.page} and put it, as it is, at {place}; or set "
        f"{VARIABLE} to a folder that has {' and '.join(table.path for table in source.tables)} "
        f"(looked in: {', '.join(str(home) for home in _homes(data_home))})"
    )


def writable_home(data_home: Home = None) -> Path:
    """Return the folder that files are written to: ``data_home``, or else the user's cache."""
    return user_cache() if data_home is None else Path(data_home).expanduser()


def user_cache() -> Path:
    """Return the folder for files that can be fetched again, where this system keeps such folders."""
    return Path(pooch.os_cache("nashgraph"))


def _homes(data_home: Home) -> list[Path]:
    folders = [data_home, os.environ.get(VARIABLE) or None, user_cache()]
    return [Path(folder).expanduser() for folder in folders if folder is not None]
