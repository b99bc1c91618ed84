"""The marginal benefits b: the user's main modelling choice, because the prior depends on nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..pairs import PairSearch, make_search
from ..validation import Array, check_benefit, check_choice, check_observed, warn_vacuous_benefit


def marginal_benefit(benefit: object, points: PairSearch) -> tuple[Array, str]:
    """Return b, which sums to 1, and where it came from: "spectral", "uniform" (then with a warning) or "given"."""
    n = len(points)
    if isinstance(benefit, str):
        origin = check_choice(
            "benefit", benefit, ("spectral", "uniform"), ", or pass an array with one number per node"
        )
        if origin == "spectral":
            values = spectral_benefit(points)
        else:
            values = np.full(n, 1.0 / n)
    else:
        origin = "given"
        values = check_benefit(benefit, n, normalize=True)
    if np.ptp(values) <= 1e-12 * values.max():
        origin = "uniform"
        warn_vacuous_benefit()
    return values, origin


def spectral_benefit(X: Array | PairSearch) -> Array:
    """Return the paper's benefit: the positive part of the distance matrix's top eigenvector, scaled to sum 1.

    Nodes far from the others get more. For signals whose hubs vary least (a Gaussian Markov random field with the
    Laplacian as precision) it points away from the hubs, and the prior then cannot help. If X has NaN, distances are
    those of ``missing="pairwise"``.

    Examples
    --------
    >>> import numpy as np
    >>> spectral_benefit(np.array([[0.0, 0.0, 1.0]])).round(3)
    array([0.293, 0.293, 0.414])
    """
    if hasattr(X, "top_eigenvector"):
        points: Any = X
    else:
        signals = np.asarray(X, dtype=float)
        check_observed(signals, np.arange(signals.shape[1]))
        points = make_search(signals)
    if not points.geometry.norms.any():
        return np.full(len(points), 1.0 / len(points))
    top: Array = points.top_eigenvector()
    positive = np.maximum(-top if top.sum() < 0 else top, 0.0)
    return positive / positive.sum()
