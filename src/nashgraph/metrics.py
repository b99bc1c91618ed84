"""How well a learned graph matches a true one, and how good a society it makes.

All scores run over the ordered off-diagonal pairs of W as it is, or of its evidence if it is a graph that has some
(:class:`~nashgraph.graph.LearnedGraph`); ``symmetrize`` makes it "mean" (of the two
directions) or "max" first. W and A are each a learned graph, a fitted estimator, a networkx graph or a matrix
(``A[i, j]`` is the edge j -> i), on the same nodes: matched by name where both have names, else in the same order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics import average_precision_score, roc_auc_score

from .games import Interaction, Welfare
from .games import welfare as game_welfare
from .graph import EVIDENCE, LearnedGraph, adjacency_matrix, as_graph
from .matching import in_order, names_of, order_of, square
from .validation import Array, InputError, check_choice, check_square, warn


class PrecisionRecall(NamedTuple):
    """Precision and recall of the heaviest edges."""

    precision: float
    recall: float


def edge_auc(W: Any, A: Any, symmetrize: str = "none") -> float:
    """Return the area under the ROC curve of W's weights as scores for the edges of A.

    Examples
    --------
    >>> import networkx as nx, numpy as np
    >>> edge_auc(np.array([[0, 0.9, 0.1], [0.5, 0, 0.5], [0.2, 0.8, 0]]), nx.path_graph(3))
    1.0
    """
    scores, truth = _pairs(W, A, symmetrize)
    return float(roc_auc_score(truth, scores))


def edge_average_precision(W: Any, A: Any, symmetrize: str = "none") -> float:
    """Return the average precision of W's weights as scores for the edges of A.

    Examples
    --------
    >>> import networkx as nx, numpy as np
    >>> edge_average_precision(np.array([[0, 0.9, 0.1], [0.5, 0, 0.5], [0.2, 0.8, 0]]), nx.path_graph(3))
    1.0
    """
    scores, truth = _pairs(W, A, symmetrize)
    return float(average_precision_score(truth, scores))


def edge_precision_recall(W: Any, A: Any, symmetrize: str = "none", *, fill: bool = False) -> PrecisionRecall:
    """Return precision and recall when as many of W's heaviest edges are kept as A has.

    Pairs of weight zero are never kept, so a sparse W may keep fewer; with ``fill`` the rest is drawn from them, in
    expectation, so that graphs with few edges and with many are scored at the same number. Edges tied at the cut count
    by the share of them that fits, so that the order of the nodes does not matter.

    Examples
    --------
    >>> import networkx as nx, numpy as np
    >>> edge_precision_recall(np.array([[0, 0.9, 0], [0.5, 0, 0], [0.6, 0, 0]]), nx.path_graph(3))
    PrecisionRecall(precision=0.6666666666666666, recall=0.5)
    """
    scores, truth = _pairs(W, A, symmetrize)
    n_true = int(truth.sum())
    n_kept = n_true if fill else min(n_true, int((scores > 0).sum()))
    if n_kept == 0:
        return PrecisionRecall(0.0, 0.0)
    cut = np.partition(scores, len(scores) - n_kept)[len(scores) - n_kept]
    above, tied = scores > cut, scores == cut
    hits = float(truth[above].sum()) + (n_kept - int(above.sum())) * float(truth[tied].mean())
    return PrecisionRecall(hits / n_kept, hits / n_true)


def symmetrize_for(A: Any) -> str:
    """Return how to symmetrize weights that are scored against A: by the mean where A has no directions, else not.

    Examples
    --------
    >>> symmetrize_for(nx.path_graph(3)), symmetrize_for(nx.DiGraph([(0, 1)]))
    ('mean', 'none')
    """
    matrix = sparse.csr_array(_matrix(A)) != 0
    return "none" if (matrix != matrix.T).nnz else "mean"


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
    >>> import numpy as np
    >>> strong = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> welfare_gain(strong, 0 * strong, np.ones(2), "linear")
    2.0
    """
    benefit = in_order("b", b, names_of(W) or range(len(b))) if isinstance(b, pd.Series) else b
    ours, theirs = (game_welfare(graph, benefit, interaction, welfare) for graph in (_matrix(W), _like(W, reference)))
    return ours - theirs


