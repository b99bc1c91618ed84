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
from .levels import SAME, farther_than_first, levels_of, neighbour_costs
from .passes import Bonus
from .points import Points


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
        level, obtained, enough = points.level(degree, kept)
        if enough:
            break
        kept = min(n - 1, 2 * kept)
    if level == 0:
        raise InputError(
            "degree cannot set beta: every node has the same signals, so all distances are zero; check X, or pass beta"
        )
    if abs(obtained - degree) > 0.05 * degree:
        warn(
            f"degree={degree:g} cannot be met because many distances are tied (nodes with equal signals): the nearest "
            f"that can is {obtained:.3g} neighbours on average; pass beta to choose yourself"
        )
    return level / (2.0 * c)


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
