"""Real data sets: where their files are looked for, how they get there, and how they are checked.

A file is looked for in ``data_home``, then in the folder named by the environment variable ``NASHGRAPH_DATA``, then
in the user's cache; if it is nowhere, it is fetched from its original source into ``data_home`` or else the cache.

The content is pinned, not the archive: the SHA-256 of each table written as plain CSV, its rows in order.
The archives of the original sources differ in compression, headings and line ends from one copy to the next, while
the edges and the households in them do not. Files that were put in place by hand are checked in the same way.
Archives are not trusted: no path in one is ever used, and what it says of sizes is not believed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import time
import zipfile
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Any, TypeVar

import networkx as nx
import pandas as pd
from platformdirs import user_cache_path

from ..certificate import LOG
from ..files import written_whole

VARIABLE = "NASHGRAPH_DATA"
LARGEST_DOWNLOAD = 2_000_000_000  # bytes: a server that sends more, or never ends, is given up
# Our archives hold matrices of some hundred rows and one table; a member that unpacks to more is not ours.
LARGEST_MEMBER = 100_000_000

Home = str | Path | None
Parsed = TypeVar("Parsed")
Progress = Callable[[int, int], object] | None  # takes the bytes that came, and of how many, or 0 if that is not known


class DatasetError(OSError):
    """A data set is not here, could not be fetched, or is not the one that was pinned."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A real network and what is known of its nodes. Everything lists the nodes in the order of ``names``.

    Examples
    --------
    >>> import networkx as nx
    >>> path = nx.path_graph(3)
    >>> Dataset("path", path, None, list(path), pd.DataFrame(index=list(path)), "networkx", "")
    Dataset('path': 3 nodes, 2 edges, no signals)
    """

    name: str
    graph: nx.Graph[Any]  # or nx.DiGraph, if links have a direction
    signals: pd.DataFrame | None  # of shape (n_signals, n_nodes)
    names: list[Hashable]
    attributes: pd.DataFrame  # one row per node
    source: str  # where the data come from
    citation: str

    def __repr__(self) -> str:
        edges = f"{self.graph.number_of_edges()} {'directed ' if self.graph.is_directed() else ''}edges"
        if self.signals is None:
            signals = "no signals"
        else:
            signals = f"{len(self.signals)} signals"
        return f"Dataset({self.name!r}: {len(self.names)} nodes, {edges}, {signals})"


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
    home = find_home(source, data_home)
    if home is None:
        return fetch(source, data_home, download, progress)
    files = [home / table.path for table in source.tables]
    try:
        return read_checked(source, [file.read_bytes() for file in files], files)
    except DatasetError as error:
        raise DatasetError(f"{error}; remove the file and it is downloaded again") from error


def find_home(source: Source, data_home: Home = None) -> Path | None:
    """Return the first folder that holds every file of a data set, or None."""
    homes = _homes(data_home)
    return next((home for home in homes if all((home / table.path).is_file() for table in source.tables)), None)


def fetch(
    source: Source, data_home: Home = None, download: bool = True, progress: Progress = None
) -> list[pd.DataFrame]:
    """Download a data set, or use the archive put into the folder ``downloads`` by hand; check and write its tables."""
    home = writable_home(data_home)
    archive = home / "downloads" / source.archive
    by_hand = (
        f"to fetch it by hand, get {source.archive} from {source.page} and put it, as it is, at {archive}; or set "
        f"{VARIABLE} to a folder that has {' and '.join(table.path for table in source.tables)} "
        f"(looked in: {', '.join(str(home) for home in _homes(data_home))})"
    )
    if not (archive.is_file() or download):
        raise DatasetError(f"{source.title} is not here, and download=False; {by_hand}")
    try:
        with TemporaryDirectory() as folder:
            if not archive.is_file():
                archive = Path(folder) / source.archive
                download_file(source.address(), archive, progress)
            return store(source, archive, home)
    except OSError as error:
        raise DatasetError(f"{source.title} could not be fetched: {error}; {by_hand}") from error


def store(source: Source, archive: Path, home: Path) -> list[pd.DataFrame]:
    """Convert an archive, check every table, then write them; nothing is written unless all are right."""
    contents = _parsed(source.convert, archive, archive)
    frames = read_checked(source, contents, [archive] * len(contents))
    for table, content in zip(source.tables, contents, strict=True):
        with written_whole(home / table.path) as path:
            path.write_bytes(content)
    return frames


def read_checked(source: Source, contents: Sequence[bytes], places: Sequence[Path]) -> list[pd.DataFrame]:
    """Return the tables of a data set, or say which is not the one that was pinned."""
    frames = []
    for table, content, place in zip(source.tables, contents, places, strict=True):
        frame = _parsed(table.read, content, place)
        got = digest(frame, table.pinned_columns)
        if got != table.sha256:
            raise DatasetError(
                f"{place} does not hold the {table.path} that was pinned: its content has SHA-256 {got}, and "
                f"{table.sha256} is expected"
            )
        frames.append(frame)
    return frames


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


def writable_home(data_home: Home = None) -> Path:
    """Return the folder that files are written to: ``data_home``, or else the user's cache."""
    if data_home is None:
        return user_cache()
    return Path(data_home).expanduser()


