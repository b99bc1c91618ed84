"""What the user of the app has open: a working folder, a table, what is filled in, and a run."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from ...io import read_table
from ...validation import InputError
from ..commands import HINT, message_of
from . import form
from .columns import NODE_ROLES, ROLES, Guess, guessed
from .job import OUT, Job


class BusyError(InputError):
    """A run is at work, and there is one at a time."""


class Session:
    """The state of the app: there is one user, and one run at a time; the folder is deleted by ``close``.

    Attributes
    ----------
    token, key : str, who has the token may do everything, who has the key may read the results
    file, files : str and dict, the names of the table and of other files given
    given : dict, what is filled in
    guess, problem, notes : the columns of the table, or why it cannot be read; what was decided in reading it
    """

    most_columns = 400  # that the page lists

    def __init__(self) -> None:
        self.token, self.key, self.lock = secrets.token_urlsafe(32), secrets.token_urlsafe(16), threading.Lock()
        self.root = Path(tempfile.mkdtemp(prefix="nashgraph-ui-"))  # readable by this user alone
        self.clear()

    def clear(self) -> None:
        """Forget everything, with all files."""
        self.folder = self.root / "work"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.file, self.problem, self.table = "", "", pd.DataFrame()
        self.notes, self.files, self.given = list[str](), dict[str, str](), dict[str, str]()
        self.guess: Guess | None = None
        self.job: Job | None = None

    @property
    def view(self) -> str:
        """The page to show."""
        if self.job is not None and (self.job.running or not self.job.error):
            return "working" if self.job.running else "done"
        return "setup" if self.file else "start"

    def refuse_if_busy(self) -> None:
        """Refuse what would disturb a run."""
        if self.view == "working":
            raise BusyError("a network is being learned, and there is one run at a time: wait for it, or cancel it")

    def place_for(self, kind: str, name: str) -> Path:
        """Return where to write a file that is uploaded: the table itself, known ties or a true network."""
        self.refuse_if_busy()
        if kind not in form.uploads():
            raise InputError(f"there is no file {kind!r} to give: there are {', '.join(form.uploads())}")
        if kind == "file":
            self.clear()
        name = form.safe_name(name)
        taken = {OUT, self.file, *(other for option, other in self.files.items() if option != kind)}
        return self.folder / (f"{kind}-{name}" if name in taken else name)

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
        self.guess, self.problem, self.job = None, "", None
        try:
            options = form.reading(self.file, self.given)
            self.table, self.notes = read_table(self.folder / self.file, options)
            self.guess = guessed(self.table, options, self.file)
        except Exception as error:
            self.problem = message_of(error)[0].removesuffix(HINT)

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
            if self.job is None or not self.job.cancelled:  # a run that was cancelled goes on where it stopped
                shutil.rmtree(self.folder / OUT, ignore_errors=True)
            self.job = Job(words, self.folder, self.root)

    def cancel(self, _: dict[str, str]) -> None:
        """Interrupt the run."""
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

    def close(self) -> None:
        """End the run and delete the folder."""
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
        found = (out / path).resolve()
        return found if found.is_relative_to(out) and found.is_file() else None

    def zipped(self) -> Path:
        """Return the ZIP file of all that was written, with the command."""
        path, out = self.root / f"{Path(self.file).stem}-network.zip", self.folder / OUT
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
