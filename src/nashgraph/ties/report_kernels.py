r"""Numba kernels of the report model: its marginal likelihood, gradient and posterior, one household pair at a time.

For a pair of groups g, h (households; else every person is a group) and its pairs of members i, j

    P(reports of g, h) = Σ_u P(u) Π_ij Σ_k P(k | u) P(N_ij | k) P(N_ji | k)

with classes u and tie kinds k = 0 (none), 1 (weak), 2 (strong). Covariates enter through tables: each *term* puts a
pair into a cell, and each cell has a number for the class, for the tie (exponentiated), for its strength
(exponentiated) and for the report (exponentiated). So a pair costs a few multiplications and no exponential.
The kernels work on rows of groups; they hold a few rows of people and never an N × N array.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from ..compiled import kernel
from ..validation import Array

# What is known about an ordered pair (i, j), as bits: i says i → j; i says j → i; surely no tie; surely a tie.
OUT, IN, NO_TIE, TIE = 1, 2, 4, 8
CODES, DISTANCE, LISTED, SAME_GROUP = 0, 1, 2, 3  # kinds of terms
SMALL_PRODUCT, SMALLEST = 1e-200, 1e-300  # a product of likelihoods is turned into a logarithm before it underflows


class PairData(NamedTuple):
    """What does not change during a fit.

    ``members[member_start[g]:member_start[g + 1]]`` are the people of group g. Row i of the reports (CSR: ``start``,
    ``target``, ``bits``) is what person i says about others; the transposed arrays have what others say about i.
    ``slots`` is 1 for undirected ties and 2 for directed ones; ``asks_in`` says that people were also asked who
    turns to them. Terms up to ``n_group_terms`` are the same for all members of a group: their ``codes`` and
    ``points`` are taken from the first member.
    """

    member_start: Array
    members: Array
    group: Array
    asked: Array
    complete: Array
    start: Array
    target: Array
    bits: Array
    back_start: Array
    back_source: Array
    back_bits: Array
    slots: int
    asks_in: bool
    within: bool
    n_group_terms: int
    kinds: Array
    first_cell: Array
    n_codes: Array
    codes: Array
    points: Array
    point_columns: Array
    edges: Array
    n_edges: Array
    listed_start: Array
    listed_other: Array
    listed_cell: Array
    left: Array
    right: Array


class PairWeights(NamedTuple):
    """The parameters as the kernels need them; everything of the tie and the report is exponentiated."""

    class_table: Array
    tie_table: Array
    report_table: Array
    class_group: Array
    tie_person: Array
    class_tie: Array
    class_strong: Array
    strong_named: float
    naming: Array
    named: Array
    false_naming: Array


@kernel()
def term_cell(data: PairData, term: int, i: int, j: int) -> int:
    """Return the cell of a pair of people in a term."""
    kind = data.kinds[term]
    first = data.first_cell[term]
    if kind == CODES:
        return first + data.codes[term, i] * data.n_codes[term] + data.codes[term, j]
    if kind == DISTANCE:
        square = 0.0
        for column in range(data.point_columns[term, 0], data.point_columns[term, 1]):
            difference = data.points[i, column] - data.points[j, column]
            square += difference * difference
        if not square >= 0.0:  # somebody's place is unknown: the last cell
            return first + data.n_edges[term] + 1
        place = 0
        while place < data.n_edges[term] and square > data.edges[term, place]:
            place += 1
        return first + place
    if kind == LISTED:
        low = data.listed_start[term, i]
        high = data.listed_start[term, i + 1]
        while low < high:
            middle = (low + high) // 2
            if data.listed_other[middle] < j:
                low = middle + 1
            else:
                high = middle
        if low < data.listed_start[term, i + 1] and data.listed_other[low] == j:
            return first + data.listed_cell[low]
        return first
    return first + (1 if data.group[i] == data.group[j] else 0)


@kernel()
def open_rows(data: PairData, g: int, says: Array, hears: Array) -> None:
    """Write what the members of a group say and what is said about them, a row for each member."""
    for place in range(data.member_start[g], data.member_start[g + 1]):
        i = data.members[place]
        row = place - data.member_start[g]
        for entry in range(data.start[i], data.start[i + 1]):
            says[row, data.target[entry]] = data.bits[entry]
        for entry in range(data.back_start[i], data.back_start[i + 1]):
            hears[row, data.back_source[entry]] = data.back_bits[entry]


@kernel()
def close_rows(data: PairData, g: int, says: Array, hears: Array) -> None:
    """Set the rows that ``open_rows`` wrote to zero again."""
    for place in range(data.member_start[g], data.member_start[g + 1]):
        i = data.members[place]
        row = place - data.member_start[g]
        for entry in range(data.start[i], data.start[i + 1]):
            says[row, data.target[entry]] = 0
        for entry in range(data.back_start[i], data.back_start[i + 1]):
            hears[row, data.back_source[entry]] = 0


class Work(NamedTuple):
    """Room for one pair of groups: entry p of ``who``, ``cells``, ``values``, ``ends`` is a pair of people.

    ``values`` has the odds of a tie and of its strength without the class, and the likelihood of the reports given
    no, a weak and a strong tie. ``ends`` has, for both ends, the odds of naming a weak tie and what the end says:
    1 names, 0 does not, −1 was not asked. ``group_cells`` are the cells of the terms that all the pairs share.
    """

    says: Array
    hears: Array
    who: Array
    cells: Array
    group_cells: Array
    values: Array
    ends: Array
    prior: Array
    posterior: Array


@kernel()
def make_work(data: PairData, weights: PairWeights, most: int) -> Work:
    """Return room for groups of up to ``most`` members."""
    size = most * most * data.slots
    n_terms = len(data.kinds)
    n_people = len(data.members)
    n_classes = len(weights.class_tie)
    return Work(
        np.zeros((most, n_people), dtype=np.uint8),
        np.zeros((most, n_people), dtype=np.uint8),
        np.zeros((size, 2), dtype=np.int64),
        np.zeros((size, n_terms), dtype=np.int64),
        np.zeros(n_terms, dtype=np.int64),
        np.zeros((size, 5)),
        np.zeros((size, 4)),
        np.zeros(n_classes),
        np.zeros(n_classes),
    )


@kernel()
def answers(data: PairData, slot: int, i: int, j: int, mine: int, theirs: int) -> tuple[int, int]:
    """Return what i and what j say about a tie; slot 0 is i → j or undirected, slot 1 is j → i."""
    bit_one = OUT | IN
    bit_two = OUT | IN
    asks_one = data.asked[i]
    asks_two = data.asked[j]
    if data.slots == 2 and slot == 0:
        bit_one = OUT
        bit_two = IN
        asks_two = asks_two and data.asks_in
    elif data.slots == 2:
        bit_one = IN
        bit_two = OUT
        asks_one = asks_one and data.asks_in
    one = -1
    if asks_one:
        one = 1 if mine & bit_one else 0
    two = -1
    if asks_two:
        two = 1 if theirs & bit_two else 0
    return one, two


@kernel()
def write_likelihood(weights: PairWeights, work: Work, p: int, report: float, facts: int, sure: bool) -> None:
    """Write the likelihood of what both ends say, given no, a weak and a strong tie."""
    none = 1.0
    weak = 1.0
    strong = 1.0
    for end in range(2):
        respondent = work.who[p, end]
        odds = report * weights.naming[respondent] * weights.named[work.who[p, 1 - end]]
        work.ends[p, end] = odds
        answer = work.ends[p, 2 + end]
        if answer < 0:
            continue
        firm = odds * weights.strong_named
        if answer > 0:
            none *= weights.false_naming[respondent]
            weak *= odds / (1.0 + odds)
            strong *= firm / (1.0 + firm)
        else:
            none *= 1.0 - weights.false_naming[respondent]
            weak /= 1.0 + odds
            strong /= 1.0 + firm
    if sure and facts & TIE:
        none = 0.0
    elif sure:
        weak = 0.0
        strong = 0.0
    work.values[p, 2] = none
    work.values[p, 3] = weak
    work.values[p, 4] = strong


@kernel()
def fill_pairs(data: PairData, weights: PairWeights, g: int, h: int, everybody: bool, work: Work) -> int:
    """Describe the pairs of members of two groups and return how many there are.

    Pairs that no report and no knowledge is about are left out unless ``everybody`` is set.
    """
    count = 0
    n_terms = len(data.kinds)
    shared = data.n_group_terms
    group_tie = 1.0
    group_strong = 1.0
    group_report = 1.0
    for term in range(shared):
        cell = term_cell(data, term, data.members[data.member_start[g]], data.members[data.member_start[h]])
        work.group_cells[term] = cell
        group_tie *= weights.tie_table[0, cell]
        group_strong *= weights.tie_table[1, cell]
        group_report *= weights.report_table[cell]
    for one in range(data.member_start[g], data.member_start[g + 1]):
        i = data.members[one]
        for two in range(one + 1 if g == h else data.member_start[h], data.member_start[h + 1]):
            j = data.members[two]
            mine = work.says[one - data.member_start[g], j]
            theirs = work.hears[one - data.member_start[g], j]
            facts = mine | theirs
            sure = (facts & (TIE | NO_TIE)) != 0 or data.complete[i] or data.complete[j]
            if not (everybody or sure or data.asked[i] or data.asked[j]):
                continue
            tie = group_tie * weights.tie_person[i] * weights.tie_person[j]
            strong = group_strong
            report = group_report
            for term in range(shared, n_terms):
                cell = term_cell(data, term, i, j)
                work.cells[count, term] = cell
                tie *= weights.tie_table[0, cell]
                strong *= weights.tie_table[1, cell]
                report *= weights.report_table[cell]
            if data.left.shape[1]:
                tie *= np.exp(low_rank(data, i, j))
            for slot in range(data.slots):
                if slot:
                    work.cells[count] = work.cells[count - 1]
                work.who[count, 0] = i
                work.who[count, 1] = j
                work.values[count, 0] = tie
                work.values[count, 1] = strong
                work.ends[count, 2], work.ends[count, 3] = answers(data, slot, i, j, mine, theirs)
                write_likelihood(weights, work, count, report, facts, sure)
                count += 1
    return count


@kernel()
def low_rank(data: PairData, i: int, j: int) -> float:
    """Return the log-odds of a pair that are given in low rank."""
    total = 0.0
    for column in range(data.left.shape[1]):
        total += data.left[i, column] * data.right[j, column]
    return total


@kernel()
def class_posterior(data: PairData, weights: PairWeights, g: int, h: int, count: int, work: Work) -> float:
    """Write the prior and the posterior of the class of a pair of groups; return the log-likelihood of its reports."""
    n_classes = len(weights.class_tie)
    top = 0.0
    for u in range(n_classes):
        work.prior[u] = 0.0
        if u:
            work.prior[u] = weights.class_group[u - 1, g] + weights.class_group[u - 1, h]
            for term in range(data.n_group_terms):
                work.prior[u] += weights.class_table[u - 1, work.group_cells[term]]
            top = max(top, work.prior[u])
    total = 0.0
    for u in range(n_classes):
        total += np.exp(work.prior[u] - top)
    total = np.log(total) + top
    best = -np.inf
    for u in range(n_classes):
        work.prior[u] -= total
        logarithm = work.prior[u]
        product = 1.0
        for p in range(count):
            odds = work.values[p, 0] * weights.class_tie[u]
            strong = work.values[p, 1] * weights.class_strong[u]
            tied = (work.values[p, 3] + strong * work.values[p, 4]) / (1.0 + strong)
            product *= (work.values[p, 2] + odds * tied) / (1.0 + odds)
            if product < SMALL_PRODUCT:
                logarithm += np.log(max(product, SMALLEST))
                product = 1.0
        work.posterior[u] = logarithm + np.log(product)
        best = max(best, work.posterior[u])
        work.prior[u] = np.exp(work.prior[u])
    total = 0.0
    for u in range(n_classes):
        work.posterior[u] = np.exp(work.posterior[u] - best)
        total += work.posterior[u]
    for u in range(n_classes):
        work.posterior[u] /= total
    return best + np.log(total)


class Rows(NamedTuple):
    """P(tie), P(strong tie) and P(row names column), a row for each member of the groups that were asked for.

    ``first[k]`` is the first row of group k of them. ``nodes`` and ``shares`` integrate over the naming effect of
    people who were not asked: factors of the odds of naming, and their weights.
    """

    tie: Array
    strong: Array
    named: Array
    first: Array
    nodes: Array
    shares: Array


@kernel()
def mean_naming(data: PairData, weights: PairWeights, i: int, odds: float, rows: Rows) -> tuple[float, float]:
    """Return the probability that i names a weak and a strong tie."""
    if data.asked[i]:
        firm = odds * weights.strong_named
        return odds / (1.0 + odds), firm / (1.0 + firm)
    weak = 0.0
    strong = 0.0
    for node in range(len(rows.nodes)):
        moved = odds * rows.nodes[node]
        weak += rows.shares[node] * moved / (1.0 + moved)
        moved *= weights.strong_named
        strong += rows.shares[node] * moved / (1.0 + moved)
    return weak, strong


@kernel()
def write_pair(data: PairData, weights: PairWeights, p: int, end: int, row: int, work: Work, rows: Rows) -> None:
    """Write the probabilities of a pair of people into the row of one end."""
    weak = 0.0
    strong = 0.0
    for u in range(len(weights.class_tie)):
        odds = work.values[p, 0] * weights.class_tie[u]
        firm = work.values[p, 1] * weights.class_strong[u]
        firm = firm / (1.0 + firm)
        weak_part = odds * (1.0 - firm) * work.values[p, 3]
        firm_part = odds * firm * work.values[p, 4]
        scale = work.posterior[u] / max(work.values[p, 2] + weak_part + firm_part, SMALLEST)
        weak += scale * weak_part
        strong += scale * firm_part
    i = work.who[p, end]
    j = work.who[p, 1 - end]
    naming, naming_strong = mean_naming(data, weights, i, work.ends[p, end], rows)
    rows.tie[row, j] = weak + strong
    rows.strong[row, j] = strong
    rows.named[row, j] = weak * naming + strong * naming_strong + (1.0 - weak - strong) * weights.false_naming[i]


@kernel(parallel=True)
def posterior_rows(data: PairData, weights: PairWeights, groups: Array, most: int, rows: Rows) -> None:
    """Fill the rows of the members of some groups; with directed ties, row i and column j is the tie i → j."""
    n_groups = len(data.member_start) - 1
    place = np.zeros(len(data.members), dtype=np.int64)
    for g in range(n_groups):
        for member in range(data.member_start[g], data.member_start[g + 1]):
            place[data.members[member]] = member - data.member_start[g]
    for k in prange(len(groups)):
        g = groups[k]
        work = make_work(data, weights, most)
        open_rows(data, g, work.says, work.hears)
        for h in range(n_groups):
            if h == g and not data.within:
                continue
            count = fill_pairs(data, weights, g, h, True, work)
            class_posterior(data, weights, g, h, count, work)
            for p in range(count):
                # slot 0 of a directed tie is first → second, slot 1 the other way round
                for end in range(2 if g == h else 1):
                    if data.slots == 1 or p % 2 == end:
                        write_pair(data, weights, p, end, rows.first[k] + place[work.who[p, end]], work, rows)
