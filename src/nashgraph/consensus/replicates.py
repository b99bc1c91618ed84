"""The replicates of a consensus, edges by replicates on one fixed pattern: intervals and stability are read off it.

A replicate is a network learned from a random half of the signals, the next one from the other half. Only pairs that
are edges of the consensus are looked at again, so a replicate needs no search over all pairs. How intervals follow is
in :func:`~nashgraph.graph.interval_around`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numba import prange
from scipy import sparse
from scipy.stats import rankdata

from ..compiled import kernel
from ..graph import interval_around
from ..pairs._kernels import FAST, sum_in_order
from ..smoothness.degree import levels_of, neighbour_costs
from ..validation import Array
from .members import Ladders, search_of

# Influence is supported if halves of the signals agree on it: a rank correlation of 1/3 between halves means that half
# of the variance is the same in all signals (Spearman and Brown); and if they agree beyond chance once energy is
# accounted for (one-sided, 5%).
AGREEING = 1.0 / 3.0
BEYOND_CHANCE = 1.645


@kernel(fastmath=FAST)
def add_row(costs: Array, levels: Array, total: float, share: float, weights: Array, frequency: Array) -> None:
    """Add to a row its best responses at ascending levels: weights of sum ``total``, and ``share`` for every edge.

    With d a row's costs above the least, the weights at a level are ``total * max(0, eta - d) / level``, where eta
    solves ``sum max(0, eta - d) = level``. Newton's method comes down to it: the sum is convex, so the tangent at the
    threshold of a higher level, or that of the whole row, starts above it. It ends when the neighbours stay the same.
    """
    size = len(costs)
    least = np.inf
    chosen = 0.0
    for k in range(size):
        least = min(least, costs[k])
    for k in range(size):
        chosen += costs[k] - least
    count = float(size)
    for number in range(len(levels) - 1 if size else -1, -1, -1):
        level = levels[number]
        eta = (level + chosen) / count
        for _ in range(64):  # rows of a few hundred costs need 2 to 5
            now = found = 0.0
            for k in range(size):
                away = costs[k] - least
                found += away if away < eta else 0.0
                now += 1.0 if away < eta else 0.0
            if now >= count:
                break
            chosen = found
            count = now
            eta = (level + chosen) / count
        for k in range(size):
            above = eta - (costs[k] - least)
            weights[k] += total / level * max(above, 0.0)
            frequency[k] += share if above > 0.0 else 0.0


@kernel(parallel=True)
def add_responses(
    indptr: Array, costs: Array, levels: Array, total: float, share: float, weights: Array, frequency: Array
) -> None:
    """Add to each row of a CSR pattern its best responses at several levels; see :func:`add_row`."""
    for i in prange(indptr.shape[0] - 1):
        span = slice(indptr[i], indptr[i + 1])
        add_row(costs[span], levels, total, share, weights[span], frequency[span])


def level_finder(weights: Any, degrees: Array) -> Callable[[Array], Array]:
    """Return what finds, from the costs of a graph's pairs, the levels at which rows have some degrees on average."""
    n = weights.shape[0]
    indptr = weights.indptr
    influence = np.bincount(weights.indices, weights=weights.data, minlength=n)
    # At most 500 rows: nodes evenly spaced by influence, whatever their order in the table.
    rows = np.argsort(influence, kind="stable")[np.unique(np.linspace(0, n - 1, min(n, 500)).astype(int))]
    lengths = np.diff(indptr)[rows]
    steps = np.arange(max(lengths.max(initial=0), 1))
    real = steps < lengths[:, None]
    places = np.where(real, indptr[rows, None] + steps, 0)

    def levels(costs: Array) -> Array:
        near = np.sort(np.where(real, costs[places], np.inf), axis=1)
        near = np.where(real, near - near[:, :1], 0.0)
        anything = float(near.mean()) or 1.0  # if all costs are equal any level gives the same
        return np.array([level or anything for level in levels_of(neighbour_costs(near)[real], len(near), degrees)])

    return levels


@kernel()
def inclusion_threshold(values: Array, each: int) -> float:
    """Return t with sum_j min(1, values_j / t) = each, for more than ``each`` positive values.

    Values above t are certainly included, and the others share the other places. Without any certain value t is too
    large; it falls as the certain ones are taken out, until no further value is above it. (A sort would do, and would
    take Numba a second longer to compile.)
    """
    level = sum_in_order(values) / each
    n_certain = 0
    while True:
        above = 0
        rest = 0.0
        for value in values:
            if value > level * (1.0 + 1e-12):
                above += 1
            else:
                rest += value
        if above <= n_certain:
            return max(level, 1e-30)
        n_certain = above
        level = rest / (each - above)


