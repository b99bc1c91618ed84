"""The smoothness term with all pairs stored and with candidate pairs: one class, one answer."""

import numpy as np
import pytest
from scipy import sparse

from nashgraph.pairs import Bonus, make_search, project_rows
from nashgraph.pairs import points as points_module
from nashgraph.smoothness import STORAGES, beta_for_degree, expected_degree, make_smoothness, suitable_storage, term
from nashgraph.validation import InputError

from ..gaps import with_gaps


def made(storage, X):
    return make_smoothness(make_search(X), 0.7, 0.9, storage)


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
    monkeypatch.setattr(points_module, "BLOCK_BYTES", 1)


@pytest.mark.parametrize("rank", [0, 1, 3])
@pytest.mark.parametrize("storage", STORAGES)
def test_best_responses_and_what_solvers_ask_of_them(storage, rank, X, random):
    smoothness = made(storage, X)
    D = make_search(X).geometry.rows(np.arange(70))
    bonus = Bonus.of(random.random((70, rank)), random.random((70, rank)))
    found, other = smoothness.respond(bonus), smoothness.smooth
    W, V, vector = found.matrix().toarray(), other.matrix().toarray(), random.random(70)
    scores = (bonus.left @ bonus.right.T - D) / 1.4
    for i in range(70):  # the optimality condition, row by row
        edges = W[i] > 0
        eta = (W[i] - scores[i])[edges]
        assert np.ptp(eta) <= 1e-9
        rest = np.delete(scores[i] + eta[0], np.flatnonzero(edges | (np.arange(70) == i)))
        assert (rest <= 1e-9).all()
    np.testing.assert_allclose(W.sum(axis=1), 0.9, rtol=1e-12)
    assert found.cost == pytest.approx(np.sum(W * D), rel=1e-9)
    assert found.square == pytest.approx(np.sum(W * W), rel=1e-12)
    np.testing.assert_allclose(found.dot(vector), W @ vector, rtol=1e-12)
    np.testing.assert_allclose(found.tdot(vector), W.T @ vector, rtol=1e-12)
    assert found.distance(other) == pytest.approx(np.linalg.norm(W - V), rel=1e-9, abs=1e-12)
    shares = random.random(70)
    for share in (0.3, shares, np.where(shares > 0.5, 1.0, 0.0)):
        mixed = found.mix(other, share)
        column = np.reshape(np.broadcast_to(share, 70), (70, 1))
        expected = (1 - column) * W + column * V
        np.testing.assert_allclose(mixed.matrix().toarray(), expected, atol=1e-12)
        assert smoothness.value(mixed) == pytest.approx(np.sum(expected * D) + 0.7 * np.sum(expected**2), rel=1e-9)
    way = found.minus(other)
    np.testing.assert_allclose(way.row_products(way), np.sum((W - V) ** 2, axis=1), atol=1e-12)
    gained = bonus.left @ bonus.right.T
    spread = sum(np.square(gained[i, W[i] > 0] - gained[i, W[i] > 0].mean()).sum() for i in range(70))
    assert found.bonus_spread(bonus) == pytest.approx(spread, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("storage", STORAGES)
def test_a_given_matrix_is_held_as_it_is(storage, X):
    smoothness = made(storage, X)
    weights = 0.9 * (1 - np.eye(70)) / 69
    for given in (weights, sparse.csr_array(weights)):
        held = smoothness.hold(given)
        np.testing.assert_array_equal(held.matrix().toarray(), weights)
        assert held.cost == pytest.approx(np.sum(weights * make_search(X).geometry.rows(np.arange(70))))


def test_auto_chooses_by_size_degree_and_memory(random, monkeypatch):
    search = make_search(random.normal(size=(5, 400)))
    assert suitable_storage(search, 0.1, 0.95, free=1e9)[0] == "dense"
    assert suitable_storage(search, 0.1, 0.95, free=1e7)[0] == "sparse"
    with pytest.raises(InputError, match="too little memory: 400 nodes with about 399 neighbours"):
        suitable_storage(search, 1e6, 0.95, free=4e6)
    monkeypatch.setattr(term, "DENSE_NODES", 100)
    name, why = suitable_storage(search, 0.1, 0.95, free=1e9)
    assert name == "sparse"
    assert "400 nodes with about" in why


def test_auto_logs_which(random, caplog):
    with caplog.at_level("INFO", logger="nashgraph"):
        assert make_smoothness(make_search(random.normal(size=(5, 40))), 1.0, 0.95).dense
    assert caplog.messages[0].startswith("storage: dense (40 nodes")


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_expected_degree_is_the_samples_mean(share, random):
    search = make_search(with_gaps(random.normal(size=(5, 120)), random, share))
    truth = np.diff(make_smoothness(search, 0.3, 0.95).smooth.matrix().indptr).mean()
    assert expected_degree(search, 0.3, 0.95) == pytest.approx(truth)


def test_steps_need_all_pairs_and_the_longest_is_the_best_response(X, random):
    smoothness = made("dense", X)
    bonus = Bonus.of(random.random(70), random.random(70))
    step = smoothness.step(smoothness.smooth, bonus, 0.5 / 0.7)
    np.testing.assert_allclose(step.matrix().toarray(), smoothness.respond(bonus).matrix().toarray(), atol=1e-12)
    with pytest.raises(InputError, match="solver='ttgd' needs storage='dense'"):
        made("sparse", X).step(smoothness.smooth, bonus, 0.1)


@pytest.mark.parametrize("geometry", ["distance", "cosine", "inner"])
@pytest.mark.parametrize("storage", STORAGES)
def test_nodes_that_are_nearly_the_same_have_exact_weights(storage, geometry, random):
    """Their costs differ by a millionth of what they are: rounded to 32 bits, weights were off by 3e-4."""
    X = np.repeat(random.normal(size=(10, 6)), 20, axis=1) * (1.0 + 1e-6 * random.normal(size=(10, 120)))
    search = make_search(X, geometry=geometry)
    beta, c = beta_for_degree(search, 10, 0.95), 0.95
    weights = make_smoothness(search, beta, c, storage).smooth.matrix().toarray()
    exact = X.astype(np.longdouble)
    if geometry == "cosine":
        energy = np.mean(exact**2, axis=0)
        exact = exact * np.sqrt(energy.mean() / energy)
    costs = 0.5 * np.mean((exact[:, :, None] - exact[:, None, :]) ** 2, axis=0)
    if geometry == "inner":
        costs = 0.5 * np.max(np.mean(exact**2, axis=0)) - exact.T @ exact / 10
    np.fill_diagonal(costs, costs.max())
    farther = costs - costs.min(axis=1, keepdims=True)
    truth, _ = project_rows(np.asarray(-farther / (2.0 * beta), float), c)
    assert np.linalg.norm(weights - truth) <= 1e-7 * np.linalg.norm(truth)
