"""ModularGL: the true partition of separated groups, and its message if K is out of reach."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from nashgraph.datasets import smooth_signals, stochastic_block_model
from nashgraph.estimators.modular import ModularGL


# Some checks have three nodes only, which cannot make two components where every node keeps a neighbour.
@pytest.mark.filterwarnings("ignore::nashgraph.validation.DataWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([ModularGL(n_components=1)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def grouped_signals(n_nodes, n_groups, random, strength=1.0):
    group = np.arange(n_nodes) % n_groups
    X = random.normal(size=(40, n_nodes)) + strength * random.normal(size=(40, n_groups))[:, group]
    return X, group


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_finds_separated_groups(n_groups, random):
    X, group = grouped_signals(60, n_groups, random)
    model = ModularGL(n_groups, degree=15).fit(X)
    assert model.converged_
    assert model.n_components_ == n_groups
    assert adjusted_rand_score(group, model.labels_) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_finds_the_communities_of_a_block_model(seed):
    graph = stochastic_block_model(80, 4, degree=8, mixing=0.02, random_state=seed)
    X = smooth_signals(graph, 100, "tikhonov", strength=10, noise=0.1, random_state=seed)
    model = ModularGL(4).fit(X)
    assert model.converged_
    assert adjusted_rand_score([block for _, block in graph.nodes(data="block")], model.labels_) == 1.0


def test_the_graph_is_admissible(random):
    W = ModularGL(3, c=0.8).fit(grouped_signals(30, 3, random)[0]).adjacency_.toarray()
    assert W.min() >= 0
    assert (np.diag(W) == 0).all()
    np.testing.assert_allclose(W.sum(axis=1), 0.8, atol=1e-12)


def test_relabelling_the_nodes_relabels_the_graph(random):
    X, _ = grouped_signals(40, 4, random, strength=0.8)
    order = random.permutation(40)
    one, other = ModularGL(4).fit(X), ModularGL(4).fit(X[:, order])
    np.testing.assert_allclose(other.adjacency_.toarray(), one.adjacency_.toarray()[np.ix_(order, order)], atol=1e-8)
    assert adjusted_rand_score(other.labels_, one.labels_[order]) == 1.0


def test_a_graph_in_too_many_pieces_is_told(random):
    X = 10 * np.repeat(np.arange(4.0), 5)[None] + random.normal(size=(3, 20))
    with pytest.warns(
        ConvergenceWarning,
        match=r"ModularGL .* 4 component\(s\) where n_components=2: the smooth graph .* raise degree",
    ):
        model = ModularGL(2, degree=3).fit(X)
    assert not model.converged_
    assert model.n_components_ == 4


@pytest.mark.parametrize(
    ("max_iter", "message"),
    [
        (1, r"after 1 iteration: .*component\(s\) where n_components=3, with a penalty"),
        (5, "after 5 .* the components are found"),
    ],
)
def test_not_converging_is_told(max_iter, message, random):
    X, _ = grouped_signals(30, 3, random, strength=0.7)
    with pytest.warns(ConvergenceWarning, match=message):
        model = ModularGL(3, max_iter=max_iter, tol=0.0).fit(X)
    assert not model.converged_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"n_components": 2.0}, "n_components must be an integer"),
        ({"n_components": 16}, "n_components must be at most 15, got 16: every node keeps a neighbour"),
        ({"beta": 0.0}, r"beta must be .* got 0.0"),
        ({"c": 1.0}, r"c must be .* got 1.0"),
        ({"tol": -1.0}, "tol must be"),
        ({"max_iter": 1.5}, "max_iter must be an integer"),
    ],
)
def test_bad_parameters(parameters, message, signals):
    with pytest.raises((ValueError, TypeError), match=message):
        ModularGL(**parameters).fit(signals)
