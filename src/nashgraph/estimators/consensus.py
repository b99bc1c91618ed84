"""ConsensusGL: the mean over what the data cannot decide, and how sure each tie is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.stats import rankdata, skew
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..certificate import Certificate, Ending, Measure, exact
from ..couplings import Ladder, make_smoothness, points_of, smooth_ladder
from ..couplings.points import GEOMETRIES
from ..games import Interaction, Welfare, as_interaction, as_welfare, equilibrium
from ..graph import LearnedGraph
from ..solvers import Problem, best_response, lam_for_cost
from ..validation import Array, InputError, check_c, check_choice, check_integer, warn
from ._benefit import marginal_benefit
from ._members import (
    DENSE_NODES,
    Mean,
    agreement,
    geometry_weights,
    influence_of,
    ladder_degrees,
    mean_of_ladders,
    quantiles,
    resamples_of,
    values_at,
)
from .base import GraphEstimator, Prior

INTERVAL = (0.05, 0.95)
# The prior counts half at the most. The consensus's own influence is a benefit only where hubs make it skewed.
PRIOR_SHARE, SKEW_NONE, SKEW_FULL = 0.5, 0.5, 1.0
OWN_COSTS, GIVEN_COSTS = (1e-2,), (1e-3, 1e-2, 1e-1)
# Members with a prior are solved, one by one: two degrees in the lower half do, to two digits; in large networks
# with the cosine alone.
PRIOR_DEGREES, PRIOR_TOL, PRIOR_ITERATIONS, PRIOR_NODES = (0.15, 0.4), 1e-2, 100, 5000
LEAST_SHARE = 0.05


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
        "auto" takes all three: the cosine counts half, and the inner product the more of the rest, the more a node's
        energy goes with its influence. A list counts alike.
    resamples : int
        How many weightings of the signals besides the signals as they are, which count half. 0 turns intervals off.
    resampling : "bayes" or "half"
        Dirichlet weights (the Bayesian bootstrap), or random halves of the signals and their complements.
    benefit : "own", "spectral", array of shape (n_nodes,) or None
        Benefits of the game prior. "own" takes the influence in the consensus itself, where that is skewed as hubs make
        it; an array is your own knowledge and counts in half of the members; None leaves the prior out.
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
        Members fitted at the same time where ``estimator`` is given.
    progress : callable, optional
        Called with the number of steps done and of all steps.
    random_state : int, RandomState or None
        Draws the resamples, each from a seed of its own: more of them never change those there.

    Attributes
    ----------
    adjacency_ : array or CSR array of shape (n_nodes, n_nodes)
    graph_ : LearnedGraph
        Its edges have ``frequency`` (the share of members that have the edge), ``low`` and ``high`` (the 90 % interval
        of the weight over resamples); its nodes ``influence_low``, ``influence_high``, ``rank_low``, ``rank_high``.
    agreement_ : float
        How alike two random resamples are: the share of their weight that they have in common.
    degrees_, geometries_ : the degrees, and the weight of each geometry
    prior_share_ : float, the weight of the members with a prior
    without_prior_ : LearnedGraph, the mean without them
    benefit_, equilibrium_, welfare_ : of the game on the consensus, where there is a benefit
    certificate_ : Certificate, the worst of the members'

    Notes
    -----
    Frequency is not probability: it says how much a tie depends on settings and signals, not whether it is true.

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

    def _learn(self, X: Array) -> dict[str, Any]:
        c, signals = check_c(self.c), self._scaled(X)
        resampling = check_choice("resampling", self.resampling, ("bayes", "half"))
        entropy = check_random_state(self.random_state).randint(2**31)
        count = self._resamples(len(X))
        resamples = list(resamples_of(len(X), count, resampling, entropy))
        members = check_integer("n_degrees", self.n_degrees, low=1, remedy="it is how many degrees to average; try 8")
        degrees, kept = ladder_degrees(X.shape[1], members)
        ladders = Ladders(self, degrees, kept, c)
        geometries = self._geometries(signals, ladders)
        ladders.steps = len(resamples) * len(geometries)
        mean = mean_of_ladders(ladders, signals, resamples, geometries, ladders.done)
        smooth = mean.weights.csr()
        learned = self._with_prior(mean, signals, ladders, geometries)
        weights = mean.weights.csr()
        columns = {"frequency": mean.frequency.csr().data}
        if mean.graphs:
            # Members with a prior are not resampled: what they move moves the intervals, and leaves them as wide.
            moved = weights.data - values_at(weights, smooth)
            ends = quantiles(mean.graphs, weights, INTERVAL)
            columns["low"], columns["high"] = (np.maximum(end + moved, 0.0) for end in ends)
        return {
            "adjacency_": weights if X.shape[1] > DENSE_NODES else weights.toarray(),
            "agreement_": agreement(mean.graphs),
            "degrees_": degrees,
            "geometries_": geometries,
            "_smooth": smooth,
            "_signals": signals,
            "_columns": (columns, node_intervals(mean, np.asarray((weights - smooth).sum(axis=0)).ravel())),
            **learned,
        }

    def _scaled(self, X: Array) -> Array:
        if check_choice("scale", self.scale, ("none", "standard")) == "none":
            return X
        spread = np.nanstd(X, axis=1, keepdims=True)
        centred = X - np.nanmean(X, axis=1, keepdims=True)
        return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)

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
        named = [check_choice("geometry", name, GEOMETRIES) for name in self.geometries]
        if not named:
            raise InputError(f"geometries is empty: name some of {', '.join(GEOMETRIES)}, or take 'auto'")
        return dict.fromkeys(named, 1.0 / len(set(named)))

    def _prior(self, mean: Mean, signals: Array, ladders: Ladders) -> PriorPlan | None:
        """Return what prior there is: of the user's benefit, or of the consensus's own influence where it is skewed."""
        if self.benefit is None or self.estimator is not None:
            return None
        if isinstance(self.benefit, str) and self.benefit == "own":
            influence = np.asarray(mean.weights.csr().sum(axis=0)).ravel()
            share = prior_share(influence_of(ladders(signals, "cosine")))
            return PriorPlan(share, influence / influence.sum(), "own", OWN_COSTS)
        benefit, origin = marginal_benefit(self.benefit, points_of(signals, self.engine), normalize=True)
        return PriorPlan(0.0 if origin == "uniform" else PRIOR_SHARE, benefit, origin, GIVEN_COSTS)

    def _with_prior(self, mean: Mean, signals: Array, ladders: Ladders, geometries: dict[str, float]) -> dict[str, Any]:
        """Add the members with a prior to the mean, and return what there is to say about them."""
        plan = self._prior(mean, signals, ladders)
        if plan is None:
            return {"certificate_": exact(), "prior_share_": 0.0}
        game = as_interaction(self.interaction), as_welfare(self.welfare)
        certificates, lams = [], []
        if plan.share > 0:
            mean.scale(1.0 - plan.share)
            members = list(plan.members(ladders.degrees, geometries))
            ladders.steps += len(members)
            for geometry, place, cost, share in members:
                points = points_of(signals, self.engine, geometry=geometry)
                beta = float(ladders(signals, geometry).betas[place])
                problem = Problem(make_smoothness(points, beta, ladders.c), plan.benefit, *game)
                play = problem.smooth_play
                lam = lam_for_cost(problem.smoothness, play.adjoint, problem.interaction.value(play.actions), cost)
                result = best_response(problem, lam, tol=PRIOR_TOL, max_iter=PRIOR_ITERATIONS)
                mean.add_graph(result.coupling.sparse().weights, share)
                certificates.append(result.certificate)
                lams.append(lam)
                ladders.done()
        actions = equilibrium(mean.weights.csr(), plan.benefit, game[0])
        welfare = game[1].value(actions)
        return {
            "certificate_": worst(certificates) if certificates else exact(),
            "prior_share_": plan.share,
            "prior_": Prior(float(np.mean(lams)), plan.origin, np.nan, welfare) if lams else None,
            "benefit_": plan.benefit,
            "equilibrium_": actions,
            "welfare_": welfare,
        }

    @property
    def without_prior_(self) -> LearnedGraph:
        """The mean of the members without a prior."""
        return LearnedGraph.of(self._smooth, self.node_names_)

    def _node_columns(self) -> dict[str, Array]:
        game = {"benefit": self.benefit_, "action": self.equilibrium_} if hasattr(self, "benefit_") else {}
        return self._columns[1] | game

    def _edge_columns(self) -> dict[str, Array]:
        return self._columns[0]


class PriorPlan(NamedTuple):
    """The members with a prior: their share of the consensus, the benefit and its origin, what each may cost of J."""

    share: float
    benefit: Array
    origin: str
    costs: tuple[float, ...]

    def members(self, degrees: Array, geometries: dict[str, float]) -> Iterator[tuple[str, int, float, float]]:
        """Yield geometry, number of the degree, cost and share of each."""
        places = sorted({round(place * (len(degrees) - 1)) for place in PRIOR_DEGREES})
        if len(self.benefit) > PRIOR_NODES:
            geometries = {max(geometries, key=geometries.__getitem__): 1.0}
        for geometry, weight in geometries.items():
            for place in places:
                for cost in self.costs:
                    yield geometry, place, cost, self.share * weight / (len(places) * len(self.costs))


def prior_share(influence: Array) -> float:
    """Return how much a prior of one's own influence may count: nothing unless hubs make the influence skewed."""
    if np.ptp(influence) <= 1e-9 * influence.max():
        return 0.0
    share = float(np.clip((float(skew(influence)) - SKEW_NONE) / (SKEW_FULL - SKEW_NONE), 0.0, 1.0))
    return PRIOR_SHARE * share if share >= LEAST_SHARE else 0.0


