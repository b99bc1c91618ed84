r"""One problem for a list of strengths of the prior, each solved from its neighbours' solutions.

For each :math:`\lambda` the problem is that of :mod:`nashgraph.solvers.problem`; several stationary points may exist,
and which is found depends on the start. Going upward each start is the solution at the next smaller :math:`\lambda`,
going downward that at the next larger one; of the two, the lower objective is kept. Both are certified.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..couplings import Coupling
from ..validation import Array
from .problem import Problem
from .result import Result
from .rounds import best_response
from .strength import lam_range

MANY, HALF = 20, 0.5  # two of so many nodes with so much of the influence make a graph degenerate


def solve_path(
    problem: Problem,
    lams: Array,
    *,
    to_the_end: bool = True,
    progress: Callable[[], object] = lambda: None,
    keep: Callable[[Callable[[], Result]], Result] = lambda solve: solve(),
    **options: Any,
) -> list[Result]:
    """Solve for every lambda, upward and then downward, and keep the lower objective at each.

    ``lams`` increase. Unless it goes to the end, the path ends before two lambdas at which the solver does not
    converge, and with the first at which the graph is :func:`degenerate`; two are always there. ``options`` go to
    :func:`best_response`; ``progress`` is called after every solve. ``keep`` is called with every solve and returns its
    result, by solving or from what is kept of it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> problem = Problem.from_signals(X, np.arange(30.0) / 435, beta=5.0)
    >>> bool(np.all(np.diff([result.welfare for result in solve_path(problem, [0.0, 10.0, 100.0])]) > 0))
    True
    """
    best: list[Result] = []
    for lam in lams:
        start = best[-1] if best else None
        best.append(keep(partial(best_response, problem, float(lam), start, **options)))
        progress()
        if to_the_end or len(best) < 2:
            continue
        if not best[-1].converged and not best[-2].converged:
            best = best[: max(2, len(best) - 2)]
            break
        if degenerate(best[-1].coupling, problem.smoothness.n_nodes):
            break
    found = best[-1]
    for k in range(len(best) - 2, -1, -1):
        found = keep(partial(best_response, problem, float(lams[k]), found, **options))
        # The same point found twice differs in rounding only: then the better certificate is kept.
        if found.objective < best[k].objective - problem.rounding * abs(best[k].objective):
            best[k] = found
        progress()
    return best


def degenerate(graph: Coupling, n_nodes: int) -> bool:
    """Return whether two nodes hold half of all influence among twenty or more: the signals say nothing any more.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> problem = Problem.from_signals(X, np.eye(30)[0] + 0.01, beta=5.0)
    >>> degenerate(problem.smooth, 30), degenerate(best_response(problem, 1000.0).coupling, 30)
    (False, True)
    """
    influence = np.sort(graph.tdot(np.ones(n_nodes)))
    return n_nodes >= MANY and bool(influence[-2:].sum() >= HALF * influence.sum())


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
    start: Result | None = None
    for weaker in np.geomspace(min(low, 0.5 * lam), lam, n_lams)[:-1]:
        start = best_response(problem, float(weaker), start, **options)
    gradual = best_response(problem, lam, start, **options)
    return gradual if gradual.objective < direct.objective else direct
