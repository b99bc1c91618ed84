r"""The report model: latent ties behind reports that err, fitted by maximum a posteriori.

    maximise over θ   Σ_gh log Σ_u P_θ(u) Π_{ij ∈ gh} Σ_k P_θ(k | u) P_θ(N_ij | k) P_θ(N_ji | k)  +  log prior(θ)

* class u of a pair of groups: log-odds against class 0 are x_gh · β_u + b_ug + b_uh;
* tie: P(k ≥ 1 | u) = σ(z_ij · γ₁ + δ_1u), and P(k = 2 | k ≥ 1, u) = σ(z_ij · γ₂ + δ_2u);
* report of a respondent i about j: P(N_ij = 1 | k ≥ 1) = σ(η_ij + κ_k), P(N_ij = 1 | k = 0) = φ_i, with
  η_ij = μ + s_ij · ν_s + w_i · ν + w_j · ω + r_i + R_h(i) + c_j + C_h(j).

The sums over u and k are exact. The gradient is the posterior mean of the complete-data gradient (Fisher), computed by
:mod:`nashgraph.ties.report_kernels`. Plain EM creeps along the ridge between recall and density; limited-memory BFGS,
in coordinates scaled by the complete-data information, does not. At the solution the gradient is zero; the certificate
is the norm of the scaled gradient, relative to that of the number of reports.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from ..certificate import Certificate, Measure, Monitor, Status
from ..validation import Array
from .pair_sample import PairSample, evaluate_sampled
from .pair_terms import PairTerm, TermLayout, layout, standardised
from .report_kernels import IN, OUT, PairData, PairWeights, Rows, posterior_rows
from .report_sums import Sums, evaluate
from .sampled_fit import fit_sampled

CHUNKS = 16  # of groups: several for each thread, so that none waits
LEAST_INFORMATION = 1e-3  # that a coordinate is scaled by
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
    whose list was full. ``left`` and ``right`` (N × rank) are log-odds of ties that are added as they are.
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
    left: Array | None = None
    right: Array | None = None


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
    none = np.zeros((n_people, 0))
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
        left=none if task.left is None else np.ascontiguousarray(task.left, dtype=float),
        right=none if task.right is None else np.ascontiguousarray(task.right, dtype=float),
        uses=np.ones((3, len(terms.terms)), dtype=np.bool_),
        **terms.kernel_arrays,
    )


def _starts(rows: Array, n_rows: int) -> Array:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int64)


def sorted_by_group(task: ReportTask, order: Array) -> ReportTask:
    """Return the task with people in another order: entry k is person ``order[k]``."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))

    def moved(values: Array | None) -> Array | None:
        return None if values is None else values[order]

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
        complete=moved(task.complete),
        left=moved(task.left),
        right=moved(task.right),
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

    def _feature_spread(self) -> Array:
        """Return the prior spread of the features' weights: that of each question, or less where there are many.

        Many questions together may add no more than ``all_questions`` to the spread of the log-odds.
        """
        asks = np.array([term.natural is not None for term in self.terms.terms])
        least = self.priors.all_questions / np.sqrt(max(1, int(asks.sum())))
        return np.where(asks[self.terms.term_of], min(self.priors.feature, least), self.priors.feature)

    def start(self) -> Array:
        """Return where the fit starts: at the prior means."""
        return self.mean.copy()

    def _false_naming(self) -> tuple[float, float]:
        """Return the prior of false naming: ``wrong_names`` of the names, spread over all the people to name."""
        n_named = int((self.data.bits & (OUT | IN) > 0).sum())
        pairs = max(1, int(self.task.asked.sum())) * max(1, len(self.task.group) - 1)
        chance = self.priors.wrong_names * max(n_named, 1) / pairs
        return float(logit(min(chance, 0.2))), self.priors.wrong_spread

    def weights(self, theta: Array) -> PairWeights:
        """Return the parameters as the kernels need them."""
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
        )

    def likelihood(self, theta: Array, sample: PairSample | None = None) -> tuple[float, Array]:
        """Return the marginal log-likelihood and its gradient, over all pairs or estimated from a sample."""
        value, sums = self._sums(theta, 1, sample)
        return value, self._collect(sums, power=1)

    def information(self, theta: Array, sample: PairSample | None = None) -> Array:
        """Return the diagonal of the complete-data information, prior included."""
        _, sums = self._sums(theta, 2, sample)
        return self._collect(sums, power=2) + self.precision

    def _sums(self, theta: Array, power: int, sample: PairSample | None = None) -> tuple[float, Sums]:
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
        )
        totals = np.zeros(n_chunks)
        if sample is None:
            evaluate(self.data, self.weights(theta), self.most, power, totals, chunks)
        else:
            evaluate_sampled(self.data, self.weights(theta), sample, power, totals, chunks)
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
        """Return the log-likelihood plus the log prior, and the gradient."""
        value, gradient = self.likelihood(theta, sample)
        away = theta - self.mean
        value -= 0.5 * float(self.precision @ away**2)
        return value, gradient - self.precision * away


