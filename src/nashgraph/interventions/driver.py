"""One driver for the command ``act`` and the report: questions about a network in, tables with a sentence each out.

A question is a row of ``QUESTIONS``: its title, and the function that gives its table and words the result.
All questions share one :class:`~nashgraph.interventions.Game`, which is solved once, and so are its replicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..games import NoEquilibriumError
from ..graph import NOT_CENTRAL
from ..priors import UnansweredError
from ..validation import Array, listing
from .game import BEST, Game, TooFewError, check_size, what_if
from .players import key_group, key_players
from .positions import roles
from .seeds import best_seeds
from .support import best_support
from .ties import best_ties, costliest_ties

# Questions whose answers name the influential; the best new ties all lead to them, and brokers are central nodes.
NAMING = ("players", "group", "support", "ties_to_build", "seeds", "roles")
NO_REPLICATES = "How stable they are is unknown: only a consensus learned with replicates shows it."


@dataclass(frozen=True)
class Questions:
    """Questions about a network.

    ``best`` is how many key players, ties and seeds are wanted (default: 5). ``budget``, ``cost`` and ``cap`` are those
    of :func:`~nashgraph.best_support`, ``communities`` those of :func:`~nashgraph.roles`. ``gossip`` is how often
    people named each node as somebody who would spread news. ``change`` has the arguments of
    :func:`~nashgraph.what_if`; empty if no change is asked about.
    """

    best: int | None = None
    budget: float = 10.0
    cost: str = "quadratic"
    cap: float | None = None
    communities: Array | None = None
    gossip: Array | None = None
    change: dict[str, Any] = field(default_factory=dict)

    def n_best(self, game: Game) -> int:
        """Return how many are wanted on this network."""
        if self.best is None:
            return max(1, min(BEST, game.n_nodes - 1))
        return check_size("best", self.best, game.n_nodes)


class Answer(NamedTuple):
    """A table, empty if there is too little to choose from, and what it says.

    ``shown`` is how many of its rows are the answer; the others, if any, are the remaining nodes.
    """

    name: str
    title: str
    sentence: str
    table: pd.DataFrame
    shown: int


def answer_questions(game: Game, questions: Questions | None = None, plain: Game | None = None) -> list[Answer]:
    """Answer all questions about a network.

    ``plain`` is the game on the network learned without a prior: it tells which key players the prior accounts for.

    Examples
    --------
    >>> W = np.zeros((6, 6))
    >>> W[1:3, 0] = W[4:, 3] = W[0, 1:3] = W[3, 4:] = 0.3
    >>> answers = answer_questions(Game.on(W), Questions(best=2))
    >>> [answer.name for answer in answers]
    ['players', 'group', 'support', 'ties_to_build', 'ties_to_watch', 'seeds', 'roles']
    >>> answers[0].sentence
    'Without 0 the welfare would fall by 25%, without the median node by 19%. The losses overlap and do not add up.'
    """
    asked = questions or Questions()
    game.state  # noqa: B018 (a game without an equilibrium is an error, not a question without an answer)
    left_out = {"what_if": not asked.change, "gossip": asked.gossip is None}
    return [_answered(name, game, asked, plain) for name in QUESTIONS if not left_out.get(name, False)]


def caution(game: Game, prior: bool = False) -> str:
    """Return what all answers depend on."""
    sentences = (
        "These figures come from a model, the game on the learned network: nobody was observed leaving or being "
        "supported."
    )
    if prior:
        sentences += (
            " The network was learned with a prior that gives influence to nodes that matter in this game, so their "
            "effect is partly an assumption."
        )
    if game.replicate_weights:
        return sentences
    return f"{sentences} {NO_REPLICATES}"


def _answered(name: str, game: Game, asked: Questions, plain: Game | None) -> Answer:
    title, find = QUESTIONS[name]
    if name in NAMING and game.influence_supported is False:
        return Answer(name, title, NOT_CENTRAL, pd.DataFrame(), 0)
    count = asked.n_best(game)
    try:
        table, *sentences = find(game, asked, count)
    except (TooFewError, NoEquilibriumError, UnansweredError) as error:  # a new tie may leave no equilibrium
        return Answer(name, title, f"Not available: {error}.", pd.DataFrame(), 0)
    if name == "players" and plain is not None:
        without = {*key_players(plain)["name"].head(count)}
        owing = [_short(name) for name in table["name"].head(count) if name not in without]
        only = f"{listing(owing)} {'is' if len(owing) == 1 else 'are'} among them only because of the prior."
        sentences.append(only if owing else "They are the same without the prior.")
    shown = min(count, len(table), table.attrs.get("connected", count))  # units of support may be fewer
    if "among_best" in table:
        stable = int((table["among_best"].head(shown) >= 0.9).sum())
        many = "none is" if not stable else "1 is" if stable == 1 else f"{stable} are"
        if not stable:
            rest = ": this result is not stable"
        else:
            rest = "; the others are not stable"
        sentences.append(
            f"Of these {shown}, {many} among the first {shown} in at least 90% of the replicates"
            f"{rest if stable < shown else ''}."
        )
    return Answer(name, title, " ".join(sentences), table, shown)


def _short(name: object) -> str:
    """Return a node's name, cut if it is very long."""
    text = str(name)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _players(game: Game, asked: Questions, count: int) -> Iterator[Any]:
    table = key_players(game, best=count)
    yield table
    first = table.iloc[0]
    figures = table.attrs
    yield (
        f"Without {_short(first['name'])} the welfare would fall by {first['share']:.0%}, without the median node by "
        f"{figures['typical_loss'] / game.size:.0%}."
    )
    if table["share"].sum() > 1.0:  # so a reader who adds them up is told
        yield "The losses overlap and do not add up."
    if figures["solved"] < game.n_nodes:
        if figures["proven"]:
            rank = "no other can be greater"
        else:
            rank = "which nodes come first is approximate"
        yield f"{figures['solved']} losses are exact, and {rank}; the median is to first order."


