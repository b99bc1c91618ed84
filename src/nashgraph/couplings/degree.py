r"""From the number of neighbours a user wants to the beta that gives it (fact 5 of the design), and ladders of them.

With the costs of row i sorted, row i of the Smooth-GL graph has exactly k neighbours iff
:math:`S_{ik} < 2\beta c \le S_{i,k+1}` with :math:`S_{ik} = \sum_{j \le k} (d_{(k)} - d_{(j)})`, so the mean number of
neighbours at a *level* :math:`2\beta c` is the number of pairs (i, k) with :math:`S_{ik}` below it, over N.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..validation import Array, InputError, warn
from . import _kernels
from .passes import Bonus
from .points import Points

# Costs that differ by less, relative to themselves, are tied: a few million roundings, or a hundred of the coarse kind.
SAME = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-5}


def beta_for_degree(points: Points, degree: float, c: float) -> float:
    r"""Return the beta at which the Smooth-GL graph of the points has ``degree`` neighbours per node on average.

    The level wanted lies between the two middle values of the pooled :math:`S_{ik}` of that rank: the degree is met to
    1/N where costs are not tied. Where they are, the degree is the nearest that any beta reaches, and a warning says
    which; where all nodes are alike, any beta makes the same graph.

    Only the nearest few of a row matter; their number doubles until no row runs out of them. Rows come in blocks of
    BLAS products: O(N^2 M) time, O(N (degree + M)) memory, no N x N array.

    Examples
    --------
    >>> from nashgraph.couplings import DenseSmoothness, points_of
    >>> points = points_of(np.random.default_rng(0).normal(size=(20, 100)))
    >>> beta = beta_for_degree(points, degree=7, c=0.95)
    >>> int((DenseSmoothness(points, beta, c=0.95).smooth.weights > 0).sum()) / 100
    7.0
    """
    n = len(points)
    kept = min(n - 1, int(2 * degree) + 8)
    while True:
        nearest, _ = points.nearest(kept)
        costs = neighbour_costs(farther_than_first(nearest))
        level = levels_of(costs, np.array([degree]), SAME[points.dtype])[0]
        level = level or (float(nearest.mean()) if kept == n - 1 else np.inf)
        if kept == n - 1 or (costs[:, -1] >= level).all():
            break
        kept = min(n - 1, 2 * kept)
    if level == 0:
        raise InputError(
            "degree cannot set beta: every node has the same signals, so all distances are zero; check X, or pass beta"
        )
    obtained = float((costs < level).sum()) / n
    if abs(obtained - degree) > 0.05 * degree:
        warn(
            f"degree={degree:g} cannot be met because many distances are tied (nodes with equal signals): the nearest "
            f"that can is {obtained:.3g} neighbours on average; pass beta to choose yourself"
        )
    return level / (2.0 * c)


def farther_than_first(nearest: Array) -> Array:
    """Return how much farther than its nearest each of a node's nearest is; what is within rounding of 0 is 0."""
    farther: Array = nearest - nearest[:, :1]
    farther[farther <= 64.0 * np.finfo(nearest.dtype).eps * np.abs(nearest)] = 0.0
    return farther


def neighbour_costs(farther: Array) -> Array:
    r"""Return :math:`S_{ik}`, which a row constant leaves as it is, from the sorted costs of the nearest."""
    return np.maximum(np.arange(1, farther.shape[1] + 1) * farther - np.cumsum(farther, axis=1), 0.0)


def levels_of(costs: Array, degrees: Array, same: float) -> list[float]:
    """Return the levels at which nodes have some degrees on average, or as nearly as ties allow; one partition for all.

    Where a degree falls into a run of equal costs, those neighbours are taken together or left out together, whichever
    comes nearer to it. Zero where all costs are zero: any level above it makes everybody a neighbour.
    """
    n, wanted = len(costs), np.minimum(np.round(np.asarray(degrees) * len(costs)).astype(int), costs.size)
    places = np.unique([wanted - 1, np.minimum(wanted, costs.size - 1)])
    pooled = np.partition(costs, places, axis=None)

    def level(rank: int) -> float:
        if rank == costs.size:
            return 2.0 * float(pooled[-1])
        below, above = float(pooled[rank - 1]), float(pooled[rank])
        if above - below > same * above:
            return 0.5 * (below + above)
        higher, lower = costs[costs > (1.0 + same) * above], (1.0 - same) * above
        fewer, more = int((costs < lower).sum()), costs.size - higher.size
        if fewer >= n and rank - fewer < more - rank:
            return lower
        return 0.5 * (above + float(higher.min())) if higher.size else 2.0 * above

    return [level(int(rank)) for rank in wanted]


