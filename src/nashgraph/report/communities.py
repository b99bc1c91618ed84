"""Communities: who is tied more to each other than to the rest, and where to draw them as bubbles."""

from __future__ import annotations

from typing import Any, NamedTuple

import networkx as nx
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


def communities(pull: Any) -> Array:
    """Return the community of every node, by number, the largest first (Louvain's method, seeded).

    networkx takes 0.8, 2 and 13 seconds for 2,000, 5,000 and 20,000 nodes with ten edges each, igraph a tenth of that
    for the same modularity: not enough to ask for another library.

    Examples
    --------
    >>> communities(sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))))).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    upper = sparse.coo_array(sparse.triu(pull + pull.T, 1))
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(pull.shape[0]))
    graph.add_weighted_edges_from(zip(*(ends.tolist() for ends in upper.coords), upper.data.tolist(), strict=True))
    found = nx.community.louvain_communities(graph, seed=0)
    member = np.empty(pull.shape[0], dtype=np.int64)
    for number, nodes in enumerate(sorted(found, key=lambda nodes: (-len(nodes), min(nodes)))):
        member[list(nodes)] = number
    return member


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
