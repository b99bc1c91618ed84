r"""How strong a prior is: the lambdas at which it is felt, at which it costs a given share of J, and at which it rules.

All are seen from the Smooth-GL graph, to first order in lambda. With the bonus :math:`\lambda\, l_i r_j`, row i moves
by its bonus less its neighbours' mean, over :math:`2\beta`, so that J rises from its minimum :math:`J_0` by

.. math:: \frac{\lambda^2}{4\beta} \sum_i l_i^2 \sum_{j \in N_i} (r_j - \bar r_{N_i})^2

until neighbours change. For GLGP the bonus is :math:`\lambda\, u f(y)^\top`, for its linear approximation
:math:`\lambda\, 1 b^\top`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..couplings import Coupling, Storage, fidelity, first_change, neighbour_spread, smooth_graph
from ..validation import Array, InputError
from .problem import Problem
from .result import Result

COST = 1e-3  # of J: what lam="auto" spends on the prior
LEEWAY, TRIES = 1.5, 7  # how much more it may be, and how often less is tried where it is
FELT = 1e-4


def lam_for_cost(storage: Storage, graph: Coupling, left: Array, right: Array, cost: float = COST) -> float:
    """Return the lambda at which the bonus lam * left_i * right_j raises J by a share ``cost``, to first order.

    Zero where the bonus does not tell any node's neighbours apart: no lambda changes anything then. One pass over the
    pairs; a block of rows is all that is held.

    Parameters
    ----------
    storage : Storage
    graph : Coupling, the Smooth-GL graph of the storage
    left, right : arrays of shape (n_nodes,)
    cost : float

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0, 4.0]]), np.array([0.1, 0.2, 0.3, 0.4]), beta=5.0)
    >>> graph = smooth_graph(problem.storage)
    >>> lam = lam_for_cost(problem.storage, graph, np.ones(4), problem.benefit, cost=1e-4)
    >>> moved = problem.storage.respond(lam * np.ones(4), problem.benefit)
    >>> round(fidelity(problem.storage, moved) / fidelity(problem.storage, graph) - 1, 8)
    0.0001
    """
    threshold: Any = graph.threshold

    def work(start: int, distances: Array) -> float:
        spread = np.empty(len(distances))
        neighbour_spread(distances, start, right, threshold, spread)
        return float(left[start : start + len(distances)] ** 2 @ spread)

    moved = sum(storage.map_distances(work))
    if moved <= (1e-9 * float(np.linalg.norm(left)) * float(np.abs(right).max())) ** 2:
        return 0.0
    return float(np.sqrt(4.0 * storage.beta * cost * fidelity(storage, graph) / moved))


def solve_at_cost(problem: Problem, solve: Callable[[Problem], Result], cost: float = COST) -> tuple[float, Result]:
    """Solve with a lambda whose prior costs about a share ``cost`` of J, and return both.

    The lambda is that of the first order. Where the graph tips over into another and costs more than ``LEEWAY`` times
    as much, a smaller one is tried, some times: ``problem.lam`` is not used.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.solvers import best_response
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> problem = Problem.from_signals(X, np.arange(30.0) / 435, beta=5.0)
    >>> lam, result = solve_at_cost(problem, best_response)
    >>> least = fidelity(problem.storage, smooth_graph(problem.storage))
    >>> round(fidelity(problem.storage, result.coupling) / least - 1, 3)
    0.001
    """
    graph = smooth_graph(problem.storage)
    play = problem.play(graph)
    least = fidelity(problem.storage, graph)
    lam = lam_for_cost(problem.storage, graph, play.adjoint, problem.interaction.value(play.actions), cost)
    result = solve(replace(problem, lam=lam))
    for _ in range(TRIES):
        spent = (fidelity(problem.storage, result.coupling) - least) / max(least, np.finfo(float).tiny)
        if spent <= LEEWAY * cost:
            break
        lam *= float(np.clip(np.sqrt(cost / spent), 0.3, 0.8))
        result = solve(replace(problem, lam=lam))
    return lam, result


def lam_range(problem: Problem) -> tuple[float, float]:
    r"""Return the lambdas between which the prior matters: where it is first felt, and where it dominates.

    Seen from the Smooth-GL graph with its play (y, u), to first order in lambda: the first is the least lambda at which
    a pair gains or loses its edge, or at which J rises by a ten-thousandth if that is less (where all pairs are edges,
    none changes for long); the second is that at which, in every row, the bonus :math:`\lambda u_i f(y_j)`
    differs between nodes by as much as all else, :math:`\max_j D_{ij} - \min_j D_{ij} + 2\beta c`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> low, high = lam_range(Problem.from_signals(X, np.arange(30.0) / 435, beta=5.0))
    >>> 0 < low < high
    True
    """
    storage = problem.storage
    graph = smooth_graph(storage)
    play = problem.play(graph)
    adjoint, reach = (
        play.adjoint.astype(storage.dtype),
        problem.interaction.value(play.actions).astype(storage.dtype),
    )
    spread = float(np.ptp(reach))
    if spread <= 1e-12 * float(np.abs(reach).max()):
        raise InputError(
            "no lam changes an edge, because all nodes act alike on the graph without prior (is benefit uniform?): "
            "give a benefit that differs between nodes, or the lams yourself"
        )

    def work(start: int, distances: Array) -> tuple[float, float]:
        found = np.empty(len(distances), storage.dtype)
        slack = 1e-9 * float(distances.max())
        first_change(distances, start, adjoint, reach, graph.threshold, slack, found)
        others = distances.max(axis=1) - np.partition(distances, 1, axis=1)[:, 1] + 2.0 * storage.beta * storage.c
        weighed = np.maximum(adjoint[start : start + len(distances)] * spread, np.finfo(storage.dtype).tiny)
        return float(found.min()), float((others / weighed).max())

    lows, highs = zip(*storage.map_distances(work), strict=True)
    low, high = min(*lows, lam_for_cost(storage, graph, adjoint, reach, FELT)), max(highs)
    return min(low, high), high
