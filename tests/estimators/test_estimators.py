"""The three estimators: scikit-learn's contract, the proposition's formula, CVXPY, symmetries, and shared behaviour."""

import cvxpy as cp
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from nashgraph import (
    GLGP,
    TTGD,
    BestResponse,
    ConsensusGL,
    GamePrior,
    LinearGLGP,
    LogDegreeGL,
    SmoothGL,
    equilibrium,
    read_study,
    spectral_benefit,
    squared_distances,
)
from nashgraph.datasets import preferential_attachment, random_geometric, smooth_signals
from nashgraph.estimators import LEARNERS, METHODS

from ..problems import stored

ESTIMATORS = [
    SmoothGL(),
    LinearGLGP(),
    GLGP(),
    GLGP(beta=5.0, solver=TTGD(gamma=0.05)),
    GLGP(missing="pairwise"),
    ConsensusGL(n_replicates=2, random_state=0),
]

# Checks of scikit-learn's that cannot apply, each with the reason.
EXPECTED_FAILURES: dict[str, str] = {}


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def in_s(W, c=0.95):
    return W.min() >= 0 and np.diag(W).max() == 0 and np.allclose(W.sum(axis=1), c, atol=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_learns_an_admissible_graph_with_a_certificate(estimator, signals):
    model = clone(estimator).fit(signals)
    assert in_s(model.adjacency_.toarray())
    assert model.converged_
    assert model.certificate_.value <= 1e-6
    assert model.n_iter_ >= 1 or model.lam_ == 0


def test_linear_glgp_is_the_propositions_formula(signals):
    model = LinearGLGP(lam=3.0, beta=1.5).fit(signals)
    D, b = squared_distances(signals), model.benefit_
    formula = np.maximum(0, 3.0 * b[None, :] + model.threshold_[:, None] - D) / 3.0
    np.fill_diagonal(formula, 0)
    np.testing.assert_allclose(model.adjacency_.toarray(), formula, atol=1e-10)
    assert in_s(model.adjacency_.toarray())


@pytest.mark.parametrize("lam", [None, 0.0, 2.0, 50.0])
@pytest.mark.parametrize("seed", range(3))
def test_cvxpy_agrees_with_smooth_and_linear(lam, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(4, 9))
    D, beta, c = squared_distances(X), 0.7, 0.9
    model = (SmoothGL(beta=beta, c=c) if lam is None else LinearGLGP(lam=lam, beta=beta, c=c)).fit(X)
    W = cp.Variable((9, 9), nonneg=True)
    loss = cp.sum(cp.multiply(W, D)) + beta * cp.sum_squares(W)
    if lam is not None:
        loss -= lam * cp.sum(W @ spectral_benefit(X))
    problem = cp.Problem(cp.Minimize(loss), [cp.diag(W) == 0, cp.sum(W, axis=1) == c])
    problem.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.adjacency_.toarray(), W.value, atol=1e-5)
    assert model.objective_ == pytest.approx(problem.value, rel=1e-6)
    assert model.objective_ <= problem.value + 1e-7


def test_without_prior_all_agree(signals):
    smooth = SmoothGL(beta=1.0).fit(signals).adjacency_.toarray()
    for model in (LinearGLGP(lam=0, beta=1.0), GLGP(lam=0, beta=1.0), GLGP(lam=0, beta=1.0, solver="ttgd")):
        np.testing.assert_allclose(model.fit(signals).adjacency_.toarray(), smooth, atol=1e-12)


