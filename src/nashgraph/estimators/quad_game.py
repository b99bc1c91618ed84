"""QuadGameGL: the graph of the quadratic game whose equilibria the signals are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scipy import linalg

from ..baselines.quadratic_games import quad_game
from ..validation import Array, InputError, check_choice, check_integer, check_number, warn
from .base import GraphEstimator, learned_from


@dataclass(eq=False, repr=False)
class QuadGameGL(GraphEstimator):
    r"""Learning a quadratic game, its graph and its benefits, from actions.

    .. math:: \min_{G, B} \; \|(I - \rho G) Y - B\|_F^2 + \theta_1 \|G\|_F^2 + \theta_2 P(B, G)
              \quad\text{s.t.}\quad G = G^\top \ge 0,\; \mathrm{diag}\,G = 0,\; \|G\|_1 = N

    Each signal holds the actions of one game, :math:`Y = X^\top`, at equilibrium: :math:`(I - \rho G) y = b`. Benefits
    are independent, :math:`P = \|B\|_F^2`, or homophilous, :math:`P = \mathrm{tr}(B^\top L_G B)`: friends want alike.

    Parameters
    ----------
    rho : float in (-1, 1), not 0
        Strength of the interaction: positive for complements, negative for substitutes. The game has one equilibrium
        only while :math:`|\rho|` times the spectral radius of G, which is at least 1, is below 1. The learned G is
        checked, and a warning names the rho that would do.
    theta1 : float
        Weight of the squared norm: the larger, the more edges.
    theta2 : float
        Weight of the benefits. For independent benefits only :math:`\theta_1 (1 + \theta_2)/\theta_2` matters to G.
    benefits : "independent" or "homophilous"
    tol, max_iter
        Duality gap of the graph, relative to the objective, at which to stop; most alternations between graph and
        homophilous benefits (200 to 800 are usual), or gradient steps for independent ones.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes), symmetric, summing to n_nodes
    benefits_ : array of shape (n_signals, n_nodes), the benefits of each game, laid out as X
    spectral_radius_, objective_ : float
    certificate_ : Certificate, the duality gap of the graph relative to the objective

    Notes
    -----
    Nodes with the same signals have the same edges and count once. On one core, a survey of 330 households of which 120
    differ takes 0.1 s with independent benefits and 20 s with homophilous ones, at ``tol=1e-5``. Homophilous benefits
    have several solutions; the one that the alternation from the complete graph leads to is returned.

    References
    ----------
    Leng, Dong, Wu, Pentland, *Learning quadratic games on networks* (ICML 2020). Independent benefits are solved
    jointly, homophilous ones by alternation.

    Examples
    --------
    >>> import networkx as nx, numpy as np
    >>> from nashgraph import edge_auc
    >>> graph = nx.cycle_graph(10)
    >>> B = np.random.default_rng(0).normal(size=(10, 300))
    >>> Y = np.linalg.solve(np.eye(10) - 0.4 * nx.to_numpy_array(graph), B)
    >>> model = QuadGameGL(rho=0.4, theta1=1.0).fit(Y.T)
    >>> edge_auc(graph, model.adjacency_)
    1.0
    """

    rho: float = 0.5
    theta1: float = 1.0
    theta2: float = 1.0
    benefits: str = "independent"
    tol: float = 1e-8
    max_iter: int = 5000

    benefits_: Array = field(init=False)
    spectral_radius_: float = field(init=False)
    quick_up_to = 200

    def _learn(self, X: Array) -> dict[str, Any]:
        remedy = "|rho| times the spectral radius of a graph of mean row sum 1 must be below 1; try 0.5"
        rho = check_number("rho", self.rho, low=-1, high=1, open_low=True, open_high=True, remedy=remedy)
        if rho == 0:
            raise InputError("rho must not be 0, got 0: players then ignore each other and any graph fits; try 0.5")
        result = quad_game(
            X.T,
            rho=rho,
            theta1=check_number("theta1", self.theta1, low=1e-100, high=1e100, remedy="larger gives more edges; try 1"),
            theta2=check_number("theta2", self.theta2, low=1e-100, high=1e100, remedy="it weighs the benefits; try 1"),
            benefits=check_choice("benefits", self.benefits, ("independent", "homophilous")),
            tol=check_number("tol", self.tol, low=0, open_low=True, remedy="tol is a relative duality gap; try 1e-8"),
            max_iter=check_integer("max_iter", self.max_iter, low=1, remedy="try 5000"),
        )
        n = X.shape[1]
        radius = float(linalg.eigvalsh(result.weights, subset_by_index=[n - 1, n - 1])[0])
        if abs(rho) * radius >= 1:
            warn(
                f"the game learned is not well-posed: |rho| = {abs(rho):g} must be below 1 / spectral radius "
                f"= {1 / radius:.3g}, or players' actions grow without bound; lower rho, or raise theta1"
            )
        return learned_from(result, benefits_=result.benefits.T, spectral_radius_=radius)
