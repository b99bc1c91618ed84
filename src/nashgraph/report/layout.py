"""Where to draw the nodes and the communities: a force layout that gives the same picture every time.

Positions are found here and not in the browser: the page then opens at once on any phone and in any printer, and shows
everyone the same picture. The forces are those of ForceAtlas2: all nodes repel each other by 1 / distance, the heavier
the more influential they are, edges pull by weight times distance, and a weak gravity holds separate parts together.
All pairs are gone through. Then points move a quarter of the way to an even cover of the sheet.

Why not ``networkx.forceatlas2_layout``: on graphs of SmoothGL with degree 8 (one core, networkx 3.6) it takes 0.05,
0.09, 1.2 and 32 seconds for 34 (karate), 71, 300 and 1,500 nodes; ours, once compiled, 0.002, 0.008, 0.11 and 3.4.
No two circles overlap (checked for the default model at 34, 60 and 600 nodes).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from ..compiled import kernel
from ..validation import Array

STEPS = 250
GRAVITY = 0.1
# The picture reaches from -1 to 1. A circle of mean influence has RADIUS over the square root of the number of nodes.
RADIUS = 0.22
LEAST_OF_MEAN = 0.4
WIDEST = 0.075
SEPARATIONS = 60
WIDE = 1.45  # of a sheet, over its height
EVEN = 0.25  # of the way to an even cover: more of it erases communities
FILLED = 0.78  # of a bubble's radius is its share of the sheet's room
INSIDE = 0.9  # of a bubble's radius is for its members
AT_ONCE = 1_500  # members of a bubble that forces place; more are laid on a spiral, the most influential in the middle


def place(weights: Any, influence: Array, cover: Callable[[int], Array] | None = None) -> Array:
    """Return positions of shape (n, 2) in [-1, 1], the longer axis of the picture lying flat.

    Parameters
    ----------
    weights : sparse matrix of shape (n, n), non-negative
    influence : array of shape (n,), which repels and takes room
    cover : callable, optional
        Takes n and returns n points spread evenly over the room to fill; None fills a sheet.

    Examples
    --------
    >>> from scipy import sparse
    >>> path = sparse.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> place(path, np.array([1.0, 2.0, 1.0]))[:, 0].argsort()
    array([0, 1, 2])
    """
    count = len(influence)
    pull = sparse.csr_array(weights + weights.T)
    if pull.nnz:
        pull = pull / pull.data.mean()
    share = influence / max(float(influence.mean()), np.finfo(float).tiny)
    points = sunflower(share)
    starts, others = pull.indptr.astype(np.int64), pull.indices.astype(np.int64)
    relax(points, 1.0 + np.sqrt(share), starts, others, pull.data, STEPS, GRAVITY)
    points = evened(laid_flat(points), (cover or even_sheet)(count))
    separate(points, 1.15 * radii(share, count), SEPARATIONS)
    return fitted(points)


def radii(share: Array, count: int) -> Array:
    """Return the radii of circles whose area grows with their share, a mean share being 1, within limits."""
    mean = RADIUS / np.sqrt(count)
    return np.clip(mean * np.sqrt(share), LEAST_OF_MEAN * mean, WIDEST)


def sunflower(share: Array) -> Array:
    """Return a start without chance: nodes on a spiral of golden angles, those of largest share in the middle."""
    rank = np.empty(len(share))
    rank[np.argsort(-share, kind="stable")] = np.arange(len(share))
    angle = rank * np.pi * (3.0 - np.sqrt(5.0))
    return np.sqrt(rank + 0.5)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def even_sheet(count: int) -> Array:
    """Return points spread evenly over a sheet, wider than high: Roberts' sequence, which leaves no holes."""
    steps = np.arange(count)[:, None] * np.array([0.7548776662466927, 0.5698402909980532])
    square: Array = 2.0 * ((0.5 + steps) % 1.0) - 1.0
    return square * np.array([1.0, 1.0 / WIDE])


def even_disc(count: int) -> Array:
    """Return points spread evenly over a disc."""
    return sunflower(np.ones(count)) / np.sqrt(count)


def evened(points: Array, cover: Array) -> Array:
    """Move every point some of the way to a place of its own in an even cover of the room.

    Places are shared out so that all points together move least (optimal transport), so what was near stays near.
    Forces alone leave a dark ball with strays, or a snake in an empty sheet.
    """
    spread = np.sqrt((points**2).sum() / max(float((cover**2).sum()), np.finfo(float).tiny)) or 1.0
    scaled = points / spread
    _, own = linear_sum_assignment(cdist(scaled, cover, "sqeuclidean"))
    moved: Array = (1.0 - EVEN) * scaled + EVEN * cover[own]
    return moved


def laid_flat(points: Array) -> Array:
    """Turn the points so that they spread most from left to right, and scale them to [-1, 1]."""
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1]
    # An axis has no sign of its own: the first node is put on the left, in the lower half.
    return fitted(turned * np.where(turned[0] > 0, -1.0, 1.0))


