"""A fitted model as plain data: everything a report shows, before any of it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from ..estimators import GraphEstimator
from ..solvers import Path, Record
from ..validation import Array, InputError
from . import prose
from .drawing import EDGES_DRAWN, NODES_LISTED, Drawing, column_sums, make_drawing, own_view, positive_csr
from .plain import plain, shortened, table, text
from .prose import Passage

BINS = 24


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts between edges of bins, with a sentence that says what they show.

    Examples
    --------
    >>> Histogram(np.array([0.0, 1.0]), np.array([3]), "All three are small.").counts
    array([3])
    """

    edges: Array
    counts: Array
    sentence: str


@dataclass(frozen=True, eq=False)
class Summary:
    """What there is to say about a learned graph.

    Attributes
    ----------
    title, source, method : str
    n_nodes, n_edges : int
    hubs : DataFrame
        All nodes, most influential first: name, influence (the column sum of the adjacency matrix), followers (how many
        it influences), listens_to (how many influence it) and, where a game is played, action and benefit.
    certificate : str, in words how good the answer is
    distributions : dict of Histogram, by "weight", "listens_to" and "followers"
    history : DataFrame or None, one row per step: iteration, objective, welfare, stationarity
    tolerance : float, the stationarity asked for; NaN where there is none
    front : DataFrame or None, one row per lambda drawn: lam, fidelity, welfare, fitted
    drawing : Drawing, the nodes and edges to draw
    reading : tuple of Passage, how to read the picture
    parameters : dict from name to text
    scores : dict from name to number
    notes : tuple of str, what was done to the table
    absent : tuple of str, what is left out, and why
    directed : bool, whether to begin with directions shown

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> summary = summarize(SmoothGL(degree=4).fit(X), title="Thirty nodes")
    >>> summary.n_edges, sorted(summary.hubs.columns)
    (120, ['followers', 'influence', 'listens_to', 'name'])
    """

    title: str
    source: str
    method: str
    n_nodes: int
    n_edges: int
    hubs: pd.DataFrame
    certificate: str
    distributions: Mapping[str, Histogram]
    history: pd.DataFrame | None
    tolerance: float
    front: pd.DataFrame | None
    drawing: Drawing
    reading: tuple[Passage, ...]
    parameters: Mapping[str, str]
    scores: Mapping[str, float]
    notes: tuple[str, ...]
    absent: tuple[str, ...]
    directed: bool

    @property
    def front_sentence(self) -> str:
        """What the Pareto front shows, empty where there is none."""
        return "" if self.front is None else prose.front_sentence(self.front)

    @property
    def history_sentence(self) -> str:
        """What the convergence curve shows, empty where there is none."""
        return "" if self.history is None else prose.history_sentence(self.history)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it: plain lists and numbers of six figures, None for what is not finite.

        Nodes are the most influential ones, 10,000 at most; very long names are cut.
        """
        listed = self.hubs.head(NODES_LISTED)
        return {
            "title": text(self.title),
            "source": text(self.source),
            "method": self.method,
            "n_nodes": self.n_nodes,
            "n_edges": self.n_edges,
            "nodes": {
                "name": shortened([text(name) for name in listed["name"]]),
                **{column: plain(listed[column].to_numpy()) for column in listed.columns if column != "name"},
            },
            "certificate": self.certificate,
            "distributions": {
                name: {"edges": plain(bins.edges), "counts": plain(bins.counts), "sentence": bins.sentence}
                for name, bins in self.distributions.items()
            },
            "history": None if self.history is None else table(self.history),
            "tolerance": plain(self.tolerance),
            "front": None if self.front is None else table(self.front),
            "drawing": {
                "x": plain(self.drawing.positions[:, 0].round(4)),
                "y": plain(self.drawing.positions[:, 1].round(4)),
                "radius": plain(self.drawing.radius),
                "least": plain(self.drawing.least),
                "widest": plain(self.drawing.widest),
                "edges_at_most": EDGES_DRAWN,
                "fitted": self.drawing.fitted,
                "views": [
                    {
                        "lam": plain(view.lam),
                        "n_edges": view.n_edges,
                        "source": plain(view.edges.source),
                        "target": plain(view.edges.target),
                        "weight": plain(view.edges.weight, figures=4),
                        "influence": plain(view.influence, figures=4),
                        "action": None if view.action is None else plain(view.action, figures=4),
                    }
                    for view in self.drawing.views
                ],
                "left_out": self.drawing.left_out,
            },
            "reading": [passage._asdict() for passage in self.reading],
            "parameters": {text(name): text(value) for name, value in self.parameters.items()},
            "scores": {text(name): plain(score) for name, score in self.scores.items()},
            "notes": [text(note) for note in self.notes],
            "absent": list(self.absent),
            "directed": self.directed,
        }


def summarize(
    model: GraphEstimator,
    *,
    title: str = "The learned network",
    source: str = "",
    parameters: Mapping[str, Any] | None = None,
    scores: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    path: Path | None = None,
    directed: bool = True,
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
    path : Path, optional
        From :func:`nashgraph.glgp_path` on the same signals: adds the Pareto front and a choice of lambda.
    directed : bool
        Whether the drawing begins with directions shown.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> summary = summarize(GLGP(benefit=np.arange(30.0)).fit(X), scores={"AUC": 0.5})
    >>> summary.certificate.split(":")[0], list(summary.hubs.columns)
    ('Converged', ['name', 'influence', 'followers', 'listens_to', 'action', 'benefit'])
    """
    check_is_fitted(model)
    weights = positive_csr(model.adjacency_)
    n_nodes = weights.shape[0]
    if path is not None and len(path.results[0].equilibrium) != n_nodes:
        raise InputError(
            f"path is of {len(path.results[0].equilibrium)} nodes and the model of {n_nodes}: pass glgp_path of the "
            "signals the model was fitted to, or path=None"
        )
    order = np.argsort(-column_sums(weights), kind="stable")
    hubs = hub_table(model, weights, order)
    own = own_view(model, weights, order)
    drawing = make_drawing(weights, order, own, path)
    attention = equal_row_sums(weights)
    return Summary(
        title=title,
        source=source,
        method=type(model).__name__,
        n_nodes=n_nodes,
        n_edges=own.n_edges,
        hubs=hubs,
        certificate=prose.certificate(model),
        distributions=distributions(weights, hubs),
        history=pd.DataFrame(model.result_.history, columns=list(Record._fields))
        if hasattr(model, "result_")
        else None,
        tolerance=prose.asked_for(model),
        front=None if path is None else front_table(drawing),
        drawing=drawing,
        reading=prose.reading(model, attention, path is not None, scores or {}),
        parameters=settings(model) if parameters is None else {key: said(value) for key, value in parameters.items()},
        scores=dict(scores or {}),
        notes=tuple(notes),
        absent=prose.absences(model, path is not None),
        directed=directed,
    )


