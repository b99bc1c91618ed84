"""The weighted mean of member networks, kept in one pattern that grows with them, and the members with a game prior.

A row keeps its neighbours in *slots*, in the order in which they first appeared. A slot never moves, so sums and
inclusion frequencies share one pattern, and adding a graph is one pass over its edges: no sorting, no merging.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from scipy import sparse

from ..compiled import kernel
from ..games import Interaction, Welfare, adjoint, equilibrium
from ..pairs import make_search
from ..smoothness import Ladder, make_smoothness, response_ladder
from ..solvers import lam_for_cost
from ..validation import Array
from .members import PARTIAL, Ladders

GROWTH = 1.25  # of the slots, when a row runs out of them: few copies, little unused memory
CHUNKS = 64  # runs of rows that are dealt to threads, each with a buffer of its own

PRIOR_SHARE = 0.5  # of the members with a prior
PRIOR_COSTS = (0.1, 1.0, 10.0)  # what a member with a prior may add to J, relative to it


@kernel(parallel=True)
def find_slots(indptr: Array, indices: Array, used: Array, labels: Array, lengths: Array, slots: Array) -> None:
    """Write the slot of every used entry of a CSR pattern (else -1); new neighbours get the next slot of their row."""
    n = lengths.shape[0]
    for chunk in prange(CHUNKS):
        place = np.full(n, -1, np.int32)
        for i in range(chunk * n // CHUNKS, (chunk + 1) * n // CHUNKS):
            count = lengths[i]
            for s in range(count):
                place[labels[i, s]] = s
            for entry in range(indptr[i], indptr[i + 1]):
                slots[entry] = -1
                if used[entry]:
                    j = indices[entry]
                    if place[j] < 0:
                        place[j] = count
                        labels[i, count] = j
                        count += 1
                    slots[entry] = place[j]
            for s in range(count):
                place[labels[i, s]] = -1
            lengths[i] = count


@kernel(parallel=True)
def add_at_slots(indptr: Array, slots: Array, values: Array, share: float, out: Array) -> None:
    """Add ``share`` times the values of CSR entries at their slots."""
    for i in prange(indptr.shape[0] - 1):
        for entry in range(indptr[i], indptr[i + 1]):
            if slots[entry] >= 0:
                out[i, slots[entry]] += share * values[entry]


@kernel(parallel=True)
def sort_slots(labels: Array, lengths: Array, values: Array, indptr: Array, indices: Array, slots: Array) -> None:
    """Write the columns of positive values, sorted in each row, and their slots."""
    for i in prange(lengths.shape[0]):
        entry = indptr[i]
        for s in np.argsort(labels[i, : lengths[i]]):
            if values[i, s] > 0.0:
                indices[entry], slots[entry] = labels[i, s], s
                entry += 1


@kernel(parallel=True)
def read_slots(indptr: Array, slots: Array, values: Array) -> Array:
    """Return the values at the slots of a CSR pattern, 0 for slots that came after the values."""
    out = np.zeros(len(slots))
    for i in prange(indptr.shape[0] - 1):
        for entry in range(indptr[i], indptr[i + 1]):
            if slots[entry] < values.shape[1]:
                out[entry] = values[i, slots[entry]]
    return out


class Mean:
    """The weighted mean of member networks and the inclusion frequency of every edge, as they come, on one pattern.

    ``labels`` has the neighbours of each node, ``lengths`` how many slots of a row are used; ``sums`` and ``shares``
    are the weights and the inclusion frequencies at the slots.
    """

    def __init__(self, n_nodes: int) -> None:
        self.labels, self.lengths = np.zeros((n_nodes, 0), np.int32), np.zeros(n_nodes, np.int32)
        self.sums, self.shares = np.zeros((n_nodes, 0)), np.zeros((n_nodes, 0))

    def add(self, ladder: Ladder, share: float) -> None:
        """Add the members of a ladder with their share."""
        weights, shares = ladder.weights.ravel(), ladder.shares.ravel()
        indptr = np.arange(len(ladder.labels) + 1, dtype=np.int64) * ladder.labels.shape[1]
        slots = self.slots_of(indptr, ladder.labels.ravel(), (weights > 0) | (shares > 0))
        add_at_slots(indptr, slots, weights, share, self.sums)
        add_at_slots(indptr, slots, shares, share, self.shares)

    def slots_of(self, indptr: Array, indices: Array, used: Array) -> Array:
        """Return the slots of the used entries of a CSR pattern, with room made for new ones."""
        n, width = self.labels.shape
        counts = np.diff(np.concatenate([[0], np.cumsum(used)])[indptr])
        needed = min(n, int((self.lengths + counts).max(initial=0)))
        if needed > width:
            room = ((0, 0), (0, min(n, max(needed, int(GROWTH * width))) - width))
            self.labels = np.pad(self.labels, room)
            self.sums, self.shares = np.pad(self.sums, room), np.pad(self.shares, room)
        slots = np.empty(len(indices), np.int32)
        find_slots(indptr, indices, used, self.labels, self.lengths, slots)
        return slots

    def scale(self, factor: float) -> None:
        """Leave room for members that are added later."""
        self.sums, self.shares = factor * self.sums, factor * self.shares

    @property
    def weights(self) -> Any:
        """The mean as CSR, sorted and without zeros."""
        return self._csr()[0]

    def finished(self, plain: Array) -> tuple[Any, Array, Array]:
        """Return the mean as CSR and, for its edges, the inclusion frequency and the sum of weights ``plain``.

        ``plain`` is the sum of the weights at an earlier time.
        """
        weights, indptr, slots = self._csr()
        frequency, before = (read_slots(indptr, slots, values) for values in (self.shares, plain))
        return weights, np.minimum(frequency, 1.0), before  # a sum of shares can end a little above 1

    def _csr(self) -> tuple[Any, Array, Array]:
        n = len(self.lengths)
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(self.sums > 0, axis=1))])
        indices, slots = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)
        sort_slots(self.labels, self.lengths, self.sums, indptr, indices, slots)
        pointers = indptr.astype(np.int32) if indptr[-1] < np.iinfo(np.int32).max else indptr
        values = read_slots(indptr, slots, self.sums)
        return sparse.csr_array((values, indices, pointers), shape=(n, n)), indptr, slots


class PriorPlan(NamedTuple):
    """The members with a prior: their share, the benefit and its origin."""

    share: float
    benefit: Array
    origin: str


def add_prior_members(
    plan: PriorPlan,
    mean: Mean,
    graph: Any,
    signals: Array,
    ladders: Ladders,
    geometries: dict[str, float],
    interaction: Interaction,
    welfare: Welfare,
) -> float:
    """Add best responses to the game on a graph, each at several strengths, and return the mean strength."""
    actions = equilibrium(graph, plan.benefit, interaction)
    left, right = adjoint(graph, actions, interaction, welfare), interaction.value(actions)
    mean.scale(1.0 - plan.share)
    lams = list[float]()
    searched = {name: weight for name, weight in geometries.items() if name != PARTIAL}
    total = sum(searched.values())
    for geometry, weight in searched.items():
        points = make_search(signals, ladders.engine, geometry=geometry)
        betas = ladders(signals, geometry).betas
        middle = make_smoothness(points, float(betas[len(betas) // 2]), ladders.c)
        for cost in PRIOR_COSTS:
            lams.append(lam_for_cost(middle, left, right, cost))
            found = response_ladder(points, betas, ladders.c, ladders.n_nearest, lams[-1] * left, right)
            mean.add(found, plan.share * weight / (total * len(PRIOR_COSTS)))
            ladders.step()
    return float(np.mean(lams))
