"""The constrained Laplacian rank: each block against an oracle, the descent, the search for the penalty."""

import cvxpy as cp
import numpy as np
import pytest

from nashgraph.baselines import laplacian_rank
from nashgraph.baselines.laplacian_rank import components, constrained_rank, spectral_embedding, weight_step
from nashgraph.certificate import Status
from nashgraph.pairs import make_search, squared_distances
from nashgraph.smoothness import beta_for_degree

CASES = [(n, m, k) for n in (6, 10, 15, 20) for m, k in ((1, 2), (3, 2), (4, 3), (8, 1), (40, 2), (60, 3))]


def laplacian(weights):
    symmetric = 0.5 * (weights + weights.T)
    return np.diag(symmetric.sum(axis=1)) - symmetric


def penalised(weights, embedding, distances, lam, beta):
    """J(S) + 2 lam tr(F^T L F), by its definition."""
    penalty = 2 * lam * np.trace(embedding.T @ laplacian(weights) @ embedding)
    return np.sum(weights * distances) + beta * np.sum(weights**2) + penalty


def split_problem(seed):
    """Nodes in one to three dimensions that hardly fall into K groups: hard for the penalty's search."""
    random = np.random.default_rng(seed)
    n = int(random.integers(8, 30))
    k = int(random.integers(2, max(3, n // 3)))
    X = random.normal(size=(int(random.integers(1, 4)), n))
    beta = beta_for_degree(make_search(X), float(min(n - 1, random.integers(3, 12))), 0.95)
    return squared_distances(X), k, beta


@pytest.mark.parametrize(("n", "m", "k"), CASES)
def test_weight_step_reaches_the_optimum_of_a_conic_solver(n, m, k):
    random = np.random.default_rng(100 * n + m)
    D = squared_distances(random.normal(size=(m, n)))
    F = np.linalg.qr(random.normal(size=(n, k)))[0]
    lam, beta, c = 2.0 * random.random(), 0.1 + random.random(), 0.95
    found = weight_step(D, F, lam, beta, c)
    S = cp.Variable((n, n))
    symmetric = (S + S.T) / 2
    trace = cp.sum(cp.multiply(F @ F.T, cp.diag(cp.sum(symmetric, axis=1)) - symmetric))
    objective = cp.sum(cp.multiply(S, D)) + beta * cp.sum_squares(S) + 2 * lam * trace
    constraints = [S >= 0, cp.diag(S) == 0, cp.sum(S, axis=1) == c]
    best = cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL)
    assert penalised(found, F, D, lam, beta) == pytest.approx(best, rel=1e-6)
    assert found.min() >= 0
    assert (np.diag(found) == 0).all()
    assert abs(found.sum(axis=1) - c).max() <= 1e-8


@pytest.mark.parametrize("dense_nodes", [0, 10_000])
@pytest.mark.parametrize(("n_blocks", "k"), [(1, 1), (1, 4), (3, 3), (3, 5), (20, 20), (20, 23), (6, 2)])
def test_embedding_spans_the_lowest_eigenvectors(n_blocks, k, dense_nodes, monkeypatch):
    """By LAPACK and by Lanczos, which alone would miss copies of the eigenvalue zero."""
    monkeypatch.setattr(laplacian_rank, "DENSE_NODES", dense_nodes)
    random = np.random.default_rng(n_blocks)
    block = np.arange(200) % n_blocks
    weights = random.random((200, 200)) * (random.random((200, 200)) < 0.6) * (block[:, None] == block)
    assert components(weights)[0] == n_blocks
    F = spectral_embedding(weights, k)
    assert F.shape == (200, k)
    np.testing.assert_allclose(F.T @ F, np.eye(k), atol=1e-9)
    lowest = np.linalg.eigvalsh(laplacian(weights))[:k].sum()
    assert np.trace(F.T @ laplacian(weights) @ F) == pytest.approx(lowest, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_the_objective_never_rises_while_the_penalty_stays(seed):
    distances, k, beta = split_problem(seed)
    weights = weight_step(distances, np.zeros((len(distances), 1)), 0.0, beta, 0.95)
    objectives = []
    for _ in range(15):
        embedding = spectral_embedding(weights, k)
        objectives.append(penalised(weights, embedding, distances, 4 * beta, beta))
        weights = weight_step(distances, embedding, 4 * beta, beta, 0.95)
        objectives.append(penalised(weights, embedding, distances, 4 * beta, beta))
    assert (np.diff(objectives) <= 1e-12 * objectives[0]).all()
    assert objectives[-1] < objectives[0]


@pytest.mark.parametrize("seed", [0, 1, 3, 187, 189, 360, 1496])
def test_ends_in_exactly_k_components_and_stationary(seed):
    """The last four seeds overshoot to more than K components and must come back."""
    distances, k, beta = split_problem(seed)
    found = constrained_rank(distances, k, beta, 0.95)
    assert found.certificate.converged
    assert found.n_components == components(found.weights)[0] == k == found.labels.max() + 1
    assert (found.weights[found.labels[:, None] != found.labels] == 0).all()
    again = weight_step(distances, spectral_embedding(found.weights, k), found.lam, beta, 0.95)
    np.testing.assert_allclose(again, found.weights, atol=1e-8)
    J = np.sum(found.weights * distances) + beta * np.sum(found.weights**2)
    assert found.objective == found.certificate.history[-1].objective == pytest.approx(J)


@pytest.mark.parametrize("seed", [187, 189, 360, 872, 933, 1496])
def test_coming_back_from_too_many_components_does_not_depend_on_the_order_of_the_nodes(seed):
    distances, k, beta = split_problem(seed)
    order = np.random.default_rng(0).permutation(len(distances))
    one = constrained_rank(distances, k, beta, 0.95)
    other = constrained_rank(distances[np.ix_(order, order)], k, beta, 0.95)
    np.testing.assert_allclose(other.weights, one.weights[np.ix_(order, order)], atol=1e-8)


def test_no_penalty_joins_a_graph_in_too_many_pieces():
    X = np.repeat([0.0, 10.0, 20.0, 30.0], 5)[None] + np.random.default_rng(0).normal(size=(3, 20))
    found = constrained_rank(squared_distances(X), 2, beta_for_degree(make_search(X), 3.0, 0.95), 0.95)
    assert (found.n_components, found.certificate.iterations, found.certificate.status) == (4, 0, Status.STALLED)
    assert "4 component(s) where n_components=2: the smooth graph" in found.certificate.sentence


def test_one_component_is_the_smooth_graph(signals):
    distances, beta = squared_distances(signals), beta_for_degree(make_search(signals), 8.0, 0.95)
    found = constrained_rank(distances, 1, beta, 0.95)
    assert found.certificate.converged
    np.testing.assert_allclose(found.weights, weight_step(distances, np.zeros((30, 1)), 0.0, beta, 0.95), atol=1e-12)


def test_a_graph_that_does_not_change_but_has_too_few_components_goes_on():
    """A change of zero is not convergence while the number of components is wrong."""
    distances, k, beta = split_problem(0)
    found = constrained_rank(distances, k, beta, 0.95, tol=1e10, max_iter=2)
    assert found.n_components < k
    assert found.certificate.status is Status.MAX_ITER
    assert f"{found.n_components} component(s) where n_components={k}, with a penalty" in found.certificate.sentence
