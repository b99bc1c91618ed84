r"""The search on a device: for some rows, all columns of score :math:`\langle L_i, R_j \rangle - D_{ij}` above a cut.

With :math:`n_j` a point's norm and node cost, the score is
:math:`\langle L_i, R_j \rangle + 2 \langle z_i, z_j \rangle - n_i - n_j`. Its rounding error is at most
:math:`\kappa (n_i + n_j)` and that of the bonus :math:`\kappa \sum_k |L_{ik}| \max_j |R_{jk}|`; norms are made smaller
by the one and cuts by the other, so that a pair above its cut is found whatever was rounded. Bonuses of rank one are
searched in float32 by a Triton kernel, others in float64 by blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...certificate import ENGINE_LOG as LOG
from ...validation import Array, InputError
from .._kernels import HALF_BIT, SAME_POINT
from ..bonus import Bonus
from ..search import PairSearch, signal_sizes
from ..tree_search import threaded_search
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
    from .graphs import CudaCandidates

FIRST_NODES = 20_000  # below, two cores are done before a GPU has compiled its kernel
SHARE = 0.25  # of all nodes: where more are wanted of each row, a list of candidates saves nothing
WANTED = 128  # candidates of a row at first: enough for degrees up to about 40
BLOCK_ENTRIES = 1 << 27  # scores, or places for what is found, held at a time
PAIRS_AT_ONCE = 1 << 23
CAPACITY = 512  # places of a row at first; rows that need more are done again with as many as they need
NEARER = 0.25  # of the way below its floor, how far a row is searched that has more on the whole way
# First cuts come from a sample of the columns, then from samples this many times as large; of each, a row's cut is at
# least its fourth best, because fewer tell too little.
SMALLEST_SAMPLE, LARGER, FEW = 4096, 16, 4
FURTHER, TRIES = 1.5, 4  # factor on the cut of rows that found too few, and how often before they are searched exactly
EVERYTHING = 1e300  # a cost that no pair has
LARGEST_BONUS = 1e18  # in units of the largest norm: beyond, float32 is not asked


class DeviceSearch:
    """Points on a device, and the search among their pairs.

    Parameters
    ----------
    points : tensor of shape (n_nodes, n_signals), float64
    node_costs : tensor of shape (n_nodes,) or None
    sizes : tensor of shape (n_nodes,), the scale of rounding at each node
    tiles : bool, whether to search by the Triton kernel, in float32, rather than by plain blocks in float64
    """

    def __init__(self, points: torch.Tensor, node_costs: torch.Tensor | None, sizes: torch.Tensor, tiles: bool) -> None:
        self.points, self.node_costs, self.sizes, self.tiles = points, node_costs, sizes, tiles
        self.exact, self.norms = points, (points * points).sum(1)
        self.base = self.norms + (0.0 if node_costs is None else node_costs)
        # In units of the largest, squares in float32 neither overflow nor vanish where it matters.
        self.unit = float(self.base.max()) or 1.0
        self.capacity = CAPACITY
        draw = torch.Generator().manual_seed(0)
        self.shuffled = torch.randperm(len(points), generator=draw).to(points.device)
        self.searched = 0  # pairs gone through

    def __len__(self) -> int:
        return len(self.points)

    @property
    def everyone(self) -> torch.Tensor:
        """All rows."""
        return torch.arange(len(self), device=self.points.device)

    @property
    def no_bonus(self) -> torch.Tensor:
        """One side of the bonus of rank 0."""
        return self.exact.new_zeros((len(self), 0))

    def costs(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Return the costs of some pairs, by differences, rounded as in memory (see ``_kernels.snapped``)."""
        found = torch.empty(len(rows), dtype=self.points.dtype, device=self.points.device)
        if self.tiles:
            from ._kernels import distances  # noqa: PLC0415 (Triton comes with PyTorch for CUDA only)

            distances(self.points, rows, columns, found)
        else:
            for first in range(0, len(rows), PAIRS_AT_ONCE):
                part = slice(first, first + PAIRS_AT_ONCE)
                difference = self.points[rows[part]]
                difference -= self.points[columns[part]]
                found[part] = difference.square_().sum(1)
        scale = self.sizes[rows] + self.sizes[columns]
        found = torch.where(found <= SAME_POINT * scale, 0.0, found)
        if self.node_costs is not None:
            found = snapped(found) + self.node_costs[rows] + self.node_costs[columns]
        return snapped(found)

    def find(
        self, rows: torch.Tensor, left: torch.Tensor, right: torch.Tensor, cut: torch.Tensor, sample: int | None = None
    ) -> Ragged:
        """Return, for some rows, all others whose score lies above the row's cut; in a sample of the columns only.

        ``left`` and ``cut`` belong to the rows, ``right`` to all nodes; both sides have a column for each rank.
        """
        among = None if sample is None else self.shuffled[:sample].sort().values
        return self._find(rows, among, left, right, (cut, cut))[0]

    def find_about(
        self, rows: torch.Tensor, left: torch.Tensor, right: torch.Tensor, cut: torch.Tensor, floor: torch.Tensor
    ) -> tuple[Ragged, torch.Tensor]:
        """Do the same, and return the cuts taken: nearer the floor, never above it, where a row would have too many."""
        return self._find(rows, None, left, right, (cut, floor - NEARER * (floor - cut)))

    def _find(
        self,
        rows: torch.Tensor,
        among: torch.Tensor | None,
        left: torch.Tensor,
        right: torch.Tensor,
        cuts: tuple[torch.Tensor, torch.Tensor],
    ) -> tuple[Ragged, torch.Tensor]:
        size = right.abs().amax(0)
        size = torch.where(size > 0, size, 1.0)
        self.searched += len(rows) * (len(self) if among is None else len(among))
        left, right = left * size, right / size
        weak = left.shape[1] <= 1 and float(left.abs().sum(1).max()) <= LARGEST_BONUS * self.unit
        if self.tiles and weak:
            one = (
                (left[:, 0], right[:, 0]) if left.shape[1] else (torch.zeros_like(cuts[0]), torch.zeros_like(self.base))
            )
            return self._by_tiles(rows, among, *one, cuts)
        return self._by_blocks(rows, among, left, right, cuts[0]), cuts[0]

    def _slack(self, epsilon: float) -> float:
        """Return a bound of the relative error of a score: one rounding a term of the sum, fourfold, and a few more."""
        return 4.0 * (self.points.shape[1] + 8) * epsilon

    def _by_blocks(
        self, rows: torch.Tensor, among: torch.Tensor | None, left: torch.Tensor, right: torch.Tensor, cut: torch.Tensor
    ) -> Ragged:
        kappa = self._slack(2.0**-53) + 2.0**-31  # and costs are rounded to 32 bits
        lengths, columns = [], []
        for part, scores in self.blocks(rows, among, left, right, 1.0 - kappa):
            hits = scores >= (cut[part] - kappa * (cut[part].abs() + left[part].abs().sum(1)))[:, None]
            lengths.append(hits.sum(1))
            columns.append(torch.nonzero(hits)[:, 1].int())
        found = torch.cat(columns)
        return Ragged(torch.cat(lengths), found if among is None else among.int()[found])

    def blocks(
        self,
        rows: torch.Tensor,
        among: torch.Tensor | None,
        left: torch.Tensor,
        right: torch.Tensor,
        share: float = 1.0,
    ) -> Iterator[tuple[slice, torch.Tensor]]:
        """Yield blocks of scores in float64, minus infinity at a row's own column, with ``share`` of the norms."""
        points, base = (self.exact, self.base) if among is None else (self.exact[among], self.base[among])
        right = right if among is None else right[among]
        names = self.everyone if among is None else among
        size = max(1, BLOCK_ENTRIES // len(names))
        for first in range(0, len(rows), size):
            part = slice(first, first + size)
            scores = torch.addmm(base[None, :], self.exact[rows[part]], points.T, beta=-share, alpha=2.0)
            scores -= share * self.base[rows[part]][:, None]
            scores.addmm_(left[part], right.T)
            scores.masked_fill_(names[None, :] == rows[part][:, None], -torch.inf)
            yield part, scores

    def _by_tiles(
        self,
        rows: torch.Tensor,
        among: torch.Tensor | None,
        left: torch.Tensor,
        right: torch.Tensor,
        cuts: tuple[torch.Tensor, torch.Tensor],
    ) -> tuple[Ragged, torch.Tensor]:
        kappa = self._slack(2.0**-24)
        columns = self._columns(among, right, kappa)
        cut, nearer = cuts[0].clone(), cuts[1]
        waiting = torch.arange(len(rows), device=rows.device)
        parts, capacities = [], torch.full_like(waiting, self.capacity)
        while len(waiting):
            beyond = []
            pieces = -(-int(capacities.sum()) // BLOCK_ENTRIES)
            for some, capacity in zip(waiting.tensor_split(pieces), capacities.tensor_split(pieces), strict=True):
                asked = self._rows(rows[some], left[some], cut[some], kappa)
                found, counts = self._launch(asked, columns, capacity)
                fits = found.lengths == counts
                parts.append((some[fits], Ragged(counts[fits], found.columns)))
                # Beyond its places a row is searched less far, or, where it must be as far, with as many as it needs.
                rest, wanted = some[~fits], counts[~fits]
                beyond.append((rest, torch.where(cut[rest] < nearer[rest], self.capacity, wanted)))
            waiting, capacities = (torch.cat(each) for each in zip(*beyond, strict=True))
            cut[waiting] = nearer[waiting]
        return Ragged.joined(len(rows), parts), cut

    def _rows(self, rows: torch.Tensor, left: torch.Tensor, cut: torch.Tensor, kappa: float) -> dict[str, Any]:
        need = cut - kappa * (cut.abs() + left.abs()) + (1.0 - kappa) * self.base[rows]
        need -= kappa * need.abs() + 1e-30 * self.unit
        return {
            "names": rows.int(),
            "points": self._padded(self.exact[rows]),
            "left": (left / self.unit).float(),
            "need": (need / self.unit).float(),
        }

    def _columns(self, among: torch.Tensor | None, right: torch.Tensor, kappa: float) -> dict[str, Any]:
        names = self.everyone if among is None else among
        points = self._padded(self.exact[names] if among is not None else self.exact)
        return {
            "names": names.int(),
            "points": (2.0 * points).T.contiguous(),
            "right": right[names].float(),
            "base": ((1.0 - kappa) * self.base[names] / self.unit).float(),
        }

    def _padded(self, points: torch.Tensor) -> torch.Tensor:
        """Return points in float32 and in units of the largest, with zeros for as many signals as a tile takes."""
        width = points.shape[1]
        whole = max(16, 1 << (width - 1).bit_length()) if width <= 64 else -64 * (-width // 64)
        scaled = (points / self.unit**0.5).float()
        return torch.nn.functional.pad(scaled, (0, whole - width)).contiguous()

    def _launch(
        self, asked: dict[str, Any], columns: dict[str, Any], capacities: torch.Tensor
    ) -> tuple[Ragged, torch.Tensor]:
        """Run the kernel for some rows with so many places each; return what it found and how much there is.

        Rows with more than they have places for are returned empty.
        """
        from ._kernels import launch, spans  # noqa: PLC0415 (Triton comes with PyTorch for CUDA only)

        wide = spans(len(capacities), columns["points"].shape[1])
        wide = min(wide, max(1, BLOCK_ENTRIES // int(capacities.sum())))
        starts = pointers_of(capacities.repeat_interleave(wide))
        found = torch.empty(int(starts[-1]), dtype=torch.int32, device=capacities.device)
        counts = torch.empty((len(capacities), wide), dtype=torch.int32, device=capacities.device)
        launch(asked, columns, found, starts, counts)
        counts = counts.long()
        kept = torch.where((counts <= capacities[:, None]).all(1, keepdim=True), counts, 0)
        return Ragged(kept.sum(1), found[places_of(kept.ravel(), starts)]), counts.sum(1)

    def best(
        self, rows: torch.Tensor, kept: int, left: torch.Tensor, right: torch.Tensor, sample: int | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the largest scores of some rows, sorted downward, and whose they are: by blocks, whatever it costs."""
        among = None if sample is None else self.shuffled[:sample]
        found = [torch.topk(scores, kept, dim=1) for _, scores in self.blocks(rows, among, left, right)]
        self.searched += len(rows) * (len(self) if sample is None else sample)
        return torch.cat([each.values for each in found]), torch.cat([each.indices for each in found])

    def first_cuts(self, wanted: int) -> torch.Tensor:
        """Return for each row a score without bonus above which about ``wanted`` of the others lie.

        A sample of the columns tells it, searched above a cut that a smaller sample told.
        """
        n, rows = len(self), self.everyone
        nothing = self.no_bonus
        if wanted >= n - 1:
            return torch.full_like(self.base, -EVERYTHING)
        sample = min(n, SMALLEST_SAMPLE)
        place = min(sample - 1, max(FEW if sample < n else 1, round(wanted * sample / n)))
        cut = self.best(rows, place, nothing, nothing, sample)[0][:, -1]
        while LARGER * sample < n:
            sample *= LARGER
            cut = self._nth(self.find(rows, nothing, nothing, cut, sample), max(FEW, round(wanted * sample / n)), cut)
        return cut

    def _nth(self, found: Ragged, place: int, cut: torch.Tensor) -> torch.Tensor:
        """Return the score at some place of each row, or its last; where there is none, a bit less than the cut."""
        rows = row_numbers(found.lengths)
        scores = -self.costs(rows, found.columns).double()
        if not len(scores):
            return FURTHER * cut
        ordered = scores[order_in_rows(-scores, rows)]
        last = pointers_of(found.lengths)[:-1] + torch.clamp(found.lengths, max=place) - 1
        return torch.where(found.lengths > 0, ordered[torch.clamp(last, min=0)], FURTHER * cut)


def snapped(costs: torch.Tensor) -> torch.Tensor:
    """Return costs rounded to 32 bits, as in memory."""
    bits = costs.view(torch.int64) + HALF_BIT
    return (bits & ~(2 * HALF_BIT - 1)).view(torch.float64)


class CudaSearch(PairSearch):
    """The search on a GPU; see :class:`~nashgraph.pairs.search.PairSearch`.

    ``device`` may be any of PyTorch's; ``tiles`` says whether pairs are searched by the Triton kernel.
    """

    stores_all_pairs = False

    def __init__(
        self, X: Array, node_costs: Array | None = None, device: torch.device | None = None, tiles: bool | None = None
    ) -> None:
        self.device = gpu() if device is None else device
        self.node_costs, self.known_nearest = node_costs, None
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
        from .graphs import CudaCandidates  # noqa: PLC0415 (it imports this module)

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