class Ladder(NamedTuple):
    """Smooth-GL graphs of several degrees, added up: for each node its nearest others.

    Attributes
    ----------
    labels : array of shape (n_nodes, kept), who they are
    weights : array of the same shape, the mean weight over the graphs
    shares : array of the same shape, the share of the graphs that have the edge
    betas : array, those of the degrees
    nearest : array of the same shape, the sorted costs of the nearest; None where graphs were not made of them
    """

    labels: Array
    weights: Array
    shares: Array
    betas: Array
    nearest: Array | None = None

    def rungs(self, c: float) -> Iterator[Array]:
        """Yield the weights of each graph alone, the smallest degree first; of a ladder without costs their mean."""
        if self.nearest is None:
            yield self.weights
            return
        costs = neighbour_costs(self.nearest)
        for beta in self.betas:
            weights, shares = np.zeros_like(self.nearest), np.zeros_like(self.nearest)
            _kernels.ladder_rows(
                self.nearest, costs, np.array([2.0 * beta * c], dtype=costs.dtype), c, 1.0, weights, shares
            )
            yield weights


def smooth_ladder(points: Points, degrees: Array, c: float, kept: int) -> Ladder:
    """Return the mean of the Smooth-GL graphs of some degrees, from one pass over all pairs.

    The sorted nearest of a row give its weights at any beta in closed form. Only the ``kept`` nearest of a node may be
    its neighbours: with fewer than all, the graphs of the largest degrees are those of that smaller problem, and lie
    in S all the same. O(N^2 M) time and O(N kept) memory.

    Examples
    --------
    >>> from nashgraph.couplings import points_of
    >>> points = points_of(np.random.default_rng(0).normal(size=(20, 100)))
    >>> ladder = smooth_ladder(points, np.array([2.0, 20.0]), 0.95, kept=99)
    >>> round(float(ladder.shares.sum()) / 50), bool(np.allclose(ladder.weights.sum(axis=1), 0.95))
    (22, True)
    """
    nearest, labels = points.nearest(kept)
    farther = farther_than_first(nearest)
    costs = neighbour_costs(farther)
    anything = float(nearest.mean()) or 1.0  # where all are equally near, any level makes the same graph
    found = levels_of(costs, degrees, SAME[points.dtype])
    levels = np.array([level or anything for level in found], dtype=nearest.dtype)
    return _rungs(labels, farther, costs, levels, c)


def answering_ladder(points: Points, betas: Array, c: float, kept: int, left: Array, right: Array) -> Ladder:
    """Return the mean of the row best responses to the bonus ``left_i * right_j`` at several betas, from one pass.

    Examples
    --------
    >>> from nashgraph.couplings import DenseSmoothness, points_of
    >>> points = points_of(np.random.default_rng(0).normal(size=(20, 30)))
    >>> ladder = answering_ladder(points, np.array([0.5]), 0.95, 29, np.ones(30), np.arange(30.0))
    >>> response = DenseSmoothness(points, 0.5, 0.95).respond(np.ones(30), np.arange(30.0)).weights
    >>> bool(np.allclose(np.take_along_axis(response, ladder.labels.astype(int), axis=1), ladder.weights))
    True
    """
    nearest, labels = points.nearest(kept, Bonus.of(left, right, points.dtype))
    farther = farther_than_first(nearest)
    return _rungs(labels, farther, neighbour_costs(farther), 2.0 * c * betas, c)


def _rungs(labels: Array, farther: Array, costs: Array, levels: Array, c: float) -> Ladder:
    weights, shares = np.zeros_like(farther), np.zeros_like(farther)
    _kernels.ladder_rows(farther, costs, levels, c / len(levels), 1.0 / len(levels), weights, shares)
    return Ladder(labels, weights, shares, levels / (2.0 * c), farther)
