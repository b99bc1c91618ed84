"""ModularGL: a smooth graph in exactly as many pieces as asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baselines.laplacian_rank import constrained_rank
from ..pairs import make_search
from ..validation import Array, InputError, check_integer, check_number
from .base import GraphEstimator, admissible_set, learned_from


@dataclass(eq=False, repr=False)
class ModularGL(GraphEstimator):
    r"""Graph learning from smooth signals with a structural prior: exactly K connected components.

    .. math:: \min_W \; \sum_{ij} W_{ij} \frac{\|x_i - x_j\|^2}{2M} + \beta \|W\|_F^2
              \quad\text{s.t.}\quad W \ge 0,\; \mathrm{diag}\,W = 0,\; W 1 = c 1,\;
              \mathrm{rank}\,L = N - K

    where L is the Laplacian of :math:`(W + W^\top)/2`. The constraint is enforced by a penalty on the K smallest
    eigenvalues of L, which is doubled until the graph falls into K pieces.

    Parameters
    ----------
    n_components : int
        The K: at most half the nodes, because every node keeps a neighbour.
    beta, degree, c
        As in :class:`SmoothGL`; ``degree`` is that of the graph without the prior.
    tol, max_iter
        Change of the graph over a round at which to stop once the components are right, and most rounds.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes), with rows that sum to c
    labels_ : array of shape (n_nodes,), the component of each node, numbered by their first nodes
    n_components_ : int, the number found
    embedding_ : array of shape (n_nodes, n_components), the lowest eigenvectors of L
    lam_, beta_, objective_ : float, the weight of the penalty at the end, the beta used, the first line above
    certificate_ : Certificate, by :math:`\|W - W^+\|_F / \|W\|_F` over the last round; it asks for K components too

    References
    ----------
    Nie, Wang, Jordan, Huang, *The constrained Laplacian rank algorithm for graph-based clustering*, AAAI (2016), the
    squared-norm variant, with the signals' distances in the place of a given graph: the graph is :math:`-D/(2\beta)`.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(40, 30)) + 0.7 * np.repeat(random.normal(size=(40, 3)), 10, axis=1)
    >>> model = ModularGL(n_components=3).fit(X)
    >>> model.converged_, np.bincount(model.labels_)
    (True, array([10, 10, 10]))
    """

    n_components: int = 2
    beta: float | None = None
    degree: float | None = 10
    c: float = 0.95
    tol: float = 1e-8
    max_iter: int = 100

    labels_: NDArray[np.int32] = field(init=False)
    n_components_: int = field(init=False)
    embedding_: Array = field(init=False)
    quick_up_to = 200

    def _learn(self, X: Array) -> dict[str, Any]:
        most = X.shape[1] // 2
        remedy = f"every node keeps a neighbour, so {X.shape[1]} nodes make at most {most} components"
        wanted = check_integer("n_components", self.n_components, low=1, remedy=remedy)
        if wanted > most:
            raise InputError(f"n_components must be at most {most}, got {wanted}: {remedy}")
        tol = check_number("tol", self.tol, low=0, remedy="tol is a relative change of the graph; try 1e-8")
        max_iter = check_integer("max_iter", self.max_iter, low=1, remedy="try 100")
        points = make_search(X)
        beta, c = admissible_set(points, self.beta, self.degree, self.c)
        found = constrained_rank(
            points.geometry.rows(np.arange(len(points))), wanted, beta, c, tol=tol, max_iter=max_iter
        )
        return learned_from(found, beta_=beta)
