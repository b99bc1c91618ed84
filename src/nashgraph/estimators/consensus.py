"""ConsensusGL: the mean over choices that the data cannot settle, with the stability of each tie."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..certificate import LOG, exact, summed_up
from ..consensus.evidence import (
    plain_mean,
    with_prior,
)
from ..consensus.members import (
    PARTIAL,
    PRIOR_COSTS,
    PRIOR_SHARE,
    Ladders,
    geometry_weights,
    ladder_degrees,
    values_at,
    with_prior_members,
)
from ..consensus.parallel import parallel_map
from ..consensus.replicates import Replicates, replicates_of
from ..consensus.signal_kinds import (
    ANSWERS,
    SAMPLES,
    Kind,
    kind_of_signals,
)
from ..consensus.stability import Selection, halves, pairs_of_half, plan, selected, shares_of
from ..decisions import Decision, Remedy
from ..graph import CONVENTIONAL_DEGREE, LearnedGraph
from ..pairs import GEOMETRIES, make_search
from ..priors import GamePrior
from ..scaling import spread_ratio, standardised, warn_of_standardised_nodes
from ..validation import (
    Array,
    DataWarning,
    InputError,
    InputTypeError,
    check_c,
    check_choice,
    check_integer,
    check_number,
    check_observed,
    warn,
)
from ._benefit import marginal_benefit
from .base import GraphEstimator, PriorEffect, as_game, checked_signals, drawn_seed

Progress = Callable[[int, int], object]


@dataclass(eq=False, repr=False)
class ConsensusGL(GraphEstimator):
    r"""The mean of graphs that differ in choices the data cannot settle, with evidence for every tie.

    .. math:: \bar W = \sum_m \omega_m W^{(m)}, \qquad \omega \ge 0, \; \sum_m \omega_m = 1

    The members :math:`W^{(m)}` differ in their degree (log-spaced, from 2 to all nodes), in what makes two nodes alike
    (cosine, distance, inner product, partial likeness) and, if a benefit is given, in the strength :math:`\lambda` of
    the game prior. Each lies in :math:`S = \{W \ge 0,\; \mathrm{diag}\,W = 0,\; W 1 = c 1\}`, and so does their mean:
    it is an admissible graph with its own equilibrium and welfare. No setting is needed.

    Weights divide each node's attention, and games are played on them. Ties are ranked, cut and scored by their
    *evidence*, which can be compared between pairs; the module ``consensus.evidence`` says how it is made.

    Parameters
    ----------
    estimator : GraphEstimator, optional
        What makes the members: None takes GLGP, with ladders of degrees in closed form. Any other estimator is cloned
        and fitted for each member, with those of ``degree`` and ``geometry`` set that it has.
    signals : "auto", "answers" or "samples"
        What the signals are. Answers to different questions (surveys, profiles, votes): likeness is weak and adds up,
        so all geometries count alike, and pairs are also compared over the whole network. Samples, repeated
        measurements of one kind: likeness is relative to the node. Mostly the distance counts or, if a node's energy
        goes with its influence, the cosine, partial likeness and, if signals are few, the inner product. With M signals
        on N < M nodes partial likeness has at least the weight 1 - N/M. "auto" decides by the values and units.
    n_degrees : int, how many degrees
    degree : float, optional
        Mean number of ties per node in the suggested graph. None: 6, a convention, because signals do not tell how many
        ties there are. Give it if you know it.
    n_replicates : int, how many networks are learned from random halves of the signals; 0: no intervals
    benefit : "spectral", array of shape (n_nodes,), Series by the nodes' names, or None
        Benefits of the game prior: its members are the best responses to the game played on the mean of the others,
        and count half. None leaves the prior out.
    prior : "game" or GamePrior, the game, for example ``GamePrior(interaction="linear")``
    c : float in (0, 1), the row sum: the total influence of others on a node
    scale : "auto", "standard" or "none"
        "standard" brings every signal to mean 0 and spread 1 over the nodes first, "none" takes X as given. "auto"
        standardises answers, and signals of different units: otherwise income counts and opinions do not. Do not put
        scikit-learn's ``StandardScaler`` before it: that scales the columns of X, which are the nodes.
    engine, missing : as in :class:`GLGP`
    random_state : int, RandomState or None
        Draws the replicates, each from a seed of its own: the first are the same if you ask for more.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes)
    evidence_ : CSR array of shape (n_nodes, n_nodes), symmetric
        How much the signals speak for a tie; the average pair has 1. :func:`~nashgraph.edge_auc` scores it.
    graph_ : LearnedGraph
        Its edges have ``evidence``, ``frequency`` (inclusion frequency: the share of member networks with the edge),
        ``low`` and ``high`` (the 90% interval for the weight that the same number of new signals would give);
        its nodes ``influence_low``, ``influence_high``, ``rank_low``, ``rank_high``.
    suggested_ : LearnedGraph, the ties with most evidence, ``degree_`` per node on average
    degree_ : float, the mean number of ties per node in it
    signals_, scale_ : "answers" or "samples", and "standard" or "none": what was chosen
    decisions_ : tuple of Decision, what was chosen and why, with the parameter that chooses otherwise
    influence_supported_ : bool
        Whether the signals support who is influential: halves of the signals agree on it, beyond what energy and
        missing answers explain. For answers it is always False: on real surveys no score of this kind goes with the
        true number of ties, whether or not halves agree.
    agreement_ : float, stability: the share of their weight that two random replicates have in common
    replicates_ : Replicates, the weights of every edge in every replicate
    replicate_graphs_ : list of CSR arrays, the graph of each replicate, for advice with intervals (:func:`key_players`)
        In large networks a draw of a node's ties stands for all: a million edges in all, or 16 per node and graph.
    degrees_, geometries_ : the degrees, and the weight of each geometry
    prior_share_ : float, the weight of the members with a prior
    without_prior_ : LearnedGraph, the mean without them
    benefit_, equilibrium_, welfare_ : of the game on the consensus, where there is a benefit
    certificate_ : Certificate, that of the worst member; by default all are exact, in closed form

    Notes
    -----
    In large networks only the nearest of each node can be its neighbours: all up to 616 nodes, at least 104 beyond. If
    more are equally near, chance chooses among them, and a warning says so.

    Frequency is not probability: it says how much a tie depends on settings and signals, not whether it is true.
    :class:`TieModel` gives probabilities, from known ties and from what people tell about ties.

    Examples
    --------
    >>> import networkx as nx
    >>> from nashgraph import edge_auc
    >>> from nashgraph.datasets import smooth_signals
    >>> club = nx.karate_club_graph()
    >>> X = smooth_signals(club, n_signals=50, filter="gmrf", random_state=0)
    >>> model = ConsensusGL(random_state=0).fit(X)
    >>> list(model.edges().columns)
    ['source', 'target', 'weight', 'evidence', 'frequency', 'low', 'high']
    >>> edge_auc(club, model, symmetrize="mean") > 0.8
    True
    """

    estimator: GraphEstimator | None = None
    signals: str = "auto"
    n_degrees: int = 8
    degree: float | None = None
    n_replicates: int = 20
    benefit: str | Array | None = None
    prior: str | GamePrior = "game"
    c: float = 0.95
    scale: str = "auto"
    engine: str = "threads"
    missing: str = "error"
    random_state: Any = None

    degrees_: Array = field(init=False)
    geometries_: dict[str, float] = field(init=False)
    replicates_: Replicates = field(init=False)
    parts = {"prior": as_game}  # noqa: RUF012 (typed in the base)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn a graph from signals.

        Parameters
        ----------
        X : array or DataFrame of shape (n_signals, n_nodes), or Study
            Rows are signals, columns are nodes. A DataFrame's columns name the nodes.
        y : ignored; :class:`TieModel` learns from known ties
        n_jobs : int, optional
            Members of an ``estimator`` fitted at the same time. None: one after the other, each with all cores, unless
            ``joblib.parallel_config`` says otherwise; ``backend="dask"`` uses the workers of a cluster.
        progress : callable, optional
            Called with the number of steps done and of all steps.
        """
        return self._fit(X, n_jobs=n_jobs, progress=progress)

    def _learn(self, X: Array, n_jobs: int | None = 1, progress: Progress | None = None) -> dict[str, Any]:
        if self.signals == "auto":
            warn_of_standardised_nodes(X)
        return self._consensus(X, self._ladders(X.shape[1], n_jobs, progress))

    def _consensus(self, X: Array, ladders: Ladders) -> dict[str, Any]:
        """Check the parameters, learn, and return what is to be stored."""
        kind = self._kind(X)
        signals, scaling = self._scaled(X, kind)
        other = SAMPLES if kind.name == ANSWERS else ANSWERS
        taken_as = Decision(kind.name, (), kind.reason, Remedy("signals", other), unsure=self.signals == "auto")
        decisions = (taken_as, scaling)
        for decision in decisions:
            LOG.info("%s: %s", decision.kind, decision.reason)
        if self.degree is not None:
            check_number("degree", self.degree, low=0, high=1e100, open_low=True, remedy="it is ties per node; try 6")
        self._game()  # refuses another prior before anything is learned
        drawn = self._halves(len(X))
        geometries = self._geometries(kind.name, signals, ladders)
        priors = len(PRIOR_COSTS) if self.benefit is not None and self.estimator is None else 0
        ladders.n_steps = len(geometries) * (1 + priors) + len(drawn) + 1
        mean, pairs = plain_mean(kind.name, geometries, signals, ladders)
        ladders.warn_crowded()
        smooth, frequency = mean.edges()
        weights = smooth
        plain = smooth.data
        learned: dict[str, Any] = {"prior_share_": 0.0}
        if priors:
            benefit, origin = marginal_benefit(self.benefit, make_search(signals, self.engine))
            played = self.game_with(benefit)
            if origin != "uniform":
                mean, lam = with_prior_members(mean, smooth, signals, ladders, geometries, played)
                weights, frequency = mean.edges()
                plain = values_at(smooth, weights)
                pairs = with_prior(pairs, weights, smooth, ladders)
            state = played.evaluate(weights, tol=1e-12)
            value = state.value
            learned |= {"benefit_": benefit, "equilibrium_": state.actions, "welfare_": value, "game_": played}
            if origin != "uniform":
                learned |= {"prior_share_": PRIOR_SHARE, "prior_": PriorEffect(lam, origin, np.nan, value)}
        found, frequency = replicates_of(signals, drawn, weights, plain, frequency, geometries, ladders)
        evidence = sparse.csr_array(pairs + pairs.T)
        edges = {"evidence": values_at(evidence, weights), "frequency": frequency}
        if len(found):
            edges["low"], edges["high"] = found.intervals(weights.data, ladders.c)
        ladders.finish()
        supported = kind.name == SAMPLES and found.support_influence(signals, drawn)
        return learned | {
            "adjacency_": weights,
            "evidence_": evidence,
            "agreement_": found.agreement(),
            "certificate_": summed_up(ladders.certificates or [exact()]),
            "degrees_": ladders.degrees,
            "geometries_": geometries,
            "signals_": kind.name,
            "scale_": "standard" if scaling.kind == "standardised" else "none",
            "decisions_": decisions,
            "influence_supported_": supported,
            "replicates_": found,
            "_smooth": smooth,
            "_columns": (edges, found.node_intervals(weights.data)),
        }

    def _game(self) -> GamePrior:
        """Return the game, which has no benefit yet."""
        game = GamePrior() if isinstance(self.prior, str) and self.prior == "game" else self.prior
        if not isinstance(game, GamePrior) or game.benefit is not None:
            raise InputError(f"prior must be 'game' or a GamePrior without benefit, got {self.prior!r}")
        return game

    def game_with(self, benefit: Array) -> GamePrior:
        """Return the game with these benefits."""
        return replace(self._game(), benefit=benefit)

    def compared(self, X: Array) -> tuple[str, Array]:
        """Return what the signals are, and the signals as they are compared: standardised, or as they were given."""
        kind = self._kind(X)
        return kind.name, self._scaled(X, kind)[0]

    def _kind(self, X: Array) -> Kind:
        """Return what the signals are."""
        name = check_choice("signals", self.signals, ("auto", ANSWERS, SAMPLES))
        return kind_of_signals(X) if name == "auto" else Kind(name, "signals says so")

    def _scaled(self, X: Array, kind: Kind, uneven: float = 10.0) -> tuple[Array, Decision]:
        """Return the signals as they are compared, and the decision whether to standardise them.

        Units differ if the 90% quantile of spreads is more than ``uneven`` times the 10% quantile.
        """
        scale = check_choice("scale", self.scale, ("auto", "standard", "none"))
        reason = "scale says so"
        if scale == "auto":
            units_differ = spread_ratio(X) > uneven
            scale = "standard" if kind.name == ANSWERS or units_differ else "none"
            reason = "signals of one kind and unit are taken as they are"
            if kind.name == ANSWERS:
                reason = (
                    "answers to different questions count alike only if each has mean 0 and spread 1 over the nodes"
                )
            elif units_differ:
                reason = "signals of different units count alike only if each has mean 0 and spread 1 over the nodes"
        if scale == "none":
            return X, Decision("unscaled", (), reason, Remedy("scale", "standard"))
        return standardised(X), Decision("standardised", (), reason, Remedy("scale", "none"))

    def _ladders(self, n_nodes: int, n_jobs: int | None = 1, progress: Progress | None = None) -> Ladders:
        count = check_integer("n_degrees", self.n_degrees, low=1, high=1000, remedy="it is how many to average; try 8")
        if self.estimator is not None and not hasattr(self.estimator, "get_params"):
            raise InputTypeError(f"estimator must be a graph estimator with a degree or None, got {self.estimator!r}")
        degrees, n_nearest = ladder_degrees(n_nodes, count)
        return Ladders(degrees, n_nearest, check_c(self.c), self.engine, self.estimator, n_jobs, progress)

    def _halves(self, n_signals: int) -> list[Array]:
        """Return the rows of each replicate: random halves of the signals, every second the rest of the one before."""
        remedy = "it is how many replicates of the signals are drawn; try 20, or 0 for no intervals"
        count = check_integer("n_replicates", self.n_replicates, low=0, high=10_000, remedy=remedy)
        if count and n_signals == 1:
            warn("there is only one signal, so no replicates can be drawn and ties get no intervals: add signals")
            return []
        return list(halves(n_signals, (count + 1) // 2, drawn_seed(self.random_state)))[:count]

    def _geometries(self, kind: str, signals: Array, ladders: Ladders) -> dict[str, float]:
        """Return the weight of each geometry, those of weight 0 left out."""
        if self.estimator is not None and "geometry" not in self.estimator.get_params():
            return {"distance": 1.0}
        if kind == ANSWERS:
            return dict.fromkeys(("distance", "cosine", "inner"), 1.0 / 3.0)
        found = geometry_weights(signals, ladders(signals, "cosine"))
        known = GEOMETRIES if self.estimator is not None else (*GEOMETRIES, PARTIAL)
        total = sum(found[name] for name in known)
        return {name: found[name] / total for name in known if found[name] > 0}

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
    ) -> Selection:
        r"""Return the pairs that random halves of the signals agree on, with a bound on how many chance would select.

        Complementary-pairs stability selection (Shah and Samworth 2013, JRSS B 75): the signals are halved at random
        ``n_splits`` times; on each half evidence is learned (no replicates, no prior), and the q of p pairs with most
        are taken; pairs that a share ``tau`` of the halves takes are selected. q follows from the bound.

        Parameters
        ----------
        X : array or DataFrame, the signals that the model was fitted to, which it does not keep
        false_edges : float
            The bound. *Promised*: the expected number of selected pairs that a half takes with probability at most q/p,
            no more often than q random pairs would be, is at most this. *Assumed*: the signals are independent draws of
            one source; answers to one question coded as several signals, or a time series, are not. *Not promised*: how
            many selected pairs are not ties. Friends of friends who are alike are alike in every half.
        tau, n_splits : float in (1/2, 1], and int
        bound : "unimodal" or "worst-case"
            The sharper bound assumes that the number of splits in which both halves take a pair is unimodal; the other
            assumes nothing.
        random_state : int, RandomState or None, draws the halves; None uses that of the estimator
        n_jobs, progress : as for :meth:`fit`; halves are computed in parallel

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
            table, missing = self._table_of(X)
            signals, names = checked_signals(table, self, self._min_signals, missing)
        if names.tolist() != self.node_names_.tolist():
            raise InputError("X has other nodes than the model was fitted to: give select the same signals as fit")
        n_nodes = len(names)
        if self.scale_ == "standard":
            signals = standardised(signals)
        if len(signals) < 4:
            raise InputError(
                f"select needs 4 signals or more, to halve them, and X has {len(signals)}: add signals (rows)"
            )
        found = plan(n_nodes, false_edges, tau, n_splits, bound)
        entropy = drawn_seed(self.random_state if random_state is None else random_state)

        def take(rows: Sequence[Array]) -> Iterator[Array]:
            one = partial(pairs_of_half, self._unlearned()._plain, found.taken)
            return parallel_map(one, signals, rows, "halves", n_jobs=n_jobs, engine=self.engine)

        rows = list(halves(len(signals), found.n_splits, entropy))
        keys, shares = shares_of(take, rows, progress)
        return selected(self.graph_, found, keys, shares)

    def _unlearned(self) -> Self:
        """Return a copy with nothing that was learned but the nodes' names: it is small to send to workers.

        What the signals are is known from all of them.
        """
        settings = {"benefit": None, "signals": self.signals_, "scale": self.scale_}
        copy = type(self)(**self.get_params(deep=False) | settings)
        copy.node_names_ = self.node_names_
        return copy

    def _plain(self, signals: Array) -> Any:
        """Return the evidence from some signals, without replicates or prior."""
        check_observed(signals, self.node_names_)
        ladders = self._ladders(signals.shape[1])
        kind = self._kind(signals).name
        return plain_mean(kind, self._geometries(kind, signals, ladders), signals, ladders)[1]

    def _in_short(self) -> str:
        stable = "" if np.isnan(self.agreement_) else f", replicates agree on {self.agreement_:.0%} of the weight"
        ties = self.suggested_.undirected().n_edges
        return f"{ties:,} suggested ties{stable}"

    @property
    def suggested_(self) -> LearnedGraph:
        """The ties with most evidence: as many as ``degree`` says, or by convention 6 per node."""
        return self.graph_.suggested()

    @property
    def degree_(self) -> float:
        """The mean number of ties per node in the suggested graph."""
        check_is_fitted(self)
        return self._suggested_degree()

    def _suggested_degree(self) -> float:
        return CONVENTIONAL_DEGREE if self.degree is None else float(self.degree)

    @cached_property
    def replicate_graphs_(self) -> list[Any]:
        """The graph of each replicate, made of ``replicates_`` when it is first asked for."""
        weights = self.adjacency_
        return self.replicates_.thinned_graphs(weights.data - self.replicates_.plain, weights.sum(axis=1))

    @property
    def without_prior_(self) -> LearnedGraph:
        """The mean of the members without a prior."""
        return LearnedGraph.of(self._smooth, self.node_names_)

    def _node_columns(self) -> dict[str, Array]:
        game = {"benefit": self.benefit_, "action": self.equilibrium_} if hasattr(self, "benefit_") else {}
        return self._columns[1] | game

    def _edge_columns(self) -> dict[str, Array]:
        return self._columns[0]
