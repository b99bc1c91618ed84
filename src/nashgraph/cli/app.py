"""The commands and their options; what they do is in the other modules of this folder, imported when one runs."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .. import __version__
from . import act_options, options, tie_options
from .commands import EXIT_CODES, Command, Commands, flat

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    epilog=EXIT_CODES,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
datasets = typer.Typer(help="List, fetch and import the real data sets.")
Command.panels = options.PANELS


def command(run: str, group: typer.Typer = app, **more: Any) -> Callable[[Callable[..., None]], Callable[..., int]]:
    """Make a command of a function that has the groups of options and the help; ``run`` is what does it."""

    def made(described: Callable[..., None]) -> Callable[..., int]:
        return group.command(cls=Command, epilog=EXIT_CODES, **more)(flat(described, f"nashgraph.cli.{run}"))

    return made


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nashgraph {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn the network behind a table: who is tied to whom, from what people answered or sensors read."""


@command("learn:run_learn")
def learn(
    chosen: options.MethodArguments,
    game: options.LearnArguments,
    told: tie_options.TieArguments,
    cluster: options.ClusterArguments,
    asked: options.JobArguments,
) -> None:
    """Learn the network behind a table, and write it with a report.

    Nodes whose signals (answers, readings) are alike get a tie. The default
    method averages many such networks, so each tie has a frequency.

    If people told about their ties (how many, how many of a kind, names),
    declare these columns with --n-ties, --counts and --names: they tell far more
    than likeness, and every tie gets a probability (method ties).

    Example: nashgraph learn survey.csv --id household --drop village --missing impute --out graph
    """


@command("reading:run_read")
def read(asked: tie_options.ReadArguments) -> None:
    """Read files as learn would, say how, and write the plan: a small file to look through and to change.

    Example: nashgraph read survey.csv --out study
    """


@command("learn:run_path")
def path(
    along: options.PathArguments,
    game: options.GameArguments,
    cluster: options.ClusterArguments,
    asked: options.JobArguments,
) -> None:
    """Learn with a range of strengths of the prior, show smoothness against welfare, and choose one.

    The smoothness cost J is low if tied nodes are alike. The welfare is what
    all actions are worth in a game on the network. The strongest prior that
    raises J by at most 0.1% is chosen.

    Example: nashgraph path survey.csv --id household --n-lams 10 --out front
    """


@command("compare:run_check")
def check(asked: options.FileArguments) -> None:
    """Test whether a table holds anything that a network could be learned from.

    Answers are shuffled within every question, many times. If the real table
    is no more ordered than the shuffled ones, no method can find a network in
    it. Finding something does not prove ties: age can explain much.

    Example: nashgraph check survey.csv --id household
    """


@command("compare:run_compare")
def compare(game: options.GameArguments, cluster: options.ClusterArguments, asked: options.CompareArguments) -> None:
    """Compare several methods on one table, with scores if the true network is known.

    Without --truth there are no scores, only the welfare of a game on each
    network, which does not show which network is right.

    Example: nashgraph compare survey.csv --truth friends.csv --methods smooth,glgp,logdegree
    """


@command("saved:run_show")
def show(asked: act_options.ShowArguments) -> None:
    """Print a learned model: its settings, its certificate, its most influential nodes and its strongest ties.

    Example: nashgraph show graph/model.json
    """


@command("saved:run_act")
def act(asked: act_options.ActArguments) -> None:
    """Interventions on a network: key players, support, ties to build or to watch, what if.

    All questions are about the game on the network. Every node chooses an action, an
    effort. A node does more if its benefit is larger or its neighbours do more. The
    welfare is what all actions are worth. For a consensus, each answer shows how often it held across replicates.

    Example: nashgraph act graph --budget 10 --without ann
    """


@command("peer_effects:run_fit_game", name="fit-game")
def fit_game(asked: act_options.FitGameArguments) -> None:
    """Fit the game to what people do: how much more somebody does because neighbours do more.

    People match by name. For a network learned from questions about ties, the
    fit averages over draws of the network. The peer effect is causal only if
    the network is exogenous: see the guide to peer effects. act --game plays the fit.

    Example: nashgraph fit-game graph actions.csv --action savings --covariates age,land
    """


@command("ask:run_ask")
def ask(asked: tie_options.AskArguments) -> None:
    """Say whom to interview next about their ties: those not asked yet whose ties are least certain.

    These are people who are expected to have many ties. Use it to find central
    people; choose at random if you want the whole network. It also lists the
    counting questions that would teach most, out of the 0/1 columns nobody counted.

    Example: nashgraph ask survey.csv --n-ties n_friends --counts n_weavers=weaver --best 20
    """


@command("ask:run_plan")
def plan(asked: tie_options.PlanArguments) -> None:
    """Plan a survey about ties before there is any data: what asking so many people so many questions would buy.

    Networks like the one to be studied are drawn, people in them are asked,
    and what the tie model learns from their answers is compared with the network.

    Example: nashgraph plan --people 150 --ties 8 --asked 10,30,100 --questions 0,5,10 --out plan
    """


@command("saved:run_rerun")
def rerun(asked: act_options.RerunArguments) -> None:
    """Run a model.json again, and check that the graph is the same, bit by bit or within 1e-9.

    Example: nashgraph rerun graph/model.json --out again
    """


@command("demo:run_demo")
def demo(asked: options.DemoArguments) -> None:
    """Learn a simulated village from questions about ties and the karate club from signals; compare with the truth.

    Example: nashgraph demo --out demo
    """


@command("ui:run_ui")
def ui(asked: options.ServerArguments) -> None:
    """Learn a network in the browser: choose a file, check its columns, learn, and get the report.

    The page runs on this machine alone and needs no network. It shows the
    command that does the same. Its copies of your files are deleted when you
    stop it with Ctrl-C. Needs the extra ui.

    Example: nashgraph ui --port 8000
    """


@datasets.callback(invoke_without_command=True)
def list_all(context: typer.Context) -> None:
    """List the data sets: how large they are, where they are stored, and what to cite."""
    if context.invoked_subcommand is None:
        from .data import list_datasets  # noqa: PLC0415 (help and completion stay fast)

        list_datasets()


@command("data:run_fetch", datasets)
def fetch(asked: options.FetchArguments) -> None:
    """Fetch data sets from their original sources, and check them; those already here are only checked."""


@command("data:run_import", datasets, name="import-villages")
def import_villages(asked: options.ImportArguments) -> None:
    """Turn the Dataverse's archive of the Indian villages into the compact files that load_villages reads."""


app.add_typer(datasets, name="datasets")


def main() -> None:
    """Run the command line."""
    # Worker processes must not import a random.py or numpy.py in the current folder, next to the table.
    os.environ["PYTHONSAFEPATH"] = "1"
    # The libraries make some hundred thousand objects when they are imported, all of which stay: looking through them
    # for garbage again and again takes a sixth of a short run.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal has no letters for must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()
