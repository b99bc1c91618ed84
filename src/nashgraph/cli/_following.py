"""The lambda-path of a table, and the point on it that is taken."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from ..estimators import GLGP, LinearGLGP, glgp_path
from ..solvers import Path as LambdaPath
from ..tables import Job, Signals
from ..validation import Array
from ._fitting import Outcome, certificate, refusals
from ._running import Voice


def followed(job: Job, signals: Signals, voice: Voice) -> Outcome:
    """Solve along a list of lambdas and take the knee of the front."""
    given = dict(job.parameters)
    if signals.benefit is not None:
        given["benefit"] = signals.benefit
    lams, n_lams = given.pop("lams", None), given.pop("n_lams", 20)
    game = {"interaction": given.pop("interaction", "log1p")}
    start = time.perf_counter()
    # The library prints its storage beside its bar; standard output is for the answer alone.
    with refusals(), redirect_stdout(io.StringIO()):
        # The linear approximation has the same beta and benefit, and finds them once for all lambdas.
        shape = LinearGLGP(**given, missing=_missing(job)).fit(signals.table)
        given = {"beta": shape.beta_, "c": shape.c, "benefit": shape.benefit_, "normalize_benefit": False, **game}
        path = glgp_path(
            signals.table, lams, n_lams=n_lams, **given, missing=_missing(job), verbose=int(voice.animated)
        )
    seconds = time.perf_counter() - start
    place = knee(path.fidelities, path.welfares)
    voice.note(
        f"took lam = {path.lams[place]:.4g}, the knee of the front: of its {len(path.lams)} points the farthest from "
        "the straight line between the ends; beyond it more welfare costs more smoothness than on the way to it"
    )
    model = model_at(path, place, given, shape.node_names_)
    return Outcome(model, len(signals.table), seconds, {"lam": float(path.lams[place]), **certificate(model)}, path)


def knee(fidelities: Array, welfares: Array) -> int:
    """Return the point of a front that is farthest above the straight line between its ends.

    Both axes are scaled to the front's own range, so units do not matter. A front of one point, or one that is flat,
    has its knee at the first.

    Examples
    --------
    >>> knee(np.array([1.0, 1.1, 3.0]), np.array([0.0, 0.8, 1.0]))
    1
    """
    cost, gain = fidelities - fidelities[0], welfares - welfares[0]
    if cost[-1] <= 0 or gain[-1] <= 0:
        return 0
    return int(np.argmax(gain / gain[-1] - cost / cost[-1]))


def model_at(path: LambdaPath, place: int, parameters: dict[str, Any], names: Array) -> GLGP:
    """Return the estimator as if fitted at one point of the path."""
    result = path.results[place]
    model = GLGP(lam=float(path.lams[place]), **parameters)
    model.adjacency_ = result.coupling.matrix()
    model.equilibrium_ = result.equilibrium
    model.adjoint_ = result.adjoint
    model.benefit_ = parameters["benefit"]
    model.beta_ = parameters["beta"]
    model.welfare_ = result.welfare
    model.objective_ = result.objective
    model.stationarity_ = result.stationarity
    model.n_iter_ = result.iterations
    model.converged_ = result.converged
    model.result_ = result
    model.node_names_ = names
    return model


def _missing(job: Job) -> str:
    return "pairwise" if job.table.missing == "pairwise" else "error"
