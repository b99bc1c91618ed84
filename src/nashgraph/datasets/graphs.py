"""Synthetic networks, each seeded and given as a networkx graph on nodes 0 ... n_nodes - 1."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from ..validation import InputError, check_integer, check_number, check_random_state


def preferential_attachment(n_nodes: int, edges_per_node: int = 1, random_state: Any = None) -> nx.Graph[int]:
    """Barabási-Albert: each new node links to ``edges_per_node`` old ones, by their degree. A tree when that is 1.

    Examples
    --------
    >>> preferential_attachment(50, random_state=0).number_of_edges()
    49
    """
    n = _size(n_nodes)
    m = check_integer("edges_per_node", edges_per_node, low=1, remedy="1 gives a tree")
    if m >= n:
        raise InputError(f"edges_per_node must be below n_nodes={n}, got {m}: take a larger network or fewer edges")
    return nx.barabasi_albert_graph(n, m, seed=check_random_state(random_state))


def erdos_renyi(n_nodes: int, degree: float = 6.0, random_state: Any = None) -> nx.Graph[int]:
    """Erdős-Rényi: every pair is an edge with the one probability that makes the mean degree ``degree``.

    Examples
    --------
    >>> erdos_renyi(100, degree=6, random_state=0).number_of_nodes()
    100
    """
    n = _size(n_nodes)
    return nx.fast_gnp_random_graph(n, _degree(degree, n) / (n - 1), seed=check_random_state(random_state))


def small_world(n_nodes: int, degree: int = 6, rewiring: float = 0.1, random_state: Any = None) -> nx.Graph[int]:
    """Watts-Strogatz: a ring where each node knows its ``degree`` nearest, a share of the edges then rewired.

    Examples
    --------
    >>> small_world(30, degree=4, random_state=0).number_of_edges()
    60
    """
    n = _size(n_nodes)
    nearest = check_integer("degree", degree, low=2, remedy="take an even number, for example 6")
    share = check_number("rewiring", rewiring, low=0, high=1, remedy="it is the probability of rewiring an edge")
    return nx.watts_strogatz_graph(n, min(nearest, n - 1), share, seed=check_random_state(random_state))


def stochastic_block_model(
    n_nodes: int, n_blocks: int = 4, degree: float = 6.0, mixing: float = 0.1, random_state: Any = None
) -> nx.Graph[int]:
    """Communities of nearly equal size; ``mixing`` is the share of edges that leave a community.

    Each node carries its community as the attribute ``block``.

    Examples
    --------
    >>> graph = stochastic_block_model(40, n_blocks=4, random_state=0)
    >>> sorted({block for _, block in graph.nodes(data="block")})
    [0, 1, 2, 3]
    """
    n = _size(n_nodes)
    blocks = check_integer("n_blocks", n_blocks, low=1, remedy="try 4")
    if blocks > n:
        raise InputError(f"n_blocks must not exceed n_nodes={n}, got {blocks}: take fewer blocks")
    share = check_number("mixing", mixing, low=0, high=1, remedy="it is the share of edges between communities")
    wanted = _degree(degree, n)
    sizes = np.bincount(np.arange(n) % blocks).tolist()
    mean_size = n / blocks
    if mean_size <= 1:
        inside = 1.0
    else:
        inside = min(1.0, (1 - share if blocks > 1 else 1.0) * wanted / (mean_size - 1))
    if blocks == 1:
        outside = 0.0
    else:
        outside = min(1.0, share * wanted / (n - mean_size))
    probabilities = np.full((blocks, blocks), outside)
    np.fill_diagonal(probabilities, inside)
    drawn = nx.stochastic_block_model(sizes, probabilities.tolist(), seed=check_random_state(random_state))
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from((node, {"block": block}) for node, block in sorted(drawn.nodes(data="block")))
    graph.add_edges_from(drawn.edges())
    return graph


def random_geometric(n_nodes: int, degree: float = 6.0, random_state: Any = None) -> nx.Graph[int]:
    """Points in the unit square, linked when near; the radius makes the mean degree about ``degree``.

    Each node carries its place as the attribute ``pos``. Near the border nodes have fewer neighbours.

    Examples
    --------
    >>> random_geometric(100, degree=6, random_state=0).number_of_nodes()
    100
    """
    n = _size(n_nodes)
    radius = float(np.sqrt(_degree(degree, n) / (np.pi * (n - 1))))
    return nx.random_geometric_graph(n, radius, seed=check_random_state(random_state))


def _size(n_nodes: object) -> int:
    return check_integer("n_nodes", n_nodes, low=2, remedy="a network needs at least two nodes")


def _degree(degree: object, n_nodes: int) -> float:
    remedy = f"it is a mean number of neighbours, at most n_nodes - 1 = {n_nodes - 1}"
    return check_number("degree", degree, low=0, high=n_nodes - 1, open_low=True, remedy=remedy)
