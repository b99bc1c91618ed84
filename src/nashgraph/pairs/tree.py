"""Nodes in an order in which near ones stand together, cut into leaves, so that a scan can skip whole leaves.

Nodes with equal signals are one point. Points are split in two at the median of the coordinate they vary most in, again
and again, down to leaves of 64. Coordinates are principal axes: a rotation leaves distances as they are, and
where signals lie near few dimensions the first axes hold nearly all of them.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..validation import Array
from ._smallest import node_draws
from .bonus import Bonus

WIDTH = 64  # points of a leaf; only the last has fewer
AXES = 32  # where there are more signals, the first axes give a lower bound of a distance
# points that tell the axes of all, and the one along which a part is split
SAMPLE = 1024
FEW = 256


class Order(NamedTuple):
    """Which nodes are one point, and which points a leaf: with the points themselves all that a tree is made of."""

    nodes: Array  # those of a point together, upward
    starts: Array  # where a point's nodes start, and the end
    leaves: Array  # where a leaf's points start, and the end
    axes: Array  # of shape (n_axes, n_signals)

    @classmethod
    def of(cls, points: Array, node_costs: Array) -> Order:
        """Find the order of some points, in time that grows with u log u for u points that differ."""
        group, first = equal_rows(np.column_stack([points, node_costs]))
        axes = principal_axes(points[first])
        order, leaves = split(points[first] @ axes.T)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        ranks = rank[group]
        starts = np.concatenate([[0], np.cumsum(np.bincount(ranks, minlength=len(order)))])
        return cls(np.argsort(ranks, kind="stable"), starts, leaves, axes)


class Tree(NamedTuple):
    """Points that differ, in leaves."""

    points: Array  # in the order of the leaves
    node_costs: Array  # what a point adds to the cost of its edges
    nodes: Array  # these three as in Order
    starts: Array
    leaves: Array
    tiles: Array  # of shape (n_leaves, n_axes, 64): the coordinates of each leaf, zero where it has fewer points
    half: Array  # of shape (n_leaves, 64): half of each point's square along the axes, infinite where there is none
    low: Array  # the box of each leaf, of shape (n_leaves, n_axes)
    high: Array
    leaf_node_cost: Array  # the least in a leaf
    scales: Array  # the size of a point's signals
    sizes: Array  # the scale of rounding at a point
    size: Array  # and in a leaf at most
    draws: Array  # of each node, for a choice among equals
    error: float  # how large rounding may be relative to them

    @classmethod
    def of(cls, points: Array, node_costs: Array, scales: Array, order: Order) -> Tree:
        """Build it. Where coordinates round in another way, other pairs may be looked at, and the same found."""
        error = 12.0 * (8 + points.shape[1]) * float(np.finfo(float).eps) + 2.0**-31  # costs are rounded to 32 bits
        first = order.nodes[order.starts[:-1]]  # one node of each point: they are all equal
        begins = order.leaves[:-1]
        own = points[first], node_costs[first]
        whole = np.zeros((WIDTH * len(begins), len(order.axes)))  # with space for the last leaf
        coordinates = np.matmul(own[0], order.axes.T, out=whole[: len(first)])
        sizes = np.einsum("ij,ij->i", own[0], own[0]) + np.abs(own[1])
        return cls(
            *own,
            *order[:3],
            *tiles_of(whole, len(first)),
            np.minimum.reduceat(coordinates, begins),
            np.maximum.reduceat(coordinates, begins),
            np.minimum.reduceat(own[1], begins),
            scales[first],
            sizes,
            np.maximum.reduceat(sizes, begins),
            node_draws(len(order.nodes))[order.nodes],
            error,
        )

    def nodes_of(self, leaf: int) -> Array:
        """Return the nodes of a leaf's points."""
        return self.nodes[self.starts[self.leaves[leaf]] : self.starts[self.leaves[leaf + 1]]]