class Ladders:
    """The ladders of one fit: made once for the signals as they are, and counted."""

    def __init__(self, consensus: ConsensusGL, degrees: Array, kept: int, c: float) -> None:
        self.consensus, self.degrees, self.kept, self.c = consensus, degrees, kept, c
        self.known: dict[str, Ladder] = {}
        self.whole: Array | None = None
        self.steps = self.taken = 0

    def __call__(self, X: Array, geometry: str) -> Ladder:
        """Return the ladder of some signals; that of the first signals asked for is kept."""
        self.whole = X if self.whole is None else self.whole
        if X is not self.whole:
            return self._made(X, geometry)
        if geometry not in self.known:
            self.known[geometry] = self._made(X, geometry)
        return self.known[geometry]

    def done(self) -> None:
        """Tell that a step is done."""
        self.taken += 1
        if self.consensus.progress is not None:
            self.consensus.progress(self.taken, max(self.steps, self.taken))

    def _made(self, X: Array, geometry: str) -> Ladder:
        estimator = self.consensus.estimator
        if estimator is None:
            return smooth_ladder(
                points_of(X, self.consensus.engine, geometry=geometry), self.degrees, self.c, self.kept
            )
        known = estimator.get_params()
        settings = [
            {name: value for name, value in (("degree", degree), ("geometry", geometry)) if name in known}
            for degree in (self.degrees if "degree" in known else self.degrees[:1])
        ]
        graphs = Parallel(n_jobs=self.consensus.n_jobs)(delayed(fitted)(estimator, setting, X) for setting in settings)
        everybody = np.tile(np.arange(X.shape[1], dtype=np.int32), (X.shape[1], 1))
        return Ladder(
            everybody, np.mean(graphs, axis=0), np.mean([graph > 0 for graph in graphs], axis=0), np.array([])
        )


