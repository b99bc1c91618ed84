"""Signals on a GPU: the same points, with a search of their pairs that runs there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...certificate import ENGINE_LOG as LOG
from ...validation import Array, InputError
from ..levels import Level
from ..passes import Bonus
from ..points import Points
from ..skipping import threaded_points
from .candidates import Candidates, Sides
from .degree import level_of
from .device import FIRST_NODES, as_tensor, gpu, has_gpu, memory_said, to_device, to_numpy, torch
from .search import Search

if TYPE_CHECKING:
    from ..smoothness import Smoothness

WANTED = 128  # candidates of a row at first, or three for each neighbour that is asked for
SHARE = 0.25  # of all nodes: where more are wanted of each row, a list of candidates saves nothing


class CudaPoints(Points):
    """The nodes as points in a GPU's memory; see :class:`~nashgraph.couplings.points.Points`.

    ``device`` may be any of PyTorch's; ``tiles`` says whether pairs are searched by the Triton kernel.
    """

    def __init__(
        self, X: Array, lift: Array | None = None, device: torch.device | None = None, tiles: bool | None = None
    ) -> None:
        self.device = gpu() if device is None else device
        self.lift = lift
        signals = as_tensor(X).to(self.device)
        centred = signals - signals.median(dim=1, keepdim=True).values
        points = centred.T.contiguous() / (2.0 * len(X)) ** 0.5
        self.points, self.norms = to_numpy(points), to_numpy((points * points).sum(1))
        heights = None if lift is None else to_device(lift, points)
        self.search = Search(points, heights, self.device.type == "cuda" if tiles is None else tiles)
        self._candidates: Candidates | None = None

    @property
    def held(self) -> type[Smoothness]:
        """The term whose graphs are held where the points are."""
        from .smoothness import CudaSmoothness  # noqa: PLC0415 (it imports the points)

        return CudaSmoothness

    @property
    def has_candidates(self) -> bool:
        """Whether there is a list of candidates already."""
        return self._candidates is not None

    def candidates(self, neighbours: float) -> Candidates:
        """Return the list of candidates, made at first for rows of so many neighbours."""
        if self._candidates is None:
            wanted = min(len(self) - 1, max(WANTED, int(3 * neighbours)))
            with memory_said():
                self._candidates = Candidates(self.search, wanted)
        return self._candidates

    def nearest(self, kept: int, bonus: Bonus | None = None) -> tuple[Array, Array]:
        """Return each node's ``kept`` smallest costs to others, less a bonus, sorted upward, and whose they are."""
        nothing = np.zeros(len(self))
        left, right = (nothing, nothing) if bonus is None else (bonus.left, bonus.right)
        search = self.search
        with memory_said():
            sides = Sides(to_device(left, search.exact), to_device(right, search.exact))
            _, labels = search.best(search.everyone, kept, *sides)
            costs = search.costs(search.everyone.repeat_interleave(kept), labels.ravel()).reshape(labels.shape)
            costs = costs - (sides.left[:, None] * sides.right[labels]).to(costs.dtype)
            costs, order = torch.sort(costs, dim=1, stable=True)
            labels = torch.take_along_dim(labels, order, dim=1)
        return to_numpy(costs), to_numpy(labels.int())

    def level(self, degree: float, kept: int) -> Level:
        """Return the level at which nodes have ``degree`` neighbours on average; see ``Points.level``."""
        candidates = self.candidates(kept / 2)
        most = max(WANTED, SHARE * len(self))
        if not candidates.plain or kept > most:
            return super().level(degree, kept)
        with memory_said():
            return level_of(candidates.nearest, self.search.everyone, degree, kept, most)

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the distance matrix, by a factorisation on the device."""
        exact = self.search.exact
        factor = torch.column_stack([self.search.base, torch.ones_like(self.search.base), exact])
        q, r = torch.linalg.qr(factor)
        middle = torch.outer(r[:, 0], r[:, 1])
        middle = middle + middle.T - 2.0 * r[:, 2:] @ r[:, 2:].T
        _, vectors = torch.linalg.eigh(middle)
        return to_numpy(q @ vectors[:, -1]).astype(self.dtype, copy=False)


def cuda_points(X: Array, lift: Array | None = None) -> Points:
    """Return points on the GPU, or say why not."""
    device = gpu()
    if np.isnan(X).any():
        raise InputError(
            "engine='cuda' cannot compare nodes with gaps yet, and X has NaN: take engine='threads', or fill the gaps"
        )
    LOG.info("engine: cuda (%s)", torch.cuda.get_device_name(device))
    return CudaPoints(X, lift, device)


def suitable_points(X: Array, lift: Array | None = None) -> Points:
    """Return points on the GPU where there is one and the problem is large enough to pay for it; else in memory."""
    n = X.shape[1]
    if n >= FIRST_NODES and has_gpu() and not np.isnan(X).any():
        return cuda_points(X, lift)
    LOG.info("engine: threads (%s)", f"{n} nodes" if n < FIRST_NODES else "gaps, or no GPU that PyTorch sees")
    return threaded_points(X, lift)
