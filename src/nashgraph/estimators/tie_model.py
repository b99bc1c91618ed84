"""TieModel: a network from what people can tell about their ties."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..graph import LearnedGraph
from ..priors import LinearPrior
from ..tie_survey import TieSurvey
from ..ties.answers import ASSUMED_ERROR
from ..ties.arrays import tie_arrays
from ..ties.fit import fit_ties
from ..ties.fitted import TieFit, Weight, likely_pairs, respondents_table, response_rate
from ..ties.held_out import HeldOut, folds, named_matrix, scored
from ..ties.options import TieOptions
from ..ties.other_groups import learned_from, read_groups
from ..ties.probabilities import uncertainty_removed
from ..ties.waves import WaveFit, changes_between, fit_waves
from ..validation import Array, InputError, check_integer, check_number, listing, warn
from .base import GraphEstimator, drawn_seed

MOST_NODES_DENSE = 5000  # of which all pairs are held


@dataclass(eq=False, repr=False)
class TieModel(GraphEstimator):
    r"""Learn a network from what people tell about their ties, from places, groups and attributes.

    One likelihood (:mod:`nashgraph.ties.reports`, ``docs/mathematics.md``), whose posterior is maximised:

    * The log-odds of a tie depend on place, groups, attributes, likeness of signals, covariates of pairs and people's
      popularity. Members of a household share classes of ties. The sum over latent ties is exact.
    * Reports: people forget ties and name some that are none. A respondent i names j with probability σ(η_ij) if they
      are tied and φ_i if not. Known ties are certain.
    * Counts and numbers of ties (:mod:`nashgraph.ties.counts`): sums over the same ties, of which a share is recalled,
      with errors. Expected counts are those told, up to these errors.

    With waves, the other waves say how probable a tie is (:mod:`nashgraph.ties.waves`); counts are about all of them.
    No N × N array is held. Probabilities from counts alone are calibrated by asking drawn networks the same.

    Parameters
    ----------
    recall : float, optional
        Share of their ties that people remember when asked. By default it is estimated: from reports with a prior, or
        from counts by comparing both sides of ties if everybody answered; else nothing is taken as forgotten.
    error : float, optional
        Variance of a counted answer around the truth, beyond forgetting. By default estimated likewise, else 0.4.
    max_names : int, optional
        How many names the questionnaire had room for: those missing from a full list may still be tied.
    calibrate : bool
        Whether to calibrate probabilities by simulation (up to 5,000 nodes); it takes as long as the fit, in groups of
        a few hundred people several times as long. Another ``random_state``, or another order of the people, moves
        them: little in sparse networks of 40 people or more (``benchmarks/EVIDENCE.md``), more in small or dense ones.
    tol, max_iter : stop when the relative gradient is at most ``tol``, or after so many iterations
    random_state : int, of the simulation

    Attributes
    ----------
    graph_ : LearnedGraph without directions; weights are the column ``probability``
        The most probable pairs, two for every expected tie, with ``expected_ties``, ``ties_low`` and
        ``ties_high`` (a 90% interval) for every node.
    expected_ties_ : DataFrame, the same by node
    errors_ : recall, variance of errors and where they come from
    respondents_ : DataFrame by respondent: names given, recall with a 90% interval, false naming
    weights_ : DataFrame of what each part of the evidence counts, with standard errors and shares
    decisions_ : the response rate and what follows from it, and what is odd about the answers
    calibration_ : DataFrame of predicted and observed shares, once :meth:`validate` was called
    certificate_ : Certificate

    References
    ----------
    Breza, Chandrasekhar, McCormick, Pan, "Using aggregated relational data to feasibly identify network
    structure without network data", AER 2020. McCormick, Zheng, "Latent surface models for networks using
    aggregated relational data", JASA 2015.

    Examples
    --------
    >>> import networkx as nx
    >>> karate = nx.karate_club_graph()
    >>> A = nx.to_numpy_array(karate, weight=None)
    >>> T = pd.DataFrame(np.random.default_rng(0).random((34, 8)) < 0.4).astype(float)
    >>> model = TieModel().fit(traits=T, counts=pd.DataFrame(A @ T), n_ties=pd.Series(A.sum(axis=0)))
    >>> from nashgraph import edge_auc
    >>> edge_auc(karate, model) > 0.9
    True
    """

    recall: float | None = None
    error: float | None = None
    max_names: int | None = None
    calibrate: bool = True
    tol: float = 1e-3
    max_iter: int = 200
    random_state: Any = 0

    def fit(
        self,
        X: Any = None,
        y: Any = None,
        *,
        traits: Any = None,
        counts: Any = None,
        n_ties: Any = None,
        reports: Any = None,
        nominations: Any = None,
        asked: Any = None,
        known: Any = None,
        places: Any = None,
        groups: Any = None,
        pairs: Any = None,
        wave: Any = None,
        networks: Iterable[Any] | None = None,
    ) -> Self:
        """Learn the network from whatever was asked; every part is optional, but something must tell about ties.

        Tables of people match by name, in any order; 5.0 is 5. A table without names has a row for every person, in
        their order.

        Parameters
        ----------
        X : array or DataFrame of shape (n_signals, n_nodes), a TieSurvey, or a Study, optional
            Signals for likeness; columns are nodes. A study has signals and a TieSurvey.
        y : TieSurvey, optional
            Instead of the tables below, except ``known``, with signals X.
        traits : DataFrame with a row for every node, or array
            1 where the node has the trait, else 0. Columns that nobody counted may hold any numbers.
        counts : DataFrame with a row for every node that was asked
            How many of its ties have the trait that the column names. Empty where the answer is not known,
            "10+" for ten or more.
        n_ties : Series, how many ties a node has
        reports : DataFrame with the columns respondent, source, target and optionally relation and wave
            The respondent said that there is a tie from source to target. A table with a row of names for every
            respondent and a dict of lists are short forms.
        nominations : the short form of ``reports``; give one of the two
        asked : list of names, or Series of True and False by name, optional
            Who was asked for names, some of whom named nobody; by default those who reported something.
        known : DataFrame, networkx graph, list of pairs or dict, optional
            Pairs of nodes known to be tied, or known not to be. A table or list has source, target and optionally tie
            (1 or 0); the target "*" means that all ties of the source are known. In a graph all edges are ties, and all
            ties are known of nodes with a true attribute ``known``. A dict has the lists "ties", "non_ties" and "nodes"
            (those whose ties are all known).
        places : DataFrame of numbers with a row for every node: coordinates, or a house number
        groups : Series or DataFrame of memberships: household, hamlet, class
        pairs : DataFrame with the columns source, target and covariates of the pair, such as kinship
        wave : the wave whose network is wanted, if the reports have waves; the last by default
        networks : list of (network, traits) or (network, traits, X), other groups all of whose ties are known
        """
        recall, error = self._check_errors()
        tables = {
            "traits": traits,
            "counts": counts,
            "n_ties": n_ties,
            "reports": reports if nominations is None else nominations,
            "asked": asked,
            "known": known,
            "places": places,
            "groups": groups,
            "pairs": pairs,
            "wave": wave,
        }
        if reports is not None and nominations is not None:
            raise InputError("nominations is the short form of reports: give one of the two", parameter="nominations")
        X, survey = self._survey(X, y, tables)
        for decision in survey.decisions:
            warn(decision.reason)
        arrays = tie_arrays(survey, X)
        other_groups = read_groups(networks, arrays)
        if not survey.answered.any() and not other_groups:
            raise InputError(
                "nobody was asked: numbers of ties, counts or reports are needed for at least some nodes, or known "
                "ties with nodes whose ties are all known (a row with the target *), or networks of other groups"
            )
        options = TieOptions(
            recall=recall,
            error=error,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=drawn_seed(self.random_state),
            calibrate=self.calibrate and arrays.n <= MOST_NODES_DENSE,
        )
        if other_groups:
            learned = learned_from(other_groups, options, arrays.n)
        else:
            learned = None
        fit = partial(fit_ties, options=options, learned=learned)
        waves: list[WaveFit] = []
        fitted: TieFit
        if len(survey.waves) > 1:
            waves = fit_waves(arrays, fit, self.tol)
            fitted = waves[survey.waves.index(survey.wave_wanted)]
        else:
            fitted = fit(arrays)
        self._waves = waves
        self._keep(survey, X, fitted)
        self.certificate_.warn(type(self).__name__)
        if not self.adjacency_.nnz:
            few = self.expected_ties_["expected_ties"].sum() < 1.0
            warn(
                "By these answers, nobody has any ties: check that 0 means none, and leave cells empty where a person "
                "was not asked."
                if few
                else "These answers do not tell who is tied to whom: no pair is more probable than others. Ask how "
                "many ties have a trait (counts), or for names."
            )
        return self

    def _keep(self, survey: TieSurvey, X: Any, fitted: TieFit) -> None:
        """Become the fitted model, with nothing left of an earlier fit."""
        self._become(survey.names)
        arrays = fitted.arrays
        n = arrays.n
        pairs = likely_pairs(fitted, n)
        half = sparse.csr_array((pairs.probability, (pairs.one, pairs.other)), shape=(n, n))
        self.adjacency_ = sparse.csr_array(half + half.T)
        self.certificate_ = fitted.certificate
        self.errors_ = fitted.errors
        self.expected_ties_ = fitted.ties(pairs)
        self.asked_ = survey.answered
        self.survey_ = survey
        self.decisions_ = (*survey.decisions, *response_rate(survey))
        self.respondents_ = respondents_table(survey, fitted)
        self.weights_ = pd.DataFrame(fitted.weights, columns=list(Weight._fields))
        self._ties = fitted
        self._pairs = pairs
        self._signals = X
        self._draws: list[Any] | None = None

    def _survey(self, X: Any, y: Any, tables: dict[str, Any]) -> tuple[Any, TieSurvey]:
        """Return signals, and the survey that was given or is made from tables."""
        if isinstance(getattr(X, "ties", None), TieSurvey):  # a study
            X, y = X.signals if len(X.signals) else None, X.ties
        elif isinstance(X, TieSurvey):
            X, y = None, X
        if isinstance(y, TieSurvey):
            known = tables.pop("known")
            if doubled := [name for name, table in tables.items() if table is not None]:
                raise InputError(f"the survey has everything about ties: leave out {listing(doubled)}", value=doubled)
            return X, y.updated(known=known, room=self.max_names)
        names: Iterable[Any] | None = None
        if isinstance(X, pd.DataFrame) and tables["traits"] is None:
            names = X.columns
        elif X is not None and all(tables[name] is None for name in ("traits", "counts", "n_ties", "places", "groups")):
            names = range(np.shape(X)[1])
        return X, TieSurvey.of(names, room=self.max_names, **tables)

    def _check_errors(self) -> tuple[float | None, float | None]:
        recall = self.recall
        error = self.error
        if recall is not None:
            remedy = "the share of ties people remember, as 0.8"
            recall = check_number("recall", recall, low=1e-6, high=1, remedy=remedy)
        if error is not None:
            remedy = "the variance of an answer, as 0.5; None has it estimated"
            error = check_number("error", error, low=0, remedy=remedy)
        check_number("tol", self.tol, low=0, remedy="it is a relative gradient; try 1e-3")
        check_integer("max_iter", self.max_iter, low=0, remedy="try 200")
        if self.max_names is not None:
            check_integer("max_names", self.max_names, low=1, remedy="how many names the questionnaire had room for")
        return recall, error

    @property
    def graph_(self) -> LearnedGraph:
        """The most probable pairs as a graph without directions; weights are probabilities."""
        check_is_fitted(self)
        if self._graph is None:
            self._graph = LearnedGraph.of(
                self.adjacency_,
                self.node_names_,
                directed=False,
                node_columns={name: column.to_numpy() for name, column in self.expected_ties_.items()},
                edge_columns={"probability": self.adjacency_.data},
            )
        return self._graph

    @property
    def graphs_(self) -> dict[str, LearnedGraph]:
        """The graph of each wave, by its label; :attr:`graph_` alone if there are no waves."""
        check_is_fitted(self)
        if not self._waves:
            return {self.survey_.wave_wanted: self.graph_}
        graphs = {}
        n = len(self.node_names_)
        for label, fitted in zip(self.survey_.waves, self._waves, strict=True):
            pairs = likely_pairs(fitted, n)
            half = sparse.csr_array((pairs.probability, (pairs.one, pairs.other)), shape=(n, n))
            weights = sparse.csr_array(half + half.T)
            graphs[label] = LearnedGraph.of(
                weights,
                self.node_names_,
                directed=False,
                node_columns={name: column.to_numpy() for name, column in fitted.ties(pairs).items()},
                edge_columns={"probability": weights.data},
            )
        return graphs

    def changes(self, least: float = 0.1) -> pd.DataFrame:
        """Return the probability that a tie was formed or lost from each wave to the next, the surest changes first.

        Given what all waves say, the two ends of a change are taken as independent. Pairs of which neither is at least
        ``least`` are left out.
        """
        check_is_fitted(self)
        labels = self.survey_.waves
        if len(self._waves) < 2:
            raise InputError("the reports have no waves: give them a column wave", parameter="reports")
        return changes_between(self._waves, labels, self.node_names_, least)

    @property
    def replicate_graphs_(self) -> list[Any]:
        """Twenty draws of the network, for interventions with intervals; none above 5,000 nodes."""
        check_is_fitted(self)
        if self._draws is None:
            few = len(self.node_names_) <= MOST_NODES_DENSE
            self._draws = [draw.weights for draw in self.sample(20, self.random_state)] if few else []
        return self._draws

    @property
    def benefit_(self) -> pd.Series:
        """The expected number of ties as a benefit for :class:`GLGP` and :class:`ConsensusGL`."""
        return self.expected_ties_["expected_ties"].rename("benefit")

    def prior(self, rank: int = 50) -> LinearPrior:
        """Return the log-odds of all pairs, ``left @ right.T``, as a prior for :class:`GLGP`.

        With M signals, ``ConsensusGL(GLGP(prior=model.prior(), lam=M**-0.5), scale="standard").fit(X)`` is at least as
        good as the better of signals and answers on synthetic networks (benchmarks/EVIDENCE.md).
        """
        check_is_fitted(self)
        theta = logit(self.probabilities().to_numpy().clip(1e-9, 1.0 - 1e-9))
        np.fill_diagonal(theta, 0.0)
        values, vectors = np.linalg.eigh(theta)
        largest = np.argsort(-np.abs(values))[:rank]
        return LinearPrior(vectors[:, largest] * values[largest], vectors[:, largest])

    def probabilities(self) -> pd.DataFrame:
        """Return the probability of a tie for every pair of nodes."""
        check_is_fitted(self)
        n = len(self.node_names_)
        if n > MOST_NODES_DENSE:
            raise InputError(
                f"probabilities of all pairs of {n:,} nodes would not fit: use graph_, which has those that matter, or "
                "prior()"
            )
        p = self._ties.probabilities(np.arange(n))
        return pd.DataFrame(p, index=self.node_names_, columns=self.node_names_)

    def expected_reports(self) -> pd.DataFrame:
        """Return the probability that each person (row), if asked for names, would name each other one."""
        check_is_fitted(self)
        if not self._ties.arrays.asked.any():
            raise InputError("nobody was asked for names, so it is not known what share of ties people name")
        reports = self._ties.expected_reports(np.arange(len(self.node_names_)))
        return pd.DataFrame(reports, index=self.node_names_, columns=self.node_names_)

    def validate(self, n_folds: int = 5, random_state: Any = 0) -> HeldOut:
        """Return how well it is predicted whom hidden respondents of this survey named.

        The respondents are hidden in ``n_folds`` parts, one after the other: their reports are left out, the model is
        fitted again, and the probabilities that they name each other person are compared with whom they named.
        """
        check_is_fitted(self)
        check_integer("n_folds", n_folds, low=2, high=1000, remedy="how many parts the respondents are hidden in")
        if len(self.survey_.respondents) < n_folds:
            raise InputError(
                f"{len(self.survey_.respondents)} people were asked for names, too few to hide them in {n_folds} parts",
                parameter="n_folds",
                value=n_folds,
            )
        truth = named_matrix(self.survey_, self.survey_.wave_wanted)
        named: list[Array] = []
        predicted: list[Array] = []
        for visible, hidden in folds(self.survey_, n_folds, drawn_seed(random_state)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is odd about the survey was said at the fit
                fitted = clone(self).fit(self._signals, visible)._ties
            others = np.arange(len(self.node_names_))[None, :] != hidden[:, None]
            named.append(truth[hidden][others])
            predicted.append(fitted.expected_reports(hidden)[others])
        self.validation_ = scored(np.concatenate(named), np.concatenate(predicted), len(self.survey_.respondents))
        return self.validation_

    @property
    def calibration_(self) -> pd.DataFrame | None:
        """Predicted and observed shares of names by hidden respondents, once :meth:`validate` has been called."""
        check_is_fitted(self)
        validation = getattr(self, "validation_", None)
        return None if validation is None else validation.calibration

    def sample(self, n: int = 1, random_state: Any = 0) -> list[LearnedGraph]:
        """Return networks drawn from the pairs' probabilities, with known ties and non-ties as they are.

        Popularity of nodes that were not asked is drawn too. Given these, pairs are drawn independently, so a
        node's number of ties varies a little more than the answers allow.
        """
        check_is_fitted(self)
        check_integer("n", n, low=1, remedy="how many networks to draw")
        random = np.random.default_rng(drawn_seed(random_state))
        count = len(self.node_names_)
        networks = []
        for _ in range(n):
            one, other = self._ties.draw(random)
            rows = np.concatenate([one, other])
            columns = np.concatenate([other, one])
            ties = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(count, count))
            networks.append(LearnedGraph.of(ties, self.node_names_, directed=False))
        return networks

    def why(self, one: Any, other: Any) -> pd.DataFrame:
        """Return the reasons for and against a tie, in log-odds relative to a mean pair, strongest first."""
        check_is_fitted(self)
        people = self.survey_.index
        if missing := [name for name in (one, other) if people.place(name) < 0]:
            raise InputError(f"no such node: {listing(missing)}; the nodes are {listing(people.texts)}")
        rows = self._ties.parts(people.place(one), people.place(other))
        table = pd.DataFrame(rows, columns=["part", "evidence", "log_odds"])
        return table.sort_values("log_odds", key=lambda column: -column.abs(), ignore_index=True)

    def ask(self, n: int = 10) -> pd.DataFrame:
        """Return who to interview next: those not asked yet whose ties are least certain, Σ_j p_ij (1 − p_ij)."""
        check_is_fitted(self)
        check_integer("n", n, low=1, remedy="how many people to interview")
        if self.asked_.all():
            raise InputError("everybody was asked: there is nobody left to interview")
        found = {"expected_ties": self._pairs.expected, "uncertainty": self._pairs.variance}
        table = pd.DataFrame({"name": self.node_names_, **found})[~self.asked_]
        return table.sort_values("uncertainty", ascending=False, kind="stable", ignore_index=True).head(n)

    def ask_about(self, traits: Any = None) -> pd.DataFrame:
        """Return which further counting questions would teach most, the best first.

        For one person i, let v_j = p_ij (1 − p_ij), V = diag(v) and F the traits counted already, with error variances
        N. To second order, A_i has the covariance C = V − V F (FᵀVF + N)⁻¹ FᵀV, and an answer about the trait t removes
        ‖C t‖² / (tᵀ C t + noise) of its sum of variances. ``removed`` is the share of all uncertainty about ties that
        everybody's answers would remove, given the questions above it; ``holders`` is the share of nodes who have the
        trait. ``traits``, a table of 0 and 1 with a row for every node, has the traits to choose from; by default they
        are those given to ``fit`` that nobody counted.
        """
        check_is_fitted(self)
        arrays = self._ties.arrays
        counted: Array = np.asarray(~np.isnan(arrays.answers).all(axis=0))
        if traits is None:
            T = arrays.features[:, ~counted]
            names = [label for label, answered in zip(arrays.labels, counted, strict=True) if not answered]
        else:
            table = TieSurvey.of(self.node_names_, traits=traits).traits
            T = table.to_numpy()
            names = list(table.columns)
        useful = [k for k in range(T.shape[1]) if set(np.unique(T[:, k])) == {0.0, 1.0} and names[k] != "ties"]
        if not useful:
            raise InputError("there is no other trait of 0 and 1 that some have and some do not: pass some as traits")
        counted[0] = True  # whoever is asked tells the number of ties first
        noise = ASSUMED_ERROR + self.errors_.variance
        people = np.linspace(0, len(T) - 1, min(len(T), 100)).astype(int)
        p = self._ties.probabilities(people)
        known = arrays.features[:, counted]
        rows = []
        while useful:  # the next best together with those before it: two traits of the same people teach little more
            removed = uncertainty_removed(p, known, T[:, useful], noise)
            best = useful.pop(int(np.argmax(removed)))
            rows.append((names[best], T[:, best].mean(), removed.max()))
            known = np.column_stack([known, T[:, best]])
        return pd.DataFrame(rows, columns=["trait", "holders", "removed"])
