r"""Spectral templates by first-order methods: O(n^2 K) for a step with n classes of nodes and K templates.

The unknown is the matrix :math:`\bar S` of :class:`._node_classes.Classes`. Two operations are explicit:

- the projection P onto the matrices that pair templates with other vectors,
  :math:`P \bar S = \bar S - V \mathrm{diag}(\sigma) V^\top - R` with the best :math:`\sigma` and R, so that
  :math:`\|P \bar S\|_F` is the distance and cutting it down to epsilon is a projection too;
- the nearest admissible matrix, entry by entry but for the anchor's row, which is a projection onto a simplex.

**The smallest distance** minimises :math:`\tfrac12 \|P \bar S\|^2` over admissible matrices by the accelerated
gradient method with restarts (O'Donoghue and Candes 2015). With :math:`G = P\bar S / \|P\bar S\|`, optimality is
:math:`G \ge 0` away from the anchor and :math:`\langle G, \bar S \rangle` equal to the least anchor entry's share;
what is missing, relative to the distance, is the stopping measure, a bound over the graphs of no more total weight.

**The sparsest graph** is the sum of two functions with these two operations as proximal maps: Douglas-Rachford
splitting, over-relaxed. Its multiplier Y lies in the range of P, and the optimality conditions are those of the
problem: away from the anchor no cost :math:`r_i r_j + Y_{ij}` is negative, and the dual value equals the objective.
The relative gap between the two, with Y shrunk until it is feasible, is one stopping measure. The other is the
excess, the distance beyond epsilon: relative to :math:`\|\bar S\|_F`, and at its price, times :math:`\|Y\|_F` and
relative to the objective, by which the objective may be too low. The step balances primal and dual residual at checks
that become rarer, so in the end it is constant and the method converges, to one of the optimal graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..validation import Array
from ._node_classes import project_weighted
from ._template_problem import Merged, Nearest, Sparsest

DEFAULT_TOL, DEFAULT_MAX_ITER = 1e-4, 20000
CHECK_EVERY = 50
RELAXATION = 1.6
# A distance below this is zero: it is a tenth of the least epsilon ever allowed.
NOTHING = 1e-7
# The step moves by these factors at most, when the residuals are out of balance by more than UNBALANCED.
UNBALANCED, LARGEST_CHANGE = 1.5, 5.0


def nearest_graph(merged: Merged, *, tol: float, max_iter: int, verbose: int) -> Nearest:
    """Minimise the distance.

    Examples
    --------
    >>> import numpy as np
    >>> merged = Merged.of(np.array([[0.6], [0.8]]), anchor=0)  # the only graph has the template (1, 1)
    >>> round(nearest_graph(merged, tol=1e-6, max_iter=1000, verbose=0).distance, 6)
    0.39598
    """
    split = Split.of(merged)
    graph = split.admissible(np.zeros_like(split.costs))
    pairing, distance = split.pairing(graph)
    ahead, ahead_pairing, age, error, iteration = graph, pairing, 1.0, np.inf, 0
    while error > tol and iteration < max_iter:
        iteration += 1
        moved = split.admissible(ahead - ahead_pairing)
        moved_pairing, distance = split.pairing(moved)
        uphill = float(np.vdot(ahead - moved, moved - graph)) > 0
        older = 1.0 if uphill else 0.5 + np.sqrt(0.25 + age**2)
        momentum = 0.0 if uphill else (age - 1.0) / older
        ahead = moved + momentum * (moved - graph)
        ahead_pairing = moved_pairing + momentum * (moved_pairing - pairing)
        graph, pairing, age = moved, moved_pairing, older
        if iteration % CHECK_EVERY == 0 or distance <= NOTHING:
            error = split.distance_error(graph, pairing, distance)
            if verbose > 1:
                print(f"  nearest graph {iteration:>6}  distance {distance:.8g}  error {error:.1e}")
    return Nearest(distance, error, merged.classes.weights(graph), iteration)


def sparsest_graph(
    merged: Merged, epsilon: float, nearest: Nearest, *, tol: float, max_iter: int, verbose: int
) -> Sparsest:
    """Minimise the total weight within the distance epsilon, from the nearest graph.

    Examples
    --------
    >>> import numpy as np
    >>> merged = Merged.of(np.full((4, 1), 0.5), anchor=0)
    >>> nearest = Nearest(0.0, 0.0, np.array([[0.0, 1.0], [1.0, 0.0]]), 0)
    >>> found = sparsest_graph(merged, 1e-6, nearest, tol=1e-6, max_iter=5000, verbose=0)
    >>> merged.classes.graph(found.weights).round(4)
    array([[0.    , 0.3333, 0.3333, 0.3333],
           [0.3333, 0.    , 0.3333, 0.3333],
           [0.3333, 0.3333, 0.    , 0.3333],
           [0.3333, 0.3333, 0.3333, 0.    ]])
    """
    method = DouglasRachford(Split.of(merged), epsilon, merged.classes.scaled(nearest.weights))
    best, next_balance = None, CHECK_EVERY
    for iteration in range(1, max_iter + 1):
        method.advance()
        if iteration % CHECK_EVERY and iteration < max_iter:
            continue
        found = method.certify()
        if verbose > 1:
            print(f"  splitting {iteration:>6}  distance {found.distance:.6g}  gap {found.gap:.1e}")
        best = found if best is None or found.merit < best.merit else best
        if best.merit <= tol:
            break
        if iteration >= next_balance:
            method.balance()
            next_balance += CHECK_EVERY * max(1, iteration // (4 * CHECK_EVERY))
    assert best is not None
    return Sparsest(merged.classes.weights(best.graph), best.distance, best.gap, iteration, best.excess <= tol)


@dataclass(frozen=True, eq=False)
class Split:
    """The two operations on matrices over classes, and the bounds they give.

    ``lone`` lists the classes of one node, which have no edge within; ``away`` says which entries are edges that do
    not touch the anchor.
    """

    vectors: Array
    costs: Array
    anchor: int
    lone: Array
    away: Array

    @classmethod
    def of(cls, merged: Merged) -> Split:
        """Lay out the costs and the masks."""
        roots, sizes = merged.classes.roots, merged.classes.sizes
        away = np.ones((len(roots), len(roots)), dtype=bool)
        away[merged.anchor] = away[:, merged.anchor] = False
        lone = np.flatnonzero(sizes == 1)
        away[lone, lone] = False
        return cls(merged.vectors, np.outer(roots, roots), merged.anchor, lone, away)

    def pairing(self, matrix: Array) -> tuple[Array, float]:
        """Return the part of a matrix that pairs templates with other vectors, and its norm."""
        image = matrix @ self.vectors
        core = self.vectors.T @ image
        beyond = image - self.vectors @ core
        np.fill_diagonal(core, 0.0)
        half = (beyond + 0.5 * (self.vectors @ core)) @ self.vectors.T
        norm = float(np.sqrt(2.0 * np.vdot(beyond, beyond) + np.vdot(core, core)))
        return half + half.T, norm

    def admissible(self, matrix: Array) -> Array:
        """Return the nearest admissible matrix to a symmetric one."""
        nearest = np.maximum(matrix, 0.0)
        nearest[self.lone, self.lone] = 0.0
        others = np.arange(len(matrix)) != self.anchor
        row = np.zeros(len(matrix))
        row[others] = project_weighted(matrix[self.anchor, others], self.costs[self.anchor, others], 1.0)
        nearest[self.anchor] = nearest[:, self.anchor] = row
        return nearest

    def distance_error(self, matrix: Array, pairing: Array, distance: float) -> float:
        """Return how far the distance may be above the smallest, relative to it; see the module."""
        if distance <= NOTHING:
            return 0.0
        shares = pairing / self.costs
        lowest = 2.0 * float(np.delete(shares[self.anchor], self.anchor).min())
        violation = max(0.0, -float(shares[self.away].min(initial=0.0)))
        return (distance**2 - lowest + violation * float(np.vdot(self.costs, matrix))) / distance**2

    def dual_value(self, multiplier: Array, norm: float, epsilon: float) -> float:
        """Return a lower bound on the objective, shrinking the multiplier until it is feasible."""
        slopes = multiplier / self.costs
        least = float(slopes[self.away].min(initial=0.0))
        shrink = 1.0 if least >= -1.0 else -1.0 / least
        lowest = 2.0 * float(np.delete(slopes[self.anchor], self.anchor).min())
        return 2.0 + max(0.0, shrink * (lowest - epsilon * norm))


class Certified(NamedTuple):
    """A graph with the two measures that stop the method; ``merit`` is the larger."""

    graph: Array
    distance: float
    excess: float
    gap: float

    @property
    def merit(self) -> float:
        return max(self.gap, self.excess)


class DouglasRachford:
    """The splitting method at one epsilon, from some graph."""

    def __init__(self, split: Split, epsilon: float, start: Array) -> None:
        self.split, self.epsilon = split, epsilon
        self.step = 1.0 / float(split.costs.mean()) / len(start)
        self.state = start + self.step * split.costs  # so that the first graph is the start
        self.graph = self.inside = self.before = self.multiplier = self.state
        self.multiplier_norm = 0.0

    def advance(self) -> None:
        """Make one step."""
        self.graph = self._sparser()
        mirrored = 2.0 * self.graph - self.state
        pairing, norm = self.split.pairing(mirrored)
        cut = 1.0 - self.epsilon / max(norm, self.epsilon)
        self.before, self.inside = self.inside, mirrored - cut * pairing
        self.multiplier, self.multiplier_norm = pairing * (cut / self.step), norm * cut / self.step
        self.state += RELAXATION * (self.inside - self.graph)

    def certify(self) -> Certified:
        """Measure the present graph against the present multiplier."""
        _, distance = self.split.pairing(self.graph)
        beyond = max(0.0, distance - self.epsilon)
        objective = float(np.vdot(self.split.costs, self.graph))
        excess = max(beyond / float(np.linalg.norm(self.graph)), beyond * self.multiplier_norm / objective)
        bound = self.split.dual_value(self.multiplier, self.multiplier_norm, self.epsilon)
        return Certified(self.graph, distance, excess, abs(objective - bound) / objective)

    def balance(self) -> None:
        """Change the step so that primal and dual residual become alike, and keep the multiplier."""
        primal = np.linalg.norm(self.inside - self.graph) / np.linalg.norm(self.graph)
        dual = np.linalg.norm(self.inside - self.before) / np.linalg.norm(self.state - self.graph)
        change = float(np.sqrt(dual / primal)) if primal > 0 and dual > 0 else 1.0
        if 1.0 / UNBALANCED < change < UNBALANCED:
            return
        change = min(max(change, 1.0 / LARGEST_CHANGE), LARGEST_CHANGE)
        graph = self._sparser()
        self.state = graph + change * (self.state - graph)
        self.step *= change

    def _sparser(self) -> Array:
        """Return the admissible matrix that trades its cost against the distance from the state."""
        return self.split.admissible(self.state - self.step * self.split.costs)
