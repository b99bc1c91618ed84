"""The village trials of Tables 2 and 3: every method on one village, scored against its true network.

The reading of what the paper leaves open: the 40 villages in which every household reports one religion, the sixteen
signals "survey16", b = hhSurveyed + 1 scaled to sum 1. Welfare is compared on graphs whose rows sum to c = 0.95, the
true one among them; a household without neighbours stays without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..certificate import Certificate
from ..datasets import ONE_RELIGION_VILLAGES, load_villages
from ..estimators import GLGP, ConsensusGL, GraphEstimator, LinearGLGP, SmoothGL
from ..games import welfare
from ..graph import adjacency_matrix
from ..metrics import edge_auc, equal_influence
from ..validation import Array
from .figures import COLOURS, Figure, new_figure
from .methods import CONSENSUS, GLGP_NAMES, LINEAR, QUAD, QUAD_HOMOPHILOUS, SMOOTH, SPECTEMP, baselines, published
from .study import Comparison, Experiment, Plan, Study, mean_and_error, where
from .trials import Row, Trial, certified

BETA, LAM, C = 1.0, 100.0, 0.95
ITERATIONS = {"linear": 760, "log1p": 320}
OTHERS = (LINEAR, SMOOTH, QUAD, SPECTEMP)
SURVEYED, RANDOM = "control: hhSurveyed alone", "control: random"
PAPER, CONVERGED, CONTROL, OURS = "paper", "converged", "control", "ours"
SCALES = (2, 8, 32, 128)  # readings of the distances' scale, tried because the paper's figures for these two differ
QUICK_VILLAGES = (10, 8)  # the two smallest
Columns = Sequence[tuple[str, str]]  # of methods and settings


class Village(NamedTuple):
    """A village as an experiment sees it: signals, benefit, whether a household was surveyed, the true graph."""

    signals: Array
    benefit: Array
    surveyed: Array
    truth: Any


def trials(plan: Plan) -> list[Trial]:
    """Return the villages."""
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
    """Give the methods: name, setting ("paper", "converged" or "ours"), estimator."""
    prior: dict[str, Any] = {"lam": LAM, "beta": BETA, "c": C, "benefit": benefit}
    for interaction, method in GLGP_NAMES.items():
        yield method, PAPER, published(ITERATIONS[interaction], **prior, interaction=interaction)
        yield method, CONVERGED, GLGP(**prior, interaction=interaction, tol=1e-8, max_iter=1000)
    yield LINEAR, PAPER, LinearGLGP(**prior)
    yield SMOOTH, PAPER, SmoothGL(beta=BETA, c=C)
    for method, model in baselines().items():
        yield method, PAPER, model
    yield CONSENSUS, OURS, ConsensusGL(benefit=benefit, scale="standard", random_state=0)


def measure(village: int, seed: int) -> list[Row]:
    """Return AUC and welfare gain of every method, and of the controls, on one village."""
    X, benefit, surveyed, truth = village_problem(village)
    n = len(benefit)
    reference = {game: welfare(equal_influence(truth, C), benefit, game) for game in GLGP_NAMES}
    rows: list[Row] = []

    def add(method: str, setting: str, weights: Any, certificate: Certificate | None = None) -> None:
        scaled = equal_influence(weights, C)
        rows.append(
            {
                "village": village,
                "nodes": n,
                "method": method,
                "setting": setting,
                "auc": edge_auc(weights, truth),
                "auc_symmetric": edge_auc(weights, truth, "mean"),
                **{f"gain_{game}": welfare(scaled, benefit, game) - reference[game] for game in GLGP_NAMES},
                **certified(certificate),
            }
        )

    for method, setting, model in models(benefit):
        add(method, setting, model.fit(X).adjacency_, model.certificate_)
    for times in SCALES:
        stretched, setting = X * np.sqrt(times), f"distances x {times}"
        add(LINEAR, setting, LinearGLGP(lam=LAM, beta=BETA, c=C, benefit=benefit).fit(stretched).adjacency_)
        add(SMOOTH, setting, SmoothGL(beta=BETA, c=C).fit(stretched).adjacency_)
    noise = np.random.default_rng([seed, village]).random((n, n))
    for method, scores in ((SURVEYED, surveyed[:, None] + surveyed), (RANDOM, noise)):
        add(method, CONTROL, scores * (1.0 - np.eye(n)))
    return rows


def village_table(
    name: str, title: str, study: Callable[[pd.DataFrame], Study], draw: Callable[[pd.DataFrame], Figure]
) -> Experiment:
    """Return an experiment on the village trials, which all tables of villages share."""
    return Experiment(name, title, trials, measure, study, draw, shared="villages", prepare=prepare)


def shown(games: Iterable[str]) -> Columns:
    """Return the methods and settings in the order in which they are shown, GLGP's for the games given."""
    names = [GLGP_NAMES[game] for game in games]
    return [
        *((method, PAPER) for method in (*names, *OTHERS, QUAD_HOMOPHILOUS)),
        *((method, CONVERGED) for method in names),
        (CONSENSUS, OURS),
        *((method, CONTROL) for method in (SURVEYED, RANDOM)),
    ]


def compared_villages(
    frame: pd.DataFrame, score: str, columns: Columns, paper: Mapping[str, Sequence[float]]
) -> list[Comparison]:
    """Return maximum, average and minimum of a score over the villages beside the paper's, as its tables have them."""
    lines = []
    labels = {
        PAPER: " (paper settings)",
        CONVERGED: " (converged)",
        CONTROL: "",
        OURS: " (defaults, signals standardised)",
    }
    for method, setting in columns:
        values = where(frame, method=method, setting=setting)[score]
        mean, error = mean_and_error(values)
        target = paper[QUAD if method == QUAD_HOMOPHILOUS else method] if setting == PAPER else (None, None, None)
        label = method + labels[setting]
        lines += [
            Comparison(f"{label}, maximum", float(values.max()), None, target[0]),
            Comparison(f"{label}, average", mean, error, target[1]),
            Comparison(f"{label}, minimum", float(values.min()), None, target[2]),
        ]
    return lines


def draw_villages(
    frame: pd.DataFrame, score: str, label: str, columns: Columns, paper: Mapping[str, Sequence[float]]
) -> Figure:
    """Draw one score of all villages, a column of points a method, beside the paper's average and range."""
    figure, axes = new_figure(width=9.0, height=4.8)
    colours = {PAPER: COLOURS[0], CONVERGED: COLOURS[2], CONTROL: COLOURS[7], OURS: COLOURS[3]}
    for k, (method, setting) in enumerate(columns):
        values, colour = where(frame, method=method, setting=setting)[score].to_numpy(), colours[setting]
        axes.plot([k - 0.12] * len(values), values, "o", color=colour, alpha=0.35, markersize=4)
        axes.plot([k - 0.24, k], [values.mean()] * 2, color=colour, linewidth=2.5)
        if setting == PAPER and method in paper:
            high, mean, low = paper[method]
            axes.errorbar([k + 0.2], [mean], [[mean - low], [high - mean]], color=COLOURS[1], marker="x", capsize=3)
    names = [f"{method},\n{setting}" if setting == CONVERGED else method for method, setting in columns]
    axes.set_xticks(range(len(columns)), [name.replace(" ", "\n") for name in names], fontsize=7)
    axes.set(ylabel=label, title="Points: villages; bar: their mean; orange: the paper's mean and range")
    return figure
