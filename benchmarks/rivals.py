"""The two rivals of the fast solver: TTGD as published, and TTGD at its best."""

from __future__ import annotations

import time
import tracemalloc
from typing import NamedTuple

import numpy as np

from nashgraph.couplings import smooth_graph
from nashgraph.solvers import Problem, Result, best_response, ttgd

STATIONARITY = 1e-6


class Timing(NamedTuple):
    """What one solver did on one problem."""

    seconds: float
    objective: float
    stationarity: float
    iterations: int
    passes: int
    note: str = ""


def fast(problem: Problem, repeats: int = 5) -> Timing:
    """Best-response to the stationarity asked, the median of several runs."""
    results, seconds = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        results.append(best_response(problem, tol=STATIONARITY))
        seconds.append(time.perf_counter() - start)
    result: Result = results[-1]
    return Timing(float(np.median(seconds)), result.objective, result.stationarity, result.iterations, result.passes)


def published(problem: Problem, iterations: int, timed: int | None = None) -> Timing:
    """TTGD as the paper has it: alpha = 0.5, gamma = 0.003, a dense LAPACK solve in every iteration.

    The projection is our own fast kernel, in the rival's favour. With ``timed`` only that many iterations are run and
    the time is scaled up, which the note says; objective and stationarity are then those of the library's TTGD.
    """
    storage, benefit, f = problem.storage, problem.benefit, problem.interaction
    n = storage.n_nodes
    weights, spare = smooth_graph(storage).weights, np.empty((n, n))
    actions = benefit
    done = iterations if timed is None else min(timed, iterations)
    start = time.perf_counter()
    for _ in range(done):
        reply = np.maximum(0.0, benefit + weights @ f.value(actions))
        actions = actions + 0.5 * (reply - actions)
        jacobian = weights * f.slope(actions)
        adjoint = np.linalg.solve((np.eye(n) - jacobian).T, problem.welfare.gradient(actions))
        storage.projected_step(weights, problem.lam * adjoint, f.value(actions), 0.003, spare)
        weights, spare = spare, weights
    seconds = time.perf_counter() - start
    if done == iterations:
        coupling = storage.hold(weights)
        play = problem.play(coupling)
        objective, stationarity = problem.objective(coupling, play), problem.stationarity(coupling, play)
        return Timing(seconds, objective, stationarity, iterations, iterations)
    return Timing(
        seconds * iterations / done,
        np.nan,
        np.nan,
        iterations,
        iterations,
        f"{done} iterations timed, scaled to {iterations}",
    )


def at_its_best(problem: Problem, max_iter: int = 3000, gammas=(0.25, 0.5, 1.0, 1.5), alphas=(0.5, 1.0)) -> Timing:
    """TTGD with adjoints by warm-started products and the best of several constant steps, to the same stationarity.

    gamma runs over multiples of 1/(2 beta), alpha over the paper's and the full step. How many iterations each needs is
    found first, with checks; the best is then run again with no check but the last, and that is its time.
    """
    best: tuple[int, float, float] | None = None
    closest = np.inf
    for alpha in alphas:
        for multiple in gammas:
            gamma = multiple / (2.0 * problem.storage.beta)
            limit = max_iter if best is None else best[0]
            result = ttgd(problem, alpha=alpha, gamma=gamma, tol=STATIONARITY, max_iter=limit, check_every=20)
            closest = min(closest, result.stationarity)
            if result.converged and (best is None or result.iterations < best[0]):
                best = (result.iterations, alpha, gamma)
    if best is None:
        return Timing(np.nan, np.nan, closest, max_iter, max_iter, f"not reached in {max_iter} iterations")
    iterations, alpha, gamma = best
    start = time.perf_counter()
    result = ttgd(problem, alpha=alpha, gamma=gamma, tol=0.0, max_iter=iterations, check_every=iterations)
    seconds = time.perf_counter() - start
    return Timing(
        seconds, result.objective, result.stationarity, iterations, iterations, f"alpha={alpha:g}, gamma={gamma:.3g}"
    )


def peak_arrays(problem: Problem) -> float:
    """Return the peak of new memory in a best-response run, in N x N arrays of 8 bytes."""
    tracemalloc.start()
    best_response(problem, tol=STATIONARITY)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / (8.0 * problem.storage.n_nodes**2)
