"""TTGD: the published recursion step by step, the theorem's rate, the paper's setting."""

import numpy as np
import pytest

from nashgraph import project_rows, spectral_benefit
from nashgraph.certificate import Status
from nashgraph.datasets import preferential_attachment, smooth_signals
from nashgraph.solvers import TTGD, Problem, gradient_mapping, theory_steps

from ..problems import dense, distances


@pytest.fixture
def problem(random):
    X = random.normal(size=(6, 15))
    return Problem.from_signals(X, spectral_benefit(X), beta=1.0, c=0.6)


def test_follows_the_published_recursion(problem):
    """Five iterations written out with dense inverses, as in the paper, against the solver."""
    alpha, gamma, b, n = 0.5, 0.05, problem.prior.benefit, 15
    D, beta, lam = distances(problem), 1.0, 0.5
    W = dense(problem.smooth)
    y = b.copy()
    for _ in range(5):
        y = y + alpha * (np.maximum(0, b + W @ np.log1p(y)) - y)
        jacobian = W * (1 / (1 + y))
        u = np.linalg.solve((np.eye(n) - jacobian).T, np.ones(n))
        W, _ = project_rows(W - gamma * (D + 2 * beta * W - lam * np.outer(u, np.log1p(y))), 0.6)
    result = TTGD(alpha=alpha, gamma=gamma, tol=0.0, max_iter=5).solve(problem, 0.5)
    np.testing.assert_allclose(dense(result.weights), W, atol=1e-12)
    assert result.certificate.iterations == 5
    assert result.certificate.status is Status.MAX_ITER


@pytest.mark.parametrize(("n", "lam", "c"), [(15, 0.5, 0.6), (6, 0.1, 0.3)])
def test_theorem_squared_gradient_mapping_falls_as_one_over_k(n, lam, c, random):
    """min_k ||mapping||^2 * K stays below 2 (l(W^0) - l*) / gamma over K = 10 ... 1000, with the theorem's steps.

    That is descent's own constant; the first problem comes within a factor of 6 of it. The start, the uniform graph,
    is the same at every K, so a shorter run is the beginning of a longer one.
    """
    X = random.normal(size=(6, n))
    problem = Problem.from_signals(X, spectral_benefit(X), beta=1.0, c=c)
    uniform = problem.smoothness.hold(c * (1 - np.eye(n)) / (n - 1))
    gamma = theory_steps(problem, lam, uniform).gamma
    best = TTGD(gamma=0.05, tol=1e-9, max_iter=5000).solve(problem, lam)
    drop = problem.objective(uniform, problem.prior.evaluate(uniform), lam) - best.objective
    iterations = [10, 20, 50, 100, 200, 500, 1000]
    squared = []
    for k in iterations:
        reached = TTGD(steps="theory", tol=0.0, max_iter=k, check_every=k).solve(problem, lam, uniform).weights
        squared.append(float(np.sum(gradient_mapping(problem, lam, reached, gamma) ** 2)))
    assert best.converged
    assert squared[-1] < squared[0]
    assert (np.minimum.accumulate(squared) * iterations <= 2 * drop / gamma).all()


def test_the_papers_setting_reaches_a_stationary_point():
    graph = preferential_attachment(50, random_state=0)
    X = smooth_signals(graph, 10, "lowpass", noise=0.2, random_state=0)
    problem = Problem.from_signals(X, spectral_benefit(X), beta=200.0, c=0.95, interaction="linear")
    result = TTGD(alpha=0.5, gamma=0.003, tol=0.0, max_iter=700).solve(problem, 10.0)
    assert result.certificate.value < 1e-8


@pytest.mark.parametrize("lam", [2.0, 0.5])
@pytest.mark.parametrize("beta", [1.5, 1e6])  # with each of the two bounds on gamma the smaller one
def test_theory_steps_are_the_papers_formulas(random, beta, lam):
    """The constants recomputed by hand for one problem."""
    X = random.normal(size=(3, 4))
    b = np.array([0.1, 0.2, 0.3, 0.4])
    problem = Problem.from_signals(X, b, beta=beta, c=0.5, interaction="linear")
    start = problem.smooth
    W = dense(start)
    alpha, gamma = theory_steps(problem, lam, start)
    assert alpha == pytest.approx(0.5 / 2.25)
    L_y = 2 * 0.4 / 0.25
    L_l = (2 * lam / 0.5 + lam * 4 * 0.4 * 0.5 / 0.125) * L_y + 2 * beta + lam * 4 * 0.4 / 0.125
    y_bar = np.linalg.solve(np.eye(4) - W, b)
    y_1 = b + alpha * W @ b
    inside = (1 - alpha * 0.25) * np.sum((y_1 - y_bar) ** 2) + 2 * 0.5 * L_y**2 * (2 / (0.5 * alpha) - 1)
    L = 2 * lam / 0.5 + lam * 2 * 0.5 / 0.25 * (2 * 0.4 / 0.5 + np.sqrt(inside))
    assert gamma == pytest.approx(min(0.75 / L_l, 0.5 * alpha / (4 * L * L_y)))
    assert (0.75 / L_l < 0.5 * alpha / (4 * L * L_y)) == (beta > 2)


def test_theory_steps_at_lam_zero_and_for_other_welfares(random):
    X, b = random.normal(size=(3, 6)), np.full(6, 1 / 6)
    zero = Problem.from_signals(X, b, beta=2.0)
    assert theory_steps(zero, 0.0, zero.smooth).gamma == pytest.approx(0.75 / 4.0)
    other = Problem.from_signals(X, b, welfare="utilitarian")
    with pytest.raises(ValueError, match="holds for welfare='total' only"):
        TTGD(steps="theory").solve(other, 1.0)


def test_the_callers_start_is_not_written_to(problem):
    start = problem.smooth
    kept = dense(start)
    TTGD(gamma=0.05, max_iter=7).solve(problem, 0.5, start)
    np.testing.assert_array_equal(dense(start), kept)


def test_history_is_monotone_here_and_ends_at_the_result(problem):
    result = TTGD(gamma=0.02, tol=1e-9, max_iter=3000).solve(problem, 0.5)
    objectives = [record.objective for record in result.certificate.history]
    assert np.diff(objectives).max() <= 1e-12
    assert result.converged
    assert result.certificate.history[-1].value == result.certificate.value <= 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha must be"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"steps": "practical"}, "steps='practical' is not known"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"check_every": 2.5}, "check_every must be an integer"),
    ],
)
def test_bad_input(problem, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TTGD(**options).solve(problem, 0.5)


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_candidate_pairs_are_refused_at_every_strength(lam, random):
    X = random.normal(size=(6, 15))
    with pytest.raises(ValueError, match="solver='ttgd' needs storage='dense'"):
        TTGD().solve(Problem.from_signals(X, spectral_benefit(X), storage="sparse"), lam)
