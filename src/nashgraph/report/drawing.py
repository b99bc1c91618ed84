"""What of a graph is drawn: the most influential nodes, their places, the heaviest edges, for one lambda or several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from ..solvers import Path
from ..validation import Array
from .layout import LEAST_OF_MEAN, RADIUS, WIDEST, place

# These keep a report under 6 MB and a drawing readable and smooth, whatever the graph.
NODES_DRAWN = 2_000
NODES_LISTED = 10_000
EDGES_DRAWN = 20_000
EDGES_OF_PATH = 60_000
LAMBDAS = 25
NEIGHBOURS = 5


class Edges(NamedTuple):
    """Edges from source to target, heaviest first; nodes are numbered by influence.

    Examples
    --------
    >>> Edges(np.array([0]), np.array([2]), np.array([0.5])).weight
    array([0.5])
    """

    source: Array
    target: Array
    weight: Array

    def take(self, which: Array | slice) -> Edges:
        """Return some of the edges."""
        return Edges(self.source[which], self.target[which], self.weight[which])


@dataclass(frozen=True, eq=False)
class View:
    """One graph as it is drawn.

    Attributes
    ----------
    lam : float, NaN where the graph has no lambda
    fidelity, welfare : float, its place on the Pareto front; NaN where it has none
    fitted : bool, whether it is the model's own graph
    n_edges : int, how many edges the whole graph has
    edges : Edges, those kept
    influence : array over the nodes drawn
    action : array over the nodes drawn, or None

    Examples
    --------
    >>> none = np.array([])
    >>> View(0.5, 1.0, 2.0, True, 0, Edges(none, none, none), none, None).lam
    0.5
    """

    lam: float
    fidelity: float
    welfare: float
    fitted: bool
    n_edges: int
    edges: Edges
    influence: Array
    action: Array | None


@dataclass(frozen=True, eq=False)
class Drawing:
    """Nodes with their places, and one view or, with a path, one for each lambda.

    The node numbers are rows of the hub table: 0 is the most influential node.

    Attributes
    ----------
    n_nodes : int, of the whole graph
    positions : array of shape (n_drawn, 2) in [-1, 1]
    radius, least, widest : float, of a circle of mean influence, and the limits of the others
    views : tuple of View, by lambda
    left_out : str, in words what is not drawn; empty where all is

    Examples
    --------
    >>> Drawing(0, np.empty((0, 2)), 0.1, 0.1, 0.1, (), "").n_drawn
    0
    """

    n_nodes: int
    positions: Array
    radius: float
    least: float
    widest: float
    views: tuple[View, ...]
    left_out: str

    @property
    def n_drawn(self) -> int:
        """The number of nodes drawn."""
        return len(self.positions)

    @property
    def fitted(self) -> int:
        """Which view is the model's own graph."""
        return next(number for number, view in enumerate(self.views) if view.fitted)


def make_drawing(weights: Any, order: Array, own: View, path: Path | None) -> Drawing:
    """Draw the ``order``-ed nodes of a CSR matrix; ``own`` is the view of the model's graph."""
    n_nodes = weights.shape[0]
    drawn = order[:NODES_DRAWN]
    count = len(drawn)
    among = among_first(own.edges, count).take(slice(EDGES_DRAWN))
    pull = sparse.csr_array((among.weight, (among.target, among.source)), shape=(count, count))
    shown = () if path is None else tuple(path_views(path, order, own))
    mean_radius = RADIUS / float(np.sqrt(count))
    views = tuple(sorted((own, *shown), key=lambda view: (np.isfinite(view.lam), view.lam)))
    return Drawing(
        n_nodes=n_nodes,
        positions=place(pull, own.influence),
        radius=mean_radius,
        least=LEAST_OF_MEAN * mean_radius,
        widest=WIDEST,
        views=views,
        left_out=said_left_out(n_nodes, count, own.n_edges, len(among.weight)),
    )


