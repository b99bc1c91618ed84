"""Scores of a learned graph against a true one, and the welfare of its game.

Scores take the truth first, as in scikit-learn, and run over the ordered off-diagonal pairs of the weights as they are,
or of the evidence if a graph has some (:class:`~nashgraph.graph.LearnedGraph`);
``symmetrize`` replaces these by the "mean" or the "max" of the two directions. Truth and score are each a learned
graph, a fitted estimator, a networkx graph or a matrix (``A[i, j]`` is the edge j -> i), on the same nodes: matched by
name if both have names, else in the same order.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import lazy_loader
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator

from .games import Interaction, Welfare
from .graph import LearnedGraph, adjacency_matrix, as_graph
from .matching import in_order, is_numbered, names_of, order_of, square
from .priors import welfare as game_welfare
from .validation import Array, InputError, check_choice, check_square, warn

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # it takes a tenth of a second, and learning does without


class PrecisionRecall(NamedTuple):
    """Precision and recall of the heaviest edges."""

    precision: float
    recall: float


class EdgeScores(NamedTuple):
    """The three scores of one graph."""

    auc: float
    average_precision: float
    precision: float


def scikit_metrics() -> Any:
    """Return scikit-learn's metrics, which take a tenth of a second to import and which few runs need."""
    return import_module("sklearn.metrics")


def edge_auc(truth: Any, score: Any, symmetrize: str = "none") -> float:
    """Return the area under the ROC curve of weights as scores for the edges of the truth.

    Examples
    --------
    >>> edge_auc(nx.path_graph(3), np.array([[0, 0.9, 0.1], [0.5, 0, 0.5], [0.2, 0.8, 0]]))
    1.0
    """
    check_order(truth, score)
    return float(scikit_metrics().roc_auc_score(*_pairs(truth, score, symmetrize)))


def edge_average_precision(truth: Any, score: Any, symmetrize: str = "none") -> float:
    """Return the average precision of weights as scores for the edges of the truth.

    Examples
    --------
    >>> edge_average_precision(nx.path_graph(3), np.array([[0, 0.9, 0.1], [0.5, 0, 0.5], [0.2, 0.8, 0]]))
    1.0
    """
    check_order(truth, score)
    return float(scikit_metrics().average_precision_score(*_pairs(truth, score, symmetrize)))


def edge_precision_recall(truth: Any, score: Any, symmetrize: str = "none") -> PrecisionRecall:
    """Return precision and recall of as many of the heaviest pairs as the truth has edges.

    Pairs of weight zero are never among them, so a sparse graph may have fewer. Edges tied at the cut count by the
    share of them that fits, so that the order of the nodes does not matter.

    Examples
    --------
    >>> edge_precision_recall(nx.path_graph(3), np.array([[0, 0.9, 0], [0.5, 0, 0], [0.6, 0, 0]]))
    PrecisionRecall(precision=0.6666666666666666, recall=0.5)
    """
    check_order(truth, score)
    return _precision_recall(*_pairs(truth, score, symmetrize), fill=False)


def edge_scores(truth: Any, score: Any, symmetrize: str = "none") -> EdgeScores:
    """Return all three scores, the precision at the true number of edges, whatever the values of the truth."""
    pairs = _pairs(truth, score, symmetrize)
    precision = _precision_recall(*pairs, fill=True).precision
    scikit = scikit_metrics()
    return EdgeScores(float(scikit.roc_auc_score(*pairs)), float(scikit.average_precision_score(*pairs)), precision)


def check_order(truth: Any, score: Any) -> None:
    """Refuse arguments in the order of version 0.1, score first, if that can be told."""
    learned = isinstance(truth, LearnedGraph | BaseEstimator), isinstance(score, LearnedGraph | BaseEstimator)
    if learned == (True, False):
        reason = "the first is a learned graph and the second is not"
    elif any(learned) or isinstance(truth, nx.Graph) or _is_binary(truth) or not _is_binary(score):
        return
    else:
        reason = "the first has weights and the second only zeros and ones"
    raise InputError(
        f"the truth comes first and the score second, as in scikit-learn, but {reason}: swap them, or, if the truth "
        "does have weights, pass truth != 0"
    )


def _is_binary(graph: Any) -> bool:
    """Whether a networkx graph, or a matrix that has zeros and ones only."""
    if isinstance(graph, nx.Graph):
        return True
    matrix = _matrix(graph)
    values = matrix.data if sparse.issparse(matrix) else np.asarray(matrix)
    return bool(np.isin(values, (0, 1)).all())


def _precision_recall(truth: Array, scores: Array, fill: bool) -> PrecisionRecall:
    """Return precision and recall of the highest scores, as many as are true; ``fill`` draws from those of 0 too."""
    n_true = int(truth.sum())
    n_kept = n_true if fill else min(n_true, int((scores > 0).sum()))
    if n_kept == 0:
        return PrecisionRecall(0.0, 0.0)
    cut = np.partition(scores, len(scores) - n_kept)[len(scores) - n_kept]
    above = scores > cut
    tied = scores == cut
    hits = float(truth[above].sum()) + (n_kept - int(above.sum())) * float(truth[tied].mean())
    return PrecisionRecall(hits / n_kept, hits / n_true)


