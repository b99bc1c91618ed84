"""GL-SigRep: a Laplacian learned together with denoised signals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..baselines.signal_representation import sig_rep
from ..pairs import make_search
from ..smoothness import beta_for_degree
from ..validation import Array, check_beta, check_degree, check_integer, check_number
from .base import GraphEstimator, learned_from


@dataclass(eq=False, repr=False)
class GLSigRep(GraphEstimator):
    r"""Graph learning from noisy smooth signals: the Laplacian and the signals it denoises, in turn.

    .. math:: \min_{L, Y} \; \|X - Y\|_F^2 + \alpha\,\mathrm{tr}(Y^\top L Y) + \beta \|L\|_F^2
              \quad\text{s.t.}\quad L = L^\top,\; L_{ij} \le 0 \;(i \ne j),\; L 1 = 0,\; \mathrm{tr}\,L = N

    with a node in each row of X and Y. Each of the two steps is solved to optimality, so the objective never rises; the
    problem is not jointly convex, and what is found is stationary.

    Parameters
    ----------
    alpha : float
        How much the signals are smoothed. The Laplacian has mean eigenvalue 1, so 0.1 shrinks the average variation by
        a tenth; noisier signals need more.
    beta : float, optional
        Weight of the squared norm: the larger, the more neighbours. Wins over ``degree`` when given.
    degree : float
        Mean number of neighbours wanted; beta is found from it, as :math:`\alpha M` times SmoothGL's beta with row sum
        1. The graph found comes near it, not exactly to it.
    tol, max_iter
        Duality gap of the Laplacian at its own signals, over the objective, at which to stop; most rounds.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes), symmetric; its entries sum to n_nodes
    denoised_ : array of shape (n_signals, n_nodes), the signals Y
    beta_, objective_ : float
    certificate_ : Certificate, the duality gap over the objective

    References
    ----------
    Dong, Thanou, Frossard, Vandergheynst, *Learning Laplacian matrix in smooth graph signal representations*, IEEE
    Transactions on Signal Processing (2016), algorithm 1 (GL-SigRep).

    Examples
    --------
    >>> import networkx as nx
    >>> from nashgraph import edge_auc
    >>> from nashgraph.datasets import smooth_signals
    >>> club = nx.karate_club_graph()
    >>> X = smooth_signals(club, n_signals=200, filter="gmrf", noise=0.1, random_state=0)
    >>> model = GLSigRep(degree=5).fit(X)
    >>> round(float(model.adjacency_.sum()), 6), edge_auc(club, model.adjacency_) > 0.8
    (34.0, True)
    """

    alpha: float = 0.1
    beta: float | None = None
    degree: float | None = 10
    tol: float = 1e-6
    max_iter: int = 200

    denoised_: Array = field(init=False)
    quick_up_to = 200

    def _learn(self, X: Array) -> dict[str, Any]:
        alpha = check_number(
            "alpha", self.alpha, low=0, high=1e12, open_low=True, remedy="alpha smooths the signals; try 0.1"
        )
        tol = check_number("tol", self.tol, low=0, remedy="tol is a gap over the objective; try 1e-6")
        max_iter = check_integer("max_iter", self.max_iter, low=1, remedy="try 200")
        if self.beta is not None:
            beta = check_beta(self.beta)
        else:  # that of SmoothGL: where degrees are 1 the rows are its, in other units
            beta = alpha * len(X) * beta_for_degree(make_search(X), check_degree(self.degree, X.shape[1]), 1.0)
        return learned_from(sig_rep(X, alpha, beta, tol=tol, max_iter=max_iter), beta_=beta)
