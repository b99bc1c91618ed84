"""A graph in S on a GPU: rows of columns and weights, and its transpose once that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from scipy import sparse

from ...validation import Array
from ..smoothness import Place, SparseCoupling
from .device import to_device, to_numpy, torch
from .factor import Factor
from .segments import pointers_of, row_numbers, row_sums


@dataclass(frozen=True, eq=False)
class CudaCoupling:
    """A graph in S, its columns upward in each row. See :class:`~nashgraph.couplings.Coupling`."""

    lengths: torch.Tensor
    columns: torch.Tensor
    weights: torch.Tensor
    cost: float
    square: float
    limits: torch.Tensor | None = None  # the threshold, there

    @cached_property
    def threshold(self) -> Array | None:
        """The threshold of each row, in memory once it is asked for."""
        return None if self.limits is None else to_numpy(self.limits)

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
        """The graph, ready for products."""
        return Factor(self.lengths, self.columns, self.weights)

    @cached_property
    def turned(self) -> Factor:
        """The transpose, sorted once, so that its products are the same every time."""
        order = torch.argsort(self.columns, stable=True)
        return Factor(torch.bincount(self.columns, minlength=len(self.lengths)), self.rows[order], self.weights[order])

    @property
    def place(self) -> Place:
        """How vectors get to the device and back."""
        return Place(lambda vector: to_device(vector, self.weights), to_numpy)

    def dot(self, vector: Any) -> Any:
        """Return W v; a tensor where v is one."""
        return self.straight.product(vector)

    def tdot(self, vector: Any) -> Any:
        """Return W^T v; a tensor where v is one."""
        return self.turned.product(vector)

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F, by the differences themselves."""
        places = torch.searchsorted(other.keys, self.keys).clamp_(max=len(other.keys) - 1)
        shared = other.keys[places] == self.keys
        alone = torch.ones(len(other.keys), dtype=torch.bool, device=shared.device)
        alone[places[shared]] = False
        difference = self.weights - torch.where(shared, other.weights[places], 0.0)
        rest = other.weights[alone]
        return float(torch.sqrt(difference @ difference + rest @ rest))

    def mix(self, other: Self, share: float) -> Self:
        """Return (1 - share) W + share V, on the union of their neighbours."""
        keys, order = torch.sort(torch.cat([self.keys, other.keys]), stable=True)
        weights = torch.cat([(1.0 - share) * self.weights, share * other.weights])[order]
        keys, counts = torch.unique_consecutive(keys, return_counts=True)
        n = len(self.lengths)
        weights, rows = row_sums(weights, counts), torch.div(keys, n, rounding_mode="floor")
        cost = (1.0 - share) * self.cost + share * other.cost
        lengths = torch.bincount(rows, minlength=n)
        return type(self)(lengths, (keys - rows * n).int(), weights, cost, float(weights @ weights))

    def matrix(self) -> Any:
        """Return W as CSR in memory."""
        parts = (to_numpy(self.weights), to_numpy(self.columns), to_numpy(pointers_of(self.lengths)))
        return sparse.csr_array(parts, shape=(len(self.lengths),) * 2)

    def arrays(self) -> dict[str, Array]:
        """Return the parts of the CSR matrix."""
        return self.sparse().arrays()

    def sparse(self) -> SparseCoupling:
        """Return W as CSR in memory, with its numbers."""
        return SparseCoupling(self.matrix(), self.cost, self.square, self.threshold)