@kernel(parallel=True)
def thin_rows(
    indptr: Array, indices: Array, values: Array, sums: Array, draws: Array, labels: Array, kept: Array, counts: Array
) -> None:
    """Write at most ``labels.shape[1] - 1`` entries of each row, drawn systematically, and scale rows to their sums.

    An entry w is included with probability min(1, w / t) and then weighs max(w, t), so that no influence changes in
    expectation, as it would if only the largest were kept. One random number per row.
    """
    each = labels.shape[1] - 1
    for i in prange(indptr.shape[0] - 1):
        row = values[indptr[i] : indptr[i + 1]]
        positive = np.empty(len(row))
        size = 0
        for value in row:
            if value > 0.0:
                positive[size] = value
                size += 1
        if size > each:
            least = inclusion_threshold(positive[:size], each)
        else:
            least = 1e-30
        passed = draws[i]
        before = 0.0
        count = 0
        total = 0.0
        for k in range(len(row)):
            weight = max(np.float64(row[k]), 0.0)
            passed += min(1.0, weight / least)
            if weight > 0.0 and np.floor(passed) > before and count <= each:
                labels[i, count], kept[i, count] = indices[indptr[i] + k], max(weight, least)
                total += kept[i, count]
                count += 1
            before = np.floor(passed)
        for k in range(count):
            kept[i, k] *= sums[i] / total
        counts[i] = count


def correlation(one: Array, other: Array) -> float:
    """Return the correlation of two vectors, 0 if one of them is constant up to rounding."""
    one = one - one.mean()
    other = other - other.mean()
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    if lengths > 1e-9 * len(one) ** 2:
        return float(one @ other) / lengths
    return 0.0


