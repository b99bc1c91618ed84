"""Figure 2: the Pareto fronts of smoothness and welfare on the karate club, GLGP against its linear approximation.

The club's 34 members, 50 signals of a Gaussian Markov random field with the Laplacian as precision. The paper states
neither beta nor the lambdas, so only the shape can be compared: at equal J, GLGP's welfare is the higher.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nashgraph.datasets import load_karate, smooth_signals
from nashgraph.estimators import GLGP, GraphEstimator, LinearGLGP, SmoothGL, spectral_benefit
from nashgraph.pairs import squared_distances
from nashgraph.priors import GamePrior, welfare

from .study import COLOURS, Check, Comparison, Experiment, Row, Study, compared, new_figure, paper_numbers, where

SIGNALS, DEGREE, C = 50, 10, 0.95
GAMES = {"log1p": "f(x)=log(1+x)", "linear": "f(x)=x"}
GLGP_FRONT, LINEAR_FRONT, SMOOTH_POINT = "GLGP", "Linear approximation", "SmoothGL"


def trials(quick: bool) -> list[Row]:
    """Return the draws of signals, each with both interactions."""
    return [
        {"interaction": interaction, "trial": trial, "n_lams": 12 if quick else 40}
        for interaction in GAMES
        for trial in range(1 if quick else 10)
    ]


def measure(interaction: str, trial: int, n_lams: int, seed: int) -> list[Row]:
    """Return the points of both fronts on one draw of signals."""
    (state,) = np.random.SeedSequence([seed, trial]).generate_state(1)
    X = smooth_signals(load_karate().graph, SIGNALS, "gmrf", random_state=int(state))
    benefit, distances = spectral_benefit(X), squared_distances(X)
    smooth = SmoothGL(degree=DEGREE, c=C).fit(X)

    def point(method: str, lam: float, model: GraphEstimator) -> Row:
        weights = model.adjacency_.toarray()
        return {
            "interaction": interaction,
            "trial": trial,
            "method": method,
            "lam": float(lam),
            "smoothness_cost": float(np.vdot(weights, distances) + smooth.beta_ * np.vdot(weights, weights)),
            "welfare": welfare(weights, benefit, interaction),
        }

    path = GLGP(degree=DEGREE, c=C, prior=GamePrior(interaction=interaction)).path(X, n_lams=n_lams)
    rows = [point(SMOOTH_POINT, 0.0, smooth)]
    rows += [
        {**point(GLGP_FRONT, lam, model), "stationarity": model.stationarity_}
        for lam, model in zip(path.lams, path.models, strict=True)
    ]
    for lam in np.geomspace(1e-2, 1e3, 60):
        rows.append(point(LINEAR_FRONT, lam, LinearGLGP(lam=float(lam), degree=DEGREE, c=C).fit(X)))
    return rows


def leads(front: pd.DataFrame, other: pd.DataFrame) -> pd.Series[float]:
    """Return by how much one front lies above another at the other's J, where it reaches that far.

    Between its points a front is taken to be straight.
    """
    front = front.sort_values("smoothness_cost")
    reached = other[other["smoothness_cost"].between(front["smoothness_cost"].min(), front["smoothness_cost"].max())]
    return np.interp(reached["smoothness_cost"], front["smoothness_cost"], front["welfare"]) - reached["welfare"]


def study(frame: pd.DataFrame) -> Study:
    """Check that GLGP's front is above the linear approximation's at equal J, in every draw."""
    comparisons: list[Comparison] = []
    checks: list[Check] = []
    for interaction, label in GAMES.items():
        ahead = [
            leads(where(draw, method=GLGP_FRONT), where(draw, method=LINEAR_FRONT))
            for _, draw in where(frame, interaction=interaction).groupby("trial")
        ]
        least = min(float(lead.min()) for lead in ahead)
        claim = f"{label}: GLGP's front lies above the linear approximation's at equal J, in every draw"
        checks.append(Check(claim, least > 0, f"least lead {least:+.2e} in {len(ahead)} draws"))
        for word, what in (("mean", "mean"), ("largest", "max")):
            ours = [lead.agg(what) for lead in ahead]
            claim = f"{label}: GLGP's {word} lead in welfare at equal J"
            comparisons.append(compared(claim, ours, paper_lead(interaction, what)))
    worst = float(frame["stationarity"].max())
    notes = [
        f"β is that of {DEGREE} neighbours a node, our default: the paper's is not stated, and J is not on its scale, "
        "so the leads can be compared in sign only. The paper's are read off its curves in the same way.",
        f"The largest stationarity on GLGP's fronts is {worst:.1e}.",
    ]
    return Study(comparisons, checks, notes, unit="welfare")


def paper_lead(interaction: str, what: str) -> float:
    """Return the mean or largest lead of the paper's own curves."""
    curves = paper_numbers()["fig2"][interaction]
    front, other = (
        pd.DataFrame({"smoothness_cost": curves[f"{name}_smoothness_cost"], "welfare": curves[f"{name}_welfare"]})
        for name in ("glgp", "linear")
    )
    return float(leads(front, other).agg(what))


def draw(frame: pd.DataFrame) -> Any:
    """Draw the fronts of the first draw, both interactions."""
    figure, both = new_figure(columns=2)
    for axes, colour, (interaction, label) in zip(both, COLOURS, GAMES.items(), strict=False):
        rows = where(frame, interaction=interaction, trial=0)
        for method, style in ((GLGP_FRONT, "o-"), (LINEAR_FRONT, "x--")):
            front = where(rows, method=method).sort_values("smoothness_cost")
            axes.plot(front["smoothness_cost"], front["welfare"], style, color=colour, markersize=4, label=method)
        smooth = where(rows, method=SMOOTH_POINT)
        axes.plot(smooth["smoothness_cost"], smooth["welfare"], "s", color=COLOURS[5], label=SMOOTH_POINT)
        axes.set(xlabel="J(W), the less the smoother", ylabel="welfare", title=label)
        axes.set_xlim(right=1.05 * float(where(rows, method=GLGP_FRONT)["smoothness_cost"].max()))
        axes.legend()
    return figure


FIG2 = Experiment("fig2", "Figure 2: Pareto fronts on the karate club", trials, measure, study, draw)
