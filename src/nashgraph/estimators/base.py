"""Base class of graph estimators: checks the signals, names the nodes, returns the graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from ..certificate import Certificate
from ..decisions import Decision
from ..graph import LearnedGraph
from ..matching import fields_in_order, in_order
from ..pairs import PairSearch
from ..priors import GamePrior, PriorTest
from ..smoothness import Smoothness, beta_for_degree, make_smoothness, smoothness_of_degree
from ..study import Study
from ..validation import (
    ABSURD,
    Array,
    InputError,
    InputTypeError,
    check_beta,
    check_c,
    check_degree,
    check_node_names,
    check_random_state,
    check_signals,
    far_out,
    listing,
    silent_nodes,
    warn,
)

if TYPE_CHECKING:
    import networkx as nx


class PriorEffect(NamedTuple):
    """Strength and effects of a prior."""

    lam: float
    benefit: str  # where the benefits came from: "spectral", "uniform" or "given"
    smoothness_cost: float  # J(W) of the graph
    welfare: float = np.nan  # g(y) at equilibrium; NaN without a game
    test: PriorTest | None = None  # if the default strength depended on it


class GraphEstimator(BaseEstimator):
    """Base of all estimators: ``fit(X)`` learns ``adjacency_`` from signals X of shape (n_signals, n_nodes).

    A subclass writes ``_learn``, which returns everything learned; nothing is stored unless all of it was. Every model
    has ``adjacency_`` (always a ``scipy.sparse.csr_array``), ``node_names_``, ``certificate_`` (with the shortcuts
    ``converged_`` and ``n_iter_``) and ``graph_``, the :class:`~nashgraph.graph.LearnedGraph`.

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
    prior_: PriorEffect | None
    game_: Any  # the functional prior that was used, with its benefits; None without one
    # Learned by some of the methods.
    beta_: float
    lam_: float
    benefit_: Any
    objective_: float
    influence_supported_: bool | None  # whether the signals support who is influential; None if that is not tested
    missing_share_: Array  # of the signals, at each node
    silent_: Array  # which nodes have no signal at all
    decisions_: tuple[Decision, ...]  # what was chosen by the signals, and the parameter that chooses otherwise
    _graph: LearnedGraph | None
    missing: str | None = None  # a parameter of the methods that can do without some entries of X
    # The command line compares a method with more nodes, or fewer signals, only if it is named.
    quick_up_to: float = np.inf
    least_signals = 1
    _min_signals = 1
    # Parameters that are a dataclass or the name of one, and what makes the one of the other.
    parts: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a graph from signals X, an array or DataFrame of shape (n_signals, n_nodes), or a Study; y is ignored.

        Rows are signals, columns are nodes. A DataFrame's columns name the nodes.
        """
        return self._fit(X)

    def _fit(self, X: Any, sample_weight: Any = None, **how: Any) -> Self:
        """Check the signals, learn from them, and store what was learned: every fit is these steps.

        ``how`` goes to ``_learn``: what does not change the result, such as the number of jobs.
        """
        table, missing = self._table_of(X)
        signals, names = checked_signals(table, self, self._min_signals, missing)
        learned = self._in_order(names)._learn(weighted(signals, table, sample_weight), **how)
        learned["certificate_"].warn(type(self).__name__)
        return self._store(learned, table, signals, names)

    def _table_of(self, X: Any) -> tuple[Any, str | None]:
        """Return the signals of a study, or X as it is, and what to do about gaps.

        A study says who did not answer what, so its gaps are compared pairwise by every method that can.
        """
        if not isinstance(X, Study):
            return X, self.missing
        gaps = bool(X.signals.isna().to_numpy().any())
        pairwise = gaps and "missing" in self.get_params(deep=False)
        return X.signals, "pairwise" if pairwise else self.missing

    def score(self, X: Any, y: Any = None) -> float:
        r"""Return how smooth other signals are on the graph: minus the mean cost of its ties, so that higher is better.

        .. math:: -\sum_{ij} W_{ij} \frac{\|x_i - x_j\|^2}{2M} \Big/ \sum_{ij} W_{ij}

        Examples
        --------
        >>> import numpy as np
        >>> from nashgraph import SmoothGL
        >>> X = np.random.default_rng(0).normal(size=(40, 30))
        >>> model = SmoothGL(degree=4).fit(X[:20])
        >>> model.score(X[:20]) > model.score(X[20:])
        True
        """
        check_is_fitted(self)
        X, missing = self._table_of(X)
        gaps = "allow-nan" if missing == "pairwise" else True
        with sklearn_refusals():
            signals = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=gaps)
        weights = self.graph_.weights.tocoo()
        if not weights.nnz:
            return -np.inf  # a graph without ties explains nothing
        targets, sources = weights.coords
        costs = np.zeros(weights.nnz)
        counts = np.zeros(weights.nnz)
        for signal in signals:  # one by one, because edges may be many
            difference = signal[targets] - signal[sources]
            costs += np.nan_to_num(difference) ** 2
            counts += np.isfinite(difference)
        return -float(np.average(0.5 * costs / np.maximum(counts, 1.0), weights=weights.data))

    def _in_order(self, names: Array) -> Self:
        """Return the estimator with what it was given by the nodes' names (a benefit, a start) in their order."""
        ordered = copy(self)
        for name, value in self.get_params(deep=False).items():
            within = isinstance(value, GraphEstimator)
            setattr(ordered, name, value._in_order(names) if within else fields_in_order(name, value, names))
        return ordered

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; ``deep`` adds the fields of a prior or solver, as ``solver__tol``."""
        found: dict[str, Any] = super().get_params(deep)
        if deep:
            for name in self.parts:
                part = found[name]
                if is_dataclass(part):
                    found |= {f"{name}__{each.name}": getattr(part, each.name) for each in fields(part) if each.init}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, or fields of a prior or solver: ``solver__tol=1e-8`` sets its ``tol``."""
        within: dict[str, dict[str, Any]] = {}
        for key in list(params):
            name, _, field = key.partition("__")
            if field and name in self.parts:
                within.setdefault(name, {})[field] = params.pop(key)
        super().set_params(**params)
        for name, changes in within.items():
            with sklearn_refusals():
                setattr(self, name, replace(self.parts[name](getattr(self, name)), **changes))
        return self

    @abstractmethod
    def _learn(self, X: Array) -> dict[str, Any]:
        """Check the parameters, learn, and return the attributes to store, ``adjacency_`` and ``certificate_`` too."""

    def _become(self, names: Array) -> None:
        """Become a fitted model of these nodes, with nothing left of an earlier fit, and nothing learned yet."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self.node_names_ = names
        self.prior_ = None
        self.game_ = None
        self.influence_supported_ = None
        self.decisions_ = ()
        self.missing_share_ = np.zeros(len(names))
        self.silent_ = np.zeros(len(names), dtype=bool)
        self._graph = None

    def _store(self, learned: dict[str, Any], table: Any, signals: Array, names: Array) -> Self:
        """Store what was learned from signals: checked and as an array, and the table that they came in."""
        self._become(names)
        with sklearn_refusals():
            validate_data(self, table, skip_check_array=True)
        self.missing_share_ = np.isnan(signals).mean(axis=0)
        self.silent_ = silent_nodes(signals)
        for name, value in learned.items():
            setattr(self, name, as_csr(value) if name in ("adjacency_", "evidence_") else value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether NaN is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "pairwise"
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters and, after a fit, what was learned, in one line."""
        text = " ".join(super().__repr__(N_CHAR_MAX).split())
        if not self.__sklearn_is_fitted__():
            return text
        return f"<{text}: {len(self.node_names_)} nodes, {self._in_short()}>"

    def _in_short(self) -> str:
        """Return what was learned in a few words."""
        return f"{self.graph_.n_edges:,} edges, {'' if self.converged_ else 'not '}converged"

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted means that a whole fit has ended."""
        return hasattr(self, "adjacency_")

    @property
    def converged_(self) -> bool:
        """Whether the required accuracy was reached; ``certificate_`` has the details."""
        return self.certificate_.converged

    @property
    def n_iter_(self) -> int:
        """The number of iterations."""
        return self.certificate_.iterations

    @property
    def graph_(self) -> LearnedGraph:
        """The learned graph: names, weights, edges, influence, and the columns that go with them."""
        check_is_fitted(self)
        if self._graph is None:
            gaps = {"missing": self.missing_share_} if self.missing_share_.any() else {}
            gaps |= {"silent": self.silent_.astype(int)} if self.silent_.any() else {}
            self._graph = LearnedGraph.of(
                self.adjacency_,
                self.node_names_,
                node_columns=self._node_columns() | gaps,
                edge_columns=self._edge_columns(),
                degree=self._suggested_degree(),
                influence_supported=self.influence_supported_,
                prior=self.game_,
            )
        return self._graph

    def game_with(self, benefit: Array) -> Any:
        """Return the functional prior that the method uses with some benefits; None if it has none.

        Interventions play it: it is the game on the learned network.
        """
        return None

    @property
    def without_prior_(self) -> LearnedGraph | None:
        """The graph without its prior, if it was learned on the way."""
        check_is_fitted(self)
        return None

    def _suggested_degree(self) -> float | None:
        """Return how many ties per node the suggested graph has, if the method ranks ties by evidence."""
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

        Without directions, an edge has the mean weight of both.
        """
        return self.graph_.to_networkx(directed, threshold)

    def report(self, file: str | Path | None = None, *, show: bool = True, **about: Any) -> Path:
        """Write the report of this model, one HTML page that works offline, open it, and return its path.

        ``file`` is where to write it (default: a new temporary folder). ``about`` are further arguments of
        :func:`~nashgraph.summarize`: ``title``, ``truth``, and ``columns``, the table that the signals came from (or
        ``X.T``), which explains each tie.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from nashgraph import SmoothGL
        >>> X = np.random.default_rng(0).normal(size=(20, 30))
        >>> page = Path(tempfile.mkdtemp()) / "network.html"
        >>> SmoothGL().fit(X).report(page, show=False, title="Thirty nodes").name
        'network.html'
        """
        check_is_fitted(self)
        # The report stands above the estimators; it is imported when somebody asks for it (pyproject.toml allows this).
        from ..report.html import open_report  # noqa: PLC0415

        return open_report(self, file, show=show, **about)

    def _repr_html_inner(self) -> str:
        """Return what a notebook shows: the network of a fitted model, the parameters of another."""
        if not self.__sklearn_is_fitted__():
            return super()._repr_html_inner()
        from ..report.html import notebook_view  # noqa: PLC0415 (as in report)

        return notebook_view(self) or super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return bundle | ({"text/html": self._repr_html_inner()} if "text/html" in bundle else {})


