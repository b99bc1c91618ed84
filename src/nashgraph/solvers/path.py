r"""The lambda-path: one problem solved for a list of strengths of the prior, each from its neighbours' solutions.

For each :math:`\lambda` the problem is that of :mod:`nashgraph.solvers.problem`; several stationary points may exist,
and which is found depends on the start. Going upward each start is the solution at the next smaller :math:`\lambda`,
going downward that at the next larger one; of the two, the lower objective is kept. Both are certified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..couplings import fidelity, smooth_graph
from ..validation import Array
from .best_response import best_response
from .problem import Problem
from .result import Result
from .strength import lam_range


@dataclass(frozen=True, eq=False)
class Path:
    """Solutions along a list of lambdas: the Pareto front of smoothness against welfare, graphs and certificates.

    Attributes
    ----------
    lams : array of shape (n_lams,), increasing
    fidelities : array of shape (n_lams,), J(W): the lower, the smoother the signals
    welfares : array of shape (n_lams,), g(y)
    objectives, stationarities : arrays of shape (n_lams,)
    results : tuple of Result, one per lambda

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> path = solve_path(Problem.from_signals(X, np.arange(30.0) / 435, beta=5.0), [0.0, 10.0, 100.0])
    >>> bool(np.all(np.diff(path.welfares) > 0)), bool(np.all(np.diff(path.fidelities) > 0))
    (True, True)
    """

    lams: Array
    fidelities: Array
    welfares: Array
    objectives: Array
    stationarities: Array
    results: tuple[Result, ...]


def solve_path(
    problem: Problem,
    lams: Sequence[float] | Array,
    *,
    progress: Callable[[], object] = lambda: None,
    **options: Any,
) -> Path:
    """Solve for every lambda, upward and then downward, and keep the lower objective at each.

    ``problem.lam`` is not used. ``options`` go to :func:`best_response`; ``progress`` is called after every solve.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
    >>> solve_path(problem, [1.0, 2.0]).lams
    array([1., 2.])
    """
    ordered = np.sort(np.asarray(lams, dtype=float))
    best: list[Result | None] = [None] * len(ordered)
    start = smooth_graph(problem.storage)
    for k in [*range(len(ordered)), *range(len(ordered) - 2, -1, -1)]:
        found = best_response(replace(problem, lam=float(ordered[k])), start, **options)
        start = found.coupling
        kept = best[k]
        # The same point found twice differs in rounding only: then the better certificate is kept.
        if kept is None or found.objective < kept.objective - problem.rounding * abs(kept.objective):
            best[k] = found
        progress()
    results = tuple(result for result in best if result is not None)
    return Path(
        lams=ordered,
        fidelities=np.array([fidelity(problem.storage, result.coupling) for result in results]),
        welfares=np.array([result.welfare for result in results]),
        objectives=np.array([result.objective for result in results]),
        stationarities=np.array([result.stationarity for result in results]),
        results=results,
    )


def continuation(problem: Problem, *, n_lams: int = 8, **options: Any) -> Result:
    """Reach ``problem.lam`` along a path from where the prior first changes an edge; keep the better of both ways.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]), lam=30.0)
    >>> continuation(problem).converged
    True
    """
    direct = best_response(problem, **options)
    if problem.lam == 0:
        return direct
    low, _ = lam_range(problem)
    lams = np.geomspace(min(low, 0.5 * problem.lam), problem.lam, n_lams)
    start = smooth_graph(problem.storage)
    for lam in lams[:-1]:
        start = best_response(replace(problem, lam=float(lam)), start, **options).coupling
    gradual = best_response(problem, start, **options)
    return gradual if gradual.objective < direct.objective else direct
