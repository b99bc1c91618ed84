r"""The distance of a graph from the spectral templates, as a linear map T of its edges that is never stored.

Nodes with the same entry in every template are taken as one (see :class:`.node_classes.Classes`). The problem is
convex, so averaging a solution over all exchanges of such nodes gives a solution in which they are alike; the templates
are constant on classes, and what S does to vectors that are not pairs no template with anything. So S may be replaced
by :math:`\bar S` in the distance. The anchor is a class of its own.

The unknown is the vector x of the total weights within and between classes, so :math:`\|S\|_1 = 2\,1^\top x` and the
anchor's entries of x sum to one. With u the entries of a full orthonormal basis at one member of each class, T has a
row for each pair of a template k and a later column l and a column for each pair i, j of classes:

.. math:: T_{kl,\,ij} = \sqrt2\,(u_{ik} u_{jl} + u_{il} u_{jk}), \qquad k < l,\; k \le K.

Tx is made of entries of :math:`u^\top X u`, O(n^2 K), and the matrix :math:`T \mathrm{diag}(d) T^\top` of an
interior-point step of K(K+1)/2 products of n x n matrices, O(K^2 n^3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from ..validation import Array
from .node_classes import Classes

# Entries of unit vectors that agree to this many decimals are equal: eigenvectors are not known better.
DECIMALS = 10


@dataclass(frozen=True, eq=False)
class TemplateMap:
    """The linear map T, whose norm is the distance from the matrices that have the templates.

    ``entries`` holds u, ``pairs`` the pairs of classes that can have an edge, ``counts`` their numbers of edges.
    """

    classes: Classes
    entries: Array
    known: int
    pairs: tuple[Array, Array]
    counts: Array
    at_anchor: Array

    @classmethod
    def of(cls, templates: Array, anchor: int) -> TemplateMap:
        """Merge the nodes with equal entries, complete the basis and list the pairs."""
        alone = np.arange(len(templates)) == anchor
        classes = Classes.of(np.column_stack([templates.round(DECIMALS), alone]))
        vectors = templates[classes.members] * classes.roots[:, None]
        n, known = vectors.shape
        basis = linalg.qr(vectors, check_finite=False)[0]
        basis[:, :known] = vectors
        head, tail = np.triu_indices(n)
        counts = classes.sizes[head] * classes.sizes[tail]
        counts[head == tail] = 0.5 * classes.sizes * (classes.sizes - 1.0)
        some = counts > 0
        head, tail = head[some], tail[some]
        at_anchor = (classes.labels[anchor] == head) | (classes.labels[anchor] == tail)
        entries = basis / classes.roots[:, None]
        return cls(classes, entries, known, (head, tail), counts[some], at_anchor.astype(float))

    @property
    def n_rows(self) -> int:
        """The number of rows of T."""
        return self.known * (2 * len(self.entries) - self.known - 1) // 2

    def graph(self, edges: Array) -> Array:
        """Return the graph of all nodes."""
        weights = np.zeros((len(self.entries), len(self.entries)))
        weights[self.pairs] = weights[self.pairs[::-1]] = edges / self.counts
        return self.classes.graph(weights)

    def apply(self, edges: Array) -> Array:
        """Return T x, row by row of the pairs of a template and a later column."""
        matrix = self._doubled(edges)
        product = (self.entries[:, : self.known].T @ matrix) @ self.entries
        return np.sqrt(2.0) * product[self._rows()]

    def adjoint(self, multiplier: Array) -> Array:
        """Return the transpose of T times a vector."""
        table = np.zeros((self.known, len(self.entries)))
        table[self._rows()] = np.sqrt(2.0) * multiplier
        matrix = self.entries[:, : self.known] @ table @ self.entries.T
        return matrix[self.pairs] + matrix[self.pairs[::-1]]

    def gram(self, ratios: Array, out: Array) -> None:
        r"""Write :math:`T \mathrm{diag}(d) T^\top`, a block for each pair of templates.

        With D the symmetric matrix of d, doubled on the diagonal, the entry of (k, l) and (k', l') is :math:`2
        \sum_{ij} D_{ij} (u_{ik} u_{ik'} u_{jl} u_{jl'} + u_{ik} u_{il'} u_{jl} u_{jk'})`.
        """
        u = self.entries
        doubled = 2.0 * self._doubled(ratios)
        ends = np.cumsum(len(u) - 1 - np.arange(self.known))
        parts = [slice(end - len(u) + 1 + k, end) for k, end in enumerate(ends)]
        for k in range(self.known):
            spread = doubled @ (u * u[:, k : k + 1])
            for m in range(k + 1):
                summand = spread[:, m : m + 1] * u[:, m + 1 :] + u[:, m : m + 1] * spread[:, m + 1 :]
                block = u[:, k + 1 :].T @ summand
                out[parts[k], parts[m]] = block
                out[parts[m], parts[k]] = block.T

    def columns(self, support: Any) -> Array:
        """Return the columns of T for some of the pairs."""
        left, right = self._rows()
        at_head, at_tail = self.entries[self.pairs[0][support]].T, self.entries[self.pairs[1][support]].T
        matrix: Array = at_head[left] * at_tail[right]
        matrix += at_head[right] * at_tail[left]
        matrix *= np.sqrt(2.0)
        return matrix

    def distance(self, edges: Array) -> float:
        """Return the distance of a graph from the matrices that have the templates as eigenvectors."""
        return float(np.linalg.norm(self.apply(edges)))

    def admissible(self, edges: Array) -> Array:
        """Return the edges without negative weights, the anchor's summing to one."""
        clipped = np.maximum(edges, 0.0)
        normal: Array = clipped / float(self.at_anchor @ clipped)
        return normal

    def gap(self, edges: Array, multiplier: Array, epsilon: float) -> float:
        """Return a graph's duality gap, relative to its objective, shrinking the multiplier as needed."""
        slopes = self.adjoint(multiplier)
        # Shrinking the multiplier makes any of them feasible: zero always is.
        least = float(slopes[self.at_anchor == 0].min(initial=0.0))
        shrink = 1.0 if least >= -1.0 else -1.0 / least
        bound = 1.0 + shrink * (float(slopes[self.at_anchor == 1].min()) - epsilon * float(np.linalg.norm(multiplier)))
        total = float(edges.sum())
        return max(0.0, total - max(bound, 1.0)) / total

    def _doubled(self, edges: Array) -> Array:
        """Return the symmetric matrix of a vector of pairs, twice it on the diagonal."""
        matrix = np.zeros((len(self.entries), len(self.entries)))
        matrix[self.pairs] = edges
        matrix += matrix.T.copy()
        return matrix

    def _rows(self) -> Any:
        return np.triu_indices(self.known, 1, len(self.entries))
