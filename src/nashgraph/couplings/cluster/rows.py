r"""What workers do with their rows of a graph: pure functions of what they are given, so that any can be done again.

A block of rows has a list of pairs: all that score more than the row's cut under the bonus :math:`(l^0, r^0)` that it
was searched with. A pair that is not listed scores less than :math:`cut_i + \max_j (l_i r_j - l^0_i r^0_j)` under
another bonus. Where the row's threshold lies above that, its best response among the pairs listed is that among all;
the other rows are searched again, where they are. So most best responses need no pass over all pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...validation import Array
from ..csr import squared_difference
from ..listed import ListedSmoothness
from ..passes import Bonus, Candidates, stacked
from ..points import Points, fine_error
from ..smoothness import SparseCoupling
from ..threads import one_thread
from .client import Sent


class Term(NamedTuple):
    """J's two numbers, and how far below its threshold a row is searched."""

    beta: float
    c: float
    room: float


class Listed(NamedTuple):
    """The pairs of some rows with their costs, the cut of each row, and which bonus it was searched with."""

    pairs: Any
    cut: Array
    left: Array
    made: Array
    rights: tuple[Array, ...]

    def rise(self, bonus: Bonus) -> Array:
        r"""Return a bound of how much any score of each row has risen since the row was searched.

        With any number :math:`\rho`, :math:`l_i r_j - l^0_i r^0_j = l_i (r_j - \rho r^0_j) + (\rho l_i - l^0_i) r^0_j`,
        and each part is largest where its right side is largest or least.
        """
        rise = np.zeros_like(self.cut)
        for number, before in enumerate(self.rights):
            mine, square = self.made == number, float(before @ before)
            share = float(bonus.right @ before) / square if square > 0 else 0.0
            left, was = bonus.left[mine], self.left[mine]
            rise[mine] = _most(left, bonus.right - share * before) + _most(share * left - was, before)
        return rise


class Rows(NamedTuple):
    """A graph's rows, with thresholds and sums where they are a best response, and their list where it is new."""

    weights: Any
    told: Told
    listed: Listed | None = None


class Told(NamedTuple):
    """What the caller is told of some rows: thresholds, cost, square, and how many rows were searched."""

    threshold: Array | None
    cost: float
    square: float
    searched: int = 0


@one_thread()
def answered(sent_points: Sent, listed: Listed | None, sent_bonus: Sent, term: Term, first: int, last: int) -> Rows:
    """Return the best response of some rows to a bonus, proved to be that among all pairs."""
    points, bonus = sent_points.value, sent_bonus.value
    mine = Bonus(bonus.left[first:last], bonus.right, bonus.shift[first:last])
    short, floor = np.ones(last - first, bool), np.full(last - first, -np.inf, points.dtype)
    if listed is not None:
        graph, floor = _answer(listed.pairs, mine, term)
        short = ~(floor >= listed.cut + listed.rise(mine) + _rounding(points, mine, listed.cut))
        if not short.any():
            return Rows(graph.weights, Told(graph.threshold, graph.cost, graph.square))
    size = points.block_size
    blocks = [place for place in range(0, last - first, size) if short[place : place + size].any()]
    slack = (term.room + _rounding(points, mine, floor)).astype(points.dtype)
    found = _searched(points, bonus, term, first, blocks, floor - slack, slack)
    pairs = stacked(
        found[place] if place in found else listed.pairs[place : place + size]  # type: ignore[union-attr]
        for place in range(0, last - first, size)
    )
    graph, above = _answer(pairs, mine, term)
    # A block may have been cut at its rows' own thresholds, less the slack, instead of below the floor.
    cut = np.maximum(floor - slack, above - slack)
    new = np.zeros(last - first, bool)
    for place in blocks:
        new[place : place + size] = True
    searched = int(new.sum())
    told = Told(graph.threshold, graph.cost, graph.square, searched)
    return Rows(graph.weights, told, _renewed(listed, pairs, cut, mine, new))


