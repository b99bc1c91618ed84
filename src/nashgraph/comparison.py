"""Several methods on the same signals, side by side in one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone

from .baselines.controls import CONTROLS
from .estimators import GLGP, METHODS, GraphEstimator
from .estimators._benefit import marginal_benefit
from .estimators.base import checked_signals
from .games import Interaction, Welfare, as_interaction, as_welfare
from .graph import LearnedGraph
from .matching import in_order
from .metrics import EdgeScores, edge_scores, equal_influence, matched_truth, symmetrize_for
from .pairs import make_search
from .priors import welfare as game_welfare
from .validation import Array, InputError, InputTypeError, check_choice

CONTROL = "control: "
CHANCE = "control: chance"
ABLATION = "ablation: "
SHUFFLED = "ablation: shuffled benefit"
SCORES = EdgeScores._fields


def compare(
    X: Any,
    truth: Any = None,
    methods: Iterable[Any] | None = None,
    *,
    benefit: str | Array | pd.Series = "spectral",
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
    n_jobs: int | None = None,
    missing: str = "error",
    progress: Callable[[], object] = lambda: None,
) -> pd.DataFrame:
    r"""Fit several methods on the same signals and score their graphs, next to controls that learn nothing.

    With a truth, the controls are what has to be beaten: correlation, cosine, inner product and distance of signals,
    the ten nearest, the benefit alone, and what a random order of the pairs is expected to score ("control: chance").
    "ablation: shuffled benefit" is GLGP with its benefit shuffled among the nodes. It learns from the signals, so it
    is not a control: the difference to GLGP is what the benefit adds.

    .. math:: \text{welfare} = g(y), \qquad y = \max(0,\; b + \bar W f(y)), \qquad
              \bar W_{ij} = 0.95\, W_{ij} / \textstyle\sum_k W_{ik}

    Methods scale their weights differently, so the welfare is that of :math:`\bar W`, in which every node has
    the same total influence; a node without neighbours stays without. The scores against the truth use each
    graph as it is; against a truth without directions the mean of both directions, as ``scored`` says.

    Parameters
    ----------
    X : array or DataFrame of shape (n_signals, n_nodes)
    truth : networkx graph or matrix of shape (n_nodes, n_nodes), optional
        The true graph. Where X is a DataFrame and the truth has names, nodes are matched by name; else they are in the
        order of X's columns.
    methods : list, optional
        Names (those in ``nashgraph.estimators.METHODS``, each the estimator with its defaults), estimators, or pairs
        (label, estimator); None takes all names. Estimators are cloned, never changed.
    benefit : "spectral", "uniform", array of shape (n_nodes,), or Series by the nodes' names
        Marginal benefits b of the game that gives the welfare. Methods with a benefit of their own keep it.
    interaction, welfare : str or Interaction, str or Welfare, the f and g of that game
    n_jobs : int, optional
        Methods fitted at the same time, in processes; None is one, -1 is one per core. Methods that share
        cores take longer each: compare ``seconds`` with ``n_jobs=None`` only.
    missing : "error" or "pairwise"
        What to do about NaN in X: "pairwise" leaves them to the methods that can do with them; the others fail in
        their rows.
    progress : callable, called after every row

    Returns
    -------
    DataFrame, one row for each method in the order given
        ``method``; where truth is given ``auc``, ``average_precision``, ``precision`` (of as many of the heaviest pairs
        as the truth has, for all methods alike; a graph with fewer fills up at random) and ``scored`` ("symmetrised" or
        "directed"); ``edges`` (ordered pairs of positive weight); ``seconds`` of the fit; ``converged``; ``welfare``
        (of the game, which does not show how near to the truth a graph is); ``warnings`` of the fit; ``error`` (why the
        method failed; its scores are then missing). One method's failure leaves the others alone. Controls come last,
        as "control: ...", without welfare and edges, and after them the ablation.

    Examples
    --------
    >>> import networkx as nx
    >>> from nashgraph import SmoothGL
    >>> from nashgraph.datasets import smooth_signals
    >>> club = nx.karate_club_graph()
    >>> X = smooth_signals(club, n_signals=50, filter="gmrf", random_state=0)
    >>> table = compare(X, club, ["smooth", ("few", SmoothGL(degree=3)), "sigrep"])
    >>> table.method.head(4).tolist(), bool((table.auc[:3] > 0.6).all())
    (['smooth', 'few', 'sigrep', 'control: correlation'], True)
    """
    entries = _entries(methods)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # every method warns of the same, in its row
        signals, names = checked_signals(X, missing=missing)
    benefit = in_order("benefit", benefit, names)
    values, _ = marginal_benefit(benefit, make_search(signals))
    game = values, as_interaction(interaction), as_welfare(welfare)
    if truth is not None:  # a truth that cannot be scored against is nobody's failure but the caller's
        nobody = LearnedGraph.of(sparse.csr_array((len(names), len(names))), names)
        truth = matched_truth(truth, nobody)
        edge_scores(truth, nobody)
    given = [(label, _with_missing(estimator, missing)) for label, estimator in entries]
    tasks = [delayed(_row)(label, estimator, X, truth, game) for label, estimator in given]
    if truth is not None:
        tasks += [delayed(_control_row)(name, signals, names, truth, values) for name in CONTROLS]
        prior = next((each for _, each in given if isinstance(each, GLGP)), _with_missing(GLGP(), missing))
        shuffled = clone(prior).set_params(benefit=np.random.default_rng(0).permutation(values))
        tasks.append(delayed(_row)(SHUFFLED, shuffled, X, truth, game))
    rows = []
    for row in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        rows.append(row)
        progress()
    table = pd.DataFrame(rows).astype({"edges": "Int64"})
    if truth is not None:
        return table
    return table.drop(columns=[*SCORES, "scored"])


def verdict(table: pd.DataFrame) -> str:
    """Return in words which methods of a comparison with a truth beat the best control, by average precision."""
    scores = table.set_index("method")["average_precision"].dropna()
    is_control = scores.index.str.startswith(CONTROL)
    methods = scores[~is_control & ~scores.index.str.startswith(ABLATION)]
    controls = scores[is_control].drop(CHANCE, errors="ignore")
    if methods.empty or controls.empty:
        return "no method could be scored"
    name = str(controls.idxmax()).removeprefix(CONTROL)
    bar = float(controls.max())
    against = f"the best control, {name} (average precision {bar:.3f}; chance {scores[CHANCE]:.3f})"
    better, others = (
        ", ".join(f"{method} {score:.3f}" for method, score in part.items())
        for part in (methods[methods > bar], methods[methods <= bar])
    )
    if not better:
        return f"no method is better than {against}: {others}"
    return f"better than {against}: {better}" + (f"; not better: {others}" if others else "")


def _with_missing(estimator: GraphEstimator, missing: str) -> GraphEstimator:
    """Return an estimator that accepts gaps, if it can."""
    if missing == "error" or "missing" not in estimator.get_params(deep=False):
        return estimator
    return clone(estimator).set_params(missing=missing)


def _entries(methods: Iterable[Any] | None) -> list[tuple[str, GraphEstimator]]:
    """Return labels and estimators, out of names, estimators and pairs."""
    given = list(METHODS) if methods is None else [methods] if isinstance(methods, str) else list(methods)
    entries = [_entry(method) for method in given]
    labels = [label for label, _ in entries]
    if not labels:
        raise InputError(f"methods is empty: name at least one of {', '.join(METHODS)}, or pass estimators")
    doubled = sorted({label for label in labels if labels.count(label) > 1})
    if doubled:
        raise InputError(
            f"methods has the label {', '.join(map(repr, doubled))} more than once: pass pairs "
            "(label, estimator) to tell them apart"
        )
    return entries


def _entry(method: object) -> tuple[str, GraphEstimator]:
    if isinstance(method, str):
        return method, METHODS[check_choice("method", method, METHODS, ", or pass an estimator")]()
    if isinstance(method, GraphEstimator):
        return type(method).__name__, method
    if isinstance(method, tuple) and len(method) == 2 and isinstance(method[0], str):
        label, estimator = method
        if isinstance(estimator, GraphEstimator):
            return label, estimator
    raise InputTypeError(
        f"method {method!r} is not a name, an estimator of nashgraph or a pair (label, estimator): "
        f"known names are {', '.join(METHODS)}; pass an instance, for example ('few', SmoothGL(degree=3))"
    )


def _row(label: str, estimator: GraphEstimator, X: Any, truth: Any, game: tuple[Any, ...]) -> dict[str, Any]:
    """Fit one method and return its row, with its warnings and errors: this runs in a worker."""
    row = _empty_row(label, truth)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            model = clone(estimator).fit(X)
            row["seconds"] = time.perf_counter() - start
            row["welfare"] = game_welfare(equal_influence(model.adjacency_), *game)
            row |= {"edges": model.graph_.n_edges, "converged": model.converged_}
            row |= {} if truth is None else _scores(model, truth)
        except Exception as error:
            row["seconds"] = time.perf_counter() - start
            row["error"] = f"{type(error).__name__}: {error}"
    row["warnings"] = "; ".join(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught))
    return row


def _control_row(name: str, signals: Array, names: Array, truth: Any, benefit: Array) -> dict[str, Any]:
    start = time.perf_counter()
    scores = CONTROLS[name](signals, benefit)
    seconds = time.perf_counter() - start
    if symmetrize_for(truth) == "mean":
        scores = 0.5 * (scores + scores.T)
    scores = np.round(scores / (np.abs(scores).max() or 1.0), 12)  # rounding must not order equal pairs
    row = _empty_row(f"{CONTROL}{name}", truth)
    return row | _scores(pd.DataFrame(scores, names, names), truth) | {"seconds": seconds, "converged": True}


def _empty_row(label: str, truth: Any) -> dict[str, Any]:
    if truth is None:
        scored = ""
    else:
        scored = {"mean": "symmetrised", "none": "directed"}[symmetrize_for(truth)]
    row = {"method": label, **dict.fromkeys(SCORES, np.nan), "scored": scored, "edges": pd.NA}
    return row | {"seconds": np.nan, "converged": False, "welfare": np.nan, "warnings": "", "error": ""}


def _scores(weights: Any, truth: Any) -> dict[str, float]:
    return edge_scores(truth, weights, symmetrize_for(truth))._asdict()
