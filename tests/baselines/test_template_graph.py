"""Spectral templates: the optimum and the feasible set against CVXPY, the certificate, exact recovery."""

import cvxpy as cp
import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm

from nashgraph import edge_auc
from nashgraph.baselines.cone_program import solve_cone_program
from nashgraph.baselines.template_graph import TemplateMap, spectral_templates, template_basis
from nashgraph.certificate import Status
from nashgraph.datasets import erdos_renyi
from nashgraph.validation import InputError

# From Clarabel, on some processors.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
CASES = range(24)


def survey(n, seed, answers=(3, 2, 2)):
    """Households with one of a few answers to each question, one column for every answer: many are alike."""
    random = np.random.default_rng(seed)
    return np.vstack([np.eye(count)[random.integers(count, size=n)].T for count in answers])


def templates_of(X):
    centred = X - X.mean(axis=0)
    return template_basis(centred.T @ centred / len(X))


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


@pytest.mark.parametrize("seed", CASES)
def test_optimum_with_epsilon_found(seed):
    basis, known = random_templates(seed)
    result = spectral_templates(basis, known)
    assert result.certificate.converged
    assert_feasible(result, basis, known)
    assert result.smallest_epsilon == pytest.approx(oracle(basis, known), abs=1e-7)
    assert result.epsilon == max(1.01 * result.smallest_epsilon, 1e-6)
    # With epsilon = 1e-6 the cone is nearly closed, and Clarabel itself warns that it may be inaccurate.
    accuracy = 1e-6 if result.epsilon > 1e-6 else 1e-5
    assert result.objective == pytest.approx(oracle(basis, known, result.epsilon), rel=accuracy)
    assert result.certificate.value <= 1e-6
    assert result.objective == pytest.approx(result.weights.sum(), rel=1e-12)


@pytest.mark.parametrize("seed", CASES)
def test_optimum_with_epsilon_given(seed):
    basis, known = random_templates(seed)
    epsilon = 1.2 * spectral_templates(basis, known, anchor=2).smallest_epsilon + 0.02
    result = spectral_templates(basis, known, epsilon=epsilon, anchor=2)
    assert result.certificate.converged
    assert result.epsilon == epsilon
    assert_feasible(result, basis, known, anchor=2)
    assert result.objective == pytest.approx(oracle(basis, known, epsilon, anchor=2), rel=1e-6)


def test_most_problems_of_these_are_not_trivial():
    """An objective of 2 is a star at the anchor, which needs no solver."""
    objectives = [spectral_templates(*random_templates(seed)).objective for seed in CASES]
    assert np.mean(np.array(objectives) > 2.1) > 0.9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gap_is_a_bound_for_any_graph_and_multiplier(seed):
    basis, known = random_templates(seed)
    templates = TemplateMap(basis[:, :known], 0)
    best = spectral_templates(basis, known)
    random = np.random.default_rng(seed)
    for scale in (0.0, 0.1, 10.0):
        multiplier = scale * random.normal(size=templates.n_rows)
        edges = best.weights[np.triu_indices(len(basis), 1)] * 1.5
        gap = templates.gap(edges, multiplier, best.epsilon)
        assert gap >= 1 - 1 / 1.5 - 1e-7


def test_a_survey_of_330_is_solved_by_its_classes():
    X = survey(330, 0)
    basis, known = templates_of(X)
    result = spectral_templates(basis, known, anchor=5)
    alike = [node for node in range(330) if node != 5 and (X[:, node] == X[:, 0]).all()]
    others = np.setdiff1d(np.arange(330), alike)
    assert len(alike) > 10
    assert result.certificate.converged
    assert distance_by_definition(result.weights, basis, known) == pytest.approx(result.distance, abs=1e-9)
    assert np.ptp(result.weights[np.ix_(alike, others)], axis=0).max() == 0.0


@pytest.mark.parametrize("seed", [0, 2])
def test_of_several_optimal_graphs_the_one_of_least_norm(seed):
    """The oracle minimises the norm over all graphs with the templates, classes or not, with no larger cost."""
    basis, known = templates_of(survey(20, seed))
    V, rest = basis[:, :known], basis[:, known:]
    result = spectral_templates(basis, known)
    S = cp.Variable((20, 20), symmetric=True)
    admissible = [S >= 0, cp.diag(S) == 0, cp.sum(S[0]) == 1, rest.T @ S @ V == 0]
    admissible += [V[:, k] @ S @ V[:, m] == 0 for k in range(known) for m in range(k)]
    least = cp.Problem(cp.Minimize(cp.sum(S)), admissible).solve(solver="CLARABEL")
    affordable = cp.sum(S) <= least * (1 + 1e-7)
    cp.Problem(cp.Minimize(cp.sum_squares(S)), [*admissible, affordable]).solve(solver="CLARABEL")
    assert result.certificate.converged
    assert result.certificate.value > 1e-9  # no closed form: the support does not determine the graph
    assert result.objective == pytest.approx(least, rel=1e-5)
    np.testing.assert_allclose(result.weights, S.value, atol=1e-3 * S.value.max())


