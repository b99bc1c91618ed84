"""What a long fit has done so far, kept on disk now and then, so that one that was stopped goes on.

The mean of a consensus after some resamples is two sums and a graph for each. A graph is written once, the sums are
written anew; what is read back gives the same bits as if the fit had never been stopped.
"""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..files import Written, code_digest, written_whole
from ..validation import Array
from ._members import Mean

EVERY = 20.0  # seconds: of a shorter fit nothing is kept
MEAN = "mean.npz"


class KeptMean:
    """The mean of the first resamples, in a folder; that of other signals, settings or code is not used.

    Parameters
    ----------
    folder : path
    X : array, the signals
    settings : list, all else that the mean depends on
    """

    def __init__(self, folder: str | Path, X: Array, settings: list[Any]) -> None:
        self.folder, self.last, self.written = Path(folder), time.monotonic(), 0
        text = json.dumps([*settings, X.shape, X.dtype.str, code_digest()])
        self.digest = hashlib.sha256(text.encode() + np.ascontiguousarray(X).tobytes()).hexdigest()

    def restore(self, mean: Mean) -> int:
        """Add what is kept to an empty mean, and return of how many resamples it is, the signals as they are first."""
        try:
            with np.load(self.folder / MEAN, allow_pickle=False) as kept:
                if str(kept["digest"]) != self.digest:
                    return 0
                sums, done = [_graph(kept, name) for name in ("weights", "frequency")], int(kept["done"])
            graphs = []
            for number in range(1, done):
                with np.load(self._file(number), allow_pickle=False) as kept:
                    if str(kept["digest"]) != self.digest:
                        return 0
                    graphs.append(_graph(kept, "graph"))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):  # there is none, or it is damaged
            return 0
        mean.weights.add(sums[0], 1.0)
        mean.frequency.add(sums[1], 1.0)
        mean.graphs += graphs
        self.written = len(graphs)
        return done

    def keep(self, mean: Mean, done: int) -> None:
        """Write the mean of the resamples done, if it is time to; where that fails the fit goes on without."""
        if time.monotonic() - self.last < EVERY:
            return
        with suppress(OSError):
            for number, graph in enumerate(mean.graphs[self.written :], self.written + 1):
                self._write(self._file(number), graph=graph)
                self.written = number
            self._write(self.folder / MEAN, done, weights=mean.weights.csr(), frequency=mean.frequency.csr())
            Written.kept = True
        self.last = time.monotonic()

    def clear(self) -> None:
        """Remove all that is kept, and the folder if nothing else is in it."""
        for pattern in (
            "mean.npz",
            "graph-*.npz",
            ".mean.*.npz",
            ".graph-*.npz",
        ):  # the last two of runs that were killed
            for file in self.folder.glob(pattern):
                file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()
        Written.kept = False

    def _file(self, number: int) -> Path:
        return self.folder / f"graph-{number}.npz"

    def _write(self, file: Path, done: int = 0, **graphs: Any) -> None:
        parts = {
            f"{name}_{part}": getattr(graph, part)
            for name, graph in graphs.items()
            for part in ("data", "indices", "indptr")
        }
        last = Written.last
        with written_whole(file) as beside:
            np.savez(beside, digest=self.digest, done=done, **parts)
        Written.last = last  # this is no result


def _graph(kept: Any, name: str) -> Any:
    data, indices, indptr = (kept[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_array((data, indices, indptr), shape=(indptr.size - 1, indptr.size - 1))
