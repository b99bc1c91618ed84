"""How sure a tie is, which pairs count as tied, and which of them are true: for the page and the plots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..graph import EVIDENCE, LearnedGraph, as_graph
from ..matching import names_of, order_of
from ..validation import Array, InputError, listing


class Cut(NamedTuple):
    """The evidence for every pair, and the part of the graph that counts as tied.

    ``column`` is what the evidence is, ``share`` whether it is a share from 0 to 1, ``level`` from where on a pair
    counts as tied. ``evidence`` is over the graph's stored edges, the same in both directions of a pair. ``ties`` has
    the edges of the pairs that count, ``n_ties`` the number of these pairs.
    """

    column: str
    share: bool
    level: float
    evidence: Array
    ties: LearnedGraph
    n_ties: int


def cut_of(graph: LearnedGraph) -> Cut:
    """Return the evidence of a graph's pairs and those that count as tied.

    For a tie model the likeliest pairs count, as many as ties are expected. If the evidence is another share (a
    frequency), pairs count from one half on. For a consensus the suggested ties count
    (:meth:`~nashgraph.graph.LearnedGraph.suggested`), for other graphs all that are stored.
    A pair's frequency or weight is the mean of its two directions.
    """
    column = next((name for name in ("probability", EVIDENCE, "frequency") if name in graph.edge_columns), "weight")
    if column == "weight":
        values = graph.weights.data
    else:
        values = np.asarray(graph.edge_columns[column], dtype=float)
    symmetric = column in ("probability", EVIDENCE) or not graph.directed
    evidence = values if symmetric else pair_means(graph, values)
    share = column not in ("weight", EVIDENCE) and bool(((values >= 0) & (values <= 1)).all())
    ties = graph
    level = float(evidence.min(initial=0.0))
    if column == EVIDENCE:
        ties = graph.suggested()
        if ties.n_edges:
            level = float(np.min(ties.edge_columns[EVIDENCE]))
        else:
            level = 0.0
    elif "expected_ties" in graph.node_columns:
        # A tie model knows how many ties there are better than which pairs have them: the likeliest pairs are shown.
        n_expected = round(float(np.sum(graph.node_columns["expected_ties"])) / 2)
        level = level_of_likeliest(graph, evidence, n_expected)
        ties = replace(graph, edge_columns={**graph.edge_columns, "pair": evidence}).at_least("pair", level)
    elif share:
        ties = replace(graph, edge_columns={**graph.edge_columns, "pair": evidence}).at_least("pair", 0.5)
        level = 0.5
    return Cut(column, share, level, evidence, ties, ties.undirected().n_edges)


def level_of_likeliest(graph: LearnedGraph, evidence: Array, n_pairs: int) -> float:
    """Return the evidence that at most ``n_pairs`` pairs reach; pairs of equal evidence count together."""
    table = graph.weights.tocoo()
    values = np.sort(evidence[table.row < table.col])[::-1]
    if n_pairs >= len(values):
        return float(values.min(initial=1.0))
    above = values[values > values[n_pairs]]
    if len(above):
        return float(above.min(initial=1.0))
    return float(values[0])


def pair_means(graph: LearnedGraph, values: Array) -> Array:
    """Return the mean over both directions of each stored edge's pair; a direction that is not stored counts 0."""
    table = sparse.csr_array((values, graph.weights.indices, graph.weights.indptr), shape=graph.weights.shape)
    both = sparse.csr_array(table + table.T)
    if len(values):
        return 0.5 * np.asarray(both[table.tocoo().coords]).ravel()
    return values


def matched(graph: LearnedGraph, truth: Any) -> LearnedGraph:
    """Return a true network with its nodes in the order of a graph's, by name if both have names."""
    true = as_graph(truth)
    order = order_of(names_of(graph), names_of(truth), "graph", "truth")
    if order is not None:
        true = LearnedGraph.of(true.weights[order][:, order], graph.names, directed=true.directed)
    if true.n_nodes != graph.n_nodes:
        raise InputError(
            f"truth has {true.n_nodes} nodes and the graph {graph.n_nodes}: both must be on the same nodes, in one "
            "order"
        )
    return true


def true_pairs(graph: LearnedGraph, truth: Any) -> Array:
    """Return the edges of a true network by the numbers of a graph's nodes, as an array of shape (n, 2).

    The truth may have fewer nodes. They are matched by name if they are the graph's, else by order.
    """
    true = as_graph(truth)
    places = {str(name): place for place, name in enumerate(graph.names)}
    strangers = [name for name in map(str, true.names) if name not in places]
    if not strangers:
        number = np.array([places[str(name)] for name in true.names])
    elif len(strangers) == true.n_nodes == graph.n_nodes:
        number = np.arange(graph.n_nodes)
    else:
        raise InputError(
            f"truth has {len(strangers)} node(s) that the graph does not have: {listing(strangers)}; leave them out, "
            "or name the nodes alike"
        )
    return np.asarray(number[np.stack([true.listed.source, true.listed.target], axis=1)])
