r"""How far counted answers bind where ties are forgotten.

A respondent counts y = Tᵀa over the ties a that are recalled, a share ρ of all. A tie that is forgotten is missing from
all of the respondent's counts at once, so the errors of the counts are correlated. In ties, y / ρ has the covariance

    V = (1 − ρ) / ρ · Tᵀ diag(p) T + diag(v),

with the probabilities p of ties before the answers, and variances v of other errors. With V whole, telling the true
recall gains precision; with its diagonal alone, or without it, it loses.
"""

from __future__ import annotations

import numpy as np

from ..validation import Array
from .pair_sums import Factors, ties_by_product

# Share of V that tilts are shrunk by. People differ more than independent ties would have them, and with tastes of
# covariance Σ the linear model has V (I + Σ C)⁻¹, C the variance of independent ties. Half of V was best at a recall
# of 0.3, 0.4 and 0.7 (6 villages up to 37; a quarter was as good, all of it worse by 0.01 in average precision).
BINDING = 0.5


def error_covariances(
    low_rank: Factors, features: Array, rows: Array, variances: Array, recall: Array, binding: float = BINDING
) -> Array:
    """Return the error covariance of the answers of each respondent in ``rows``, whose recall is ``recall``."""
    place = np.arange(variances.shape[1])
    covariances = np.zeros((len(rows), len(place), len(place)))
    forgetful = np.flatnonzero(recall < 1.0)
    if len(forgetful):
        products = ties_by_product(low_rank, features, rows[forgetful])
        share = binding * (1.0 - recall[forgetful]) / recall[forgetful]
        covariances[forgetful] = share[:, None, None] * products
    covariances[:, place, place] += variances
    return covariances
