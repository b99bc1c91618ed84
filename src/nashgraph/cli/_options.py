"""The options of the commands, in groups; an option is one field.

What a method takes, what a job records and what is shown follow from the fields.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from ._groups import choice, completing
from ._running import Voice, engine_said

if TYPE_CHECKING:
    from ..tables import TableOptions

METHODS = "nashgraph.estimators:METHODS"
EXPERIMENTS = "nashgraph.experiments:EXPERIMENTS"
BENEFITS = ("own", "spectral", "uniform", "none")
DASK = "dask"  # the engine that a cluster is; the engines are not loaded for a help text
RENAMED = {"random_state": "seed"}  # parameters whose option has another name
TABLE, METHOD, KNOWN, TRUTH, OUTPUT = "The table", "The method", "Known ties", "A true network", "Output"
ADVICE, CHANGE = "The advice", "What if"

table_option, method_option, known_option, truth_option, output_option, advice_option, change_option = (
    functools.partial(typer.Option, rich_help_panel=panel)
    for panel in (TABLE, METHOD, KNOWN, TRUTH, OUTPUT, ADVICE, CHANGE)
)
registered_option = functools.partial(choice, rich_help_panel=METHOD)

File = Annotated[
    Path,
    typer.Argument(
        help="Table of signals: CSV, Excel, Parquet, Feather, JSON, Stata, SPSS or NumPy; .gz and .zip of these.",
        metavar="FILE",
        show_default=False,
    ),
]
Out = Annotated[Path, output_option(help="Folder for the files.")]


@dataclass(frozen=True)
class SpeechArguments:
    """Options on what is printed."""

    quiet: Annotated[bool, output_option("--quiet", "-q", help="Print errors only.")] = False
    json: Annotated[bool, output_option("--json", help="Print one JSON object, errors too; words go to stderr.")] = (
        False
    )
    debug: Annotated[bool, output_option("--debug", help="Show the trace of an error.")] = False

    def voice(self) -> Voice:
        """Return what speaks as asked."""
        return Voice(quiet=self.quiet, as_json=self.json)


@dataclass(frozen=True)
class TableArguments:
    """Options about the file and the signals in it."""

    nodes: Annotated[
        Literal["rows", "columns"],
        table_option(metavar="[rows|columns]", help="What a node is: a row (a survey) or a column (recordings)."),
    ] = "rows"
    id: Annotated[
        str | None,
        table_option(
            metavar="COLUMN",
            help="Column that names the rows; none takes row numbers.",
            show_default="one called id, name or node, or that plainly names them",
        ),
    ] = None
    drop: Annotated[
        list[str] | None, table_option(metavar="COLUMN,...", help="Columns to leave out; may be repeated.")
    ] = None
    keep: Annotated[
        list[str] | None,
        table_option(
            metavar="COLUMN,...",
            help="Columns to take as the numbers they are, though they look like ids or have absurd values or codes.",
        ),
    ] = None
    categorical: Annotated[
        list[str] | None,
        table_option(
            metavar="COLUMN,...|none",
            help="Columns to code as signals of 0 and 1, one per value, besides those of text; none: only these.",
        ),
    ] = None
    ordinal: Annotated[
        list[str] | None,
        table_option(
            metavar="COLUMN,...[=LEVEL<LEVEL...]",
            help="Columns of levels to number in their order: a known one (never, rarely, often; 18-25, 26-40), or as "
            "given from the lowest up; may be repeated.",
        ),
    ] = None
    na: Annotated[
        list[str] | None,
        table_option(
            metavar="[COLUMN=]VALUE,...|none",
            help="What stands for a missing value besides empty cells, NA and what plainly is a code (-99, refused); "
            "none: only these.",
        ),
    ] = None
    missing: Annotated[
        Literal["error", "pairwise", "impute"],
        table_option(
            metavar="[error|pairwise|impute]",
            help="Missing values: refuse them, compare nodes over what both have, or fill in from the nearest.",
        ),
    ] = "error"
    standardize: Annotated[
        bool | None,
        table_option(
            "--standardize/--no-standardize",
            help="Bring every signal to mean 0 and spread 1 over the nodes.",
            show_default="for nodes in rows, and for uneven spreads",
        ),
    ] = None
    long: Annotated[bool, table_option("--long", help="A row is one answer: who, the question, the answer.")] = False
    separator: Annotated[str | None, table_option(metavar="CHARACTER", help="Of a text file; found if not given.")] = (
        None
    )
    encoding: Annotated[str, table_option(help="Of a text file.")] = "utf-8"
    decimal: Annotated[Literal[".", ","], table_option(metavar="[.|,]", help="Decimal mark.")] = "."
    thousands: Annotated[
        str | None,
        table_option(
            metavar="CHARACTER", help="Mark between groups of three digits; understood where it can be nothing else."
        ),
    ] = None
    header: Annotated[bool, table_option("--header/--no-header", help="Whether the first line names the columns.")] = (
        True
    )
    sheet: Annotated[str | None, table_option(help="Of an Excel file; the first if not given.")] = None
    array: Annotated[str | None, table_option(help="Of an NPZ file with several.")] = None

    def options(self, benefit: str | None) -> TableOptions:
        """Return these choices; a benefit that is not a name of one is a column."""
        from ..tables import TableOptions  # noqa: PLC0415 (help and completion stay fast)
        from ..validation import InputError  # noqa: PLC0415

        lists = ("drop", "keep", "categorical", "ordinal", "na")
        given = vars(self) | {
            **{name: tuple(getattr(self, name) or ()) for name in lists},
            "separator": {"tab": "\t", "\\t": "\t"}.get(self.separator or "", self.separator),
            "benefit": None if benefit in BENEFITS else benefit,
        }
        try:
            return TableOptions(**given)
        except InputError as error:
            raise typer.BadParameter(str(error)) from error


@dataclass(frozen=True)
class GameArguments:
    """Parameters of the methods that have an option of their own; None leaves one to the method."""

    degree: Annotated[
        float | None,
        method_option(help="Mean number of neighbours wanted; the consensus needs none.", show_default="10"),
    ] = None
    beta: Annotated[
        float | None,
        method_option(help="What spreads weight over more neighbours, instead of a degree.", show_default=False),
    ] = None
    c: Annotated[
        float | None, method_option("--c", help="Total influence of others on a node, below 1.", show_default="0.95")
    ] = None
    interaction: Annotated[
        str | None,
        registered_option(
            "nashgraph.games.interactions:INTERACTIONS",
            help="How the actions (efforts) of neighbours feed one's own.",
            show_default="log1p",
        ),
    ] = None
    welfare: Annotated[
        str | None,
        registered_option(
            "nashgraph.games.welfares:WELFARES",
            help="What the actions (efforts) of all are worth.",
            show_default="total",
        ),
    ] = None
    benefit: Annotated[
        str | None,
        method_option(
            metavar="COLUMN|own|spectral|uniform|none",
            help="What acting is worth to a node by itself: a column of numbers (no signal then), or a rule; none "
            "leaves the prior out.",
            show_default="own for the consensus, else spectral",
            autocompletion=completing(BENEFITS),
        ),
    ] = None
    engine: Annotated[
        str | None,
        registered_option(
            "nashgraph.pairs.engines:ENGINES",
            help="Where the signals live, and who goes through all pairs of nodes.",
            show_default="threads",
        ),
    ] = None
    random_state: Annotated[
        int | None, method_option("--seed", min=0, help="Seed of all that is drawn.", show_default="0")
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return what was given."""
        if self.beta is not None and self.degree is not None:
            raise typer.BadParameter("--beta and --degree both set the number of neighbours: give one of them")
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class LearnArguments(GameArguments):
    """The same, and what only some methods have: the strength of a prior, resamples of the signals."""

    lam: Annotated[
        float | None,
        method_option(
            help="Strength of the prior, the belief that the network serves those in it.",
            show_default="what costs a thousandth of the smoothness J",
        ),
    ] = None
    resamples: Annotated[
        int | None,
        method_option(
            min=0, help="How often the consensus weighs the signals anew; 0: no intervals.", show_default="20"
        ),
    ] = None


