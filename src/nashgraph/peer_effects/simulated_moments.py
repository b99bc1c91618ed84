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

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from scipy import optimize

from ..validation import Array, InputError
from .instruments import check_instruments, instruments_of
from .least_squares import meat
from .reduced_form import Estimate, Network, ReducedForm


def simulated_moments(
    form: ReducedForm, actions: Array, covariates: Array, errors: str, groups: Array | None
) -> Estimate:
    """Return the estimate by simulated moments on at least four draws of the network."""
    if len(form.networks) < 4:
        raise InputError(f"method='smm' needs 4 draws of the network or more, got {len(form.networks)}")
    half = len(form.networks) // 2
    means = ReducedForm(form.networks[:half])
    instruments = _instruments(form.networks[half:], covariates)
    observed = np.isfinite(actions)
    target = np.where(observed, actions, 0.0)

    @cache
    def kernel(phi: float) -> Array:
        """Return K, whose columns give the moments of residuals; those not observed have none."""
        columns = [H - phi * (network.weights.T @ H) for network, H in instruments]
        return np.mean(columns, axis=0) * observed[:, None]

    # Both are asked for twice at each φ of the grid, once with each weight matrix.
    columns_at = cache(means.columns)

    def given(phi: float, weight: Array | None) -> tuple[float, Array, Array]:
        """Return the objective, the coefficients and the residuals at φ."""
        K = kernel(phi)
        columns = columns_at(phi)
        root = square_root(np.linalg.pinv(K.T @ K) if weight is None else weight)
        left = root @ (K.T @ columns)
        right = root @ (K.T @ target)
        coefficients = np.linalg.lstsq(left, right, rcond=None)[0]
        missed = right - left @ coefficients
        return float(missed @ missed), coefficients, (target - columns @ coefficients) * observed

    phi = _searched(lambda value: given(value, None)[0], form.bound)
    residuals = given(phi, None)[2]
    spread = meat(kernel(phi)[observed], residuals[observed], errors, None if groups is None else groups[observed])
    weight = np.linalg.pinv(spread)
    phi = _searched(lambda value: given(value, weight)[0], form.bound)
    _, coefficients, residuals = given(phi, weight)
    return _with_covariance(form, means, kernel(phi), weight, phi, coefficients, target, observed, errors, groups)


def square_root(matrix: Array) -> Array:
    """Return R with RᵀR equal to a symmetric matrix without negative eigenvalues (except by rounding)."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    root: Array = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root


def _instruments(networks: Sequence[Network], covariates: Array) -> list[tuple[Network, Array]]:
    """Return each draw with its instruments, the same columns of all: those that the first draw does not explain."""
    pairs = []
    for network in networks:
        once = network.weights @ covariates
        pairs.append((network, np.column_stack([network.played, once, network.weights @ once])))
    check_instruments(instruments_of(networks[0].weights, covariates, networks[0].played))
    return pairs


def _searched(objective: Callable[[float], float], bound: float) -> float:
    """Return the φ of least objective: on a grid, then between the neighbours of its best point."""
    grid = np.linspace(-0.95, 0.95, 11) * bound
    values = [objective(float(phi)) for phi in grid]
    best = int(np.argmin(values))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(optimize.minimize_scalar(objective, bounds=ends, method="bounded", options={"xatol": 1e-7}).x)


def _with_covariance(
    form: ReducedForm,
    means: ReducedForm,
    K: Array,
    weight: Array,
    phi: float,
    coefficients: Array,
    target: Array,
    observed: Array,
    errors: str,
    groups: Array | None,
) -> Estimate:
    """Return the estimates with the covariance of two-step GMM."""
    point = means.at(phi, coefficients)
    residuals = (target - point.mean)[observed]
    # K depends on φ as well, but its derivative meets residuals whose moments are zero.
    slope = K.T @ point.jacobian
    bread = np.linalg.pinv(slope.T @ weight @ slope)
    spread = meat(K[observed], residuals, errors, None if groups is None else groups[observed])
    turned = bread @ slope.T @ weight
    draws = form.means(phi, coefficients) @ K
    uncertain = (1.0 + 1.0 / len(means.networks)) * np.atleast_2d(np.cov(draws.T))
    between = turned @ uncertain @ turned.T
    parameters = np.concatenate([[phi], coefficients])
    return Estimate(parameters, turned @ spread @ turned.T + between, point.mean, between=between)
