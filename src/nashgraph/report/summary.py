"""A fitted model as plain data: everything a report shows, before any of it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..certificate import Certificate, Record
from ..estimators import GraphEstimator, LambdaPath
from ..estimators.base import Prior
from ..graph import LearnedGraph, as_graph
from ..validation import Array, InputError
from . import prose
from .comparing import differences
from .cut import Checks, Cut, checks_of, cut_of
from .drawing import DECIMALS, Drawing, make_drawing
from .figures import calibration_curve, precision_recall
from .inputs import InputColumn, Profile, input_columns, missing_share, of_nodes, profile_of
from .interventions import Interventions, interventions_of
from .plain import columns, plain, shortened, table, text
from .playable import Playable, playable

GAINERS, HUBS = 3, 10  # nodes and ties that gain most by a prior, and hubs that are compared
COMPARED = 30  # nodes of which the page says whether they differ in influence
POINTS = 200  # of a curve in the page
RESERVED = ("name", "influence", "followers", "listens_to")  # columns of nodes that are the graph's own


class Gain(NamedTuple):
    """A node or a tie, by name, and its influence or weight without the prior and with it."""

    names: list[str]
    without: float
    now: float


class PriorPart(NamedTuple):
    """How much the members with a prior count, and what they change.

    Attributes
    ----------
    share : float, of the members that have a prior
    moved : float, the share of all weight that lies elsewhere without them
    nodes, ties : those that gain most influence, most weight (from the one who influences to the other)
    new_hubs : names of nodes that are among the ten most influential thanks to the prior alone
    """

    share: float
    moved: float
    nodes: list[Gain]
    ties: list[Gain]
    new_hubs: list[str]


@dataclass(frozen=True, eq=False)
class Summary:
    """All data of the report on a learned graph.

    Attributes
    ----------
    title, source, method : str
    graph : LearnedGraph
    cut : Cut
        Which pairs count as tied, by which evidence; every number of ties is of these (``n_ties``).
    agreement : float, how alike two resamples of a consensus are
    hubs : DataFrame
        All nodes, most influential first, with whatever columns the graph has, and the share of answers missing.
    prior : Prior or None
    prior_part : PriorPart or None, what the prior adds, where the graph without it is known
    certificate : Certificate
    history : DataFrame or None, one row per step: iteration, objective, value (of the certificate's measure), welfare
    front : DataFrame or None, one row per lambda drawn: lam, fidelity, welfare, fitted
    drawing : Drawing, the nodes and edges to draw
    parameters : dict from name to text
    scores : dict from name to number
    notes : tuple of str, what was done to the table
    directed : bool, whether to begin with directions shown
    columns : list of InputColumn, what the table says of the nodes
    profile : Profile, what sets communities apart
    differ : boolean array or None, which of the most influential nodes differ (see ``differences``)
    trust : dict of curves: stability (if given); calibration and precision_recall (with a truth)
    checks : Checks or None, the ties of the true network
    interventions : Interventions or None, what to do about the network by its game, if asked for
    game : Playable or None, the game for the page to play

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> summary = summarize(SmoothGL(degree=4).fit(X), title="Thirty nodes")
    >>> summary.graph.n_edges, sorted(summary.hubs.columns)
    (120, ['followers', 'influence', 'listens_to', 'name'])
    """

    title: str
    source: str
    method: str
    graph: LearnedGraph
    cut: Cut
    agreement: float
    hubs: pd.DataFrame
    prior: Prior | None
    prior_part: PriorPart | None
    certificate: Certificate
    history: pd.DataFrame | None
    front: pd.DataFrame | None
    drawing: Drawing
    parameters: Mapping[str, str]
    scores: Mapping[str, float]
    notes: tuple[str, ...]
    directed: bool
    columns: Sequence[InputColumn]
    profile: Profile
    differ: Array | None
    trust: Mapping[str, Mapping[str, Any]]
    checks: Checks | None
    interventions: Interventions | None
    game: Playable | None

    @property
    def layout(self) -> pd.DataFrame:
        """Where the nodes are drawn (name, x, y, community): another graph's ``layout=``, or for a tool of your own."""
        return self.drawing.layout(self.hubs["name"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it: plain lists and numbers of six figures, None for what is not finite.

        Nodes are the most influential ones, 50,000 at most; very long names are cut.
        """
        drawing = self.drawing
        held = len(drawing.positions)
        listed, order = self.hubs.head(held), self.graph.by_influence
        return {
            "title": text(self.title),
            "source": text(self.source),
            "method": self.method,
            "n_nodes": self.graph.n_nodes,
            "cut": {
                "column": self.cut.column,
                "share": self.cut.share,
                "level": plain(self.cut.level),
                "n_ties": self.cut.n_ties,
            },
            "nodes": {**columns(listed), "name": shortened([text(name) for name in listed["name"]])},
            "supported": self.graph.influence_supported is not False,
            "columns": [column.to_dict(order[:held]) for column in self.columns],
            "profile": self.profile.to_dict(),
            "differ": None if self.differ is None else self.differ.astype(int).tolist(),
            "trust": {
                name: {key: plain(value, 4) for key, value in curve.items()} for name, curve in self.trust.items()
            },
            "checks": None if self.checks is None else self.checks.to_dict(order, held),
            "certificate": self.certificate.as_dict(),
            "history": None if self.history is None else table(self.history),
            "front": None if self.front is None else table(self.front),
            "drawing": drawing_to_dict(drawing),
            "game": None if self.game is None else self.game.to_dict(),
            "parameters": {text(name): text(value) for name, value in self.parameters.items()},
            "scores": {text(name): plain(score) for name, score in self.scores.items()},
            "notes": [text(note) for note in self.notes],
            "directed": self.directed,
        }


def drawing_to_dict(drawing: Drawing) -> dict[str, Any]:
    """Return the places, the communities and the views as JSON has them."""
    bubbles = drawing.bubbles
    return {
        "x": plain(drawing.positions[:, 0].round(DECIMALS)),
        "y": plain(drawing.positions[:, 1].round(DECIMALS)),
        "community": plain(drawing.community),
        "bubbles": bubbles
        and {
            "x": plain(bubbles.positions[:, 0], 4),
            "y": plain(bubbles.positions[:, 1], 4),
            "radius": plain(bubbles.radius, 4),
        },
        "radius": plain(drawing.radius),
        "least": plain(drawing.least),
        "widest": plain(drawing.widest),
        "fitted": drawing.fitted,
        "views": [
            {
                "lam": plain(view.prior.lam),
                "n_edges": view.n_edges,
                "source": plain(view.edges.source),
                "target": plain(view.edges.target),
                "weight": plain(view.edges.weight, figures=4),
                "pair": plain(view.pair, figures=4),
                "edge_columns": columns(view.edge_columns, figures=4),
                "influence": plain(view.influence, figures=4),
                "action": None if view.action is None else plain(view.action, figures=4),
            }
            for view in drawing.views
        ],
        "left_out": drawing.left_out,
    }


def summarize(
    model: GraphEstimator,
    *,
    title: str = "The learned network",
    source: str = "",
    parameters: Mapping[str, Any] | None = None,
    scores: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    path: LambdaPath | None = None,
    directed: bool = False,
    columns: pd.DataFrame | None = None,
    truth: Any = None,
    communities: Array | None = None,
    layout: pd.DataFrame | None = None,
    interventions: bool = False,
    stability: Mapping[str, Array] | None = None,
    graph: LearnedGraph | None = None,
) -> Summary:
    """Gather what there is to say about a fitted model.

    Parameters
    ----------
    model : fitted GraphEstimator
    title, source : str, what the network is of, and the table it was learned from
    parameters : mapping, optional
        What to show as the settings; None takes ``model.get_params()``.
    scores : mapping from name to number, optional
        For example ``{"AUC": 0.71}``, when the true network is known.
    notes : sequence of str
        What was done to the table, in sentences.
    path : LambdaPath, optional
        From ``GLGP(...).path(X)`` on the same signals: adds the Pareto front and a choice of lambda.
    directed : bool
        Whether the drawing opens with directions shown; a switch in the page shows them.
    columns : DataFrame, optional
        What is known of each node, one row for each, indexed by name: the table the signals came from, or ``X.T``. The
        page colours and filters by them, and says of every tie in what its ends are alike.
    truth : learned graph, networkx graph or matrix, optional
        The true network: the page tells right lines from wrong ones and shows those that were missed. Known ties that a
        consensus was fitted with are shown so without it.
    communities : array of shape (n_nodes,), optional
        The community of each node, as :attr:`~nashgraph.graph.LearnedGraph.communities` has it; found if left out.
    layout : DataFrame, optional
        Where to draw the nodes: the :attr:`Summary.layout` of another graph of the same nodes, so that the two pictures
        can be laid side by side, or any table with name, x and y from -1 to 1; found if left out.
    interventions : bool
        Whether to find key players, support, ties and seeds by the game on the network; this can take long.
    stability : dict of arrays, optional
        From :func:`~nashgraph.report.stability_curve`, to show in the page.
    graph : LearnedGraph, optional
        The model's graph with further columns for its nodes; ``model.graph_`` if left out.

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> summary = summarize(GLGP(benefit=np.arange(30.0)).fit(X), scores={"AUC": 0.5})
    >>> summary.certificate.converged, list(summary.hubs.columns)
    (True, ['name', 'influence', 'followers', 'listens_to', 'benefit', 'action'])
    """
    graph, history = graph or model.graph_, model.certificate_.history
    if path is not None and path.models[0].graph_.n_nodes != graph.n_nodes:
        raise InputError(
            f"path is of {path.models[0].graph_.n_nodes} nodes and the model of {graph.n_nodes}: pass the path of the "
            "signals the model was fitted to, or path=None"
        )
    cut = cut_of(graph)
    drawing, ties = make_drawing(model, path, cut, communities, layout), cut.ties
    found = interventions_of(model) if interventions else None
    shown = settings(model) if parameters is None else parameters
    table = None if columns is None else of_nodes(columns, graph.names)
    told = [] if table is None else input_columns(table, ties)
    order = graph.by_influence[: len(drawing.positions)]
    return Summary(
        title=title,
        source=source,
        method=type(model).__name__,
        graph=graph,
        cut=cut,
        agreement=model.agreement_,
        hubs=hubs_table(ties, table, {} if found is None else found.columns),
        prior=model.prior_,
        prior_part=prior_part(model, graph),
        certificate=model.certificate_,
        history=pd.DataFrame(history, columns=list(Record._fields)) if history else None,
        front=None if path is None else front_table(drawing),
        drawing=drawing,
        parameters={name: said(value) for name, value in shown.items()},
        scores=dict(scores or {}),
        notes=tuple(notes),
        directed=directed and graph.directed,
        columns=told,
        profile=profile_of(told, drawing.community, order, graph.names[order]),
        differ=differ_of(model, graph),
        trust=trust_of(graph, truth, stability),
        checks=None if truth is None else checks_of(model.graph_, truth),
        interventions=found,
        game=playable(model),
    )


def hubs_table(ties: LearnedGraph, table: pd.DataFrame | None, worth: Mapping[str, Array]) -> pd.DataFrame:
    """Return all nodes, most influential first, with what each is worth, and the share of the table it left empty."""
    hubs = ties.nodes().assign(**{name: values[ties.by_influence] for name, values in worth.items()})
    if table is not None:
        hubs = hubs.drop(columns=[name for name in table.columns if name in hubs and name not in RESERVED])
        share = missing_share(table)
        if share is not None and "missing" not in hubs:
            hubs["missing"] = share[ties.by_influence]
    return hubs


def front_table(drawing: Drawing) -> pd.DataFrame:
    """Return the points of the Pareto front, in the order of the views."""
    rows = [(view.prior.lam, view.prior.fidelity, view.prior.welfare, view.fitted) for view in drawing.views]
    return pd.DataFrame(rows, columns=["lam", "fidelity", "welfare", "fitted"])


def differ_of(model: GraphEstimator, graph: LearnedGraph) -> Array | None:
    """Return which of the most influential nodes differ, if there are replicates and the signals tell who is."""
    if graph.influence_supported is False or not getattr(model, "replicate_graphs_", None) or graph.n_nodes < 2:
        return None
    return differences(model, most=COMPARED, nodes=graph.by_influence).differ


def trust_of(graph: LearnedGraph, truth: Any, stability: Mapping[str, Array] | None) -> dict[str, dict[str, Any]]:
    """Return the curves that tell how far a network can be relied on: its stability, and scores against a truth."""
    found: dict[str, dict[str, Any]] = {} if stability is None else {"stability": dict(stability)}
    if truth is None or not as_graph(truth).n_edges or as_graph(truth).n_nodes != graph.n_nodes:
        return found
    recall, precision, guessing = precision_recall(graph, truth)
    kept = np.unique(np.linspace(0, len(recall) - 1, POINTS).round().astype(int))
    found["precision_recall"] = {"recall": recall[kept], "precision": precision[kept], "guessing": guessing}
    if (curve := calibration_curve(graph, truth)) is not None:
        found["calibration"] = {"evidence": curve[0], "tied": curve[1]}
    return found


def settings(model: GraphEstimator) -> dict[str, Any]:
    """Return the parameters that are set and bear on the answer, and those that were found."""
    given = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    for name in ("callback", "checkpoint", "progress"):
        given.pop(name, None)
    found = {f"{name} (found)": value for name, value in model.found_params().items() if value is not None}
    return given | found


def said(value: Any) -> str:
    """Write a parameter's value in few words.

    Examples
    --------
    >>> said(0.25), said("log1p"), said(np.ones(34))
    ('0.25', 'log1p', 'an array of 34 numbers')
    """
    if isinstance(value, np.ndarray | pd.Series):
        return f"an array of {' × '.join(str(size) for size in value.shape)} numbers"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {said(part)}" for name, part in value.items())
    return str(getattr(value, "__name__", value))  # a function by its name


def prior_part(model: GraphEstimator, graph: LearnedGraph | None = None) -> PriorPart | None:
    """Return what the prior did, where it did something and the graph without it is known."""
    graph, smooth = graph or model.graph_, model.without_prior_
    if smooth is None or model.prior_share_ == 0:
        return None
    gained = (graph.weights - smooth.weights).tocoo()
    more = graph.influence - smooth.influence

    def named(*nodes: int) -> list[str]:
        return shortened([text(graph.names[node]) for node in nodes])

    def ties() -> list[Gain]:
        target, source = gained.coords
        most = np.argsort(-gained.data, kind="stable")[:GAINERS]
        pairs = [(int(source[k]), int(target[k])) for k in most if gained.data[k] > 0]
        return [Gain(named(j, i), float(smooth.weights[i, j]), float(graph.weights[i, j])) for j, i in pairs]

    nodes = [node for node in np.argsort(-more, kind="stable")[:GAINERS] if more[node] > 0]
    first = prose.speaking(graph)
    before = smooth.by_influence[np.isin(smooth.by_influence, first)][:HUBS]
    return PriorPart(
        share=model.prior_share_,
        moved=float(0.5 * np.abs(gained.data).sum() / graph.weights.sum()),
        nodes=[Gain(named(node), float(smooth.influence[node]), float(graph.influence[node])) for node in nodes],
        ties=ties(),
        new_hubs=named(*(node for node in first[:HUBS].tolist() if node not in before)),
    )
