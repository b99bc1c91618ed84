"""Writing files, one or several together, so that nothing half-written is ever left behind.

Data reach the disk before the file gets its name, and a name changes in one step: a run that is killed, or a
machine that loses its power, leaves the old files or the new. All that is particular to a system of files is here.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path

LOCK = ".nashgraph.lock"
LOCKED_BY = "process "  # how the text in a lock file begins
BESIDE = ".nashgraph-"  # how the names of folders begin that results are written to before they are moved
MARK = ".made-by-nashgraph"  # an empty file in such a folder: without it, the folder is somebody else's


WRITTEN: ContextVar[list[Path] | None] = ContextVar("written", default=None)  # the list of ``noting_writes``


@contextmanager
def noting_writes() -> Iterator[list[Path]]:
    """Give a list to which every file and folder is added when it is whole.

    Whoever reports that a run broke off can then say what had been written before.
    """
    written: list[Path] = []
    before = WRITTEN.set(written)
    try:
        yield written
    finally:
        WRITTEN.reset(before)


def _note(path: Path) -> None:
    written = WRITTEN.get()
    if written is not None:
        written.append(path)


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """Give a name next to ``path`` to write to; rename it to ``path`` at the end, or remove it if writing failed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(0o666 & ~mask)
        _sync(beside)
        beside.replace(path)
        _note(path)
        _sync(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Have a file's bytes on the disk, or a folder's names where the system knows of such a thing."""
    folder = path.is_dir()
    with suppress(OSError) if folder else nullcontext():
        handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_folder(folder: Path) -> None:
    """Refuse to write to a file, a link to nowhere, or below one."""
    for place in (folder, *folder.parents):
        if place.is_symlink() and not place.exists():
            raise FileNotFoundError(f"{place} is a link to a folder that is not there: make it, or give another folder")
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(f"{place} is a file, and a folder is needed to write to")


@contextmanager
def claimed(folder: str | Path) -> Iterator[None]:
    """Have a folder for this process alone, made if need be and without what a killed run left behind.

    A second run is refused with the name of the first. A claim ends with its process, however that ends. A folder that
    was made and is empty at the end is removed. Claims of one thread may be nested.
    """
    folder = Path(folder)
    check_folder(folder)
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / LOCK, folder):
            for stale in folder.glob(f"{BESIDE}*"):
                if not stale.is_symlink() and (stale / MARK).is_file():
                    shutil.rmtree(stale, ignore_errors=True)
            yield
    finally:
        for empty in made:  # the innermost first
            with suppress(OSError):
                empty.rmdir()


@contextmanager
def _locked(file: Path, folder: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout  # noqa: PLC0415 (help and completion stay fast)

    _check_lock(file)
    lock = FileLock(file, is_singleton=True)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        holder = ""
        with suppress(OSError):
            holder = file.read_text(encoding="utf-8")
        raise BlockingIOError(
            f"{folder} is in use by another run of nashgraph ({holder or 'it has not said which'}): wait for it, or "
            "write to another folder"
        ) from None
    try:
        with suppress(OSError):  # on Windows nobody reads or writes a locked file
            file.write_text(
                f"{LOCKED_BY}{os.getpid()} on {socket.gethostname()} since {time.ctime()}", encoding="utf-8"
            )
        yield
    finally:
        if lock.lock_counter == 1:
            with suppress(OSError):
                file.unlink()
        lock.release()


def _check_lock(file: Path) -> None:
    """Refuse a file that has the name of the lock and is not one, because the lock is overwritten and removed."""
    ours = True
    with suppress(FileNotFoundError, PermissionError):  # on Windows nobody reads a locked file
        about = file.lstat()
        ours = stat.S_ISREG(about.st_mode) and about.st_nlink <= 1
        if ours and about.st_size:
            with file.open("rb") as lock:
                ours = lock.read(len(LOCKED_BY)) in (LOCKED_BY.encode(), b"")  # empty: removed or locked again just now
    if not ours:
        raise FileExistsError(
            f"{file} is not a lock file of nashgraph, or is a link, and would be overwritten: rename or remove it, or "
            "write to another folder"
        )


@contextmanager
def written_together(folder: str | Path) -> Iterator[Path]:
    """Give an empty folder to write into; move its files into ``folder`` at the end, or leave no trace on failure.

    Files of the same names are replaced, others are left alone. Folders made on the way are removed on failure.
    """
    folder = Path(folder)
    with claimed(folder):
        beside = Path(tempfile.mkdtemp(dir=folder, prefix=BESIDE))
        (beside / MARK).touch()
        try:
            with noting_writes():  # into a folder that is removed below
                yield beside
            _move(beside, folder)
            _note(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _move(beside: Path, folder: Path) -> None:
    """Move files into a folder, all of them or none: what they replace is kept until the last is there."""
    files = sorted(file for file in beside.iterdir() if file.name != MARK)
    for file in files:
        if (folder / file.name).is_dir():
            raise IsADirectoryError(f"{folder / file.name} is a folder, and a file of this name is to be written")
        _sync(file)
    before = beside / "before"
    before.mkdir()
    moved: list[Path] = []
    try:
        for file in files:
            target = folder / file.name
            if target.exists():
                _keep(target, before / file.name)
            moved.append(target)
            file.replace(target)
    except BaseException:
        for target in moved:
            if (before / target.name).exists():
                (before / target.name).replace(target)
            else:
                target.unlink(missing_ok=True)
        raise
    _sync(folder)


def _keep(file: Path, copy: Path) -> None:
    try:
        copy.hardlink_to(file)
    except OSError:  # not every system of files has links
        shutil.copy2(file, copy)


def in_bytes(size: float) -> str:
    """Return a number of bytes as people read it."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"
