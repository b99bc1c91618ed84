"""Equilibrium, adjoint and welfare: closed forms, a hand-solved game, dense solves, and hard cases."""

import re

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from nashgraph import CustomWelfare, WeightedTotal, adjoint, equilibrium, welfare
from nashgraph.games import INTERACTIONS, WELFARES, EqualGroups, as_interaction, as_welfare
from nashgraph.games.feedback import spectral_radius

from ..problems import random_graph


def by_rows(graph, c):
    adjacency = sparse.csr_array(nx.to_scipy_sparse_array(graph, dtype=float))
    return sparse.csr_array(sparse.diags_array(c / adjacency.sum(axis=1)) @ adjacency)


HARD = {
    "ring": nx.cycle_graph(300),
    "tree": nx.barabasi_albert_graph(300, 1, seed=0),
    "communities": nx.disjoint_union_all([nx.complete_graph(8)] * 20),
    "one-way ring": nx.cycle_graph(60, create_using=nx.DiGraph),
    "one-way star": nx.DiGraph([(i, 0) for i in range(1, 200)] + [(0, 1)]),
}


@pytest.mark.parametrize("as_type", [np.asarray, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize("name", INTERACTIONS)
def test_fixed_points_hold(name, as_type, random):
    f = as_interaction(name)
    W, b = random_graph(40, 0.95, random), 3 * random.random(40)
    y = equilibrium(as_type(W), b, name)
    np.testing.assert_allclose(y, b + W @ f.value(y), rtol=1e-11)
    for g in WELFARES:
        u = adjoint(as_type(W), y, name, g)
        dense = np.linalg.solve(np.eye(40) - (W * f.slope(y)).T, as_welfare(g).gradient(y))
        np.testing.assert_allclose(u, dense, rtol=1e-10)


def test_linear_game_has_its_closed_form(random):
    W, b = random_graph(30, 0.9, random), random.random(30)
    np.testing.assert_allclose(equilibrium(W, b, "linear"), np.linalg.solve(np.eye(30) - W, b), rtol=1e-10)


def test_three_nodes_solved_by_hand():
    """0 listens to 1, 1 to 2, 2 to 0, each with weight 1/2; only node 0 has a benefit, 7.

    y0 = 7 + y1/2, y1 = y2/2, y2 = y0/2, so y0 = 7 + y0/8 = 8, y2 = 4, y1 = 2; the adjoint runs backward.
    """
    W = np.array([[0, 0.5, 0], [0, 0, 0.5], [0.5, 0, 0]])
    b = np.array([7.0, 0, 0])
    np.testing.assert_allclose(equilibrium(W, b, "linear"), [8, 2, 4])
    np.testing.assert_allclose(adjoint(W, equilibrium(W, b, "linear"), "linear"), [2, 2, 2])
    assert welfare(W, b, "linear") == pytest.approx(14)
    assert welfare(W, b, "linear", "utilitarian") == pytest.approx((64 + 4 + 16) / 2)


def test_utilitarian_welfare_is_the_sum_of_payoffs(random):
    W, b = random_graph(20, 0.8, random), random.random(20)
    y = equilibrium(W, b)
    payoffs = -(y**2) / 2 + y * (W @ np.log1p(y) + b)
    assert welfare(W, b, welfare="utilitarian") == pytest.approx(payoffs.sum())


@pytest.mark.parametrize("name", INTERACTIONS)
@pytest.mark.parametrize("graph", HARD)
@pytest.mark.parametrize("c", [0.5, 0.999])
def test_converges_when_feedback_is_nearly_total(graph, c, name, random):
    W = by_rows(HARD[graph], c)
    b = random.random(W.shape[0])
    y = equilibrium(W, b, name)
    f = as_interaction(name)
    assert np.linalg.norm(b + W @ f.value(y) - y) <= 1e-12 * np.linalg.norm(y)
    u = adjoint(W, y, name)
    assert np.linalg.norm(1 + f.slope(y) * (W.T @ u) - u) <= 1e-12 * np.linalg.norm(u)


def test_a_uniform_benefit_gives_every_graph_the_same_welfare(random):
    """Fact 6: rows sum to c, so equal benefits give equal actions, b / (1 - c) for the linear game."""
    b = np.full(25, 0.04)
    for _ in range(3):
        np.testing.assert_allclose(equilibrium(random_graph(25, 0.9, random), b, "linear"), 0.4)


def test_strong_feedback_outside_the_admissible_graphs():
    ones = np.ones((3, 3)) - np.eye(3)
    with pytest.raises(ValueError, match=r"no equilibrium.*scale W down"):
        equilibrium(ones, np.ones(3), "linear")
    y = equilibrium(3 * ones, np.ones(3), "log1p")  # concave f: an equilibrium exists however strong W is
    np.testing.assert_allclose(y, 1 + 6 * np.log1p(y))


def test_scaling_w_down_as_advised_gives_an_equilibrium():
    for W in (np.array([[0.0, 3.0], [3.0, 0.0]]), 1.2 * (np.ones((5, 5)) - np.eye(5))):
        with pytest.raises(ValueError, match="no equilibrium") as error:
            equilibrium(W, np.ones(len(W)), "linear")
        radius = np.abs(np.linalg.eigvals(W)).max()
        assert f"spectral radius is {radius:.6g} and must be below 1" in str(error.value)
        factor = float(re.search(r"W \* ([\d.]+)", str(error.value))[1])
        assert factor * radius == pytest.approx(0.95, rel=5e-3)  # 3 digits are printed
        equilibrium(factor * W, np.ones(len(W)), "linear")


@pytest.mark.parametrize("scale", [1e9, 1e15])
@pytest.mark.parametrize("interaction", ["log1p", "saturating", "exponential"])
def test_actions_far_above_the_benefits_are_no_sign_of_missing_equilibrium(interaction, scale):
    """Interactions that level off have an equilibrium however strong the weights are."""
    W, b, f = scale * (np.ones((3, 3)) - np.eye(3)), np.ones(3), as_interaction(interaction)
    y = equilibrium(W, b, interaction)
    np.testing.assert_allclose(y, b + W @ f.value(y), rtol=1e-9)
    assert y.max() > 1e8


def test_a_linear_game_near_the_limit_has_its_equilibrium():
    W = (1.0 - 1e-10) * np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(equilibrium(W, np.ones(2), "linear"), 1e10, rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 40, 400])
def test_spectral_radius(n, random):
    W = random.random((n, n)) * (random.random((n, n)) < 0.2)
    truth = np.abs(np.linalg.eigvals(W)).max()
    assert spectral_radius(W) == pytest.approx(truth, rel=1e-5)
    assert spectral_radius(sparse.csr_array(W)) == pytest.approx(truth, rel=1e-5)


def test_spectral_radius_where_all_cycles_have_one_length():
    ring = sparse.csr_array(0.7 * np.roll(np.eye(301), 1, axis=1))  # every eigenvalue has size 0.7
    assert spectral_radius(ring) == pytest.approx(0.7, rel=1e-5)


def test_fairness_between_groups_of_unequal_size():
    groups, y = np.array(["a", "b", "b", "c", "c", "c"]), np.array([3.0, 1.0, 2.0, 0.5, 4.0, 1.5])
    means = {name: y[groups == name].mean() for name in "abc"}
    by_hand = -0.5 * sum((means[name] - y.mean()) ** 2 for name in groups) / len(y)
    fair = EqualGroups(groups)
    assert fair.value(y) == pytest.approx(by_hand)
    step = 1e-6 * np.eye(6)
    differences = [(fair.value(y + h) - fair.value(y - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(fair.gradient(y), differences, atol=1e-8)


def test_warm_start_changes_the_work_not_the_answer(random):
    W, b = random_graph(40, 0.95, random), random.random(40)
    np.testing.assert_allclose(equilibrium(W, b, start=100 * random.random(40)), equilibrium(W, b), rtol=1e-11)


def test_not_reaching_the_tolerance_is_said(random, monkeypatch):
    monkeypatch.setattr("nashgraph.games._fixed_points.MAX_PRODUCTS", 3)
    monkeypatch.setattr("nashgraph.games._fixed_points.KRYLOV_STEPS", 2)
    W = by_rows(HARD["ring"], 0.999)
    with pytest.warns(ConvergenceWarning, match="equilibrium was not reached: relative residual"):
        y = equilibrium(W, random.random(300))
    with pytest.warns(ConvergenceWarning, match="adjoint was not reached: relative residual"):
        adjoint(W, y)


def test_custom_welfare_and_weights(random):
    W, b = random_graph(10, 0.5, random), random.random(10)
    weights = random.random(10)
    mine = CustomWelfare(lambda y: float(weights @ y), lambda y: weights)
    assert welfare(W, b, welfare=mine) == pytest.approx(welfare(W, b, welfare=WeightedTotal(weights)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: equilibrium(np.zeros((2, 3)), np.ones(2)), "W must be a square matrix, got shape"),
        (lambda: equilibrium(-np.eye(2), np.ones(2)), "W must not have negative entries, got -1"),
        (lambda: equilibrium(np.full((2, 2), np.inf), np.ones(2)), "W contains NaN or inf: 4 in all"),
        (lambda: equilibrium(np.eye(2) / 2, np.ones(3)), r"benefit must have shape \(2,\)"),
        (lambda: equilibrium(np.eye(2) / 2, [-1, 1]), "benefit must not be negative, got -1 at node 0"),
        (lambda: equilibrium(np.eye(2) / 2, [0, 0]), "benefit is zero at every node"),
        (
            lambda: welfare(np.eye(2) / 2, [1, 1], welfare="rawls"),
            "welfare='rawls' is not known: choose one of 'total'",
        ),
        (lambda: welfare(np.eye(2) / 2, [1, 1], welfare=3), "welfare=3 is not known"),
        (
            lambda: welfare(np.eye(2) / 2, [1, 1], welfare=WeightedTotal([1])),
            "WeightedTotal weights must have shape",
        ),
        (lambda: adjoint(np.eye(2) / 2, [1, 1], welfare=WeightedTotal([1, -1])), "must not be negative"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
