"""A weight matrix in S on a GPU: rows of columns and weights, and its transpose once that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from scipy import sparse

from ...validation import Array
from ..bonus import Bonus
from ..weights import Place
from .device import to_device, to_numpy, torch
from .factor import Factor
from .segments import pointers_of, row_numbers, row_sums


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
