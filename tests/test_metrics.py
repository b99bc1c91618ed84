"""Scores against hand-counted cases and scikit-learn's own on the flattened pairs."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from nashgraph import (
    SmoothGL,
    adjacency_matrix,
    edge_auc,
    edge_average_precision,
    edge_precision_recall,
    equal_influence,
    welfare,
    welfare_gain,
)
from nashgraph.graph import LearnedGraph
from nashgraph.metrics import edge_scores
from nashgraph.validation import InputError

from .problems import random_graph

A = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])


def test_auc_counts_pairs_ranked_right():
    W = np.array([[9, 0.4, 0.3], [0.1, 9, 0.2], [0.3, 0.0, 9]])  # the diagonal must not count
    # edges score 0.4 and 0.2; non-edges 0.3, 0.1, 0.3, 0.0: of 8 pairs, 4 + 2 are right
    assert edge_auc(A, W) == pytest.approx(6 / 8)


def test_scores_take_all_ordered_pairs(random):
    W, truth = random.random((12, 12)), random.random((12, 12)) < 0.3
    off = ~np.eye(12, dtype=bool)
    assert edge_auc(truth, W) == pytest.approx(roc_auc_score(truth[off], W[off]))
    assert edge_auc(sparse.csr_array(truth), sparse.csr_array(W)) == pytest.approx(edge_auc(truth, W))
    assert edge_auc(truth, W, symmetrize="mean") == pytest.approx(edge_auc(truth, (W + W.T) / 2))
    assert edge_auc(truth, W, symmetrize="max") == pytest.approx(edge_auc(truth, np.maximum(W, W.T)))
    assert edge_average_precision(truth, truth.astype(float)) == 1.0


def test_learned_graphs_and_fitted_models_score_as_their_matrices(random, signals):
    truth = random.random((30, 30)) < 0.3
    model = SmoothGL(degree=4).fit(signals)
    assert edge_auc(truth, model) == edge_auc(LearnedGraph.of(truth), model.graph_) == edge_auc(truth, model.adjacency_)
    assert edge_average_precision(truth, -model.adjacency_.toarray()) > 0  # scores that are not a graph may be negative
    assert welfare_gain(model, model.graph_, np.ones(30)) == 0.0
    assert equal_influence(model, 0.5).sum(axis=1) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="call fit first"):
        edge_auc(truth, SmoothGL())


def test_networkx_direction_is_ours():
    """networkx's edge 1 -> 0 is our A[0, 1]: node 1 influences node 0."""
    graph = nx.DiGraph([(1, 0), (2, 1)])
    graph = nx.DiGraph(graph)
    ordered = nx.DiGraph()
    ordered.add_nodes_from([0, 1, 2])
    ordered.add_edges_from(graph.edges())
    np.testing.assert_array_equal(adjacency_matrix(ordered).toarray(), A)
    assert edge_auc(ordered, A + 0.0) == 1.0


def test_precision_and_recall_at_the_true_number_of_edges():
    W = np.array([[0, 0.9, 0.8], [0.1, 0, 0.2], [0.3, 0.0, 0]])
    assert edge_precision_recall(A, W) == (0.5, 0.5)
    sparse_w = np.zeros((3, 3))
    sparse_w[0, 1] = 1.0
    assert edge_precision_recall(A, sparse_w) == (1.0, 0.5)  # one edge kept, and it is true
    assert edge_precision_recall(A, np.zeros((3, 3))) == (0.0, 0.0)


def test_ties_at_the_cut_do_not_depend_on_the_order_of_nodes(random):
    W = random.integers(0, 3, size=(10, 10)).astype(float)
    truth = random.random((10, 10)) < 0.3
    order = random.permutation(10)
    shuffled = np.ix_(order, order)
    assert edge_precision_recall(truth, W) == pytest.approx(edge_precision_recall(truth[shuffled], W[shuffled]))


def test_welfare_gain_is_a_difference(random):
    W, V, b = random_graph(8, 0.9, random), random_graph(8, 0.9, random), random.random(8)
    assert welfare_gain(W, V, b, "linear") == pytest.approx(welfare(W, b, "linear") - welfare(V, b, "linear"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: edge_auc(np.zeros((4, 4)), np.zeros((3, 3))), "same nodes"),
        (lambda: edge_auc(np.zeros((3, 3)), np.zeros((3, 3))), "truth has no possible edge"),
        (lambda: edge_auc(np.ones((3, 3)), np.zeros((3, 3))), "truth has every possible edge"),
        (lambda: edge_auc(A, np.zeros((3, 3)), symmetrize="min"), "symmetrize='min' is not known"),
        (lambda: edge_auc(A, np.full((3, 3), np.nan)), "score contains NaN"),
        (lambda: edge_auc(A, np.zeros(3)), "score must be a square matrix"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("call", [edge_auc, edge_average_precision, edge_precision_recall])
def test_the_order_of_an_earlier_version_is_refused(call, random, signals):
    model, weights = SmoothGL(degree=4).fit(signals), random.random((30, 30))
    truth = random.random((30, 30)) < 0.3
    for old in ((model, truth), (model.graph_, truth), (weights, truth), (weights, nx.path_graph(30))):
        with pytest.raises(InputError, match="the truth comes first"):
            call(*old)
        call(*old[::-1])
    call(truth, truth.astype(float))  # 0/1 scores are scores


def test_a_comparison_takes_a_truth_with_weights(random):
    weighted = random.random((30, 30)) * (random.random((30, 30)) < 0.3)
    assert edge_scores(weighted, (weighted > 0).astype(float)) == (1.0, 1.0, 1.0)
