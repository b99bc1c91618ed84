"""ConsensusGL: the mean over what the data cannot decide, with how stable each tie is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit
from sklearn.preprocessing import scale
from sklearn.utils.validation import check_is_fitted

from ..certificate import exact, summed_up
from ..consensus.aggregate import (
    GIVEN_COSTS,
    OWN_COSTS,
    PRIOR_SHARE,
    Mean,
    PriorPlan,
    add_prior_members,
    mean_of_ladders,
    own_prior,
)
from ..consensus.checkpoint import Checkpoint, CheckpointedSteps
from ..consensus.known_ties import NO_TIE, TIE, KnownTies, known_ties, numbered_pairs
from ..consensus.members import (
    Ladders,
    draw_replicates,
    geometry_weights,
    influence_of,
    ladder_degrees,
)
from ..consensus.parallel import parallel_map
from ..consensus.stability import Selection, pairs_of_half, plan, selected, shares_of
from ..consensus.stacking import stack
from ..games import Interaction, Welfare, as_interaction, as_welfare, equilibrium
from ..graph import LearnedGraph
from ..pairs import GEOMETRIES, make_search
from ..validation import (
    Array,
    DataWarning,
    InputError,
    InputTypeError,
    check_c,
    check_choice,
    check_integer,
    check_observed,
    silent_nodes,
    warn,
)
from ._benefit import marginal_benefit
from .base import GraphEstimator, Prior, checked_signals, drawn_seed

DENSE_NODES = 3000  # up to which the adjacency is an array: 72 MB

Progress = Callable[[int, int], object]


class ConsensusGL(GraphEstimator):
    r"""The mean of many graphs that differ in what the data cannot decide, with a frequency for every tie.

    .. math:: \bar W = \sum_m \omega_m W^{(m)}, \qquad \omega \ge 0, \; \sum_m \omega_m = 1

    The members :math:`W^{(m)}` differ in their degree (log-spaced, from 2 to all nodes), in what makes two nodes alike
    (cosine, distance, inner product), in the weights of the signals (replicates) and in the strength :math:`\lambda` of
    the game prior, 0 among them. Each lies in :math:`S = \{W \ge 0,\; \mathrm{diag}\,W = 0,\; W 1 = c 1\}`, so that
    their mean does too: it is an admissible graph with an equilibrium and a welfare of its own. There is nothing
    to choose.

    Parameters
    ----------
    estimator : GraphEstimator, optional
        What makes the members: None takes GLGP, with ladders of degrees in closed form. Any other estimator is cloned
        and fitted for each member, with those of ``degree`` and ``geometry`` set that it has.
    n_degrees : int
        How many degrees.
    geometries : "auto" or list of "cosine", "distance", "inner"
        "auto" weighs them by the signals: mostly the distance, or, where a node's energy goes with its influence, the
        cosine, with the inner product beside it if signals are few. A list counts alike.
    n_replicates : int
        Number of replicates of the signals. The signals as they are have half of the weight. 0: no intervals.
    resampling : "bayes" or "half"
        How replicates are drawn: Dirichlet weights (the Bayesian bootstrap), or random halves and their complements.
    benefit : "own", "spectral", array of shape (n_nodes,), Series by the nodes' names, or None
        Benefits of the game prior: its members are the best responses to the game played on the mean of the others.
        "own" takes the influence in that mean, where it is skewed as hubs make it; an array is your own knowledge and
        counts in half of the members; None leaves the prior out.
    interaction, welfare
        As in :class:`GLGP`.
    c : float in (0, 1)
        Row sum: the total influence of others on a node.
    scale : "none" or "standard"
        "standard" brings every signal to mean 0 and spread 1 over the nodes first, which signals of different units
        need; "none" takes X as given.
    engine, missing
        As in :class:`GLGP`.
    random_state : int, RandomState or None
        Draws the replicates, each from a seed of its own: the first are the same if you ask for more.
    known_weights : dict, optional
        What known ties taught elsewhere: the ``known_weights_`` of another model, or
        :func:`~nashgraph.fit_known_weights` of several. Ties known here are then marked, and change no weights.

    Attributes
    ----------
    adjacency_ : array or CSR array of shape (n_nodes, n_nodes)
    graph_ : LearnedGraph
        Its edges have ``frequency`` (the inclusion frequency: the share of member networks with the edge), ``low`` and
        ``high`` (the 90% interval of the weight over replicates); its nodes ``influence_low``, ``influence_high``,
        ``rank_low``, ``rank_high``.
        With known ties, its edges also have ``probability`` and ``known`` ("tie", "no tie" or "").
    agreement_ : float
        Stability: the share of their weight that two random replicates have in common.
    replicate_graphs_ : list of CSR arrays, the graph of each replicate, for advice with intervals (:func:`key_players`)
        In large networks a draw of a node's ties stands for all, so that all graphs together have a million, or 16 per
        node and graph.
    degrees_, geometries_ : the degrees, and the weight of each geometry
    prior_share_ : float, the weight of the members with a prior
    without_prior_ : LearnedGraph, the mean without them
    benefit_, equilibrium_, welfare_ : of the game on the consensus, where there is a benefit
    certificate_ : Certificate, that of the worst member; by default all are exact, in closed form
    known_ : LearnedFromTies, what the known ties taught, on pairs held out and beside the controls; None without
    known_weights_ : dict, how much the plain consensus and each group of members count by them; JSON can hold it

    Notes
    -----
    Frequency is not probability: it says how much a tie depends on settings and signals, not whether it is true.

    With known ties (``fit(X, known=...)``) there are probabilities: the log-odds of a tie are those of a logistic
    regression, with weights :math:`b, \theta \ge 0`, on the log of a pair's weight in the plain consensus and in each
    group of members (one geometry and degree; one signal alone; the benefit alone), shrunk to the plain consensus: the
    module ``consensus.stacking`` has the problem and its optimality condition. The same weights make the graph,
    :math:`(b \bar W + \sum_g \theta_g W^{(g)}) / (b + \sum_g \theta_g)`, which lies in S as a mean of members; to first
    order it ranks pairs as the probabilities do. A known non-tie keeps the weight that the members give it, and is
    marked. Probabilities hold for pairs like the known ones: known nodes should be drawn at random, and listed non-ties
    should be as common among the known pairs as among all. Intervals are as wide as those of the plain members.

    Examples
    --------
    >>> import networkx as nx
    >>> from nashgraph import edge_auc
    >>> from nashgraph.datasets import smooth_signals
    >>> club = nx.karate_club_graph()
    >>> X = smooth_signals(club, n_signals=50, filter="gmrf", random_state=0)
    >>> model = ConsensusGL(random_state=0).fit(X)
    >>> list(model.edges().columns)
    ['source', 'target', 'weight', 'frequency', 'low', 'high']
    >>> edge_auc(club, model, symmetrize="mean") > 0.8
    True
    """

    degrees_: Array
    geometries_: dict[str, float]

    def __init__(
        self,
        estimator: GraphEstimator | None = None,
        n_degrees: int = 8,
        geometries: str | Sequence[str] = "auto",
        n_replicates: int = 20,
        resampling: str = "bayes",
        benefit: str | Array | None = "own",
        interaction: str | Interaction = "log1p",
        welfare: str | Welfare = "total",
        c: float = 0.95,
        scale: str = "none",
        engine: str = "threads",
        missing: str = "error",
        random_state: Any = None,
        known_weights: dict[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_degrees = n_degrees
        self.geometries = geometries
        self.n_replicates = n_replicates
        self.resampling = resampling
        self.benefit = benefit
        self.interaction = interaction
        self.welfare = welfare
        self.c = c
        self.scale = scale
        self.engine = engine
        self.missing = missing
        self.random_state = random_state
        self.known_weights = known_weights

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        known: Any = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn a graph from signals and, where there are some, from known ties.

        Parameters
        ----------
        X : array or DataFrame of shape (n_signals, n_nodes)
            Rows are signals, columns are nodes. A DataFrame's columns name the nodes.
        y : ignored
        known : DataFrame, networkx graph, list of pairs or dict, optional
            Pairs of nodes of which it is known whether they are tied. A table, or list, has source, target and, if it
            likes, tie (1 or 0); the target "*" says that all ties of the source are known. Of a graph all edges are
            ties, and the nodes with a true attribute ``known`` are those whose ties are all known. A dict has the lists
            "ties", "non_ties" and "nodes" (those whose ties are all known).
        n_jobs : int, optional
            Replicates computed at the same time or, if there is an ``estimator``, degrees. None: one after the other,
            each with all cores, unless ``joblib.parallel_config`` says otherwise; ``backend="dask"`` uses the workers
            of a cluster. With ``engine="dask"`` replicates of up to 10,000 nodes are shared out whatever this says, and
            beyond that the scans over pairs are. The graph is the same, bit by bit.
        progress : callable, optional
            Called with the number of steps done and of all steps.
        checkpoint : path, optional
            A folder in which finished replicates are saved every 20 seconds, in a subfolder ``nashgraph-consensus``. A
            fit that was stopped and is run again on the same signals with the same parameters (an int as
            ``random_state``) goes on from there and gives the same bits; at the end the subfolder is removed. Not with
            an ``estimator``.

        Returns
        -------
        self
        """
        signals, names = checked_signals(X, self, self._min_signals, self.missing)
        if y is not None and not isinstance(y, np.ndarray | pd.Series):  # labels, as pipelines pass them, are ignored
            raise InputTypeError(f"y cannot be a {type(y).__name__}: known ties are given by name, fit(X, known=...)")
        ties = None if known is None else known_ties(known, names)
        labels = list(X.index) if isinstance(X, pd.DataFrame) else range(len(signals))
        ladders = self._ladders(len(names), n_jobs, progress)
        learned = self._in_order(names)._consensus(signals, ladders, checkpoint, ties, labels)
        learned["certificate_"].warn(type(self).__name__)
        return self._store(learned | {"silent_": silent_nodes(signals)}, X, names)

    def _learn(self, X: Array) -> dict[str, Any]:
        return self._consensus(X, self._ladders(X.shape[1]))

    def _consensus(
        self,
        X: Array,
        ladders: Ladders,
        checkpoint: str | Path | None = None,
        known: KnownTies | None = None,
        labels: Sequence[Any] = (),
    ) -> dict[str, Any]:
        """Check the parameters, learn, and return what is to be stored."""
        signals = self._scaled(X)
        scheme = check_choice("resampling", self.resampling, ("bayes", "half"))
        entropy = drawn_seed(self.random_state)
        replicates = list(draw_replicates(len(X), self._count_replicates(len(X)), scheme, entropy))
        interaction, welfare = as_interaction(self.interaction), as_welfare(self.welfare)
        geometries = self._geometries(signals, ladders)
        ladders.n_steps = (len(replicates) + len(self._prior_costs())) * len(geometries) + 1
        saved = None
        if checkpoint is not None and self.estimator is None:
            settings = [scheme, entropy, len(replicates), ladders.degrees.tolist(), ladders.n_nearest, ladders.c]
            saved = Checkpoint(checkpoint, "consensus", signals, [*settings, geometries])
        mean = mean_of_ladders(ladders.of, signals, replicates, geometries, ladders.step, saved, ladders.c)
        plain, smooth, lam = mean.total.sums[0].copy(), mean.weights, np.nan
        prior = self._prior(mean, signals, ladders)
        if prior is not None and prior.share > 0:
            lam = add_prior_members(prior, mean, smooth, signals, ladders, geometries, interaction, welfare)
        origin = self.benefit if isinstance(self.benefit, str) else "given"
        benefit = None if prior is None else (origin, prior.benefit)
        learned = stack(known, self.known_weights, self.n_degrees, mean, signals, labels, ladders, benefit)
        weights, frequency, moved, found = mean.finished(plain)
        if saved is not None:
            saved.clear()
        if prior is not None:
            actions = equilibrium(weights, prior.benefit, interaction)
            value = welfare.value(actions)
            learned |= {"benefit_": prior.benefit, "equilibrium_": actions, "welfare_": value}
            if prior.share > 0:
                learned |= {"prior_share_": prior.share, "prior_": Prior(lam, prior.origin, np.nan, value)}
        edges = {"frequency": frequency}
        if len(found):
            # Prior and known ties are not replicated: they move the intervals, and leave them as wide as they are.
            edges["low"], edges["high"] = (np.maximum(end + moved, 0.0) for end in found.intervals())
        added = np.bincount(weights.indices, weights=moved, minlength=X.shape[1])
        ladders.finish()
        return learned | {
            "adjacency_": weights if X.shape[1] > DENSE_NODES else weights.toarray(),
            "agreement_": found.agreement(),
            "certificate_": summed_up(ladders.certificates or [exact()]),
            "degrees_": ladders.degrees,
            "geometries_": geometries,
            "replicate_graphs_": found.thinned_graphs(moved, np.asarray(weights.sum(axis=1)).ravel()),
            "_smooth": smooth,
            "_columns": (edges, found.node_intervals(added)),
        }

    def _scaled(self, X: Array) -> Array:
        kind = check_choice("scale", self.scale, ("none", "standard"))
        return X if kind == "none" else np.asarray(scale(X, axis=1))

    def _ladders(self, n_nodes: int, n_jobs: int | None = 1, progress: Progress | None = None) -> Ladders:
        count = check_integer("n_degrees", self.n_degrees, low=1, remedy="it is how many degrees to average; try 8")
        if self.estimator is not None and not hasattr(self.estimator, "get_params"):
            raise InputTypeError(f"estimator must be a graph estimator with a degree or None, got {self.estimator!r}")
        degrees, n_nearest = ladder_degrees(n_nodes, count)
        return Ladders(degrees, n_nearest, check_c(self.c), self.engine, self.estimator, n_jobs, progress)

    def _count_replicates(self, n_signals: int) -> int:
        remedy = "it is how many replicates of the signals are drawn; try 20, or 0 for no intervals"
        count = check_integer("n_replicates", self.n_replicates, low=0, remedy=remedy)
        if count and n_signals == 1:
            warn("X has only one signal, so no replicates can be drawn and ties get no intervals: add signals")
            return 0
        return count

    def _geometries(self, signals: Array, ladders: Ladders) -> dict[str, float]:
        """Return the weight of each geometry, those of weight 0 left out."""
        if isinstance(self.geometries, str):
            check_choice("geometries", self.geometries, ("auto",), f", or a list of {', '.join(GEOMETRIES)}")
            found = geometry_weights(signals, ladders(signals, "cosine"))
            return {name: weight for name, weight in found.items() if weight > 0}
        if not isinstance(self.geometries, list | tuple):
            raise InputTypeError(
                f"geometries must be 'auto' or a list of {', '.join(GEOMETRIES)}, got {self.geometries!r}"
            )
        named = [check_choice("geometry", name, GEOMETRIES) for name in self.geometries]
        if not named:
            raise InputError(f"geometries is empty: name some of {', '.join(GEOMETRIES)}, or take 'auto'")
        return dict.fromkeys(named, 1.0 / len(set(named)))

    def _prior_costs(self) -> tuple[float, ...]:
        """Return what each member with a prior may add to J; without a benefit there are none."""
        if self.benefit is None or self.estimator is not None:
            return ()
        return OWN_COSTS if isinstance(self.benefit, str) and self.benefit == "own" else GIVEN_COSTS

    def _prior(self, mean: Mean, signals: Array, ladders: Ladders) -> PriorPlan | None:
        """Return the prior: with the user's benefit, or with the consensus's own influence if that is skewed."""
        costs = self._prior_costs()
        if not costs:
            return None
        if isinstance(self.benefit, str) and self.benefit == "own":
            return own_prior(mean.influence, influence_of(ladders(signals, "cosine")))
        benefit, origin = marginal_benefit(self.benefit, make_search(signals, self.engine), normalize=True)
        return PriorPlan(0.0 if origin == "uniform" else PRIOR_SHARE, benefit, origin, costs)

    def select(
        self,
        X: Any,
        false_edges: float = 5,
        *,
        tau: float = 0.9,
        n_splits: int = 50,
        bound: str = "unimodal",
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        checkpoint: str | Path | None = None,
    ) -> Selection:
        r"""Return the ties that random halves of the signals agree on, with a bound on how many are there by chance.

        Complementary-pairs stability selection (Shah and Samworth 2013, JRSS B 75): the signals are halved at random
        ``n_splits`` times; on each half the plain consensus is learned (no replicates, no prior), and its q heaviest
        of the p pairs are taken; ties that a share ``tau`` of the halves takes are selected. q follows from the bound.
        It costs as much as ``2 * n_splits`` replicates in a fit.

        Parameters
        ----------
        X : array or DataFrame, the signals that the model was fitted to, which it does not keep
        false_edges : float
            The bound. *Promised*: the expected number of selected pairs that a half takes with probability q/p at the
            most, no better than taking q pairs blindly, is at most this. *Assumed*: the signals are independent draws
            of one source; answers to one question coded as several signals, or a time series, are not. *Not promised*:
            how many selected pairs are no ties. Friends of friends who are alike are alike in every half.
        tau : float in (1/2, 1]
        n_splits : int
        bound : "unimodal" or "worst-case"
            The sharper one assumes that in how many splits both halves take a pair is unimodal; the other nothing.
        random_state : int, RandomState or None
            Draws the halves; None uses that of the estimator.
        n_jobs, progress, checkpoint
            As for :meth:`fit`; halves are computed in parallel and saved.

        Examples
        --------
        >>> import networkx as nx
        >>> from nashgraph.datasets import smooth_signals
        >>> X = smooth_signals(nx.karate_club_graph(), n_signals=50, filter="heat", random_state=0)
        >>> selection = ConsensusGL(random_state=0).fit(X).select(X, false_edges=2, n_splits=10)
        >>> selection.plan.taken, selection.plan.bound <= 2, bool((selection.edges().share >= 0.9).all())
        (45, True, True)
        """
        check_is_fitted(self)
        with warnings.catch_warnings():  # fit has warned of these signals
            warnings.simplefilter("ignore", DataWarning)
            signals, names = checked_signals(X, self, self._min_signals, self.missing)
        if names.tolist() != self.node_names_.tolist():
            raise InputError("X has other nodes than the model was fitted to: give select the same signals as fit")
        signals, n_nodes = self._scaled(signals), len(names)
        found = plan(n_nodes, false_edges, tau, n_splits, bound)
        entropy = drawn_seed(self.random_state if random_state is None else random_state)
        saved = None
        if checkpoint is not None and self.estimator is None:
            ladders = self._ladders(n_nodes)
            settings = [entropy, found.n_splits, found.taken, ladders.degrees.tolist(), ladders.n_nearest, ladders.c]
            unpack = itemgetter("keys")
            saved = CheckpointedSteps[Array](
                checkpoint, "selection", signals, [*settings, self.geometries], lambda keys: {"keys": keys}, unpack
            )

        def take(halves: Sequence[Array]) -> Iterator[Array]:
            one = partial(pairs_of_half, self._unlearned()._plain, found.taken)
            return parallel_map(one, signals, halves, "halves", n_jobs=n_jobs, engine=self.engine)

        keys, shares = shares_of(take, len(signals), found, entropy, progress, *(() if saved is None else (saved,)))
        if saved is not None:
            saved.clear()
        return selected(self.graph_, found, keys, shares)

    def _unlearned(self) -> Self:
        """Return a copy with nothing that was learned but the nodes' names: it is small to send to workers."""
        copy = type(self)(**self.get_params(deep=False) | {"benefit": None})
        copy.node_names_ = self.node_names_
        return copy

    def _plain(self, signals: Array) -> Any:
        """Return the consensus of some signals without replicates and prior; all in it is learned from them."""
        check_observed(signals, self.node_names_)
        ladders, mean = self._ladders(signals.shape[1]), Mean(signals.shape[1])
        for geometry, weight in self._geometries(signals, ladders).items():
            mean.add(ladders(signals, geometry), weight)
        return mean.weights

    def probabilities(self, pairs: Any = None) -> pd.DataFrame:
        """Return the probability that two nodes are tied, by the known ties, as a table; known pairs have 1 or 0.

        Parameters
        ----------
        pairs : list of pairs of names, optional
            All pairs by default; in networks of more than 3,000 nodes those with an edge.
        """
        check_is_fitted(self)
        if self.known_weights_ is None:
            raise InputError("there are no probabilities without known ties: fit with known=, or give known_weights")
        chosen = numbered_pairs(pairs, self.node_names_) if pairs is not None else self._all_pairs()
        probability, known = self._probability(chosen)
        ends = {"source": self.node_names_[chosen[:, 0]], "target": self.node_names_[chosen[:, 1]]}
        return pd.DataFrame(ends | {"probability": probability, "known": known})

    def _all_pairs(self) -> Array:
        n = len(self.node_names_)
        weights = self.graph_.undirected().weights if n > DENSE_NODES else np.ones((n, n))
        return np.stack(sparse.triu(sparse.coo_array(weights), 1).coords, axis=1)

    def _probability(self, pairs: Array) -> tuple[Array, Array]:
        """Return the probability of pairs, given by numbers, and "tie", "no tie" or "" for what is known of them."""
        odds = np.asarray(self._odds[pairs[:, 0], pairs[:, 1]], dtype=float).ravel()
        guess = expit(self.known_weights_["intercept"] - np.log(len(self.node_names_) - 1.0) + odds)
        known = np.full(len(pairs), -1) if self._known is None else self._known.of(pairs)
        return np.where(known < 0, guess, known), np.array([NO_TIE, TIE, ""], dtype=object)[known]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters and, after a fit, what was learned, in one line."""
        text = " ".join(super().__repr__(N_CHAR_MAX).split())
        if not self.__sklearn_is_fitted__():
            return text
        stable = "" if np.isnan(self.agreement_) else f", replicates agree on {self.agreement_:.0%} of the weight"
        return f"<{text}: {len(self.node_names_)} nodes, {self.graph_.n_edges:,} edges{stable}>"

    @property
    def without_prior_(self) -> LearnedGraph:
        """The mean of the members without a prior."""
        return LearnedGraph.of(self._smooth, self.node_names_)

    def _node_columns(self) -> dict[str, Array]:
        game = {"benefit": self.benefit_, "action": self.equilibrium_} if hasattr(self, "benefit_") else {}
        return self._columns[1] | game

    def _edge_columns(self) -> dict[str, Array]:
        if self.known_weights_ is None:
            return self._columns[0]
        pairs = np.stack(sparse.csr_array(self.adjacency_).tocoo().coords, axis=1)
        return self._columns[0] | dict(zip(("probability", "known"), self._probability(pairs), strict=True))
