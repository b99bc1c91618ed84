"""From the number of neighbours a user wants to the beta that gives it (fact 5 of the design)."""

from __future__ import annotations

import numpy as np

from ..validation import Array, InputError, warn
from .points import Points


def beta_for_degree(points: Points, degree: float, c: float) -> float:
    r"""Return the beta at which the Smooth-GL graph of the points has ``degree`` neighbours per node on average.

    With the distances of row i sorted, row i has exactly k neighbours iff
    :math:`S_{ik} < 2\beta c \le S_{i,k+1}` with :math:`S_{ik} = \sum_{j \le k} (d_{(k)} - d_{(j)})`, so the mean
    number of neighbours at beta is the number of pairs (i, k) with :math:`S_{ik} < 2\beta c`, over N. The beta
    wanted puts :math:`2\beta c` between the two middle values of the pooled :math:`S_{ik}` of that rank: the
    degree is met to 1/N where distances are not tied, and as nearly as ties allow (with a warning) where they are.

    Only the nearest few distances of a row matter; their number doubles until no row runs out of them. Rows come
    in blocks of BLAS products: O(N^2 M) time, O(N (degree + M)) memory, no N x N array.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.couplings import DenseSmoothness, points_of
    >>> points = points_of(np.random.default_rng(0).normal(size=(20, 100)))
    >>> beta = beta_for_degree(points, degree=7, c=0.95)
    >>> int((DenseSmoothness(points, beta, c=0.95).smooth.weights > 0).sum()) / 100
    7.0
    """
    n = len(points)
    wanted = round(degree * n)
    kept = min(n - 1, int(2 * degree) + 8)
    while True:
        costs = _nearest_costs(points, kept)
        if wanted >= costs.size:
            return _level_for_all(costs, points) / (2.0 * c)
        pooled = np.partition(costs, [wanted - 1, wanted], axis=None)
        level = 0.5 * float(pooled[wanted - 1] + pooled[wanted])
        if kept == n - 1 or (costs[:, -1] >= level).all():
            break
        kept = min(n - 1, 2 * kept)
    if level == 0:
        level = _level_among_ties(costs)
    obtained = float((costs < level).sum()) / n
    if abs(obtained - degree) > 0.05 * degree:
        warn(
            f"degree={degree:g} cannot be met because many distances are tied (nodes with equal signals): beta gives "
            f"{obtained:.3g} neighbours on average; pass beta to choose yourself"
        )
    return level / (2.0 * c)


def _nearest_costs(points: Points, kept: int) -> Array:
    r"""Return :math:`S_{ik}` for the ``kept`` nearest of each node, from their sorted distances."""
    nearest, _ = points.nearest(kept)
    costs = np.arange(1, kept + 1) * nearest - np.cumsum(nearest, axis=1)
    return np.maximum(costs, 0.0, out=costs)


def _level_for_all(costs: Array, points: Points) -> float:
    """Return a level at which everybody is a neighbour of everybody.

    Twice the largest cost does; where all costs are zero (two nodes, or equal distances) any level does, and the
    typical squared distance from the mean is one of the right size.
    """
    level = 2.0 * float(costs.max()) or 2.0 * float(points.norms.mean())
    return level or _level_among_ties(costs)


def _level_among_ties(costs: Array) -> float:
    """Return the smallest cost above zero, for when more than ``degree`` neighbours are tied at cost zero."""
    positive = costs[costs > 0]
    if positive.size == 0:
        raise InputError(
            "degree cannot set beta: every node has the same signals, so all distances are zero; check X, or pass beta"
        )
    return float(positive.min())
