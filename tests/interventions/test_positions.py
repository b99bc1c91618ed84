"""Roles: betweenness and cores against networkx, paths that tie, directions, pivots, a consensus, bad input."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from nashgraph import InputError, LearnedGraph
from nashgraph.graph import adjacency_matrix
from nashgraph.interventions import Game
from nashgraph.interventions.positions import betweenness, core_numbers, heavy_ties, roles


def by_networkx(weights):
    """Return networkx's betweenness along the direction of influence, a tie being as long as 1 / weight."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(weights.shape[0]))
    coo = sparse.coo_array(weights)
    rows, columns = coo.coords
    graph.add_weighted_edges_from(zip(columns.tolist(), rows.tolist(), (1 / coo.data).tolist(), strict=True))
    found = nx.betweenness_centrality(graph, weight="weight")
    return [found[node] for node in range(len(found))]


@pytest.mark.parametrize("tied", [False, True], ids=["weights differ", "equal paths"])
def test_brokers_are_networkx_s(tied, random):
    W = (random.random((40, 40)) < 0.12) * (1.0 if tied else random.random((40, 40))) * (1 - np.eye(40))
    weights = sparse.csr_array(W)
    np.testing.assert_allclose(betweenness(weights, 40, random), by_networkx(weights), atol=1e-12)


def test_pivots_estimate_it(random):
    weights = adjacency_matrix(nx.barabasi_albert_graph(300, 2, seed=0))
    whole, some = betweenness(weights, 300, random), betweenness(weights, 100, random)
    assert np.argmax(whole) == np.argmax(some)
    assert np.corrcoef(whole, some)[0, 1] > 0.95


def test_the_core_and_its_rim():
    graph = nx.complete_graph(5)
    graph.add_edges_from([(0, 5), (5, 6)])
    assert core_numbers(adjacency_matrix(graph)).tolist() == [4] * 5 + [1, 1]
    assert core_numbers(sparse.csr_array(np.zeros((2, 2)))).tolist() == [0, 0]


def test_a_little_weight_on_every_pair_makes_no_core():
    W = adjacency_matrix(nx.path_graph(12)).toarray()
    faint = W + 0.01 * (1 - np.eye(12))
    np.testing.assert_array_equal(heavy_ties(sparse.csr_array(faint)).toarray() > 0, W > 0)
    even = sparse.csr_array(1.0 - np.eye(4))
    assert heavy_ties(even).nnz == even.nnz


def test_a_bridge_is_the_broker_and_leaves_its_community():
    graph = nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(6))
    graph.add_edge(5, 6)
    table = roles(LearnedGraph.of(adjacency_matrix(graph), "abcdefghijkl")).set_index("name")
    assert list(table.columns) == ["community", "core", "broker", "outside"]
    assert set(table.index[:2]) == {"f", "g"}
    assert table["outside"].round(3).to_dict() == {name: 0.167 if name in "fg" else 0.0 for name in "abcdefghijkl"}
    assert table.loc[list("abcdef"), "community"].nunique() == 1
    assert table["community"].nunique() == 2


def test_own_communities_and_a_consensus():
    path, star = (adjacency_matrix(graph) for graph in (nx.path_graph(5), nx.star_graph(4)))
    model = replace(Game.on(path), replicate_weights=(path, path, path, star))
    table = roles(model, communities=[7, 7, 7, 2, 2], best=1, pivots=5).set_index("name")
    assert table.index[0] == 2
    assert table["community"].sort_index().tolist() == [2, 2, 2, 1, 1]
    assert table.loc[3, "outside"] == 0.5
    assert (table["low"] <= table["high"]).all()
    assert table["among_best"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"communities": [1, 2]}, "communities must have shape"),
        ({"pivots": 0}, "pivots must be at least 1"),
        ({"best": 9}, "best=9 is more than the 3 nodes there are"),
        ({"random_state": -1}, "random_state must be at least 0"),
    ],
)
def test_bad_input_is_said(arguments, words):
    with pytest.raises(InputError, match=words):
        roles(np.ones((3, 3)), **arguments)
