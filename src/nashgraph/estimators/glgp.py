"""GLGP: graph learning with a network-game prior, the paper's method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..certificate import LOG, Status
from ..pairs import PairSearch, make_search
from ..priors import PRIORS, GamePrior, PriorTest, UnansweredError, prior_test
from ..priors.prior import played_benefit
from ..solvers import (
    PATIENCE,
    TTGD,
    BestResponse,
    Budget,
    Problem,
    Result,
    SolverOptions,
    multistart,
    path_range,
    solve_at_cost,
    solve_gradually,
    solve_path,
)
from ..validation import (
    Array,
    InputError,
    check_choice,
    check_initial_weights,
    check_lam,
    check_n_lams,
    check_random_state,
    check_strength,
    listing,
    warn,
)
from ._benefit import marginal_benefit
from .base import PriorEffect, WeightedSignals, admissible_smoothness, as_game, checked_signals, sklearn_refusals
from .path import LambdaPath

SOLVERS: dict[str, Callable[[], SolverOptions]] = {"best-response": BestResponse, "ttgd": TTGD}
REMEDIES = {
    Status.MAX_ITER: "raise max_iter, or take a smaller lam or init='path'",
    Status.STALLED: "raise tol",
}


def as_solver(solver: Any) -> SolverOptions:
    """Return a solver, given as an object or by name."""
    if isinstance(solver, SolverOptions):
        return solver
    if isinstance(solver, str):
        return SOLVERS[check_choice("solver", solver, SOLVERS, ", or pass BestResponse(...) or TTGD(...)")]()
    raise InputError(f"solver must be one of {', '.join(SOLVERS)}, BestResponse(...) or TTGD(...), got {solver!r}")


@dataclass(eq=False, repr=False)
class GLGP(WeightedSignals):
    r"""Graph learning with a network-game prior.

    .. math:: \min_{W \in S} \; J(W) - \lambda\, g(y) \quad\text{s.t.}\quad y = \max(0,\; b + W f(y))

    :math:`J(W) = \sum_{ij} W_{ij} \|x_i - x_j\|^2 / (2M) + \beta \|W\|_F^2` asks for smooth signals, and
    :math:`g(y)` is the welfare of the game that is played on the graph: the learned network is one on which its
    people do well. :math:`S = \{W \ge 0,\; \mathrm{diag}\,W = 0,\; W 1 = c 1\}`.

    Parameters
    ----------
    lam : float or "auto"
        Strength of the prior; 0 gives SmoothGL. "auto" raises J by about a thousandth: it changes little if the prior
        is wrong, and helps if it is right. :meth:`path` shows what more does. With the guessed benefit
        "spectral", "auto" is 0 if :meth:`prior_test` finds that the signals do not support it.
    beta, degree, c, geometry
        As in :class:`SmoothGL`; ``degree`` is that of the graph without prior.
    benefit : "spectral", "uniform", array of shape (n_nodes,), or Series by the nodes' names
        Marginal benefits b, the main modelling choice: only their differences have an effect. They are scaled to sum 1.
    prior : a name in ``nashgraph.priors.PRIORS``, or an object of :mod:`nashgraph.priors`
        "game" is the paper's; ``GamePrior(interaction="linear", welfare="utilitarian")`` is another game with this
        ``benefit``. A prior that has benefits of its own, in the order of X's columns, is used as it is, and
        ``benefit`` must be left at its default.
    solver : "best-response", "ttgd", :class:`~nashgraph.BestResponse` or :class:`~nashgraph.TTGD`
        The fast solver, or the paper's two-timescale gradient descent; the objects have settings, for example
        ``BestResponse(tol=1e-8, max_iter=500, n_starts=4)``.
    init : "path", array of shape (n_nodes, n_nodes) or None
        None starts from SmoothGL's graph; "path" also comes up from small ``lam`` and keeps the better of both.
    engine, missing
        As in :class:`SmoothGL`.
    random_state : int, RandomState or None
        Draws the random starts.

    Attributes
    ----------
    adjacency_ : CSR array of shape (n_nodes, n_nodes)
        ``adjacency_[i, j]`` is the weight with which j influences i.
    equilibrium_ : array of shape (n_nodes,), the actions y
    adjoint_ : array of shape (n_nodes,), what the welfare gains per unit of benefit at each node
    benefit_, beta_, lam_, welfare_, objective_
        A ``prior`` without actions, adjoint or benefit leaves those out; ``welfare_`` is its value.
    certificate_ : Certificate, with the history
        Its value is ``stationarity_``, :math:`\|W - \mathrm{best\_response}(W)\|_F / \|W\|_F`.
    prior_ : PriorEffect, what the prior was and what it costs

    References
    ----------
    Zhang, Liu, Wai, So, *Network Games Induced Prior for Graph Topology Learning*.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> hub = np.ones(30); hub[7] = 20.0
    >>> model = GLGP(lam=1, beta=20, benefit=hub).fit(X)
    >>> model.converged_, int(model.adjacency_.sum(axis=0).argmax())
    (True, 7)
    """

    lam: float | str = "auto"
    beta: float | None = None
    degree: float | None = 10
    c: float = 0.95
    geometry: str = "distance"
    benefit: str | Array = "spectral"
    prior: Any = "game"
    solver: str | SolverOptions = "best-response"
    init: str | Array | None = None
    engine: str = "threads"
    missing: str = "error"
    random_state: Any = None

    equilibrium_: Array = field(init=False)
    adjoint_: Array = field(init=False)
    welfare_: float = field(init=False)
    parts = {"prior": as_game, "solver": as_solver}  # noqa: RUF012 (typed in the base)

    @property
    def stationarity_(self) -> float:
        """The distance of the graph to its best response, relative to the graph's norm."""
        return self.certificate_.value

    def _node_columns(self) -> dict[str, Array]:
        known = {"benefit": "benefit_", "action": "equilibrium_"}
        return {column: getattr(self, name) for column, name in known.items() if hasattr(self, name)}

    def _learn(self, X: Array) -> dict[str, Any]:
        lam = check_strength(self.lam)
        solver = as_solver(self.solver)
        problem, origin, benefit = self._problem(X)
        test = None
        if lam is None and origin == "spectral":
            with suppress(InputError):  # cosines that are all equal: nothing can be tested
                test = self._tested(X, problem)
                LOG.info(test.sentence)
                lam = lam if test.found else 0.0
        if lam is None:

            def within(lam: float, budget: Budget) -> Result:
                return self._solve(problem, lam, budget.watching(solver))

            patience = PATIENCE if isinstance(solver, BestResponse) else np.inf
            lam, result = solve_at_cost(problem, within, patience=patience)
        else:
            result = self._solve(problem, lam, solver)
        learned = self._learned(problem, (origin, benefit), lam, result)
        return learned | {"prior_": learned["prior_"]._replace(test=test)}

    def prior_test(self, X: Any) -> PriorTest:
        """Test whether the signals support the prior, without a true network.

        :func:`~nashgraph.priors.prior_test` asks whether the graph of cosines, learned without the prior, has a
        higher value than if its nodes were relabelled. Where the test finds something the prior raises average
        precision, elsewhere it lowers it (``benchmarks/AUTO_LAM.md``).

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 30))
        >>> GLGP(benefit=np.arange(30.0)).prior_test(X).found
        False
        """
        table, missing = self._table_of(X)
        signals, names = checked_signals(table, self, self._min_signals, missing)
        model = self._in_order(names)
        return model._tested(signals, model._problem(signals)[0])

    def _tested(self, X: Array, problem: Problem) -> PriorTest:
        """Test the prior on the graph of cosines, which does not know how strong a node's signals are."""
        if self.geometry == "cosine":
            return prior_test(problem.prior, problem.smooth)
        points = make_search(X, self.engine, "cosine")
        storage = as_solver(self.solver).storage
        smoothness = admissible_smoothness(points, None, self.degree or 10, self.c, storage)
        return prior_test(problem.prior, smoothness.smooth)

    def path(
        self,
        X: Any,
        lams: Sequence[float] | Array | None = None,
        *,
        n_lams: int = 20,
        progress: Callable[[], object] = lambda: None,
    ) -> LambdaPath:
        """Learn a graph for each of several strengths of the prior, and return them with the front they make.

        Every lambda is solved twice, coming upward from the next smaller and downward from the next larger one, and
        the lower objective is kept: several stationary points may exist. ``lam``, ``init`` and the solver's
        ``n_starts`` are not used, the solver is always best-response, and the model itself is left as it is.

        Parameters
        ----------
        lams : list of float, optional
            Default: ``n_lams`` log-spaced between the lambda at which the prior first changes an edge and the one at
            which it costs as much as the signals' J (to first order). The path ends earlier, with fewer of them, where
            two nodes have come to hold half of all influence or the solver no longer converges.
        progress : callable
            Called after every solve, of which there are twice as many as lambdas, less one.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 30))
        >>> path = GLGP(degree=5, benefit=np.arange(30.0)).path(X, n_lams=5)
        >>> len(path.models), path.models[0].converged_, bool(np.all(np.diff(path.welfares) > 0))
        (5, True, True)
        """
        table, missing = self._table_of(X)
        signals, names = checked_signals(table, self, self._min_signals, missing)
        problem, *origin = self._in_order(names)._problem(signals)
        strengths = self._strengths(problem, lams, n_lams)
        solver = as_solver(self.solver)
        if not isinstance(solver, BestResponse):
            solver = BestResponse(tol=solver.tol, callback=solver.callback)
        options: dict[str, Any] = {"solver": solver, "to_the_end": lams is not None}
        results = solve_path(problem, strengths, progress=progress, **options)
        strengths = strengths[: len(results)]
        models = []
        for lam, result in zip(strengths.tolist(), results, strict=True):
            model = clone(self).set_params(lam=lam)
            models.append(model._store(self._learned(problem, origin, lam, result), table, signals, names))
        missed = [f"{model.lam_:g}" for model in models if not model.converged_]
        if missed:
            worst = max(model.stationarity_ for model in models)
            warn(
                f"GLGP.path did not reach tol={solver.tol:g} at lam = {listing(missed)} (stationarity up to "
                f"{worst:.1e}): raise max_iter or tol",
                ConvergenceWarning,
            )
        return LambdaPath(strengths, tuple(models), problem.smoothness.value(problem.smooth))

    def _strengths(self, problem: Problem, lams: Sequence[float] | Array | None, n_lams: int) -> Array:
        if lams is None:
            return np.geomspace(*path_range(problem), check_n_lams(n_lams))
        strengths = np.sort([check_lam(lam) for lam in lams])
        if strengths.size == 0:
            raise InputError("lams is empty: give at least one lam, or None for a range found from the data")
        return strengths

    def _problem(self, X: Array) -> tuple[Problem, str, Array | None]:
        """Return the problem, its signals made into points once, where its benefits came from, and these."""
        points = make_search(X, self.engine, self.geometry)
        prior, origin, benefit = self._prior(points)
        solver = as_solver(self.solver)
        if isinstance(solver, TTGD) and solver.storage == "auto":
            storage = "dense"
        else:
            storage = solver.storage
        smoothness = admissible_smoothness(points, self.beta, self.degree, self.c, storage)
        return Problem(smoothness, prior), origin, benefit

    def _prior(self, points: PairSearch) -> tuple[Any, str, Array | None]:
        """Return the prior, where its benefits came from, and these; a prior may have none."""
        prior = self.prior
        if isinstance(prior, str):
            check_choice("prior", prior, PRIORS, ", or pass an object of nashgraph.priors")
        if isinstance(prior, str) or (isinstance(prior, GamePrior) and prior.benefit is None):
            benefit, origin = marginal_benefit(self.benefit, points)
            return self.game_with(benefit), origin, benefit
        if not callable(getattr(prior, "evaluate", None)):
            raise InputError(f"prior must be a name or an object with evaluate, got {prior!r}: see nashgraph.priors")
        if not (isinstance(self.benefit, str) and self.benefit == "spectral"):
            raise InputError("both prior and benefit were given: pass benefit to the prior, for example GamePrior(b)")
        size = getattr(prior, "n_nodes", None)
        if size not in (None, len(points)):
            raise InputError(
                f"the prior is for {size} nodes, but X has {len(points)}: give one number for every column"
            )
        try:
            return prior, "given", played_benefit(prior)
        except UnansweredError:
            return prior, "given", None

    def game_with(self, benefit: Array) -> Any:
        """Return the prior, made with these benefits if it has none of its own."""
        if isinstance(self.prior, str):
            return PRIORS[self.prior](benefit)
        if isinstance(self.prior, GamePrior) and self.prior.benefit is None:
            return replace(self.prior, benefit=benefit)
        return self.prior

    def _solve(self, problem: Problem, lam: float, solver: SolverOptions) -> Result:
        smoothness = problem.smoothness
        if solver.n_starts > 1:
            if self.init is not None:
                raise InputError(f"n_starts={solver.n_starts} chooses its own starts: leave init=None, or n_starts=1")
            with sklearn_refusals():
                random = check_random_state(self.random_state)
            return multistart(problem, lam, solver, random)
        if self.init is None:
            return solver.solve(problem, lam)
        if isinstance(self.init, str):
            check_choice("init", self.init, ("path",), ", or pass a matrix to start from")
            if not isinstance(solver, BestResponse):
                raise InputError(f"init='path' needs the solver best-response, got {solver!r}")
            return solve_gradually(problem, lam, solver)
        return solver.solve(
            problem, lam, smoothness.hold(check_initial_weights(self.init, smoothness.n_nodes, smoothness.c))
        )

    def _learned(self, problem: Problem, benefits: Sequence[Any], lam: float, result: Result) -> dict[str, Any]:
        """Return what a fitted GLGP holds, out of a solver's result; ``benefits`` are their origin and the benefits."""
        origin, benefit = benefits
        optional = {
            "equilibrium_": getattr(result.state, "actions", None),
            "adjoint_": getattr(result.state, "adjoint", None),
            "benefit_": benefit,
        }
        return {
            "adjacency_": result.weights.matrix(),
            "game_": problem.prior,
            **{name: value for name, value in optional.items() if value is not None},
            "beta_": problem.smoothness.beta,
            "lam_": lam,
            "welfare_": result.welfare,
            "objective_": result.objective,
            "prior_": PriorEffect(lam, origin, problem.smoothness.value(result.weights), result.welfare),
            "certificate_": replace(result.certificate, remedy=REMEDIES.get(result.certificate.status, "")),
        }
