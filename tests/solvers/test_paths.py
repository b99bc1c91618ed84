"""Paths and starts: the range, the Pareto front, certificates, starting points as documented."""

from itertools import islice

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from nashgraph import GLGP, BestResponse, GamePrior, SmoothGL, spectral_benefit
from nashgraph.pairs import Bonus, points, squared_distances
from nashgraph.smoothness import STORAGES
from nashgraph.solvers import Problem, lam_for_cost, lam_range, solve_path, starting_points
from nashgraph.solvers.paths import random_rows

from ..problems import dense


@pytest.fixture
def problem(signals):
    return Problem.from_signals(signals, spectral_benefit(signals), beta=2.0, interaction="linear")


def support(weights):
    return dense(weights) > 1e-12


def test_range_starts_where_an_edge_first_changes(problem):
    """To first order in lam: just below, no edge moves; just above, one does."""
    low, high = lam_range(problem)
    assert 0 < low < high
    graph, state = problem.smooth, problem.smooth_state
    before, after = (problem.respond(state, share * low) for share in (0.99, 1.01))
    assert (support(before) == support(graph)).all()
    assert (support(after) != support(graph)).any()


def test_at_the_end_of_the_range_the_prior_dominates(problem):
    """Every row then prefers the nodes of largest action."""
    _, high = lam_range(problem)
    best = BestResponse().solve(problem, high)
    influence, plain = dense(best.weights).sum(axis=0), dense(problem.smooth).sum(axis=0)
    assert np.sort(influence)[-3:].sum() > 0.5 * influence.sum() > np.sort(plain)[-3:].sum()


@pytest.mark.parametrize("name", STORAGES)
def test_range_is_the_same_in_every_storage(name, signals, problem, monkeypatch):
    monkeypatch.setattr(points, "BLOCK_BYTES", 1)
    other = Problem.from_signals(signals, problem.prior.benefit, beta=2.0, interaction="linear", storage=name)
    np.testing.assert_allclose(lam_range(other), lam_range(problem), rtol=1e-9)


@pytest.mark.parametrize("name", STORAGES)
@pytest.mark.parametrize("beta", [0.2, 2.0])
def test_range_is_that_of_all_pairs(name, beta, signals):
    """The first crossing and the widest row, by arrays of all pairs."""
    benefit = np.random.default_rng(1).random(signals.shape[1])
    other = Problem.from_signals(signals, benefit, beta=beta, storage=name)
    n, state, smooth = len(benefit), other.smooth_state, dense(other.smooth)
    costs, bonus = squared_distances(signals), np.outer(state.left, state.right)
    gap = costs - other.smooth.threshold[:, None]
    neighbours = smooth > 0
    pull = bonus - (bonus * neighbours).sum(axis=1, keepdims=True) / neighbours.sum(axis=1, keepdims=True)
    crossing = (gap * pull > 0) & ~np.eye(n, dtype=bool)
    felt = lam_for_cost(other.smoothness, state.left, state.right, 1e-4)
    low, high = lam_range(other)
    assert low == pytest.approx(min(felt, (gap[crossing] / pull[crossing]).min()), rel=1e-6)
    nearest = np.where(np.eye(n, dtype=bool), np.inf, costs).min(axis=1)
    rows = (costs.max(axis=1) - nearest + 2 * beta * other.smoothness.c) / (np.abs(state.left) * np.ptp(state.right))
    assert high == pytest.approx(rows.max(), rel=1e-6)


def test_front_rises_in_both_and_is_certified(signals):
    path = GLGP(beta=2.0, prior=GamePrior(interaction="linear"), solver=BestResponse(tol=1e-8)).path(signals, n_lams=12)
    assert (np.diff(path.lams) > 0).all()
    assert (np.diff(path.welfares) >= -1e-9 * path.welfares[-1]).all()
    assert (np.diff(path.smoothness_costs) >= -1e-9 * path.smoothness_costs[-1]).all()
    assert (path.table()["stationarity"] <= 1e-8).all()
    np.testing.assert_allclose(path.table()["objective"], path.smoothness_costs - path.lams * path.welfares, rtol=1e-10)


def test_each_point_is_no_worse_than_solving_it_alone(problem):
    lams = np.geomspace(*lam_range(problem), 8)
    for lam, result in zip(lams, solve_path(problem, lams, BestResponse()), strict=True):
        alone = BestResponse().solve(problem, lam)
        assert result.objective <= alone.objective + 1e-6 * abs(alone.objective)


