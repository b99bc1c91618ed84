"""GL-SigRep: each block against a conic solver, the certificate, and an objective that never rises."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from nashgraph.baselines.accelerated import accelerated_descent
from nashgraph.baselines.signal_representation import LaplacianBlock, pair_costs, sig_rep, signal_step
from nashgraph.certificate import Measure, Monitor

CASES = [
    (n, m, beta)
    for n in (6, 9, 14, 20)
    for m, beta in ((1, 0.01), (3, 0.1), (4, 1.0), (5, 100.0), (30, 0.3), (60, 5.0))
]


def laplacian_oracle(costs, beta):
    """The block's optimum by CLARABEL, over full matrices with the constraints as the paper writes them."""
    distances = squareform(costs)
    n = len(distances)
    L = cp.Variable((n, n), symmetric=True)
    off = ~np.eye(n, dtype=bool)
    # alpha tr(Y^T L Y) = sum_{i<j} w_ij costs_ij = -1/2 <L, costs>.
    objective = -0.5 * cp.sum(cp.multiply(distances, L)) + beta * cp.sum_squares(L)
    constraints = [L[off] <= 0, cp.sum(L, axis=1) == 0, cp.trace(L) == n]
    return cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL)


def laplacian_step(costs, beta, start=None, tol=1e-9, max_iter=20_000):
    """The block solved: weights, value, gap and the certificate."""
    block, n = LaplacianBlock(costs, beta), len(squareform(costs))
    start = np.full(len(costs), 1 / (n - 1)) if start is None else start
    weights, certificate = accelerated_descent(block, start, Monitor(Measure.GAP, tol, max_iter))
    return weights, *block.measure(block.at(weights)), certificate


