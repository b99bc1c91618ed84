"""The part of a graph that the page holds: nodes, places, communities and edges, for one lambda or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..estimators import GraphEstimator, LambdaPath
from ..estimators.base import Prior
from ..graph import Edges, LearnedGraph
from ..validation import Array, InputError, listing
from .cut import Cut, cut_of
from .layout import LEAST_OF_MEAN, RADIUS, WIDEST, Bubbles, place, place_in_bubbles

# These keep a report under 10 MB and a drawing readable and smooth, whatever the graph.
NODES_AT_ONCE = 1_500  # more are drawn by communities, which open
NODES_HELD = 50_000
EDGES_HELD = 20_000  # the surest or heaviest of all; each node's own few come besides
EDGES_OF_PATH = 60_000
NODES_OF_PATH = 150_000
LAMBDAS = 25
NEIGHBOURS = 5  # of each node, each way; fewer where there are very many nodes
EDGES_OF_NODES = 60_000
PULLING = 8  # edges of each node that pull it in the layout
DECIMALS = 4  # of a place
BUBBLE = ["community", "bubble_x", "bubble_y", "bubble_radius"]  # columns of a layout whose nodes are in bubbles

NO_GAME = Prior(np.nan, "", np.nan, np.nan)


@dataclass(frozen=True, eq=False)
class View:
    """One learned graph as it is drawn; nodes are numbered by their influence in the fitted graph.

    Attributes
    ----------
    prior : Prior, its place on the Pareto front; all NaN where no game is played
    fitted : bool, whether it is the model's own graph
    n_edges : int, how many edges the whole graph has, both directions counted
    edges : Edges, those kept
    pair : array as long as the edges, the evidence for the pair (see cut.py), the same in both directions
    edge_columns : dict from name to array as long as the edges
    influence : array over the nodes held
    action : array over the nodes held, or None
    """

    prior: Prior
    fitted: bool
    n_edges: int
    edges: Edges
    pair: Array
    edge_columns: Mapping[str, Array]
    influence: Array
    action: Array | None


@dataclass(frozen=True, eq=False)
class Drawing:
    """Nodes with their places, and one view or, with a path, one for each lambda.

    Attributes
    ----------
    positions : array of shape (n_held, 2) in [-1, 1]
    community : array of shape (n_held,), by number, the largest first
    bubbles : Bubbles, or None where all nodes are drawn at once
    radius, least, widest : float, of a circle of mean influence, and the limits of the others
    views : tuple of View, by lambda
    left_out : str, in words what the page does not hold; empty where it holds all
    """

    positions: Array
    community: Array
    bubbles: Bubbles | None
    radius: float
    least: float
    widest: float
    views: tuple[View, ...]
    left_out: str

    def layout(self, names: Iterable[Any]) -> pd.DataFrame:
        """Return where the nodes are, by name: what :func:`placed_as` takes."""
        held = len(self.positions)
        table = pd.DataFrame({"name": pd.Series(list(names), dtype=object).head(held)})
        table[["x", "y"]] = self.positions.round(DECIMALS)
        table["community"] = self.community + 1
        if self.bubbles is not None:
            table[["bubble_x", "bubble_y"]] = self.bubbles.positions[self.community].round(DECIMALS)
            table["bubble_radius"] = self.bubbles.radius[self.community].round(DECIMALS)
        return table

    @property
    def fitted(self) -> int:
        """Which view is the model's own graph."""
        return next(number for number, view in enumerate(self.views) if view.fitted)


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
        make_view(other, graph.by_influence, EDGES_OF_PATH // len(others), cut_of(other.graph_))
        for other in others
        if not np.isclose(game_of(other).lam, own.prior.lam, rtol=1e-9, atol=0.0)
    ]
    count = len(own.influence)
    pulling = own.edges.take(heaviest_of_each(own.edges, PULLING))
    pull = sparse.csr_array((pulling.weight, (pulling.target, pulling.source)), shape=(count, count))
    found = LearnedGraph.of(pull).communities if communities is None else communities[graph.by_influence[:count]]
    community = np.unique(found, return_inverse=True)[1]
    bubbles = None
    if layout is not None:
        names = graph.names[graph.by_influence[:count]]
        positions, community, bubbles = placed_as(layout, names, community)
    elif count > NODES_AT_ONCE:
        positions, bubbles = place_in_bubbles(pull, own.influence, community)
    else:
        positions = place(pull, own.influence)
    mean_radius = RADIUS / float(np.sqrt(count))
    return Drawing(
        positions=positions,
        community=community,
        bubbles=bubbles,
        radius=mean_radius,
        least=LEAST_OF_MEAN * mean_radius,
        widest=WIDEST,
        views=tuple(sorted((own, *views), key=lambda view: (np.isfinite(view.prior.lam), view.prior.lam))),
        left_out=said_left_out(
            graph.n_nodes,
            count,
            own.n_edges,
            len(own.edges.weight),
            "heaviest" if cut.column == "weight" else "surest",
        ),
    )


