"""A study as it was read: people, their answers as signals, what they said about ties, and every decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from .decisions import Decision
from .plan import Plan
from .tie_survey import TieSurvey


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """People, answers and ties read from files by a plan; :func:`nashgraph.read_study` makes it.

    Attributes
    ----------
    plan : Plan, how the files were read
    signals : DataFrame of shape (n_signals, n_people), the answers as numbers; the columns are named by the people
    people : DataFrame, what the file says of each person, one row each, before it is coded
    ties : TieSurvey, what people said about their ties, with their places and groups
    decisions : tuple of Decision, what was read, matched, left out or assumed
    network : DataFrame with source, target and weight, where a file has a network; else None
    names : DataFrame with written, matched, distance, by and sure: names that are not spelt as in the table
    weights : Series of sampling weights, or None
    benefit : Series of marginal benefits for the game, or None
    missing : Series, the share of signals that each person lacks
    silent : Series, who has 0 in every signal, as several others have
    standardized : bool, whether every signal was brought to mean 0 and spread 1
    questions : dict from each signal to the question that it is an answer to
    key : dict from the code of each person to the id, if people have codes for names; else None

    Examples
    --------
    >>> import nashgraph
    >>> table = pd.DataFrame({"name": ["ann", "bob", "cat"], "age": [31, 45, 28], "friend": ["bob", "cat", "ann"]})
    >>> study = nashgraph.read_study(table)
    >>> study
    <Study: 3 people, 1 signal>
    >>> study.ties.reports[["source", "target"]].values.tolist()
    [['ann', 'bob'], ['bob', 'cat'], ['cat', 'ann']]
    """

    plan: Plan
    signals: pd.DataFrame
    people: pd.DataFrame
    ties: TieSurvey
    decisions: tuple[Decision, ...]
    network: pd.DataFrame | None
    names: pd.DataFrame
    weights: pd.Series | None
    benefit: pd.Series | None
    missing: pd.Series
    silent: pd.Series
    standardized: bool
    questions: Mapping[str, str]
    key: Mapping[str, str] | None = None

    def __repr__(self) -> str:
        unsure = sum(decision.unsure for decision in self.decisions)
        parts = [f"{len(self.people):,} people", f"{len(self.signals):,} signal{'' if len(self.signals) == 1 else 's'}"]
        if self.network is not None:
            parts.append(f"{len(self.network):,} ties of a network")
        if unsure:
            parts.append(f"{unsure} guess{'' if unsure == 1 else 'es'} to look at")
        return f"<Study: {', '.join(parts)}>"

    @property
    def places(self) -> pd.DataFrame:
        """Where people live: coordinates or numbers of houses."""
        return self.ties.places

    @property
    def tells_of_ties(self) -> bool:
        """Whether people said anything about ties: counts, numbers of ties, names, or known ties."""
        ties = self.ties
        counted = bool(ties.counts.notna().to_numpy().any()) or bool(ties.n_ties.notna().any())
        return counted or len(ties.reports) > 0 or len(ties.known) > 0
