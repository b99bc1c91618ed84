"""Starting points are what they are said to be."""

from itertools import islice

import numpy as np
from nashgraph.solvers.starts import random_rows, starting_points

from nashgraph.solvers import Problem


def test_a_random_graph_is_in_s():
    rows = random_rows(30, 0.7, np.random.RandomState(0))
    np.testing.assert_allclose(rows.sum(axis=1), 0.7)
    assert rows.data.min() > 0
    assert (rows.diagonal() == 0).all()


def test_the_first_starts_are_those_named(random):
    problem = Problem.from_signals(random.normal(size=(6, 20)), random.random(20), beta=2.0, c=0.8)
    smooth, uniform, linear = islice(starting_points(problem, 3.0, np.random.RandomState(0)), 3)
    even = problem.smoothness.hold(0.8 * (1 - np.eye(20)) / 19)
    np.testing.assert_array_equal(smooth.weights, problem.smooth.weights)
    np.testing.assert_allclose(uniform.weights, problem.respond(problem.play(even), 3.0).weights, atol=1e-6)
    expected = problem.smoothness.respond(np.full(20, 3.0), problem.benefit)
    np.testing.assert_array_equal(linear.weights, expected.weights)
