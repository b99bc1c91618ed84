"""Distances against their definition, and the low-rank eigenvector against a dense one."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import nan_euclidean_distances

from nashgraph.couplings import PartialPoints, Points, points, points_of, squared_distances

from ..gaps import with_gaps


def oriented(X):
    top = points_of(X).top_eigenvector()
    return top if top.sum() >= 0 else -top


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
    found = oriented(X)
    np.testing.assert_allclose(found, dense * np.sign(dense.sum()), atol=1e-10)
    assert (found > -1e-12).all()


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("shape", [(2, 3), (3, 40), (50, 17), (30, 200)])
def test_distances_with_gaps_are_scikit_learns(shape, share, random):
    X = with_gaps(random.normal(size=shape), random, share)
    X[1, 0] = np.nan
    truth = nan_euclidean_distances(X.T, squared=True) / (2 * len(X))
    np.testing.assert_allclose(squared_distances(X), truth, rtol=1e-12, atol=1e-15)


def test_distances_with_gaps_survive_a_large_mean(random):
    X = with_gaps(random.normal(size=(20, 50)), random)
    np.testing.assert_allclose(squared_distances(X + 1e6), squared_distances(X), rtol=1e-8)


def test_rows_with_gaps_are_the_same_in_any_blocks(random, monkeypatch):
    X = with_gaps(random.normal(size=(8, 70)), random)
    whole = PartialPoints(X).rows(0, 70)
    monkeypatch.setattr(points, "BLOCK_BYTES", 1)
    found = PartialPoints(X)
    np.testing.assert_allclose(found.rows(0, 70), whole, rtol=1e-12)
    np.testing.assert_allclose(found.rows_of(np.array([5, 60, 2])), whole[[5, 60, 2]], rtol=1e-12)
    np.testing.assert_allclose(np.vstack(list(found.run(lambda _, rows: rows.copy()))), whole, rtol=1e-12)


def test_nodes_equal_where_both_are_seen_are_at_distance_zero(random):
    X = with_gaps(random.integers(0, 3, size=(5, 60)).astype(float), random, 0.3)
    truth = nan_euclidean_distances(X.T, squared=True)
    np.testing.assert_array_equal(squared_distances(X) == 0, truth == 0)
    assert (squared_distances(X) == 0).sum() > 60


def test_signals_without_gaps_are_plain_points_and_agree(random):
    X = random.normal(size=(6, 30))
    assert type(points_of(X)) is Points
    np.testing.assert_allclose(PartialPoints(X).rows(0, 30), Points(X).rows(0, 30), rtol=1e-12)
    np.testing.assert_allclose(PartialPoints(X).norms, Points(X).norms, rtol=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 9), (10, 50), (80, 20)])
def test_perron_vector_with_gaps_is_the_top_eigenvector(shape, random):
    X = with_gaps(random.normal(size=shape), random)
    X[1, 0] = np.nan
    D = squared_distances(X)
    dense = np.linalg.eigh(D)[1][:, -1]
    found = oriented(X)
    np.testing.assert_allclose(found, dense * np.sign(dense.sum()), atol=1e-10)
    assert (found > -1e-12).all()
    np.testing.assert_array_equal(found, oriented(X))


def test_nodes_that_share_nothing_have_no_distance():
    with pytest.raises(ValueError, match="nodes 0 and 2 share no observed signal"):
        squared_distances(np.array([[0.0, 1.0, np.nan], [np.nan, 1.0, 2.0]]))
