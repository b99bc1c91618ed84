"""The options about what people told of their ties, for learn and ask; and those of ask and plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .commands import argument
from .options import SpeechArguments, TableArguments, output_option, told_option, told_setting

if TYPE_CHECKING:
    from ..io import TableOptions

TIES = "ties"  # the method that learns from them
AUTO = "auto"  # that method where the study tells of ties, else the consensus


# ruff: noqa: RUF009 (what these functions return is a field of a dataclass)


@dataclass(frozen=True)
class TieArguments:
    """Columns that people filled in about their ties; with any of them the method is the tie model."""

    counts: list[str] | None = told_option(
        metavar="COLUMN=TRAIT,...",
        help="Columns that answer 'how many of your ties are ...?', each with the 0/1 column of that trait, or "
        "with one value of a column: n_weavers=job=weaver. Write 10+ for ten or more; empty means not asked.",
    )
    ties: str | None = told_option(
        "--n-ties", metavar="COLUMN", help="Column that answers 'how many ties do you have?'."
    )
    names: list[str] | None = told_option(
        metavar="COLUMN,...",
        help="Columns with names (or ids) of people that the person is tied to, spelled as in the table.",
    )
    gossip: list[str] | None = told_setting(
        metavar="COLUMN,...",
        help="Columns with names of people who would spread news best: how often somebody is named is the benefit "
        "of the game prior, and act compares the people named most with other seeds.",
    )
    alters: Path | None = told_setting(
        metavar="TABLE",
        help="Table with a row for every person that somebody named, as Network Canvas and egor export alters: "
        "columns that both tables have are counted.",
    )
    max_names: int | None = told_setting(
        min=1,
        help="How many names there was room for: somebody missing from a full list may still be tied.",
        show_default="the number of --names columns, if there are several",
    )
    recall: float | None = told_setting(
        metavar="SHARE",
        help="Share of their ties that people remember, for example 0.7.",
        show_default="estimated if everybody answered, else 1",
    )

    @property
    def given(self) -> bool:
        """Whether any column is declared."""
        return bool(self.counts or self.ties or self.names or self.alters)

    def method(self, named: str, known: Path | None = None, *, tells: bool = False) -> str:
        """Return the method: for "auto" the tie model if the study tells of ties, else the consensus.

        ``tells`` says whether the study as it was read has names, counts, numbers of ties or known ties.
        """
        declared = self.given or known is not None
        if named == AUTO and (declared or tells):
            return TIES
        if not declared and not tells and (self.recall is not None or self.max_names is not None or named == TIES):
            raise typer.BadParameter(
                "the tie model, with recall and max_names, learns from answers about ties: declare their columns "
                "with --n-ties COLUMN, --counts COLUMN=TRAIT or --names COLUMN, or give --known TIES"
            )
        if declared and named != TIES:
            raise typer.BadParameter(
                f"--counts, --n-ties, --names and --known are for the tie model, not for --method {named}: leave one "
                "out"
            )
        return named

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the method that were given."""
        found = {"recall": self.recall, "max_names": self.max_names}
        return {name: value for name, value in found.items() if value is not None}

    def options(self, table: TableOptions) -> TableOptions:
        """Return the choices about a table with these columns."""
        if self.alters is not None and table.group is not None:
            raise typer.BadParameter(
                "a table of alters does not know groups: give the two tables of one group, without --group"
            )
        alters = None if self.alters is None else str(self.alters.resolve())
        counts = tuple(self.counts or ())
        names = tuple(self.names or ())
        gossip = tuple(self.gossip or ())
        if both := {*",".join(gossip).split(",")} & {*",".join(names).split(",")} - {""}:
            raise typer.BadParameter(f"--names and --set gossip both have {', '.join(sorted(both))}: leave one out")
        return replace(table, counts=counts, ties=self.ties, names=names, gossip=gossip, alters=alters)


@dataclass(frozen=True)
class ReadArguments:
    """The options of read."""

    told: TieArguments
    table: TableArguments
    speech: SpeechArguments
    files: list[Path] = argument(
        "FILE...", "A table, a plan, or a table and further files of the same study: alters, a list of ties."
    )
    out: Path = output_option(default=Path("nashgraph-out"), help="Folder for plan.toml.")


@dataclass(frozen=True)
class AskArguments:
    """The options of ask."""

    told: TieArguments
    table: TableArguments
    speech: SpeechArguments
    file: Path = argument(
        "FILE",
        "A survey with one row per person, with --n-ties, --counts or --names; or the folder (or model.json) of a "
        "network learned from such a survey.",
    )
    best: int = output_option(default=10, min=1, help="Number of people to interview.")
    out: Path | None = output_option(help="Folder for ask.csv.", show_default="none is written")


@dataclass(frozen=True)
class PlanArguments:
    """The options of plan."""

    speech: SpeechArguments
    people: int = told_option(default=200, min=10, max=2000, help="Number of people in the group.")
    ties: float = told_option(default=8.0, min=0.1, help="Guess of how many ties people have on average.")
    asked: str = told_option(default="10,30,100", metavar="PERCENT,...", help="Percentages of the people to ask.")
    questions: str = told_option(
        default="0,5,10", metavar="COUNT,...", help="Numbers of counting questions; 0 asks for the number of ties only."
    )
    mixing: float = told_option(
        default=0.5, help="Guess of how traits mix: the log-odds that sharing a trait adds to a tie."
    )
    recall: float = told_option(default=1.0, metavar="SHARE", help="Share of their ties that people remember.")
    like: Path | None = told_option(
        metavar="EDGES", help="Known network of a similar group, instead of the guesses; needs --traits."
    )
    traits: Path | None = told_option(metavar="TABLE", help="Its people, named in the first column; 0/1 columns.")
    draws: int = told_option(default=5, min=1, help="Number of networks to draw.")
    seed: int = told_option(default=0, min=0, max=2**32 - 1, help="Seed of the draws.")
    out: Path | None = output_option(help="Folder for plan.csv and plan.svg.", show_default="none is written")
