"""The village trials of Tables 2 and 3: every method on one village, scored against its true network.

The paper leaves the following open, and it is read so: the 40 villages in which every household reports one religion,
the
sixteen signals "survey16", b = hhSurveyed + 1 scaled to sum 1. Welfare is compared on graphs whose rows sum to
c = 0.95. For the true graph there are two readings: a household without neighbours keeps none (literal), or the true
adjacency is projected onto S like every learned graph, which gives that household a uniform row.
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
PAPER, CONVERGED, CONTROL, TOLD, NOT_TOLD = "paper", "converged", "control", "told", "not told"
PROJECTED = "_projected"  # ending of the columns with the gain over the projected true graph
SCALES = (2, 8, 32, 128)  # readings of the distances' scale, tried because the paper's figures for these two differ
QUICK_VILLAGES = (10, 8)  # the two smallest
NOT_AMONG = tuple(sorted({*range(1, 78)} - {13, 22, *ONE_RELIGION_VILLAGES}))  # only GLGP's gain is measured there
ELSEWHERE = "other villages"
Columns = Sequence[tuple[str, str]]  # of methods and settings


class Village(NamedTuple):
    """A village as an experiment sees it: signals, benefit, whether a household was surveyed, the true graph."""

    signals: Array
    benefit: Array
    surveyed: Array
    truth: Any


def trials(plan: Plan) -> list[Trial]:
    """Return the villages: the forty, and the others to see which of them could be among the paper's."""
    villages = QUICK_VILLAGES if plan.quick else (*ONE_RELIGION_VILLAGES, *NOT_AMONG)
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
    """Yield name, setting and estimator of every method; the consensus is also run without knowing who was surveyed."""
    prior: dict[str, Any] = {"lam": LAM, "beta": BETA, "c": C, "benefit": benefit}
    for interaction, method in GLGP_NAMES.items():
        yield method, PAPER, published(ITERATIONS[interaction], **prior, interaction=interaction)
        yield method, CONVERGED, GLGP(**prior, interaction=interaction, tol=1e-8, max_iter=1000)
    yield LINEAR, PAPER, LinearGLGP(**prior)
    yield SMOOTH, PAPER, SmoothGL(beta=BETA, c=C)
    for method, model in baselines().items():
        yield method, PAPER, model
    yield CONSENSUS, TOLD, ConsensusGL(benefit=benefit, scale="standard", random_state=0)
    yield CONSENSUS, NOT_TOLD, ConsensusGL(scale="standard", random_state=0)


def projected(truth: Any, c: float) -> Any:
    """Return the projection of a 0/1 adjacency onto S: a row of d ones becomes c/d each, an empty one c/(N - 1)."""
    scaled = equal_influence(truth, c).toarray()
    scaled[scaled.sum(axis=1) == 0] = c / (len(scaled) - 1)
    np.fill_diagonal(scaled, 0.0)
    return scaled


def measure(village: int, seed: int) -> list[Row]:
    """Return AUC and welfare gain of every method, and of the controls, on one village."""
    X, benefit, surveyed, truth = village_problem(village)
    n = len(benefit)
    true = {"": equal_influence(truth, C), PROJECTED: projected(truth, C)}
    reference = {(game, way): welfare(graph, benefit, game) for game in GLGP_NAMES for way, graph in true.items()}
    rows: list[Row] = []

    def add(method: str, setting: str, weights: Any, certificate: Certificate | None = None) -> None:
        scaled = equal_influence(weights, C)
        reached = {game: welfare(scaled, benefit, game) for game in GLGP_NAMES}
        rows.append(
            {
                "village": village,
                "nodes": n,
                "method": method,
                "setting": setting,
                "auc": edge_auc(truth, weights),
                "auc_symmetric": edge_auc(truth, weights, "mean"),
                **{f"gain_{game}{way}": reached[game] - there for (game, way), there in reference.items()},
                **certified(certificate),
            }
        )

    if village in NOT_AMONG:
        for method, setting, model in models(benefit):
            if setting == CONVERGED:
                add(method, ELSEWHERE, model.fit(X).adjacency_, model.certificate_)
        return rows
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
        (CONSENSUS, TOLD),
        (CONSENSUS, NOT_TOLD),
        *((method, CONTROL) for method in (SURVEYED, RANDOM)),
    ]


def compared_villages(
    frame: pd.DataFrame, score: str, columns: Columns, paper: Mapping[str, Sequence[float]]
) -> list[Comparison]:
    """Return maximum, average and minimum of a score over the villages next to the paper's, as in its tables."""
    lines = []
    labels = {
        PAPER: " (paper settings)",
        CONVERGED: " (converged)",
        CONTROL: "",
        TOLD: " (signals standardised, told who was surveyed)",
        NOT_TOLD: " (signals standardised, not told)",
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
    """Draw one score of all villages, one column of points for each method, next to the paper's average and range."""
    figure, axes = new_figure(width=9.0, height=4.8)
    colours = {PAPER: COLOURS[0], CONVERGED: COLOURS[2], CONTROL: COLOURS[7], TOLD: COLOURS[3], NOT_TOLD: COLOURS[3]}
    for k, (method, setting) in enumerate(columns):
        values, colour = where(frame, method=method, setting=setting)[score].to_numpy(), colours[setting]
        axes.plot([k - 0.12] * len(values), values, "o", color=colour, alpha=0.35, markersize=4)
        axes.plot([k - 0.24, k], [values.mean()] * 2, color=colour, linewidth=2.5)
        if setting == PAPER and method in paper:
            high, mean, low = paper[method]
            axes.errorbar([k + 0.2], [mean], [[mean - low], [high - mean]], color=COLOURS[1], marker="x", capsize=3)
    plain = (PAPER, CONTROL)
    names = [method if setting in plain else f"{method},\n{setting}" for method, setting in columns]
    axes.set_xticks(range(len(columns)), [name.replace(" ", "\n") for name in names], fontsize=7)
    axes.set(ylabel=label, title="Points: villages; bar: their mean; orange: the paper's mean and range")
    return figure
