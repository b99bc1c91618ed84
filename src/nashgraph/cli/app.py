"""The commands and their options; what they do is in the other modules of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from .demo import run_demo

app = typer.Typer(no_args_is_help=True, help="Learn the network behind a table of signals.", rich_markup_mode=None)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nashgraph {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Learn the network behind a table of signals."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the edge list, the GraphML file and the figure.")] = Path(
        "demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the signals.")] = 0,
) -> None:
    """Learn Zachary's karate club from 50 signals, three ways, and compare with the true network."""
    try:
        run_demo(out, seed)
    except (OSError, ImportError) as error:
        typer.echo(f"nashgraph demo: {error}", err=True)
        raise typer.Exit(1) from error


def main() -> None:
    """Run the command line."""
    app()
