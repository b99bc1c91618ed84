"""What every solver of the GLGP problem returns: one frozen type, with a status that carries its sentence."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..couplings import Coupling
from ..validation import Array


class Status(enum.Enum):
    """How a run ended.

    Examples
    --------
    >>> Status.CONVERGED.value
    'the stationarity asked for was reached'
    """

    CONVERGED = "the stationarity asked for was reached"
    MAX_ITER = "the iterations allowed were used up before the stationarity asked for was reached"
    STALLED = "no further decrease of the objective can be told from rounding"
    STOPPED = "the callback asked to stop"


class Record(NamedTuple):
    """One line of a run's history.

    Examples
    --------
    >>> print(Record(10, 1.5, 0.25, 1e-3))
    iteration   10   objective +1.50000000e+00   welfare +2.50000000e-01   stationarity 1.0e-03
    """

    iteration: int
    objective: float
    welfare: float
    stationarity: float

    def __str__(self) -> str:
        return (
            f"iteration {self.iteration:>4}   objective {self.objective:+.8e}   welfare {self.welfare:+.8e}   "
            f"stationarity {self.stationarity:.1e}"
        )


Callback = Callable[[Record], object]


@dataclass(frozen=True, eq=False)
class Result:
    """A graph learned by a solver, with what certifies it.

    Attributes
    ----------
    coupling : the graph W
    equilibrium, adjoint : arrays of shape (n_nodes,), the y and u of W
    objective : float, J(W) - lam g(y)
    welfare : float, g(y)
    stationarity : float
        The scale-free ||W - best_response(W)||_F / ||W||_F: zero exactly at stationary points.
    iterations : int
    passes : int, how many times all pairs of nodes were gone through
    status : Status
    history : tuple of Record
        ``pandas.DataFrame(result.history)`` makes a table of it.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.solvers import Problem, best_response
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]), beta=1.0)
    >>> best_response(problem).status
    <Status.CONVERGED: 'the stationarity asked for was reached'>
    """

    coupling: Coupling
    equilibrium: Array
    adjoint: Array
    objective: float
    welfare: float
    stationarity: float
    iterations: int
    passes: int
    status: Status
    history: tuple[Record, ...]

    @property
    def converged(self) -> bool:
        """Whether the stationarity asked for was reached."""
        return self.status is Status.CONVERGED


class History:
    """The records of a run as they come: kept, printed when ``verbose``, and shown to a callback.

    Examples
    --------
    >>> history = History(callback=lambda record: record.iteration >= 2)
    >>> history.add(Record(1, 0.0, 0.0, 1.0)), history.add(Record(2, 0.0, 0.0, 0.5))
    (False, True)
    """

    def __init__(self, verbose: int = 0, callback: Callback | None = None) -> None:
        self.verbose = verbose
        self.callback = callback
        self.records: list[Record] = []

    def add(self, record: Record) -> bool:
        """Keep a record; return whether the callback asks to stop."""
        self.records.append(record)
        if self.verbose:
            print(record, flush=True)
        return bool(self.callback is not None and self.callback(record))


def ending(stationarity: float, tol: float, stop: bool, last: bool) -> Status | None:
    """Return how a run ends here, or None where it goes on.

    Examples
    --------
    >>> ending(1e-7, 1e-6, stop=False, last=False).name
    'CONVERGED'
    """
    if stationarity <= tol:
        return Status.CONVERGED
    if stop:
        return Status.STOPPED
    return Status.MAX_ITER if last else None
