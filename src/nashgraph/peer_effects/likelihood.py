r"""Quasi-maximum likelihood of the linear game (Lee 2004), also with actions that cannot be below zero.

.. math:: \max_{\phi, b, \sigma} \; \log\det(I - \phi W) - \tfrac n2 \log(2 \pi \sigma^2)
          - \tfrac1{2\sigma^2} \|y - \phi W y - Z b\|^2

Given φ the coefficients are those of least squares, so one number is searched. The determinant comes from the
eigenvalues of W, one connected component after the other. Optimality: the derivative of the concentrated likelihood
changes its sign; φ is found to 1e-10. The covariance is Lee's sandwich, which holds for errors that are not normal:
:math:`I^{-1} + I^{-1} \Omega I^{-1}` with the information I and what third and fourth moments add, Ω.

Censored (the paper's :math:`y = \max(0, \phi W y + Z b + \varepsilon)`, Xu and Lee 2015): with P the people who act,

.. math:: \log\det(I - \phi W_{PP}) + \sum_{i \in P} \log \tfrac1\sigma \varphi(\varepsilon_i / \sigma)
          + \sum_{i \notin P} \log \Phi(-(\phi W y + Z b)_i / \sigma) ,

maximised over all parameters by Newton's method from least squares; the covariance is the inverse of the observed
information.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, sparse, stats

from ..validation import Array, InputError
from .reduced_form import Estimate, dense_blocks


def component_eigenvalues(weights: Any, most: int = 3000) -> Array:
    """Return all eigenvalues of a network, by connected components of at most ``most`` people."""
    blocks = dense_blocks(weights, most)
    if blocks is None:
        raise InputError(
            f"a connected part of the network has more than {most:,} people: the likelihood needs all eigenvalues of "
            "its weights, which takes too long; use method='nls' or '2sls'"
        )
    return np.concatenate([np.linalg.eigvals(block) for _, block in blocks])


def log_determinant(phi: float, eigenvalues: Array) -> float:
    """Return log det(I - φW)."""
    return float(np.log(np.abs(1.0 - phi * eigenvalues)).sum())


def quasi_likelihood(weights: Any, actions: Array, columns: Array) -> Estimate:
    """Return the estimate by quasi-maximum likelihood."""
    n = len(actions)
    eigenvalues = component_eigenvalues(weights)
    heard = weights @ actions
    basis = np.linalg.qr(columns)[0]
    unexplained = actions - basis @ (basis.T @ actions)
    others = heard - basis @ (basis.T @ heard)

    def negative(phi: float) -> float:
        residuals = unexplained - phi * others
        return 0.5 * n * np.log(float(residuals @ residuals) / n) - log_determinant(phi, eigenvalues)

    # Between the inverses of the extreme real eigenvalues the determinant has no zero.
    real = eigenvalues[np.abs(eigenvalues.imag) < 1e-9].real
    low = 1.0 / real.min(initial=-1e-6)
    high = 1.0 / real.max(initial=1e-6)
    grid = np.linspace(max(low, -50.0 * high) * 0.999, high * 0.999, 41)
    best = int(np.argmin([negative(phi) for phi in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, 40)]
    phi = float(optimize.minimize_scalar(negative, bounds=ends, method="bounded", options={"xatol": 1e-10}).x)
    coefficients = np.linalg.lstsq(columns, actions - phi * heard, rcond=None)[0]
    residuals = actions - phi * heard - columns @ coefficients
    variance = float(residuals @ residuals) / n
    spread = _lee_covariance(weights, columns, phi, coefficients, residuals, variance)
    value = log_determinant(phi, eigenvalues) - 0.5 * n * (np.log(2.0 * np.pi * variance) + 1.0)
    return Estimate(np.concatenate([[phi], coefficients]), spread, actions - residuals, value)


def _lee_covariance(
    weights: Any, columns: Array, phi: float, coefficients: Array, residuals: Array, variance: float
) -> Array:
    """Return Lee's covariance of (φ, b), from G = W (I - φW)⁻¹ component by component."""
    n, k = columns.shape
    mean = columns @ coefficients
    diagonal = np.zeros(n)
    played = np.zeros(n)
    squares = 0.0
    for people, block in dense_blocks(weights, n) or []:
        G = block @ np.linalg.inv(np.eye(len(people)) - phi * block)
        diagonal[people] = np.diag(G)
        played[people] = G @ mean[people]
        squares += float(np.sum(G * G.T) + np.sum(G * G))
    # Each person's part of the score of φ, b and σ² is linear in the error, plus what is quadratic in it.
    linear = np.column_stack([played, columns, np.zeros(n)]) / variance
    quadratic = np.column_stack([diagonal / variance, np.zeros((n, k)), np.full(n, 0.5 / variance**2)])
    information = variance * (linear.T @ linear)
    information[0, 0] += squares
    information[0, -1] = information[-1, 0] = diagonal.sum() / variance
    information[-1, -1] = n / (2.0 * variance**2)
    third = float(np.mean(residuals**3))
    excess = float(np.mean(residuals**4)) - 3.0 * variance**2
    omega = third * (linear.T @ quadratic + quadratic.T @ linear) + excess * (quadratic.T @ quadratic)
    inverse = np.linalg.pinv(information)
    return (inverse + inverse @ omega @ inverse)[: k + 1, : k + 1]


