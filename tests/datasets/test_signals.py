"""Signals: the covariance of each filter, noise, seeds, disconnected graphs."""

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm

from nashgraph.datasets import erdos_renyi, smooth_signals


def covariances(graph):
    A = nx.to_numpy_array(graph)
    L = np.diag(A.sum(axis=0)) - A
    identity = np.eye(len(A))
    return {
        "lowpass": expm(A / 2) @ expm(A / 2),
        "heat": expm(-2 * L),
        "tikhonov": np.linalg.matrix_power(np.linalg.inv(identity + L), 2),
        "gmrf": np.linalg.pinv(L),
    }


@pytest.mark.parametrize("filter", ["lowpass", "heat", "tikhonov", "gmrf"])
@pytest.mark.parametrize("graph", [nx.path_graph(5), nx.disjoint_union(nx.cycle_graph(4), nx.star_graph(2))])
def test_covariance_is_the_filters(filter, graph):
    X = smooth_signals(graph, 60_000, filter, random_state=0)
    truth = covariances(graph)[filter]
    np.testing.assert_allclose(X.T @ X / len(X), truth, atol=0.03 * np.abs(truth).max())


def test_weights_count():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=4.0)
    X = smooth_signals(graph, 50_000, "gmrf", random_state=0)
    assert (X[:, 0] - X[:, 1]).var() == pytest.approx(1 / 4, rel=0.03)


def test_noise_and_seed():
    graph = erdos_renyi(30, random_state=0)
    quiet = smooth_signals(graph, 2000, noise=0.0, random_state=1)
    loud = smooth_signals(graph, 2000, noise=0.5, random_state=1)
    assert (loud - quiet).std() == pytest.approx(0.5, rel=0.03)
    np.testing.assert_array_equal(loud, smooth_signals(graph, 2000, noise=0.5, random_state=1))
    assert quiet.shape == (2000, 30)


def test_strength_is_the_filters_parameter():
    graph = nx.path_graph(4)
    X = smooth_signals(graph, 60_000, "heat", strength=0.25, random_state=0)
    L = np.diag([1, 2, 2, 1]) - nx.to_numpy_array(graph)
    np.testing.assert_allclose(X.T @ X / len(X), expm(-0.5 * L), atol=0.03)


def test_a_graph_without_edges():
    empty = nx.empty_graph(4)
    assert not smooth_signals(empty, 3, "gmrf", random_state=0).any()
    assert smooth_signals(empty, 3, "heat", random_state=0).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"graph": nx.DiGraph([(0, 1)])}, "graph is directed"),
        ({"filter": "highpass"}, "filter='highpass' is not known"),
        ({"n_signals": 0}, "n_signals must be at least 1"),
        ({"noise": -1}, "noise must be"),
        ({"strength": np.nan}, "strength must be"),
        ({"graph": nx.Graph([(0, 1, {"weight": -1})])}, "negative edge weight"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        smooth_signals(**{"graph": nx.path_graph(3), "n_signals": 2, **options})
