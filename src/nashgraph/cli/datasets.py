"""``nashgraph datasets``: which real data sets there are, where they are found, and how they are got."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..datasets import import_villages, load_karate
from ..datasets.networks import DOLPHINS, WIKI_VOTE
from ..datasets.store import find_home, load_tables
from ..datasets.villages import VILLAGES
from ..validation import check_choice

app = typer.Typer(help="List, fetch and import the real data sets.", rich_markup_mode=None)

SOURCES = {source.name: source for source in (DOLPHINS, *WIKI_VOTE.values(), VILLAGES)}

DataHome = Annotated[
    Path | None,
    typer.Option(help="Folder to look in first and to write to; NASHGRAPH_DATA and the user's cache come next."),
]


@app.callback(invoke_without_command=True)
def list_all(context: typer.Context, data_home: DataHome = None) -> None:
    """List the data sets: how large they are, where they are stored, and what to cite."""
    if context.invoked_subcommand is not None:
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "size", "found in"):
        table.add_column(heading, overflow="fold")
    karate = load_karate()
    size = f"{len(karate.names)} nodes, {karate.graph.number_of_edges()} edges"
    table.add_row(karate.name, size, "networkx")
    for source in SOURCES.values():
        table.add_row(source.name, source.size, str(find_home(source, data_home) or "not here"))
    Console().print(table)
    typer.echo("\nWhom to cite:")
    typer.echo(f"{karate.name}: {karate.citation}")
    for source in SOURCES.values():
        typer.echo(f"{source.name}: {source.citation}")


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help=f"Any of {', '.join(SOURCES)}.")], data_home: DataHome = None
) -> None:
    """Fetch data sets from their original sources, and check them; those already here are only checked."""
    for source in [SOURCES[check_choice("NAME", name, SOURCES)] for name in names]:
        with download_bar(source.archive) as progress:
            load_tables(source, data_home, progress=progress)
        typer.echo(f"{source.name}: in {find_home(source, data_home)}")


@app.command("import-villages")
def import_archive(
    archive: Annotated[Path, typer.Argument(help="The Dataverse's datav4.0.zip.")], data_home: DataHome = None
) -> None:
    """Turn the Dataverse's archive of the Indian villages into the compact files that load_villages reads."""
    typer.echo(f"{VILLAGES.name}: in {import_villages(archive, data_home)}")


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
