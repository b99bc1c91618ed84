"""Roles: who belongs together, who is at the core and who at the rim, and through whom others are reached.

Communities are :attr:`~nashgraph.LearnedGraph.communities`. Core and brokers are read off the ties that are at least as
heavy as if their listener heard everybody alike: a consensus has a little weight on every pair.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from ..compiled import kernel
from ..graph import LearnedGraph
from ..validation import Array, check_integer, check_vector
from .society import Game, check_best, how_steady

ALL_UP_TO, PIVOTS = 1_000, 200  # nodes from which paths all start up to so many; of more, so many drawn
FOR_MEMBERS = 8  # a member of a consensus has an eighth of them
AT_ONCE = 50  # pivots whose distances are held at once
EQUAL = 1e-12  # paths whose lengths differ by less, relatively, are equally short


def roles(
    graph: Any,
    *,
    communities: Any = None,
    pivots: int | None = None,
    best: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the role of every node, the greatest broker first.

    Parameters
    ----------
    graph : fitted model, LearnedGraph or matrix of weights
    communities : array of shape (n_nodes,), optional
        A number for each node; by default :attr:`~nashgraph.LearnedGraph.communities`.
    pivots : int, optional
        From how many nodes, drawn at random, shortest paths start: all of up to 1,000 nodes, 200 of more.
    best : int, optional
        Of a consensus: among how many of the greatest brokers to count a node; 5 by default.
    seed : int
        Of the draw of pivots.

    Returns
    -------
    DataFrame with name; community; core, the largest k for which a node is tied to k others who are tied to k others
    among themselves (the k-core, directions left out): low is the rim; broker, the share of shortest paths between
    others that go through it, along the direction of influence, a tie being as long as 1 / weight (betweenness); and
    outside, the share of the weight of its ties, both ways, that is with other communities. Of a consensus also low,
    high (the 90 % interval of broker over its resamples) and among_best. ``attrs["pivots"]`` says how many there were:
    fewer than nodes make broker an estimate.

    Examples
    --------
    Two triangles and the one node between them:

    >>> pairs = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (4, 6)]
    >>> table = roles(nx.to_numpy_array(nx.Graph(pairs), nodelist=range(7)))
    >>> table.name.tolist()[:3], table.broker.round(2).tolist()[:3]
    ([3, 2, 4], [0.6, 0.53, 0.53])
    """
    game = Game.on(graph)
    count = check_best(best, game.n_nodes)
    random = np.random.default_rng(check_integer("seed", seed, low=0, remedy="try 0"))
    sources = min(check_pivots(pivots, game.n_nodes), game.n_nodes)
    member = found_communities(communities, game)
    heavy = heavy_ties(game.weights)
    broker = betweenness(heavy, sources, random)
    fewer = max(1, sources // FOR_MEMBERS)
    over = [betweenness(heavy_ties(each.weights), fewer, random) for each in game.each_member()]
    table = {
        "community": member,
        "core": core_numbers(heavy),
        "broker": broker,
        "outside": outside(game.weights, member),
        **how_steady(over, count),
    }
    order = np.argsort(-broker, kind="stable")
    ordered = {column: values[order] for column, values in table.items()}
    found = pd.DataFrame({"name": pd.Series(game.names[order], dtype=object), **ordered})
    found.attrs["pivots"] = sources
    return found


def check_pivots(pivots: int | None, n_nodes: int) -> int:
    """Check from how many nodes paths start."""
    if pivots is None:
        return n_nodes if n_nodes <= ALL_UP_TO else PIVOTS
    return check_integer("pivots", pivots, low=1, remedy=f"it is from how many nodes paths start; try {PIVOTS}")


def found_communities(communities: Any, game: Game) -> Array:
    """Return the community of every node: those given, or Leiden's."""
    if communities is None:
        return LearnedGraph(game.names, game.weights).communities
    given = check_vector("communities", communities, game.n_nodes, "pass a number for each node, or leave it out")
    return np.unique(given, return_inverse=True)[1] + 1


def heavy_ties(weights: Any) -> Any:
    """Return the ties that are at least as heavy as if their listener heard all others alike."""
    n, counts = weights.shape[0], np.diff(weights.indptr)
    even = np.asarray(weights.sum(axis=1), dtype=float).ravel() / max(1, n - 1)
    rows = np.repeat(np.arange(n), counts)
    kept = weights.data >= even[rows] * (1.0 - 1e-9)
    return sparse.csr_array((weights.data[kept], (rows[kept], weights.indices[kept])), shape=weights.shape)


def core_numbers(weights: Any) -> Array:
    """Return the largest k for which each node is in the k-core, directions left out."""
    target, source = sparse.triu(weights + weights.T, k=1, format="coo").coords
    pairs: nx.Graph[int] = nx.Graph()
    pairs.add_nodes_from(range(weights.shape[0]))
    pairs.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    return np.array(list(nx.core_number(pairs).values()))


def outside(weights: Any, member: Array) -> Array:
    """Return the share of each node's ties, by weight and both ways, with other communities; 0 without ties."""
    both = sparse.coo_array(weights + weights.T)
    ends, others = both.coords
    all_weight = np.bincount(ends, both.data, minlength=len(member))
    leaving = np.bincount(ends, both.data * (member[ends] != member[others]), minlength=len(member))
    return leaving / np.where(all_weight > 0, all_weight, 1.0)


def betweenness(weights: Any, pivots: int, random: np.random.Generator) -> Array:
    """Return the share of shortest paths from some nodes, drawn at random, to all others that go through each node.

    Distances are SciPy's; networkx, which would count the paths too, takes seconds for 300 nodes.
    """
    n = weights.shape[0]
    lengths = sparse.csr_array((1.0 / weights.data, weights.indices, weights.indptr), shape=weights.shape)
    starts = random.permutation(n)[:pivots] if pivots < n else np.arange(n)
    onward = sparse.csr_array(lengths.T)
    # SciPy before 1.15 finds paths with 32-bit indices only, and its arrays keep the 64 bits they were made with.
    onward.indices, onward.indptr = onward.indices.astype(np.int32), onward.indptr.astype(np.int32)
    total = np.zeros(n)
    for first in range(0, len(starts), AT_ONCE):
        some = starts[first : first + AT_ONCE]
        distances = dijkstra(onward, indices=some)
        order = np.argsort(distances, axis=1, kind="stable")
        count_paths(lengths.indptr, lengths.indices, lengths.data, some, distances, order, total)
    return total * n / (len(starts) * max(1, (n - 1) * (n - 2)))


@kernel()
def count_paths(
    pointers: Array, sources: Array, lengths: Array, starts: Array, distances: Array, order: Array, total: Array
) -> None:
    """Add to each node the share of shortest paths through it from each start to all others (Brandes 2001)."""
    n = len(pointers) - 1
    paths, through = np.empty(n), np.empty(n)
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