def equal_influence(W: Any, c: float = 0.95) -> Any:
    """Return W as a sparse matrix with every row that has a neighbour scaled to the sum c.

    Methods scale their weights differently; on graphs scaled so, their welfares can be compared. A node without
    neighbours stays without.

    Examples
    --------
    >>> import numpy as np
    >>> equal_influence(np.array([[0.0, 2.0, 2.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), c=0.5).toarray()
    array([[0.  , 0.25, 0.25],
           [0.5 , 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    weights = sparse.csr_array(_matrix(W))
    sums = np.asarray(weights.sum(axis=1), dtype=float).ravel()
    scale = np.divide(c, sums, out=np.zeros_like(sums), where=sums > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ weights)


def _pairs(W: Any, A: Any, symmetrize: str) -> tuple[Array, Array]:
    """Return the scores and the truth of all ordered off-diagonal pairs, as vectors."""
    scores, truth = _dense("W", _scores(W)), _dense("A", _like(W, A))
    if scores.shape != truth.shape:
        raise InputError(
            f"W has shape {scores.shape} and A {truth.shape}: both must be on the same nodes, in one order"
        )
    check_choice("symmetrize", symmetrize, ("none", "mean", "max"))
    if symmetrize == "mean":
        scores = 0.5 * (scores + scores.T)
    elif symmetrize == "max":
        scores = np.maximum(scores, scores.T)
    off_diagonal = ~np.eye(len(scores), dtype=bool)
    edges = truth[off_diagonal] != 0
    if edges.all() or not edges.any():
        raise InputError(
            f"A has {'every' if edges.any() else 'no'} possible edge, so there is nothing to tell apart: check A"
        )
    return scores[off_diagonal], edges


def _dense(name: str, graph: Any) -> Array:
    square = check_square(name, _matrix(graph), "pass an adjacency matrix")
    dense: Array = square.toarray() if sparse.issparse(square) else square
    return dense


def _like(W: Any, A: Any) -> Any:
    """Return A's matrix, its nodes in the order of W's: by name where both have names."""
    theirs = names_of(A)
    if theirs is not None and (isinstance(W, np.ndarray) or sparse.issparse(W)):
        warn(
            "W is a matrix without names and A's nodes have names: both are taken in one order; pass the model or "
            "its graph_ in place of the matrix to have nodes matched by name"
        )
    order, matrix = order_of(names_of(W), theirs, "W", "A"), _matrix(A)
    return matrix if order is None else sparse.csr_array(matrix)[order][:, order]


def _scores(graph: Any) -> Any:
    """Return what pairs are ranked by: their evidence where a graph or a fitted model has it, else their weights."""
    if isinstance(graph, LearnedGraph | BaseEstimator):
        learned = as_graph(graph)
        evidence = getattr(graph, "evidence_", None)
        if evidence is None and EVIDENCE in learned.edge_columns:
            entries = learned.strength, learned.weights.indices, learned.weights.indptr
            evidence = sparse.csr_array(entries, shape=learned.weights.shape)
        return learned.weights if evidence is None else evidence
    return _matrix(graph)


def _matrix(graph: Any) -> Any:
    """Return the matrix of whatever is taken for a graph; a matrix as it is, because a score may be negative."""
    if isinstance(graph, LearnedGraph | BaseEstimator):
        return as_graph(graph).weights
    if isinstance(graph, pd.DataFrame):
        return square("a table", graph).to_numpy()
    return adjacency_matrix(graph) if isinstance(graph, nx.Graph) else graph
