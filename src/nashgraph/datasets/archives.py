"""Reading and writing compressed bytes that are not to be trusted: no path of an archive is ever used."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from .dataset import DatasetError

# What is read here are matrices of some hundred rows and one table; a member that swells beyond this is not ours.
LARGEST_MEMBER = 100_000_000


@contextmanager
def opened_zip(path: str | Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive, or say that it is none.

    Examples
    --------
    >>> import tempfile
    >>> archive = Path(tempfile.mkdtemp()) / "data.zip"
    >>> with zipfile.ZipFile(archive, "w") as new:
    ...     new.writestr("../folder/edges.csv", "0,1")
    >>> with opened_zip(archive) as found:
    ...     read_member(found, find_member(found, "edges.csv"))
    b'0,1'
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except FileNotFoundError as error:
        raise DatasetError(f"there is no file {path}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DatasetError(f"{path} is not a whole zip archive ({error}): fetch it again") from error


def base_name(member: zipfile.ZipInfo) -> str:
    """Return the last part of a member's path; the folders before it are never used."""
    return PurePosixPath(member.filename.replace("\\", "/")).name


def find_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the one member with this base name, whatever folder it claims to be in."""
    found = [member for member in archive.infolist() if not member.is_dir() and base_name(member) == name]
    if len(found) != 1:
        raise DatasetError(f"{archive.filename} has {len(found) or 'no'} files named {name}, and one is expected")
    return found[0]


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member's bytes without writing anything; what the archive says of its size is not believed."""
    try:
        with archive.open(member) as stream:
            return _read_within_limit(stream, member.filename)
    except RuntimeError as error:  # encrypted, or packed in a way not known here
        raise DatasetError(f"{member.filename} cannot be read: {error}") from error


def gunzip(content: bytes, name: str) -> bytes:
    """Return gzipped bytes unpacked.

    Examples
    --------
    >>> gunzip(gzip_bytes(b"0,1"), "edges.csv.gz")
    b'0,1'
    """
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            return _read_within_limit(stream, name)
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(f"{name} is not a whole gzip file ({error}): fetch it again") from error


def gzip_bytes(content: bytes) -> bytes:
    """Return bytes gzipped; the same bytes always give the same file, as no time is written."""
    return gzip.compress(content, mtime=0)


def _read_within_limit(stream: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    content = stream.read(LARGEST_MEMBER + 1)
    if len(content) > LARGEST_MEMBER:
        raise DatasetError(f"{name} unpacks to more than {LARGEST_MEMBER:,} bytes, far more than it should: not read")
    return content
