"""The log-degree model against CVXPY, its certificate, its scaling, and lists of pairs against all pairs."""

import cvxpy as cp
import numpy as np
import pytest

from nashgraph import squared_distances
from nashgraph.baselines.candidate_pairs import CandidatePairs, NearestPairs
from nashgraph.baselines.log_degree import (
    Search,
    activation_levels,
    dual_loss,
    guess_theta,
    log_degree_graph,
    lonely_potential,
    newton,
    solve_for_degree,
    solve_unit,
)
from nashgraph.pairs import make_search


def dense_pairs(X):
    return CandidatePairs(make_search(X))


def nearest_pairs(X, kept):
    return NearestPairs(make_search(X), kept)


def objective(W, D, alpha, beta):
    return np.sum(W * D) - alpha * np.log(W.sum(axis=1)).sum() + beta / 2 * np.sum(W**2)


def oracle(D, alpha, beta):
    """The optimal objective, by a conic solver on the upper triangle."""
    n = len(D)
    i, j = np.triu_indices(n, 1)
    incidence = np.zeros((n, len(i)))
    incidence[i, np.arange(len(i))] = incidence[j, np.arange(len(i))] = 1
    w = cp.Variable(len(i), nonneg=True)
    value = 2 * D[i, j] @ w - alpha * cp.sum(cp.log(incidence @ w)) + beta * cp.sum_squares(w)
    problem = cp.Problem(cp.Minimize(value))
    return problem.solve(solver=cp.CLARABEL)


