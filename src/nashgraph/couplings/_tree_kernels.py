"""Numba kernels of a pass that skips: the nodes of one leaf of a :class:`~.tree.Tree` against all leaves.

Coordinates are rotated, and few where signals are many: what they say of a distance is a lower bound, up to rounding,
which is taken off. What it cannot rule out is computed from the points themselves. A leaf is in the nearest cache while
the nodes go by; what runs for every box or tile takes plain arrays, for a tuple of arrays is slow to hand on.
"""

from __future__ import annotations

import numpy as np

from ..compiled import kernel
from ..validation import Array
from ._heaps import heap_sort, make_heap, sift_down
from ._kernels import FAST, project_row
from .tree import WIDTH, Pull, Rows, Tree

FULL = -1


@kernel(fastmath=FAST)
def box_gaps(low: Array, high: Array, leaf: int, gaps: Array) -> None:
    """Write the squared distances of a leaf's box to all boxes."""
    for other in range(len(gaps)):
        total = 0.0
        for m in range(low.shape[1]):
            gap = max(low[other, m] - high[leaf, m], low[leaf, m] - high[other, m], 0.0)
            total += gap * gap
        gaps[other] = total


@kernel(fastmath=FAST)
def point_gaps(tile: Array, low: Array, high: Array, gaps: Array) -> None:
    """Write the squared distances of a leaf's points to a box."""
    for p in range(WIDTH):
        gaps[p] = 0.0
    for m in range(len(low)):
        least, most = low[m], high[m]
        for p in range(WIDTH):
            gap = max(least - tile[m, p], tile[m, p] - most, 0.0)
            gaps[p] += gap * gap


@kernel(fastmath=FAST)
def tile_row(here: Array, tile: Array, out: Array) -> None:
    """Write the squared distances of a point to those of a leaf, by coordinates."""
    for q in range(WIDTH):
        out[q] = 0.0
    for m in range(len(here)):
        place = here[m]
        for q in range(WIDTH):
            gap = place - tile[m, q]
            out[q] += gap * gap


@kernel(fastmath=FAST)
def squared_distance(here: Array, there: Array) -> float:
    """Return the squared distance of two points, from the points themselves."""
    total = 0.0
    for m in range(len(here)):
        difference = here[m] - there[m]
        total += difference * difference
    return total


@kernel()
def below(values: Array, count: int, level: float, found: Array) -> int:
    """Write which of the first values are below a level, and return how many."""
    place = 0
    for q in range(count):
        found[place] = q
        place += values[q] < level
    return place


@kernel()
def best_bonus(most: float, least: float, above: float, under: float) -> float:
    """Return the largest product of a number in [least, most] and one in [under, above]."""
    return max(most * above, most * under, least * above, least * under)


@kernel()
def begin_rows(tree: Tree, pull: Pull, leaf: int, rows: Rows) -> None:
    """Write what the pairs of each point of a leaf, and of all of them, may cost less than their squared distance.

    That is the bonus and rounding, less the other's lift. Of all of them with each leaf: what a pair costs at least.
    """
    most, least = -np.inf, np.inf
    first, last = tree.leaves[leaf], tree.leaves[leaf + 1]
    for p in range(last - first):
        rows.most[p], rows.least[p] = -np.inf, np.inf
        for s in range(tree.starts[first + p], tree.starts[first + p + 1]):
            left = pull.left[tree.nodes[s]]
            rows.most[p], rows.least[p] = max(rows.most[p], left), min(rows.least[p], left)
        most, least = max(most, rows.most[p]), min(least, rows.least[p])
    box_gaps(tree.low, tree.high, leaf, rows.costs)
    for other in range(len(rows.costs)):
        off = best_bonus(most, least, pull.leaf_most[other], pull.leaf_least[other])
        off += tree.error * (tree.size[leaf] + tree.size[other] + max(abs(most), abs(least)) * pull.size)
        rows.costs[other] += tree.leaf_lift[other] - off


@kernel()
def off_distance(tree: Tree, pull: Pull, leaf: int, other: int, rows: Rows) -> None:
    """Write what bonus and rounding may take off the squared distances of each point of a leaf to those of another."""
    first, last = tree.leaves[leaf], tree.leaves[leaf + 1]
    above, under = pull.leaf_most[other], pull.leaf_least[other]
    for p in range(last - first):
        most, least = rows.most[p], rows.least[p]
        error = tree.sizes[first + p] + tree.size[other] + max(abs(most), abs(least)) * pull.size
        rows.off[p] = best_bonus(most, least, above, under) + tree.error * error - tree.leaf_lift[other]


