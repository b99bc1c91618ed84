"""Communities as bubbles: where to draw them, and their members in them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..validation import Array
from .layout import even_disc, place, separate, sunflower

FILLED = 0.78  # of a bubble's radius is its share of the sheet's room
INSIDE = 0.9  # of a bubble's radius is for its members
AT_ONCE = 1_500  # members of a bubble that forces place; more are laid on a spiral, the most influential in the middle


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
