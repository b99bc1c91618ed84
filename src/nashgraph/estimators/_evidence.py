"""What the known pairs say: their scores in every group of members, beside plain features of the pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..validation import Array
from ._known import KnownTies

REGRESSION = "pair regression"
MOST_PAIRS, MOST_ENTRIES = 10_000, 20_000_000


class Evidence(NamedTuple):
    """Known pairs as numbers: the scores (one column a group, the consensus first), the answers and their weights.

    ``groups`` says which pairs belong together in cross-validation, ``offset`` is log(N - 1), ``controls`` are plain
    features of the pairs, and ``names`` those of the columns of ``scores``.
    """

    names: tuple[str, ...]
    scores: Array
    tied: Array
    weights: Array
    groups: Array
    offset: Array
    controls: dict[str, Array]

    def part(self, which: Array) -> Evidence:
        """Return some of the pairs."""
        return self._replace(
            scores=self.scores[which],
            tied=self.tied[which],
            weights=self.weights[which],
            groups=self.groups[which],
            offset=self.offset[which],
            controls={name: values[which] for name, values in self.controls.items()},
        )

    def odds(self, answer: Array) -> Array:
        """Return the log-odds of the pairs."""
        found: Array = answer[0] - self.offset + self.scores @ answer[1:]
        return found


def scores_of(graph: Any, c: float) -> Any:
    """Return the score of every pair in a graph, log(1 + (N - 1) (W_ij + W_ji) / 2c), as CSR.

    It is 0 where there is no edge, and log 2 where all ties weigh the same.
    """
    found = sparse.csr_array(0.5 * (graph + graph.T))
    found.data = np.log1p((found.shape[0] - 1) / c * found.data)
    return found


def spread_benefit(graph: Any, benefit: Array, c: float) -> Any:
    """Return the graph in S with the same edges whose weights go by the benefit of the influencer alone."""
    found = graph.copy()
    found.data = np.maximum(benefit, 1e-9 * benefit.max())[graph.indices]
    found.data *= np.repeat(c / found.sum(axis=1), np.diff(graph.indptr))
    return found


def evidence_of(
    known: KnownTies, groups: Iterable[tuple[str, Any]], c: float, signals: Array, benefit: Array | None
) -> Evidence:
    """Return what the known pairs say about some groups of members, given by name and graph, the consensus first."""
    pairs, tied, weights, together = chosen_pairs(known)
    one, other = pairs.T
    named = {name: np.asarray(0.5 * (graph[one, other] + graph[other, one])).ravel() for name, graph in groups}
    scores = np.log1p((len(known.names) - 1) / c * np.stack(list(named.values()), axis=1))
    offset = np.full(len(pairs), np.log(len(known.names) - 1.0))
    return Evidence(tuple(named), scores, tied, weights, together, offset, controls_of(signals, pairs, benefit))


def chosen_pairs(known: KnownTies) -> tuple[Array, Array, Array, Array]:
    """Return pairs to learn from, whether they are tied, what each counts, and which belong together.

    All the ties and at most 10,000 non-ties, which then count for those left out. Where no non-tie is known, pairs of
    which nothing is known stand in for them.
    """
    n, random = len(known.names), np.random.default_rng(0)
    ties, others, together = known.pairs[known.values], known.pairs[~known.values], known.groups()
    groups = together[~known.values]
    if known.ties_only:
        first, second = np.sort(random.integers(n, size=(2, 3 * MOST_PAIRS)), axis=0)
        keys = np.unique((first * n + second)[first != second])
        others = np.stack([keys // n, keys % n], axis=1)
        others = others[known.of(others) < 0]
        total, groups = n * (n - 1) / 2 - len(ties), -1 - np.arange(len(others))
    else:
        total = float(len(others))
    kept = np.sort(random.permutation(len(others))[:MOST_PAIRS])
    weights = np.r_[np.ones(len(ties)), np.full(len(kept), total / max(len(kept), 1))]
    tied = np.r_[np.ones(len(ties), dtype=bool), np.zeros(len(kept), dtype=bool)]
    return np.r_[ties, others[kept]], tied, weights, np.r_[together[known.values], groups[kept]]


def controls_of(signals: Array, pairs: Array, benefit: Array | None) -> dict[str, Array]:
    """Return plain features of pairs: differences, inner product, cosine and distance of the signals, and the benefit.

    The differences of single signals are left out where they would take more than 20 million numbers.
    """
    X = np.nan_to_num(signals).T
    one, other = X[pairs[:, 0]], X[pairs[:, 1]]
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    inner = np.einsum("ij,ij->i", one, other)
    cosine = inner / np.maximum(norms[pairs].prod(axis=1), 1e-300)
    distance = (norms[pairs] ** 2).sum(axis=1) - 2.0 * inner
    features = [inner, cosine, distance]
    if one.size <= MOST_ENTRIES:
        features += list(np.abs(one - other).T)
    if benefit is None:
        return {REGRESSION: np.stack(features, axis=1)}
    popular = [benefit[pairs].sum(axis=1), benefit[pairs].prod(axis=1) * len(benefit)]
    return {REGRESSION: np.stack(features + popular, axis=1), "benefit": np.stack(popular, axis=1)}
