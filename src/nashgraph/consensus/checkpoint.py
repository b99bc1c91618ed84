"""Checkpoints: partial results of a long run on disk, from which the same run goes on with the same bits.

A checkpoint is a folder of its own, ``nashgraph-KIND`` in the folder that the user names, with a manifest of the files
written there. Only files that the manifest lists are ever replaced or removed, and links are never followed. A
checkpoint that cannot be used or saved is reported by a warning, and the run goes on without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import numpy as np

from ..files import Written, code_digest
from ..validation import Array, warn

SAVE_EVERY = 20.0  # seconds: shorter runs save nothing, and saving takes little of longer ones
PREFIX, MANIFEST = "nashgraph-", "manifest.json"
KINDS = ("selection", "path", "consensus")  # the consensus comes first in a run, and so made the folder around
LISTED = re.compile(r"[a-z]+(-\d+)?\.npz")  # a manifest that lists anything else was not written here
DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)

Answer = TypeVar("Answer")


class _Keeping:
    """Whether checkpoints stay when their runs end."""

    on = False


@contextmanager
def checkpoints_kept() -> Iterator[None]:
    """Keep checkpoints when their runs end, for a run that follows: if it is stopped, both go on where they were."""
    _Keeping.on = True
    try:
        yield
    finally:
        _Keeping.on = False


class Checkpoint:
    """Arrays by name in a folder; those of other signals, settings or code are not used.

    Parameters
    ----------
    folder : path, as the user gave it
    kind : "consensus", "selection" or "path"
    X : array, the signals
    settings : list, everything else that the results depend on

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(folder, "path", np.ones((2, 3)), ["settings"])
    ...     with checkpoint.writing() as write:
    ...         write("step-0", values=np.arange(3))
    ...     again = Checkpoint(folder, "path", np.ones((2, 3)), ["settings"])
    ...     print(again.read("step-0")["values"], [file.name for file in Path(folder).iterdir()])
    ...     again.clear()
    ...     print(list(Path(folder).iterdir()))
    [0 1 2] ['nashgraph-path']
    []
    """

    def __init__(self, folder: str | Path, kind: str, X: Array, settings: list[Any]) -> None:
        text = json.dumps([*settings, X.shape, X.dtype.str, code_digest()])
        self.digest = hashlib.sha256(text.encode() + np.ascontiguousarray(X).tobytes()).hexdigest()
        self.folder, self.n_saved, self.last = Path(folder) / f"{PREFIX}{kind}", 0, time.monotonic()
        self.silent, self.current = False, False  # whether a problem was reported; whether the files are of this run
        manifest = read_manifest(self.folder)
        if manifest is not None:
            self.current = manifest["digest"] == self.digest
            if not self.current:
                self.refuse("it is of other signals, settings or another version")
        elif os.path.lexists(self.folder):
            self.refuse("it has no manifest of ours, so it was not written here or is damaged")

    @property
    def due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() - self.last >= SAVE_EVERY

    def refuse(self, reason: str) -> None:
        """Report, once, why the checkpoint is not used."""
        self.current = False
        if not self.silent:
            self.silent = True
            warn(f"the checkpoint in {self.folder} is not used: {reason}; the run starts from the beginning")

    def read(self, name: str) -> dict[str, Array] | None:
        """Return the arrays of a name, or None if there are none; damaged ones are reported."""
        file = self.folder / f"{name}.npz"
        if not self.current or not os.path.lexists(file):
            return None
        if file.is_symlink() or not file.is_file():
            self.refuse(f"{file.name} is not a file that was written here")
            return None
        try:
            with np.load(file, allow_pickle=False) as saved:
                return dict(saved)
        except DAMAGED as error:
            self.refuse(f"{file.name} is damaged ({error})")
            return None

    @contextmanager
    def writing(self) -> Iterator[Callable[..., None]]:
        """Give a function that writes arrays under a name; if that fails, the run goes on with a warning."""
        try:
            yield self._write
            Written.kept = True
        except OSError as error:
            if not self.silent:
                self.silent = True
                warn(f"no checkpoint can be saved in {self.folder}: {error}; the run goes on without")
        self.last = time.monotonic()

    def clear(self) -> None:
        """Remove the checkpoint, also one of an earlier run, unless checkpoints are kept for a run that follows."""
        if not _Keeping.on:
            remove(self.folder)
            Written.kept = False

    def _begin(self) -> None:
        """Start an empty checkpoint in place of an earlier one of ours; whatever else is there is an error."""
        earlier = read_manifest(self.folder) or {}
        made = earlier.get("made_parent") is True or not os.path.lexists(self.folder.parent)
        remove(self.folder)
        self.folder.mkdir(parents=True)
        self.manifest: dict[str, Any] = {"digest": self.digest, "made_parent": made, "files": []}
        self._write_manifest()
        self.current, self.n_saved = True, 0

    def _write(self, name: str, **arrays: Any) -> None:
        if not self.current:
            self._begin()
        file = f"{name}.npz"
        self.manifest = read_manifest(self.folder) or {"digest": self.digest, "made_parent": False, "files": []}
        if file not in self.manifest["files"]:  # listed before it is written: nothing unlisted is ever left behind
            if os.path.lexists(self.folder / file):
                raise FileExistsError(f"{self.folder / file} was not written here")
            self.manifest["files"].append(file)
            self._write_manifest()
        written_beside(self.folder / file, lambda handle: np.savez(handle, **arrays))

    def _write_manifest(self) -> None:
        text = json.dumps(self.manifest, indent=1).encode()
        written_beside(self.folder / MANIFEST, lambda handle: handle.write(text))


def written_beside(file: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file under another name first, which no link can stand for, and then give it its own."""
    beside = file.with_name(f"{file.name}.new")
    if not beside.is_symlink() and beside.is_file():
        beside.unlink()  # of a run that was killed
    with beside.open("xb") as handle:
        write(handle)
        handle.flush()
        os.fsync(handle.fileno())
    beside.replace(file)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a checkpoint, or None if the folder is not one."""
    file = folder / MANIFEST
    if folder.is_symlink() or file.is_symlink() or not file.is_file():
        return None
    with suppress(OSError, ValueError):
        found = json.loads(file.read_text(encoding="utf-8"))
        names = found.get("files") if isinstance(found, dict) and "digest" in found else None
        if isinstance(names, list) and all(isinstance(name, str) and LISTED.fullmatch(name) for name in names):
            return found
    return None


def remove(folder: Path) -> None:
    """Remove what a checkpoint's manifest lists, and folders that are then empty; links and all else stay."""
    manifest = read_manifest(folder)
    if manifest is None:
        return
    for name in (*manifest["files"], MANIFEST):
        for file in (folder / f"{name}.new", folder / name):
            if not file.is_symlink() and file.is_file():
                file.unlink()
    with suppress(OSError):
        folder.rmdir()
        if manifest.get("made_parent") is True:
            folder.parent.rmdir()


