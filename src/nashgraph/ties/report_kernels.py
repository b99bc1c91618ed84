r"""Numba kernels of the report model: a few rows of people at a time, and no N × N array.

For a pair of groups g, h (households; else every person is a group) and its pairs of members i, j

    P(reports of g, h) = Σ_u P(u) Π_ij Σ_k P(k | u) P(N_ij | k) P(N_ji | k)

with classes u and tie kinds k = 0 (none), 1 (weak), 2 (strong). Covariates enter through tables: each *term* puts a
pair into a cell, and each cell has a number for the class, for the tie (exponentiated), for its strength
(exponentiated) and for the report (exponentiated). So a pair costs multiplications and divisions, no exponential.
People are sorted by group. The work on one group g goes through plain loops over the people of all other groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..validation import Array

# Facts about an ordered pair (i, j), as bits: i says i → j; i says j → i; surely no tie; surely a tie.
OUT = 1
IN = 2
NO_TIE = 4
TIE = 8
# kinds of terms
CODES = 0
DISTANCE = 1
LISTED = 2
SAME_GROUP = 3
SAME_CODE = 4
# a product of likelihoods is turned into a logarithm before it underflows
SMALL_PRODUCT = 1e-200
SMALLEST = 1e-300
LARGEST_TILT = 200.0  # of log-odds, so that its exponential stays finite
NOT_ASKED = 255  # in the table of answers, which else has bits


class PairData(NamedTuple):
    """Everything that stays the same during a fit; people are sorted by group.

    ``member_start[g]`` is the first person of group g. Row i of the reports (CSR: ``start``, ``target``, ``bits``) is
    what person i says about others; the transposed arrays have what others say about i. ``slots`` is 1 for
    undirected ties and 2 for directed ones (slot 0 is i → j, slot 1 is j → i); ``asks_in`` says that people were also
    asked who turns to them. The class of a pair of groups is explained by their first members' cells in the first
    ``n_group_terms`` terms, which all members share. ``uses`` (tie, strength, report × terms) marks
    what a term explains. ``weight`` is how many times the pairs of the group at hand with each group count.
    ``features`` (features × people) are what people counted among their ties.
    """

    member_start: Array
    group: Array
    weight: Array
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
    uses: Array
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
    features: Array


class PairWeights(NamedTuple):
    """The parameters as the kernels need them; everything of the tie and the report is exponentiated.

    ``tilts`` (features × people) are log-odds that a person's counts add to their ties, by feature of the other end.
    """

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
    tilts: Array


class Work(NamedTuple):
    """Rows of the members of one group (first axis), a column for each person; ``[slot, row, column]`` with slots.

    ``tie``, ``strong``, ``report``: odds of a tie, of its strength and of a report. ``none``, ``weak``,
    ``firm``: likelihood of what both ends say given no, a weak, a strong tie. ``odds[end]``: odds that this end names
    a weak tie. ``answer[end]``: 1 it does, 0 it does not, NOT_ASKED. ``prior`` and ``posterior`` of the class: by
    class and group. ``tilt`` is what counts add to the log-odds of a tie.
    """

    says: Array
    hears: Array
    cells: Array
    tie: Array
    strong: Array
    report: Array
    none: Array
    weak: Array
    firm: Array
    odds: Array
    answer: Array
    prior: Array
    posterior: Array
    rest: Array
    tilt: Array


@kernel(error_model="numpy")
def make_work(data: PairData, n_classes: int, most: int) -> Work:
    """Return room for groups of up to ``most`` members."""
    n_people = len(data.group)
    n_groups = len(data.member_start) - 1
    slots = data.slots
    return Work(
        np.zeros((most, n_people), dtype=np.uint8),
        np.zeros((most, n_people), dtype=np.uint8),
        np.zeros((len(data.kinds), most, n_people), dtype=np.int32),
        np.ones((most, n_people)),
        np.ones((most, n_people)),
        np.ones((most, n_people)),
        np.ones((slots, most, n_people)),
        np.ones((slots, most, n_people)),
        np.ones((slots, most, n_people)),
        np.ones((2, most, n_people)),
        np.zeros((2, slots, most, n_people), dtype=np.uint8),
        np.zeros((n_classes, n_groups)),
        np.zeros((n_classes, n_groups)),
        np.zeros((3, most, n_people)),
        np.zeros((most, n_people)),
    )


@kernel(error_model="numpy")
def fill_cells(data: PairData, term: int, i: int, low: int, cells: Array) -> None:
    """Write the cells of person i with everybody from ``low`` on in one term."""
    kind = data.kinds[term]
    first = data.first_cell[term]
    codes = data.codes[term]
    n_people = len(codes)
    if kind == CODES:
        base = first + codes[i] * data.n_codes[term]
        for j in range(low, n_people):
            cells[j] = base + codes[j]
    elif kind == DISTANCE:
        fill_distances(data, term, i, low, cells)
    elif kind == LISTED:
        cells[low:] = first
        for entry in range(data.listed_start[term, i], data.listed_start[term, i + 1]):
            cells[data.listed_other[entry]] = first + data.listed_cell[entry]
    elif kind == SAME_CODE:
        for j in range(low, n_people):
            cells[j] = first + (1 if codes[i] == codes[j] and codes[i] >= 0 else 0)
    else:
        group = data.group[i]
        for j in range(low, n_people):
            cells[j] = first + (1 if group == data.group[j] else 0)


@kernel(error_model="numpy")
def fill_distances(data: PairData, term: int, i: int, low: int, cells: Array) -> None:
    """Write the bin of the distance between person i and everybody from ``low`` on; the last bin is "not known"."""
    first = data.first_cell[term]
    columns = data.point_columns[term]
    edges = data.edges[term]
    n_edges = data.n_edges[term]
    points = data.points
    for j in range(low, len(data.group)):
        square = 0.0
        for column in range(columns[0], columns[1]):
            difference = points[i, column] - points[j, column]
            square += difference * difference
        below = 0
        above = n_edges
        while below < above:
            middle = (below + above) // 2
            if square > edges[middle]:
                below = middle + 1
            else:
                above = middle
        cells[j] = first + (below if square >= 0.0 else n_edges + 1)


@kernel(error_model="numpy")
def multiply(table: Array, cells: Array, low: int, values: Array) -> None:
    """Multiply a row of values by the table's entries of its cells."""
    for j in range(low, len(values)):
        values[j] *= table[cells[j]]


