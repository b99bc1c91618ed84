"""Progress on the standard error: a bar where somebody watches, else a line every so often. The library calls back."""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..certificate import Record
from .messages import Voice

ENOUGH = 3  # records before a time left is guessed
AT_ONCE = 0.1  # seconds: what is done by then was there before, and says nothing of the pace
EVERY = "NASHGRAPH_PROGRESS"  # environment variable: seconds between two lines, where there is no terminal
LINE_EVERY = 10.0
TOLD = re.compile(r" s so far(?:, (\d+)% done)?(?:.*about (\d+) s left)?")  # a line as nashgraph ui reads it
NEARLY = 0.99  # an iterate may look good enough before it is certified: a fit is done when it says so


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
        self.share, self.state = max(self.share, share), state
        if time.monotonic() - self.since < AT_ONCE:
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


@contextmanager
def bar(voice: Voice, what: str) -> Iterator[Callable[[float, str], object]]:
    """Show that work goes on; give the function to tell which share of it is done, and in what state it is."""
    shown = drawn(voice, what) if voice.animated else written(voice, what)
    with shown as tell:
        yield tell


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
    meter, done = Meter(), threading.Event()
    every = float(os.environ.get(EVERY, LINE_EVERY))

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
def counting(voice: Voice, what: str, total: int) -> Iterator[Callable[[], object]]:
    """Give the function to call after each of so many pieces of work."""
    done = 0
    with bar(voice, what) as tell:

        def count() -> None:
            nonlocal done
            done += 1
            tell(min(1.0, done / total), f"{done} of {total}")

        yield count


def converging(tell: Callable[[float, str], object]) -> Callable[[Record, float], bool]:
    """Return the callback of a fit, to be told of every iterate and of the value at which it ends."""
    records: list[Record] = []

    def told(record: Record, tol: float) -> bool:
        records.append(record)
        share = min(NEARLY, share_done(records[0].value, record.value, tol))
        tell(share if len(records) >= ENOUGH else 0.0, f"{record.value:.0e} → {tol:.0e}")
        return False

    return told


def share_done(first: float, now: float, tol: float) -> float:
    """Return how much of the way to tol is behind, on the logarithmic scale on which solvers go about evenly."""
    if not 0 < tol < first or now <= 0:
        return 1.0
    return min(1.0, max(0.0, math.log(first / now) / math.log(first / tol)))
