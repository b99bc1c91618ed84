"""A weight matrix W in S as a solver holds it: it can be multiplied, combined, measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy import sparse

from ..validation import Array
from .bonus import Bonus
from .csr import MANY_ENTRIES, product


class Place(NamedTuple):
    """How a vector gets to where a graph's products take it, and back to memory."""

    put: Callable[[Array], Any]
    get: Callable[[Any], Array]


HERE = Place(lambda vector: vector, lambda vector: vector)


class Weights(Protocol):
    r"""A weight matrix W in S, with the numbers its objective needs; every engine has its own.

    ``cost`` is the linear part <W, D> of J, ``square`` :math:`\|W\|_F^2`, ``threshold`` the :math:`\eta_i` of the row
    best response, where W is one, and ``place`` where its products take their vectors.
    """

    @property
    def cost(self) -> float: ...  # noqa: D102
    @property
    def square(self) -> float: ...  # noqa: D102
    @property
    def threshold(self) -> Array | None: ...  # noqa: D102
    @property
    def place(self) -> Place: ...  # noqa: D102

    def dot(self, vector: Array) -> Array:
        """Return W v."""

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F."""

    def mix(self, other: Self, share: float | Array) -> Self:
        """Return (1 - share) W + share V, which is in S again; each row may have a share of its own."""

    def minus(self, other: Self) -> Self:
        """Return W - V, a direction; only ``row_products`` may be asked of it."""

    def row_products(self, other: Self) -> Array:
        """Return the inner products of like rows of two matrices."""

    def bonus_spread(self, bonus: Bonus) -> float:
        r"""Return how much a bonus varies among neighbours: :math:`\sum_i \sum_{j \in N_i} (b_{ij} - \bar b_i)^2`."""

    def matrix(self) -> Any:
        """Return W as a CSR array in memory."""


@dataclass(frozen=True, eq=False)
class SparseWeights:
    """A weight matrix in memory, as CSR. See :class:`Weights`.

    ``costs`` are those of each row, so that rows can go different shares of a way and the cost of the mixture is known
    without looking at a single distance.
    """

    csr: Any
    costs: Array
    square: float
    threshold: Array | None = None
    place = HERE

    @property
    def cost(self) -> float:
        """The linear part <W, D> of J."""
        return float(self.costs.sum())

    @cached_property
    def transposed(self) -> Any:
        """W^T, found once: of a small graph a view of the same numbers, of a large one as much memory again."""
        return self.csr.T if self.csr.nnz < MANY_ENTRIES else sparse.csr_array(self.csr.T)

    def dot(self, vector: Array) -> Array:
        """Return W v."""
        return product(self.csr, vector)

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""
        return product(self.transposed, vector)

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F."""
        return float(np.linalg.norm((self.csr - other.csr).data))

    def mix(self, other: Self, share: float | Array) -> Self:
        """Return (1 - share) W + share V on the union of their neighbours; each row may have a share of its own."""
        shares = np.broadcast_to(share, self.costs.shape)
        csr = sparse.csr_array(scaled_rows(self.csr, 1.0 - shares) + scaled_rows(other.csr, shares))
        if not (0.0 < shares.min() <= shares.max() < 1.0):
            csr.eliminate_zeros()
        costs = (1.0 - shares) * self.costs + shares * other.costs
        return type(self)(csr, costs, float(np.vdot(csr.data, csr.data)))

    def minus(self, other: Self) -> Self:
        """Return W - V, a direction."""
        csr = sparse.csr_array(self.csr - other.csr)
        return type(self)(csr, self.costs - other.costs, float(np.vdot(csr.data, csr.data)))

    def row_products(self, other: Self) -> Array:
        """Return the inner products of like rows of two matrices."""
        return np.asarray(self.csr.multiply(other.csr).sum(axis=1)).ravel()

    def bonus_spread(self, bonus: Bonus) -> float:
        """Return how much a bonus varies among neighbours, added up."""
        lengths = np.diff(self.csr.indptr)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        values = np.einsum("ek,ek->e", bonus.left[rows], bonus.right[self.csr.indices])
        means = np.bincount(rows, values, len(lengths)) / np.maximum(lengths, 1)
        return float(np.square(values - means[rows]).sum())

    def matrix(self) -> Any:
        """Return W as CSR."""
        return self.csr


def scaled_rows(csr: Any, factors: Array) -> Any:
    """Return a CSR matrix whose rows are multiplied by a factor each."""
    data = csr.data * np.repeat(factors, np.diff(csr.indptr))
    return sparse.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)
