"""A fitted model as plain data: everything a report shows, before any of it is drawn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from ..certificate import Certificate, Record
from ..estimators import GraphEstimator, LambdaPath
from ..estimators.base import PriorEffect
from ..graph import LearnedGraph, as_graph
from ..network_check import NetworkCheck
from ..validation import Array, InputError
from . import prose
from .comparing import differences
from .cut import Cut, cut_of, true_pairs
from .drawing import Drawing, make_drawing
from .evidence import Evidence, evidence_of, ties_per_node
from .figures import calibration_curve, precision_recall, stability_curve
from .game import Interventions, Playable, interventions_of, playable
from .inputs import InputColumn, Profile, input_columns, names_people, of_nodes, profile_of, without_names
from .next_steps import Step, next_steps
from .places import rough_places
from .prose import columns, plain, shortened, text
from .reference import Reference, shuffled_reference, structure_of


class Gain(NamedTuple):
    """A node or a tie, by name, and its influence or weight without the prior and with it."""

    names: list[str]
    without: float
    now: float


class PriorPart(NamedTuple):
    """The share of members with a prior, that of all weight that lies elsewhere without them, and what gains most.

    ``new_hubs`` are the nodes that are among the ten most influential thanks to the prior alone.
    """

    share: float
    moved: float
    nodes: list[Gain]
    ties: list[Gain]
    new_hubs: list[str]


@dataclass(frozen=True, eq=False)
class Summary:
    """All data of the report on a learned graph; :func:`summarize` makes it.

    ``cut`` says which pairs count as tied, by which evidence; every number of ties is of these. ``hubs`` has all nodes,
    most influential first, with whatever columns the graph has; ``agreement`` is how alike two replicates are.
    ``history`` has a row for each step of the run, ``front`` one for each lambda drawn, and ``trust`` the curves of
    stability, calibration and precision. ``structure`` is the test whether answers go together at all, and
    ``reference`` the same fit to shuffled answers. ``unmatched`` are written names that are not used, and ``evidence``
    has the figures of what a tie model rests on.
    What there is nothing of is None.
    """

    title: str
    source: str
    method: str
    graph: LearnedGraph
    cut: Cut
    agreement: float
    hubs: pd.DataFrame
    prior: PriorEffect | None
    prior_part: PriorPart | None
    certificate: Certificate
    history: pd.DataFrame | None
    front: pd.DataFrame | None
    drawing: Drawing
    parameters: Mapping[str, str]
    scores: Mapping[str, float]
    notes: tuple[str, ...]
    columns: Sequence[InputColumn]
    profile: Profile
    differ: Array | None
    trust: Mapping[str, Mapping[str, Any]]
    true_pairs: Array | None
    interventions: Interventions | None
    game: Playable | None
    evidence: Evidence
    structure: NetworkCheck | None = None
    reference: Reference | None = None
    next_steps: tuple[Step, ...] = ()
    unmatched: pd.DataFrame | None = None

    @property
    def layout(self) -> pd.DataFrame:
        """Where the nodes are drawn (name, x, y, community): another graph's ``layout=``, or for a tool of your own."""
        return self.drawing.layout(self.hubs["name"])

    def to_dict(self) -> dict[str, Any]:
        """Return what the page's script needs as JSON has it: numbers of six figures, None for what is not finite.

        Nodes are the most influential ones, 50,000 at most; very long names are cut.
        """
        held = len(self.drawing.positions)
        listed = self.hubs.head(held)
        order = self.graph.by_influence
        history = self.history
        checks = None
        if history is not None:
            every = -(-len(history) // 1_000)  # of many steps about a thousand, the last among them
            history = history.iloc[::-every][::-1]
        if self.true_pairs is not None:
            numbered = np.argsort(order)[self.true_pairs]
            checks = numbered[(numbered < held).all(axis=1)].T.tolist()
        return {
            "title": text(self.title),
            # The level has as many figures as the evidence of pairs: those at the level count.
            "cut": {name: plain(getattr(self.cut, name), 4) for name in ("column", "share", "level", "n_ties")},
            "nodes": {**columns(listed), "name": shortened([text(name) for name in listed["name"]])},
            "supported": self.graph.influence_supported is not False,
            "structure": None if self.structure is None else bool(self.structure.found),
            "columns": [column.to_dict(order[:held]) for column in self.columns],
            "profile": {**self.profile._asdict(), "leads": self.profile.leads.round(3).tolist()},
            "differ": None if self.differ is None else self.differ.astype(int).tolist(),
            "trust": {
                name: {key: plain(value, 4) for key, value in curve.items()} for name, curve in self.trust.items()
            },
            "checks": checks,
            "certificate": self.certificate.as_dict(),
            "history": None if history is None else columns(history),
            "front": None if self.front is None else columns(self.front),
            "drawing": self.drawing.to_dict(),
            "game": None if self.game is None else self.game.to_dict(),
        }


def summarize(
    model: GraphEstimator,
    *,
    title: str = "The learned network",
    source: str = "",
    scores: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    path: LambdaPath | None = None,
    columns: pd.DataFrame | None = None,
    truth: Any = None,
    communities: Array | None = None,
    layout: pd.DataFrame | None = None,
    interventions: bool = False,
    stability: Mapping[str, Array] | None = None,
    graph: LearnedGraph | None = None,
    signals: pd.DataFrame | None = None,
    structure: NetworkCheck | None = None,
    spellings: pd.DataFrame | None = None,
) -> Summary:
    """Gather what there is to say about a fitted model.

    Parameters
    ----------
    model : fitted GraphEstimator
    title, source : str, what the network is of, and the table it was learned from
    scores : mapping from name to number, optional, for example ``{"AUC": 0.71}``
    notes : sequence of str, what was done to the table, in sentences
    path : LambdaPath, optional, from ``GLGP(...).path(X)``: adds the Pareto front and a choice of lambda
    columns : DataFrame, optional
        What is known of each node, one row for each, indexed by name: the table the signals came from, or ``X.T``. The
        page colours and filters by them, and says of every tie in what its ends are alike.
    truth : learned graph, networkx graph or matrix, optional, the true network, to tell right lines from wrong ones
    communities : array of shape (n_nodes,), optional, as in :attr:`~nashgraph.graph.LearnedGraph.communities`
    layout : DataFrame, optional
        Where to draw the nodes: the :attr:`Summary.layout` of another graph of the same nodes, to compare two pictures,
        or any table with name, x and y from -1 to 1; found if left out.
    interventions : bool, whether to find key players, support, ties and seeds by the game; this can take long
    stability : dict of arrays, optional
        From :func:`~nashgraph.report.stability_curve`; with ``signals``, a short one is computed for up to 300 nodes.
    graph : LearnedGraph, optional, the model's graph with further columns for its nodes
    signals : DataFrame of shape (n_signals, n_nodes), optional
        What the model was fitted to. The page then says first whether the answers go together at all, and shows beside
        its figures what shuffled answers give (a second fit; up to 2,000 nodes).
    structure : NetworkCheck, optional, if the test was done already (:func:`~nashgraph.check_network`)
    spellings : DataFrame, optional, :attr:`nashgraph.Study.names`; the page lists names that are not used

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> summary = summarize(GLGP(benefit=np.arange(30.0)).fit(X), scores={"AUC": 0.5})
    >>> summary.certificate.converged, summary.cut.n_ties > 30, list(summary.hubs.columns)
    (True, True, ['name', 'influence', 'followers', 'listens_to', 'benefit', 'action'])
    """
    graph = graph or model.graph_
    history = model.certificate_.history
    if path is not None and path.models[0].graph_.n_nodes != graph.n_nodes:
        raise InputError(
            f"path is of {path.models[0].graph_.n_nodes} nodes and the model of {graph.n_nodes}: pass the path of the "
            "signals the model was fitted to, or path=None"
        )
    cut = cut_of(graph)
    drawing = make_drawing(model, path, cut, communities, layout)
    ties = cut.ties
    front = None
    if path is not None:
        points = [
            (each.prior.lam, each.prior.smoothness_cost, each.prior.welfare, each.fitted) for each in drawing.views
        ]
        front = pd.DataFrame(points, columns=["lam", "smoothness_cost", "welfare", "fitted"])
    found = interventions_of(model) if interventions else None
    table = None if columns is None else without_names(of_nodes(columns, graph.names), graph.names)
    table = rough_places(table, model)
    told = [] if table is None else describing(input_columns(table, ties), graph.names)
    order = graph.by_influence[: len(drawing.positions)]
    reference = None
    if signals is not None and "expected_ties" not in graph.node_columns:  # a tie model rests on what people told
        structure = structure_of(signals, table) if structure is None else structure
        reference = shuffled_reference(model, signals, table, most_alike(told))
        told = beside_chance(told, reference)
        stability = part_of_the_signals(model, signals) if stability is None else stability
    return Summary(
        title=title,
        source=source,
        method=type(model).__name__,
        graph=graph,
        cut=cut,
        agreement=getattr(model, "agreement_", np.nan),
        hubs=hubs_table(ties, table, {} if found is None else found.columns),
        prior=model.prior_,
        prior_part=prior_part(model, graph),
        certificate=model.certificate_,
        history=pd.DataFrame(history, columns=list(Record._fields)) if history else None,
        front=front,
        drawing=drawing,
        parameters={name: said(value) for name, value in settings(model).items()},
        scores=dict(scores or {}),
        notes=tuple(notes),
        columns=told,
        profile=profile_of(told, drawing.community, order, graph.names[order]),
        differ=differ_of(model, graph),
        trust=trust_of(graph, truth, stability) | ties_of_nodes(model, cut),
        true_pairs=None if truth is None else true_pairs(graph, truth),
        interventions=found,
        game=playable(model) if graph.influence_supported is not False else None,
        structure=structure,
        reference=reference,
        next_steps=tuple(next_steps(model)),
        unmatched=unmatched_names(spellings),
        evidence=evidence_of(model),
    )


def unmatched_names(spellings: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return the written names that are not used, those with a likely spelling first; None if there are none."""
    if spellings is None or spellings["sure"].all():
        return None
    open_names = spellings[~spellings["sure"].astype(bool)]
    likely = open_names["matched"].astype(str) != ""
    return open_names.assign(likely=likely).sort_values("likely", ascending=False, kind="stable", ignore_index=True)


def describing(columns: Sequence[InputColumn], names: Array) -> list[InputColumn]:
    """Return columns in which tied nodes can be alike: not those with names of people, such as friends, or places."""
    told = []
    for column in columns:
        describes = not column.place and not names_people(column, names)
        told.append(column if describes else column._replace(alike=np.nan))
    return told


def most_alike(columns: Sequence[InputColumn], count: int = 40) -> list[InputColumn]:
    """Return the columns in which tied nodes differ least: of very many, the page compares only these with chance."""
    ranked = sorted(columns, key=lambda column: -np.nan_to_num(column.alike, nan=-1.0))
    names = {column.name for column in ranked[:count]}
    return [column for column in columns if column.name in names]


def beside_chance(columns: Sequence[InputColumn], reference: Reference | None) -> list[InputColumn]:
    """Return columns with what shuffled answers give, and whether the network was learned from them."""
    if reference is None:
        return list(columns)
    return [
        column._replace(
            by_chance=reference.alike.get(column.name, np.nan), learned_from=column.name in reference.learned_from
        )
        for column in columns
    ]


def hubs_table(ties: LearnedGraph, table: pd.DataFrame | None, worth: Mapping[str, Array]) -> pd.DataFrame:
    """Return all nodes, most influential first, with what each is worth, and the share of the table it left empty."""
    hubs = ties.nodes().assign(**{name: values[ties.by_influence] for name, values in worth.items()})
    if table is not None:
        own = ("name", "influence", "followers", "listens_to")
        hubs = hubs.drop(columns=[name for name in table.columns if name in hubs and name not in own])
        empty = table.isna().sum(axis=1).to_numpy() / max(1, table.shape[1])
        if empty.any() and "missing" not in hubs:
            hubs["missing"] = empty[ties.by_influence]
    return hubs


def differ_of(model: GraphEstimator, graph: LearnedGraph) -> Array | None:
    """Return which of the most influential nodes differ, if there are replicates and the signals tell who is."""
    if graph.influence_supported is False or not getattr(model, "replicate_graphs_", None) or graph.n_nodes < 2:
        return None
    return differences(model, most=30, nodes=graph.by_influence).differ


def trust_of(graph: LearnedGraph, truth: Any, stability: Mapping[str, Array] | None) -> dict[str, dict[str, Any]]:
    """Return the curves that tell how far a network can be relied on: its stability, and scores against a truth."""
    found: dict[str, dict[str, Any]] = {} if stability is None else {"stability": dict(stability)}
    if truth is None or not as_graph(truth).n_edges or as_graph(truth).n_nodes != graph.n_nodes:
        return found
    recall, precision, guessing = precision_recall(graph, truth)
    kept = np.unique(np.linspace(0, len(recall) - 1, 200).round().astype(int))
    found["precision_recall"] = {"recall": recall[kept], "precision": precision[kept], "guessing": guessing}
    if (curve := calibration_curve(graph, truth)) is not None:
        found["calibration"] = {"evidence": curve[0], "tied": curve[1]}
    return found


def ties_of_nodes(model: GraphEstimator, cut: Cut) -> dict[str, dict[str, Any]]:
    """Return how many nodes have how many ties over replicates, as many ties in each, or in networks that are drawn."""
    replicates = getattr(model, "replicate_graphs_", None)
    if not replicates:
        return {}
    drawn = "expected_ties" in model.graph_.node_columns
    return {"degrees": ties_per_node(replicates, None if drawn else cut.n_ties)}


def part_of_the_signals(
    model: GraphEstimator, signals: pd.DataFrame, *, most_nodes: int = 300, least_signals: int = 8
) -> dict[str, Array] | None:
    """Return a short curve of stability, without replicates; None if it would take long or there are few signals."""
    if signals.shape[1] > most_nodes or len(signals) < least_signals or "n_replicates" not in model.get_params():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd about the signals was said when the model was fitted
        alone = clone(model).set_params(n_replicates=0).fit(signals)
        try:
            return stability_curve(alone, signals, shares=(0.25, 0.5, 0.75), repeats=2)
        except InputError:  # in a table with gaps, two nodes may share none of a few signals
            return None


def settings(model: GraphEstimator) -> dict[str, Any]:
    """Return the parameters that are set and bear on the answer, and those that were found."""
    given = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    given.pop("callback", None)
    found = {f"{name} (found)": value for name, value in model.found_params().items() if value is not None}
    return given | found


def said(value: Any) -> str:
    """Write a parameter's value in few words."""
    if isinstance(value, np.ndarray | pd.Series):
        return f"an array of {' × '.join(str(size) for size in value.shape)} numbers"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {said(part)}" for name, part in value.items())
    return str(getattr(value, "__name__", value))  # a function by its name


def prior_part(model: GraphEstimator, graph: LearnedGraph | None = None) -> PriorPart | None:
    """Return what the prior did, where it did something and the graph without it is known."""
    graph = graph or model.graph_
    smooth = model.without_prior_
    if smooth is None or getattr(model, "prior_share_", 0.0) == 0:
        return None
    gained = (graph.weights - smooth.weights).tocoo()
    more = graph.influence - smooth.influence
    target, source = gained.coords

    def named(*nodes: int) -> list[str]:
        return shortened([text(graph.names[node]) for node in nodes])

    def most(gains: Array) -> list[int]:
        return [int(k) for k in np.argsort(-gains, kind="stable")[:3] if gains[k] > 0]

    ties = [(int(source[k]), int(target[k])) for k in most(gained.data)]
    first = prose.speaking(graph)
    before = smooth.by_influence[np.isin(smooth.by_influence, first)][:10]
    return PriorPart(
        share=getattr(model, "prior_share_", 0.0),
        moved=float(0.5 * np.abs(gained.data).sum() / graph.weights.sum()),
        nodes=[Gain(named(k), float(smooth.influence[k]), float(graph.influence[k])) for k in most(more)],
        ties=[Gain(named(j, i), float(smooth.weights[i, j]), float(graph.weights[i, j])) for j, i in ties],
        new_hubs=named(*(node for node in first[:10].tolist() if node not in before)),
    )
