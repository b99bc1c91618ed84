"""The commands and their options; what they do is in the other modules of this folder, imported when one runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from .commands import EXIT_CODES, Command, Commands, choice, completing, grouped
from .options import (
    EXPERIMENTS,
    LEARNERS,
    METHOD,
    PANELS,
    ActArguments,
    CompareArguments,
    GameArguments,
    JobArguments,
    KnownArguments,
    LearnArguments,
    Out,
    PathArguments,
    SpeechArguments,
    TableArguments,
    output_option,
)
from .tie_options import AskArguments, CheckArguments, PlanArguments, TieArguments

# ruff: noqa: PLC0415 (a command imports what it needs when it runs, so that help and completion are quick)

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help="Learn the network behind a table: who is tied to whom, from what people answered or sensors read.",
    epilog=EXIT_CODES,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# These bring much of the library along: they are loaded when called.
Commands.later["datasets"] = "nashgraph.cli.datasets"
Command.panels = PANELS

MODEL_FILE = typer.Argument(help="A model.json, or the folder it is in.", metavar="MODEL", show_default=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nashgraph {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn the network behind a table: who is tied to whom, from what people answered or sensors read."""


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def learn(
    method: Annotated[str, choice(LEARNERS, rich_help_panel=METHOD, help="Method to learn with.")] = "consensus",
    *,
    game: LearnArguments,
    known: KnownArguments,
    told: TieArguments,
    asked: JobArguments,
) -> int:
    """Learn the network behind a table, and write it with a report.

    Nodes whose signals (answers, readings) are alike get a tie. The default
    method averages many such networks, so each tie has a frequency.

    If people told about their ties (how many, how many of a kind, names),
    declare these columns with --ties, --counts and --names: they tell far more
    than likeness, and every tie gets a probability (method ties).

    Optionally, a prior favours networks in which nodes gain from their
    neighbours' effort (--benefit). It is a game: every node chooses an action,
    and at the equilibrium nobody gains by another action. The welfare is what
    all actions are worth there.

    Example: nashgraph learn survey.csv --id household --drop village --missing impute --out graph
    """
    from .learn import run_learn

    return run_learn("learn", method, game, asked, ties=known, told=told)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def path(along: PathArguments, game: GameArguments, asked: JobArguments) -> int:
    """Learn with a range of strengths of the prior, show smoothness against welfare, and choose one.

    The smoothness cost J is low if tied nodes are alike. The welfare is what
    all actions are worth in a game on the network. The strongest prior that
    raises J by at most 0.1% is chosen.

    Example: nashgraph path survey.csv --id household --n-lams 10 --out front
    """
    from .learn import run_learn

    return run_learn("path", "glgp", game, asked, along)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def check(asked: CheckArguments) -> int:
    """Test whether a table holds anything that a network could be learned from.

    Answers are shuffled within every question, many times. If the real table
    is no more ordered than the shuffled ones, no method can find a network in
    it. Finding something does not prove ties: age can explain much.

    Example: nashgraph check survey.csv --id household
    """
    from .compare import run_check

    return run_check(asked)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def compare(game: GameArguments, asked: CompareArguments) -> int:
    """Compare several methods on one table, with scores if the true network is known.

    Without --truth there are no scores, only the welfare of a game on each
    network, which does not show which network is right.

    Example: nashgraph compare survey.csv --truth friends.csv --methods smooth,glgp,logdegree
    """
    from .compare import run_compare

    return run_compare(game, asked)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def show(
    model: Annotated[Path, MODEL_FILE],
    *,
    methods: Annotated[
        bool, typer.Option("--methods", help="Print a methods paragraph with versions and references, ready to paste.")
    ] = False,
    speech: SpeechArguments,
) -> int:
    """Print a learned model: its settings, its certificate, its most influential nodes and its strongest ties.

    Example: nashgraph show graph/model.json
    """
    from .show import run_show

    return run_show(model, speech, methods=methods)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def act(
    network: Annotated[
        Path,
        typer.Argument(
            help="Output of learn (a folder or its model.json), or any network: a table with the columns source, "
            "target and weight, a matrix, GraphML, GML or Pajek.",
            metavar="NETWORK",
            show_default=False,
        ),
    ],
    asked: ActArguments,
) -> int:
    """Interventions on a network: key players, support, ties to build or to watch, what if.

    All of it is about the game on the network: every node makes an effort, its
    action, for a benefit of its own, and more the more its neighbours do. The
    welfare is what all actions are worth. For a consensus, each answer shows how often it held across replicates.

    Example: nashgraph act graph --budget 10 --without ann
    """
    from .act import run_act

    return run_act(network, asked)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def ask(
    file: Annotated[
        Path,
        typer.Argument(
            help="A survey with one row per person, with --ties, --counts or --names; or the folder (or model.json) of "
            "a network learned from such a survey.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    *,
    told: TieArguments,
    table: TableArguments,
    asked: AskArguments,
) -> int:
    """Say whom to interview next about their ties: those not asked yet whose ties are least certain.

    These are people who are expected to have many ties. Use it to find central
    people; choose at random if you want the whole network. It also lists the
    counting questions that would teach most, out of the 0/1 columns nobody counted.

    Example: nashgraph ask survey.csv --ties n_friends --counts n_weavers=weaver --best 20
    """
    from .ask import run_ask

    return run_ask(file, told, table, asked)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def plan(given: PlanArguments) -> int:
    """Plan a survey about ties before there is any data: what asking so many people so many questions would buy.

    Networks like the one to be studied are drawn, people in them are asked,
    and what the tie model learns from their answers is compared with the network.

    Example: nashgraph plan --people 150 --ties 8 --asked 10,30,100 --questions 0,5,10 --out plan
    """
    from .ask import run_plan

    return run_plan(given)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def rerun(
    model: Annotated[Path, MODEL_FILE],
    *,
    given: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="The table, if it has moved.", show_default=False)
    ] = None,
    given_truth: Annotated[
        Path | None,
        typer.Option("--truth", metavar="EDGES", help="The true network, if it has moved.", show_default=False),
    ] = None,
    given_known: Annotated[
        Path | None,
        typer.Option("--known", metavar="TIES", help="The known ties, if they have moved.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Run even if the files have changed.")] = False,
    out: Out = Path("nashgraph-rerun"),
    speech: SpeechArguments,
) -> int:
    """Run a model.json again, and check that the graph is the same, bit by bit or within 1e-9.

    Example: nashgraph rerun graph/model.json --out again
    """
    from .show import run_rerun

    given_files = {"--input": given, "--truth": given_truth, "--known": given_known}
    return run_rerun(model, out, given=given_files, force=force, speech=speech)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def demo(
    *,
    out: Out = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random signals.")] = 0,
    speech: SpeechArguments,
) -> int:
    """Learn Zachary's karate club from 50 signals, four ways, and compare with the true network.

    Example: nashgraph demo --out demo
    """
    from .demo import run_demo

    return run_demo(out, seed, speech)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def reproduce(
    experiments: Annotated[
        list[str],
        typer.Argument(
            help="Experiments to run; all runs every one.",
            metavar=EXPERIMENTS,
            autocompletion=completing(EXPERIMENTS),
            show_default=False,
        ),
    ],
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Few trials, for a first look in under a minute.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=-1, help="Number of trials to run at the same time; -1 uses all cores.")
    ] = -1,
    data_home: Annotated[
        Path | None, typer.Option(help="Folder of the real data.", show_default="NASHGRAPH_DATA, then the user's cache")
    ] = None,
    out: Annotated[
        Path | None, output_option(help="Folder for the files.", show_default="results, or results/quick with --quick")
    ] = None,
    speech: SpeechArguments,
) -> int:
    """Run the paper's tables and figures again, and compare them with its numbers.

    Finished trials are stored, so the same command continues a run that was stopped.

    Example: nashgraph reproduce fig1 --quick
    """
    from .reproduce import run_reproduce

    return run_reproduce(experiments, out, seed=seed, quick=quick, jobs=jobs, data_home=data_home, speech=speech)


@app.command(cls=Command, epilog=EXIT_CODES)
@grouped
def ui(
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine.", show_default="one that is free")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser; else only print its address.")
    ] = True,
) -> int:
    """Learn a network in the browser: choose a file, check its columns, learn, and get the report.

    The page runs on this machine alone and needs no network. It shows the
    command that does the same. Its copies of your files are deleted when you
    stop it with Ctrl-C. Needs the extra ui.

    Example: nashgraph ui --port 8000
    """
    from .ui import run_ui

    return run_ui(port, browser)


@app.command(help="List, fetch and import the real data sets.")
def datasets() -> None:
    """Stand in the list of commands; the one that runs is loaded by ``Commands``."""


def main() -> None:
    """Run the command line."""
    # Worker processes must not import a random.py or numpy.py that lies in the current folder, beside the table.
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal has no letters for must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()
