"""SpecTemp and QuadGameGL on the paper's preferential-attachment setting, with the paper's figures.

``python -m benchmarks.paper_baselines`` prints the tables and writes benchmarks/PAPER_BASELINES.md. The headline rows
are the estimators' defaults; the paper names neither variant nor parameters of its two baselines, so every setting
scanned is listed and none is picked by its score.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning

from nashgraph import DataWarning, SmoothGL, edge_auc
from nashgraph.datasets import preferential_attachment, smooth_signals
from nashgraph.estimators import QuadGameGL, SpecTemp
from nashgraph.files import written_whole

SEEDS = range(20)
SCAN_SEEDS = range(10)
PAPER = {"SpecTemp": 0.680, "QuadGameGL": 0.628, "SmoothGL": 0.730}
REPORT = Path(__file__).with_name("PAPER_BASELINES.md")


class InnerProduct:
    """No method at all: the inner product of two nodes' signals as the score of their edge."""

    def fit(self, X: Any) -> InnerProduct:
        """Score every pair."""
        self.adjacency_ = X.T @ X
        self.converged_ = True
        return self


class Setting(NamedTuple):
    """A method with its parameters; ``control`` spoils the data in a way that must give 0.5."""

    method: Callable[..., Any]
    parameters: dict[str, Any]
    control: str = ""


class Row(NamedTuple):
    """The results of a setting over the seeds."""

    setting: Setting
    mean: float
    error: float
    converged: str
    well_posed: str
    seconds: float


# tol=1e-5 is a relative duality gap; tighter ones change no third digit of an AUC and make the alternations slow.
QUICK = {"tol": 1e-5}
HEADLINE = [
    Setting(SpecTemp, {}),
    Setting(QuadGameGL, {"benefits": "independent", **QUICK}),
    Setting(QuadGameGL, {"benefits": "homophilous", **QUICK}),
]
CONTEXT = [
    Setting(SmoothGL, {"beta": 200.0, "c": 0.95}),
    Setting(InnerProduct, {}),
    Setting(QuadGameGL, {"benefits": "independent", **QUICK}, "nodes shuffled"),
    Setting(QuadGameGL, {"benefits": "independent", **QUICK}, "white noise"),
]
TEMPLATES = [
    Setting(SpecTemp, parameters)
    for parameters in (
        {"slack": 0.1},
        {"slack": 0.5},
        {"n_components": 5},
        {"n_components": 2},
        {"anchor": 49},
        {"assume_centered": True},
    )
]
GAMES = [
    Setting(QuadGameGL, {"benefits": "independent", "rho": rho, "theta1": theta1, **QUICK})
    for rho in (0.1, 0.5, 0.9)
    for theta1 in (0.1, 1.0, 10.0, 100.0)
] + [
    Setting(
        QuadGameGL,
        {"benefits": "homophilous", "rho": rho, "theta1": theta1, "theta2": theta2, "max_iter": 100, **QUICK},
    )
    for rho in (0.1, 0.5)
    for theta1 in (1.0, 10.0, 100.0)
    for theta2 in (0.1, 1.0)
]


def draw(seed: int) -> tuple[Any, Any]:
    """Draw the paper's setting; graph and signals have seeds of their own."""
    graph = preferential_attachment(50, 1, random_state=seed)
    return graph, smooth_signals(graph, 10, "lowpass", noise=0.2, random_state=1000 + seed)


def trial(setting: Setting, seed: int) -> tuple[float, bool, float | None]:
    graph, X = draw(seed)
    random = np.random.default_rng(seed)
    if setting.control == "nodes shuffled":
        X = X[:, random.permutation(X.shape[1])]
    elif setting.control == "white noise":
        X = random.normal(size=X.shape)
    with warnings.catch_warnings():  # both are counted in the table instead
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        model = setting.method(**setting.parameters).fit(X)
    radius = getattr(model, "spectral_radius_", None)
    return edge_auc(graph, model.adjacency_), model.converged_, None if radius is None else abs(model.rho) * radius


