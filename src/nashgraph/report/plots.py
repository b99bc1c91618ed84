"""Pictures of learned graphs, of paths and of runs, on matplotlib axes. Every function takes an ``ax`` and returns it.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart; what they say is also said by the style
of the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..certificate import Certificate
from ..estimators import GraphEstimator, LambdaPath
from ..graph import Edges, LearnedGraph, as_graph, pair_numbers
from ..validation import Array, InputError, InputTypeError, check_choice, check_integer, listing
from .cut import cut_of, matched
from .drawing import NODES_AT_ONCE, place, place_in_bubbles
from .prose import speaking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE = "#0072b2"
ORANGE = "#d55e00"
GREY = "#8c8c8c"
CYCLE = (BLUE, ORANGE, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
HEAT_CELLS = 400  # in a row of a heat map: finer ones cannot be seen
LINES_A_NODE = 2.5  # of a graph drawn without a number: more are a solid ball


def plot_graph(
    graph: Any,
    ax: Axes | None = None,
    *,
    truth: Any = None,
    n_edges: int | None = None,
    n_labels: int = 8,
    positions: Mapping[Any, Any] | Array | None = None,
) -> Axes:
    """Draw a graph: circles grow with influence, lines are the more opaque the heavier, the top hubs are named.

    A line joins two nodes whatever the direction, and its weight is the mean of the two directions. A circle's area
    grows with the node's influence on all others, the column sum of the adjacency matrix. If the signals do not tell
    who is influential (``influence_supported``), circles are alike and nobody is named.

    Parameters
    ----------
    graph : fitted estimator, learned graph, networkx graph or matrix of shape (n_nodes, n_nodes)
        In a matrix, dense or sparse, entry [i, j] is the edge j -> i.
    ax : matplotlib Axes, optional; None makes a new figure with pyplot
    truth : as graph, optional
        The true graph, its nodes in the same order. Pairs drawn are then solid and blue where true, dashed and orange
        where not, and true pairs that are not drawn are dotted and grey; a legend counts them.
    n_edges : int, optional
        How many of the surest pairs to draw; None draws as many as the truth has, or 2.5 for each node.
    n_labels : int, how many hubs to name
    positions : dict from node name to (x, y), or array of shape (n_nodes, 2), optional
        Where nodes are; None places them by the pairs drawn, as the report's page does.

    Examples
    --------
    >>> import networkx as nx
    >>> from matplotlib.figure import Figure
    >>> ax = plot_graph(nx.star_graph(6), Figure().subplots(), n_labels=1)
    >>> [text.get_text() for text in ax.texts]
    ['0']
    """
    learned = as_graph(graph)
    named = check_integer("n_labels", n_labels, low=0, remedy="it is a number of hubs to name; try 8")
    if truth is None:
        true = None
    else:
        true = matched(learned, truth).undirected().listed
    if n_edges is not None:
        n_edges = check_integer("n_edges", n_edges, low=0, remedy="it is a number of pairs; try 100")
    elif true is not None:
        n_edges = len(true.weight)
    else:
        n_edges = int(LINES_A_NODE * learned.n_nodes)
    drawn = surest_pairs(learned, n_edges)
    places = places_of(positions, learned, drawn)
    ax = axes_or_new(ax)
    if true is None:
        draw_edges(ax, places, drawn, opacities(drawn.weight), BLUE, "solid")
    else:
        draw_against_truth(ax, places, drawn, true)
    draw_nodes_and_names(ax, places, learned, named)
    return ax


def surest_pairs(graph: LearnedGraph, most: int) -> Edges:
    """Return the pairs with most evidence (see cut.py), surest first and then heaviest."""
    pairs = graph.undirected()
    listed = pairs.listed
    evidence = cut_of(pairs).evidence[listed.place]
    return listed.take(np.argsort(-evidence, kind="stable")[:most])


def plot_path(
    path: LambdaPath, ax: Axes | None = None, *, marked: Sequence[float] | Array | None = None, label: str | None = None
) -> Axes:
    """Draw the Pareto front of a lambda-path: the welfare against J(W), some points marked with their lambda.

    To the left the signals are smoother, upward the welfare is higher. A hollow point did not converge. ``path`` is
    what ``GLGP(...).path(X)`` returns. ``marked`` are the lambdas to write next to their points, each the nearest on
    the path (default: about five, spread over the front), ``label`` a name for the legend if several fronts share an
    ax.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nashgraph import GLGP
    >>> path = GLGP(benefit=np.arange(30.0)).path(np.random.default_rng(0).normal(size=(20, 30)), n_lams=6)
    >>> len(plot_path(path, Figure().subplots(), marked=path.lams[:2]).texts)
    2
    """
    if not isinstance(path, LambdaPath):
        raise InputTypeError(f"path must be what GLGP.path returns, got {type(path).__name__}: call GLGP().path(X)")
    ax = axes_or_new(ax)
    x = path.smoothness_costs
    y = path.welfares
    color = next_color(ax)
    ax.plot(x, y, color=color, linewidth=1.6, label=label)
    fills = [color if model.converged_ else "white" for model in path.models]
    ax.scatter(x, y, s=22, edgecolor=color, facecolor=fills, zorder=3)
    spread = spread_points(x, y, 5)
    for k in spread if marked is None else nearest_points(path.lams, marked):
        # Below the front there is room: to the right of a point, or to the left of the last ones.
        shift, side = ((7, -4), "left") if x[k] < x[0] + 0.85 * np.ptp(x) else ((0, -8), "right")
        where: dict[str, Any] = {"textcoords": "offset points", "va": "top", "ha": side, "fontsize": 8}
        ax.annotate(f"λ = {path.lams[k]:.3g}", (x[k], y[k]), shift, **where)
    ax.set(xlabel="J(W): smoothness and spread, lower fits the signals better", ylabel="welfare g(y)")
    ax.margins(x=0.05, y=0.1)
    if label is not None:
        ax.legend(frameon=False, loc="lower right")
    return ax


def plot_convergence(run: GraphEstimator | Certificate, ax: Axes | None = None, *, label: str | None = None) -> Axes:
    """Draw what certifies a run, after each of its steps, on a logarithmic axis, with the tolerance as a line.

    ``run`` is a fitted estimator or a certificate; ``label`` names it in a legend, where several runs share an ax. A
    value that is exactly zero is drawn at 1e-17.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nashgraph import GLGP
    >>> model = GLGP(lam=0.3, benefit=np.arange(30.0)).fit(np.random.default_rng(0).normal(size=(20, 30)))
    >>> plot_convergence(model, Figure().subplots()).get_ylabel()
    'stationarity'
    """
    if not isinstance(run, Certificate):
        check_is_fitted(run)
    certificate = run if isinstance(run, Certificate) else run.certificate_
    if not certificate.history:
        raise InputError(f"there is no history of steps to draw ({certificate.sentence}): pass a method that iterates")
    tol = certificate.tol
    ax = axes_or_new(ax)
    values = np.maximum([record.value for record in certificate.history], 1e-17)
    style: dict[str, Any] = {"markersize": 2.5, "linewidth": 1.2, "label": label, "color": next_color(ax)}
    ax.semilogy([record.iteration for record in certificate.history], values, "o-", **style)
    written = f"tol = {tol:g}"
    if tol > 0 and written not in [text.get_text() for text in ax.texts]:
        ax.axhline(tol, color=GREY, linestyle="dashed", linewidth=1)
        ax.text(0.99, tol, written, transform=ax.get_yaxis_transform(), ha="right", va="bottom", fontsize=8)
    ax.set(xlabel="iteration", ylabel=certificate.measure.value)
    if label is not None:
        ax.legend(frameon=False)
    return ax


def plot_adjacency(graph: Any, ax: Axes | None = None, *, order: str | Iterable[Any] = "influence") -> Axes:
    """Draw the adjacency matrix as a heat map: row i shows the sources of node i, column j the targets of node j.

    Parameters
    ----------
    graph : fitted estimator, learned graph, networkx graph or matrix of shape (n_nodes, n_nodes)
        Above 400 nodes a cell is the mean weight of a block of neighbouring rows and columns.
    ax : matplotlib Axes, optional
    order : "influence", "community", "given" or list of node names
        The most influential first (so that hubs are dark columns on the left), by community with lines between them,
        the order of the graph, or your own; nodes that are not named are left out.

    Examples
    --------
    >>> import networkx as nx
    >>> from matplotlib.figure import Figure
    >>> ax = plot_adjacency(nx.DiGraph([("a", "b"), ("c", "b")]), Figure().subplots(), order="given")
    >>> ax.images[0].get_array().tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    learned = as_graph(graph)
    chosen = node_order(order, learned)
    by_community = isinstance(order, str) and order == "community"
    if by_community:
        breaks = np.cumsum(np.bincount(learned.communities)[1:])[:-1].tolist()
    else:
        breaks = []
    cells = heat_cells(learned.weights[chosen][:, chosen])
    ax = axes_or_new(ax)
    n = len(chosen)
    image = ax.imshow(cells, cmap="Blues", vmin=0, extent=(-0.5, n - 0.5, n - 0.5, -0.5))
    ax.figure.colorbar(image, ax=ax, label="weight" if len(cells) == n else "mean weight of a block", shrink=0.8)
    for at in breaks:
        ax.axhline(at - 0.5, color=GREY, linewidth=0.6)
        ax.axvline(at - 0.5, color=GREY, linewidth=0.6)
    if n <= 40:
        names = [str(name) for name in learned.names[chosen]]
        ax.set_xticks(range(n), names, rotation=90, fontsize=7)
        ax.set_yticks(range(n), names, fontsize=7)
    ax.set(xlabel="node that influences", ylabel="node that is influenced")
    return ax


