"""The dense coupling's numbers against plain numpy."""

import numpy as np
import pytest

from nashgraph.pairs import make_search
from nashgraph.couplings import DenseSmoothness  # TODO


def test_response_solves_its_problem_and_reports_its_sums(signals, random):
    storage = DenseSmoothness(make_search(signals), beta=2.0, c=0.9)
    left, right = random.random(30), random.random(30)
    graph = storage.respond(left, right)
    formula = np.maximum(0, np.outer(left, right) + graph.threshold[:, None] - storage.distances) / 4.0
    np.fill_diagonal(formula, 0)
    np.testing.assert_allclose(graph.weights, formula, atol=1e-13)
    assert graph.cost == pytest.approx(np.sum(graph.weights * storage.distances))
    assert graph.square == pytest.approx(np.sum(graph.weights**2))
    vector = random.random(30)
    np.testing.assert_allclose(graph.dot(vector), graph.weights @ vector)
    np.testing.assert_allclose(graph.tdot(vector), graph.weights.T @ vector)
