r"""Evidence for ties: one symmetric score per pair, how many ties it suggests, and what kind of signals there are.

Weights in S divide each node's attention: their rows sum to c, so weights of different nodes cannot be compared.
Evidence can. It is in units of the average pair, which has 1, and it depends on what the signals are (fact 11 of
docs/mathematics.md):

- *answers* to different questions: likeness is weak and adds up over questions. Evidence is the mean of three row
  ladders (distance, cosine and inner product) and of a ladder of degrees over all pairs, on inner products;
- *samples*, repeated measurements of one kind: likeness is relative to the node. Evidence is the mean of row ladders
  and, where partial likeness counts (:func:`~nashgraph.consensus.members.geometry_weights`), of partial likeness above
  its median: minus the inverse covariance, which can be compared between pairs as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from .members import PARTIAL, PRIOR_SHARE, Ladders, MemberMean, search_of
from .signal_kinds import ANSWERS


def global_ladder(scores: Array, n_nodes: int, degrees: Array) -> Array:
    """Return the mean over degrees of scores above a cut, the same for all pairs, each with a mean of 1.

    ``scores`` has each pair once, ``degrees`` the mean number of neighbours above each cut.
    """
    most = n_nodes * (n_nodes - 1) / 2
    count = len(scores)
    ranks = np.minimum(np.round(n_nodes * degrees / 2).astype(int), count - 1)
    ordered = -np.partition(-scores, np.unique(ranks))
    found = np.zeros(count)
    for cut in ordered[ranks]:
        above = np.maximum(scores - cut, 0.0)
        found += above / max(above.sum(), np.finfo(float).tiny)
    return most / len(degrees) * found


def upper_pairs(weights: Any, everything: bool) -> Any:
    """Return the mean of both directions as CSR, each pair once; with ``everything`` pairs of weight 0 too."""
    mutual = sparse.csr_array(weights + weights.T) * 0.5
    if not everything:
        return sparse.csr_array(sparse.triu(mutual, k=1))
    n = mutual.shape[0]
    rows, columns = np.triu_indices(n, 1)
    pointers = np.concatenate([[0], np.cumsum(np.arange(n - 1, -1, -1))])
    return sparse.csr_array((mutual.toarray()[rows, columns], columns, pointers), shape=(n, n))


def evidence_of(rows: Any, X: Array, kind: str, partial: float, ladders: Ladders) -> Any:
    """Return the evidence of pairs as CSR, each pair once.

    ``rows`` is the mean of the row ladders, whose rows sum to c less the part of partial likeness.
    """
    n = rows.shape[0]
    pairs = upper_pairs(rows, n <= ladders.all_pairs_up_to)
    pairs.data *= (n - 1) / ladders.c
    if not pairs.nnz:
        return pairs
    if kind == ANSWERS:
        everywhere = global_ladder(-search_of(X, "inner").geometry.costs_for_ranks(pairs), n, ladders.degrees)
        pairs.data = 0.75 * pairs.data + 0.25 * everywhere  # three row ladders and one over all pairs, alike
    elif partial > 0:
        likeness = -search_of(X, PARTIAL).geometry.costs_for_ranks(pairs)
        above = np.maximum(likeness - np.median(likeness), 0.0)  # a common part, as of a constant sum, is not evidence
        pairs.data += partial * above * (n * (n - 1) / 2) / max(above.sum(), np.finfo(float).tiny)
    return pairs


def plain_mean(kind: str, geometries: dict[str, float], X: Array, ladders: Ladders) -> tuple[MemberMean, Any]:
    """Return the mean of the members without prior, and the evidence of pairs."""
    mean = rows = MemberMean.nothing(X.shape[1])
    for geometry, share in geometries.items():  # partial likeness comes last
        mean = mean.plus(ladders(X, geometry), share)
        rows = rows if geometry == PARTIAL else mean
        ladders.step()
    used = kind if ladders.estimator is None else ""  # the members of an estimator are all there is to compare
    return mean, evidence_of(rows.weights, X, used, geometries.get(PARTIAL, 0.0), ladders)


def with_prior(pairs: Any, weights: Any, smooth: Any, ladders: Ladders) -> Any:
    """Return the evidence with the members of a prior; ``smooth`` is the mean without them."""
    n = weights.shape[0]
    added = upper_pairs(weights - (1.0 - PRIOR_SHARE) * smooth, n <= ladders.all_pairs_up_to) * ((n - 1) / ladders.c)
    return sparse.csr_array((1.0 - PRIOR_SHARE) * pairs + added)
