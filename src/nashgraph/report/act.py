"""Act: what the game on a learned network advises, a table and a sentence each, and what every node is worth in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..estimators import GraphEstimator
from ..games.leaving import key_players
from ..games.society import Game
from ..graph import LearnedGraph
from ..validation import Array, InputError, listing
from .plain import shortened, text
from .prose import number, percent

ROWS = 10
BEST = 5  # of the first that are counted over resamples
STEADY = 0.9  # of the resamples, in which what is called steady is among the first
CUBES = 1e9  # nodes cubed times graphs of resamples, up to which these are gone through: seconds
ENTRIES = 5e6  # of the weights of more nodes than this, up to which some twenty games are solved: seconds
ALL_LOSSES = 1_500  # nodes up to which everybody's loss is known


class Advice(NamedTuple):
    """One table of the section, what it says, and how far to trust it."""

    title: str
    sentence: str
    table: pd.DataFrame


class Act(NamedTuple):
    """What the page says under this heading.

    Attributes
    ----------
    advice : list of Advice
    caution : str, what all of it rests on
    columns : dict from name to array of shape (n_nodes,), worth (the adjoint) and loss (of welfare, without the node)
    """

    advice: list[Advice]
    caution: str
    columns: Mapping[str, Array]


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
        resamples = len(getattr(model, "resampled_graphs_", ()))
        quick = resamples * self.learned.n_nodes**3 <= CUBES
        self.graph: Any = model if quick else self.learned

    @cached_property
    def game(self) -> Game:
        """The game, solved."""
        return Game.on(self.learned, **self.rules)

    @cached_property
    def losses(self) -> pd.DataFrame:
        """Key players, all of them."""
        return key_players(self.graph, **self.rules, best=min(BEST, self.learned.n_nodes))

    def by_node(self, table: pd.DataFrame, column: str) -> Array:
        """Return a column of a table in the order of the nodes."""
        values = dict(zip(table["name"], table[column], strict=True))
        return np.array([values[name] for name in self.learned.names.tolist()], dtype=float)


def act_on(model: GraphEstimator) -> Act | None:
    """Return what the game that a model was learned with advises; None where there was none.

    Examples
    --------
    >>> from nashgraph import GLGP, SmoothGL
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> act = act_on(GLGP(degree=4).fit(X))
    >>> act.advice[0].title, sorted(act.columns), act_on(SmoothGL().fit(X)) is None
    ('Whose leaving would cost most', ['loss', 'worth'], True)
    """
    if not {"benefit", "action"} <= model.graph_.node_columns.keys():
        return None
    asked = Asked(model)
    try:
        columns = {"worth": asked.game.adjoint}
    except InputError as error:
        return Act([], f"There is no advice: {error}.", {})
    if model.graph_.n_nodes <= ALL_LOSSES:
        columns["loss"] = asked.by_node(asked.losses, "loss")
    return Act([advise(asked) for advise in advisers(asked)], caution(model), columns)


def advisers(asked: Asked) -> Iterator[Callable[[Asked], Advice]]:
    """Yield what to ask of a game; of very many nodes, only what takes seconds."""
    if asked.learned.n_nodes <= ALL_LOSSES or asked.learned.weights.nnz <= ENTRIES:
        yield whose_leaving


def caution(model: GraphEstimator) -> str:
    """Return what all advice rests on, and what of it was put in."""
    rests = (
        "What follows is worked out from the game on the learned network; nobody was seen leaving or being helped. It "
        "holds as far as the network and the game do."
    )
    if model.prior_ is None:
        return rests
    return (
        f"{rests} The network was learned with a prior that gives influence to those who matter in this game, so that "
        "part of what the hubs are worth here was put in: an advice that is the same without the prior is worth more."
    )


def whose_leaving(asked: Asked) -> Advice:
    """Return the key players."""
    table = asked.losses.dropna(subset="loss")
    first, few = table.iloc[0], min(BEST, asked.learned.n_nodes)
    said = [
        f"Without {shortened([text(first['name'])])[0]} the welfare would fall by {percent(first['share'])}.",
        steadiness(table, few),
        without_prior(asked, few),
    ]
    if len(table) < asked.learned.n_nodes:
        said.append(f"Of so many nodes the {len(table)} that matter most to first order were tried.")
    return Advice("Whose leaving would cost most", " ".join(filter(None, said)), table.head(ROWS))


def steadiness(table: pd.DataFrame, few: int) -> str:
    """Say how far a ranking changes with the signals, where resamples tell.

    Examples
    --------
    >>> steadiness(pd.DataFrame({"name": list("abc"), "among_best": [1.0, 0.6, 0.4]}), 2)
    'Of the first 2, 1 is among the first 2 in nine of ten resamples of the signals; who else is changes with them.'
    """
    if "among_best" not in table:
        return "This is of one graph: how far it changes with the signals, only a consensus of some hundred nodes says."
    steady = int((table["among_best"].head(few) >= STEADY).sum())
    if steady == few:
        return f"The first {few} are so in nine of ten resamples of the signals, each of them."
    if steady == 0:
        return f"None of the first {few} is so in nine of ten resamples: who comes first changes with the signals."
    return (
        f"Of the first {few}, {steady} {'is' if steady == 1 else 'are'} among the first {few} in nine of ten resamples "
        "of the signals; who else is changes with them."
    )


def without_prior(asked: Asked, few: int) -> str:
    """Say who of the first would not be among them in the graph that was learned without the prior."""
    smooth = asked.model.without_prior_
    if smooth is None or asked.model.prior_share_ == 0 or 5 * asked.learned.n_nodes**3 > CUBES:
        return ""
    plain = LearnedGraph.of(smooth.weights, asked.learned.names)
    others = key_players(plain, asked.learned.node_columns["benefit"], **asked.rules)["name"].head(few).tolist()
    gone = [text(name) for name in asked.losses["name"].head(few) if name not in others]
    if not gone:
        return f"Without the prior the first {few} are the same."
    verb = "is" if len(gone) == 1 else "are"
    return f"Thanks to the prior alone {listing(shortened(gone))} {verb} among the first {few}."


# ---------------------------------------------------------------------------------------------- in the page

HEADINGS = {
    "name": "Node",
    "listener": "Who would listen",
    "speaker": "To whom",
    "loss": "Loss of welfare",
    "share": "Of all welfare",
    "low": "90 % interval",
    "among_best": "Among the first five",
    "action": "Action",
    "influence": "Influence",
    "support": "Support",
    "worth": "Worth of a unit",
    "action_before": "Action before",
    "action_after": "Action after",
    "gain": "Gain",
    "reached": "Reached by all so far",
    "weight": "Weight",
}
NODES = ("name", "listener", "speaker")
STEADINESS = ("low", "high", "among_best")  # of the first figure: they stand beside it
SHARES = ("share", "among_best")


class Cell(NamedTuple):
    """What stands in a cell, and which node it is, by its number in the page, where it is one."""

    words: str
    node: int | None = None


def shown(table: pd.DataFrame, numbers: Mapping[Any, int]) -> tuple[list[str], list[list[Cell]]]:
    """Return the headings and the rows of a table as the page shows it: nodes by number, an interval in one cell.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["ann"], "loss": [0.51234], "low": [0.4], "high": [0.6], "among_best": [0.95]})
    >>> heads, rows = shown(table, {"ann": 7})
    >>> heads, [cell.words for cell in rows[0]], rows[0][0].node
    (['Node', 'Loss of welfare', '90 % interval', 'Among the first five'], ['ann', '0.512', '0.4 to 0.6', '95 %'], 7)
    """
    names = [name for name in table.columns if name not in STEADINESS]
    figures = next((place for place, name in enumerate(names) if name not in NODES), len(names))
    names[figures + 1 : figures + 1] = [name for name in ("low", "among_best") if name in table]
    ends = zip(table["low"], table["high"], strict=True) if "low" in table else ()
    intervals = [f"{number(low)} to {number(high)}" for low, high in ends]

    def cells(name: str) -> list[Cell]:
        values = table[name].tolist()
        if name in NODES:
            words = shortened([text(value) for value in values])
            return [Cell(word, numbers.get(value)) for word, value in zip(words, values, strict=True)]
        if name == "low":
            return [Cell(words) for words in intervals]
        return [Cell(percent(value) if name in SHARES else number(value)) for value in values]

    rows = zip(*(cells(name) for name in names), strict=True)
    return [HEADINGS.get(name, name) for name in names], [list(row) for row in rows]
