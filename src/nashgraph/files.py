"""Writing files, one or several together, so that nothing half-written is ever left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """Give a name beside ``path`` to write to; rename it to ``path`` at the end, or remove it if writing failed.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with written_whole(folder / "edges.csv") as name:
    ...     _ = name.write_text("source,target,weight")
    >>> [file.name for file in folder.iterdir()]
    ['edges.csv']
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        beside.chmod(0o666 & ~_umask())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def written_together(folder: str | Path) -> Iterator[Path]:
    """Give an empty folder to write into; move its files into ``folder`` at the end, or leave no trace on failure.

    Files of the same names are replaced, others are left alone. Folders made on the way are removed on failure.

    Examples
    --------
    >>> import tempfile
    >>> out = Path(tempfile.mkdtemp()) / "out"
    >>> with written_together(out) as beside:
    ...     _ = (beside / "edges.csv").write_text("source,target,weight")
    >>> [file.name for file in out.iterdir()]
    ['edges.csv']
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file, and a folder is needed to write to")
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=folder, prefix=".nashgraph-"))
        try:
            yield beside
            _move(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except BaseException:
        for empty in made:  # the innermost first
            with suppress(OSError):
                empty.rmdir()
        raise


def check_writable(folder: str | Path) -> None:
    """Find out whether a folder can be written to, before the work that would be lost.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> check_writable(folder / "out")
    >>> list(folder.iterdir())
    []
    """
    with suppress(_Tried), written_together(folder):
        raise _Tried


class _Tried(Exception):  # noqa: N818 (no error: it takes the way of one, which leaves no trace)
    pass


def _move(beside: Path, folder: Path) -> None:
    files = sorted(beside.iterdir())
    for file in files:
        if (folder / file.name).is_dir():
            raise IsADirectoryError(f"{folder / file.name} is a folder, and a file of this name is to be written")
    for file in files:
        file.replace(folder / file.name)
