"""Graphs on a device: a weight matrix in S, and the candidate set that proves best responses.

They do what :mod:`nashgraph.pairs.weights` and :mod:`nashgraph.pairs.candidates` say, with tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from ...validation import Array
from ..bonus import Bonus
from ..candidates import RowResponses
from .arrays import DeviceArray
from .search import FURTHER, pair_chances, snapped
from .tensors import (
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
TRIES = 4  # how often rows that found too few are searched further before they are searched exactly


@dataclass(frozen=True, eq=False)
class Factor:
    """A matrix for products: columns and values of rows of some lengths, one after the other."""

    lengths: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor

    @cached_property
    def starts(self) -> torch.Tensor:
        """Where each row begins, and where the last one ends."""
        return pointers_of(self.lengths)

    @cached_property
    def classes(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The short rows, and the long ones."""
        long = self.lengths > LONG
        return torch.nonzero(~long).ravel(), torch.nonzero(long).ravel()

    def dot(self, vector: Any) -> Any:
        """Return W v, on the device if v is there."""
        if isinstance(vector, np.ndarray):
            return np.asarray(self.dot(DeviceArray(to_device(vector, self.values))))
        if self.values.is_cuda:
            return DeviceArray(self.by_kernel(vector.tensor))
        return DeviceArray(row_sums(self.values * vector.tensor[self.columns], self.lengths))

    def by_kernel(self, vector: torch.Tensor) -> torch.Tensor:
        """Return the product with a tensor, by the Triton kernel."""
        from ._kernels import multiply_rows  # noqa: PLC0415 (Triton comes with PyTorch for CUDA only)

        product = self.values.new_empty(len(self.lengths))
        multiply_rows((self.starts, self.columns, self.values), self.classes, vector.contiguous(), product)
        return product


