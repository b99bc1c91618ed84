"""How a graph in S may be held: what a solver needs of it, whatever is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..validation import Array
from .distances import Result


class Coupling(Protocol):
    r"""A graph W in S, with the numbers its objective needs.

    Attributes
    ----------
    cost : float, the linear part <W, D> of J
    square : float, ||W||_F^2
    threshold : array of shape (n,) or None
        The :math:`\eta_i` of the row best response, where W is one.
    """

    @property
    def cost(self) -> float: ...  # noqa: D102
    @property
    def square(self) -> float: ...  # noqa: D102
    @property
    def threshold(self) -> Array | None: ...  # noqa: D102

    def dot(self, vector: Array) -> Array:
        """Return W v."""

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""

    def distance(self, other: Any) -> float:
        """Return ||W - V||_F for another graph held the same way."""

    def mix(self, other: Any, share: float) -> Any:
        """Return (1 - share) W + share V, which is in S again."""

    def matrix(self) -> Any:
        """Return W as a matrix: a numpy array or a scipy CSR array."""


class Storage(Protocol):
    r"""Signals, beta and c: everything about J(W) on S, and how graphs on it are held.

    .. math:: J(W) = \langle W, D \rangle + \beta \|W\|_F^2, \quad D_{ij} = \|x_i - x_j\|^2 / (2M)

    Attributes
    ----------
    name : str
    beta, c : float
    n_nodes : int
    passes : int, how many times all pairs of nodes have been gone through
    """

    name: str
    beta: float
    c: float
    passes: int

    @property
    def n_nodes(self) -> int: ...  # noqa: D102
    @property
    def dtype(self) -> np.dtype[np.floating]: ...  # noqa: D102

    def respond(self, left: Array, right: Array) -> Any:
        r"""Return the graph that answers the rank-one bonus :math:`l r^\top`.

        .. math:: \min_{W \in S} \; J(W) - \langle W, l r^\top \rangle

        It is :math:`W_{ij} = \frac{1}{2\beta} \max(0,\; l_i r_j + \eta_i - D_{ij})`, :math:`i \ne j` (Proposition
        "kkt" of the paper, for any rank-one bonus).
        """

    def hold(self, weights: Any) -> Any:
        """Return a given W in S, as a matrix, as a coupling."""

    def map_distances(self, work: Callable[[int, Array], Result]) -> Iterator[Result]:
        """Yield ``work(first row, rows of D)`` over blocks of rows; see :meth:`Points.map`."""


class Bonus(NamedTuple):
    """A rank-one bonus l r^T with its row constants taken off, in the storage's kind of float.

    A constant added to a row of scores changes its threshold and nothing else. Taking off l_i max(r) leaves small
    numbers where it matters, near the row's best, and so keeps digits that l_i r_j - d_ij would lose when lam is large.

    Examples
    --------
    >>> import numpy as np
    >>> bonus = Bonus.of(np.ones(2), np.array([1.0, 3.0]), np.dtype(float))
    >>> bonus.right, bonus.shift
    (array([-2.,  0.]), array([3., 3.]))
    """

    left: Array
    right: Array
    shift: Array

    @classmethod
    def of(cls, left: Array, right: Array, dtype: np.dtype[np.floating]) -> Bonus:
        """Shift and convert."""
        top = right.max()
        return cls(left.astype(dtype, copy=False), (right - top).astype(dtype, copy=False), left * top)


def smooth_graph(storage: Storage) -> Any:
    """Return the Smooth-GL graph, the one that answers no bonus at all.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.couplings import DenseStorage
    >>> smooth_graph(DenseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5)).weights[0]
    array([0. , 0.5, 0. ])
    """
    nothing = np.zeros(storage.n_nodes)
    return storage.respond(nothing, nothing)


def fidelity(storage: Storage, coupling: Coupling) -> float:
    """Return J(W) = <W, D> + beta ||W||_F^2.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.couplings import DenseStorage
    >>> storage = DenseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5)
    >>> fidelity(storage, smooth_graph(storage))
    2.25
    """
    return coupling.cost + storage.beta * coupling.square