AnyGame = TypeVar("AnyGame", bound=GameArguments)


@dataclass(frozen=True)
class PathArguments:
    """Options on the strengths of the prior along a path."""

    lams: Annotated[
        str | None, method_option(metavar="NUMBER,...", help="Strengths of the prior; found if not given.")
    ] = None
    n_lams: Annotated[int, method_option(min=2, help="How many to find.")] = 20

    def parameters(self) -> dict[str, Any]:
        """Return those given, or how many to find."""
        if self.lams is None:
            return {"n_lams": self.n_lams}
        try:
            return {"lams": [float(part) for part in self.lams.split(",")]}
        except ValueError as error:
            raise typer.BadParameter(
                f"--lams {self.lams} must be numbers with commas between, for example 0.1,1,10"
            ) from error


@dataclass(frozen=True)
class KnownArguments:
    """Options about ties that are known already, here or elsewhere."""

    known: Annotated[
        Path | None,
        known_option(
            metavar="TIES",
            help="Ties that are known: a table with the columns source, target (or from, to) and, where there are "
            "non-ties, tie (1 or 0); the target * says that all ties of the source are known. Or a matrix, GraphML, "
            "GML or Pajek. Adds probabilities.",
        ),
    ] = None
    known_from: Annotated[
        Path | None,
        known_option(
            metavar="MODEL", help="What the known ties of another table taught: the model.json of a run with --known."
        ),
    ] = None


