"""``nashgraph datasets``: the data sets of the examples and of the paper."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from ..datasets import import_villages, load_karate
from ..datasets.networks import DOLPHINS, WIKI_VOTE
from ..datasets.store import find_home, load_tables
from ..datasets.villages import VILLAGES
from ..validation import check_choice
from .commands import DONE
from .messages import Voice, tallied
from .options import FetchArguments, ImportArguments

SOURCES = {source.name: source for source in (DOLPHINS, *WIKI_VOTE.values(), VILLAGES)}


def list_datasets() -> None:
    """List the data sets: how large they are, where they are stored, and what to cite."""
    karate = load_karate()
    table = Table("name", "size", "found in", box=None, pad_edge=False)
    table.add_row(karate.name, f"{len(karate.names)} nodes, {karate.graph.number_of_edges()} edges", "networkx")
    for source in SOURCES.values():
        table.add_row(source.name, source.size, str(find_home(source) or "not here"))
    Console().print(table)
    typer.echo(f"\nWhom to cite:\n{karate.name}: {karate.citation}")
    for source in SOURCES.values():
        typer.echo(f"{source.name}: {source.citation}")


def run_fetch(asked: FetchArguments) -> int:
    """Fetch data sets and say where they are."""
    for source in [SOURCES[check_choice("NAME", name, SOURCES)] for name in asked.names]:
        with tallied(Voice(), source.archive) as progress:
            load_tables(source, asked.place.data_home, progress=progress)
        typer.echo(f"{source.name}: in {find_home(source, asked.place.data_home)}")
    return DONE


def run_import(asked: ImportArguments) -> int:
    """Import the villages and say where they are."""
    typer.echo(f"{VILLAGES.name}: in {import_villages(asked.archive, asked.place.data_home)}")
    return DONE
