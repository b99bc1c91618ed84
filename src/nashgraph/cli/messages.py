"""Output of commands: results and notes for people or JSON for machines, tables, and progress."""

from __future__ import annotations

import itertools
import json
import logging
import math
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from ..certificate import ENGINE_LOG, Measure, Record
from ..io.anonymous import coded_text
from .commands import FOR_PROGRAMMERS, printable
from .phrases import phrased


class Note(NamedTuple):
    """A note of a run: a decision that was made, or a warning that the result may mislead."""

    text: str
    warning: bool = False


class Voice:
    """The output of a command: results for people or one JSON object for machines, and notes, all of which are kept.

    If it is ``brief``, only warnings are printed among the notes, and only the main figures of a result.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False, brief: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.brief = brief
        self.collected: list[Note] = []
        self.headline: list[str] = []  # what a result says first, for other programs
        # Nothing of the user's is ever taken for markup, an emoji code or a number to be coloured.
        plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
        self.errors = Console(stderr=True, quiet=quiet, **plain)
        self.console = self.errors if as_json else Console(quiet=quiet, **plain)

    @property
    def animated(self) -> bool:
        """Whether there is somebody to watch a progress bar."""
        return self.errors.is_terminal and not self.quiet

    @property
    def notes(self) -> list[str]:
        """The texts of all notes."""
        return [note.text for note in self.collected]

    def note(self, text: str, *, warning: bool = False) -> None:
        """Collect a note, once, and print it unless this is brief."""
        if text not in self.notes:
            self.collected.append(Note(text, warning))
            if warning or not self.brief:
                self.errors.print(Text(f"{'warning' if warning else 'note'}: {printable(text)}"), soft_wrap=True)

    def collect(self, text: str, *, warning: bool = False) -> None:
        """Keep a note for the report, and print it only if all notes are printed: a line said it already."""
        if text not in self.notes:
            self.collected.append(Note(text, warning))
            if not self.brief:
                self.errors.print(Text(f"note: {printable(text)}"), soft_wrap=True)

    def hide(self, codes: Mapping[str, str]) -> None:
        """Put codes in place of ids in the notes so far."""
        rename = coded_text(codes)
        self.collected = [Note(rename(note.text), note.warning) for note in self.collected]

    def say(self, what: Any = "") -> None:
        """Say something to people: a text or a table."""
        if isinstance(what, str):
            self.console.print(Text(printable(what)), soft_wrap=True)
        else:
            self.console.print(what)

    def tell(self, what: str) -> None:
        """Tell people how the run goes, without keeping it: it may differ between two runs that give the same."""
        self.errors.print(Text(printable(what)), soft_wrap=True)

    def answer(self, content: dict[str, Any]) -> None:
        """Give the JSON object that machines asked for."""
        if self.as_json:
            typer.echo(json.dumps(finite(content), allow_nan=False))

    def _note_warning(self, message: Warning | str, *rest: Any, **more: Any) -> None:
        """Note a warning of the library, or of another one, which may go over several lines."""
        text = phrased(message) if isinstance(message, Warning) else message
        self.note(" ".join(text.split()), warning=True)

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Turn the library's warnings into notes; what is for programmers only is left out."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for category in FOR_PROGRAMMERS:
                warnings.simplefilter("ignore", category)
            warnings.showwarning = self._note_warning
            yield


@contextmanager
def engine_noted(voice: Voice) -> Iterator[None]:
    """Note which engine searches the pairs, where there was a choice, and tell that it compiles, where it does."""
    handler = logging.Handler(logging.INFO)
    level = ENGINE_LOG.level

    def emit(record: logging.LogRecord) -> None:
        (voice.note if record.name == ENGINE_LOG.name else voice.tell)(record.getMessage())

    handler.emit = emit  # type: ignore[method-assign]
    ENGINE_LOG.addHandler(handler)
    ENGINE_LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        ENGINE_LOG.removeHandler(handler)
        ENGINE_LOG.setLevel(level)


MEASURED = {
    Measure.STATIONARITY.value: "stationarity is 0 if no small change of the network is better",
    Measure.GAP.value: "the gap bounds how far the result is from the best one",
}
MEANT = {
    "beta": "the larger, the more neighbours the weight is spread over",
    "lam": "strength of the prior, which favours a network that is good for the people in it",
    "welfare": "value of all efforts at the equilibrium of the game on the network",
    "prior_share": "weight of the members that use the prior",
    "agreement": "share of the weight that two replicates of the signals have in common",
    "smoothness_cost": "smoothness cost J: the lower, the more alike are neighbours",
    "objective": "the value that the method minimises",
    "auc": "chance that a true tie weighs more than a pair without; 0.5 is guessing",
    "average_precision": "share of true ties among the heaviest pairs, over all numbers of pairs",
    "chance": "average precision of a random order",
    "precision": "share of true ties among as many pairs as are true",
}


def listed(frame: pd.DataFrame, title: str = "") -> Table:
    """Return a frame as a table with its columns as headings; text stands left, numbers right."""
    gap = "  "  # between columns, in the cells: Rich before 14.3 counts padding at the edges that it does not draw
    table = Table(box=None, padding=0, title=title or None, title_justify="left")
    cells = [[_written(value, ".3f") for value in frame[column]] for column in frame.columns]
    for place, (column, values) in enumerate(zip(frame.columns, cells, strict=True)):
        # Where it is narrow long names go over several lines, but a row without its name says nothing.
        least = None if place else min(max(map(len, values), default=0), 15)
        table.add_column(
            "\n".join((gap if place else "") + word for word in str(column).split("_")),
            justify="right" if place else "left",
            vertical="bottom",
            no_wrap=place > 0,
            min_width=least,
        )
    for row in zip(*cells, strict=True):
        table.add_row(row[0], *(gap + cell for cell in row[1:]))
    return table


def paired(content: Mapping[str, Any], title: str = "", meant: Mapping[str, str] | None = None) -> Table:
    """Return names and values as a table, with a third column that explains those that need it."""
    table = Table(box=None, pad_edge=False, show_header=False, title=title or None, title_justify="left")
    for name, value in content.items():
        words = [meant.get(name, "")] if meant else []
        table.add_row(name.replace("_", " "), _written(value, ".4g"), *words)
    return table


def _written(value: Any, how: str) -> str:
    if not isinstance(value, str) and pd.isna(value):
        return ""
    if isinstance(value, float):
        return format(value, how)
    return printable(str(value))


def plain(value: Any) -> Any:
    """Return a value as JSON has it: None where it is missing or not finite."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def counted(number: int, word: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def finite(content: Any) -> Any:
    """Return a JSON object with null in place of each number that is missing or not finite."""
    if isinstance(content, dict):
        return {name: finite(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return plain(content)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them."""
    return [{str(name): plain(value) for name, value in row.items()} for row in table.to_dict("records")]


EVERY = "NASHGRAPH_PROGRESS"  # environment variable: seconds between two lines, where there is no terminal
TOLD = re.compile(r" s so far(?:, (\d+)% done)?(?:.*about (\d+) s left)?")  # a line as nashgraph ui reads it


class Meter:
    """How far a job is, never less far than it was, and how long the rest may take."""

    def __init__(self) -> None:
        self.start = self.since = time.monotonic()
        self.share = self.before = 0.0
        self.state = ""

    def tell(self, share: float, state: str) -> None:
        """Take in which share of the job is done, and in what state it is."""
        if self.share == 0.0:
            self.since = time.monotonic()
        self.share = max(self.share, share)
        self.state = state
        if time.monotonic() - self.since < 0.1:  # what is done by then was there before: it says nothing of the pace
            self.before = self.share

    @property
    def left(self) -> str:
        """How long the rest may take, where that is known and more than a moment."""
        if not self.before < self.share < 1.0:
            return ""
        seconds = (time.monotonic() - self.since) * (1.0 - self.share) / (self.share - self.before)
        return f", about {seconds:.0f} s left" if seconds >= 1.0 else ""

    @property
    def line(self) -> str:
        """All of it in words."""
        done = f", {100 * self.share:.0f}% done" if self.share else ""
        state = f" ({self.state})" if self.state else ""
        return f"{time.monotonic() - self.start:.0f} s so far{done}{state}{self.left}"


def bar(voice: Voice, what: str) -> AbstractContextManager[Callable[[float, str], object]]:
    """Show that work goes on; give the function to tell which share of it is done, and in what state it is."""
    return drawn(voice, what) if voice.animated else written(voice, what)


@contextmanager
def drawn(voice: Voice, what: str) -> Iterator[Callable[[float, str], object]]:
    """Draw one bar for the whole job, gone when it is done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(16), TimeElapsedColumn())
    meter = Meter()
    with Progress(*columns, TextColumn("{task.fields[state]}"), console=voice.errors, transient=True) as shown:
        task = shown.add_task(what, total=None, state="")

        def tell(share: float, state: str) -> None:
            meter.tell(share, state)
            shown.update(task, total=1.0, completed=meter.share, state=meter.state + meter.left)

        yield tell


@contextmanager
def written(voice: Voice, what: str) -> Iterator[Callable[[float, str], object]]:
    """Write a line every so often, for a log: however long a step takes, it is told that work goes on."""
    meter = Meter()
    done = threading.Event()
    every = float(os.environ.get(EVERY, "10"))

    def write() -> None:
        while not done.wait(every):
            voice.errors.print(f"{what}: {meter.line}", soft_wrap=True)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield meter.tell
    finally:
        done.set()
        writer.join()


@contextmanager
def tallied(voice: Voice, what: str) -> Iterator[Callable[[int, int], object]]:
    """Give the function to tell how many of how many pieces of work are done."""
    with bar(voice, what) as tell:
        yield lambda done, total: tell(min(1.0, done / total) if total else 0.0, f"{done} of {total}")


@contextmanager
def counting(voice: Voice, what: str, total: int) -> Iterator[Callable[[], object]]:
    """Give the function to call after each of so many pieces of work."""
    numbers = itertools.count(1)
    with tallied(voice, what) as tell:
        yield lambda: tell(next(numbers), total)


def converging(tell: Callable[[float, str], object]) -> Callable[[Record, float], bool]:
    """Return the callback of a fit, to be told of every iterate and of the value at which it ends."""
    records: list[Record] = []

    def told(record: Record, tol: float) -> bool:
        records.append(record)
        # An iterate may look good enough before it is certified, and of two nothing can be guessed.
        if len(records) > 2:
            share = min(0.99, share_done(records[0].value, record.value, tol))
        else:
            share = 0.0
        tell(share, f"{record.value:.0e} → {tol:.0e}")
        return False

    return told


def share_done(first: float, now: float, tol: float) -> float:
    """Return how much of the way to tol is behind, on the logarithmic scale on which solvers go about evenly."""
    if not 0 < tol < first or now <= 0:
        return 1.0
    return min(1.0, max(0.0, math.log(first / now) / math.log(first / tol)))
