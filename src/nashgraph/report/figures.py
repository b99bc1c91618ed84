"""Figures about how far a network can be relied on: evidence, influence, stability, and scores against a truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.metrics import precision_recall_curve

from ..graph import as_graph
from ..matching import names_of, order_of
from ..validation import Array, InputError, check_integer
from . import _plot_parts as parts
from .cut import cut_of
from .prose import speaking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SURE, OPEN = 0.9, 0.5  # evidence from which a tie is called sure, and from which it is open
SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BINS = 10


def plot_evidence(graph: Any, ax: Axes | None = None) -> Axes:
    """Draw the evidence for every pair, largest first, with bands for ties, open pairs and pairs without a tie.

    The evidence is the first of probability, evidence, frequency and weight that the graph has. Bands are drawn where
    it is a share: ties from 0.9 on, open from 0.5 on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nashgraph import LearnedGraph
    >>> columns = {"frequency": np.array([0.95, 0.6, 0.2])}
    >>> graph = LearnedGraph.of(np.triu(np.ones((3, 3)), 1), directed=True, edge_columns=columns)
    >>> plot_evidence(graph, Figure().subplots()).get_ylabel()
    'frequency'
    """
    pairs = as_graph(graph).undirected()
    cut = cut_of(pairs)
    values = np.sort(cut.evidence[pairs.listed.place])[::-1]
    ax = parts.axes_or_new(ax)
    if cut.share:
        bands = (("tie", SURE, 1.0, parts.BLUE), ("open", OPEN, SURE, parts.ORANGE), ("no tie", 0.0, OPEN, parts.GREY))
        for name, low, high, color in bands:
            count = int(((values >= low) & ((values < high) | (high == 1.0))).sum())
            ax.axhspan(low, high, color=color, alpha=0.12, linewidth=0, label=f"{name}: {count:,}")
        ax.set_ylim(0, 1)
        ax.legend(frameon=False, loc="upper right")
    ax.step(np.arange(1, len(values) + 1), values, where="mid", color="#1f4e79", linewidth=1.4)
    ax.set_xlabel("pairs of nodes, surest first")
    ax.set_ylabel(cut.column)
    return ax


def plot_influence(graph: Any, ax: Axes | None = None, *, n_nodes: int = 20) -> Axes:
    """Draw the influence of the most influential nodes with its 90% interval, where there is one (a forest plot).

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nashgraph import LearnedGraph
    >>> ends = {"influence_low": np.array([0.1, 0.3]), "influence_high": np.array([0.3, 0.6])}
    >>> graph = LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["ann", "bob"], node_columns=ends)
    >>> [tick.get_text() for tick in plot_influence(graph, Figure().subplots()).get_yticklabels()]
    ['bob', 'ann']
    """
    learned = as_graph(graph)
    count = check_integer("n_nodes", n_nodes, low=1, remedy="it is a number of nodes to draw; try 20")
    first = speaking(learned)[:count]
    ax = parts.axes_or_new(ax)
    rows = np.arange(len(first))
    influence = learned.influence[first]
    if "influence_low" in learned.node_columns:
        low, high = (np.asarray(learned.node_columns[f"influence_{end}"])[first] for end in ("low", "high"))
        ax.hlines(rows, low, high, color=parts.GREY, linewidth=2)
    ax.plot(influence, rows, "o", color=parts.BLUE)
    ax.axvline(float(learned.influence.mean()), color=parts.GREY, linestyle="dotted", linewidth=1)
    ax.set_yticks(rows, [str(name) for name in learned.names[first]], fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel("influence, 90% interval" if "influence_low" in learned.node_columns else "influence")
    return ax


def stability_curve(
    model: Any, X: Any, *, shares: Sequence[float] = SHARES, repeats: int = 5, random_state: int = 0
) -> dict[str, Array]:
    """Learn the network again from part of the signals, and compare it with the network of all of them.

    Returns
    -------
    dict of arrays: ``share`` of the signals kept, ``agreement`` (the share of weight in common) and ``correlation``
    (Spearman, of influence), each the mean over repeats.

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> X = np.random.default_rng(0).normal(size=(40, 12))
    >>> curve = stability_curve(SmoothGL(degree=3).fit(X), X, shares=(0.5, 1.0), repeats=2)
    >>> curve["agreement"].tolist()[1]
    1.0
    """
    rows = len(X)
    random, whole = np.random.default_rng(random_state), model.graph_
    agreement, correlation = np.zeros((2, len(shares), repeats))
    for k, share in enumerate(shares):
        if not 0 < share <= 1:
            raise InputError(f"shares must be above 0 and at most 1, got {share}: they are parts of the signals kept")
        for repeat in range(repeats):
            chosen = np.sort(random.choice(rows, max(2, round(share * rows)), replace=False))
            part = X.iloc[chosen] if hasattr(X, "iloc") else X[chosen]
            other = clone(model).fit(part).graph_
            common = whole.weights.minimum(other.weights).sum()
            agreement[k, repeat] = common / max(whole.weights.sum(), np.finfo(float).tiny)
            correlation[k, repeat] = spearmanr(whole.influence, other.influence).statistic
    return {
        "share": np.asarray(shares, dtype=float),
        "agreement": agreement.mean(axis=1).round(12),
        "correlation": np.nan_to_num(correlation).mean(axis=1),
    }


def plot_stability(curve: dict[str, Array], ax: Axes | None = None) -> Axes:
    """Draw what :func:`stability_curve` found; the line at 0.7 is the usual bound of the CS coefficient.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curve = {"share": np.array([0.5, 1.0]), "agreement": np.array([0.4, 1.0]), "correlation": np.array([0.6, 1.0])}
    >>> len(plot_stability(curve, Figure().subplots()).lines)
    3
    """
    ax = parts.axes_or_new(ax)
    ax.plot(curve["share"], curve["agreement"], "o-", color=parts.BLUE, label="weight in common")
    ax.plot(curve["share"], curve["correlation"], "s--", color=parts.ORANGE, label="rank correlation of influence")
    ax.axhline(0.7, color=parts.GREY, linestyle="dotted", linewidth=1)
    ax.set_xlabel("share of the signals kept")
    ax.set_ylim(min(0.0, float(curve["correlation"].min())), 1.02)
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_calibration(graph: Any, truth: Any, ax: Axes | None = None) -> Axes:
    """Draw, for pairs with like evidence, which share of them is tied in truth; on the diagonal they agree.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nashgraph import LearnedGraph
    >>> columns = {"probability": np.full(6, 0.75)}
    >>> graph = LearnedGraph.of(np.ones((3, 3)), edge_columns=columns)
    >>> ax = plot_calibration(graph, np.ones((3, 3)), Figure().subplots())
    >>> ax.lines[1].get_xydata().tolist()
    [[0.75, 1.0]]
    """
    values, tied, column, share = evidence_and_truth(graph, truth)
    if not share:
        raise InputError(
            f"the graph's {column} is not a share from 0 to 1: fit a model with a probability or frequency"
        )
    place = np.minimum((values * BINS).astype(int), BINS - 1)
    used = np.unique(place)
    mean = [float(values[place == each].mean()) for each in used]
    seen = [float(tied[place == each].mean()) for each in used]
    ax = parts.axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=parts.GREY, linestyle="dotted", linewidth=1)
    ax.plot(mean, seen, "o-", color=parts.BLUE)
    ax.set_xlabel(column)
    ax.set_ylabel("share tied in truth")
    return ax


def plot_precision_recall(graph: Any, truth: Any, ax: Axes | None = None, *, label: str | None = None) -> Axes:
    """Draw precision against recall of the pairs, surest first; the dotted line is guessing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> truth = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> ax = plot_precision_recall(0.5 * truth, truth, Figure().subplots())
    >>> ax.get_xlabel()
    'recall'
    """
    values, tied, _, _ = evidence_and_truth(graph, truth)
    if not tied.any():
        raise InputError("truth has no ties, so there is no recall: pass the true network")
    precision, recall, _ = precision_recall_curve(tied, values)
    ax = parts.axes_or_new(ax)
    ax.axhline(float(tied.mean()), color=parts.GREY, linestyle="dotted", linewidth=1)
    ax.step(recall, precision, where="post", color=parts.next_color(ax), label=label)
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")
    ax.set_ylim(0, 1.02)
    if label is not None:
        ax.legend(frameon=False)
    return ax


def evidence_and_truth(graph: Any, truth: Any) -> tuple[Array, Array, str, bool]:
    """Return the evidence of every pair, 0 where the graph has none, and whether the truth ties it."""
    learned, other = as_graph(graph), as_graph(truth)
    order = order_of(names_of(learned), names_of(truth), "graph", "truth")
    weights = other.weights if order is None else other.weights[order][:, order]
    if weights.shape[0] != learned.n_nodes:
        raise InputError(f"truth has {weights.shape[0]} nodes and the graph {learned.n_nodes}: pass the same nodes")
    pairs = learned.undirected()
    cut, above = cut_of(pairs), np.triu_indices(learned.n_nodes, 1)
    values = np.zeros((learned.n_nodes, learned.n_nodes))
    target = np.repeat(np.arange(learned.n_nodes), np.diff(pairs.weights.indptr))
    values[target, pairs.weights.indices] = cut.evidence
    tied = (weights + weights.T).toarray()[above] > 0
    return values[above], tied, cut.column, cut.share
