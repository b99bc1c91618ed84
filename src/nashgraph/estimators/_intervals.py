"""How sure a consensus is: intervals over its resamples, and how alike they are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..validation import Array

INTERVAL = (0.05, 0.95)


def quantiles(graphs: list[Any], pattern: Any, levels: tuple[float, float]) -> tuple[Array, Array]:
    """Return two quantiles, over graphs, of the weight of each edge of a CSR pattern; a block of rows at a time."""
    low, high = np.zeros(pattern.nnz, np.float32), np.zeros(pattern.nnz, np.float32)
    size = max(1, 2_000_000 // max(1, len(graphs) * pattern.shape[0]))
    for first in range(0, pattern.shape[0], size):
        rows = slice(first, min(first + size, pattern.shape[0]))
        place = slice(pattern.indptr[rows.start], pattern.indptr[rows.stop])
        block = pattern[rows]
        where = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)), block.indices
        values = np.stack([graph[rows].toarray()[where] for graph in graphs])
        low[place], high[place] = np.quantile(values, levels, axis=0)
    return low, high


def values_at(pattern: Any, graph: Any) -> Array:
    """Return a CSR graph's weight for each edge of a pattern, 0 where it has none; both are in order."""
    here, there = (
        np.repeat(np.arange(each.shape[0]), np.diff(each.indptr)) * np.int64(each.shape[0]) + each.indices
        for each in (pattern, graph)
    )
    place = np.searchsorted(there, here)
    place[place == len(there)] = 0
    return np.where(there[place] == here, graph.data[place], 0.0) if len(there) else np.zeros(len(here))


def agreement(graphs: list[Any]) -> float:
    """Return how alike two random graphs are: the mean share of weight that each two in a row have in common."""
    shares = [float(one.minimum(other).sum()) / max(float(one.sum()), 1e-300) for one, other in pairwise(graphs)]
    return float(np.mean(shares)) if shares else np.nan


def node_intervals(graphs: list[Any], moved: Array) -> dict[str, Array]:
    """Return the 90 % intervals of each node's influence and of its rank, over the resamples.

    What prior and known ties moved is the same in all resamples. It moves the interval of the influence; of the rank it
    would make a certainty, so that ranks are taken over the resamples with it and without.
    """
    if not graphs:
        return {}
    plain = np.stack([np.asarray(graph.sum(axis=0), dtype=float).ravel() for graph in graphs])
    ranks = np.stack([rankdata(-row, method="min") for row in (*plain, *(plain + moved))])
    low, high = np.maximum(np.quantile(plain + moved, INTERVAL, axis=0), 0.0)
    first, last = np.quantile(ranks, INTERVAL, axis=0)
    return {
        "influence_low": low,
        "influence_high": high,
        "rank_low": np.floor(first).astype(int),
        "rank_high": np.ceil(last).astype(int),
    }
