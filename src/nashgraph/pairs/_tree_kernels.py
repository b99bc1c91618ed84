"""Numba kernels of a scan that skips: the nodes of one leaf of a :class:`~.tree.Tree` against all leaves.

Coordinates are rotated, and few where signals are many: what they say of a distance is a lower bound, up to rounding,
which is taken off. Pairs that it cannot rule out are computed from the points themselves. A leaf stays in the nearest
cache during the loop over nodes. Functions called for every point take plain arrays, because a tuple of arrays is slow
to pass.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from ..compiled import kernel
from ..validation import Array
from ._costs import pair_cost
from ._kernels import FAST, pair_bonus
from ._smallest import MOST_CHANCE, comes_first, heap_sort, pair_chance, push
from .tree import WIDTH, BonusRanges, Rows, Tree

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
        least = low[m]
        most = high[m]
        for p in range(WIDTH):
            gap = max(least - tile[m, p], tile[m, p] - most, 0.0)
            gaps[p] += gap * gap


@kernel(fastmath=FAST)
def squared_distance(here: Array, there: Array) -> float:
    """Return the squared distance of two points, from the points themselves."""
    total = 0.0
    for m in range(len(here)):
        difference = here[m] - there[m]
        total += difference * difference
    return total


@kernel()
def near_box(tile: Array, count: int, gaps: Array, off: Array, radius: Array, picked: Array, block: Array) -> int:
    """Gather those of a leaf's points that may have a hit in a box: which they are, and where; return how many."""
    place = 0
    for p in range(count):
        picked[place] = p
        place += gaps[p] - off[p] < radius[p]
    for k in range(place):
        for m in range(len(tile)):
            block[k, m] = tile[m, picked[k]]
    return place


@kernel(fastmath=FAST)
def any_above(products: Array, half: Array, level: float) -> bool:
    """Tell whether a product, less half of the other's square, is above a level: no branches, so a vectorised sum."""
    count = 0
    for q in range(WIDTH):
        count += products[q] - half[q] > level
    return count > 0


@kernel()
def above(products: Array, half: Array, level: float, found: Array) -> int:
    """Write which products, less half of the other's square, are above a level, and return how many."""
    place = 0
    for q in range(WIDTH):
        found[place] = q
        place += products[q] - half[q] > level
    return place


@kernel(fastmath=FAST)
def best_bonus(most: Array, least: Array, above: Array, under: Array) -> float:
    """Return a bound of the inner product of a vector in the box [least, most] and one in [under, above]."""
    total = 0.0
    for k in range(len(most)):
        total += max(most[k] * above[k], most[k] * under[k], least[k] * above[k], least[k] * under[k])
    return total


@kernel(fastmath=FAST)
def largest_bonus(most: Array, least: Array, size: Array) -> float:
    """Return a bound of the size of a bonus whose left side is in [least, most]: the scale of its rounding."""
    total = 0.0
    for k in range(len(most)):
        total += max(abs(most[k]), abs(least[k])) * size[k]
    return total


@kernel()
def begin_rows(tree: Tree, pull: BonusRanges, leaf: int, rows: Rows) -> None:
    """Write what the pairs of each point of a leaf, and of all of them, may cost less than their squared distance.

    That is the bonus and rounding, less the other's node cost. For all of them and each leaf: the least cost of a pair.
    """
    rank = pull.left.shape[1]
    most = np.full(rank, -np.inf)
    least = np.full(rank, np.inf)
    first = tree.leaves[leaf]
    last = tree.leaves[leaf + 1]
    for p in range(last - first):
        rows.most[p], rows.least[p] = -np.inf, np.inf
        for s in range(tree.starts[first + p], tree.starts[first + p + 1]):
            for k in range(rank):
                rows.most[p, k] = max(rows.most[p, k], pull.left[s, k])
                rows.least[p, k] = min(rows.least[p, k], pull.left[s, k])
        for k in range(rank):
            most[k], least[k] = max(most[k], rows.most[p, k]), min(least[k], rows.least[p, k])
        size = tree.sizes[first + p] + largest_bonus(rows.most[p], rows.least[p], pull.size)
        rows.rounding[p] = tree.error * size
    box_gaps(tree.low, tree.high, leaf, rows.costs)
    size = tree.size[leaf] + largest_bonus(most, least, pull.size)
    for other in range(len(rows.costs)):
        off = best_bonus(most, least, pull.leaf_most[other], pull.leaf_least[other])
        off += tree.error * (size + tree.size[other])
        rows.costs[other] += tree.leaf_node_cost[other] - off