def places_of(positions: Mapping[Any, Any] | Array | None, graph: LearnedGraph, drawn: Edges) -> Array:
    """Return where each node is, as an array of shape (n_nodes, 2)."""
    names = graph.names
    if positions is None:
        ends = drawn.target, drawn.source
        pull = sparse.csr_array((np.ones(len(drawn.weight)), ends), shape=graph.weights.shape)
        if graph.n_nodes <= NODES_AT_ONCE:
            return place(pull, graph.influence)
        return place_in_bubbles(pull, graph.influence, LearnedGraph.of(pull).communities - 1)[0]
    if isinstance(positions, Mapping):
        missing = [name for name in names if name not in positions]
        if missing:
            raise InputError(f"positions has no place for {listing(missing)}: give an (x, y) for every node")
        positions = np.array([positions[name] for name in names], dtype=float)
    places = np.asarray(positions, dtype=float)
    if places.shape != (len(names), 2):
        raise InputError(f"positions must have shape ({len(names)}, 2), an (x, y) for every node, got {places.shape}")
    return places


def node_order(order: str | Iterable[Any], graph: LearnedGraph) -> Array:
    """Return the nodes to draw, by number."""
    if isinstance(order, str):
        check_choice("order", order, ("influence", "community", "given"), ", or pass a list of node names")
        first = graph.by_influence
        if order == "community":
            by_community = first[np.argsort(graph.communities[first], kind="stable")]
        else:
            by_community = first
        return np.arange(graph.n_nodes) if order == "given" else by_community
    number = {name: k for k, name in enumerate(graph.names)}
    wanted = list(order)
    unknown = [name for name in wanted if name not in number]
    if unknown or not wanted:
        if unknown:
            wrong = f"order names nodes that are not in the graph: {listing(unknown)}"
        else:
            wrong = "order is empty"
        raise InputError(f"{wrong}; name nodes of the graph, or take 'influence' or 'given'")
    return np.array([number[name] for name in wanted])


