"""How far probabilities from counts can be trusted, by asking drawn networks; and what another question would tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from ..validation import Array
from .answers import Errors
from .counts import Counts

# Networks drawn for the calibration: as many as have 5,000 ties, or 16. With one, another seed moved probabilities of
# groups of 40 people by up to a quarter (benchmarks/EVIDENCE.md).
ENOUGH_TIES = 5000
MOST_NETWORKS = 16
CERTAIN = 1e-9  # pairs nearer to 0 or 1 are known


def asked_again(network: sparse.csr_array, counts: Counts, errors: Errors, random: np.random.Generator) -> Array:
    """Return what the same people would answer about a drawn network: they forget, and miscount by one."""
    rows = network.copy()
    if errors.recall < 1.0:
        rows.data = (random.random(rows.nnz) < errors.recall).astype(float)
    answers = np.asarray(rows @ counts.features)
    off = random.random(answers.shape)
    share = min(1.0, errors.variance)
    answers = np.maximum(0.0, answers + (off < share / 2) - (off > 1.0 - share / 2))
    return np.where(np.isnan(counts.answers), np.nan, answers / errors.recall)


def calibration(
    before: Array,
    people: Array,
    counts: Counts,
    errors: Errors,
    draw: Callable[[np.random.Generator], tuple[Array, Array]],
    refit: Callable[[Array], Array],
    seed: int,
) -> Array:
    """Return (intercept, slope) for pairs with none, one or both ends asked, by asking drawn networks.

    ``before`` has the probabilities of the ties of some people with everybody. Networks are drawn from the fit, the
    same people are asked about each, ``refit`` returns the same rows of probabilities given their answers, and a
    logistic regression of the drawn ties on these log-odds says how far they can be trusted: answers pin ties down
    further than expected counts do (slope above 1), and errors are also fitted (slope below 1).
    """
    random = np.random.default_rng(seed)
    n = len(counts.features)
    asked: Array = np.asarray(~np.isnan(counts.answers).all(axis=1))
    ends = asked[people][:, None].astype(int) + asked[None, :]
    usable = np.logical_and(before > CERTAIN, before < 1.0 - CERTAIN)
    usable[np.arange(len(people)), people] = False
    log_odds: list[Array] = []
    ties: list[Array] = []
    n_ties = 0
    while n_ties < ENOUGH_TIES and len(ties) < MOST_NETWORKS:
        one, other = draw(random)
        both = (np.concatenate([one, other]), np.concatenate([other, one]))
        network = sparse.csr_array((np.ones(2 * len(one)), both), shape=(n, n))
        p = refit(asked_again(network, counts, errors, random))
        log_odds.append(logit(np.clip(p[usable], CERTAIN, 1.0 - CERTAIN)))
        ties.append(network[people].toarray()[usable])
        n_ties += max(1, len(one))
    n_asked = np.tile(ends[usable], len(ties))
    lines = np.tile([0.0, 1.0], (3, 1))
    for k in range(3):
        tie = np.concatenate(ties)[n_asked == k]
        if tie.sum() >= 30:  # fewer do not tell a line
            lines[k] = logistic_line(np.concatenate(log_odds)[n_asked == k], tie)
    return lines


class Calibration(NamedTuple):
    """Intercepts and slopes for log-odds by the number of ends that were asked, and what is added for each person."""

    lines: Array
    shift: Array

    def apply(self, p: Array, rows: Array, asked: Array) -> Array:
        """Return rows of probabilities after calibration."""
        ends = asked[rows][:, None].astype(int) + asked[None, :]
        log_odds = logit(np.clip(p, 1e-300, 1.0 - 1e-16))
        corrected = self.lines[ends, 0] + self.lines[ends, 1] * log_odds + self.shift[rows][:, None] + self.shift
        return np.where(p > 0.0, expit(corrected), 0.0)


def levelled(lines: Array, p: Array, asked: Array, rounds: int = 6) -> Calibration:
    """Return the calibration that leaves the expected ties of those asked as they are; ``p`` are all probabilities."""
    shift = np.zeros(len(p))
    everybody = np.arange(len(p))
    wanted = p.sum(axis=1)
    for _ in range(rounds):  # each removes most of the difference
        expected = Calibration(lines, shift).apply(p, everybody, asked).sum(axis=1)
        step = 0.7 * np.log(np.maximum(wanted, 0.02) / np.maximum(expected, 0.02))
        shift = shift + np.where(asked, step, 0.0)
    return Calibration(lines, shift)


def logistic_line(theta: Array, tie: Array) -> Array:
    """Return intercept and slope of the logistic regression of ties on log-odds."""
    line = np.array([0.0, 1.0])
    columns = np.column_stack([np.ones_like(theta), theta])
    for _ in range(50):
        p = expit(columns @ line)
        hessian = (columns * (p * (1.0 - p))[:, None]).T @ columns + 1e-3 * np.eye(2)
        step = np.linalg.solve(hessian, columns.T @ (tie - p))
        line = line + step * min(1.0, 0.3 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-6:
            break
    return line


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
