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
edge vector g, for which :math:`\langle \nabla f, g\rangle - \tfrac N2 \min \nabla f` bounds the distance of
f from its minimum (the Frank-Wolfe gap); it is solved by an accelerated projected gradient method until that
gap is small.

Independent benefits are jointly convex in (G, B): B is eliminated, which leaves one program in G with
:math:`\tfrac{\theta_2}{1+\theta_2}\|(I - \rho G)Y\|_F^2`, and its solution is the global one. Homophilous
benefits are not; the two blocks alternate, the objective never rises, and the stopping measure is the gap of
the G-block after a B-step, relative to the objective: zero exactly at points where both blocks are optimal.
One gradient costs O(N^2 M), one B-step O(N^3); memory is a few N x N arrays.

Reference: Leng, Dong, Wu, Pentland, *Learning quadratic games on networks* (ICML 2020), its two frameworks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..couplings import project_simplex
from ..validation import Array

# Rises of f below this share of it are rounding; f gets there long before the gap does, so they stop nothing.
ROUNDING = 1e-14


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


class GraphProgram(NamedTuple):
    r"""The program of :math:`f(g) = \gamma\|T - \rho G Y\|_F^2 + \theta_1\|G\|_F^2 + \langle d, g\rangle`.

    ``target`` is T, ``linear`` is d on the edges above the diagonal (row by row); g sums to N / 2.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1.0], [1.0], [0.0]])
    >>> program = GraphProgram(Y, Y, np.zeros(3), rho=0.5, theta1=0.01, weight=1.0)
    >>> graph, gap = program.solve(np.full((3, 3), 0.5) - 0.5 * np.eye(3), tol=1e-12)
    >>> graph.round(2)
    array([[0. , 1.5, 0. ],
           [1.5, 0. , 0. ],
           [0. , 0. , 0. ]])
    """

    actions: Array
    target: Array
    linear: Array
    rho: float
    theta1: float
    weight: float

    def value_and_gradient(self, edges: Array, graph: Array) -> tuple[float, Array]:
        """Return f and its gradient in the edges; ``graph`` is the matrix of ``edges``."""
        residual = self.target - self.rho * (graph @ self.actions)
        slope = residual @ self.actions.T
        upper = np.triu_indices(len(graph), 1)
        gradient = self.linear + 4.0 * self.theta1 * edges
        gradient -= 2.0 * self.weight * self.rho * (slope + slope.T)[upper]
        value = self.weight * float(np.sum(residual**2)) + 2.0 * self.theta1 * float(edges @ edges)
        return value + float(self.linear @ edges), gradient

    def gap(self, graph: Array) -> float:
        """Return the Frank-Wolfe gap: f is at most this far above its minimum."""
        edges = graph[np.triu_indices(len(graph), 1)]
        _, gradient = self.value_and_gradient(edges, graph)
        return _simplex_gap(edges, gradient)

    def solve(self, start: Array, *, tol: float, max_iter: int = 20000) -> tuple[Array, float]:
        """Minimise f from a graph of the simplex until the gap is ``tol``; return the graph and its gap.

        Nesterov's method for strongly convex functions, restarted where f rises, so f never ends above
        f(start).
        """
        n = len(start)
        total = 0.5 * n
        top = float(np.linalg.norm(self.actions, 2)) ** 2
        convexity = 4.0 * self.theta1
        lipschitz = 4.0 * self.weight * self.rho**2 * top + convexity
        ratio = float(np.sqrt(convexity / lipschitz))
        momentum = (1.0 - ratio) / (1.0 + ratio)
        edges = start[np.triu_indices(n, 1)]
        graph = start
        value, gradient = self.value_and_gradient(edges, graph)
        ahead, ahead_gradient = edges, gradient
        for _ in range(max_iter):
            gap = _simplex_gap(edges, gradient)
            if gap <= tol:
                break
            moved = project_simplex(ahead - ahead_gradient / lipschitz, total)
            moved_graph = edges_to_graph(moved, n)
            moved_value, moved_gradient = self.value_and_gradient(moved, moved_graph)
            if moved_value > value + ROUNDING * abs(value) and ahead is not edges:
                ahead, ahead_gradient = edges, gradient  # restart: a plain gradient step cannot rise
                continue
            # The gradient is affine, so the one at the extrapolated point needs no product of its own.
            ahead = moved + momentum * (moved - edges)
            ahead_gradient = moved_gradient + momentum * (moved_gradient - gradient)
            edges, graph, value, gradient = moved, moved_graph, moved_value, moved_gradient
        return graph, _simplex_gap(edges, gradient)


