"""Numba kernels on plain arrays: one row's simplex projection, and the loops over rows that use it.

Every function here trusts its input: shapes, finiteness and signs are checked by the callers. Kernels over whole N x N
arrays share their rows among threads; kernels over a block of rows run in one thread, because blocks do the sharing.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from ..compiled import kernel
from ..validation import Array
from ._heaps import heap_sort, make_heap, sift_down

# NaN-free arithmetic may be reordered, which lets LLVM vectorise the sums and maxima; infinities stay legal,
# because the difference of two huge scores may overflow and must then simply lose.
FAST = {"nnan", "nsz", "reassoc", "contract"}
WHOLE_ROUNDS, MICHELOT_ROUNDS = 8, 24
# Rows are dealt to threads in this many runs, each with a buffer of one row.
CHUNKS = 64


@kernel(fastmath=FAST)
def project_row(row: Array, skip: int, gain: float, total: float, buffer: Array) -> tuple[float, float]:
    """Project ``gain`` times ``row`` in place onto {w >= 0, w[skip] = 0, sum w = total}.

    Return the row's largest score, before the gain, and the threshold eta above it: the answer is
    ``w_j = max(0, t_j + eta)`` with ``t_j = gain * (s_j - max s)``. A negative ``skip`` leaves no entry out.

    The threshold lies in (0, total]. Newton's method on the piecewise linear ``eta -> sum_j max(0, t_j + eta)`` comes
    down to it from there, and ends where the entries that are positive stay the same (Michelot's algorithm): a few
    rounds over the whole row, each a plain vectorised sum. Where rounds drop few entries, ``threshold`` finishes
    among those that are left in ``buffer`` (length >= n), which bounds the row at O(n + k log k). Taking the maximum
    off before anything else keeps huge scores exact.
    """
    n = row.shape[0]
    if skip >= 0:
        row[skip] = -np.inf
    top = -np.inf
    for j in range(n):
        top = max(top, row[j])
    for j in range(n):
        row[j] = gain * (row[j] - top)
    eta, members, done = total, 0.0, False
    for _ in range(WHOLE_ROUNDS):
        count = chosen = 0.0
        for j in range(n):
            chosen += row[j] if row[j] + eta > 0.0 else 0.0
            count += 1.0 if row[j] + eta > 0.0 else 0.0
        done = count == members
        if done:
            break
        members, eta = count, (total - chosen) / count
    if not done:
        size = 0
        for j in range(n):
            if row[j] + eta > 0.0:
                buffer[size] = row[j]
                size += 1
        eta = threshold(buffer, size, total)
    for j in range(n):
        row[j] = max(row[j] + eta, 0.0)
    return top, eta


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
        eta -= excess / size
        kept = 0
        for k in range(size):
            if values[k] + eta > 0.0:
                values[kept] = values[k]
                kept += 1
        if kept == size:
            return eta
        size = kept
    heap_sort(values, np.empty(size, np.int32), size)
    running = 0.0
    for k in range(size):
        running += values[size - 1 - k]
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
def scores_row(distances: Array, left: float, right: Array, out: Array) -> None:
    """Write ``left * right_j - d_j``, rounded as ``replay_block`` rounds it: no arithmetic is reordered in either."""
    for j in range(distances.shape[0]):
        out[j] = left * right[j] - distances[j]


@kernel(fastmath=FAST)
def weighed(weights: Array, costs: Array) -> tuple[float, float]:
    """Return a row's cost, sum_j w_j d_j, and its square, sum_j w_j^2."""
    cost = square = 0.0
    for j in range(weights.shape[0]):
        cost += weights[j] * costs[j]
        square += weights[j] * weights[j]
    return cost, square


@kernel(fastmath=FAST)
def respond_row(
    distances: Array,
    i: int,
    left: float,
    right: Array,
    gain: float,
    total: float,
    out: Array,
    buffer: Array,
    sums: Array,
) -> tuple[float, float]:
    """Write into ``out`` the projection of ``gain * (left * right_j - d_j)``, zero at i, and return its thresholds.

    Those are the best score and what ``project_row`` finds above it. ``sums`` gets the row's cost, sum_j w_j d_j, and
    its square, sum_j w_j^2, while all of it is in cache.
    """
    scores_row(distances, left, right, out)
    thresholds = project_row(out, i, gain, total, buffer)
    sums[0], sums[1] = weighed(out, distances)
    return thresholds


@kernel(parallel=True)
def respond_rows(
    distances: Array,
    left: Array,
    right: Array,
    gain: float,
    total: float,
    out: Array,
    eta: Array,
    sums: Array,
) -> None:
    """Write the best response to a rank-one bonus, row by row, from stored distances."""
    n = distances.shape[0]
    n_chunks = min(n, CHUNKS)
    for chunk in prange(n_chunks):
        buffer = np.empty(n, out.dtype)
        for i in range(chunk * n // n_chunks, (chunk + 1) * n // n_chunks):
            eta[i] = respond_row(distances[i], i, left[i], right, gain, total, out[i], buffer, sums[i])


@kernel()
def respond_block(
    distances: Array, first: int, left: Array, right: Array, gain: float, total: float, eta: Array, sums: Array
) -> None:
    """Turn the rows of distances of the nodes from ``first`` on, in place, into best responses to a rank-one bonus."""
    n_rows, n = distances.shape
    buffer = np.empty(n, distances.dtype)
    out = np.empty(n, distances.dtype)
    for k in range(n_rows):
        i = first + k
        eta[k] = respond_row(distances[k], i, left[i], right, gain, total, out, buffer, sums[k])
        distances[k] = out


@kernel()
def replay_block(
    distances: Array, first: int, left: Array, right: Array, gain: float, eta: Array, share: float, out: Array
) -> None:
    """Add ``share`` times a best response of known thresholds to ``out``, the rows of the nodes from ``first`` on."""
    n_rows, n = distances.shape
    for k in range(n_rows):
        i = first + k
        for j in range(n):
            weight = gain * ((left[i] * right[j] - distances[k, j]) - eta[i, 0]) + eta[i, 1]
            if weight > 0.0 and j != i:
                out[k, j] += share * weight


@kernel()
def count_positive(rows: Array, counts: Array) -> None:
    """Count the positive entries of each row."""
    for k in range(rows.shape[0]):
        count = 0
        for j in range(rows.shape[1]):
            if rows[k, j] > 0.0:
                count += 1
        counts[k] = count


@kernel()
def gather_positive(rows: Array, starts: Array, indices: Array, data: Array) -> None:
    """Write the positive entries of row k and their columns from ``starts[k]`` on."""
    for k in range(rows.shape[0]):
        place = starts[k]
        for j in range(rows.shape[1]):
            if rows[k, j] > 0.0:
                indices[place] = j
                data[place] = rows[k, j]
                place += 1


@kernel()
def list_above(
    distances: Array, first: int, left: Array, right: Array, cut: Array, counts: Array, indices: Array, costs: Array
) -> bool:
    """List the pairs of a block of rows whose score ``left_i * right_j - d_ij`` is not below the row's cut.

    Writes how many each row has, their columns and their distances, and tells whether there was room for all.
    """
    n_rows, n = distances.shape
    place, room = 0, len(indices)
    for k in range(n_rows):
        i = first + k
        begin = place
        if place + n > room:  # there may be too little: look before each
            for j in range(n):
                if left[i] * right[j] - distances[k, j] >= cut[i] and j != i:
                    if place == room:
                        return False
                    indices[place], costs[place] = j, distances[k, j]
                    place += 1
        else:
            for j in range(n):
                indices[place], costs[place] = j, distances[k, j]
                place += (left[i] * right[j] - distances[k, j] >= cut[i]) & (j != i)
        counts[k] = place - begin
    return True


@kernel()
def tighten(distances: Array, first: int, left: Array, right: Array, gain: float, total: float, cut: Array) -> None:
    """Write the score above which a pair is an edge of the best response, for the rows of a block."""
    n_rows, n = distances.shape
    buffer, out, sums = np.empty(n, distances.dtype), np.empty(n, distances.dtype), np.empty(2)
    for k in range(n_rows):
        i = first + k
        top, above = respond_row(distances[k], i, left[i], right, gain, total, out, buffer, sums)
        cut[k] = top - above / gain


@kernel(parallel=True)
def respond_listed(
    pointers: Array,
    indices: Array,
    distances: Array,
    left: Array,
    right: Array,
    gain: float,
    total: float,
    columns: Array,
    weights: Array,
    lengths: Array,
    eta: Array,
    sums: Array,
) -> None:
    """Write the best response to a rank-one bonus where each row may use its listed columns only (CSR).

    Of each row only the edges are written. The rows of a run follow one another from where the list of its first row
    begins, so that nothing is touched of what is longer than the answer; :func:`runs` says which rows are a run.
    """
    longest, ends = widest(pointers), runs(pointers.shape[0] - 1)
    for chunk in prange(len(ends) - 1):
        row, buffer = np.empty(longest, weights.dtype), np.empty(longest, weights.dtype)
        place = pointers[ends[chunk]]
        for i in range(ends[chunk], ends[chunk + 1]):
            names, costs = indices[pointers[i] : pointers[i + 1]], distances[pointers[i] : pointers[i + 1]]
            answer = row[: len(names)]
            for k in range(len(names)):
                answer[k] = left[i] * right[names[k]] - costs[k]
            eta[i, 0], eta[i, 1] = project_row(answer, -1, gain, total, buffer)
            sums[i, 0], sums[i, 1] = weighed(answer, costs)
            begin = place
            for k in range(len(names)):
                columns[place], weights[place] = names[k], answer[k]
                place += answer[k] > 0.0
            lengths[i] = place - begin


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


@kernel(parallel=True, fastmath=FAST)
def listed_distances(pointers: Array, indices: Array, points: Array, distances: Array) -> None:
    """Write the squared distances of listed pairs of points."""
    for i in prange(pointers.shape[0] - 1):
        for k in range(pointers[i], pointers[i + 1]):
            total = 0.0
            for m in range(points.shape[1]):
                difference = points[i, m] - points[indices[k], m]
                total += difference * difference
            distances[k] = total


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
            m = np.searchsorted(costs[i], level)
            m = m if m > 0 else 1
            eta = level
            for k in range(m):
                eta += nearest[i, k]
            eta /= m
            for k in range(m):
                weight = total * (eta - nearest[i, k]) / level
                if weight > 0.0:
                    weights[i, k] += weight
                    shares[i, k] += share


@kernel(parallel=True)
def scatter_rows(labels: Array, values: Array, share: float, out: Array) -> None:
    """Add ``share`` times the values of each row to the columns that the labels name."""
    for i in prange(labels.shape[0]):
        for k in range(labels.shape[1]):
            out[i, labels[i, k]] += share * values[i, k]


@kernel(fastmath=FAST)
def _neighbour_mean(distances: Array, i: int, right: Array, eta: float) -> float:
    """Return the mean of ``right`` over node i's neighbours, those nearer than ``eta``; 0 where rounding left none."""
    total = 0.0
    count = 0
    for j in range(distances.shape[0]):
        if j != i and distances[j] < eta:
            total += right[j]
            count += 1
    return total / max(count, 1)


@kernel(fastmath=FAST)
def first_change(
    distances: Array, first: int, left: Array, right: Array, eta: Array, slack: float, found: Array
) -> None:
    """For each row without bonus, find the least lam > 0 at which the bonus lam * left_i * right_j moves an edge.

    Row i is ``max(0, eta_i - d_ij)`` up to scale. With its neighbours fixed, the bonus moves ``eta_i`` by lam times
    the neighbours' mean bonus, so pair (i, j) crosses zero at (d_ij - eta_i) / (its bonus - the mean bonus), where
    that is positive. Pairs within ``slack`` of zero are on the edge already and are passed over.
    """
    n_rows, n = distances.shape
    for k in range(n_rows):
        i = first + k
        mean = _neighbour_mean(distances[k], i, right, eta[i])
        least = np.inf
        for j in range(n):
            gap = distances[k, j] - eta[i]
            pull = left[i] * (right[j] - mean)
            if j != i and abs(gap) > slack and gap * pull > 0.0 and gap / pull < least:
                least = gap / pull
        found[k] = least


@kernel(fastmath=FAST)
def neighbour_spread(distances: Array, first: int, right: Array, eta: Array, found: Array) -> None:
    """For each row without bonus, ``max(0, eta_i - d_ij)`` up to scale, sum (right_j - mean)^2 over its neighbours."""
    n_rows, n = distances.shape
    for k in range(n_rows):
        i = first + k
        mean = _neighbour_mean(distances[k], i, right, eta[i])
        spread = 0.0
        for j in range(n):
            if j != i and distances[k, j] < eta[i]:
                spread += (right[j] - mean) ** 2
        found[k] = spread


@kernel(parallel=True, fastmath=FAST)
def descend_rows(
    weights: Array,
    distances: Array,
    left: Array,
    right: Array,
    keep: float,
    gain: float,
    total: float,
    out: Array,
) -> None:
    """Write row i of ``out`` as the projection of ``keep * w_ij + gain * (left_i * right_j - d_ij)``."""
    n = distances.shape[0]
    n_chunks = min(n, CHUNKS)
    for chunk in prange(n_chunks):
        buffer = np.empty(n, out.dtype)
        for i in range(chunk * n // n_chunks, (chunk + 1) * n // n_chunks):
            for j in range(n):
                out[i, j] = keep * weights[i, j] + gain * (left[i] * right[j] - distances[i, j])
            project_row(out[i], i, 1.0, total, buffer)


@kernel(parallel=True, fastmath=FAST)
def squared_difference(first: Array, second: Array) -> float:
    """Return ||first - second||_F^2 without forming the difference, the same bits on any number of threads."""
    n_rows, n = first.shape
    rows = np.empty(n_rows)
    for i in prange(n_rows):
        row = 0.0
        for j in range(n):
            difference = first[i, j] - second[i, j]
            row += difference * difference
        rows[i] = row
    return rows.sum()


@kernel(fastmath=FAST)
def gram_to_distances(gram: Array, nodes: Array, points: Array, norms: Array, fine: float) -> None:
    """Turn ``gram_kj = <z_i, z_j>``, i = nodes_k, in place into ``||z_i - z_j||^2``.

    It is ``n_i + n_j - 2 gram_kj``, which loses the digits that the norms have above the distance: where that is less
    than a share ``fine`` of them, the differences are taken one by one. So every distance is accurate relative to
    itself, whatever outliers there are, and two nodes with the same signals are at distance 0.
    """
    n_rows, n = gram.shape
    for k in range(n_rows):
        i = nodes[k]
        for j in range(n):
            scale = norms[i] + norms[j]
            distance = scale - 2.0 * gram[k, j]
            if distance < fine * scale:
                distance = 0.0
                for m in range(points.shape[1]):
                    difference = points[i, m] - points[j, m]
                    distance += difference * difference
            gram[k, j] = distance
        gram[k, i] = 0.0


@kernel()
def nearest_in_rows(distances: Array, first: int, nearest: Array, labels: Array) -> None:
    """Write the smallest distances of each row, sorted upward, and the columns they are in.

    Row i belongs to node ``first + i``, whose own entry is left out. A heap keeps the nearest, so a row costs
    O(n) and a little.
    """
    n_rows, n = distances.shape
    kept = nearest.shape[1]
    for i in range(n_rows):
        keys, names = nearest[i], labels[i]
        size = 0
        for j in range(n):
            if j == first + i:
                continue
            if size < kept:
                keys[size], names[size] = distances[i, j], j
                size += 1
                if size == kept:
                    make_heap(keys, names, kept)
            elif distances[i, j] < keys[0]:
                keys[0], names[0] = distances[i, j], j
                sift_down(keys, names, 0, kept)
        heap_sort(keys, names, kept)