def own_view(model: Any, weights: Any, order: Array) -> View:
    """Return the view of a fitted model's own graph, with the strongest neighbours of every node listed."""
    edges = by_weight(weights, order)
    drawn = order[:NODES_DRAWN]
    lam, welfare = float(getattr(model, "lam_", np.nan)), float(getattr(model, "welfare_", np.nan))
    has_game = hasattr(model, "welfare_")
    return View(
        lam=lam if has_game else np.nan,
        fidelity=float(model.objective_) + lam * welfare if has_game else np.nan,
        welfare=welfare,
        fitted=True,
        n_edges=len(edges.weight),
        edges=edges.take(drawn_or_strongest(edges, len(drawn))),
        influence=column_sums(weights)[drawn],
        action=model.equilibrium_[drawn] if hasattr(model, "equilibrium_") else None,
    )


def path_views(path: Path, order: Array, own: View) -> Iterator[View]:
    """Yield a view for each lambda of a path but the model's own, thinned where there are many."""
    numbers = np.unique(np.linspace(0, len(path.lams) - 1, min(len(path.lams), LAMBDAS)).round().astype(int))
    drawn = order[:NODES_DRAWN]
    for number in numbers:
        if np.isclose(path.lams[number], own.lam, rtol=1e-9, atol=0.0):
            continue
        result = path.results[number]
        weights = positive_csr(result.coupling.matrix())
        edges = by_weight(weights, order)
        yield View(
            lam=float(path.lams[number]),
            fidelity=float(path.fidelities[number]),
            welfare=float(path.welfares[number]),
            fitted=False,
            n_edges=len(edges.weight),
            edges=among_first(edges, len(drawn)).take(slice(EDGES_OF_PATH // len(numbers))),
            influence=column_sums(weights)[drawn],
            action=result.equilibrium[drawn],
        )


def positive_csr(matrix: Any) -> Any:
    """Return a matrix as CSR in double precision, with its positive entries only."""
    weights = sparse.csr_array(matrix, dtype=float, copy=True)
    weights.data[~(weights.data > 0)] = 0.0
    weights.eliminate_zeros()
    return weights


def column_sums(weights: Any) -> Array:
    """Return the influence of every node."""
    return np.asarray(weights.sum(axis=0), dtype=float).ravel()


def by_weight(weights: Any, order: Array) -> Edges:
    """Return all edges, heaviest first, with node ``order[k]`` called k."""
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    entries = sparse.coo_array(weights)
    target, source = entries.coords
    heaviest = np.argsort(-entries.data, kind="stable")
    return Edges(number[source[heaviest]], number[target[heaviest]], entries.data[heaviest])


def among_first(edges: Edges, count: int) -> Edges:
    """Return the edges that join two of the first ``count`` nodes."""
    return edges.take((edges.source < count) & (edges.target < count))


def drawn_or_strongest(edges: Edges, count: int) -> Array:
    """Tell which edges to keep: the heaviest between nodes drawn, and the strongest of every node listed, each way."""
    drawable = (edges.source < count) & (edges.target < count)
    drawn = drawable & (np.cumsum(drawable) <= EDGES_DRAWN)
    strongest = (earlier(edges.source) < NEIGHBOURS) | (earlier(edges.target) < NEIGHBOURS)
    listed = (edges.source < NODES_LISTED) & (edges.target < NODES_LISTED)
    return drawn | (strongest & listed)


def earlier(labels: Array) -> Array:
    """Count, for each entry, how many before it are the same."""
    return np.asarray(pd.Series(labels).groupby(labels).cumcount())


def said_left_out(n_nodes: int, nodes_drawn: int, n_edges: int, edges_drawn: int) -> str:
    """Say what is not drawn.

    Examples
    --------
    >>> said_left_out(34, 34, 100, 100)
    ''
    """
    if nodes_drawn == n_nodes and edges_drawn == n_edges:
        return ""
    nodes = (
        f"all {n_nodes:,} nodes"
        if nodes_drawn == n_nodes
        else f"the {nodes_drawn:,} most influential of the {n_nodes:,} nodes"
    )
    return f"Drawn are {nodes} and the {edges_drawn:,} heaviest edges between them, out of {n_edges:,} in all."
