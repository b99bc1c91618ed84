"""A graph in S whose rows are on the workers that made them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ...validation import Array
from ..passes import stacked
from ..smoothness import SparseCoupling
from . import rows
from .client import failures_said, put

if TYPE_CHECKING:
    from distributed import Client


class Layout(NamedTuple):
    """Which rows are a block, from where to where, and the cluster that has them."""

    client: Client
    spans: list[tuple[int, int]]

    def each(self, function: Callable[..., Any], *columns: Any) -> list[Any]:
        """Return a future of a function for each block, given its share of each column of arguments."""
        return [self.client.submit(function, *arguments, pure=False) for arguments in zip(*columns, strict=True)]

    def all(self, futures: list[Any]) -> list[Any]:
        """Return the values of some futures, in their order."""
        with failures_said(self.client):
            return list(self.client.gather(futures))

    def same(self, value: Any) -> list[Any]:
        """Return a value that is sent once, for every block."""
        return [put(self.client, value)] * len(self.spans)

    def shares(self, vector: Array) -> list[Array]:
        """Return the blocks' shares of a vector."""
        return [vector[first:last] for first, last in self.spans]


@dataclass(frozen=True, eq=False)
class DaskCoupling:
    """A graph in S as blocks of rows on workers. See :class:`~nashgraph.couplings.Coupling`."""

    layout: Layout
    blocks: list[Any]
    cost: float
    square: float
    threshold: Array | None = None

    @classmethod
    def of(cls, layout: Layout, blocks: list[Any]) -> tuple[Self, list[rows.Told]]:
        """Return the graph of some blocks, and what they tell."""
        told = layout.all(layout.each(rows.told_of, blocks))
        threshold = None if told[0].threshold is None else np.concatenate([each.threshold for each in told])
        cost, square = sum(each.cost for each in told), sum(each.square for each in told)
        return cls(layout, blocks, cost, square, threshold), told

    def dot(self, vector: Array) -> Array:
        """Return W v."""
        return np.concatenate(self.layout.all(self.layout.each(rows.dot, self.blocks, self.layout.same(vector))))

    def tdot(self, vector: Array) -> Array:
        """Return W^T v: the blocks' parts are added in their order."""
        parts = self.layout.all(self.layout.each(rows.tdot, self.blocks, self.layout.shares(vector)))
        return sum(parts[1:], parts[0])

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F."""
        return float(np.sqrt(sum(self.layout.all(self.layout.each(rows.distance, self.blocks, other.blocks)))))

    def mix(self, other: Self, share: float) -> Self:
        """Return (1 - share) W + share V, on the union of their neighbours."""
        shares = [share] * len(self.blocks)
        return self.of(self.layout, self.layout.each(rows.mix, self.blocks, other.blocks, shares))[0]

    def matrix(self) -> Any:
        """Return W as CSR in memory."""
        return stacked(self.layout.all(self.layout.each(rows.weights_of, self.blocks)))

    def arrays(self) -> dict[str, Array]:
        """Return the parts of the CSR matrix."""
        return self.sparse().arrays()

    def sparse(self) -> SparseCoupling:
        """Return W as CSR in memory, with its numbers."""
        return SparseCoupling(self.matrix(), self.cost, self.square, self.threshold)
