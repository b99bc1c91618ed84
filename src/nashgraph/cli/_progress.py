"""Progress bars, drawn on the standard error where somebody watches. The library draws none: it calls back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..certificate import Record
from ._running import Voice

ENOUGH = 3  # records before a time left is guessed


@contextmanager
def bar(voice: Voice, what: str) -> Iterator[Callable[[float, str], object]]:
    """Show that work goes on; give the function to tell which share of it is done, and in what state it is."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(16), TimeElapsedColumn())
    # Where nobody watches, some versions of rich leave an empty line behind a bar that was not shown.
    console = voice.errors if voice.animated else Console(quiet=True)
    with Progress(*columns, TextColumn("{task.fields[state]}"), console=console, transient=True) as shown:
        task = shown.add_task(what, total=None, state="")

        def tell(share: float, state: str) -> None:
            seconds = shown.tasks[task].elapsed or 0.0
            left = f", about {seconds * (1 - share) / share:.0f} s left" if 0 < share < 1 else ""
            shown.update(task, total=1.0, completed=share, state=state + left)

        yield tell


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
        share = share_done(records[0].value, record.value, tol)
        tell(share if len(records) >= ENOUGH else 0.0, f"{record.value:.0e} → {tol:.0e}")
        return False

    return told


def share_done(first: float, now: float, tol: float) -> float:
    """Return how much of the way to tol is behind, on the logarithmic scale on which solvers go about evenly.

    Examples
    --------
    >>> share_done(1.0, 1e-3, 1e-6)
    0.5
    """
    if not 0 < tol < first or now <= 0:
        return 1.0
    return min(1.0, max(0.0, math.log(first / now) / math.log(first / tol)))
