"""Numba kernels that add up the likelihood of the report model, its gradient and its complete-data information."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..compiled import kernel
from ..pairs.threads import shared
from ..validation import Array
from .report_kernels import NOT_ASKED, SMALLEST, PairData, PairWeights, Work, class_of_groups, make_work, open_group

# rows of ``Work.rest``: derivatives in the log-odds of a tie, its strength, a report
TIED = 0
STRONG = 1
NAMING = 2
MOST_IN_ONE_THREAD = 200  # people, whose pairs take a few milliseconds: threads would not help


class Sums(NamedTuple):
    """Derivatives of one chunk of groups, or diagonals of the complete-data information in the same layout.

    ``cells`` are (tie, strength, report) × cells, ``classes`` (class − 1) × cells, ``group`` (class − 1) × groups,
    ``person`` (tie, naming, being named, false naming) × people, and ``other`` has the classes' parts in the tie
    and its strength, and the naming of strong ties. ``counted`` (features × people) has the expected counts.
    """

    cells: Array
    classes: Array
    group: Array
    person: Array
    other: Array
    counted: Array


@kernel(error_model="numpy")
def add_classes(data: PairData, weights: PairWeights, g: int, h_low: int, work: Work, sums: Sums, power: int) -> None:
    """Add what the classes of g with the groups from ``h_low`` on say about their log-odds."""
    for u in range(1, len(weights.class_tie)):
        group = sums.group[u - 1]
        classes = sums.classes[u - 1]
        for h in range(h_low, len(data.member_start) - 1):
            if h == g and not data.within:
                continue
            prior = work.prior[u, h]
            if power == 1:
                value = work.posterior[u, h] - prior
            else:
                value = prior * (1.0 - prior)
            value *= data.weight[h]
            group[g] += value
            group[h] += value
            for term in range(data.n_group_terms):
                classes[work.cells[term, 0, data.member_start[h]]] += value


@kernel(error_model="numpy")
def add_ties(
    data: PairData, weights: PairWeights, i: int, row: int, slot: int, low: int, work: Work, sums: Sums, power: int
) -> None:
    """Write the derivatives of the pairs of person i with people from ``low`` on.

    By Fisher's identity the gradient of the marginal likelihood is the posterior mean of the complete one. Afterwards
    ``work.weak`` and ``work.firm`` have P(weak tie) and P(strong tie), times the pair's weight.
    """
    n_classes = len(weights.class_tie)
    tied_rest = work.rest[TIED, row]
    strong_rest = work.rest[STRONG, row]
    none = work.none[slot, row]
    weak = work.weak[slot, row]
    firm = work.firm[slot, row]
    for j in range(low, len(none)):
        h = data.group[j]
        weak_total = 0.0
        firm_total = 0.0
        for u in range(n_classes):
            odds = work.tie[row, j] * weights.class_tie[u]
            again = work.strong[row, j] * weights.class_strong[u]
            tied = odds / (1.0 + odds)
            share = again / (1.0 + again)
            weak_part = tied * (1.0 - share) * weak[j]
            firm_part = tied * share * firm[j]
            chance = data.weight[h] * work.posterior[u, h]
            scale = chance / max((1.0 - tied) * none[j] + weak_part + firm_part, SMALLEST)
            weak_part *= scale
            firm_part *= scale
            if power == 1:
                tie_value = weak_part + firm_part - chance * tied
                strong_value = firm_part - (weak_part + firm_part) * share
            else:
                tie_value = chance * tied * (1.0 - tied)
                strong_value = (weak_part + firm_part) * share * (1.0 - share)
            tied_rest[j] += tie_value
            strong_rest[j] += strong_value
            if u:
                sums.other[u - 1] += tie_value
                sums.other[n_classes + u - 2] += strong_value
            weak_total += weak_part
            firm_total += firm_part
        weak[j] = weak_total
        firm[j] = firm_total


@kernel(error_model="numpy")
def add_reports(
    data: PairData, weights: PairWeights, i: int, row: int, slot: int, low: int, work: Work, sums: Sums, power: int
) -> None:
    """Add what both ends of the pairs of person i say, given P(weak tie) and P(strong tie)."""
    last = len(sums.other) - 1
    naming = sums.person[1]
    named = sums.person[2]
    false = sums.person[3]
    rests = work.rest[NAMING, row]
    for end in range(2):
        answers = work.answer[end, slot, row]
        for j in range(low, len(rests)):
            if answers[j] == NOT_ASKED:
                continue
            answer = float(answers[j])
            respondent = i if end == 0 else j
            odds = work.odds[end, row, j]
            chance = odds / (1.0 + odds)
            again = odds * weights.strong_named / (1.0 + odds * weights.strong_named)
            wrong = weights.false_naming[respondent]
            weak = work.weak[slot, row, j]
            firm = work.firm[slot, row, j]
            none = data.weight[data.group[j]] - weak - firm
            if power == 1:
                firm_value = firm * (answer - again)
                value = weak * (answer - chance) + firm_value
                false_value = none * (answer - wrong)
            else:
                firm_value = firm * again * (1.0 - again)
                value = weak * chance * (1.0 - chance) + firm_value
                false_value = none * wrong * (1.0 - wrong)
            sums.other[last] += firm_value
            naming[respondent] += value
            named[j if end == 0 else i] += value
            false[respondent] += false_value
            rests[j] += value


@kernel(error_model="numpy")
def add_counts(data: PairData, i: int, row: int, slot: int, low: int, work: Work, sums: Sums) -> None:
    """Add the expected counts of both ends of the pairs of person i, given P(weak tie) and P(strong tie)."""
    weak = work.weak[slot, row]
    firm = work.firm[slot, row]
    tie = work.tilt[row]
    for j in range(low, len(tie)):
        tie[j] = weak[j] + firm[j]
    for feature in range(len(data.features)):
        others = data.features[feature]
        count = sums.counted[feature]
        if slot == 0:
            mine = 0.0
            for j in range(low, len(tie)):
                mine += tie[j] * others[j]
            count[i] += mine
        if (slot == 1 or data.slots == 1) and others[i] != 0.0:
            here = others[i]
            for j in range(low, len(tie)):
                count[j] += here * tie[j]


@kernel(error_model="numpy")
def scatter(cells: Array, values: Array, low: int, sums: Array) -> None:
    """Add a row of values to the sums of their cells."""
    for j in range(low, len(values)):
        sums[cells[j]] += values[j]


@kernel(error_model="numpy")
def add_group(data: PairData, weights: PairWeights, g: int, low: int, work: Work, sums: Sums, power: int) -> None:
    """Add the pairs of the members of group g with people from ``low`` on, each pair once."""
    start = data.member_start
    for i in range(start[g], start[g + 1]):
        row = i - start[g]
        first = max(low, i + 1)
        work.rest[:, row] = 0.0
        for slot in range(data.slots):
            add_ties(data, weights, i, row, slot, first, work, sums, power)
            if len(data.features) and power < 2:
                add_counts(data, i, row, slot, first, work, sums)
            if power:
                add_reports(data, weights, i, row, slot, first, work, sums, power)
        if not power:
            continue
        total = 0.0
        for j in range(first, len(data.group)):
            total += work.rest[TIED, row, j]
            sums.person[0, j] += work.rest[TIED, row, j]
        sums.person[0, i] += total
        for term in range(len(data.kinds)):
            for part in range(3):
                if data.uses[part, term]:
                    scatter(work.cells[term, row], work.rest[part, row], first, sums.cells[part])


def evaluate(data: PairData, weights: PairWeights, most: int, power: int, totals: Array, chunks: Sums) -> None:
    """Add up the derivatives (``power`` 1) or the information (2) over all pairs of groups, and the log-likelihood.

    ``power`` 0 adds up the expected counts alone.

    The first axis of ``chunks`` and ``totals`` are runs of groups, so threads never write to the same place. The
    threads are Python's: Numba takes ten seconds longer to compile a parallel loop over so many arrays.
    """
    n_chunks = len(totals)

    def add_chunk(chunk: int, buffer: None = None) -> None:
        add_chunks(data, weights, most, power, chunk, chunk + 1, totals, chunks)

    if len(data.group) <= MOST_IN_ONE_THREAD:
        add_chunks(data, weights, most, power, 0, n_chunks, totals, chunks)
    else:
        deque(shared(add_chunk, range(n_chunks), lambda: None), maxlen=0)


@kernel(error_model="numpy")
def add_chunks(
    data: PairData,
    weights: PairWeights,
    most: int,
    power: int,
    first: int,
    last: int,
    totals: Array,
    chunks: Sums,
) -> None:  # fmt: skip
    """Add up the chunks from ``first`` to before ``last``."""
    n_groups = len(data.member_start) - 1
    n_chunks = len(totals)
    for chunk in range(first, last):
        work = make_work(data, len(weights.class_tie), most)
        sums = Sums(
            chunks.cells[chunk],
            chunks.classes[chunk],
            chunks.group[chunk],
            chunks.person[chunk],
            chunks.other[chunk],
            chunks.counted[chunk],
        )
        for g in range(chunk, n_groups, n_chunks):
            h_low = g if data.within else g + 1
            low = data.member_start[h_low]
            if low == len(data.group):
                continue
            open_group(data, weights, g, low, work)
            totals[chunk] += class_of_groups(data, weights, g, h_low, work)
            if power:
                add_classes(data, weights, g, h_low, work, sums, power)
            add_group(data, weights, g, low, work, sums, power)
