"""LogDegreeGL: smooth signals on a symmetric graph that leaves no node alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..baselines.candidate_pairs import CandidatePairs, NearestPairs
from ..baselines.log_degree import log_degree_graph
from ..pairs import PairSearch, make_search
from ..validation import Array, InputError, check_integer, check_number, warn
from .base import WeightedSignals


@dataclass(eq=False, repr=False)
class LogDegreeGL(WeightedSignals):
    r"""Graph learning from smooth signals with a log-degree barrier.

    .. math:: \min_W \; \sum_{ij} W_{ij} D_{ij} - \alpha\, 1^\top \log(W 1) + \frac{\beta}{2} \|W\|_F^2
              \quad\text{s.t.}\quad W = W^\top \ge 0,\; \mathrm{diag}\,W = 0

    with :math:`D_{ij} = \|x_i - x_j\|^2 / (2M)`. The logarithm keeps every node connected, the squared norm spreads the
    weights. Only :math:`\theta = 1/\sqrt{\alpha\beta}` decides which edges there are; :math:`\sqrt{\alpha/\beta}`
    multiplies all weights.

    Parameters
    ----------
    alpha, beta : float, optional
        Given both, they are the problem, and ``degree`` is not used. Given one, the other is found from ``degree``.
        Given none, both are found from ``degree`` and made equal, which makes the graph the same whatever the unit of
        the signals.
    degree : float
        Mean number of neighbours wanted, counting every weight above zero (weights are exactly zero elsewhere). It is
        met to 2% or one edge, where there is a graph that meets it.
    candidates : None, "auto" or int
        None holds all pairs. An integer k lets only pairs be edges of which one node is
        among the k nearest of the other, in memory of O(N k). "auto" begins so and adds
        pairs until those left out could not be edges: the solution for all pairs, in memory of O(edges).
    tol, max_iter
        Duality gap over :math:`\alpha N` at which to stop, and Newton steps allowed for one value of theta.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes), symmetric
    potential_ : array of shape (n_nodes,)
        The dual variables :math:`\nu`: :math:`W_{ij} = \max(0, \nu_i + \nu_j - 2 D_{ij}) / (2\beta)`.
    alpha_, beta_, theta_, mean_degree_, objective_ : float
    certificate_ : Certificate, the duality gap over :math:`\alpha N`

    References
    ----------
    Kalofolias, *How to learn a graph from smooth signals* (2016), the log-degree model; Kalofolias and Perraudin,
    *Large scale graph learning from smooth signals* (2019), for the scaling and for the first guess at theta. The
    solver, Newton's method on the dual, is ours.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 100))
    >>> model = LogDegreeGL(degree=5).fit(X)
    >>> abs(model.mean_degree_ - 5) <= 0.1, model.certificate_.value < 1e-9
    (True, True)
    """

    alpha: float | None = None
    beta: float | None = None
    degree: float | None = 10
    candidates: int | str | None = None
    tol: float = 1e-9
    max_iter: int = 500

    potential_: Array = field(init=False)
    alpha_: float = field(init=False)
    theta_: float = field(init=False)
    mean_degree_: float = field(init=False)

    def _learn(self, X: Array) -> dict[str, Any]:
        alpha, beta, degree = check_scales(self.alpha, self.beta, self.degree, X.shape[1])
        tol = check_number("tol", self.tol, low=0, open_low=True, remedy="tol is a relative duality gap; try 1e-9")
        max_iter = check_integer("max_iter", self.max_iter, low=1, remedy="it counts Newton steps; try 500")
        pairs = candidate_pairs(make_search(X), self.candidates, degree)
        if alpha is None or beta is None:
            theta = None
        else:
            theta = (alpha * beta) ** -0.5
        grow = self.candidates == "auto"
        graph = log_degree_graph(pairs, theta=theta, degree=degree, grow=grow, tol=tol, max_iter=max_iter)
        if degree is not None and abs(graph.mean_degree - degree) > 0.1 * degree:
            warn(
                f"the degree {degree:g} cannot be met: the nearest graph has {graph.mean_degree:.3g} neighbours "
                "on average, because distances are tied or because this model has no sparser graph; ask for "
                "that degree, or give alpha and beta"
            )
        if beta is None:
            beta = 1.0 / graph.theta if alpha is None else graph.theta**-2 / alpha
        alpha = graph.theta**-2 / beta if alpha is None else alpha
        weights = pairs.edges(graph.potential, graph.theta)
        weights.data *= np.sqrt(alpha / beta)
        return {
            "adjacency_": weights,
            "certificate_": graph.certificate,
            "potential_": graph.potential / graph.theta,
            "alpha_": alpha,
            "beta_": beta,
            "theta_": graph.theta,
            "mean_degree_": graph.mean_degree,
            "objective_": graph.objective(alpha, beta),
        }


def check_scales(
    alpha: object, beta: object, degree: object, n_nodes: int
) -> tuple[float | None, float | None, float | None]:
    """Check alpha, beta and degree; the degree is None if both alpha and beta are given."""
    remedy = "larger values give more edges; leave it None to have it found from degree"
    above_zero: dict[str, Any] = {"low": 1e-100, "high": 1e100, "remedy": remedy}
    if alpha is None:
        strength = None
    else:
        strength = check_number("alpha", alpha, **above_zero)
    if beta is None:
        spread = None
    else:
        spread = check_number("beta", beta, **above_zero)
    if strength is not None and spread is not None:
        return strength, spread, None
    if degree is None:
        raise InputError(
            f"degree is None with alpha={alpha!r} and beta={beta!r}: give both alpha and beta, or a degree, "
            "for example 10"
        )
    wanted = check_number("degree", degree, low=1, remedy="degree is the mean number of neighbours wanted; try 10")
    return strength, spread, min(wanted, n_nodes - 1.0)


def candidate_pairs(points: PairSearch, candidates: object, degree: float | None) -> CandidatePairs:
    """Return the pairs that may be edges."""
    if candidates is None:
        return CandidatePairs(points)
    others = len(points) - 1
    if isinstance(candidates, str):
        if candidates != "auto":
            raise InputError(f"candidates={candidates!r} is not known: choose None (all pairs), 'auto' or a number")
        return NearestPairs(points, min(others, 28 if degree is None else int(2 * degree) + 8))
    remedy = "it is how many nearest neighbours of a node may be its neighbours; None allows all pairs"
    kept = check_integer("candidates", candidates, low=1, remedy=remedy)
    if degree is not None and kept < degree:
        raise InputError(
            f"candidates={kept} nearest neighbours are fewer than degree={degree:g}: take at least twice the degree"
        )
    return NearestPairs(points, min(others, kept))
