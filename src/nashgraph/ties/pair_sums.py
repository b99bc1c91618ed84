"""Sums over all pairs of a low-rank log-odds matrix, by blocks of rows: no N × N array is ever held.

Everything the tie model needs is a sum over pairs of a function of ``theta_ij = left_i · right_j``. A block of rows is
two matrix products and one exponential, so a few threads with BLAS on one thread each are as fast as a compiled kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np
from joblib import cpu_count

from ..pairs.threads import blas_threads
from ..validation import Array

Part = TypeVar("Part")
BLOCK = 1 << 18  # pairs in a block: small enough for the cache of a core, large enough for BLAS
FLOAT32_ABOVE = 1000  # nodes; float32 halves the time, and its rounding is far below the tolerance there


def by_blocks(job: Callable[[slice], Part], n_rows: int, n_columns: int) -> Iterator[Part]:
    """Yield ``job(rows)`` for every block of rows, in order, a few blocks at a time in threads."""
    size = max(1, BLOCK // max(1, n_columns))
    blocks = [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
    workers = min(cpu_count(), 8)
    if len(blocks) == 1 or workers == 1:
        yield from map(job, blocks)
        return
    with blas_threads().limit(limits=1), ThreadPoolExecutor(workers) as pool:
        for first in range(0, len(blocks), 4 * workers):
            yield from pool.map(job, blocks[first : first + 4 * workers])


def sigmoid(theta: Array) -> Array:
    """Return 1 / (1 + exp(-theta)), in place."""
    np.negative(theta, out=theta)
    with np.errstate(over="ignore"):  # exp of much is infinite, and one over it is 0
        np.exp(theta, out=theta)
    theta += 1.0
    return np.reciprocal(theta, out=theta)


class Factors(NamedTuple):
    """The log-odds of all pairs, ``theta = left @ right.T``; symmetric, the diagonal without meaning."""

    left: Array
    right: Array

    def cast(self) -> Factors:
        """Return the factors in the precision that their number of nodes asks for."""
        kind = np.float32 if len(self.left) > FLOAT32_ABOVE else np.float64
        return Factors(np.ascontiguousarray(self.left, dtype=kind), np.ascontiguousarray(self.right, dtype=kind))

    def at(self, rows: Array, columns: Array) -> Array:
        """Return the log-odds of some pairs."""
        return np.einsum("pk,pk->p", self.left[rows], self.right[columns]).astype(float)


def expected_counts(low_rank: Factors, features: Array, rows: Array, each: Array) -> tuple[Array, float]:
    """Return Σ_j p_ij Z_j for the given rows, and Σ_ij each_j log(1 + exp theta_ij); pairs i = j are left out.

    The second, which only the history shows, takes as long as the first: it is NaN if there are many nodes.
    """
    left, right = low_rank.cast()
    Z = features.astype(left.dtype)
    with_value = len(left) <= FLOAT32_ABOVE

    def job(block: slice) -> tuple[Array, float]:
        nodes = rows[block]
        value = np.nan
        P = sigmoid(left[nodes] @ right.T)
        if with_value:
            value = -float((np.log(P) @ each).sum())
        P[np.arange(len(nodes)), nodes] = 0.0
        return P @ Z, value

    parts = list(by_blocks(job, len(rows), len(left)))
    value = sum(part[1] for part in parts)
    if with_value:  # log(1 + exp t) = t - log p, and i = j does not count
        diagonal = np.logaddexp(0.0, low_rank.at(rows, rows)) @ each[rows]
        value += float((left[rows] @ (right.T @ each)).sum() - diagonal)
    return np.vstack([part[0] for part in parts]).astype(float), value


def curvature(low_rank: Factors, features: Array, rows: Array, columns: Array) -> Array:
    """Return Σ_j p_ij (1 - p_ij) Z_j Z_j' for the given rows, estimated from a sample of columns."""
    return _products(low_rank, features, rows, columns, variance=True)


def ties_by_product(low_rank: Factors, features: Array, rows: Array) -> Array:
    """Return Σ_j p_ij Z_j Z_j' for the given rows: how many ties have both of any two features."""
    return _products(low_rank, features, rows, np.arange(len(features)), variance=False)


def _products(low_rank: Factors, features: Array, rows: Array, columns: Array, variance: bool) -> Array:
    left, right = low_rank.cast()
    Z = features.astype(left.dtype)[columns]
    n_features = features.shape[1]
    upper = np.triu_indices(n_features)
    products = Z[:, upper[0]] * Z[:, upper[1]] * (len(left) / len(columns))

    def job(block: slice) -> Array:
        P = sigmoid(left[rows[block]] @ right[columns].T)
        if variance:
            P *= 1.0 - P
        return P @ products

    packed = np.vstack(list(by_blocks(job, len(rows), len(columns))))
    full = np.empty((len(rows), n_features, n_features))
    full[:, upper[0], upper[1]] = packed
    full[:, upper[1], upper[0]] = packed
    return full


def pairs_where(low_rank: Factors, chosen: Callable[[slice, Array], Array]) -> tuple[Array, Array]:
    """Return the ends i < j of the pairs that ``chosen`` tells of a block of rows and its log-odds."""
    left, right = low_rank.cast()

    def job(rows: slice) -> tuple[Array, Array]:
        one, other = np.nonzero(chosen(rows, left[rows] @ right[rows.start :].T))
        later = other > one
        return one[later] + rows.start, other[later] + rows.start

    parts = list(by_blocks(job, len(left), len(left)))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
