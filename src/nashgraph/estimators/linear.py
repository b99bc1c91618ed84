"""The linear approximation of GLGP: the game's first step instead of its equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate import exact
from ..pairs import Bonus, make_search
from ..priors import GraphFilter
from ..solvers import COST, lam_for_cost, typical_share
from ..validation import Array, check_strength
from ._benefit import marginal_benefit
from .base import PriorEffect, admissible_smoothness
from .smooth import SmoothGL


class LinearGLGP(SmoothGL):
    r"""Graph learning with the linear approximation of the network-game prior, in closed form.

    .. math:: \min_{W \in S} \; J(W) - \lambda\, 1^\top W b

    Its solution is :math:`W_{ij} = \frac{1}{2\beta} \max(0,\; \lambda b_j + \eta_i - D_{ij})` for :math:`i \ne j`,
    with the :math:`\eta_i` that makes row i sum to c: everybody is drawn to the nodes of large benefit.

    Parameters
    ----------
    lam : float or "auto"
        Strength of the prior; 0 gives SmoothGL. "auto" is that which costs a thousandth of J, to first order.
    beta, degree, c, storage, engine, geometry, missing
        As in :class:`SmoothGL`; ``degree`` is that of the graph without prior.
    benefit : "spectral", "uniform", array of shape (n_nodes,), or Series by the nodes' names
        Marginal benefits, scaled to sum 1. "spectral" is the paper's: the top eigenvector of the distance matrix.

    Attributes
    ----------
    benefit_, lam_ : the benefits and the strength used; the others as in :class:`SmoothGL`
    objective_ : float, :math:`J(W) - \lambda 1^\top W b`

    References
    ----------
    Zhang, Liu, Wai, So, *Network Games Induced Prior for Graph Topology Learning*, Proposition "kkt".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> hub = np.ones(30); hub[7] = 20.0
    >>> model = LinearGLGP(lam=10, degree=4, benefit=hub).fit(X)
    >>> int(model.adjacency_.sum(axis=0).argmax())
    7
    """

    def __init__(
        self,
        lam: float | str = "auto",
        beta: float | None = None,
        degree: float | None = 10,
        c: float = 0.95,
        benefit: str | Array = "spectral",
        storage: str = "auto",
        engine: str = "threads",
        geometry: str = "distance",
        missing: str = "error",
    ) -> None:
        super().__init__(beta, degree, c, storage, engine, geometry, missing)
        self.lam = lam
        self.benefit = benefit

    def _learn(self, X: Array) -> dict[str, Any]:
        given = check_strength(self.lam)
        points = make_search(X, self.engine, self.geometry)
        benefit, origin = marginal_benefit(self.benefit, points)
        smoothness = admissible_smoothness(points, self.beta, self.degree, self.c, self.storage)
        everyone = np.ones(len(benefit))
        share = COST * typical_share(smoothness)
        if given is None:
            lam = lam_for_cost(smoothness, everyone, benefit, share)
        else:
            lam = given
        graph = smoothness.respond(Bonus.of(lam * everyone, benefit))
        cost = smoothness.value(graph)
        return {
            "adjacency_": graph.matrix(),
            "threshold_": graph.threshold,
            "benefit_": benefit,
            "game_": self.game_with(benefit),
            "beta_": smoothness.beta,
            "lam_": lam,
            "objective_": cost - lam * float((graph.matrix() @ benefit).sum()),
            "prior_": PriorEffect(lam, origin, cost),
            "certificate_": exact(),
        }

    def game_with(self, benefit: Array) -> GraphFilter:
        """Return the prior: 1' W b is the value of this filter."""
        return GraphFilter([0.0, 1.0], benefit)

    def _node_columns(self) -> dict[str, Array]:
        return {"benefit": self.benefit_}
