r"""The graph's part of learning a quadratic game: a strongly convex quadratic program on a simplex.

.. math:: \min_G \; f(G) = \gamma\|T - \rho G Y\|_F^2 + \theta_1\|G\|_F^2 + \langle d, G\rangle
          \quad\text{s.t.}\quad G = G^\top \ge 0,\; \mathrm{diag}\,G = 0,\; \|G\|_1 = N

Nodes with the same actions are taken as one (see :class:`._node_classes.Classes`): f is strongly convex, so its
minimiser treats them alike. The variables are :math:`z_e = \sqrt{c_e}\, w_e` with :math:`c_e` the number of edges
between two classes, or within one, and :math:`w_e` their weight: then :math:`\|G\|_F^2 = 2\|z\|^2`, and the constraint
is :math:`\langle \sqrt c, z \rangle = N/2`. A gradient step in z is a gradient step in the weights of all edges.

Optimality: the Frank-Wolfe gap :math:`\langle \nabla f, z\rangle - \tfrac N2 \min_e \nabla f_e / \sqrt{c_e}` bounds the
distance of f from its minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import squareform

from ..validation import Array
from ._node_classes import Classes, project_weighted

# Rises of f below this share of it are rounding; f gets there long before the gap does, so they stop nothing.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Pairs:
    r"""The vector z of a matrix :math:`\bar G` on classes: the pairs of classes, then the classes with edges within.

    Off the diagonal :math:`\bar G_{ij} = z_e`; on it :math:`\bar G_{ii} = z_e \sqrt{2 (m_i - 1) / m_i}`.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Pairs.of(Classes.of(np.array([[1.0], [1.0], [0.0]])))
    >>> pairs.matrix(np.array([3.0, 5.0]))
    array([[5., 3.],
           [3., 0.]])
    >>> pairs.costs.round(3), pairs.total
    (array([1.414, 1.   ]), 1.5)
    """

    within: Array
    factors: Array
    costs: Array
    total: float

    @classmethod
    def of(cls, classes: Classes) -> Pairs:
        """Lay out the pairs."""
        within = np.flatnonzero(classes.sizes > 1)
        sizes = classes.sizes[within]
        between = np.outer(classes.roots, classes.roots)
        costs = np.concatenate([squareform(between, checks=False), np.sqrt(0.5 * sizes * (sizes - 1.0))])
        return cls(within, np.sqrt(2.0 * (sizes - 1.0) / sizes), costs, 0.5 * float(classes.sizes.sum()))

    def matrix(self, values: Array) -> Array:
        """Return the matrix of a vector."""
        count = len(values) - len(self.within)
        matrix: Array = squareform(values[:count], checks=False)
        matrix[self.within, self.within] = self.factors * values[count:]
        return matrix

    def values(self, matrix: Array) -> Array:
        """Return the vector of a matrix."""
        return np.concatenate([squareform(matrix, checks=False), np.diag(matrix)[self.within] / self.factors])

    def slopes(self, matrix: Array) -> Array:
        """Return the gradient in z of the inner product with a matrix, which need not be symmetric."""
        both = matrix + matrix.T
        return np.concatenate([squareform(both, checks=False), 0.5 * np.diag(both)[self.within] * self.factors])

    def project(self, values: Array) -> Array:
        """Return the nearest admissible vector."""
        return project_weighted(values, self.costs, self.total)

    def gap(self, values: Array, gradient: Array) -> float:
        """Return the Frank-Wolfe gap, summed so that it does not cancel."""
        return float(values @ (gradient - self.costs * float((gradient / self.costs).min())))


class GraphProgram(NamedTuple):
    r"""The program at given actions Y, target T and costs d, all on classes; d in z.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1.0], [1.0], [0.0]])
    >>> pairs = Pairs.of(Classes.of(np.eye(3)))
    >>> program = GraphProgram(pairs, Y, Y, np.zeros(3), rho=0.5, theta1=0.01, weight=1.0)
    >>> graph, gap = program.solve(np.full((3, 3), 0.5) - 0.5 * np.eye(3), tol=1e-12)
    >>> graph.round(2)
    array([[0. , 1.5, 0. ],
           [1.5, 0. , 0. ],
           [0. , 0. , 0. ]])
    """

    pairs: Pairs
    actions: Array
    target: Array
    linear: Array
    rho: float
    theta1: float
    weight: float

    def value_and_gradient(self, edges: Array, graph: Array) -> tuple[float, Array]:
        """Return f and its gradient in z; ``graph`` is the matrix of the vector ``edges``."""
        residual = self.target - self.rho * (graph @ self.actions)
        gradient = self.linear + 4.0 * self.theta1 * edges
        gradient -= 2.0 * self.weight * self.rho * self.pairs.slopes(residual @ self.actions.T)
        value = self.weight * float(np.sum(residual**2)) + 2.0 * self.theta1 * float(edges @ edges)
        return value + float(self.linear @ edges), gradient

    def gap(self, graph: Array) -> float:
        """Return the Frank-Wolfe gap: f is at most this far above its minimum."""
        edges = self.pairs.values(graph)
        _, gradient = self.value_and_gradient(edges, graph)
        return self.pairs.gap(edges, gradient)

    def solve(self, start: Array, *, tol: float, max_iter: int = 20000) -> tuple[Array, float]:
        """Minimise f from an admissible graph until the gap is ``tol``; return the graph and its gap.

        Nesterov's method for strongly convex functions, restarted where f rises, so f never ends above
        f(start).
        """
        top = float(np.linalg.norm(self.actions, 2)) ** 2
        convexity = 4.0 * self.theta1
        lipschitz = 4.0 * self.weight * self.rho**2 * top + convexity
        ratio = float(np.sqrt(convexity / lipschitz))
        momentum = (1.0 - ratio) / (1.0 + ratio)
        edges, graph = self.pairs.values(start), start
        value, gradient = self.value_and_gradient(edges, graph)
        ahead, ahead_gradient = edges, gradient
        for _ in range(max_iter):
            if self.pairs.gap(edges, gradient) <= tol:
                break
            moved = self.pairs.project(ahead - ahead_gradient / lipschitz)
            moved_graph = self.pairs.matrix(moved)
            moved_value, moved_gradient = self.value_and_gradient(moved, moved_graph)
            if moved_value > value + ROUNDING * abs(value) and ahead is not edges:
                ahead, ahead_gradient = edges, gradient  # restart: a plain gradient step cannot rise
                continue
            # The gradient is affine, so the one at the extrapolated point needs no product of its own.
            ahead = moved + momentum * (moved - edges)
            ahead_gradient = moved_gradient + momentum * (moved_gradient - gradient)
            edges, graph, value, gradient = moved, moved_graph, moved_value, moved_gradient
        return graph, self.pairs.gap(edges, gradient)
