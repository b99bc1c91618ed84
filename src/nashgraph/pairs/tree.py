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
from .bonus import Bonus

WIDTH = 64  # points of a leaf; only the last has fewer
AXES = 32  # where there are more signals, the first axes give a lower bound of a distance
SAMPLE, FEW = 1024, 256  # points that tell the axes of all, and the one along which a part is split


class Order(NamedTuple):
    """Which nodes are one point, and which points a leaf: with the points themselves all that a tree is made of.

    ``n`` nodes, ``u`` points that differ, ``v`` leaves, ``d`` axes.

    Attributes
    ----------
    nodes : array of shape (n,), those of a point together, upward
    starts : array of shape (u + 1,), where a point's nodes start
    leaves : array of shape (v + 1,), where a leaf's points start
    axes : array of shape (d, n_signals)
    """

    nodes: Array
    starts: Array
    leaves: Array
    axes: Array

    @classmethod
    def of(cls, points: Array, node_costs: Array | None) -> Order:
        """Find it: O(u d log u) time, O(u (d + n_signals)) memory.

        Examples
        --------
        >>> order = Order.of(np.array([[0.0], [5.0], [0.0], [6.0]]), None)
        >>> order.nodes, order.starts, order.leaves
        (array([0, 2, 1, 3]), array([0, 2, 3, 4]), array([0, 3]))
        """
        group, first = equal_rows(points if node_costs is None else np.column_stack([points, node_costs]))
        axes = principal_axes(points[first])
        order, leaves = split(points[first] @ axes.T)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        ranks = rank[group]
        starts = np.concatenate([[0], np.cumsum(np.bincount(ranks, minlength=len(order)))])
        return cls(np.argsort(ranks, kind="stable"), starts, leaves, axes)


class Tree(NamedTuple):
    """Points in leaves.

    Attributes
    ----------
    points : array of shape (u, n_signals), in the order of the leaves
    node_costs : array of shape (u,), what a point adds to the cost of its edges
    nodes, starts, leaves : arrays, as in :class:`Order`
    tiles : array of shape (v, d, 64), the coordinates of each leaf, zero where it has fewer points
    half : array of shape (v, 64), half of each point's square along the axes, infinite where a leaf has fewer
    low, high : arrays of shape (v, d), the box of each leaf
    leaf_node_cost : array of shape (v,), the least node cost in a leaf
    scales : array of shape (u,), the size of a point's signals
    sizes, size : arrays of shape (u,) and (v,), the scale of rounding at a point, and in a leaf at most
    error : float, how large rounding may be relative to them
    """

    points: Array
    node_costs: Array
    nodes: Array
    starts: Array
    leaves: Array
    tiles: Array
    half: Array
    low: Array
    high: Array
    leaf_node_cost: Array
    scales: Array
    sizes: Array
    size: Array
    error: float

    @classmethod
    def of(cls, points: Array, node_costs: Array | None, scales: Array, order: Order) -> Tree:
        """Build it: O(u d n_signals) time, O(u (d + n_signals)) memory.

        Where coordinates round in another way, on another machine, other pairs may be looked at, and the same found.

        Examples
        --------
        >>> points = np.array([[0.0], [5.0], [0.0], [6.0]])
        >>> Tree.of(points, None, np.ones(4), Order.of(points, None)).points.ravel()
        array([0., 5., 6.])
        """
        error = 12.0 * (8 + points.shape[1]) * float(np.finfo(float).eps) + 2.0**-31  # costs are rounded to 32 bits
        first, begins = order.nodes[order.starts[:-1]], order.leaves[:-1]
        own = points[first], np.zeros(len(first))
        if node_costs is not None:
            own[1][:] = node_costs[first]
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
    ends: Array
    block: Array
    products: Array
    hits: Array
    measured: Array
    costs: Array
    keys: Array
    order: Array

    @classmethod
    def of(cls, tree: Tree, rank: int) -> Rows:
        """Make space for a bonus of some rank."""
        points, leaves = partial(np.empty, WIDTH), partial(np.empty, len(tree.size))
        return cls(
            most=np.empty((WIDTH, rank)),
            least=np.empty((WIDTH, rank)),
            radius=points(),
            off=points(),
            gaps=points(),
            rounding=points(),
            picked=points(np.int64),
            ends=points(np.int64),
            block=np.empty((WIDTH, tree.tiles.shape[1])),
            products=np.empty((WIDTH, WIDTH)),
            hits=np.empty(WIDTH * WIDTH + 1, np.int64),
            measured=np.empty(WIDTH * WIDTH),
            costs=leaves(),
            keys=leaves(),
            order=leaves(np.int64),
        )


def equal_rows(rows: Array) -> tuple[Array, Array]:
    """Return for each row the number of its group of equal rows, and a row of each group.

    Rows are sorted by one random number each, so that equal ones stand together; should two that differ share theirs,
    a group may be found in parts, which costs time and nothing else.

    Examples
    --------
    >>> group, first = equal_rows(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    >>> group[0] == group[2], len(first)
    (np.True_, 2)
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
