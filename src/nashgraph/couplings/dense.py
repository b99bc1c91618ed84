"""Graphs in S held as dense arrays: one N x N array of distances, one for each graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..validation import Array
from . import _kernels
from .distances import squared_distances
from .protocol import Bonus


@dataclass(frozen=True, eq=False)
class DenseCoupling:
    """A graph in S as an N x N array. See :class:`~nashgraph.couplings.Coupling`.

    Examples
    --------
    >>> import numpy as np
    >>> graph = DenseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5).respond(np.zeros(3), np.zeros(3))
    >>> graph.dot(np.ones(3))
    array([0.5, 0.5, 0.5])
    """

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

    def distance(self, other: DenseCoupling) -> float:
        """Return ||W - V||_F."""
        return float(np.sqrt(_kernels.squared_difference(self.weights, other.weights)))

    def mix(self, other: DenseCoupling, share: float) -> DenseCoupling:
        """Return (1 - share) W + share V: one new N x N array, and another while it is made."""
        weights = (1.0 - share) * self.weights
        weights += share * other.weights
        cost = (1.0 - share) * self.cost + share * other.cost
        return DenseCoupling(weights, cost, float(np.vdot(weights, weights)))

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield W whole."""
        yield 0, self.weights

    def matrix(self) -> Array:
        """Return W."""
        return self.weights


class DenseStorage:
    """Distances held as one N x N array. See :class:`~nashgraph.couplings.Storage`.

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes)
    beta, c : float

    Examples
    --------
    >>> import numpy as np
    >>> storage = DenseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5)
    >>> storage.respond(np.zeros(3), np.zeros(3)).weights
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ]])
    """

    name = "dense"

    def __init__(self, X: Array, beta: float, c: float) -> None:
        self.distances = squared_distances(X)
        self.beta = beta
        self.c = c
        self.passes = 0

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.distances)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The kind of float graphs are held in."""
        return self.distances.dtype

    def respond(self, left: Array, right: Array) -> DenseCoupling:
        """Return the graph that answers a rank-one bonus: one new N x N array, O(N^2)."""
        self.passes += 1
        kind = self.distances.dtype
        weights = np.empty_like(self.distances)
        eta = np.empty(self.n_nodes, kind)
        sums = np.empty((self.n_nodes, 2))
        bonus = Bonus.of(left, right, kind)
        _kernels.respond_rows(self.distances, bonus.left, bonus.right, 0.5 / self.beta, self.c, weights, eta, sums)
        cost, square = sums.sum(axis=0)
        return DenseCoupling(weights, float(cost), float(square), 2.0 * self.beta * eta - bonus.shift)

    def hold(self, weights: Array) -> DenseCoupling:
        """Return a given W in S as a coupling."""
        kept = np.ascontiguousarray(weights, dtype=self.distances.dtype)
        return DenseCoupling(kept, float(np.vdot(kept, self.distances)), float(np.vdot(kept, kept)))

    def distance_blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield the distances whole."""
        yield 0, self.distances

    def projected_step(self, weights: Array, left: Array, right: Array, gamma: float, out: Array) -> Array:
        r"""Write :math:`\mathrm{Proj}_S(W - \gamma (D + 2\beta W - l r^\top))` into ``out`` and return it.

        One fused pass over the pairs; ``out`` must not be ``weights``. With :math:`\gamma = 1/(2\beta)` the old W
        drops out and this is :meth:`respond`.
        """
        self.passes += 1
        keep = 1.0 - 2.0 * self.beta * gamma
        _kernels.descend_rows(weights, self.distances, left, right, keep, gamma, self.c, out)
        return out
