"""Support of nodes: brute force, the published closed form, another solver, and invalid budgets."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq, minimize

from nashgraph import best_support, welfare
from nashgraph.games import INTERACTIONS

from ..problems import random_graph


def by_node(table):
    return table.set_index("name").support.loc[range(len(table))].to_numpy()


def published(W, b, budget):
    """Galeotti, Golub and Goyal (2020): (mu I - A)^-1 A b with the mu that spends the budget, by A's spectrum."""
    M = np.linalg.inv(np.eye(len(b)) - W)
    values, vectors = np.linalg.eigh(M.T @ M)
    parts = vectors.T @ b

    def support(mu):
        return vectors @ (values / (mu - values) * parts)

    mu = brentq(lambda mu: np.sum(support(mu) ** 2) - budget, values[-1] * (1 + 1e-9), values[-1] * 1e6, xtol=1e-12)
    return support(mu)


@pytest.mark.parametrize("budget", [0.01, 1.0, 100.0])
def test_the_linear_game_has_the_published_answer(random, budget):
    W = random_graph(12, 0.8, random)
    W = 0.5 * (W + W.T)  # as published, though it need not be
    W *= 0.8 / np.abs(np.linalg.eigvalsh(W)).max()
    b = random.random(12)
    table = best_support(W, budget, b, "linear", "utilitarian", unit=1.0)
    np.testing.assert_allclose(by_node(table), published(W, b, budget), rtol=2e-3, atol=1e-5)
    best = welfare(W, b + published(W, b, budget), "linear", "utilitarian") - welfare(W, b, "linear", "utilitarian")
    assert table.attrs["gain"] == pytest.approx(best, rel=1e-5)
    assert (table.support**2).sum() == pytest.approx(budget)


def test_total_action_of_the_linear_game_goes_by_the_adjoint(random):
    W, b = random_graph(12, 0.8, random), random.random(12)
    u = np.linalg.solve(np.eye(12) - W.T, np.ones(12))
    table = best_support(W, 4.0, b, "linear", unit=0.5)
    np.testing.assert_allclose(by_node(table), 2.0 * u / np.linalg.norm(u), rtol=1e-6)
    assert table.attrs["gain"] == pytest.approx(0.5 * 2.0 * np.linalg.norm(u))


@pytest.mark.parametrize("cap", [None, 0.6])
@pytest.mark.parametrize("interaction", INTERACTIONS)
def test_the_answer_is_that_of_another_solver(random, interaction, cap):
    W, b = random_graph(6, 0.9, random), 0.2 + random.random(6)
    table = best_support(W, 1.0, b, interaction, cap=cap, unit=1.0)
    other = minimize(
        lambda x: -welfare(W, b + x, interaction),
        np.full(6, 0.1),
        bounds=[(0, cap)] * 6,
        constraints={"type": "ineq", "fun": lambda x: 1.0 - x @ x},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert table.attrs["gain"] == pytest.approx(-other.fun - welfare(W, b, interaction), rel=1e-5)
    assert table.support.between(0, cap or 1).all()
    assert (table.support**2).sum() <= 1.0 + 1e-9
    np.testing.assert_allclose(by_node(table), other.x, atol=5e-3)


@pytest.mark.parametrize("kind", ["total", "utilitarian"])
@pytest.mark.parametrize("interaction", ["linear", "log1p"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_units_beside_the_best_set(random, interaction, kind, count):
    W, b = random_graph(8, 0.9, random), random.random(8)
    unit = b.mean()
    before = welfare(W, b, interaction, kind)
    gains = {
        chosen: welfare(W, b + unit * np.isin(range(8), chosen), interaction, kind) - before
        for chosen in combinations(range(8), count)
    }
    table = best_support(W, count, b, interaction, kind, cost="units")
    taken = tuple(sorted(table.name[:count]))
    assert table.support.tolist() == [1.0] * count + [0.0] * (8 - count)
    assert table.attrs["gain"] == pytest.approx(gains[taken])
    assert table.attrs["gain"] >= 0.99 * max(gains.values())
    if count == 1 or (interaction, kind) == ("linear", "total"):
        assert table.attrs["gain"] == pytest.approx(max(gains.values()))


def test_it_says_what_plain_rules_would_gain(random):
    W, b = random_graph(10, 0.9, random, density=0.3), random.random(10)
    table = best_support(W, 3, b, cost="units")
    unit, hubs = b.mean(), np.argsort(-W.sum(axis=0))[:3]
    assert table.attrs["gain_even"] == pytest.approx(welfare(W, b + 0.3 * unit) - welfare(W, b))
    assert table.attrs["gain_connected"] == pytest.approx(
        welfare(W, b + unit * np.isin(range(10), hubs)) - welfare(W, b)
    )
    table = best_support(W, 3, b, best=2)
    assert table.attrs["gain_even"] == pytest.approx(welfare(W, b + np.sqrt(0.3) * unit) - welfare(W, b))
    hubs = np.isin(range(10), hubs[:2])
    assert table.attrs["gain_connected"] == pytest.approx(welfare(W, b + np.sqrt(1.5) * unit * hubs) - welfare(W, b))
    assert table.attrs["gain"] >= max(table.attrs["gain_even"], table.attrs["gain_connected"])


def test_worth_is_what_one_more_unit_adds(random):
    W, b = random_graph(8, 0.9, random), random.random(8)
    table = best_support(W, 2.0, b, unit=1.0).set_index("name")
    given, step = by_node(table.reset_index()), 1e-6
    for node in range(8):
        more = welfare(W, b + given + step * np.eye(8)[node]) - welfare(W, b + given)
        assert table.worth[node] == pytest.approx(more / step, rel=1e-4)


def test_dense_and_sparse_are_alike(random):
    W, b = random_graph(30, 0.9, random) * (random.random((30, 30)) < 0.08), random.random(30)
    for cost in ("quadratic", "units"):
        found, expected = (best_support(kind(W), 5, b, cost=cost) for kind in (sparse.csr_array, np.asarray))
        np.testing.assert_allclose(by_node(found), by_node(expected), atol=1e-7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda W: best_support(W, 0), r"budget must be a finite number in \(0, inf\), got 0"),
        (lambda W: best_support(W, -1, cost="units"), "budget must be at least 1, got -1"),
        (lambda W: best_support(W, 1.5, cost="units"), "budget must be an integer"),
        (lambda W: best_support(W, 4, cost="units"), "budget=4 units are more than the 3 nodes"),
        (lambda W: best_support(W, 2, cost="units", cap=1), "cap is for the cost quadratic"),
        (lambda W: best_support(W, 1, cap=0), "cap must be a finite number"),
        (lambda W: best_support(W, 1, unit=-1), "unit must be a finite number"),
        (lambda W: best_support(W, 1, cost="linear"), "cost='linear' is not known: choose one of 'quadratic', 'units'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.full((3, 3), 0.3))
