"""The options of the commands, in groups; an option is one field.

What a method takes, what a job records and what is shown follow from the fields.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import typer

from .commands import EVERY, argument, choice, completing, option, setting

if TYPE_CHECKING:
    from ..io import TableOptions
    from .messages import Voice

METHODS = "nashgraph.estimators:METHODS"
LEARNERS = "nashgraph.estimators:LEARNERS"
INTERACTIONS = "nashgraph.games.interactions:INTERACTIONS"
WELFARES = "nashgraph.games.welfares:WELFARES"
RESPONDS = "How a node's action responds to its neighbours' actions."
VALUED = "How the actions of all nodes are valued."
BENEFITS = ("spectral", "uniform", "none")
# Options of a table that are lines of its plan, or the questionnaire.
LINES = ("place", "weight", "form", "wave", "label", "relation", "rows", "repeats", "only")
DASK = "dask"  # the engine that a cluster is; the engines are not loaded for a help text
# The groups of options in the help, in this order.
PANELS = TABLE, FORMAT, TOLD, METHOD, SINGLE, KNOWN, TRUTH, ADVICE, CHANGE, OUTPUT, ENGINE = (
    "The table",
    "How the file is written",
    "What people told about ties",
    "The method",
    "Settings of single methods",
    "Known ties",
    "A true network",
    "Interventions",
    "What if",
    "Output",
    "Where it runs",
)

table_option, told_option, method_option, known_option, truth_option, advice_option, change_option, output_option = (
    functools.partial(option, rich_help_panel=panel)
    for panel in (TABLE, TOLD, METHOD, KNOWN, TRUTH, ADVICE, CHANGE, OUTPUT)
)
table_setting, format_setting, told_setting, method_setting, single_setting, output_setting, engine_setting = (
    functools.partial(setting, rich_help_panel=panel) for panel in (TABLE, FORMAT, TOLD, METHOD, SINGLE, OUTPUT, ENGINE)
)
every_option = functools.partial(option, rich_help_panel=EVERY, hidden=True)


# ruff: noqa: RUF009 (what these functions return is a field of a dataclass)


@dataclass(frozen=True)
class SpeechArguments:
    """Options about what is printed."""

    quiet: bool = every_option("--quiet", "-q", default=False, help="Print errors only.")
    json: bool = every_option(
        "--json", default=False, help="Print one JSON object, also for errors; all other text goes to stderr."
    )
    verbose: bool = every_option("--verbose", "-v", default=False, help="Print all notes and figures.")
    debug: bool = every_option("--debug", default=False, help="Show the traceback of an error.")

    def voice(self, *, brief: bool = False) -> Voice:
        """Return what prints as asked; ``brief`` leaves notes to the report unless --verbose asks for them."""
        from .messages import Voice  # noqa: PLC0415 (help and completion stay fast)

        return Voice(quiet=self.quiet, as_json=self.json, brief=brief and not self.verbose)


@dataclass(frozen=True)
class TableArguments:
    """Options about the file and the signals in it."""

    nodes: Literal["rows", "columns"] = table_setting(
        metavar="[rows|columns]", default="rows", help="What the nodes are: rows (a survey) or columns (recordings)."
    )
    id: str | None = table_option(
        metavar="COLUMN",
        help="Column that names the rows; none uses row numbers.",
        show_default="a column called id, name or node, or one whose values are clearly names",
    )
    drop: list[str] | None = table_option(metavar="COLUMN,...", help="Columns to leave out.")
    keep: list[str] | None = table_setting(
        metavar="COLUMN,...",
        help="Columns to use as numbers even if they look like ids, or have extreme values or codes.",
    )
    categorical: list[str] | None = table_setting(
        metavar="COLUMN,...|none",
        help="Columns to code as 0/1 signals, one per value, in addition to text columns. Put none first to code "
        "only these.",
    )
    ordinal: list[str] | None = table_setting(
        metavar="COLUMN,...[=LEVEL<LEVEL...]",
        help="Columns with ordered levels, to be numbered. Common orders are known (never, rarely, often; 18-25, "
        "26-40); give others from the lowest to the highest.",
    )
    na: list[str] | None = table_setting(
        metavar="[COLUMN=]VALUE,...|none",
        help="Values that mean missing, in addition to empty cells, NA and clear codes (-99, refused). Put none "
        "first to use only these.",
    )
    missing: Literal["auto", "error", "pairwise", "impute"] = table_option(
        metavar="[auto|error|pairwise|impute]",
        default="auto",
        help="Missing values: compare nodes on what both have (pairwise), fill in from similar nodes (impute), or "
        "stop (error). auto is pairwise if the method allows it, else impute.",
    )
    standardize: bool | None = table_setting(
        help="Scale every signal to mean 0 and standard deviation 1 over the nodes.",
        show_default="on if nodes are rows, or if signals differ much in spread",
    )
    place: list[str] | None = table_option(
        metavar="COLUMN,...", help="Columns that say where people live: coordinates or numbers of houses."
    )
    weight: str | None = table_option(metavar="COLUMN", help="Column of sampling weights, which is then not an answer.")
    form: Path | None = table_option(
        metavar="FILE", help="Questionnaire: an XLSForm (Kobo, ODK) or a data dictionary of REDCap."
    )
    wave: str | None = table_setting(metavar="COLUMN", help="Column that tells waves of a panel apart.")
    label: list[str] | None = table_setting(metavar="COLUMN,...", help="Columns with other names of the person.")
    relation: str | None = table_setting(metavar="COLUMN", help="Column that says which relation a reported tie is.")
    rows: str | None = table_setting(
        metavar="KIND", help="What a row is: people, answers, events, reports, members, waves, columns or matrix."
    )
    repeats: Literal["first", "last", "mean", "separate"] | None = table_setting(
        metavar="[first|last|mean|separate]", help="Which row counts if a person has several."
    )
    only: str | None = table_setting(metavar="COLUMN=VALUE", help="Use only the rows that have this value.")
    long: bool = format_setting(default=False, help="Each row is one answer: who, question, answer.")
    separator: str | None = format_setting(metavar="CHARACTER", help="Field separator.", show_default="detected")
    encoding: str | None = format_setting(help="Text encoding.", show_default="UTF-8, else guessed")
    decimal: Literal[".", ","] = format_setting(metavar="[.|,]", default=".", help="Decimal mark.")
    thousands: str | None = format_setting(
        metavar="CHARACTER", help="Thousands separator.", show_default="detected if clear"
    )
    header: bool = format_setting(default=True, help="The first line names the columns.")
    sheet: str | None = format_setting(help="Sheet of an Excel file.", show_default="the first")
    array: str | None = format_setting(help="Array of an NPZ file that has several.")
    max_cells: int = format_setting(default=50_000_000, help="Refuse tables with more cells than this.")

    def options(self, benefit: str | None) -> TableOptions:
        """Return these choices; a benefit that is not a name of one is a column."""
        from ..io import TableOptions  # noqa: PLC0415 (help and completion stay fast)
        from ..validation import InputError  # noqa: PLC0415

        lists = ("drop", "keep", "categorical", "ordinal", "na")
        given = {name: value for name, value in vars(self).items() if name not in LINES} | {
            **{name: tuple(getattr(self, name) or ()) for name in lists},
            "separator": {"tab": "\t", "\\t": "\t"}.get(self.separator or "", self.separator),
            "benefit": None if benefit in BENEFITS else benefit,
        }
        try:
            return TableOptions(**given)
        except InputError as error:
            raise typer.BadParameter(str(error)) from error

    def lines(self) -> dict[str, Any]:
        """Return the lines of the plan that were given, and the questionnaire."""
        given = {name: getattr(self, name) for name in LINES}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class GameArguments:
    """Parameters of the methods that have an option of their own; None leaves one to the method."""

    degree: float | None = method_option(
        help="Mean number of ties per node. For the consensus it only sets how many ties are written.",
        show_default="10; for the consensus 6, a convention",
    )
    beta: float | None = single_setting(
        help="Weight of the squared norm, instead of --degree: larger means more neighbours."
    )
    c: float | None = single_setting(help="Total weight of a node's ties, between 0 and 1.", show_default="0.95")
    interaction: str | None = choice(
        INTERACTIONS, make=setting, rich_help_panel=SINGLE, help=RESPONDS, show_default="log1p"
    )
    welfare: str | None = choice(WELFARES, make=setting, rich_help_panel=SINGLE, help=VALUED, show_default="total")
    benefit: str | None = single_setting(
        metavar="COLUMN|spectral|uniform|none",
        help="A prior favours networks in which nodes gain from their neighbours' effort, in a game: every node "
        "chooses an action, at the equilibrium nobody gains by another one, and the welfare is what all actions are "
        "worth there. This is the benefit of each node from its own action: a column of numbers (which is then not a "
        "signal), or a rule; none switches the prior off.",
        show_default="none for the consensus, else spectral",
        autocompletion=completing(BENEFITS),
    )
    engine: str | None = choice(
        "nashgraph.pairs.engines:ENGINES",
        make=setting,
        rich_help_panel=ENGINE,
        help="What searches all pairs of nodes: the processor, a GPU or a cluster.",
        show_default="threads",
    )
    random_state: int | None = method_option("--seed", min=0, help="Seed of the random numbers.", show_default="0")

    def parameters(self) -> dict[str, Any]:
        """Return what was given."""
        if self.beta is not None and self.degree is not None:
            raise typer.BadParameter("--set beta and --degree both set the number of neighbours: give one of them")
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class LearnArguments(GameArguments):
    """The same, and what only some methods have: the strength of a prior, replicates of the signals."""

    lam: float | None = single_setting(
        help="Strength of the prior.", show_default="the strongest that raises the smoothness cost J by at most 0.1%"
    )
    prior: str | None = choice(
        "nashgraph.priors.by_name:PRIORS",
        make=setting,
        rich_help_panel=SINGLE,
        help="Prior for --method glgp; --set benefit gives each node's gain, infection rate or start.",
        show_default="game",
    )
    n_replicates: int | None = method_setting(
        min=0,
        help="Networks that the consensus learns from halves of the signals, for intervals; 0 gives none.",
        show_default="20",
    )


AnyGame = TypeVar("AnyGame", bound=GameArguments)


@dataclass(frozen=True)
class PathArguments:
    """Options on the strengths of the prior along a path."""

    lams: str | None = method_option(metavar="NUMBER,...", help="Strengths of the prior.", show_default="found")
    n_lams: int = method_option(default=20, min=2, help="Number of strengths to find.")

    def parameters(self) -> dict[str, Any]:
        """Return those given, or how many to find."""
        if self.lams is None:
            return {"n_lams": self.n_lams}
        return {"lams": numbers_of("--lams", self.lams, float)}


@dataclass(frozen=True)
class ClusterArguments:
    """Options about a cluster that searches the pairs of nodes, or learns many small networks."""

    scheduler: str | None = engine_setting(
        metavar="ADDRESS", help="Scheduler of a Dask cluster to run on: tcp://HOST:8786."
    )
    workers: int | None = engine_setting(min=1, max=1024, help="Number of worker processes to start on this machine.")

    def settled(self, game: AnyGame) -> AnyGame:
        """Return the parameters with the engine that a cluster asks for."""
        if self.scheduler is None and self.workers is None:
            return game
        if self.scheduler is not None and self.workers is not None:
            raise typer.BadParameter("--set scheduler names a cluster and --set workers starts one: give one of them")
        if game.engine not in (None, DASK):
            raise typer.BadParameter(f"scheduler and workers ask for --set engine={DASK}, not {game.engine}")
        return replace(game, engine=DASK)

    @contextmanager
    def opened(self, game: GameArguments, voice: Voice) -> Iterator[None]:
        """Have the cluster for a while, where there is to be one."""
        with ExitStack() as stack:
            if game.engine == DASK:
                from ..pairs.cluster.client import cluster  # noqa: PLC0415
                from .messages import engine_noted  # noqa: PLC0415

                with engine_noted(voice):
                    stack.enter_context(cluster(self.scheduler, self.workers))
            yield


@dataclass(frozen=True)
class FileArguments:
    """What every command about a table needs: the file, how to read it, a true network, what to print."""

    table: TableArguments
    speech: SpeechArguments
    file: Path = argument(
        "FILE", "Table with one row per node: CSV, Excel, Parquet, Feather, JSON, Stata, SPSS or NumPy, or .gz, .zip."
    )
    truth: Path | None = truth_option(
        metavar="EDGES",
        help="True network, for scores: a table with the columns source and target, a matrix with names, GraphML, "
        "GML, Pajek or DL.",
    )
    truth_directed: bool = setting(rich_help_panel=TRUTH, default=False, help="Ties in --truth have directions.")


@dataclass(frozen=True)
class CompareArguments(FileArguments):
    """Further options of compare."""

    methods: list[str] | None = method_option(
        metavar="METHOD,...",
        help="Methods to compare.",
        show_default="all that are fast for this many nodes",
        autocompletion=completing(METHODS),
    )
    out: Path | None = output_option(help="Folder for compare.csv.", show_default="none is written")


def complete_setting(incomplete: str) -> list[str]:
    """Return what completes NAME=VALUE of --set."""
    name, mark, start = incomplete.partition("=")
    groups = (TableArguments, LearnArguments, ClusterArguments, JobArguments)
    settings = {
        each.name: each.metadata["setting"] for group in groups for each in fields(group) if "setting" in each.metadata
    }
    if not mark:
        return [f"{known}=" for known in settings if known.startswith(name)]
    complete = settings.get(name, {}).get("autocompletion")
    if complete is None:
        return []
    return [f"{name}={value}" for value in complete(start)]


@dataclass(frozen=True)
class JobArguments(FileArguments):
    """Further options of learn and path: settings, and what to write."""

    group: str | None = table_option(metavar="COLUMN", help="Learn one network for each value of this column.")
    settings: list[str] | None = method_option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting, line of the plan or parameter of the method, for example tol=1e-8.",
        autocompletion=complete_setting,
    )
    out: Path = output_option(default=Path("nashgraph-out"), help="Folder for the files.")
    force: bool = output_option("--force", default=False, help="Write over the network of another table.")
    anonymous: bool = output_option(
        "--anonymous",
        default=False,
        help="Put codes in place of ids in all files, without free texts, places and telephone numbers; key.csv says "
        "who is who.",
    )
    formats: str | None = output_setting(
        metavar="graphml,json|none", help="Graph files to add.", show_default="both for up to 2,000 nodes"
    )
    undirected: bool = output_setting(
        default=False, help="Write ties without directions, with the mean weight of both."
    )
    false_edges: float | None = output_setting(
        metavar="NUMBER",
        min=0.0,
        help="Consensus only: also write selected.csv, the ties that random halves of the signals agree on, with "
        "at most this many expected by chance (for example 5). Takes five times as long.",
    )
    least_frequency: float | None = output_setting(
        min=0,
        max=1,
        help="Consensus only: write ties found in at least this share of the member networks; 0 writes all.",
        show_default="as many ties as --degree says",
    )
    layout_of: Path | None = output_setting(
        metavar="FOLDER", help="Draw every node where the report in this folder draws it, to compare two pictures."
    )
    title: str = output_setting(default="", help="Title of the report.", show_default="the file's name")
    interventions: bool = output_setting(
        default=False,
        help="Add key players, support, ties and seeds to the report (nashgraph act can also do it later).",
    )


@dataclass(frozen=True)
class MethodArguments:
    """The method of learn, and ties that are known already."""

    method: str = choice(
        LEARNERS,
        also=("auto",),
        default="auto",
        rich_help_panel=METHOD,
        help="Method to learn with. auto is the tie model (ties) if the table tells of ties, else the consensus.",
    )
    known: Path | None = known_option(
        metavar="TIES",
        help="Known ties, for the tie model: a table with the columns source and target and, if it lists non-ties, "
        "tie (1 or 0). The target * means that all ties of the source are known. Also a matrix, GraphML, GML, Pajek "
        "or DL.",
    )


@dataclass(frozen=True)
class DemoArguments:
    """The options of demo."""

    speech: SpeechArguments
    out: Path = output_option(default=Path("demo"), help="Folder for the files.")
    seed: int = option(default=0, min=0, max=2**32 - 1, help="Seed of the random signals.")


@dataclass(frozen=True)
class DataArguments:
    """Where data sets are written to."""

    data_home: Path | None = option(
        help="Folder to look in first and to write to; NASHGRAPH_DATA and the user's cache come next."
    )


@dataclass(frozen=True)
class FetchArguments:
    """The options of datasets fetch."""

    place: DataArguments
    names: list[str] = argument("NAME...", "Data sets to fetch, by the names that nashgraph datasets lists.")


@dataclass(frozen=True)
class ImportArguments:
    """The options of datasets import-villages."""

    place: DataArguments
    archive: Path = argument("ARCHIVE", "The Dataverse's datav4.0.zip.")


@dataclass(frozen=True)
class ServerArguments:
    """The options of ui."""

    port: int = option(default=0, min=0, max=65535, help="Port on this machine.", show_default="one that is free")
    browser: bool = option(
        "--browser/--no-browser", default=True, help="Open the page in the browser; else only print its address."
    )


def numbers_of(option: str, text: str, kind: type[float] | type[int]) -> list[Any]:
    """Return the numbers in a list with commas."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise typer.BadParameter(f"{option} {text} must be {what} with commas between, for example 1,5,10") from None
