r"""Nodes that the data cannot tell apart, taken as one.

Households with the same answers can be exchanged without changing what is asked of a graph. Then there is a best graph
in which the weight of an edge depends only on the classes of its two ends, and the problem on classes, often a third as
many as nodes, is exactly the whole one.

With :math:`m_i` the size of class i, :math:`w_{ij}` the weight of each edge between i and j and :math:`r = \sqrt m`,
the matrix :math:`\bar S_{ij} = r_i r_j w_{ij}`, :math:`\bar S_{ii} = (m_i - 1) w_{ii}` is the graph S on the vectors
that are constant on classes, in their orthonormal basis: if :math:`x_i` is such a vector's entry in class i,
:math:`\bar x_i = r_i x_i` has its norm, :math:`\bar S \bar x` is Sx, and :math:`1^\top S 1 = r^\top \bar S r`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..validation import Array


class Classes(NamedTuple):
    """Nodes grouped by equal rows: ``labels`` has the class of each node, ``members`` the first node of each class."""

    sizes: Array
    labels: Array
    members: Array

    @classmethod
    def of(cls, rows: Array) -> Classes:
        """Group the nodes whose rows are equal."""
        # Adding zero makes -0.0 the 0.0 that it equals.
        _, first, labels, counts = np.unique(
            rows + 0.0, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)
        return cls(counts[order].astype(float), np.argsort(order)[labels.ravel()], first[order])

    @property
    def roots(self) -> Array:
        """The square roots r of the sizes."""
        return np.sqrt(self.sizes)

    def scaled(self, weights: Array) -> Array:
        """Return the matrix on classes, from the weights of the edges within and between them."""
        matrix: Array = weights * np.outer(self.roots, self.roots)
        np.fill_diagonal(matrix, np.diag(weights) * (self.sizes - 1.0))
        return matrix

    def weights(self, matrix: Array) -> Array:
        """Return the weights of the edges from the matrix on classes."""
        weights: Array = matrix / np.outer(self.roots, self.roots)
        np.fill_diagonal(weights, np.diag(matrix) / np.maximum(self.sizes - 1.0, 1.0))
        return weights

    def graph(self, weights: Array) -> Array:
        """Return the graph of all nodes from the weights of the edges."""
        graph = weights[np.ix_(self.labels, self.labels)]
        np.fill_diagonal(graph, 0.0)
        return graph


def project_weighted(values: Array, weights: Array, total: float) -> Array:
    """Return the nearest x without negative entries whose weighted sum is ``total``; all weights are positive.

    It is ``max(0, values - level * weights)``. Michelot's algorithm finds the level: drop what is negative at the level
    of those that are left, until nothing is.
    """
    return np.maximum(values - _level(values.copy(), weights.copy(), total) * weights, 0.0)


@kernel()
def _level(values: Array, weights: Array, total: float) -> float:
    """Return the level; overwrites its arguments with those entries that stay."""
    size = len(values)
    while True:
        product = square = 0.0
        for k in range(size):
            product += weights[k] * values[k]
            square += weights[k] * weights[k]
        level = (product - total) / square
        left = 0
        for k in range(size):
            if values[k] > level * weights[k]:
                values[left] = values[k]
                weights[left] = weights[k]
                left += 1
        if left in (size, 0):  # nothing was dropped: the level is that of those that are left
            return level
        size = left
