"""The learned graph: one place for edges, influence, directions and columns."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score

from nashgraph import GLGP, InputError, LearnedGraph, as_graph
from nashgraph.datasets import stochastic_block_model
from nashgraph.graph import adjacency_matrix, interval_around

WEIGHTS = arrays(float, (6, 6), elements=st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0]))


@pytest.fixture
def graph():
    weights = np.array([[0.0, 0.4, 0.0], [0.2, 0.0, 0.6], [0.0, 0.0, 0.0]])
    columns = {"frequency": np.array([0.9, 0.5, 1.0])}  # of 0-1, 1-0, 1-2, as CSR has them
    return LearnedGraph.of(
        weights, ["ann", "bob", "cat"], node_columns={"age": np.array([30, 40, 50])}, edge_columns=columns
    )


@given(WEIGHTS)
def test_edges_are_the_positive_entries_heaviest_first(matrix):
    graph = LearnedGraph.of(matrix)
    table = graph.edges()
    assert table.weight.is_monotonic_decreasing
    rebuilt = np.zeros((6, 6))
    rebuilt[table.target.astype(int), table.source.astype(int)] = table.weight
    np.testing.assert_array_equal(rebuilt, matrix * ~np.eye(6, dtype=bool))
    np.testing.assert_allclose(graph.influence, rebuilt.sum(axis=0))
    assert (np.diff(graph.influence[graph.by_influence]) <= 0).all()


@given(WEIGHTS)
def test_the_undirected_view_is_the_mean_of_both_directions_each_pair_once(matrix):
    graph = LearnedGraph.of(matrix)
    mutual = graph.undirected()
    expected = 0.5 * (matrix + matrix.T) * ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(mutual.weights.toarray(), expected)
    assert mutual.n_edges == (np.triu(expected) > 0).sum()
    assert mutual.undirected() is mutual
    np.testing.assert_allclose(nx.to_numpy_array(graph.to_networkx(directed=False)), expected)
    np.testing.assert_allclose(nx.to_numpy_array(graph.to_networkx()).T, matrix * ~np.eye(6, dtype=bool))


def test_columns_travel_with_edges_and_nodes(graph):
    table = graph.edges().set_index(["source", "target"])
    assert table.frequency.to_dict() == {("bob", "ann"): 0.9, ("ann", "bob"): 0.5, ("cat", "bob"): 1.0}
    assert graph.to_networkx()["cat"]["bob"] == {"weight": 0.6, "frequency": 1.0}
    assert graph.to_networkx().nodes["cat"] == {"age": 50}
    mutual = graph.undirected().edges().set_index(["source", "target"])
    assert mutual.frequency.to_dict() == {("ann", "bob"): pytest.approx(0.7), ("bob", "cat"): 0.5}
    nodes = graph.nodes()
    assert nodes.columns.tolist() == ["name", "influence", "followers", "listens_to", "age"]
    assert nodes.name.tolist() == ["cat", "bob", "ann"]
    assert nodes.age.tolist() == [50, 40, 30]
    assert nodes.followers.tolist() == [1, 1, 1]
    assert nodes.listens_to.tolist() == [0, 2, 1]


def test_a_column_that_is_zero_in_one_direction_keeps_its_edge(graph):
    """The pattern is that of the weights, whatever the values of a column."""
    zero = LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), edge_columns={"low": np.array([0.0, 0.0])})
    assert zero.undirected().edges().low.tolist() == [0.0]


def test_attention_is_what_every_row_sums_to():
    equal = LearnedGraph.of(np.array([[0.0, 0.5], [0.5, 0.0]]))
    assert equal.attention == 0.5
    assert LearnedGraph.of(np.array([[0.0, 0.5], [0.1, 0.0]])).attention is None


def test_whatever_is_meant_for_a_graph(signals):
    model = GLGP(degree=5).fit(signals)
    for thing in (model, model.graph_, model.adjacency_.toarray(), model.adjacency_):
        assert as_graph(thing).n_edges == len(model.edges())
    assert as_graph(nx.path_graph(["a", "b", "c"])).edges().target.tolist() == ["b", "c"]
    assert as_graph(nx.DiGraph([("a", "b")])).edges().iloc[0].tolist() == ["a", "b", 1.0]
    with pytest.raises(InputError, match="GLGP has no graph yet: call fit first"):
        as_graph(GLGP())
    with pytest.raises(InputError, match="negative"):
        as_graph(-np.ones((2, 2)))


def test_names_of_any_kind_stay_what_they_are(signals):
    frame = pd.DataFrame(signals[:, :3], columns=[("a", 1), ("b", 2), ("c", 3)])
    names = LearnedGraph.of(np.ones((3, 3)), frame.columns.tolist()).names
    assert names.tolist() == [("a", 1), ("b", 2), ("c", 3)]


def test_a_second_fit_makes_a_new_graph(signals):
    model = GLGP(degree=3).fit(signals)
    first = model.graph_
    assert model.graph_ is first
    assert model.set_params(degree=6).fit(signals).graph_.n_edges > first.n_edges


def test_a_part_of_the_graph_keeps_the_influence_of_the_whole(graph):
    sure = graph.at_least("frequency", 0.9)
    assert sure.edges()[["source", "target", "frequency"]].values.tolist() == [["cat", "bob", 1.0], ["bob", "ann", 0.9]]
    np.testing.assert_array_equal(sure.influence, graph.influence)
    assert sure.nodes().columns.tolist() == ["name", "influence", "followers", "listens_to", "age"]
    assert sure.nodes().followers.tolist() == [1, 1, 0]
    assert graph.at_least("frequency", 0.0).n_edges == 3
    assert graph.at_least("frequency", 2.0).n_edges == 0
    with pytest.raises(InputError, match="edges have no 'weigth': of such columns it has frequency"):
        graph.at_least("weigth", 0.5)


@given(WEIGHTS, st.sampled_from([0.0, 0.3, 0.6, 2.0]), st.integers(0, 7), st.booleans())
def test_every_node_keeps_a_few_edges_the_highest_and_then_the_heaviest(matrix, level, fewest, directed):
    whole = LearnedGraph.of(matrix)
    frequency = np.round(np.modf(7.3 * np.arange(whole.weights.nnz))[0], 1)
    whole = LearnedGraph.of(matrix, edge_columns={"frequency": frequency})
    whole = whole if directed else whole.undirected()
    part = whole.at_least("frequency", level, fewest)
    assert (abs(part.weights - part.weights.T).sum() == 0) or directed
    kept = part.weights.toarray() > 0
    for node in range(6):
        row = slice(*whole.weights.indptr[node : node + 2])
        others, height = whole.weights.indices[row], whole.edge_columns["frequency"][row]
        assert kept[node, others[height >= level]].all()
        best = np.lexsort((-whole.weights.data[row], -height))[:fewest]
        assert kept[node, others[best]].all()
        if directed:
            assert kept[node].sum() == max((height >= level).sum(), min(fewest, len(others)))


def test_without_directions_an_interval_of_influence_still_holds_it(graph):
    ends = {"influence_low": graph.influence - 0.1, "influence_high": graph.influence + 0.1}
    mutual = LearnedGraph(graph.names, graph.weights, node_columns=ends).undirected()
    np.testing.assert_allclose(mutual.node_columns["influence_low"], mutual.influence - 0.05)
    np.testing.assert_allclose(mutual.node_columns["influence_high"], mutual.influence + 0.05)


def test_columns_of_pairs_survive_undirected():
    graph = LearnedGraph.of(
        np.array([[0.0, 0.4, 0.1], [0.2, 0.0, 0.0], [0.0, 0.3, 0.0]]),
        edge_columns={
            "frequency": np.array([1.0, 0.5, 1.0, 0.8]),
            "probability": np.array([0.9, 0.2, 0.9, 0.3]),
            "known": np.array(["tie", "", "tie", "no tie"], dtype=object),
        },
    )
    edges = graph.undirected().edges().set_index(["source", "target"])
    assert edges.probability.to_dict() == {(0, 1): 0.9, (0, 2): 0.2, (1, 2): 0.3}
    assert edges.known.to_dict() == {(0, 1): "tie", (0, 2): "", (1, 2): "no tie"}
    assert edges.frequency.to_dict() == {(0, 1): 1.0, (0, 2): 0.25, (1, 2): 0.4}


def test_an_edge_leads_from_whom_it_influences_from():
    """W[i, j] is the weight with which j influences i: the edge j -> i, in every export of a graph."""
    graph = LearnedGraph.of(np.array([[0.0, 0.4, 0.0], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]]), ["a", "b", "c"])
    assert [*graph.to_networkx().edges(data="weight")] == [("b", "a", 0.4), ("c", "b", 0.3)]
    assert [tuple(row) for row in graph.edges().itertuples(index=False)] == [("b", "a", 0.4), ("c", "b", 0.3)]
    assert dict(zip(graph.names, graph.influence, strict=True)) == {"a": 0.0, "b": 0.4, "c": 0.3}


def test_communities_are_those_of_a_block_model_and_the_lonely_are_alone():
    drawn = stochastic_block_model(120, n_blocks=4, degree=12, mixing=0.05, random_state=0)
    drawn.add_nodes_from([120, 121])
    found = LearnedGraph.of(adjacency_matrix(drawn)).communities
    blocks = [block for _, block in drawn.nodes(data="block")][:120]
    assert adjusted_rand_score(blocks, found[:120]) > 0.95
    assert found[120:].tolist() == [5, 6]
    sizes = np.bincount(found)[1:]
    assert (np.diff(sizes) <= 0).all()
    assert LearnedGraph.of(1e-9 * adjacency_matrix(drawn)).communities.tolist() == found.tolist()
    assert LearnedGraph.of(np.zeros((3, 3))).communities.tolist() == [1, 2, 3]


def test_the_interval_is_as_wide_as_replicates_differ():
    ends = interval_around(np.array([2.0, 2.0]), [np.array([1, 2]), np.array([2, 2])])
    np.testing.assert_allclose(ends, [[0.35, 2.0], [3.65, 2.0]], atol=0.01)


def test_the_suggested_ties_are_the_strongest_pairs_in_both_directions():
    graph = LearnedGraph.of(np.array([[0.0, 0.4, 0.1], [0.2, 0.0, 0.0], [0.3, 0.0, 0.0]]))
    assert graph.suggested(degree=0.7).edges().to_numpy().tolist() == [[1, 0, 0.4], [0, 1, 0.2]]
    assert graph.suggested().n_edges == graph.n_edges  # 6 per node, by convention


@pytest.mark.parametrize(("degree", "count"), [(0.5, 1), (0.9, 1), (1.4, 4), (2.0, 4)])
def test_pairs_of_equal_evidence_are_suggested_together(degree, count):
    """The order of nodes decided which of them were listed first, and so taken."""
    weights = np.triu(np.array([[0, 3, 2, 2], [0, 0, 2, 1], [0, 0, 0, 0], [0, 0, 0, 0]]), 1).astype(float)
    weights[0, 3] += 1e-15
    graph = LearnedGraph.of(weights + weights.T, directed=False)
    assert graph.suggested(degree).n_edges == count
