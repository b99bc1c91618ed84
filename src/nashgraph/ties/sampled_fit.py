r"""The report model of many people: steps on a sample of the pairs, corrected by scans over all of them.

With L the log-likelihood over all pairs and L_s its estimate from a sample (:mod:`nashgraph.ties.pair_sample`), each
round maximises the corrected sample

    L_s(θ) + (∇L(θ_t) − ∇L_s(θ_t)) · θ + log prior(θ),        starting from θ_t,                                  (1)

and ends at θ_{t+1} (Shamir, Srebro, Zhang 2014; Jordan, Lee, Yang 2019). The gradient of (1) at θ_t is that of the full
problem, so the full solution is a fixed point for every sample. The distance to it shrinks in every round by a
factor of about ‖1 − H_s⁻¹H‖, how much the curvatures of sample and problem differ: a tenth with 300 controls a person.

The gradient in the certificate and the objective are exact, and so is the solution, up to the tolerance. Steps are
sampled, and so is the diagonal of the information, which scales the coordinates and gives standard errors (relative
error below a tenth). A round whose exact gradient is not half of the last one's doubles the sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from ..certificate import Certificate, Measure, Monitor, Status
from ..validation import Array
from .pair_sample import PairSample, draw_sample
from .pair_terms import ROWS_FOR_SPREAD, cell_counts

if TYPE_CHECKING:
    from .reports import ReportProblem


@dataclass(frozen=True)
class SampledSolution:
    """Parameters, their objective over all pairs, the certificate, and the estimated diagonal of the information."""

    theta: Array
    objective: float
    certificate: Certificate
    information: Array


def fit_sampled(
    problem: ReportProblem,
    size: float,
    tol: float,
    max_iter: int,
    least_information: float,
    n_controls: float = 300.0,
    first_tol: float = 0.03,
    share_left: float = 0.1,
    seed: int = 0,
) -> SampledSolution:
    """Return the maximum of the posterior; ``size`` is what the norm of the scaled gradient is divided by.

    The first round, without a correction, ends at ``first_tol``: the sample's own error is larger. A corrected round
    leaves ``share_left`` of the gradient that it began with, about the error of the sample.
    """
    people = np.random.default_rng(seed).permutation(len(problem.data.group))[:ROWS_FOR_SPREAD]
    counts = cell_counts(problem.data, people)
    share = counts / max(1.0, counts[0])  # all pairs are in the first cell, that of the level
    sample = draw_sample(problem.data, share, n_controls, seed)
    theta = problem.start()
    correction = np.zeros_like(theta)
    monitor = Monitor(Measure.GRADIENT, tol, max_iter)
    status = None
    iterations = 0
    last = np.inf
    aim = first_tol
    while status is None:
        information = problem.information(theta, sample)
        scale = 1.0 / np.sqrt(np.maximum(information, least_information))
        theta, steps = _climb(problem, sample, theta, correction, scale, aim * size, max_iter - iterations)
        iterations += steps
        value, gradient = problem.objective(theta)
        measure = float(np.linalg.norm(scale * gradient)) / size
        status = monitor.check(iterations, -value, measure)
        if status is None and steps == 0:
            status = Status.STALLED
        if measure > 0.5 * last:
            n_controls = 2.0 * n_controls
            sample = draw_sample(problem.data, share, n_controls, seed)
        last = measure
        aim = max(share_left * measure, 0.3 * tol)
        correction = gradient - problem.objective(theta, sample)[1]
    return SampledSolution(theta, value, monitor.certificate(status), information)


def _climb(
    problem: ReportProblem,
    sample: PairSample,
    theta: Array,
    correction: Array,
    scale: Array,
    least: float,
    max_iter: int,
) -> tuple[Array, int]:
    """Maximise (1) from ``theta`` by L-BFGS until the norm of the scaled gradient is ``least``."""

    def negative(scaled: Array) -> tuple[float, Array]:
        moved = scale * scaled
        value, gradient = problem.objective(theta + moved, sample)
        return -value - float(correction @ moved), -scale * (gradient + correction)

    gradient_norm = np.inf

    def watched(scaled: Array) -> tuple[float, Array]:
        nonlocal gradient_norm
        value, gradient = negative(scaled)
        gradient_norm = float(np.linalg.norm(gradient))
        return value, gradient

    def check(scaled: Array) -> None:
        if gradient_norm <= least:
            raise StopIteration

    options = {"maxiter": max(1, max_iter), "maxcor": 30, "ftol": 1e-15, "gtol": 0.0, "maxfun": 10 * max_iter + 20}
    start = np.zeros_like(theta)
    solution = minimize(watched, start, jac=True, method="L-BFGS-B", callback=check, options=options)
    return theta + scale * solution.x, int(solution.nit)
