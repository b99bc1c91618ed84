"""A table that was packed: unpacked beside nothing of the user's, and never without end."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..validation import listing
from .errors import TableError

PACKED: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
ZIP = ".zip"
LARGEST, PIECE = 4 << 30, 1 << 20  # bytes unpacked, and written at a time


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    r"""Give the path of a file as it was before it was packed; of one that is not packed, its own.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "survey.csv.gz"
    >>> _ = file.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    >>> with unpacked(file) as inner:
    ...     inner.name, inner.read_text()
    ('survey.csv', 'a,b\n1,2\n')
    """
    ending = path.suffix.lower()
    if ending not in (*PACKED, ZIP):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            if ending == ZIP:
                inner = _unzip(path, Path(folder))
            else:
                inner = Path(folder) / path.stem
                with PACKED[ending](path) as packed:
                    _copy(packed, inner, path.name)
        except (TableError, PermissionError):
            raise
        except Exception as error:  # whatever an unpacker meets in a broken file
            raise TableError(f"{path.name} cannot be unpacked: {error}") from error
        yield inner


def _unzip(path: Path, folder: Path) -> Path:
    """Return the one file in an archive; what macOS puts beside it, and hidden files, do not count."""
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        members = [member for member in members if not member.filename.startswith(("__MACOSX/", "."))]
        if len(members) != 1:
            held = f"{len(members)} files, {listing(member.filename for member in members)}" if members else "no file"
            raise TableError(f"{path.name} holds {held}: unpack it, and give the one that is the table")
        name = Path(members[0].filename).name
        inner = folder / (name if Path(name).suffix else f"{name}.csv")  # pandas packs "survey.zip" around "survey"
        with archive.open(members[0]) as packed:
            _copy(packed, inner, path.name)
    return inner


def _copy(packed: IO[bytes], inner: Path, name: str) -> None:
    size = 0
    with inner.open("wb") as file:
        while piece := packed.read(PIECE):
            size += file.write(piece)
            if size > LARGEST:
                raise TableError(f"{name} is larger than {LARGEST >> 30} GiB when unpacked: unpack it and give a part")
