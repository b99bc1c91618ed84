"""Graphs in S held as dense arrays: one N x N array of costs, one for each graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .listed import ListedSmoothness, Surveying
from .passes import Bonus, Part, Work, positive_part
from .points import Points
from .smoothness import Coupling, SparseCoupling
from .threads import shared

BLOCK_ROWS = 128
LIGHT_NODES, LIGHT_DENSITY = 500, 0.1  # from so many nodes on, with so few pairs that are edges, CSR multiplies faster


@dataclass(frozen=True, eq=False)
class DenseCoupling:
    """A graph in S as an N x N array. See :class:`~nashgraph.couplings.Coupling`."""

    weights: Array
    cost: float
    square: float
    threshold: Array | None = None

    @cached_property
    def light(self) -> SparseCoupling | None:
        """The same as CSR, where that is worth it: a game takes dozens of products."""
        n = len(self.weights)
        few = n >= LIGHT_NODES and np.count_nonzero(self.weights) <= LIGHT_DENSITY * n * n
        return self.sparse() if few else None

    def dot(self, vector: Array) -> Array:
        """Return W v."""
        if self.light is not None:
            return self.light.dot(vector)
        product: Array = self.weights @ vector.astype(self.weights.dtype, copy=False)
        return product

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""
        if self.light is not None:
            return self.light.tdot(vector)
        product: Array = vector.astype(self.weights.dtype, copy=False) @ self.weights
        return product

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F."""
        return float(np.sqrt(_kernels.squared_difference(self.weights, other.weights)))

    def mix(self, other: Self, share: float) -> Self:
        """Return (1 - share) W + share V: one new N x N array, and another while it is made."""
        weights = (1.0 - share) * self.weights
        weights += share * other.weights
        cost = (1.0 - share) * self.cost + share * other.cost
        return type(self)(weights, cost, float(np.vdot(weights, weights)))

    def matrix(self) -> Array:
        """Return W."""
        return self.weights

    def arrays(self) -> dict[str, Array]:
        """Return W."""
        return {"weights": self.weights}

    def sparse(self) -> SparseCoupling:
        """Return W as CSR."""
        return SparseCoupling(positive_part(self.weights), self.cost, self.square)


class DenseSmoothness(Surveying):
    """Costs held as one N x N array. See :class:`~nashgraph.couplings.Smoothness`.

    Examples
    --------
    >>> from nashgraph.couplings import points_of
    >>> smoothness = DenseSmoothness(points_of(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> smoothness.smooth.weights
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ]])
    >>> round(smoothness.fidelity(smoothness.smooth), 12)
    2.25
    """

    name = "dense"
    steps = True
    holds = True

    def __init__(self, points: Points, beta: float, c: float) -> None:
        super().__init__(points, beta, c)
        self.distances = points.rows(0, len(points))

    @cached_property
    def smooth(self) -> Coupling:
        """The Smooth-GL graph; its edges tell the first survey what to look at."""
        graph = super().smooth
        self.known = self.listed(graph.sparse().weights)
        return graph

    def respond(self, left: Array, right: Array) -> DenseCoupling:
        """Return the graph that answers a rank-one bonus: one new N x N array, O(N^2)."""
        self.passes += 1
        bonus, weights = Bonus.of(left, right, self.dtype), np.empty_like(self.distances)
        eta, sums = np.empty((self.n_nodes, 2), self.dtype), np.empty((self.n_nodes, 2))
        _kernels.respond_rows(self.distances, bonus.left, bonus.right, self.gain, self.c, weights, eta, sums)
        cost, square = sums.sum(axis=0)
        return DenseCoupling(weights, float(cost), float(square), self.threshold(eta, bonus))

    def hold(self, weights: Any) -> DenseCoupling:
        """Return a given W in S as a coupling."""
        whole = weights.toarray() if sparse.issparse(weights) else weights
        kept = np.ascontiguousarray(whole, dtype=self.dtype)
        return DenseCoupling(kept, float(np.vdot(kept, self.distances)), float(np.vdot(kept, kept)))

    def revive(self, arrays: Mapping[str, Array], cost: float, square: float, threshold: Array | None) -> DenseCoupling:
        """Return the graph that gave these ``arrays``, to the bit."""
        return DenseCoupling(arrays["weights"], cost, square, threshold)

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Yield the parts of a pass over the stored costs, a few rows at a time."""
        self.passes += 1

        def block(first: int, buffer: Array) -> Part:
            rows = self.distances[first : first + BLOCK_ROWS]
            np.copyto(buffer[: len(rows)], rows)
            return work(first, buffer[: len(rows)])

        empty = partial(np.empty, (BLOCK_ROWS, self.n_nodes), self.dtype)
        yield from shared(block, range(0, self.n_nodes, BLOCK_ROWS), empty)

    def listed(self, pattern: Any) -> ListedSmoothness:
        """Return the term on the pairs of a pattern only."""
        pattern.sort_indices()
        rows = np.repeat(np.arange(self.n_nodes), np.diff(pattern.indptr))
        return ListedSmoothness.of(pattern, self.distances[rows, pattern.indices], self.beta, self.c)

    def adopt(self, coupling: SparseCoupling) -> DenseCoupling:
        """Return a graph found on listed pairs as an array."""
        return self.hold(coupling.weights)

    def step(
        self, coupling: Coupling, left: Array, right: Array, gamma: float, spare: Coupling | None = None
    ) -> DenseCoupling:
        r"""Return :math:`\mathrm{Proj}_S(W - \gamma (D + 2\beta W - l r^\top))` by one fused pass over the pairs.

        With :math:`\gamma = 1/(2\beta)` the old W drops out and this is :meth:`respond`.
        """
        self.passes += 1
        out = np.empty_like(self.distances) if spare is None else spare.matrix()
        keep = 1.0 - 2.0 * self.beta * gamma
        _kernels.descend_rows(coupling.matrix(), self.distances, left, right, keep, gamma, self.c, out)
        return self.hold(out)
