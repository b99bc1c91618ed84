"""The smoothness term with its graphs held dense, sparse and implicitly: one protocol, one answer."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from nashgraph.pairs import make_search, row_products
from nashgraph.smoothness import STORAGES, make_smoothness
from nashgraph.couplings import DenseSmoothness, choose, points  # TODO
from nashgraph.couplings.choose import expected_degree, suitable_storage
from nashgraph.couplings.passes import Bonus, Candidates, Nearest, NeighbourSpread, Respond
from nashgraph.validation import InputError

from ..gaps import with_gaps

NAMES = list(STORAGES)


def term(name, X):
    return STORAGES[name](make_search(X), 0.7, 0.9)


def as_array(coupling):
    matrix = coupling.matrix()
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@pytest.fixture(params=["plain", "duplicates", "gaps"])
def X(request, random):  # noqa: N802 (the paper's name)
    if request.param == "plain":
        return random.normal(size=(6, 70))
    if request.param == "gaps":
        return with_gaps(random.normal(size=(6, 70)), random, 0.2)
    return random.integers(0, 3, size=(4, 70)).astype(float)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 16 rows, so that streaming happens at the sizes tests can afford."""
    monkeypatch.setattr(points, "BLOCK_BYTES", 1)


@pytest.mark.parametrize("name", NAMES)
def test_every_storage_does_what_the_dense_one_does(name, X, random):
    reference, storage = term("dense", X), term(name, X)
    left, right, vector = random.random(70), random.random(70), random.random(70)
    expected, found = reference.respond(left, right), storage.respond(left, right)
    np.testing.assert_allclose(as_array(found), expected.weights, atol=1e-12)
    np.testing.assert_allclose(found.threshold, expected.threshold, atol=1e-12)
    assert found.cost == pytest.approx(expected.cost, rel=1e-12)
    assert found.square == pytest.approx(expected.square, rel=1e-12)
    np.testing.assert_allclose(found.dot(vector), expected.weights @ vector, rtol=1e-12)
    np.testing.assert_allclose(found.tdot(vector), expected.weights.T @ vector, rtol=1e-12)
    # Two graphs: their distance and their mixture.
    other, expected_other = storage.smooth, reference.smooth
    difference = np.linalg.norm(expected.weights - expected_other.weights)
    assert found.distance(other) == pytest.approx(difference, rel=1e-10)
    mixed, expected_mixed = found.mix(other, 0.3), 0.7 * expected.weights + 0.3 * expected_other.weights
    np.testing.assert_allclose(as_array(mixed), expected_mixed, atol=1e-12)
    assert mixed.square == pytest.approx(np.sum(expected_mixed**2), rel=1e-10)
    assert storage.fidelity(mixed) == pytest.approx(
        np.sum(expected_mixed * reference.distances) + 0.7 * np.sum(expected_mixed**2), rel=1e-10
    )
    streamed = np.vstack(list(storage.run(lambda _, rows: rows.copy())))
    np.testing.assert_allclose(streamed, reference.distances, atol=1e-13)


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_a_given_matrix_is_held_as_it_is(name, X, random):
    storage = term(name, X)
    weights = 0.9 * (1 - np.eye(70)) / 69
    held = storage.hold(weights)
    np.testing.assert_array_equal(as_array(held), weights)
    assert held.cost == pytest.approx(np.sum(weights * term("dense", X).distances))


@pytest.mark.parametrize("name", NAMES)
def test_float32_is_kept_and_close(name, X):
    single, double = (
        make_smoothness(make_search(X, dtype=dtype), 0.7, 0.9, name).smooth for dtype in ("float32", "float64")
    )
    assert as_array(single).dtype == np.float32
    np.testing.assert_allclose(as_array(single), as_array(double), atol=2e-5)


def test_auto_goes_by_size_degree_and_memory(random, monkeypatch):
    X = make_search(random.normal(size=(5, 400)))
    assert suitable_storage(X, 0.1, 0.95, free=1e9)[0] == "dense"
    assert suitable_storage(X, 0.1, 0.95, free=4e6)[0] == "sparse"
    assert suitable_storage(X, 1e6, 0.95, free=4e6)[0] == "implicit"
    monkeypatch.setattr(choose, "DENSE_NODES", 100)
    name, why = suitable_storage(X, 0.1, 0.95, free=1e9)
    assert name == "sparse"
    assert "400 nodes with about" in why


def test_auto_logs_which(random, caplog):
    with caplog.at_level("INFO", logger="nashgraph"):
        assert make_smoothness(make_search(random.normal(size=(5, 40))), 1.0, 0.95).name == "dense"
    assert caplog.messages[0].startswith("storage: dense (40 nodes")


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_listed_pairs_have_the_distances_of_the_whole(name, X, random):
    listed = sparse.csr_array(np.triu(random.random((70, 70)) < 0.3, 1))
    found = term(name, X).listed(listed).pairs
    np.testing.assert_allclose(found.data, term("dense", X).distances[listed.nonzero()], atol=1e-13)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_expected_degree_is_the_samples_mean(share, random):
    X = make_search(with_gaps(random.normal(size=(5, 120)), random, share))
    truth = (DenseSmoothness(X, 0.3, 0.95).smooth.weights > 0).sum(axis=1).mean()
    assert expected_degree(X, 0.3, 0.95) == pytest.approx(truth)


