"""From a survey in node numbers to the task of the tie model: units that share ties, covariates, reports and counts."""

from __future__ import annotations

import numpy as np

from ..validation import Array
from .answers import Errors
from .arrays import TieArrays
from .counts import counts_of
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
from .report_kernels import IN, NO_TIE, OUT, TIE
from .reports import ReportTask

MOST_CATEGORIES = 12  # a question with more answers is a number, or a membership
SAME = 1e-12  # deviation of a column that is the same for everybody


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


def report_task(
    arrays: TieArrays, options: TieOptions, wave: int | None = None, errors: Errors | None = None
) -> ReportTask:
    """Return what people report as a task: a respondent names another person in any relation, and wave."""
    group = unit_of_ties(arrays, options)
    n_people = arrays.n
    about = np.where(arrays.respondent == arrays.source, arrays.target, arrays.source)
    bits = np.full(len(about), OUT)
    if options.directed:
        bits = np.where(arrays.respondent == arrays.source, OUT, IN)
    usable = (about >= 0) & (arrays.respondent >= 0) & (about != arrays.respondent)
    if wave is None:
        in_wave = np.ones(len(about), dtype=bool)
    else:
        in_wave = arrays.wave == wave
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
    counts = None if errors is None else counts_of(arrays, errors)
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
        within=within or group.max() + 1 == n_people or len(arrays.known_one) > 0 or counts is not None,
        known=known,
        complete=complete,
        counts=counts,
    )


def _covariates_of_people(arrays: TieArrays, group: Array, full: Array) -> Array:
    """Return standardised covariates of naming and being named: answers, traits, group size, and a full list."""
    parts = [arrays.signals, arrays.traits, np.log(np.bincount(group)[group])[:, None], full[:, None]]
    columns = np.nan_to_num(np.hstack(parts).astype(float))
    deviation = columns.std(axis=0)
    varies = deviation > SAME
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
