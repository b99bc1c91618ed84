r"""Learning quadratic games: the graph on which observed actions are an equilibrium of cheap benefits.

With actions Y (nodes by games) of a quadratic game, whose equilibrium is :math:`(I - \rho G) Y = B`,

.. math::

    \min_{G, B} \; \|(I - \rho G) Y - B\|_F^2 + \theta_1 \|G\|_F^2 + \theta_2 P(B, G)
    \quad\text{s.t.}\quad G = G^\top \ge 0,\; \mathrm{diag}\,G = 0,\; \|G\|_1 = N

and :math:`P = \|B\|_F^2` for independent benefits, or :math:`P = \mathrm{tr}(B^\top L_G B)`, the smoothness of B on G
itself, for homophilous ones.

Given G, the best benefits are explicit: :math:`B = (I - \rho G) Y / (1 + \theta_2)`, or the solution of :math:`(I +
\theta_2 L_G) B = (I - \rho G) Y`. Given B, the graph is a quadratic program (``GraphProgram``).

Independent benefits are jointly convex in (G, B): B is eliminated, which leaves one program in G with
:math:`\tfrac{\theta_2}{1+\theta_2}\|(I - \rho G)Y\|_F^2`, and its solution is the global one. Homophilous benefits are
not: graph and benefits are found in turn, and of several solutions the one that exact steps from the complete graph
lead to is returned. The certificate is the duality gap of the graph, relative to the objective.

Nodes with the same actions are taken as one: every step treats them alike, so this changes nothing but the time. With n
different nodes one gradient costs O(n^2 M), benefits O(n^3); memory is a few n x n arrays.

Reference: Leng, Dong, Wu, Pentland, *Learning quadratic games on networks* (ICML 2020), its two frameworks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import squareform

from ..certificate import Certificate, Measure, Monitor
from ..validation import Array
from .accelerated import Iterate, accelerated_descent, alternate
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
    r"""The graph's part, at given actions Y, target T and costs d: a strongly convex quadratic program on a simplex.

    .. math:: \min_G \; f(G) = \gamma\|T - \rho G Y\|_F^2 + \theta_1\|G\|_F^2 + \langle d, G\rangle
              \quad\text{s.t.}\quad G = G^\top \ge 0,\; \mathrm{diag}\,G = 0,\; \|G\|_1 = N

    Nodes with the same actions are taken as one (see ``node_classes.Classes``): f is strongly convex, so its minimiser
    treats them alike. The variables are :math:`z_e = \sqrt{c_e}\, w_e`, with :math:`c_e` the number of edges between
    two classes, or within one, and :math:`w_e` their weight: then :math:`\|G\|_F^2 = 2\|z\|^2`, and the constraint is
    :math:`\langle \sqrt c, z \rangle = N/2`. A gradient step in z is a gradient step in the weights of all edges.

    Optimality: the Frank-Wolfe gap :math:`\langle \nabla f, z\rangle - \tfrac N2 \min_e \nabla f_e / \sqrt{c_e}` bounds
    the distance of f from its minimum.
    """

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


class LearnedGame(NamedTuple):
    """A graph G of shape (n_nodes, n_nodes), benefits B of shape (n_nodes, n_games), and what certifies them."""

    weights: Array
    benefits: Array
    objective: float
    certificate: Certificate


def quad_game(
    actions: Array,
    *,
    rho: float,
    theta1: float,
    theta2: float,
    benefits: str = "independent",
    tol: float = 1e-8,
    max_iter: int = 5000,
) -> LearnedGame:
    """Learn graph and benefits from actions of shape (n_nodes, n_games); see :class:`~nashgraph.QuadGameGL`."""
    classes = Classes.of(actions)
    scaled = actions[classes.members] * classes.roots[:, None]
    game = Game(classes, ClassPairs.of(classes), scaled, rho, theta1, theta2)
    monitor = Monitor(Measure.GAP, tol, max_iter)
    if benefits == "independent":
        # One convex program is left when the benefits are eliminated.
        program = game.program_without_benefits()
        edges, solved = accelerated_descent(program, game.complete(), monitor)
        found, status, value = game.foregone(game.pairs.matrix(edges)) / (1.0 + theta2), solved.status, solved.value
    else:
        edges, status = alternate(game.complete(), lambda edges: (game.program(game.homophily(edges)), 0.0), monitor)
        found, value = game.homophily(edges), None
        program = game.program(found)
    certificate = monitor.certificate(status, value, remedy="raise max_iter, tol or theta1")
    weights = classes.graph(classes.weights(game.pairs.matrix(edges)))
    each = (found / classes.roots[:, None])[classes.labels]
    return LearnedGame(weights, each, program.measure(program.at(edges))[0], certificate)


@dataclass(frozen=True, eq=False)
class Game:
    """Observed actions and the weights of the objective; actions, graphs and benefits are on classes of nodes."""

    classes: Classes
    pairs: ClassPairs
    actions: Array
    rho: float
    theta1: float
    theta2: float

    def complete(self) -> Array:
        """Return the edges of the complete graph whose entries sum to the number of nodes."""
        n = len(self.classes.sizes)
        return self.pairs.values(self.classes.scaled(np.full((n, n), 1.0 / (len(self.classes.labels) - 1.0))))

    def foregone(self, graph: Array) -> Array:
        """Return (I - rho G) Y, the benefits at which the actions Y are an equilibrium."""
        left: Array = self.actions - self.rho * (graph @ self.actions)
        return left

    def program_without_benefits(self) -> GraphProgram:
        """Return the program in the graph alone, its independent benefits eliminated; f is the objective."""
        linear, weight = np.zeros_like(self.pairs.costs), self.theta2 / (1.0 + self.theta2)
        return GraphProgram(self.pairs, self.actions, self.actions, linear, self.rho, self.theta1, weight)

    def program(self, benefits: Array) -> GraphProgram:
        """Return the program in the graph at given homophilous benefits; f is the objective."""
        each = benefits / self.classes.roots[:, None]
        gram = each @ each.T
        norms = np.diag(gram)
        distances = squareform(np.maximum(norms[:, None] + norms - 2.0 * gram, 0.0), checks=False)
        linear = np.append(self.theta2 * distances, np.zeros(len(self.pairs.within))) * self.pairs.costs
        target = self.actions - benefits
        return GraphProgram(self.pairs, self.actions, target, linear, self.rho, self.theta1, 1.0)

    def homophily(self, edges: Array) -> Array:
        """Return the best homophilous benefits given the graph, by a positive definite solve."""
        graph = self.pairs.matrix(edges)
        system = -self.theta2 * graph
        degrees = (graph @ self.classes.roots) / self.classes.roots
        system[np.diag_indices(len(graph))] += 1.0 + self.theta2 * degrees
        return np.asarray(
            linalg.solve(system, self.foregone(graph), assume_a="pos", overwrite_a=True, check_finite=False)
        )
