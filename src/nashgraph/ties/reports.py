r"""The report model: latent ties behind reports that err, fitted by maximum a posteriori.

    maximise over θ   Σ_gh log Σ_u P_θ(u) Π_{ij ∈ gh} Σ_k P_θ(k | u) P_θ(N_ij | k) P_θ(N_ji | k)  +  log prior(θ)

* class u of a pair of groups: log-odds against class 0 are x_gh · β_u + b_ug + b_uh;
* tie: P(k ≥ 1 | u) = σ(z_ij · γ₁ + δ_1u), and P(k = 2 | k ≥ 1, u) = σ(z_ij · γ₂ + δ_2u);
* report of a respondent i about j: P(N_ij = 1 | k ≥ 1) = σ(η_ij + κ_k), P(N_ij = 1 | k = 0) = φ_i, with
  η_ij = μ + s_ij · ν_s + w_i · ν + w_j · ω + r_i + R_h(i) + c_j + C_h(j);
* counts: sums over a person's ties, by a factor exp(E_i · Z_j + E_j · Z_i) of a tie (:mod:`nashgraph.ties.counts`).

The sums over u and k are exact. The gradient is the posterior mean of the complete-data gradient (Fisher), computed by
:mod:`nashgraph.ties.report_kernels`. Plain EM creeps along the ridge between recall and density; limited-memory BFGS,
in coordinates scaled by the complete-data information, does not. At the solution the gradient is zero; the certificate
is the norm of the scaled gradient, relative to that of the number of reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from ..validation import Array
from .counts import Counts, Tilts
from .pair_sample import PairSample, evaluate_sampled
from .pair_terms import PairTerm, TermLayout, layout, standardised
from .report_kernels import IN, OUT, PairData, PairWeights, Rows, posterior_rows
from .report_sums import Sums, evaluate

CHUNKS = 16  # of groups: several for each thread, so that none waits
LARGEST = 40.0  # of a linear predictor: its exponential and their products stay finite


@dataclass(frozen=True)
class ReportPriors:
    """Means and standard deviations of the priors of the report model, chosen on 12 villages (docs/mathematics.md).

    Fixed scales of the effects predicted better than scales estimated by a Laplace approximation.
    """

    feature: float = 20.0**-0.5  # of a weight of a standardised covariate
    all_questions: float = 0.5  # of the log-odds from the questions' own weights together
    likeness: tuple[float, float] = (0.5, 0.7)  # weight of the likeness that all questions share
    class_level: tuple[float, float] = (-2.5, 2.0)
    class_group: float = 0.6
    tie_level: tuple[float, float] = (-5.0, 3.0)
    tie_person: float = 0.0  # 0: none; popularity in the tie itself predicted worse where reports have effects
    strong_level: tuple[float, float] = (-1.0, 1.0)
    class_tie: tuple[float, ...] = (2.0, 6.0)
    class_spread: float = 1.0
    recall: float = 0.2  # typical chance of naming a weak tie; with density it is only weakly identified
    recall_spread: float = 20.0**-0.5  # of its log-odds
    covariate: float = 0.5**0.5  # of respondents' and named people's covariates
    strong_named: tuple[float, float] = (1.5, 0.5)
    respondent: float = 0.4
    full_list: float = 1.5  # of respondents whose list was full: their recall is what room they had
    respondent_group: float = 0.5
    named: float = 0.6
    named_group: float = 1.0
    wrong_names: float = 0.05  # typical share of names without a tie behind them
    wrong_spread: float = 1.5  # of its log-odds
    false_spread: float = 0.2  # of respondents' log-odds of false naming around their mean


@dataclass(frozen=True)
class ReportTask:
    """Reports and covariates, in numbers of people.

    ``says`` has (respondent, about, bits); ``bits`` are OUT (respondent → about) and IN. ``group`` is the unit that
    shares ties. ``known`` has (one, other, bits) with NO_TIE or TIE, and ``complete`` marks people all of whose ties
    are in it. ``w`` are standardised covariates of people, for naming and being named. ``full`` marks respondents
    whose list was full. ``counts`` are what people counted among their ties. ``learned`` has prior means and spreads of
    the weights of features (not standardised) in the tie, from other groups.
    """

    asked: Array
    group: Array
    says: tuple[Array, Array, Array]
    terms: list[PairTerm]
    w: Array
    full: Array
    directed: bool = False
    asks_in: bool = False
    within: bool = False
    known: tuple[Array, Array, Array] | None = None
    complete: Array | None = None
    counts: Counts | None = None
    learned: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def pair_data(task: ReportTask, terms: TermLayout) -> PairData:
    """Return the task, with people sorted by group, as arrays for the kernels."""
    n_people = len(task.group)
    respondent, about, bits = task.says
    if task.known is not None:
        one, other, value = task.known
        respondent = np.concatenate([respondent, one, other])
        about = np.concatenate([about, other, one])
        bits = np.concatenate([bits, value, value])
    keys, place = np.unique(respondent.astype(np.int64) * n_people + about, return_inverse=True)
    all_bits = np.zeros(len(keys), dtype=np.uint8)
    np.bitwise_or.at(all_bits, place, bits.astype(np.uint8))
    rows = keys // n_people
    columns = keys % n_people
    back = np.lexsort((rows, columns))
    if task.counts is None:
        features = np.zeros((0, n_people))
    else:
        features = task.counts.features.T
    return PairData(
        member_start=_starts(task.group, int(task.group.max()) + 1),
        group=task.group.astype(np.int64),
        weight=np.ones(int(task.group.max()) + 1),
        asked=task.asked.astype(np.bool_),
        complete=(np.zeros(n_people) if task.complete is None else task.complete).astype(np.bool_),
        start=_starts(rows, n_people),
        target=columns,
        bits=all_bits,
        back_start=_starts(columns, n_people),
        back_source=rows[back],
        back_bits=all_bits[back],
        slots=2 if task.directed else 1,
        asks_in=bool(task.asks_in),
        within=bool(task.within),
        features=np.ascontiguousarray(features, dtype=float),
        uses=np.ones((3, len(terms.terms)), dtype=np.bool_),
        **terms.kernel_arrays,
    )


def _starts(rows: Array, n_rows: int) -> Array:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int64)


def sorted_by_group(task: ReportTask, order: Array) -> ReportTask:
    """Return the task with people in another order: entry k is person ``order[k]``."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))

    respondent, about, bits = task.says
    known = task.known
    if known is not None:
        known = (place[known[0]], place[known[1]], known[2])
    return replace(
        task,
        asked=task.asked[order],
        group=task.group[order],
        says=(place[respondent], place[about], bits),
        terms=[term.reordered(order, place) for term in task.terms],
        w=task.w[order],
        full=task.full[order],
        known=known,
        complete=None if task.complete is None else task.complete[order],
        counts=None if task.counts is None else task.counts.reordered(order),
    )