def _renewed(listed: Listed | None, pairs: Any, cut: Array, bonus: Bonus, new: Array) -> Listed:
    """Return a list in which some rows are of this bonus, the others of those before; bonuses of no row are dropped."""
    if listed is None:
        return Listed(pairs, cut, bonus.left, np.zeros(len(cut), np.int64), (bonus.right,))
    rights = (*listed.rights, bonus.right)
    kept, made = np.unique(np.where(new, len(rights) - 1, listed.made), return_inverse=True)
    return Listed(
        pairs,
        np.where(new, cut, listed.cut),
        np.where(new, bonus.left, listed.left),
        made,
        tuple(rights[number] for number in kept),
    )


def _searched(
    points: Points, bonus: Bonus, term: Term, first: int, blocks: list[int], cut: Array, slack: Array
) -> dict[int, Any]:
    """Return the pairs of some blocks that score more than the cut, or than their rows' threshold less the slack."""
    n, size = len(points), points.block_size
    whole = {name: np.zeros(n, points.dtype) for name in ("cut", "slack")}
    whole["cut"][first : first + len(cut)], whole["slack"][first : first + len(cut)] = cut, slack
    work = Candidates(bonus, 0.5 / term.beta, term.c, whole["cut"], whole["slack"])
    buffer, found = np.empty((size, n), points.dtype), {}
    for place in blocks:
        end = min(first + len(cut), first + place + size)
        rows = points.rows(first + place, end, out=buffer[: end - first - place])
        found[place] = work(first + place, rows)
    return found


def _answer(pairs: Any, bonus: Bonus, term: Term) -> tuple[SparseCoupling, Array]:
    """Return the best response among listed pairs, and the score of an edge of no weight."""
    graph, eta = ListedSmoothness(pairs, term.beta, term.c).answer(bonus)
    return graph, eta[:, 0] - 2.0 * term.beta * eta[:, 1]


def _rounding(points: Points, bonus: Bonus, scores: Array) -> Array:
    """Return how far scores of these sizes may be off."""
    sizes = np.abs(bonus.left) * float(np.abs(bonus.right).max()) + np.where(np.isfinite(scores), np.abs(scores), 0.0)
    found: Array = fine_error(points.dtype) * sizes
    return found


def _most(left: Array, right: Array) -> Array:
    """Return the largest of ``left_i * right_j`` over j."""
    return np.maximum(left * right.max(), left * right.min())


def unpacked(sent: Sent) -> Rows:
    """Return rows that were sent."""
    found: Rows = sent.value
    return found


def told_of(rows: Rows) -> Told:
    """Return what the caller is told."""
    return rows.told


def list_of(rows: Rows) -> Listed | None:
    """Return the new list."""
    return rows.listed


def weights_of(rows: Rows) -> Any:
    """Return the rows as CSR."""
    return rows.weights


def dot(rows: Rows, vector: Sent) -> Array:
    """Return these rows' part of W v."""
    product: Array = rows.weights @ vector.value
    return product


def tdot(rows: Rows, vector: Array) -> Array:
    """Return what these rows add to W^T v, given their part of v."""
    product: Array = rows.weights.T @ vector
    return product


def distance(one: Rows, two: Rows) -> float:
    """Return the squared distance of the same rows of two graphs."""
    return squared_difference(one.weights, two.weights)


def mix(one: Rows, two: Rows, share: float) -> Rows:
    """Return (1 - share) W + share V of the same rows of two graphs."""
    weights = (1.0 - share) * one.weights + share * two.weights
    cost = (1.0 - share) * one.told.cost + share * two.told.cost
    return Rows(weights, Told(None, cost, float(np.vdot(weights.data, weights.data))))


def spread(rows: Rows, left: Array, sent: Sent) -> float:
    """Return how much a bonus varies among the neighbours of each row, added up, given the rows' part of l."""
    graph, right = rows.weights, sent.value
    lengths = np.diff(graph.indptr)
    neighbours = sparse.csr_array((np.ones_like(graph.data), graph.indices, graph.indptr), shape=graph.shape)
    centred = right[graph.indices] - np.repeat(neighbours @ right / np.maximum(lengths, 1), lengths)
    return float(np.repeat(left**2, lengths) @ centred**2)
