"""What the game on a learned network advises: a table for each question, and a sentence on how far to trust it.

A question is a function from :class:`Asked` to :class:`Advice`; those in ``QUESTIONS`` are asked in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..estimators import GraphEstimator
from ..games import best_seeds, best_support, best_ties, costliest_ties, key_players
from ..games.society import Game
from ..graph import LearnedGraph
from ..validation import Array, InputError, listing
from .plain import shortened, text
from .prose import number, percent

ROWS = 10
FEW = 5  # that are supported, told or tied, and that are counted over resamples
STEADY = 0.9  # of the resamples, in which what is called steady is among the first
# Beyond these a report would take more than ten seconds longer.
WITH_RESAMPLES = 1_000  # nodes
WITHOUT_PRIOR = 600  # nodes
ALL_LOSSES = 1_500  # nodes up to which everybody's loss is known
TIES = 500_000  # of more nodes than have resamples, up to which every question is asked


class Advice(NamedTuple):
    """One table, what it says, and how far to trust it."""

    title: str
    sentence: str
    table: pd.DataFrame


class Asked:
    """A model whose game is asked for advice; what several answers need is found once.

    ``graph`` is what the functions of :mod:`nashgraph.games` take: the model, whose resamples give intervals, or of
    many nodes its graph alone.
    """

    def __init__(self, model: GraphEstimator) -> None:
        self.model, self.learned = model, model.graph_
        self.rules: dict[str, Any] = {
            "interaction": getattr(model, "interaction", "log1p"),
            "welfare": getattr(model, "welfare", "total"),
        }
        self.graph: Any = model if self.learned.n_nodes <= WITH_RESAMPLES else self.learned
        self.few = min(FEW, self.learned.n_nodes - 1)
        self.heavy = self.learned.n_nodes > WITH_RESAMPLES and self.learned.weights.nnz > TIES

    @cached_property
    def game(self) -> Game:
        """The game, solved."""
        return Game.on(self.learned, **self.rules)

    @cached_property
    def losses(self) -> pd.DataFrame:
        """What the welfare loses when each node leaves."""
        return key_players(self.graph, **self.rules, best=self.few)

    @property
    def columns(self) -> dict[str, Array]:
        """What every node is worth: of a unit of benefit, and, where that is quick to find, its loss."""
        columns = {"worth": self.game.adjoint}
        if self.learned.n_nodes <= ALL_LOSSES and not self.heavy:
            loss = dict(zip(self.losses["name"], self.losses["loss"], strict=True))
            columns["loss"] = np.array([loss[name] for name in self.learned.names.tolist()], dtype=float)
        return columns


def answers(asked: Asked) -> Iterator[Advice]:
    """Yield the answers to all questions that this game can be asked, in seconds."""
    for question in QUICK if asked.heavy else QUESTIONS:
        with suppress(InputError):  # of a graph too small to choose from
            yield question(asked)


def whose_leaving(asked: Asked) -> Advice:
    """Return the key players."""
    table = asked.losses.dropna(subset="loss")
    first = table.iloc[0]
    said = [
        f"Without {called(first['name'])} the welfare would fall by {percent(first['share'])}.",
        steadiness(table, asked.few),
        without_prior(asked),
    ]
    if len(table) < asked.learned.n_nodes:
        said.append(f"Of so many nodes the {len(table)} that matter most to first order were tried.")
    shown = table.head(ROWS).drop(columns=["action", "influence"])  # they are in the table of all nodes
    return Advice("Whose leaving would cost most", " ".join(filter(None, said)), shown)


def whom_to_support(asked: Asked) -> Advice:
    """Return whom to give a unit of benefit."""
    table = best_support(asked.graph, asked.few, cost="units", **asked.rules)
    found, chosen = table.attrs, table.head(asked.few).drop(columns=["support", "low", "high"], errors="ignore")
    said = (
        f"Were {asked.few} nodes to gain more by acting, each by the mean benefit ({number(found['unit'])}), the "
        f"welfare would rise most with these: by {percent(found['gain'] / asked.game.value)}. The same would raise it "
        f"by {percent(found['gain_connected'] / asked.game.value)} if the {asked.few} most influential got it, and by "
        f"{percent(found['gain_even'] / asked.game.value)} spread over everybody."
    )
    return Advice("Whom to support", f"{said} {steadiness(table, asked.few)}", chosen)


def which_tie(asked: Asked) -> Advice:
    """Return the ties to build."""
    table = best_ties(asked.graph, FEW, **asked.rules)
    found = table.attrs
    said = (
        f"If the first listened to the second, with a weight of {number(found['weight'])}, a usual one here. All "
        f"{len(table)} together would raise the welfare by {percent(found['gain'] / asked.game.value)}."
    )
    return Advice("Which ties to build", f"{said} {steadiness(table, len(table))}", table.drop(columns="worth"))


def which_to_watch(asked: Asked) -> Advice:
    """Return the ties whose loss would cost most."""
    table = costliest_ties(asked.graph, FEW, **asked.rules)
    said = f"What the welfare would lose if the first no longer listened to the second. {steadiness(table, len(table))}"
    return Advice("Which ties to watch", said, table)


def whom_to_tell(asked: Asked) -> Advice:
    """Return the seeds."""
    table = best_seeds(asked.graph, asked.few)
    said = (
        f"Told to these {len(table)}, news would reach {number(table['reached'].iloc[-1])} of "
        f"{asked.learned.n_nodes:,} nodes, if each tie passes them on with its weight as the probability, once."
    )
    return Advice("Whom to tell first", f"{said} {steadiness(table, len(table))}", table)


Question = Callable[[Asked], Advice]
QUICK: tuple[Question, ...] = (whom_to_tell,)  # on many ties, too
QUESTIONS: tuple[Question, ...] = (whose_leaving, whom_to_support, which_tie, which_to_watch, *QUICK)


def called(name: object) -> str:
    """Return a node's name, cut where it is very long."""
    return shortened([text(name)])[0]