class BonusRanges(NamedTuple):
    """A bonus in a tree's order of nodes: both sides, and the box of the right one at each point and in each leaf."""

    left: Array
    right: Array
    most: Array
    least: Array
    leaf_most: Array
    leaf_least: Array
    size: Array

    @classmethod
    def of(cls, bonus: Bonus | None, tree: Tree) -> BonusRanges:
        """Find the boxes."""
        bonus = Bonus.none(len(tree.nodes)) if bonus is None else bonus
        left, right = (side[tree.nodes] for side in bonus[:2])
        most = np.maximum.reduceat(right, tree.starts[:-1])
        least = np.minimum.reduceat(right, tree.starts[:-1])
        begins = tree.leaves[:-1]
        ranges = np.maximum.reduceat(most, begins), np.minimum.reduceat(least, begins)
        return cls(left, right, most, least, *ranges, np.abs(right).max(axis=0))


class Rows(NamedTuple):
    """Work space for the points of one leaf: point by point, pair by pair, and leaf by leaf."""

    most: Array
    least: Array
    radius: Array
    off: Array
    gaps: Array
    rounding: Array
    picked: Array
    block: Array
    products: Array
    here: Array
    there: Array
    measured: Array
    costs: Array
    keys: Array
    order: Array

    @classmethod
    def of(cls, tree: Tree, rank: int) -> Rows:
        """Make space for a bonus of some rank."""
        points = partial(np.empty, WIDTH)
        leaves = partial(np.empty, len(tree.size))
        return cls(
            most=np.empty((WIDTH, rank)),
            least=np.empty((WIDTH, rank)),
            radius=points(),
            off=points(),
            gaps=points(),
            rounding=points(),
            picked=points(np.int64),
            block=np.empty((WIDTH, tree.tiles.shape[1])),
            products=np.empty((WIDTH, WIDTH)),
            here=np.empty(WIDTH * WIDTH + 1, np.int64),
            there=np.empty(WIDTH * WIDTH + 1, np.int64),
            measured=np.empty(WIDTH * WIDTH),
            costs=leaves(),
            keys=leaves(),
            order=leaves(np.int64),
        )


def equal_rows(rows: Array) -> tuple[Array, Array]:
    """Return for each row the number of its group of equal rows, and a row of each group.

    Rows are sorted by one random number each, so that equal ones stand together; should two that differ share theirs,
    a group may be found in parts, which costs time and nothing else.
    """
    marks = (rows * np.random.default_rng(0).normal(size=rows.shape[1])).sum(axis=1)
    order = np.argsort(marks, kind="stable")
    ordered = rows[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    group = np.empty(len(rows), np.int64)
    group[order] = np.cumsum(new) - 1
    return group, order[new]


def principal_axes(points: Array) -> Array:
    """Return the principal axes of a sample of some points."""
    sample = points[:: max(1, len(points) // SAMPLE)]
    scale = float(np.abs(sample).max()) or 1.0
    axes: Array = linalg.svd((sample - sample.mean(axis=0)) / scale, full_matrices=False, check_finite=False)[2][:AXES]
    return axes


def split(coordinates: Array) -> tuple[Array, Array]:
    """Return an order of the points in which leaves stand together, and where each of them starts."""
    parts = [np.arange(len(coordinates))]
    while len(parts[0]) > WIDTH:
        parts = [half for part in parts for half in _halves(part, coordinates)]
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])])


def _halves(part: Array, coordinates: Array) -> list[Array]:
    """Return the lower and upper half along the axis that a few vary most in, of whole leaves; a leaf as it is."""
    if len(part) <= WIDTH:
        return [part]
    middle = WIDTH * -(-len(part) // (2 * WIDTH))
    widest = np.argmax(coordinates[part[:: -(-len(part) // FEW)]].var(axis=0))
    order = np.argpartition(coordinates[part, widest], middle)
    return [part[order[:middle]], part[order[middle:]]]


def tiles_of(coordinates: Array, count: int) -> tuple[Array, Array]:
    """Return the coordinates of each leaf, transposed, and half of each point's square, infinite beyond the last."""
    half = 0.5 * np.einsum("ij,ij->i", coordinates, coordinates)
    half[count:] = np.inf
    leaves = coordinates.reshape(-1, WIDTH, coordinates.shape[1])
    return np.ascontiguousarray(leaves.transpose(0, 2, 1)), half.reshape(-1, WIDTH)
