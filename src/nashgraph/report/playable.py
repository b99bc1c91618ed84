"""The game as the page plays it: the weights of the network, packed, for what-ifs that are solved in the browser."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..estimators import GraphEstimator
from ..games import WeightedTotal
from ..games.interactions import INTERACTIONS, as_interaction
from ..games.welfares import WELFARES, as_welfare
from ..validation import Array

NODES = 5_000
WEIGHTS = 150_000  # less than a megabyte; of more, the lightest are held by their sums
# What assets/game.js can play; the browser's test goes through them.
PLAYED = {"linear", "log1p", "saturating", "exponential"}
VALUED = {"total", "utilitarian"}
WEIGHTED = "weighted"


class Playable(NamedTuple):
    """A game, its nodes by influence.

    Attributes
    ----------
    weights : CSR array, the heaviest weights
    rows, columns : arrays of shape (n_nodes,)
        Weights too light to be held are taken as rows[i] * columns[j]: each node gives and gets as much as it did.
    lightest : float, the share of all weight that is held so
    benefit : array of shape (n_nodes,)
    interaction, welfare : str, by name
    counts : array of shape (n_nodes,), how much each action counts in the welfare; None where all count alike
    """

    weights: Any
    rows: Array
    columns: Array
    lightest: float
    benefit: Array
    interaction: str
    welfare: str
    counts: Array | None

    def to_dict(self) -> dict[str, Any]:
        """Return the game as JSON has it, its arrays as the bytes of little-endian numbers in base 64."""
        return {
            "row_lengths": packed(np.diff(self.weights.indptr), "<u2"),
            "steps": packed(steps(self.weights), "<u2"),
            "weights": packed(self.weights.data, "<f4"),
            "rows": packed(self.rows, "<f8"),
            "columns": packed(self.columns, "<f8"),
            "lightest": self.lightest,
            "benefit": packed(self.benefit, "<f8"),
            "interaction": self.interaction,
            "welfare": self.welfare,
            "counts": None if self.counts is None else packed(self.counts, "<f8"),
        }


def playable(model: GraphEstimator) -> Playable | None:
    """Return the game that a model was learned with, where the page can play it.

    Examples
    --------
    >>> from nashgraph import GLGP, SmoothGL
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> game = playable(GLGP(degree=4, interaction="linear").fit(X))
    >>> game.interaction, game.weights.shape, game.lightest, playable(SmoothGL().fit(X)) is None
    ('linear', (30, 30), 0.0, True)
    """
    graph = model.graph_
    if not {"benefit", "action"} <= graph.node_columns.keys() or graph.n_nodes > NODES:
        return None
    interaction, welfare = game_names(model)
    if interaction not in PLAYED or welfare not in VALUED | {WEIGHTED}:
        return None
    order = graph.by_influence
    weights, rows, columns = heaviest(graph.weights[order][:, order], WEIGHTS)
    counted = as_welfare(model.welfare).gradient(np.ones(len(order)))[order] if welfare == WEIGHTED else None
    return Playable(
        weights=weights,
        rows=rows,
        columns=columns,
        lightest=float(rows.sum() * columns.sum() / graph.weights.sum()) if graph.weights.nnz else 0.0,
        benefit=np.asarray(graph.node_columns["benefit"], dtype=float)[order],
        interaction=interaction,
        welfare=welfare,
        counts=counted,
    )


def game_names(model: Any) -> tuple[str, str]:
    """Return the names of a model's interaction and welfare; empty where they have none."""
    interaction = as_interaction(getattr(model, "interaction", "log1p"))
    welfare = as_welfare(getattr(model, "welfare", "total"))
    if isinstance(welfare, WeightedTotal):
        return named(interaction, INTERACTIONS), WEIGHTED
    return named(interaction, INTERACTIONS), named(welfare, WELFARES)


def named(thing: object, registry: Any) -> str:
    """Return the name under which something's kind is registered; empty where it is not."""
    return next((name for name in registry if registry[name] is type(thing)), "")


def heaviest(weights: Any, most: int) -> tuple[Any, Array, Array]:
    """Return at most so many entries of a matrix, the heaviest, and the rest as the product of a column and a row.

    Examples
    --------
    >>> kept, rows, columns = heaviest(sparse.csr_array(np.array([[0, 3.0, 0], [4.0, 0, 1.0], [0, 2.0, 0]])), 2)
    >>> kept.data, np.outer(rows, columns).sum(axis=0)
    (array([3., 4.]), array([0., 2., 1.]))
    """
    whole = sparse.csr_array(weights)
    whole.sort_indices()
    none = np.zeros(whole.shape[0])
    if whole.nnz <= most:
        return whole, none, none
    target = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))
    kept = np.sort(np.argpartition(whole.data, -most)[-most:])
    held = sparse.csr_array((whole.data[kept], (target[kept], whole.indices[kept])), shape=whole.shape)
    light = whole - held
    total = float(light.sum())
    return held, np.asarray(light.sum(axis=1)).ravel(), np.asarray(light.sum(axis=0)).ravel() / total


def steps(weights: Any) -> Array:
    """Return how far each column of a CSR array is from the one before in its row: small numbers compress well.

    Examples
    --------
    >>> steps(sparse.csr_array(np.array([[0, 3.0, 2.0], [4.0, 0, 1.0]]))).tolist()
    [1, 1, 0, 2]
    """
    apart = np.diff(weights.indices, prepend=0)
    firsts = weights.indptr[:-1][np.diff(weights.indptr) > 0]
    apart[firsts] = weights.indices[firsts]
    return np.asarray(apart)


def packed(values: Any, kind: str) -> str:
    """Return numbers as base 64.

    Examples
    --------
    >>> packed([1, 2], "<u2")
    'AQACAA=='
    """
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode("ascii")
