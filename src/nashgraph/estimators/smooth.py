"""Smooth-GL: the graph on which the signals are smoothest, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..certificate import exact
from ..pairs import make_search
from ..validation import Array
from .base import WeightedSignals, admissible_smoothness


@dataclass(eq=False, repr=False)
class SmoothGL(WeightedSignals):
    r"""Graph learning from smooth signals, without a prior.

    .. math:: \min_W \; \sum_{ij} W_{ij} \frac{\|x_i - x_j\|^2}{2M} + \beta \|W\|_F^2
              \quad\text{s.t.}\quad W \ge 0,\; \mathrm{diag}\,W = 0,\; W 1 = c 1

    Each row is solved exactly, so there is nothing to iterate: :math:`W_{ij} = \frac{1}{2\beta}
    \max(0, \eta_i - D_{ij})`.

    Parameters
    ----------
    beta : float, optional
        Weight of the squared norm: the larger, the more neighbours. Wins over ``degree`` when given.
    degree : float
        Mean number of neighbours wanted; beta is found from it.
    c : float in (0, 1)
        Row sum of the adjacency matrix.
    storage : "auto", "dense" or "sparse"
        Whether the costs of all pairs are stored, or of candidate pairs; "auto" chooses by size and free memory.
    engine : "threads", "cuda", "dask", "auto" or another name in ``nashgraph.pairs.ENGINES``
        Who searches the pairs of nodes: this machine's cores, its GPU (the extra ``gpu``), a Dask cluster (the extra
        ``distributed``), or the GPU if there is one and nodes are many, which is logged.
    geometry : "distance", "cosine" or "inner"
        What makes two nodes alike. Distances punish nodes with strong signals; the cosine leaves a node's strength
        out, and the inner product rewards it.
    missing : "error" or "pairwise"
        What to do about NaN in X. "pairwise" compares two nodes on the signals observed at both, :math:`m_{ij}`, and
        takes a typical difference, the variance :math:`v_m` of a signal, for the others: :math:`D_{ij} = \frac{1}{M}
        (\sum_{m \in m_{ij}} (x_{mi} - x_{mj})^2 / 2 + \sum_{m \notin m_{ij}} v_m)`. So few answers make nobody near to
        everybody. It need not be a metric; each two nodes must share a signal.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes)
        ``adjacency_[i, j]`` is the weight with which j influences i.
    threshold_ : array of shape (n_nodes,), the :math:`\eta_i`
    beta_, objective_ : float, the beta used, and :math:`J(W)`
    certificate_ : Certificate: the solution is exact, so ``stationarity_`` is 0, ``n_iter_`` 1, ``converged_`` True
    node_names_ : array of shape (n_nodes,), the columns of X, or 0 ... n_nodes - 1

    References
    ----------
    Kalofolias, *How to learn a graph from smooth signals* (2016), in the row-stochastic form of Zhang, Liu, Wai, So,
    *Network Games Induced Prior for Graph Topology Learning*, equation (eq:graph_learn).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> model = SmoothGL(degree=4).fit(X)
    >>> model.edges().shape
    (120, 3)
    """

    beta: float | None = None
    degree: float | None = 10
    c: float = 0.95
    storage: str = "auto"
    engine: str = "threads"
    geometry: str = "distance"
    missing: str = "error"

    threshold_: Array = field(init=False)

    @property
    def stationarity_(self) -> float:
        """The distance of the graph to its best response, relative to the graph's norm."""
        return self.certificate_.value

    def _learn(self, X: Array) -> dict[str, Any]:
        points = make_search(X, self.engine, self.geometry)
        smoothness = admissible_smoothness(points, self.beta, self.degree, self.c, self.storage)
        graph = smoothness.smooth
        return {
            "adjacency_": graph.matrix(),
            "threshold_": graph.threshold,
            "beta_": smoothness.beta,
            "objective_": smoothness.value(graph),
            "certificate_": exact(),
        }