def test_a_uniform_benefit_changes_nothing_and_says_why(signals):
    smooth = SmoothGL(beta=1.0).fit(signals).adjacency_.toarray()
    for model in (LinearGLGP(lam=5, beta=1.0, benefit="uniform"), GLGP(lam=5, beta=1.0, benefit="uniform")):
        with pytest.warns(UserWarning, match="same at every node.*the prior changes nothing"):
            model.fit(signals)
        np.testing.assert_allclose(model.adjacency_.toarray(), smooth, atol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_relabelling_nodes_relabels_the_graph(estimator, signals, random):
    order = random.permutation(signals.shape[1])
    model = clone(estimator).set_params(**({"tol": 1e-10} if "tol" in estimator.get_params() else {}))
    plain = model.fit(signals).adjacency_.toarray()
    shuffled = clone(model).fit(signals[:, order]).adjacency_.toarray()
    np.testing.assert_allclose(shuffled, plain[np.ix_(order, order)], atol=1e-7)


def test_glgp_attributes_are_those_of_its_graph(signals):
    game = GamePrior(interaction="saturating", welfare="utilitarian")
    model = GLGP(lam=5.0, beta=2.0, prior=game, solver=BestResponse(tol=1e-9)).fit(signals)
    y = equilibrium(model.adjacency_.toarray(), model.benefit_, "saturating")
    np.testing.assert_allclose(model.equilibrium_, y, rtol=1e-10)
    assert model.welfare_ == pytest.approx(0.5 * np.sum(y**2))
    J = np.sum(model.adjacency_.toarray() * squared_distances(signals)) + 2.0 * np.sum(model.adjacency_.toarray() ** 2)
    assert model.objective_ == pytest.approx(J - 5.0 * model.welfare_)
    assert model.benefit_.sum() == pytest.approx(1)
    assert model.certificate_.converged
    assert model.certificate_.iterations == model.n_iter_
    assert model.prior_[:4] == (5.0, "spectral", pytest.approx(J), model.welfare_)
    np.testing.assert_allclose(model.benefit_, spectral_benefit(signals))


def test_solvers_agree_where_the_stationary_point_is_unique(signals):
    fast = GLGP(lam=0.5, beta=5.0, solver=BestResponse(tol=1e-9)).fit(signals)
    slow = GLGP(lam=0.5, beta=5.0, solver=TTGD(tol=1e-9, max_iter=5000, gamma=0.05)).fit(signals)
    np.testing.assert_allclose(fast.adjacency_.toarray(), slow.adjacency_.toarray(), atol=1e-8)


def test_names_survive_to_every_output(signals):
    frame = pd.DataFrame(signals, columns=[f"n{k}" for k in range(30)])
    model = SmoothGL(degree=3).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    edges = model.edges()
    assert list(edges.columns) == ["source", "target", "weight"]
    assert (np.diff(edges["weight"]) <= 0).all()
    assert len(edges) == (model.adjacency_.toarray() > 0).sum()
    graph = model.to_networkx()
    assert list(graph) == list(frame.columns)
    first = edges.iloc[0]
    source, target = int(first["source"][1:]), int(first["target"][1:])
    assert (
        model.adjacency_.toarray()[target, source]
        == first["weight"]
        == graph[first["source"]][first["target"]]["weight"]
    )


def test_to_networkx_undirected_and_threshold(signals):
    model = SmoothGL(degree=3).fit(signals)
    W = model.adjacency_.toarray()
    undirected = model.to_networkx(directed=False)
    assert undirected[0][1]["weight"] == pytest.approx((W[0, 1] + W[1, 0]) / 2) if undirected.has_edge(0, 1) else True
    np.testing.assert_allclose(nx.to_numpy_array(undirected), (W + W.T) / 2)
    assert model.to_networkx(threshold=0.3).number_of_edges() == (W > 0.3).sum()
    assert set(model.to_networkx(threshold=1.0)) == set(range(30))


def test_integer_column_names_are_kept(signals):
    model = SmoothGL(degree=3).fit(pd.DataFrame(signals, columns=range(100, 130)))
    assert set(model.edges()["source"]) <= set(range(100, 130))


def test_starts_from_a_given_graph(signals):
    uniform = 0.95 * (1 - np.eye(30)) / 29
    for init in (uniform, sparse.csr_array(uniform)):
        model = GLGP(lam=0.5, beta=5.0, init=init, solver=BestResponse(tol=1e-9)).fit(signals)
        np.testing.assert_allclose(
            model.adjacency_.toarray(),
            GLGP(lam=0.5, beta=5.0, solver=BestResponse(tol=1e-9)).fit(signals).adjacency_.toarray(),
            atol=1e-8,
        )


def test_works_in_a_pipeline(signals):
    pipeline = make_pipeline(FunctionTransformer(np.tanh), GLGP(beta=1.0))
    assert pipeline.fit(signals)[-1].adjacency_.toarray().shape == (30, 30)


def test_unfitted_estimators_say_so():
    for call in (lambda: SmoothGL().edges(), lambda: GLGP().to_networkx()):
        with pytest.raises(NotFittedError):
            call()


def test_not_converging_is_said_with_the_figure(signals):
    with pytest.warns(ConvergenceWarning, match=r"not converged: stationarity \d.*after 1 iteration:"):
        model = GLGP(lam=5.0, beta=1.0, solver=BestResponse(max_iter=1, tol=1e-14)).fit(signals)
    assert not model.converged_


def test_a_failing_fit_leaves_nothing_behind(signals):
    model = GLGP(beta=1.0, prior="cubic")
    with pytest.raises(ValueError, match="cubic"):
        model.fit(signals)
    assert not [name for name in vars(model) if name.endswith("_")]
    fitted = GLGP(beta=1.0).fit(signals)
    before = fitted.adjacency_
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(np.full((3, 4), np.nan))
    assert fitted.adjacency_ is before
    assert fitted.n_features_in_ == 30


def test_ctrl_c_leaves_the_estimator_unfitted(signals, caplog):
    def interrupt(record):
        if record.iteration == 1:
            raise KeyboardInterrupt

    model = GLGP(lam=5.0, beta=1.0, solver=BestResponse(tol=1e-14, callback=interrupt))
    with pytest.raises(KeyboardInterrupt), caplog.at_level("DEBUG", logger="nashgraph"):
        model.fit(signals)
    with pytest.raises(NotFittedError):
        model.edges()
    assert not [name for name in vars(model) if name.endswith("_")]
    assert "iteration    1" in caplog.messages[-1]


def test_a_callback_sees_every_iterate_and_can_stop(signals):
    seen = []
    solver = BestResponse(tol=1e-14, callback=lambda record: seen.append(record) or record.iteration == 2)
    model = GLGP(lam=5.0, beta=1.0, solver=solver)
    with pytest.warns(ConvergenceWarning, match="the callback asked to stop"):
        model.fit(signals)
    assert [record.iteration for record in seen] == [0, 1, 2]
    assert model.certificate_.history == tuple(seen)


@pytest.mark.parametrize("degree", [5, 10, 30])
@pytest.mark.parametrize("make", [random_geometric, preferential_attachment])
def test_degree_asked_is_degree_obtained_on_real_families(make, degree):
    X = smooth_signals(make(150, random_state=0), 50, noise=0.1, random_state=0)
    assert (SmoothGL(degree=degree).fit(X).adjacency_.toarray() > 0).sum() / 150 == pytest.approx(degree, rel=0.05)


@pytest.mark.parametrize("make", [SmoothGL, LinearGLGP, GLGP])
def test_storages_change_how_a_graph_is_held_and_nothing_else(make, signals):
    dense, other = (stored(make(degree=5), storage).fit(signals) for storage in ("dense", "sparse"))
    np.testing.assert_array_equal(other.adjacency_.toarray(), dense.adjacency_.toarray())
    assert len(other.edges()) == len(dense.edges())
    np.testing.assert_allclose(
        nx.to_numpy_array(other.to_networkx()), nx.to_numpy_array(dense.to_networkx()), atol=1e-8
    )
    np.testing.assert_allclose(
        nx.to_numpy_array(other.to_networkx(directed=False)),
        nx.to_numpy_array(dense.to_networkx(directed=False)),
        atol=1e-8,
    )


@pytest.mark.parametrize("name", METHODS)
def test_the_learned_weights_are_always_a_csr_array(name, random):
    options = {"glasso": {"alpha": 0.1}}.get(name, {})
    model = METHODS[name](**options).fit(random.normal(size=(20, 8)))
    for matrix in (model.adjacency_, getattr(model, "evidence_", model.adjacency_)):
        assert isinstance(matrix, sparse.csr_array)
        assert matrix.has_canonical_format
        assert matrix.data.all()


def test_a_second_fit_leaves_nothing_of_the_first(signals):
    hub = np.ones(30)
    hub[7] = 20.0
    model = ConsensusGL(benefit=hub, n_replicates=0).fit(signals)
    assert {"benefit", "action"} <= set(model.graph_.node_columns)
    model.set_params(benefit=None).fit(signals)
    assert model.prior_ is None
    assert not hasattr(model, "equilibrium_")
    assert model.graph_.node_columns == {}


@pytest.mark.parametrize("name", LEARNERS)
def test_nothing_is_learned_before_a_fit(name):
    model = LEARNERS[name]()
    if "degree" in model.get_params():
        model.set_params(degree=5)
    assert not [each for each in dir(model) if each[-1] == "_" != each[0] and hasattr(model, each)]


@pytest.mark.parametrize("name", METHODS)
def test_a_fitted_model_does_not_keep_the_signals_and_has_a_score(name, signals):
    given = {"glasso": {"alpha": 0.3}, "consensus": {"n_replicates": 2, "random_state": 0}}
    X = 1.0 * signals
    model = METHODS[name](**given.get(name, {})).fit(X)
    arrays = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    assert not any(np.shares_memory(value, X) for value in arrays)
    W = model.graph_.weights.toarray()
    assert model.score(X[:5]) == pytest.approx(-np.sum(W * squared_distances(X[:5])) / W.sum())


@pytest.mark.parametrize("make", [SmoothGL, LinearGLGP, GLGP, LogDegreeGL])
def test_the_weight_two_is_that_of_a_signal_given_twice(make, signals):
    counts = np.arange(len(signals)) % 3  # some signals have no weight
    weighted = make(degree=5).fit(signals, sample_weight=counts).adjacency_.toarray()
    np.testing.assert_allclose(
        weighted, make(degree=5).fit(np.repeat(signals, counts, axis=0)).adjacency_.toarray(), atol=1e-6
    )


def test_signals_with_gaps_are_scored_where_both_nodes_have_them(signals):
    model = SmoothGL(degree=3, missing="pairwise").fit(signals)
    gappy = np.vstack([signals[:4], np.full((1, 30), np.nan)])
    assert model.score(gappy) == pytest.approx(model.score(signals[:4]))


@pytest.mark.parametrize("name", ["consensus", "smooth", "glgp", "glasso"])
def test_a_study_is_fitted_as_its_signals(name, random):
    table = pd.DataFrame(random.normal(size=(20, 6)), columns=list("abcdef"))
    table.insert(0, "name", [f"person {k}" for k in range(20)])
    study = read_study(table)
    options = {"consensus": {"n_replicates": 0}, "glasso": {"alpha": 0.1}}.get(name, {})
    ours, theirs = (METHODS[name](**options).fit(X) for X in (study, study.signals))
    assert ours.node_names_.tolist() == table["name"].tolist()
    assert ours.edges().equals(theirs.edges())
    assert ours.score(study) == theirs.score(study.signals)


def test_gaps_of_a_study_are_compared_pairwise(random):
    table = pd.DataFrame(random.normal(size=(20, 6)), columns=list("abcdef"))
    table.iloc[::4, 1] = np.nan
    table.insert(0, "name", [f"person {k}" for k in range(20)])
    study = read_study(table)
    assert study.signals.isna().any(axis=None)
    ours = SmoothGL().fit(study)
    assert ours.edges().equals(SmoothGL(missing="pairwise").fit(study.signals).edges())
    assert ours.missing_share_.max() > 0
    assert ours.missing == "error"  # a parameter stays as it was given
