"""QuadGameGL: scikit-learn's conventions, recovery from its own games, the condition on rho, bad input."""

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from nashgraph import DataWarning, edge_auc
from nashgraph.baselines.quadratic_games import quad_game
from nashgraph.datasets import erdos_renyi, preferential_attachment
from nashgraph.estimators.quad_game import QuadGameGL


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([QuadGameGL(), QuadGameGL(benefits="homophilous", rho=0.2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def played_game(graph, rho, n_games, kind, seed):
    """Equilibria of games on the graph, scaled to mean row sum 1 and to a spectral radius below 1 / rho."""
    A = nx.to_numpy_array(graph)
    G = A * len(A) / A.sum()
    random = np.random.default_rng(seed)
    B = random.normal(size=(len(G), n_games))
    if kind == "homophilous":
        B = np.linalg.solve(np.eye(len(G)) + np.diag(G.sum(axis=1)) - G, B)
    return np.linalg.solve(np.eye(len(G)) - rho * G, B).T


@pytest.mark.filterwarnings("ignore:the game learned is not well-posed")
@pytest.mark.parametrize("kind", ["independent", "homophilous"])
@pytest.mark.parametrize("make", [erdos_renyi, preferential_attachment])
@pytest.mark.parametrize("seed", range(3))
def test_recovery_from_many_games(kind, make, seed):
    graph = make(20, random_state=seed)
    A = nx.to_numpy_array(graph)
    radius = np.abs(np.linalg.eigvalsh(A * len(A) / A.sum())).max()
    rho = 0.7 / radius
    X = played_game(graph, rho, 1000, kind, seed)
    # The misfit sums over games, so theta1 grows with their number; homophily has a small weight.
    theta2 = 1.0 if kind == "independent" else 0.1
    model = QuadGameGL(rho=rho, theta1=100.0, theta2=theta2, benefits=kind, tol=1e-5).fit(X)
    assert model.converged_
    assert edge_auc(graph, model.adjacency_) >= 0.95


def test_attributes_are_the_solvers():
    X = np.random.default_rng(0).normal(size=(6, 9))
    model = QuadGameGL(rho=0.3, theta1=5.0).fit(X)
    result = quad_game(X.T, rho=0.3, theta1=5.0, theta2=1.0)
    np.testing.assert_array_equal(model.adjacency_.toarray(), result.weights)
    np.testing.assert_array_equal(model.benefits_, result.benefits.T)
    assert model.spectral_radius_ == pytest.approx(np.linalg.eigvalsh(result.weights)[-1])
    assert model.spectral_radius_ >= 1
    assert model.certificate_.history[-1].objective == pytest.approx(model.objective_)


def test_a_game_that_is_not_well_posed_warns_and_a_good_one_does_not():
    X = np.random.default_rng(0).normal(size=(200, 12))
    X[:, 1] = X[:, 0]
    with pytest.warns(DataWarning) as record:
        model = QuadGameGL(rho=0.9, theta1=0.1).fit(X)
    assert any("the game learned is not well-posed: |rho| = 0.9" in str(one.message) for one in record)
    assert 0.9 * model.spectral_radius_ >= 1
    assert QuadGameGL(rho=0.3, theta1=1e6).fit(X[:, 1:]).spectral_radius_ == pytest.approx(1, abs=1e-2)


def test_not_converging_is_said():
    X = np.random.default_rng(0).normal(size=(30, 9))
    with pytest.warns(
        ConvergenceWarning,
        match="QuadGameGL has not converged: duality gap .* after 1 iteration: .*raise max_iter, tol or theta1",
    ):
        QuadGameGL(rho=0.3, benefits="homophilous", theta1=20.0, max_iter=1, tol=1e-13).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rho": 1.0}, "rho must be a finite number"),
        ({"rho": 0}, "rho must not be 0"),
        ({"rho": "half"}, "rho must be a number"),
        ({"theta1": 0}, "theta1 must be"),
        ({"theta2": -1.0}, "theta2 must be"),
        ({"benefits": "equal"}, "benefits='equal' is not known"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_input(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        QuadGameGL(**parameters).fit(np.random.default_rng(0).normal(size=(10, 5)))


@pytest.mark.filterwarnings("ignore:1 signal")
@pytest.mark.parametrize("kind", ["independent", "homophilous"])
def test_a_survey_with_households_alike_and_constant_columns(kind):
    """Households with the same answers have the same edges and benefits; a constant column has no effect."""
    random = np.random.default_rng(0)
    answers = [np.eye(3)[random.choice(3, 40)].T, random.integers(1, 4, size=(1, 40)), np.ones((1, 40))]
    X = np.vstack(answers)
    with pytest.warns(DataWarning, match="exactly the signals of another node"):
        model = QuadGameGL(benefits=kind, rho=0.3, tol=1e-5).fit(X)
    alike = np.flatnonzero((X[:, :1] == X).all(axis=0))
    others = np.setdiff1d(np.arange(40), alike)
    assert model.converged_
    assert len(alike) > 1
    assert np.ptp(model.adjacency_.toarray()[np.ix_(alike, others)], axis=0).max() == 0
    assert np.ptp(model.benefits_[:, alike], axis=1).max() == 0
    assert model.adjacency_.toarray().sum() == pytest.approx(40)
