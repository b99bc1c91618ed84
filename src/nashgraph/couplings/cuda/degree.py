"""The level of a degree (see :mod:`nashgraph.couplings.degree`), found on the device."""

from __future__ import annotations

import numpy as np

from ..levels import SAME, Level
from .device import torch


def level_of(nearest: torch.Tensor, degree: float) -> Level:
    """Return what :meth:`nashgraph.couplings.points.Points.level` does, from the sorted costs of the nearest."""
    (n, kept), kind = nearest.shape, np.dtype(str(nearest.dtype).removeprefix("torch."))
    farther = nearest - nearest[:, :1]
    farther[farther <= 64.0 * float(np.finfo(kind).eps) * nearest.abs()] = 0.0
    ranks = torch.arange(1, kept + 1, device=nearest.device, dtype=nearest.dtype)
    costs = torch.clamp(ranks * farther - torch.cumsum(farther, 1), min=0.0)
    pooled = torch.sort(costs.ravel()).values
    level = _level(pooled, min(round(degree * n), costs.numel()), n, SAME[kind])
    if level == 0.0:
        level = float(nearest.mean()) if kept == n - 1 else np.inf
    enough = kept == n - 1 or bool((costs[:, -1] >= level).all())
    return Level(level, float((costs < level).sum()) / n, enough)


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
