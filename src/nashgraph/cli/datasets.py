"""``nashgraph datasets``: which real data sets there are, where they are found, and how they are got."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..datasets import import_villages, load_karate
from ..datasets.networks import DOLPHINS, WIKI_VOTE
from ..datasets.store import find_home, load_tables
from ..datasets.villages import VILLAGES
from ..validation import check_choice
from .commands import DONE
from .options import FetchArguments, ImportArguments

SOURCES = {source.name: source for source in (DOLPHINS, *WIKI_VOTE.values(), VILLAGES)}


def list_datasets(data_home: Path | None) -> None:
    """List the data sets: how large they are, where they are stored, and what to cite."""
    karate = load_karate()
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "size", "found in"):
        table.add_column(heading, overflow="fold")
    table.add_row(karate.name, f"{len(karate.names)} nodes, {karate.graph.number_of_edges()} edges", "networkx")
    for source in SOURCES.values():
        table.add_row(source.name, source.size, str(find_home(source, data_home) or "not here"))
    Console().print(table)
    typer.echo(f"\nWhom to cite:\n{karate.name}: {karate.citation}")
    for source in SOURCES.values():
        typer.echo(f"{source.name}: {source.citation}")


def run_fetch(asked: FetchArguments) -> int:
    """Fetch data sets and say where they are."""
    for source in [SOURCES[check_choice("NAME", name, SOURCES)] for name in asked.names]:
        with download_bar(source.archive) as progress:
            load_tables(source, asked.data_home, progress=progress)
        typer.echo(f"{source.name}: in {find_home(source, asked.data_home)}")
    return DONE


def run_import(asked: ImportArguments) -> int:
    """Import the villages and say where they are."""
    typer.echo(f"{VILLAGES.name}: in {import_villages(asked.archive, asked.data_home)}")
    return DONE


@contextmanager
def download_bar(name: str) -> Iterator[Callable[[int, int], object]]:
    """Draw a bar while a file comes, on the standard error and only where somebody watches."""
    console = Console(stderr=True)
    if not console.is_terminal:  # a bar that is disabled still prints an empty line before Rich 14.3
        yield lambda done, total: None
        return
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
