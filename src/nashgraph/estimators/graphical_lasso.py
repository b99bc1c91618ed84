"""The graphical lasso: scikit-learn's sparse inverse covariance, with the interface of a graph estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.covariance import GraphicalLasso, GraphicalLassoCV
from sklearn.exceptions import ConvergenceWarning

from ..certificate import Certificate, Measure, Monitor
from ..validation import Array, InputError, check_choice, check_integer, check_number, listing
from .base import GraphEstimator


@dataclass(eq=False, repr=False)
class GraphicalLassoGL(GraphEstimator):
    r"""The graph of positive partial associations, from a sparse inverse covariance.

    .. math:: \min_{\Theta \succ 0} \; \mathrm{tr}(C \Theta) - \log\det\Theta
              + \alpha \sum_{i \ne j} |\Theta_{ij}|

    with C the empirical covariance of the nodes over the signals. A negative :math:`\Theta_{ij}` says that i and j go
    together when all others are held fixed, so the weight of their edge is :math:`\max(0, -\Theta_{ij})`. Negative
    associations are not edges of this graph; ``precision_`` keeps them. Weights are in the units of the signals: where
    nodes are measured in different ones, standardise the columns of X first.

    Parameters
    ----------
    alpha : float, optional
        Weight of the penalty: the larger, the fewer edges. None finds it by cross-validation over the signals.
    cv : int
        Number of folds when alpha is None; each needs at least two signals.
    mode : "cd" or "lars"
        Coordinate descent, or least angle regression for graphs that are very sparse.
    tol, max_iter
        Duality gap at which to stop, and most iterations.
    n_jobs : int, optional
        Folds in parallel when alpha is None.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes), symmetric
    precision_, covariance_, alpha_, objective_ : as scikit-learn has them
    certificate_ : Certificate, the duality gap of the final fit

    Notes
    -----
    Signals that add up to about zero over the nodes, as after taking off each signal's mean, have an inverse covariance
    that is large and positive between all pairs. It hides the positive associations unless alpha is large: leave the
    means in, or pass alpha instead of cross-validating it.

    References
    ----------
    Friedman, Hastie, Tibshirani, *Sparse inverse covariance estimation with the graphical lasso*, Biostatistics (2008),
    as in ``sklearn.covariance.GraphicalLasso`` and ``GraphicalLassoCV``.

    Examples
    --------
    >>> import networkx as nx
    >>> from nashgraph import edge_auc
    >>> from nashgraph.datasets import smooth_signals
    >>> ring = nx.cycle_graph(12)
    >>> X = smooth_signals(ring, n_signals=400, filter="gmrf", noise=0.1, random_state=0)
    >>> model = GraphicalLassoGL(alpha=0.02).fit(X)
    >>> edge_auc(ring, model.adjacency_) > 0.99
    True
    """

    alpha: float | None = None
    cv: int = 5
    mode: str = "cd"
    tol: float = 1e-4
    max_iter: int = 100
    n_jobs: int | None = None

    precision_: Array = field(init=False)
    covariance_: Array = field(init=False)
    alpha_: float = field(init=False)
    quick_up_to = 80
    _min_signals = 2
    least_signals = 10  # two for each of the five folds that find alpha

    def _learn(self, X: Array) -> dict[str, Any]:
        options: dict[str, Any] = {
            "mode": check_choice("mode", self.mode, ("cd", "lars")),
            "tol": check_number("tol", self.tol, low=0, open_low=True, remedy="tol is a duality gap; try 1e-4"),
            "max_iter": check_integer("max_iter", self.max_iter, low=1, remedy="try 100"),
        }
        # The regressions inside: at scikit-learn's default, tol itself, the gap stays above it. On tables of two
        # opposite columns 1e-2 tol took 99 iterations, 1e-4 tol took 4; ordinary tables take the same time.
        options["enet_tol"] = 1e-4 * options["tol"]
        model = self._model(len(X), options)
        flat = np.flatnonzero(np.ptp(X, axis=0) == 0.0)
        if flat.size:
            raise InputError(
                f"X has {flat.size} node(s) whose signal never varies (columns {listing(flat)}), so they have no "
                "variance and no partial associations: drop these nodes"
            )
        _fit_quietly(model, X)
        weights = np.maximum(0.0, -0.5 * (model.precision_ + model.precision_.T))
        np.fill_diagonal(weights, 0.0)
        return {
            "adjacency_": weights,
            "certificate_": _certificate(model.costs_, options["tol"], options["max_iter"]),
            "precision_": model.precision_,
            "covariance_": model.covariance_,
            "alpha_": float(model.alpha_ if self.alpha is None else model.alpha),
            "objective_": float(model.costs_[-1][0]),
        }

    def _model(self, n_signals: int, options: dict[str, Any]) -> Any:
        if self.alpha is not None:
            remedy = "alpha weighs the penalty, and at 0 the graph is complete; alpha=None finds it"
            return GraphicalLasso(check_number("alpha", self.alpha, low=0, open_low=True, remedy=remedy), **options)
        cv = check_integer("cv", self.cv, low=2, remedy="cv is a number of folds; try 5")
        if n_signals < 2 * cv:
            raise InputError(
                f"alpha=None finds alpha by cross-validation with cv={cv} folds, which needs at least "
                f"{2 * cv} signals, and X has {n_signals}: pass alpha, lower cv, or add signals"
            )
        return GraphicalLassoCV(cv=cv, n_jobs=self.n_jobs, **options)


def _certificate(costs: list[tuple[float, float]], tol: float, max_iter: int) -> Certificate:
    """Return the certificate of scikit-learn's objectives and duality gaps, one pair an iteration."""
    monitor = Monitor(Measure.GAP, tol, max_iter)
    for iteration, (objective, gap) in enumerate(costs, start=1):
        monitor.check(iteration, objective, abs(gap))
    return monitor.certificate(remedy="raise max_iter or alpha, or standardise the signals")


def _fit_quietly(model: Any, X: Array) -> None:
    """Fit, leaving convergence to be judged from the final gap, and say what to do when the arithmetic fails."""
    # Folds on which an alpha fails score minus infinity, and scikit-learn takes the spread of these scores.
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(X)
            if not np.isfinite(model.costs_[-1][0]):  # scikit-learn looks at this from the second iteration on
                raise FloatingPointError("its precision matrix is not positive definite")
        except FloatingPointError as error:
            raise InputError(
                f"the graphical lasso failed on this covariance ({error}): raise alpha, standardise the "
                f"signals, or add signals (X has {len(X)} for {X.shape[1]} nodes)"
            ) from error
