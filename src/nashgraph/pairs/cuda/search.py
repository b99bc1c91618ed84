"""The engine "cuda": signals on a GPU, with a search of their pairs that runs there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...certificate import ENGINE_LOG as LOG
from ...validation import Array, InputError
from ..bonus import Bonus
from ..search import PairSearch, signal_sizes
from ..tree_search import threaded_search
from .device import FIRST_NODES, as_tensor, gpu, has_gpu, memory_said, to_device, to_numpy, torch
from .device_search import DeviceSearch

if TYPE_CHECKING:
    from .candidates import CudaCandidates

SHARE = 0.25  # of all nodes: where more are wanted of each row, a list of candidates saves nothing
WANTED = 128  # candidates of a row at first: enough for degrees up to about 40


class CudaSearch(PairSearch):
    """The search on a GPU; see :class:`~nashgraph.pairs.search.PairSearch`.

    ``device`` may be any of PyTorch's; ``tiles`` says whether pairs are searched by the Triton kernel.
    """

    stores_all_pairs = False

    def __init__(
        self, X: Array, node_costs: Array | None = None, device: torch.device | None = None, tiles: bool | None = None
    ) -> None:
        self.device = gpu() if device is None else device
        self.node_costs, self.near = node_costs, None
        signals = as_tensor(X).to(self.device)
        centred = signals - signals.median(dim=1, keepdim=True).values
        points = centred.T.contiguous() / (2.0 * len(X)) ** 0.5
        self.points, self.norms = to_numpy(points), to_numpy((points * points).sum(1))
        self.sizes = signal_sizes(X)
        heights = None if node_costs is None else to_device(node_costs, points)
        self.on_device = DeviceSearch(
            points, heights, to_device(self.sizes, points), self.device.type == "cuda" if tiles is None else tiles
        )
        self.known: CudaCandidates | None = None
        self._scans = 0.0

    @property
    def scans(self) -> float:
        """How many times all pairs were gone through, here or on the device."""
        return self._scans + self.on_device.searched / len(self) ** 2

    @scans.setter
    def scans(self, value: float) -> None:
        self._scans = value - self.on_device.searched / len(self) ** 2

    def candidates(self, *, everything: bool) -> Any:
        """Return the candidate pairs on the device, made once."""
        from .candidates import CudaCandidates  # noqa: PLC0415 (it imports this module)

        if everything:
            raise InputError(
                "storage='dense' keeps the costs of all pairs in memory, and engine='cuda' only candidates: "
                "leave storage='auto', or use engine='threads' (solver='ttgd' needs that too)"
            )
        if self.known is None:
            with memory_said():
                self.known = CudaCandidates(self, min(len(self) - 1, WANTED))
        return self.known

    def nearest_costs(self, kept: int) -> Any:
        """Return the costs of ``nearest`` without bonus, on the device."""
        candidates = self.candidates(everything=False)
        if not candidates.plain or kept > max(WANTED, SHARE * len(self)):
            return super().nearest_costs(kept)
        with memory_said():
            return candidates.nearest(kept)[0]

    def nearest(self, kept: int, bonus: Bonus | None = None) -> tuple[Array, Array]:
        """Return each node's ``kept`` smallest costs to others, less a bonus, sorted upward, and whose they are."""
        search, sides = self.on_device, Bonus.none(len(self)) if bonus is None else bonus
        with memory_said():
            candidates = self.candidates(everything=False)
            if bonus is None and candidates.plain and kept <= max(WANTED, SHARE * len(self)):
                costs, labels = candidates.nearest(kept)
                return to_numpy(costs), to_numpy(labels)
            left, right = (to_device(side, search.exact) for side in sides[:2])
            _, labels = search.best(search.everyone, kept, left, right)
            rows = search.everyone.repeat_interleave(kept)
            costs = search.costs(rows, labels.ravel())
            costs = (costs - (left[rows] * right[labels.ravel()]).sum(1)).reshape(labels.shape)
            costs, order = torch.sort(costs, dim=1, stable=True)
            labels = torch.take_along_dim(labels, order, dim=1)
        return to_numpy(costs), to_numpy(labels.int())

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the cost matrix, by a factorisation on the device."""
        search = self.on_device
        factor = torch.column_stack([search.base, torch.ones_like(search.base), search.exact])
        q, r = torch.linalg.qr(factor)
        middle = torch.outer(r[:, 0], r[:, 1])
        middle = middle + middle.T - 2.0 * r[:, 2:] @ r[:, 2:].T
        _, vectors = torch.linalg.eigh(middle)
        return to_numpy(q @ vectors[:, -1])


def cuda_search(X: Array, node_costs: Array | None = None) -> PairSearch:
    """Return a search on the GPU, or say why not."""
    device = gpu()
    if np.isnan(X).any():
        raise InputError(
            "engine='cuda' cannot compare nodes with gaps yet, and X has NaN: use engine='threads', or fill the gaps"
        )
    LOG.info("engine: cuda (%s)", torch.cuda.get_device_name(device))
    return CudaSearch(X, node_costs, device)


def suitable_search(X: Array, node_costs: Array | None = None) -> PairSearch:
    """Return a search on the GPU if there is one and the problem is large enough to pay for it; else on threads."""
    n = X.shape[1]
    if n >= FIRST_NODES and has_gpu() and not np.isnan(X).any():
        return cuda_search(X, node_costs)
    LOG.info("engine: threads (%s)", f"{n} nodes" if n < FIRST_NODES else "gaps, or no GPU that PyTorch sees")
    return threaded_search(X, node_costs)
