"""The state of the app: a working folder, a table, what is filled in, and a run in its own process."""

from __future__ import annotations

import json
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from ...io import plan_text, write_plan
from ...io.graphs import write_csv
from ...plan import Plan
from ...validation import InputError
from ..commands import DONE, UNFINISHED
from ..demo import example_survey
from ..messages import EVERY, TOLD
from ..reading import NAMES, PLAN
from . import form
from .menus import Menu
from .study import Reader, Reading, confirmed, explained, read

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
        if self.process.returncode in (DONE, UNFINISHED):
            return ""
        return str(self.answer["error"])

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


class BusyError(InputError):
    """A run is at work, and there is one at a time."""


class Session:
    """The state of the app: there is one user, and one run at a time; the folder is deleted by ``close``.

    The ``token`` allows everything, and the ``key`` allows reading the results.
    """

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
        self.choosing = False  # another file, while this one is still there
        self.reading_now = False
        self.reader: Reader | None = None
        self.reading = Reading()
        self.plan: Plan | None = None
        self.plain: Plan | None = None  # the plan that the command would make without being told anything
        self.agreed = False  # on how people tell of their ties
        self.files = dict[str, str]()
        self.given = dict[str, str]()
        self.job: Job | None = None

    @property
    def view(self) -> str:
        """The page to show."""
        if self.job is not None and self.job.running:
            return "working"
        if self.reading_now:
            return "reading"
        if not self.file or self.choosing:
            return "start"
        if self.job is not None and not self.job.error:
            return "done"
        return "setup"

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
        taken = {other.casefold() for other in (OUT, PLAN, NAMES, self.file, *others)}
        while name.casefold() in taken:
            name = f"{kind}-{name}"
        return self.folder / name

    def take(self, kind: str, path: Path) -> None:
        """Use an uploaded file."""
        if kind == "file":
            self.file = path.name
            self.read({})
            return
        self.files[kind] = path.name
        if kind == "alters":
            self.read(self.given)

    def example(self, _: dict[str, str]) -> None:
        """Use a survey that is drawn by a simulation: households tell how many ties they have, and to whom."""
        path = self.place_for("file", "example.csv")
        example_survey().to_csv(path)
        self.take("file", path)

    def read(self, given: dict[str, str]) -> None:
        """Read the table as the form says how it is written; every line of the plan is found again."""
        self.refuse_if_busy()
        self.given = dict(given)
        self.job = None
        if "alters" in self.files:
            others = [self.folder / self.files["alters"]]
        else:
            others = []
        try:
            asked = form.reading(self.file, self.given)
        except Exception as error:
            self.reading = explained(error)
            return
        self.plan = None
        self.agreed = False
        self._show(self.folder / self.file, others, asked)
        self.plan = self.reading.plan
        self.plain = None if asked else self.plan

    def _show(self, path: Path, others: Sequence[Path], arguments: Mapping[str, Any]) -> None:
        """Read a file or a plan, and show what came of it, or why nothing did."""
        self.reading_now = True
        try:
            if (self.folder / self.file).stat().st_size <= self.quick_bytes:
                self.reading = read(path, others, arguments)
            else:
                self.reader = Reader(path, others, arguments)
                self.reading = self.reader.reading()
        except Exception as error:
            self.reading = explained(error)
        finally:
            self.reading_now = False
            self.reader = None

    def use(self, plan: Plan, *, again: bool = True) -> None:
        """Follow a changed plan: what comes of it is what the command would read with it.

        ``again`` reads a large file again as well, which takes a while.
        """
        if plan == self.plan:
            return
        self.plan = plan
        write_plan(plan, self.folder / PLAN)
        if not again and (self.folder / self.file).stat().st_size > self.quick_bytes:
            return
        looks = self.reading.looks
        self._show(self.folder / PLAN, [], {})
        if not self.reading.looks:
            self.reading = replace(self.reading, looks=looks)

    def change_reading(self, given: dict[str, str]) -> None:
        """Read the table again if it is written in another way than thought, or follow the changed plan."""
        self.refuse_if_busy()
        before = form.reading(self.file, self.given)
        kind = self.plan.table.rows if self.plan is not None else ""
        if given.get("plan:rows") == kind and "rows" not in before:
            given = {name: value for name, value in given.items() if name != "plan:rows"}
        if self.plan is None or form.reading(self.file, given) != before:
            self.read(given)
        else:
            self.given = dict(given)
            self.use(form.edited(self.plan, given))

    def fill_in(self, given: dict[str, str]) -> None:
        """Keep what is filled in, and follow the plan as it is now."""
        self.refuse_if_busy()
        self.given = dict(given)
        if self.plan is not None:
            self.use(form.edited(self.plan, given), again=False)

    def answer(self, given: dict[str, str]) -> None:
        """Take the answer to how people tell of their ties: "Use these"."""
        self.fill_in(given)
        if self.plan is not None:
            self.use(form.answered(self.plan, given))
        self.agreed = True

    def ask(self, _: dict[str, str]) -> None:
        """Ask again how people tell of their ties."""
        self.agreed = False

    def use_spellings(self, given: dict[str, str]) -> None:
        """Use the likely spellings that are ticked, as the command does with names.csv."""
        chosen = [int(name[6:]) for name in given if name.startswith("spell:") and name[6:].isdecimal()]
        table = confirmed(self.reading, chosen)
        self.fill_in(given)
        write_csv(table, self.folder / NAMES, "written", "matched")
        if self.plan is not None:
            self.plan = replace(self.plan, names="")  # so that the table is read again if it is not the first time
            self.use(replace(self.plan, names=NAMES))

    @property
    def is_edited(self) -> bool:
        """Whether the command must be given the plan, because it would not make this one by itself."""
        return self.plan != self.plain

    def words(self) -> list[str]:
        """Return the arguments of the command that does what the form says."""
        if self.plan is None:
            raise InputError(self.reading.problem or "there is no table yet: choose a file")
        return form.arguments(PLAN if self.is_edited else self.file, self.given, self.files)

    def learn(self, given: dict[str, str]) -> None:
        """Check the command and start it."""
        with self.lock:
            self.fill_in(given)
            form.parsed(words := self.words())
            if self.reading.problem:
                raise InputError(self.reading.problem)
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
        self.choosing = False
        self.job = None

    def new(self, _: dict[str, str]) -> None:
        """Go to the first page to choose another file; this one stays until another is chosen."""
        self.refuse_if_busy()
        self.choosing = True

    def back(self, _: dict[str, str]) -> None:
        """Go back from the first page to the file that is still there."""
        self.choosing = False

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
            if kind == "alters":
                self.read(self.given)

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
        """The functions of the buttons and fields of the page."""
        forget = {f"forget-{kind}": lambda _, kind=kind: self.forget(kind) for kind in form.uploads()}
        return forget | {
            "example": self.example,
            "columns": self.change_reading,
            "use": self.answer,
            "ask": self.ask,
            "spellings": self.use_spellings,
            "command": self.fill_in,
            "learn": self.learn,
            "cancel": self.cancel,
            "edit": self.edit,
            "new": self.new,
            "back": self.back,
            "delete": self.delete,
        }

    def result(self, path: str) -> Path | None:
        """Return a file that the run wrote, by its path in the folder; None for anything else."""
        out = (self.folder / OUT).resolve()
        file = (out / path.replace("\0", "?")).resolve()  # no path has a zero
        return file if file.is_relative_to(out) and file.is_file() else None

    def zipped(self) -> Path:
        """Return the ZIP file of all that was written, with the command, and the plan to put next to the table."""
        path = self.root / f"{Path(self.file).stem}-network.zip"
        out = self.folder / OUT
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(out.rglob("*")):
                if file.is_file() and not file.is_symlink() and file.relative_to(out) != Path(PLAN):
                    archive.write(file, file.relative_to(out))
            archive.writestr("command.txt", f"{self.command}\n")
            archive.writestr(PLAN, self.plan_file)
        return path

    @property
    def plan_file(self) -> str:
        """The text of the plan."""
        return "" if self.plan is None else plan_text(self.plan)

    @property
    def command(self) -> str:
        """The command that the form gives, or that of the run, as it is typed."""
        return form.as_typed(self.words() if self.job is None or self.view == "setup" else self.job.words)

    def context(self) -> dict[str, Any]:
        """Return what the templates show."""
        panels = groupby(form.form_fields(), lambda field: field.panel)
        return {
            "session": self,
            "view": self.view,
            "given": self.given,
            "plan": self.plan,
            "reading": self.reading,
            "job": self.job,
            "reading_fields": form.reading_fields(),
            "panels": {panel: [*group] for panel, group in panels},
            "of": form.options_of_learn(),
            "menu": Menu(self.plan, self.reading.looks) if self.plan is not None else None,
            # The page of all groups, or of the one network.
            "page": f"/files/{self.key}/{'index.html' if self.result('index.html') else 'report.html'}",
        }