@kernel(error_model="numpy")
def open_group(data: PairData, weights: PairWeights, g: int, low: int, work: Work) -> None:
    """Write everything about the pairs of the members of group g with people from ``low`` on."""
    for i in range(data.member_start[g], data.member_start[g + 1]):
        row = i - data.member_start[g]
        work.says[row] = 0
        work.hears[row] = 0
        for entry in range(data.start[i], data.start[i + 1]):
            work.says[row, data.target[entry]] = data.bits[entry]
        for entry in range(data.back_start[i], data.back_start[i + 1]):
            work.hears[row, data.back_source[entry]] = data.back_bits[entry]
        work.tie[row] = weights.tie_person[i] * weights.tie_person
        work.strong[row] = 1.0
        work.report[row] = 1.0
        for term in range(len(data.kinds)):
            cells = work.cells[term, row]
            fill_cells(data, term, i, low, cells)
            if data.uses[0, term]:
                multiply(weights.tie_table[0], cells, low, work.tie[row])
            if data.uses[1, term]:
                multiply(weights.tie_table[1], cells, low, work.strong[row])
            if data.uses[2, term]:
                multiply(weights.report_table, cells, low, work.report[row])
        work.odds[0, row] = weights.naming[i] * weights.named * work.report[row]
        work.odds[1, row] = weights.named[i] * weights.naming * work.report[row]
        for slot in range(data.slots):
            fill_answers(data, i, row, slot, low, work)
            fill_likelihood(weights, i, row, slot, low, work)
            fill_known(data, i, row, slot, low, work)
            if len(data.features):
                fill_tilts(data, weights, i, row, slot, low, work)


@kernel(error_model="numpy")
def fill_answers(data: PairData, i: int, row: int, slot: int, low: int, work: Work) -> None:
    """Write what both ends say about the ties of person i; slot 0 is i → j or undirected, slot 1 is j → i."""
    mine = OUT | IN
    theirs = OUT | IN
    asks_mine = True
    asks_theirs = True
    if data.slots == 2:
        mine = IN if slot else OUT
        theirs = OUT if slot else IN
        asks_mine = slot == 0 or data.asks_in
        asks_theirs = slot == 1 or data.asks_in
    says = work.says[row]
    hears = work.hears[row]
    first = work.answer[0, slot, row]
    second = work.answer[1, slot, row]
    asked = data.asked
    answers_mine = asked[i] and asks_mine
    for j in range(low, len(says)):
        first[j] = (1 if says[j] & mine else 0) if answers_mine else NOT_ASKED
        second[j] = (1 if hears[j] & theirs else 0) if asked[j] and asks_theirs else NOT_ASKED


