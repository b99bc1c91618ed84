"""ConsensusGL: the mean over what the data cannot decide, and how sure each tie is."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
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
from ..games import Interaction, Welfare, as_interaction, as_welfare, equilibrium
from ..graph import LearnedGraph
from ..pairs import GEOMETRIES, make_search
from ..validation import (
    Array,
    InputError,
    InputTypeError,
    check_c,
    check_choice,
    check_integer,
    check_observed,
    silent_nodes,
    warn,
)
from ._answers import GIVEN_COSTS, OWN_COSTS, PRIOR_SHARE, PriorPlan, answer_the_game, prior_share
from ._benefit import marginal_benefit
from ._evidence import evidence_of, spread_benefit
from ._intervals import INTERVAL, agreement, node_intervals, quantiles, values_at
from ._kept import KeptMean, KeptSteps
from ._known import NO_TIE, TIE, KnownTies, known_ties, numbered_pairs
from ._ladders import Ladders
from ._many import in_order
from ._members import (
    DENSE_NODES,
    Mean,
    Sum,
    geometry_weights,
    influence_of,
    ladder_degrees,
    mean_of_ladders,
    resamples_of,
)
from ._resampled import resampled_graphs
from ._selection import Selection, plan, selected, shares_of, taken_by_half
from ._stacking import CONSENSUS, apply_weights, check_known_weights, learn, weights_of
from .base import GraphEstimator, Prior, checked_signals, drawn_seed


class ConsensusGL(GraphEstimator):
    r"""The mean of many graphs that differ in what the data cannot decide, with a frequency for every tie.

    .. math:: \bar W = \sum_m \omega_m W^{(m)}, \qquad \omega \ge 0, \; \sum_m \omega_m = 1

    The members :math:`W^{(m)}` differ in their degree (log-spaced, from 2 to all nodes), in what makes two nodes alike
    (cosine, distance, inner product), in the weights of the signals (resampled), and in the strength :math:`\lambda` of
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
    resamples : int
        How many weightings of the signals besides the signals as they are, which count half. 0 turns intervals off.
    resampling : "bayes" or "half"
        Dirichlet weights (the Bayesian bootstrap), or random halves of the signals and their complements.
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
    n_jobs : int, optional
        Resamples made, and halves of ``select`` learned from, at the same time or, where ``estimator`` is given, the
        degrees of each. None is one after the other, each with all cores, unless ``joblib.parallel_config`` says else,
        and ``backend="dask"`` takes the workers of a cluster. The graph is the same, bit by bit. With ``engine="dask"``
        up to 10,000 nodes are shared out so, whatever this says, and beyond the scans are.
    progress : callable, optional
        Called with the number of steps done and of all steps.
    random_state : int, RandomState or None
        Draws the resamples, each from a seed of its own: more of them never change those there.
    known_weights : dict, optional
        What known ties taught elsewhere: the ``known_weights_`` of another model, or
        :func:`~nashgraph.fit_known_weights` of several. Ties known here are then marked, and change no weights.
    checkpoint : path, optional
        A folder of its own in which the resamples done are kept every 20 seconds. A fit that was stopped and is run
        again, on the same signals with the same parameters (an int as ``random_state``), goes on from there and gives
        the same bits; at the end the folder is removed. Not with an ``estimator``.

    Attributes
    ----------
    adjacency_ : array or CSR array of shape (n_nodes, n_nodes)
    graph_ : LearnedGraph
        Its edges have ``frequency`` (the share of members that have the edge), ``low`` and ``high`` (the 90 % interval
        of the weight over resamples); its nodes ``influence_low``, ``influence_high``, ``rank_low``, ``rank_high``.
        With known ties, its edges also have ``probability`` and ``known`` ("tie", "no tie" or "").
    agreement_ : float
        How alike two random resamples are: the share of their weight that they have in common.
    resampled_graphs_ : list of CSR arrays, the graph of each resample, for advice with intervals (:func:`key_players`)
        In large networks some of a node's ties stand for all, so that there are a million together, or 16 a node.
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
    module ``_stacking`` has the problem and its optimality condition. The same weights make the graph,
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
    >>> edge_auc(model, club, symmetrize="mean") > 0.8
    True
    """

    degrees_: Array
    geometries_: dict[str, float]

    def __init__(
        self,
        estimator: GraphEstimator | None = None,
        n_degrees: int = 8,
        geometries: str | Sequence[str] = "auto",
        resamples: int = 20,
        resampling: str = "bayes",
        benefit: str | Array | None = "own",
        interaction: str | Interaction = "log1p",
        welfare: str | Welfare = "total",
        c: float = 0.95,
        scale: str = "none",
        engine: str = "threads",
        missing: str = "error",
        n_jobs: int | None = None,
        progress: Callable[[int, int], object] | None = None,
        random_state: Any = None,
        known_weights: dict[str, Any] | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_degrees = n_degrees
        self.geometries = geometries
        self.resamples = resamples
        self.resampling = resampling
        self.benefit = benefit
        self.interaction = interaction
        self.welfare = welfare
        self.c = c
        self.scale = scale
        self.engine = engine
        self.missing = missing
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state
        self.known_weights = known_weights
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, *, known: Any = None) -> Self:
        """Learn a graph from signals and, where there are some, from known ties.

        Parameters
        ----------
        X : array or DataFrame of shape (n_signals, n_nodes)
            Rows are signals, columns are nodes. A DataFrame's columns name the nodes.
        y : the known ties, where ``known`` is not given; a plain array of labels, as pipelines pass them, is ignored
        known : DataFrame, networkx graph, list of pairs or dict, optional
            Pairs of nodes of which it is known whether they are tied. A table, or list, has source, target and, if it
            likes, tie (1 or 0); the target "*" says that all ties of the source are known. Of a graph all edges are
            ties, and the nodes with a true attribute ``known`` are those whose ties are all known. A dict has the lists
            "ties", "non_ties" and "nodes" (those whose ties are all known).

        Returns
        -------
        self
        """
        signals, names = checked_signals(X, self, self._min_signals, self.missing)
        given = y if known is None and not isinstance(y, np.ndarray | pd.Series) else known
        labels = list(X.index) if isinstance(X, pd.DataFrame) else range(len(signals))
        learned = self._in_order(names)._learn(signals, None if given is None else known_ties(given, names), labels)
        learned["certificate_"].warn(type(self).__name__)
        return self._store(learned | {"silent_": silent_nodes(signals)}, X, names)

    def _learn(self, X: Array, known: KnownTies | None = None, labels: Sequence[Any] = ()) -> dict[str, Any]:
        signals = X if check_choice("scale", self.scale, ("none", "standard")) == "none" else scale(X, axis=1)
        resampling = check_choice("resampling", self.resampling, ("bayes", "half"))
        entropy = drawn_seed(self.random_state)
        resamples = list(resamples_of(len(X), self._resamples(len(X)), resampling, entropy))
        ladders = self._ladders(X.shape[1], self.progress)
        geometries = self._geometries(signals, ladders)
        ladders.steps = len(resamples) * len(geometries) + len(geometries) * len(self._costs()) + 1
        ours = [resampling, entropy, len(resamples), ladders.degrees.tolist(), ladders.kept, ladders.c, geometries]
        kept = None if self.checkpoint is None or self.estimator else KeptMean(self.checkpoint, signals, ours)
        keeping = () if kept is None else (kept.restore, kept.keep)
        mean = mean_of_ladders(ladders.of, signals, resamples, geometries, ladders.done, *keeping)
        smooth, prior = mean.weights.csr(), self._prior(mean, signals, ladders)
        interaction, welfare = as_interaction(self.interaction), as_welfare(self.welfare)
        lam = np.nan
        if prior is not None and prior.share > 0:
            lam = answer_the_game(prior, mean, signals, ladders, geometries, interaction, welfare)
        learned = self._stacked(known, labels, mean, signals, ladders, None if prior is None else prior.benefit)
        weights = mean.weights.csr()
        if kept is not None:
            kept.clear()
        if prior is not None:
            actions = equilibrium(weights, prior.benefit, interaction)
            value = welfare.value(actions)
            learned |= {"benefit_": prior.benefit, "equilibrium_": actions, "welfare_": value}
            if prior.share > 0:
                learned |= {"prior_share_": prior.share, "prior_": Prior(lam, prior.origin, np.nan, value)}
        columns = self._how_sure(mean, weights, smooth)
        ladders.finish()
        return learned | {
            "adjacency_": weights if X.shape[1] > DENSE_NODES else weights.toarray(),
            "agreement_": agreement(mean.graphs),
            "certificate_": summed_up(ladders.certificates or [exact()]),
            "degrees_": ladders.degrees,
            "geometries_": geometries,
            "resampled_graphs_": resampled_graphs(mean.graphs, weights, smooth),
            "_smooth": smooth,
            "_signals": signals,
            "_columns": columns,
        }

    def _ladders(self, n_nodes: int, progress: Callable[[int, int], object] | None = None) -> Ladders:
        count = check_integer("n_degrees", self.n_degrees, low=1, remedy="it is how many degrees to average; try 8")
        if self.estimator is not None and not hasattr(self.estimator, "get_params"):
            raise InputTypeError(f"estimator must be a graph estimator with a degree or None, got {self.estimator!r}")
        degrees, kept = ladder_degrees(n_nodes, count)
        return Ladders(degrees, kept, check_c(self.c), self.engine, self.estimator, self.n_jobs, progress)

    @staticmethod
    def _how_sure(mean: Mean, weights: Any, smooth: Any) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the columns of edges and of nodes that say how sure they are.

        Neither prior nor known ties are resampled: what they move moves the intervals, and leaves them as wide.
        """
        frequency = values_at(weights, mean.frequency.csr())
        edges = {"frequency": np.minimum(frequency, 1.0)}  # a sum of shares may end a hair above
        if mean.graphs:
            moved = weights.data - values_at(weights, smooth)
            ends = quantiles(mean.graphs, weights, INTERVAL)
            edges["low"], edges["high"] = (np.maximum(end + moved, 0.0) for end in ends)
        return edges, node_intervals(mean.graphs, np.asarray((weights - smooth).sum(axis=0)).ravel())

    def _resamples(self, n_signals: int) -> int:
        remedy = "it is how often the signals are resampled; try 20, or 0 for no intervals"
        count = check_integer("resamples", self.resamples, low=0, remedy=remedy)
        if count and n_signals == 1:
            warn(
                "X has one signal only, so there is nothing to resample: ties get no intervals; add signals if you can"
            )
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

    def _costs(self) -> tuple[float, ...]:
        """Return what each member with a prior may cost of J; there is none where there is no benefit."""
        if self.benefit is None or self.estimator is not None:
            return ()
        return OWN_COSTS if isinstance(self.benefit, str) and self.benefit == "own" else GIVEN_COSTS

    def _prior(self, mean: Mean, signals: Array, ladders: Ladders) -> PriorPlan | None:
        """Return what prior there is: of the user's benefit, or of the consensus's own influence where it is skewed."""
        costs = self._costs()
        if not costs:
            return None
        if isinstance(self.benefit, str) and self.benefit == "own":
            influence = np.asarray(mean.weights.csr().sum(axis=0)).ravel()
            share = prior_share(influence_of(ladders(signals, "cosine")))
            return PriorPlan(share, influence / influence.sum(), "own", costs)
        benefit, origin = marginal_benefit(self.benefit, make_search(signals, self.engine), normalize=True)
        return PriorPlan(0.0 if origin == "uniform" else PRIOR_SHARE, benefit, origin, costs)

    def select(
        self,
        false_edges: float = 5,
        *,
        tau: float = 0.9,
        splits: int = 50,
        bound: str = "unimodal",
        progress: Callable[[int, int], object] | None = None,
        random_state: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Selection:
        r"""Return the ties that random halves of the signals agree on, with a bound on how many are there by chance.

        Complementary-pairs stability selection (Shah and Samworth 2013, JRSS B 75): the signals are halved at random
        ``splits`` times; on each half the plain consensus is learned anew (no resamples, no prior), and its q heaviest
        of the p pairs are taken; ties that a share ``tau`` of the halves takes are selected. q follows from the bound.
        It costs as much as ``2 * splits`` resamples in a fit.

        Parameters
        ----------
        false_edges : float
            The bound. *Promised*: the expected number of selected pairs that a half takes with probability q/p at the
            most, no better than taking q pairs blindly, is at most this. *Assumed*: the signals are independent draws
            of one source; answers to one question coded as several signals, or a time series, are not. *Not promised*:
            how many selected pairs are no ties. Friends of friends who are alike are alike in every half.
        tau : float in (1/2, 1]
        splits : int
        bound : "unimodal" or "worst-case"
            The sharper one assumes that in how many splits both halves take a pair is unimodal; the other nothing.
        progress, random_state
            As for the estimator, whose own they are where None.
        checkpoint : path, optional
            A folder in which the halves done are kept, as the estimator's ``checkpoint`` keeps resamples.

        Examples
        --------
        >>> import networkx as nx
        >>> from nashgraph.datasets import smooth_signals
        >>> X = smooth_signals(nx.karate_club_graph(), n_signals=50, filter="heat", random_state=0)
        >>> selection = ConsensusGL(random_state=0).fit(X).select(false_edges=2, splits=10)
        >>> selection.plan.taken, selection.plan.bound <= 2, bool((selection.edges().share >= 0.9).all())
        (45, True, True)
        """
        check_is_fitted(self)
        found = plan(self._signals.shape[1], false_edges, tau, splits, bound)
        entropy = drawn_seed(self.random_state if random_state is None else random_state)
        kept = None
        if checkpoint is not None and self.estimator is None:
            ladders = self._ladders(self._signals.shape[1])
            ours = [ladders.degrees.tolist(), ladders.kept, ladders.c, self.geometries]
            settings = ["select", entropy, found.splits, found.taken, *ours]
            kept = KeptSteps[Array](
                checkpoint, self._signals, settings, lambda keys: {"keys": keys}, itemgetter("keys")
            )
        keeping = () if kept is None else (kept,)

        def take(halves: Sequence[Array]) -> Iterator[Array]:
            one = partial(taken_by_half, self._unlearned()._plain, found.taken)
            return in_order(one, self._signals, halves, "halves", n_jobs=self.n_jobs, engine=self.engine)

        keys, shares = shares_of(take, len(self._signals), found, entropy, progress or self.progress, *keeping)
        if kept is not None:
            kept.clear()
        return selected(self.graph_, found, keys, shares)

    def _unlearned(self) -> Self:
        """Return a copy with nothing that was learned but the nodes' names, and one job: it is little to send."""
        ours = self.get_params(deep=False) | {"n_jobs": 1, "progress": None, "checkpoint": None, "benefit": None}
        copy = type(self)(**ours)
        copy.node_names_ = self.node_names_
        return copy

    def _plain(self, signals: Array) -> Any:
        """Return the consensus of some signals without resamples and prior; everything in it is learned from them."""
        check_observed(signals, self.node_names_)
        n_nodes = signals.shape[1]
        ladders, graph = self._ladders(n_nodes), Sum(n_nodes)
        for geometry, weight in self._geometries(signals, ladders).items():
            found = ladders(signals, geometry)
            graph.add_rows(found.labels, found.weights, weight)
        return graph.csr()

    def _stacked(
        self,
        known: KnownTies | None,
        labels: Sequence[Any],
        mean: Mean,
        signals: Array,
        ladders: Ladders,
        benefit: Array | None,
    ) -> dict[str, Any]:
        """Reweight the members by the known ties, or by weights from elsewhere, and return what was learned."""
        if known is None and self.known_weights is None:
            return {"known_": None, "known_weights_": None, "_known": None}
        plain, origin = mean.weights.csr(), self.benefit if isinstance(self.benefit, str) else "given"

        def groups(counted: Container[str] | None = None) -> Iterator[tuple[str, Any]]:
            yield CONSENSUS, plain
            for geometry in GEOMETRIES:
                yield from ladders.rungs(signals, geometry)
            yield from ladders.signal_by_signal(signals, labels, counted)
            if benefit is not None:
                yield f"benefit {origin}", spread_benefit(plain, benefit, ladders.c)

        evidence = record = None
        if known is None or self.known_weights is not None:
            weights = check_known_weights(self.known_weights, self.n_degrees)
        else:
            evidence = evidence_of(known, groups(), ladders.c, signals, benefit if origin == "given" else None)
            answer, record = learn(evidence, known.ties_only)
            weights = weights_of(evidence, answer, self.n_degrees)
        odds = apply_weights(weights, groups(weights["groups"]), mean, ladders.c)
        return {"known_": record, "known_weights_": weights, "_known": known, "_odds": odds, "_evidence": evidence}

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
