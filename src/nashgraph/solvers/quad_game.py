r"""Learning quadratic games: the graph on which observed actions are an equilibrium of cheap benefits.

With actions Y (nodes by games) of a quadratic game, whose equilibrium is :math:`(I - \rho G) Y = B`,

.. math::

    \min_{G, B} \; \|(I - \rho G) Y - B\|_F^2 + \theta_1 \|G\|_F^2 + \theta_2 P(B, G)
    \quad\text{s.t.}\quad G = G^\top \ge 0,\; \mathrm{diag}\,G = 0,\; \|G\|_1 = N

and :math:`P = \|B\|_F^2` for independent benefits, or :math:`P = \mathrm{tr}(B^\top L_G B)`, the smoothness
of B on G itself, for homophilous ones.

Optimality: each block is optimal given the other. B is explicit:
:math:`B = (I - \rho G) Y / (1 + \theta_2)`, or the solution of
:math:`(I + \theta_2 L_G) B = (I - \rho G) Y`. G is a strongly convex quadratic program on the simplex of the
edge weights (``_quad_program``), solved by an accelerated projected gradient method until its Frank-Wolfe gap, which
bounds the distance from its minimum, is small.

Independent benefits are jointly convex in (G, B): B is eliminated, which leaves one program in G with
:math:`\tfrac{\theta_2}{1+\theta_2}\|(I - \rho G)Y\|_F^2`, and its solution is the global one. Homophilous
benefits are not; the two blocks alternate, the objective never rises, and the stopping measure is the gap of
the G-block after a B-step, relative to the objective: zero exactly at points where both blocks are optimal. There
may be several such points; the one that exact steps from the complete graph lead to is returned.

Nodes with the same actions are taken as one: every step treats them alike, so this changes nothing but the time. With
n different nodes one gradient costs O(n^2 M), one B-step O(n^3); memory is a few n x n arrays.

Reference: Leng, Dong, Wu, Pentland, *Learning quadratic games on networks* (ICML 2020), its two frameworks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy import linalg
from scipy.spatial.distance import squareform

from ..validation import Array
from ._node_classes import Classes
from ._quad_program import GraphProgram, Pairs


class QuadGameResult(NamedTuple):
    """A game learned from actions.

    Attributes
    ----------
    weights : array of shape (n_nodes, n_nodes), the graph G
    benefits : array of shape (n_nodes, n_games), the B
    objective : float
    gap : float, the Frank-Wolfe gap of the G-block at (G, B), relative to the objective
    iterations : int, alternations (one for independent benefits)
    converged : bool
    history : tuple of float, the objective after each alternation

    Examples
    --------
    >>> import numpy as np
    >>> QuadGameResult(np.zeros((2, 2)), np.zeros((2, 1)), 0.0, 0.0, 1, True, (0.0,)).iterations
    1
    """

    weights: Array
    benefits: Array
    objective: float
    gap: float
    iterations: int
    converged: bool
    history: tuple[float, ...]


def quad_game(
    actions: Array,
    *,
    rho: float,
    theta1: float,
    theta2: float,
    benefits: str = "independent",
    tol: float = 1e-8,
    max_iter: int = 5000,
    verbose: int = 0,
) -> QuadGameResult:
    """Learn graph and benefits from actions of shape (n_nodes, n_games), a column for each game.

    Parameters
    ----------
    actions : array of shape (n_nodes, n_games)
    rho, theta1, theta2 : float
    benefits : {"independent", "homophilous"}
    tol : float
        Gap relative to the objective at which to stop.
    max_iter : int, alternations allowed
    verbose : int
        1 prints a line for every alternation.

    Examples
    --------
    >>> import numpy as np
    >>> G = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0.0]])
    >>> Y = np.linalg.solve(np.eye(4) - 0.5 * G, np.random.default_rng(0).normal(size=(4, 200)))
    >>> quad_game(Y, rho=0.5, theta1=1.0, theta2=1.0).weights.round(1)
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]])
    """
    if benefits == "independent":
        return _independent(IndependentGame.of(actions, rho, theta1, theta2), tol)
    return _homophilous(HomophilousGame.of(actions, rho, theta1, theta2), tol, max_iter=max_iter, verbose=verbose)


def _independent(game: IndependentGame, tol: float) -> QuadGameResult:
    """Solve the one program that is left when B is eliminated."""
    graph = game.complete()
    program = game.program()
    scale = game.objective(graph, game.benefits(graph))
    gap = np.inf
    # The objective at the start sets the first tolerance, that at the first solution the second.
    while gap > tol * scale:
        before = gap
        graph, gap = program.solve(graph, tol=tol * scale)
        scale = game.objective(graph, game.benefits(graph))
        if gap >= before:
            break
    return game.result(graph, game.benefits(graph), gap / scale, tol, history=[scale])


def _homophilous(game: HomophilousGame, tol: float, *, max_iter: int, verbose: int) -> QuadGameResult:
    """Alternate between G and B until G is optimal for its own B."""
    graph = game.complete()
    benefits = game.benefits(graph)
    program = game.program(benefits)
    history = [game.objective(graph, benefits)]
    gap = program.gap(graph) / history[-1]
    while gap > tol and len(history) <= max_iter:
        graph, _ = program.solve(graph, tol=0.1 * tol * history[-1])
        benefits = game.benefits(graph)
        program = game.program(benefits)
        history.append(game.objective(graph, benefits))
        gap = program.gap(graph) / history[-1]
        if verbose:
            print(f"quad game {len(history) - 1:>4}  objective {history[-1]:.10g}  gap {gap:.2e}")
    return game.result(graph, benefits, gap, tol, history=history)


@dataclass(frozen=True, eq=False)
class Game(ABC):
    """Observed actions and the weights of the objective; actions, graphs and benefits are on classes of nodes."""

    classes: Classes
    pairs: Pairs
    actions: Array
    rho: float
    theta1: float
    theta2: float

    @classmethod
    def of(cls, actions: Array, rho: float, theta1: float, theta2: float) -> Self:
        """Merge the nodes with equal actions."""
        classes = Classes.of(actions)
        scaled = actions[classes.members] * classes.roots[:, None]
        return cls(classes, Pairs.of(classes), scaled, rho, theta1, theta2)

    def complete(self) -> Array:
        """Return the complete graph whose entries sum to the number of nodes."""
        n = len(self.classes.sizes)
        return self.classes.scaled(np.full((n, n), 1.0 / (len(self.classes.labels) - 1.0)))

    def foregone(self, graph: Array) -> Array:
        """Return the actions less what the others' actions make of them: the benefits at equilibrium."""
        left: Array = self.actions - self.rho * (graph @ self.actions)
        return left

    @abstractmethod
    def penalty(self, graph: Array, benefits: Array) -> float:
        """Return P(B, G)."""

    def objective(self, graph: Array, benefits: Array) -> float:
        """Return the objective of the problem at (G, B)."""
        misfit = float(np.sum((self.foregone(graph) - benefits) ** 2))
        square = 2.0 * float(np.sum(self.pairs.values(graph) ** 2))
        return misfit + self.theta1 * square + self.theta2 * self.penalty(graph, benefits)

    def result(self, graph: Array, benefits: Array, gap: float, tol: float, *, history: list[float]) -> QuadGameResult:
        """Return graph and benefits of all nodes."""
        weights = self.classes.graph(self.classes.weights(graph))
        each = (benefits / self.classes.roots[:, None])[self.classes.labels]
        iterations = max(1, len(history) - 1)
        return QuadGameResult(weights, each, history[-1], gap, iterations, gap <= tol, tuple(history))


