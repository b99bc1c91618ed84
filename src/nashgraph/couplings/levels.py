r"""Levels :math:`2\beta c` at which nodes have so many neighbours; the mathematics is in :mod:`.degree`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..validation import Array

# Costs that differ by less, relative to themselves, are tied: a few million roundings, or a hundred of the coarse kind.
SAME = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-5}
FEW = 1e-3  # of all rows may be gone through one by one before a whole pass is the better way


class Level(NamedTuple):
    """A level, the degree it gives, and whether enough of the nearest were known to tell."""

    value: float
    degree: float
    enough: bool

    @classmethod
    def of(cls, nearest: Array, degree: float, all_of: Callable[[int], Array]) -> Level:
        """Return the level of a degree from the sorted costs of the nearest of each node.

        Where a few nodes run out of them below the level, ``all_of`` gives all costs of such a node, without its own:
        the level only falls by what they add, so that the others need no more.
        """
        n, kept = nearest.shape
        costs = neighbour_costs(farther_than_first(nearest))
        last, pooled = costs[:, -1], costs.ravel()
        level = levels_of(pooled, n, np.array([degree]), SAME[nearest.dtype])[0]
        short = np.flatnonzero(last < level) if kept < n - 1 else np.arange(0)
        if level > 0.0 and 0 < len(short) <= FEW * n:
            pooled = np.concatenate([pooled, *(costs_below(level, all_of(node))[kept:] for node in short.tolist())])
            level, short = levels_of(pooled, n, np.array([degree]), SAME[nearest.dtype])[0], short[:0]
        level = level or (float(nearest.mean()) if kept == n - 1 else np.inf)
        return cls(level, float((pooled < level).sum()) / n, bool(len(short) == 0 and np.isfinite(level)))


def costs_below(level: float, costs: Array) -> Array:
    r"""Return the :math:`S_{ik}` of a row up to a level, from all of its costs: those are at most so much farther."""
    near = np.sort(costs[costs <= costs.min() + level])[None]
    return neighbour_costs(farther_than_first(near))[0]


def farther_than_first(nearest: Array) -> Array:
    """Return how much farther than its nearest each of a node's nearest is; what is within rounding of 0 is 0."""
    farther: Array = nearest - nearest[:, :1]
    farther *= farther > 64.0 * np.finfo(nearest.dtype).eps * np.abs(nearest)
    return farther


def neighbour_costs(farther: Array) -> Array:
    r"""Return :math:`S_{ik}`, which a row constant leaves as it is, from the sorted costs of the nearest."""
    return np.maximum(np.arange(1, farther.shape[1] + 1) * farther - np.cumsum(farther, axis=1), 0.0)


def levels_of(costs: Array, n: int, degrees: Array, same: float) -> list[float]:
    """Return the levels at which n nodes have some degrees on average, or as nearly as ties allow, by one partition.

    Where a degree falls into a run of equal costs, those neighbours are taken together or left out together, whichever
    comes nearer to it. Zero where all costs are zero: any level above it makes everybody a neighbour.
    """
    wanted = np.minimum(np.round(np.asarray(degrees) * n).astype(int), costs.size)
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