class WeightedSignals(GraphEstimator):
    """Base of methods that know signals through sums over them, so that each can have a weight."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn a graph from signals X, an array or DataFrame of shape (n_signals, n_nodes); y is ignored.

        Rows are signals, columns are nodes. A DataFrame's columns name the nodes. ``sample_weight`` has a number for
        each signal: the weight 2 is that of a signal given twice.
        """
        return self._fit(X, sample_weight)


def weighted(signals: Array, table: Any, sample_weight: Any) -> Array:
    """Return the signals, each times the root of its weight, so that sums over them are weighted.

    A Series of weights is matched to the rows of a table by their labels.
    """
    if sample_weight is None:
        return signals
    if isinstance(table, pd.DataFrame) and getattr(sample_weight, "index", table.index) is not table.index:
        sample_weight = in_order("sample_weight", sample_weight, table.index, "X's rows")
    with sklearn_refusals():
        counts = _check_sample_weight(sample_weight, signals, dtype=float, ensure_non_negative=True)
    if not counts.any():
        raise InputError("sample_weight is zero for every signal: give some a positive weight")
    return np.asarray(signals * np.sqrt(counts / counts.mean())[:, None])


def checked_signals(
    X: Any, estimator: GraphEstimator | None = None, min_signals: int = 1, missing: str | None = None
) -> tuple[Array, Array]:
    """Return the signals as a float array and the nodes' names, or say what is wrong with them."""
    names = np.asarray(X.columns) if isinstance(X, pd.DataFrame) else None
    if names is not None:
        check_node_names(names)
        hint_if_turned_over(X)
    with sklearn_refusals():
        signals = check_array(
            X, dtype=np.float64, ensure_all_finite=False, ensure_min_features=2, estimator=estimator, input_name="X"
        )
    names = np.arange(signals.shape[1]) if names is None else names
    check_signals(signals, names, min_signals=min_signals, missing=missing)
    # Values so extreme that, squared, one cell outweighs everything else.
    labels = list(X.index) if isinstance(X, pd.DataFrame) else range(len(signals))
    found = [
        f"{signals[row, node]:.6g} in row {labels[row]} at node {names[node]}"
        for node, row, _ in far_out(signals.T, ABSURD)
    ]
    if found:
        warn(
            f"X has {len(found)} signal(s) with a value so absurd that it decides the result: {listing(found, 3)}; "
            "correct it, or leave the signal out"
        )
    return signals, names