class IndependentGame(Game):
    """A game whose benefits are costly by their size.

    Examples
    --------
    >>> import numpy as np
    >>> game = IndependentGame.of(np.array([[1.0], [0.0]]), 0.5, 1.0, 1.0)
    >>> game.objective(game.complete(), game.benefits(game.complete()))
    2.625
    """

    def program(self) -> GraphProgram:
        """Return the program in G that is left when the benefits are eliminated."""
        linear = np.zeros_like(self.pairs.costs)
        weight = self.theta2 / (1.0 + self.theta2)
        return GraphProgram(self.pairs, self.actions, self.actions, linear, self.rho, self.theta1, weight)

    def benefits(self, graph: Array) -> Array:
        """Return the best benefits given the graph."""
        best: Array = self.foregone(graph) / (1.0 + self.theta2)
        return best

    def penalty(self, graph: Array, benefits: Array) -> float:
        """Return the squared norm of the benefits."""
        return float(np.sum(benefits**2))


class HomophilousGame(Game):
    """A game whose benefits are costly by their differences between neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> game = HomophilousGame.of(np.array([[1.0], [0.0]]), 0.5, 1.0, 3.0)
    >>> game.benefits(game.complete()).round(3)
    array([[0.357],
           [0.143]])
    """

    def program(self, benefits: Array) -> GraphProgram:
        """Return the program in G at given benefits, whose smoothness is linear in G."""
        each = benefits / self.classes.roots[:, None]
        gram = each @ each.T
        norms = np.diag(gram)
        distances = squareform(np.maximum(norms[:, None] + norms - 2.0 * gram, 0.0), checks=False)
        linear = np.append(self.theta2 * distances, np.zeros(len(self.pairs.within))) * self.pairs.costs
        target = self.actions - benefits
        return GraphProgram(self.pairs, self.actions, target, linear, self.rho, self.theta1, 1.0)

    def benefits(self, graph: Array) -> Array:
        """Return the best benefits given the graph, by a positive definite solve."""
        system = -self.theta2 * graph
        system[np.diag_indices(len(graph))] += 1.0 + self.theta2 * self._degrees(graph)
        return np.asarray(
            linalg.solve(system, self.foregone(graph), assume_a="pos", overwrite_a=True, check_finite=False)
        )

    def penalty(self, graph: Array, benefits: Array) -> float:
        """Return the smoothness of the benefits on the graph."""
        return float(np.sum(self._degrees(graph)[:, None] * benefits**2) - np.sum(benefits * (graph @ benefits)))

    def _degrees(self, graph: Array) -> Array:
        degrees: Array = (graph @ self.classes.roots) / self.classes.roots
        return degrees