def heat_cells(weights: Any) -> Array:
    """Return the matrix as a dense array of at most HEAT_CELLS x HEAT_CELLS means over blocks."""
    n = weights.shape[0]
    if n <= HEAT_CELLS:
        return np.asarray(weights.toarray())
    block = np.arange(n) * HEAT_CELLS // n
    means = sparse.csr_array((1.0 / np.bincount(block)[block], (block, np.arange(n))), shape=(HEAT_CELLS, n))
    return np.asarray((means @ weights @ means.T).toarray())


def spread_points(x: Array, y: Array, count: int) -> list[int]:
    """Return about ``count`` points of a curve, its ends among them, at like distances along it as it is drawn."""
    steps = np.hypot(np.diff(x) / (np.ptp(x) or 1.0), np.diff(y) / (np.ptp(y) or 1.0))
    along = np.concatenate([[0.0], np.cumsum(steps)])
    return sorted(set(nearest_points(along, np.linspace(0.0, along[-1], count))))


def nearest_points(values: Array, wanted: Sequence[float] | Array) -> list[int]:
    """Return for each number wanted the index of the nearest value."""
    return [int(np.argmin(np.abs(values - number))) for number in wanted]


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return the ax given, or that of a new figure of a size in inches."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot  # noqa: PLC0415 (an extra: imported where used)
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'nashgraph[plot]'") from error
    return pyplot.subplots(figsize=size, layout="constrained" if size else None)[1]


