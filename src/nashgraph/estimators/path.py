"""The lambda-path (a stand-in for the report's tests: the integrator takes main's version)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..solvers import Problem, lam_range
from ..validation import Array
from ._benefit import marginal_benefit
from .base import admissible_set, checked_signals
from .glgp import GLGP


@dataclass(frozen=True, eq=False)
class LambdaPath:
    """A fitted GLGP for each lambda."""

    lams: Array
    models: tuple[GLGP, ...]
    fidelities: Array
    welfares: Array
    objectives: Array
    stationarities: Array
    least: float


def lambda_path(model: GLGP, X: Any, lams: Any, n_lams: int, progress: Callable[[], object]) -> LambdaPath:
    """Fit every lambda."""
    signals, _ = checked_signals(X)
    if lams is None:
        beta, c = admissible_set(signals, model.beta, model.degree, model.c)
        benefit = marginal_benefit(model.benefit, signals, normalize=model.normalize_benefit)
        lams = np.geomspace(*lam_range(Problem.from_signals(signals, benefit, beta=beta, c=c)), n_lams)
    models = tuple(clone(model).set_params(lam=float(lam)).fit(X) for lam in np.sort(lams))
    priors = [fitted.prior_ for fitted in models]
    return LambdaPath(
        np.sort(np.asarray(lams, dtype=float)),
        models,
        np.array([prior.fidelity for prior in priors if prior]),
        np.array([prior.welfare for prior in priors if prior]),
        np.array([fitted.objective_ for fitted in models]),
        np.array([fitted.stationarity_ for fitted in models]),
        0.0,
    )
