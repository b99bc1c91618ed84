"""The part of a graph that the page holds: nodes, places, communities and edges, for one lambda or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from ..compiled import kernel
from ..estimators import GraphEstimator, LambdaPath
from ..estimators.base import PriorEffect
from ..graph import Edges, LearnedGraph
from ..validation import Array, InputError, listing
from .cut import Cut, cut_of
from .prose import columns, plain

# These keep a report under 10 MB and a drawing readable and smooth, whatever the graph.
NODES_AT_ONCE = 1_500  # more are drawn by communities, which open
NODES_HELD = 50_000
EDGES_HELD = 20_000  # the surest or heaviest of all; each node's own few are added
NEIGHBOURS = 5  # of each node, each way; fewer where there are very many nodes
# The picture reaches from -1 to 1. A circle of mean influence has RADIUS over the square root of the number of nodes.
RADIUS = 0.22
LEAST_OF_MEAN = 0.4
WIDEST = 0.075
TINY = np.finfo(float).tiny


class Bubbles(NamedTuple):
    """Communities as circles: their places, of shape (n, 2) in [-1, 1], and their radii."""

    positions: Array
    radius: Array


@dataclass(frozen=True, eq=False)
class View:
    """One learned graph as it is drawn; nodes are numbered by their influence in the fitted graph.

    ``prior`` is its place on the Pareto front (all NaN without a game), ``fitted`` whether it is the model's own graph.
    ``n_edges`` counts all edges, ``edges`` are those kept, and ``pair`` is the evidence for the pair of each.
    """

    prior: PriorEffect
    fitted: bool
    n_edges: int
    edges: Edges
    pair: Array
    edge_columns: Mapping[str, Array]
    influence: Array
    action: Array | None

    def to_dict(self) -> dict[str, Any]:
        """Return the view as JSON has it."""
        return {
            "lam": plain(self.prior.lam),
            "n_edges": self.n_edges,
            "source": plain(self.edges.source),
            "target": plain(self.edges.target),
            "weight": plain(self.edges.weight, 4),
            "pair": plain(self.pair, 4),
            "edge_columns": columns(self.edge_columns, 4),
            "influence": plain(self.influence, 4),
            "action": None if self.action is None else plain(self.action, 4),
        }


@dataclass(frozen=True, eq=False)
class Drawing:
    """Nodes with their places, and one view or, with a path, one for each lambda.

    ``positions`` are in [-1, 1], ``community`` is by number, the largest first, ``bubbles`` is None where all nodes are
    drawn at once, and ``left_out`` says in words what the page does not hold.
    """

    positions: Array
    community: Array
    bubbles: Bubbles | None
    views: tuple[View, ...]
    left_out: str

    def layout(self, names: Iterable[Any]) -> pd.DataFrame:
        """Return where the nodes are, by name: what :func:`placed_as` takes."""
        held = len(self.positions)
        table = pd.DataFrame({"name": pd.Series(list(names), dtype=object).head(held)})
        table[["x", "y"]] = self.positions.round(4)
        table["community"] = self.community + 1
        if self.bubbles is not None:
            table[["bubble_x", "bubble_y"]] = self.bubbles.positions[self.community].round(4)
            table["bubble_radius"] = self.bubbles.radius[self.community].round(4)
        return table

    @property
    def fitted(self) -> int:
        """Which view is the model's own graph."""
        return next(number for number, view in enumerate(self.views) if view.fitted)

    def to_dict(self) -> dict[str, Any]:
        """Return the places, the communities and the views as JSON has them."""
        mean_radius = RADIUS / float(np.sqrt(len(self.positions)))
        x, y = self.positions.round(4).T
        bubbles = None
        if self.bubbles is not None:
            across, upward = self.bubbles.positions.T
            bubbles = columns({"x": across, "y": upward, "radius": self.bubbles.radius}, 4)
        return {
            "x": plain(x),
            "y": plain(y),
            "community": plain(self.community),
            "bubbles": bubbles,
            "radius": plain(mean_radius),
            "least": plain(LEAST_OF_MEAN * mean_radius),
            "widest": WIDEST,
            "fitted": self.fitted,
            "views": [view.to_dict() for view in self.views],
        }


