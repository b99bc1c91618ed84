"""How sure a tie is, which pairs count as tied, and which of them are known to be: for the page and the plots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..graph import EVIDENCE, LearnedGraph, as_graph
from ..validation import Array, InputError, listing

COLUMNS = ("probability", "evidence", "frequency")  # the first of these that edges have; without any, their weight
SYMMETRIC = ("probability", "evidence")  # the same for both directions of a pair
HALF = 0.5


class Cut(NamedTuple):
    """The evidence for every pair, and the part of the graph that counts as tied.

    Attributes
    ----------
    column : str, what the evidence is
    share : bool, whether it is a share from 0 to 1
    level : float, from which on a pair counts as tied
    evidence : array over the graph's stored edges: that of the pair, the same in both directions
    ties : LearnedGraph, the edges of the pairs that count
    n_ties : int, the number of these pairs
    """

    column: str
    share: bool
    level: float
    evidence: Array
    ties: LearnedGraph
    n_ties: int


def cut_of(graph: LearnedGraph) -> Cut:
    """Return the evidence of a graph's pairs and those that count as tied.

    Pairs count from one half on if the evidence is a share (a probability, a frequency). For a consensus the suggested
    ties count (:meth:`~nashgraph.graph.LearnedGraph.suggested`), for other graphs all that are stored.
    A pair's frequency or weight is the mean of its two directions.

    Examples
    --------
    >>> columns = {"frequency": np.array([0.9, 0.3, 0.2]), "probability": np.array([0.7, 0.1, 0.7])}
    >>> graph = LearnedGraph.of(np.array([[0, 0.4, 0.1], [0.2, 0, 0], [0, 0, 0]]), edge_columns=columns)
    >>> cut = cut_of(graph)
    >>> cut.column, cut.n_ties, cut.ties.n_edges
    ('probability', 1, 2)
    """
    column = next((name for name in COLUMNS if name in graph.edge_columns), "weight")
    values = graph.weights.data if column == "weight" else np.asarray(graph.edge_columns[column], dtype=float)
    evidence = values if column in SYMMETRIC or not graph.directed else pair_means(graph, values)
    share = column != "weight" and bool(((values >= 0) & (values <= 1)).all())
    if column == EVIDENCE:
        ties = graph.suggested()
        least = float(np.min(ties.edge_columns[EVIDENCE], initial=np.inf)) if ties.n_edges else 0.0
        return Cut(column, False, least, evidence, ties, ties.undirected().n_edges)
    if not share:
        return Cut(column, share, float(evidence.min(initial=0.0)), evidence, graph, graph.undirected().n_edges)
    ties = replace(graph, edge_columns={**graph.edge_columns, "pair": evidence}).at_least("pair", HALF)
    return Cut(column, share, HALF, evidence, ties, ties.undirected().n_edges)


def pair_means(graph: LearnedGraph, values: Array) -> Array:
    """Return the mean over both directions of each stored edge's pair; a direction that is not stored counts 0."""
    target = np.repeat(np.arange(graph.n_nodes), np.diff(graph.weights.indptr))
    table = sparse.csr_array((values, graph.weights.indices, graph.weights.indptr), shape=graph.weights.shape)
    both = sparse.csr_array(table + table.T)
    return 0.5 * np.asarray(both[target, graph.weights.indices]).ravel() if len(target) else values


class Checks(NamedTuple):
    """Pairs of nodes by number, of shape (n, 2), from source to target.

    Attributes
    ----------
    ties : those that are tied
    directed : bool, whether the order of a pair counts
    """

    ties: Array
    directed: bool

    def to_dict(self, order: Array, held: int) -> dict[str, Any]:
        """Return the pairs among the nodes held, which are numbered by an order, as JSON has it."""
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        renamed = number[self.ties]
        return {"ties": renamed[(renamed < held).all(axis=1)].T.tolist(), "others": None, "directed": self.directed}


def checks_of(graph: LearnedGraph, network: Any) -> Checks:
    """Return the edges of a true network; its nodes are matched by name if they are the graph's, else by order."""
    truth = as_graph(network)
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
    return Checks(number[np.stack([listed.source, listed.target], axis=1)], truth.directed)
