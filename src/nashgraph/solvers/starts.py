"""Several starts for one problem, because at large lam it has several stationary points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..couplings import Coupling
from ..games import solve_affine, solve_concave
from .problem import Play, Problem
from .result import Result

RANDOM_NEIGHBOURS = 10


def starting_points(problem: Problem, lam: float, random: np.random.RandomState) -> Iterator[Coupling]:
    """Yield starts without end: Smooth-GL, the best response to the game on the uniform graph, LinearGLGP, random ones.

    A random start is the best response to the game on a random graph, so that any storage can hold it.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
    >>> starts = starting_points(problem, 1.0, np.random.RandomState(0))
    >>> next(starts).weights.shape
    (3, 3)
    """
    n, c = problem.smoothness.n_nodes, problem.smoothness.c
    yield problem.smooth

    def uniform(vector: Any) -> Any:
        return c / (n - 1) * (vector.sum() - vector)

    yield answer_to(problem, lam, uniform, uniform)
    yield problem.smoothness.respond(np.full(n, lam), problem.benefit)
    while True:
        rows = random_rows(n, c, random)
        yield answer_to(problem, lam, lambda v, W=rows: W @ v, lambda v, W=rows.T: W @ v)


def answer_to(problem: Problem, lam: float, product: Callable[..., Any], transposed: Callable[..., Any]) -> Coupling:
    """Return the best response to the game on a graph given by its products."""
    actions = solve_concave(product, problem.benefit, problem.interaction, tol=1e-8).point
    slope = problem.interaction.slope(actions)
    adjoint = solve_affine(lambda v: slope * transposed(v), problem.welfare.gradient(actions), tol=1e-8).point
    return problem.respond(Play(actions, adjoint, np.nan), lam)


def random_rows(n: int, c: float, random: np.random.RandomState) -> Any:
    """Return a CSR matrix in S whose rows have a few neighbours drawn at random, with random weights."""
    neighbours = min(RANDOM_NEIGHBOURS, n - 1)
    shifts = random.randint(1, n, size=(n, neighbours))
    columns = (np.arange(n)[:, None] + shifts) % n
    weights = random.standard_exponential((n, neighbours))
    weights *= c / weights.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(n), neighbours)
    return sparse.csr_array((weights.ravel(), (rows, columns.ravel())), shape=(n, n))


def multistart(
    problem: Problem,
    lam: float,
    solve: Callable[..., Result],
    n_starts: int,
    random: np.random.RandomState,
    **options: Any,
) -> Result:
    """Solve from the first ``n_starts`` starting points and return the result of least objective.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.solvers import best_response
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
    >>> multistart(problem, 1.0, best_response, 4, np.random.RandomState(0)).converged
    True
    """
    starts = starting_points(problem, lam, random)
    return min(
        (solve(problem, lam, next(starts), **options) for _ in range(n_starts)),
        key=lambda result: result.objective,
    )
