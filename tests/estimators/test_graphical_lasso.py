"""GraphicalLassoGL: scikit-learn's numbers, recovery of a Markov field, and errors that explain its failures."""

import contextlib

import networkx as nx
import numpy as np
import pytest
from sklearn.covariance import GraphicalLasso, GraphicalLassoCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from nashgraph import InputError
from nashgraph.datasets import erdos_renyi, random_geometric, smooth_signals
from nashgraph.estimators.graphical_lasso import GraphicalLassoGL
from nashgraph.metrics import edge_auc


@pytest.mark.filterwarnings("ignore::nashgraph.validation.DataWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([GraphicalLassoGL(), GraphicalLassoGL(alpha=0.1)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def markov_signals(graph, n_signals, seed):
    """Draw from N(0, (L + I/2)^{-1}): a Markov field with a variance in every direction."""
    precision = nx.laplacian_matrix(graph).toarray() + 0.5 * np.eye(len(graph))
    white = np.random.default_rng(seed).normal(size=(n_signals, len(graph)))
    return np.linalg.solve(np.linalg.cholesky(precision).T, white.T).T


@pytest.mark.parametrize("alpha", [None, 0.02])
@pytest.mark.parametrize(
    "graph", [erdos_renyi(25, degree=4, random_state=1), random_geometric(25, degree=5, random_state=0)]
)
def test_recovers_the_graph_of_a_markov_field(graph, alpha):
    model = GraphicalLassoGL(alpha).fit(markov_signals(graph, 2000, seed=0))
    assert model.converged_
    assert edge_auc(graph, model.adjacency_) >= 0.95


@pytest.mark.parametrize("alpha", [None, 0.05])
def test_numbers_are_those_of_scikit_learn(alpha):
    X = markov_signals(nx.cycle_graph(8), 100, seed=1)
    model = GraphicalLassoGL(alpha).fit(X)
    reference = GraphicalLassoCV(cv=5, enet_tol=1e-8) if alpha is None else GraphicalLasso(alpha, enet_tol=1e-8)
    reference.fit(X)
    np.testing.assert_array_equal(model.precision_, reference.precision_)
    np.testing.assert_array_equal(model.covariance_, reference.covariance_)
    assert model.alpha_ == (reference.alpha_ if alpha is None else alpha)
    off = ~np.eye(8, dtype=bool)
    np.testing.assert_allclose(model.adjacency_.toarray()[off], np.maximum(0, -reference.precision_[off]), atol=1e-12)
    assert (np.diag(model.adjacency_.toarray()) == 0).all()
    assert abs(model.adjacency_.toarray() - model.adjacency_.toarray().T).max() == 0
    history = [(record.objective, record.value) for record in model.certificate_.history]
    np.testing.assert_array_equal(history, [(objective, abs(gap)) for objective, gap in reference.costs_])
    assert (model.objective_, model.n_iter_) == (reference.costs_[-1][0], reference.n_iter_)


def test_negative_associations_are_no_edges():
    precision = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 1.0]])
    X = np.random.default_rng(0).multivariate_normal(np.zeros(3), np.linalg.inv(precision), size=3000)
    model = GraphicalLassoGL(alpha=0.01).fit(X)
    assert model.precision_[0, 1] > 0.3
    assert model.adjacency_.toarray()[0, 1] == 0
    assert model.adjacency_.toarray()[1, 2] > 0.2


def test_the_gap_asked_for_is_reached_where_scikit_learns_own_setting_gets_stuck():
    X = smooth_signals(
        random_geometric(25, degree=5, random_state=3), 60, "tikhonov", strength=2, noise=0.05, random_state=0
    )
    with pytest.warns(ConvergenceWarning):
        GraphicalLasso(0.0148).fit(X)
    assert GraphicalLassoGL(0.0148).fit(X).converged_


def test_relabelling_the_nodes_relabels_the_graph(random):
    X = markov_signals(erdos_renyi(15, degree=4, random_state=2), 200, seed=3)
    order = random.permutation(15)
    one, other = (GraphicalLassoGL(0.05, tol=1e-9, max_iter=1000).fit(signals) for signals in (X, X[:, order]))
    np.testing.assert_allclose(other.adjacency_.toarray(), one.adjacency_.toarray()[np.ix_(order, order)], atol=1e-4)


def test_nodes_that_never_vary_are_named(signals):
    signals[:, [4, 7]] = [1.5, 2.5]
    with pytest.raises(ValueError, match=r"2 node\(s\) whose signal never varies \(columns 4, 7\).*drop these nodes"):
        GraphicalLassoGL(alpha=0.1).fit(signals)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("alpha", [None, 0.05])
def test_not_converging_is_told_once(alpha, random):
    X = random.normal(size=(30, 20)) @ random.normal(size=(20, 20))
    with pytest.warns(ConvergenceWarning) as caught:
        model = GraphicalLassoGL(alpha, max_iter=1, tol=1e-8).fit(X)
    assert not model.converged_
    gap = f"duality gap {model.certificate_.value:.1e} > tol=1e-08 after 1 iteration: "
    (message,) = (str(item.message) for item in caught)
    assert message.startswith(f"GraphicalLassoGL has not converged: {gap}")
    assert message.endswith("raise max_iter or alpha, or standardise the signals")


@pytest.mark.filterwarnings("ignore::nashgraph.validation.DataWarning")  # people of one height
def test_a_precision_that_is_not_positive_definite_has_not_converged():
    """Heights in three units and a yes/no answer: scikit-learn stops at the first iteration, of objective infinity."""
    random = np.random.default_rng(0)
    random.integers(18, 70, 24)
    heights = np.round(random.normal(170, 9, 24))
    X = np.vstack([heights, 10 * heights, heights / 2.54, random.integers(0, 2, 24)])
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    objective = np.nan
    with contextlib.suppress(InputError):  # "not positive definite"; rounding decides, machine by machine
        objective = GraphicalLassoGL(alpha=0.3).fit(X).objective_
    assert not np.isinf(objective)


def test_a_covariance_out_of_reach_is_told(random):
    X = random.normal(size=(20, 3)) @ random.normal(size=(3, 40)) + 1e-6 * random.normal(size=(20, 40))
    with pytest.raises(ValueError, match=r"the graphical lasso failed .* raise alpha, .*X has 20 for 40 nodes"):
        GraphicalLassoGL(alpha=1e-8).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, r"alpha must be .* got 0.0"),
        ({"alpha": "auto"}, "alpha must be a number"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"cv": 11}, "needs at least 22 signals, and X has 20: pass alpha"),
        ({"mode": "newton"}, "mode='newton' is not known"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_parameters(parameters, message, signals):
    with pytest.raises((ValueError, TypeError), match=message):
        GraphicalLassoGL(**parameters).fit(signals)


@pytest.mark.filterwarnings("ignore:.*exactly the signals of another")
def test_opposite_columns_take_few_iterations():
    """With regressions that stop at 1e-2 of tol, this table used all of max_iter."""
    answers = np.random.default_rng(0).integers(0, 9, 30)
    signals = np.vstack([answers, -answers]) / answers.std()
    model = GraphicalLassoGL(alpha=0.3).fit(signals - signals.mean(axis=1, keepdims=True))
    assert model.converged_
    assert model.certificate_.iterations <= 20