def symmetrize_for(truth: Any) -> str:
    """Return how to symmetrize weights scored against a truth: "mean" if it is undirected, else "none"."""
    matrix = sparse.csr_array(_matrix(truth)) != 0
    return "none" if (matrix != matrix.T).nnz else "mean"


def matched_truth(truth: Any, score: LearnedGraph) -> LearnedGraph:
    """Return a truth's edges, each of weight 1, on the nodes of a learned graph: matched once for many scores."""
    edges = sparse.csr_array(_like(score, truth, "score", "truth")) != 0
    if edges.shape != score.weights.shape:
        raise InputError(f"truth has {edges.shape[0]} nodes and score {score.n_nodes}: both must have the same nodes")
    return LearnedGraph.of(edges, score.names)


def welfare_gain(
    W: Any,
    reference: Any,
    b: Array | pd.Series,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
) -> float:
    """Return the welfare of the game on W minus that on a reference graph, with the same benefits.

    Examples
    --------
    >>> strong = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> welfare_gain(strong, 0 * strong, np.ones(2), "linear")
    2.0
    """
    benefit = in_order("b", b, names_of(W) or range(len(b)), "W")
    ours, theirs = (game_welfare(graph, benefit, interaction, welfare) for graph in (_matrix(W), _like(W, reference)))
    return ours - theirs


def equal_influence(W: Any, c: float = 0.95) -> Any:
    """Return W as a sparse matrix with every row that has a neighbour scaled to the sum c.

    Methods scale their weights differently; on graphs scaled so, their welfares can be compared. A node without
    neighbours stays without.

    Examples
    --------
    >>> equal_influence(np.array([[0.0, 2.0, 2.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), c=0.5).toarray()
    array([[0.  , 0.25, 0.25],
           [0.5 , 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    weights = sparse.csr_array(_matrix(W))
    sums = np.asarray(weights.sum(axis=1), dtype=float).ravel()
    scale = np.divide(c, sums, out=np.zeros_like(sums), where=sums > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ weights)


def _pairs(truth: Any, score: Any, symmetrize: str) -> tuple[Array, Array]:
    """Return truth and scores of all ordered off-diagonal pairs, as vectors."""
    scores = _dense("score", _scores(score))
    edges = _dense("truth", _like(score, truth, "score", "truth")) != 0
    if scores.shape != edges.shape:
        raise InputError(
            f"score has shape {scores.shape} and truth {edges.shape}: both must be on the same nodes, in one order"
        )
    check_choice("symmetrize", symmetrize, ("none", "mean", "max"))
    if symmetrize == "mean":
        scores = 0.5 * (scores + scores.T)
    elif symmetrize == "max":
        scores = np.maximum(scores, scores.T)
    off_diagonal = ~np.eye(len(scores), dtype=bool)
    present = edges[off_diagonal]
    if present.all() or not present.any():
        raise InputError(
            f"truth has {'every' if present.any() else 'no'} possible edge, so there is nothing to tell apart: check it"
        )
    return present, scores[off_diagonal]


def _dense(name: str, graph: Any) -> Array:
    matrix = check_square(name, _matrix(graph), "pass an adjacency matrix")
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def _like(graph: Any, other: Any, name: str = "W", other_name: str = "reference") -> Any:
    """Return the matrix of another graph, its nodes in the order of the first: by name if both have names."""
    theirs = names_of(other)
    is_matrix = isinstance(graph, np.ndarray) or sparse.issparse(graph)
    if is_matrix and theirs is not None and not is_numbered(theirs):
        warn(
            f"{name} is a matrix without names and the nodes of {other_name} have names: both are taken in one order; "
            "pass the model or its graph_ in place of the matrix to have nodes matched by name"
        )
    order = order_of(names_of(graph), theirs, name, other_name)
    matrix = _matrix(other)
    if order is None:
        return matrix
    return sparse.csr_array(matrix)[order][:, order]


def _scores(graph: Any) -> Any:
    """Return what pairs are ranked by: their evidence where a graph or a fitted model has it, else their weights."""
    if isinstance(graph, LearnedGraph | BaseEstimator):
        learned = as_graph(graph)
        evidence = getattr(graph, "evidence_", None)  # a model also has it for pairs without an edge
        return learned.strengths if evidence is None else evidence
    return _matrix(graph)


def _matrix(graph: Any) -> Any:
    """Return the matrix of a graph; a matrix is returned as it is, because a score may be negative."""
    if isinstance(graph, LearnedGraph | BaseEstimator):
        return as_graph(graph).weights
    if isinstance(graph, pd.DataFrame):
        return square("a table", graph).to_numpy()
    if isinstance(graph, nx.Graph):
        return adjacency_matrix(graph)
    return graph
