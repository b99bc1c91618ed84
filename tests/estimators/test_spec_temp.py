"""SpecTemp: scikit-learn's conventions, recovery from samples, bad input."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from nashgraph import DataWarning, InputError, edge_auc
from nashgraph.baselines.template_graph import spectral_templates, template_basis
from nashgraph.datasets import erdos_renyi, preferential_attachment, smooth_signals
from nashgraph.estimators.spec_temp import SpecTemp


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([SpecTemp(), SpecTemp(n_components=1, assume_centered=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", range(3))
def test_recovery_from_many_samples(seed):
    graph = erdos_renyi(15, 4, random_state=seed)
    hub = max(graph.degree, key=lambda pair: pair[1])[0]
    X = smooth_signals(graph, 20000, "lowpass", random_state=seed)
    model = SpecTemp(anchor=hub).fit(X)
    assert model.converged_
    assert model.n_components_ == 15
    assert edge_auc(graph, model.adjacency_) >= 0.95


def test_attributes_are_the_solvers_and_names_survive():
    X = np.random.default_rng(0).normal(size=(6, 9))
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    model = SpecTemp(anchor=1).fit(frame)
    centred = X - X.mean(axis=0)
    result = spectral_templates(template_basis(centred.T @ centred / 6)[0], 5, anchor=1)
    np.testing.assert_allclose(model.adjacency_.toarray(), result.weights, atol=1e-8)
    assert model.n_components_ == 5
    assert model.objective_ == pytest.approx(result.objective)
    assert set(model.edges().source) <= set("abcdefghi")


def test_the_papers_setting_is_certified():
    graph = preferential_attachment(50, random_state=0)
    X = smooth_signals(graph, 10, "lowpass", noise=0.2, random_state=0)
    model = SpecTemp(assume_centered=True).fit(X)
    assert model.converged_
    assert model.n_components_ == 10
    assert model.certificate_.value <= 1e-7
    assert model.distance_ <= model.epsilon_ + 1e-8


def test_relabelling_with_the_anchor():
    random = np.random.default_rng(0)
    X, order = random.normal(size=(7, 12)), random.permutation(12)
    first = SpecTemp(anchor=3).fit(X).adjacency_.toarray()
    second = SpecTemp(anchor=list(order).index(3)).fit(X[:, order]).adjacency_.toarray()
    np.testing.assert_allclose(second, first[np.ix_(order, order)], atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be a finite number"),
        ({"epsilon": 1e-4}, "epsilon=0.0001 is infeasible"),
        ({"slack": 0}, "slack must be"),
        ({"anchor": 9}, "anchor must be a column of X, below 9, got 9"),
        ({"anchor": -1}, "anchor must be at least 0"),
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"n_components": 10}, "n_components must not exceed the number of nodes, 9"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 2.5}, "max_iter must be an integer"),
    ],
)
def test_bad_input(parameters, message):
    X = np.random.default_rng(0).normal(size=(30, 9))
    with pytest.raises((ValueError, TypeError), match=message):
        SpecTemp(**parameters).fit(X)


def test_too_many_components_warn():
    X = np.random.default_rng(0).normal(size=(5, 8))
    with pytest.warns(DataWarning, match="above the rank 4 of the covariance"):
        SpecTemp(n_components=6).fit(X)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_one_signal_and_no_variance():
    with pytest.raises(ValueError, match="at least 2 are needed"):
        SpecTemp().fit(np.ones((1, 4)))
    with pytest.raises(ValueError, match="X has no variance"):
        SpecTemp().fit(np.tile([1.0, 2.0, 3.0], (4, 1)))


def test_not_converging_is_said():
    X = np.random.default_rng(0).normal(size=(30, 9))
    with pytest.warns(
        ConvergenceWarning, match="SpecTemp has not converged: duality gap .* tol=1e-05 .*raise max_iter, tol or slack"
    ):
        SpecTemp(max_iter=2).fit(X)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_the_same_signal_twice_but_for_rounding_has_no_variance():
    """In cm and in mm, standardised: rounding was taken for a covariance, and its eigenvectors for templates."""
    cm = np.round(np.random.default_rng(0).normal(170.0, 10.0, 40), 1)
    X = np.vstack([cm, 10.0 * cm])
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    assert 0.0 < np.ptp(X, axis=0).max() < 1e-13
    with pytest.raises(InputError, match="X has no variance"):
        SpecTemp().fit(X)


def test_two_nodes():
    X = np.random.default_rng(0).normal(size=(10, 2))
    np.testing.assert_allclose(SpecTemp().fit(X).adjacency_.toarray(), nx.to_numpy_array(nx.path_graph(2)), atol=1e-9)


@pytest.mark.filterwarnings("ignore:2 signal")
def test_a_survey_with_households_alike_and_constant_columns():
    random = np.random.default_rng(1)
    X = np.vstack(
        [np.eye(3)[random.choice(3, 60)].T, np.eye(3)[random.choice(3, 60)].T, np.ones((1, 60)), np.zeros((1, 60))]
    )
    with pytest.warns(DataWarning, match="exactly the signals of another node"):
        model = SpecTemp(anchor=2).fit(X)
    alike = np.flatnonzero((X[:, :1] == X).all(axis=0) & (np.arange(60) != 2))
    others = np.setdiff1d(np.arange(60), alike)
    assert model.converged_
    assert len(alike) > 1
    assert np.ptp(model.adjacency_.toarray()[np.ix_(alike, others)], axis=0).max() == 0
    assert model.adjacency_.toarray()[2].sum() == pytest.approx(1)
