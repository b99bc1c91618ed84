"""The set S cut down to listed pairs: what a best response costs when most pairs are known not to matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array, InputTypeError
from . import _kernels
from .dense import DenseStorage
from .distances import Result
from .protocol import Bonus
from .sparse import SparseCoupling


class ListedStorage:
    """Distances of listed pairs only, as CSR: a best response costs O(pairs listed). See ``Storage``.

    A graph on it is a :class:`SparseCoupling`, feasible for the whole problem and with its true objective; what may be
    missing is a pair that is not listed.

    Parameters
    ----------
    pairs : CSR array of shape (n, n) whose entries are the distances of the pairs listed, zero distances included
    beta, c : float

    Examples
    --------
    >>> import numpy as np
    >>> pairs = sparse.csr_array(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]))
    >>> ListedStorage(pairs, beta=1.0, c=0.5).respond(np.zeros(3), np.zeros(3)).weights.nnz
    3
    """

    name = "listed"

    def __init__(self, pairs: Any, beta: float, c: float) -> None:
        self.pairs = pairs
        self.beta = beta
        self.c = c
        self.passes = 0

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self.pairs.shape[0]

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The kind of float graphs are held in."""
        return self.pairs.dtype

    def respond(self, left: Array, right: Array) -> SparseCoupling:
        """Return the graph that answers a rank-one bonus among the pairs listed."""
        n, kind, pairs = self.n_nodes, self.dtype, self.pairs
        bonus = Bonus.of(left, right, kind)
        weights, eta, sums = np.empty(pairs.nnz, kind), np.empty(n, kind), np.empty((n, 2))
        _kernels.respond_listed(
            pairs.indptr,
            pairs.indices,
            pairs.data,
            bonus.left,
            bonus.right,
            0.5 / self.beta,
            self.c,
            weights,
            eta,
            sums,
        )
        kept = weights > 0.0
        pointers = np.concatenate([[0], np.cumsum(kept)])[pairs.indptr]
        csr = sparse.csr_array((weights[kept], pairs.indices[kept], pointers), shape=pairs.shape)
        cost, square = sums.sum(axis=0)
        return SparseCoupling(csr, float(cost), float(square), 2.0 * self.beta * eta - bonus.shift)

    def hold(self, weights: Any) -> SparseCoupling:
        """Return a given W on the listed pairs as a coupling."""
        csr = sparse.csr_array(weights, dtype=self.dtype)
        return SparseCoupling(csr, float(csr.multiply(self.pairs).sum()), float(np.vdot(csr.data, csr.data)))

    def map_distances(self, work: Callable[[int, Array], Result]) -> Iterator[Result]:
        """Refuse: the distances of pairs not listed are not known here."""
        raise InputTypeError("a listed storage has no whole rows of distances: ask the storage it was cut from")


def listed_storage(storage: Any, pattern: Any) -> ListedStorage:
    """Return a dense or sparse storage cut down to a pattern of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> storage = DenseStorage(np.array([[0.0, 1.0, 3.0]]), beta=1.0, c=0.5)
    >>> listed_storage(storage, sparse.csr_array(1 - np.eye(3))).pairs.data
    array([0.5, 4.5, 0.5, 2. , 4.5, 2. ])
    """
    pattern.sort_indices()
    if isinstance(storage, DenseStorage):
        rows = np.repeat(np.arange(storage.n_nodes), np.diff(pattern.indptr))
        distances = storage.distances[rows, pattern.indices]
    else:
        distances = storage.points.listed(pattern)
    pairs = sparse.csr_array((distances, pattern.indices, pattern.indptr), shape=pattern.shape)
    return ListedStorage(pairs, storage.beta, storage.c)