def placed_as(layout: pd.DataFrame, names: Array, community: Array) -> tuple[Array, Array, Bubbles | None]:
    """Return the places of nodes in another graph's layout, and the communities: those of the layout in bubbles.

    Examples
    --------
    >>> layout = pd.DataFrame({"name": ["bob", "ann"], "x": [1.0, -1.0], "y": [0.0, 0.5]})
    >>> placed_as(layout, np.array(["ann", "bob"], dtype=object), np.zeros(2, dtype=int))[0].tolist()
    [[-1.0, 0.5], [1.0, 0.0]]
    """
    in_bubbles, figures = len(names) > NODES_AT_ONCE, check_layout(layout, names)
    positions = figures[["x", "y"]].to_numpy()
    if not in_bubbles:
        return positions, community, None
    _, first, member = np.unique(figures["community"], return_index=True, return_inverse=True)
    discs = figures.iloc[first]
    return positions, member, Bubbles(discs[["bubble_x", "bubble_y"]].to_numpy(), discs["bubble_radius"].to_numpy())


def check_layout(layout: pd.DataFrame, names: Iterable[Any]) -> pd.DataFrame:
    """Return the figures of a layout in the order of the nodes, or say what it lacks.

    Examples
    --------
    >>> check_layout(pd.DataFrame({"name": ["ann"], "x": [0.0], "y": [0.0]}), ["ann", "bob"])
    Traceback (most recent call last):
    ...
    nashgraph.validation.InputError: layout has no place for 1 of 2 nodes (bob): it must be of a graph of the same ...
    """
    called = [str(name) for name in names]
    wanted = ["name", "x", "y", *(BUBBLE if len(called) > NODES_AT_ONCE else [])]
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
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    held = order[:NODES_HELD]
    listed = graph.listed
    edges = listed._replace(source=number[listed.source], target=number[listed.target])
    among = np.flatnonzero(both_among(edges, len(held)))
    pair = cut.evidence[edges.place]
    among = among[np.argsort(-pair[among], kind="stable")]  # the surest, and then the heaviest
    kept = np.zeros(len(edges.place), dtype=bool)
    kept[among[:at_most]] = True
    if fitted:
        each = min(NEIGHBOURS, max(2, EDGES_OF_NODES // len(held)))
        kept |= heaviest_of_each(edges, each) & both_among(edges, len(held))
    one, other = np.minimum(edges.source, edges.target), np.maximum(edges.source, edges.target)
    keys = one * len(order) + other
    kept = np.isin(keys, keys[kept])  # both directions of a pair, or none
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


def game_of(model: GraphEstimator) -> Prior:
    """Return the prior of a model that plays a game; it alone has a place on the front."""
    return model.prior_ if model.prior_ is not None and np.isfinite(model.prior_.welfare) else NO_GAME


def thinned(path: LambdaPath) -> list[GraphEstimator]:
    """Return the models of a path, LAMBDAS at most and fewer of large graphs, its ends among them."""
    count, n_nodes = len(path.models), path.models[0].graph_.n_nodes
    most = min(count, LAMBDAS, max(3, NODES_OF_PATH // n_nodes))
    return [path.models[k] for k in np.unique(np.linspace(0, count - 1, most).round().astype(int))]


def both_among(edges: Edges, count: int) -> Array:
    """Tell which edges join two of the first ``count`` nodes."""
    return np.asarray((edges.source < count) & (edges.target < count))


def heaviest_of_each(edges: Edges, most: int) -> Array:
    """Tell which edges are among the heaviest of one of their nodes, each way; they come heaviest first."""
    heavier = [pd.Series(ends).groupby(ends).cumcount().to_numpy() for ends in (edges.source, edges.target)]
    return np.asarray(np.minimum(*heavier) < most)


def said_left_out(n_nodes: int, nodes_held: int, n_edges: int, edges_held: int, which: str = "heaviest") -> str:
    """Say what the page does not hold, nothing where it holds all."""
    if nodes_held == n_nodes and edges_held == n_edges:
        return ""
    nodes = (
        f"all {n_nodes:,} nodes"
        if nodes_held == n_nodes
        else f"the {nodes_held:,} most influential of the {n_nodes:,} nodes"
    )
    return (
        f"This page holds {nodes} and {edges_held:,} of the {n_edges:,} edges: the {which}, and those that are "
        "heaviest for one of their nodes."
    )
