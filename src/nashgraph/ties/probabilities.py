"""From log-odds to probabilities: calibrated by simulation, searched for the pairs that matter, drawn as networks."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..validation import Array
from .answers import Errors, scaled_up
from .mixing import Mixing, Respondents, fit_mixing
from .pair_sums import Factors, expected_counts, pairs_where, sigmoid
from .tilts import Task, fit_tilts, known_rows

# Networks drawn for the calibration: as many as have 5,000 ties, or 16. With one, another seed moved probabilities of
# groups of 40 people by up to a quarter (benchmarks/EVIDENCE.md).
ENOUGH_TIES = 5000
MOST_NETWORKS = 16


def drawn_network(low_rank: Factors, random: np.random.Generator) -> sparse.csr_array:
    """Return one network drawn from the pairs' probabilities, as a symmetric matrix of ones."""
    n = len(low_rank.left)
    streams = random.spawn(n)  # one for each block's first row, so that threads do not change the draw

    def drawn(rows: slice, theta: Array) -> Array:
        return np.asarray(streams[rows.start].random(theta.shape, dtype=np.float32) < sigmoid(theta))

    one, other = pairs_where(low_rank, drawn)
    ties = sparse.csr_array((np.ones(len(one)), (one, other)), shape=(n, n))
    return sparse.csr_array(ties + ties.T)


def asked_again(network: sparse.csr_array, task: Task, errors: Errors, random: np.random.Generator) -> Array:
    """Return what the same people would answer about a drawn network: they forget, and miscount by one."""
    rows = network[task.rows]
    if errors.recall < 1.0:
        rows = rows.copy()
        rows.data = (random.random(rows.nnz) < errors.recall).astype(float)
    counts = rows @ task.features
    off = random.random(counts.shape)
    share = min(1.0, errors.variance)
    counts = np.maximum(0.0, counts + (off < share / 2) - (off > 1.0 - share / 2))
    return np.where(np.isnan(task.counts), np.nan, counts / errors.recall)


def calibration(
    low_rank: Factors, task: Task, errors: Errors, anchor: Mixing | None, pull: float, seed: int, tol: float
) -> Array:
    """Return (intercept, slope) for pairs with none, one or both ends asked, by asking drawn networks.

    Networks are drawn from the fitted probabilities, the same people are asked about each, the model is fitted to what
    they say, and a logistic regression of the drawn ties on the fitted log-odds says how far these can be trusted:
    answers pin ties down further than expected counts do (slope above 1), and errors are fitted too (slope below 1).
    """
    random = np.random.default_rng(seed)
    n = len(task.features)
    asked = np.isin(np.arange(n), task.rows).astype(int)
    one, other = np.triu_indices(n, 1)
    ends = asked[one] + asked[other]
    anchor = None if anchor is None else anchor._replace(kappa=1.0)  # likeness has κ in it here
    thetas: list[Array] = []
    ties: list[Array] = []
    count = 0
    while count < ENOUGH_TIES and len(ties) < MOST_NETWORKS:
        network = drawn_network(low_rank, random)
        counts = asked_again(network, task, errors, random)
        told = Respondents(task.features, task.rows, scaled_up(counts, task.features), task.likeness)
        mixing = fit_mixing([told], anchor, pull, kappa=1.0)
        again = task._replace(mixing=mixing.matrix, counts=counts)
        _, fitted, _ = fit_tilts(again, tol=tol)
        thetas.append((fitted.left @ fitted.right.T)[one, other])
        ties.append(network.toarray()[one, other])
        count += network.nnz // 2
    lines = np.tile([0.0, 1.0], (3, 1))
    for k in range(3):
        theta, tie = (np.concatenate([each[ends == k] for each in found]) for found in (thetas, ties))
        if tie.sum() >= 30:  # fewer do not tell a line
            lines[k] = logistic_line(theta, tie)
    return lines


def logistic_line(theta: Array, tie: Array) -> Array:
    """Return intercept and slope of the logistic regression of ties on log-odds."""
    line = np.array([0.0, 1.0])
    columns = np.column_stack([np.ones_like(theta), theta])
    for _ in range(50):
        p = sigmoid(columns @ line)
        hessian = (columns * (p * (1.0 - p))[:, None]).T @ columns + 1e-3 * np.eye(2)
        step = np.linalg.solve(hessian, columns.T @ (tie - p))
        line = line + step * min(1.0, 0.3 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-6:
            break
    return line


def calibrated(low_rank: Factors, lines: Array, asked: Array) -> Factors:
    """Return the log-odds after calibration, in low rank again: a line for each number of ends that were asked."""
    left, right = low_rank
    if asked.all():
        ones = np.ones((len(left), 1))
        return Factors(np.hstack([lines[2, 1] * left, lines[2, 0] * ones]), np.hstack([right, ones]))
    parts = []
    for mine in (0, 1):
        me = (asked == mine).astype(float)[:, None]
        slope = np.where(asked, lines[mine + 1, 1], lines[mine, 1])[:, None]
        level = np.where(asked, lines[mine + 1, 0], lines[mine, 0])[:, None]
        parts.append((np.hstack([me * left, me]), np.hstack([slope * right, level])))
    return Factors(np.hstack([part[0] for part in parts]), np.hstack([part[1] for part in parts]))


def levelled(low_rank: Factors, rows: Array, known: tuple[Array, Array, Array], wanted: Array) -> Factors:
    """Return the log-odds with a popularity added to some rows, so that calibration leaves expected ties as wanted."""
    n = len(low_rank.left)
    shift = np.zeros(n)
    ones = np.ones((n, 1))
    place = np.full(n, -1)
    place[rows] = np.arange(len(rows))
    one, other, value = known_rows(known, place >= 0)
    moved = low_rank
    for _ in range(8):  # each round removes most of the difference
        expected, _ = expected_counts(moved, ones, rows, ones[:, 0])
        if len(one):
            np.add.at(expected[:, 0], place[one], value - sigmoid(moved.at(one, other)))
        shift[rows] += 0.7 * np.log(np.maximum(wanted, 0.02) / np.maximum(expected[:, 0], 0.02))
        column = shift[:, None]
        moved = Factors(np.hstack([low_rank.left, column, ones]), np.hstack([low_rank.right, ones, column]))
    return moved


def uncertainty_removed(p: Array, counted: Array, candidates: Array, noise: float) -> Array:
    """Return the share of the variance of ties that one more count of each candidate would remove.

    A row of ``p`` has the probabilities of one person's ties with everybody.
    """
    removed = np.zeros(candidates.shape[1])
    total = 0.0
    for v in p * (1.0 - p):
        known = v[:, None] * counted
        inner = np.linalg.inv(counted.T @ known + noise * np.eye(counted.shape[1]))
        spread = v[:, None] * candidates
        spread -= known @ (inner @ (counted.T @ spread))  # C t, a column for each candidate
        removed += (spread**2).sum(axis=0) / ((candidates * spread).sum(axis=0).clip(min=0.0) + noise)
        total += v.sum() - np.einsum("jk,kl,jl->", known, inner, known)
    return np.asarray(removed / max(total, 1e-12))
