"""The lambda-path: its range, its Pareto front, its certificates."""

import numpy as np
import pytest

from nashgraph import GLGP, SmoothGL, glgp_path, spectral_benefit
from nashgraph.couplings import STORAGES, distances, smooth_graph
from nashgraph.solvers import Problem, best_response, lam_range, solve_path


@pytest.fixture
def problem(signals):
    return Problem.from_signals(signals, spectral_benefit(signals), beta=2.0, interaction="linear")


def support(coupling):
    return coupling.weights > 1e-12


def test_range_starts_where_an_edge_first_changes(problem):
    """To first order in lam: just below, no edge moves; just above, one does."""
    low, high = lam_range(problem)
    assert 0 < low < high
    graph = smooth_graph(problem.storage)
    play = problem.play(graph)
    left, right = play.adjoint, problem.interaction.value(play.actions)
    before = problem.storage.respond(0.99 * low * left, right)
    after = problem.storage.respond(1.01 * low * left, right)
    assert (support(before) == support(graph)).all()
    assert (support(after) != support(graph)).any()


def test_at_the_end_of_the_range_the_prior_dominates(problem):
    """Every row's favourites are then the nodes of largest action."""
    _, high = lam_range(problem)
    smooth = smooth_graph(problem.storage)
    best = best_response(Problem(problem.storage, problem.benefit, high, problem.interaction, problem.welfare))
    strength, plain = best.coupling.weights.sum(axis=0), smooth.weights.sum(axis=0)
    assert np.sort(strength)[-3:].sum() > 0.5 * strength.sum() > np.sort(plain)[-3:].sum()


@pytest.mark.parametrize("name", STORAGES)
def test_range_is_the_same_in_every_storage(name, signals, problem, monkeypatch):
    monkeypatch.setattr(distances, "BLOCK_BYTES", 1)
    other = Problem.from_signals(signals, problem.benefit, beta=2.0, interaction="linear", storage=name)
    np.testing.assert_allclose(lam_range(other), lam_range(problem), rtol=1e-9)


def test_front_rises_in_both_and_is_certified(problem):
    low, high = lam_range(problem)
    path = solve_path(problem, np.geomspace(low, high, 12), tol=1e-8)
    assert (np.diff(path.lams) > 0).all()
    assert (np.diff(path.welfares) >= -1e-9 * path.welfares[-1]).all()
    assert (np.diff(path.fidelities) >= -1e-9 * path.fidelities[-1]).all()
    assert (path.stationarities <= 1e-8).all()
    np.testing.assert_allclose(path.objectives, path.fidelities - path.lams * path.welfares, rtol=1e-10)


def test_each_point_is_no_worse_than_solving_it_alone(problem):
    low, high = lam_range(problem)
    path = solve_path(problem, np.geomspace(low, high, 8))
    for lam, objective in zip(path.lams, path.objectives, strict=True):
        alone = best_response(Problem(problem.storage, problem.benefit, lam, problem.interaction, problem.welfare))
        assert objective <= alone.objective + 1e-6 * abs(alone.objective)


def test_public_path_has_its_range_and_shows_progress(signals, capsys):
    path = glgp_path(signals, n_lams=4, degree=5, verbose=1)
    assert len(path.results) == 4
    assert "storage: dense" in capsys.readouterr().out
    zero = glgp_path(signals, [0.0, 1.0], degree=5)
    np.testing.assert_allclose(zero.results[0].coupling.weights, SmoothGL(degree=5).fit(signals).adjacency_)


def test_path_as_a_start(signals):
    direct = GLGP(lam=50.0, degree=5).fit(signals)
    gradual = GLGP(lam=50.0, degree=5, init="path").fit(signals)
    several = GLGP(lam=50.0, degree=5, multistart=5, random_state=0).fit(signals)
    assert gradual.converged_
    assert max(gradual.objective_, several.objective_) <= direct.objective_
    again = GLGP(lam=50.0, degree=5, multistart=5, random_state=0).fit(signals)
    np.testing.assert_array_equal(several.adjacency_, again.adjacency_)
