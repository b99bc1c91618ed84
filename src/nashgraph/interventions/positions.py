"""Positions: communities, core and periphery, brokers, and diffusion centrality.

Communities are :attr:`~nashgraph.LearnedGraph.communities`. Core and brokers use only the ties that are at least as
heavy as their target's mean weight over all others, because a consensus has a little weight on every pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from ..compiled import kernel
from ..games import spectral_radius
from ..graph import LearnedGraph
from ..matching import in_order
from ..validation import Array, InputError, check_integer, check_number, check_vector
from .game import Game, check_best, firsts, stability

PIVOTS = 200  # drawn nodes at which paths start in a network of more than 1,000
EQUAL = 1e-12  # paths whose lengths differ by less, relatively, are equally short


def roles(
    graph: Any,
    *,
    communities: Any = None,
    pivots: int | None = None,
    best: int | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return the position of every node, the greatest broker first.

    Parameters
    ----------
    graph : fitted model, LearnedGraph, matrix of weights or Game
    communities : array of shape (n_nodes,), optional (default: :attr:`~nashgraph.LearnedGraph.communities`)
    pivots, random_state : int, how many nodes, and the seed to draw them, at which shortest paths start (default: all
        of up to 1,000 nodes, else 200)
    best : int, optional, for a consensus how many of the greatest brokers ``among_best`` counts (default: 5)

    Returns
    -------
    DataFrame with name; community; core, the largest k for which the node is in the k-core, without directions (low
    values are the periphery); broker, the share of shortest paths between other nodes that go through it, along the
    direction of influence, with 1 / weight as a tie's length (betweenness); and outside, the share of the weight of its
    ties, both ways, that goes to other communities. For a consensus also low, high and among_best, of broker. If
    ``attrs["pivots"]`` is below the number of nodes, broker is an estimate.

    Examples
    --------
    >>> import networkx as nx
    >>> roles(nx.to_numpy_array(nx.path_graph(3))).name[0]
    1
    """
    game = Game.on(graph)
    count = check_best(best, game.n_nodes)
    random = np.random.default_rng(check_integer("random_state", random_state, low=0, high=2**32 - 1, remedy="try 0"))
    if pivots is None:
        pivots = game.n_nodes if game.n_nodes <= 1_000 else PIVOTS
    remedy = f"it is the number of nodes at which paths start; try {PIVOTS}"
    starts = min(check_integer("pivots", pivots, low=1, remedy=remedy), game.n_nodes)
    if communities is None:
        community = LearnedGraph(game.names, game.weights).communities
    else:
        communities = in_order("communities", communities, game.names, "the graph")
        labels = check_vector("communities", communities, game.n_nodes, "pass a number for each node, or leave it out")
        community = np.unique(labels, return_inverse=True)[1] + 1
    heavy = heavy_ties(game.weights)
    broker = betweenness(heavy, starts, random)
    fewer = max(1, starts // 8)  # intervals need fewer digits
    over = [betweenness(heavy_ties(each.weights), fewer, random) for each in game.replicates]
    table = game.table(
        firsts(broker, game.n_nodes),
        community=community,
        core=core_numbers(heavy),
        broker=broker,
        outside=outside(game.weights, community),
        **stability(game, broker, over, [firsts(each, count) for each in over]),
    )
    table.attrs["pivots"] = starts
    return table


def diffusion_centrality(graph: Any, *, scale: float | None = None, rounds: int | None = None) -> Array:
    r"""Return how often all nodes together hear, in expectation, of what each node alone was told.

    .. math:: \sum_{t=1}^{T} (q W^\top)^t \, 1

    Banerjee, Chandrasekhar, Duflo and Jackson (2013), The diffusion of microfinance. It is influence for T = 1 and
    approaches eigenvector centrality for large T.

    Parameters
    ----------
    graph : fitted model, LearnedGraph, matrix of weights or Game
    scale : float, optional, q (default: 1 over the largest eigenvalue of W, at which news neither die out nor explode)
    rounds : int, optional, T (default: log N / log(mean number of ties), rounded up, a usual distance between nodes)

    Examples
    --------
    >>> diffusion_centrality(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), scale=0.5, rounds=2)
    array([0.75, 0.5 , 0.  ])
    """
    weights, (scale, rounds) = Game.on(graph).weights, check_spread(scale, rounds)
    n = weights.shape[0]
    if scale is None:
        scale = 1.0 / largest_eigenvalue(weights)
    if rounds is None:
        rounds = max(1, int(np.ceil(np.log(n) / np.log(max(2.0, weights.nnz / n)))))
    heard = np.ones(n)
    total = np.zeros(n)
    for _ in range(rounds):
        heard = scale * (weights.T @ heard)
        total += heard
    return total


def check_spread(scale: float | None, rounds: int | None) -> tuple[float | None, int | None]:
    """Check how strongly and how long news spread."""
    if rounds is not None:
        rounds = check_integer("rounds", rounds, low=1, remedy="it is how long news travel; try 5")
    if scale is not None:
        scale = check_number("scale", scale, low=0, open_low=True, remedy="it multiplies the weights; try 1")
    return scale, rounds


def largest_eigenvalue(weights: Any) -> float:
    """Return the largest eigenvalue of a non-negative matrix, to six digits; a graph without cycles is an error."""
    groups = connected_components(sparse.csr_array(weights > 0), connection="strong")[0]
    if groups == weights.shape[0] and not weights.diagonal().any():
        raise InputError("the graph has no cycle, so its largest eigenvalue is 0: give scale")
    return spectral_radius(weights)


def heavy_ties(weights: Any) -> Any:
    """Return the ties that are at least as heavy as their target's mean weight over all others."""
    n = weights.shape[0]
    counts = np.diff(weights.indptr)
    even = np.asarray(weights.sum(axis=1), dtype=float).ravel() / max(1, n - 1)
    rows = np.repeat(np.arange(n), counts)
    heavy = weights.data >= even[rows] * (1.0 - 1e-9)
    return sparse.csr_array((weights.data[heavy], (rows[heavy], weights.indices[heavy])), shape=weights.shape)


def core_numbers(weights: Any) -> Array:
    """Return the largest k for which each node is in the k-core, without directions."""
    upper = sparse.triu(weights + weights.T, k=1, format="csr")
    ties = sparse.csr_array(upper + upper.T)
    degree = np.diff(ties.indptr)
    core = np.zeros(weights.shape[0], dtype=np.int64)
    level = 0
    left = np.ones(len(core), dtype=bool)
    while left.any():  # networkx takes 13 s for a million ties, this takes 0.2 s
        level = max(level, int(degree[left].min()))
        gone = np.flatnonzero(left & (degree <= level))
        core[gone], left[gone] = level, False
        degree = degree - np.bincount(ties[gone].indices, minlength=len(core))
    return core


def outside(weights: Any, community: Array) -> Array:
    """Return the share of the weight of each node's ties, both ways, that goes to other communities; 0 without ties."""
    both = sparse.coo_array(weights + weights.T)
    ends, others = both.coords
    all_weight = np.bincount(ends, both.data, minlength=len(community))
    leaving = np.bincount(ends, both.data * (community[ends] != community[others]), minlength=len(community))
    return leaving / np.where(all_weight > 0, all_weight, 1.0)


def betweenness(weights: Any, pivots: int, random: np.random.Generator) -> Array:
    """Return the share of shortest paths, from some nodes drawn at random to all others, through each node."""
    n = weights.shape[0]
    lengths = sparse.csr_array((1.0 / weights.data, weights.indices, weights.indptr), shape=weights.shape)
    starts = random.permutation(n)[:pivots] if pivots < n else np.arange(n)
    onward = sparse.csr_array(lengths.T)
    total = np.zeros(n)
    for first in range(0, len(starts), 50):  # these many rows of distances are in memory at once
        some = starts[first : first + 50]
        distances = dijkstra(onward, indices=some)  # networkx takes seconds for the paths of 300 nodes
        order = np.argsort(distances, axis=1, kind="stable")
        count_paths(lengths.indptr, lengths.indices, lengths.data, some, distances, order, total)
    return total * n / (len(starts) * max(1, (n - 1) * (n - 2)))


@kernel()
def count_paths(
    pointers: Array, sources: Array, lengths: Array, starts: Array, distances: Array, order: Array, total: Array
) -> None:
    """Add to each node the share of shortest paths through it from each start to all others (Brandes 2001)."""
    n = len(pointers) - 1
    paths = np.empty(n)
    through = np.empty(n)
    for s in range(len(starts)):
        distance = distances[s]
        paths[:], through[:] = 0.0, 0.0
        paths[starts[s]] = 1.0
        for node in order[s]:
            if np.isfinite(distance[node]):
                for k in range(pointers[node], pointers[node + 1]):
                    if distance[sources[k]] + lengths[k] <= distance[node] * (1.0 + EQUAL):
                        paths[node] += paths[sources[k]]
        for node in order[s][::-1]:
            if np.isfinite(distance[node]) and node != starts[s]:
                for k in range(pointers[node], pointers[node + 1]):
                    if distance[sources[k]] + lengths[k] <= distance[node] * (1.0 + EQUAL):
                        through[sources[k]] += paths[sources[k]] / paths[node] * (1.0 + through[node])
                total[node] += through[node]
