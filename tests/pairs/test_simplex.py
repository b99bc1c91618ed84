"""The row projection against a brute-force oracle, a QP solver and its own optimality conditions."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nashgraph import project_rows
from nashgraph.pairs import _kernels

from ..problems import simplex_oracle

plain = st.floats(-5, 5, allow_subnormal=False)
tied = st.sampled_from([-1.0, 0.0, 0.25, 1.0])
wild = st.floats(-1e12, 1e12)
tiny = st.floats(-1e-12, 1e-12)


@st.composite
def score_matrices(draw):
    n = draw(st.integers(2, 12))
    return draw(arrays(np.float64, (n, n), elements=draw(st.sampled_from([plain, tied, wild, tiny]))))


@given(score_matrices(), st.floats(0.01, 5))
@example(np.zeros((2, 2)), 0.95)
@example(np.array([[0.0, 1e300], [-1e300, 0.0]]), 0.95)
@example(np.full((5, 5), 1e16), 0.95)
def test_agrees_with_brute_force_and_is_optimal(scores, total):
    weights, eta = project_rows(scores, total)
    n = len(scores)
    off = ~np.eye(n, dtype=bool)
    scale = np.abs(scores).max()
    # Feasible.
    assert (weights >= 0).all()
    assert (np.diag(weights) == 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), total, rtol=1e-12)
    # KKT: w = max(0, s + eta) off the diagonal. Adding eta to a huge score costs the rounding of that score.
    rounding = 4 * np.spacing(max(scale, total))
    np.testing.assert_allclose(weights[off], np.maximum(0, scores + eta[:, None])[off], atol=1e-13 + rounding)
    for i in range(n):
        np.testing.assert_allclose(weights[i], simplex_oracle(scores[i], i, total), rtol=1e-10, atol=1e-13 * total)


def test_agrees_with_a_qp_solver(random):
    scores = random.normal(size=(8, 8))
    found, _ = project_rows(scores, 0.95)
    W = cp.Variable((8, 8))
    constraints = [W >= 0, cp.diag(W) == 0, cp.sum(W, axis=1) == 0.95]
    cp.Problem(cp.Minimize(cp.sum_squares(W - scores)), constraints).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(found, W.value, atol=1e-6)


def test_worst_case_rows_are_sorted_rather_than_peeled(random):
    """Geometric scores make Michelot's rounds drop one entry each: the sort must take over, with the same answer."""
    n = 400
    scores = np.zeros((n, n))
    scores[:, :] = -(1.0 - 0.5 ** np.arange(n, 0, -1)) * 0.9999
    scores[:, 0] = -(0.7 ** np.arange(n))
    weights, _ = project_rows(scores, 1.0)
    for i in (0, 1, n - 1):
        np.testing.assert_allclose(weights[i], simplex_oracle(scores[i], i, 1.0), atol=1e-12)


def test_keeps_the_callers_array(random):
    scores = random.normal(size=(5, 5))
    kept = scores.copy()
    project_rows(scores)
    np.testing.assert_array_equal(scores, kept)


@pytest.mark.parametrize(
    ("scores", "total", "message"),
    [
        (np.zeros((2, 3)), 1.0, "square"),
        (np.zeros((1, 1)), 1.0, "at least 2"),
        (np.array([[0, np.nan], [0, 0]]), 1.0, r"first \(NaN\) at row 0, column 1"),
        (np.zeros((2, 2)), 0.0, "total must be"),
        ([["a", "b"], ["c", "d"]], 1.0, "matrix of numbers"),
    ],
)
def test_bad_input(scores, total, message):
    with pytest.raises((ValueError, TypeError), match=message):
        project_rows(scores, total)


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_what_newton_leaves_is_sorted_out(rounds, random, monkeypatch):
    """Hardly any row needs more rounds than allowed, so fewer are allowed here."""
    monkeypatch.setattr(_kernels, "MICHELOT_ROUNDS", rounds)
    for size in (1, 2, 3, 7, 40):
        for spread in (1e-3, 0.5, 0.99):
            values = -spread * random.random(size)
            values[random.integers(size)] = 0.0
            eta = _kernels.threshold.py_func(values.copy(), size, 1.0)
            assert np.maximum(0.0, values + eta).sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_what_whole_rounds_leave_is_finished_among_the_few(rounds, random, monkeypatch):
    monkeypatch.setattr(_kernels, "WHOLE_ROUNDS", rounds)
    for spread in (0.1, 1.0, 30.0):
        row = -spread * random.random(50)
        found = row.copy()
        _kernels.project_row.py_func(found, 7, 2.0, 0.9, np.empty(50))
        np.testing.assert_allclose(found, simplex_oracle(2.0 * row, 7, 0.9), atol=1e-13)
