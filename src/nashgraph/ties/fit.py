"""A fitted tie model: probabilities, respondents, reasons and draws; and which priors a survey is fitted with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from ..certificate import Certificate
from ..validation import Array
from .answers import Errors, estimate_errors
from .arrays import TieArrays
from .counts import Counts, with_known_ties
from .covariates import report_task
from .fitted import Pairs, Weight
from .options import TieOptions
from .probabilities import Calibration, calibration, levelled
from .report_fit import ReportFit, fit_reports
from .report_kernels import fill_cells
from .reports import ReportPriors

CERTAIN = 1e-12
BLOCK = 2**22  # entries of a block of rows
REFIT_TOL = 3e-3  # of the answers about drawn networks
NINETY = 1.645  # standard deviations of a 90% interval


@dataclass(frozen=True)
class TieFit:
    """A fitted tie model; people are numbers, and the result of rows has a column for everybody."""

    arrays: TieArrays
    reports: ReportFit
    count_errors: Errors | None = None
    calibration: Calibration | None = None

    @property
    def certificate(self) -> Certificate:
        """How well the problem was solved."""
        return self.reports.certificate

    def probabilities(self, rows: Array, relation: int | None = None) -> Array:
        """Return P(tie) of some people with everybody: of any relation, or of one."""
        tie, strong, _ = self.reports.rows(rows, naming=False)
        if self.calibration is not None:
            tie = self.calibration.apply(tie, rows, self.counted)
        if relation is None or len(self.arrays.relations) < 2:
            return self.arrays.with_known(tie, rows)
        weak_share, strong_share = self.relation_shares[relation]
        return (tie - strong) * weak_share + strong * strong_share

    def strong(self, rows: Array) -> Array:
        """Return P(strong tie), strong in the sense that both sides are likely to name it."""
        return self.reports.rows(rows, naming=False)[1]

    def expected_reports(self, rows: Array, relation: int | None = None) -> Array:
        """Return P(the row's person names the column's), in any relation or in one."""
        tie, strong, named = self.reports.rows(rows)
        if relation is None or len(self.arrays.relations) < 2:
            return named
        weak_share, strong_share = self.relation_shares[relation]
        mean = np.where(tie > CERTAIN, (tie - strong) * weak_share + strong * strong_share, 0.0)
        return named * mean / np.maximum(tie, CERTAIN)

    @cached_property
    def counted(self) -> Array:
        """A flag for each person: whether they counted ties."""
        counted = np.zeros(self.arrays.n, dtype=bool)
        tilts = self.reports.problem.tilts
        if tilts is not None:
            counted[self.reports.problem.order[tilts.rows]] = True
        return counted

    @cached_property
    def relation_shares(self) -> Array:
        """P(a relation | weak tie) and P(a relation | strong tie) among ties that were named in any."""
        arrays = self.arrays
        about = np.where(arrays.respondent == arrays.source, arrays.target, arrays.source)
        usable = (about >= 0) & (arrays.respondent >= 0)
        keys = arrays.respondent[usable] * arrays.n + about[usable]
        tie, strong = self._of_pairs(keys // arrays.n, keys % arrays.n)
        share = strong / np.maximum(tie, CERTAIN)
        pairs, place = np.unique(keys, return_inverse=True)
        pair_share = np.zeros(len(pairs))
        pair_share[place] = share
        shares = np.zeros((len(arrays.relations), 2))
        for relation in range(len(arrays.relations)):
            there = np.unique(place[arrays.relation[usable] == relation])
            shares[relation, 0] = (1.0 - pair_share[there]).sum() / max(CERTAIN, (1.0 - pair_share).sum())
            shares[relation, 1] = pair_share[there].sum() / max(CERTAIN, pair_share.sum())
        return shares

    def _of_pairs(self, one: Array, other: Array) -> tuple[Array, Array]:
        """Return P(tie) and P(strong tie) of pairs."""
        tie = np.zeros(len(one))
        strong = np.zeros(len(one))
        people, place = np.unique(one, return_inverse=True)
        for block in self.blocks(people):
            mine = (place >= block[0]) & (place <= block[-1])
            rows = self.reports.rows(people[block], naming=False)
            tie[mine] = rows[0][place[mine] - block[0], other[mine]]
            strong[mine] = rows[1][place[mine] - block[0], other[mine]]
        return tie, strong

    def blocks(self, people: Array) -> list[Array]:
        """Return the places of people in blocks whose rows fit into memory."""
        size = max(1, BLOCK // self.arrays.n)
        return [np.arange(start, min(start + size, len(people))) for start in range(0, len(people), size)]

    @cached_property
    def _totals(self) -> tuple[Array, Array]:
        expected = np.zeros(self.arrays.n)
        variance = np.zeros(self.arrays.n)
        people = np.arange(self.arrays.n)
        for block in self.blocks(people):
            tie = self.reports.rows(people[block], naming=False)[0]
            expected[block] = tie.sum(axis=1)
            variance[block] = (tie * (1.0 - tie)).sum(axis=1)
        return expected, variance

    @property
    def expected(self) -> Array:
        """Everybody's expected number of ties."""
        return self._totals[0]

    @property
    def variance(self) -> Array:
        """Its variance, pairs taken as independent."""
        return self._totals[1]

    def log_odds(self, one: Array, other: Array) -> Array:
        """Return the log-odds of pairs."""
        return logit(np.clip(self._of_pairs(np.asarray(one), np.asarray(other))[0], CERTAIN, 1.0 - CERTAIN))

    @cached_property
    def respondents(self) -> dict[str, Array]:
        """Everybody's recall with a 90% interval, and false naming; NaN for people who were not asked."""
        problem = self.reports.problem
        n_people = self.arrays.n
        asked = np.sort(problem.order[problem.respondents])
        false = np.full(n_people, np.nan)
        false[problem.order[problem.respondents]] = expit(
            self.reports.block("false_mean") + self.reports.block("false")
        )
        deviation = np.full(n_people, np.nan)
        information = self.reports.information
        level = 1.0 / information[problem.blocks["report"].start]
        deviation[problem.order[problem.respondents]] = np.sqrt(1.0 / information[problem.blocks["naming"]] + level)
        recall = np.full(n_people, np.nan)
        for block in self.blocks(asked):
            who = asked[block]
            tie, _, named = self.reports.rows(who)
            by_tie = named - (1.0 - tie) * false[who, None] * (tie > 0)
            recall[who] = by_tie.sum(axis=1) / np.maximum(tie.sum(axis=1), CERTAIN)
        recall = np.clip(recall, CERTAIN, 1.0 - CERTAIN)
        return {
            "recall": recall,
            "recall_low": expit(logit(recall) - NINETY * deviation),
            "recall_high": expit(logit(recall) + NINETY * deviation),
            "false_naming": false,
        }

    @cached_property
    def weights(self) -> list[Weight]:
        """The weights of covariates: in the class of a pair of groups (the closest class) and in the tie."""
        problem = self.reports.problem
        terms = problem.terms
        information = self.reports.information
        tables = {"tie": problem.in_tie}
        if problem.n_classes > 1:
            tables[f"class{problem.n_classes - 2}"] = problem.in_class
        weights: list[Weight] = []
        for part, used in tables.items():
            columns = np.flatnonzero(used)[1:]
            values = self.reports.block(part)[1:]
            errors = information[problem.blocks[part]][1:] ** -0.5
            shared = float(self.reports.block("likeness")[0]) if part == "tie" and terms.likeness.any() else 0.0
            for column, value, error in zip(columns, values, errors, strict=True):
                natural = terms.terms[terms.term_of[column]].natural
                start = int(np.flatnonzero(terms.term_of == terms.term_of[column])[0])
                mean = 0.0 if natural is None else shared * natural[column - start] * terms.spread[column]
                weights.append(Weight(part, terms.names[column], float(value + mean), float(error), 0.0))
        total = max(CERTAIN, sum(weight.weight**2 for weight in weights))
        return [weight._replace(share=weight.weight**2 / total) for weight in weights]

    def parts(self, i: int, j: int) -> list[tuple[str, str, float]]:
        """Return what makes the log-odds of a pair: each covariate against its mean, and what people reported."""
        problem = self.reports.problem
        place = np.empty(self.arrays.n, dtype=np.int64)
        place[problem.order] = np.arange(self.arrays.n)
        cells = np.zeros((len(problem.terms.terms), self.arrays.n), dtype=np.int32)
        for term in range(len(cells)):
            fill_cells(problem.data, term, int(place[i]), 0, cells[term])
        mine = cells[:, place[j]]
        whole = self._prior_log_odds(mine, place[i], place[j])
        parts = []
        for term in range(1, len(mine)):
            without = self._prior_log_odds(np.delete(mine, term), place[i], place[j])
            parts.append(("covariate", problem.terms.terms[term].label, whole - without))
        answers = self._answers_about(i, j)
        final = float(self.log_odds(np.array([i]), np.array([j]))[0])
        reports = final - whole - sum(part[2] for part in answers)
        return [*parts, *answers, ("reports", "what people reported", reports)]

    def _answers_about(self, one: int, other: int) -> list[tuple[str, str, float]]:
        """Return what the counts of both ends add to the log-odds of their tie."""
        problem = self.reports.problem
        if problem.tilts is None:
            return []
        tilts = np.zeros(self.arrays.features.shape)
        tilts[problem.order] = problem.tilts.of_features.T
        Z = self.arrays.features
        mean = Z.mean(axis=0)
        names = self.arrays.names
        parts = []
        for me, you in ((one, other), (other, one)):
            for k in np.flatnonzero(tilts[me]):
                label = self.arrays.labels[k]
                answer = f"{names[me]} told of {self.arrays.answers[me, k]:.3g} ties"
                value = float(tilts[me, k])
                if k:
                    has = "has" if Z[you, k] else "does not have"
                    answer = f"{answer} with {label}, and {names[you]} {has} it"
                    value *= float(Z[you, k] - mean[k])
                parts.append(("own answers", answer, value))
        return parts

    def _prior_log_odds(self, cells: Array, i: int, j: int) -> float:
        """Return the log-odds of a tie from covariates in some cells alone, summed over classes."""
        problem = self.reports.problem
        weights = problem.weights(self.reports.theta)
        groups = problem.data.group[[i, j]]
        scores = np.zeros(problem.n_classes)
        scores[1:] = weights.class_table[:, cells].sum(axis=1) + weights.class_group[:, groups].sum(axis=1)
        shares = np.exp(scores - scores.max())
        odds = weights.tie_table[0, cells].prod() * weights.tie_person[[i, j]].prod() * weights.class_tie
        return float(logit(np.clip((shares / shares.sum()) @ (odds / (1.0 + odds)), CERTAIN, 1.0 - CERTAIN)))

    def ties(self, pairs: Pairs) -> pd.DataFrame:
        """Return every node's expected number of ties with a 90% interval.

        Ties vary given their probabilities, and popularity varies where nobody counted. An answer narrows this to its
        own error and to what is forgotten.
        """
        spread = self.reports.problem.priors.tie_person
        popularity = np.where(self.arrays.asked.any(axis=(1, 2)), 0.0, spread * pairs.expected)
        variance = pairs.variance + popularity**2
        variance[self.arrays.complete] = 0.0
        centre = pairs.expected
        tilts = self.reports.problem.tilts
        if tilts is not None and self.count_errors is not None:
            told = np.full(self.arrays.n, np.nan)
            told[self.reports.problem.order] = tilts.counts.answers[:, 0]
            error = np.ones(self.arrays.n)
            error[self.reports.problem.order] = tilts.counts.variance[:, 0]
            recall = self.count_errors.recall
            error += (1.0 - recall) / recall * np.nan_to_num(told)
            narrowed = 1.0 / (1.0 / np.maximum(variance, CERTAIN) + 1.0 / error)
            variance = np.where(np.isnan(told), variance, narrowed)
            centre = np.where(np.isnan(told), centre, told)
        half = NINETY * np.sqrt(variance)
        low = np.maximum(np.minimum(centre - half, pairs.expected), 0.0)
        high = np.minimum(np.maximum(centre + half, pairs.expected), self.arrays.n - 1.0)
        ends = {"expected_ties": pairs.expected, "ties_low": low, "ties_high": high}
        return pd.DataFrame(ends, index=self.arrays.names)

    @property
    def errors(self) -> Errors:
        """Recall, variance of counted answers, and where they come from."""
        if self.count_errors is not None:
            return self.count_errors
        recall = self.respondents["recall"]
        asked = ~np.isnan(recall)
        if not asked.any():
            return Errors(1.0, 0.0, "nobody was asked for names")
        return Errors(float(np.mean(recall[asked])), 0.0, "estimated from reports, with a prior")

    def draw(self, random: np.random.Generator, popularity: bool = True) -> tuple[Array, Array]:
        """Return the ends of the ties of one drawn network.

        Where only counts tell, the popularity of people who counted nothing is also drawn.
        """
        n = self.arrays.n
        spread = 0.0
        if popularity and self.counted.any() and not self.arrays.asked.any():
            spread = self.reports.problem.priors.tie_person
        unsure = np.where(self.counted, 0.0, spread)
        shift = random.normal(size=n) * unsure - unsure**2 / 2
        ones = []
        others = []
        people = np.arange(n)
        for block in self.blocks(people):
            tie = self.probabilities(people[block])
            if unsure.any():
                with np.errstate(divide="ignore"):
                    tie = expit(logit(tie) + shift[block][:, None] + shift)
            drawn = (random.random(tie.shape) < tie) & (people[None, :] > people[block][:, None])
            one, other = np.nonzero(drawn)
            ones.append(people[block][one])
            others.append(other)
        return np.concatenate(ones), np.concatenate(others)


