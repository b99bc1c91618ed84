r"""The fast solver: descent by best responses, on the few pairs that matter.

.. math:: \min_{W \in S} \; \ell(W) = J(W) - \lambda\, g(y(W)), \quad y = \max(0, b + W f(y))

In a large sparse network nearly all pairs are far from ever being an edge, and a pass over all of them is what costs.
So the descent of :mod:`nashgraph.solvers.descent` runs on a list of pairs: those that are edges of W or of its best
response B(W), and those that lack little of it. A round is

1. B(W) by one pass over all pairs, which certifies W by :math:`\|W - B(W)\|_F / \|W\|_F`, the stopping measure, and
   lists the pairs near it;
2. descent from W among the pairs listed, to a fraction of that stationarity or, where it is small, to the end.

W stays in S and its objective never rises, because the descent starts at W. The list only grows, so the rounds end:
when no pair outside it is wanted, the descent's own stationarity is that of the whole problem. Small or dense problems
are descended directly.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from ..certificate import Callback, Ending, Measure, Watch
from ..couplings import Coupling, SparseCoupling, blas_threads, union
from ..validation import check_integer
from .descent import Iterate, Pace, descend, evaluate
from .problem import Play, Problem
from .result import Result, start_of

LISTING_NODES = 1000
BLAS_NODES = 3000
LISTING_DENSITY = 0.05
INNER_ITERATIONS = 100
# Far from the end the list is still wrong, and descending deep on it may lead into a worse valley; near it, depth saves
# passes. Where no weight is to move by more than a share STILL of the margin of the list, hardly a pair is missing.
FAR, SHARE_FAR, SHARE_NEAR, SHARE_LAST, STILL = 1e-2, 0.3, 0.03, 0.3, 0.2
OF_A_ROUND = (Ending.CONVERGED, Ending.MAX_ITER, Ending.STALLED)  # endings after which the rounds go on


def best_response(
    problem: Problem,
    lam: float,
    start: Coupling | Result | None = None,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    memory: int = 6,
    callback: Callback | None = None,
) -> Result:
    """Go down from ``start`` (default: the Smooth-GL graph) to a stationary point.

    Parameters
    ----------
    problem : Problem
    lam : float, how much the welfare counts
    start : Coupling or Result, optional
        A graph of the problem's own smoothness term, or what a solver returned: the game on it is then known.
    tol : float
        Stationarity at which to stop.
    max_iter : int
        Steps of a direct descent, or rounds over all pairs, of up to a hundred steps each. A run whose stationarity has
        not halved in ten times as many steps, or in twice as many that had to be cut short, ends as slow.
    memory : int
        Plays that Anderson's method remembers; 0 turns it off.
    callback : callable, optional
        Called with the :class:`Record` of every step; a true answer stops the run. Where pairs are listed, the steps
        between two rounds give their stationarity among the pairs listed; the history keeps the rounds, which certify.

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> problem = Problem.from_signals(X, np.arange(30.0) / 435, beta=5.0)
    >>> result = best_response(problem, 10.0, tol=1e-10)
    >>> result.converged, bool(np.all(np.diff([record.objective for record in result.certificate.history]) <= 1e-10))
    (True, True)
    """
    max_iter = check_integer("max_iter", max_iter, low=1, remedy="try 500")
    check_integer("memory", memory, low=0, remedy="try 6; 0 turns acceleration off")
    smoothness = problem.smoothness
    passes = smoothness.passes
    graph, play = start_of(problem, start)
    options: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "memory": memory, "callback": callback}
    options |= {"pace": Pace(max_iter), "play": play}
    direct = not listing_pays(problem, graph)
    if smoothness.proves:  # a step costs what one among listed pairs does, so there may be as many
        options["max_iter"] *= INNER_ITERATIONS
    with kernels_alone(problem, graph):
        solve = descend if direct else descend_listed
        result = solve(problem, lam, graph, **options)
    return replace(result, passes=smoothness.passes - passes)


def listing_pays(problem: Problem, coupling: Coupling) -> bool:
    """Tell whether to descend on listed pairs: where they can be listed, in a large problem with a sparse graph."""
    smoothness = problem.smoothness
    if smoothness.n_nodes < LISTING_NODES or not smoothness.lists:
        return False
    return coupling.sparse().weights.nnz <= LISTING_DENSITY * smoothness.n_nodes**2


def kernels_alone(problem: Problem, coupling: Coupling) -> AbstractContextManager[Any]:
    """Hold BLAS to one thread for a while, unless products with a large dense graph are what costs.

    Vectors and small graphs gain nothing from BLAS's threads, which wait for more to do, and quarrel with the kernels'.
    """
    small = problem.smoothness.n_nodes < BLAS_NODES or listing_pays(problem, coupling)
    return blas_threads().limit(limits=1 if small else None)


def on_few_pairs(problem: Problem, lam: float) -> tuple[Problem, Coupling]:
    """Return a problem to try a lambda on, or smaller ones, and its graph without prior.

    It is that on the pairs near the answer to the game without prior, one pass, where listing pays; else the problem.
    """
    smooth, smoothness = problem.smooth, problem.smoothness
    if not listing_pays(problem, smooth):
        return problem, smooth
    graph = smooth.sparse()
    _, near = smoothness.survey(*problem.bonus(problem.smooth_play, lam), margin_of(graph))
    return replace(problem, smoothness=smoothness.listed(union(near, graph.weights))), graph


def margin_of(graph: SparseCoupling) -> float:
    """Return how little a pair may lack of being an edge to be listed: twice the mean weight."""
    return 2.0 * float(graph.weights.sum()) / graph.weights.nnz


def depth(graph: SparseCoupling, response: SparseCoupling, stationarity: float) -> float:
    """Return the stationarity to descend to on the pairs near a graph's best response; 0 for as far as may be."""
    if stationarity > FAR:
        return SHARE_FAR * stationarity
    moved = float(np.abs((response.weights - graph.weights).data).max(initial=0.0))
    return 0.0 if moved <= STILL * margin_of(graph) else SHARE_NEAR * stationarity


