"""Graphs on a device: a weight matrix in S, and the candidate set that proves best responses.

They do what :mod:`nashgraph.pairs.weights` and :mod:`nashgraph.pairs.candidates` say, with tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from ...validation import Array
from ..bonus import Bonus
from ..candidates import MARGIN
from ..search import ROUNDING
from ..weights import Place
from .search import FURTHER, TRIES
from .tensors import (
    Projection,
    Ragged,
    memory_said,
    places_of,
    pointers_of,
    project,
    project_in_place,
    row_numbers,
    row_sums,
    smallest,
    to_device,
    to_numpy,
    torch,
)

if TYPE_CHECKING:
    from .search import CudaSearch

LONG = 512  # entries beyond which a row has a program of its own in a product
SPARE = 1.5  # times what rows have, beyond which what they had before is cleared away
MOST = 0.5  # share of the rows that fall short beyond which all are searched again


@dataclass(frozen=True, eq=False)
class Factor:
    """Columns and weights of rows of some lengths, one after the other.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> weights = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    >>> Factor(torch.tensor([1, 2]), torch.tensor([1, 0, 1], dtype=torch.int32), weights).product(np.array([1.0, 10.0]))
    array([10., 42.])
    """

    lengths: torch.Tensor
    columns: torch.Tensor
    weights: torch.Tensor

    @cached_property
    def starts(self) -> torch.Tensor:
        """Where each row begins, and where the last one ends."""
        return pointers_of(self.lengths)

    @cached_property
    def classes(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The short rows, and the long ones."""
        long = self.lengths > LONG
        return torch.nonzero(~long).ravel(), torch.nonzero(long).ravel()

    def product(self, vector: Any) -> Any:
        """Return the product with a vector; a tensor where that is one."""
        if isinstance(vector, np.ndarray):
            return to_numpy(self.product(to_device(vector, self.weights)))
        if self.weights.is_cuda:
            return self.by_kernel(vector)
        return row_sums(self.weights * vector[self.columns], self.lengths)

    def by_kernel(self, vector: torch.Tensor) -> torch.Tensor:
        """Return the product with a tensor, by the Triton kernel."""
        from ._kernels import multiply_rows  # noqa: PLC0415 (Triton comes with PyTorch for CUDA only)

        product = torch.empty(len(self.lengths), dtype=self.weights.dtype, device=self.weights.device)
        multiply_rows((self.starts, self.columns, self.weights), self.classes, vector.contiguous(), product)
        return product