def fitted(estimator: GraphEstimator, setting: dict[str, Any], X: Array) -> Any:
    """Return the graph of one member: this runs in a worker."""
    graph = clone(estimator).set_params(**setting).fit(X).adjacency_
    return graph.toarray() if sparse.issparse(graph) else graph


def node_intervals(mean: Mean, moved: Array) -> dict[str, Array]:
    """Return the 90 % intervals of each node's influence and of its rank, over the resamples; see what moved them."""
    if not mean.graphs:
        return {}
    influence = moved + np.stack([np.asarray(graph.sum(axis=0), dtype=float).ravel() for graph in mean.graphs])
    ranks = np.stack([rankdata(-row, method="min") for row in influence])
    low, high = np.maximum(np.quantile(influence, INTERVAL, axis=0), 0.0)
    first, last = np.quantile(ranks, INTERVAL, axis=0)
    return {
        "influence_low": low,
        "influence_high": high,
        "rank_low": np.floor(first).astype(int),
        "rank_high": np.ceil(last).astype(int),
    }


def worst(certificates: list[Certificate]) -> Certificate:
    """Return one certificate for all members: the worst value, all iterations."""
    value = max(certificate.value for certificate in certificates)
    iterations = sum(certificate.iterations for certificate in certificates)
    missed = sum(not certificate.converged for certificate in certificates)
    ending = Ending.MAX_ITER if missed else Ending.CONVERGED
    remedy = f"{missed} of {len(certificates)} members with a prior fell short; benefit=None leaves them all out"
    return Certificate(Measure.STATIONARITY, value, PRIOR_TOL, ending, iterations, remedy)
