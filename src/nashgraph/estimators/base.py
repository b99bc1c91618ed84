"""What every graph estimator shares: checking the signals, naming the nodes, handing out the graph."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ..couplings import beta_for_degree
from ..validation import (
    Array,
    check_beta,
    check_c,
    check_degree,
    check_node_names,
    check_number,
    check_signals,
)


class GraphEstimator(BaseEstimator):
    """Base of all estimators: ``fit(X)`` learns ``adjacency_`` from signals X of shape (n_signals, n_nodes).

    A subclass writes ``_learn``, which returns everything learned; nothing is stored unless all of it was.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph import SmoothGL
    >>> isinstance(SmoothGL(), GraphEstimator)
    True
    """

    adjacency_: Any
    node_names_: Array
    # A parameter of the methods that can do without some entries of X; the others have no choice to offer.
    missing: str | None = None
    _min_signals = 1

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a graph from signals.

        Parameters
        ----------
        X : array or DataFrame of shape (n_signals, n_nodes)
            Rows are signals, columns are nodes. A DataFrame's columns name the nodes.
        y : ignored

        Returns
        -------
        self
        """
        signals, names = checked_signals(X, self, self._min_signals, self.missing)
        learned = self._learn(signals)
        validate_data(self, X, skip_check_array=True)
        self.node_names_ = names
        for name, value in learned.items():
            setattr(self, name, value)
        return self

    @abstractmethod
    def _learn(self, X: Array) -> dict[str, Any]:
        """Check the parameters, learn, and return the attributes to store."""

    def __sklearn_tags__(self) -> Any:
        """Say whether NaN is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "pairwise"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted means that a whole fit has ended."""
        return hasattr(self, "adjacency_")

    def edges(self) -> pd.DataFrame:
        """Return the edges as a table (source, target, weight), strongest first.

        An edge from j to i has the weight ``adjacency_[i, j]`` with which j influences i.
        """
        check_is_fitted(self)
        weights = sparse.coo_array(self.adjacency_)
        target, source = weights.coords
        order = np.lexsort((target, source, -weights.data))
        order = order[weights.data[order] > 0]
        return pd.DataFrame(
            {
                "source": self.node_names_[source[order]],
                "target": self.node_names_[target[order]],
                "weight": weights.data[order],
            }
        )

    def to_networkx(self, directed: bool = True, threshold: float = 0.0) -> nx.Graph[Any]:
        """Return the graph for networkx, with all nodes and the edges heavier than ``threshold``.

        Undirected, an edge weighs the mean of its two directions.
        """
        check_is_fitted(self)
        threshold = check_number("threshold", threshold, low=0, remedy="0 keeps every edge")
        weights = sparse.coo_array(self.adjacency_.T)  # networkx's [i, j] is the edge i -> j
        if not directed:
            weights = sparse.coo_array(sparse.triu(0.5 * (weights + weights.T)))
        graph: nx.Graph[Any] = nx.DiGraph() if directed else nx.Graph()
        names = self.node_names_.tolist()
        graph.add_nodes_from(names)
        heavy = weights.data > threshold
        rows, columns = weights.coords
        graph.add_weighted_edges_from(
            zip(
                [names[i] for i in rows[heavy]],
                [names[j] for j in columns[heavy]],
                weights.data[heavy].tolist(),
                strict=True,
            )
        )
        return graph


def checked_signals(
    X: Any, estimator: GraphEstimator | None = None, min_signals: int = 1, missing: str | None = None
) -> tuple[Array, Array]:
    """Return the signals as a float array and the nodes' names, or say what is wrong with them."""
    names = np.asarray(X.columns) if isinstance(X, pd.DataFrame) else None
    if names is not None:
        check_node_names(names)
    signals = check_array(
        X,
        dtype=np.float64,
        ensure_all_finite=False,
        ensure_min_features=2,
        estimator=estimator,
        input_name="X",
    )
    names = np.arange(signals.shape[1]) if names is None else names
    check_signals(signals, names, min_signals=min_signals, missing=missing)
    return signals, names


def admissible_set(X: Array, beta: object, degree: object, c: object) -> tuple[float, float]:
    """Return (beta, c), with beta found from the degree where it is not given."""
    row_sum = check_c(c)
    if beta is not None:
        return check_beta(beta), row_sum
    return beta_for_degree(X, check_degree(degree, X.shape[1]), row_sum), row_sum
