"""The game of a model for the page: interventions as tables, and its weights, packed, for what-ifs in the browser."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from ..estimators import GraphEstimator
from ..graph import LearnedGraph
from ..interventions import Answer, Game, Questions, answer_questions
from ..interventions.driver import caution
from ..interventions.game import BEST
from ..priors.prior import played_benefit, rules_of
from ..validation import Array, InputError
from .prose import number, percent, shortened, text

WEIGHTS = 150_000  # less than a megabyte; of more, the lightest are held by their sums
# What web/game.js can play, by the names in a prior's rules; the browser's test goes through them.
PLAYED = {
    "interaction": {"linear", "log1p", "saturating", "exponential"},
    "welfare": {"total", "utilitarian", "weighted"},
    "response": {"identity", "clipped", "infection"},
}


class Interventions(NamedTuple):
    """The page's section on interventions.

    ``caution`` is what all answers depend on. ``columns`` has, over the nodes, worth (the adjoint) and loss (of
    welfare, without the node).
    """

    answers: list[Answer]
    caution: str
    columns: Mapping[str, Array]


def interventions_of(model: GraphEstimator) -> Interventions | None:
    """Return interventions by the game that a model was learned with; None if there was none.

    On a consensus without benefits, and on a tie model, every node's benefit is 1.
    """
    graph = model.graph_
    smooth = model.without_prior_
    told = "expected_ties" in graph.node_columns  # a tie model: people told who is central
    if not told and not {"benefit", "action"} <= graph.node_columns.keys() and graph.influence_supported is None:
        return None
    game = Game.on(model)
    plain = None
    if smooth is not None and getattr(model, "prior_share_", 0.0) > 0:
        plain = Game.on(LearnedGraph.of(smooth.weights, graph.names), game=game.prior)
    try:
        answers = answer_questions(game, Questions(budget=min(BEST, game.n_nodes - 1), cost="units"), plain)
    except InputError as error:
        return Interventions([], f"No interventions: {error}.", {})
    columns = dict[str, Array]()
    players = answers[0].table
    if getattr(game.state, "worth", None) is not None:  # some priors have no benefits
        columns["worth"] = game.worth
    if len(players) and players["loss"].notna().all():
        columns["loss"] = np.empty(game.n_nodes)
        columns["loss"][game.numbered(players["name"])] = players["loss"]
    return Interventions(answers, caution(game, model.prior_ is not None), columns)


def page_table(table: pd.DataFrame, numbers: Mapping[Any, int]) -> tuple[list[str], list[Any]]:
    """Return the columns and rows of a table as the page shows it, an interval in one cell.

    A cell has its words and, if it names a node, the node's number.
    """
    # Columns of the table of nodes are not repeated; an interval stands next to the last column that was measured.
    names = [name for name in table.columns if name not in ("low", "high", "among_best", "action", "influence")]
    measured = ("loss", "gain", "reached", "support", "broker")
    after = max((names.index(name) for name in measured if name in names), default=len(names) - 1) + 1
    names[after:after] = [name for name in ("low", "among_best") if name in table]

    def cells(name: str) -> list[tuple[str, int | None]]:
        values = table[name].tolist()
        if name in ("name", "source", "target"):
            return [*zip(shortened([text(value) for value in values]), map(numbers.get, values), strict=True)]
        if name == "low":
            return [(f"{number(low)} to {number(high)}", None) for low, high in zip(values, table["high"], strict=True)]
        shares = ("share", "among_best", "broker", "outside")
        return [(percent(value) if name in shares else number(value), None) for value in values]

    return names, [*zip(*(cells(name) for name in names), strict=True)]


class Playable(NamedTuple):
    """A game for the browser, its nodes by influence.

    Weights too light to be held are taken as ``rows[i] * columns[j]``, so that each node gives and gets as much as it
    did; ``lightest`` is the share of all weight that is held so. ``rules`` are those of the prior
    (:func:`~nashgraph.priors.prior.rules_of`). ``counts`` is how much each action counts in the welfare, None where all
    count alike.
    """

    weights: Any
    rows: Array
    columns: Array
    lightest: float
    benefit: Array
    rules: Mapping[str, Any]
    counts: Array | None

    def to_dict(self) -> dict[str, Any]:
        """Return the game as JSON has it, its arrays as the bytes of little-endian numbers in base 64."""

        def packed(values: Any, kind: str) -> str:
            return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode("ascii")

        # How far each column is from the one before in its row: small numbers compress well.
        steps = np.diff(self.weights.indices, prepend=0)
        firsts = self.weights.indptr[:-1][np.diff(self.weights.indptr) > 0]
        steps[firsts] = self.weights.indices[firsts]
        return {
            "row_lengths": packed(np.diff(self.weights.indptr), "<u2"),
            "steps": packed(steps, "<u2"),
            "weights": packed(self.weights.data, "<f4"),
            "rows": packed(self.rows, "<f8"),
            "columns": packed(self.columns, "<f8"),
            "benefit": packed(self.benefit, "<f8"),
            **self.rules,
            "counts": None if self.counts is None else packed(self.counts, "<f8"),
        }


def playable(model: GraphEstimator) -> Playable | None:
    """Return the game that a model was learned with, where the page can play it: up to 5,000 nodes, by known rules."""
    graph = model.graph_
    prior = model.game_
    rules = None if prior is None else rules_of(prior)
    if rules is None or not {"benefit", "action"} <= graph.node_columns.keys() or graph.n_nodes > 5_000:
        return None
    names = {"interaction": rules["interaction"], "welfare": rules["welfare"], "response": rules["response"]["kind"]}
    if any(name not in PLAYED[part] for part, name in names.items()):
        return None
    order = graph.by_influence
    weights, rows, columns = heaviest(graph.weights[order][:, order], WEIGHTS)
    counts = None
    if rules["welfare"] == "weighted":
        counts = welfare_of(prior).gradient(np.ones(len(order)))[order]
    return Playable(
        weights=weights,
        rows=rows,
        columns=columns,
        lightest=float(rows.sum() * columns.sum() / graph.weights.sum()) if graph.weights.nnz else 0.0,
        benefit=played_benefit(prior)[order],
        rules=rules,
        counts=counts,
    )


def welfare_of(prior: Any) -> Any:
    """Return the welfare of a prior that has rules: a game, or a sum with only one term."""
    if hasattr(prior, "terms"):
        return prior.terms[0][1].welfare
    return prior.welfare


def heaviest(weights: Any, most: int) -> tuple[Any, Array, Array]:
    """Return at most so many entries of a matrix, the heaviest, and the rest as the product of a column and a row."""
    whole = sparse.csr_array(weights)
    whole.sort_indices()
    if whole.nnz <= most:
        return whole, np.zeros(whole.shape[0]), np.zeros(whole.shape[0])
    target = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))
    places = np.sort(np.argpartition(whole.data, -most)[-most:])
    held = sparse.csr_array((whole.data[places], (target[places], whole.indices[places])), shape=whole.shape)
    light = whole - held
    return held, np.asarray(light.sum(axis=1)).ravel(), np.asarray(light.sum(axis=0)).ravel() / float(light.sum())