@kernel(fastmath=FAST)
def off_distance(
    most: Array, least: Array, rounding: Array, above: Array, under: Array, node_cost: float, error: float, off: Array
) -> None:
    """Write what bonus and rounding may take off the squared distances of each point of a leaf to those of another.

    From the other leaf this needs the range of its right sides, the least node cost and how large rounding may be.
    """
    for p in range(len(off)):
        off[p] = best_bonus(most[p], least[p], above, under) + rounding[p] + (error - node_cost)


@kernel()
def find_hits(tree: Tree, pull: BonusRanges, leaf: int, other: int, rows: Rows, stats: Array) -> int:
    """Write the pairs of a leaf's points with those of another that may be within the radius, and their costs.

    Return how many they are. A squared distance below a level is a product above another, and all products are one of
    two matrices. The remaining pairs are measured on the points themselves, all together, for the processor to fetch
    many at a time.
    """
    first = tree.leaves[leaf]
    last = tree.leaves[leaf + 1]
    begin = tree.leaves[other]
    radius = rows.radius
    off = rows.off
    picked = rows.picked
    products = rows.products
    half = tree.half[other]
    points = tree.points
    node_costs = tree.node_costs
    point_gaps(tree.tiles[leaf], tree.low[other], tree.high[other], rows.gaps)
    range_of = pull.leaf_most[other], pull.leaf_least[other], tree.leaf_node_cost[other]
    off_distance(rows.most, rows.least, rows.rounding, *range_of, tree.error * tree.size[other], off)
    gathered = near_box(tree.tiles[leaf], last - first, rows.gaps, off, radius, picked, rows.block)
    stats[0] += last - first
    stats[1] += gathered
    if gathered == 0:
        return 0
    # One small product for all points that may have a hit: BLAS is fast on tiles of 64.
    np.dot(rows.block[:gathered], tree.tiles[other], products[:gathered])
    count = 0
    for k in range(gathered):
        p = picked[k]
        before = count
        level = tree.half[leaf, p] - 0.5 * (radius[p] + off[p])
        if any_above(products[k], half, level):
            count += above(products[k], half, level, rows.there[count:])
            rows.here[before:count] = first + p
        stats[2] += (count - before) * (tree.starts[first + p + 1] - tree.starts[first + p])
    for h in range(count):
        p = rows.here[h]
        q = begin + rows.there[h]
        distance = squared_distance(points[p], points[q])
        scale = tree.scales[p] + tree.scales[q]
        rows.there[h], rows.measured[h] = q, pair_cost(distance, scale, node_costs[p] + node_costs[q])
    return count


@kernel()
def list_leaf(
    tree: Tree, pull: BonusRanges, leaf: int, cut: Array, rows: Rows, owners: Array, indices: Array, stats: Array
) -> int:
    """List the pairs of a leaf's nodes whose score is not below the cut; return how many, or ``FULL``.

    Cuts are in the tree's order of nodes. Writes whose they are, from the leaf's first node on, and their partners.
    """
    begin_rows(tree, pull, leaf, rows)
    first = tree.leaves[leaf]
    last = tree.leaves[leaf + 1]
    starts = tree.starts
    radius = rows.radius
    here = rows.here
    there = rows.there
    nodes = tree.nodes
    left = pull.left
    right = pull.right
    farthest = -np.inf
    for point in range(first, last):
        lowest = np.inf
        for s in range(starts[point], starts[point + 1]):
            lowest = min(lowest, cut[s])
        radius[point - first] = tree.error * abs(lowest) - lowest - tree.node_costs[point]
        farthest = max(farthest, radius[point - first])
    place = 0
    for other in range(len(rows.costs)):
        if rows.costs[other] >= farthest:
            continue
        for h in range(find_hits(tree, pull, leaf, other, rows, stats)):
            cost = rows.measured[h]
            for t in range(starts[here[h]], starts[here[h] + 1]):
                for s in range(starts[there[h]], starts[there[h] + 1]):
                    if pair_bonus(left[t], right[s]) - cost >= cut[t] and s != t:
                        if place == len(indices):
                            return FULL
                        owners[place], indices[place] = t - starts[first], nodes[s]
                        place += 1
    return place


@kernel()
def by_owner(owners: Array, items: Array, n_owners: int) -> tuple[Array, Array]:
    """Return how much each owner has, and a list of what owners have owner by owner."""
    counts = np.zeros(n_owners, np.int64)
    places = np.zeros(n_owners, np.int64)
    out = np.empty(len(owners), items.dtype)
    for k in range(len(owners)):
        counts[owners[k]] += 1
    for row in range(n_owners - 1):
        places[row + 1] = places[row] + counts[row]
    for k in range(len(owners)):
        out[places[owners[k]]] = items[k]
        places[owners[k]] += 1
    return counts, out