def _group(game: Game, asked: Questions, count: int) -> Iterator[Any]:
    table = key_group(game, min(count, game.n_nodes - 1))
    yield table
    yield f"Without all {len(table)} the welfare would fall by {table['loss'].iloc[-1] / game.size:.0%}."


def _support(game: Game, asked: Questions, count: int) -> Iterator[Any]:
    table = best_support(game, asked.budget, cost=asked.cost, cap=asked.cap, best=count)
    yield table
    figures: dict[Any, Any] = table.attrs
    best, even, connected = (f"{figures[gain] / game.size:.1%}" for gain in ("gain", "gain_even", "gain_connected"))
    yield (
        f"The welfare would rise by {best}. The same budget gains {even} if it is spread evenly, and {connected} if it "
        f"goes to the {figures['connected']} most influential nodes. One unit of support is a benefit of "
        f"{figures['unit']:.3g}."
    )


def _ties_to_build(game: Game, asked: Questions, count: int) -> Iterator[Any]:
    table = best_ties(game, count)
    yield table
    gain = table.attrs["gain"]
    if np.isfinite(gain):
        together = f"raise the welfare by {gain / game.size:.1%}"
    else:
        together = "leave no equilibrium"
    yield (
        f"Each adds a weight of {table.attrs['weight']:.3g} from source to target, a usual one here. All {len(table)} "
        f"together would {together}."
    )
    yield from _approximately(table)


def _ties_to_watch(game: Game, asked: Questions, count: int) -> Iterator[Any]:
    table = costliest_ties(game, min(count, max(1, game.weights.nnz)))
    yield table
    yield "The loss is what the welfare would lose if the source no longer influenced the target."
    yield from _approximately(table)


def _approximately(table: pd.DataFrame) -> Iterator[str]:
    """Say it if a search could not show that no other tie comes first."""
    if not table.attrs["proven"]:
        yield "Which ties come first is approximate: the network is too large to try them all."


def _seeds(game: Game, asked: Questions, count: int, score: Array | None = None) -> Iterator[Any]:
    table = best_seeds(game, count, score=score)
    yield table
    reached = table["reached"].iloc[-1]
    random = int(table["random_seeds"].iloc[-1])
    yield (
        f"News told to these {len(table)} would reach {reached:.3g} of {game.n_nodes:,} nodes, if each tie passes them "
        f"on once, with its weight as the probability. {random:,} seeds drawn at random reach as many."
    )


def _roles(game: Game, asked: Questions, count: int) -> Iterator[Any]:
    table = roles(game, communities=asked.communities, best=count)
    yield table
    yield "The greatest brokers, through which most shortest paths go."
    if table.attrs["pivots"] < game.n_nodes:
        yield f"Estimated from the paths that start at {table.attrs['pivots']:,} random nodes."


def _what_if(game: Game, asked: Questions, count: int) -> Iterator[Any]:
    table = what_if(game, **asked.change, best=count)
    yield table
    before = table.attrs["welfare_before"]
    after = table.attrs["welfare_after"]
    gain = int((table["change"] > 0).sum())
    lose = int((table["change"] < 0).sum())
    change = (after - before) / game.size
    yield f"The welfare goes from {before:.4g} to {after:.4g} ({change:+.1%}); {gain} gain, {lose} lose."


# Each has a title, and a function of the game, the questions and how many are wanted that yields a table and sentences.
QUESTIONS: dict[str, tuple[str, Callable[[Game, Questions, int], Iterator[Any]]]] = {
    "players": ("Key players: whose leaving costs most welfare", _players),
    "group": ("Key group: who costs most welfare together", _group),
    "support": ("Whom to support", _support),
    "ties_to_build": ("Ties to build: which new ties gain most", _ties_to_build),
    "ties_to_watch": ("Ties to watch: whose loss costs most", _ties_to_watch),
    "seeds": ("Whom to inform first", _seeds),
    "gossip": (
        "Whom people name as the best to spread news",
        lambda game, asked, count: _seeds(game, asked, count, asked.gossip),
    ),
    "roles": ("Communities and positions", _roles),
    "what_if": ("What if: which actions change most", _what_if),
}
