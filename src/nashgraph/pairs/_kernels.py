"""Numba kernels on plain arrays: one row's simplex projection, and the loops over rows that use it.

Every function here trusts its input: shapes, finiteness and signs are checked by the callers. Kernels over whole N x N
arrays share their rows among threads; kernels over a block of rows run in one thread, because blocks do the sharing.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from ..compiled import kernel
from ..validation import Array
from ._smallest import heap_sort

# NaN-free arithmetic may be reordered, which lets LLVM vectorise the sums and maxima; infinities stay legal,
# because the difference of two huge scores may overflow and must then simply lose.
Arrays = tuple[Array, ...]
FAST = {"nnan", "nsz", "reassoc", "contract"}
# Newton rounds over a whole row, then over what is left of it; random rows need 4 to 6 (tests/pairs/test_simplex.py).
WHOLE_ROUNDS = 8
MICHELOT_ROUNDS = 24
CHUNKS = 64  # runs of rows dealt to threads, several for each, so that runs of long rows hold nobody up


@kernel(fastmath=FAST)
def project_row(row: Array, skip: int, gain: float, total: float, buffer: Array) -> tuple[float, float]:
    """Project ``gain`` times ``row`` in place onto {w >= 0, w[skip] = 0, sum w = total}.

    Return the row's largest score, before the gain, and the threshold eta above it: the response is
    ``w_j = max(0, t_j + eta)`` with ``t_j = gain * (s_j - max s)``. A negative ``skip`` leaves no entry out.

    The threshold lies in (0, total]. Newton's method on the piecewise linear ``eta -> sum_j max(0, t_j + eta)`` comes
    down to it from there, and ends where the entries that are positive stay the same (Michelot's algorithm): a few
    rounds over the whole row, each a plain vectorised sum. Where rounds drop few entries, ``threshold`` finishes
    among those that are left in ``buffer`` (length >= n). Taking the maximum off first keeps huge scores exact.
    A last sum over the positive entries, in their order, gives the same bits whatever zeros are between them: where
    a solver comes to a fork, rounding would send it another way on every storage.
    """
    n = row.shape[0]
    if skip >= 0:
        row[skip] = -np.inf
    top = -np.inf
    for j in range(n):
        top = max(top, row[j])
    for j in range(n):
        row[j] = gain * (row[j] - top)
    eta = total
    members = 0.0
    done = False
    for _ in range(WHOLE_ROUNDS):
        count = chosen = 0.0
        for j in range(n):
            chosen += row[j] if row[j] + eta > 0.0 else 0.0
            count += 1.0 if row[j] + eta > 0.0 else 0.0
        done = count == members
        if done:
            break
        members = count
        eta = (total - chosen) / count
    if not done:
        size = 0
        for j in range(n):
            if row[j] + eta > 0.0:
                buffer[size] = row[j]
                size += 1
        eta = threshold(buffer, size, total)
    size = 0
    for j in range(n):
        buffer[size] = row[j]
        size += row[j] + eta > 0.0
    eta = (total - sum_in_order(buffer[:size])) / max(size, 1)
    for j in range(n):
        row[j] = max(row[j] + eta, 0.0)
    return top, eta


@kernel()
def sum_in_order(values: Array) -> float:
    """Return the sum of some values, which is not vectorised."""
    total = 0.0
    for value in values:
        total += value
    return total


@kernel(fastmath=FAST)
def threshold(values: Array, size: int, total: float) -> float:
    """Return eta with ``sum(max(0, values[:size] + eta)) = total``; overwrites ``values``.

    The values lie in (-total, 0] and 0 is among them, so eta is in (0, total].
    """
    eta = total
    for _ in range(MICHELOT_ROUNDS):
        excess = -total
        for k in range(size):
            excess += values[k] + eta
        eta -= excess / size  # exact if no value is dropped now
        kept = 0
        for k in range(size):
            if values[k] + eta > 0.0:
                values[kept] = values[k]
                kept += 1
        if kept == size:
            return eta
        size = kept
    nobody = np.empty(size, np.int32)
    heap_sort(values, nobody, nobody, size)
    running = 0.0
    for k in range(size):
        running += values[size - 1 - k]  # sorted upward: the largest come last
        eta = (total - running) / (k + 1)
        if k + 1 < size and values[size - 2 - k] + eta <= 0.0:
            break
    return eta


@kernel(parallel=True)
def project_rows_inplace(rows: Array, skip: Array, total: float, eta: Array) -> None:
    """Project every row of ``rows`` in place; row i must be zero at ``skip[i]``. One buffer per thread."""
    n_rows, n = rows.shape
    n_chunks = min(n_rows, CHUNKS)
    for chunk in prange(n_chunks):
        buffer = np.empty(n, rows.dtype)
        for i in range(chunk * n_rows // n_chunks, (chunk + 1) * n_rows // n_chunks):
            top, above = project_row(rows[i], skip[i], 1.0, total, buffer)
            eta[i] = above - top


@kernel()
def weighed(weights: Array, costs: Array) -> tuple[float, float]:
    """Return a row's cost, sum_j w_j d_j, and its square, sum_j w_j^2, both summed in order."""
    cost = square = 0.0
    for j in range(weights.shape[0]):
        cost += weights[j] * costs[j]
        square += weights[j] * weights[j]
    return cost, square


@kernel(fastmath=FAST)
def pair_bonus(left: Array, right: Array) -> float:
    """Return the bonus of one pair, the inner product of its two sides."""
    total = 0.0
    for k in range(len(left)):
        total += left[k] * right[k]
    return total


@kernel()
def scores_of_row(distances: Array, left: Array, columns: Array, scores: Array) -> None:
    """Write a row of scores, bonus less cost; ``columns`` has the right side of the bonus as rows, (K, n)."""
    n = len(distances)
    for j in range(n):
        scores[j] = -distances[j]
    for k in range(len(left)):
        for j in range(n):
            scores[j] += left[k] * columns[k, j]


@kernel()
def list_above(
    distances: Array, nodes: Array, left: Array, columns: Array, cut: Array, counts: Array, indices: Array
) -> bool:
    """List the pairs of a block of rows whose score is not below the row's cut.

    Row k belongs to ``nodes[k]``, and so do ``left[k]`` and ``cut[k]``. Writes how many pairs each row has and their
    columns, and returns whether all had a place.
    """
    n_rows, n = distances.shape
    scores = np.empty(n)
    place = 0
    capacity = len(indices)
    for k in range(n_rows):
        scores_of_row(distances[k], left[k], columns, scores)
        scores[nodes[k]] = -np.inf
        begin = place
        if place + n > capacity:  # there may be too little: look before each
            for j in range(n):
                if scores[j] >= cut[k] and j != nodes[k]:
                    if place == capacity:
                        return False
                    indices[place] = j
                    place += 1
        else:
            for j in range(n):
                indices[place] = j
                place += (scores[j] >= cut[k]) & (j != nodes[k])
        counts[k] = place - begin
    return True


@kernel()
def exact_cuts(
    distances: Array, nodes: Array, left: Array, columns: Array, gain: float, total: float, margin: float, cut: Array
) -> None:
    """Raise the cuts of a block to the rows' own thresholds, less ``margin`` times the best score above them."""
    n_rows, n = distances.shape
    scores = np.empty(n)
    buffer = np.empty(n)
    for k in range(n_rows):
        scores_of_row(distances[k], left[k], columns, scores)
        top, above = project_row(scores, nodes[k], gain, total, buffer)
        cut[k] = max(cut[k], top - (1.0 + margin) * above / gain)


@kernel()
def scores_of_pairs(names: Array, costs: Array, left: Array, right: Array, scores: Array) -> None:
    """Write the scores of a row's candidate pairs; rank one, the usual case, has a loop of its own."""
    if len(left) == 1:
        for k in range(len(names)):
            scores[k] = left[0] * right[names[k], 0] - costs[k]
    else:
        for k in range(len(names)):
            scores[k] = pair_bonus(left, right[names[k]]) - costs[k]


@kernel(parallel=True)
def respond_candidates(candidates: Arrays, sides: Arrays, gain: float, total: float, found: Arrays) -> None:
    """Write the best response to a bonus where each row may use its candidate columns only (CSR).

    Only the edges of each row are written. The rows of a run follow one another from where the list of its first row
    begins, so that nothing is touched of what is longer than the response; :func:`runs` says which rows are a run.
    ``eta`` gets each row's best score and the weight above it (see ``project_row``), ``sums`` its cost and square.
    """
    (pointers, indices, distances), (left, right), (columns, weights, lengths, eta, sums) = candidates, sides, found
    longest = widest(pointers)
    ends = runs(pointers.shape[0] - 1)
    for chunk in prange(len(ends) - 1):
        row = np.empty(longest)
        buffer = np.empty(longest)
        place = pointers[ends[chunk]]
        for i in range(ends[chunk], ends[chunk + 1]):
            names = indices[pointers[i] : pointers[i + 1]]
            costs = distances[pointers[i] : pointers[i + 1]]
            response = row[: len(names)]
            scores_of_pairs(names, costs, left[i], right, response)
            eta[i, 0], eta[i, 1] = project_row(response, -1, gain, total, buffer)
            begin = place
            for k in range(len(names)):
                columns[place], weights[place], buffer[place - begin] = names[k], response[k], costs[k]
                place += response[k] > 0.0
            lengths[i] = place - begin
            sums[i, 0], sums[i, 1] = weighed(weights[begin:place], buffer)


@kernel(parallel=True)
def step_candidates(
    candidates: Arrays, sides: Arrays, edges: Arrays, keep: float, gain: float, total: float, out: Array
) -> None:
    """Project ``keep * w_ij + gain * (bonus_ij - d_ij)`` over each row's candidates; W is CSR on some of them."""
    (pointers, indices, distances), (left, right) = candidates, sides
    edge_pointers, edge_columns, edge_weights = edges
    longest = widest(pointers)
    ends = runs(pointers.shape[0] - 1)
    for chunk in prange(len(ends) - 1):
        buffer = np.empty(longest)
        before = np.zeros(pointers.shape[0] - 1)
        for i in range(ends[chunk], ends[chunk + 1]):
            names = indices[pointers[i] : pointers[i + 1]]
            costs = distances[pointers[i] : pointers[i + 1]]
            response = out[pointers[i] : pointers[i + 1]]
            scores_of_pairs(names, costs, left[i], right, response)
            for e in range(edge_pointers[i], edge_pointers[i + 1]):
                before[edge_columns[e]] = edge_weights[e]
            for k in range(len(names)):
                response[k] = keep * before[names[k]] + gain * response[k]
            # Only what was written is cleared: a row of zeros would cost n for each row.
            for e in range(edge_pointers[i], edge_pointers[i + 1]):
                before[edge_columns[e]] = 0.0
            project_row(response, -1, 1.0, total, buffer)


@kernel()
def runs(n: int) -> Array:
    """Return the rows at which the runs dealt to threads begin, and their number at the end."""
    n_chunks = min(n, CHUNKS)
    return np.arange(n_chunks + 1) * n // n_chunks


@kernel()
def widest(pointers: Array) -> int:
    """Return the length of the longest row of a CSR matrix."""
    longest = 0
    for i in range(pointers.shape[0] - 1):
        longest = max(longest, pointers[i + 1] - pointers[i])
    return longest


@kernel(parallel=True)
def ladder_rows(
    nearest: Array, costs: Array, levels: Array, total: float, share: float, weights: Array, shares: Array
) -> None:
    """Add to each row its best responses without bonus at several levels, each of sum ``total``, and where they are.

    Row i has the m nearest as neighbours whose costs lie below the level, and the weights
    ``total * (eta - d_k) / level`` with ``eta = (level + sum of their d) / m``.
    """
    for i in prange(nearest.shape[0]):
        for level in levels:
            m = 1
            while m < costs.shape[1] and costs[i, m] < level:
                m += 1
            eta = level
            for k in range(m):
                eta += nearest[i, k]
            eta /= m
            for k in range(m):
                weight = total * (eta - nearest[i, k]) / level
                if weight > 0.0:
                    weights[i, k] += weight
                    shares[i, k] += share
