"""The options of the commands, in groups: a command takes a group as one argument and typer sees its fields."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

if TYPE_CHECKING:
    from ..tables import TableOptions

# Written out, so that help and completion need no library; a test keeps them in step with it.
Method = Literal["smooth", "linear", "glgp", "spectemp", "quadgame", "sigrep", "logdegree", "modular", "glasso"]
InteractionName = Literal["linear", "log1p", "saturating", "exponential"]
BENEFITS = ("spectral", "uniform")
EXPERIMENT_NAMES = ("table1", "fig1", "fig2", "table2", "table3", "theorem1", "beyond", "all")

TABLE, MODEL, TRUTH, OUTPUT = "The table", "The method", "A true network", "Output"


def benefits(incomplete: str) -> list[str]:
    """Complete the benefits that have a name."""
    return [name for name in BENEFITS if name.startswith(incomplete)]


def experiment_names(incomplete: str) -> list[str]:
    """Complete the paper's tables and figures."""
    return [name for name in EXPERIMENT_NAMES if name.startswith(incomplete)]


File = Annotated[
    Path,
    typer.Argument(help="Table of signals: CSV, TSV, Parquet, NPY, NPZ or Excel.", metavar="FILE", show_default=False),
]
Out = Annotated[Path, typer.Option(help="Folder for the files.", rich_help_panel=OUTPUT)]
Title = Annotated[
    str, typer.Option(help="Title of the report.", show_default="the file's name", rich_help_panel=OUTPUT)
]
Undirected = Annotated[
    bool,
    typer.Option(
        "--undirected", help="Write edges without directions, of the mean weight of both.", rich_help_panel=OUTPUT
    ),
]


@dataclass(frozen=True)
class TableArguments:
    """Options about the file and the signals in it."""

    nodes: Annotated[
        Literal["rows", "columns"],
        typer.Option(help="What a node is: a row (a survey) or a column (recordings).", rich_help_panel=TABLE),
    ] = "rows"
    id: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that names the rows; none takes row numbers. Default: a column called id, name or node.",
            rich_help_panel=TABLE,
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN,...", help="Columns to leave out; may be repeated.", rich_help_panel=TABLE),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="auto|none|COLUMN,...",
            help="Columns to code as signals of 0 and 1, one per value; auto takes text and truth values.",
            show_default="auto",
            rich_help_panel=TABLE,
        ),
    ] = None
    missing: Annotated[
        Literal["error", "pairwise", "impute"],
        typer.Option(
            help="Missing values: refuse them, compare nodes over what both have, or fill in from the nearest.",
            rich_help_panel=TABLE,
        ),
    ] = "error"
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Scale numbers to mean 0 and spread 1.", rich_help_panel=TABLE)
    ] = False
    separator: Annotated[
        str | None,
        typer.Option(metavar="CHARACTER", help="Of a text file; found if not given.", rich_help_panel=TABLE),
    ] = None
    encoding: Annotated[str, typer.Option(help="Of a text file.", rich_help_panel=TABLE)] = "utf-8"
    decimal: Annotated[Literal[".", ","], typer.Option(help="Decimal mark of a text file.", rich_help_panel=TABLE)] = (
        "."
    )
    header: Annotated[
        bool,
        typer.Option("--header/--no-header", help="Whether the first line names the columns.", rich_help_panel=TABLE),
    ] = True
    sheet: Annotated[
        str | None, typer.Option(help="Of an Excel file; the first if not given.", rich_help_panel=TABLE)
    ] = None
    array: Annotated[str | None, typer.Option(help="Of an NPZ file with several.", rich_help_panel=TABLE)] = None

    def options(self, benefit: str | None) -> TableOptions:
        """Return these choices; a benefit that is not a name of one is a column."""
        from ..tables import TableOptions  # noqa: PLC0415 (help and completion stay fast)

        separator = {"tab": "\t", "\\t": "\t"}.get(self.separator or "", self.separator)
        given = {field.name: getattr(self, field.name) for field in fields(self)} | {
            "drop": tuple(self.drop or ()),
            "categorical": tuple(self.categorical or ("auto",)),
            "separator": separator,
            "benefit": None if benefit in BENEFITS else benefit,
        }
        try:
            return TableOptions(**given)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error


@dataclass(frozen=True)
class GameArguments:
    """Options of the network-game prior; None leaves a parameter to the method."""

    degree: Annotated[
        float | None, typer.Option(help="Mean number of neighbours wanted.", show_default="10", rich_help_panel=MODEL)
    ] = None
    beta: Annotated[
        float | None,
        typer.Option(
            help="Weight of the squared norm, instead of a degree.", show_default=False, rich_help_panel=MODEL
        ),
    ] = None
    c: Annotated[
        float | None,
        typer.Option(
            "--c", help="Total influence of others on a node, below 1.", show_default="0.95", rich_help_panel=MODEL
        ),
    ] = None
    interaction: Annotated[
        InteractionName | None,
        typer.Option(help="How neighbours' actions feed on each other.", show_default="log1p", rich_help_panel=MODEL),
    ] = None
    benefit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|spectral|uniform",
            help="What makes nodes differ: a column of numbers (no signal then), or a rule.",
            show_default="spectral",
            autocompletion=benefits,
            rich_help_panel=MODEL,
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return what was given; a benefit that is a column comes with the table."""
        if self.beta is not None and self.degree is not None:
            raise typer.BadParameter("--beta and --degree both set the number of neighbours: give one of them")
        given = {name: value for name, value in vars(self).items() if value is not None}
        if self.benefit not in BENEFITS:
            given.pop("benefit", None)
        return given


@dataclass(frozen=True)
class TruthArguments:
    """Options about a true network to score against."""

    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="EDGES",
            help="Edges of the true network: text with the columns source and target, or GraphML. Adds scores.",
            rich_help_panel=TRUTH,
        ),
    ] = None
    truth_directed: Annotated[
        bool, typer.Option("--truth-directed", help="A text file's edges have directions.", rich_help_panel=TRUTH)
    ] = False


@dataclass(frozen=True)
class SpeechArguments:
    """Options on what is printed."""

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=OUTPUT)] = False
    json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON object, errors too; words go to stderr.", rich_help_panel=OUTPUT),
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.", rich_help_panel=OUTPUT)] = False


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take groups of options: typer sees their fields, the command gets the groups."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for name in inspect.signature(command).parameters:
        if name in groups:
            parameters += _fields_as_parameters(groups[name])
        else:
            given = inspect.signature(command).parameters[name]
            parameters.append(given.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))

    @functools.wraps(command)
    def flat(**given: Any) -> int:
        built = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        return command(**given, **built)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _fields_as_parameters(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