def _without_groups(priors: ReportPriors, options: TieOptions, named: bool, counted: bool) -> ReportPriors:
    """Return priors for people alone: sociable people in the tie itself, and little known about recall.

    A list with room for a few names differs from survey to survey, so recall is left wide. ``named`` says whether
    anybody was asked for names, and ``counted`` whether anybody counted ties.
    """
    return replace(
        priors,
        recall=options.recall_alone,
        recall_spread=options.recall_alone_spread,
        wrong_names=options.wrong_names_alone,
        named=options.named_alone if named else 0.0,
        tie_person=options.popularity_counted if counted else options.popularity,
        respondent_group=0.0,
        named_group=0.0,
        class_group=0.0,
    )


def fit_ties(
    arrays: TieArrays,
    options: TieOptions | None = None,
    wave: int | None = None,
    learned: Mapping[str, tuple[float, float]] | None = None,
) -> TieFit:
    """Fit the tie model to reports, counts, known ties, places, groups and answers.

    Priors depend on the survey: without groups that share ties there is one class and one kind of tie, and people's
    effects take the place of their groups'. Where nobody was asked for names, people have a popularity in the tie
    itself. ``learned`` has means and spreads of the weights of features, from other groups.
    """
    options = options or TieOptions()
    errors = None
    if not np.isnan(arrays.answers).all():
        errors = estimate_errors(arrays, with_known_ties(arrays), options.recall, options.error)
    task = report_task(arrays, options, wave, errors)
    task = replace(task, learned=dict(learned or {}))
    priors = options.priors
    shared = int(task.group.max()) + 1 < arrays.n
    if not shared:
        priors = _without_groups(priors, options, bool(task.asked.any()), task.counts is not None)
    if options.recall is not None:
        recall = min(options.recall, 1.0 - 1e-3)
        priors = replace(priors, recall=recall, recall_spread=options.known_recall_spread)
    strong = options.strong and shared
    fits: list[ReportFit] = []
    spreads = (priors.false_spread,) if shared or not task.asked.any() else options.false_spreads_alone
    for spread in spreads:
        tried = replace(priors, false_spread=spread)
        # Each from the prior means: from the other's solution, exaggerators were not found.
        fits.append(fit_reports(task, tried, 3 if shared else 1, strong, options.tol, options.max_iter))
    fit = TieFit(arrays, max(fits, key=_evidence_of_spread), errors)
    if options.calibrate and task.counts is not None and not task.asked.any():
        fit = replace(fit, calibration=_calibration(fit, task.counts, options.seed))
    return fit


