"""Several starts for one problem, because at large lam it has several stationary points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..couplings import Coupling, smooth_graph
from ..games import solve_affine, solve_concave
from .problem import Play, Problem
from .result import Result

RANDOM_NEIGHBOURS = 10


def starting_points(problem: Problem, random: np.random.RandomState) -> Iterator[Coupling]:
    """Yield starts without end: Smooth-GL, the answer to the uniform graph, the linear approximation, random ones.

    A random start is the best response to the game on a graph with random rows, so that it fits any storage.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
    >>> starts = starting_points(problem, np.random.RandomState(0))
    >>> next(starts).weights.shape
    (3, 3)
    """
    n, c = problem.storage.n_nodes, problem.storage.c
    yield smooth_graph(problem.storage)

    def uniform(vector: Any) -> Any:
        return c / (n - 1) * (vector.sum() - vector)

    yield answer_to(problem, uniform, uniform)
    yield problem.storage.respond(np.full(n, problem.lam), problem.benefit)
    while True:
        rows = random_rows(n, c, random)
        yield answer_to(problem, lambda v, W=rows: W @ v, lambda v, W=rows.T: W @ v)


def answer_to(problem: Problem, product: Callable[..., Any], transposed: Callable[..., Any]) -> Coupling:
    """Return the best response to the game on a graph given by its products."""
    actions = solve_concave(product, problem.benefit, problem.interaction, tol=1e-8).point
    slope = problem.interaction.slope(actions)
    adjoint = solve_affine(lambda v: slope * transposed(v), problem.welfare.gradient(actions), tol=1e-8).point
    return problem.respond(Play(actions, adjoint, np.nan))


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
    >>> multistart(problem, best_response, 4, np.random.RandomState(0)).converged
    True
    """
    starts = starting_points(problem, random)
    return min(
        (solve(problem, next(starts), **options) for _ in range(n_starts)),
        key=lambda result: result.objective,
    )
