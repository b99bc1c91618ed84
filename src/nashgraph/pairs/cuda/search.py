r"""The search on a device: for some rows, all columns of score :math:`\langle L_i, R_j \rangle - D_{ij}` above a cut.

With :math:`n_j` a point's norm and node cost, the score is
:math:`\langle L_i, R_j \rangle + 2 \langle z_i, z_j \rangle - n_i - n_j`. Its rounding error is at most
:math:`\kappa (n_i + n_j)` and that of the bonus :math:`\kappa \sum_k |L_{ik}| \max_j |R_{jk}|`; norms are made smaller
by the one and cuts by the other, so that a pair above its cut is found whatever was rounded, and perhaps a few others.
Bonuses of rank one are searched in float32 by a Triton kernel, others in float64 by blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...certificate import ENGINE_LOG as LOG
from ...decisions import Remedy
from ...validation import Array, InputError
from .._costs import HALF_BIT, SAME_POINT
from .._smallest import CHANCE_SHIFT, MOST_CHANCE, node_draws
from ..bonus import Bonus
from ..points import Points, signal_sizes
from ..search import PairSearch, threaded_search
from ..weights import csr_of
from .arrays import DeviceArray
from .tensors import (
    Ragged,
    as_tensor,
    gpu,
    has_gpu,
    memory_said,
    order_in_rows,
    places_of,
    pointers_of,
    row_numbers,
    to_device,
    to_numpy,
    torch,
)

if TYPE_CHECKING:
    from .graphs import DevicePairs

FIRST_NODES = 20_000  # below, two cores are done before a GPU has compiled its kernel
SHARE = 0.25  # of all nodes: where more are wanted of each row, a list of candidates saves nothing
WANTED = 128  # candidates of a row at first: enough for degrees up to about 40
BLOCK_ENTRIES = 1 << 27  # scores, differences, or places for what is found, held at a time
CAPACITY = 512  # places of a row at first; rows that need more are done again with as many as they need
NEARER = 0.25  # of the way below its floor, how far a row is searched that has more on the whole way
# First cuts come from a sample of the columns, then from samples this many times as large; of each, a row's cut is at
# least its fourth best, because fewer tell too little.
SMALLEST_SAMPLE = 4096
LARGER = 16
FEW = 4
FURTHER = 1.5  # factor on the cut of rows that found too few
EVERYTHING = 1e300  # a cost that no pair has
ALL = slice(None)  # columns
LARGEST_BONUS = 1e18  # in units of the largest norm: beyond, float32 is not asked


class CudaSearch:
    """The search on a GPU; see :class:`~nashgraph.pairs.search.PairSearch`.

    ``device`` may be any of PyTorch's; ``tiles`` says whether pairs are searched by the Triton kernel, in float32,
    rather than by plain blocks in float64. Tensors of the device are ``there``, the points, ``base``, their norms and
    node costs, and ``heights`` and ``scales``, the node costs and the scale of rounding; ``pairs`` are the candidates,
    once a search without bonus has found some. ``geometry`` are the points in memory, for a few rows.
    """

    def __init__(
        self,
        X: Array,
        node_costs: Array | None = None,
        sizes: Array | None = None,
        device: torch.device | None = None,
        tiles: bool | None = None,
    ) -> None:
        device = gpu() if device is None else device
        self.tiles = device.type == "cuda" if tiles is None else tiles
        self.capacity = CAPACITY
        signals = as_tensor(X).to(device)
        centred = signals - signals.median(dim=1, keepdim=True).values
        self.there = centred.T.contiguous() / (2.0 * len(X)) ** 0.5
        norms = (self.there * self.there).sum(1)
        sizes = signal_sizes(X) if sizes is None else sizes
        node_costs = np.zeros(len(norms)) if node_costs is None else node_costs
        self.geometry = Points(to_numpy(self.there), to_numpy(norms), sizes, node_costs)
        self.scales = to_device(sizes, norms)
        self.heights = to_device(node_costs, norms)
        self.base = norms + self.heights
        # In units of the largest, squares in float32 neither overflow nor vanish where it matters.
        self.unit = float(self.base.max()) or 1.0
        self.everyone = torch.arange(len(self), device=device)
        self.draws = torch.from_numpy(node_draws(len(self)).view(np.int64)).to(device)
        self.shuffled = torch.randperm(len(self), generator=torch.Generator().manual_seed(0)).to(device)
        self.scans = 0.0
        self.pairs: DevicePairs | None = None

    def __len__(self) -> int:
        return len(self.there)

    def costs(self, rows: Array, columns: Array) -> Array:
        """Return the costs of some pairs, from differences of signals and not rounded."""
        return self.geometry.costs(rows, columns)

    @property
    def no_bonus(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The sides of the bonus of rank 0."""
        nothing = self.there.new_zeros((len(self), 0))
        return nothing, nothing

    def candidate_pairs(self, *, everything: bool = False) -> DevicePairs:
        """Return the candidate pairs on the device, made once."""
        from .graphs import DevicePairs  # noqa: PLC0415 (it imports this module)

        if everything:
            raise InputError(
                "dense storage keeps the costs of all pairs in memory, and the engine cuda only candidates: leave "
                "storage='auto', or use the processor (the solver ttgd needs that as well)",
                remedy=Remedy("engine", "threads"),
            )
        if self.pairs is None:
            with memory_said():
                self.pairs = DevicePairs(self, min(len(self) - 1, WANTED))
        return self.pairs

    def nearest(
        self, count: int, bonus: Bonus | None = None, nodes: Array | None = None
    ) -> tuple[DeviceArray, DeviceArray]:
        """Return the smallest costs of some nodes, less a bonus, sorted upward, and whose they are, on the device."""
        with memory_said():
            if bonus is None and nodes is None and count <= max(WANTED, SHARE * len(self)):
                pairs = self.candidate_pairs()
                if pairs.plain:
                    costs, labels = pairs.smallest_costs(count)
                    return DeviceArray(costs), DeviceArray(labels)
            left, right = self._sides(bonus)
            some = self._rows(nodes)
            labels = self.best(some, count, left[some], right)[1].ravel()
            rows = some.repeat_interleave(count)
            costs = snapped(self.pair_costs(rows, labels)) - (left[rows] * right[labels]).sum(1)
            costs, order = torch.sort(costs.reshape(-1, count), dim=1, stable=True)
            labels = torch.take_along_dim(labels.reshape(-1, count), order, dim=1).int()
            return DeviceArray(costs), DeviceArray(labels)

    def above(
        self, cut: Array, bonus: Bonus, *, gain: float, total: float, margin: float = 0.0, nodes: Array | None = None
    ) -> tuple[Any, Array]:
        """Return the pairs of some nodes whose score is not below the row's cut, as CSR, and the cuts."""
        with memory_said():
            left, right = self._sides(bonus)
            rows = self._rows(nodes)
            pairs, cuts = self.find(rows, left[rows], right, to_device(cut, self.there)[rows])
            costs = self.pair_costs(rows[row_numbers(pairs.lengths).long()], pairs.columns)
        csr = csr_of(to_numpy(pairs.lengths), to_numpy(pairs.columns), to_numpy(costs), len(self))
        return csr, to_numpy(cuts)

    def _sides(self, bonus: Bonus | None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return both sides of a bonus on the device."""
        if bonus is None:
            return self.no_bonus
        return to_device(bonus.left, self.there), to_device(bonus.right, self.there)

    def _rows(self, nodes: Array | None) -> torch.Tensor:
        """Return the numbers of some nodes on the device."""
        if nodes is None:
            return self.everyone
        return torch.from_numpy(np.asarray(nodes, np.int64)).to(self.everyone.device)

    def top_eigenvector(self) -> Array:
        """Return the top eigenvector of the cost matrix, by a factorisation on the device."""
        factor = torch.column_stack([self.base, torch.ones_like(self.base), self.there])
        q, r = torch.linalg.qr(factor)
        middle = torch.outer(r[:, 0], r[:, 1])
        middle = middle + middle.T - 2.0 * r[:, 2:] @ r[:, 2:].T
        _, vectors = torch.linalg.eigh(middle)
        return to_numpy(q @ vectors[:, -1])

    def pair_costs(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Return the costs of some pairs, by differences and not rounded (see ``_costs.exact_cost``)."""
        found = self.there.new_empty(len(rows))
        several = max(1, BLOCK_ENTRIES // self.there.shape[1])
        for first in range(0, len(rows), several):
            part = slice(first, first + several)
            difference = self.there[rows[part]]
            difference -= self.there[columns[part]]
            found[part] = difference.square_().sum(1)
        scale = self.scales[rows] + self.scales[columns]
        found = torch.where(found <= SAME_POINT * scale, 0.0, found)
        return found + (self.heights[rows] + self.heights[columns])

    def find(
        self,
        rows: torch.Tensor,
        left: torch.Tensor,
        right: torch.Tensor,
        cut: torch.Tensor,
        floor: torch.Tensor | None = None,
        among: Any = ALL,
    ) -> tuple[Ragged, torch.Tensor]:
        """Return, for some rows, all others (or among some) whose score is not below the row's cut, and the cuts.

        ``left``, ``cut`` and ``floor`` belong to the rows, ``right`` to all nodes; both sides have a column for each
        rank. Where a row would have too many, its cut may be nearer the floor, never above it.
        """
        # Right sides of size one: the kernel's float32 then has the same digits for every column of a bonus.
        size = right.abs().amax(0)
        size = torch.where(size > 0, size, 1.0)
        left = left * size
        right = (right / size)[among]
        self.scans += len(rows) * len(right) / len(self) ** 2
        weak = left.shape[1] <= 1 and float(left.abs().sum(1).max()) <= LARGEST_BONUS * self.unit
        if not (self.tiles and weak):
            return self._by_blocks(rows, left, right, cut, among), cut
        if not left.shape[1]:
            left = left.new_zeros((len(left), 1))
            right = right.new_zeros((len(right), 1))
        nearer = cut if floor is None else floor - NEARER * (floor - cut)
        return self._by_tiles(rows, left[:, 0], right[:, 0], cut.clone(), nearer, among)

    def _slack(self, epsilon: float) -> float:
        """Return a bound of the relative error of a score: one rounding a term of the sum, fourfold, and a few more."""
        return 4.0 * (self.there.shape[1] + 8) * epsilon

    def _by_blocks(
        self, rows: torch.Tensor, left: torch.Tensor, right: torch.Tensor, cut: torch.Tensor, among: Any
    ) -> Ragged:
        kappa = self._slack(2.0**-53) + 2.0**-31  # and costs are rounded to 32 bits
        lengths = []
        columns = []
        for part, scores in self._blocks(rows, left, right, among, 1.0 - kappa):
            hits = scores >= (cut[part] - kappa * (cut[part].abs() + left[part].abs().sum(1)))[:, None]
            lengths.append(hits.sum(1))
            columns.append(torch.nonzero(hits)[:, 1].int())
        return Ragged(torch.cat(lengths), self.everyone[among].int()[torch.cat(columns)])

    def _blocks(
        self, rows: torch.Tensor, left: torch.Tensor, right: torch.Tensor, among: Any, share: float = 1.0
    ) -> Iterator[tuple[slice, torch.Tensor]]:
        """Yield blocks of scores in float64, minus infinity at a row's own column, with ``share`` of the norms."""
        points = self.there[among]
        base = self.base[among]
        names = self.everyone[among]
        size = max(1, BLOCK_ENTRIES // len(names))
        for first in range(0, len(rows), size):
            part = slice(first, first + size)
            scores = torch.addmm(base[None, :], self.there[rows[part]], points.T, beta=-share, alpha=2.0)
            scores -= share * self.base[rows[part]][:, None]
            scores.addmm_(left[part], right.T)
            scores.masked_fill_(names[None, :] == rows[part][:, None], -torch.inf)
            yield part, scores

    def _by_tiles(
        self,
        rows: torch.Tensor,
        left: torch.Tensor,
        right: torch.Tensor,
        cut: torch.Tensor,
        nearer: torch.Tensor,
        among: Any,
    ) -> tuple[Ragged, torch.Tensor]:
        kappa = self._slack(2.0**-24)
        facing = (2.0 * self._padded(self.there[among])).T.contiguous()
        base = (1.0 - kappa) * self.base[among]
        columns = facing, self.everyone[among].int(), right.float(), (base / self.unit).float()
        # Rows whose pairs do not fit their places wait for another round, with more places or a nearer cut.
        waiting = torch.arange(len(rows), device=rows.device)
        parts = []
        capacities = torch.full_like(waiting, self.capacity)
        while len(waiting):
            beyond = []
            pieces = -(-int(capacities.sum()) // BLOCK_ENTRIES)
            for some, capacity in zip(waiting.tensor_split(pieces), capacities.tensor_split(pieces), strict=True):
                names = rows[some]
                bonus = left[some]
                need = cut[some] - kappa * (cut[some].abs() + bonus.abs()) + (1.0 - kappa) * self.base[names]
                need -= kappa * need.abs() + 1e-30 * self.unit
                scaled = (bonus / self.unit).float(), (need / self.unit).float()
                found, counts = self._launch((self._padded(self.there[names]), names.int(), *scaled), columns, capacity)
                fits = found.lengths == counts
                parts.append((some[fits], Ragged(counts[fits], found.columns)))
                # Beyond its places a row is searched less far, or, where it must be as far, with as many as it needs.
                rest = some[~fits]
                wanted = counts[~fits]
                beyond.append((rest, torch.where(cut[rest] < nearer[rest], self.capacity, wanted)))
            waiting, capacities = (torch.cat(each) for each in zip(*beyond, strict=True))
            cut[waiting] = nearer[waiting]
        return Ragged.joined(len(rows), parts), cut

    def _padded(self, points: torch.Tensor) -> torch.Tensor:
        """Return points in float32 and in units of the largest, with zeros for as many signals as a tile takes."""
        width = points.shape[1]
        if width <= 64:
            whole = max(16, 1 << (width - 1).bit_length())
        else:
            whole = -64 * (-width // 64)
        scaled = (points / self.unit**0.5).float()
        return torch.nn.functional.pad(scaled, (0, whole - width)).contiguous()

    def _launch(
        self, asked: tuple[torch.Tensor, ...], columns: tuple[torch.Tensor, ...], capacities: torch.Tensor
    ) -> tuple[Ragged, torch.Tensor]:
        """Run the kernel for some rows with so many places each; return what it found and how much there is.

        Rows with more than they have places for are returned empty.
        """
        from ._kernels import launch, spans  # noqa: PLC0415 (Triton comes with PyTorch for CUDA only)

        wide = spans(len(capacities), len(columns[1]))
        wide = min(wide, max(1, BLOCK_ENTRIES // int(capacities.sum())))
        starts = pointers_of(capacities.repeat_interleave(wide))
        found = torch.empty(int(starts[-1]), dtype=torch.int32, device=capacities.device)
        counts = torch.empty((len(capacities), wide), dtype=torch.int32, device=capacities.device)
        launch(asked, columns, found, starts, counts)
        counts = counts.long()
        kept = torch.where((counts <= capacities[:, None]).all(1, keepdim=True), counts, 0)
        return Ragged(kept.sum(1), found[places_of(kept.ravel(), starts)]), counts.sum(1)

    def best(
        self, rows: torch.Tensor, kept: int, left: torch.Tensor, right: torch.Tensor, among: Any = ALL
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the largest scores of some rows, sorted downward, and whose they are: by blocks, whatever it costs."""
        found = [torch.topk(scores, kept, dim=1) for _, scores in self._blocks(rows, left, right[among], among)]
        names = self.everyone[among]
        self.scans += len(rows) * len(names) / len(self) ** 2
        return torch.cat([each.values for each in found]), names[torch.cat([each.indices for each in found])]

    def first_cuts(self, wanted: int) -> torch.Tensor:
        """Return for each row a score without bonus above which about ``wanted`` of the others lie.

        A sample of the columns tells it, searched above a cut that a smaller sample told.
        """
        n = len(self)
        rows = self.everyone
        if wanted >= n - 1:  # all others are wanted, so no cut is low enough
            return torch.full_like(self.base, -EVERYTHING)
        sample = min(n, SMALLEST_SAMPLE)
        place = min(sample - 1, max(FEW if sample < n else 1, round(wanted * sample / n)))
        cut = self.best(rows, place, *self.no_bonus, self.shuffled[:sample])[0][:, -1]
        while LARGER * sample < n:
            sample *= LARGER
            found, _ = self.find(rows, *self.no_bonus, cut, among=self.shuffled[:sample].sort().values)
            cut = self._nth(found, max(FEW, round(wanted * sample / n)), cut)
        return cut

    def _nth(self, found: Ragged, place: int, cut: torch.Tensor) -> torch.Tensor:
        """Return the score at some place of each row, or its last; where there is none, a bit less than the cut."""
        rows = row_numbers(found.lengths)
        scores = -snapped(self.pair_costs(rows, found.columns))
        if not len(scores):
            return FURTHER * cut
        ordered = scores[order_in_rows(-scores, rows)]
        last = pointers_of(found.lengths)[:-1] + torch.clamp(found.lengths, max=place) - 1
        return torch.where(found.lengths > 0, ordered[torch.clamp(last, min=0)], FURTHER * cut)


def snapped(costs: torch.Tensor) -> torch.Tensor:
    """Return costs rounded to 32 bits, as in memory."""
    return ((costs.view(torch.int64) + HALF_BIT) & ~(2 * HALF_BIT - 1)).view(torch.float64)


def pair_chances(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the hash that chooses among equals, from two nodes' draws; see ``_smallest.pair_chance``."""
    return ((one * other) >> CHANCE_SHIFT) & (MOST_CHANCE - 1)  # of signed numbers: the sign fills the shift


def cuda_search(X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> PairSearch:
    """Return a search on the GPU, or say why not."""
    device = gpu()
    if np.isnan(X).any():
        raise InputError(
            "the engine cuda cannot compare nodes with gaps yet, and there are gaps: fill them, or use the processor",
            remedy=Remedy("engine", "threads"),
        )
    LOG.info("engine: cuda (%s)", torch.cuda.get_device_name(device))
    return CudaSearch(X, node_costs, sizes, device)


def suitable_search(X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> PairSearch:
    """Return a search on the GPU if there is one and the problem is large enough to pay for it; else on threads."""
    n = X.shape[1]
    if n >= FIRST_NODES and has_gpu() and not np.isnan(X).any():
        return cuda_search(X, node_costs, sizes)
    LOG.info("engine: threads (%s)", f"{n} nodes" if n < FIRST_NODES else "gaps, or no GPU that PyTorch sees")
    return threaded_search(X, node_costs, sizes)