@kernel(parallel=True)
def place_rows(nodes: Array, begins: Array, columns: Array, pointers: Array, indices: Array) -> None:
    """Copy the rows of a list in a tree's order of nodes to where a CSR matrix has them, sorted."""
    for t in prange(len(nodes)):
        row = indices[pointers[nodes[t]] : pointers[nodes[t] + 1]]
        row[:] = columns[begins[t] : begins[t + 1]]
        row.sort()


@kernel()
def push_equals(
    keys: Array,
    chances: Array,
    names: Array,
    size: int,
    cost: float,
    t: int,
    begin: int,
    end: int,
    draws: Array,
    nodes: Array,
) -> int:
    """Put the pairs of node t with the nodes of a point, all of one cost, among the smallest; return how many are.

    Few of many equals are wanted: those whose chances leave about twice as many are looked at first, then the others.
    """
    wanted = len(keys)
    first_share = np.int64(MOST_CHANCE * min(1.0, 2.0 * wanted / (end - begin)))
    for least, most in ((np.int64(0), first_share), (first_share, np.int64(MOST_CHANCE))):
        if least == most or (size == wanted and not comes_first(cost, least, keys[0], chances[0])):
            break
        for s in range(begin, end):
            chance = pair_chance(draws[t], draws[s])
            if least <= chance < most and s != t:
                size = push(keys, chances, names, size, cost, chance, nodes[s])
    return size


@kernel()
def nearest_leaf(
    tree: Tree, pull: BonusRanges, leaf: int, rows: Rows, costs: Array, labels: Array, stats: Array
) -> None:
    """Write the smallest costs of a leaf's nodes, less the bonus, sorted upward, and whose they are.

    Leaves are gone through from the nearest middle on, so that the first few leave little to look for.
    """
    begin_rows(tree, pull, leaf, rows)
    order_leaves(tree, pull, leaf, rows)
    first = tree.leaves[leaf]
    last = tree.leaves[leaf + 1]
    starts = tree.starts
    wanted = costs.shape[1]
    chances = np.zeros(costs.shape, np.int64)
    radius = rows.radius
    here = rows.here
    there = rows.there
    nodes = tree.nodes
    left = pull.left
    right = pull.right
    sizes = np.zeros(len(costs), np.int64)
    plain = left.shape[1] == 0
    farthest = np.inf
    radius[:] = np.inf
    for other in rows.order:
        if rows.costs[other] >= farthest:  # no pair with that leaf can be among the nearest
            continue
        for h in range(find_hits(tree, pull, leaf, other, rows, stats)):
            point = here[h]
            partner = there[h]
            cost = rows.measured[h]
            worst = -np.inf
            for t in range(starts[point], starts[point + 1]):
                row = t - starts[first]
                keys = costs[row]
                names = labels[row]
                size = sizes[row]
                least = cost - best_bonus(left[t], left[t], pull.most[partner], pull.least[partner])
                begin = starts[partner]
                end = starts[partner + 1]
                if plain:
                    size = push_equals(keys, chances[row], names, size, cost, t, begin, end, tree.draws, nodes)
                    begin = end
                for s in range(begin, end):
                    if size == wanted and least >= keys[0]:
                        break
                    key = cost - pair_bonus(left[t], right[s])
                    if s != t and (size < wanted or key <= keys[0]):
                        chance = pair_chance(tree.draws[t], tree.draws[s])
                        size = push(keys, chances[row], names, size, key, chance, nodes[s])
                sizes[row] = size
                worst = max(worst, keys[0] if size == wanted else np.inf)
            # A point's nodes may have different nearest: the worst of them decides what may be skipped.
            radius[point - first] = worst - tree.node_costs[point]
        farthest = radius[: last - first].max()
    for t in range(len(costs)):
        heap_sort(costs[t], chances[t], labels[t], wanted)


@kernel(fastmath=FAST)
def order_leaves(tree: Tree, pull: BonusRanges, leaf: int, rows: Rows) -> None:
    """Order the leaves by what pairs of the middles of boxes and of bonuses would cost."""
    low = tree.low
    high = tree.high
    for other in range(len(rows.order)):
        total = 0.0
        for m in range(low.shape[1]):
            gap = (low[leaf, m] + high[leaf, m]) - (low[other, m] + high[other, m])
            total += gap * gap
        bonus = 0.0
        for k in range(rows.most.shape[1]):
            middle = pull.leaf_most[other, k] + pull.leaf_least[other, k]
            bonus += 0.25 * (rows.most[0, k] + rows.least[0, k]) * middle
        rows.keys[other] = 0.25 * total + tree.leaf_node_cost[other] - bonus
        rows.order[other] = other
    heap_sort(rows.keys, np.zeros(len(rows.order), np.int64), rows.order, len(rows.order))
