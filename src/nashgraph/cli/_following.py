"""The lambda-path of a table, and the point on it that is taken."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from ..estimators import GLGP, LinearGLGP, glgp_path
from ..estimators.glgp import learned_attributes
from ..solvers import COST
from ..solvers import Path as LambdaPath
from ..tables import Job, Signals
from ..validation import Array
from ._fitting import Outcome, certificate, refusals
from ._running import Voice


def followed(job: Job, signals: Signals, voice: Voice) -> Outcome:
    """Solve along a list of lambdas and take the strongest prior that is nearly free."""
    given = dict(job.parameters)
    if signals.benefit is not None:
        given["benefit"] = signals.benefit
    lams, n_lams = given.pop("lams", None), given.pop("n_lams", 20)
    game = {"interaction": given.pop("interaction", "log1p")}
    start = time.perf_counter()
    # The library prints its storage beside its bar; standard output is for the answer alone.
    with refusals(), redirect_stdout(io.StringIO()):
        # Without prior there is the same beta and benefit, found once for all lambdas, and the least J.
        smooth = LinearGLGP(lam=0.0, **given, missing=_missing(job)).fit(signals.table)
        given = {"beta": smooth.beta_, "c": smooth.c, "benefit": smooth.benefit_, "normalize_benefit": False, **game}
        path = glgp_path(
            signals.table, lams, n_lams=n_lams, **given, missing=_missing(job), verbose=int(voice.animated)
        )
    seconds = time.perf_counter() - start
    place = affordable(path.fidelities, smooth.objective_)
    voice.note(
        f"took lam = {path.lams[place]:.4g}, "
        + (
            f"the strongest of {len(path.lams)} that cost at most a thousandth of the smoothness J"
            if path.fidelities[place] <= (1.0 + COST) * smooth.objective_
            else "the weakest, though it costs more than a thousandth of the smoothness J: try smaller --lams"
        )
    )
    model = model_at(path, place, given, smooth.node_names_)
    return Outcome(model, len(signals.table), seconds, certificate(model), path)


def affordable(fidelities: Array, least: float) -> int:
    """Return the strongest prior of a path that costs at most a thousandth of J's least value, or else the weakest.

    Examples
    --------
    >>> affordable(np.array([10.001, 10.009, 10.02, 11.0]), 10.0)
    1
    """
    return max(int(np.sum(fidelities <= (1.0 + COST) * least)) - 1, 0)


def model_at(path: LambdaPath, place: int, parameters: dict[str, Any], names: Array) -> GLGP:
    """Return the estimator as if fitted at one point of the path."""
    lam = float(path.lams[place])
    model = GLGP(lam=lam, **parameters)
    learned = learned_attributes(path.results[place], parameters["benefit"], parameters["beta"], lam)
    for name, value in learned.items():
        setattr(model, name, value)
    model.node_names_ = names
    return model


def _missing(job: Job) -> str:
    return "pairwise" if job.table.missing == "pairwise" else "error"
