r"""Simulated moments: a network known only by draws (after Boucher and Houndetoungan 2025).

.. math:: \min_\theta \; g(\theta)^\top \Omega\, g(\theta), \qquad
          g(\theta) = \frac1T \sum_t H_t^\top (I - \phi W_t) \Bigl(y - \frac1S \sum_s (I - \phi W_s)^{-1} Z_s b\Bigr)

The mean of y given what is known is the reduced form averaged over draws s, and the instruments
:math:`H_t = [Z, W_t X, W_t^2 X]` come from other draws t, so both are independent of the error of the answers. Given φ
the coefficients b are those of generalised least squares, so one number is searched, first with
:math:`\Omega = (K^\top K)^{-1}` and then with the inverse of the moments' covariance,
:math:`K = \frac1T \sum_t (I - \phi W_t)^\top H_t`. Optimality: the objective's least value over φ, to 1e-7.
The covariance is that of two-step GMM, with the draws' part as in least squares.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy import optimize

from ..validation import Array, InputError
from .instruments import check_instruments, instruments_of
from .least_squares import meat
from .reduced_form import Estimate, ReducedForm


def simulated_moments(
    form: ReducedForm, actions: Array, covariates: Array, errors: str, groups: Array | None
) -> Estimate:
    """Return the estimate by simulated moments on at least four draws of the network."""
    if len(form.networks) < 4:
        raise InputError(f"method='smm' needs 4 draws of the network or more, got {len(form.networks)}")
    half = len(form.networks) // 2
    means = ReducedForm(form.networks[:half])
    others = form.networks[half:]
    check_instruments(instruments_of(others[0].weights, covariates, others[0].played))
    # K is H less φ times WᵀH, both averaged over the other draws.
    H = np.zeros(1)
    WH = np.zeros(1)
    for network in others:
        once = network.weights @ covariates
        instruments = np.column_stack([network.played, once, network.weights @ once])
        H = H + instruments / len(others)
        WH = WH + network.weights.T @ instruments / len(others)
    observed = np.isfinite(actions)
    target = actions[observed]
    groups = None if groups is None else groups[observed]

    def kernel(phi: float) -> Array:
        """Return K, whose columns give the moments of residuals; people who were not asked have none."""
        return np.asarray(H - phi * WH)[observed]

    # Asked for twice at each φ of the grid, once with each weight matrix.
    columns_at = cache(means.columns)

    def best_at(phi: float, weight: Array | None) -> tuple[float, Array, Array]:
        """Return the objective, the coefficients that minimise it at a given φ, and their residuals."""
        K = kernel(phi)
        columns = columns_at(phi)[observed]
        root = square_root(np.linalg.pinv(K.T @ K) if weight is None else weight)
        left = root @ (K.T @ columns)
        right = root @ (K.T @ target)
        coefficients = np.linalg.lstsq(left, right, rcond=None)[0]
        error = right - left @ coefficients
        return float(error @ error), coefficients, target - columns @ coefficients

    phi = searched(lambda value: best_at(value, None)[0], form.bound)
    first = best_at(phi, None)[2]
    weight = np.linalg.pinv(meat(kernel(phi), first, errors, groups))
    phi = searched(lambda value: best_at(value, weight)[0], form.bound)
    _, coefficients, residuals = best_at(phi, weight)

    point = means.at(phi, coefficients)
    K = kernel(phi)
    # K depends on φ as well, but its derivative meets residuals whose moments are zero.
    slope = K.T @ point.jacobian[observed]
    bread = np.linalg.pinv(slope.T @ weight @ slope) @ slope.T @ weight
    draws = form.means(phi, coefficients)[:, observed] @ K
    uncertain = (1.0 + 1.0 / half) * np.atleast_2d(np.cov(draws.T))
    between = bread @ uncertain @ bread.T
    spread = bread @ meat(K, residuals, errors, groups) @ bread.T
    return Estimate(np.concatenate([[phi], coefficients]), spread + between, point.mean, between=between)


def square_root(matrix: Array) -> Array:
    """Return R with RᵀR equal to a symmetric matrix without negative eigenvalues (except by rounding)."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    root: Array = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root


def searched(objective: Callable[[float], float], bound: float) -> float:
    """Return the φ of least objective: on a grid, then between the neighbours of its best point."""
    grid = np.linspace(-0.95, 0.95, 11) * bound
    values = [objective(float(phi)) for phi in grid]
    best = int(np.argmin(values))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(optimize.minimize_scalar(objective, bounds=ends, method="bounded", options={"xatol": 1e-7}).x)
