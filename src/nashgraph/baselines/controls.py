"""Controls that any method has to beat: similarity of signals without learning a graph, and the benefit alone.

Each control gives every pair of nodes a score. Where signals have gaps (NaN), a pair is scored over what both have, and
a distance is that of :class:`~nashgraph.pairs.GappedPoints`. O(N^2 M) time and a few N x N arrays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..pairs import squared_distances
from ..validation import Array


def inner_products(X: Array) -> Array:
    """Return the mean product of two nodes' signals, over those that both have."""
    seen, filled = _seen(X)
    return (filled.T @ filled) / np.maximum(seen.T @ seen, 1.0)


def cosines(X: Array) -> Array:
    """Return the cosines of nodes, over the signals both have; with a node of zeros they are 0."""
    seen, filled = _seen(X)
    energy = (filled * filled).T @ seen
    length = np.sqrt(energy * energy.T)
    return np.divide(filled.T @ filled, length, out=np.zeros_like(length), where=length > 0)


def correlations(X: Array) -> Array:
    """Return the cosines of nodes, each less its own mean."""
    return cosines(X - np.nanmean(X, axis=0))


def nearest_neighbours(X: Array) -> Array:
    """Return 1 where a node is among the ten nearest of another, in that one's row, and 0 else."""
    distances = squared_distances(X)
    np.fill_diagonal(distances, np.inf)
    kept = min(10, len(distances) - 1)  # the usual number, and the default degree of the methods
    found = np.zeros_like(distances)
    np.put_along_axis(found, np.argsort(distances, axis=1, kind="stable")[:, :kept], 1.0, axis=1)
    return found


def _seen(X: Array) -> tuple[Array, Array]:
    """Return where signals are observed, as 0 and 1, and the signals with gaps as zeros."""
    return (~np.isnan(X)).astype(float), np.nan_to_num(X)


CONTROLS: dict[str, Callable[[Array, Array], Array]] = {
    "correlation": lambda X, benefit: correlations(X),
    "cosine": lambda X, benefit: cosines(X),
    "inner product": lambda X, benefit: inner_products(X),
    "distance": lambda X, benefit: -squared_distances(X),
    "10 nearest": lambda X, benefit: nearest_neighbours(X),
    "benefit alone": lambda X, benefit: np.tile(benefit, (len(benefit), 1)),  # whoever gains most influences everybody
    "chance": lambda X, benefit: np.zeros((len(benefit), len(benefit))),  # all pairs tied: what a random order expects
}
