"""What every graph estimator shares: checking the signals, naming the nodes, handing out the graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ..certificate import Certificate
from ..couplings import Points, beta_for_degree
from ..graph import LearnedGraph
from ..validation import (
    Array,
    InputError,
    InputTypeError,
    check_beta,
    check_c,
    check_degree,
    check_node_names,
    check_signals,
)


class Prior(NamedTuple):
    """What a network-game prior was, and what it did.

    Attributes
    ----------
    lam : float, its strength
    benefit : "spectral", "uniform" or "given", where the benefits came from
    fidelity : float, J(W): what the signals pay for it
    welfare : float, g(y) at equilibrium; NaN where no game is played
    """

    lam: float
    benefit: str
    fidelity: float
    welfare: float = np.nan


class GraphEstimator(BaseEstimator):
    """Base of all estimators: ``fit(X)`` learns ``adjacency_`` from signals X of shape (n_signals, n_nodes).

    A subclass writes ``_learn``, which returns everything learned; nothing is stored unless all of it was. Every model
    has ``adjacency_``, ``node_names_``, ``certificate_`` (with the shortcuts ``converged_`` and ``n_iter_``) and
    ``graph_``, the :class:`~nashgraph.graph.LearnedGraph`.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph import SmoothGL
    >>> isinstance(SmoothGL(), GraphEstimator)
    True
    """

    adjacency_: Any
    certificate_: Certificate
    node_names_: Array
    # What the game prior did, where there is one; see Prior.
    prior_: Prior | None = None
    # Of a consensus: how alike two resamples are, and how much the members with a prior count.
    agreement_: float = np.nan
    prior_share_: float = 0.0
    # A parameter of the methods that can do without some entries of X; the others have no choice to offer.
    missing: str | None = None
    # Nodes up to which a fit takes seconds; beyond, the command line compares the method only where it is named.
    quick_up_to: float = np.inf
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
        learned["certificate_"].warn(type(self).__name__)
        return self._store(learned, X, names)

    @abstractmethod
    def _learn(self, X: Array) -> dict[str, Any]:
        """Check the parameters, learn, and return the attributes to store, ``adjacency_`` and ``certificate_`` too."""

    def _store(self, learned: dict[str, Any], X: Any, names: Array) -> Self:
        """Become the fitted model, with nothing left of an earlier fit."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        with sklearn_refusals():
            validate_data(self, X, skip_check_array=True)
        self.node_names_ = names
        for name, value in learned.items():
            setattr(self, name, value)
        self._graph: LearnedGraph | None = None
        return self

    def __sklearn_tags__(self) -> Any:
        """Say whether NaN is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "pairwise"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted means that a whole fit has ended."""
        return hasattr(self, "adjacency_")

    @property
    def converged_(self) -> bool:
        """Whether the accuracy asked for was reached; ``certificate_`` says which."""
        return self.certificate_.converged

    @property
    def n_iter_(self) -> int:
        """How many iterations there were."""
        return self.certificate_.iterations

    @property
    def graph_(self) -> LearnedGraph:
        """The learned graph: names, weights, edges, influence, and the columns that go with them."""
        check_is_fitted(self)
        if self._graph is None:
            self._graph = LearnedGraph.of(
                self.adjacency_, self.node_names_, node_columns=self._node_columns(), edge_columns=self._edge_columns()
            )
        return self._graph

    @property
    def without_prior_(self) -> LearnedGraph | None:
        """What the graph would be without its prior, where that was learned on the way."""
        return None

    def _node_columns(self) -> dict[str, Array]:
        """Return what the method knows of each node, by the names under which it is shown."""
        return {}

    def _edge_columns(self) -> dict[str, Array]:
        """Return what the method knows of each edge, in the order of ``adjacency_`` as sorted CSR."""
        return {}

    def found_params(self) -> dict[str, Any]:
        """Return the parameters that were left to be found, as they were found: beta from the degree, for example."""
        left = [
            name
            for name, value in self.get_params(deep=False).items()
            if value is None or (isinstance(value, str) and value == "auto")
        ]
        return {name: getattr(self, f"{name}_") for name in left if hasattr(self, f"{name}_")}

    def edges(self) -> pd.DataFrame:
        """Return the edges as a table (source, target, weight), heaviest first.

        An edge from j to i has the weight ``adjacency_[i, j]`` with which j influences i.
        """
        return self.graph_.edges()

    def to_networkx(self, directed: bool = True, threshold: float = 0.0) -> nx.Graph[Any]:
        """Return the graph for networkx, with all nodes and the edges heavier than ``threshold``.

        Undirected, an edge weighs the mean of its two directions.
        """
        return self.graph_.to_networkx(directed, threshold)


def checked_signals(
    X: Any, estimator: GraphEstimator | None = None, min_signals: int = 1, missing: str | None = None
) -> tuple[Array, Array]:
    """Return the signals as a float array and the nodes' names, or say what is wrong with them."""
    names = np.asarray(X.columns) if isinstance(X, pd.DataFrame) else None
    if names is not None:
        check_node_names(names)
    with sklearn_refusals():
        signals = check_array(
            X, dtype=np.float64, ensure_all_finite=False, ensure_min_features=2, estimator=estimator, input_name="X"
        )
    names = np.arange(signals.shape[1]) if names is None else names
    check_signals(signals, names, min_signals=min_signals, missing=missing)
    return signals, names


@contextmanager
def sklearn_refusals() -> Iterator[None]:
    """Take what scikit-learn's own checks say for the user's to read."""
    try:
        yield
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error


def drawn_seed(random_state: Any) -> int:
    """Return a seed for all that a fit draws."""
    with sklearn_refusals():
        return int(check_random_state(random_state).randint(2**31))


def admissible_set(points: Points, beta: object, degree: object, c: object) -> tuple[float, float]:
    """Return (beta, c), with beta found from the degree where it is not given."""
    row_sum = check_c(c)
    if beta is not None:
        return check_beta(beta, points.dtype.name), row_sum
    return beta_for_degree(points, check_degree(degree, len(points)), row_sum), row_sum
