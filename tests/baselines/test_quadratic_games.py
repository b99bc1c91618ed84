"""Quadratic games: each block against CVXPY, descent, and closed forms."""

import cvxpy as cp
import numpy as np
import pytest

from nashgraph.baselines.accelerated import accelerated_descent
from nashgraph.baselines.node_classes import Classes, project_weighted
from nashgraph.baselines.quadratic_games import Game, quad_game
from nashgraph.certificate import Measure, Monitor

KINDS = ["independent", "homophilous"]


def random_problem(seed):
    """Actions on 5 to 14 nodes, of more and of fewer games than nodes, and a range of weights."""
    random = np.random.default_rng(seed)
    n = int(random.integers(5, 15))
    m = [3, n - 1, 4 * n, 1][seed % 4]
    weights = {
        "rho": float(random.uniform(0.2, 0.8) * random.choice([1, 1, -1])),
        "theta1": float(10 ** random.uniform(-1, 1)),
        "theta2": float(10 ** random.uniform(-1, 1)),
    }
    return random.normal(size=(n, m)), weights


def penalty(G, B, kind):
    """The benefits' penalty as published: tr(B^T L B) = tr(diag(G 1) B B^T) - tr(G B B^T)."""
    if kind == "independent":
        return cp.sum_squares(B)
    gram = B @ B.T
    return cp.sum(cp.multiply(cp.sum(G, axis=1), np.diag(gram))) - cp.sum(cp.multiply(G, gram))


def objective_by_definition(Y, G, B, kind, *, rho, theta1, theta2):
    laplacian = np.diag(G.sum(axis=1)) - G
    cost = np.sum(B**2) if kind == "independent" else np.trace(B.T @ laplacian @ B)
    return np.sum((Y - rho * G @ Y - B) ** 2) + theta1 * np.sum(G**2) + theta2 * cost


def with_twins(seed):
    """A problem in which some nodes have the same actions, and their indices."""
    Y, weights = random_problem(seed)
    twins = np.random.default_rng(seed).integers(len(Y), size=6)
    return np.vstack([Y, Y[twins]]), weights, twins


def game_of(Y, weights):
    return Game(Classes.of(Y), Y, **weights)


def graph_oracle(Y, B, kind, *, rho, theta1, theta2):
    n = len(Y)
    G = cp.Variable((n, n), symmetric=True)
    objective = cp.sum_squares(Y - rho * G @ Y - B) + theta1 * cp.sum_squares(G) + theta2 * penalty(G, B, kind)
    problem = cp.Problem(cp.Minimize(objective), [G >= 0, cp.diag(G) == 0, cp.sum(G) == n])
    problem.solve(solver="CLARABEL")
    return float(problem.value), G.value


def objectives(result):
    return np.array([record.objective for record in result.certificate.history])


def benefit_oracle(Y, G, kind, rho, theta2):
    B = cp.Variable(Y.shape)
    if kind == "independent":
        smooth = cp.sum_squares(B)
    else:
        values, vectors = np.linalg.eigh(np.diag(G.sum(axis=1)) - G)
        smooth = cp.sum_squares((np.sqrt(np.maximum(values, 0))[:, None] * vectors.T) @ B)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(Y - rho * G @ Y - B) + theta2 * smooth))
    problem.solve(solver="CLARABEL")
    return float(problem.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(24))