def test_passes_are_counted(X):
    for name in NAMES:
        storage = term(name, X)
        graph = storage.smooth
        assert storage.smooth is graph
        assert storage.passes == 1
        graph.dot(np.ones(70))
        assert storage.passes == (2 if name == "implicit" else 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_term_says_itself_what_it_can_do(name, X, random):
    storage = term(name, X)
    left, right = random.random(70), random.random(70)
    if storage.lists:
        response, near = storage.survey(left, right, 0.1)
        np.testing.assert_allclose(as_array(response), as_array(storage.respond(left, right)), atol=1e-12)
        graph = as_array(response)
        near.data[:] = 1.0  # a pair with a cost of zero is listed, too
        assert (near.toarray()[graph > 0] > 0).all()
        assert near.nnz > (graph > 0).sum()
        np.testing.assert_allclose(as_array(storage.adopt(response.sparse())), graph, atol=1e-12)
    if storage.steps:
        step = storage.step(storage.smooth, left, right, 0.5 / storage.beta)
        np.testing.assert_allclose(as_array(step), as_array(storage.respond(left, right)), atol=1e-12)
    else:
        with pytest.raises(InputError, match="solver='ttgd' needs storage='dense'"):
            storage.step(storage.smooth, left, right, 0.1)


def test_works_can_be_sent_elsewhere(X, random):
    """A pass is a value: pickled and run in another process it gives the same parts."""
    bonus = Bonus.of(random.random(70), random.random(70), np.dtype(float))
    for work in (
        Respond(bonus, 0.7, 0.9),
        Candidates(bonus, 0.7, 0.9, np.full(70, -0.5), np.full(70, 0.1)),
        Nearest(3),
        NeighbourSpread(bonus.left, bonus.right, np.ones(70)),
    ):
        sent = pickle.loads(pickle.dumps(work))
        for one, other in zip(term("sparse", X).run(work), term("sparse", X).run(sent), strict=True):
            assert pickle.dumps(one) == pickle.dumps(other)


@pytest.mark.parametrize("kind", ["plain", "duplicates", "gaps"])
def test_rows_whose_nearest_do_not_suffice_are_looked_at_again(kind, random):
    """A tight crowd in a wide cloud: its nodes have more neighbours than are kept of anybody's nearest."""
    X = random.normal(size=(3, 600))
    X[:, :20] *= 0.01
    if kind == "duplicates":
        X[:, :20] = 0.0
    elif kind == "gaps":
        X[1, 40] = np.nan
    given = make_search(X)
    nearest = given.nearest(12)[0].copy()
    sparse_term, dense = STORAGES["sparse"](given, 0.001, 0.9), STORAGES["dense"](make_search(X), 0.001, 0.9)
    found, passes = sparse_term.smooth, sparse_term.passes
    assert passes == 0
    assert np.diff(found.weights.indptr).max() > 12
    np.testing.assert_allclose(found.weights.toarray(), dense.smooth.weights, atol=1e-12)
    np.testing.assert_allclose(found.threshold, dense.smooth.threshold, rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(given.near[0], nearest)


def test_where_many_rows_do_not_suffice_all_pairs_are_gone_through(random):
    given = make_search(random.normal(size=(3, 100)))
    given.nearest(2)
    term = STORAGES["sparse"](given, 5.0, 0.9)
    dense = STORAGES["dense"](given, 5.0, 0.9)
    np.testing.assert_allclose(term.smooth.weights.toarray(), dense.smooth.weights, atol=1e-12)
    assert term.passes == 1


def test_products_of_like_rows(random):
    one, other = (sparse.csr_array(random.random((30, 40)) * (random.random((30, 40)) < 0.2)) for _ in range(2))
    np.testing.assert_allclose(row_products(one, other), (one.toarray() * other.toarray()).sum(axis=1))
    np.testing.assert_allclose(row_products(one[:, ::-1].tocsr(), other), (one.toarray()[:, ::-1] * other).sum(axis=1))


def test_a_large_graph_of_few_edges_is_multiplied_as_csr_and_is_still_the_graph(random):
    dense = DenseSmoothness(make_search(random.normal(size=(3, 600))), 0.01, 0.9)
    few, vector = dense.smooth, random.random(600)
    assert few.light is not None
    np.testing.assert_allclose(few.dot(vector), few.weights @ vector, rtol=1e-12)
    np.testing.assert_allclose(few.tdot(vector), vector @ few.weights, rtol=1e-12)
    many = dense.hold(np.full((600, 600), 0.9 / 599) * (1.0 - np.eye(600)))
    assert many.light is None
