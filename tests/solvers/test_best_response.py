"""The fast solver: stationary, monotone, the same in every storage, never above TTGD, with an honest status."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashgraph import GLGP, BestResponse, spectral_benefit
from nashgraph.certificate import Status
from nashgraph.games import INTERACTIONS
from nashgraph.pairs import project_rows
from nashgraph.priors import GamePrior
from nashgraph.smoothness import STORAGES
from nashgraph.solvers import (
    TTGD,
    Problem,
    gradient_mapping,
    multistart,
    solve_gradually,
)
from nashgraph.solvers.descent import Acceleration, Descent

from ..problems import HARDEST, STRESS_GRID, TABLES, hardest, largest_rise, likert, random_graph, stress_problem


def village_like(n, random):
    """Binary and small-integer columns with many equal rows, and benefits of two levels."""
    X = np.vstack([random.integers(0, 2, size=(4, n)), random.poisson(1.4, size=(2, n))]).astype(float)
    b = 1.0 + (random.random(n) < 0.45)
    return X, b / b.sum()


@pytest.mark.parametrize("interaction", INTERACTIONS)
@pytest.mark.parametrize("lam", [0.0, 1.0, 100.0])
def test_reaches_a_stationary_point_without_ever_rising(interaction, lam, random):
    X, b = village_like(60, random)
    problem = Problem.from_signals(X, b, beta=2.0, interaction=interaction)
    result = BestResponse(tol=1e-9).solve(problem, lam)
    assert result.converged
    assert largest_rise(result.certificate.history) <= 1e-12
    # The certificate, against the gradient mapping computed another way.
    assert np.linalg.norm(gradient_mapping(problem, lam, result.weights, 0.1)) <= 1e-6 * np.linalg.norm(
        result.weights.matrix().toarray()
    )
    W = result.weights.matrix().toarray()
    assert W.min() >= 0
    np.testing.assert_allclose(W.sum(axis=1), 0.95, atol=1e-10)


def test_the_direction_descends_as_fact_four_says(random):
    """<grad l(W), B(W) - W> <= -2 beta ||B(W) - W||^2 at random W."""
    X, b = village_like(40, random)
    problem = Problem.from_signals(X, b, beta=1.5)
    for _ in range(5):
        W = random_graph(40, 0.95, random)
        state = problem.prior.evaluate(problem.smoothness.hold(W))
        d = problem.respond(state, 50.0).matrix().toarray() - W
        gradient = (
            problem.smoothness.search.geometry.rows(np.arange(40)) + 3.0 * W - 50.0 * np.outer(state.left, state.right)
        )
        assert np.sum(gradient * d) <= -3.0 * np.sum(d**2) * (1 - 1e-9)


def test_line_search_takes_over_where_the_bare_iteration_oscillates():
    """Fact 4: large lam against beta. The bare iteration W <- B(W) raises the objective here; the solver must not."""
    random = np.random.default_rng(301)
    X = random.integers(0, 2, size=(4, 50)).astype(float)
    b = random.random(50)
    problem = Problem.from_signals(X, b / b.sum(), beta=0.1, interaction="linear")
    weights = problem.smooth
    bare = []
    for _ in range(30):
        state = problem.prior.evaluate(weights)
        bare.append(problem.objective(weights, state, 0.1))
        weights = problem.respond(state, 0.1)
    assert np.diff(bare).max() > 0
    for storage in STORAGES:
        problem = Problem.from_signals(X, b / b.sum(), beta=0.1, interaction="linear", storage=storage)
        result = BestResponse(max_iter=25).solve(problem, 0.1)
        assert largest_rise(result.certificate.history) <= 1e-12
        assert result.objective < min(bare)


GRID = st.tuples(
    *(st.sampled_from([v for v in values if v != 200]) for values in STRESS_GRID.values()), st.integers(0, 99)
)


@given(GRID)
@settings(max_examples=120)
def test_a_sample_of_the_stress_grid(point):
    """Finite, feasible, monotone; and stationary, or with a status that denies it."""
    problem = stress_problem(*point)
    result = BestResponse().solve(problem, point[1])
    W = result.weights.matrix().toarray()
    assert np.isfinite(W).all()
    assert W.min() >= 0
    np.testing.assert_allclose(W.sum(axis=1), point[3], atol=1e-10)
    assert np.diag(W).max() == 0
    assert largest_rise(result.certificate.history) <= 1e-12
    assert result.converged == (result.certificate.value <= 1e-6)


def test_nearly_all_of_the_stress_grid_converges():
    """Even a solver that stops early is feasible, monotone and honest, so check the share that converges."""
    points = list(itertools.product(*STRESS_GRID.values()))
    chosen = np.random.default_rng(0).choice(len(points), 300, replace=False)
    results = [BestResponse().solve(stress_problem(*points[k], int(k)), points[k][1]) for k in chosen]
    assert np.mean([result.converged for result in results]) >= 0.99
    assert np.mean([result.certificate.iterations > 0 for result in results]) > 0.5  # few starts are stationary already


@pytest.mark.parametrize("seed", range(6))
def test_objective_is_no_higher_than_ttgds(seed):
    random = np.random.default_rng(seed)
    X, b = village_like(30, random)
    lam, beta = [(1.0, 1.0), (20.0, 5.0), (100.0, 20.0)][seed % 3]
    problem = Problem.from_signals(X, b, beta=beta, interaction=["linear", "log1p"][seed % 2])
    slow = TTGD(gamma=0.05 / beta, tol=1e-7, max_iter=4000, check_every=100).solve(problem, lam)
    fast = BestResponse().solve(problem, lam)
    assert fast.objective <= slow.objective + 1e-6 * abs(slow.objective)


def test_starts_and_paths_never_make_it_worse(random):
    X, b = village_like(40, random)
    problem = Problem.from_signals(X, b, beta=20.0, interaction="linear")
    plain = BestResponse().solve(problem, 100.0)
    assert multistart(problem, 100.0, BestResponse(n_starts=5), np.random.RandomState(0)).objective <= plain.objective
    assert solve_gradually(problem, 100.0, BestResponse()).objective <= plain.objective


def test_status_says_how_it_ended(random):
    X, b = village_like(40, random)
    problem = Problem.from_signals(X, b, beta=20.0)
    assert BestResponse(max_iter=1).solve(problem, 100.0).certificate.status is Status.MAX_ITER
    stopped = BestResponse(callback=lambda record: record.iteration >= 1).solve(problem, 100.0)
    assert stopped.certificate.status is Status.STOPPED
    # Require more of every step than the slope can promise: no step is good enough, and the status says it.
    stalled = BestResponse(memory=0, armijo=1e6).solve(problem, 100.0)
    assert stalled.certificate.status is Status.STALLED
    assert stalled.certificate.value > 1e-6


def test_spectral_benefit_on_the_papers_problem(random):
    """The paper's own setting, to 1e-10 in a handful of steps where TTGD takes hundreds."""
    from nashgraph.datasets import preferential_attachment, smooth_signals

    X = smooth_signals(preferential_attachment(50, random_state=0), 10, noise=0.2, random_state=0)
    problem = Problem.from_signals(X, spectral_benefit(X), beta=200.0, interaction="linear")
    fast = BestResponse(tol=1e-10).solve(problem, 10.0)
    slow = TTGD(tol=1e-10, max_iter=3000).solve(problem, 10.0)
    assert fast.converged
    assert fast.certificate.iterations <= 40
    np.testing.assert_allclose(fast.weights.matrix().toarray(), slow.weights.matrix().toarray(), atol=1e-8)


