"""The marginal benefits b: the user's main modelling choice, because the prior speaks only through them."""

from __future__ import annotations

import numpy as np

from ..couplings import distance_perron_vector
from ..validation import Array, check_benefit, check_choice, warn_vacuous_benefit

BENEFITS = ("spectral", "uniform")


def marginal_benefit(benefit: object, X: Array, *, normalize: bool) -> Array:
    """Return b, one number per node, from a name or an array; warn where it makes the prior vacuous."""
    n = X.shape[1]
    if isinstance(benefit, str):
        check_choice("benefit", benefit, BENEFITS, ", or pass an array with one number per node")
        found = spectral_benefit(X) if benefit == "spectral" else np.full(n, 1.0 / n)
    else:
        found = check_benefit(benefit, n, normalize=normalize)
    if np.ptp(found) <= 1e-12 * found.max():
        warn_vacuous_benefit()
    return found


def spectral_benefit(X: Array) -> Array:
    """Return the paper's benefit: the positive part of the distance matrix's top eigenvector, scaled to sum 1.

    Nodes far from the others get more. For signals whose hubs vary least (a Gaussian Markov random field with the
    Laplacian as precision) it points away from the hubs, and the prior then cannot help. Where X has NaN, distances are
    over the signals observed at both nodes.

    Examples
    --------
    >>> import numpy as np
    >>> spectral_benefit(np.array([[0.0, 0.0, 1.0]])).round(3)
    array([0.293, 0.293, 0.414])
    """
    if not (np.nanmax(X, axis=1) - np.nanmin(X, axis=1)).any():
        return np.full(X.shape[1], 1.0 / X.shape[1])
    positive = np.maximum(distance_perron_vector(X), 0.0)
    return positive / positive.sum()