def steadiness(table: pd.DataFrame, few: int) -> str:
    """Say how far a ranking changes with the signals, where resamples tell.

    Examples
    --------
    >>> steadiness(pd.DataFrame({"name": list("abc"), "among_best": [1.0, 0.6, 0.4]}), 2)
    'Of these 2, 1 is among the first 2 in nine of ten resamples of the signals; the rest changes with them.'
    """
    if "among_best" not in table:
        return "This is of one graph; how far it changes with signals and settings, a consensus says."
    steady = int((table["among_best"].head(few) >= STEADY).sum())
    if steady == few:
        return f"All {few} are among the first {few} in nine of ten resamples of the signals."
    if steady == 0:
        return f"None of these {few} is among the first {few} in nine of ten resamples: it changes with the signals."
    return (
        f"Of these {few}, {steady} {'is' if steady == 1 else 'are'} among the first {few} in nine of ten resamples of "
        "the signals; the rest changes with them."
    )


def without_prior(asked: Asked) -> str:
    """Say who of the first would not be among them in the graph that was learned without the prior."""
    smooth, few = asked.model.without_prior_, asked.few
    if smooth is None or asked.model.prior_share_ == 0 or asked.learned.n_nodes > WITHOUT_PRIOR:
        return ""
    plain = LearnedGraph.of(smooth.weights, asked.learned.names)
    others = key_players(plain, asked.learned.node_columns["benefit"], **asked.rules)["name"].head(few).tolist()
    owing = [text(name) for name in asked.losses["name"].head(few) if name not in others]
    if not owing:
        return f"Without the prior the first {few} are the same."
    verb = "is" if len(owing) == 1 else "are"
    return f"Thanks to the prior alone {listing(shortened(owing))} {verb} among the first {few}."