def next_color(ax: Axes) -> str:
    """Return the first colour of the cycle that no line of the ax has yet."""
    used = {line.get_color() for line in ax.lines}
    return next((color for color in CYCLE if color not in used), BLUE)


def opacities(weights: Array) -> Array:
    """Return how opaque to draw edges of these weights: by the square root, since few are near the heaviest."""
    return 0.12 + 0.88 * np.sqrt(weights / weights.max(initial=1e-300))


def draw_edges(
    ax: Axes, places: Array, edges: Edges, opacity: Array | float, color: str, style: str, label: str = ""
) -> None:
    """Draw a line for every edge."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415
    from matplotlib.colors import to_rgba  # noqa: PLC0415

    colors = [to_rgba(color, alpha) for alpha in np.broadcast_to(opacity, len(edges.weight)).tolist()]
    lines = np.stack([places[edges.source], places[edges.target]], axis=1)
    drawn = LineCollection(list(lines), colors=colors, linestyles=style, linewidths=1.1, zorder=1, label=label)
    ax.add_collection(drawn)


def draw_against_truth(ax: Axes, places: Array, drawn: Edges, true: Edges) -> None:
    """Draw hits, mistakes and misses, each in its style, with a legend that counts them."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    ours = pair_numbers(drawn.source, drawn.target, len(places))
    theirs = pair_numbers(true.source, true.target, len(places))
    hit = np.isin(ours, theirs)
    missed = ~np.isin(theirs, ours)
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


def draw_nodes_and_names(ax: Axes, places: Array, graph: LearnedGraph, named: int) -> None:
    """Draw a circle for every node, its area by its influence, and the names of the most influential."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    told = graph.influence_supported is not False
    sizes = graph.influence if told else np.full(graph.n_nodes, 0.25)
    scale = min(1.0, 6.0 / np.sqrt(len(sizes)))  # many nodes get small circles
    areas = scale * (20.0 + 400.0 * sizes / (sizes.max() if told and sizes.any() else 1.0))
    x, y = places.T
    ax.scatter(x, y, s=areas, facecolor="#d6e6f2", edgecolor="#1f4e79", linewidth=0.9, zorder=2)
    rim = [withStroke(linewidth=2.5, foreground="white", alpha=0.85)]  # so that lines do not cross names out
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 3, "path_effects": rim}
    for node in speaking(graph)[: named if told else 0]:
        ax.text(x[node], y[node], str(graph.names[node]), **style)
    ax.set_aspect("equal")
    ax.margins(0.08)
    ax.set_axis_off()
