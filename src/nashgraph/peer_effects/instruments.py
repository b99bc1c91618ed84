r"""Two-stage least squares, and tests of what a fit assumes (Bramoullé, Djebbari and Fortin 2009).

.. math:: y = \phi W y + Z b + \varepsilon, \qquad E[H^\top \varepsilon] = 0, \qquad
          \hat\theta = (\hat R^\top R)^{-1} \hat R^\top y, \quad R = [W y, Z], \; \hat R = P_H R

The instruments H are Z and what friends (WX) and their friends (W²X) are like, as far as Z does not have it already.
They are valid if the network is exogenous and, for WX, if friends' covariates have no effect of their own.

- first stage: the F statistic of the instruments beyond Z in the regression of Wy on H, robust; below 10 they are weak;
- overidentification: Hansen's J, which is chi-squared if all instruments are valid;
- Moran: :math:`I = e^\top W e / \sqrt{\hat\sigma^4\, \mathrm{tr}(W W + W^\top W)}`, normal if errors are not
  correlated along ties (Kelejian and Prucha 2001).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ..validation import Array
from .data import dependent_terms
from .least_squares import meat
from .reduced_form import Estimate, NotIdentifiedError, Statistic


def instruments_of(weights: Any, columns: Array, included: Array) -> Array:
    """Return the instruments beyond the included columns: W X and W² X without what these explain already."""
    once = weights @ columns
    candidates = np.column_stack([once, weights @ once])
    both = np.column_stack([included, candidates])
    names = [*range(both.shape[1])]
    dependent = {*dependent_terms(both, map(str, names), 1e-8)}
    new = [place for place in names[included.shape[1] :] if str(place) not in dependent]
    return both[:, new]


def check_instruments(excluded: Array) -> None:
    """Refuse to tell a peer effect by nothing, or by the covariance of errors alone."""
    if not excluded.shape[1]:
        raise NotIdentifiedError(
            "the peer effect is not identified: what friends and their friends are like is a combination of what "
            "people are like themselves, as without covariates, in complete groups of one size or in an empty network; "
            "add a covariate, or a network with open triangles"
        )


def two_stage(
    weights: Any, actions: Array, included: Array, excluded: Array, errors: str, groups: Array | None
) -> Estimate:
    """Return the estimate by two-stage least squares, and its tests."""
    regressors = np.column_stack([weights @ actions, included])
    instruments = np.column_stack([included, excluded])
    # The projection on the instruments, without their N x N matrix.
    basis = np.linalg.qr(instruments)[0]
    fitted = basis @ (basis.T @ regressors)
    parameters = np.linalg.lstsq(fitted, actions, rcond=None)[0]
    # With the regressors themselves and not with what the first stage made of them.
    residuals = actions - regressors @ parameters
    bread = np.linalg.pinv(fitted.T @ fitted)
    spread = bread @ meat(fitted, residuals, errors, groups) @ bread
    tested = overidentification(basis, residuals, regressors.shape[1])
    return Estimate(parameters, spread, actions - residuals, overidentification=tested)


def first_stage(heard: Array, included: Array, excluded: Array) -> Statistic:
    """Return the robust F test that the instruments beyond the included columns have no effect on what is heard."""
    columns = np.column_stack([included, excluded])
    n, p = columns.shape
    q = excluded.shape[1]
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    bread = np.linalg.pinv(scaled.T @ scaled)
    slopes = bread @ (scaled.T @ heard)
    residuals = heard - scaled @ slopes
    spread = (bread @ meat(scaled, residuals, "robust", None) @ bread)[p - q :, p - q :]
    statistic = float(slopes[p - q :] @ np.linalg.pinv(spread) @ slopes[p - q :]) / q
    return Statistic(statistic, q, float(stats.f.sf(statistic, q, max(n - p, 1))))


def overidentification(basis: Array, residuals: Array, n_parameters: int) -> Statistic | None:
    """Return Hansen's J test of the instruments; None if there are just as many as parameters."""
    freedom = basis.shape[1] - n_parameters
    if freedom <= 0:
        return None
    scores = basis * residuals[:, None]
    total = scores.sum(axis=0)
    # The optimal weights are those of the estimate's own residuals: one step of efficient GMM is asymptotically equal.
    statistic = float(total @ np.linalg.pinv(scores.T @ scores) @ total)
    return Statistic(statistic, freedom, float(stats.chi2.sf(statistic, freedom)))


def moran(weights: Any, residuals: Array) -> Statistic | None:
    """Return the test that residuals are not correlated along ties; None in an empty network."""
    n = len(residuals)
    transposed = weights.T
    trace = float((weights.multiply(transposed)).sum() + (weights.multiply(weights)).sum())
    if trace <= 0.0:
        return None
    variance = float(residuals @ residuals) / n
    statistic = float(residuals @ (weights @ residuals)) / (variance * np.sqrt(trace))
    return Statistic(statistic, 1, float(2.0 * stats.norm.sf(abs(statistic))))
