r"""From the number of neighbours a user wants to the beta that gives it, and ladders of degrees.

With the costs of row i sorted, row i of the Smooth-GL graph has exactly k neighbours iff
:math:`S_{ik} < 2\beta c \le S_{i,k+1}` with :math:`S_{ik} = \sum_{j \le k} (d_{(k)} - d_{(j)})`, so the mean number of
neighbours at a *level* :math:`2\beta c` is the number of pairs (i, k) with :math:`S_{ik}` below it, over N (fact 5 of
docs/mathematics.md).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..pairs import Bonus, PairSearch
from ..pairs._kernels import ladder_rows
from ..validation import Array, InputError, warn


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
    n = len(search)
    kept = min(n - 1, int(2 * degree) + 8)
    while True:
        level, obtained = level_of(search, degree, kept)
        if np.isfinite(level):
            break
        kept = min(n - 1, 2 * kept)
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
    return level / (2.0 * c)


def level_of(search: PairSearch, degree: float, kept: int) -> tuple[float, float]:
    """Return the level at which nodes have a degree on average, from their ``kept`` nearest, and the degree it gives.

    Where a few nodes run out of nearest below the level, all of their pairs are looked at: the level only falls by what
    those add, so the other nodes need no more. Where many do, the level is infinite.
    """
    # An array, or a tensor where the engine keeps its candidates: what follows asks only what both can do.
    n = len(search)
    nearest = search.nearest_costs(kept)
    costs = neighbour_costs(farther_than_first(nearest))
    pooled = costs.ravel()
    level = levels_of(pooled, n, [degree])[0]
    short = np.flatnonzero(in_memory(costs[:, -1] < level)) if kept < n - 1 else np.arange(0)
    # Beyond a thousandth of the rows another scan is cheaper.
    if level > 0.0 and 0 < len(short) <= max(1.0, 1e-3 * n):
        rows = search.rows(short)
        rows[np.arange(len(short)), short] = np.inf
        pooled = np.concatenate([in_memory(pooled), *(costs_below(level, row)[kept:] for row in rows)])
        level = levels_of(pooled, n, [degree])[0]
        short = short[:0]
    if len(short) or (level == 0.0 and kept < n - 1):
        return np.inf, np.nan
    level = level or float(nearest.mean())
    return level, float((pooled < level).sum()) / n


def in_memory(values: Any) -> Array:
    """Return an array, or a tensor from wherever it is, as an array."""
    found: Array = np.asarray(values.cpu() if hasattr(values, "cpu") else values)
    return found


def costs_below(level: float, costs: Array) -> Array:
    r"""Return the :math:`S_{ik}` of a row up to a level, from all of its costs: those are at most so much farther."""
    near = np.sort(costs[costs <= costs.min() + level])[None]
    return neighbour_costs(farther_than_first(near))[0]


def farther_than_first(nearest: Array) -> Array:
    """Return how much farther than its nearest each of a node's nearest is; what is within rounding of 0 is 0."""
    farther: Array = nearest - nearest[:, :1]
    farther *= farther > 2.0**-30 * abs(nearest)  # costs are rounded to 32 bits: ties differ by one bit at most
    return farther


def neighbour_costs(farther: Array) -> Array:
    r"""Return :math:`S_{ik}`, which a row constant leaves as it is, from the sorted costs of the nearest."""
    ranks = (0.0 * farther[:1] + 1.0).cumsum(1)
    found: Array = (ranks * farther - farther.cumsum(1)).clip(min=0.0)
    return found


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
    pooled = np.partition(costs, places) if isinstance(costs, np.ndarray) else costs.sort().values

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
        return 0.5 * (above + float(higher.min())) if len(higher) else 2.0 * above

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
    nearest, labels = search.nearest(kept)
    farther = farther_than_first(nearest)
    costs = neighbour_costs(farther)
    anything = float(nearest.mean()) or 1.0  # where all are equally near, any level makes the same graph
    found = levels_of(costs.ravel(), len(costs), degrees)
    levels = np.array([level or anything for level in found], dtype=nearest.dtype)
    return _added_up(labels, farther, costs, levels, c)


def response_ladder(search: PairSearch, betas: Array, c: float, kept: int, left: Array, right: Array) -> Ladder:
    """Return the mean of the row best responses to the bonus ``left_i * right_j`` at several betas, from one scan."""
    nearest, labels = search.nearest(kept, Bonus.of(left, right))
    farther = farther_than_first(nearest)
    return _added_up(labels, farther, neighbour_costs(farther), 2.0 * c * betas, c)


def _added_up(labels: Array, farther: Array, costs: Array, levels: Array, c: float) -> Ladder:
    weights = np.zeros_like(farther)
    shares = np.zeros_like(farther)
    ladder_rows(farther, costs, levels, c / len(levels), 1.0 / len(levels), weights, shares)
    return Ladder(labels, weights, shares, levels / (2.0 * c))
