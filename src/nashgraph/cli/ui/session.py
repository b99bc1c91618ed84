"""What the user of the app has open: a working folder, a table, what is filled in, and a run in its own process."""

from __future__ import annotations

import json
import multiprocessing
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import groupby
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pandas as pd

from ...io import TableOptions, read_table
from ...validation import InputError
from ..commands import DONE, HINT, UNFINISHED, message_of
from ..messages import EVERY, TOLD
from . import form
from .columns import NODE_ROLES, ROLES, Guess, guessed

OUT = "nashgraph-out"  # the folder that learn writes to by default


class Job:
    """A run of the command in ``folder``; what it prints goes to ``log``, another folder."""

    def __init__(self, words: Sequence[str], folder: Path, log: Path) -> None:
        self.words = list(words)
        self.out = log / "out.json"
        self.err = log / "messages.txt"
        self.begun = time.monotonic()
        self.cancelled = False
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
            return "Cancelled. Press Learn to start again."
        return "" if self.process.returncode in (DONE, UNFINISHED) else str(self.answer["error"])

    def cancel(self, patience: float = 5.0) -> None:
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


def read_and_guess(path: Path, options: TableOptions) -> tuple[pd.DataFrame, list[str], Guess]:
    """Read a table, and guess the roles of its columns."""
    table, notes = read_table(path, options)
    return table, notes, guessed(table, options, path.name)


def answer_with_table(path: Path, options: TableOptions, answer: Connection) -> None:
    """Read a table in a process of its own: what it gives, or its error, goes to the parent."""
    try:
        answer.send(read_and_guess(path, options))
    except Exception as error:
        answer.send(error)


