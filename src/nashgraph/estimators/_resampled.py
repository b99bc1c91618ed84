"""The graphs of a consensus's resamples, kept for advice in bounded memory: some ties of each node stand for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array

PAIRS, LEAST_EACH = 1_000_000, 16  # ties kept in all graphs together, unless that leaves a node fewer than so many


def resampled_graphs(graphs: list[Any], weights: Any, smooth: Any) -> list[Any]:
    """Return the graph of each resample, every second one with what prior and known ties moved.

    What they moved is the same in all resamples: were it in all graphs, it would pass for certain (see
    :func:`~nashgraph.estimators._intervals.node_intervals`). All are in CSR of 32 bits and in S: no weight is negative,
    and rows sum to what they do in the consensus. Up to 220 nodes, with 20 resamples, a graph is whole; beyond, a node
    keeps its heaviest ties and a draw of the others, which stand for the rest (see :func:`_drawn`), so that there are a
    million in all graphs together, or 16 a node.
    """
    if not graphs:
        return []
    moved = sparse.csr_array(weights - smooth, dtype=np.float32)
    sums = np.asarray(weights.sum(axis=1)).ravel()
    each = max(LEAST_EACH, PAIRS // (len(graphs) * weights.shape[0]))
    every = 2 if moved.count_nonzero() else len(graphs) + 1
    return [
        _drawn(graph if number % every else graph + moved, each, sums, np.random.default_rng(number))
        for number, graph in enumerate(graphs, 1)
    ]


def _drawn(graph: Any, each: int, sums: Array, random: np.random.Generator) -> Any:
    """Return so many entries of each row at the most, and rows scaled to their sums; what is negative is left out.

    An entry w is kept with probability min(1, w / t), t such that ``each`` are, and then weighs max(w, t): no influence
    is changed in expectation, as it would be if the heaviest were kept only. Draws are systematic, one number a row.
    """
    counts = np.diff(graph.indptr)
    rows, data = np.repeat(np.arange(len(counts)), counts), np.maximum(graph.data, 0.0)
    kept = data > 0
    if counts.max(initial=0) > each:
        padded = np.zeros((len(counts), counts.max()))
        places = rows, np.arange(len(rows)) - graph.indptr[rows]
        padded[places] = data
        least = _threshold(padded, each)[:, None]
        passed = np.floor(np.cumsum(np.minimum(1.0, padded / least), axis=1) + random.random((len(counts), 1)))
        kept &= (np.diff(passed, axis=1, prepend=0.0) > 0)[places]
        data = np.maximum(data, least[rows, 0])
    rows, data = rows[kept], data[kept]
    scale = sums / np.maximum(np.bincount(rows, weights=data, minlength=len(counts)), 1e-300)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(counts)))])
    entries = (data * scale[rows]).astype(np.float32), graph.indices[kept].astype(np.int32), pointers.astype(np.int32)
    return sparse.csr_array(entries, shape=graph.shape)


def _threshold(values: Array, each: int) -> Array:
    """Return t for each row, with sum_j min(1, values_j / t) = each; near 0 where a row has no more than ``each``.

    Examples
    --------
    >>> _threshold(np.array([[4.0, 1.0, 1.0, 1.0, 1.0]]), 3)
    array([2.])
    """
    ordered = -np.sort(-values, axis=1)
    tails = np.cumsum(ordered[:, ::-1], axis=1)[:, ::-1][:, :each]  # of all but the k heaviest
    levels = tails / (each - np.arange(each))
    first = np.argmax(ordered[:, :each] <= levels * (1.0 + 1e-12), axis=1)  # the k heaviest are kept for certain
    return np.maximum(levels[np.arange(len(values)), first], 1e-30)