@dataclass(frozen=True)
class TruthArguments:
    """Options about a true network to score against."""

    truth: Annotated[
        Path | None,
        truth_option(
            metavar="EDGES",
            help="The true network: a table with the columns source and target (or from and to), a matrix with names "
            "on both sides, GraphML, GML or Pajek. Adds scores.",
        ),
    ] = None
    truth_directed: Annotated[bool, truth_option("--truth-directed", help="The edges of a table have directions.")] = (
        False
    )


@dataclass(frozen=True)
class ClusterArguments:
    """Options about a cluster that goes through the pairs of nodes, or learns small networks whole."""

    scheduler: Annotated[
        str | None,
        method_option(metavar="ADDRESS", help="Dask cluster that does it, by its scheduler: tcp://HOST:8786."),
    ] = None
    workers: Annotated[
        int | None,
        method_option(min=1, help="So many processes on this machine that do it, as a cluster."),
    ] = None

    def settled(self, game: AnyGame) -> AnyGame:
        """Return the parameters with the engine that a cluster asks for."""
        if self.scheduler is None and self.workers is None:
            return game
        if self.scheduler is not None and self.workers is not None:
            raise typer.BadParameter("--scheduler names a cluster and --workers starts one: give one of them")
        if game.engine not in (None, DASK):
            raise typer.BadParameter(f"--scheduler and --workers ask for --engine {DASK}, not {game.engine}")
        return replace(game, engine=DASK)

    @contextmanager
    def opened(self, game: GameArguments, voice: Voice) -> Iterator[None]:
        """Have the cluster for a while, where there is to be one."""
        with ExitStack() as stack:
            if game.engine == DASK:
                from ..pairs.cluster.client import cluster  # noqa: PLC0415

                with engine_said(voice):
                    stack.enter_context(cluster(self.scheduler, self.workers))
            yield


@dataclass(frozen=True)
class FileArguments:
    """What all that learn from a file ask: which, how to read it, who does the work, and what to say."""

    file: File
    cluster: ClusterArguments
    table: TableArguments
    truth: TruthArguments
    speech: SpeechArguments


@dataclass(frozen=True)
class CompareArguments(FileArguments):
    """What compare asks besides."""

    methods: Annotated[
        list[str] | None,
        method_option(
            metavar="METHOD,...",
            help="Methods to compare; may be repeated.",
            show_default="all that are quick on this many nodes",
            autocompletion=completing(METHODS),
        ),
    ] = None
    out: Annotated[Path | None, output_option(help="Folder for compare.csv; none is written without.")] = None


