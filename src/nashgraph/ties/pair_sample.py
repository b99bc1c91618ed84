r"""A sample of the pairs of groups, drawn once, whose weighted sums stand for those over all pairs.

Every pair of groups about which somebody reported a tie, or whose tie is known, is in the sample (the cases). Any other
pair gh is in it with a probability π_gh of its own (the controls) and has the weight 1/π_gh, so that sums over the
sample are unbiased estimates of sums over all pairs (Horvitz and Thompson). Controls in rare cells
of a covariate, such as near neighbours, tell most. With f_t(gh) the share of pairs that are in the
same cell of term t as gh, K_t its number of cells that occur, and T terms,

    π_gh = min(1, m / N · 1/T Σ_t 1 / (K_t f_t(gh))),

so that every cell has about as many controls, and a person about m of them. A pair's draw is a hash of its two numbers:
the sample depends neither on threads nor on the order of the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from ..compiled import kernel
from ..validation import Array
from .report_kernels import IN, OUT, TIE, PairData, PairWeights, class_of_groups, fill_cells, make_work, open_group
from .report_sums import Sums, add_classes, add_group


class PairSample(NamedTuple):
    """The sampled pairs: row g (CSR) has the groups h > g (``partner``, sorted) and the weights of the pairs gh."""

    start: Array
    partner: Array
    weight: Array


def draw_sample(data: PairData, cell_share: Array, n_controls: float, seed: int = 0) -> PairSample:
    """Draw a sample with about ``n_controls`` controls for each person; ``cell_share`` has the share of pairs by cell.

    Costs one scan over all pairs, which fills cells and nothing else.
    """
    n_people = len(data.group)
    score = np.zeros(len(cell_share))
    n_terms = len(data.kinds)
    for term in range(n_terms):
        part = slice(data.first_cell[term], data.first_cell[term + 1])
        there = cell_share[part] > 0
        # a cell that the estimate of the shares missed is rarer than any other
        share = np.where(there, cell_share[part], cell_share[part][there].min() if there.any() else 1.0)
        score[part] = n_controls / (n_people * n_terms * max(1, int(there.sum())) * share)
    n_groups = len(data.member_start) - 1
    flags = np.zeros(1, dtype=np.int64)
    count = np.zeros(n_groups + 1, dtype=np.int64)
    nothing = np.zeros(0)
    choose_pairs(data, score, seed, count, flags, nothing)
    start = np.cumsum(count)
    partner = np.zeros(start[-1], dtype=np.int64)
    weight = np.zeros(start[-1])
    choose_pairs(data, score, seed, start, partner, weight)
    return PairSample(start, partner, weight)


@kernel(error_model="numpy")
def chance_of(seed: int, g: int, h: int) -> float:
    """Return a number in [0, 1) that is fixed for a pair of groups, by the finaliser of splitmix64."""
    x = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(g) * np.uint64(0xD1B54A32D192ED03) + np.uint64(h)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return float(x >> np.uint64(11)) / 9007199254740992.0


@kernel(parallel=True, error_model="numpy")
def choose_pairs(data: PairData, score: Array, seed: int, start: Array, partner: Array, weight: Array) -> None:
    """Count the partners of each group in ``start[g + 1]``, or write them from ``start[g]`` on if there is room."""
    n_groups = len(data.member_start) - 1
    n_people = len(data.group)
    n_chunks = 16
    counting = len(weight) == 0
    for chunk in prange(n_chunks):
        cells = np.zeros(n_people, dtype=np.int32)
        total = np.zeros(n_people)
        is_case = np.zeros(n_groups, dtype=np.bool_)
        for g in range(chunk, n_groups, n_chunks):
            first = data.member_start[g]
            low = data.member_start[g + 1]
            mark_cases(data, first, low, True, is_case)
            total[low:] = 0.0
            for term in range(len(data.kinds)):
                fill_cells(data, term, first, low, cells)
                for j in range(low, n_people):
                    total[j] += score[cells[j]]
            place = 0 if counting else start[g]
            for h in range(g + 1, n_groups):
                share = min(1.0, total[data.member_start[h]])
                if is_case[h]:
                    share = 1.0
                if share < 1.0 and chance_of(seed, g, h) >= share:
                    continue
                if not counting:
                    partner[place] = h
                    weight[place] = 1.0 / share
                place += 1
            if counting:
                start[g + 1] = place
            mark_cases(data, first, low, False, is_case)


@kernel(error_model="numpy")
def mark_cases(data: PairData, first: int, last: int, value: bool, is_case: Array) -> None:
    """Set the flags of the groups that the people from ``first`` to ``last`` report on, or are tied to."""
    for i in range(first, last):
        for entry in range(data.start[i], data.start[i + 1]):
            if data.bits[entry] & (OUT | IN | TIE):
                is_case[data.group[data.target[entry]]] = value
        for entry in range(data.back_start[i], data.back_start[i + 1]):
            if data.back_bits[entry] & (OUT | IN | TIE):
                is_case[data.group[data.back_source[entry]]] = value


@kernel(error_model="numpy")
def people_of(data: PairData, g: int, sample: PairSample) -> Array:
    """Return the members of a group and of its sampled partners."""
    count = data.member_start[g + 1] - data.member_start[g]
    for entry in range(sample.start[g], sample.start[g + 1]):
        h = sample.partner[entry]
        count += data.member_start[h + 1] - data.member_start[h]
    people = np.empty(count, dtype=np.int64)
    place = 0
    for i in range(data.member_start[g], data.member_start[g + 1]):
        people[place] = i
        place += 1
    for entry in range(sample.start[g], sample.start[g + 1]):
        h = sample.partner[entry]
        for j in range(data.member_start[h], data.member_start[h + 1]):
            people[place] = j
            place += 1
    return people


@kernel(error_model="numpy")
def entries_of(
    start: Array, other: Array, values: Array, people: Array, n_rows: int, where: Array
) -> tuple[Array, Array, Array]:
    """Return the first rows of a CSR matrix in the numbers of some people; ``where`` has these numbers, else −1."""
    new_start = np.zeros(len(people) + 1, dtype=np.int64)
    for row in range(n_rows):
        count = 0
        for entry in range(start[people[row]], start[people[row] + 1]):
            count += where[other[entry]] >= 0
        new_start[row + 1] = new_start[row] + count
    new_start[n_rows:] = new_start[n_rows]
    new_other = np.empty(new_start[n_rows], dtype=np.int64)
    new_values = np.empty(new_start[n_rows], dtype=values.dtype)
    place = 0
    for row in range(n_rows):
        for entry in range(start[people[row]], start[people[row] + 1]):
            if where[other[entry]] >= 0:
                new_other[place] = where[other[entry]]
                new_values[place] = values[entry]
                place += 1
    return new_start, new_other, new_values


@kernel(error_model="numpy")
def listed_pairs_of(data: PairData, people: Array, n_rows: int, where: Array) -> tuple[Array, Array, Array]:
    """Return the tables of pairs of the first of some people, in their numbers."""
    n_terms = len(data.kinds)
    starts = np.zeros((n_terms, len(people) + 1), dtype=np.int64)
    others = np.zeros(0, dtype=np.int64)
    cells = np.zeros(0, dtype=np.int64)
    for term in range(n_terms):
        start, other, cell = entries_of(
            data.listed_start[term], data.listed_other, data.listed_cell, people, n_rows, where
        )
        starts[term] = start + len(others)
        if len(other):
            others = np.concatenate((others, other))
            cells = np.concatenate((cells, cell))
    return starts, others, cells


@kernel(error_model="numpy")
def narrowed(data: PairData, g: int, sample: PairSample, people: Array, where: Array) -> PairData:
    """Return the data of the people of one group and of its sampled partners alone; the group is number 0."""
    n = len(people)
    n_rows = data.member_start[g + 1] - data.member_start[g]
    n_partners = sample.start[g + 1] - sample.start[g]
    n_terms = len(data.kinds)
    member_start = np.zeros(n_partners + 2, dtype=np.int64)
    member_start[1] = n_rows
    weight = np.ones(n_partners + 1)
    group = np.zeros(n, dtype=np.int64)
    for k in range(n_partners):
        h = sample.partner[sample.start[g] + k]
        member_start[k + 2] = member_start[k + 1] + data.member_start[h + 1] - data.member_start[h]
        group[member_start[k + 1] : member_start[k + 2]] = k + 1
        weight[k + 1] = sample.weight[sample.start[g] + k]
    codes = np.empty((n_terms, n), dtype=np.int64)
    for term in range(n_terms):
        for k in range(n):
            codes[term, k] = data.codes[term, people[k]]
    listed_start, listed_other, listed_cell = listed_pairs_of(data, people, n_rows, where)
    start, target, bits = entries_of(data.start, data.target, data.bits, people, n_rows, where)
    back_start, back_source, back_bits = entries_of(
        data.back_start, data.back_source, data.back_bits, people, n_rows, where
    )
    return PairData(
        member_start=member_start,
        group=group,
        weight=weight,
        asked=data.asked[people],
        complete=data.complete[people],
        start=start,
        target=target,
        bits=bits,
        back_start=back_start,
        back_source=back_source,
        back_bits=back_bits,
        slots=data.slots,
        asks_in=data.asks_in,
        within=data.within,
        n_group_terms=data.n_group_terms,
        uses=data.uses,
        kinds=data.kinds,
        first_cell=data.first_cell,
        n_codes=data.n_codes,
        codes=codes,
        points=data.points[people],
        point_columns=data.point_columns,
        edges=data.edges,
        n_edges=data.n_edges,
        listed_start=listed_start,
        listed_other=listed_other,
        listed_cell=listed_cell,
        features=data.features[:, people],
    )


@kernel(error_model="numpy")
def narrowed_weights(weights: PairWeights, g: int, sample: PairSample, people: Array) -> PairWeights:
    """Return the parameters of the people of one group and of its sampled partners alone."""
    n_partners = sample.start[g + 1] - sample.start[g]
    class_group = np.empty((len(weights.class_group), n_partners + 1))
    for u in range(len(class_group)):
        class_group[u, 0] = weights.class_group[u, g]
        for k in range(n_partners):
            class_group[u, k + 1] = weights.class_group[u, sample.partner[sample.start[g] + k]]
    return PairWeights(
        class_table=weights.class_table,
        tie_table=weights.tie_table,
        report_table=weights.report_table,
        class_group=class_group,
        tie_person=weights.tie_person[people],
        class_tie=weights.class_tie,
        class_strong=weights.class_strong,
        strong_named=weights.strong_named,
        naming=weights.naming[people],
        named=weights.named[people],
        false_naming=weights.false_naming[people],
        tilts=weights.tilts[:, people],
    )


@kernel(error_model="numpy")
def add_sampled(
    data: PairData, weights: PairWeights, sample: PairSample, g: int, where: Array, power: int, sums: Sums
) -> float:
    """Add the sampled pairs of the members of group g, and return their weighted log-likelihood."""
    people = people_of(data, g, sample)
    for k in range(len(people)):
        where[people[k]] = k
    view = narrowed(data, g, sample, people, where)
    for k in range(len(people)):
        where[people[k]] = -1
    n_rows = view.member_start[1]
    h_low = 0 if data.within else 1
    low = view.member_start[h_low]
    if low == len(people):
        return 0.0
    few = narrowed_weights(weights, g, sample, people)
    of_groups = np.zeros((len(few.class_group), len(view.weight)))
    of_people = np.zeros((4, len(people)))
    counted = np.zeros((len(data.features), len(people)))
    here = Sums(sums.cells, sums.classes, of_groups, of_people, sums.other, counted)
    work = make_work(view, len(few.class_tie), n_rows)
    open_group(view, few, 0, low, work)
    total = class_of_groups(view, few, 0, h_low, work)
    add_classes(view, few, 0, h_low, work, here, power)
    add_group(view, few, 0, low, work, here, power)
    for part in range(4):
        for k in range(len(people)):
            sums.person[part, people[k]] += of_people[part, k]
    for feature in range(len(counted)):
        for k in range(len(people)):
            sums.counted[feature, people[k]] += counted[feature, k]
    for u in range(len(of_groups)):
        sums.group[u, g] += of_groups[u, 0]
        for k in range(1, len(view.weight)):
            sums.group[u, sample.partner[sample.start[g] + k - 1]] += of_groups[u, k]
    return total


@kernel(parallel=True, error_model="numpy")
def evaluate_sampled(
    data: PairData, weights: PairWeights, sample: PairSample, power: int, totals: Array, chunks: Sums
) -> None:
    """Add up derivatives or information over the sampled pairs, as :func:`.report_sums.evaluate` does over all."""
    n_groups = len(data.member_start) - 1
    n_chunks = len(totals)
    for chunk in prange(n_chunks):
        where = np.full(len(data.group), -1)
        sums = Sums(
            chunks.cells[chunk],
            chunks.classes[chunk],
            chunks.group[chunk],
            chunks.person[chunk],
            chunks.other[chunk],
            chunks.counted[chunk],
        )
        for g in range(chunk, n_groups, n_chunks):
            totals[chunk] += add_sampled(data, weights, sample, g, where, power, sums)
