"""What is done to CSR matrices and pairs of them, against SciPy and dense arrays."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from nashgraph.pairs import SparseWeights, row_products, union
from nashgraph.couplings import ListedSmoothness, csr, smoothness  # TODO
from nashgraph.couplings.csr import product, squared_difference, transposed
from nashgraph.pairs.threads import one_thread


def scattered(rows: int, columns: int, density: float, seed: int) -> sparse.csr_array:
    """Return random entries, some of them stored zeros, in an order that is not sorted."""
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((rows, columns), density=density, rng=rng, format="csr")
    matrix.data[rng.random(matrix.nnz) < 0.2] = 0.0
    order = np.concatenate([rng.permutation(np.arange(*span)) for span in pairwise(matrix.indptr)])
    order = order.astype(int)
    return sparse.csr_array((matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape)


SHAPES = st.tuples(st.integers(1, 90), st.integers(1, 12), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, 99))


@settings(deadline=None, max_examples=60)
@given(SHAPES)
def test_pairs_of_matrices_against_dense_arrays(shape):
    rows, columns, density, other_density, seed = shape
    one, other = scattered(rows, columns, density, seed), scattered(rows, columns, other_density, seed + 100)
    a, b = one.toarray(), other.toarray()
    np.testing.assert_allclose(row_products(one, other), (a * b).sum(axis=1), rtol=1e-12, atol=1e-14)
    assert squared_difference(one, other) == pytest.approx(((a - b) ** 2).sum(), rel=1e-12, abs=1e-14)
    joined, stored = union(one, other), np.zeros((rows, columns), bool)
    for matrix in (one, other):
        stored[np.repeat(np.arange(rows), np.diff(matrix.indptr)), matrix.indices] = True
    assert joined.has_sorted_indices
    assert joined.nnz == stored.sum()  # zeros that are stored are listed, and once
    assert np.array_equal(joined.toarray(), stored)


@settings(deadline=None, max_examples=60)
@given(SHAPES, st.sampled_from([np.float32, np.float64]), st.sampled_from([np.int32, np.int64]), st.booleans())
def test_products_on_threads_against_scipy(shape, kind, index, alone):
    """Sums in SciPy's order: where it does not fuse products into them, to the bit; empty rows and columns, too."""
    rows, columns, density, _, seed = shape
    given = scattered(rows, columns, density, seed).astype(kind)
    given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    rng = np.random.default_rng(seed)
    vector, other = rng.normal(size=columns).astype(kind), rng.normal(size=rows).astype(kind)
    close = {"rtol": 1e-5, "atol": 1e-5} if kind == np.float32 else {"rtol": 1e-12, "atol": 1e-13}
    with pytest.MonkeyPatch.context() as patch, one_thread() if alone else nullcontext():
        patch.setattr(csr, "MANY_ENTRIES", 0)
        turned = transposed(given)
        found, back = product(given, vector), product(turned, other)
    assert turned.format == "csr"
    assert turned.has_sorted_indices
    assert np.array_equal(turned.toarray(), given.toarray().T)
    assert found.dtype == back.dtype == kind
    np.testing.assert_allclose(found, given @ vector, **close)
    np.testing.assert_allclose(back, given.T @ other, **close)


def test_a_large_graph_in_float32_is_the_graph_both_ways(monkeypatch):
    weights, vector = scattered(80, 80, 0.2, seed=0), np.random.default_rng(0).random(80)
    for entries in (0, 1000, np.inf):  # products on threads; of small ones by SciPy; none in float32
        monkeypatch.setattr(csr, "MANY_ENTRIES", entries)
        monkeypatch.setattr(smoothness, "MANY_ENTRIES", 0 if entries < np.inf else entries)
        graph = SparseCoupling(weights, 0.0, 0.0)
        np.testing.assert_allclose(graph.tdot(vector), weights.T @ vector)
        if entries == np.inf:
            assert graph.single is None
            continue
        single = vector.astype(np.float32)
        for found, exact in (
            (graph.single.dot(single), weights @ vector),
            (graph.single.tdot(single), weights.T @ vector),
        ):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [2, 63, 64, 65, 200])
def test_the_listed_answer_is_the_dense_rows_projection(n):
    """Runs of rows are closed up to one CSR matrix, whatever the number of rows that a thread is dealt."""
    rng = np.random.default_rng(n)
    costs = rng.random((n, n))
    listed = rng.random((n, n)) < 0.5
    listed[np.arange(n), np.arange(n)] = False
    listed[np.arange(n), (np.arange(n) + 1) % n] = True
    rows, columns = np.nonzero(listed)
    pairs = sparse.csr_array((costs[rows, columns], (rows, columns)), shape=(n, n))
    left, right = rng.random(n), rng.random(n)
    graph = ListedSmoothness(pairs, beta=0.3, c=0.9).respond(left, right)
    weights = graph.weights.toarray()
    np.testing.assert_allclose(weights.sum(axis=1), 0.9, rtol=1e-12)
    assert graph.weights.data.min() > 0
    assert graph.weights.has_sorted_indices
    assert not (weights[~listed] > 0).any()
    scores = np.where(listed, np.outer(left, right) - costs, -np.inf) / 0.6
    for row, score in zip(weights, scores, strict=True):
        thresholds = row[row > 0] - score[row > 0]
        np.testing.assert_allclose(thresholds, thresholds[0], atol=1e-10)
        assert (score[row == 0] + thresholds[0] <= 1e-10).all()
    assert graph.cost == pytest.approx((weights * costs).sum())
    assert graph.square == pytest.approx((weights**2).sum())
