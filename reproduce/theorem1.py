"""Theorem 1: how fast TTGD's gradient mapping falls, with the theorem's steps and with the paper's practical ones.

The theorem bounds the least squared gradient mapping over K iterations by a constant over K. Shown is that least value
against K on Figure 1's problem (c = 0.95), where the theorem's step is too small to move, and on the same signals with
milder games (c = 0.5 and 0.3), where it is not.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from nashgraph.estimators import spectral_benefit
from nashgraph.solvers import Problem, StepSizes, gradient_mapping, theory_steps
from nashgraph.solvers.two_timescale import iterates

from .fig1 import draw_problem
from .study import COLOURS, Check, Experiment, Row, Study, new_figure, where

OF_FIGURE_1 = "Figure 1 (c = 0.95)"
# c, beta and lam of each problem.
SETTINGS = {OF_FIGURE_1: (0.95, 200.0, 5.0), "milder (c = 0.5)": (0.5, 200.0, 5.0), "mild (c = 0.3)": (0.3, 1.0, 1.0)}


def trials(quick: bool) -> list[Row]:
    """Return every setting with both kinds of steps, on a few draws."""
    return [
        {"setting": setting, "steps": steps, "trial": trial, "iterations": 300 if quick else 10_000}
        for setting in SETTINGS
        for steps in ("theory", "practical")
        for trial in range(1 if quick else 5)
    ]


def measure(setting: str, steps: str, trial: int, iterations: int, seed: int) -> list[Row]:
    """Return the least squared gradient mapping over the first K iterations, at spaced K."""
    _, X = draw_problem(trial, seed)
    c, beta, lam = SETTINGS[setting]
    problem = Problem.from_signals(X, spectral_benefit(X), beta=beta, c=c, interaction="log1p")
    start = problem.smooth
    sizes = theory_steps(problem, lam, start) if steps == "theory" else StepSizes(0.5, 0.003)
    run = {"setting": setting, "steps": steps, "trial": trial, "gamma": sizes.gamma}
    shown = set(np.unique(np.geomspace(1, iterations, 60).astype(int)).tolist())
    rows, least, state = [], np.inf, None
    for k, graph in islice(enumerate(iterates(problem, lam, start, sizes)), 1, iterations + 1):
        state = problem.prior.evaluate(graph, start=state)
        least = min(least, float(np.sum(gradient_mapping(problem, lam, graph, sizes.gamma, state) ** 2)))
        if k in shown:
            rows.append({**run, "iterations": k, "least_squared_mapping": least})
    return rows


def peaked(rows: pd.DataFrame) -> bool:
    """Whether K times the least squared mapping stands below an earlier peak at the last K: it is bounded here."""
    product = rows["iterations"] * rows["least_squared_mapping"]
    early = product[rows["iterations"] <= rows["iterations"].max() / 10]
    return bool(product.iloc[-1] < early.max())


def study(frame: pd.DataFrame) -> Study:
    """Check that the mapping falls at least as fast as 1/K wherever the steps are large enough to see it."""
    summary, checks = [], []
    for (setting, steps), rows in frame.groupby(["setting", "steps"], sort=False):
        longest = int(rows["iterations"].max())
        first, last = (where(rows, iterations=k)["least_squared_mapping"].mean() for k in (1, longest))
        bounded = [peaked(run) for _, run in rows.groupby("trial")]
        summary.append(
            {
                "problem": setting,
                "steps": steps,
                "γ": f"{rows['gamma'].mean():.1e}",
                "at K = 1": f"{first:.1e}",
                f"at K = {longest:,}": f"{last:.1e}",
                "K times the mapping has peaked": f"{sum(bounded)} of {len(bounded)} runs",
            }
        )
        if (setting, steps) != (OF_FIGURE_1, "theory"):
            claim = f"{setting}, {steps} steps: the least squared gradient mapping falls faster than 1/K"
            detail = f"K times it has peaked a decade before the last K in {sum(bounded)} of {len(bounded)} runs"
            checks.append(Check(claim, all(bounded), detail))
    tiny = where(frame, steps="theory", setting=OF_FIGURE_1)["gamma"].mean()
    notes = [
        f"On the paper's own problem (c = 0.95) the theorem's γ is {tiny:.1e}: its constant grows with a high power of "
        "1/(1 - c), and ten thousand such steps move nothing that can be seen. The rate is shown where γ is of a size "
        "to show it. The practical steps, which no theorem covers, fall linearly to rounding in all three problems.",
        "The paper has no figure of this; there are no numbers of its own to compare with.",
    ]
    return Study([], checks, notes, unit="squared gradient mapping", table=pd.DataFrame(summary))


def draw(frame: pd.DataFrame) -> Any:
    """Draw the least squared mapping against K, with the slope 1/K."""
    figure, panels = new_figure(columns=3, width=4.2, sharey=True)
    for axes, setting in zip(panels, SETTINGS, strict=True):
        for colour, steps in zip(COLOURS, ("theory", "practical"), strict=False):
            rows = where(frame, setting=setting, steps=steps)
            mean = rows.groupby("iterations")["least_squared_mapping"].mean().clip(lower=1e-30)
            axes.loglog(mean.index, mean, color=colour, label=f"{steps} steps, γ = {rows['gamma'].mean():.1e}")
            if steps == "theory":
                axes.loglog(mean.index, mean.iloc[0] / mean.index, color="gray", linestyle=":", label="1/K")
        axes.set(xlabel="iterations K", title=setting)
        axes.legend(fontsize=8)
    panels[0].set_ylabel("least squared gradient mapping")
    return figure


THEOREM1 = Experiment("theorem1", "Theorem 1: the gradient mapping of TTGD", trials, measure, study, draw)
