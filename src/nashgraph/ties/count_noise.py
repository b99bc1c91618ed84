r"""How far counted answers bind: forgetting, miscounting, and how much people differ beyond chance.

A respondent counts y = ρ Tᵀa + noise: of the ties a, a share ρ is recalled, and a tie that is forgotten is missing from
all of its counts. In ties, a = y / ρ has the error covariance

    V = (1 − ρ) / ρ · Tᵀ diag(q) T + v / ρ² · I,

with the probabilities q of ties. Tastes e ~ N(0, Σ) add e · T_j to the log-odds, so before they answer, people's counts
vary by C Σ C around C = Tᵀ diag(p (1 − p)) T, the variance of independent ties. In the linear model

    E[e + tilt of the ties | y] = (C + V_eff)⁻¹ (a − E₀),     V_eff = V (I + Σ C)⁻¹:

the more people differ, the less an answer is shrunk to what covariates expect. Σ is estimated from all answers by EM.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..validation import Array

MISSING = 1e8  # variance of an answer that was not asked


class Spread(NamedTuple):
    """The covariance Σ of tastes, and the error covariance of each respondent that the tilts use."""

    tastes: Array
    noise: Array


def forgetting(expected_products: Array, recall: float, variance: Array) -> Array:
    """Return V for every respondent: ``expected_products`` are Tᵀ diag(q) T, ``variance`` other errors by answer."""
    noise = (1.0 - recall) / recall * expected_products
    place = np.arange(variance.shape[1])
    noise[:, place, place] += variance
    return noise


def effective_noise(residuals: Array, ties: Array, noise: Array, rounds: int = 60) -> Spread:
    """Return Σ by EM over respondents, and V_eff.

    ``residuals`` are answers less their expectation (NaN: not asked), ``ties`` is C. With the answers that were asked
    the model is a − E₀ ~ N(0, C + C Σ C + V). The start is a small Σ, from which EM only grows as far as answers ask.
    """
    n_respondents, n_answers = residuals.shape
    asked = ~np.isnan(residuals)
    rest = np.where(asked, residuals, 0.0)
    total = ties + noise
    place = np.arange(n_answers)
    total[:, place, place] += np.where(asked, 0.0, MISSING)
    tastes = 0.3 * np.eye(n_answers)
    # Given e, an answer is C e with covariance C + V; information about e is C (C + V)⁻¹ C.
    weighted = np.linalg.solve(total, ties)
    information = np.einsum("nab,nbc->nac", ties, weighted)
    score = np.einsum("nab,na->nb", weighted, rest)
    for _ in range(rounds):
        precision = information + np.linalg.inv(tastes)
        covariance = np.linalg.inv(precision)
        mean = np.einsum("nab,nb->na", covariance, score)
        tastes = (mean.T @ mean + covariance.sum(axis=0)) / n_respondents + 1e-6 * np.eye(n_answers)
    shrunk = np.linalg.inv(np.eye(n_answers) + tastes @ ties)
    effective = np.einsum("nab,nbc->nac", noise, shrunk)
    return Spread(tastes, 0.5 * (effective + effective.transpose(0, 2, 1)))
