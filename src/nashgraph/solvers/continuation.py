r"""One problem for a list of strengths of the prior, each solved from its neighbours' solutions.

For each :math:`\lambda` the problem is that of :mod:`nashgraph.solvers.problem`; several stationary points may exist,
and which is found depends on the start. Going upward each start is the solution at the next smaller :math:`\lambda`,
going downward that at the next larger one; of the two, the lower objective is kept. Both are certified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..validation import Array
from .problem import Problem
from .result import Result
from .rounds import best_response
from .strength import lam_range


def solve_path(
    problem: Problem, lams: Array, *, progress: Callable[[], object] = lambda: None, **options: Any
) -> list[Result]:
    """Solve for every lambda, upward and then downward, and keep the lower objective at each.

    ``lams`` increase. ``options`` go to :func:`best_response`; ``progress`` is called after every solve.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> problem = Problem.from_signals(X, np.arange(30.0) / 435, beta=5.0)
    >>> bool(np.all(np.diff([result.welfare for result in solve_path(problem, [0.0, 10.0, 100.0])]) > 0))
    True
    """
    best: dict[int, Result] = {}
    start = problem.smooth
    for k in [*range(len(lams)), *range(len(lams) - 2, -1, -1)]:
        found = best_response(problem, float(lams[k]), start, **options)
        start = found.coupling
        # The same point found twice differs in rounding only: then the better certificate is kept.
        if k not in best or found.objective < best[k].objective - problem.rounding * abs(best[k].objective):
            best[k] = found
        progress()
    return [best[k] for k in range(len(lams))]


def solve_gradually(problem: Problem, lam: float, *, n_lams: int = 8, **options: Any) -> Result:
    """Reach ``lam`` along a path from where the prior first changes an edge; keep the better of both ways.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
    >>> solve_gradually(problem, 30.0).converged
    True
    """
    direct = best_response(problem, lam, **options)
    if lam == 0:
        return direct
    low, _ = lam_range(problem)
    start = problem.smooth
    for weaker in np.geomspace(min(low, 0.5 * lam), lam, n_lams)[:-1]:
        start = best_response(problem, float(weaker), start, **options).coupling
    gradual = best_response(problem, lam, start, **options)
    return gradual if gradual.objective < direct.objective else direct
