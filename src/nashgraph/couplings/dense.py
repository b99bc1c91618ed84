"""Graphs in S held as dense arrays: one N x N array of distances, one for each graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from . import _kernels
from .distances import Result, squared_distances
from .protocol import Bonus
from .sparse import positive_part, stacked

SURVEY_ROWS = 128


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

    def survey(self, left: Array, right: Array, margin: float) -> tuple[DenseCoupling, Any]:
        """Return the answer to a bonus and, as a CSR pattern, the pairs that lack less than ``margin`` of it."""
        response = self.respond(left, right)
        bonus = Bonus.of(left, right, self.dtype)
        gain = 0.5 / self.beta
        eta = ((response.threshold + bonus.shift) * gain).astype(self.dtype)
        near = []
        for first in range(0, self.n_nodes, SURVEY_ROWS):
            lifted = self.distances[first : first + SURVEY_ROWS].copy()
            _kernels.lift_block(lifted, first, bonus.left, bonus.right, gain, eta, margin)
            near.append(positive_part(lifted))
        return response, stacked(near)

    def hold(self, weights: Any) -> DenseCoupling:
        """Return a given W in S as a coupling."""
        whole = weights.toarray() if sparse.issparse(weights) else weights
        kept = np.ascontiguousarray(whole, dtype=self.distances.dtype)
        return DenseCoupling(kept, float(np.vdot(kept, self.distances)), float(np.vdot(kept, kept)))

    def map_distances(self, work: Callable[[int, Array], Result]) -> Iterator[Result]:
        """Yield ``work`` on the distances whole."""
        self.passes += 1
        yield work(0, self.distances)

    def projected_step(self, weights: Array, left: Array, right: Array, gamma: float, out: Array) -> Array:
        r"""Write :math:`\mathrm{Proj}_S(W - \gamma (D + 2\beta W - l r^\top))` into ``out`` and return it.

        One fused pass over the pairs; ``out`` must not be ``weights``. With :math:`\gamma = 1/(2\beta)` the old W
        drops out and this is :meth:`respond`.
        """
        self.passes += 1
        keep = 1.0 - 2.0 * self.beta * gamma
        _kernels.descend_rows(weights, self.distances, left, right, keep, gamma, self.c, out)
        return out
