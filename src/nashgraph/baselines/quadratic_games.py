r"""Learning quadratic games, the problem of :class:`~nashgraph.QuadGameGL`.

Given G, the best benefits are explicit: :math:`B = (I - \rho G) Y / (1 + \theta_2)`, or the solution of :math:`(I +
\theta_2 L_G) B = (I - \rho G) Y`. Given B, the graph is a quadratic program (``GraphProgram``).

Independent benefits are jointly convex in (G, B): B is eliminated, which leaves one program in G with
:math:`\tfrac{\theta_2}{1+\theta_2}\|(I - \rho G)Y\|_F^2`, and its solution is the global one. Homophilous benefits are
not: graph and benefits are found in turn, and of several solutions the one that exact steps from the complete graph
lead to is returned. The certificate is the duality gap of the graph, relative to the objective.

Nodes with the same actions are taken as one: every step treats them alike, so this changes nothing but the time. With n
different nodes one gradient costs O(n^2 M), benefits O(n^3); memory is a few n x n arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import pdist, squareform

from ..certificate import Certificate, Measure, Monitor
from ..validation import Array
from .accelerated import Iterate, accelerated_descent, alternate
from .node_classes import Classes, project_weighted


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
    game = Game(Classes.of(actions), actions, rho, theta1, theta2)
    classes = game.classes
    monitor = Monitor(Measure.GAP, tol, max_iter)
    if benefits == "independent":
        # One convex program is left when the benefits are eliminated.
        program = game.program_without_benefits()
        edges, solved = accelerated_descent(program, game.complete(), monitor)
        best_benefits = game.foregone(game.matrix(edges)) / (1.0 + theta2)
        value = solved.value
    else:
        edges = alternate(game.complete(), lambda edges: (game.program(game.homophily(edges)), 0.0), monitor)
        best_benefits = game.homophily(edges)
        value = None
        program = game.program(best_benefits)
    certificate = monitor.certificate(value=value, remedy="raise max_iter, tol or theta1")
    weights = classes.graph(classes.weights(game.matrix(edges)))
    # From classes back to nodes: the basis vector of a class has norm one, whatever its size.
    of_nodes = (best_benefits / classes.roots[:, None])[classes.labels]
    return LearnedGame(weights, of_nodes, program.measure(program.at(edges))[0], certificate)


class Game:
    r"""Observed actions and the weights of the objective; actions, graphs and benefits are on classes of nodes.

    A graph is a matrix :math:`\bar G` on classes (see ``node_classes.Classes``) or a vector z of the pairs of classes,
    then the classes with edges within. Off the diagonal :math:`\bar G_{ij} = z_e`; on it :math:`\bar G_{ii} = z_e
    \sqrt{2 (m_i - 1) / m_i}`. So :math:`z_e = \sqrt{c_e}\, w_e`, with :math:`c_e` the number of edges between two
    classes, or within one, and :math:`w_e` their weight: then :math:`\|G\|_F^2 = 2\|z\|^2`, and the constraint is
    :math:`\langle \sqrt c, z \rangle = N/2`. A gradient step in z is a gradient step in the weights of all edges.
    """

    def __init__(self, classes: Classes, actions: Array, rho: float, theta1: float, theta2: float) -> None:
        self.classes = classes
        self.rho = rho
        self.theta1 = theta1
        self.theta2 = theta2
        self.actions = actions[classes.members] * classes.roots[:, None]
        self.within = np.flatnonzero(classes.sizes > 1)
        sizes = classes.sizes[self.within]
        self.factors = np.sqrt(2.0 * (sizes - 1.0) / sizes)
        between = squareform(np.outer(classes.roots, classes.roots), checks=False)
        self.roots_of_counts = np.concatenate([between, np.sqrt(0.5 * sizes * (sizes - 1.0))])

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

    def complete(self) -> Array:
        """Return the edges of the complete graph whose entries sum to the number of nodes."""
        n = len(self.classes.sizes)
        return self.values(self.classes.scaled(np.full((n, n), 1.0 / (len(self.classes.labels) - 1.0))))

    def foregone(self, graph: Array) -> Array:
        """Return (I - rho G) Y, the benefits at which the actions Y are an equilibrium."""
        return self.actions - self.rho * (graph @ self.actions)

    def program_without_benefits(self) -> GraphProgram:
        """Return the program in the graph alone, its independent benefits eliminated; f is the objective."""
        return GraphProgram(self, self.actions, np.zeros_like(self.roots_of_counts), self.theta2 / (1.0 + self.theta2))

    def program(self, benefits: Array) -> GraphProgram:
        """Return the program in the graph at given homophilous benefits; f is the objective."""
        distances = pdist(benefits / self.classes.roots[:, None], "sqeuclidean")
        linear = np.append(self.theta2 * distances, np.zeros(len(self.within))) * self.roots_of_counts
        return GraphProgram(self, self.actions - benefits, linear, 1.0)

    def homophily(self, edges: Array) -> Array:
        """Return the best homophilous benefits given the graph, by a positive definite solve."""
        graph = self.matrix(edges)
        system = -self.theta2 * graph
        degrees = (graph @ self.classes.roots) / self.classes.roots
        system[np.diag_indices(len(graph))] += 1.0 + self.theta2 * degrees
        right = self.foregone(graph)
        return np.asarray(linalg.solve(system, right, assume_a="pos", overwrite_a=True, check_finite=False))


@dataclass(frozen=True, eq=False)
class GraphProgram:
    r"""The graph's part, at given actions Y, target T and costs d: a strongly convex quadratic program on a simplex.

    .. math:: \min_G \; f(G) = \gamma\|T - \rho G Y\|_F^2 + \theta_1\|G\|_F^2 + \langle d, G\rangle
              \quad\text{s.t.}\quad G = G^\top \ge 0,\; \mathrm{diag}\,G = 0,\; \|G\|_1 = N

    Optimality: the Frank-Wolfe gap :math:`\langle \nabla f, z\rangle - \tfrac N2 \min_e \nabla f_e / \sqrt{c_e}` bounds
    the distance of f from its minimum.
    """

    game: Game
    target: Array
    linear: Array
    weight: float

    def at(self, point: Array) -> Iterate:
        """Return a vector z with its gradient."""
        gradient = self.linear + 4.0 * self.game.theta1 * point
        gradient -= 2.0 * self.weight * self.game.rho * self.game.slopes(self._residual(point) @ self.game.actions.T)
        return Iterate(point, gradient)

    def step(self, at: Iterate) -> Iterate:
        """Return the nearest admissible vector to a gradient step."""
        moved = at.point - at.image / self._curvature
        return self.at(project_weighted(moved, self.game.roots_of_counts, 0.5 * len(self.game.classes.labels)))

    def measure(self, at: Iterate) -> tuple[float, float]:
        """Return f and the Frank-Wolfe gap, summed so that it does not cancel."""
        value = self.weight * float(np.sum(self._residual(at.point) ** 2))
        value += 2.0 * self.game.theta1 * float(at.point @ at.point) + float(self.linear @ at.point)
        least = float((at.image / self.game.roots_of_counts).min())
        return value, float(at.point @ (at.image - self.game.roots_of_counts * least))

    @property
    def conditioning(self) -> float:
        """Theta1 alone makes f strongly convex."""
        return 4.0 * self.game.theta1 / self._curvature

    @cached_property
    def _curvature(self) -> float:
        """The largest of f."""
        largest = float(np.linalg.norm(self.game.actions, 2))
        return 4.0 * self.weight * self.game.rho**2 * largest**2 + 4.0 * self.game.theta1

    def _residual(self, point: Array) -> Array:
        return self.target - self.game.rho * (self.game.matrix(point) @ self.game.actions)