def hint_if_turned_over(X: pd.DataFrame) -> None:
    """Warn of a table that looks like a survey, people in rows: it would give a network of its questions."""
    words = [name for name in X.columns if X[name].dtype == object or pd.api.types.is_string_dtype(X[name].dtype)]
    words = [name for name in words if X[name].map(lambda value: isinstance(value, str)).any()]
    turn = "columns are the nodes here: if rows are, pass nashgraph.read_study(table).signals"
    if words and not pd.to_numeric(X[words[0]], errors="coerce").notna().any():
        raise InputError(
            f"X has text in the column(s) {listing(words)}: {turn}(X).table, which turns the table and codes text as "
            "numbers; else drop these columns"
        )
    if X.index.inferred_type == "string" and (len({dtype.kind for dtype in X.dtypes}) > 1 or has_uneven_columns(X)):
        warn(
            f"X has names in its rows ({listing(X.index, 2)}) and columns of several kinds ({listing(X.columns, 2)}), "
            f"as a survey has with people in rows; {turn}(X.reset_index(names='name')).table, or X.T"
        )


def has_uneven_columns(X: pd.DataFrame) -> bool:
    """Tell whether whole numbers have columns of different units and more rows: people, with age and income."""
    if len(X) <= X.shape[1] or {dtype.kind for dtype in X.dtypes} - {*"iu"}:
        return False
    sizes = X.abs().median()
    return bool(sizes.max() > 10.0 * sizes[sizes > 0].min())


