"""Spectral templates: the optimum and the feasible set against CVXPY, the certificate, exact recovery."""

import cvxpy as cp
import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm

from nashgraph import edge_auc
from nashgraph.datasets import erdos_renyi
from nashgraph.solvers._cone_program import solve_cone_program
from nashgraph.solvers.spectral_templates import Templates, spectral_templates, template_basis

CASES = range(24)


def random_templates(seed):
    """Eigenvectors of a sample covariance on 6 to 20 nodes, with more and with fewer signals than nodes."""
    random = np.random.default_rng(seed)
    n = int(random.integers(6, 21))
    m = [3 * n, max(2, n // 2), 5, n - 1][seed % 4]
    X = random.normal(size=(m, n)) @ (np.eye(n) + 0.3 * random.normal(size=(n, n)))
    return template_basis(X.T @ X / m)


def oracle(basis, known, epsilon=None, anchor=0):
    """The problem as published, with sigma and R as variables; without epsilon, the least distance."""
    n = len(basis)
    S, sigma = cp.Variable((n, n), symmetric=True), cp.Variable(known)
    modelled = basis[:, :known] @ cp.diag(sigma) @ basis[:, :known].T
    if known < n:
        rest = cp.Variable((n - known, n - known), symmetric=True)
        modelled += basis[:, known:] @ rest @ basis[:, known:].T  # every symmetric R with R V_K = 0
    distance = cp.norm(S - modelled, "fro")
    admissible = [S >= 0, cp.diag(S) == 0, cp.sum(S[anchor]) == 1]
    if epsilon is None:
        problem = cp.Problem(cp.Minimize(distance), admissible)
    else:
        problem = cp.Problem(cp.Minimize(cp.sum(S)), [*admissible, distance <= epsilon])
    problem.solve(solver="CLARABEL")
    return float(problem.value)


def distance_by_definition(S, basis, known):
    """min over sigma and R of the Frobenius distance, by projecting S."""
    V = basis[:, :known]
    off = np.eye(len(S)) - V @ V.T
    return np.linalg.norm(S - V @ np.diag(np.diag(V.T @ S @ V)) @ V.T - off @ S @ off)


def assert_feasible(result, basis, known, anchor=0):
    S = result.weights
    np.testing.assert_array_equal(S, S.T)
    assert S.min() >= 0
    assert not np.diag(S).any()
    assert S[anchor].sum() == pytest.approx(1, abs=1e-8)
    assert distance_by_definition(S, basis, known) <= result.epsilon + 1e-8


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("seed", CASES)
def test_optimum_with_epsilon_found(seed):
    basis, known = random_templates(seed)
    result = spectral_templates(basis, known)
    assert result.converged
    assert_feasible(result, basis, known)
    assert result.smallest_epsilon == pytest.approx(oracle(basis, known), abs=1e-7)
    assert result.epsilon == max(1.01 * result.smallest_epsilon, 1e-6)
    assert result.objective == pytest.approx(oracle(basis, known, result.epsilon), rel=1e-6)
    assert result.objective == pytest.approx(result.weights.sum(), rel=1e-12)


@pytest.mark.parametrize("seed", CASES)
def test_optimum_with_epsilon_given(seed):
    basis, known = random_templates(seed)
    epsilon = 1.2 * spectral_templates(basis, known, anchor=2).smallest_epsilon + 0.02
    result = spectral_templates(basis, known, epsilon=epsilon, anchor=2)
    assert result.converged
    assert result.epsilon == epsilon
    assert_feasible(result, basis, known, anchor=2)
    assert result.objective == pytest.approx(oracle(basis, known, epsilon, anchor=2), rel=1e-6)


def test_most_problems_of_these_are_not_trivial():
    """An objective of 2 is a star at the anchor, which asks nothing of the solver."""
    objectives = [spectral_templates(*random_templates(seed)).objective for seed in CASES]
    assert np.mean(np.array(objectives) > 2.1) > 0.9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gap_is_a_bound_for_any_graph_and_multiplier(seed):
    basis, known = random_templates(seed)
    templates = Templates.of(basis, known, 0)
    best = spectral_templates(basis, known)
    random = np.random.default_rng(seed)
    for scale in (0.0, 0.1, 10.0):
        multiplier = scale * random.normal(size=len(templates.matrix))
        edges = best.weights[np.triu_indices(len(basis), 1)] * 1.5
        gap = templates.gap(edges, multiplier, best.epsilon)
        assert gap >= 1 - 1 / 1.5 - 1e-7


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "degree"), [(10, 4), (20, 5)])
def test_exact_covariance_of_a_filter_gives_the_graph(n, degree, seed):
    graph = erdos_renyi(n, degree, random_state=seed)
    A = nx.to_numpy_array(graph)
    anchor = int(A.sum(axis=0).argmax())
    values = np.linalg.eigvalsh(A)
    if not nx.is_connected(graph) or np.diff(values).min() < 1e-6:
        pytest.skip("repeated eigenvalues have no eigenvectors of their own")
    basis, rank = template_basis(expm(A))
    result = spectral_templates(basis, anchor=anchor)
    assert rank == n
    assert result.converged
    assert result.smallest_epsilon < 1e-8
    assert edge_auc(np.where(result.weights > 1e-4, result.weights, 0), graph) >= 0.95
    np.testing.assert_allclose(result.weights, A / A[anchor].sum(), atol=1e-4)


