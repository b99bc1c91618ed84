r"""Levels :math:`2\beta c` at which nodes have so many neighbours; the mathematics is in :mod:`.degree`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..validation import Array

# Costs that differ by less, relative to themselves, are tied: a few million roundings, or a hundred of the coarse kind.
SAME = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-5}


class Level(NamedTuple):
    """A level, the degree it gives, and whether enough of the nearest were known to tell."""

    value: float
    degree: float
    enough: bool

    @classmethod
    def of(cls, nearest: Array, degree: float) -> Level:
        """Return the level of a degree from the sorted costs of the nearest of each node."""
        n, kept = nearest.shape
        costs = neighbour_costs(farther_than_first(nearest))
        level = levels_of(costs, np.array([degree]), SAME[nearest.dtype])[0]
        level = level or (float(nearest.mean()) if kept == n - 1 else np.inf)
        enough = kept == n - 1 or bool((costs[:, -1] >= level).all())
        return cls(level, float((costs < level).sum()) / n, enough)


def farther_than_first(nearest: Array) -> Array:
    """Return how much farther than its nearest each of a node's nearest is; what is within rounding of 0 is 0."""
    farther: Array = nearest - nearest[:, :1]
    farther *= farther > 64.0 * np.finfo(nearest.dtype).eps * np.abs(nearest)
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