def censored_likelihood(weights: Any, actions: Array, columns: Array) -> Estimate:
    """Return the estimate of the game whose actions cannot be below zero."""
    if (actions < 0).any():
        raise InputError("censored=True is for actions that cannot be below zero, and some are")
    # Who acts is observed, so the determinant is that of one fixed block, whatever the peer effect.
    acting = actions > 0
    if acting.sum() <= columns.shape[1] + 2:
        raise InputError(f"only {int(acting.sum())} people act: too few for {columns.shape[1]} terms")
    eigenvalues = component_eigenvalues(sparse.csr_array(weights[acting][:, acting]))
    heard = weights @ actions
    regressors = np.column_stack([heard, columns])

    # Olsen's parameters θ/σ and 1/σ make all terms but the determinant concave.
    def negative(point: Array) -> float:
        scaled = point[:-1]
        precision = float(np.exp(point[-1]))
        index = regressors @ scaled
        value = log_determinant(scaled[0] / precision, eigenvalues)
        value += float(stats.norm.logpdf(precision * actions[acting] - index[acting]).sum())
        value += float(acting.sum()) * point[-1] + float(stats.norm.logcdf(-index[~acting]).sum())
        return -value if np.isfinite(value) else np.inf

    first = np.linalg.lstsq(regressors, actions, rcond=None)[0]
    first[0] = np.clip(first[0], -0.5, 0.5)
    spread = float(np.std(actions - regressors @ first)) or 1.0
    start = np.concatenate([first / spread, [-np.log(spread)]])
    result = optimize.minimize(negative, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    precision = float(np.exp(result.x[-1]))
    parameters = result.x[:-1] / precision
    sigma = 1.0 / precision

    def by_parameters(values: Array) -> float:
        return negative(np.concatenate([values[:-1] / np.exp(values[-1]), [-values[-1]]]))

    information = hessian(by_parameters, np.concatenate([parameters, [np.log(sigma)]]))
    covariance = np.linalg.pinv(information)[:-1, :-1]
    return Estimate(parameters, covariance, np.maximum(regressors @ parameters, 0.0), -float(result.fun))


def hessian(function: Any, point: Array, step: float = 1e-4) -> Array:
    """Return second derivatives by central differences, with steps relative to each parameter's size."""
    p = len(point)
    steps = step * np.maximum(np.abs(point), 0.1)
    second = np.zeros((p, p))
    for i in range(p):
        for j in range(i, p):
            total = 0.0
            for one, other in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                shift = np.zeros(p)
                shift[i] += one * steps[i]
                shift[j] += other * steps[j]
                total += one * other * function(point + shift)
            second[i, j] = second[j, i] = total / (4.0 * steps[i] * steps[j])
    return second
