"""What all solvers of the GLGP problem share: settings, and one frozen result with its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..certificate import Callback, Certificate, Measure, Record, Status
from ..pairs import SparseWeights, Weights
from ..registry import Settings
from ..validation import Array, check_integer, check_number
from .problem import Problem


@dataclass(frozen=True, kw_only=True, repr=False)
class SolverOptions(Settings):
    """Settings of any solver; a solver is a subclass with the method ``solve``.

    Attributes
    ----------
    tol : float
        Stationarity at which to stop.
    max_iter : int
        Most steps to take.
    n_starts : int
        Number of starts, of which the lowest objective is kept: SmoothGL's graph, the best response to the uniform
        graph, the linear approximation, then random ones. Several stationary points exist at large ``lam``.
    storage : "auto", "dense" or "sparse"
        Whether the costs of all pairs are stored, or of candidate pairs; "auto" chooses by size and free memory, and
        logs which. The steps are the same.
    callback : callable, optional
        Called with the :class:`~nashgraph.certificate.Record` of every iterate (iteration, objective, value of the
        stationarity, welfare); a true answer stops. The same records are logged, at level DEBUG, as "nashgraph".
    """

    tol: float = 1e-6
    max_iter: int = 1000
    n_starts: int = 1
    storage: str = "auto"
    callback: Callback | None = None

    def __post_init__(self) -> None:
        check_number("tol", self.tol, low=0, remedy="tol is a stationarity; try 1e-6")
        check_integer("max_iter", self.max_iter, low=1, remedy=f"try {type(self).max_iter}")
        check_integer("n_starts", self.n_starts, low=1, remedy="try 4")

    def solve(self, problem: Problem, lam: float, start: Weights | Result | None = None, **changes: Any) -> Result:
        """Solve from ``start`` (default: the Smooth-GL graph), with some of the settings changed."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Result:
    """A graph learned by a solver, with what certifies it.

    Attributes
    ----------
    weights : Weights, the graph W
    state : State, the prior at W: for a game its actions y, adjoint u and welfare g(y)
    objective : float, J(W) - lam Φ(W)
    scans : float, how many times all pairs of nodes were gone through, parts counted as shares
    certificate : Certificate
        Its measure is the scale-free ||W - best_response(W)||_F / ||W||_F: zero exactly at stationary points.
    """

    weights: Weights
    state: Any
    objective: float
    scans: float
    certificate: Certificate

    @property
    def welfare(self) -> float:
        """The prior's value, for a game the welfare g(y)."""
        value: float = self.state.value
        return value

    @property
    def equilibrium(self) -> Array:
        """The actions y, if the prior has them."""
        actions: Array = self.state.actions
        return actions

    @property
    def adjoint(self) -> Array:
        """The adjoint u, if the prior has one."""
        adjoint: Array = self.state.adjoint
        return adjoint

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
        """Return the result as arrays by name, which files can hold: see :meth:`restored`."""
        csr, known = self.weights.matrix(), self.certificate
        # What a graph in memory has besides its edges, so that a run goes on with the same bits.
        names = ("costs", "square", "threshold") if isinstance(self.weights, SparseWeights) else ()
        beside = {name: np.asarray(part) for name in names if (part := getattr(self.weights, name)) is not None}
        return {
            "numbers": np.array([self.objective, self.welfare, self.scans, known.value, known.tol]),
            "iterations": np.array(known.iterations),
            "names": np.array([known.measure.name, known.status.name, known.remedy]),
            "history": np.array(known.history, dtype=float).reshape(-1, len(Record._fields)),
            **{name: getattr(self.state, name) for name in ("actions", "adjoint") if hasattr(self.state, name)},
            **beside,
            **{f"graph_{part}": getattr(csr, part) for part in ("data", "indices", "indptr")},
        }

    @classmethod
    def restored(cls, problem: Problem, arrays: Mapping[str, Any]) -> Result:
        """Return the result of a problem that gave these ``arrays``.

        Examples
        --------
        >>> from nashgraph.solvers import best_response
        >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
        >>> result = best_response(problem, 0.1)
        >>> Result.restored(problem, result.arrays()).certificate.sentence == result.certificate.sentence
        True
        """
        objective, welfare, scans, value, tol = map(float, arrays["numbers"])
        measure, status, remedy = map(str, arrays["names"])
        history = tuple(Record(int(step), *map(float, rest)) for step, *rest in arrays["history"])
        parts = tuple(arrays[f"graph_{part}"] for part in ("data", "indices", "indptr"))
        n = problem.smoothness.n_nodes
        csr = sparse.csr_array(parts, shape=(n, n))
        weights: Weights = problem.smoothness.hold(csr)
        if isinstance(weights, SparseWeights) and "costs" in arrays:
            weights = SparseWeights(weights.csr, arrays["costs"], float(arrays["square"]), arrays.get("threshold"))
        prior: Any = problem.prior
        if hasattr(prior, "state"):
            state = prior.state(weights, arrays["actions"], arrays["adjoint"], welfare)
        else:
            state = prior.evaluate(weights)
        return cls(
            weights,
            state,
            objective,
            scans,
            Certificate(Measure[measure], value, tol, Status[status], int(arrays["iterations"]), remedy, history),
        )


def start_of(problem: Problem, start: Weights | Result | None) -> tuple[Weights, Any]:
    """Return the graph to start from, by default that without prior, and the prior at it if it is known.

    Examples
    --------
    >>> problem = Problem.from_signals(np.array([[0.0, 1.0, 3.0]]), np.array([0.2, 0.3, 0.5]))
    >>> start_of(problem, None)[1] is None
    True
    """
    if isinstance(start, Result):
        return start.weights, start.state
    return problem.smooth if start is None else start, None
