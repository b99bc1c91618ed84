"""Numba kernels that add up the likelihood of the report model, its gradient and its complete-data information."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from ..compiled import kernel
from ..validation import Array
from .report_kernels import (
    SMALLEST,
    PairData,
    PairWeights,
    Work,
    class_posterior,
    close_rows,
    fill_pairs,
    make_work,
    open_rows,
)


class Sums(NamedTuple):
    """Derivatives of one chunk of groups, and the diagonal of the complete-data information in the same layout.

    ``places`` says where the parts begin: class table, tie tables, report table, groups' part in the class, people's
    part in the tie, classes' part in the tie and its strength, naming of strong ties, naming, being named, false
    naming.
    """

    gradient: Array
    curvature: Array
    places: Array


@kernel()
def add_to(sums: Sums, place: int, rest: float, bend: float) -> None:
    """Add a derivative and its curvature."""
    sums.gradient[place] += rest
    sums.curvature[place] += bend


@kernel()
def add_class(data: PairData, weights: PairWeights, g: int, h: int, work: Work, sums: Sums) -> None:
    """Add what the class of a pair of groups says about its log-odds."""
    n_cells = weights.tie_table.shape[1]
    n_groups = weights.class_group.shape[1]
    for u in range(1, len(weights.class_tie)):
        rest = work.posterior[u] - work.prior[u]
        bend = work.prior[u] * (1.0 - work.prior[u])
        add_to(sums, sums.places[3] + (u - 1) * n_groups + g, rest, bend)
        add_to(sums, sums.places[3] + (u - 1) * n_groups + h, rest, bend)
        for term in range(data.n_group_terms):
            add_to(sums, sums.places[0] + (u - 1) * n_cells + work.group_cells[term], rest, bend)


@kernel()
def add_pair(data: PairData, weights: PairWeights, p: int, work: Work, sums: Sums) -> None:
    """Add one pair of people to the sums.

    By Fisher's identity the gradient of the marginal likelihood is the posterior mean of the complete one.
    """
    n_classes = len(weights.class_tie)
    n_cells = weights.tie_table.shape[1]
    tie_rest = 0.0
    tie_bend = 0.0
    strong_rest = 0.0
    strong_bend = 0.0
    weak_total = 0.0
    firm_total = 0.0
    for u in range(n_classes):
        odds = work.values[p, 0] * weights.class_tie[u]
        strong = work.values[p, 1] * weights.class_strong[u]
        tied = odds / (1.0 + odds)
        firm = strong / (1.0 + strong)
        none_part = (1.0 - tied) * work.values[p, 2]
        weak_part = tied * (1.0 - firm) * work.values[p, 3]
        firm_part = tied * firm * work.values[p, 4]
        scale = work.posterior[u] / max(none_part + weak_part + firm_part, SMALLEST)
        weak_part *= scale
        firm_part *= scale
        rest = weak_part + firm_part - work.posterior[u] * tied
        bend = work.posterior[u] * tied * (1.0 - tied)
        rest_strong = firm_part - (weak_part + firm_part) * firm
        bend_strong = (weak_part + firm_part) * firm * (1.0 - firm)
        if u:
            add_to(sums, sums.places[5] + u - 1, rest, bend)
            add_to(sums, sums.places[5] + n_classes + u - 2, rest_strong, bend_strong)
        tie_rest += rest
        tie_bend += bend
        strong_rest += rest_strong
        strong_bend += bend_strong
        weak_total += weak_part
        firm_total += firm_part
    for end in range(2):
        add_to(sums, sums.places[4] + work.who[p, end], tie_rest, tie_bend)
    naming_rest, naming_bend = add_reports(weights, p, weak_total, firm_total, work, sums)
    for term in range(len(data.kinds)):
        cell = work.group_cells[term] if term < data.n_group_terms else work.cells[p, term]
        add_to(sums, sums.places[1] + cell, tie_rest, tie_bend)
        add_to(sums, sums.places[1] + n_cells + cell, strong_rest, strong_bend)
        add_to(sums, sums.places[2] + cell, naming_rest, naming_bend)


@kernel()
def add_reports(
    weights: PairWeights, p: int, weak: float, strong: float, work: Work, sums: Sums
) -> tuple[float, float]:
    """Add what both ends say, given P(weak) and P(strong); return both derivatives in the log-odds of naming."""
    total_rest = 0.0
    total_bend = 0.0
    for end in range(2):
        answer = work.ends[p, 2 + end]
        if answer < 0.0:
            continue
        respondent = work.who[p, end]
        odds = work.ends[p, end]
        chance = odds / (1.0 + odds)
        firm = odds * weights.strong_named / (1.0 + odds * weights.strong_named)
        firm_rest = strong * (answer - firm)
        firm_bend = strong * firm * (1.0 - firm)
        rest = weak * (answer - chance) + firm_rest
        bend = weak * chance * (1.0 - chance) + firm_bend
        wrong = weights.false_naming[respondent]
        none = 1.0 - weak - strong
        add_to(sums, sums.places[6], firm_rest, firm_bend)
        add_to(sums, sums.places[7] + respondent, rest, bend)
        add_to(sums, sums.places[8] + work.who[p, 1 - end], rest, bend)
        add_to(sums, sums.places[9] + respondent, none * (answer - wrong), none * wrong * (1.0 - wrong))
        total_rest += rest
        total_bend += bend
    return total_rest, total_bend


@kernel(parallel=True)
def evaluate(
    data: PairData, weights: PairWeights, places: Array, most: int, gradient: Array, curvature: Array
) -> Array:
    """Add up the gradient and the curvature over all pairs of groups; return the log-likelihood of each chunk.

    Rows of ``gradient`` and ``curvature`` are chunks of groups, so threads never write to the same place.
    """
    n_chunks = len(gradient)
    n_groups = len(data.member_start) - 1
    totals = np.zeros(n_chunks)
    for chunk in prange(n_chunks):
        work = make_work(data, weights, most)
        sums = Sums(gradient[chunk], curvature[chunk], places)
        total = 0.0
        for g in range(chunk, n_groups, n_chunks):
            open_rows(data, g, work.says, work.hears)
            for h in range(g if data.within else g + 1, n_groups):
                count = fill_pairs(data, weights, g, h, False, work)
                if count == 0:
                    continue
                total += class_posterior(data, weights, g, h, count, work)
                add_class(data, weights, g, h, work, sums)
                for p in range(count):
                    add_pair(data, weights, p, work, sums)
            close_rows(data, g, work.says, work.hears)
        totals[chunk] = total
    return totals