@dataclass(frozen=True, eq=False)
class CudaWeights:
    """A weight matrix, its columns upward in each row. See :class:`~nashgraph.pairs.weights.Weights`."""

    lengths: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor
    costs: torch.Tensor  # of each row
    thresholds: torch.Tensor | None = None

    @cached_property
    def cost(self) -> float:
        """The linear part <W, D> of J."""
        return float(self.costs.sum())

    @cached_property
    def square(self) -> float:
        """The squared Frobenius norm."""
        return float(self.values @ self.values)

    @cached_property
    def threshold(self) -> Array | None:
        """The threshold of each row, in memory once it is asked for."""
        return None if self.thresholds is None else to_numpy(self.thresholds)

    @cached_property
    def rows(self) -> torch.Tensor:
        """The row of each edge."""
        return row_numbers(self.lengths)

    @cached_property
    def keys(self) -> torch.Tensor:
        """Row and column of each edge as one number, upward."""
        return self.rows.long() * len(self.lengths) + self.columns

    @cached_property
    def straight(self) -> Factor:
        """The matrix, ready for products."""
        return Factor(self.lengths, self.columns, self.values)

    @cached_property
    def turned(self) -> Factor:
        """The transpose, sorted once, so that its products are the same every time."""
        order = torch.argsort(self.columns, stable=True)
        return Factor(torch.bincount(self.columns, minlength=len(self.lengths)), self.rows[order], self.values[order])

    @property
    def place(self) -> Place:
        """How vectors get to the device and back."""
        return Place(lambda vector: to_device(vector, self.values), to_numpy)

    def dot(self, vector: Any) -> Any:
        """Return W v; a tensor if v is one."""
        return self.straight.product(vector)

    def tdot(self, vector: Any) -> Any:
        """Return W^T v; a tensor if v is one."""
        return self.turned.product(vector)

    def shared_with(self, other: Self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return where each edge would be among the other's, and whether it is there."""
        places = torch.searchsorted(other.keys, self.keys).clamp_(max=len(other.keys) - 1)
        return places, other.keys[places] == self.keys

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F, by the differences themselves."""
        places, shared = self.shared_with(other)
        alone = torch.ones(len(other.keys), dtype=torch.bool, device=shared.device)
        alone[places[shared]] = False
        difference = self.values - torch.where(shared, other.values[places], 0.0)
        rest = other.values[alone]
        return float(torch.sqrt(difference @ difference + rest @ rest))

    def combined(self, other: Self, own: torch.Tensor, others: torch.Tensor) -> Self:
        """Return ``own_i W_i + others_i V_i``, row by row, on the union of their neighbours."""
        keys, order = torch.sort(torch.cat([self.keys, other.keys]), stable=True)
        scaled = own[self.rows.long()] * self.values, others[other.rows.long()] * other.values
        keys, counts = torch.unique_consecutive(keys, return_counts=True)
        n = len(self.lengths)
        values, rows = row_sums(torch.cat(scaled)[order], counts), torch.div(keys, n, rounding_mode="floor")
        kept = torch.nonzero(values).ravel()
        values, rows, keys = values[kept], rows[kept], keys[kept]
        costs = own * self.costs + others * other.costs
        return type(self)(torch.bincount(rows, minlength=n), (keys - rows * n).int(), values, costs)

    def mix(self, other: Self, share: float | Array) -> Self:
        """Return (1 - share) W + share V; each row may have a share of its own."""
        shares = to_device(share, self.costs) if not isinstance(share, float) else torch.full_like(self.costs, share)
        return self.combined(other, 1.0 - shares, shares)

    def minus(self, other: Self) -> Self:
        """Return W - V, a direction."""
        ones = torch.ones_like(self.costs)
        return self.combined(other, ones, -ones)

    def row_products(self, other: Self) -> Array:
        """Return the inner products of like rows of two matrices, in memory."""
        places, shared = self.shared_with(other)
        return to_numpy(row_sums(torch.where(shared, self.values * other.values[places], 0.0), self.lengths))

    def bonus_spread(self, bonus: Bonus) -> float:
        """Return how much a bonus varies among neighbours, added up."""
        left, right = (to_device(side, self.values) for side in bonus[:2])
        rows = self.rows.long()
        gained = (left[rows] * right[self.columns.long()]).sum(1)
        means = row_sums(gained, self.lengths) / self.lengths.clamp(min=1)
        return float((gained - means[rows]).square().sum())

    def matrix(self) -> Any:
        """Return W as CSR in memory."""
        parts = (to_numpy(self.values), to_numpy(self.columns), to_numpy(pointers_of(self.lengths)))
        return sparse.csr_array(parts, shape=(len(self.lengths),) * 2)


class Sides(NamedTuple):
    """A bonus on the device, in float64."""

    left: torch.Tensor
    right: torch.Tensor


class CudaCandidates:
    r"""All pairs of score :math:`\langle L^0_i, R^0_j \rangle - D_{ij} \ge cut_i`, each row with a bonus of its own.

    Attributes
    ----------
    lengths, starts : tensors of shape (n_nodes,)
        How many pairs each row has, and where they begin; what was searched again is put at the end.
    columns, costs : tensors
        Column and cost of each pair, columns upward in each row.
    cut : tensor of shape (n_nodes,)
    """

    complete = False

    def __init__(self, search: CudaSearch, wanted: int) -> None:
        self.search, self.device = search, search.on_device
        self.bonuses = [Sides(self.device.no_bonus, self.device.no_bonus)]  # those that rows were searched with
        self.made = torch.zeros(len(search), dtype=torch.int64, device=self.device.exact.device)  # which of them
        self.cut = self.device.first_cuts(wanted)
        self._take(self.device.find(self.device.everyone, *self.bonuses[0], self.cut))
        self.deepen(1, self.device.everyone)

    def respond(self, bonus: Bonus, *, gain: float, total: float) -> CudaWeights:
        """Return the best response to a bonus, proved to be that among all pairs."""
        exact = self.device.exact
        sides = Sides(to_device(bonus.left, exact), to_device(bonus.right, exact))
        with memory_said():
            found = self.project(sides, gain, total)
            costs = row_sums(found.weights * self.costs[found.edges], found.lengths)
            threshold = found.above / gain - found.top - to_device(bonus.shift, exact)
            columns = self.columns[found.edges]
        return CudaWeights(found.lengths, columns, found.weights, costs, threshold)

    def hold(self, matrix: Any) -> CudaWeights:
        """Return a given W in S, with its costs."""
        csr = sparse.csr_array(matrix, dtype=float)
        csr.eliminate_zeros()
        csr.sort_indices()
        values = to_device(csr.data, self.device.exact)
        columns = torch.from_numpy(csr.indices.astype(np.int32)).to(values.device)
        lengths = torch.from_numpy(np.diff(csr.indptr).astype(np.int64)).to(values.device)
        costs = row_sums(values * self.device.costs(row_numbers(lengths), columns), lengths)
        return CudaWeights(lengths, columns, values, costs)

    def _take(self, found: Ragged) -> None:
        self.lengths, self.columns = found
        self.starts = pointers_of(self.lengths)[:-1]
        self.costs = self.device.costs(row_numbers(self.lengths), self.columns)

    def packed(self) -> torch.Tensor:
        """Put rows one after the other, without what is no longer theirs, and return the row of each pair."""
        starts = pointers_of(self.lengths)
        if len(self.columns) > int(starts[-1]) or not torch.equal(starts[:-1], self.starts):
            places = places_of(self.lengths, self.starts)
            self.columns, self.costs = self.columns[places], self.costs[places]
        self.starts = starts[:-1]
        return row_numbers(self.lengths)

    def deepen(self, kept: int, rows: torch.Tensor) -> None:
        """Search rows with fewer than ``kept`` candidates again, until none is left; all have been without bonus."""
        for tries in range(TRIES + 1):
            short = rows[self.lengths[rows] < kept]
            if not len(short):
                return
            if tries < TRIES:
                cut = FURTHER * self.cut[short]
            else:  # exactly, and a little beyond: ties are kept together
                best, _ = self.device.best(short, kept, *self._bonus_of(short, self.bonuses[0]))
                cut = (1.0 + 1e-9) * best[:, -1]
            self._renew(short, 0, cut)

    def nearest(self, kept: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the ``kept`` smallest costs of all rows, sorted upward, and whose they are; ``plain`` must be so."""
        self.deepen(kept, self.device.everyone)
        while True:
            costs, places = smallest(self.costs, self.starts, self.lengths, kept)
            # The search finds all above the cut, and may find some below it.
            short = torch.nonzero(-costs[:, -1] < self.cut).ravel()
            if not len(short):
                return costs, self.columns[places]
            self._renew(short, 0, -(1.0 + 1e-9) * costs[short, -1])

    @property
    def plain(self) -> bool:
        """Whether all rows were last searched without bonus."""
        return len(self.bonuses) == 1 and not self.bonuses[0].left.shape[1]

    def project(self, sides: Sides, gain: float, total: float) -> Projection:
        """Return the best response of every row to a bonus, proved to be that among all pairs."""
        found = self._project(sides, gain, total)
        threshold = found.top - found.above / gain
        # Fewer pairs have a lower threshold: all edges of the exact response lie above that of the candidates.
        renewed = self.cover(sides, threshold, MARGIN * (found.top - threshold))
        return self._project(sides, gain, total) if renewed else found

    def cover(self, sides: Sides, floor: torch.Tensor, margin: torch.Tensor) -> bool:
        """Make all pairs that score more than ``floor`` candidates; return whether rows were searched.

        Those are searched down to ``margin`` below the floor, so that the next bonus may find all it needs; less far
        where there are many.
        """
        # What is rounded in a score, its bonus included, is no proof.
        gained = largest_product(sides.left.abs(), sides.right.abs())
        floor = floor - ROUNDING * (floor.abs() + gained)
        short = self.unproved(sides, floor)
        if not len(short):
            return False
        if len(short) > MOST * len(self.cut):
            short = self.device.everyone
        self.bonuses.append(sides)
        self._renew(short, len(self.bonuses) - 1, (floor - margin)[short], floor[short])
        kept, self.made = torch.unique(self.made, return_inverse=True)
        self.bonuses = [self.bonuses[number] for number in kept.tolist()]
        return True

    def _project(self, sides: Sides, gain: float, total: float) -> Projection:
        if self.device.tiles and sides.left.shape[1] <= 1:
            one = [side[:, 0].contiguous() if side.shape[1] else torch.zeros_like(self.cut) for side in sides]
            given = self.starts, self.lengths, self.columns, self.costs
            return project_in_place(*given, (one[0], one[1]), gain, total)
        rows = self.packed().long()
        gained = (sides.left[rows] * sides.right[self.columns.long()]).sum(1)
        return project(gained - self.costs, rows, self.lengths, gain, total)

    def unproved(self, sides: Sides, floor: torch.Tensor) -> torch.Tensor:
        """Return the rows in which a pair that is not a candidate may score more than ``floor``."""
        return torch.nonzero(~(floor >= self.cut + self._increase(sides))).ravel()

    def _increase(self, now: Sides) -> torch.Tensor:
        """Return a bound of how much any score of each row has increased since its search; see CandidateSet."""
        increase = torch.zeros_like(self.cut)
        for number, before in enumerate(self.bonuses):
            mine = torch.nonzero(self.made == number).ravel()
            left, rest = now.left[mine], now.right
            if before.right.shape[1] and now.right.shape[1]:
                gram = before.right.T @ before.right
                change = torch.linalg.pinv(gram, hermitian=True) @ (before.right.T @ now.right)
                rest = now.right - before.right @ change
                increase[mine] = largest_product(left @ change.T - before.left[mine], before.right)
            elif before.right.shape[1]:
                increase[mine] = largest_product(-before.left[mine], before.right)
            increase[mine] += largest_product(left, rest)
        return increase

    def _bonus_of(self, rows: torch.Tensor, sides: Sides) -> Sides:
        """Return a bonus for some rows."""
        return Sides(sides.left[rows], sides.right)

    def _renew(self, rows: torch.Tensor, number: int, cut: torch.Tensor, floor: torch.Tensor | None = None) -> None:
        """Search some rows again with one of the bonuses, to a cut or down to a floor."""
        sides = self._bonus_of(rows, self.bonuses[number])
        found, cut = self.device.find_about(rows, *sides, cut, cut if floor is None else floor)
        if len(rows) == len(self.cut):
            self._take(found)
        else:
            self.starts[rows], self.lengths[rows] = len(self.columns) + pointers_of(found.lengths)[:-1], found.lengths
            costs = self.device.costs(rows[row_numbers(found.lengths)], found.columns)
            self.columns, self.costs = torch.cat([self.columns, found.columns]), torch.cat([self.costs, costs])
            if len(self.columns) > SPARE * int(self.lengths.sum()):
                self.packed()
        self.cut[rows], self.made[rows] = cut, number


def largest_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return a bound of ``max_j <left_i, right_j>``, column by column."""
    if not left.shape[1]:
        return left.sum(1)
    return torch.maximum(left * right.amax(0), left * right.amin(0)).sum(1)