@pytest.mark.parametrize("lam", [5.0, 80.0])
def test_every_step_descends_enough_on_clustered_answers(lam, monkeypatch):
    """This prevents cycles: if any decrease were enough, some of these steps would hardly descend."""
    step, enough, options = Descent.step, [], BestResponse()

    def watched(run, now, response, stationarity, accuracy):
        found = step(run, now, response, stationarity, accuracy)
        way = now.weights.distance(response)
        least = 2.0 * run.problem.smoothness.beta * way**2
        if found is not None and least > 1e-9 * abs(now.objective):  # else it is of the order of rounding
            share = found.weights.distance(now.weights) / way
            enough.append(now.objective - found.objective >= options.enough * min(1.0, share) ** 2 * least)
        return found

    monkeypatch.setattr(Descent, "step", watched)
    GLGP(lam=lam).fit(likert(300, np.random.default_rng(0), groups=8))
    assert len(enough) > 20
    assert all(enough)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
@pytest.mark.parametrize("name", HARDEST)
def test_every_storage_takes_the_same_steps_on_the_hardest_problems(name):
    """Storage decides memory, never the algorithm; rounding alone once led to graphs with other ties."""
    found = {}
    for storage in STORAGES:
        problem, lam = hardest(name, storage)
        found[storage] = BestResponse().solve(problem, lam)
        assert found[storage].converged
        assert largest_rise(found[storage].certificate.history) <= 1e-12
    assert found["sparse"].certificate.history == found["dense"].certificate.history
    assert (found["sparse"].weights.matrix() != found["dense"].weights.matrix()).nnz == 0