class Reader:
    """A table that is read in a process of its own, which can be ended: Python code cannot be stopped from outside."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        processes = multiprocessing.get_context("spawn")  # a fork would copy the server's threads in any state
        self.result, answer = processes.Pipe(duplex=False)
        self.process = processes.Process(target=answer_with_table, args=(path, options, answer), daemon=True)
        self.process.start()
        answer.close()

    def table(self) -> tuple[pd.DataFrame, list[str], Guess]:
        """Wait for what was read."""
        try:
            answer = self.result.recv()
        except EOFError as error:
            raise InputError("reading was cancelled: choose a file") from error
        finally:
            self.process.join()
        if isinstance(answer, Exception):
            raise answer
        table: tuple[pd.DataFrame, list[str], Guess] = answer
        return table

    def cancel(self) -> None:
        """End the process."""
        self.process.kill()


class BusyError(InputError):
    """A run is at work, and there is one at a time."""


class Session:
    """The state of the app: there is one user, and one run at a time; the folder is deleted by ``close``.

    Who has ``token`` may do everything, who has ``key`` may read the results.
    """

    most_columns = 400  # that the page lists
    quick_bytes = 1_000_000  # of a file that is read at once: a process of its own takes a second to start

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self.key = secrets.token_urlsafe(16)
        self.lock = threading.Lock()
        self.root = Path(tempfile.mkdtemp(prefix="nashgraph-ui-"))  # readable by this user alone
        self.clear()

    def clear(self) -> None:
        """Forget everything, with all files."""
        self.folder = self.root / "work"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.file = ""
        self.problem = ""
        self.table = pd.DataFrame()
        self.reading = False
        self.reader: Reader | None = None
        self.notes = list[str]()
        self.files = dict[str, str]()
        self.given = dict[str, str]()
        self.guess: Guess | None = None
        self.job: Job | None = None

    @property
    def view(self) -> str:
        """The page to show."""
        if self.job is not None and (self.job.running or not self.job.error):
            return "working" if self.job.running else "done"
        if self.reading:
            return "reading"
        return "setup" if self.file else "start"

    def refuse_if_busy(self) -> None:
        """Refuse what would disturb a run."""
        if self.view == "working":
            raise BusyError("a network is being learned, and there is one run at a time: wait for it, or cancel it")
        if self.view == "reading":
            raise BusyError(f"{self.file} is being read: wait for it")

    def place_for(self, kind: str, name: str) -> Path:
        """Return where to write a file that is uploaded: the table itself, known ties or a true network."""
        self.refuse_if_busy()
        if kind not in form.uploads():
            raise InputError(f"there is no file {kind!r} to give: there are {', '.join(form.uploads())}")
        if kind == "file":
            self.clear()
        name = form.safe_name(name)
        others = [other for option, other in self.files.items() if option != kind]
        # Some systems take A.csv and a.csv for one file.
        taken = {other.casefold() for other in (OUT, self.file, *others)}
        while name.casefold() in taken:
            name = f"{kind}-{name}"
        return self.folder / name

    def take(self, kind: str, path: Path) -> None:
        """Use an uploaded file."""
        if kind == "file":
            self.file = path.name
            self.read({})
        else:
            self.files[kind] = path.name

    def read(self, given: dict[str, str]) -> None:
        """Read the table as the form says, and guess the roles of its columns."""
        self.refuse_if_busy()
        self.given = {name: value for name, value in given.items() if name.startswith("set:")}
        self.guess = None
        self.problem = ""
        self.job = None
        self.reading = True
        try:
            options = form.reading(self.file, self.given)
            path = self.folder / self.file
            if path.stat().st_size <= self.quick_bytes:
                self.table, self.notes, self.guess = read_and_guess(path, options)
            else:
                self.reader = Reader(path, options)
                self.table, self.notes, self.guess = self.reader.table()
        except Exception as error:
            self.problem = message_of(error)[0].removesuffix(HINT)
        finally:
            self.reading = False
            self.reader = None

    def fill_in(self, given: dict[str, str]) -> None:
        """Keep what is filled in."""
        self.refuse_if_busy()
        self.given = given

    def words(self) -> list[str]:
        """Return the arguments of the command that does what the form says."""
        if self.guess is None:
            raise InputError(self.problem or "there is no table yet: choose a file")
        return form.arguments(self.file, self.guess, self.given, self.files)

    def learn(self, given: dict[str, str]) -> None:
        """Check the command and start it."""
        with self.lock:
            self.fill_in(given)
            form.parsed(words := self.words())
            shutil.rmtree(self.folder / OUT, ignore_errors=True)
            self.job = Job(words, self.folder, self.root)

    def cancel(self, _: dict[str, str]) -> None:
        """Interrupt the run, or the reading of a table."""
        if self.reader is not None:
            self.reader.cancel()
        if self.job is not None:
            self.job.cancel()

    def edit(self, _: dict[str, str]) -> None:
        """Go back to the form."""
        self.refuse_if_busy()
        self.job = None

    def delete(self, _: dict[str, str]) -> None:
        """End the run and delete every file."""
        if self.job is not None:
            self.job.cancel(0.0)
        self.clear()

    def forget(self, kind: str) -> None:
        """Delete a file that was given in addition to the table."""
        self.refuse_if_busy()
        if kind in self.files:
            (self.folder / self.files.pop(kind)).unlink(missing_ok=True)

    def redirecting_file(self, address: str) -> Path:
        """Write a page that leads to the address, for this user alone.

        A browser opens the file, so the token is not in its command line, which all users of the machine can read.
        """
        path = self.root / "open.html"
        path.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
        path.chmod(0o600)
        return path

    def close(self) -> None:
        """End the run, or the reading, and delete the folder."""
        if self.reader is not None:
            self.reader.cancel()
        if self.job is not None:
            self.job.cancel(0.0)
        shutil.rmtree(self.root, ignore_errors=True)

    @property
    def actions(self) -> dict[str, Callable[[dict[str, str]], None]]:
        """What the buttons and fields of the page do."""
        forget = {f"forget-{kind}": lambda _, kind=kind: self.forget(kind) for kind in form.uploads()}
        return forget | {
            "columns": self.read,
            "command": self.fill_in,
            "learn": self.learn,
            "cancel": self.cancel,
            "edit": self.edit,
            "delete": self.delete,
        }

    def result(self, path: str) -> Path | None:
        """Return a file that the run wrote, by its path in the folder; None for anything else."""
        out = (self.folder / OUT).resolve()
        found = (out / path.replace("\0", "?")).resolve()  # no path has a zero
        return found if found.is_relative_to(out) and found.is_file() else None

    def zipped(self) -> Path:
        """Return the ZIP file of all that was written, with the command."""
        path = self.root / f"{Path(self.file).stem}-network.zip"
        out = self.folder / OUT
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in sorted(out.rglob("*")):
                if each.is_file() and not each.is_symlink():
                    archive.write(each, each.relative_to(out))
            archive.writestr("command.txt", f"{self.command}\n")
        return path

    @property
    def command(self) -> str:
        """The command that the form gives, or that of the run, as it is typed."""
        return form.as_typed(self.words() if self.job is None or self.view == "setup" else self.job.words)

    def context(self) -> dict[str, Any]:
        """Return what the templates show."""
        return {
            "session": self,
            "view": self.view,
            "given": self.given,
            "guess": self.guess,
            "job": self.job,
            "reading": form.READING,
            "panels": {panel: [*group] for panel, group in groupby(form.form_fields(), lambda field: field.panel)},
            "of": form.options_of_learn(),
            "roles": NODE_ROLES if self.given.get("set:nodes") == "columns" else ROLES,
            "names": [str(name) for name in self.table.columns],
            # The page of all groups, or of the one network.
            "page": f"/files/{self.key}/{'index.html' if self.result('index.html') else 'report.html'}",
        }
