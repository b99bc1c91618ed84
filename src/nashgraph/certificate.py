"""How well a problem was solved, and the monitor that says when a run stops and why."""

from __future__ import annotations

import enum
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .validation import warn

LOG = logging.getLogger("nashgraph")
ENGINE_LOG = logging.getLogger("nashgraph.engine")  # which engine searches pairs: the command line shows these as notes


class Measure(enum.Enum):
    """The measure of a certificate: zero for an exact solution, and independent of the signals' unit."""

    EXACT = "distance from the closed form"
    STATIONARITY = "stationarity"  # ||W - best_response(W)||_F / ||W||_F
    GAP = "duality gap"  # relative: how far the objective can be above the least
    CHANGE = "last change of the graph"  # ||W - W+||_F / ||W||_F over the last round: weaker than the others
    GRADIENT = "relative gradient"  # norm of the gradient over the norm of the counted answers, of a concave likelihood


class Status(enum.Enum):
    """Why a run stopped."""

    CONVERGED = "the accuracy asked for was reached"
    MAX_ITER = "the iterations allowed were used up"
    STALLED = "no further progress can be told from rounding"
    STOPPED = "the callback asked to stop"


REMEDIES = {
    Status.MAX_ITER: "raise max_iter",
    Status.STALLED: "raise tol",
    Status.STOPPED: "the graph is the best one until then",
}


class Record(NamedTuple):
    """One line of a run's history: the objective, the certificate's measure, and the welfare where there is a game."""

    iteration: int
    objective: float
    value: float
    welfare: float = np.nan

    def __str__(self) -> str:
        if np.isnan(self.welfare):
            game = ""
        else:
            game = f"   welfare {self.welfare:+.8e}"
        return f"iteration {self.iteration:>4}   objective {self.objective:+.8e}   measure {self.value:.1e}{game}"


Callback = Callable[[Record], object]


@dataclass(frozen=True, eq=False)
class Certificate:
    """How well a problem was solved, in the same form for every method.

    ``value`` is that of the measure (zero is exact), ``tol`` the value asked for, and ``remedy`` what to try if the
    result falls short. ``pandas.DataFrame(certificate.history)`` makes a table of the history, which is empty where
    there was nothing to iterate.

    Examples
    --------
    >>> Certificate(Measure.GAP, 2e-3, 1e-4, Status.MAX_ITER, 100).sentence
    'not converged: duality gap 2.0e-03 > tol=0.0001 after 100 iterations: the iterations allowed were used up; ...'
    """

    measure: Measure
    value: float
    tol: float
    status: Status
    iterations: int
    remedy: str = ""
    history: tuple[Record, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether the accuracy asked for was reached."""
        return self.status is Status.CONVERGED

    @property
    def sentence(self) -> str:
        """The certificate in words, with what to do where it falls short."""
        if self.measure is Measure.EXACT:
            return "solved exactly (closed form); this does not show that ties are real"
        steps = f"after {self.iterations:,} iteration{'' if self.iterations == 1 else 's'}"
        sign = "<=" if self.value <= self.tol else ">"
        reached = f"{self.measure.value} {self.value:.1e} {sign} tol={self.tol:g} {steps}"
        if self.converged:
            return f"converged: {reached}"
        return f"not converged: {reached}: {self.status.value}; {self.remedy or REMEDIES[self.status]}"

    def as_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON has it, without the history."""
        return {
            "measure": self.measure.value,
            "value": float(self.value) if np.isfinite(self.value) else None,
            "tol": float(self.tol) if math.isfinite(self.tol) else None,
            "converged": self.converged,
            "iterations": self.iterations,
            "sentence": self.sentence,
        }

    def warn(self, method: str) -> None:
        """Warn, at the caller's line, of a result that falls short."""
        if not self.converged:
            warn(f"{method} has {self.sentence}", ConvergenceWarning)


def exact() -> Certificate:
    """Return the certificate of a closed form."""
    return Certificate(Measure.EXACT, 0.0, 0.0, Status.CONVERGED, 1)


def summed_up(certificates: Sequence[Certificate]) -> Certificate:
    """Return one certificate for many results: that of the worst, with all their iterations."""
    open_ones = [each for each in certificates if not each.converged]
    worst = max(open_ones or certificates, key=lambda each: each.value / each.tol if each.tol else each.value)
    advice = worst.remedy or REMEDIES.get(worst.status, "")
    if open_ones:
        remedy = f"{len(open_ones)} of {len(certificates)} members fell short: {advice}"
    else:
        remedy = ""
    return replace(worst, iterations=sum(each.iterations for each in certificates), remedy=remedy, history=())


def of_stages(
    runs: Sequence[Certificate], value: float, tol: float, *, feasible: bool, remedy: str = ""
) -> Certificate:
    """Return the certificate of a problem that was solved in stages, whose result has this value of the measure."""
    if value <= tol and feasible:
        status = Status.CONVERGED
    elif any(run.status is Status.MAX_ITER for run in runs):
        status = Status.MAX_ITER
    else:
        status = Status.STALLED
    iterations = sum(run.iterations for run in runs)
    return replace(runs[-1], value=value, tol=tol, status=status, iterations=iterations, remedy=remedy)


class Monitor:
    """Monitor a run: store and log its records, show them to a callback, and say when the run stops.

    A new rule for stopping is a line in :meth:`check`, and every solver and baseline has it. A callback that returns
    a :class:`Status` stops the run with it; if it returns anything else that is true, with ``Status.STOPPED``.

    Examples
    --------
    >>> monitor = Monitor(Measure.GAP, tol=1e-6, max_iter=100)
    >>> monitor.check(0, 3.0, 0.5), monitor.check(1, 2.0, 1e-7).name
    (None, 'CONVERGED')
    >>> monitor.certificate(Status.CONVERGED).iterations
    1
    """

    def __init__(self, measure: Measure, tol: float, max_iter: int, callback: Callback | None = None) -> None:
        self.measure = measure
        self.tol = tol
        self.max_iter = max_iter
        self.callback = callback
        self.records: list[Record] = []
        self.status: Status | None = None  # why the run stopped, once it has

    def check(
        self, iteration: int, objective: float, value: float, welfare: float = np.nan, *, complete: bool = True
    ) -> Status | None:
        """Store a record, and return the status if the run stops here, else None.

        A result that is not ``complete`` lacks something that the measure does not see, and does not converge.
        """
        record = Record(iteration, float(objective), float(value), float(welfare))
        self.records.append(record)
        LOG.debug("%s: %s", self.measure.value, record)
        stop = self.callback is not None and self.callback(record)
        if value <= self.tol and complete:
            self.status = Status.CONVERGED
        elif stop:
            self.status = stop if isinstance(stop, Status) else Status.STOPPED
        elif iteration >= self.max_iter:
            self.status = Status.MAX_ITER
        return self.status

    def stall(self) -> Status:
        """Note that the run stops because it gets no further, and return that status."""
        self.status = Status.STALLED
        return self.status

    def certificate(self, status: Status | None = None, value: float | None = None, remedy: str = "") -> Certificate:
        """Return the certificate of the run; status and value are those of the last check unless given.

        A run that ended though no rule stopped it has stalled.
        """
        last = self.records[-1]
        measured = last.value if value is None else float(value)
        status = status or self.status or Status.STALLED
        return Certificate(self.measure, measured, self.tol, status, last.iteration, remedy, tuple(self.records))