@pytest.mark.parametrize("seed", [2, 3])
def test_merging_changes_neither_the_smallest_epsilon_nor_the_objective(seed):
    basis, known = templates_of(survey(16, seed))
    result = spectral_templates(basis, known, epsilon=0.3, anchor=3)
    assert len(TemplateMap(basis[:, :known], 3).entries) < 16
    assert result.smallest_epsilon == pytest.approx(oracle(basis, known, anchor=3), abs=1e-7)
    assert result.objective == pytest.approx(oracle(basis, known, 0.3, anchor=3), rel=1e-5)


def test_the_map_is_the_matrix_of_its_columns():
    templates = TemplateMap(templates_of(survey(12, 4))[0][:, :3], 0)
    random = np.random.default_rng(0)
    x, y = random.random(len(templates.counts)), random.normal(size=templates.n_rows)
    T = templates.columns(np.ones(len(x), dtype=bool))
    gram = np.empty((len(T), len(T)))
    templates.gram(x, gram)
    np.testing.assert_allclose(templates.apply(x), T @ x, atol=1e-12)
    np.testing.assert_allclose(templates.adjoint(y), y @ T, atol=1e-12)
    np.testing.assert_allclose(gram, T * x @ T.T, atol=1e-12)


def test_the_distance_on_classes_is_that_of_the_graph():
    basis, known = templates_of(survey(40, 5))
    templates = TemplateMap(basis[:, :known], 0)
    edges = np.random.default_rng(0).random(len(templates.counts))
    graph = templates.graph(edges)
    assert templates.distance(edges) == pytest.approx(distance_by_definition(graph, basis, known), rel=1e-10)
    assert graph.sum() == pytest.approx(2 * edges.sum(), rel=1e-12)


def test_a_problem_too_large_is_refused_before_it_fills_the_memory():
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(200, 200)))[0]
    with pytest.raises(InputError, match=r"200 components on 200 different nodes have 19,900 equations.*n_components"):
        spectral_templates(basis)


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
    assert result.certificate.converged
    assert result.smallest_epsilon < 1e-8
    assert edge_auc(graph, np.where(result.weights > 1e-4, result.weights, 0)) >= 0.95
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
    with pytest.raises(ValueError, match=f"epsilon=0.01 is infeasible.*{smallest:.3g}"):
        spectral_templates(basis, known, epsilon=0.01)


def test_few_iterations_are_reported_as_not_converged():
    basis, known = random_templates(5)
    certificate = spectral_templates(basis, known, max_iter=3).certificate
    assert certificate.status is Status.MAX_ITER
    assert certificate.iterations >= 6  # three of each program


def test_a_large_epsilon_leaves_a_star():
    basis, known = random_templates(0)
    result = spectral_templates(basis, known, epsilon=5.0)
    assert result.objective == pytest.approx(2.0, abs=1e-7)
    assert result.certificate.converged


class Stored:
    """A matrix in the format of the cone program."""

    def __init__(self, matrix):
        self.matrix = matrix

    def apply(self, x):
        return self.matrix @ x

    def adjoint(self, u):
        return u @ self.matrix

    def gram(self, d):
        return self.matrix * d @ self.matrix.T


@pytest.mark.parametrize("quadratic", [0.0, 2.0])
def test_cone_program_against_cvxpy(quadratic):
    random = np.random.default_rng(0)
    for _ in range(5):
        c, a, B = random.random(12), random.random(12) + 0.1, random.normal(size=(6, 12))
        h, g = np.append(8.0, random.normal(size=5)), quadratic * random.random(12)
        point = solve_cone_program(c, Stored(B), h, a, g=g)
        x = cp.Variable(12)
        objective = c @ x + 0.5 * cp.sum(cp.multiply(g, cp.square(x)))
        constraints = [x >= 0, a @ x == 1, cp.SOC(h[0] + B[0] @ x, h[1:] + B[1:] @ x)]
        reached = c @ point.x + 0.5 * g @ point.x**2
        assert cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL") == pytest.approx(
            reached, abs=1e-7
        )
        assert point.certificate.value < 1e-9