def fitted(points: Array) -> Array:
    """Move the middle of the picture to the origin and scale it to [-1, 1]."""
    low, high = points.min(axis=0), points.max(axis=0)
    scaled: Array = (points - 0.5 * (low + high)) / max(0.5 * float((high - low).max()), np.finfo(float).tiny)
    return scaled


@kernel(fastmath=True)
def relax(points: Array, mass: Array, starts: Array, others: Array, pull: Array, steps: int, gravity: float) -> None:
    """Let the forces move the points, in place, by steps that shrink to nothing."""
    count = len(points)
    across, upward = points[:, 0].copy(), points[:, 1].copy()
    force = np.empty((count, 2))
    for step in range(steps):
        longest = 0.1 * np.sqrt(count) * (1.0 - step / steps) ** 1.5
        for i in range(count):
            right, up = 0.0, 0.0
            for j in range(count):
                dx, dy = across[i] - across[j], upward[i] - upward[j]
                push = mass[j] / (dx * dx + dy * dy + 1e-3)
                right += push * dx
                up += push * dy
            right = mass[i] * (right - gravity * across[i])
            up = mass[i] * (up - gravity * upward[i])
            for k in range(starts[i], starts[i + 1]):
                right -= pull[k] * (across[i] - across[others[k]])
                up -= pull[k] * (upward[i] - upward[others[k]])
            force[i, 0], force[i, 1] = right, up
        for i in range(count):
            size = np.sqrt(force[i, 0] ** 2 + force[i, 1] ** 2) + 1e-12
            move = min(0.1 * size / mass[i], longest) / size
            across[i] += move * force[i, 0]
            upward[i] += move * force[i, 1]
    points[:, 0], points[:, 1] = across, upward


@kernel()
def separate(points: Array, radius: Array, rounds: int) -> None:
    """Push apart circles that overlap, in place, each by half of what they overlap."""
    for _ in range(rounds):
        moved = False
        for i in range(len(points)):
            for j in range(i):
                dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
                room = radius[i] + radius[j]
                if dx * dx + dy * dy < room * room:
                    distance = np.sqrt(dx * dx + dy * dy)
                    if distance < 1e-9:  # one place for two nodes: any direction will do, the same every time
                        dx, dy, distance = np.cos(1.0 * i), np.sin(1.0 * i), 1.0
                    push = 0.5 * (room - distance) / distance if distance < room else 0.5 * room
                    points[i, 0] += push * dx
                    points[i, 1] += push * dy
                    points[j, 0] -= push * dx
                    points[j, 1] -= push * dy
                    moved = True
        if not moved:
            break


class Bubbles(NamedTuple):
    """Communities as circles: their places, of shape (n, 2) in [-1, 1], and their radii."""

    positions: Array
    radius: Array


def place_in_bubbles(pull: Any, influence: Array, member: Array) -> tuple[Array, Bubbles]:
    """Return positions of nodes, each inside the bubble of its community, and the bubbles.

    Bubbles are placed as nodes are, by the weight between them, and have room by how many they hold.
    """
    size = np.bincount(member)
    between = sparse.coo_array(pull)
    rows, columns = between.coords
    quotient = sparse.csr_array((between.data, (member[rows], member[columns])), shape=(len(size), len(size)))
    quotient.setdiag(0)
    quotient.eliminate_zeros()
    centres = place(quotient, size.astype(float))
    radius = np.sqrt(size / size.sum()) * FILLED
    separate(centres, 1.04 * radius, 400)
    positions = np.empty((len(member), 2))
    for bubble in range(len(size)):
        inside = np.flatnonzero(member == bubble)
        positions[inside] = centres[bubble] + INSIDE * radius[bubble] * _inside(pull, influence, inside)
    low, high = (centres - radius[:, None]).min(axis=0), (centres + radius[:, None]).max(axis=0)
    middle, scale = 0.5 * (low + high), 0.5 * float((high - low).max())
    return (positions - middle) / scale, Bubbles((centres - middle) / scale, radius / scale)


def _inside(pull: Any, influence: Array, inside: Array) -> Array:
    """Return places in the unit disc for the members of one community."""
    if len(inside) == 1:
        return np.zeros((1, 2))
    share = influence[inside] / max(float(influence[inside].mean()), np.finfo(float).tiny)
    if len(inside) > AT_ONCE:
        spiral = sunflower(share)
        return spiral / np.hypot(*spiral.T).max()
    points = place(pull[inside][:, inside], influence[inside], even_disc)
    # The few that stray are brought back to the rim, so that they do not decide the scale.
    distance = np.hypot(*points.T).clip(np.finfo(float).tiny)
    rim: Array = points / np.maximum(distance, np.quantile(distance, 0.95))[:, None]
    return rim
