"""What of a graph is drawn: the most influential nodes, their places, the heaviest edges, for one lambda or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import sparse

from ..estimators import GraphEstimator, LambdaPath
from ..estimators.base import Prior
from ..graph import Edges
from ..validation import Array
from .layout import LEAST_OF_MEAN, RADIUS, WIDEST, place

# These keep a report under 6 MB and a drawing readable and smooth, whatever the graph.
NODES_DRAWN = 2_000
NODES_LISTED = 10_000
EDGES_DRAWN = 20_000
EDGES_OF_PATH = 60_000
LAMBDAS = 25
NEIGHBOURS = 5
FREQUENCY = "frequency"  # the edge column that decides what is drawn, where there is one

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
    edge_columns : dict from name to array as long as the edges
    influence : array over the nodes drawn
    action : array over the nodes drawn, or None
    """

    prior: Prior
    fitted: bool
    n_edges: int
    edges: Edges
    edge_columns: Mapping[str, Array]
    influence: Array
    action: Array | None


@dataclass(frozen=True, eq=False)
class Drawing:
    """Nodes with their places, and one view or, with a path, one for each lambda.

    Attributes
    ----------
    positions : array of shape (n_drawn, 2) in [-1, 1]
    radius, least, widest : float, of a circle of mean influence, and the limits of the others
    views : tuple of View, by lambda
    left_out : str, in words what is not drawn; empty where all is
    """

    positions: Array
    radius: float
    least: float
    widest: float
    views: tuple[View, ...]
    left_out: str

    @property
    def fitted(self) -> int:
        """Which view is the model's own graph."""
        return next(number for number, view in enumerate(self.views) if view.fitted)


def make_drawing(model: GraphEstimator, path: LambdaPath | None) -> Drawing:
    """Draw the most influential nodes of a fitted model's graph, and the graphs of a path on the same places."""
    graph = model.graph_
    own = make_view(model, graph.by_influence, EDGES_DRAWN, fitted=True)
    others = [] if path is None else thinned(path)
    views = [
        make_view(other, graph.by_influence, EDGES_OF_PATH // len(others))
        for other in others
        if not np.isclose(game_of(other).lam, own.prior.lam, rtol=1e-9, atol=0.0)
    ]
    count = len(own.influence)
    among = own.edges.take(both_among(own.edges, count)).take(slice(EDGES_DRAWN))
    pull = sparse.csr_array((among.weight, (among.target, among.source)), shape=(count, count))
    mean_radius = RADIUS / float(np.sqrt(count))
    return Drawing(
        positions=place(pull, own.influence),
        radius=mean_radius,
        least=LEAST_OF_MEAN * mean_radius,
        widest=WIDEST,
        views=tuple(sorted((own, *views), key=lambda view: (np.isfinite(view.prior.lam), view.prior.lam))),
        left_out=said_left_out(
            graph.n_nodes,
            count,
            own.n_edges,
            len(among.weight),
            "surest" if FREQUENCY in own.edge_columns else "heaviest",
        ),
    )


def make_view(model: GraphEstimator, order: Array, at_most: int, fitted: bool = False) -> View:
    """Return the view of a model's graph, with node ``order[k]`` called k and at most so many edges drawn."""
    graph = model.graph_ if model.graph_.directed else replace(model.graph_, directed=True)  # each pair listed twice
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    drawn = order[:NODES_DRAWN]
    listed = graph.listed
    edges = listed._replace(source=number[listed.source], target=number[listed.target])
    drawable = np.flatnonzero(both_among(edges, len(drawn)))
    if FREQUENCY in graph.edge_columns:  # the surest, and then the heaviest
        sure = np.asarray(graph.edge_columns[FREQUENCY])[edges.place[drawable]]
        drawable = drawable[np.argsort(-sure, kind="stable")]
    kept = np.zeros(len(edges.place), dtype=bool)
    kept[drawable[:at_most]] = True
    if fitted:
        kept |= heaviest_of_each(edges) & both_among(edges, NODES_LISTED)
    edges = edges.take(kept)
    action = graph.node_columns.get("action")
    return View(
        prior=game_of(model),
        fitted=fitted,
        n_edges=graph.n_edges,
        edges=edges,
        edge_columns={name: np.asarray(values)[edges.place] for name, values in graph.edge_columns.items()},
        influence=graph.influence[drawn],
        action=None if action is None else np.asarray(action)[drawn],
    )


def game_of(model: GraphEstimator) -> Prior:
    """Return the prior of a model that plays a game; it alone has a place on the front."""
    return model.prior_ if model.prior_ is not None and np.isfinite(model.prior_.welfare) else NO_GAME


def thinned(path: LambdaPath) -> list[GraphEstimator]:
    """Return the models of a path, LAMBDAS at most, its ends among them."""
    count = len(path.models)
    return [path.models[k] for k in np.unique(np.linspace(0, count - 1, min(count, LAMBDAS)).round().astype(int))]


def both_among(edges: Edges, count: int) -> Array:
    """Tell which edges join two of the first ``count`` nodes."""
    return np.asarray((edges.source < count) & (edges.target < count))


def heaviest_of_each(edges: Edges) -> Array:
    """Tell which edges are among the heaviest of one of their nodes, each way; they come heaviest first."""
    heavier = [pd.Series(ends).groupby(ends).cumcount().to_numpy() for ends in (edges.source, edges.target)]
    return np.minimum(*heavier) < NEIGHBOURS


def said_left_out(n_nodes: int, nodes_drawn: int, n_edges: int, edges_drawn: int, which: str = "heaviest") -> str:
    """Say what is not drawn, nothing where all is."""
    if nodes_drawn == n_nodes and edges_drawn == n_edges:
        return ""
    nodes = (
        f"all {n_nodes:,} nodes"
        if nodes_drawn == n_nodes
        else f"the {nodes_drawn:,} most influential of the {n_nodes:,} nodes"
    )
    return f"Drawn are {nodes} and the {edges_drawn:,} {which} edges between them, out of {n_edges:,} in all."
