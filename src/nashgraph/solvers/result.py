"""What every solver returns: one frozen type, with a status that carries its sentence."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

from ..couplings import DenseCoupling
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


class Record(NamedTuple):
    """One line of a run's history.

    Examples
    --------
    >>> Record(10, 1.5, 0.25, 1e-3).iteration
    10
    """

    iteration: int
    objective: float
    welfare: float
    stationarity: float


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
    status : Status
    history : tuple of Record
        ``pandas.DataFrame(result.history)`` makes a table of it.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph.solvers import Problem, ttgd
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]), beta=1.0)
    >>> ttgd(problem, gamma=0.3).status
    <Status.CONVERGED: 'the stationarity asked for was reached'>
    """

    coupling: DenseCoupling
    equilibrium: Array
    adjoint: Array
    objective: float
    welfare: float
    stationarity: float
    iterations: int
    status: Status
    history: tuple[Record, ...]

    @property
    def converged(self) -> bool:
        """Whether the stationarity asked for was reached."""
        return self.status is Status.CONVERGED
