r"""The graph's part of learning a quadratic game: a strongly convex quadratic program on a simplex.

.. math:: \min_G \; f(G) = \gamma\|T - \rho G Y\|_F^2 + \theta_1\|G\|_F^2 + \langle d, G\rangle
          \quad\text{s.t.}\quad G = G^\top \ge 0,\; \mathrm{diag}\,G = 0,\; \|G\|_1 = N

Nodes with the same actions are taken as one (see :class:`.node_classes.Classes`): f is strongly convex, so its
minimiser treats them alike. The variables are :math:`z_e = \sqrt{c_e}\, w_e` with :math:`c_e` the number of edges
between two classes, or within one, and :math:`w_e` their weight: then :math:`\|G\|_F^2 = 2\|z\|^2`, and the constraint
is :math:`\langle \sqrt c, z \rangle = N/2`. A gradient step in z is a gradient step in the weights of all edges.

Optimality: the Frank-Wolfe gap :math:`\langle \nabla f, z\rangle - \tfrac N2 \min_e \nabla f_e / \sqrt{c_e}` bounds the
distance of f from its minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.distance import squareform

from ..validation import Array
from .accelerated import Iterate
from .node_classes import Classes, project_weighted


@dataclass(frozen=True, eq=False)
class ClassPairs:
    r"""The vector z of a matrix :math:`\bar G` on classes: the pairs of classes, then the classes with edges within.

    Off the diagonal :math:`\bar G_{ij} = z_e`; on it :math:`\bar G_{ii} = z_e \sqrt{2 (m_i - 1) / m_i}`.
    """

    within: Array
    factors: Array
    costs: Array
    total: float

    @classmethod
    def of(cls, classes: Classes) -> ClassPairs:
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


@dataclass(frozen=True, eq=False)
class GraphProgram:
    """The program in z, at given actions Y, target T and costs d, all on classes."""

    pairs: ClassPairs
    actions: Array
    target: Array
    linear: Array
    rho: float
    theta1: float
    weight: float

    def at(self, point: Array) -> Iterate:
        """Return a vector z with its gradient."""
        gradient = self.linear + 4.0 * self.theta1 * point
        gradient -= 2.0 * self.weight * self.rho * self.pairs.slopes(self._residual(point) @ self.actions.T)
        return Iterate(point, gradient)

    def step(self, at: Iterate) -> Iterate:
        """Return the nearest admissible vector to a gradient step."""
        return self.at(project_weighted(at.point - at.image / self._curvature, self.pairs.costs, self.pairs.total))

    def measure(self, at: Iterate) -> tuple[float, float]:
        """Return f and the Frank-Wolfe gap, summed so that it does not cancel."""
        value = self.weight * float(np.sum(self._residual(at.point) ** 2))
        value += 2.0 * self.theta1 * float(at.point @ at.point) + float(self.linear @ at.point)
        least = float((at.image / self.pairs.costs).min())
        return value, float(at.point @ (at.image - self.pairs.costs * least))

    @property
    def conditioning(self) -> float:
        """Theta1 alone makes f strongly convex."""
        return 4.0 * self.theta1 / self._curvature

    @cached_property
    def _curvature(self) -> float:
        """The largest of f."""
        return 4.0 * self.weight * self.rho**2 * float(np.linalg.norm(self.actions, 2)) ** 2 + 4.0 * self.theta1

    def _residual(self, point: Array) -> Array:
        left: Array = self.target - self.rho * (self.pairs.matrix(point) @ self.actions)
        return left
