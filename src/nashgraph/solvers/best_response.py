r"""The fast solver: descent by best responses, on the few pairs that matter.

.. math:: \min_{W \in S} \; \ell(W) = J(W) - \lambda\, g(y(W)), \quad y = \max(0, b + W f(y))

In a large sparse network nearly all pairs are far from ever being an edge, and a pass over all of them is what costs.
So the descent of :mod:`nashgraph.solvers.descent` runs on a list of pairs: those that are edges of W or of its best
response B(W), and those that lack little of it. A round is

1. B(W) by one pass over all pairs, which certifies W by :math:`\|W - B(W)\|_F / \|W\|_F`, the stopping measure, and
   lists the pairs near it;
2. descent from W among the pairs listed, to a fraction of that stationarity.

W stays in S and its objective never rises, because the descent starts at W. The list only grows, so the rounds end:
when no pair outside it is wanted, the descent's own stationarity is that of the whole problem. Small or dense problems
are descended directly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..couplings import (
    Coupling,
    DenseStorage,
    SparseCoupling,
    SparseStorage,
    blas_threads,
    listed_storage,
    positive_part,
    smooth_graph,
)
from ..validation import check_integer
from .descent import Iterate, descend, evaluate
from .problem import Play, Problem
from .result import Callback, History, Record, Result, Status, ending

LISTING_NODES = 1000
BLAS_NODES = 3000
LISTING_DENSITY = 0.05
INNER_ITERATIONS = 100
# Far from the end the list is still wrong, and descending deep on it may lead into a worse valley; near it, depth saves
# passes.
FAR, SHARE_FAR, SHARE_NEAR = 1e-2, 0.3, 0.03


def best_response(
    problem: Problem,
    start: Coupling | None = None,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    memory: int = 6,
    callback: Callback | None = None,
    verbose: int = 0,
) -> Result:
    """Go down from ``start`` (default: the Smooth-GL graph) to a stationary point.

    Parameters
    ----------
    problem : Problem
    start : Coupling, optional
        A graph of the problem's own storage.
    tol : float
        Stationarity at which to stop.
    max_iter : int
        Steps of a direct descent, or rounds over all pairs.
    memory : int
        Plays that Anderson's method remembers; 0 turns it off.
    callback : callable, optional
        Called with the :class:`Record` of every step; a true answer stops the run. Where pairs are listed, the steps
        between two rounds give their stationarity among the pairs listed; ``history`` keeps the rounds, which certify.
    verbose : int
        1 prints every record.

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> problem = Problem.from_signals(X, np.arange(30.0) / 435, lam=10.0, beta=5.0)
    >>> result = best_response(problem, tol=1e-10)
    >>> result.converged, bool(np.all(np.diff([record.objective for record in result.history]) <= 1e-10))
    (True, True)
    """
    max_iter = check_integer("max_iter", max_iter, low=1, remedy="try 500")
    check_integer("memory", memory, low=0, remedy="try 6; 0 turns acceleration off")
    passes = problem.storage.passes
    start = smooth_graph(problem.storage) if start is None else start
    options: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "memory": memory}
    # Products this small gain nothing from BLAS's threads, and lose much to their quarrel with the kernels' own.
    direct = density(problem, start) > LISTING_DENSITY
    small = not direct or problem.storage.n_nodes < BLAS_NODES
    with blas_threads().limit(limits=1 if small else None, user_api="blas"):
        if direct:
            result = descend(problem, start, callback=callback, verbose=verbose, **options)
        else:
            result = descend_listed(problem, start, History(verbose, callback), **options)
    return replace(result, passes=problem.storage.passes - passes)


def density(problem: Problem, coupling: Any) -> float:
    """Return the share of pairs that are edges, or 1 where listing pairs would not pay or cannot be done."""
    if problem.storage.n_nodes < LISTING_NODES or not isinstance(problem.storage, DenseStorage | SparseStorage):
        return 1.0
    return coupling.matrix().astype(bool).sum() / problem.storage.n_nodes**2


def as_sparse(coupling: Any) -> SparseCoupling:
    """Return a dense or sparse coupling as a sparse one, whose products cost what its edges cost."""
    if isinstance(coupling, SparseCoupling):
        return coupling
    return SparseCoupling(positive_part(coupling.weights), coupling.cost, coupling.square)


def descend_listed(
    problem: Problem, start: Coupling, history: History, *, tol: float, max_iter: int, memory: int
) -> Result:
    """Alternate full passes, which certify and list, with descents on the pairs listed."""
    storage: Any = problem.storage
    graph = as_sparse(start)
    now = evaluate(problem, graph, problem.exact, None)
    listed = sparse.csr_array(graph.weights.shape, dtype=storage.dtype)
    status: Status | None = None
    best = np.inf
    for iteration in range(max_iter + 1):
        margin = 2.0 * storage.c * storage.n_nodes / graph.weights.nnz
        response, near = storage.survey(*problem.bonus(now.play), margin)
        stationarity = graph.distance(as_sparse(response)) / float(np.sqrt(graph.square))
        stop = history.add(Record(iteration, now.objective, now.play.welfare, stationarity))
        status = ending(stationarity, tol, stop, iteration == max_iter)
        if status is not None:
            break
        listed = pattern(listed) + pattern(near) + pattern(graph.weights)
        if listed.nnz > 4.0 * LISTING_DENSITY * storage.n_nodes**2:
            rest = descend(
                problem,
                storage.hold(graph.weights),
                tol=tol,
                max_iter=max_iter,
                memory=memory,
                callback=history.callback,
                verbose=history.verbose,
            )
            # Its first record is of the same graph as our last.
            return replace(rest, iterations=iteration + rest.iterations, history=(*history.records, *rest.history[1:]))
        inner = descend(
            replace(problem, storage=listed_storage(storage, listed)),
            graph,
            tol=max(0.3 * tol, (SHARE_FAR if stationarity > FAR else SHARE_NEAR) * stationarity),
            max_iter=INNER_ITERATIONS,
            memory=memory,
            callback=history.callback,
        )
        # Near the end the objective is equal to rounding, and the certificate alone tells progress.
        if not inner.objective < now.objective and stationarity >= best:
            status = Status.STALLED
            break
        best = min(best, stationarity)
        graph = as_sparse(inner.coupling)
        now = Iterate(graph, Play(inner.equilibrium, inner.adjoint, inner.welfare), inner.objective, problem.exact)
        if inner.status is Status.STOPPED:
            status, stationarity = inner.status, problem.stationarity(storage.hold(graph.weights), now.play)
            break
    return Result(
        coupling=graph if isinstance(storage, SparseStorage) else storage.hold(graph.weights),
        equilibrium=now.play.actions,
        adjoint=now.play.adjoint,
        objective=now.objective,
        welfare=now.play.welfare,
        stationarity=stationarity,
        iterations=iteration,
        passes=storage.passes,
        status=status or Status.MAX_ITER,
        history=tuple(history.records),
    )


def pattern(matrix: Any) -> Any:
    """Return where a CSR matrix has entries, as ones: sums of patterns then never cancel."""
    return sparse.csr_array((np.ones_like(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