def _calibration(fit: TieFit, counts: Counts, seed: int, most: int = 1000) -> Calibration:
    """Return how far the log-odds of ``most`` people's pairs can be trusted, given the weights of covariates."""
    problem = fit.reports.problem
    assert fit.count_errors is not None
    people = np.random.default_rng(seed).permutation(fit.arrays.n)[:most]

    def rows(of: Array) -> Array:
        return np.vstack([fit.reports.rows(of[block])[0] for block in fit.blocks(of)])

    found = problem.tilts
    assert found is not None

    def refit(answers: Array) -> Array:
        problem.tilts = found.answering(answers[problem.order])
        problem.fit_tilts(fit.reports.theta, REFIT_TOL)
        p = rows(people)
        problem.tilts = found
        return p

    def draw(random: np.random.Generator) -> tuple[Array, Array]:
        return fit.draw(random, popularity=False)

    lines = calibration(rows(people), people, counts, fit.count_errors, draw, refit, seed)
    return levelled(lines, rows(np.arange(fit.arrays.n)), fit.counted)


def _evidence_of_spread(fit: ReportFit) -> float:
    """Return the log marginal likelihood of the spread of false naming, by Laplace in respondents' own part of it."""
    problem = fit.problem
    information = fit.information[problem.blocks["false"]]
    spread = problem.priors.false_spread
    return fit.objective - len(information) * float(np.log(spread)) - 0.5 * float(np.log(information).sum())
