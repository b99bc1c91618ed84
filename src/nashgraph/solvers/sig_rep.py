r"""GL-SigRep: a Laplacian and denoised signals, by exact alternating minimisation.

.. math:: \min_{L, Y} \; \|X - Y\|_F^2 + \alpha\,\mathrm{tr}(Y^\top L Y) + \beta \|L\|_F^2
          \quad\text{s.t.}\quad L = L^\top,\; L_{ij} \le 0 \;(i \ne j),\; L 1 = 0,\; \mathrm{tr}\,L = N

X holds one node per row here. Each block is convex. The signals are :math:`Y = (I + \alpha L)^{-1} X`. The
Laplacian is one point w of a simplex with an entry for each pair of nodes, and its squared norm needs the
degrees d only:

.. math:: \min_w \; \langle w, \alpha z \rangle + \beta\,(2\|w\|^2 + \|d(w)\|^2)
          \quad\text{s.t.}\quad w \ge 0,\; \textstyle\sum w = N/2, \qquad z_{ij} = \|y_i - y_j\|^2

**Optimality and stopping.** With g the gradient of this block at w, :math:`f(w) - f^\star \le \max_s \langle
g, w - s \rangle - 2\beta\|w - s\|^2` over the simplex, because f minus :math:`2\beta\|w\|^2` is convex. The
maximiser is one simplex projection, and the bound is the duality gap at the multipliers :math:`2\beta\,d(w)`:
zero exactly at the optimum, and quadratic in the distance to it. As Y follows from L, the same gap at
:math:`(L, Y(L))` over the objective is a scale-free measure of stationarity of the whole problem, and the
solver stops by it.

**Cost.** The curvature within the simplex lies between :math:`4\beta` and :math:`2\beta N`, so accelerated
projected gradient with restarts takes :math:`O(\sqrt N \log 1/\varepsilon)` steps, each a few passes over the
N(N-1)/2 pairs. The Y-step is a Cholesky factorisation, O(N^3), with min(M, N) right-hand sides. Memory: four
N x N arrays and six vectors of pairs.

Reference: Dong, Thanou, Frossard, Vandergheynst, *Learning Laplacian matrix in smooth graph signal
representations*, IEEE Transactions on Signal Processing (2016), algorithm 1 (GL-SigRep).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import linalg
from scipy.spatial.distance import squareform

from ..couplings import squared_distances
from ..couplings._kernels import FAST, threshold
from ..validation import Array

CHECK_EVERY = 5


class LaplacianStep(NamedTuple):
    """The Laplacian's block solved: weights of the pairs (i < j, by rows), degrees, value and certified gap.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian_step(np.array([1.0, 1.0, 1.0]), beta=1.0).weights
    array([0.5, 0.5, 0.5])
    """

    weights: Array
    degrees: Array
    value: float
    gap: float
    iterations: int


class SigRep(NamedTuple):
    """A graph learned by :func:`sig_rep`, with what certifies it.

    Examples
    --------
    >>> import numpy as np
    >>> sig_rep(np.array([[0.0, 0.1, 3.0, 3.1]]), alpha=0.1, beta=0.5).converged
    True
    """

    weights: Array
    signals: Array
    objective: float
    stationarity: float
    iterations: int
    converged: bool
    history: tuple[float, ...]


def sig_rep(X: Array, alpha: float, beta: float, *, tol: float = 1e-6, max_iter: int = 200) -> SigRep:
    r"""Minimise over Laplacian and signals in turn, from Y = X.

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes)
    alpha, beta : float
    tol : float
        Duality gap of the Laplacian at its own signals, over the objective, at which to stop.
    max_iter : int
        Rounds of the two steps.

    Returns
    -------
    SigRep
        ``weights`` is the N x N adjacency matrix, ``signals`` the Y in the shape of X, and ``history`` the
        objective after each round, which never rises.

    Examples
    --------
    >>> import numpy as np
    >>> found = sig_rep(np.array([[0.0, 0.1, 3.0, 3.1]]), alpha=0.1, beta=0.3)
    >>> found.weights.round(2)
    array([[0.  , 0.8 , 0.1 , 0.08],
           [0.8 , 0.  , 0.12, 0.1 ],
           [0.1 , 0.12, 0.  , 0.8 ],
           [0.08, 0.1 , 0.8 , 0.  ]])
    """
    given = _compressed(X)
    step = laplacian_step(pair_costs(given, alpha), beta, tol=0.1 * tol)
    history: list[float] = []
    for _ in range(max_iter):
        signals = signal_step(given, step.weights, step.degrees, alpha)
        costs = pair_costs(signals, alpha)
        gap = laplacian_gap(step.weights, step.degrees, costs, beta)
        history.append(float(np.sum((given - signals) ** 2)) + laplacian_value(step.weights, step.degrees, costs, beta))
        if gap <= tol * history[-1]:
            break
        if len(history) < max_iter:
            step = laplacian_step(costs, beta, start=step, tol=0.1 * tol)
    weights: Array = squareform(step.weights)
    return SigRep(
        weights,
        np.ascontiguousarray(signal_step(X.T, step.weights, step.degrees, alpha).T),
        history[-1],
        gap / history[-1],
        len(history),
        bool(gap <= tol * history[-1]),
        tuple(history),
    )


def signal_step(given: Array, weights: Array, degrees: Array, alpha: float) -> Array:
    r"""Return :math:`Y = (I + \alpha L)^{-1} X` for the Laplacian of the pair weights, by Cholesky.

    Examples
    --------
    >>> import numpy as np
    >>> signal_step(np.array([[0.0], [3.0]]), np.ones(1), np.ones(2), alpha=1.0)
    array([[1.],
           [2.]])
    """
    system = -alpha * squareform(weights)
    system[np.diag_indices_from(system)] = 1.0 + alpha * degrees
    factor = linalg.cho_factor(system, overwrite_a=True, check_finite=False)
    solved: Array = linalg.cho_solve(factor, given, check_finite=False)
    return solved


def pair_costs(signals: Array, alpha: float) -> Array:
    r"""Return :math:`\alpha \|y_i - y_j\|^2` for the pairs i < j of the rows of ``signals``, by rows.

    Examples
    --------
    >>> import numpy as np
    >>> pair_costs(np.array([[0.0], [1.0], [3.0]]), alpha=2.0)
    array([ 2., 18.,  8.])
    """
    costs: Array = squareform(squared_distances(signals.T), checks=False)
    costs *= 2.0 * alpha * signals.shape[1]
    return costs


def laplacian_step(
    costs: Array,
    beta: float,
    *,
    start: LaplacianStep | None = None,
    tol: float = 1e-9,
    max_iter: int = 20_000,
) -> LaplacianStep:
    r"""Solve the Laplacian's block by accelerated projected gradient with restarts.

    .. math:: \min_w \; \langle w, q \rangle + \beta\,(2\|w\|^2 + \|d(w)\|^2)
              \quad\text{s.t.}\quad w \ge 0,\; \textstyle\sum w = N/2

    Parameters
    ----------
    costs : array of shape (N (N - 1) / 2,)
        The q of the pairs i < j, by rows.
    beta : float
    start : LaplacianStep, optional
        Where to start; None starts from the complete graph. The answer is never worse than the start.
    tol : float
        Duality gap over the value at which to stop.
    max_iter : int

    References
    ----------
    Beck, Teboulle, *A fast iterative shrinkage-thresholding algorithm* (2009); O'Donoghue, Candès, *Adaptive
    restart for accelerated gradient schemes* (2015), by the gradient.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian_step(np.array([0.0, 9.0, 9.0, 9.0, 9.0, 0.0]), beta=0.5).weights.round(6)
    array([1., 0., 0., 0., 0., 1.])
    """
    n = round((1.0 + np.sqrt(1.0 + 8.0 * len(costs))) / 2.0)
    step_size = 1.0 / (2.0 * beta * n)
    if start is None:
        weights, degrees = np.full(len(costs), 1.0 / (n - 1.0)), np.ones(n)
    else:
        weights, degrees = start.weights, start.degrees
    first = (weights, degrees, laplacian_value(weights, degrees, costs, beta))
    point, point_degrees = weights.copy(), degrees.copy()
    buffer, momentum, iteration = np.empty_like(costs), 1.0, 0
    while True:
        if iteration % CHECK_EVERY == 0 or iteration == max_iter:
            gap = laplacian_gap(weights, degrees, costs, beta)
            value = laplacian_value(weights, degrees, costs, beta)
            if gap <= tol * value or iteration == max_iter:
                break
        moved, moved_degrees = np.empty_like(costs), np.empty(n)
        descend_pairs(point, point_degrees, costs, beta, step_size, moved, moved_degrees, buffer)
        if uphill(point, moved, weights) > 0.0:
            momentum = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        share = (momentum - 1.0) / following
        point = moved + share * (moved - weights)
        point_degrees = moved_degrees + share * (moved_degrees - degrees)
        weights, degrees, momentum = moved, moved_degrees, following
        iteration += 1
    if value > first[2]:  # by rounding only, from a start that is as good as the answer
        weights, degrees, value = first
        gap = laplacian_gap(weights, degrees, costs, beta)
    return LaplacianStep(weights, degrees, value, gap, iteration)


def laplacian_value(weights: Array, degrees: Array, costs: Array, beta: float) -> float:
    """Return the objective of the Laplacian's block.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian_value(np.ones(1), np.ones(2), np.array([3.0]), beta=0.5)
    5.0
    """
    return float(weights @ costs + beta * (2.0 * weights @ weights + degrees @ degrees))


def laplacian_gap(weights: Array, degrees: Array, costs: Array, beta: float) -> float:
    """Return a bound on how far the block's value at these weights is above the least.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian_gap(np.full(3, 0.5), np.ones(3), np.ones(3), beta=1.0)
    0.0
    """
    answer, unused, buffer = np.empty_like(costs), np.empty_like(degrees), np.empty_like(costs)
    descend_pairs(weights, degrees, costs, beta, 0.25 / beta, answer, unused, buffer)
    return float(bound_pairs(weights, degrees, costs, beta, answer))


@njit(cache=True, nogil=True, fastmath=FAST)
def descend_pairs(
    point: Array,
    degrees: Array,
    costs: Array,
    beta: float,
    step: float,
    out: Array,
    out_degrees: Array,
    buffer: Array,
) -> None:
    """Write the projection of ``point - step * gradient`` onto the simplex, and its degrees.

    The simplex projection is that of the rows in ``couplings``: subtract the largest entry, keep the few that
    can be positive in ``buffer``, and find the threshold among them exactly. The threshold of any subset of
    the entries is an upper bound; that of the support of ``point`` is a tight one, and leaves little to
    search.
    """
    n = degrees.shape[0]
    total, keep, k = 0.5 * n, 1.0 - 4.0 * beta * step, 0
    top, support, size = -np.inf, 0.0, 0
    for i in range(n):
        for j in range(i + 1, n):
            out[k] = keep * point[k] - step * (costs[k] + 2.0 * beta * (degrees[i] + degrees[j]))
            top = max(top, out[k])
            if point[k] > 0.0:
                support += out[k]
                size += 1
            k += 1
    eta = min(total, top + (total - support) / size)
    size = 0
    for k in range(out.shape[0]):
        out[k] -= top
        if out[k] > -eta:
            buffer[size] = out[k]
            size += 1
    eta = threshold(buffer, size, total)
    out_degrees[:] = 0.0
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            weight = max(out[k] + eta, 0.0)
            out[k] = weight
            out_degrees[i] += weight
            out_degrees[j] += weight
            k += 1


@njit(cache=True, nogil=True, fastmath=FAST)
def bound_pairs(weights: Array, degrees: Array, costs: Array, beta: float, answer: Array) -> float:
    """Return <gradient, w - s> - 2 beta ||w - s||^2 at the pairs' weights w and the answer s."""
    n = degrees.shape[0]
    bound, k = 0.0, 0
    for i in range(n):
        for j in range(i + 1, n):
            gradient = costs[k] + 4.0 * beta * weights[k] + 2.0 * beta * (degrees[i] + degrees[j])
            difference = weights[k] - answer[k]
            bound += difference * (gradient - 2.0 * beta * difference)
            k += 1
    return bound


@njit(cache=True, nogil=True, fastmath=FAST)
def uphill(point: Array, moved: Array, before: Array) -> float:
    """Return <point - moved, moved - before>: positive when the momentum points up the slope."""
    total = 0.0
    for k in range(point.shape[0]):
        total += (point[k] - moved[k]) * (moved[k] - before[k])
    return total


def _compressed(X: Array) -> Array:
    """Return the nodes as rows, with at most N columns that have the same inner products.

    The problem sees X through X X^T only, and not the mean of each signal, so many signals cost no more than
    N.
    """
    centred = X - X.mean(axis=1, keepdims=True)
    if len(X) > X.shape[1]:
        (centred,) = linalg.qr(centred, mode="r", check_finite=False)
        centred = centred[: X.shape[1]]
    return np.ascontiguousarray(centred.T)
