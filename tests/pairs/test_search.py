"""Distances against their definition, and the low-rank eigenvector against a dense one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from nashgraph.pairs import BlockSearch, GappedPoints, Points, make_search, squared_distances
from nashgraph.pairs import points as points_module
from nashgraph.pairs.threads import Threads

from ..gaps import with_gaps


def oriented(X):
    top = make_search(X).top_eigenvector()
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
    np.testing.assert_allclose(found, dense * np.sign(dense.sum()), atol=1e-9)
    assert (found > -1e-12).all()


def with_typical_gaps(X):
    """The distances with gaps by their definition: a signal that is missing at either node counts its variance."""
    squares = (X[:, :, None] - X[:, None, :]) ** 2 / 2
    found = np.where(np.isnan(squares), np.nanvar(X, axis=1)[:, None, None], squares).mean(axis=0)
    np.fill_diagonal(found, 0.0)
    return found


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("shape", [(2, 3), (3, 40), (50, 17), (30, 200)])
def test_distances_with_gaps_follow_their_definition(shape, share, random):
    X = with_gaps(random.normal(size=shape), random, share)
    X[1, 0] = np.nan
    np.testing.assert_allclose(squared_distances(X), with_typical_gaps(X), rtol=1e-9, atol=1e-14)
    pairs = np.triu_indices(shape[1], 1)
    np.testing.assert_allclose(make_search(X).costs(*pairs), with_typical_gaps(X)[pairs], rtol=1e-9)


def test_who_answered_little_is_not_near_to_everybody(random):
    X = random.normal(size=(8, 50))
    X[2:, 3] = np.nan
    D = squared_distances(X)
    others = np.delete(np.arange(50), 3)
    nearest = np.sort(D[np.ix_(others, others)] + np.diag(np.full(49, np.inf)), axis=1)[:, 9]
    assert (D[others, 3] < nearest).sum() < 15
    plain = np.nanmean((X[:, others] - X[:, [3]]) ** 2 / 2, axis=0)
    assert (plain < nearest).sum() > 15


def test_distances_with_gaps_survive_a_large_mean(random):
    X = with_gaps(random.normal(size=(20, 50)), random)
    np.testing.assert_allclose(squared_distances(X + 1e6), squared_distances(X), rtol=1e-8)


def test_rows_with_gaps_are_the_same_in_any_blocks(random, monkeypatch):
    X = with_gaps(random.normal(size=(8, 70)), random)
    whole = GappedPoints.of(X).rows(np.arange(70))
    monkeypatch.setattr(points_module, "BLOCK_BYTES", 1)
    found = GappedPoints.of(X)
    np.testing.assert_allclose(found.rows(np.arange(70)), whole, rtol=1e-9)
    np.testing.assert_allclose(found.rows(np.array([5, 60, 2])), whole[[5, 60, 2]], rtol=1e-9)
    np.testing.assert_allclose(
        np.vstack(list(BlockSearch(Threads(found)).scan(lambda _, rows: rows.copy()))), whole, rtol=1e-9
    )


def test_signals_without_gaps_are_plain_points_and_agree(random):
    X = random.normal(size=(6, 30))
    assert type(make_search(X).geometry) is Points
    gapped, plain = GappedPoints.of(X), Points.of(X)
    np.testing.assert_allclose(gapped.rows(np.arange(30)), plain.rows(np.arange(30)), rtol=1e-9)
    np.testing.assert_allclose(gapped.norms, plain.norms, rtol=1e-9)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("geometry", ["distance", "cosine", "inner"])
def test_the_factors_make_the_costs(geometry, gaps, random):
    points = make_search(with_gaps(random.normal(size=(6, 30)), random, gaps), geometry=geometry).geometry
    left, right = points.factors()
    others = ~np.eye(30, dtype=bool)
    np.testing.assert_allclose((left @ right.T)[others], points.rows(np.arange(30))[others], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 9), (10, 50), (80, 20)])
def test_perron_vector_with_gaps_is_the_top_eigenvector(shape, random):
    X = with_gaps(random.normal(size=shape), random)
    X[1, 0] = np.nan
    D = squared_distances(X)
    dense = np.linalg.eigh(D)[1][:, -1]
    found = oriented(X)
    np.testing.assert_allclose(found, dense * np.sign(dense.sum()), atol=1e-9)
    assert (found > -1e-12).all()
    np.testing.assert_array_equal(found, oriented(X))


def test_nodes_that_share_nothing_have_no_distance():
    with pytest.raises(ValueError, match="nodes 0 and 2 share no observed signal"):
        squared_distances(np.array([[0.0, 1.0, np.nan], [np.nan, 1.0, 2.0]]))


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("geometry", ["cosine", "inner"])
def test_geometries_follow_their_definitions(geometry, gaps, random):
    X = with_gaps(3 + random.normal(size=(6, 40)) * random.exponential(size=40), random, gaps)
    found = make_search(X, geometry=geometry).geometry
    energy = np.nanmean(X * X, axis=0)
    if geometry == "cosine":
        expected = squared_distances(X * np.sqrt(energy.mean() / energy))
    else:
        expected = squared_distances(X) + 0.5 * (energy.max() - energy) + 0.5 * (energy.max() - energy)[:, None]
        if not gaps:
            np.testing.assert_allclose(expected, energy.max() - X.T @ X / 6, rtol=1e-9, atol=1e-12)
        np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(found.rows(np.arange(40)), expected, rtol=1e-9, atol=1e-12)
    pairs = np.triu_indices(40, 1)
    np.testing.assert_allclose(found.costs(*pairs), expected[pairs], rtol=1e-9, atol=1e-12)


def test_rounding_of_zero_has_no_direction():
    """As of a node at the mean of every signal; the order of rows decided to which side it pointed."""
    rows = make_search(np.array([[1.0, -2.0, 4e-16, -2e-16, 0.0]]), geometry="cosine").geometry.rows(np.arange(5))
    np.testing.assert_array_equal(rows[2:, 2:], 0.0)
    np.testing.assert_array_equal(rows[2:, :2], rows[2, 0])
    assert rows[2, 0] > 0.0


@pytest.mark.parametrize("gaps", [False, True])
def test_near_the_middle_a_direction_has_more_rounding(gaps):
    """People have two directions by age and year of birth, though 48.02 is hardly above a mean age of 48.01."""
    for seed in range(20):
        age = np.random.default_rng(seed).integers(18, 80, 45).astype(float)
        X = np.vstack([age, 2026.0 - age])
        X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
        X[1, 0] = np.nan if gaps else X[1, 0]
        costs = make_search(X, geometry="cosine").geometry.rows(np.arange(45))[1:, 1:]
        assert costs.min() == 0.0
        assert len(np.unique(costs)) == 2


def test_a_node_without_any_signal_has_a_cosine_all_the_same():
    X = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, -2.0]])
    assert np.isfinite(make_search(X, geometry="cosine").geometry.rows(np.arange(3))).all()


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]))
@settings(max_examples=80)
def test_distances_are_accurate_relative_to_themselves(seed, gaps):
    """Whatever the scales of the signals and the outliers, with gaps and without, as every storage asks for them."""
    digits = 1e-9
    random = np.random.default_rng(seed)
    n_signals, n = random.integers(2, 9), random.integers(4, 40)
    X = random.normal(size=(n_signals, n)) * 10.0 ** random.uniform(-4, 4, (n_signals, 1))
    X += 10.0 ** random.uniform(-3, 5)
    X[:, random.integers(n)] = X[:, 0]
    X[random.integers(n_signals), random.integers(n)] = 10.0 ** random.uniform(0, 12)
    X = with_gaps(X, random, gaps)
    truth = with_typical_gaps(X)
    floor = (64 * np.finfo(float).eps * np.nanmax(np.abs(X), axis=1)) ** 2
    found = make_search(X).geometry
    pairs = np.nonzero(1 - np.eye(n))
    np.testing.assert_allclose(found.rows(np.arange(n)), truth, rtol=digits, atol=floor.max())
    np.testing.assert_allclose(found.rows(np.array([2, 0])), truth[[2, 0]], rtol=digits, atol=floor.max())
    np.testing.assert_allclose(found.costs(*pairs), truth[pairs], rtol=digits, atol=floor.max())


@pytest.mark.parametrize("spoiled", [1e3, 1e6, 1e9])
def test_one_refusal_code_spoils_no_other_distance(spoiled, random):
    X = random.normal(size=(5, 60))
    X[2, 7] = spoiled
    others = np.delete(np.arange(60), 7)
    truth = cdist(X[:, others].T, X[:, others].T, "sqeuclidean") / 10
    found = make_search(X).geometry.rows(np.arange(60))[np.ix_(others, others)]
    np.testing.assert_allclose(found, truth, rtol=1e-9)


def test_the_smallest_true_difference_is_no_rounding(random):
    """Nodes that differ in the ninth digit are distinct, and the nearest of them are found."""
    X = 1.0 + 1e-9 * random.normal(size=(5, 30))
    truth = cdist(X.T, X.T, "sqeuclidean") / 10
    np.testing.assert_allclose(squared_distances(X), truth, rtol=1e-9)
    assert (squared_distances(X) == 0).sum() == 30


@pytest.mark.parametrize("geometry", ["distance", "cosine", "inner"])
def test_costs_that_are_equal_but_for_rounding_are_equal(geometry, random):
    """Age and year of birth, centimetres and millimetres: parallel answers tie, and a tie must not depend on an ulp."""
    age = random.integers(18, 40, 60).astype(float)
    columns = np.vstack([age, 2026.0 - age, 10.0 * age])
    X = (columns - columns.mean(axis=1, keepdims=True)) / columns.std(axis=1, keepdims=True)
    search = make_search(X, geometry=geometry).geometry
    # Two people of the same two ages are as far apart as any other two of these ages.
    costs = search.rows(np.arange(60))
    for one in np.unique(age):
        for other in np.unique(age):
            block = costs[np.ix_(age == one, age == other)]
            assert np.ptp(block) == 0.0 or one == other
    if geometry == "distance":  # and a difference in age is one distance
        assert len(np.unique(costs)) == len(np.unique(np.abs(age[:, None] - age)))
    elif geometry == "cosine":  # and there are two directions
        assert len(np.unique(costs)) <= 3
    order = random.permutation(60)
    shuffled = make_search(X[::-1, order], geometry=geometry).geometry.rows(np.arange(60))
    np.testing.assert_array_equal(shuffled, search.rows(np.arange(60))[np.ix_(order, order)])


def test_equal_inner_products_cost_the_same_whatever_their_distances(random):
    """A node without answers has the inner product 0 with all others: they are all equally near to it."""
    for scale in random.random(50):
        counts = scale * np.append(0.0, random.poisson(3.0, 30))[None]
        assert np.ptp(make_search(counts, geometry="inner").geometry.rows(np.arange(1))[0, 1:]) == 0.0
