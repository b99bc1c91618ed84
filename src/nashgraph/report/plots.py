"""Pictures of learned graphs, of paths and of runs, on matplotlib axes. Every function takes an ``ax`` and returns it.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart; what they say is also said by the style
of the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..certificate import Certificate
from ..estimators import GraphEstimator, LambdaPath
from ..graph import Edges, LearnedGraph, as_graph
from ..matching import names_of, order_of
from ..validation import Array, InputError, InputTypeError, check_integer
from . import _plot_parts as parts
from .cut import cut_of
from .prose import speaking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED_ROWS = 40
MARKED_LAMBDAS = 5
LEAST_VALUE = 1e-17
LINES_A_NODE = 2.5  # of a graph drawn without a number: more are a solid ball


def plot_graph(
    graph: Any,
    ax: Axes | None = None,
    *,
    truth: Any = None,
    n_edges: int | None = None,
    n_labels: int = 8,
    positions: Mapping[Any, Any] | Array | None = None,
    seed: int = 0,
) -> Axes:
    """Draw a graph: circles grow with influence, lines are the more opaque the heavier, the top hubs are named.

    A line joins two nodes whatever the direction, and its weight is the mean of the two directions. A circle's area
    grows with the node's influence on all others, the column sum of the adjacency matrix.

    Parameters
    ----------
    graph : fitted estimator, learned graph, networkx graph or matrix of shape (n_nodes, n_nodes)
        In a matrix, dense or sparse, entry [i, j] is the edge j -> i.
    ax : matplotlib Axes, optional
        Where to draw; None makes a new figure with pyplot.
    truth : as graph, optional
        The true graph, its nodes in the same order. Pairs drawn are then solid and blue where true, dashed and orange
        where not, and true pairs that are not drawn are dotted and grey; a legend counts them.
    n_edges : int, optional
        How many of the surest pairs to draw; None draws as many as the truth has, or 2.5 for each node.
    n_labels : int
        How many hubs to name.
    positions : dict from node name to (x, y), or array of shape (n_nodes, 2), optional
        Where nodes are; None takes the spring layout of the pairs drawn.
    seed : int
        Seed of that layout: the same seed draws the same picture.

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
    true = None
    if truth is not None:
        other, order = as_graph(truth), order_of(names_of(learned), names_of(truth), "graph", "truth")
        if order is not None:
            other = LearnedGraph.of(other.weights[order][:, order], learned.names, directed=other.directed)
        if other.n_nodes != learned.n_nodes:
            raise InputError(
                f"truth has {other.n_nodes} nodes and the graph {learned.n_nodes}: both must be on the same nodes, in "
                "one order"
            )
        true = other.undirected().listed
    if n_edges is not None:
        n_edges = check_integer("n_edges", n_edges, low=0, remedy="it is a number of pairs; try 100")
    else:
        n_edges = len(true.weight) if true is not None else int(LINES_A_NODE * learned.n_nodes)
    drawn = surest_pairs(learned, n_edges)
    places = parts.places_of(positions, learned.names, drawn, seed)
    ax = parts.axes_or_new(ax)
    if true is None:
        parts.draw_edges(ax, places, drawn, parts.opacities(drawn.weight), parts.BLUE, "solid")
    else:
        parts.draw_against_truth(ax, places, drawn, true)
    parts.draw_nodes(ax, places, learned.influence)
    hubs = speaking(learned)[:named]
    parts.draw_names(ax, places[hubs], learned.names[hubs])
    ax.set_aspect("equal")
    ax.margins(0.08)
    ax.set_axis_off()
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

    To the left the signals are smoother, upward the welfare is higher. A hollow point did not converge.

    Parameters
    ----------
    path : LambdaPath, as ``GLGP(...).path(X)`` returns it
    ax : matplotlib Axes, optional
    marked : list of float, optional
        The lambdas to write next to their points, each the nearest on the path; None takes about five, spread over the
        front as it is drawn.
    label : str, optional
        A name for the legend, where several fronts share an ax.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> path = GLGP(benefit=np.arange(30.0)).path(X, n_lams=6)
    >>> ax = plot_path(path, Figure().subplots(), marked=path.lams[:2])
    >>> ax.get_ylabel(), len(ax.texts)
    ('welfare g(y)', 2)
    """
    if not isinstance(path, LambdaPath):
        raise InputTypeError(f"path must be what GLGP.path returns, got {type(path).__name__}: call GLGP().path(X)")
    ax = parts.axes_or_new(ax)
    x, y = path.fidelities, path.welfares
    color = parts.next_color(ax)
    ax.plot(x, y, color=color, linewidth=1.6, label=label)
    fills = [color if model.converged_ else "white" for model in path.models]
    ax.scatter(x, y, s=22, edgecolor=color, facecolor=fills, zorder=3)
    spread = parts.spread_points(x, y, MARKED_LAMBDAS)
    for k in spread if marked is None else parts.nearest_points(path.lams, marked):
        # Below the front there is room: to the right of a point, or to the left of the last ones.
        shift, side = ((7, -4), "left") if x[k] < x[0] + 0.85 * np.ptp(x) else ((0, -8), "right")
        place: dict[str, Any] = {"textcoords": "offset points", "va": "top", "ha": side, "fontsize": 8}
        ax.annotate(f"λ = {path.lams[k]:.3g}", (x[k], y[k]), shift, **place)
    ax.set_xlabel("J(W): smoothness and spread, lower fits the signals better")
    ax.set_ylabel("welfare g(y)")
    ax.margins(x=0.05, y=0.1)
    if label is not None:
        ax.legend(frameon=False, loc="lower right")
    return ax


def plot_convergence(
    run: GraphEstimator | Certificate, ax: Axes | None = None, *, tol: float | None = None, label: str | None = None
) -> Axes:
    """Draw what certifies a run, after each of its steps, on a logarithmic axis, with the tolerance as a line.

    A value that is exactly zero is drawn at 1e-17.

    Parameters
    ----------
    run : fitted estimator, or a certificate
    ax : matplotlib Axes, optional
    tol : float, optional
        Where to draw the tolerance; None takes the certificate's.
    label : str, optional
        A name for the legend, where several runs share an ax.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> model = GLGP(lam=0.3, benefit=np.arange(30.0)).fit(X)
    >>> ax = plot_convergence(model, Figure().subplots())
    >>> ax.get_ylabel(), len(ax.lines[0].get_xdata()) == model.n_iter_ + 1
    ('stationarity', True)
    """
    if not isinstance(run, Certificate):
        check_is_fitted(run)
    certificate = run if isinstance(run, Certificate) else run.certificate_
    if not certificate.history:
        raise InputError(f"there is no history of steps to draw ({certificate.sentence}): pass a method that iterates")
    tol = certificate.tol if tol is None else tol
    ax = parts.axes_or_new(ax)
    values = np.maximum([record.value for record in certificate.history], LEAST_VALUE)
    style: dict[str, Any] = {"markersize": 2.5, "linewidth": 1.2, "label": label, "color": parts.next_color(ax)}
    ax.semilogy([record.iteration for record in certificate.history], values, "o-", **style)
    written = f"tol = {tol:g}"
    if tol > 0 and written not in [text.get_text() for text in ax.texts]:
        ax.axhline(tol, color=parts.GREY, linestyle="dashed", linewidth=1)
        ax.text(0.99, tol, written, transform=ax.get_yaxis_transform(), ha="right", va="bottom", fontsize=8)
    ax.set_xlabel("iteration")
    ax.set_ylabel(certificate.measure.value)
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
    chosen = parts.node_order(order, learned)
    breaks = parts.community_ends(learned) if isinstance(order, str) and order == "community" else ()
    cells = parts.heat_cells(learned.weights[chosen][:, chosen])
    ax = parts.axes_or_new(ax)
    n = len(chosen)
    image = ax.imshow(cells, cmap="Blues", vmin=0, extent=(-0.5, n - 0.5, n - 0.5, -0.5))
    ax.figure.colorbar(image, ax=ax, label="weight" if len(cells) == n else "mean weight of a block", shrink=0.8)
    for at in breaks:
        ax.axhline(at - 0.5, color=parts.GREY, linewidth=0.6)
        ax.axvline(at - 0.5, color=parts.GREY, linewidth=0.6)
    if n <= NAMED_ROWS:
        names = [str(name) for name in learned.names[chosen]]
        ax.set_xticks(range(n), names, rotation=90, fontsize=7)
        ax.set_yticks(range(n), names, fontsize=7)
    ax.set_xlabel("node that influences")
    ax.set_ylabel("node that is influenced")
    return ax
