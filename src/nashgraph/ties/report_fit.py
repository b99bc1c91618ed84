"""The solution of the report model: limited-memory BFGS, with the tilts of counts found at every step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize

from ..certificate import Certificate, Measure, Monitor, Status
from ..validation import Array
from .report_kernels import IN, OUT
from .reports import ReportPriors, ReportProblem, ReportTask
from .sampled_fit import fit_sampled

LEAST_INFORMATION = 1e-3  # that a coordinate is scaled by
MOST_ROUNDS = 3  # of the errors of counts
SETTLED = 0.02  # relative change of these errors at which they stay
FIRST_TILT_TOL = 0.01


@dataclass(frozen=True)
class ReportFit:
    """The fitted report model."""

    problem: ReportProblem
    theta: Array
    objective: float
    certificate: Certificate
    sampled_information: Array | None = None

    @cached_property
    def information(self) -> Array:
        """The diagonal of the complete-data information at the solution; of many people estimated from a sample."""
        if self.sampled_information is not None:
            return self.sampled_information
        return self.problem.information(self.theta)

    def block(self, name: str) -> Array:
        """Return one part of the parameters."""
        return self.theta[self.problem.blocks[name]]

    def rows(self, people: Array, naming: bool = True) -> tuple[Array, Array, Array]:
        """Return P(tie), P(strong tie) and P(names) of some people with everybody, each len(people) × N.

        Without ``naming``, which takes longest for people who were not asked, the last is empty.
        """
        order = self.problem.order
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        tie, strong, named = self.problem.rows(self.theta, place[np.asarray(people)], naming=naming)
        return tie[:, place], strong[:, place], named[:, place] if naming else named


def fit_reports(
    task: ReportTask,
    priors: ReportPriors | None = None,
    n_classes: int = 3,
    strong: bool = True,
    tol: float = 1e-3,
    max_iter: int = 300,
    exact_up_to: int = 2000,
) -> ReportFit:
    """Fit the report model; above ``exact_up_to`` people by :mod:`nashgraph.ties.sampled_fit`.

    ``n_classes`` is 1 where groups are single people. ``tol`` is the norm of the gradient in units of standard
    errors (of the complete data), relative to the square root of the number of reports and counts.
    """
    problem = ReportProblem(task, priors or ReportPriors(), n_classes, strong)
    if len(task.group) > exact_up_to and task.counts is None:
        size = np.sqrt(max(1.0, float((problem.data.bits & (OUT | IN) > 0).sum())))
        found = fit_sampled(problem, size, tol, max_iter, LEAST_INFORMATION)
        return ReportFit(problem, found.theta, found.objective, found.certificate, found.information)
    problem.tilt_tol = 0.3 * tol
    theta = problem.start()
    if task.counts is not None:
        problem.measure_counts(theta)
        problem.fit_tilts(theta, FIRST_TILT_TOL)
        problem.measure_counts(theta)
    climb = _Climb(problem, Monitor(Measure.GRADIENT, tol, max_iter))
    for _ in range(MOST_ROUNDS):
        theta = climb.run(theta)
        # The errors of counts depend on the probabilities without counts, which have changed.
        if problem.measure_counts(theta) < SETTLED or climb.status is not Status.CONVERGED:
            break
    value, _ = problem.objective(theta)
    return ReportFit(problem, theta, value, climb.monitor.certificate(climb.status))


class _Climb:
    """Limited-memory BFGS in coordinates scaled by the complete-data information."""

    def __init__(self, problem: ReportProblem, monitor: Monitor) -> None:
        self.problem = problem
        self.monitor = monitor
        self.status = Status.STALLED
        n_reports = int((problem.data.bits & (OUT | IN) > 0).sum())
        n_counts = 0 if problem.tilts is None else int(problem.tilts.told.sum())
        self.size = np.sqrt(max(1.0, n_reports + n_counts))

    def run(self, theta: Array) -> Array:
        """Return parameters at which the gradient is within the tolerance, or the best that were found."""
        problem = self.problem
        scale = 1.0 / np.sqrt(np.maximum(problem.information(theta), LEAST_INFORMATION))
        now = np.zeros_like(theta)
        value = 0.0
        measure = np.inf

        def negative(scaled: Array) -> tuple[float, Array]:
            nonlocal now, value, measure
            value, gradient = problem.objective(theta + scale * scaled)
            gradient = scale * gradient
            now = scaled.copy()
            measure = max(float(np.linalg.norm(gradient)) / self.size, problem.tilt_residual)
            return -value, -gradient

        def check(scaled: Array) -> None:
            if not np.array_equal(scaled, now):
                negative(scaled)
            stop = self.monitor.check(len(self.monitor.records), -value, measure)
            if stop is not None:
                self.status = stop
                raise StopIteration

        self.status = Status.STALLED
        start = np.zeros_like(theta)
        negative(start)
        max_iter = self.monitor.max_iter
        if max_iter == 0 or measure <= self.monitor.tol:
            try:
                check(start)
            except StopIteration:
                return theta
        options = {"maxiter": max_iter + 1, "maxcor": 30, "ftol": 1e-15, "gtol": 0.0, "maxfun": 10 * max_iter + 20}
        solution = minimize(negative, start, jac=True, method="L-BFGS-B", callback=check, options=options)
        if not self.monitor.records:
            check(solution.x)
        return np.asarray(theta + scale * solution.x)
