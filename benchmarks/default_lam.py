"""The cost of the prior's default strength, compared with a fixed one and with no prior, on hard tables.

``python -m benchmarks.default_lam`` prints the table and writes benchmarks/DEFAULT_LAM.md. Both fits of a line run in
one process on one thread, one after the other, and are measured in processor time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from sklearn.base import clone
from tests.problems import TABLES

from nashgraph import GLGP, SmoothGL
from nashgraph.estimators import GraphEstimator
from nashgraph.pairs import blas_threads
from nashgraph.validation import Array

from .report import Report
from .scale import scale_signals

BRIEF = 5.0  # seconds: a fit below is run again, and the faster counts
REPEATS = 3


class Race(NamedTuple):
    """A table, the model that the default is compared with, and how many times as long it may take."""

    name: str
    signals: Callable[[], Array]
    against: Callable[[GLGP], GraphEstimator]
    target: float


def table(shape: str, n: int) -> Callable[[], Array]:
    return lambda: TABLES[shape](n, np.random.default_rng(0))


RACES = (
    Race(
        "curved sheet, N = 20,000, M = 16",
        lambda: scale_signals(20_000),
        lambda fitted: GLGP(lam=fitted.lam_),
        1.5,
    ),
    Race("Likert clusters, N = 20,000, M = 16", table("Likert clusters", 20_000), lambda _: SmoothGL(), 8),
    *(
        Race(
            f"lognormal, sigma {s}, N = 1,813, M = 126", table(f"lognormal, sigma {s}", 1813), lambda _: SmoothGL(), 10
        )
        for s in (1, 2, 3)
    ),
)


def timed(model: GraphEstimator, X: Array) -> tuple[GraphEstimator, float]:
    """Return the model fitted, and the processor time it took: the least of several for short fits."""
    seconds = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        fitted = clone(model).fit(X)
        seconds = min(seconds, time.process_time() - start)
        if seconds > BRIEF:
            break
    return fitted, seconds


def main() -> None:
    """Run every race and write the results."""
    report = Report("What the default strength of the prior costs", "python -m benchmarks.default_lam")
    report.say("Processor seconds on one thread, both fits of a line one after the other in one process.")
    numba.set_num_threads(1)
    rows = []
    with blas_threads().limit(limits=1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (GLGP(), SmoothGL()):
            for n in (1200, 3500, 12_000):  # compiles or loads the kernels of each storage, and of the tree
                model.fit(scale_signals(n))
        for race in RACES:
            X = race.signals()
            default, seconds = timed(GLGP(), X)
            other = race.against(default)
            _, fixed = timed(other, X)
            what = "SmoothGL" if isinstance(other, SmoothGL) else f"GLGP, lam = {default.lam_:.3g}"
            certificate = default.certificate_
            state = f"{certificate.status.name.lower()}, {certificate.value:.0e}"
            rows.append([race.name, f"{seconds:.1f}", state, what, f"{fixed:.2f}"])
            rows[-1] += [f"{seconds / fixed:.1f}", f"{race.target:g}"]
            print(rows[-1], flush=True)
    report.table(["table", "GLGP()", "ended", "beside", "its seconds", "ratio", "at most"], rows)
    report.write(Path(__file__).with_name("DEFAULT_LAM.md"))


if __name__ == "__main__":
    main()