def user_cache() -> Path:
    """Return the folder for files that can be fetched again, where this system keeps such folders."""
    return user_cache_path("nashgraph")


def _homes(data_home: Home) -> list[Path]:
    folders = [data_home, os.environ.get(VARIABLE) or None, user_cache()]
    return [Path(folder).expanduser() for folder in folders if folder is not None]


def download_file(address: str, path: Path, progress: Progress = None) -> None:
    """Download a file over http or https, whole or not at all, or say in one line why not."""
    import requests  # noqa: PLC0415 (few commands download)

    LOG.info("downloading %s", address)
    for wait in (1, 2, 4, None):  # seconds before the next try
        try:
            with requests.get(address, stream=True, timeout=30) as answer, written_whole(path) as partial:
                answer.raise_for_status()
                total = int(answer.headers.get("content-length", 0))
                done = 0
                with partial.open("wb") as file:
                    for chunk in answer.iter_content(1 << 16):
                        done += file.write(chunk)
                        if done > LARGEST_DOWNLOAD:
                            raise DatasetError(f"{address}: more than {LARGEST_DOWNLOAD:,} bytes: given up")
                        if progress is not None:
                            progress(min(done, total) if total else done, total)
            return
        except requests.HTTPError as error:
            code = error.response.status_code
            reason = f"the server answers {code} {error.response.reason}"
            busy = code >= 500 or code in (408, 429)
        except requests.RequestException as error:
            broken = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
            reason = str(error)
            busy = isinstance(error, broken)
        if wait is None or not busy:
            raise DatasetError(f"{address}: {reason}")
        time.sleep(wait)


def read_member(path: Path, name: str) -> bytes:
    """Return the bytes of the one file of a zip archive with this base name, whatever folder it claims to be in."""
    with zipfile.ZipFile(path) as archive:
        files = [member for member in archive.infolist() if not member.is_dir()]
        found = [member for member in files if PurePosixPath(member.filename.replace("\\", "/")).name == name]
        if len(found) != 1:
            raise DatasetError(f"it has {len(found) or 'no'} files named {name}, and one is expected")
        with archive.open(found[0]) as stream:
            return _read_within_limit(stream, name)


def gunzip(content: bytes, name: str) -> bytes:
    """Return gzipped bytes unpacked."""
    with gzip.open(io.BytesIO(content)) as stream:
        return _read_within_limit(stream, name)


def _read_within_limit(stream: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    content = stream.read(LARGEST_MEMBER + 1)
    if len(content) > LARGEST_MEMBER:
        raise DatasetError(f"{name} unpacks to more than {LARGEST_MEMBER:,} bytes, far more than it should: not read")
    return content