def make_drawing(
    model: GraphEstimator,
    path: LambdaPath | None,
    cut: Cut,
    communities: Array | None = None,
    layout: pd.DataFrame | None = None,
) -> Drawing:
    """Place the nodes of a fitted model's graph, in which the graphs of a path are drawn as well.

    Communities that are not given are those of the edges that place the nodes. A layout that is given has the places;
    if communities are drawn as bubbles, it also has these.
    """
    graph = model.graph_
    own = make_view(model, graph.by_influence, EDGES_HELD, cut, fitted=True)
    others = [] if path is None else thinned(path)
    views = [
        make_view(other, graph.by_influence, 60_000 // len(others), cut_of(other.graph_))
        for other in others
        if not np.isclose(game_of(other).lam, own.prior.lam, rtol=1e-9, atol=0.0)
    ]
    count = len(own.influence)
    pulling = own.edges.take(heaviest_of_each(own.edges, 8))
    pull = sparse.csr_array((pulling.weight, (pulling.target, pulling.source)), shape=(count, count))
    if communities is None:
        found = LearnedGraph.of(pull).communities
    else:
        found = communities[graph.by_influence[:count]]
    community = np.unique(found, return_inverse=True)[1]
    bubbles = None
    if layout is not None:
        positions, community, bubbles = placed_as(layout, graph.names[graph.by_influence[:count]], community)
    elif count > NODES_AT_ONCE:
        positions, bubbles = place_in_bubbles(pull, own.influence, community)
    else:
        positions = place(pull, own.influence)
    left_out = ""
    n_nodes = graph.n_nodes
    n_held = len(own.edges.weight)
    if (count, n_held) != (n_nodes, own.n_edges):
        if count == n_nodes:
            nodes = "all"
        else:
            nodes = f"the {count:,} most influential of the"
        which = "heaviest" if cut.column == "weight" else "surest"
        left_out = (
            f"This page holds {nodes} {n_nodes:,} nodes and {n_held:,} of the {own.n_edges:,} edges: the {which}, and "
            "those that are heaviest for one of their nodes."
        )
    views = sorted((own, *views), key=lambda view: (np.isfinite(view.prior.lam), view.prior.lam))
    return Drawing(positions, community, bubbles, tuple(views), left_out)


def placed_as(layout: pd.DataFrame, names: Array, community: Array) -> tuple[Array, Array, Bubbles | None]:
    """Return the places of nodes in another graph's layout, and the communities: those of the layout in bubbles."""
    figures = check_layout(layout, names)
    positions = figures[["x", "y"]].to_numpy()
    if len(names) <= NODES_AT_ONCE:
        return positions, community, None
    _, first, member = np.unique(figures["community"], return_index=True, return_inverse=True)
    discs = figures.iloc[first]
    return positions, member, Bubbles(discs[["bubble_x", "bubble_y"]].to_numpy(), discs["bubble_radius"].to_numpy())


def check_layout(layout: pd.DataFrame, names: Iterable[Any]) -> pd.DataFrame:
    """Return the figures of a layout in the order of the nodes, or say what it lacks."""
    called = [str(name) for name in names]
    bubble = ["community", "bubble_x", "bubble_y", "bubble_radius"]
    wanted = ["name", "x", "y", *(bubble if len(called) > NODES_AT_ONCE else [])]
    if absent := [column for column in wanted if column not in layout]:
        raise InputError(f"layout has no column {listing(absent)}: pass the layout of a summary of the same nodes")
    rows = {str(name): row for row, name in enumerate(layout["name"])}
    if unknown := [name for name in called if name not in rows]:
        raise InputError(
            f"layout has no place for {len(unknown)} of {len(called)} nodes ({listing(unknown)}): it must be of a "
            "graph of the same nodes, by the same names"
        )
    table = layout.iloc[[rows[name] for name in called]]
    try:
        figures = table[wanted[1:]].astype(float)
    except (TypeError, ValueError) as error:
        raise InputError(f"layout must have numbers for {listing(wanted[1:])}: {error}") from error
    if not (np.isfinite(figures.to_numpy()).all() and (np.abs(figures[["x", "y"]].to_numpy()) <= 1 + 1e-9).all()):
        raise InputError("layout must have places from -1 to 1, x and y, for every node")
    return figures


def make_view(model: GraphEstimator, order: Array, at_most: int, cut: Cut, fitted: bool = False) -> View:
    """Return the view of a model's graph, with node ``order[k]`` called k, and at most so many edges.

    The fitted graph's view also has the heaviest edges of every node, so that each can be looked up with its ties.
    """
    graph = model.graph_ if model.graph_.directed else replace(model.graph_, directed=True)  # each pair listed twice
    number = np.argsort(order)
    listed = graph.listed
    held = order[:NODES_HELD]
    edges = listed._replace(source=number[listed.source], target=number[listed.target])
    among = (edges.source < len(held)) & (edges.target < len(held))
    pair = cut.evidence[edges.place]
    surest = np.flatnonzero(among)[np.argsort(-pair[among], kind="stable")]  # and then the heaviest
    kept = np.zeros(len(edges.place), dtype=bool)
    kept[surest[:at_most]] = True
    if fitted:
        kept |= among & heaviest_of_each(edges, min(NEIGHBOURS, max(2, 60_000 // len(held))))
    pairs = graph.pairs[edges.place]
    kept = np.isin(pairs, pairs[kept])  # both directions of a pair, or none
    edges = edges.take(kept)
    action = graph.node_columns.get("action")
    return View(
        prior=game_of(model),
        fitted=fitted,
        n_edges=graph.n_edges,
        edges=edges,
        pair=pair[kept],
        edge_columns={name: np.asarray(values)[edges.place] for name, values in graph.edge_columns.items()},
        influence=graph.influence[held],
        action=None if action is None else np.asarray(action)[held],
    )


def game_of(model: GraphEstimator) -> PriorEffect:
    """Return the prior of a model that plays a game; it alone has a place on the front."""
    prior = model.prior_
    if prior is not None and np.isfinite(prior.welfare):
        return prior
    return PriorEffect(np.nan, "", np.nan, np.nan)


def thinned(path: LambdaPath) -> list[GraphEstimator]:
    """Return the models of a path, 25 at most and fewer of large graphs, its ends among them."""
    count = len(path.models)
    most = min(count, 25, max(3, 150_000 // path.models[0].graph_.n_nodes))
    return [path.models[k] for k in np.unique(np.linspace(0, count - 1, most).round().astype(int))]


def heaviest_of_each(edges: Edges, most: int) -> Array:
    """Tell which edges are among the heaviest of one of their nodes, each way; they come heaviest first."""
    heavier = [pd.Series(ends).groupby(ends).cumcount().to_numpy() for ends in (edges.source, edges.target)]
    return np.asarray(np.minimum(*heavier) < most)


def place(weights: Any, influence: Array, cover: Array | None = None) -> Array:
    """Return positions of shape (n, 2) in [-1, 1] by a force layout that gives the same picture every time.

    The forces are those of ForceAtlas2: all nodes repel each other by 1 / distance, the heavier the more influential
    they are, edges pull by weight times distance, and a weak gravity holds separate parts together. Then points move a
    quarter of the way to ``cover``, n points spread evenly over the room to fill, by default a sheet that is wider than
    high. ``networkx.forceatlas2_layout`` takes ten times as long: 32 s for 1,500 nodes, this 3.4.
    """
    count = len(influence)
    pull = sparse.csr_array(weights + weights.T)
    if pull.nnz:
        pull = pull / pull.data.mean()
    share = influence / max(float(influence.mean()), TINY)
    points = sunflower(share)
    relax(points, 1.0 + np.sqrt(share), pull.indptr.astype(np.int64), pull.indices.astype(np.int64), pull.data)
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    flat = centred @ axes[:, ::-1]  # the longer axis lies flat; it has no sign: the first node is on the lower left
    points = evened(fitted(flat * np.where(flat[0] > 0, -1.0, 1.0)), even_sheet(count) if cover is None else cover)
    separate(points, 1.15 * radii(share, count), 60)
    return fitted(points)


def radii(share: Array, count: int) -> Array:
    """Return the radii of circles whose area grows with their share, a mean share being 1, within limits."""
    mean = RADIUS / np.sqrt(count)
    return np.clip(mean * np.sqrt(share), LEAST_OF_MEAN * mean, WIDEST)


def sunflower(share: Array) -> Array:
    """Return a start without chance: nodes on a spiral of golden angles, those of largest share in the middle."""
    rank = np.argsort(np.argsort(-share, kind="stable"))
    angle = rank * np.pi * (3.0 - np.sqrt(5.0))
    return np.sqrt(rank + 0.5)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def even_sheet(count: int) -> Array:
    """Return points spread evenly over a sheet, wider than high: Roberts' sequence, which leaves no holes."""
    steps = np.arange(count)[:, None] * np.array([0.7548776662466927, 0.5698402909980532])
    square: Array = 2.0 * ((0.5 + steps) % 1.0) - 1.0
    return square * np.array([1.0, 1.0 / 1.45])


def evened(points: Array, cover: Array) -> Array:
    """Move every point a quarter of the way to a place of its own in an even cover: more of it erases communities.

    Places are shared out so that all points together move least (optimal transport), so what was near stays near.
    """
    spread = np.sqrt((points**2).sum() / max(float((cover**2).sum()), TINY)) or 1.0
    scaled = points / spread
    _, own = linear_sum_assignment(cdist(scaled, cover, "sqeuclidean"))
    moved: Array = 0.75 * scaled + 0.25 * cover[own]
    return moved


def fitted(points: Array) -> Array:
    """Move the middle of the picture to the origin and scale it to [-1, 1]."""
    low = points.min(axis=0)
    high = points.max(axis=0)
    scaled: Array = (points - 0.5 * (low + high)) / max(0.5 * float((high - low).max()), TINY)
    return scaled


@kernel(fastmath=True)
def relax(points: Array, mass: Array, starts: Array, others: Array, pull: Array) -> None:
    """Let the forces move the points, in place, by steps that shrink to nothing."""
    count = len(points)
    steps = 250
    gravity = 0.1
    across = points[:, 0].copy()
    upward = points[:, 1].copy()
    force = np.empty((count, 2))
    for step in range(steps):
        longest = 0.1 * np.sqrt(count) * (1.0 - step / steps) ** 1.5
        for i in range(count):
            right = 0.0
            up = 0.0
            for j in range(count):
                dx = across[i] - across[j]
                dy = upward[i] - upward[j]
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
    for i in range(count):  # to assign whole columns costs two seconds of compilation
        points[i, 0], points[i, 1] = across[i], upward[i]


@kernel()
def separate(points: Array, radius: Array, rounds: int) -> None:
    """Push apart circles that overlap, in place, each by half of what they overlap."""
    for _ in range(rounds):
        moved = False
        for i in range(len(points)):
            for j in range(i):
                dx = points[i, 0] - points[j, 0]
                dy = points[i, 1] - points[j, 1]
                room = radius[i] + radius[j]
                if dx * dx + dy * dy < room * room:
                    distance = np.sqrt(dx * dx + dy * dy)
                    if distance < 1e-9:  # one place for two nodes: any direction will do, the same every time
                        dx = np.cos(1.0 * i)
                        dy = np.sin(1.0 * i)
                        distance = 1.0
                    if distance < room:
                        push = 0.5 * (room - distance) / distance
                    else:
                        push = 0.5 * room
                    points[i, 0] += push * dx
                    points[i, 1] += push * dy
                    points[j, 0] -= push * dx
                    points[j, 1] -= push * dy
                    moved = True
        if not moved:
            break


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
    radius = 0.78 * np.sqrt(size / size.sum())
    separate(centres, 1.04 * radius, 400)
    positions = np.empty((len(member), 2))
    for bubble in range(len(size)):
        inside = np.flatnonzero(member == bubble)
        positions[inside] = centres[bubble] + 0.9 * radius[bubble] * _inside(pull, influence, inside)
    low = (centres - radius[:, None]).min(axis=0)
    high = (centres + radius[:, None]).max(axis=0)
    middle = 0.5 * (low + high)
    scale = 0.5 * float((high - low).max())
    return (positions - middle) / scale, Bubbles((centres - middle) / scale, radius / scale)


def _inside(pull: Any, influence: Array, inside: Array) -> Array:
    """Return places in the unit disc for the members of one community."""
    if len(inside) == 1:
        return np.zeros((1, 2))
    if len(inside) > NODES_AT_ONCE:  # too many for forces: on a spiral, the most influential in the middle
        spiral = sunflower(influence[inside])
        return spiral / np.hypot(*spiral.T).max()
    disc = sunflower(np.ones(len(inside))) / np.sqrt(len(inside))
    points = place(pull[inside][:, inside], influence[inside], disc)
    # The few that stray are brought back to the rim, so that they do not decide the scale.
    distance = np.hypot(*points.T).clip(TINY)
    rim: Array = points / np.maximum(distance, np.quantile(distance, 0.95))[:, None]
    return rim