def descend_listed(
    problem: Problem,
    lam: float,
    start: Coupling,
    *,
    tol: float,
    max_iter: int,
    memory: int,
    callback: Callback | None,
    pace: Pace,
    play: Play | None,
) -> Result:
    """Alternate full passes, which certify and list, with descents on the pairs listed."""
    smoothness = problem.smoothness
    watch = Watch(Measure.STATIONARITY, tol, max_iter, callback)
    graph = start.sparse()
    now = evaluate(problem, lam, graph, problem.exact, play)
    listed = graph.weights
    best = np.inf
    for iteration in range(max_iter + 1):
        response, near = smoothness.survey(*problem.bonus(now.play, lam), margin_of(graph))
        stationarity = graph.distance(response.sparse()) / float(np.sqrt(graph.square))
        ending = watch.ends(iteration, now.objective, stationarity, now.play.welfare)
        if ending is not None:
            break
        listed = union(listed, near)
        if listed.nnz > 4.0 * LISTING_DENSITY * smoothness.n_nodes**2:
            return descend_on(problem, lam, smoothness.adopt(graph), watch, memory, pace)
        inner = descend(
            replace(problem, smoothness=smoothness.listed(listed)),
            lam,
            graph,
            tol=max(SHARE_LAST * tol, depth(graph, response.sparse(), stationarity)),
            max_iter=INNER_ITERATIONS,
            memory=memory,
            callback=callback,
            pace=pace,
            play=now.play,
        )
        # Near the end the objective is equal to rounding, and the certificate alone tells progress.
        if not inner.objective < now.objective and stationarity >= best:
            ending = Ending.STALLED
            break
        best = min(best, stationarity)
        graph = inner.coupling.sparse()
        now = Iterate(graph, inner.play, inner.objective, problem.exact)
        if inner.certificate.ending not in OF_A_ROUND:  # slow, or as the callback asked
            ending = inner.certificate.ending
            stationarity = problem.stationarity(smoothness.adopt(graph), now.play, lam)
            break
    assert ending is not None  # the watch ends the last iteration
    certificate = watch.certificate(ending, stationarity)
    return Result(smoothness.adopt(graph), now.play, now.objective, smoothness.passes, certificate)


def descend_on(problem: Problem, lam: float, start: Coupling, watch: Watch, memory: int, pace: Pace) -> Result:
    """Descend on all pairs from here on, because the list is too long to save time; the history goes on."""
    options: dict[str, Any] = {"tol": watch.tol, "max_iter": watch.max_iter, "callback": watch.callback}
    rest = descend(problem, lam, start, memory=memory, pace=pace, **options)
    done = len(watch.records) - 1
    # Its first record is of the same graph as our last.
    history = (
        *watch.records,
        *(record._replace(iteration=done + record.iteration) for record in rest.certificate.history[1:]),
    )
    certificate = replace(rest.certificate, iterations=done + rest.iterations, history=history)
    return replace(rest, certificate=certificate)
