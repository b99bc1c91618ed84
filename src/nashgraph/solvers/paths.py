r"""One problem from several starts and for several strengths of the prior.

At a large :math:`\lambda` several stationary points may exist, and which is found depends on the start. Along a path
each start going upward is the solution at the next smaller :math:`\lambda`, going downward that at the next larger one;
of the two, the lower objective is kept. All are certified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from ..pairs import Bonus, Weights
from ..priors import GamePrior
from ..priors.prior import InMemory
from ..validation import Array
from .descent import BestResponse
from .problem import Problem, Result, SolverOptions
from .strength import lam_range


def solve_path(
    problem: Problem,
    lams: Array,
    solver: BestResponse,
    *,
    to_the_end: bool = True,
    progress: Callable[[], object] = lambda: None,
) -> list[Result]:
    """Solve for every lambda, upward and then downward, and keep the lower objective at each.

    ``lams`` increase. Unless it goes to the end, the path ends before two lambdas at which the solver does not
    converge, and with the first at which the graph is :func:`degenerate`; two are always there. ``progress``
    is called after every solve.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> problem = Problem.from_signals(X, np.arange(30.0) / 435, beta=5.0)
    >>> found = solve_path(problem, [0.0, 10.0, 100.0], BestResponse())
    >>> bool(np.all(np.diff([result.welfare for result in found]) > 0))
    True
    """
    best: list[Result] = []
    for lam in lams:
        start = best[-1] if best else None
        best.append(solver.solve(problem, float(lam), start))
        progress()
        if to_the_end or len(best) < 2:
            continue
        if not best[-1].converged and not best[-2].converged:
            best = best[: max(2, len(best) - 2)]
            break
        if degenerate(best[-1].weights, problem.smoothness.n_nodes):
            break
    found = best[-1]
    for k in range(len(best) - 2, -1, -1):
        found = solver.solve(problem, float(lams[k]), found)
        # The same point found twice differs in rounding only: then the better certificate is kept.
        if found.objective < best[k].objective - problem.rounding * abs(best[k].objective):
            best[k] = found
        progress()
    return best


def degenerate(graph: Weights, n_nodes: int) -> bool:
    """Return whether two nodes hold half of all influence among twenty or more: the signals say nothing any more."""
    influence = np.sort(graph.tdot(np.ones(n_nodes)))
    return n_nodes >= 20 and bool(influence[-2:].sum() >= 0.5 * influence.sum())


def solve_gradually(problem: Problem, lam: float, solver: BestResponse) -> Result:
    """Reach ``lam`` in eight steps from where the prior first changes an edge, and at once; keep the better of both."""
    direct = solver.solve(problem, lam)
    if lam == 0:
        return direct
    gradual: Result | None = None
    for weaker in np.geomspace(min(lam_range(problem)[0], 0.5 * lam), lam, 8):
        gradual = solver.solve(problem, float(weaker), gradual)
    if gradual is not None and gradual.objective < direct.objective:
        return gradual
    return direct


def starting_points(problem: Problem, lam: float, random: np.random.RandomState) -> Iterator[Weights]:
    """Yield starts without end: Smooth-GL, the best response to the prior at a uniform graph, LinearGLGP, random ones.

    A random start is the best response to the prior at a random graph.
    """
    n = problem.smoothness.n_nodes
    c = problem.smoothness.c

    def response_on(graph: Any) -> Weights:
        return problem.respond(problem.prior.evaluate(graph, tol=1e-8), lam)

    def uniform(vector: Array) -> Array:
        """Return W v, and W^T v, of the graph in which everybody has the same weight."""
        spread: Array = c / (n - 1) * (vector.sum() - vector)
        return spread

    yield problem.smooth
    yield response_on(InMemory(uniform, uniform))
    if isinstance(problem.prior, GamePrior):
        yield problem.smoothness.respond(Bonus.of(np.full(n, lam), problem.prior.benefit))
    while True:
        yield response_on(problem.smoothness.hold(random_rows(n, c, random)))


def random_rows(n: int, c: float, random: np.random.RandomState) -> Any:
    """Return a CSR matrix in S whose rows have about ten neighbours drawn at random, with random weights."""
    shape = n, min(10, n - 1)
    columns = (np.arange(n)[:, None] + random.randint(1, n, size=shape)) % n
    weights = random.standard_exponential(shape)
    weights *= c / weights.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(n), shape[1])
    return sparse.csr_array((weights.ravel(), (rows, columns.ravel())), shape=(n, n))


def multistart(problem: Problem, lam: float, solver: SolverOptions, random: np.random.RandomState) -> Result:
    """Solve from the first ``n_starts`` starting points and return the result of least objective."""
    starts = islice(starting_points(problem, lam, random), solver.n_starts)
    return min((solver.solve(problem, lam, start) for start in starts), key=lambda result: result.objective)
