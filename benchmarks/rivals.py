"""The two rivals of the fast solver: TTGD as published, and TTGD at its best."""

from __future__ import annotations

import time
import tracemalloc
from typing import NamedTuple

import numpy as np

from nashgraph.pairs import Bonus
from nashgraph.solvers import TTGD, BestResponse, Problem

STATIONARITY = 1e-6


class Timing(NamedTuple):
    """Measurements of one solver on one problem."""

    seconds: float
    objective: float
    stationarity: float
    iterations: int
    scans: float
    note: str = ""


def fast(problem: Problem, lam: float, repeats: int = 5) -> Timing:
    """Best-response to the requested stationarity, the median of several runs."""
    results, seconds = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        results.append(BestResponse(tol=STATIONARITY).solve(problem, lam))
        seconds.append(time.perf_counter() - start)
    result, certificate = results[-1], results[-1].certificate
    return Timing(float(np.median(seconds)), result.objective, certificate.value, certificate.iterations, result.scans)


def published(problem: Problem, lam: float, iterations: int, timed: int | None = None) -> Timing:
    """TTGD as published: alpha = 0.5, gamma = 0.003, a dense LAPACK solve in every iteration.

    The projection is our own fast kernel, in the rival's favour. With ``timed`` only that many iterations are run and
    the time is scaled up, which the note says; objective and stationarity are then those of the library's TTGD.
    """
    smoothness, game = problem.smoothness, problem.prior
    benefit, f = game.benefit, game.interaction
    graph, actions = smoothness.smooth, benefit
    done = iterations if timed is None else min(timed, iterations)
    start = time.perf_counter()
    for _ in range(done):
        weights = graph.matrix().toarray()
        reply = np.maximum(0.0, benefit + weights @ f.value(actions))
        actions = actions + 0.5 * (reply - actions)
        jacobian = weights * f.slope(actions)
        adjoint = np.linalg.solve((np.eye(len(benefit)) - jacobian).T, game.welfare.gradient(actions))
        graph = smoothness.step(graph, Bonus.of(lam * adjoint, f.value(actions)), 0.003)
    seconds = time.perf_counter() - start
    if done == iterations:
        state = game.evaluate(graph)
        objective, stationarity = problem.objective(graph, state, lam), problem.stationarity(graph, state, lam)
        return Timing(seconds, objective, stationarity, iterations, iterations)
    return Timing(
        seconds * iterations / done,
        np.nan,
        np.nan,
        iterations,
        iterations,
        f"{done} iterations timed, scaled to {iterations}",
    )


def at_its_best(
    problem: Problem, lam: float, max_iter: int = 3000, gammas=(0.25, 0.5, 1.0, 1.5), alphas=(0.5, 1.0)
) -> Timing:
    """TTGD with adjoints by warm-started products and the best of several constant steps, to the same stationarity.

    gamma runs over multiples of 1/(2 beta), alpha over the paper's and the full step. The iterations that each
    needs are found first, with checks; the best is then timed in a second run that checks only at the end.
    """
    best: tuple[int, float, float] | None = None
    closest = np.inf
    for alpha in alphas:
        for multiple in gammas:
            gamma = multiple / (2.0 * problem.smoothness.beta)
            limit = max_iter if best is None else best[0]
            steps = {"alpha": alpha, "gamma": gamma, "check_every": 20}
            reached = TTGD(**steps, tol=STATIONARITY, max_iter=limit).solve(problem, lam).certificate
            closest = min(closest, reached.value)
            if reached.converged and (best is None or reached.iterations < best[0]):
                best = (reached.iterations, alpha, gamma)
    if best is None:
        return Timing(np.nan, np.nan, closest, max_iter, max_iter, f"not reached in {max_iter} iterations")
    iterations, alpha, gamma = best
    start = time.perf_counter()
    result = TTGD(alpha=alpha, gamma=gamma, tol=0.0, max_iter=iterations, check_every=iterations).solve(problem, lam)
    seconds = time.perf_counter() - start
    note = f"alpha={alpha:g}, gamma={gamma:.3g}"
    return Timing(seconds, result.objective, result.certificate.value, iterations, iterations, note)


def peak_arrays(problem: Problem, lam: float) -> float:
    """Return the peak of new memory in a best-response run, in N x N arrays of 8 bytes."""
    tracemalloc.start()
    BestResponse(tol=STATIONARITY).solve(problem, lam)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / (8.0 * problem.smoothness.n_nodes**2)
