"""The graphs of a consensus's resamples, kept for advice: the heaviest ties of each node, in bounded memory."""

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
    keeps its heaviest ties, so that there are a million in all graphs together, or 16 a node.
    """
    if not graphs:
        return []
    moved = sparse.csr_array(weights - smooth, dtype=np.float32)
    sums = np.asarray(weights.sum(axis=1)).ravel()
    each = max(LEAST_EACH, PAIRS // (len(graphs) * weights.shape[0]))
    every = 2 if moved.count_nonzero() else len(graphs) + 1
    return [_heaviest(graph if number % every else graph + moved, each, sums) for number, graph in enumerate(graphs, 1)]


def _heaviest(graph: Any, each: int, sums: Array) -> Any:
    """Return the so many heaviest entries of each row, scaled to the row's sum; what is negative is left out."""
    counts = np.diff(graph.indptr)
    rows = np.repeat(np.arange(len(counts)), counts)
    kept = graph.data > 0
    if counts.max(initial=0) > each:
        padded = np.zeros((len(counts), counts.max()), graph.dtype)
        padded[rows, np.arange(len(rows)) - graph.indptr[rows]] = graph.data
        kept &= graph.data >= np.partition(padded, -each, axis=1)[rows, -each]
    rows, data = rows[kept], graph.data[kept]
    scale = sums / np.maximum(np.bincount(rows, weights=data, minlength=len(counts)), 1e-300)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(counts)))])
    entries = (data * scale[rows]).astype(np.float32), graph.indices[kept].astype(np.int32), pointers.astype(np.int32)
    return sparse.csr_array(entries, shape=graph.shape)