def unequal_signals(n_signals, n_nodes, seed):
    """Some nodes crowded, some remote: sparse graphs of them have hubs and are hard to find."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n_signals, n_nodes)) * random.exponential(size=n_nodes)


@pytest.mark.parametrize("seed", range(24))
def test_the_optimum_is_cvxpys(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(6, 21))
    X = random.normal(size=(int(random.integers(2, 30)), n))
    alpha, beta = np.exp(random.uniform(-2, 2, size=2))
    D = squared_distances(X)
    pairs = dense_pairs(X)
    graph = solve_unit(pairs, (alpha * beta) ** -0.5)
    W = np.sqrt(alpha / beta) * pairs.edges(graph.potential, graph.theta).toarray()
    best = oracle(D, alpha, beta)
    assert graph.certificate.converged
    assert abs(objective(W, D, alpha, beta) - best) <= 1e-6 * max(abs(best), 1e-3)
    assert graph.objective(alpha, beta) == pytest.approx(objective(W, D, alpha, beta), rel=1e-10, abs=1e-10)
    assert W.min() >= 0
    assert np.abs(W - W.T).max() == 0
    assert np.abs(np.diag(W)).max() == 0


@pytest.mark.parametrize("steps", [2, 3, 4])
def test_the_gap_bounds_the_error_before_the_end(steps):
    X = unequal_signals(5, 15, seed=1)
    pairs, D = dense_pairs(X), squared_distances(X)
    best = oracle(D, 1.0, 0.25)
    graph = solve_unit(pairs, 2.0, tol=1e-14, max_iter=steps)
    error = graph.objective(1.0, 0.25) - best
    assert not graph.certificate.converged
    assert 1e-9 < error <= graph.certificate.value * 15 * (1 + 1e-6)


def test_the_dual_gradient_meets_finite_differences(random):
    pairs = dense_pairs(random.normal(size=(4, 12)))
    potential = random.uniform(0.5, 2.0, size=12)

    def loss(mu):
        return dual_loss(mu, pairs.sums(mu, 0.7))

    h = 1e-6
    numeric = [(loss(potential + h * e) - loss(potential - h * e)) / (2 * h) for e in np.eye(12)]
    np.testing.assert_allclose(pairs.sums(potential, 0.7).degree - 1 / potential, numeric, atol=1e-6)


def test_two_nodes_by_hand():
    """One edge w: 2 c w - 2 log w + w^2 is least at w = (sqrt(c^2 + 4) - c) / 2."""
    pairs = dense_pairs(np.array([[0.0, 2.0]]))  # distance 2, so c = 2 theta
    weight = pairs.edges(solve_unit(pairs, 1.5, tol=1e-14).potential, 1.5).toarray()[0, 1]
    assert weight == pytest.approx((np.sqrt(13.0) - 3.0) / 2, abs=1e-7)


@pytest.mark.parametrize("theta", [1e-6, 1e-2, 1.0, 10.0, 100.0, 1000.0])
@pytest.mark.parametrize(("n_signals", "n_nodes"), [(5, 20), (50, 100), (100, 80)])
def test_converges_from_dense_graphs_to_nearly_linear_programs(theta, n_signals, n_nodes):
    X = unequal_signals(n_signals, n_nodes, seed=2)
    pairs = dense_pairs(X)
    graph = solve_unit(pairs, theta / squared_distances(X).mean())
    assert graph.certificate.converged
    # A node's gap is about (mu d - 1)^2 / 2, and the mean of it is at most 1e-9.
    np.testing.assert_allclose(graph.potential * graph.sums.degree, 1.0, atol=2 * np.sqrt(1e-9 * n_nodes))
    assert graph.sums.counts.min() >= 1


def test_relabelling_the_nodes_relabels_the_graph(random):
    X, order = unequal_signals(10, 40, seed=3), random.permutation(40)
    plain, mixed = dense_pairs(X), dense_pairs(X[:, order])
    first, second = solve_unit(plain, 3.0, tol=1e-13), solve_unit(mixed, 3.0, tol=1e-13)
    W = plain.edges(first.potential, 3.0).toarray()
    np.testing.assert_allclose(mixed.edges(second.potential, 3.0).toarray(), W[np.ix_(order, order)], atol=1e-7)


def test_all_pairs_listed_is_the_dense_problem():
    X = unequal_signals(8, 60, seed=4)
    dense, nearest = dense_pairs(X), nearest_pairs(X, 59)
    assert nearest.n_pairs == 60 * 59 // 2
    one, other = (solve_unit(pairs, 2.0, tol=1e-13) for pairs in (dense, nearest))
    np.testing.assert_allclose(
        nearest.edges(other.potential, 2.0).toarray(), dense.edges(one.potential, 2.0).toarray(), atol=1e-8
    )


def test_sums_and_edges_agree(random):
    X = random.normal(size=(5, 30))
    potential = random.uniform(0.2, 1.5, size=30)
    for pairs in (dense_pairs(X), nearest_pairs(X, 6)):
        sums, W = pairs.sums(potential, 0.8), pairs.edges(potential, 0.8)
        np.testing.assert_allclose(W.sum(axis=1), sums.degree)
        np.testing.assert_allclose((W * W).sum(axis=1), sums.square)
        np.testing.assert_array_equal(np.diff(W.indptr), sums.counts)
        assert W.data.min() > 0


def test_listed_pairs_are_the_nearest_of_either_end(random):
    X = random.normal(size=(3, 50))
    D = squared_distances(X) + np.diag(np.full(50, np.inf))
    near = np.argsort(D, axis=1)[:, :4]
    expected = {(min(i, j), max(i, j)) for i in range(50) for j in near[i]}
    pairs = nearest_pairs(X, 4)
    everything = pairs.edges(np.full(50, 1e3), 1.0).toarray()  # a potential that makes every pair an edge
    assert set(zip(*np.nonzero(np.triu(everything)), strict=True)) == expected
    np.testing.assert_allclose(pairs.nearest(4), np.sort(D, axis=1)[:, :4], atol=1e-12)


@pytest.mark.parametrize("theta", [3.0, 30.0])
def test_growing_a_short_list_ends_at_the_graph_of_all_pairs(theta):
    """Two nearest are far too few; remote nodes end up linked to nodes that are not near to them."""
    X = unequal_signals(20, 80, seed=5)
    pairs = nearest_pairs(X, 2)
    few = solve_unit(pairs, theta).objective(1.0, theta**-2.0)
    grown = log_degree_graph(pairs, theta=theta, grow=True, tol=1e-12)
    whole = solve_unit(dense_pairs(X), theta, tol=1e-12)
    assert pairs.n_pairs < 80 * 79 // 2
    assert few > whole.objective(1.0, theta**-2.0) + 1e-3
    assert grown.objective(1.0, theta**-2.0) == pytest.approx(whole.objective(1.0, theta**-2.0), rel=1e-10)


@pytest.mark.parametrize("degree", [2.5, 5, 10, 40, 79])
def test_degree_asked_is_degree_obtained(degree):
    graph = solve_for_degree(dense_pairs(unequal_signals(10, 80, seed=6)), degree)
    assert graph.certificate.converged
    assert graph.mean_degree == pytest.approx(degree, abs=max(0.03 * degree, 2 / 80))


def test_the_lonely_node_has_as_many_edges_as_its_levels_say(random):
    """The row problem solved by bisection, against the quadratic equation and the activation levels."""
    nearest = np.sort(random.exponential(size=(20, 12)), axis=1)
    for theta in (0.1, 1.0, 5.0):
        low, high = np.zeros(20), np.full(20, 100.0)
        for _ in range(200):
            middle = (low + high) / 2
            over = np.maximum(0, middle[:, None] - theta * nearest).sum(axis=1) > 1 / middle
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        np.testing.assert_allclose(lonely_potential(nearest, theta), low, rtol=1e-10)
        np.testing.assert_array_equal(low[:, None] > theta * nearest, activation_levels(nearest) < theta**-2)


def test_the_guess_is_exact_for_lonely_nodes(random):
    nearest = np.sort(random.exponential(size=(50, 20)), axis=1)
    theta = guess_theta(nearest, 7)
    assert (activation_levels(nearest) < theta**-2).sum() == 350


def test_equal_nodes():
    """Nothing but zero distances: every pair is an edge, and there is no theta for a degree."""
    pairs = dense_pairs(np.ones((3, 5)))
    W = pairs.edges(solve_unit(pairs, 2.0, tol=1e-14).potential, 2.0).toarray()
    np.testing.assert_allclose(W[~np.eye(5, dtype=bool)], 0.5, atol=1e-6)  # mu = w and 4 w mu = 1
    with pytest.raises(ValueError, match="every node has the same signals"):
        guess_theta(pairs.nearest(4), 2)


def test_a_step_function_closes_the_bracket():
    """The search for a degree that no theta gives must end."""
    search, place = Search(wanted=0.5, place=0.0), 0.0
    visited = []
    while len(visited) < 60:
        visited.append(place)
        following = search.next_place(place, 1.0 if place < 0.7 else 0.0)
        if following is None:
            break
        place = following
    assert following is None
    assert place == pytest.approx(0.7, abs=1e-4)


def test_newton_says_when_it_did_not_get_there():
    pairs = dense_pairs(unequal_signals(5, 30, seed=7))
    graph = newton(pairs, 3.0, np.full(30, 0.01), tol=1e-9, max_iter=3)
    assert not graph.certificate.converged
    assert graph.certificate.value > 1e-9


def test_the_steps_of_the_search_are_counted_and_the_last_ones_are_the_history():
    pairs = dense_pairs(unequal_signals(5, 30, seed=8))
    graph = solve_for_degree(pairs, 5)
    last = graph.certificate.history
    assert graph.certificate.iterations > last[-1].iteration
    assert graph.objective(1.0, 1.0) == pytest.approx(last[-1].objective)
    assert last[-1].value == graph.certificate.value
