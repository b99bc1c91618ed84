"""GLGP: graph learning with a network-game prior, the heart of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sklearn.utils import check_random_state

from ..certificate import Certificate, Ending, Measure, Record
from ..couplings import fidelity
from ..games import Interaction, Welfare
from ..solvers import Callback, Problem, Result, Status, best_response, continuation, multistart, solve_at_cost, ttgd
from ..validation import (
    Array,
    InputError,
    check_choice,
    check_initial_weights,
    check_integer,
    check_number,
    check_strength,
)
from ._benefit import marginal_benefit
from .base import GraphEstimator, Prior, admissible_set


class Solver(NamedTuple):
    """A solver of the problem, and the iterations it is allowed where none are given."""

    solve: Callable[..., Result]
    max_iter: int


SOLVERS = {"best-response": Solver(best_response, 200), "ttgd": Solver(ttgd, 2000)}
REMEDIES = {
    Status.MAX_ITER: "raise max_iter, or take a smaller lam or init='path'",
    Status.STALLED: "raise tol, or take dtype='float64'",
    Status.STOPPED: "the graph is the best one until then",
}


class GLGP(GraphEstimator):
    r"""Graph learning with a network-game prior.

    .. math:: \min_{W \in S} \; J(W) - \lambda\, g(y) \quad\text{s.t.}\quad y = \max(0,\; b + W f(y))

    :math:`J(W) = \sum_{ij} W_{ij} \|x_i - x_j\|^2 / (2M) + \beta \|W\|_F^2` asks for smooth signals, and
    :math:`g(y)` is the welfare of the game that is played on the graph: the learned network is one on which its
    people do well. :math:`S = \{W \ge 0,\; \mathrm{diag}\,W = 0,\; W 1 = c 1\}`.

    Parameters
    ----------
    lam : float or "auto"
        Strength of the prior; 0 gives SmoothGL. "auto" is that which costs about a thousandth of J: it changes
        little where the prior is wrong, and helps where it is right. :func:`glgp_path` shows what more does.
    beta : float, optional
        Weight of the squared norm: the larger, the more neighbours. Wins over ``degree`` when given.
    degree : float
        Mean number of neighbours wanted of the graph without prior; beta is found from it.
    c : float in (0, 1)
        Row sum: the total influence of others on a node.
    interaction : "log1p", "linear", "saturating", "exponential" or an Interaction
    benefit : "spectral", "uniform" or array of shape (n_nodes,)
        Marginal benefits b, the main modelling choice: the prior speaks only through their differences.
    welfare : "total", "utilitarian" or a Welfare
    solver : "best-response" or "ttgd"
        The fast solver, or the paper's two-timescale gradient descent.
    solver_params : dict, optional
        Further arguments of the solver, for example ``{"memory": 0}``, or ``{"alpha": 0.5, "gamma": 0.003}`` and
        ``{"steps": "theory"}`` for TTGD.
    tol : float
        Stationarity at which to stop.
    max_iter : int, optional
        Defaults to 200 for best-response and 2000 for TTGD.
    init : "path", array of shape (n_nodes, n_nodes) or None
        None starts from SmoothGL's graph; a matrix of S starts there; "path" also comes up from small ``lam`` and keeps
        the better of both.
    multistart : int
        How many starts to take, keeping the least objective: SmoothGL's graph, the answer to the uniform graph, the
        linear approximation, then random ones. Several stationary points exist at large ``lam``.
    storage : "auto", "dense", "sparse" or "implicit"
        How graphs are held while learning; "auto" goes by size and free memory, and says which when ``verbose``.
    dtype : "float64" or "float32"
    normalize_benefit : bool
        Scale a benefit given as an array to sum 1.
    callback : callable, optional
        Called with the record of every iterate (iteration, objective, welfare, stationarity); a true answer stops.
    verbose : int
        1 prints the storage chosen and every record.
    random_state : int, RandomState or None
        Draws the random starts.
    missing : "error" or "pairwise"
        What to do about NaN in X. "pairwise" takes the distance of two nodes over the signals observed at both, scaled
        up to all of them, as in :class:`SmoothGL`. It need not be a metric, and is the noisier the fewer signals two
        nodes share.

    Attributes
    ----------
    adjacency_ : array of shape (n_nodes, n_nodes), CSR where the storage is not dense
        ``adjacency_[i, j]`` is the weight with which j influences i.
    equilibrium_ : array of shape (n_nodes,), the actions y
    adjoint_ : array of shape (n_nodes,), what the welfare gains per unit of benefit at each node
    benefit_, beta_, lam_, welfare_, objective_
    stationarity_ : float, :math:`\|W - \mathrm{best\_response}(W)\|_F / \|W\|_F`
    n_iter_, converged_
    result_ : Result, with the history
    node_names_ : array of shape (n_nodes,), the columns of X, or 0 ... n_nodes - 1
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    Zhang, Liu, Wai, So, *Network Games Induced Prior for Graph Topology Learning*.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> hub = np.ones(30); hub[7] = 20.0
    >>> model = GLGP(lam=1, beta=20, benefit=hub, interaction="linear").fit(X)
    >>> model.converged_, int(model.adjacency_.sum(axis=0).argmax())
    (True, 7)
    """

    equilibrium_: Array
    adjoint_: Array
    benefit_: Array
    beta_: float
    welfare_: float
    objective_: float
    stationarity_: float

    def __init__(
        self,
        lam: float | str = "auto",
        beta: float | None = None,
        degree: float | None = 10,
        c: float = 0.95,
        interaction: str | Interaction = "log1p",
        benefit: str | Array = "spectral",
        welfare: str | Welfare = "total",
        solver: str = "best-response",
        solver_params: Mapping[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        init: str | Array | None = None,
        multistart: int = 1,
        storage: str = "auto",
        dtype: str = "float64",
        normalize_benefit: bool = True,
        callback: Callback | None = None,
        verbose: int = 0,
        random_state: Any = None,
        missing: str = "error",
    ) -> None:
        self.lam = lam
        self.beta = beta
        self.degree = degree
        self.c = c
        self.interaction = interaction
        self.benefit = benefit
        self.welfare = welfare
        self.solver = solver
        self.solver_params = solver_params
        self.tol = tol
        self.max_iter = max_iter
        self.init = init
        self.multistart = multistart
        self.storage = storage
        self.dtype = dtype
        self.normalize_benefit = normalize_benefit
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state
        self.missing = missing

    def _learn(self, X: Array) -> dict[str, Any]:
        check_choice("solver", self.solver, SOLVERS)
        lam = check_strength(self.lam)
        options = self._options()
        benefit = marginal_benefit(self.benefit, X, normalize=self.normalize_benefit)
        beta, c = admissible_set(X, self.beta, self.degree, self.c)
        problem = Problem.from_signals(
            X,
            benefit,
            lam=lam or 0.0,
            beta=beta,
            c=c,
            interaction=self.interaction,
            welfare=self.welfare,
            storage="dense" if self.solver == "ttgd" and self.storage == "auto" else self.storage,
            dtype=self.dtype,
            verbose=self.verbose,
        )
        if lam is None:
            lam, result = solve_at_cost(problem, lambda problem: self._solve(problem, options))
        else:
            result = self._solve(problem, options)
        return learned_attributes(self, problem, result, benefit, beta, lam)

    def _node_columns(self) -> dict[str, Array]:
        return {"benefit": self.benefit_, "action": self.equilibrium_}

    def path(self, X: Any, lams: Any = None, n_lams: int = 20, progress: Callable[[], object] = lambda: None) -> Any:
        """Return the LambdaPath (a stand-in: main has the real one)."""
        from .path import lambda_path  # noqa: PLC0415

        return lambda_path(self, X, lams, n_lams, progress)

    def _options(self) -> dict[str, Any]:
        """Return the solver's arguments, checked."""
        options = {
            "tol": check_number("tol", self.tol, low=0, remedy="tol is a stationarity; try 1e-6"),
            "callback": self.callback,
            "verbose": self.verbose,
            **(self.solver_params or {}),
        }
        default = SOLVERS[self.solver].max_iter
        given = default if self.max_iter is None else self.max_iter
        options.setdefault("max_iter", check_integer("max_iter", given, low=1, remedy=f"try {default}"))
        return options

    def _solve(self, problem: Problem, options: dict[str, Any]) -> Result:
        solve, storage = SOLVERS[self.solver].solve, problem.storage
        starts = check_integer("multistart", self.multistart, low=1, remedy="it is a number of starts; try 4")
        if starts > 1:
            if self.init is not None:
                raise InputError(f"multistart={starts} chooses its own starts: leave init=None, or take multistart=1")
            return multistart(problem, solve, starts, check_random_state(self.random_state), **options)
        if self.init is None:
            return solve(problem, **options)
        if isinstance(self.init, str):
            check_choice("init", self.init, ("path",), ", or pass a matrix to start from")
            if self.solver != "best-response":
                raise InputError(f"init='path' needs solver='best-response', got solver={self.solver!r}")
            return continuation(problem, **options)
        return solve(problem, storage.hold(check_initial_weights(self.init, storage.n_nodes, storage.c)), **options)


def learned_attributes(
    model: GLGP, problem: Problem, result: Result, benefit: Array, beta: float, lam: float
) -> dict[str, Any]:
    """Return what a fitted GLGP holds, out of a solver's result (a stand-in: main has the real one)."""
    history = tuple(Record(r.iteration, r.objective, r.stationarity, r.welfare) for r in result.history)
    tol = float((model.solver_params or {}).get("tol", model.tol))
    certificate = Certificate(
        Measure.STATIONARITY,
        result.stationarity,
        tol,
        Ending[result.status.name],
        result.iterations,
        REMEDIES.get(result.status, ""),
        history,
    )
    source = model.benefit if isinstance(model.benefit, str) else "given"
    return {
        "adjacency_": result.coupling.matrix(),
        "certificate_": certificate,
        "prior_": Prior(lam, source, fidelity(problem.storage, result.coupling), result.welfare),
        "equilibrium_": result.equilibrium,
        "adjoint_": result.adjoint,
        "benefit_": benefit,
        "beta_": beta,
        "lam_": lam,
        "welfare_": result.welfare,
        "objective_": result.objective,
        "stationarity_": result.stationarity,
    }