def quad_game(
    actions: Array,
    *,
    rho: float,
    theta1: float,
    theta2: float,
    benefits: str = "independent",
    tol: float = 1e-8,
    max_iter: int = 500,
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
    weights = {"rho": rho, "theta1": theta1, "theta2": theta2}
    if benefits == "independent":
        return _independent(actions, weights, tol)
    return _homophilous(actions, weights, tol, max_iter=max_iter, verbose=verbose)


def _independent(actions: Array, weights: dict[str, float], tol: float) -> QuadGameResult:
    """Solve the one program that is left when B is eliminated."""
    graph = _uniform(len(actions))
    program = independent_program(actions, **weights)
    scale = program.value_and_gradient(graph[np.triu_indices(len(graph), 1)], graph)[0]
    gap, reached = np.inf, actions
    # The objective at the start sets the first tolerance, that at the first solution the second.
    while gap > tol * scale:
        before = gap
        graph, gap = program.solve(graph, tol=tol * scale)
        reached = (actions - weights["rho"] * (graph @ actions)) / (1.0 + weights["theta2"])
        scale = game_objective(actions, graph, reached, **weights, kind="independent")
        if gap >= before:
            break
    return QuadGameResult(graph, reached, scale, gap / scale, 1, gap <= tol * scale, (scale,))


def _homophilous(
    actions: Array, weights: dict[str, float], tol: float, *, max_iter: int, verbose: int
) -> QuadGameResult:
    """Alternate between G and B until G is optimal for its own B."""
    rho, theta2 = weights["rho"], weights["theta2"]
    graph = _uniform(len(actions))
    reached = homophilous_benefits(actions, graph, rho, theta2)
    program = homophilous_program(actions, reached, **weights)
    history = [game_objective(actions, graph, reached, **weights, kind="homophilous")]
    gap = program.gap(graph) / history[-1]
    iteration = 0
    while gap > tol and iteration < max_iter:
        iteration += 1
        graph, _ = program.solve(graph, tol=0.1 * tol * history[-1])
        reached = homophilous_benefits(actions, graph, rho, theta2)
        program = homophilous_program(actions, reached, **weights)
        history.append(game_objective(actions, graph, reached, **weights, kind="homophilous"))
        gap = program.gap(graph) / history[-1]
        if verbose:
            print(f"quad game {iteration:>4}  objective {history[-1]:.10g}  gap {gap:.2e}")
    return QuadGameResult(graph, reached, history[-1], gap, iteration, gap <= tol, tuple(history))


def _uniform(n_nodes: int) -> Array:
    """Return the complete graph whose entries sum to the number of nodes."""
    graph: Array = (1.0 - np.eye(n_nodes)) / (n_nodes - 1.0)
    return graph


def independent_program(actions: Array, *, rho: float, theta1: float, theta2: float) -> GraphProgram:
    """Return the program in G that is left when independent benefits are eliminated.

    Examples
    --------
    >>> import numpy as np
    >>> independent_program(np.ones((3, 2)), rho=0.5, theta1=1.0, theta2=1.0).weight
    0.5
    """
    n = len(actions)
    return GraphProgram(actions, actions, np.zeros(n * (n - 1) // 2), rho, theta1, theta2 / (1.0 + theta2))


def homophilous_program(actions: Array, benefits: Array, *, rho: float, theta1: float, theta2: float) -> GraphProgram:
    """Return the program in G at given benefits, whose smoothness is linear in G.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[0.0], [1.0], [3.0]])
    >>> homophilous_program(np.ones((3, 1)), B, rho=0.5, theta1=1.0, theta2=2.0).linear
    array([ 2., 18.,  8.])
    """
    gram = benefits @ benefits.T
    norms = np.diag(gram)
    distances = np.maximum(norms[:, None] + norms - 2.0 * gram, 0.0)[np.triu_indices(len(gram), 1)]
    return GraphProgram(actions, actions - benefits, theta2 * distances, rho, theta1, 1.0)


def homophilous_benefits(actions: Array, graph: Array, rho: float, theta2: float) -> Array:
    """Return the B-step of homophilous benefits, a positive definite solve.

    Examples
    --------
    >>> import numpy as np
    >>> homophilous_benefits(np.ones((2, 1)), np.array([[0.0, 1.0], [1.0, 0.0]]), 0.5, 3.0)
    array([[0.5],
           [0.5]])
    """
    system = -theta2 * graph
    system[np.diag_indices(len(graph))] += 1.0 + theta2 * graph.sum(axis=1)
    right = actions - rho * (graph @ actions)
    return np.asarray(linalg.solve(system, right, assume_a="pos", overwrite_a=True, check_finite=False))


def game_objective(
    actions: Array, graph: Array, benefits: Array, *, rho: float, theta1: float, theta2: float, kind: str
) -> float:
    """Return the objective of the problem at (G, B).

    Examples
    --------
    >>> import numpy as np
    >>> B = np.full((2, 1), 0.5)
    >>> G = 1.0 - np.eye(2)
    >>> game_objective(np.ones((2, 1)), G, B, rho=0.5, theta1=1.0, theta2=1.0, kind="independent")
    2.5
    """
    misfit = float(np.sum((actions - rho * (graph @ actions) - benefits) ** 2))
    if kind == "independent":
        penalty = float(np.sum(benefits**2))
    else:
        penalty = float(np.sum(graph.sum(axis=1)[:, None] * benefits**2) - np.sum(benefits * (graph @ benefits)))
    return misfit + theta1 * float(np.sum(graph**2)) + theta2 * penalty


def edges_to_graph(edges: Array, n_nodes: int) -> Array:
    """Return the symmetric matrix whose entries above the diagonal, row by row, are ``edges``.

    Examples
    --------
    >>> import numpy as np
    >>> edges_to_graph(np.array([1.0, 2.0, 3.0]), 3)
    array([[0., 1., 2.],
           [1., 0., 3.],
           [2., 3., 0.]])
    """
    graph = np.zeros((n_nodes, n_nodes))
    graph[np.triu_indices(n_nodes, 1)] = edges
    graph += graph.T
    return graph


def _simplex_gap(edges: Array, gradient: Array) -> float:
    """Return the Frank-Wolfe gap, summed so that it does not cancel."""
    return float(edges @ (gradient - gradient.min()))