def remove_checkpoints(folder: str | Path) -> None:
    """Remove the checkpoints of all kinds in a folder."""
    for kind in KINDS:
        with suppress(OSError):
            remove(Path(folder) / f"{PREFIX}{kind}")


class CheckpointedSteps(Checkpoint, Generic[Answer]):
    """The answers of steps taken one after the other, each saved once.

    Parameters
    ----------
    folder, kind, X, settings : as for :class:`Checkpoint`
    pack : callable, an answer as arrays by name
    unpack : callable, the answer of these arrays
    """

    def __init__(
        self,
        folder: str | Path,
        kind: str,
        X: Array,
        settings: list[Any],
        pack: Callable[[Answer], Mapping[str, Any]],
        unpack: Callable[[dict[str, Array]], Answer],
    ) -> None:
        super().__init__(folder, kind, X, settings)
        self.pack, self.unpack = pack, unpack
        self.n_steps, self.resuming = 0, True
        self.waiting: list[tuple[str, Answer]] = []

    def __call__(self, step: Callable[[], Answer]) -> Answer:
        """Return the saved answer of the next step, or take it; once one is missing all later ones are taken."""
        name, self.n_steps = f"step-{self.n_steps}", self.n_steps + 1
        saved = self.read(name) if self.resuming else None
        if saved is not None:
            Written.kept = True
            return self.unpack(saved)
        self.resuming = False
        answer = step()
        self.waiting.append((name, answer))
        if self.due:
            with self.writing() as write:
                for waiting, done in self.waiting:
                    write(waiting, **self.pack(done))
                self.waiting.clear()
        return answer
