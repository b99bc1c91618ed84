r"""Nodes that the templates do not tell apart, taken as one.

Nodes with the same entry in every template, such as households with the same answers, can be exchanged without
changing the problem. It is convex, so averaging a solution over all exchanges gives a solution: one in which
the weight of an edge depends only on the classes of its two ends. A survey of 300 households may have 100
classes, and the problem on classes is exactly the whole one. The anchor is a class of its own.

With :math:`m_i` the size of class i and :math:`w_{ij}` the weight of each edge between i and j,
:math:`\bar S_{ij} = \sqrt{m_i m_j}\, w_{ij}` and :math:`\bar S_{ii} = (m_i - 1) w_{ii}` is S on the vectors
that are constant on classes, in their orthonormal basis. The templates are such vectors; what S does to all
others pairs no template with anything. So S may be replaced by :math:`\bar S` in the distance, and
:math:`1^\top S 1 = r^\top \bar S r` with :math:`r = \sqrt m`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..validation import Array

# Entries of unit vectors that agree to this many decimals are equal: eigenvectors are not known better.
DECIMALS = 10


class Merged(NamedTuple):
    """Templates on classes of nodes.

    Attributes
    ----------
    vectors : array of shape (n_classes, n_templates), orthonormal columns
    sizes : array of shape (n_classes,), float
    labels : array of shape (n_nodes,), the class of each node; classes are numbered as they first appear
    anchor : int, the class of the anchor

    Examples
    --------
    >>> import numpy as np
    >>> merged = Merged.of(np.full((4, 1), 0.5), anchor=1)
    >>> merged.labels, merged.sizes, merged.vectors.round(2)
    (array([0, 1, 0, 0]), array([3., 1.]), array([[0.87],
           [0.5 ]]))
    """

    vectors: Array
    sizes: Array
    labels: Array
    anchor: int

    @classmethod
    def of(cls, templates: Array, anchor: int) -> Merged:
        """Merge the nodes with equal rows, all but the anchor."""
        alone = np.arange(len(templates)) == anchor
        rows = np.column_stack([templates.round(DECIMALS) + 0.0, alone])
        _, first, found, counts = np.unique(rows, axis=0, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        labels = np.argsort(order)[found.ravel()]
        sizes = counts[order].astype(float)
        vectors = templates[first[order]] * np.sqrt(sizes)[:, None]
        return cls(vectors, sizes, labels, int(labels[anchor]))

    @property
    def n_rows(self) -> int:
        """The number of entries that the distance is made of."""
        n, known = self.vectors.shape
        return known * (2 * n - known - 1) // 2

    def graph(self, weights: Array) -> Array:
        """Return the graph of all nodes from the weights of the edges within and between classes."""
        graph = weights[np.ix_(self.labels, self.labels)]
        np.fill_diagonal(graph, 0.0)
        return graph


class Nearest(NamedTuple):
    """The smallest distance of any admissible graph, its accuracy, and the heaviest edge of that graph.

    Examples
    --------
    >>> Nearest(distance=0.0, error=1e-11, heaviest=0.5, iterations=12).heaviest
    0.5
    """

    distance: float
    error: float
    heaviest: float
    iterations: int


class Sparsest(NamedTuple):
    """The weights of the edges within and between classes, with their certificate.

    Examples
    --------
    >>> import numpy as np
    >>> Sparsest(np.zeros((2, 2)), distance=0.1, gap=1e-8, iterations=12, feasible=True).gap
    1e-08
    """

    weights: Array
    distance: float
    gap: float
    iterations: int
    feasible: bool
