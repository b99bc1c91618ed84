"""Graphs in S held as dense arrays: one N x N array of costs, one for each graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .listed import ListedSmoothness
from .passes import Bonus, Part, Work, positive_part, stacked
from .points import Points
from .smoothness import Coupling, Smoothness, SparseCoupling

BLOCK_ROWS = 128


@dataclass(frozen=True, eq=False)
class DenseCoupling:
    """A graph in S as an N x N array. See :class:`~nashgraph.couplings.Coupling`."""

    weights: Array
    cost: float
    square: float
    threshold: Array | None = None

    def dot(self, vector: Array) -> Array:
        """Return W v."""
        product: Array = self.weights @ vector.astype(self.weights.dtype, copy=False)
        return product

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""
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


class DenseSmoothness(Smoothness):
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
    lists = True
    steps = True
    holds = True

    def __init__(self, points: Points, beta: float, c: float) -> None:
        super().__init__(points, beta, c)
        self.distances = points.rows(0, len(points))

    def respond(self, left: Array, right: Array) -> DenseCoupling:
        """Return the graph that answers a rank-one bonus: one new N x N array, O(N^2)."""
        return self._answer(Bonus.of(left, right, self.dtype))[0]

    def _answer(self, bonus: Bonus) -> tuple[DenseCoupling, Array]:
        """Return the best response to a bonus, and its thresholds as the kernels have them."""
        self.passes += 1
        weights = np.empty_like(self.distances)
        eta, sums = np.empty((self.n_nodes, 2), self.dtype), np.empty((self.n_nodes, 2))
        _kernels.respond_rows(self.distances, bonus.left, bonus.right, self.gain, self.c, weights, eta, sums)
        cost, square = sums.sum(axis=0)
        return DenseCoupling(weights, float(cost), float(square), self.threshold(eta, bonus)), eta

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
        for first in range(0, self.n_nodes, BLOCK_ROWS):
            yield work(first, self.distances[first : first + BLOCK_ROWS].copy())

    def survey(self, left: Array, right: Array, margin: float) -> tuple[DenseCoupling, Any]:
        """Return the best response to a bonus, and the pairs within ``margin`` of being edges."""
        bonus = Bonus.of(left, right, self.dtype)
        response, eta = self._answer(bonus)
        near = []
        for first in range(0, self.n_nodes, BLOCK_ROWS):
            uncut = self.distances[first : first + BLOCK_ROWS].copy()
            _kernels.uncut_block(uncut, first, bonus.left, bonus.right, self.gain, eta[first:], margin)
            near.append(positive_part(uncut))
        return response, stacked(near)

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
