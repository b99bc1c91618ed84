"""What a long job has done so far, kept on disk now and then, so that one that was stopped goes on.

What is kept are arrays in files, each written once or anew as a whole. What is read back gives the same bits as if the
job had never been stopped.
"""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from scipy import sparse

from ..files import Written, code_digest, written_whole
from ..validation import Array
from ._members import Mean

EVERY = 20.0  # seconds: of a shorter job nothing is kept
DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)

Answer = TypeVar("Answer")


class Kept:
    """Arrays by name, in a folder; those of other signals, settings or code are not used.

    Parameters
    ----------
    folder : path
    X : array, the signals
    settings : list, all else that the job depends on
    """

    names: ClassVar[tuple[str, ...]]  # patterns of what it writes
    held: ClassVar[bool] = False

    def __init__(self, folder: str | Path, X: Array, settings: list[Any]) -> None:
        self.folder, self.last = Path(folder), time.monotonic()
        text = json.dumps([*settings, X.shape, X.dtype.str, code_digest()])
        self.digest = hashlib.sha256(text.encode() + np.ascontiguousarray(X).tobytes()).hexdigest()

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() - self.last >= EVERY

    def read(self, name: str) -> dict[str, Array] | None:
        """Return the arrays of a name, or None where there are none, or they are damaged or of another job."""
        with suppress(*DAMAGED), np.load(self.folder / f"{name}.npz", allow_pickle=False) as kept:
            if str(kept["digest"]) == self.digest:
                return dict(kept)
        return None

    @contextmanager
    def writing(self) -> Iterator[Callable[..., None]]:
        """Give what writes arrays under a name; where that fails the job goes on without."""
        last = Written.last

        def write(name: str, **arrays: Any) -> None:
            with written_whole(self.folder / f"{name}.npz") as beside:
                np.savez(beside, digest=self.digest, **arrays)

        with suppress(OSError):
            yield write
            Written.kept = True
        Written.last, self.last = last, time.monotonic()  # this is no result

    def clear(self) -> None:
        """Remove all that is kept, and the folder if nothing else is in it, unless it is held."""
        if self.held:
            return
        for name in self.names:
            for pattern in (f"{name}.npz", f".{name}.*.npz"):  # the second of runs that were killed
                for file in self.folder.glob(pattern):
                    file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()
        Written.kept = False


@contextmanager
def held() -> Iterator[None]:
    """Leave what jobs keep where it is when they end, for one that is to come: both then go on where they stopped."""
    Kept.held = True
    try:
        yield
    finally:
        Kept.held = False


class KeptMean(Kept):
    """The mean of a consensus over its first resamples: two sums, and a graph for each, which is written once."""

    names = ("mean", "graph-*")
    written = 0

    def restore(self, mean: Mean) -> int:
        """Add what is kept to an empty mean, and return of how many resamples it is, the signals as they are first."""
        sums = self.read("mean")
        if sums is None:
            return 0
        done = int(sums["done"])
        graphs = [self.read(f"graph-{number}") for number in range(1, done)]
        if None in graphs:
            return 0
        mean.weights.add(_graph(sums, "weights"), 1.0)
        mean.frequency.add(_graph(sums, "frequency"), 1.0)
        mean.graphs += [_graph(kept, "graph") for kept in graphs if kept is not None]
        self.written = len(graphs)
        return done

    def keep(self, mean: Mean, done: int) -> None:
        """Write the mean of the resamples done, if it is time to."""
        if not self.due:
            return
        with self.writing() as write:
            for number, graph in enumerate(mean.graphs[self.written :], self.written + 1):
                write(f"graph-{number}", **_parts("graph", graph))
                self.written = number
            sums = _parts("weights", mean.weights.csr()) | _parts("frequency", mean.frequency.csr())
            write("mean", done=done, **sums)


class KeptSteps(Kept, Generic[Answer]):
    """The answers of steps that are taken one after the other, each written once.

    Parameters
    ----------
    pack : callable, an answer as arrays by name
    unpack : callable, the answer of these arrays
    """

    names = ("step-*",)

    def __init__(
        self,
        folder: str | Path,
        X: Array,
        settings: list[Any],
        pack: Callable[[Answer], Mapping[str, Any]],
        unpack: Callable[[dict[str, Array]], Answer],
    ) -> None:
        super().__init__(folder, X, settings)
        self.pack, self.unpack = pack, unpack
        self.taken, self.resuming = 0, True
        self.waiting: list[tuple[str, Answer]] = []

    def __call__(self, step: Callable[[], Answer]) -> Answer:
        """Return the answer that is kept of the next step, or else take it; after one that is lost all are taken."""
        name, self.taken = f"step-{self.taken}", self.taken + 1
        kept = self.read(name) if self.resuming else None
        if kept is not None:
            Written.kept = True
            return self.unpack(kept)
        self.resuming = False
        answer = step()
        self.waiting.append((name, answer))
        if self.due:
            with self.writing() as write:
                for waiting, done in self.waiting:
                    write(waiting, **self.pack(done))
                self.waiting.clear()
        return answer


def _parts(name: str, graph: Any) -> dict[str, Array]:
    return {f"{name}_{part}": getattr(graph, part) for part in ("data", "indices", "indptr")}


def _graph(kept: Mapping[str, Array], name: str) -> Any:
    data, indices, indptr = (kept[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_array((data, indices, indptr), shape=(indptr.size - 1, indptr.size - 1))