def random_laplacian(n, random):
    weights = random.random(n * (n - 1) // 2) * (random.random(n * (n - 1) // 2) < 0.5)
    weights *= 0.5 * n / weights.sum()
    return weights, squareform(weights).sum(axis=0)


@pytest.mark.parametrize(("n", "m", "beta"), CASES)
def test_laplacian_step_reaches_the_optimum_of_a_conic_solver(n, m, beta):
    random = np.random.default_rng(100 * n + m)
    costs = pair_costs(random.normal(size=(n, m)), alpha=0.3)
    weights, value, gap, certificate = laplacian_step(costs, beta)
    best = laplacian_oracle(costs, beta)
    assert value == pytest.approx(best, rel=1e-6)
    assert weights.min() >= 0
    assert abs(weights.sum() - n / 2) <= 1e-8
    # The certificate: below the tolerance, and not below the true gap.
    assert certificate.converged
    assert certificate.value == pytest.approx(gap / value, rel=1e-3, abs=1e-14)
    assert value - gap <= best + 1e-6 * best


def test_a_step_keeps_the_degrees(random):
    block = LaplacianBlock(pair_costs(random.normal(size=(9, 3)), alpha=1.0), 0.5)
    moved = block.step(block.at(random_laplacian(9, random)[0]))
    np.testing.assert_allclose(moved.image, squareform(moved.point).sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_gap_bounds_what_is_missing_anywhere(seed):
    random = np.random.default_rng(seed)
    costs = pair_costs(random.normal(size=(12, 4)), alpha=1.0)
    best = laplacian_step(costs, 0.4, tol=1e-12)[1]
    block = LaplacianBlock(costs, 0.4)
    value, gap = block.measure(block.at(random_laplacian(12, random)[0]))
    assert value - best > 1e-3
    assert gap >= value - best


def test_value_is_the_squared_norm_of_the_laplacian(random):
    weights, degrees = random_laplacian(9, random)
    laplacian = np.diag(degrees) - squareform(weights)
    block = LaplacianBlock(np.zeros(36), 2.0)
    assert block.measure(block.at(weights))[0] == pytest.approx(2 * np.sum(laplacian**2))


@pytest.mark.parametrize("seed", range(10))
def test_a_start_is_never_made_worse(seed):
    """A start at the optimum would be, by rounding."""
    costs = pair_costs(np.random.default_rng(seed).normal(size=(10, 3)), alpha=1.0)
    best, least, *_ = laplacian_step(costs, 0.2, tol=1e-15)
    for max_iter in range(1, 30):
        assert laplacian_step(costs, 0.2, start=best, tol=-1.0, max_iter=max_iter)[1] <= least * (1 + 1e-14)


def test_a_start_is_not_written_to(random):
    costs = pair_costs(random.normal(size=(10, 3)), alpha=1.0)
    weights, _ = random_laplacian(10, random)
    start = weights.copy()
    laplacian_step(costs, 0.2, start=start, max_iter=7)
    np.testing.assert_array_equal(start, weights)


@pytest.mark.parametrize("m", [2, 15])
def test_signal_step_reaches_the_optimum_of_a_conic_solver(m, random):
    n, alpha = 8, 0.7
    X = random.normal(size=(n, m))
    weights, degrees = random_laplacian(n, random)
    found = signal_step(X, weights, alpha)
    L = np.diag(degrees) - squareform(weights)
    values, vectors = np.linalg.eigh(L)
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    Y = cp.Variable((n, m))
    best = cp.Problem(cp.Minimize(cp.sum_squares(X - Y) + alpha * cp.sum_squares(root @ Y))).solve(solver=cp.CLARABEL)
    assert np.sum((X - found) ** 2) + alpha * np.sum(found * (L @ found)) == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(found, Y.value, atol=1e-5)


def test_pair_costs_follow_their_definition(random):
    Y = 50 + random.normal(size=(7, 4))
    np.testing.assert_allclose(pair_costs(Y, 0.3), 0.3 * pdist(Y, "sqeuclidean"), rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alpha", [0.05, 0.5, 3.0])
def test_the_objective_never_rises_and_ends_at_a_stationary_point(alpha, seed):
    random = np.random.default_rng(seed)
    m, n = (5, 16) if seed % 2 else (40, 12)
    X = random.normal(size=(m, n))
    found = sig_rep(X, alpha, 0.05 * alpha * m, tol=1e-8, max_iter=500)
    objectives = [record.objective for record in found.certificate.history]
    assert found.certificate.converged
    assert found.certificate.iterations > 1
    assert (np.diff(objectives) <= 1e-12 * objectives[0]).all()
    # The objective is that of the problem at the graph and signals returned.
    L = np.diag(found.weights.sum(axis=1)) - found.weights
    Y = found.denoised.T
    smoothness = alpha * np.sum(Y * (L @ Y)) + 0.05 * alpha * m * np.sum(L**2)
    assert found.objective == pytest.approx(np.sum((X - found.denoised) ** 2) + smoothness, rel=1e-9)
    # Each block is at its optimum given the other.
    best = laplacian_oracle(pair_costs(Y, alpha), 0.05 * alpha * m)
    assert smoothness == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(Y + alpha * L @ Y, X.T, atol=1e-9)


def test_many_signals_are_compressed_without_changing_the_graph(random):
    """Signals of zeros add nothing, but bring the problem to the branch with more signals than nodes."""
    X = 3 + random.normal(size=(6, 10))
    padded = np.vstack([X, np.zeros((9, 10))])
    few, many = sig_rep(X, 0.4, 0.1, tol=1e-12), sig_rep(padded, 0.4, 0.1, tol=1e-12)
    np.testing.assert_allclose(many.weights, few.weights, atol=1e-6)
    np.testing.assert_allclose(many.denoised[:6], few.denoised, atol=1e-6)
    assert many.objective == pytest.approx(few.objective, rel=1e-10)


def test_stopping_early_is_told(random):
    found = sig_rep(random.normal(size=(20, 15)), 3.0, 1.0, tol=1e-10, max_iter=2)
    assert not found.certificate.converged
    assert [record.iteration for record in found.certificate.history] == [0, 1, 2]
    assert found.certificate.value > 1e-10
