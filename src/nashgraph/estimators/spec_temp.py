"""SpecTemp: the sparsest graph that shares its eigenvectors with the signals' covariance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..baselines.template_graph import spectral_templates, template_basis
from ..consensus.members import SAME_SIGNALS
from ..validation import Array, InputError, check_flag, check_integer, check_number, warn
from .base import GraphEstimator, learned_from


@dataclass(eq=False, repr=False)
class SpecTemp(GraphEstimator):
    r"""Topology inference from spectral templates.

    .. math:: \min_{S, R, \sigma} \; \|S\|_1 \quad\text{s.t.}\quad
              \|S - V_K \mathrm{diag}(\sigma) V_K^\top - R\|_F \le \varepsilon,\; R V_K = 0,\;
              S = S^\top \ge 0,\; \mathrm{diag}\,S = 0,\; \textstyle\sum_j S_{1j} = 1

    Signals that are white noise through a filter of the graph have a covariance with the graph's eigenvectors:
    :math:`V_K` are the K leading ones of the sample covariance. The method looks for the sparsest graph with these
    eigenvectors, up to :math:`\varepsilon`; what the other eigenvectors hold, R, is free. Nodes with the same signals
    have the same edges, except for the anchor. Where several graphs are the sparsest, as in surveys with a column for
    every answer, it is the one of least Frobenius norm.

    Parameters
    ----------
    epsilon : float, optional
        Distance allowed. None takes (1 + slack) times the smallest for which there is any graph, and 1e-6 at least.
    n_components : int, optional
        The number K of eigenvectors. None takes the rank of the covariance: all of them with enough signals (the
        complete form, R = 0), fewer with fewer signals than nodes (the incomplete form).
    slack : float
        Used with ``epsilon=None``.
    anchor : int
        The column of X whose weights sum to one, the paper's node 1. It sets the scale of the graph, and the graph
        depends on it. A large epsilon leaves nothing but edges at the anchor.
    assume_centered : bool
        Take the signals' mean to be zero instead of subtracting it.
    tol, max_iter
        Relative duality gap to reach, and interior-point iterations allowed, for epsilon and for the graph each.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes), symmetric
    epsilon_, smallest_epsilon_ : float, the distance allowed, and the smallest one possible
    n_components_, distance_, objective_ : the number K, the distance reached, and :math:`\|S\|_1`
    certificate_ : Certificate, the relative duality gap

    Notes
    -----
    Nodes with the same signals count once. With n different ones and K templates there are q = K(2n-K-1)/2 equations,
    12,000 at most: a step takes O(q^3) and memory for three q x q matrices. On one core, 200 different nodes with 15
    templates take half a minute; a survey of 330 households with 16 columns has about 100 different ones: 3 s.

    References
    ----------
    Segarra, Marques, Mateos, Ribeiro, *Network topology inference from spectral templates* (2017): adjacency matrices,
    noisy templates (the constraint with epsilon), complete or incomplete.

    Examples
    --------
    >>> import networkx as nx
    >>> from nashgraph import edge_auc
    >>> from nashgraph.datasets import smooth_signals
    >>> graph = nx.path_graph(8)
    >>> X = smooth_signals(graph, 5000, "lowpass", random_state=0)
    >>> model = SpecTemp(anchor=3).fit(X)
    >>> model.converged_, edge_auc(graph, model.adjacency_) > 0.95
    (True, True)
    """

    epsilon: float | None = None
    n_components: int | None = None
    slack: float = 0.01
    anchor: int = 0
    assume_centered: bool = False
    tol: float = 1e-5
    max_iter: int = 100

    epsilon_: float = field(init=False)
    smallest_epsilon_: float = field(init=False)
    n_components_: int = field(init=False)
    distance_: float = field(init=False)
    quick_up_to = 60
    _min_signals = 2

    def _learn(self, X: Array) -> dict[str, Any]:
        if (epsilon := self.epsilon) is not None:
            epsilon = check_number("epsilon", epsilon, low=0, high=1e100, remedy="None finds the smallest")
        slack = check_number("slack", self.slack, low=0, high=1e100, open_low=True, remedy="try 0.01")
        tol = check_number("tol", self.tol, low=0, open_low=True, remedy="it is a relative duality gap; try 1e-5")
        max_iter = check_integer("max_iter", self.max_iter, low=1, remedy="try 100")
        remedy = "it is the column of the node whose weights sum to one"
        anchor = check_integer("anchor", self.anchor, low=0, remedy=remedy)
        if anchor >= X.shape[1]:
            raise InputError(f"anchor must be a column of X, below {X.shape[1]}, got {anchor!r}: try anchor=0")
        if check_flag("assume_centered", self.assume_centered):
            centred = X
        else:
            centred = X - X.mean(axis=0)
        if np.abs(centred).max() <= SAME_SIGNALS * np.abs(X).max():  # all signals are the same: only rounding is left
            centred = np.zeros_like(X)
        basis, rank = template_basis(centred.T @ centred / len(X))
        known = check_components(self.n_components, X.shape[1], rank)
        found = spectral_templates(
            basis, known, epsilon=epsilon, slack=slack, anchor=anchor, tol=tol, max_iter=max_iter
        )
        return learned_from(found, n_components_=known)


def check_components(n_components: object, n_nodes: int, rank: int) -> int:
    """Check the number of templates, or take the rank; more than that are arbitrary, and the user is told."""
    if rank == 0:
        raise InputError(
            "X has no variance, so its covariance has no eigenvectors: check the signals, or set assume_centered=True"
        )
    if n_components is None:
        return rank
    known = check_integer("n_components", n_components, low=1, remedy="it is the number of eigenvectors to use")
    if known > n_nodes:
        raise InputError(f"n_components must not exceed the number of nodes, {n_nodes}, got {known}: leave it None")
    if known > rank:
        warn(
            f"n_components={known} is above the rank {rank} of the covariance, so {known - rank} of the "
            "eigenvectors are arbitrary: add signals, or leave n_components=None"
        )
    return known