@dataclass(frozen=True, eq=False)
class CudaWeights(Factor):
    """A weight matrix, its columns upward in each row. See :class:`~nashgraph.pairs.weights.Weights`."""

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
    def transposed(self) -> Factor:
        """The transpose, sorted once, so that its products are the same every time."""
        order = torch.argsort(self.columns, stable=True)
        return Factor(torch.bincount(self.columns, minlength=len(self.lengths)), self.rows[order], self.values[order])

    def put(self, vector: Array) -> DeviceArray:
        """Return a vector on the device."""
        return DeviceArray(to_device(vector, self.values))

    def tdot(self, vector: Any) -> Any:
        """Return W^T v, on the device if v is there."""
        return self.transposed.dot(vector)

    def shared_with(self, other: Self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return where each edge would be among the other's, and whether it is there."""
        places = torch.searchsorted(other.keys, self.keys).clamp_(max=len(other.keys) - 1)
        return places, other.keys[places] == self.keys

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F, by the differences themselves."""
        places, shared = self.shared_with(other)
        # Edges of the other that this one has not count with their whole weight.
        alone = torch.ones(len(other.keys), dtype=torch.bool, device=shared.device)
        alone[places[shared]] = False
        difference = self.values - torch.where(shared, other.values[places], 0.0)
        rest = other.values[alone]
        return float(torch.sqrt(difference @ difference + rest @ rest))

    def combined(self, other: Self, own: torch.Tensor, others: torch.Tensor) -> Self:
        """Return ``own_i W_i + others_i V_i``, row by row, on the union of their neighbours."""
        # Both lists of edges in one order; equal keys stand together and their values add up.
        keys, order = torch.sort(torch.cat([self.keys, other.keys]), stable=True)
        scaled = own[self.rows.long()] * self.values, others[other.rows.long()] * other.values
        keys, counts = torch.unique_consecutive(keys, return_counts=True)
        n = len(self.lengths)
        values = row_sums(torch.cat(scaled)[order], counts)
        rows = torch.div(keys, n, rounding_mode="floor")
        kept = torch.nonzero(values).ravel()
        values = values[kept]
        rows = rows[kept]
        keys = keys[kept]
        costs = own * self.costs + others * other.costs
        return type(self)(torch.bincount(rows, minlength=n), (keys - rows * n).int(), values, costs)

    def mix(self, other: Self, share: float | Array) -> Self:
        """Return (1 - share) W + share V; each row may have a share of its own."""
        if not isinstance(share, float):
            shares = to_device(share, self.costs)
        else:
            shares = torch.full_like(self.costs, share)
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
        parts = (to_numpy(self.values), to_numpy(self.columns), to_numpy(self.starts))
        return sparse.csr_array(parts, shape=(len(self.lengths),) * 2)


class DevicePairs:
    """Candidate pairs on a device: rows of some ``lengths``, their ``columns`` upward in each row, and their ``costs``.

    At first each row has about as many as are wanted, and one at least. See
    :class:`~nashgraph.pairs.candidates.CandidatePairs`. ``plain`` is whether all rows were last searched without bonus.
    """

    search_all = 0.5

    def __init__(self, search: CudaSearch, wanted: int) -> None:
        self.search = search
        self.cut = search.first_cuts(wanted)
        self.plain = True
        self.no_bonus = Bonus(*search.no_bonus, torch.zeros_like(self.cut))
        self._renew(search.everyone, self.no_bonus, self.cut)
        self._deepen(1)

    def put(self, bonus: Bonus) -> Bonus:
        """Return a bonus on the device."""
        return Bonus(*(to_device(part, self.cut) for part in bonus))

    def hold(self, matrix: Any) -> CudaWeights:
        """Return a given W in S, with its costs."""
        csr = sparse.csr_array(matrix, dtype=float)
        csr.eliminate_zeros()
        csr.sort_indices()
        values = to_device(csr.data, self.cut)
        columns = torch.from_numpy(csr.indices.astype(np.int32)).to(values.device)
        lengths = torch.from_numpy(np.diff(csr.indptr).astype(np.int64)).to(values.device)
        costs = row_sums(values * self.search.pair_costs(row_numbers(lengths), columns), lengths)
        return CudaWeights(lengths, columns, values, costs)

    def smallest_costs(self, kept: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the ``kept`` smallest costs of all rows, sorted upward, and whose they are; needs ``plain``.

        Chance chooses among equals, as in memory.
        """
        self._deepen(kept)
        while True:
            draws = self.search.draws
            chances = pair_chances(draws[row_numbers(self.lengths).long()], draws[self.columns.long()])
            costs, places = smallest(snapped(self.costs), chances, self._starts, self.lengths, kept)
            # The search finds all above the cut, and may find some below it.
            short = torch.nonzero(-costs[:, -1] < self.cut).ravel()
            if not len(short):
                return costs, self.columns[places]
            self._renew(short, self.no_bonus, -(1.0 + 1e-9) * costs[short, -1])

    def _deepen(self, kept: int) -> None:
        """Search rows with fewer than ``kept`` candidates again, until none is left; all have been without bonus."""
        for tries in range(TRIES + 1):
            short = torch.nonzero(self.lengths < kept).ravel()
            if not len(short):
                return
            if tries < TRIES:
                cut = FURTHER * self.cut[short]
            else:  # exactly, and a little beyond: ties are kept together
                best, _ = self.search.best(short, kept, self.no_bonus.left[short], self.no_bonus.right)
                cut = (1.0 + 1e-9) * best[:, -1]
            self._renew(short, self.no_bonus, cut)

    def respond(self, bonus: Bonus, gain: float, total: float) -> RowResponses:
        """Return the best response among the candidates."""
        with memory_said():
            return self._respond(bonus, gain, total)

    def _respond(self, bonus: Bonus, gain: float, total: float) -> RowResponses:
        if self.search.tiles and bonus.rank <= 1:
            given = self._starts, self.lengths, self.columns, self.costs
            left, right = bonus[:2] if bonus.rank else (self.no_bonus.shift, self.no_bonus.shift)
            found = project_in_place(*given, (left.ravel(), right.ravel()), gain, total)
        else:
            rows = row_numbers(self.lengths).long()
            gained = (bonus.left[rows] * bonus.right[self.columns.long()]).sum(1)
            found = project(gained - self.costs, rows, self.lengths, gain, total)
        costs = row_sums(found.weights * self.costs[found.edges], found.lengths)
        threshold = found.above / gain - found.top - bonus.shift
        weights = CudaWeights(found.lengths, self.columns[found.edges], found.weights, costs, threshold)
        return RowResponses(weights, found.top, found.above)

    def extend(self, rows: Any, bonus: Bonus, floor: Any, cut: Any, gain: float, total: float) -> None:
        """Add the pairs of some rows (a mask) that score at least the cut, or more if they are many, up to a floor."""
        with memory_said():
            short = torch.nonzero(rows).ravel()
            before = Ragged(self.lengths[short], self.columns[places_of(self.lengths[short], self._starts[short])])
            self._renew(short, bonus, cut[short], floor[short], before)
        self.plain = self.plain and bonus.rank == 0

    @property
    def _starts(self) -> torch.Tensor:
        """Where the candidates of each row begin."""
        return pointers_of(self.lengths)[:-1]

    def _renew(
        self,
        rows: torch.Tensor,
        bonus: Bonus,
        cut: torch.Tensor,
        floor: torch.Tensor | None = None,
        before: Ragged | None = None,
    ) -> None:
        """Search some rows again with a bonus, to a cut or down to a floor; what they had ``before`` stays."""
        found, cut = self.search.find(rows, bonus.left[rows], bonus.right, cut, floor)
        if before is not None:
            found = found.with_also(before, len(self.cut))
        costs = self.search.pair_costs(rows.int()[row_numbers(found.lengths)], found.columns)
        # Rows that were not searched stay where they are; the others are appended, then all are closed up.
        if len(rows) == len(self.cut):
            (self.lengths, self.columns), self.costs, self.cut = found, costs, cut
        else:
            starts = self._starts
            starts[rows] = len(self.columns) + pointers_of(found.lengths)[:-1]
            self.lengths[rows] = found.lengths
            places = places_of(self.lengths, starts)
            self.columns = torch.cat([self.columns, found.columns])[places]
            self.costs = torch.cat([self.costs, costs])[places]
            self.cut[rows] = cut

    def pseudoinverse(self, right: torch.Tensor) -> torch.Tensor:
        """Return the pseudoinverse of one side of a bonus, by its Gram matrix: a device is slow at tall matrices."""
        return torch.linalg.pinv(right.T @ right, hermitian=True) @ right.T

    def largest_product(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return a bound of ``max_j <left_i, right_j>``, column by column; ``right`` has one row for each column."""
        return torch.maximum(left * right.amax(1), left * right.amin(1)).sum(1)
