"""The options about what people told of their ties, for learn and ask, and those of plan and check."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import TOLD, File, SpeechArguments, TableArguments, TruthArguments, output_option

if TYPE_CHECKING:
    from ..io import TableOptions

told_option = functools.partial(typer.Option, rich_help_panel=TOLD)
TIES = "ties"  # the method that learns from them


@dataclass(frozen=True)
class TieArguments:
    """Columns that people filled in about their ties; with any of them the method is the tie model."""

    counts: Annotated[
        list[str] | None,
        told_option(
            metavar="COLUMN=TRAIT,...",
            help="Columns that answer 'how many of your ties are ...?', each with the 0/1 column of that trait, or "
            "with one value of a column: n_weavers=job=weaver. Write 10+ for ten or more; empty means not asked.",
        ),
    ] = None
    ties: Annotated[
        str | None, told_option(metavar="COLUMN", help="Column that answers 'how many ties do you have?'.")
    ] = None
    names: Annotated[
        list[str] | None,
        told_option(
            metavar="COLUMN,...",
            help="Columns with names (or ids) of people that the person is tied to, spelled as in the table.",
        ),
    ] = None
    gossip: Annotated[
        list[str] | None,
        told_option(
            metavar="COLUMN,...",
            help="Columns with names of people who would spread news best: how often somebody is named is the benefit "
            "of the game prior, and act compares the people named most with other seeds.",
        ),
    ] = None
    alters: Annotated[
        Path | None,
        told_option(
            metavar="TABLE",
            help="Table with a row for every person that somebody named, as Network Canvas and egor export alters: "
            "columns that both tables have are counted.",
            show_default=False,
        ),
    ] = None
    max_names: Annotated[
        int | None,
        told_option(
            min=1,
            help="How many names there was room for: somebody missing from a full list may still be tied.",
            show_default="the number of --names columns, if there are several",
        ),
    ] = None
    recall: Annotated[
        float | None,
        told_option(
            metavar="SHARE",
            help="Share of their ties that people remember, for example 0.7.",
            show_default="estimated if everybody answered, else 1",
        ),
    ] = None

    @property
    def given(self) -> bool:
        """Whether any column is declared."""
        return bool(self.counts or self.ties or self.names or self.alters)

    def method(self, named: str, known: Path | None = None) -> str:
        """Return the method: the tie model if a column is declared or ties are known, else the one that is named."""
        told = self.given or known is not None
        if not told and (self.recall is not None or self.max_names is not None or named == TIES):
            raise typer.BadParameter(
                "the tie model, with --recall and --max-names, learns from answers about ties: declare their columns "
                "with --ties COLUMN, --counts COLUMN=TRAIT or --names COLUMN, or give --alters TABLE or --known TIES"
            )
        if told and named not in ("consensus", TIES):
            raise typer.BadParameter(
                f"--counts, --ties, --names and --known are for the tie model, not for --method {named}: leave one out"
            )
        return TIES if told else named

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the method that were given."""
        found = {"recall": self.recall, "max_names": self.max_names}
        return {name: value for name, value in found.items() if value is not None}

    def options(self, table: TableOptions) -> TableOptions:
        """Return the choices about a table with these columns."""
        if self.alters is not None and table.group is not None:
            raise typer.BadParameter("--alters does not know groups: give the two tables of one group, without --group")
        alters = None if self.alters is None else str(self.alters.resolve())
        counts, names = tuple(self.counts or ()), tuple(self.names or ())
        gossip = tuple(self.gossip or ())
        return replace(table, counts=counts, ties=self.ties, names=names, gossip=gossip, alters=alters)


@dataclass(frozen=True)
class AskArguments:
    """Further options of ask."""

    speech: SpeechArguments
    best: Annotated[int, output_option(min=1, help="Number of people to interview.")] = 10
    out: Annotated[Path | None, output_option(help="Folder for ask.csv.", show_default="none is written")] = None


@dataclass(frozen=True)
class PlanArguments:
    """The options of plan."""

    speech: SpeechArguments
    people: Annotated[int, told_option(min=10, max=2000, help="Number of people in the group.")] = 200
    ties: Annotated[float, told_option(min=0.1, help="Guess of how many ties people have on average.")] = 8.0
    asked: Annotated[str, told_option(metavar="PERCENT,...", help="Percentages of the people to ask.")] = "10,30,100"
    questions: Annotated[
        str, told_option(metavar="COUNT,...", help="Numbers of counting questions; 0 asks for the number of ties only.")
    ] = "0,5,10"
    mixing: Annotated[
        float, told_option(help="Guess of how traits mix: the log-odds that sharing a trait adds to a tie.")
    ] = 0.5
    recall: Annotated[float, told_option(metavar="SHARE", help="Share of their ties that people remember.")] = 1.0
    like: Annotated[
        Path | None,
        told_option(
            metavar="EDGES",
            help="Known network of a similar group, instead of the guesses; needs --traits.",
            show_default=False,
        ),
    ] = None
    traits: Annotated[
        Path | None,
        told_option(metavar="TABLE", help="Its people, named in the first column; 0/1 columns.", show_default=False),
    ] = None
    draws: Annotated[int, told_option(min=1, help="Number of networks to draw.")] = 5
    seed: Annotated[int, told_option(min=0, help="Seed of the draws.")] = 0
    out: Annotated[
        Path | None, output_option(help="Folder for plan.csv and plan.svg.", show_default="none is written")
    ] = None


@dataclass(frozen=True)
class CheckArguments:
    """The options of check: a table, how to read it, and a true network."""

    file: File
    table: TableArguments
    truth: TruthArguments
    speech: SpeechArguments
