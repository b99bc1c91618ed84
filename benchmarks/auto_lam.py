"""Does a prior help here? What lam="auto" does to recovery, and whether GLGP.prior_test can tell without the truth.

``python -m benchmarks.auto_lam`` prints the tables and writes AUTO_LAM.md. The cost of a thousandth comes from the
gallery's fifth example. The geometry of the test, the cosine, was chosen on seeds 0 to 2, which are not used here.
"""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config

from nashgraph import GLGP, SmoothGL, edge_average_precision
from nashgraph.datasets import (
    erdos_renyi,
    preferential_attachment,
    random_geometric,
    small_world,
    smooth_signals,
    stochastic_block_model,
)
from nashgraph.estimators import spectral_benefit

from .report import Report

N = 60
SEEDS = range(10, 12)
NETWORKS = {
    "tree of preferential attachment": lambda seed: preferential_attachment(N, 1, random_state=seed),
    "preferential attachment, 2 edges": lambda seed: preferential_attachment(N, 2, random_state=seed),
    "Erdős–Rényi": lambda seed: erdos_renyi(N, 6, random_state=seed),
    "small world": lambda seed: small_world(N, 6, 0.1, random_state=seed),
    "blocks": lambda seed: stochastic_block_model(N, n_blocks=4, degree=6, random_state=seed),
    "random geometric": lambda seed: random_geometric(N, random_state=seed),
}
FILTERS, SIGNALS, DEGREES = ("lowpass", "gmrf", "heat"), (10, 50), (6, 20)
STRONGER = 10  # times the default strength


def benefits(graph: Any, X: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return the true degrees, with noise, noise alone, the guess from signals, and the opposite of the truth."""
    random, degrees = np.random.default_rng(seed), np.array([degree for _, degree in graph.degree()], float)
    return {
        "true degrees": degrees,
        "true degrees, noisy": degrees * random.lognormal(0, 1, N),
        "noise": random.lognormal(0, 1, N),
        "spectral, the guess": spectral_benefit(X),
        "opposite of the degrees": 1.0 / (1.0 + degrees),
    }


def trial(network: str, filter: str, signals: int, degree: int, seed: int) -> list[dict[str, Any]]:
    """Return what each prior gains over none, in average precision, and the test's result."""
    graph = NETWORKS[network](seed)
    X = smooth_signals(graph, signals, filter, noise=0.1, random_state=100 + seed)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = edge_average_precision(graph, SmoothGL(degree=degree).fit(X), "mean")
        for name, benefit in benefits(graph, X, seed).items():
            model = GLGP(degree=degree, benefit=benefit).fit(X)
            strong = GLGP(STRONGER * model.lam_, degree=degree, benefit=benefit).fit(X)
            found = GLGP(degree=degree, benefit=benefit).prior_test(X).found
            gains = [edge_average_precision(graph, each, "mean") - base for each in (model, strong)]
            setting = {"network": network, "filter": filter, "signals": signals, "degree": degree}
            rows.append({**setting, "benefit": name, "found": found, "auto": gains[0], "strong": gains[1]})
    return rows


def lines(table: pd.DataFrame, by: str) -> list[list[str]]:
    """Return a line for each value of a column: gains if the prior is always used, and if the test decides."""
    cells = []
    for value, rows in table.groupby(by, sort=False):
        each = [str(value), f"{rows['found'].mean():.0%}"]
        for gain in ("auto", "strong"):
            decided = rows[gain].where(rows["found"], 0.0)
            each += [f"{rows[gain].mean():+.4f}", f"{decided.mean():+.4f}"]
        cells.append(each)
    return cells


def main() -> None:
    """Run all settings and write the tables."""
    settings = list(product(NETWORKS, FILTERS, SIGNALS, DEGREES))
    with parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        found = Parallel()(delayed(trial)(*setting, seed) for setting in settings for seed in SEEDS)
    table = pd.DataFrame([row for rows in found for row in rows])
    report = Report("Does a prior help, and can one tell without the truth?", "python -m benchmarks.auto_lam")
    report.say(
        f"{N} nodes, {len(settings)} settings, {len(SEEDS)} draws each, five benefits. Average precision minus that of "
        f"SmoothGL, with the default strength and {STRONGER} times it: if the prior is always used, and if it is used "
        "only where GLGP.prior_test finds something (else the gain is 0). 'Found' is the share of such cases. For the "
        "guessed benefit, lam='auto' follows the test."
    )
    header = ["found", "auto, always", "auto, by the test", f"{STRONGER} x, always", f"{STRONGER} x, by the test"]
    for by in ("benefit", "filter", "signals", "degree", "network"):
        report.section(f"By {by}")
        report.table([by, *header], lines(table, by))
    report.section("Over all")
    report.table(["", *header], lines(table.assign(all="all"), "all"))
    split = table.groupby("found")[["auto", "strong"]].mean()
    report.say(
        f"Where the test finds something the default strength gains {split.loc[True, 'auto']:+.4f}, elsewhere "
        f"{split.loc[False, 'auto']:+.4f}."
    )
    report.write(Path(__file__).with_name("AUTO_LAM.md"))


if __name__ == "__main__":
    main()
