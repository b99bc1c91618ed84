"""Read a binary file in a process of its own, with limits on memory and time.

A damaged file can end the process that reads it (Arrow raises C++ exceptions, pyreadstat is C), go on for ever, or
unpack ten kilobytes to gigabytes. Here it ends a child, and the user gets a sentence. The limits need no help from the
system: the parent looks at the child twenty times a second, on every platform.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pandas as pd
import psutil

from ..files import in_bytes
from .errors import TableError
from .options import TableOptions

Read = tuple[pd.DataFrame, list[str]]

SECONDS = 60.0  # for any file: a thousand times what a small one takes
SECONDS_A_MEGABYTE = 20.0  # for a large one: Excel, the slowest format, takes about 10 on a slow machine
MEMORY = 6e8  # bytes that Python and the libraries take before they read anything, with room for a small table
MEMORY_A_CELL = 100  # bytes of an Excel cell as a Python object, the most that any format takes
MEMORY_A_BYTE = 2000  # bytes for each of the file: a packed sheet takes 200, and equal values pack better
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
LOOKS = 0.05  # seconds between two looks at the child


def read_apart(
    path: Path,
    options: TableOptions,
    exact: Collection[str],
    *,
    seconds: float | None = None,
    memory: float | None = None,
) -> Read:
    """Read a table in a process of its own, and return it with what was decided about it.

    After ``seconds``, or with more than ``memory`` bytes, the process is ended. Without them they follow from the
    size of the file, the number of cells that are allowed and what the machine has free.
    """
    if seconds is None:
        seconds = SECONDS + SECONDS_A_MEGABYTE * path.stat().st_size / 1e6
    if memory is None:
        most = min(MEMORY_A_CELL * options.max_cells, MEMORY_A_BYTE * path.stat().st_size)
        memory = max(MEMORY, min(MEMORY + most, 0.9 * psutil.virtual_memory().available))
    # -P: a pyarrow.py or numpy.py that lies in the current folder is not imported.
    code = "import sys; sys.path.append(sys.argv[1]); from nashgraph.io.binary import main; main()"
    line = [sys.executable, "-P", "-c", code, str(Path(__file__).parents[2])]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        line,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **one_thread},
    ) as child:
        limits = Limits(child, seconds, memory)
        limits.start()
        try:
            answer = _asked(child, (path.absolute(), options, tuple(exact)))
        finally:
            limits.over.set()
            child.kill()
    if limits.reason == "seconds":
        raise TableError(
            f"{path.name} was not read within {seconds:.0f} seconds, so it seems damaged: get it again, or save it "
            "as .csv"
        )
    if limits.reason == "memory":
        stray = "is there a stray cell far out (Ctrl+End goes to it)? Delete it, or "
        raise TableError(
            f"{path.name} is too large: reading it takes more than {in_bytes(memory)} of memory: "
            f"{stray if path.suffix.lower() in SHEETS else ''}save it as .csv"
        )
    if answer is None:
        raise TableError(f"{path.name} is damaged and cannot be read: get it again, or save it as .csv")
    if isinstance(answer, Exception):
        raise answer
    table, notes = answer
    return table, notes


def _asked(child: subprocess.Popen[bytes], question: Any) -> Any:
    """Return what the child answers, a table with notes or an error; None if it ends without an answer."""
    asking: IO[bytes] = child.stdin  # type: ignore[assignment]
    answering: IO[bytes] = child.stdout  # type: ignore[assignment]
    with suppress(BrokenPipeError), asking:
        pickle.dump(question, asking)
    with suppress(EOFError, pickle.UnpicklingError):
        return pickle.load(answering)
    return None


class Limits(threading.Thread):
    """End a process when it has run too long or has taken too much memory; ``reason`` says which."""

    def __init__(self, child: subprocess.Popen[bytes], seconds: float, memory: float) -> None:
        super().__init__(daemon=True)
        self.child = child
        self.seconds = seconds
        self.memory = memory
        self.over = threading.Event()
        self.reason = ""

    def run(self) -> None:
        """Look at the process until it is over."""
        end = time.monotonic() + self.seconds
        with suppress(psutil.Error):  # it has ended
            process = psutil.Process(self.child.pid)
            while not self.over.wait(LOOKS):
                if time.monotonic() > end:
                    self.reason = "seconds"
                elif process.memory_info().rss > self.memory:
                    self.reason = "memory"
                if self.reason:
                    self.child.kill()
                    return