@dataclass(frozen=True, eq=False)
class Replicates:
    """The weights of every edge in every replicate: ``values``, float32, of shape (n_replicates, n_edges).

    ``indptr`` and ``indices`` are the pattern of the consensus in CSR, ``plain`` its weights without a prior.
    """

    indptr: Array
    indices: Array
    plain: Array
    values: Array

    def __len__(self) -> int:
        """Return the number of replicates."""
        return len(self.values)

    def intervals(self, weights: Array, most: float) -> tuple[Array, Array]:
        """Return the ends of the 90% interval of each edge's weight, for weights with a prior.

        ``most`` is the sum of each row, c: no weight can exceed it, and neither does an interval.
        """
        width = interval_around(self.plain, self.values)[1] - self.plain
        return np.maximum(weights - width, 0.0), np.minimum(weights + width, np.maximum(most, weights))

    def agreement(self) -> float:
        """Return the share of weight that two random replicates have in common; NaN with fewer than two."""
        totals = self.values.sum(axis=1, dtype=float)
        common = [np.minimum(one, other).sum(dtype=float) for one, other in pairwise(self.values)]
        if common:
            return float(np.mean(common / np.maximum(totals[:-1], 1e-300)))
        return np.nan

    def influence(self) -> Array:
        """Return the influence of each node in each replicate, of shape (n_replicates, n_nodes)."""
        n = len(self.indptr) - 1
        return np.array([np.bincount(self.indices, weights=row, minlength=n) for row in self.values])

    def node_intervals(self, weights: Array) -> dict[str, Array]:
        """Return the 90% intervals of each node's influence and of its rank, for weights with a prior."""
        if not len(self):
            return {}
        n = len(self.indptr) - 1
        plain, final = (np.bincount(self.indices, weights=each, minlength=n) for each in (self.plain, weights))
        found = self.influence()
        rank = ranked(-final, method="min")
        width = interval_around(plain, found)[1] - plain
        ranks = [ranked(-row) for row in (plain, *found)]
        places = interval_around(ranks[0], ranks[1:])[1] - ranks[0]
        return {
            "influence_low": np.maximum(final - width, 0.0),
            "influence_high": final + width,
            "rank_low": np.floor(np.maximum(rank - places, 1.0)).astype(int),
            "rank_high": np.ceil(np.minimum(rank + places, n)).astype(int),
        }

    def support_influence(self, X: Array, halves: Sequence[Array]) -> bool:
        """Tell whether halves of the signals agree on who is influential, and beyond what energy and gaps explain."""
        found = self.influence()
        n = len(self.indptr) - 1
        missing = np.isnan(X).mean(axis=0)
        squares = np.nan_to_num(X) ** 2
        seen = np.isfinite(X)
        energy = [ranked(squares[rows].sum(axis=0) / np.maximum(seen[rows].sum(axis=0), 1)) / n for rows in halves]
        alike = []
        beyond = []
        for k in range(0, len(halves) - 1, 2):
            known = np.column_stack([np.ones(n), missing, *(e**power for e in energy[k : k + 2] for power in (1, 2))])
            ranks = np.stack([ranked(row) for row in found[k : k + 2]], axis=1)
            left = ranks - known @ np.linalg.lstsq(known, ranks, rcond=None)[0]  # without energy and gaps
            alike.append(correlation(*ranks.T))
            beyond.append(correlation(*left.T))
        beyond_chance = bool(alike) and float(np.mean(beyond) * np.sqrt(max(n - 6, 0))) > BEYOND_CHANCE
        return beyond_chance and float(np.mean(alike)) >= AGREEING

    def thinned_graphs(self, moved: Array, sums: Array, n_edges: int = 1_000_000) -> list[Any]:
        """Return the graph of each replicate as float32 CSR, its rows summing to ``sums``, in bounded memory.

        ``moved``, a prior's part of each weight, is added to every second graph: in all of them it would look certain.
        Beyond ``n_edges`` in all graphs together, and 16 per node, a node has its heaviest ties and a draw of others.
        """
        n = len(self.indptr) - 1
        longest = int(np.diff(self.indptr).max(initial=0))
        each = min(max(16, n_edges // (max(len(self), 1) * n)), longest)
        every = 2 if moved.any() else len(self) + 1
        shift = moved.astype(np.float32)
        graphs = []
        for number, row in enumerate(self.values, 1):
            draws = np.random.default_rng(number).random(n)
            labels = np.zeros((n, each + 1), np.int32)
            kept = np.zeros((n, each + 1))
            counts = np.zeros(n, np.int32)
            values = row if number % every else row + shift
            thin_rows(self.indptr, self.indices, values, sums, draws, labels, kept, counts)
            used = np.arange(each + 1) < counts[:, None]
            pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
            graphs.append(sparse.csr_array((kept[used].astype(np.float32), labels[used], pointers), shape=(n, n)))
        return graphs


def ranked(values: Array, method: str = "average") -> Array:
    """Return ranks; values that differ by rounding alone have the same, as they are compared in single precision."""
    ranks: Array = rankdata((values / max(np.abs(values).max(initial=0.0), 1e-300)).astype(np.float32), method=method)
    return ranks


def replicates_of(
    X: Array,
    halves: Sequence[Array],
    weights: Any,
    plain: Array,
    frequency: Array,
    geometries: dict[str, float],
    ladders: Ladders,
) -> tuple[Replicates, Array]:
    """Return the replicates learned from halves of the signals, and the inclusion frequencies over all members.

    ``plain`` and ``frequency`` have, for the edges of the consensus, the weights without prior and frequencies so far.
    """
    values = np.zeros((len(halves), weights.nnz), np.float32)
    counted = np.zeros(weights.nnz, np.float32)
    levels_of_costs = level_finder(weights, ladders.degrees)
    complete = np.isfinite(X).all()  # with gaps, the other signals are set to 0, so that every node keeps a signal
    for k, rows in enumerate(halves):
        if complete:
            half = X[rows]
        else:
            half = X * np.isin(np.arange(len(X)), rows)[:, None]
        row = values[k]
        for geometry, part in geometries.items():
            if ladders.estimator is not None:
                ladder = ladders(half, geometry)
                source = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
                row += part * ladder.weights[source, weights.indices]
                counted += part * ladder.shares[source, weights.indices]
                continue
            costs = search_of(half, geometry).geometry.costs_for_ranks(weights)
            levels = levels_of_costs(costs)
            share = part / len(levels)
            add_responses(weights.indptr, costs, levels, ladders.c * share, share, row, counted)
        ladders.step()
    # Shares are added in single precision: without rounding, an edge that all members have would have 0.9999994.
    frequency = np.clip(np.round((frequency + counted) / (len(halves) + 1), 6), 0.0, 1.0)
    return Replicates(weights.indptr, weights.indices, plain, values), frequency
