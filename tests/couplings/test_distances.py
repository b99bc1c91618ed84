"""Distances against their definition, and the low-rank eigenvector against a dense one."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from nashgraph.couplings import distance_perron_vector, squared_distances


@pytest.mark.parametrize("shape", [(1, 2), (1, 5), (3, 40), (50, 7)])
def test_distances_follow_their_definition(shape, random):
    X = 100 + random.normal(size=shape)
    np.testing.assert_allclose(
        squared_distances(X), cdist(X.T, X.T, "sqeuclidean") / (2 * len(X)), rtol=1e-9, atol=1e-12
    )


def test_equal_nodes_are_at_distance_zero(random):
    X = random.integers(0, 3, size=(5, 60)).astype(float)
    truth = cdist(X.T, X.T, "sqeuclidean")
    np.testing.assert_array_equal(squared_distances(X) == 0, truth == 0)


@pytest.mark.parametrize("shape", [(1, 2), (2, 3), (10, 50), (80, 20)])
def test_perron_vector_is_the_top_eigenvector(shape, random):
    X = random.normal(size=shape)
    dense = np.linalg.eigh(squared_distances(X))[1][:, -1]
    found = distance_perron_vector(X)
    np.testing.assert_allclose(found, dense * np.sign(dense.sum()), atol=1e-10)
    assert (found > -1e-12).all()
