"""What every solver of the GLGP problem returns: one frozen type, with its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..certificate import Certificate, Ending, Measure, Record
from ..couplings import Coupling
from ..validation import Array
from .problem import Play, Problem


@dataclass(frozen=True, eq=False)
class Result:
    """A graph learned by a solver, with what certifies it.

    Attributes
    ----------
    coupling : the graph W
    play : Play, the actions y, adjoint u and welfare g(y) of W
    objective : float, J(W) - lam g(y)
    passes : int, how many times all pairs of nodes were gone through
    certificate : Certificate
        Its measure is the scale-free ||W - best_response(W)||_F / ||W||_F: zero exactly at stationary points.
    """

    coupling: Coupling
    play: Play
    objective: float
    passes: int
    certificate: Certificate

    @property
    def welfare(self) -> float:
        """The welfare g(y)."""
        return self.play.welfare

    @property
    def equilibrium(self) -> Array:
        """The actions y."""
        return self.play.actions

    @property
    def adjoint(self) -> Array:
        """The adjoint u."""
        return self.play.adjoint

    @property
    def converged(self) -> bool:
        """Whether the stationarity asked for was reached."""
        return self.certificate.converged

    @property
    def stationarity(self) -> float:
        """The certificate's value."""
        return self.certificate.value

    @property
    def iterations(self) -> int:
        """How many iterations there were."""
        return self.certificate.iterations

    def arrays(self) -> dict[str, Any]:
        """Return the result as arrays by name, which files can hold: see :meth:`revived`."""
        graph, known = self.coupling, self.certificate
        threshold = {} if graph.threshold is None else {"threshold": graph.threshold}
        return {
            "numbers": np.array([graph.cost, graph.square, self.objective, self.welfare, known.value, known.tol]),
            "counts": np.array([self.passes, known.iterations]),
            "names": np.array([known.measure.name, known.ending.name, known.remedy]),
            "history": np.array(known.history, dtype=float).reshape(-1, len(Record._fields)),
            "actions": self.equilibrium,
            "adjoint": self.adjoint,
            **threshold,
            **{f"graph_{name}": array for name, array in graph.arrays().items()},
        }

    @classmethod
    def revived(cls, problem: Problem, arrays: Mapping[str, Any]) -> Result:
        """Return the result of a problem that gave these ``arrays``, to the bit.

        Examples
        --------
        >>> from nashgraph.solvers import best_response
        >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
        >>> result = best_response(problem, 0.1)
        >>> Result.revived(problem, result.arrays()).certificate.sentence == result.certificate.sentence
        True
        """
        cost, square, objective, welfare, value, tol = map(float, arrays["numbers"])
        passes, iterations = map(int, arrays["counts"])
        measure, ending, remedy = map(str, arrays["names"])
        history = tuple(Record(int(step), *map(float, rest)) for step, *rest in arrays["history"])
        graph = {name.removeprefix("graph_"): array for name, array in arrays.items() if name.startswith("graph_")}
        return cls(
            problem.smoothness.revive(graph, cost, square, arrays.get("threshold")),
            Play(arrays["actions"], arrays["adjoint"], welfare),
            objective,
            passes,
            Certificate(Measure[measure], value, tol, Ending[ending], iterations, remedy, history),
        )


def start_of(problem: Problem, start: Coupling | Result | None) -> tuple[Coupling, Play | None]:
    """Return the graph to start from, by default that without prior, and the game on it where it is known.

    Examples
    --------
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
    >>> start_of(problem, None)[1] is None
    True
    """
    if isinstance(start, Result):
        return start.coupling, start.play
    return problem.smooth if start is None else start, None
