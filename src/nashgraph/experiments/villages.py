"""The village trials of Tables 2 and 3: every method on one village, scored against its true network.

The reading of what the paper leaves open: the 40 villages in which every household reports one religion, the sixteen
signals "survey16", b = hhSurveyed + 1 scaled to sum 1. Welfare is compared on graphs whose rows sum to c = 0.95, the
true one among them; a household without neighbours stays without.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..datasets import ONE_RELIGION_VILLAGES, load_villages
from ..estimators import GLGP, GraphEstimator, LinearGLGP, QuadGameGL, SmoothGL, SpecTemp
from ..games import welfare
from ..graph import adjacency_matrix
from ..metrics import edge_auc, equal_influence
from ..validation import Array
from .study import Plan
from .trials import Row, Trial

BETA, LAM, C = 1.0, 100.0, 0.95
PUBLISHED = {"alpha": 0.5, "gamma": 0.003}
GAMES = {"linear": ("GLGP f(x)=x", 760), "log1p": ("GLGP f(x)=log(1+x)", 320)}
LINEAR, SMOOTH, QUAD, SPECTEMP = "Linear approximation", "SmoothGL", "QuadGameGL", "SpecTemp"
QUAD_HOMOPHILOUS = "QuadGameGL, homophilous"
SURVEYED, RANDOM = "control: hhSurveyed alone", "control: random"
PAPER, CONVERGED = "paper", "converged"
SCALES = (2, 8, 32, 128)  # readings of the distances' scale, tried because the paper's figures for these two differ
QUICK_VILLAGES = (10, 8)  # the two smallest


class Village(NamedTuple):
    """A village as an experiment sees it: signals, benefit, whether a household was surveyed, the true graph."""

    signals: Array
    benefit: Array
    surveyed: Array
    truth: Any


def trials(plan: Plan) -> list[Trial]:
    """Return the villages.

    Examples
    --------
    >>> len(trials(Plan()))
    40
    """
    villages = QUICK_VILLAGES if plan.quick else ONE_RELIGION_VILLAGES
    return [Trial(f"village-{village}", {"village": village, "seed": plan.seed}) for village in villages]


def prepare() -> None:
    """Have the villages here before the trials ask for them at the same time."""
    load_villages([])


@cache
def village_problem(number: int) -> Village:
    """Return a village's signals, benefit and true graph."""
    data = load_villages([number])[number]
    assert data.signals is not None
    surveyed = data.attributes["hhSurveyed"].to_numpy(float)
    benefit = surveyed + 1.0
    return Village(data.signals.to_numpy(), benefit / benefit.sum(), surveyed, adjacency_matrix(data.graph))


def models(benefit: Array) -> Iterator[tuple[str, str, GraphEstimator]]:
    """Give the methods: name, setting ("paper" or "converged"), estimator."""
    prior: dict[str, Any] = {"lam": LAM, "beta": BETA, "c": C, "benefit": benefit}
    for interaction, (method, iterations) in GAMES.items():
        steps = {**PUBLISHED, "check_every": iterations}
        published = GLGP(
            **prior, interaction=interaction, solver="ttgd", tol=0.0, max_iter=iterations, solver_params=steps
        )
        yield method, PAPER, published
        yield method, CONVERGED, GLGP(**prior, interaction=interaction, tol=1e-8, max_iter=1000)
    yield LINEAR, PAPER, LinearGLGP(**prior)
    yield SMOOTH, PAPER, SmoothGL(beta=BETA, c=C)
    yield QUAD, PAPER, QuadGameGL(tol=1e-5)
    yield QUAD_HOMOPHILOUS, PAPER, QuadGameGL(benefits="homophilous", tol=1e-5)
    yield SPECTEMP, PAPER, SpecTemp()


def measure(village: int, seed: int) -> list[Row]:
    """Return AUC and welfare gain of every method, and of the controls, on one village."""
    X, benefit, surveyed, truth = village_problem(village)
    n = len(benefit)
    reference = {game: welfare(equal_influence(truth, C), benefit, game) for game in GAMES}

    def row(method: str, setting: str, weights: Any, model: GraphEstimator | None = None) -> Row:
        scaled = equal_influence(weights, C)
        gains = {f"gain_{game}": welfare(scaled, benefit, game) - reference[game] for game in GAMES}
        return {
            "village": village,
            "nodes": n,
            "method": method,
            "setting": setting,
            "auc": edge_auc(weights, truth),
            "auc_symmetric": edge_auc(weights, truth, "mean"),
            **gains,
            "stationarity": getattr(model, "stationarity_", None),
            "converged": bool(getattr(model, "converged_", True)),
        }

    rows = []
    for method, setting, model in models(benefit):
        model.fit(X)
        rows.append(row(method, setting, model.adjacency_, model))
    for times in SCALES:
        stretched = X * np.sqrt(times)
        for method, scaled in (
            (LINEAR, LinearGLGP(lam=LAM, beta=BETA, c=C, benefit=benefit)),
            (SMOOTH, SmoothGL(beta=BETA, c=C)),
        ):
            rows.append(row(method, f"distances x {times}", scaled.fit(stretched).adjacency_))
    noise = np.random.default_rng([seed, village]).random((n, n))
    for method, scores in ((SURVEYED, surveyed[:, None] + surveyed), (RANDOM, noise)):
        rows.append(row(method, "control", scores * (1.0 - np.eye(n))))
    return rows


def extremes(values: pd.Series[float]) -> tuple[float, float, float]:
    """Return maximum, average and minimum, as the paper's tables do.

    Examples
    --------
    >>> extremes(pd.Series([1.0, 2.0, 6.0]))
    (6.0, 3.0, 1.0)
    """
    return float(values.max()), float(values.mean()), float(values.min())
