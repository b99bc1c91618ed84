"""Parts of the pictures: places of nodes, lines, circles, names and cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from scipy import sparse

from ..graph import Edges, LearnedGraph
from ..validation import Array, InputError, check_choice, listing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8c8c8c"
CYCLE = (BLUE, ORANGE, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
GRAVITY = 0.2
LEAST_OPACITY = 0.12
NODE_AREAS = (20.0, 420.0)
HEAT_CELLS = 400


def places_of(positions: Mapping[Any, Any] | Array | None, names: Array, drawn: Edges, seed: int) -> Array:
    """Return where each node is, as an array of shape (n_nodes, 2)."""
    if positions is None:
        return spring_places(len(names), drawn, seed)
    if isinstance(positions, Mapping):
        missing = [name for name in names if name not in positions]
        if missing:
            raise InputError(f"positions has no place for {listing(missing)}: give an (x, y) for every node")
        positions = np.array([positions[name] for name in names], dtype=float)
    places = np.asarray(positions, dtype=float)
    if places.shape != (len(names), 2):
        raise InputError(f"positions must have shape ({len(names)}, 2), an (x, y) for every node, got {places.shape}")
    return places


def spring_places(n_nodes: int, drawn: Edges, seed: int) -> Array:
    """Return the spring layout of the pairs drawn, with a weak spring from each node to a centre.

    Without the centre, parts that are not joined fly apart, and the picture is mostly empty.
    """
    layout: nx.Graph[int] = nx.Graph()
    layout.add_nodes_from(range(n_nodes + 1))
    layout.add_edges_from(zip(drawn.source.tolist(), drawn.target.tolist(), strict=True), weight=1.0)
    layout.add_edges_from(((node, n_nodes) for node in range(n_nodes)), weight=GRAVITY)
    found = nx.spring_layout(layout, seed=seed, iterations=100)
    return np.array([found[node] for node in range(n_nodes)])


def node_order(order: str | Iterable[Any], graph: LearnedGraph) -> Array:
    """Return the nodes to draw, by number."""
    if isinstance(order, str):
        check_choice("order", order, ("influence", "community", "given"), ", or pass a list of node names")
        if order == "community":
            rank = np.empty(graph.n_nodes, dtype=int)
            rank[graph.by_influence] = np.arange(graph.n_nodes)
            return np.lexsort((rank, graph.communities))
        return graph.by_influence if order == "influence" else np.arange(graph.n_nodes)
    number = {name: k for k, name in enumerate(graph.names)}
    wanted = list(order)
    unknown = [name for name in wanted if name not in number]
    if unknown or not wanted:
        wrong = f"order names nodes that are not in the graph: {listing(unknown)}" if unknown else "order is empty"
        raise InputError(f"{wrong}; name nodes of the graph, or take 'influence' or 'given'")
    return np.array([number[name] for name in wanted])


def community_ends(graph: LearnedGraph) -> list[int]:
    """Return where one community ends and the next begins, in the order of communities."""
    return np.cumsum(np.bincount(graph.communities)[1:])[:-1].tolist()


def heat_cells(weights: Any) -> Array:
    """Return the matrix as a dense array of at most HEAT_CELLS x HEAT_CELLS means over blocks."""
    n = weights.shape[0]
    if n <= HEAT_CELLS:
        return np.asarray(weights.toarray())
    block = np.arange(n) * HEAT_CELLS // n
    rows, columns = sparse.coo_array(weights).coords
    sums = sparse.coo_array((weights.data, (block[rows], block[columns])), shape=(HEAT_CELLS, HEAT_CELLS)).toarray()
    sizes = np.bincount(block)
    return np.asarray(sums / np.outer(sizes, sizes))


def spread_points(x: Array, y: Array, count: int) -> list[int]:
    """Return about ``count`` points of a curve, its ends among them, at like distances along it as it is drawn."""
    steps = np.hypot(np.diff(x) / (np.ptp(x) or 1.0), np.diff(y) / (np.ptp(y) or 1.0))
    along = np.concatenate([[0.0], np.cumsum(steps)])
    return sorted(set(nearest_points(along, np.linspace(0.0, along[-1], count))))


def nearest_points(values: Array, wanted: Sequence[float] | Array) -> list[int]:
    """Return for each number wanted the index of the nearest value."""
    return [int(np.argmin(np.abs(values - number))) for number in wanted]


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the ax given, or that of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot  # noqa: PLC0415 (an extra: imported where used)
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'nashgraph[plot]'") from error
    return pyplot.subplots()[1]


def next_color(ax: Axes) -> str:
    """Return the first colour of the cycle that no line of the ax has yet."""
    used = {line.get_color() for line in ax.lines}
    return next((color for color in CYCLE if color not in used), BLUE)


def opacities(weights: Array) -> Array:
    """Return how opaque to draw edges of these weights: by the square root, since few are near the heaviest."""
    return LEAST_OPACITY + (1.0 - LEAST_OPACITY) * np.sqrt(weights / weights.max(initial=1e-300))


def draw_edges(
    ax: Axes, places: Array, edges: Edges, opacity: Array | float, color: str, style: str, label: str = ""
) -> None:
    """Draw a line for every edge."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415
    from matplotlib.colors import to_rgba_array  # noqa: PLC0415

    colors = np.repeat(to_rgba_array(color), len(edges.weight), axis=0)
    colors[:, 3] = opacity
    lines = np.stack([places[edges.source], places[edges.target]], axis=1)
    ax.add_collection(
        LineCollection(list(lines), colors=colors, linestyles=style, linewidths=1.1, zorder=1, label=label)
    )


def draw_against_truth(ax: Axes, places: Array, drawn: Edges, true: Edges) -> None:
    """Draw hits, mistakes and misses, each in its style, with a legend that counts them."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    ours, theirs = (edges.source * len(places) + edges.target for edges in (drawn, true))
    hit, missed = np.isin(ours, theirs), ~np.isin(theirs, ours)
    opacity = opacities(drawn.weight)
    kinds: tuple[tuple[Edges, Array | float, str, Any, str], ...] = (
        (true.take(missed), 0.6, GREY, "dotted", "missed"),
        (drawn.take(~hit), opacity[~hit], ORANGE, "dashed", "not in the truth"),
        (drawn.take(hit), opacity[hit], BLUE, "solid", "true"),
    )
    for edges, opaque, color, style, name in kinds:
        draw_edges(ax, places, edges, opaque, color, style, name)
    handles = [
        Line2D([], [], color=color, linestyle=style, label=f"{len(edges.weight)} {name}")
        for edges, _, color, style, name in reversed(kinds)
    ]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3, frameon=False, fontsize=8)


def draw_nodes(ax: Axes, places: Array, sizes: Array) -> None:
    """Draw a circle for every node, its area between NODE_AREAS by its size."""
    least, most = NODE_AREAS
    scale = min(1.0, 6.0 / np.sqrt(len(sizes)))  # many nodes get small circles
    areas = scale * (least + (most - least) * sizes / (sizes.max() or 1.0))
    x, y = places.T
    ax.scatter(x, y, s=areas, facecolor="#d6e6f2", edgecolor="#1f4e79", linewidth=0.9, zorder=2)


def draw_names(ax: Axes, places: Array, names: Array) -> None:
    """Write names on their nodes, with a light rim so that lines do not cross them out."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    rim = [withStroke(linewidth=2.5, foreground="white", alpha=0.85)]
    for (x, y), name in zip(places, names, strict=True):
        ax.text(x, y, str(name), ha="center", va="center", fontsize=8, zorder=3, path_effects=rim)
