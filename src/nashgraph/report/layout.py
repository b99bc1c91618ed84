"""Where to draw the nodes: a force layout that gives the same picture every time.

Positions are found here and not in the browser: the page then opens at once on any phone and in any printer, and shows
everyone the same picture. The forces are those of ForceAtlas2: all nodes repel each other by 1 / distance, the heavier
the more influential they are, edges pull by weight times distance, and a weak gravity holds separate parts together.
All pairs are gone through.

Why not ``networkx.forceatlas2_layout``: on graphs of SmoothGL with degree 8 (2 cores, networkx 3.6) it takes 0.016,
0.034, 0.43 and 23.6 seconds for 34 (karate), 71, 300 and 2,000 nodes; ours, once compiled, 0.002, 0.004, 0.04 and 1.6.
The pictures are alike (an edge is 0.52, 0.60, 0.60, 0.56 as long as a pair there, 0.52, 0.58, 0.56, 0.51 here), but at
2,000 nodes 223 pairs of circles overlap there and none here, and its start is random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..compiled import kernel
from ..validation import Array

STEPS = 250
GRAVITY = 0.1
# The picture reaches from -1 to 1. A circle of mean influence has RADIUS over the square root of the number of nodes.
RADIUS = 0.22
LEAST_OF_MEAN = 0.4
WIDEST = 0.075
SEPARATIONS = 60


def place(weights: Any, influence: Array) -> Array:
    """Return positions of shape (n, 2) in [-1, 1], the longer axis of the picture lying flat.

    Parameters
    ----------
    weights : sparse matrix of shape (n, n), non-negative
    influence : array of shape (n,), which repels and takes room

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
    points = laid_flat(evened(points))
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


def evened(points: Array) -> Array:
    """Move every point outward or inward, half of the way to where an evenly filled disc would have it.

    A dense graph otherwise makes a dark ball with a few strays, and the strays decide the scale.
    """
    centred = points - np.median(points, axis=0)
    distance = np.hypot(centred[:, 0], centred[:, 1]) + np.finfo(float).tiny
    rank = np.empty(len(points))
    rank[np.argsort(distance, kind="stable")] = np.arange(len(points))
    even = np.sqrt((rank + 0.5) / len(points))
    moved: Array = centred * (0.5 * (distance / distance.max() + even) / distance)[:, None]
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