def measure(setting: Setting, seeds: range) -> Row:
    start = time.perf_counter()
    trials = Parallel()(delayed(trial)(setting, seed) for seed in seeds)
    scores = [score for score, _, _ in trials]
    products = [product for _, _, product in trials if product is not None]
    return Row(
        setting,
        float(np.mean(scores)),
        float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
        f"{sum(converged for _, converged, _ in trials)}/{len(seeds)}",
        f"{sum(product < 1 for product in products)}/{len(seeds)}" if products else "",
        time.perf_counter() - start,
    )


def table(rows: list[Row]) -> str:
    lines = [
        "| method | parameters that are not defaults | mean AUC | std. error | paper | converged | well-posed | s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        setting = row.setting
        name = setting.method.__name__
        parameters = ", ".join(
            f"{key}={value!r}" for key, value in setting.parameters.items() if key not in {"tol", "max_iter"}
        )
        parameters += f" ({setting.control})" if setting.control else ""
        paper = "" if setting.control or name not in PAPER else f"{PAPER[name]:.3f}"
        lines.append(
            f"| {name} | {parameters} | {row.mean:.3f} | {row.error:.3f} | {paper} | {row.converged} "
            f"| {row.well_posed} | {row.seconds:.1f} |"
        )
    return "\n".join(lines)


def span(rows: list[Row], benefits: str) -> str:
    means = [row.mean for row in rows if row.setting.parameters["benefits"] == benefits]
    return f"{min(means):.3f} to {max(means):.3f} over {len(means)} settings"


def report(headline: list[Row], context: list[Row], templates: list[Row], games: list[Row]) -> str:
    means = [row.mean for row in templates]
    return f"""# SpecTemp and QuadGameGL on the paper's preferential-attachment setting

Made by `python -m benchmarks.paper_baselines`. preferential_attachment(50, 1), 10 signals of the "lowpass" filter,
noise 0.2, {len(SEEDS)} seeds; AUC over all ordered off-diagonal pairs; the standard error is over seeds. "Well-posed"
counts the seeds where |rho| times the spectral radius of the graph learned is below 1. QuadGameGL has tol=1e-5.

## Estimator defaults

{table(headline)}

The paper gives one figure for each method, and neither its variant nor its parameters. So:

- SpecTemp's default is compatible with the paper's figure, but its slack, anchor and number of templates move it.
- QuadGameGL with independent benefits does NOT reproduce the paper's figure: it is far above it, and above the
  0.892 the paper has for GLGP. The controls below show that this is no leak.
- QuadGameGL with homophilous benefits is near the figure at the defaults, which is no evidence of more: its score
  ranges widely over the weights (below), and most of the games learned at the defaults are not well-posed.

How these were chosen: QuadGameGL's defaults were written before any score was seen. SpecTemp's slack was too, but its
solver was debugged on this setting with the scores in view. The ranges of both scans were set after first looks.

## What to compare with, and controls

{table(context)}

The controls must be at 0.5. The inner product of two nodes' signals, with no method at all, is the yardstick here.

## Sensitivity of SpecTemp ({len(SCAN_SEEDS)} seeds): {min(means):.3f} to {max(means):.3f} over {len(means)} settings

{table(templates)}

Node 0 is the oldest of the tree and often its hub; anchor=49 is the youngest, a leaf.

## Sensitivity of QuadGameGL ({len(SCAN_SEEDS)} seeds, at most 100 alternations)

Independent: {span(games, "independent")}. Homophilous: {span(games, "homophilous")}.

{table(games)}

Homophilous benefits with theta1 = 0.1 are left out for their time (minutes at rho = 0.5). A setting that has not
converged everywhere is a score of unfinished graphs.
"""


def main() -> None:
    with parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        parts = [[measure(setting, SEEDS) for setting in part] for part in (HEADLINE, CONTEXT)]
        parts += [[measure(setting, SCAN_SEEDS) for setting in part] for part in (TEMPLATES, GAMES)]
    text = report(*parts)
    print(text)
    with written_whole(REPORT) as path:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
