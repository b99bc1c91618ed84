"""Reading and writing compressed bytes that are not to be trusted: no path of an archive is ever used."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

from .dataset import DatasetError

# What is read here are matrices of some hundred rows and one table; a member that swells beyond this is not ours.
LARGEST_MEMBER = 100_000_000


def read_zipped(path: Path, name: str) -> bytes:
    """Return the bytes of one file of a zip archive; see :func:`read_member`."""
    with zipfile.ZipFile(path) as archive:
        return read_member(archive, name)


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of the one file with this base name.

    The folder that it claims to be in is never used, and what the archive says of its size is not believed.
    """
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


def gzip_bytes(content: bytes) -> bytes:
    """Return bytes gzipped; the same bytes always give the same file, as no time is written."""
    return gzip.compress(content, mtime=0)


def _read_within_limit(stream: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    content = stream.read(LARGEST_MEMBER + 1)
    if len(content) > LARGEST_MEMBER:
        raise DatasetError(f"{name} unpacks to more than {LARGEST_MEMBER:,} bytes, far more than it should: not read")
    return content