@kernel(error_model="numpy")
def fill_likelihood(weights: PairWeights, i: int, row: int, slot: int, low: int, work: Work) -> None:
    """Write the likelihood of what both ends say, given no, a weak and a strong tie."""
    none = work.none[slot, row]
    weak = work.weak[slot, row]
    firm = work.firm[slot, row]
    none[low:] = 1.0
    weak[low:] = 1.0
    firm[low:] = 1.0
    strong_named = weights.strong_named
    false_naming = weights.false_naming
    for end in range(2):
        answer = work.answer[end, slot, row]
        odds = work.odds[end, row]
        for j in range(low, len(none)):
            if answer[j] == NOT_ASKED:
                continue
            wrong = false_naming[i] if end == 0 else false_naming[j]
            again = odds[j] * strong_named
            if answer[j]:
                none[j] *= wrong
                weak[j] *= odds[j] / (1.0 + odds[j])
                firm[j] *= again / (1.0 + again)
            else:
                none[j] *= 1.0 - wrong
                weak[j] /= 1.0 + odds[j]
                firm[j] /= 1.0 + again


@kernel(error_model="numpy")
def fill_known(data: PairData, i: int, row: int, slot: int, low: int, work: Work) -> None:
    """Rule out what is known not to be."""
    says = work.says[row]
    hears = work.hears[row]
    for j in range(low, len(says)):
        facts = says[j] | hears[j]
        if facts & TIE:
            work.none[slot, row, j] = 0.0
        elif facts & NO_TIE or data.complete[i] or data.complete[j]:
            work.weak[slot, row, j] = 0.0
            work.firm[slot, row, j] = 0.0


@kernel(error_model="numpy")
def fill_tilts(data: PairData, weights: PairWeights, i: int, row: int, slot: int, low: int, work: Work) -> None:
    """Multiply the likelihood of a tie by what the counts of both ends say; i counts i → j, and j counts j → i."""
    tilt = work.tilt[row]
    tilt[low:] = 0.0
    for feature in range(len(data.features)):
        others = data.features[feature]
        theirs = weights.tilts[feature]
        mine = theirs[i] if slot == 0 else 0.0
        here = others[i] if slot == 1 or data.slots == 1 else 0.0
        if mine == 0.0 and here == 0.0:
            continue
        for j in range(low, len(tilt)):
            tilt[j] += mine * others[j] + here * theirs[j]
    for j in range(low, len(tilt)):
        factor = np.exp(min(max(tilt[j], -LARGEST_TILT), LARGEST_TILT))
        work.weak[slot, row, j] *= factor
        work.firm[slot, row, j] *= factor


@kernel(error_model="numpy")
def class_of_groups(data: PairData, weights: PairWeights, g: int, h_low: int, work: Work) -> float:
    """Write the prior and posterior class of group g with the groups from ``h_low`` on; return the log-likelihood."""
    prior = work.prior
    posterior = work.posterior
    n_classes = len(weights.class_tie)
    n_groups = len(data.member_start) - 1
    prior[:] = 0.0
    for u in range(1, n_classes):
        for h in range(h_low, n_groups):
            prior[u, h] = weights.class_group[u - 1, g] + weights.class_group[u - 1, h]
        for term in range(data.n_group_terms):
            for h in range(h_low, n_groups):
                prior[u, h] += weights.class_table[u - 1, work.cells[term, 0, data.member_start[h]]]
    for u in range(n_classes):
        for h in range(h_low, n_groups):
            posterior[u, h] = 0.0
        add_logarithms(data, g, h_low, weights.class_tie[u], weights.class_strong[u], work, posterior[u])
    total = 0.0
    for h in range(h_low, n_groups):
        if n_classes == 1:
            total += data.weight[h] * posterior[0, h]
            prior[0, h] = 1.0
            posterior[0, h] = 1.0
            continue
        for u in range(n_classes):
            posterior[u, h] += prior[u, h]
        total += data.weight[h] * (softmax(posterior[:, h]) - softmax(prior[:, h]))
    return total