def test_each_block_is_optimal_given_the_other(kind, seed):
    Y, weights = random_problem(seed)
    result = quad_game(Y, **weights, benefits=kind, max_iter=5000)
    G, B = result.weights, result.benefits
    value = objective_by_definition(Y, G, B, kind, **weights)
    assert result.certificate.converged
    assert result.objective == pytest.approx(value, rel=1e-12)
    best, graph = graph_oracle(Y, B, kind, **weights)
    assert value == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(G, graph, atol=2e-3)
    rest = value - weights["theta1"] * np.sum(G**2)
    assert rest == pytest.approx(benefit_oracle(Y, G, kind, weights["rho"], weights["theta2"]), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("seed", range(24))
def test_graph_block_at_benefits_that_are_not_optimal(seed):
    """The program of a G-step by itself, at random B, from a random start."""
    Y, weights = random_problem(seed)
    random = np.random.default_rng(100 + seed)
    B, n = random.normal(size=Y.shape), len(Y)
    game = game_of(Y, weights)
    start = project_weighted(random.normal(size=n * (n - 1) // 2), game.roots_of_counts, n / 2)
    program = game.program(B)
    z, certificate = accelerated_descent(program, start, Monitor(Measure.GAP, 1e-9, 20_000))
    best, graph = graph_oracle(Y, B, "homophilous", **weights)
    assert certificate.value <= 1e-9
    assert program.measure(program.at(z))[0] == pytest.approx(best, rel=1e-6)
    assert objective_by_definition(Y, game.matrix(z), B, "homophilous", **weights) == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(game.matrix(z), graph, atol=2e-3)


@pytest.mark.parametrize("seed", range(24))
def test_independent_benefits_are_solved_jointly(seed):
    Y, weights = random_problem(seed)
    rho, theta1, theta2 = weights.values()
    n = len(Y)
    G, B = cp.Variable((n, n), symmetric=True), cp.Variable(Y.shape)
    objective = cp.sum_squares(Y - rho * G @ Y - B) + theta1 * cp.sum_squares(G) + theta2 * cp.sum_squares(B)
    problem = cp.Problem(cp.Minimize(objective), [G >= 0, cp.diag(G) == 0, cp.sum(G) == n])
    problem.solve(solver="CLARABEL")
    assert quad_game(Y, **weights).objective == pytest.approx(problem.value, rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_independent_benefits_of_nodes_alike(seed):
    Y, weights, twins = with_twins(seed)
    result = quad_game(Y, **weights)
    best, graph = graph_oracle(Y, result.benefits, "independent", **weights)
    assert len(Classes.of(Y).sizes) == len(Y) - len(twins)
    assert result.certificate.converged
    assert result.objective == pytest.approx(objective_by_definition(Y, *result[:2], "independent", **weights))
    assert result.objective == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(result.weights, graph, atol=2e-3)


@pytest.mark.parametrize("seed", range(8))
def test_homophilous_steps_are_those_of_all_nodes(seed, monkeypatch):
    """Equal nodes are merged; without merging the objectives are the same, step by step."""
    Y, weights, _ = with_twins(seed)
    histories = [objectives(quad_game(Y, **weights, benefits="homophilous", tol=1e-7, max_iter=20))]
    apart = Classes(np.ones(len(Y)), np.arange(len(Y)), np.arange(len(Y)))
    monkeypatch.setattr(Classes, "of", lambda rows: apart)
    histories.append(objectives(quad_game(Y, **weights, benefits="homophilous", tol=1e-7, max_iter=20)))
    size = min(map(len, histories))
    assert size > 1
    np.testing.assert_allclose(histories[0][:size], histories[1][:size], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_all_nodes_alike(kind):
    result = quad_game(np.ones((5, 3)), rho=0.5, theta1=1.0, theta2=1.0, benefits=kind)
    assert result.certificate.converged
    np.testing.assert_allclose(result.weights, (1 - np.eye(5)) / 4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_meets_finite_differences(kind):
    Y, weights, _ = with_twins(3)
    game = game_of(Y, weights)
    random = np.random.default_rng(0)
    independent = kind == "independent"
    program = game.program_without_benefits() if independent else game.program(game.homophily(game.complete()))
    z, direction = random.random(len(game.roots_of_counts)), random.normal(size=len(game.roots_of_counts))

    def value(point):
        return program.measure(program.at(point))[0]

    slope = (value(z + 1e-5 * direction) - value(z - 1e-5 * direction)) / 2e-5
    assert slope == pytest.approx(program.at(z).image @ direction, rel=1e-6)
    np.testing.assert_allclose(game.values(game.matrix(z)), z)


@pytest.mark.parametrize("seed", range(24))
def test_the_objective_never_rises(seed):
    Y, weights = random_problem(seed)
    history = objectives(quad_game(Y, **weights, benefits="homophilous", max_iter=50))
    assert len(history) > 1
    assert np.diff(history).max() <= 1e-12 * history[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_is_admissible(kind):
    Y, weights = random_problem(2)
    G = quad_game(Y, **weights, benefits=kind).weights
    np.testing.assert_array_equal(G, G.T)
    assert G.min() >= 0
    assert not np.diag(G).any()
    assert G.sum() == pytest.approx(len(G), rel=1e-12)


def test_benefits_of_a_step_solve_their_equation():
    Y, weights = random_problem(4)
    G = quad_game(Y, **weights).weights
    game = game_of(Y, {"rho": 0.3, "theta1": 1.0, "theta2": 2.0})
    B = game.homophily(game.values(G))
    laplacian = np.diag(G.sum(axis=1)) - G
    np.testing.assert_allclose(B + 2.0 * laplacian @ B, Y - 0.3 * G @ Y, atol=1e-12)


def test_a_large_theta1_gives_the_complete_graph():
    Y, weights = random_problem(1)
    n = len(Y)
    G = quad_game(Y, **{**weights, "theta1": 1e7}).weights
    np.testing.assert_allclose(G, (1 - np.eye(n)) / (n - 1), atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_relabelling_nodes_relabels_the_graph(kind):
    Y, weights = random_problem(6)
    order = np.random.default_rng(0).permutation(len(Y))
    first = quad_game(Y, **weights, benefits=kind, tol=1e-11, max_iter=5000)
    second = quad_game(Y[order], **weights, benefits=kind, tol=1e-11, max_iter=5000)
    np.testing.assert_allclose(second.weights, first.weights[np.ix_(order, order)], atol=1e-4)
    np.testing.assert_allclose(second.benefits, first.benefits[order], atol=1e-4)


def test_few_alternations_are_reported():
    Y, weights = random_problem(2)
    result = quad_game(Y, **weights, benefits="homophilous", max_iter=1, tol=1e-13)
    assert not result.certificate.converged
    assert result.certificate.value > 1e-13
    assert result.certificate.iterations == 1
    assert "raise max_iter, tol or theta1" in result.certificate.sentence
