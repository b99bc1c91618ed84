"""The level of a degree (see :mod:`nashgraph.couplings.degree`), found on the device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..levels import SAME, Level
from .device import torch

Nearest = Callable[[int, "torch.Tensor"], "torch.Tensor"]


def level_of(nearest: Nearest, rows: torch.Tensor, degree: float, kept: int, most: float) -> Level:
    """Return what :meth:`nashgraph.couplings.points.Points.level` does, by the sorted costs of the nearest of rows.

    Rows that run out of them are asked for twice as many, those alone, up to ``most``: the level only falls by what
    they add, so that the others need no more.
    """
    n, (found, costs) = len(rows), _costs(nearest, kept, rows)
    pooled, same = torch.sort(costs.ravel()).values, SAME[np.dtype(str(costs.dtype).removeprefix("torch."))]
    while True:
        level = _level(pooled, min(round(degree * n), len(pooled)), n, same)
        if level == 0.0:
            level = float(found.mean()) if kept == n - 1 else np.inf
        short = torch.nonzero(costs[:, -1] < level).ravel()
        enough, more = kept == n - 1 or not len(short), min(n - 1, 2 * kept)
        if enough or more > most:
            return Level(level, float((pooled < level).sum()) / n, enough)
        rows = rows[short]
        found, costs = _costs(nearest, more, rows)
        pooled, kept = torch.sort(torch.cat([pooled, costs[:, kept:].ravel()])).values, more


def _costs(nearest: Nearest, kept: int, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sorted costs of the nearest of rows, and what each of these as a neighbour takes."""
    found = nearest(kept, rows)
    farther = found - found[:, :1]
    farther[farther <= 64.0 * torch.finfo(found.dtype).eps * found.abs()] = 0.0
    ranks = torch.arange(1, kept + 1, device=found.device, dtype=found.dtype)
    return found, torch.clamp(ranks * farther - torch.cumsum(farther, 1), min=0.0)


def _level(pooled: torch.Tensor, rank: int, n: int, same: float) -> float:
    """Return the level of a rank among sorted costs, runs of equal ones taken together or left out together."""
    size = len(pooled)
    if rank == size:
        return 2.0 * float(pooled[-1])
    below, above = float(pooled[rank - 1]), float(pooled[rank])
    if above - below > same * above:
        return 0.5 * (below + above)
    lower = (1.0 - same) * above
    fewer = int(torch.searchsorted(pooled, lower))
    more = int(torch.searchsorted(pooled, (1.0 + same) * above, right=True))
    if fewer >= n and rank - fewer < more - rank:
        return lower
    return 0.5 * (above + float(pooled[more])) if more < size else 2.0 * above
