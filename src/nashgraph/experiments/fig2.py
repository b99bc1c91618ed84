"""Figure 2: the Pareto fronts of smoothness and welfare on the karate club, GLGP against its linear approximation.

The club's 34 members, 50 signals of a Gaussian Markov random field with the Laplacian as precision. The paper states
neither beta nor the lambdas, so only the shape can be compared: at equal J, GLGP's welfare is the higher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..couplings import fidelity
from ..datasets import load_karate, smooth_signals
from ..estimators import LinearGLGP, SmoothGL, glgp_path, spectral_benefit
from ..games import welfare
from ..solvers import Problem
from ..validation import Array
from .figures import COLOURS, new_figure
from .paper import paper_numbers
from .study import SHAPE, Check, Comparison, Experiment, Plan, Study, compared
from .trials import Row, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGNALS, DEGREE, C = 50, 10, 0.95
LAMS, LAMS_QUICK = 40, 12
LINEAR_LAMS = np.geomspace(1e-2, 1e3, 60)
TRIALS, TRIALS_QUICK = 10, 1
GAMES = {"log1p": "f(x)=log(1+x)", "linear": "f(x)=x"}
GLGP_FRONT, LINEAR_FRONT, SMOOTH_POINT = "GLGP", "Linear approximation", "SmoothGL"


def trials(plan: Plan) -> list[Trial]:
    """Return the draws of signals, each with both interactions.

    Examples
    --------
    >>> len(trials(Plan(quick=True)))
    2
    """
    count, lams = (TRIALS_QUICK, LAMS_QUICK) if plan.quick else (TRIALS, LAMS)
    return [
        Trial(f"{interaction}-{trial}", {"interaction": interaction, "trial": trial, "seed": plan.seed, "n_lams": lams})
        for interaction in GAMES
        for trial in range(count)
    ]


def measure(interaction: str, trial: int, seed: int, n_lams: int) -> list[Row]:
    """Return the points of both fronts on one draw of signals."""
    (state,) = np.random.SeedSequence([seed, trial]).generate_state(1)
    X = smooth_signals(load_karate().graph, SIGNALS, "gmrf", random_state=int(state))
    benefit = spectral_benefit(X)
    smooth = SmoothGL(degree=DEGREE, c=C).fit(X)
    problem = Problem.from_signals(X, benefit, lam=0.0, beta=smooth.beta_, c=C, interaction=interaction)

    def point(method: str, lam: float, weights: Array) -> Row:
        return {
            "interaction": interaction,
            "trial": trial,
            "method": method,
            "lam": lam,
            "fidelity": fidelity(problem.storage, problem.storage.hold(weights)),
            "welfare": welfare(weights, benefit, interaction),
        }

    path = glgp_path(X, n_lams=n_lams, degree=DEGREE, c=C, interaction=interaction, max_iter=1000)
    rows = [point(SMOOTH_POINT, 0.0, smooth.adjacency_)]
    rows += [
        {**point(GLGP_FRONT, float(lam), result.coupling.matrix()), "stationarity": result.stationarity}
        for lam, result in zip(path.lams, path.results, strict=True)
    ]
    for lam in LINEAR_LAMS:
        weights = LinearGLGP(lam=float(lam), degree=DEGREE, c=C).fit(X).adjacency_
        rows.append(point(LINEAR_FRONT, float(lam), weights))
    return rows


def leads(front: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return by how much one front lies above another at the other's J, where it reaches that far.

    Between its points a front is taken to be straight.

    Examples
    --------
    >>> front = pd.DataFrame({"fidelity": [1.0, 3.0], "welfare": [0.0, 2.0]})
    >>> other = pd.DataFrame({"fidelity": [2.0, 9.0], "welfare": [0.5, 5.0]})
    >>> leads(front, other)
       fidelity  lead
    0       2.0   0.5
    """
    front = front.sort_values("fidelity")
    reached = other[other["fidelity"].between(front["fidelity"].min(), front["fidelity"].max())]
    at_equal = np.interp(reached["fidelity"], front["fidelity"], front["welfare"])
    return pd.DataFrame({"fidelity": reached["fidelity"], "lead": at_equal - reached["welfare"]})


def study(frame: pd.DataFrame) -> Study:
    """Check that GLGP's front is above the linear approximation's at equal J, in every draw."""
    comparisons: list[Comparison] = []
    checks: list[Check] = []
    for interaction, label in GAMES.items():
        of_game = frame[frame["interaction"] == interaction]
        ahead = [
            leads(draw[draw["method"] == GLGP_FRONT], draw[draw["method"] == LINEAR_FRONT])["lead"]
            for _, draw in of_game.groupby("trial")
        ]
        least = min(float(lead.min()) for lead in ahead)
        checks.append(
            Check(
                f"{label}: GLGP's front lies above the linear approximation's at equal J, in every draw",
                least > 0,
                f"least lead {least:+.2e} in {len(ahead)} draws",
                SHAPE,
            )
        )
        comparisons.append(
            compared(
                f"{label}: GLGP's mean lead in welfare at equal J",
                [lead.mean() for lead in ahead],
                paper_lead(interaction, "mean"),
            )
        )
        comparisons.append(
            compared(
                f"{label}: GLGP's largest lead in welfare at equal J",
                [lead.max() for lead in ahead],
                paper_lead(interaction, "max"),
            )
        )
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
        pd.DataFrame({"fidelity": curves[f"{name}_fidelity"], "welfare": curves[f"{name}_welfare"]})
        for name in ("glgp", "linear")
    )
    return float(getattr(leads(front, other)["lead"], what)())


def draw(frame: pd.DataFrame) -> Figure:
    """Draw the fronts of the first draw, both interactions."""
    figure, both = new_figure(columns=2)
    axes: Any
    for axes, colour, (interaction, label) in zip(both, COLOURS, GAMES.items(), strict=False):
        rows = frame[(frame["interaction"] == interaction) & (frame["trial"] == 0)]
        for method, style in ((GLGP_FRONT, "o-"), (LINEAR_FRONT, "x--")):
            front = rows[rows["method"] == method].sort_values("fidelity")
            axes.plot(front["fidelity"], front["welfare"], style, color=colour, markersize=4, label=method)
        smooth = rows[rows["method"] == SMOOTH_POINT]
        axes.plot(smooth["fidelity"], smooth["welfare"], "s", color=COLOURS[5], label=SMOOTH_POINT)
        far = rows[rows["method"] == GLGP_FRONT]["fidelity"].max()
        axes.set(xlabel="J(W), the less the smoother", ylabel="welfare", title=label)
        axes.set_xlim(right=float(far) * 1.05)
        axes.legend()
    return figure


FIG2 = Experiment("fig2", "Figure 2: Pareto fronts on the karate club", trials, measure, study, draw, kept="fig2")
