"""Effect of the prior on a consensus: the nodes and ties it adds to the network that the signals alone give."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..estimators import GraphEstimator
from ..graph import LearnedGraph
from .plain import shortened, text
from .prose import speaking

NAMED = 3  # nodes and ties that gain most
HUBS = 10


class Gain(NamedTuple):
    """A node or a tie, by name, and its influence or weight without the prior and with it."""

    names: list[str]
    without: float
    now: float


class PriorPart(NamedTuple):
    """How much the members with a prior count, and what they change.

    Attributes
    ----------
    share : float, of the members that have a prior
    moved : float, the share of all weight that lies elsewhere without them
    nodes, ties : those that gain most influence, most weight (from the one who influences to the other)
    new_hubs : names of nodes that are among the ten most influential thanks to the prior alone
    """

    share: float
    moved: float
    nodes: list[Gain]
    ties: list[Gain]
    new_hubs: list[str]


def prior_part(model: GraphEstimator, graph: LearnedGraph | None = None) -> PriorPart | None:
    """Return what the prior did, where it did something and the graph without it is known."""
    graph, smooth = graph or model.graph_, model.without_prior_
    if smooth is None or model.prior_share_ == 0:
        return None
    gained = (graph.weights - smooth.weights).tocoo()
    more = graph.influence - smooth.influence

    def named(*nodes: int) -> list[str]:
        return shortened([text(graph.names[node]) for node in nodes])

    def ties() -> list[Gain]:
        target, source = gained.coords
        most = np.argsort(-gained.data, kind="stable")[:NAMED]
        pairs = [(int(source[k]), int(target[k])) for k in most if gained.data[k] > 0]
        return [Gain(named(j, i), float(smooth.weights[i, j]), float(graph.weights[i, j])) for j, i in pairs]

    nodes = [node for node in np.argsort(-more, kind="stable")[:NAMED] if more[node] > 0]
    first = speaking(graph)
    before = smooth.by_influence[np.isin(smooth.by_influence, first)][:HUBS]
    return PriorPart(
        share=model.prior_share_,
        moved=float(0.5 * np.abs(gained.data).sum() / graph.weights.sum()),
        nodes=[Gain(named(node), float(smooth.influence[node]), float(graph.influence[node])) for node in nodes],
        ties=ties(),
        new_hubs=named(*(node for node in first[:HUBS].tolist() if node not in before)),
    )
