r"""From the number of neighbours a user wants to the beta that gives it, and ladders of degrees.

With the costs of row i sorted, row i of the Smooth-GL graph has exactly k neighbours iff
:math:`S_{ik} < 2\beta c \le S_{i,k+1}` with :math:`S_{ik} = \sum_{j \le k} (d_{(k)} - d_{(j)})`, so the mean number of
neighbours at a *level* :math:`2\beta c` is the number of pairs (i, k) with :math:`S_{ik}` below it, over N (fact 5 of
docs/mathematics.md).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..pairs import Bonus, PairSearch
from ..pairs._costs import without_rounding
from ..pairs._kernels import ladder_rows
from ..validation import Array, InputError, warn


class Scale(NamedTuple):
    """The beta that gives a degree, and what was found on the way: the nearest of each node, costs and labels."""

    beta: float
    nearest: tuple[Any, Any]


def beta_for_degree(search: PairSearch, degree: float, c: float) -> float:
    r"""Return the beta at which the Smooth-GL graph of the points has ``degree`` neighbours per node on average.

    The level wanted lies between the two middle values of the pooled :math:`S_{ik}` of that rank: the degree is met to
    1/N where costs are not tied. Where they are, the degree is the nearest that any beta reaches, and a warning says
    which; where all nodes are alike, any beta makes the same graph.

    Only the nearest few of a row matter; their number doubles until hardly a row runs out of them, and the rows that do
    are looked at whole. A scan costs O(N^2 M) time and O(N (degree + M)) memory, no N x N array.

    Examples
    --------
    >>> from nashgraph.pairs import make_search
    >>> from nashgraph.smoothness import make_smoothness
    >>> search = make_search(np.random.default_rng(0).normal(size=(20, 100)))
    >>> beta = beta_for_degree(search, degree=7, c=0.95)
    >>> int((make_smoothness(search, beta, c=0.95).smooth.matrix() > 0).sum()) / 100
    7.0
    """
    return scale_for_degree(search, degree, c).beta


def scale_for_degree(search: PairSearch, degree: float, c: float) -> Scale:
    """Return what :func:`beta_for_degree` does, with the nearest of each node."""
    n = len(search)
    count = min(n - 1, int(2 * degree) + 8)
    while True:
        nearest = search.nearest(count)
        level, obtained = level_of(search, degree, nearest[0])
        if np.isfinite(level):
            break
        count = min(n - 1, 2 * count)
    if level == 0:
        raise InputError(
            "degree cannot set beta: every node has the same signals, so all distances are zero; check the signals, or "
            "give beta"
        )
    if abs(obtained - degree) > 0.05 * degree:
        warn(
            f"the degree {degree:g} cannot be met because many distances are tied (nodes with equal signals): the "
            f"nearest that can is {obtained:.3g} neighbours on average; give beta to choose yourself"
        )
    return Scale(level / (2.0 * c), nearest)


def level_of(search: PairSearch, degree: float, nearest: Any) -> tuple[float, float]:
    """Return the level at which nodes have a degree on average, from the costs of their nearest, and the degree.

    Where a few nodes run out of nearest below the level, all of their pairs are looked at: the level only falls by what
    those add, so the other nodes need no more. Where many do, the level is infinite.
    """
    n = len(search)
    count = nearest.shape[1]
    costs = neighbour_costs(farther_than_first(nearest))
    pooled = costs.ravel()
    level = levels_of(pooled, n, [degree])[0]
    short = np.arange(0)
    if count < n - 1:
        short = np.flatnonzero(np.asarray(costs[:, -1] < level))
    # Beyond a thousandth of the rows another scan is cheaper.
    if level > 0.0 and 0 < len(short) <= max(1.0, 1e-3 * n):
        first = np.asarray(nearest[:, 0])[short]
        pooled = np.concatenate([np.asarray(pooled), *costs_below(level, search, short, first, count)])
        level = levels_of(pooled, n, [degree])[0]
        short = short[:0]
    if len(short) or (level == 0.0 and count < n - 1):
        return np.inf, np.nan
    level = level or float(nearest.mean())
    return level, float((pooled < level).sum()) / n


def costs_below(level: float, search: PairSearch, nodes: Array, first: Array, count: int) -> list[Array]:
    r"""Return the :math:`S_{ik}` of some rows up to a level, beyond the ``count`` nearest that are known.

    Others can be at most so much farther than the ``first`` of a row.
    """
    cut = np.zeros(len(search))
    cut[nodes] = -(1.0 + 1e-9) * (first + level)
    nothing = Bonus.none(len(search))
    pairs, _ = search.above(cut, nothing, gain=1.0, total=1.0, margin=np.inf, nodes=nodes)
    ends = pairs.indptr
    costs = without_rounding(pairs.data)
    beyond = []
    for begin, end in pairwise(ends):
        near = np.sort(costs[begin:end])[None]
        beyond.append(neighbour_costs(farther_than_first(near))[0, count:])
    return beyond


def farther_than_first(nearest: Array) -> Array:
    """Return how much farther than its nearest each of a node's nearest is; what is within rounding of 0 is 0."""
    farther: Array = nearest - nearest[:, :1]
    farther *= farther > 2.0**-30 * abs(nearest)  # costs are rounded to 32 bits: ties differ by one bit at most
    return farther