def _odds(predictor: Array | float) -> Array:
    return np.exp(np.clip(predictor, None, LARGEST))


@dataclass(frozen=True)
class ReportFit:
    """The fitted report model."""

    problem: ReportProblem
    theta: Array
    objective: float
    certificate: Certificate
    sampled_information: Array | None = None

    @cached_property
    def information(self) -> Array:
        """The diagonal of the complete-data information at the solution; of many people estimated from a sample."""
        if self.sampled_information is not None:
            return self.sampled_information
        return self.problem.information(self.theta)

    def block(self, name: str) -> Array:
        """Return one part of the parameters."""
        return self.theta[self.problem.blocks[name]]

    def rows(self, people: Array, naming: bool = True) -> tuple[Array, Array, Array]:
        """Return P(tie), P(strong tie) and P(names) of some people with everybody, each len(people) × N.

        Without ``naming``, which takes longest for people who were not asked, the last is empty.
        """
        problem = self.problem
        data = problem.data
        place = np.empty(len(data.group), dtype=np.int64)
        place[problem.order] = np.arange(len(data.group))
        at = place[np.asarray(people)]
        groups = np.unique(data.group[at])
        sizes = np.diff(data.member_start)[groups]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shape = (int(first[-1]), len(data.group))
        nodes, shares = np.polynomial.hermite_e.hermegauss(9)
        rows = Rows(
            tie=np.zeros(shape),
            strong=np.zeros(shape),
            named=np.zeros(shape if naming else (0, 0)),
            nodes=np.exp(problem.priors.respondent * nodes),
            shares=shares / shares.sum(),
        )
        posterior_rows(data, problem.weights(self.theta), groups, first, problem.most, rows)
        mine = first[np.searchsorted(groups, data.group[at])] + at - data.member_start[data.group[at]]
        wanted = np.ix_(mine, place)
        named = rows.named[wanted] if naming else rows.named
        return rows.tie[wanted], rows.strong[wanted], named


def fit_reports(
    task: ReportTask,
    priors: ReportPriors | None = None,
    n_classes: int = 3,
    strong: bool = True,
    tol: float = 1e-3,
    max_iter: int = 300,
    exact_up_to: int = 2000,
) -> ReportFit:
    """Fit the report model; above ``exact_up_to`` people by :mod:`nashgraph.ties.sampled_fit`.

    ``n_classes`` is 1 where groups are single people. ``tol`` is the norm of the gradient in units of standard
    errors (of the complete data), relative to the square root of the number of reports.
    """
    problem = ReportProblem(task, priors or ReportPriors(), n_classes, strong)
    size = np.sqrt(max(1.0, float((problem.data.bits & (OUT | IN) > 0).sum())))
    if len(task.group) > exact_up_to:
        found = fit_sampled(problem, size, tol, max_iter, LEAST_INFORMATION)
        return ReportFit(problem, found.theta, found.objective, found.certificate, found.information)
    theta = problem.start()
    scale = 1.0 / np.sqrt(np.maximum(problem.information(theta), LEAST_INFORMATION))
    monitor = Monitor(Measure.GRADIENT, tol, max_iter)
    last: dict[str, Array | float] = {}

    def negative(scaled: Array) -> tuple[float, Array]:
        value, gradient = problem.objective(theta + scale * scaled)
        last.update(scaled=scaled.copy(), value=value, gradient=scale * gradient)
        return -value, -scale * gradient

    status = Status.STALLED

    def check(scaled: Array) -> None:
        nonlocal status
        if not np.array_equal(scaled, last["scaled"]):
            negative(scaled)
        measure = float(np.linalg.norm(last["gradient"])) / size
        stop = monitor.check(len(monitor.records), -float(last["value"]), measure)
        if stop is not None:
            status = stop
            raise StopIteration

    negative(np.zeros_like(theta))
    options = {"maxiter": max_iter + 1, "maxcor": 30, "ftol": 1e-15, "gtol": 0.0, "maxfun": 10 * max_iter + 20}
    check(np.zeros_like(theta)) if max_iter == 0 else None
    solution = minimize(negative, np.zeros_like(theta), jac=True, method="L-BFGS-B", callback=check, options=options)
    if not monitor.records:
        check(solution.x)
    return ReportFit(problem, theta + scale * solution.x, -float(solution.fun), monitor.certificate(status))