def as_game(prior: Any) -> Any:
    """Return a prior whose fields can be set: an object, or the game by its name."""
    if isinstance(prior, str) and prior != "game":
        raise InputError(f"interaction and welfare are those of prior='game', not of prior={prior!r}: leave them out")
    return GamePrior() if isinstance(prior, str) else prior


@contextmanager
def sklearn_refusals() -> Iterator[None]:
    """Turn errors of scikit-learn's own checks into InputError."""
    try:
        yield
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error


def drawn_seed(random_state: Any) -> int:
    """Return one seed for all random numbers of a fit."""
    with sklearn_refusals():
        return int(check_random_state(random_state).randint(2**31))


def as_csr(matrix: Any) -> Any:
    """Return a matrix, dense or sparse, as a CSR array with sorted indices and without stored zeros."""
    result = sparse.csr_array(matrix)
    result.sum_duplicates()
    result.eliminate_zeros()
    return result


def learned_from(found: Any, **more: Any) -> dict[str, Any]:
    """Return the fields of a baseline's result as attributes to store, and more of them."""
    return {"adjacency_" if name == "weights" else f"{name}_": value for name, value in found._asdict().items()} | more


def admissible_set(points: PairSearch, beta: object, degree: object, c: object) -> tuple[float, float]:
    """Return (beta, c), with beta found from the degree if it is not given."""
    row_sum = check_c(c)
    if beta is not None:
        return check_beta(beta), row_sum
    return beta_for_degree(points, check_degree(degree, len(points)), row_sum), row_sum


def admissible_smoothness(
    points: PairSearch, beta: object, degree: object, c: object, storage: str = "auto"
) -> Smoothness:
    """Return the smoothness term at beta or, if that is not given, at the beta of a degree."""
    row_sum = check_c(c)
    if beta is not None:
        return make_smoothness(points, check_beta(beta), row_sum, storage)
    return smoothness_of_degree(points, check_degree(degree, len(points)), row_sum, storage)
