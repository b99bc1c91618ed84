"""How good an answer is as an answer to its own problem, and the watch kept on a run until it ends."""

from __future__ import annotations

import enum
import logging
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
    GRADIENT = "relative gradient"  # norm of the gradient over the norm of the answers, of a concave likelihood


class Ending(enum.Enum):
    """How a run ended."""

    CONVERGED = "the accuracy asked for was reached"
    MAX_ITER = "the iterations allowed were used up"
    STALLED = "no further progress can be told from rounding"
    STOPPED = "the callback asked to stop"


REMEDIES = {
    Ending.MAX_ITER: "raise max_iter",
    Ending.STALLED: "raise tol",
    Ending.STOPPED: "the graph is the best one until then",
}


class Record(NamedTuple):
    """One line of a run's history: the objective, the certificate's measure, and the welfare where there is a game.

    Examples
    --------
    >>> print(Record(10, 1.5, 1e-3, 0.25))
    iteration   10   objective +1.50000000e+00   measure 1.0e-03   welfare +2.50000000e-01
    """

    iteration: int
    objective: float
    value: float
    welfare: float = np.nan

    def __str__(self) -> str:
        game = "" if np.isnan(self.welfare) else f"   welfare {self.welfare:+.8e}"
        return f"iteration {self.iteration:>4}   objective {self.objective:+.8e}   measure {self.value:.1e}{game}"


Callback = Callable[[Record], object]


@dataclass(frozen=True, eq=False)
class Certificate:
    """How well a problem was solved, in the same form for every method.

    Attributes
    ----------
    measure : Measure
    value : float, of the measure; zero is exact
    tol : float, the value asked for
    ending : Ending
    iterations : int
    remedy : str, what to try where the answer falls short
    history : tuple of Record
        ``pandas.DataFrame(certificate.history)`` makes a table of it; empty where there was nothing to iterate.

    Examples
    --------
    >>> Certificate(Measure.GAP, 2e-3, 1e-4, Ending.MAX_ITER, 100).sentence
    'not converged: duality gap 2.0e-03 > tol=0.0001 after 100 iterations: the iterations allowed were used up; ...'
    """

    measure: Measure
    value: float
    tol: float
    ending: Ending
    iterations: int
    remedy: str = ""
    history: tuple[Record, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether the accuracy asked for was reached."""
        return self.ending is Ending.CONVERGED

    @property
    def sentence(self) -> str:
        """The certificate in words, with what to do where it falls short."""
        if self.measure is Measure.EXACT:
            return "solved exactly (closed form); this is about the arithmetic, not about whether ties are real"
        steps = f"after {self.iterations:,} iteration{'' if self.iterations == 1 else 's'}"
        sign = "<=" if self.value <= self.tol else ">"
        reached = f"{self.measure.value} {self.value:.1e} {sign} tol={self.tol:g} {steps}"
        if self.converged:
            return f"converged: {reached}"
        return f"not converged: {reached}: {self.ending.value}; {self.remedy or REMEDIES[self.ending]}"

    def as_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON has it, without the history."""
        return {
            "measure": self.measure.value,
            "value": float(self.value) if np.isfinite(self.value) else None,
            "tol": float(self.tol) if np.isfinite(self.tol) else None,
            "converged": self.converged,
            "iterations": self.iterations,
            "sentence": self.sentence,
        }

    def warn(self, method: str) -> None:
        """Warn, at the caller's line, of an answer that falls short."""
        if not self.converged:
            warn(f"{method} {self.sentence}", ConvergenceWarning)


def exact() -> Certificate:
    """Return the certificate of a closed form."""
    return Certificate(Measure.EXACT, 0.0, 0.0, Ending.CONVERGED, 1)


def summed_up(certificates: Sequence[Certificate]) -> Certificate:
    """Return one certificate for many answers: that of the worst, with all their iterations.

    Examples
    --------
    >>> good = Certificate(Measure.GAP, 1e-5, 1e-4, Ending.CONVERGED, 40)
    >>> bad = Certificate(Measure.GAP, 2e-3, 1e-4, Ending.MAX_ITER, 100)
    >>> summed_up([good, exact()]).sentence
    'converged: duality gap 1.0e-05 <= tol=0.0001 after 41 iterations'
    >>> summed_up([good, bad, good]).remedy
    '1 of 3 members fell short: raise max_iter'
    """
    open_ones = [each for each in certificates if not each.converged]
    worst = max(open_ones or certificates, key=lambda each: each.value / each.tol if each.tol else each.value)
    advice = worst.remedy or REMEDIES.get(worst.ending, "")
    remedy = f"{len(open_ones)} of {len(certificates)} members fell short: {advice}" if open_ones else ""
    return replace(worst, iterations=sum(each.iterations for each in certificates), remedy=remedy, history=())


class Watch:
    """The watch on a run: it keeps the records, logs them, shows them to a callback, and says when the run ends.

    A new rule for stopping is a line in :meth:`ends`, and every solver and baseline has it. A callback that answers
    with an :class:`Ending` ends a run as that; with anything else that is true, as stopped.

    Examples
    --------
    >>> watch = Watch(Measure.GAP, tol=1e-6, max_iter=100)
    >>> watch.ends(0, 3.0, 0.5), watch.ends(1, 2.0, 1e-7).name
    (None, 'CONVERGED')
    >>> watch.certificate(Ending.CONVERGED).iterations
    1
    """

    def __init__(self, measure: Measure, tol: float, max_iter: int, callback: Callback | None = None) -> None:
        self.measure, self.tol, self.max_iter, self.callback = measure, tol, max_iter, callback
        self.records: list[Record] = []

    def ends(self, iteration: int, objective: float, value: float, welfare: float = np.nan) -> Ending | None:
        """Keep a record, and return how the run ends with it, or None where it goes on."""
        record = Record(iteration, float(objective), float(value), float(welfare))
        self.records.append(record)
        LOG.debug("%s: %s", self.measure.value, record)
        stop = self.callback is not None and self.callback(record)
        if value <= self.tol:
            return Ending.CONVERGED
        if stop:
            return stop if isinstance(stop, Ending) else Ending.STOPPED
        return Ending.MAX_ITER if iteration >= self.max_iter else None

    def certificate(self, ending: Ending, value: float | None = None, remedy: str = "") -> Certificate:
        """Return the certificate of the run; ``value`` is that of the last record unless given."""
        last = self.records[-1]
        measured = last.value if value is None else float(value)
        return Certificate(self.measure, measured, self.tol, ending, last.iteration, remedy, tuple(self.records))