def hub_table(model: Any, weights: Any, order: Array) -> pd.DataFrame:
    """Return all nodes, most influential first."""
    columns = {
        "name": model.node_names_,
        "influence": column_sums(weights),
        "followers": np.bincount(weights.indices, minlength=len(order)),
        "listens_to": np.diff(weights.indptr),
    }
    if hasattr(model, "equilibrium_"):
        columns["action"] = model.equilibrium_
    if hasattr(model, "benefit_"):
        columns["benefit"] = model.benefit_
    table = {name: values[order] for name, values in columns.items()}
    # As objects, because pandas' own text cannot hold every name that Python's can.
    return pd.DataFrame({**table, "name": pd.Series(table["name"], dtype=object)})


def front_table(drawing: Drawing) -> pd.DataFrame:
    """Return the points of the Pareto front, in the order of the views."""
    rows = [(view.lam, view.fidelity, view.welfare, view.fitted) for view in drawing.views]
    return pd.DataFrame(rows, columns=["lam", "fidelity", "welfare", "fitted"])


def distributions(weights: Any, hubs: pd.DataFrame) -> dict[str, Histogram]:
    """Return how weights and numbers of neighbours are spread."""
    heaviest = -np.sort(-weights.data)
    top = float(heaviest[0]) if len(heaviest) else 1.0
    counts, edges = np.histogram(heaviest, bins=BINS, range=(0.0, top))
    listens, followers = hubs["listens_to"].to_numpy(), hubs["followers"].to_numpy()
    return {
        "weight": Histogram(edges, counts, prose.weights_sentence(heaviest)),
        "listens_to": whole_numbers(listens, prose.degree_sentence(listens, "listens to")),
        "followers": whole_numbers(followers, prose.degree_sentence(followers, "is listened to by")),
    }


def whole_numbers(values: Array, sentence: str) -> Histogram:
    """Return a histogram of whole numbers, with as many of them in every bin."""
    width = int(np.ceil((values.max() + 1) / BINS))
    edges = np.arange(0, values.max() + width + 1, width)
    counts, _ = np.histogram(values, bins=edges)
    return Histogram(edges, counts, sentence)


def equal_row_sums(weights: Any) -> float | None:
    """Return what every row sums to, or None where rows differ."""
    sums = np.asarray(weights.sum(axis=1), dtype=float).ravel()
    return float(sums.mean()) if sums.max() > 0 and np.ptp(sums) <= 1e-5 * sums.max() else None


def settings(model: Any) -> dict[str, str]:
    """Return the parameters that are set and bear on the answer, as text, and those found."""
    given = model.get_params(deep=False).items()
    found = {name: said(value) for name, value in given if value is not None and name not in ("callback", "verbose")}
    if getattr(model, "beta", 0.0) is None and hasattr(model, "beta_"):
        found["beta (found from degree)"] = said(float(model.beta_))
    if isinstance(getattr(model, "lam", 0.0), str):
        found["lam (found by auto)"] = said(float(model.lam_))
    return found


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
    return str(getattr(value, "__name__", value))
