"""From a survey in node numbers to a fitted tie model: which covariates, which groups, which priors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from ..certificate import Certificate
from ..validation import Array
from .answers import Errors
from .arrays import TieArrays
from .fitted import Pairs, Weight
from .options import TieOptions
from .pair_terms import (
    PairTerm,
    Use,
    category_term,
    group_term,
    listed_term,
    membership_term,
    number_term,
    place_term,
)
from .report_kernels import IN, NO_TIE, OUT, TIE, fill_cells
from .reports import ReportFit, ReportPriors, ReportTask, fit_reports

MOST_CATEGORIES = 12  # a question with more answers is a number, or a membership
CERTAIN = 1e-12
BLOCK = 2**22  # entries of a block of rows
NINETY = 1.645  # standard deviations of a 90% interval


def unit_of_ties(arrays: TieArrays, options: TieOptions) -> Array:
    """Return the group of each person that shares ties: the finest kind of group, else everybody alone."""
    alone = np.arange(arrays.n)
    if not options.groups_share_ties:
        return alone
    best = alone
    for column in arrays.groups.T:
        codes = np.where(column < 0, column.max() + 1 + alone, column)
        codes = np.unique(codes, return_inverse=True)[1]
        mean_size = arrays.n / (codes.max() + 1)
        finer = best is alone or codes.max() > best.max()
        if 1.0 < mean_size <= options.group_most and finer:
            best = codes
    return best


def covariates(arrays: TieArrays, group: Array) -> list[PairTerm]:
    """Return the terms of a survey: questions, traits, places, groups and tables of pairs.

    A term that is equal for all members of a group explains the class of a pair of groups. In a survey without such
    groups, every term explains the tie itself.
    """
    shared = group.max() + 1 < arrays.n
    terms = []

    def use(values: Array, also_tie: bool = False) -> Use:
        by_group = _constant_within(values, group)
        in_class = shared and by_group
        return Use(by_group=by_group, in_class=in_class, in_tie=not in_class or also_tie)

    n_columns = arrays.signals.shape[1] + arrays.traits.shape[1]
    # Where households share ties, a common likeness cost precision (12 villages): questions have their own weights.
    likeness = 0.0 if shared else max(1, n_columns) ** -0.5
    for number, label in enumerate(arrays.question_names):
        columns = arrays.signals[:, arrays.signal_questions == number]
        if columns.shape[1]:
            terms.append(_question(label, columns, use(columns), likeness))
    for label, column in zip(arrays.trait_names, arrays.traits.T, strict=True):
        if column.std() > 0:
            terms.append(_question(label, column[:, None], use(column[:, None]), likeness))
    if arrays.places.size:
        where = use(np.nan_to_num(arrays.places, nan=-1.0), also_tie=True)
        terms.append(place_term("place", arrays.places, where))
    for label, column in zip(arrays.group_names, arrays.groups.T, strict=True):
        n_both = np.unique(np.stack([column, group]), axis=1).shape[1]
        is_the_unit = n_both == len(np.unique(column)) == group.max() + 1
        if not is_the_unit:
            terms.append(membership_term(label, column, use(column[:, None])))
    for label, values in zip(arrays.pair_names, arrays.pair_values.T, strict=True):
        terms.append(listed_term(label, arrays.pair_one, arrays.pair_other, values))
    if shared:
        sizes = np.bincount(group)[group].astype(float)
        if sizes.std() > 0:
            terms.append(number_term("group size", np.log(sizes), use(sizes[:, None])))
    return terms


def _question(label: str, columns: Array, use: Use, likeness: float) -> PairTerm:
    levels, codes = np.unique(columns, axis=0, return_inverse=True)
    if len(levels) == 2 and not use.by_group:
        use = use._replace(in_report=True)  # men name men, women name women; more answers than two did not help
    if columns.shape[1] > 1 or len(levels) == 2:
        if len(levels) <= MOST_CATEGORIES:
            return category_term(label, codes.ravel(), use, likeness)
        return membership_term(label, codes.ravel(), use)
    return number_term(label, columns[:, 0], use, likeness)


def _constant_within(values: Array, group: Array) -> bool:
    """Return whether the members of every group have equal values."""
    first = np.full(group.max() + 1, -1)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return bool((values == values[first[group]]).all())


def report_task(arrays: TieArrays, options: TieOptions, wave: int | None = None) -> ReportTask:
    """Return what people report as a task: a respondent names another person in any relation, and wave."""
    group = unit_of_ties(arrays, options)
    n_people = arrays.n
    about = np.where(arrays.respondent == arrays.source, arrays.target, arrays.source)
    bits = np.full(len(about), OUT)
    if options.directed:
        bits = np.where(arrays.respondent == arrays.source, OUT, IN)
    usable = (about >= 0) & (arrays.respondent >= 0) & (about != arrays.respondent)
    in_wave = np.ones(len(about), dtype=bool) if wave is None else arrays.wave == wave
    usable &= in_wave
    asked: Array = np.asarray(arrays.asked.any(axis=(1, 2)))
    if wave is not None:
        asked = np.asarray(arrays.asked[:, :, wave].any(axis=1))
    within = bool((group[arrays.respondent[usable]] == group[about[usable]]).any())
    known = None
    complete = np.zeros(n_people, dtype=bool)
    complete[arrays.complete] = True
    if len(arrays.known_one):
        value = np.where(arrays.known_value > 0, TIE, NO_TIE)
        known = (arrays.known_one, arrays.known_other, value)
    terms = covariates(arrays, group)
    full = _full_lists(arrays, in_wave)
    if within and group.max() + 1 < n_people:
        terms.append(group_term(use=Use(by_group=True)))
    return ReportTask(
        asked=asked,
        group=group,
        says=(arrays.respondent[usable], about[usable], bits[usable]),
        terms=terms,
        w=_covariates_of_people(arrays, group, full),
        full=full,
        directed=options.directed,
        asks_in=bool((bits[usable] == IN).any()),
        within=within or group.max() + 1 == n_people or len(arrays.known_one) > 0,
        known=known,
        complete=complete,
    )


def _covariates_of_people(arrays: TieArrays, group: Array, full: Array) -> Array:
    """Return standardised covariates of naming and being named: answers, traits, group size, and a full list."""
    parts = [arrays.signals, arrays.traits, np.log(np.bincount(group)[group])[:, None], full[:, None]]
    columns = np.nan_to_num(np.hstack(parts).astype(float))
    deviation = columns.std(axis=0)
    varies = deviation > CERTAIN
    return (columns[:, varies] - columns[:, varies].mean(axis=0)) / deviation[varies]


def _full_lists(arrays: TieArrays, in_wave: Array) -> Array:
    """Return whose list was full in some relation: they may have ties that there was no room for."""
    full = np.zeros(arrays.n, dtype=bool)
    for relation, room in enumerate(arrays.room):
        if room < 1:
            continue
        mine = (arrays.relation == relation) & in_wave & (arrays.respondent >= 0)
        for wave in np.unique(arrays.wave[mine]):
            names = np.bincount(arrays.respondent[mine & (arrays.wave == wave)], minlength=arrays.n)
            full |= names >= room
    return full


@dataclass(frozen=True)
class TieFit:
    """A fitted tie model; people are numbers, and the result of rows has a column for everybody."""

    arrays: TieArrays
    reports: ReportFit

    @property
    def certificate(self) -> Certificate:
        """How well the problem was solved."""
        return self.reports.certificate

    def probabilities(self, rows: Array, relation: int | None = None) -> Array:
        """Return P(tie) of some people with everybody: of any relation, or of one."""
        tie, strong, _ = self.reports.rows(rows, naming=False)
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
        final = float(self.log_odds(np.array([i]), np.array([j]))[0])
        parts.append(("reports", "what people reported", final - whole))
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
        """Return every node's expected number of ties with a 90% interval, pairs taken as independent."""
        half = NINETY * np.sqrt(pairs.variance)
        low = np.maximum(pairs.expected - half, 0.0)
        high = np.minimum(pairs.expected + half, self.arrays.n - 1.0)
        ends = {"expected_ties": pairs.expected, "ties_low": low, "ties_high": high}
        return pd.DataFrame(ends, index=self.arrays.names)

    @property
    def errors(self) -> Errors:
        """Recall, variance of counted answers, and where they come from."""
        recall = self.respondents["recall"]
        asked = ~np.isnan(recall)
        if not asked.any():
            return Errors(1.0, 0.0, "nobody was asked for names")
        return Errors(float(np.mean(recall[asked])), 0.0, "estimated from reports, with a prior")

    def draw(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Return the ends of the ties of one drawn network."""
        ones = []
        others = []
        people = np.arange(self.arrays.n)
        for block in self.blocks(people):
            tie = self.probabilities(people[block])
            drawn = (random.random(tie.shape) < tie) & (people[None, :] > people[block][:, None])
            one, other = np.nonzero(drawn)
            ones.append(people[block][one])
            others.append(other)
        return np.concatenate(ones), np.concatenate(others)


def _without_groups(priors: ReportPriors, options: TieOptions, named: bool) -> ReportPriors:
    """Return priors for people alone: sociable people in the tie itself, and little known about recall.

    A list with room for a few names differs from survey to survey, so recall is left wide. ``named`` says whether
    anybody was asked for names (else only known ties tell).
    """
    return replace(
        priors,
        recall=options.recall_alone,
        recall_spread=options.recall_alone_spread,
        wrong_names=options.wrong_names_alone,
        named=options.named_alone if named else 0.0,
        tie_person=options.popularity,
        respondent_group=0.0,
        named_group=0.0,
        class_group=0.0,
    )


def fit_ties(arrays: TieArrays, options: TieOptions | None = None, wave: int | None = None) -> TieFit:
    """Fit the tie model to reports, known ties, places, groups and answers.

    Priors depend on the survey: without groups that share ties there is one class and one kind of tie, and people's
    effects take the place of their groups'. Where only known ties tell, people have a popularity in the tie itself.
    """
    options = options or TieOptions()
    task = report_task(arrays, options, wave)
    priors = options.priors
    shared = int(task.group.max()) + 1 < arrays.n
    if not shared:
        priors = _without_groups(priors, options, bool(task.asked.any()))
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
    return TieFit(arrays, max(fits, key=_evidence_of_spread))


def _evidence_of_spread(fit: ReportFit) -> float:
    """Return the log marginal likelihood of the spread of false naming, by Laplace in respondents' own part of it."""
    problem = fit.problem
    information = fit.information[problem.blocks["false"]]
    spread = problem.priors.false_spread
    return fit.objective - len(information) * float(np.log(spread)) - 0.5 * float(np.log(information).sum())