@kernel()
def list_leaf(
    tree: Tree, pull: Pull, leaf: int, cut: Array, rows: Rows, owners: Array, indices: Array, costs: Array, stats: Array
) -> int:
    """List the pairs of a leaf's nodes whose score is not below the cut; return how many, or ``FULL``.

    Writes whose they are, counted from the leaf's first node, with whom, and their costs.
    """
    begin_rows(tree, pull, leaf, rows)
    first, last = tree.leaves[leaf], tree.leaves[leaf + 1]
    reach, gaps, off, tile, hits, starts = rows.reach, rows.gaps, rows.off, rows.tile, rows.hits, tree.starts
    coordinates, tiles, low, high = tree.coordinates, tree.tiles, tree.low, tree.high
    farthest = -np.inf
    for point in range(first, last):
        lowest = np.inf
        for s in range(starts[point], starts[point + 1]):
            lowest = min(lowest, cut[tree.nodes[s]])
        reach[point - first] = tree.error * abs(lowest) - lowest - tree.lift[point]
        farthest = max(farthest, reach[point - first])
    place = 0
    for other in range(len(rows.costs)):
        if rows.costs[other] >= farthest:
            continue
        stats[0] += last - first
        point_gaps(tiles[leaf], low[other], high[other], gaps)
        off_distance(tree, pull, leaf, other, rows)
        for point in range(first, last):
            p = point - first
            if gaps[p] - off[p] >= reach[p]:
                continue
            tile_row(coordinates[point], tiles[other], tile)
            count = below(tile, tree.leaves[other + 1] - tree.leaves[other], reach[p] + off[p], hits)
            stats[1] += 1
            stats[2] += count * (starts[point + 1] - starts[point])
            if count:
                place = list_hits(tree, pull, point, other, cut, hits[:count], place, owners, indices, costs)
            if place == FULL:
                return FULL
    for k in range(place):
        owners[k] -= starts[first]
    return place


@kernel()
def list_hits(
    tree: Tree,
    pull: Pull,
    point: int,
    leaf: int,
    cut: Array,
    hits: Array,
    place: int,
    owners: Array,
    indices: Array,
    costs: Array,
) -> int:
    """List the pairs of a point's nodes with some points of a leaf; return where the list ends, or ``FULL``."""
    for q in hits:
        other = tree.leaves[leaf] + q
        cost = squared_distance(tree.points[point], tree.points[other]) + tree.lift[point] + tree.lift[other]
        for t in range(tree.starts[point], tree.starts[point + 1]):
            i = tree.nodes[t]
            for s in range(tree.starts[other], tree.starts[other + 1]):
                j = tree.nodes[s]
                if pull.left[i] * pull.right[j] - cost >= cut[i] and j != i:
                    if place == len(indices):
                        return FULL
                    owners[place], indices[place], costs[place] = t, j, cost
                    place += 1
    return place


@kernel()
def by_owner(owners: Array, indices: Array, costs: Array, counts: Array, columns: Array, values: Array) -> None:
    """Write a list of pairs owner by owner, and how many each has."""
    counts[:] = 0
    for k in range(len(owners)):
        counts[owners[k]] += 1
    places = np.zeros_like(counts)
    for row in range(len(counts) - 1):
        places[row + 1] = places[row] + counts[row]
    for k in range(len(owners)):
        place = places[owners[k]]
        columns[place], values[place] = indices[k], costs[k]
        places[owners[k]] += 1


@kernel()
def shorten(
    nodes: Array, pull: Pull, slack: Array, gain: float, total: float, counts: Array, indices: Array, costs: Array
) -> int:
    """Cut rows of pairs, all of their edges among them, to what is within slack of an edge; return how many stay."""
    place = begin = 0
    for row in range(len(nodes)):
        i, end, start = nodes[row], begin + counts[row], place
        scores = np.empty(end - begin, costs.dtype)
        for k in range(begin, end):
            scores[k - begin] = pull.left[i] * pull.right[indices[k]] - costs[k]
        top, above = project_row(scores.copy(), -1, gain, total, np.empty_like(scores))
        cut = top - above / gain - slack[i]
        for k in range(begin, end):
            if scores[k - begin] >= cut:
                indices[place], costs[place] = indices[k], costs[k]
                place += 1
        begin, counts[row] = end, place - start
    return place