@dataclass(frozen=True)
class JobArguments(FileArguments):
    """What learn and path ask besides: further settings, and what to write."""

    group: Annotated[
        str | None,
        table_option(
            metavar="COLUMN",
            help="Learn one network for each value of this column, in one run; names are unique within groups only. A "
            "cluster shares the groups out.",
        ),
    ] = None
    settings: Annotated[
        list[str] | None, method_option("--set", metavar="NAME=VALUE", help="Any other parameter of the method.")
    ] = None
    out: Out = Path("nashgraph-out")
    undirected: Annotated[
        bool, output_option("--undirected", help="Write edges without directions, of the mean weight of both.")
    ] = False
    false_edges: Annotated[
        float | None,
        output_option(
            metavar="NUMBER",
            min=0.0,
            help="Of a consensus: write selected.csv, too, the ties that random halves of the signals agree on, with a "
            "bound on how many of them are there by chance: this number, for example 5. Takes five times as long.",
        ),
    ] = None
    least_frequency: Annotated[
        float | None,
        output_option(
            min=0,
            max=1,
            help="Share of the consensus's members that must have a tie for it to be written; 0 writes all.",
            show_default="0.25, or what leaves 50 a node",
        ),
    ] = None
    layout_of: Annotated[
        Path | None,
        output_option(
            metavar="FOLDER",
            help="Draw every node where the report in this folder has it, to lay two pictures side by side.",
        ),
    ] = None
    title: Annotated[str, output_option(help="Title of the report.", show_default="the file's name")] = ""


@dataclass(frozen=True)
class ActArguments:
    """What act asks: how many, which budget, which game, which change, and what to write."""

    speech: SpeechArguments
    best: Annotated[
        int | None,
        advice_option(
            min=1, help="How many key players, ties and seeds are wanted; those are printed.", show_default="5"
        ),
    ] = None
    budget: Annotated[
        float,
        advice_option(
            help="What may be spent on support, in mean benefits: the sum of squares, or the number of units."
        ),
    ] = 10.0
    cost: Annotated[
        Literal["quadratic", "units"],
        advice_option(
            metavar="[quadratic|units]", help="Much for one is dearer than little for many, or one unit each for some."
        ),
    ] = "quadratic"
    cap: Annotated[float | None, advice_option(help="The most support that a node may get.", show_default="none")] = (
        None
    )
    interaction: Annotated[
        str | None,
        choice(
            "nashgraph.games.interactions:INTERACTIONS",
            rich_help_panel=ADVICE,
            help="How the actions (efforts) of neighbours feed one's own.",
            show_default="that of the model, or log1p",
        ),
    ] = None
    welfare: Annotated[
        str | None,
        choice(
            "nashgraph.games.welfares:WELFARES",
            rich_help_panel=ADVICE,
            help="What the actions (efforts) of all are worth.",
            show_default="that of the model, or total",
        ),
    ] = None
    undirected: Annotated[
        bool, advice_option("--undirected", help="The ties of a table have no directions; a model says so itself.")
    ] = False
    without: Annotated[
        list[str] | None, change_option(metavar="NODE,...", help="Nodes that leave; may be repeated.")
    ] = None
    benefit: Annotated[
        Path | None,
        change_option(
            metavar="TABLE",
            help="New benefits of some nodes, on the scale of nodes.csv: a table with the columns name and benefit.",
        ),
    ] = None
    cap_influence: Annotated[
        float | None, change_option(help="The most influence that a node may have.", show_default="none")
    ] = None
    out: Annotated[
        Path | None, output_option(help="Folder for the files.", show_default="act, in the folder or beside the file")
    ] = None

    @property
    def changes(self) -> bool:
        """Whether a change is asked about."""
        return bool(self.without) or self.benefit is not None or self.cap_influence is not None
