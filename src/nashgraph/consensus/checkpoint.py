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
PREFIX, MANIFEST, CHECK = "nashgraph-", "manifest.json", "sha256"
LISTED = re.compile(r"[a-z]{1,20}(-\d{1,9})?\.npz")  # a manifest that lists anything else was not written here

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


class CheckpointedSteps(Generic[Answer]):
    """The answers of steps taken one after the other, each saved once; those of another run are not used.

    ``kind`` is "consensus", "selection" or "path". The answers depend on ``X`` and ``settings`` only; ``pack`` gives an
    answer as arrays by name, and ``unpack`` the answer of these arrays. It raises an error if they are not one: others
    can write to the folder.
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
        text = json.dumps([*settings, X.shape, X.dtype.str, code_digest()])
        self.digest = hashlib.sha256(text.encode() + np.ascontiguousarray(X).tobytes()).hexdigest()
        self.folder, self.last = Path(folder) / f"{PREFIX}{kind}", time.monotonic()
        self.pack, self.unpack = pack, unpack
        self.n_steps, self.resuming = 0, True
        self.waiting: list[tuple[str, Answer]] = []
        self.silent = False  # whether a problem was reported
        manifest = read_manifest(self.folder)
        self.current = manifest is not None and manifest["digest"] == self.digest  # whether the files are of this run
        if manifest is not None and not self.current:
            self._refuse("it is of other signals, settings or another version")
        elif manifest is None and os.path.lexists(self.folder):
            self._refuse("it has no manifest of ours, so it was not written here or is damaged")

    def __call__(self, step: Callable[[], Answer]) -> Answer:
        """Return the saved answer of the next step, or take it; once one is missing all later ones are taken."""
        name, self.n_steps = f"step-{self.n_steps}", self.n_steps + 1
        saved = self._read(f"{name}.npz") if self.resuming else None
        if saved is not None:
            Written.kept = True
            return saved
        self.resuming = False
        answer = step()
        self.waiting.append((f"{name}.npz", answer))
        if time.monotonic() - self.last >= SAVE_EVERY:
            self._save()
        return answer

    def clear(self) -> None:
        """Remove the checkpoint, also one of an earlier run, unless checkpoints are kept for a run that follows."""
        if not _Keeping.on:
            try:
                remove(self.folder)
            except OSError as error:
                self._warn(f"the checkpoint in {self.folder} cannot be removed: {error}")
            Written.kept = False

    def _refuse(self, reason: str) -> None:
        """Report, once, why the checkpoint is not used."""
        self.current = False
        self._warn(f"the checkpoint in {self.folder} is not used: {reason}; the run starts from the beginning")

    def _warn(self, message: str) -> None:
        if not self.silent:
            self.silent = True
            warn(message)

    def _read(self, name: str) -> Answer | None:
        """Return the answer in a file, or None if there is none; a damaged one is reported."""
        file = self.folder / name
        if not self.current or not os.path.lexists(file):
            return None
        if file.is_symlink() or not file.is_file():
            self._refuse(f"{name} is not a file that was written here")
            return None
        try:
            with zipfile.ZipFile(file), np.load(file, allow_pickle=False) as saved:  # NumPy takes all else for a pickle
                arrays = dict(saved)
            if arrays.pop(CHECK).item() != check_of(self.digest + name, arrays):
                raise ValueError("it is not as it was written")
            return self.unpack(arrays)
        except Exception as error:  # of the file, of the archive, of its arrays, or of what they should be
            self._refuse(f"{name} is damaged ({error})")
            return None

    def _save(self) -> None:
        """Write the answers that wait; if that fails, the run goes on with a warning."""
        try:
            for name, answer in self.waiting:
                self._write(name, self.pack(answer))
            self.waiting.clear()
            Written.kept = True
        except OSError as error:
            self._warn(f"no checkpoint can be saved in {self.folder}: {error}; the run goes on without")
        self.last = time.monotonic()

    def _write(self, name: str, arrays: Mapping[str, Any]) -> None:
        """Write arrays, at first in place of an earlier checkpoint of ours; whatever else is there is an error."""
        if not self.current:
            earlier = read_manifest(self.folder) or {}
            made = earlier.get("made_parent") is True or not os.path.lexists(self.folder.parent)
            remove(self.folder)
            self.folder.mkdir(parents=True)
            self._write_manifest({"digest": self.digest, "made_parent": made, "files": []})
            self.current = True
        manifest = read_manifest(self.folder) or {"digest": self.digest, "made_parent": False, "files": []}
        if name not in manifest["files"]:  # listed before it is written: nothing unlisted is ever left behind
            if os.path.lexists(self.folder / name):
                raise FileExistsError(f"{self.folder / name} was not written here")
            manifest["files"].append(name)
            self._write_manifest(manifest)
        arrays = {key: np.asarray(values) for key, values in arrays.items()}
        arrays[CHECK] = np.array(check_of(self.digest + name, arrays))
        written_beside(self.folder / name, lambda handle: np.savez(handle, **arrays))

    def _write_manifest(self, manifest: dict[str, Any]) -> None:
        text = json.dumps(manifest, indent=1).encode()
        written_beside(self.folder / MANIFEST, lambda handle: handle.write(text))


def check_of(run: str, arrays: Mapping[str, Array]) -> str:
    """Return a digest of arrays and of the run and the file that they belong to."""
    found = hashlib.sha256(run.encode())
    for name in sorted(arrays):
        found.update(f"{name} {arrays[name].shape} {arrays[name].dtype.str} ".encode() + arrays[name].tobytes())
    return found.hexdigest()


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
    with suppress(OSError, ValueError, RecursionError):
        if folder.is_symlink() or file.is_symlink() or not file.is_file():
            return None
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
    for kind in ("selection", "path", "consensus"):  # the consensus comes first in a run, and so made the folder around
        with suppress(OSError):
            remove(Path(folder) / f"{PREFIX}{kind}")