def test_the_path_of_an_estimator_holds_fitted_models(signals):
    solved = []
    model = GLGP(degree=5)
    path = model.path(signals, n_lams=4, progress=lambda: solved.append(1))
    assert len(solved) == 7
    assert not hasattr(model, "adjacency_")
    for lam, one in zip(path.lams, path.models, strict=True):
        assert one.lam == one.lam_ == lam
        assert one.graph_.n_nodes == 30
        alone = GLGP(degree=5, lam=float(lam)).fit(signals)
        assert one.objective_ <= alone.objective_ + 1e-6 * abs(alone.objective_)
    zero = GLGP(degree=5).path(signals, [1.0, 0.0])
    smooth = SmoothGL(degree=5).fit(signals)
    np.testing.assert_allclose(zero.models[0].adjacency_.toarray(), smooth.adjacency_.toarray())
    assert zero.least == pytest.approx(smooth.objective_)
    assert (zero.table()["lam"] == [0.0, 1.0]).all()


def test_affordable_is_the_strongest_prior_that_is_nearly_free(signals):
    path = GLGP(degree=5).path(signals, n_lams=10)
    place = path.affordable()
    assert path.smoothness_costs[place] <= 1.001 * path.least < path.smoothness_costs[place + 1]
    assert GLGP(degree=5).path(signals, [1e6]).affordable() == 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_path_that_falls_short_says_where_once(signals):
    with pytest.warns(ConvergenceWarning, match=r"GLGP.path did not reach tol=1e-06 at lam = 10") as caught:
        GLGP(degree=5, solver=BestResponse(max_iter=1)).path(signals, [10.0, 20.0])
    assert len(caught) == 1


def test_a_path_ends_where_the_graph_degenerates(random):
    """Heavy tails: beyond, two nodes hold nearly all influence, or the solver takes all its iterations for nothing."""
    X = random.standard_t(1.5, size=(2, 60))
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    solved = []
    path = GLGP(solver=BestResponse(max_iter=30)).path(X, progress=lambda: solved.append(1))
    assert 5 < len(path.lams) < 20
    assert all(model.converged_ for model in path.models)
    assert len(solved) == 2 * len(path.lams) + 1  # two more were tried on the way up
    with pytest.warns(ConvergenceWarning):
        # Given lambdas are all solved.
        given = GLGP(solver=BestResponse(max_iter=20)).path(X, np.geomspace(0.1, 1000.0, 6))
    assert len(given.lams) == 6


def test_a_path_goes_on_until_two_nodes_hold_half(random):
    hub = np.full(40, 0.1)
    hub[[3, 5]] = 10.0
    X = random.normal(size=(10, 40))
    path = GLGP(benefit=hub, prior=GamePrior(interaction="linear")).path(X, n_lams=30)
    share = [np.sort(model.graph_.influence)[-2:].sum() / model.graph_.influence.sum() for model in path.models]
    assert max(share[:-1]) < 0.5
    assert path.smoothness_costs[-1] < 4 * path.least  # to first order, the prior costs as much as the signals


def test_a_path_without_lambdas_is_refused(signals):
    with pytest.raises(ValueError, match="lams is empty"):
        GLGP(degree=5).path(signals, [])


def test_path_as_a_start(signals):
    direct = GLGP(lam=50.0, degree=5).fit(signals)
    gradual = GLGP(lam=50.0, degree=5, init="path").fit(signals)
    several = GLGP(lam=50.0, degree=5, random_state=0, solver=BestResponse(n_starts=5)).fit(signals)
    assert gradual.converged_
    assert max(gradual.objective_, several.objective_) <= direct.objective_
    again = GLGP(lam=50.0, degree=5, random_state=0, solver=BestResponse(n_starts=5)).fit(signals)
    np.testing.assert_array_equal(several.adjacency_.toarray(), again.adjacency_.toarray())


def test_a_random_graph_is_in_s():
    rows = random_rows(30, 0.7, np.random.RandomState(0))
    np.testing.assert_allclose(rows.sum(axis=1), 0.7)
    assert rows.data.min() > 0
    assert (rows.diagonal() == 0).all()


def test_the_first_starts_are_those_named(random):
    problem = Problem.from_signals(random.normal(size=(6, 20)), random.random(20), beta=2.0, c=0.8)
    smooth, uniform, linear = islice(starting_points(problem, 3.0, np.random.RandomState(0)), 3)
    even = problem.smoothness.hold(0.8 * (1 - np.eye(20)) / 19)
    np.testing.assert_array_equal(dense(smooth), dense(problem.smooth))
    np.testing.assert_allclose(dense(uniform), dense(problem.respond(problem.prior.evaluate(even), 3.0)), atol=1e-6)
    expected = problem.smoothness.respond(Bonus.of(np.full(20, 3.0), problem.prior.benefit))
    np.testing.assert_array_equal(dense(linear), dense(expected))