def neighbour_costs(farther: Array) -> Array:
    r"""Return :math:`S_{ik}`, which a row constant leaves as it is, from the sorted costs of the nearest."""
    ranks = (0.0 * farther[:1] + 1.0).cumsum(1)
    costs: Array = (ranks * farther - farther.cumsum(1)).clip(min=0.0)
    return costs


def levels_of(costs: Array, n: int, degrees: Array | list[float]) -> list[float]:
    """Return the levels at which n nodes have some degrees on average, or as nearly as ties allow, by one partition.

    Where a degree falls into a run of equal costs, those neighbours are taken together or left out together, whichever
    comes nearer to it. Zero where all costs are zero: any level above it makes everybody a neighbour.
    """
    # relative differences below are ties: costs are rounded to 32 bits
    size = len(costs)
    same = 1e-7
    wanted = np.minimum(np.round(np.asarray(degrees) * n).astype(int), size)
    places = np.unique([wanted - 1, np.minimum(wanted, size - 1)])
    pooled = np.partition(costs, places)

    def level(rank: int) -> float:
        if rank == size:
            return 2.0 * float(pooled[-1])
        below = float(pooled[rank - 1])
        above = float(pooled[rank])
        if above - below > same * above:
            return 0.5 * (below + above)
        higher = costs[costs > (1.0 + same) * above]
        lower = (1.0 - same) * above
        fewer = int((costs < lower).sum())
        more = size - len(higher)
        if fewer >= n and rank - fewer < more - rank:
            return lower
        if len(higher):
            return 0.5 * (above + float(higher.min()))
        return 2.0 * above

    return [level(int(rank)) for rank in wanted]


class Ladder(NamedTuple):
    """Smooth-GL graphs of several degrees, added up: for each node its nearest others."""

    labels: Array  # who they are, of shape (n_nodes, kept)
    weights: Array  # the mean weight over the graphs
    shares: Array  # the share of the graphs that have the edge
    betas: Array  # those of the degrees


def smooth_ladder(search: PairSearch, degrees: Array, c: float, kept: int) -> Ladder:
    """Return the mean of the Smooth-GL graphs of some degrees, from one scan of all pairs.

    The sorted nearest of a row give its weights at any beta in closed form. Only the ``kept`` nearest of a node may be
    its neighbours: with fewer than all, the graphs of the largest degrees are those of that smaller problem, and lie
    in S all the same. O(N^2 M) time and O(N kept) memory.
    """
    nearest, labels = (np.asarray(part) for part in search.nearest(kept))
    farther = farther_than_first(nearest)
    costs = neighbour_costs(farther)
    anything = float(nearest.mean()) or 1.0  # where all are equally near, any level makes the same graph
    levels = np.array(levels_of(costs.ravel(), len(costs), degrees), dtype=nearest.dtype)
    levels[levels == 0.0] = anything
    return _added_up(labels, farther, costs, levels, c)


def response_ladder(search: PairSearch, betas: Array, c: float, kept: int, left: Array, right: Array) -> Ladder:
    """Return the mean of the row best responses to the bonus ``left_i * right_j`` at several betas, from one scan."""
    nearest, labels = (np.asarray(part) for part in search.nearest(kept, Bonus.of(left, right)))
    farther = farther_than_first(nearest)
    return _added_up(labels, farther, neighbour_costs(farther), 2.0 * c * betas, c)


def _added_up(labels: Array, farther: Array, costs: Array, levels: Array, c: float) -> Ladder:
    weights = np.zeros_like(farther)
    shares = np.zeros_like(farther)
    ladder_rows(farther, costs, levels, c / len(levels), 1.0 / len(levels), weights, shares)
    return Ladder(labels, weights, shares, levels / (2.0 * c))
