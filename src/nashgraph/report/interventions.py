"""Interventions on a learned network for the page: its model's game, and tables as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..estimators import GraphEstimator
from ..graph import LearnedGraph
from ..interventions import Answer, Game, Questions, answer_questions
from ..interventions.driver import caution
from ..interventions.game import BEST
from ..validation import Array, InputError
from .plain import shortened, text
from .prose import number, percent

HEADINGS = {
    "name": "Node",
    "source": "Source",
    "target": "Target",
    "loss": "Loss of welfare",
    "share": "Of all welfare",
    "times_typical": "Times the median node's",
    "low": "90% interval",
    "among_best": "How often among the first",
    "support": "Support",
    "worth": "Worth of a unit",
    "action_before": "Action now",
    "action_after": "Action then",
    "gain": "Gain",
    "reached": "Reached so far",
    "random_seeds": "Random seeds that reach as many",
    "weight": "Weight",
    "community": "Community",
    "core": "Core",
    "broker": "Broker",
    "outside": "Ties outside",
}
ENDS = ("name", "source", "target")
MEASURED = ("loss", "gain", "reached", "support", "broker")  # an interval stands next to the last of these
SHARES = ("share", "among_best", "broker", "outside")
IN_NODES_TABLE = ("action", "influence")


class Interventions(NamedTuple):
    """The page's section on interventions.

    Attributes
    ----------
    answers : list of Answer
    caution : str, what all of them depend on
    columns : dict from name to array of shape (n_nodes,): worth (the adjoint) and loss (of welfare, without the node)
    """

    answers: list[Answer]
    caution: str
    columns: Mapping[str, Array]


def interventions_of(model: GraphEstimator) -> Interventions | None:
    """Return interventions by the game that a model was learned with; None if there was none.

    On a consensus without benefits, and on a tie model, every node's benefit is 1.

    Examples
    --------
    >>> from nashgraph import GLGP, SmoothGL
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> found = interventions_of(GLGP(degree=4).fit(X))
    >>> found.answers[0].name, sorted(found.columns), interventions_of(SmoothGL().fit(X)) is None
    ('players', ['loss', 'worth'], True)
    """
    graph, smooth = model.graph_, model.without_prior_
    told = "expected_ties" in graph.node_columns  # a tie model: people told who is central
    if not told and not {"benefit", "action"} <= graph.node_columns.keys() and graph.influence_supported is None:
        return None
    rules = getattr(model, "interaction", "log1p"), getattr(model, "welfare", "total")
    game, plain = Game.on(model, None, *rules), None
    if smooth is not None and model.prior_share_ > 0:
        plain = Game.on(LearnedGraph.of(smooth.weights, graph.names), game.benefit, *rules)
    try:
        answers = answer_questions(game, Questions(budget=min(BEST, game.n_nodes - 1), cost="units"), plain)
    except InputError as error:
        return Interventions([], f"No interventions: {error}.", {})
    loss, players = np.full(game.n_nodes, np.nan), answers[0].table
    if len(players):
        loss[game.numbered(players["name"])] = players["loss"]
    known = {"loss": loss} if np.isfinite(loss).all() else {}
    return Interventions(answers, caution(game, model.prior_ is not None), {"worth": game.adjoint, **known})


class Cell(NamedTuple):
    """The text of a cell and, if it names a node, its number in the page."""

    words: str
    node: int | None = None


def page_table(table: pd.DataFrame, numbers: Mapping[Any, int]) -> tuple[list[str], list[list[Cell]]]:
    """Return the headings and rows of a table as the page shows it: nodes by number, an interval in one cell.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["ann"], "loss": [0.51234], "low": [0.4], "high": [0.6], "among_best": [0.95]})
    >>> heads, rows = page_table(table, {"ann": 7})
    >>> heads, [cell.words for cell in rows[0]], rows[0][0].node
    (['Node', 'Loss of welfare', '90% interval', 'How often among the first'],
     ['ann', '0.512', '0.4 to 0.6', '95%'], 7)
    """
    names = [name for name in table.columns if name not in ("low", "high", "among_best", *IN_NODES_TABLE)]
    after = max((names.index(name) for name in MEASURED if name in names), default=len(names) - 1) + 1
    names[after:after] = [name for name in ("low", "among_best") if name in table]

    def cells(name: str) -> list[Cell]:
        values = table[name].tolist()
        if name in ENDS:
            words = shortened([text(value) for value in values])
            return [Cell(word, numbers.get(value)) for word, value in zip(words, values, strict=True)]
        if name == "low":
            return [Cell(f"{number(low)} to {number(high)}") for low, high in zip(values, table["high"], strict=True)]
        return [Cell(percent(value) if name in SHARES else number(value)) for value in values]

    rows = zip(*(cells(name) for name in names), strict=True)
    return [HEADINGS.get(name, name) for name in names], [list(row) for row in rows]
