"""The lambda-path of GLGP as one function, in the manner of scikit-learn's ``lasso_path``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from sklearn.exceptions import ConvergenceWarning

from ..games import Interaction, Welfare
from ..solvers import Path, Problem, lam_range, solve_path
from ..validation import Array, InputError, check_integer, check_lam, listing, warn
from ._benefit import marginal_benefit
from .base import admissible_set, checked_signals


def glgp_path(
    X: Any,
    lams: Sequence[float] | Array | None = None,
    *,
    n_lams: int = 20,
    beta: float | None = None,
    degree: float | None = 10,
    c: float = 0.95,
    interaction: str | Interaction = "log1p",
    benefit: str | Array = "spectral",
    welfare: str | Welfare = "total",
    tol: float = 1e-6,
    max_iter: int = 200,
    storage: str = "auto",
    dtype: str = "float64",
    normalize_benefit: bool = True,
    missing: str = "error",
    verbose: int = 0,
) -> Path:
    r"""Solve GLGP for a list of lambdas, each warm-started from its neighbours, and return the Pareto front.

    .. math:: \min_{W \in S} \; J(W) - \lambda\, g(y), \quad \lambda \in \text{lams}

    Every lambda is solved twice, coming upward from the next smaller and downward from the next larger one, and the
    lower objective is kept: several stationary points may exist.

    Parameters
    ----------
    X : array or DataFrame of shape (n_signals, n_nodes)
    lams : list of float, optional
        Default: ``n_lams`` log-spaced between the lambda at which the prior first changes an edge and the one at which
        it dominates the signals.
    n_lams : int
    verbose : int
        1 shows a progress bar, 2 prints every iterate.
    beta, degree, c, interaction, benefit, welfare, tol, max_iter, storage, dtype, normalize_benefit, missing
        As in :class:`GLGP`.

    Returns
    -------
    Path : lams, fidelities J(W), welfares, objectives, stationarities, and one Result per lambda

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> path = glgp_path(X, n_lams=5, degree=5, benefit=np.arange(30.0))
    >>> path.results[0].coupling.matrix().shape, len(path.lams)
    ((30, 30), 5)
    """
    signals, _ = checked_signals(X, missing=missing)
    prior = marginal_benefit(benefit, signals, normalize=normalize_benefit)
    weight, row_sum = admissible_set(signals, beta, degree, c)
    problem = Problem.from_signals(
        signals,
        prior,
        beta=weight,
        c=row_sum,
        interaction=interaction,
        welfare=welfare,
        storage=storage,
        dtype=dtype,
        verbose=verbose,
    )
    if lams is None:
        low, high = lam_range(problem)
        strengths = np.geomspace(low, high, check_integer("n_lams", n_lams, low=2, remedy="try 20"))
    else:
        strengths = np.array([check_lam(lam) for lam in lams])
        if strengths.size == 0:
            raise InputError("lams is empty: give at least one lam, or None for a range found from the data")
    with Progress(console=Console(stderr=True), disable=not verbose, transient=True) as bar:
        task = bar.add_task("lambda-path", total=2 * len(strengths) - 1)
        path = solve_path(
            problem,
            strengths,
            progress=lambda: bar.advance(task),
            tol=tol,
            max_iter=max_iter,
            verbose=max(verbose - 1, 0),
        )
    missed = [f"{lam:g}" for lam, result in zip(path.lams, path.results, strict=True) if not result.converged]
    if missed:
        warn(
            f"glgp_path did not reach tol={tol:g} at lam = {listing(missed)} (stationarity up to "
            f"{path.stationarities.max():.1e}): raise max_iter or tol",
            ConvergenceWarning,
        )
    return path