def test_a_known_state_is_not_solved_again(monkeypatch, random):
    X, b = village_like(60, random)
    problem = Problem.from_signals(X, b, beta=2.0)
    found = BestResponse(tol=1e-8).solve(problem, 5.0)
    started, evaluate = [], GamePrior.evaluate

    def watched(prior, weights, **more):
        started.append(more["start"])
        return evaluate(prior, weights, **more)

    monkeypatch.setattr(GamePrior, "evaluate", watched)
    for start, known in ((found, found.state), (found.weights, None)):
        started.clear()
        again = BestResponse(tol=1e-8).solve(problem, 5.0, start)
        assert started[0] is known
        assert again.converged
        assert again.weights.distance(found.weights) <= 1e-6


@pytest.mark.parametrize("memory", [0, 6])
def test_where_rounding_hides_the_objective_the_stationarity_leads_to_the_end(memory, random):
    """Otherwise any step would be accepted, even a series that overshoots."""
    X, b = village_like(60, random)
    problem = replace(Problem.from_signals(X, b, beta=5.0), rounding=1e9)
    assert BestResponse(memory=memory).solve(problem, 1.0).converged


def test_acceleration_solves_an_affine_map_in_as_many_steps_as_it_has_dimensions(random):
    A, c = 0.2 * random.random((4, 4)), random.random(4)
    solution = np.linalg.solve(np.eye(4) - A, c)
    memory, z = Acceleration(8), np.ones(4)
    for _ in range(6):
        image = SimpleNamespace(left=A @ z + c, right=np.ones(4))
        memory.add(SimpleNamespace(left=z, right=np.ones(4)), image)
        proposal = memory.propose()
        z = image.left if proposal is None else proposal.left
    np.testing.assert_allclose(z, solution, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", TABLES)
def test_tables_as_they_come(shape):
    """Feasible, monotone, and stationary or with a status that denies it: at the default strength and far above."""
    X = TABLES[shape](60, np.random.default_rng(0))
    default = GLGP().fit(X)
    assert default.converged_
    for model in (default, GLGP(lam=100.0 * default.lam_).fit(X)):
        assert model.adjacency_.toarray().min() >= 0
        np.testing.assert_allclose(model.adjacency_.toarray().sum(axis=1), 0.95, atol=1e-10)
        assert largest_rise(model.certificate_.history) <= 1e-12
        assert model.converged_ == (model.stationarity_ <= 1e-6)


def test_a_descent_among_candidates_ends_at_a_certificate_over_all_pairs(random):
    """Its first candidates lack the hub that the prior favours, so the proof has to add it."""
    benefit = np.where(np.arange(400) == 3, 30.0, 1.0) + random.random(400)
    problem = Problem.from_signals(random.normal(size=(6, 400)), benefit / benefit.sum(), beta=0.3, storage="sparse")
    result = BestResponse(far=1e9).solve(problem, 20.0)
    assert result.converged
    scores = problem.bonus(result.state, 20.0)
    costs = problem.smoothness.search.geometry.rows(np.arange(400))
    best, _ = project_rows((scores.left @ scores.right.T - costs) / 0.6, 0.95)
    graph = result.weights.matrix().toarray()
    assert np.linalg.norm(graph - best) <= 1e-6 * np.linalg.norm(graph)
    assert problem.smoothness.candidates.renewals <= 6


def test_rough_states_with_small_negative_actions_are_not_taken_for_a_game_without_equilibrium():
    """One benefit of fifty is positive: a state solved to 1e-5 had an action of -9e-4, and the exact one none."""
    problem = stress_problem("linear", 0.1, 0.1, 0.95, 50, "one-hot benefit", 401)
    assert BestResponse().solve(problem, 0.1).converged
