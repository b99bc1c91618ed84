"""Figures of how far a network can be relied on, of its communities, and of several networks side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import lazy_loader
import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone

from ..graph import as_graph
from ..validation import Array, InputError, check_choice, check_integer
from . import plots
from .cut import cut_of, matched
from .prose import speaking

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # it takes a tenth of a second, and learning does without

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


STABLE = 0.7  # rank correlation from which influence counts as stable


def plot_influence(graph: Any, ax: Axes | None = None, *, n_nodes: int = 20) -> Axes:
    """Draw the influence of the most influential nodes with its 90% interval, where there is one (a forest plot).

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_influence(nx.DiGraph([("bob", "ann"), ("bob", "cat")]), Figure().subplots(), n_nodes=1)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['bob']
    """
    learned = as_graph(graph)
    count = check_integer("n_nodes", n_nodes, low=1, remedy="it is a number of nodes to draw; try 20")
    first = speaking(learned)[:count]
    ax = plots.axes_or_new(ax)
    rows = np.arange(len(first))
    influence = learned.influence[first]
    if "influence_low" in learned.node_columns:
        low, high = (np.asarray(learned.node_columns[f"influence_{end}"])[first] for end in ("low", "high"))
        ax.hlines(rows, low, high, color=plots.GREY, linewidth=2)
    ax.plot(influence, rows, "o", color=plots.BLUE)
    ax.axvline(float(learned.influence.mean()), color=plots.GREY, linestyle="dotted", linewidth=1)
    ax.set_yticks(rows, [str(name) for name in learned.names[first]], fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel("influence, 90% interval" if "influence_low" in learned.node_columns else "influence")
    return ax


def stability_curve(
    model: Any,
    X: Any,
    *,
    shares: Sequence[float] = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    drop: str = "signals",
    repeats: int = 5,
    random_state: int = 0,
) -> dict[str, Array]:
    """Learn the network again from part of the signals or nodes, and compare it with the network of all of them.

    Parameters
    ----------
    model, X : fitted estimator, and the signals it was fitted to
    shares : list of float, the shares kept
    drop : "signals" (questions of a survey) or "nodes" (its respondents)
    repeats, random_state : int, how often part of them is drawn for each share, and the seed of the draws

    Returns
    -------
    dict of arrays: ``share`` kept; ``agreement`` (the share of weight in common) and ``correlation`` (Spearman, of
    influence), means over repeats; ``cs``, the CS coefficient (Epskamp, Borsboom and Fried, 2018): the largest share
    that can be dropped so that the correlation stays at 0.7 or more in 95% of repeats.

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> X = np.random.default_rng(0).normal(size=(40, 12))
    >>> curve = stability_curve(SmoothGL(degree=3).fit(X), X, shares=(0.5, 1.0), repeats=2)
    >>> curve["agreement"].tolist()[1], curve["cs"].tolist()
    (1.0, 0.0)
    """
    axis = ("signals", "nodes").index(check_choice("drop", drop, ("signals", "nodes"), ""))
    random = np.random.default_rng(random_state)
    whole = model.graph_
    agreement, correlation = np.zeros((2, len(shares), repeats))
    for k, share in enumerate(shares):
        if not 0 < share <= 1:
            raise InputError(f"shares must be above 0 and at most 1, got {share}: they are parts of the {drop} kept")
        for repeat in range(repeats):
            chosen = np.sort(random.choice(X.shape[axis], max(2, round(share * X.shape[axis])), replace=False))
            which = (chosen,) if axis == 0 else (slice(None), chosen)
            other = clone(model).fit(X.iloc[which] if hasattr(X, "iloc") else X[which]).graph_
            nodes = chosen if axis else np.arange(whole.n_nodes)
            kept = whole.weights[nodes][:, nodes]
            agreement[k, repeat] = kept.minimum(other.weights).sum() / max(kept.sum(), np.finfo(float).tiny)
            correlation[k, repeat] = spearmanr(np.asarray(kept.sum(axis=0)).ravel(), other.influence).statistic
    correlation = np.nan_to_num(correlation)
    stable = np.quantile(correlation, 0.05, axis=1) >= STABLE
    return {
        "share": np.asarray(shares, dtype=float),
        "agreement": agreement.mean(axis=1).round(12),
        "correlation": correlation.mean(axis=1),
        "cs": np.asarray(np.max(1.0 - np.asarray(shares)[stable], initial=0.0)),
    }


def plot_stability(curve: dict[str, Array], ax: Axes | None = None) -> Axes:
    """Draw what :func:`stability_curve` found; the line at 0.7 is the bound of the CS coefficient.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curve = {"share": np.array([0.5, 1.0]), "agreement": np.array([0.4, 1.0]), "correlation": np.array([0.6, 1.0])}
    >>> len(plot_stability(curve, Figure().subplots()).lines)
    3
    """
    ax = plots.axes_or_new(ax)
    ax.plot(curve["share"], curve["agreement"], "o-", color=plots.BLUE, label="weight in common")
    ax.plot(curve["share"], curve["correlation"], "s--", color=plots.ORANGE, label="rank correlation of influence")
    ax.axhline(STABLE, color=plots.GREY, linestyle="dotted", linewidth=1)
    ax.set(xlabel="share of the signals kept", ylim=(min(0.0, float(curve["correlation"].min())), 1.02))
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_calibration(graph: Any, truth: Any, ax: Axes | None = None) -> Axes:
    """Draw, for pairs with like evidence, which share of them is tied in truth; on the diagonal they agree.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nashgraph import LearnedGraph
    >>> graph = LearnedGraph.of(np.ones((3, 3)), edge_columns={"probability": np.full(6, 0.75)})
    >>> plot_calibration(graph, np.ones((3, 3)), Figure().subplots()).lines[1].get_xydata().tolist()
    [[0.75, 1.0]]
    """
    curve = calibration_curve(graph, truth)
    column = cut_of(as_graph(graph)).column
    if curve is None:
        raise InputError(
            f"the graph's {column} is not a share from 0 to 1: fit a model with a probability or frequency"
        )
    ax = plots.axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=plots.GREY, linestyle="dotted", linewidth=1)
    ax.plot(*curve, "o-", color=plots.BLUE)
    ax.set(xlabel=column, ylabel="share tied in truth")
    return ax


def calibration_curve(graph: Any, truth: Any) -> tuple[Array, Array] | None:
    """Return the mean evidence of pairs with like evidence, and the share tied in truth; None if it is not a share."""
    if not cut_of(as_graph(graph)).share:
        return None
    values, tied, count = evidence_and_truth(graph, truth)
    place = np.minimum((values * 10).astype(int), 9)  # ten bins
    total = np.bincount(place, weights=count)
    sums = [np.bincount(place, weights=count * each)[total > 0] for each in (values, tied)]
    return sums[0] / total[total > 0], sums[1] / total[total > 0]


def plot_precision_recall(graph: Any, truth: Any, ax: Axes | None = None, *, label: str | None = None) -> Axes:
    """Draw precision against recall of the pairs, surest first; the dotted line is guessing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> plot_precision_recall(nx.path_graph(3), nx.star_graph(2), Figure().subplots()).get_xlabel()
    'recall'
    """
    recall, precision, guessing = precision_recall(graph, truth)
    ax = plots.axes_or_new(ax)
    ax.axhline(guessing, color=plots.GREY, linestyle="dotted", linewidth=1)
    ax.step(recall, precision, where="post", color=plots.next_color(ax), label=label)
    ax.set(xlabel="recall", ylabel="precision", ylim=(0, 1.02))
    if label is not None:
        ax.legend(frameon=False)
    return ax


def precision_recall(graph: Any, truth: Any) -> tuple[Array, Array, float]:
    """Return recall and precision of the pairs, surest last, and the precision of guessing."""
    values, tied, count = evidence_and_truth(graph, truth)
    if not count[tied].any():
        raise InputError("truth has no ties, so there is no recall: pass the true network")
    from sklearn.metrics import precision_recall_curve  # noqa: PLC0415 (a tenth of a second, for runs with a truth)

    precision, recall, _ = precision_recall_curve(tied, values, sample_weight=count)
    return recall, precision, float(count[tied].sum() / count.sum())


def evidence_and_truth(graph: Any, truth: Any) -> tuple[Array, Array, Array]:
    """Return the evidence of pairs, whether the truth ties them, and for how many pairs each entry counts.

    Pairs without evidence are two entries at the end: those tied in truth and those that are not.
    """
    learned = as_graph(graph)
    pairs = learned.undirected()
    true = matched(learned, truth).undirected()
    n = learned.n_nodes
    listed = pairs.listed
    evidence = cut_of(pairs).evidence
    tied = np.isin(pairs.pairs[listed.place], true.pairs)
    n_missed = true.n_edges - int(tied.sum())
    rest = [n_missed, n * (n - 1) // 2 - len(tied) - n_missed]
    values = np.concatenate([evidence[listed.place], [0.0, 0.0]])
    return values, np.concatenate([tied, [True, False]]), np.concatenate([np.ones(len(tied)), rest])


def plot_networks(graphs: Mapping[str, Any], *, n_edges: int | None = None, n_labels: int = 3) -> Figure:
    """Draw several networks side by side, by their titles: groups, waves, methods, or with and without a prior.

    Networks on the same nodes have the same places, and ties that not all of them have are dashed and orange. With
    other nodes each has places of its own. ``n_edges`` and ``n_labels`` are those of :func:`plot_graph`.

    Examples
    --------
    >>> import networkx as nx
    >>> figure = plot_networks({"2019": nx.path_graph(4), "2024": nx.cycle_graph(4)})
    >>> [ax.get_title() for ax in figure.axes], len(figure.axes[1].collections)
    (['2019: 3 ties', '2024: 4 ties'], 3)
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra: imported where used)

    learned = {title: as_graph(graph) for title, graph in graphs.items()}
    if not learned:
        raise InputError("graphs is empty: pass a dict from a title to a network")
    drawn = {}
    keys = {}
    for title, graph in learned.items():
        if n_edges is None:
            count = int(plots.LINES_A_NODE * graph.n_nodes)
        else:
            count = n_edges
        drawn[title] = pairs = plots.surest_pairs(cut_of(graph).ties, count)
        ends = np.stack([graph.names[pairs.source], graph.names[pairs.target]]).astype(str)
        keys[title] = [tuple(pair) for pair in np.sort(ends, axis=0).T.tolist()]
    same = len({tuple(sorted(map(str, graph.names))) for graph in learned.values()}) == 1
    common = set.intersection(*map(set, keys.values()))
    spots = None
    if same:
        union = nx.Graph([pair for pairs in keys.values() for pair in pairs])
        union.add_nodes_from(map(str, next(iter(learned.values())).names))
        whole = as_graph(union)
        spots = dict(zip(union, plots.places_of(None, whole, whole.undirected().listed), strict=True))
    across = min(len(learned), 3)
    down = -(-len(learned) // across)
    figure = Figure(figsize=(4.2 * across, 4.2 * down), layout="constrained")
    for place, (title, graph) in enumerate(learned.items()):
        ax = figure.add_subplot(down, across, place + 1)
        pairs = drawn[title]
        where = plots.places_of(spots and {name: spots[str(name)] for name in graph.names}, graph, pairs)
        shared = np.array([key in common or not same for key in keys[title]], dtype=bool)
        for kind, colour, style in ((shared, plots.BLUE, "solid"), (~shared, plots.ORANGE, "dashed")):
            plots.draw_edges(ax, where, pairs.take(kind), plots.opacities(pairs.weight)[kind], colour, style)
        plots.draw_nodes_and_names(ax, where, graph, n_labels)
        ax.set_title(f"{title}: {len(shared):,} ties")
    if same and len(learned) > 1:
        words = "Blue: ties that all of them have. Orange, dashed: the others."
        ax.text(1.0, -0.02, words, transform=ax.transAxes, ha="right", va="top", fontsize=9)
    return figure
