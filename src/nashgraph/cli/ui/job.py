"""One run of ``nashgraph learn`` in a process of its own: how far it is, how it ended, and how to stop it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from ..commands import DONE, UNFINISHED
from ..messages import EVERY, TOLD

OUT = "nashgraph-out"  # the folder that learn writes to by default
PATIENCE = 5.0  # seconds in which a run that is interrupted ends by itself


class Job:
    """A run of the command in ``folder``; what it prints goes to ``log``, another folder."""

    def __init__(self, words: Sequence[str], folder: Path, log: Path) -> None:
        self.words, self.out, self.err = list(words), log / "out.json", log / "messages.txt"
        self.begun, self.cancelled = time.monotonic(), False
        # -P: a random.py or numpy.py that lies in the folder is not imported.
        line = [sys.executable, "-P", "-m", "nashgraph", *words, "--json"]
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                line,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, "PYTHONSAFEPATH": "1", EVERY: "0.5"},
                start_new_session=True,  # so that its workers can be ended with it
            )

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self.process.poll() is None

    @property
    def progress(self) -> dict[str, Any]:
        """How far it is: the share in percent and the seconds left, None as long as they are not known."""
        told = [*TOLD.finditer(self.err.read_text(encoding="utf-8", errors="replace"))]
        percent, left = told[-1].groups() if told else (None, None)
        doing = "Learning" if told else "Reading the table"
        return {"percent": percent, "left": left, "doing": doing, "so_far": int(time.monotonic() - self.begun)}

    @cached_property
    def answer(self) -> dict[str, Any]:
        """The JSON object that the command printed, or the last line of its messages as an error."""
        with suppress(ValueError):
            return dict(json.loads(self.out.read_text(encoding="utf-8")))
        if self.process.returncode < 0:  # a signal
            return {"error": "the run was ended by the system, perhaps because memory ran out: try a smaller table"}
        return {"error": self.err.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]}

    @property
    def error(self) -> str:
        """Why there is no network, in a sentence; nothing if there is one."""
        if self.cancelled:
            return "Cancelled. Press Learn to go on where it stopped."
        return "" if self.process.returncode in (DONE, UNFINISHED) else str(self.answer["error"])

    def cancel(self, patience: float = PATIENCE) -> None:
        """Interrupt the run as Ctrl-C does; after ``patience`` seconds end it with all its workers."""
        if not self.running:
            return
        self.cancelled = True
        if os.name == "nt":
            self.process.kill()
        else:
            self.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
