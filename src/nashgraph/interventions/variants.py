r"""The value of one game in many variants at once: without each node, or with another weight on each of many pairs.

At the state of rest of the whole game, :math:`y = \varphi(z)`, :math:`z = b + \delta W f(y)`, let
:math:`G = (I - \mathrm{diag}(\delta\varphi'(z))\, W\, \mathrm{diag} f'(y))^{-1}`. One N x N inverse serves all: a chord
Newton step :math:`y \leftarrow y + G (\varphi(z(y)) - y)` for K of them is a product of an N x N and an N x K matrix.
Without row and column i, the inverse is :math:`G - G_{\cdot i} G_{i \cdot} / G_{ii}`.

A step is repeated until :math:`\|\varphi(z(y)) - y\| \le tol\,\|y\|` in a variant. One that has not come to rest after
``max_steps``, as may happen at a corner of φ, is solved by itself with the prior's own method, so every value is right.
Memory is a few N x K arrays, with K at most ``block``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..priors import FixedPointPrior, SumOfPriors
from ..validation import Array
from .game import Game


@dataclass(frozen=True)
class BatchOptions:
    """When all variants are solved together, and how.

    ``max_work`` is a bound on N^2 times the number of variants: 2e9 take about five seconds on one core. ``max_steps``
    of chord Newton are made (six are usual), to the relative residual ``tol``, on ``block`` variants at a time.
    """

    max_nodes: int = 1500
    max_work: float = 2e9
    max_steps: int = 60
    tol: float = 1e-11
    block: int = 2000

    def can(self, game: Game, n_variants: int) -> bool:
        """Tell whether so many variants of a game are cheap to solve."""
        parts = fixed_point_terms(game.prior)
        work = game.n_nodes**2 * n_variants * max(1, len(parts))
        return bool(parts) and game.n_nodes <= self.max_nodes and work <= self.max_work


def fixed_point_terms(prior: Any) -> list[tuple[float, FixedPointPrior]]:
    """Return a prior as terms that can be solved in batches; none if one of its terms cannot."""
    if isinstance(prior, SumOfPriors):
        terms = prior.terms
    else:
        terms = ((1.0, prior),)
    if all(isinstance(term, FixedPointPrior) for _, term in terms):
        return list(terms)
    return []


def values_without_each(game: Game, options: BatchOptions | None = None) -> Array:
    """Return the value of the game without each node."""
    nodes = np.arange(game.n_nodes)
    return _values(game, options or BatchOptions(), _Leaving(nodes), lambda node: game.without(np.array([node])).value)


def values_with_pairs(game: Game, pairs: Array, changes: Array, options: BatchOptions | None = None) -> Array:
    """Return the value of the game after a change of the weight of each pair by itself; a pair is i N + j."""

    def alone(place: int) -> float:
        return changed(game, pairs[[place]], changes[place]).value

    return _values(game, options or BatchOptions(), _Changing(*divmod(pairs, game.n_nodes), changes), alone)


class _Leaving:
    """Variants in each of which one node is gone."""

    def __init__(self, nodes: Array) -> None:
        self.nodes = nodes

    def __len__(self) -> int:
        return len(self.nodes)

    def of(self, some: slice) -> _Leaving:
        return _Leaving(self.nodes[some])

    def pressed(self, received: Array, sent: Array) -> Array:
        """Return what nodes receive in each variant: a node that is gone tells nothing, so nothing changes."""
        return received

    def fixed(self, points: Array) -> Array:
        """Set what is fixed in each variant: who is gone does nothing."""
        points[self.nodes, np.arange(len(self))] = 0.0
        return points

    def steps(self, inverse: Array, defect: Array) -> Array:
        """Return chord Newton steps, each by the inverse without one row and column."""
        step = inverse @ defect
        along = step[self.nodes, np.arange(len(self))] / np.diag(inverse)[self.nodes]
        return step - inverse[:, self.nodes] * along


class _Changing:
    """Variants in each of which one weight is changed."""

    def __init__(self, targets: Array, sources: Array, changes: Array) -> None:
        self.targets = targets
        self.sources = sources
        self.changes = changes

    def __len__(self) -> int:
        return len(self.targets)

    def of(self, some: slice) -> _Changing:
        return _Changing(self.targets[some], self.sources[some], self.changes[some])

    def pressed(self, received: Array, sent: Array) -> Array:
        """Return what nodes receive in each variant: one pair has another weight."""
        variants = np.arange(len(self))
        received[self.targets, variants] += self.changes * sent[self.sources, variants]
        return received

    def fixed(self, points: Array) -> Array:
        return points

    def steps(self, inverse: Array, defect: Array) -> Array:
        return inverse @ defect


def _values(game: Game, options: BatchOptions, variants: Any, alone: Callable[[int], float]) -> Array:
    """Return the value in each variant."""
    values = np.zeros(len(variants))
    at_rest = np.ones(len(variants), dtype=bool)
    for strength, prior in fixed_point_terms(game.prior):
        if prior is game.prior:
            alone_in_sum = game
        else:
            alone_in_sum = Game(game.names, game.weights, prior, tol=game.tol)
        inverse = _inverse(alone_in_sum, prior)
        for first in range(0, len(variants), options.block):
            some = slice(first, first + options.block)
            points, rested = _settled(alone_in_sum, prior, inverse, variants.of(some), options)
            values[some] += strength * np.array([prior.welfare.value(point) for point in points.T])
            at_rest[some] &= rested
    # What did not come to rest in the batch is solved by the prior itself.
    for place in np.flatnonzero(~at_rest).tolist():
        values[place] = alone(place)
    return values


def _inverse(game: Game, prior: FixedPointPrior) -> Array:
    """Return the inverse of the derivative of the map at the state of rest."""
    outer = prior.outer_slope(game.products, game.actions)
    slope = prior.interaction.slope(game.actions)
    weights = game.weights.toarray()
    return np.linalg.inv(np.eye(game.n_nodes) - outer[:, None] * weights * slope)


def _settled(
    game: Game, prior: FixedPointPrior, inverse: Array, variants: Any, options: BatchOptions
) -> tuple[Array, Array]:
    """Return the points of rest of some variants as columns, and which of them are at rest."""
    low, high = (0.0, np.inf) if prior.plain else prior.response.range
    points = variants.fixed(np.tile(game.actions[:, None], (1, len(variants))))
    rested = np.zeros(len(variants), dtype=bool)
    with np.errstate(all="ignore"):  # a variant that diverges is solved by itself
        for _ in range(options.max_steps):
            sent = prior.interaction.value(points)
            inner = prior.benefit[:, None] + prior.share * variants.pressed(game.matrix @ sent, sent)
            if prior.plain:
                image = inner
            else:
                image = np.column_stack([prior.response.value(column) for column in inner.T])
            defect = variants.fixed(image - points)
            size = np.maximum(np.linalg.norm(points, axis=0), np.finfo(float).tiny)
            rested = np.linalg.norm(defect, axis=0) <= options.tol * size
            if rested.all():
                break
            points = variants.fixed(np.clip(points + variants.steps(inverse, defect), low, high))
    return points, rested


def changed(game: Game, pairs: Array, by: Any) -> Game:
    """Return the game with something added to the weight of some pairs."""
    more = sparse.csr_array((np.full(len(pairs), by), divmod(pairs, game.n_nodes)), shape=game.weights.shape)
    weights = game.weights + more
    weights.data = np.maximum(weights.data, 0.0)  # removing a tie may leave a rounding error below zero
    return game.altered(weights=weights)