class ReportProblem:
    """The penalised log-likelihood as a function of one vector of parameters.

    ``blocks`` names the slices of the vector. ``objective(theta)`` returns value and gradient. People are
    sorted by group: entry k is person ``order[k]``.
    """

    def __init__(self, task: ReportTask, priors: ReportPriors, n_classes: int = 3, strong: bool = True) -> None:
        self.order = np.argsort(task.group, kind="stable")
        task = sorted_by_group(task, self.order)
        self.task = task
        self.priors = priors
        self.n_classes = n_classes
        self.strong = strong
        plain = layout(task.terms, len(task.group))
        self.data = pair_data(task, plain)
        self.terms = standardised(plain, self.data)
        self.tilts = None if task.counts is None else Tilts(task.counts)
        self.tilt_tol = 1e-4
        self.most = int(np.diff(self.data.member_start).max())
        self.n_groups = len(self.data.member_start) - 1
        self._choose_features()
        self._mark_uses()
        self._place_parameters()

    def _choose_features(self) -> None:
        """Store the columns of the basis that each part of the model uses; the level is in all of them."""
        terms = self.terms.terms
        usable = self.terms.basis.any(axis=0)
        term_of = self.terms.term_of
        self.in_class = usable & np.array([term.use.in_class or term.label == "level" for term in terms])[term_of]
        self.in_tie = usable & np.array([term.use.in_tie for term in terms])[term_of]
        self.in_report = usable & np.array([term.use.in_report or term.label == "level" for term in terms])[term_of]

    def _mark_uses(self) -> None:
        """Tell the kernels which terms explain the tie, its strength and the report, so that others cost nothing."""
        n_terms = len(self.terms.terms)
        parts = [self.in_tie, self.in_tie & self.strong, self.in_report]
        uses = np.array([np.bincount(self.terms.term_of[part], minlength=n_terms) > 0 for part in parts])
        uses[:, 0] = True
        uses[0] |= np.add.reduceat(self.terms.likeness != 0, self.terms.first_cell[:-1]) > 0
        self.data = self.data._replace(uses=uses)

    def _place_parameters(self) -> None:
        """Lay the parameters out in one vector, with the mean and spread of each prior."""
        priors = self.priors
        n_people = len(self.task.group)
        extra = self.n_classes - 1
        blocks: list[tuple[str, Array, Array]] = []

        def add(name: str, mean: Any, spread: Any, size: int) -> None:
            blocks.append((name, np.zeros(size) + mean, np.zeros(size) + spread))

        def features(used: Array, level: tuple[float, float]) -> tuple[Array, Array]:
            spread = self._feature_spread()[used]
            mean = np.zeros(len(spread))
            mean[0], spread[0] = level
            return mean, spread

        for u in range(extra):
            add(f"class{u}", *features(self.in_class, priors.class_level), int(self.in_class.sum()))
        add("tie", *features(self.in_tie, priors.tie_level), int(self.in_tie.sum()))
        add("likeness", *priors.likeness, 1 if self.terms.likeness.any() else 0)
        add("strength", *features(self.in_tie, priors.strong_level), int(self.in_tie.sum()))
        recall = (float(logit(priors.recall)), priors.recall_spread)
        add("report", *features(self.in_report, recall), int(self.in_report.sum()))

        def effect(name: str, spread: float, size: int) -> None:
            add(name, 0.0, spread, size if spread > 0 else 0)

        effect("class_group", priors.class_group, extra * self.n_groups)
        effect("tie_person", priors.tie_person, n_people)
        add("delta", [*priors.class_tie[:extra], *([0.0] * extra)], priors.class_spread, 2 * extra)
        add("strong_named", *priors.strong_named, 1)
        add("naming_w", 0.0, priors.covariate, self.task.w.shape[1])
        add("named_w", 0.0, priors.covariate, self.task.w.shape[1])
        respondents = np.flatnonzero(self.task.asked)
        add("naming", 0.0, np.where(self.task.full, priors.full_list, priors.respondent)[respondents], len(respondents))
        effect("naming_group", priors.respondent_group, self.n_groups)
        effect("named", priors.named, n_people)
        effect("named_group", priors.named_group, self.n_groups)
        add("false", 0.0, priors.false_spread, len(respondents))
        add("false_mean", *self._false_naming(), 1)
        self.respondents = respondents
        self.effects = {"class_group": extra * self.n_groups, "tie_person": n_people, "naming_group": self.n_groups}
        self.effects.update(named=n_people, named_group=self.n_groups)
        ends = np.cumsum([0, *(len(mean) for _, mean, _ in blocks)])
        self.blocks = {name: slice(int(ends[k]), int(ends[k + 1])) for k, (name, _, _) in enumerate(blocks)}
        self.mean = np.concatenate([mean for _, mean, _ in blocks])
        self.precision = np.concatenate([spread**-2.0 for _, _, spread in blocks])
        self._place_learned()

    def _place_learned(self) -> None:
        """Put the priors that other groups teach in place of the usual ones."""
        places = {}
        if self.terms.likeness.any():
            places["likeness"] = (self.blocks["likeness"].start, 1.0)
        for place, column in enumerate(np.flatnonzero(self.in_tie)):
            places[self.terms.names[column]] = (self.blocks["tie"].start + place, float(self.terms.spread[column]))
        for name, (mean, spread) in self.task.learned.items():
            if name in places:
                place, unit = places[name]
                self.mean[place] = mean * unit
                self.precision[place] = (spread * unit) ** -2.0

    def _feature_spread(self) -> Array:
        """Return the prior spread of the features' weights: that of each question, or less where there are many.

        Many questions together may add no more than ``all_questions`` to the spread of the log-odds.
        """
        asks = np.array([term.natural is not None for term in self.terms.terms])
        least = self.priors.all_questions / np.sqrt(max(1, int(asks.sum())))
        return np.where(asks[self.terms.term_of], min(self.priors.feature, least), self.priors.feature)

    def start(self) -> Array:
        """Return where the fit starts: at the prior means."""
        theta = self.mean.copy()
        if self.tilts is not None and self.tilts.told[:, 0].any():
            # the density that people tell of; classes have theirs relative to it
            mean = float(self.tilts.answers[self.tilts.told[:, 0], 0].mean())
            density = float(np.clip(mean / len(self.task.group), 1e-6, 0.5))
            if self.n_classes == 1:
                theta[self.blocks["tie"].start] = logit(density)
        return theta

    def _false_naming(self) -> tuple[float, float]:
        """Return the prior of false naming: ``wrong_names`` of the names, spread over all the people to name."""
        n_named = int((self.data.bits & (OUT | IN) > 0).sum())
        pairs = max(1, int(self.task.asked.sum())) * max(1, len(self.task.group) - 1)
        chance = self.priors.wrong_names * max(n_named, 1) / pairs
        return float(logit(min(chance, 0.2))), self.priors.wrong_spread

    def weights(self, theta: Array, tilts: Array | None = None) -> PairWeights:
        """Return the parameters as the kernels need them, with other tilts than those found if they are given."""
        at = {name: theta[part] for name, part in self.blocks.items()}
        for name, size in self.effects.items():
            if not len(at[name]):
                at[name] = np.zeros(size)
        basis = self.terms.basis
        extra = self.n_classes - 1
        classes = np.array([basis[:, self.in_class] @ at[f"class{u}"] for u in range(extra)])
        level = basis[:, self.in_tie] @ at["tie"]
        if len(at["likeness"]):
            level = level + at["likeness"][0] * self.terms.likeness
        tie = np.array([level, basis[:, self.in_tie] @ at["strength"]])
        if not self.strong:
            tie[1, 0] = -np.inf  # the level: a tie is never strong
        report = basis[:, self.in_report] @ at["report"]
        n_people = len(self.task.group)
        group = self.task.group
        naming = self.task.w @ at["naming_w"] + at["naming_group"][group]
        naming[self.respondents] += at["naming"]
        named = self.task.w @ at["named_w"] + at["named_group"][group] + at["named"]
        false = np.full(n_people, at["false_mean"][0])
        false[self.respondents] += at["false"]
        return PairWeights(
            class_table=classes.reshape(extra, len(basis)),
            tie_table=_odds(tie),
            report_table=_odds(report),
            class_group=at["class_group"].reshape(extra, self.n_groups),
            tie_person=_odds(at["tie_person"]),
            class_tie=_odds(np.concatenate([[0.0], at["delta"][:extra]])),
            class_strong=_odds(np.concatenate([[0.0], at["delta"][extra:]])),
            strong_named=float(_odds(at["strong_named"][0])),
            naming=_odds(naming),
            named=_odds(named),
            false_naming=expit(false),
            tilts=self._tilts_or_found(tilts),
        )

    def _tilts_or_found(self, tilts: Array | None) -> Array:
        if tilts is not None:
            return tilts
        if self.tilts is None:
            return np.zeros(self.data.features.shape)
        return self.tilts.of_features

    def likelihood(self, theta: Array, sample: PairSample | None = None) -> tuple[float, Array]:
        """Return the marginal log-likelihood and its gradient, over all pairs or estimated from a sample."""
        value, sums = self._sums(theta, 1, sample)
        return value, self._collect(sums, power=1)

    def information(self, theta: Array, sample: PairSample | None = None) -> Array:
        """Return the diagonal of the complete-data information, prior included."""
        _, sums = self._sums(theta, 2, sample)
        return self._collect(sums, power=2) + self.precision

    def _sums(
        self, theta: Array, power: int, sample: PairSample | None = None, tilts: Array | None = None
    ) -> tuple[float, Sums]:
        n_people = len(self.task.group)
        n_cells = len(self.terms.basis)
        extra = self.n_classes - 1
        n_chunks = min(CHUNKS, self.n_groups)
        chunks = Sums(
            cells=np.zeros((n_chunks, 3, n_cells)),
            classes=np.zeros((n_chunks, extra, n_cells)),
            group=np.zeros((n_chunks, extra, self.n_groups)),
            person=np.zeros((n_chunks, 4, n_people)),
            other=np.zeros((n_chunks, 2 * extra + 1)),
            counted=np.zeros((n_chunks, *self.data.features.shape)),
        )
        totals = np.zeros(n_chunks)
        if sample is None:
            evaluate(self.data, self.weights(theta, tilts), self.most, power, totals, chunks)
        else:
            evaluate_sampled(self.data, self.weights(theta, tilts), sample, power, totals, chunks)
        return float(totals.sum()), Sums(*(part.sum(axis=0) for part in chunks))

    def _collect(self, sums: Sums, power: int) -> Array:
        """Return derivatives by parameter from those by cell and person; power 2 is for a diagonal of a Hessian."""
        basis = self.terms.basis**power
        w = self.task.w**power
        group = self.task.group
        person, naming, named, false = sums.person
        out = np.zeros(len(self.mean))
        for u in range(self.n_classes - 1):
            out[self.blocks[f"class{u}"]] = basis[:, self.in_class].T @ sums.classes[u]
        out[self.blocks["tie"]] = basis[:, self.in_tie].T @ sums.cells[0]
        if self.terms.likeness.any():
            out[self.blocks["likeness"]] = self.terms.likeness**power @ sums.cells[0]
        if self.strong:
            out[self.blocks["strength"]] = basis[:, self.in_tie].T @ sums.cells[1]
        out[self.blocks["report"]] = basis[:, self.in_report].T @ sums.cells[2]
        out[self.blocks["delta"]] = sums.other[:-1]
        out[self.blocks["strong_named"]] = sums.other[-1]
        out[self.blocks["naming_w"]] = w.T @ naming
        out[self.blocks["named_w"]] = w.T @ named
        out[self.blocks["naming"]] = naming[self.respondents]
        out[self.blocks["false"]] = false[self.respondents]
        out[self.blocks["false_mean"]] = false.sum()
        effects = {
            "class_group": sums.group.ravel(),
            "tie_person": person,
            "naming_group": np.bincount(group, naming, self.n_groups),
            "named": named,
            "named_group": np.bincount(group, named, self.n_groups),
        }
        for name, values in effects.items():
            part = self.blocks[name]
            if part.stop > part.start:
                out[part] = values
        return out

    def objective(self, theta: Array, sample: PairSample | None = None) -> tuple[float, Array]:
        """Return the log-likelihood plus the log prior, and the gradient; with counts, at the tilts that fit them."""
        value = 0.0
        if self.tilts is not None:
            self.fit_tilts(theta, self.tilt_tol)
            value = self.tilts.objective
        log_likelihood, gradient = self.likelihood(theta, sample)
        value += log_likelihood
        away = theta - self.mean
        value -= 0.5 * float(self.precision @ away**2)
        return value, gradient - self.precision * away

    def fit_tilts(self, theta: Array, tol: float) -> None:
        """Find the tilts by which expected counts are those told, up to errors."""
        if self.tilts is None:
            return

        def expected(tilts: Array) -> tuple[float, Array]:
            value, sums = self._sums(theta, 0, tilts=tilts)
            return value, sums.counted

        self.tilts.solve(expected, tol)

    @property
    def tilt_residual(self) -> float:
        """How far expected counts are from those told, up to errors, relative to the counts."""
        return 0.0 if self.tilts is None else self.tilts.relative_residual

    def measure_counts(self, theta: Array) -> float:
        """Compute the errors of counts and the scale of tilts; return how much the errors changed."""
        if self.tilts is None:
            return 0.0
        none = np.zeros(self.data.features.shape)
        changed = self.tilts.measure_errors(lambda people: self.rows(theta, people, none)[0])
        self.tilts.measure_curvature(lambda people: self.rows(theta, people)[0])
        return changed

    def rows(
        self, theta: Array, people: Array, tilts: Array | None = None, naming: bool = False
    ) -> tuple[Array, Array, Array]:
        """Return P(tie), P(strong tie) and P(names) of some people with everybody, in the problem's order."""
        data = self.data
        groups = np.unique(data.group[people])
        sizes = np.diff(data.member_start)[groups]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shape = (int(first[-1]), len(data.group))
        nodes, shares = np.polynomial.hermite_e.hermegauss(9)
        rows = Rows(
            tie=np.zeros(shape),
            strong=np.zeros(shape),
            named=np.zeros(shape if naming else (0, 0)),
            nodes=np.exp(self.priors.respondent * nodes),
            shares=shares / shares.sum(),
        )
        posterior_rows(data, self.weights(theta, tilts), groups, first, self.most, rows)
        mine = first[np.searchsorted(groups, data.group[people])] + people - data.member_start[data.group[people]]
        return rows.tie[mine], rows.strong[mine], rows.named[mine] if naming else rows.named


def _odds(predictor: Array | float) -> Array:
    return np.exp(np.clip(predictor, None, LARGEST))
