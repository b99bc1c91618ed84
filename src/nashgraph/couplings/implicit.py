r"""Graphs in S that are not stored: a best response is its bonus and thresholds, and rows are made when asked for.

.. math:: W = \sum_k s_k W^{(k)}, \quad
          W^{(k)}_{ij} = \tfrac{1}{2\beta}\max(0, l^{(k)}_i r^{(k)}_j + \eta^{(k)}_i - D_{ij})

One term is a best response; a line search that stops short of one adds a term. Memory is O(NM) and a block of rows,
whatever the number of neighbours; the price is that every product goes through all pairs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..validation import Array, InputError
from . import _kernels
from .distances import Result
from .protocol import Bonus
from .sparse import StreamedStorage


class Term(NamedTuple):
    """A best response and its share in a graph: the bonus l r^T and the thresholds in score units.

    Examples
    --------
    >>> import numpy as np
    >>> Term(1.0, np.zeros(2), np.zeros(2), np.ones(2)).share
    1.0
    """

    share: float
    left: Array
    right: Array
    eta: Array


@dataclass(frozen=True, eq=False)
class ImplicitCoupling:
    """A graph in S as a short sum of best responses. See :class:`~nashgraph.couplings.Coupling`.

    Examples
    --------
    >>> import numpy as np
    >>> graph = ImplicitStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5).respond(np.zeros(3), np.zeros(3))
    >>> graph.dot(np.ones(3))
    array([0.5, 0.5, 0.5])
    """

    storage: ImplicitStorage
    terms: tuple[Term, ...]
    cost: float
    square: float
    threshold: Array | None = None

    def map_rows(self, work: Callable[[int, Array], Result]) -> Iterator[Result]:
        """Yield ``work(first row, rows of W)`` over blocks of rows, made from the signals."""

        def make(first: int, distances: Array) -> Result:
            rows = np.zeros_like(distances)
            for share, left, right, eta in self.terms:
                _kernels.replay_block(distances, first, left, right, 0.5 / self.storage.beta, eta, share, rows)
            return work(first, rows)

        yield from self.storage.map_distances(make)

    def dot(self, vector: Array) -> Array:
        """Return W v: one pass over all pairs."""
        vector = vector.astype(self.storage.points.dtype, copy=False)
        return np.concatenate(list(self.map_rows(lambda _, rows: rows @ vector)))

    def tdot(self, vector: Array) -> Array:
        """Return W^T v: one pass over all pairs."""
        vector = vector.astype(self.storage.points.dtype, copy=False)
        product = np.zeros_like(vector)
        for part in self.map_rows(lambda first, rows: vector[first : first + len(rows)] @ rows):
            product += part
        return product

    def distance(self, other: ImplicitCoupling) -> float:
        """Return ||W - V||_F: one pass over all pairs, both graphs made from the same distances."""
        opposite = tuple(term._replace(share=-term.share) for term in other.terms)
        difference = ImplicitCoupling(self.storage, self.terms + opposite, 0.0, 0.0)
        return float(np.sqrt(sum(difference.map_rows(lambda _, rows: float(np.vdot(rows, rows))))))

    def mix(self, other: ImplicitCoupling, share: float) -> ImplicitCoupling:
        """Return (1 - share) W + share V, with the terms of both."""
        terms = tuple(term._replace(share=(1.0 - share) * term.share) for term in self.terms)
        terms += tuple(term._replace(share=share * term.share) for term in other.terms)
        # ||(1-s) W + s V||^2 from the squares and the distance, which needs no more than the one pass.
        square = (1.0 - share) * self.square + share * other.square
        square -= share * (1.0 - share) * self.distance(other) ** 2
        cost = (1.0 - share) * self.cost + share * other.cost
        return ImplicitCoupling(self.storage, terms, cost, square)

    def matrix(self) -> Any:
        """Return W as CSR, which is only as small as its rows have few neighbours."""
        return sparse.csr_array(sparse.vstack(list(self.map_rows(lambda _, rows: sparse.csr_array(rows)))))


class ImplicitStorage(StreamedStorage):
    """Signals held as points, graphs as bonus and thresholds. See :class:`~nashgraph.couplings.Storage`.

    Parameters
    ----------
    X : array of shape (n_signals, n_nodes)
    beta, c : float

    Examples
    --------
    >>> import numpy as np
    >>> storage = ImplicitStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5)
    >>> storage.respond(np.zeros(3), np.zeros(3)).matrix().toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ]])
    """

    name = "implicit"

    def respond(self, left: Array, right: Array) -> ImplicitCoupling:
        """Return the graph that answers a rank-one bonus: its thresholds and sums, found in one pass."""
        kind = self.points.dtype
        eta, sums = np.empty(self.n_nodes, kind), np.empty((self.n_nodes, 2))
        bonus = Bonus.of(left, right, kind)
        for _ in self.map_distances(partial(self.respond_block, bonus, eta, sums)):
            pass
        cost, square = sums.sum(axis=0)
        term = Term(1.0, bonus.left, bonus.right, eta)
        return ImplicitCoupling(self, (term,), float(cost), float(square), 2.0 * self.beta * eta - bonus.shift)

    def hold(self, weights: Any) -> ImplicitCoupling:
        """Refuse: a graph that is no best response cannot be held by its thresholds."""
        raise InputError(
            "init is a matrix, and storage='implicit' holds no matrix: take storage='sparse' or 'dense', or init=None"
        )