@kernel(error_model="numpy")
def softmax(values: Array) -> float:
    """Replace logarithms by their shares and return the logarithm of their sum."""
    top = values[0]
    for k in range(1, len(values)):
        top = max(top, values[k])
    total = 0.0
    for k in range(len(values)):
        values[k] = np.exp(values[k] - top)
        total += values[k]
    for k in range(len(values)):
        values[k] /= total
    return top + np.log(total)


@kernel(error_model="numpy")
def add_logarithms(
    data: PairData, g: int, h_low: int, class_tie: float, class_strong: float, work: Work, logarithms: Array
) -> None:
    """Add the log-likelihood of the reports of g and each h, given one class."""
    start = data.member_start
    for slot in range(data.slots):
        for i in range(start[g], start[g + 1]):
            row = i - start[g]
            tie = work.tie[row]
            strong = work.strong[row]
            none = work.none[slot, row]
            weak = work.weak[slot, row]
            firm = work.firm[slot, row]
            for h in range(h_low, len(start) - 1):
                if h == g and not data.within:
                    continue
                product = 1.0
                for j in range(i + 1 if h == g else start[h], start[h + 1]):
                    odds = tie[j] * class_tie
                    again = strong[j] * class_strong
                    tied = (weak[j] + again * firm[j]) / (1.0 + again)
                    product *= (none[j] + odds * tied) / (1.0 + odds)
                    if product < SMALL_PRODUCT:
                        logarithms[h] += np.log(max(product, SMALLEST))
                        product = 1.0
                logarithms[h] += np.log(product)


class Rows(NamedTuple):
    """P(tie), P(strong tie) and P(row names column) of the people ``low`` … ``low + len − 1``.

    ``nodes`` and ``shares`` integrate over the naming effect of people who were not asked: factors of the odds of
    naming, and their weights. Without rows in ``named``, naming is left out.
    """

    tie: Array
    strong: Array
    named: Array
    nodes: Array
    shares: Array


@kernel(error_model="numpy")
def posterior_of_group(data: PairData, weights: PairWeights, g: int, work: Work, rows: Rows, first: int) -> None:
    """Write the rows of the members of a group from ``first`` on; directed: row i, column j is the tie i → j."""
    everybody = np.int64(0)  # the literal 0 would compile the two functions a second time
    open_group(data, weights, g, everybody, work)
    class_of_groups(data, weights, g, everybody, work)
    start = data.member_start
    for i in range(start[g], start[g + 1]):
        row = i - start[g]
        tie = rows.tie[first + row]
        strong = rows.strong[first + row]
        for j in range(len(tie)):
            h = data.group[j]
            if j == i or (h == g and not data.within):
                continue
            for u in range(len(weights.class_tie)):
                odds = work.tie[row, j] * weights.class_tie[u]
                again = work.strong[row, j] * weights.class_strong[u]
                weak = odds / (1.0 + again) * work.weak[0, row, j]
                firm = odds * again / (1.0 + again) * work.firm[0, row, j]
                scale = work.posterior[u, h] / max(work.none[0, row, j] + weak + firm, SMALLEST)
                tie[j] += scale * (weak + firm)
                strong[j] += scale * firm
            if len(rows.named):
                fill_naming(data, weights, i, j, work.odds[0, row, j], first + row, rows)


@kernel(error_model="numpy")
def fill_naming(data: PairData, weights: PairWeights, i: int, j: int, odds: float, row: int, rows: Rows) -> None:
    """Write the probability that i names j."""
    weak = odds / (1.0 + odds)
    firm = odds * weights.strong_named / (1.0 + odds * weights.strong_named)
    if not data.asked[i]:
        weak = 0.0
        firm = 0.0
        for node in range(len(rows.nodes)):
            moved = odds * rows.nodes[node]
            again = moved * weights.strong_named
            weak += rows.shares[node] * moved / (1.0 + moved)
            firm += rows.shares[node] * again / (1.0 + again)
    tie = rows.tie[row, j]
    strong = rows.strong[row, j]
    rows.named[row, j] = (tie - strong) * weak + strong * firm + (1.0 - tie) * weights.false_naming[i]


@kernel(error_model="numpy")
def posterior_rows(
    data: PairData, weights: PairWeights, groups: Array, first: Array, most: int, rows: Rows
) -> None:  # fmt: skip
    """Fill the rows of some groups; group ``groups[k]`` begins at row ``first[k]``."""
    work = make_work(data, len(weights.class_tie), most)
    for k in range(len(groups)):
        posterior_of_group(data, weights, groups[k], work, rows, first[k])
