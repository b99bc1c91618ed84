"""``nashgraph reproduce``: the paper's tables and figures, run again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from ..datasets import DatasetError
from ..experiments import EXPERIMENTS, Study, reproduce
from ..files import claimed
from ..validation import InputError
from .commands import DONE, INTERRUPTED, REFUSED, printable
from .messages import Voice
from .options import ReproduceArguments

ALL = "all"


def run_reproduce(asked: ReproduceArguments) -> int:
    """Run experiments, write what came out, and print the verdicts."""
    voice, quick, jobs = asked.speech.voice(), asked.quick, asked.jobs
    wanted = chosen_experiments(asked.experiments)
    folder = asked.out or (Path("results") / "quick" if quick else Path("results"))
    if jobs == 0:
        raise typer.BadParameter("--jobs 0 runs nothing: take 1, 2, ... or -1 for one per core")
    if asked.data_home is not None:
        os.environ["NASHGRAPH_DATA"] = str(asked.data_home)  # the workers inherit it
    studies: dict[str, Study] = {}
    left_out: dict[str, str] = {}
    try:
        with claimed(folder), trial_bars(voice) as progress:
            for name in wanted:
                try:
                    studies |= reproduce([name], folder, seed=asked.seed, quick=quick, jobs=jobs, progress=progress)
                except DatasetError as error:
                    left_out[name] = str(error)
                    voice.note(f"{name} is left out: {error}")
    except KeyboardInterrupt:
        typer.echo("nashgraph reproduce: interrupted; the same command goes on where it stopped", err=True)
        raise SystemExit(INTERRUPTED) from None
    if not studies:
        raise InputError("nothing could be run: the data are not here")
    voice.say(verdict_table(studies))
    voice.say(f"Wrote CSV, SVG and Markdown of each, and REPRODUCTION.md, to {folder}/")
    voice.answer(
        {
            "out": str(folder),
            "verdicts": {name: study.verdict for name, study in studies.items()},
            "checks": {
                name: [{"claim": check.claim, "holds": check.holds, "detail": check.detail} for check in study.checks]
                for name, study in studies.items()
            },
            "left_out": left_out,
        }
    )
    return REFUSED if left_out else DONE


@contextmanager
def trial_bars(voice: Voice) -> Iterator[Callable[[str, int, int], object]]:
    """Give the function to tell how far an experiment is; a bar for each is drawn where somebody watches."""
    if not voice.animated:  # a bar that is disabled still prints an empty line before Rich 14.3
        yield lambda name, done, total: None
        return
    left = TextColumn("left"), TimeRemainingColumn()
    columns = (TextColumn("{task.description:>9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), *left)
    with Progress(*columns, console=voice.errors) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done)

        yield tell


def chosen_experiments(names: list[str]) -> list[str]:
    """Return the experiments named, each once; "all" is all of them."""
    unknown = [name for name in names if name not in (*EXPERIMENTS, ALL)]
    if unknown:
        raise typer.BadParameter(f"no such experiment: {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}, {ALL}")
    return list(EXPERIMENTS) if ALL in names else list(dict.fromkeys(names))


def verdict_table(studies: dict[str, Study]) -> Table:
    """Return the verdicts with the claims that do not hold."""
    table = Table(box=None, pad_edge=False)
    for heading in ("", "verdict", "claims that hold", "and those that do not"):
        table.add_column(heading, overflow="fold")
    for name, study in studies.items():
        failed = "; ".join(f"{check.claim} ({check.detail})" for check in study.checks if not check.holds)
        table.add_row(name, study.verdict, study.held, printable(failed))
    return table
