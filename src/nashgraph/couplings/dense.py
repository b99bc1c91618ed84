"""Graphs in S held as dense arrays: one N x N array of distances, one for each graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..validation import Array
from . import _kernels
from .distances import squared_distances


@dataclass(frozen=True, eq=False)
class DenseCoupling:
    """A graph W in S as an N x N array, with the numbers its objective needs.

    Attributes
    ----------
    weights : array of shape (n, n)
    cost : float, the linear part <W, D> of J
    square : float, ||W||_F^2
    threshold : array of shape (n,) or None
        The :math:`\\eta_i` of the row best response, where W is one.

    Examples
    --------
    >>> import numpy as np
    >>> graph = DenseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5).smooth()
    >>> graph.dot(np.ones(3))
    array([0.5, 0.5, 0.5])
    """

    weights: Array
    cost: float
    square: float
    threshold: Array | None = None

    def dot(self, vector: Array) -> Array:
        """Return W v."""
        product: Array = self.weights @ vector
        return product

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""
        product: Array = vector @ self.weights
        return product

    def distance(self, other: DenseCoupling) -> float:
        """Return ||W - V||_F."""
        return float(np.sqrt(_kernels.squared_difference(self.weights, other.weights)))


class DenseStorage:
    r"""Signals, beta and c: everything about J(W) on S, with distances held as one N x N array.

    .. math:: J(W) = \langle W, D \rangle + \beta \|W\|_F^2, \quad D_{ij} = \|x_i - x_j\|^2 / (2M)

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes)
    beta, c : float

    Examples
    --------
    >>> import numpy as np
    >>> storage = DenseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5)
    >>> storage.smooth().weights
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ]])
    """

    name = "dense"

    def __init__(self, X: Array, beta: float, c: float) -> None:
        self.distances = squared_distances(X)
        self.beta = beta
        self.c = c

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.distances)

    def respond(self, left: Array, right: Array) -> DenseCoupling:
        r"""Return the graph that answers the rank-one bonus :math:`l r^\top`.

        .. math:: \min_{W \in S} \; J(W) - \langle W, l r^\top \rangle

        It is :math:`W_{ij} = \frac{1}{2\beta} \max(0,\; l_i r_j + \eta_i - D_{ij})`, :math:`i \ne j` (Proposition
        "kkt" of the paper, for any rank-one bonus). One new N x N array, O(N^2).
        """
        weights = np.empty_like(self.distances)
        eta = np.empty(self.n_nodes, weights.dtype)
        sums = np.empty((self.n_nodes, 2), weights.dtype)
        _kernels.respond_rows(self.distances, left, right, 0.5 / self.beta, self.c, weights, eta, sums)
        cost, square = sums.sum(axis=0)
        return DenseCoupling(weights, float(cost), float(square), 2.0 * self.beta * eta)

    def smooth(self) -> DenseCoupling:
        """Return the Smooth-GL graph, which answers no bonus at all."""
        nothing = np.zeros(self.n_nodes, self.distances.dtype)
        return self.respond(nothing, nothing)

    def hold(self, weights: Array) -> DenseCoupling:
        """Return a given W in S as a coupling."""
        cost = float(np.vdot(weights, self.distances))
        return DenseCoupling(weights, cost, float(np.vdot(weights, weights)))

    def fidelity(self, coupling: DenseCoupling) -> float:
        """Return J(W)."""
        return coupling.cost + self.beta * coupling.square

    def projected_step(self, weights: Array, left: Array, right: Array, gamma: float, out: Array) -> Array:
        r"""Write :math:`\mathrm{Proj}_S(W - \gamma (D + 2\beta W - l r^\top))` into ``out`` and return it.

        One fused pass over the pairs; ``out`` must not be ``weights``. With :math:`\gamma = 1/(2\beta)` the old W
        drops out and this is :meth:`respond`.
        """
        keep = 1.0 - 2.0 * self.beta * gamma
        _kernels.descend_rows(weights, self.distances, left, right, keep, gamma, self.c, out)
        return out
