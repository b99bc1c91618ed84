r"""Graphs in S that are not stored: a best response is its bonus and thresholds, and rows are made when asked for.

.. math:: W = \sum_k s_k W^{(k)}, \quad
          W^{(k)}_{ij} = \tfrac{1}{2\beta}\max(0, l^{(k)}_i r^{(k)}_j + \eta^{(k)}_i - D_{ij})

One term is a best response; a line search that stops short of one adds a term. Memory is O(NM) and a block of rows,
whatever the number of neighbours; the price is that every product goes through all pairs again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Self

import numpy as np

from ..validation import Array, InputError
from . import _kernels
from .passes import Bonus, Part, PositivePart, Respond, RowsTimes, SumOfSquares, TimesRows, Work, stacked
from .smoothness import Smoothness, SparseCoupling


class Term(NamedTuple):
    """A best response and its share in a graph: the bonus l r^T, and each row's best score and threshold above it."""

    share: float
    left: Array
    right: Array
    eta: Array


@dataclass(frozen=True)
class Replay(Generic[Part]):
    """Make the rows of W from those of D, and do the work on them."""

    terms: tuple[Term, ...]
    gain: float
    work: Work[Part]

    @property
    def adds(self) -> bool:
        """Whether the parts add up."""
        return getattr(self.work, "adds", False)

    def __call__(self, first: int, rows: Array) -> Part:
        """Return the work's part."""
        made = np.zeros_like(rows)
        for share, left, right, eta in self.terms:
            _kernels.replay_block(rows, first, left, right, self.gain, eta, share, made)
        return self.work(first, made)


@dataclass(frozen=True, eq=False)
class ImplicitCoupling:
    """A graph in S as a short sum of best responses. See :class:`~nashgraph.couplings.Coupling`."""

    smoothness: ImplicitSmoothness
    terms: tuple[Term, ...]
    cost: float
    square: float
    threshold: Array | None = None

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Yield the parts of a work on blocks of rows of W, made from the points."""
        yield from self.smoothness.run(Replay(self.terms, self.smoothness.gain, work))

    def dot(self, vector: Array) -> Array:
        """Return W v: one pass over all pairs."""
        return np.concatenate(list(self.run(RowsTimes(vector.astype(self.smoothness.dtype, copy=False)))))

    def tdot(self, vector: Array) -> Array:
        """Return W^T v: one pass over all pairs."""
        vector = vector.astype(self.smoothness.dtype, copy=False)
        return sum(self.run(TimesRows(vector)), np.zeros_like(vector))

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F: one pass over all pairs, both graphs made from the same costs."""
        opposite = tuple(term._replace(share=-term.share) for term in other.terms)
        difference = ImplicitCoupling(self.smoothness, self.terms + opposite, 0.0, 0.0)
        return float(np.sqrt(sum(difference.run(SumOfSquares()))))

    def mix(self, other: Self, share: float) -> Self:
        """Return (1 - share) W + share V, with the terms of both."""
        terms = tuple(term._replace(share=(1.0 - share) * term.share) for term in self.terms)
        terms += tuple(term._replace(share=share * term.share) for term in other.terms)
        # ||(1-s) W + s V||^2 from the squares and the distance, which needs no more than the one pass.
        square = (1.0 - share) * self.square + share * other.square
        square -= share * (1.0 - share) * self.distance(other) ** 2
        cost = (1.0 - share) * self.cost + share * other.cost
        return type(self)(self.smoothness, terms, cost, square)

    def matrix(self) -> Any:
        """Return W as CSR, which is only as small as its rows have few neighbours."""
        return stacked(self.run(PositivePart()))

    def arrays(self) -> dict[str, Array]:
        """Return the terms, one after the other."""
        return {
            name: np.stack(values) for name, values in zip(Term._fields, zip(*self.terms, strict=True), strict=True)
        }

    def sparse(self) -> SparseCoupling:
        """Return W as CSR, with its numbers."""
        return SparseCoupling(self.matrix(), self.cost, self.square, self.threshold)


class ImplicitSmoothness(Smoothness):
    """Nothing held but the points; graphs are a bonus and thresholds. See :class:`~nashgraph.couplings.Smoothness`.

    Examples
    --------
    >>> from nashgraph.couplings import points_of
    >>> smoothness = ImplicitSmoothness(points_of(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> smoothness.smooth.dot(np.ones(3)), smoothness.smooth.matrix().nnz
    (array([0.5, 0.5, 0.5]), 3)
    """

    name = "implicit"

    def respond(self, left: Array, right: Array) -> ImplicitCoupling:
        """Return the graph that answers a rank-one bonus: its thresholds and sums, found in one pass."""
        bonus = Bonus.of(left, right, self.dtype)
        parts = list(self.run(Respond(bonus, self.gain, self.c)))
        eta = np.concatenate([part.eta for part in parts])
        cost, square = np.concatenate([part.sums for part in parts]).sum(axis=0)
        term = Term(1.0, bonus.left, bonus.right, eta)
        return ImplicitCoupling(self, (term,), float(cost), float(square), self.threshold(eta, bonus))

    def revive(
        self, arrays: Mapping[str, Array], cost: float, square: float, threshold: Array | None
    ) -> ImplicitCoupling:
        """Return the graph that gave these ``arrays``, to the bit."""
        terms = zip(*(arrays[name] for name in Term._fields), strict=True)
        return ImplicitCoupling(
            self, tuple(Term(float(share), *rest) for share, *rest in terms), cost, square, threshold
        )

    def hold(self, weights: Any) -> ImplicitCoupling:
        """Refuse: a graph that is no best response cannot be held by its thresholds."""
        raise InputError(
            "init is a matrix, and storage='implicit' holds no matrix: take storage='sparse' or 'dense', or init=None"
        )
