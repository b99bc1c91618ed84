"""Classes of nodes: how a graph on classes relates to the graph on nodes, and the weighted projection."""

import cvxpy as cp
import numpy as np
import pytest

from nashgraph.baselines.node_classes import Classes, project_weighted


def example(seed):
    """Rows with repetitions, weights on their classes, and a vector that is constant on classes."""
    random = np.random.default_rng(seed)
    classes = Classes.of(random.integers(2, size=(30, 3)).astype(float))
    weights = random.random((len(classes.sizes),) * 2)
    weights += weights.T
    weights[classes.sizes == 1, classes.sizes == 1] = 0.0
    return classes, weights, random.normal(size=len(classes.sizes))


def test_classes_are_equal_rows_in_order_of_appearance():
    rows = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, -0.0], [3.0, 0.0], [0.0, 0.0]])
    classes = Classes.of(rows)
    np.testing.assert_array_equal(classes.labels, [0, 1, 0, 2, 1])
    np.testing.assert_array_equal(classes.sizes, [2, 2, 1])
    np.testing.assert_array_equal(rows[classes.members][classes.labels], rows)


def test_different_rows_are_left_as_they_are():
    classes = Classes.of(np.random.default_rng(0).normal(size=(9, 2)))
    np.testing.assert_array_equal(classes.labels, np.arange(9))
    np.testing.assert_array_equal(classes.sizes, 1)


@pytest.mark.parametrize("seed", range(5))
def test_the_matrix_on_classes_acts_as_the_graph(seed):
    classes, weights, entries = example(seed)
    graph, matrix = classes.graph(weights), classes.scaled(weights)
    np.testing.assert_array_equal(graph, graph.T)
    assert not np.diag(graph).any()
    image = matrix @ (classes.roots * entries) / classes.roots
    np.testing.assert_allclose(image[classes.labels], graph @ entries[classes.labels])
    assert classes.roots @ matrix @ classes.roots == pytest.approx(graph.sum())
    np.testing.assert_allclose(classes.weights(matrix), weights)


@pytest.mark.parametrize("seed", range(5))
def test_weighted_projection_against_cvxpy(seed):
    random = np.random.default_rng(seed)
    values, weights, total = random.normal(size=9), random.random(9) + 0.2, 10.0 ** random.uniform(-2, 2)
    x = cp.Variable(9)
    cp.Problem(cp.Minimize(cp.sum_squares(x - values)), [x >= 0, weights @ x == total]).solve(solver="CLARABEL")
    point = project_weighted(values, weights, total)
    assert weights @ point == pytest.approx(total)
    np.testing.assert_allclose(point, x.value, atol=1e-5 * max(1.0, total))
