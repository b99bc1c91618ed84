"""LogDegreeGL: recovery, degree, alpha and beta, candidates, scikit-learn's checks, bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from nashgraph import DataWarning, edge_auc, squared_distances
from nashgraph.datasets import preferential_attachment, random_geometric, smooth_signals
from nashgraph.estimators.log_degree import LogDegreeGL

GRAPHS = {"geometric": random_geometric, "preferential": preferential_attachment}


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([LogDegreeGL(), LogDegreeGL(candidates="auto", degree=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("filter", ["gmrf", "tikhonov"])
@pytest.mark.parametrize("candidates", [None, "auto"])
def test_many_smooth_signals_give_the_graph_back(filter, candidates):
    graph = random_geometric(100, degree=8, random_state=0)
    X = smooth_signals(graph, 5000, filter, random_state=0)
    model = LogDegreeGL(degree=10, candidates=candidates).fit(X)
    assert edge_auc(graph, model.adjacency_) >= 0.95


@pytest.mark.parametrize("candidates", [None, "auto"])
@pytest.mark.parametrize("degree", [5, 10, 30])
@pytest.mark.parametrize("n_nodes", [100, 1000])
@pytest.mark.parametrize("kind", GRAPHS)
def test_degree_asked_is_degree_obtained(kind, n_nodes, degree, candidates):
    X = smooth_signals(GRAPHS[kind](n_nodes, random_state=1), 50, "tikhonov", random_state=1)
    model = LogDegreeGL(degree=degree, candidates=candidates).fit(X)
    weights = model.adjacency_
    assert model.mean_degree_ == weights.nnz / n_nodes
    assert model.mean_degree_ == pytest.approx(degree, rel=0.03)
    assert model.certificate_.value <= 1e-9
    assert model.converged_


def test_what_is_stored_is_consistent(signals):
    model = LogDegreeGL(degree=6).fit(signals)
    W, D, nu = model.adjacency_.toarray(), squared_distances(signals), model.potential_
    expected = np.maximum(0, nu[:, None] + nu - 2 * D) / (2 * model.beta_)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(W, expected, atol=1e-12)
    value = np.sum(W * D) - model.alpha_ * np.log(W.sum(axis=1)).sum() + model.beta_ / 2 * np.sum(W**2)
    assert model.objective_ == pytest.approx(value, rel=1e-10)
    assert model.theta_ == pytest.approx((model.alpha_ * model.beta_) ** -0.5)


def test_alpha_and_beta_win_over_degree(signals):
    one, other = (LogDegreeGL(alpha=0.5, beta=0.2, degree=degree).fit(signals) for degree in (3, 20))
    np.testing.assert_array_equal(one.adjacency_.toarray(), other.adjacency_.toarray())
    assert (one.alpha_, one.beta_) == (0.5, 0.2)


def test_one_of_alpha_and_beta_sets_the_scale_only(signals):
    plain = LogDegreeGL(degree=6).fit(signals)
    by_alpha, by_beta = (
        LogDegreeGL(alpha=3.0, degree=6).fit(signals),
        LogDegreeGL(beta=3.0, degree=6).fit(signals),
    )
    assert plain.alpha_ == pytest.approx(plain.beta_)
    assert by_alpha.alpha_ == by_beta.beta_ == 3.0
    for model in (by_alpha, by_beta):
        assert model.theta_ == plain.theta_
        scale = np.sqrt(model.alpha_ / model.beta_)
        np.testing.assert_allclose(model.adjacency_.toarray(), scale * plain.adjacency_.toarray(), rtol=1e-10)
        again = LogDegreeGL(alpha=model.alpha_, beta=model.beta_).fit(signals)
        np.testing.assert_allclose(again.adjacency_.toarray(), model.adjacency_.toarray(), atol=1e-4 * scale)


def test_the_unit_of_the_signals_does_not_matter(signals):
    one, other = LogDegreeGL(degree=5).fit(signals), LogDegreeGL(degree=5).fit(1e4 * signals)
    np.testing.assert_allclose(one.adjacency_.toarray(), other.adjacency_.toarray(), atol=1e-6)


def test_all_candidates_is_the_dense_graph(signals):
    dense = LogDegreeGL(degree=6, tol=1e-13).fit(signals)
    listed = LogDegreeGL(degree=6, candidates=29, tol=1e-13).fit(signals)
    np.testing.assert_allclose(listed.adjacency_.toarray(), dense.adjacency_.toarray(), atol=1e-6)


def test_auto_is_the_graph_of_all_pairs_and_a_number_restricts():
    X = smooth_signals(preferential_attachment(300, random_state=2), 50, "gmrf", random_state=2)
    theta = LogDegreeGL(degree=6).fit(X).theta_
    dense, auto, few = (
        LogDegreeGL(alpha=1 / theta, beta=1 / theta, candidates=candidates, tol=1e-12).fit(X)
        for candidates in (None, "auto", 3)
    )
    assert auto.objective_ == pytest.approx(dense.objective_, rel=1e-9)
    assert abs(auto.adjacency_ - dense.adjacency_).max() < 1e-5
    assert few.objective_ > dense.objective_ * (1 + 1e-6)


def test_names_edges_and_relabelling(signals):
    frame = pd.DataFrame(signals, columns=[f"node {i}" for i in range(30)])
    model = LogDegreeGL(degree=4, tol=1e-13).fit(frame)
    mixed = LogDegreeGL(degree=4, tol=1e-13).fit(frame[frame.columns[::-1]])
    np.testing.assert_allclose(mixed.adjacency_.toarray()[::-1, ::-1], model.adjacency_.toarray(), atol=1e-6)
    assert model.edges().iloc[0]["source"].startswith("node ")
    assert len(model.edges()) == 30 * model.mean_degree_


def test_a_degree_that_cannot_be_met_is_said():
    X = np.random.default_rng(0).integers(0, 2, size=(2, 60)).astype(float)  # four places for sixty nodes
    with pytest.warns(DataWarning) as said:
        LogDegreeGL(degree=5).fit(X)
    assert any("the degree 5 cannot be met" in str(warning.message) for warning in said)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_node_left_alone_has_an_infinite_objective():
    """One step is not enough to reach the remote node, and the figures show it."""
    X = np.random.default_rng(0).normal(size=(5, 20))
    X[:, 0] += 1e3
    model = LogDegreeGL(alpha=1.0, beta=1e-6, max_iter=1).fit(X)
    assert model.adjacency_.toarray().sum(axis=1).min() == 0
    assert model.objective_ == model.certificate_.value == np.inf


def test_running_out_of_steps_is_said(signals):
    with pytest.warns(
        ConvergenceWarning, match=r"LogDegreeGL has not converged: duality gap .* > tol=1e-09 .*ask for a denser graph"
    ):
        model = LogDegreeGL(alpha=0.01, beta=0.01, max_iter=2).fit(signals)
    assert not model.converged_
    assert model.certificate_.value > 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha must be"),
        ({"beta": -1.0}, "beta must be"),
        ({"alpha": "large"}, "alpha must be a number"),
        ({"degree": None}, "degree is None with alpha=None and beta=None"),
        ({"alpha": 1.0, "degree": None}, "degree is None with alpha=1.0"),
        ({"degree": 0}, "degree must be"),
        ({"candidates": 0}, "candidates must be at least 1"),
        ({"candidates": 2.5}, "candidates must be an integer"),
        ({"candidates": "all"}, "candidates='all' is not known"),
        ({"candidates": 5, "degree": 10}, "fewer than degree=10"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_input(signals, options, message):
    model = LogDegreeGL(**options)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(signals)
    assert not hasattr(model, "adjacency_")
