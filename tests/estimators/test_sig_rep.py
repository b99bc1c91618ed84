"""GLSigRep: the estimator's interface, recovery of a known graph, and messages on bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from nashgraph.datasets import erdos_renyi, random_geometric, smooth_signals
from nashgraph.estimators.sig_rep import GLSigRep
from nashgraph.metrics import edge_auc


@pytest.mark.filterwarnings("ignore::nashgraph.validation.DataWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([GLSigRep()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "graph", [random_geometric(50, degree=8, random_state=0), erdos_renyi(30, degree=4, random_state=1)]
)
def test_recovers_the_graph_of_noisy_markov_signals(graph):
    X = smooth_signals(graph, 2000, "gmrf", noise=0.2, random_state=0)
    model = GLSigRep().fit(X)
    assert model.converged_
    assert edge_auc(graph, model.adjacency_) >= 0.95


def test_denoises():
    graph = random_geometric(40, degree=8, random_state=1)
    clean = smooth_signals(graph, 300, "tikhonov", strength=5, random_state=2)
    noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)
    denoised = GLSigRep(alpha=0.2).fit(noisy).denoised_
    assert np.sum((denoised - clean) ** 2) < 0.9 * np.sum((noisy - clean) ** 2)


def test_the_graph_is_admissible_and_its_objective_never_rose(signals):
    model = GLSigRep(alpha=1.0).fit(signals)
    W = model.adjacency_.toarray()
    assert W.min() >= 0
    assert (np.diag(W) == 0).all()
    assert abs(W - W.T).max() == 0
    assert abs(W.sum() - 30) <= 1e-8
    objectives = [record.objective for record in model.certificate_.history]
    assert (np.diff(objectives) <= 1e-12 * model.objective_).all()
    assert objectives[-1] == model.objective_
    assert model.certificate_.value <= 1e-6


@pytest.mark.parametrize("degree", [4, 8, 16])
def test_degree_is_nearly_met(degree, random):
    X = random.normal(size=(15, 100))
    found = (GLSigRep(degree=degree).fit(X).adjacency_.toarray() > 0).sum() / 100
    assert abs(found - degree) <= 0.35 * degree


def test_scale_of_the_signals_does_not_matter_with_degree(signals):
    one, other = GLSigRep(tol=1e-10).fit(signals), GLSigRep(tol=1e-10).fit(1e3 * signals)
    np.testing.assert_allclose(other.adjacency_.toarray(), one.adjacency_.toarray(), atol=1e-5)


def test_relabelling_the_nodes_relabels_the_graph(signals, random):
    order = random.permutation(30)
    one, other = GLSigRep(tol=1e-10).fit(signals), GLSigRep(tol=1e-10).fit(signals[:, order])
    np.testing.assert_allclose(other.adjacency_.toarray(), one.adjacency_.toarray()[np.ix_(order, order)], atol=1e-5)


def test_names_survive(signals):
    frame = pd.DataFrame(signals, columns=[f"v{i}" for i in range(30)])
    assert set(GLSigRep().fit(frame).edges().source) <= set(frame.columns)


def test_not_converging_is_told(signals):
    with pytest.warns(
        ConvergenceWarning, match=r"gap .* > tol=1e-12 after 1 iteration: .*; raise max_iter, or lower alpha"
    ):
        model = GLSigRep(alpha=5.0, tol=1e-12, max_iter=1).fit(signals)
    assert not model.converged_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, r"alpha must be .* got 0.0"),
        ({"alpha": "a lot"}, "alpha must be a number"),
        ({"beta": -1.0}, r"beta must be .* got -1.0"),
        ({"degree": None}, "beta and degree are both None"),
        ({"degree": 0.5}, r"degree must be .* got 0.5"),
        ({"tol": -1e-3}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_parameters(parameters, message, signals):
    with pytest.raises((ValueError, TypeError), match=message):
        GLSigRep(**parameters).fit(signals)
