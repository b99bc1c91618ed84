"""The options of the commands about a network that is there already: show, rerun, act and fit-game."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .commands import argument, choice, option
from .options import (
    ADVICE,
    INTERACTIONS,
    RESPONDS,
    VALUED,
    WELFARES,
    SpeechArguments,
    advice_option,
    change_option,
    output_option,
)

# ruff: noqa: RUF009 (what these functions return is a field of a dataclass)


@dataclass(frozen=True)
class ModelArguments:
    """A model.json."""

    speech: SpeechArguments
    model: Path = argument("MODEL", "A model.json, or the folder it is in.")


@dataclass(frozen=True)
class ShowArguments(ModelArguments):
    """Further options of show."""

    methods: bool = output_option(
        "--methods", default=False, help="Print a methods paragraph with versions and references, ready to paste."
    )


@dataclass(frozen=True)
class RerunArguments(ModelArguments):
    """Further options of rerun."""

    input: Path | None = option(metavar="FILE", help="The table, if it has moved.")
    truth: Path | None = option(metavar="EDGES", help="The true network, if it has moved.")
    known: Path | None = option(metavar="TIES", help="The known ties, if they have moved.")
    alters: Path | None = option(metavar="TABLE", help="The table of alters, if it has moved.")
    force: bool = option("--force", default=False, help="Run even if the files have changed.")
    out: Path = output_option(default=Path("nashgraph-rerun"), help="Folder for the files.")


@dataclass(frozen=True)
class ActArguments:
    """The options of act: how many, which budget, which game, which change, and what to write."""

    speech: SpeechArguments
    network: Path = argument(
        "NETWORK",
        "Output of learn (a folder or its model.json), or any network: a table with the columns source, target and "
        "weight, a matrix, GraphML, GML or Pajek.",
    )
    best: int | None = advice_option(
        min=1, help="Number of key players, ties and seeds to find and print.", show_default="5"
    )
    budget: float = advice_option(
        default=10.0,
        help="Budget for support, in units of the mean benefit: a sum of squares, or a number of units (--cost).",
    )
    cost: Literal["quadratic", "units"] = advice_option(
        metavar="[quadratic|units]",
        default="quadratic",
        help="quadratic: cost grows with the square of each node's support; units: one unit for --budget nodes.",
    )
    cap: float | None = advice_option(help="Largest support that a node may get.", show_default="none")
    interaction: str | None = choice(
        INTERACTIONS, rich_help_panel=ADVICE, help=RESPONDS, show_default="that of the model, or log1p"
    )
    welfare: str | None = choice(
        WELFARES, rich_help_panel=ADVICE, help=VALUED, show_default="that of the model, or total"
    )
    undirected: bool = advice_option(
        "--undirected", default=False, help="The ties in a table have no directions; for a model this is known."
    )
    game: Path | None = advice_option(
        metavar="FIT", help="Game that fit-game wrote (fit.json), to play instead.", show_default="that of the model"
    )
    without: list[str] | None = change_option(metavar="NODE,...", help="Nodes that leave the network.")
    benefit: Path | None = change_option(
        metavar="TABLE",
        help="New benefits of some nodes, on the scale of nodes.csv: a table with the columns name and benefit.",
    )
    cap_influence: float | None = change_option(help="Largest influence that a node may have.", show_default="none")
    out: Path | None = output_option(help="Folder for the files.", show_default="act, in the folder of the network")


@dataclass(frozen=True)
class FitGameArguments:
    """The options of fit-game: what people do, what may explain it, and how it is estimated."""

    speech: SpeechArguments
    network: Path = argument("NETWORK", "Output of learn (a folder or its model.json), or any network, as for act.")
    actions: Path = argument("ACTIONS", "Table with a row for each person: names in its first column or in --id.")
    action: str | None = option(metavar="COLUMN", help="Column of what people do. Needed.", show_default=False)
    covariates: list[str] | None = option(metavar="COLUMN,...", help="Columns that explain actions as well.")
    id: str | None = option(metavar="COLUMN", help="Column of names.", show_default="the first")
    groups: str | None = option(metavar="COLUMN", help="Column of groups, for example villages.", show_default="none")
    fixed_effects: bool = option("--fixed-effects", default=False, help="Give each group its own constant.")
    contextual: bool = option("--contextual", default=False, help="Let neighbours' covariates have an effect.")
    interaction: str | None = choice(INTERACTIONS, help=RESPONDS, show_default="linear")
    method: Literal["nls", "qml", "2sls", "smm"] = option(
        metavar="[nls|qml|2sls|smm]",
        default="nls",
        help="nls: least squares of the reduced form; qml: quasi-maximum likelihood; 2sls: friends of friends as "
        "instruments; smm: simulated moments on draws.",
    )
    link: Literal["identity", "logit", "log"] = option(
        metavar="[identity|logit|log]", default="identity", help="logit: actions are 0 or 1; log: they are counts."
    )
    errors: Literal["robust", "classical", "cluster"] = option(
        metavar="[robust|classical|cluster]", default="robust", help="Standard errors; cluster: by --groups."
    )
    as_it_is: bool = option("--as-it-is", default=False, help="Do not divide the rows of the network by their sums.")
    undirected: bool = option("--undirected", default=False, help="The ties in a table have no directions.")
    out: Path | None = output_option(help="Folder for the files.", show_default="fit, in the folder of the network")
