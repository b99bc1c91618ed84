r"""Whom each respondent is tied to: tilts of the shared mixing that reproduce everybody's own answers.

    maximise over E   Σ_i E_i · a_i − Σ_{pairs with an end that was asked} log(1 + exp θ_ij) − ½ Σ_i E_iᵀ V_i E_i
    θ_ij = Z_iᵀ G Z_j + κ x_i · x_j + E_i · Z_j + Z_i · E_j

E_ik exists where node i was asked about trait k (k = 0: the number of ties). The problem is concave. It is the dual of
"the distribution of networks nearest to the shared mixing whose expected counts are those told, up to an error of
covariance V_i", so the penalty is the covariance of errors in the answers: none for exact answers, and then expected
counts equal those told. At the solution a_i − Σ_j p_ij Z_j = V_i E_i; the relative norm of the difference is
what the solver stops by. Limited-memory BFGS, preconditioned with each node's own Hessian block; steps are checked by
the slope at their end, which a concave function makes safe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..certificate import Certificate, Measure, Monitor, Status
from ..validation import Array
from .pair_sums import Factors, curvature, expected_counts, sigmoid

MEMORY = 12  # pairs of steps and gradients kept
REFRESH = 8  # iterations after which the blocks are computed again
MOST_COLUMNS = 2000  # that they are computed on


class Task(NamedTuple):
    """A problem of tilts: features Z, mixing G, and likeness already scaled by the square root of κ.

    ``offset`` is added to the popularity of nodes that were not asked. ``rows`` are those asked, with counts (NaN: not
    asked) and their error covariances ``noise``. ``known`` has (rows, columns, values) of known pairs, each once.
    """

    features: Array
    mixing: Array
    likeness: Array
    offset: Array
    rows: Array
    counts: Array
    noise: Array
    known: tuple[Array, Array, Array]

    def factors(self, tilts: Array) -> Factors:
        """Return the log-odds that tilts (n_asked × n_features) lead to, in low rank."""
        everybody = np.zeros_like(self.features)
        everybody[:, 0] = self.offset
        everybody[self.rows] += tilts
        Z = self.features
        half = everybody + 0.5 * self.features @ self.mixing
        return Factors(np.hstack([half, Z, self.likeness]), np.hstack([Z, half, self.likeness]))


def known_rows(known: tuple[Array, Array, Array], asked: Array) -> tuple[Array, Array, Array]:
    """Return the known pairs in both directions, those whose first end was asked."""
    one, other, value = known
    one, other = np.concatenate([one, other]), np.concatenate([other, one])
    mine = asked[one]
    return one[mine], other[mine], np.tile(value, 2)[mine].astype(float)


class Value(NamedTuple):
    """Objective, its gradient, and the factors of the log-odds."""

    objective: float
    gradient: Array
    low_rank: Factors


def evaluator(task: Task) -> Callable[[Array], Value]:
    """Return the objective and its gradient as a function of the tilts."""
    Z = task.features
    rows = task.rows
    place = np.full(len(Z), -1)
    place[rows] = np.arange(len(rows))
    asked = place >= 0
    told = ~np.isnan(task.counts)
    one, other, tie = known_rows(task.known, asked)
    counts = np.where(told, task.counts, 0.0)
    np.add.at(counts, place[one], -tie[:, None] * Z[other])  # what is left for pairs that are not known
    counts = np.where(told, np.maximum(counts, 0.0), 0.0)
    each = np.where(asked, 0.5, 1.0)  # a pair of two that were asked is met twice

    def evaluate(tilts: Array) -> Value:
        low_rank = task.factors(tilts)
        expected, softplus = expected_counts(low_rank, Z, rows, each)
        if len(one):
            theta = low_rank.at(one, other)
            softplus -= float(np.logaddexp(0.0, theta) @ each[other])
            np.add.at(expected, place[one], -sigmoid(theta)[:, None] * Z[other])
        pull = np.einsum("nab,nb->na", task.noise, tilts)
        gradient = np.where(told, counts - expected - pull, 0.0)
        objective = float((tilts * counts).sum() - softplus - 0.5 * (pull * tilts).sum())
        return Value(objective, gradient, low_rank)

    return evaluate


def fit_tilts(task: Task, tol: float = 1e-3, max_iter: int = 200) -> tuple[Array, Factors, Certificate]:
    """Return the tilts of those who were asked, the factors of all log-odds, and a certificate."""
    tilts = np.zeros_like(task.counts)
    evaluate = evaluator(task)
    told = ~np.isnan(task.counts)
    size = max(1e-12, float(np.linalg.norm(task.counts[told])))
    monitor = Monitor(Measure.GRADIENT, tol, max_iter)
    now = evaluate(tilts)
    memory: list[tuple[Array, Array, float]] = []
    inverse = _blocks(task, now.low_rank, told)
    iteration = 0
    while (status := monitor.check(iteration, -now.objective, float(np.linalg.norm(now.gradient)) / size)) is None:
        if iteration and iteration % REFRESH == 0:
            inverse = _blocks(task, now.low_rank, told)
        move = _direction(now.gradient, memory, inverse) * told
        slope = float((now.gradient * move).sum())
        length = 1.0
        new = evaluate(tilts + move)
        while not (after := float((new.gradient * move).sum())) >= -0.5 * slope and length > 1e-6:
            length *= max(0.1, slope / (slope - after))  # where a straight line through both slopes is zero
            new = evaluate(tilts + length * move)
        if length <= 1e-6:
            status = Status.STALLED
            break
        change = length * move
        bend = now.gradient - new.gradient
        if (curve := float((change * bend).sum())) > 0:
            memory = [*memory[1 - MEMORY :], (change, bend, 1.0 / curve)]
        tilts = tilts + change
        now = new
        iteration = iteration + 1
    return tilts, now.low_rank, monitor.certificate(status)


def _blocks(task: Task, low_rank: Factors, told: Array) -> Array:
    """Return the inverse of each respondent's own block of the negative Hessian."""
    n = len(task.features)
    columns = np.arange(len(task.features))
    if n > MOST_COLUMNS:
        columns = np.sort(np.random.default_rng(0).permutation(n)[:MOST_COLUMNS])
    blocks = curvature(low_rank, task.features, task.rows, columns)
    place = np.arange(blocks.shape[1])
    blocks += task.noise
    blocks[:, place, place] += np.where(told, 1e-6, 1e12)  # what was not asked does not move
    return np.linalg.inv(blocks)


def _direction(gradient: Array, memory: list[tuple[Array, Array, float]], inverse: Array) -> Array:
    """Return the quasi-Newton direction: the two-loop recursion around the block preconditioner."""
    rest = gradient.copy()
    weights = []
    for change, bend, scale in reversed(memory):
        weights.append(scale * float((change * rest).sum()))
        rest -= weights[-1] * bend
    move = np.einsum("nab,nb->na", inverse, rest)
    if memory:  # the blocks leave out how both ends of a tie move together: the last step shows by how much
        change, bend, scale = memory[-1]
        move /= scale * float((bend * np.einsum("nab,nb->na", inverse, bend)).sum())
    for (change, bend, scale), weight in zip(memory, reversed(weights), strict=True):
        move += change * (weight - scale * float((bend * move).sum()))
    return move