def test_relabelling_nodes_and_anchor_relabels_the_graph():
    random = np.random.default_rng(3)
    X = random.normal(size=(8, 14))
    order = random.permutation(14)
    first = spectral_templates(template_basis(X.T @ X)[0], 8, anchor=4)
    second = spectral_templates(template_basis(X[:, order].T @ X[:, order])[0], 8, anchor=list(order).index(4))
    np.testing.assert_allclose(second.weights, first.weights[np.ix_(order, order)], atol=1e-6)


def test_the_completion_of_the_basis_does_not_matter():
    basis, known = random_templates(1)
    turned = basis.copy()
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(len(basis) - known,) * 2))
    turned[:, known:] = basis[:, known:] @ turn
    first, second = (spectral_templates(V, known) for V in (basis, turned))
    np.testing.assert_allclose(first.weights, second.weights, atol=1e-5)


def test_infeasible_epsilon_names_the_smallest():
    basis, known = random_templates(0)
    smallest = spectral_templates(basis, known).smallest_epsilon
    with pytest.raises(ValueError, match=f"epsilon=0.01 is infeasible.*{smallest:.4g}"):
        spectral_templates(basis, known, epsilon=0.01)


def test_few_iterations_are_reported_as_not_converged():
    basis, known = random_templates(5)
    assert not spectral_templates(basis, known, max_iter=3).converged


def test_a_large_epsilon_leaves_a_star():
    basis, known = random_templates(0)
    result = spectral_templates(basis, known, epsilon=5.0)
    assert result.objective == pytest.approx(2.0, abs=1e-7)
    assert result.converged


def test_verbose_prints(capsys):
    spectral_templates(*random_templates(3), verbose=2)
    assert "smallest epsilon" in capsys.readouterr().out


def test_cone_program_against_cvxpy():
    random = np.random.default_rng(0)
    for _ in range(5):
        c, a, B = random.random(12), random.random(12) + 0.1, random.normal(size=(6, 12))
        h = np.append(8.0, random.normal(size=5))
        point = solve_cone_program(c, B, h, a)
        x = cp.Variable(12)
        problem = cp.Problem(cp.Minimize(c @ x), [x >= 0, a @ x == 1, cp.SOC(h[0] + B[0] @ x, h[1:] + B[1:] @ x)])
        assert problem.solve(solver="CLARABEL") == pytest.approx(c @ point.x, abs=1e-7)
        assert point.error < 1e-9
