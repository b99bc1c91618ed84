"""The known part of the true network, to compare with the drawn ties: a truth, or ties known in advance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..estimators import GraphEstimator
from ..graph import LearnedGraph, as_graph
from ..validation import Array, InputError, listing


class Checks(NamedTuple):
    """Pairs of nodes by number, of shape (n, 2), from source to target.

    Attributes
    ----------
    ties : those that are tied
    others : those known not to be; None where that is all the rest
    directed : bool, whether the order of a pair counts
    """

    ties: Array
    others: Array | None
    directed: bool

    def to_dict(self, order: Array, held: int) -> dict[str, Any]:
        """Return the pairs among the nodes held, which are numbered by an order, as JSON has it."""
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))

        def among(pairs: Array) -> list[list[int]]:
            renamed = number[pairs]
            kept: list[list[int]] = renamed[(renamed < held).all(axis=1)].T.tolist()
            return kept

        others = None if self.others is None else among(self.others)
        return {"ties": among(self.ties), "others": others, "directed": self.directed}


def checks_of(model: GraphEstimator, truth: Any) -> Checks | None:
    """Return what there is to check the graph of a model against: the truth, else the ties it was told."""
    if truth is not None:
        return _of_truth(model.graph_, as_graph(truth))
    known = getattr(model, "_known", None)
    if known is None:
        return None
    return Checks(known.pairs[known.values], known.pairs[~known.values], directed=False)


def _of_truth(graph: LearnedGraph, truth: LearnedGraph) -> Checks:
    """Return the edges of a truth; its nodes are matched by name if they are the graph's, else by order."""
    places = {str(name): place for place, name in enumerate(graph.names)}
    strangers = [name for name in map(str, truth.names) if name not in places]
    if not strangers:
        number = np.array([places[str(name)] for name in truth.names])
    elif truth.n_nodes == graph.n_nodes and len(strangers) == truth.n_nodes:
        number = np.arange(graph.n_nodes)
    else:
        raise InputError(
            f"truth has {len(strangers)} node(s) that the graph does not have: {listing(strangers)}; leave them out, "
            "or name the nodes alike"
        )
    listed = truth.listed
    return Checks(number[np.stack([listed.source, listed.target], axis=1)], None, truth.directed)