@kernel()
def nearest_leaf(tree: Tree, pull: Pull, leaf: int, rows: Rows, costs: Array, labels: Array, stats: Array) -> None:
    """Write the smallest costs of a leaf's nodes, less the bonus, sorted upward, and whose they are.

    Leaves are gone through from the nearest middle on, so that the first few leave little to look for.
    """
    begin_rows(tree, pull, leaf, rows)
    order_leaves(tree, pull, leaf, rows)
    first, last = tree.leaves[leaf], tree.leaves[leaf + 1]
    reach, gaps, off, tile, hits, starts = rows.reach, rows.gaps, rows.off, rows.tile, rows.hits, tree.starts
    coordinates, tiles, low, high = tree.coordinates, tree.tiles, tree.low, tree.high
    sizes = np.zeros(starts[last] - starts[first], np.int64)
    farthest = np.inf
    reach[:] = np.inf
    for other in rows.order:
        if rows.costs[other] >= farthest:
            continue
        stats[0] += last - first
        point_gaps(tiles[leaf], low[other], high[other], gaps)
        off_distance(tree, pull, leaf, other, rows)
        farthest = -np.inf
        for point in range(first, last):
            p = point - first
            if gaps[p] - off[p] < reach[p]:
                tile_row(coordinates[point], tiles[other], tile)
                count = below(tile, tree.leaves[other + 1] - tree.leaves[other], reach[p] + off[p], hits)
                stats[1] += 1
                stats[2] += count * (starts[point + 1] - starts[point])
                if count:
                    reach[p] = push_hits(tree, pull, point, other, hits[:count], sizes, starts[first], costs, labels)
            farthest = max(farthest, reach[p])
    for s in range(starts[first], starts[last]):
        heap_sort(costs[tree.nodes[s]], labels[tree.nodes[s]], costs.shape[1])


@kernel(fastmath=FAST)
def order_leaves(tree: Tree, pull: Pull, leaf: int, rows: Rows) -> None:
    """Order the leaves by what pairs of the middles of boxes and of bonuses would cost."""
    low, high, left = tree.low, tree.high, 0.5 * (rows.most[0] + rows.least[0])
    for other in range(len(rows.order)):
        total = 0.0
        for m in range(low.shape[1]):
            gap = (low[leaf, m] + high[leaf, m]) - (low[other, m] + high[other, m])
            total += gap * gap
        bonus = 0.5 * left * (pull.leaf_most[other] + pull.leaf_least[other])
        rows.keys[other] = 0.25 * total + tree.leaf_lift[other] - bonus
        rows.order[other] = other
    heap_sort(rows.keys, rows.order, len(rows.order))


@kernel()
def push_hits(
    tree: Tree,
    pull: Pull,
    point: int,
    leaf: int,
    hits: Array,
    sizes: Array,
    origin: int,
    costs: Array,
    labels: Array,
) -> float:
    """Put the nodes of some points of a leaf into the heaps of a point's nodes, where they are nearer than those kept.

    Return the cost, without the point's lift, that is to be bettered from now on.
    """
    kept = costs.shape[1]
    for q in hits:
        other = tree.leaves[leaf] + q
        cost = squared_distance(tree.points[point], tree.points[other]) + tree.lift[point] + tree.lift[other]
        for t in range(tree.starts[point], tree.starts[point + 1]):
            i = tree.nodes[t]
            keys, names, left, size = costs[i], labels[i], pull.left[i], sizes[t - origin]
            bonus = max(left * pull.most[other], left * pull.least[other])
            for s in range(tree.starts[other], tree.starts[other + 1]):
                if size == kept and cost - bonus >= keys[0]:
                    break
                key = cost - left * pull.right[tree.nodes[s]]
                if tree.nodes[s] == i or (size == kept and key >= keys[0]):
                    continue
                if size == kept:
                    keys[0], names[0] = key, tree.nodes[s]
                    sift_down(keys, names, 0, kept)
                    continue
                keys[size], names[size] = key, tree.nodes[s]
                size += 1
                if size == kept:
                    make_heap(keys, names, kept)
            sizes[t - origin] = size
    farthest = -np.inf
    for t in range(tree.starts[point], tree.starts[point + 1]):
        full = sizes[t - origin] == kept
        farthest = max(farthest, costs[tree.nodes[t], 0] - tree.lift[point] if full else np.inf)
    return farthest
