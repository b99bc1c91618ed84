"""Does ``ConsensusGL.select`` keep its promise? Over kinds of network, filters and numbers of signals, and in noise.

``python -m benchmarks.selection`` prints the tables and writes benchmarks/SELECTION.md. In each setting the probability
that a half takes a pair is estimated from independent draws of half the signals; the promise is about pairs for which
it is at most q/p. Then pairs are selected on fresh draws as ``select`` does it, and those pairs counted.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from joblib import Parallel, delayed, parallel_config

from nashgraph import ConsensusGL
from nashgraph.consensus.stability import Plan, halves, heaviest, plan
from nashgraph.datasets import smooth_signals

from .auto_lam import NETWORKS, N
from .report import Report

FILTERS = ("heat", "lowpass", "tikhonov", "gmrf")
SIGNALS = (10, 50)
NOISES = ("noise", "noise, nodes of uneven spread")
DRAWS, FRESH, SPLITS, FALSE_EDGES = 200, 12, 50, 5
PLANS = {
    "default": plan(N, FALSE_EDGES, 0.9, SPLITS, "unimodal"),
    "tau = 0.75": plan(N, FALSE_EDGES, 0.75, SPLITS, "unimodal"),
    "worst-case": plan(N, FALSE_EDGES, 0.75, SPLITS, "worst-case"),
}


class Setting(NamedTuple):
    """A network, and the settings of the signals on it."""

    network: str
    filter: str
    signals: int

    def truth(self) -> np.ndarray:
        """Return which pairs are ties, by i N + j."""
        found = np.zeros((N, N), bool)
        if self.network in NETWORKS:
            found = np.triu(nx.to_numpy_array(self.graph()) > 0)
        return found.ravel()

    def graph(self) -> nx.Graph[int]:
        """Return the network: one for each kind, filter and number of signals."""
        return NETWORKS[self.network](1000 + 10 * FILTERS.index(self.filter) + SIGNALS.index(self.signals))

    def draw(self, count: int, seed: int) -> np.ndarray:
        """Return independent signals."""
        if self.network in NETWORKS:
            return smooth_signals(self.graph(), count, self.filter, noise=0.1, random_state=seed)
        spread = np.ones(N) if self.network == NOISES[0] else np.random.default_rng(0).lognormal(0, 0.5, N)
        return spread * np.random.default_rng(seed).normal(size=(count, N))


def taken_shares(graphs: list[Any], found: Plan) -> np.ndarray:
    """Return the share of graphs among whose heaviest each pair is, by i N + j."""
    counts = np.zeros(N * N)
    for graph in graphs:
        counts[heaviest(graph, found.taken)] += 1
    return counts / len(graphs)


def measured(setting: Setting) -> dict[str, tuple[float, ...]]:
    """Return for each plan: chance pairs, those selected (mean, error), selected ties and others, share of ties."""
    learn = ConsensusGL(n_replicates=0, benefit=None).fit(setting.draw(setting.signals, 0))._plain
    chance = [learn(setting.draw(setting.signals // 2, seed)) for seed in range(DRAWS)]
    fresh = []
    for seed in range(DRAWS, DRAWS + FRESH):
        X = setting.draw(setting.signals, seed)
        fresh.append([learn(X[rows]) for rows in halves(len(X), SPLITS, seed)])
    truth, pairs = setting.truth(), np.triu(np.ones((N, N), bool), 1).ravel()
    result = {}
    for name, found in PLANS.items():
        theta = found.taken / found.n_pairs
        low = pairs & (taken_shares(chance, found) <= theta + 2 * np.sqrt(theta * (1 - theta) / DRAWS))
        kept = np.array([taken_shares(graphs, found) >= found.tau - 1e-9 for graphs in fresh])
        false = kept[:, low].sum(axis=1)
        result[name] = (
            float(low.sum()),
            float(false.mean()),
            float(false.std(ddof=1) / np.sqrt(FRESH)),
            float(kept[:, truth].sum(axis=1).mean()),
            float(kept[:, pairs & ~truth].sum(axis=1).mean()),
            float(kept[:, truth].mean()) if truth.any() else np.nan,
        )
    return result


def main() -> None:
    settings = [Setting(*axes) for axes in product(NETWORKS, FILTERS, SIGNALS)]
    settings += [Setting(noise, FILTERS[0], signals) for noise in NOISES for signals in SIGNALS]
    with parallel_config("loky", inner_max_num_threads=1):
        rows = Parallel(n_jobs=-1)(delayed(measured)(setting) for setting in settings)
    report = Report("Does select() keep its promise?", "python -m benchmarks.selection")
    report.say(
        f"{len(settings)} settings of {N} nodes. In each the probability that a half of the signals takes a pair is "
        f"estimated from {DRAWS} independent draws of half the signals; *chance pairs* are those whose estimate is "
        "q/p at the most, or above it by two standard errors at the most, so that none is missed; a few better ones "
        f"count too, which makes the test harder. Then {FRESH} fresh draws, {SPLITS} splits each. The promise: on "
        f"average, at most {FALSE_EDGES} selected pairs are chance pairs. Nothing is promised about how many selected "
        "pairs are no ties, and the last columns say how many are."
    )
    report.section("Over all settings")
    report.table(
        ["plan", "q", "tau", "bound held", "most chance pairs selected", "ties", "others", "share of ties found"],
        [summary(name, [row[name] for row in rows]) for name in PLANS],
    )
    above = sum(row["default"][4] > FALSE_EDGES for row in rows)
    report.say(f"By default, other pairs than ties are more than {FALSE_EDGES} on average in {above} settings.")
    report.section("Each setting, by default")
    heads = [
        "network",
        "signals",
        "chance pairs",
        "of them selected",
        "± s.e.",
        "ties",
        "others",
        "share of ties found",
    ]
    report.table(heads, [line(*pair) for pair in zip(settings, rows, strict=True)])
    report.write(Path(__file__).with_name("SELECTION.md"))


def summary(name: str, results: list[tuple[float, ...]]) -> list[str]:
    found, table = PLANS[name], np.array(results)
    held = (table[:, 1] <= found.bound).sum()
    means = [f"{value:.1f}" for value in table[:, 3:5].mean(axis=0)]
    power = f"{100 * np.nanmean(table[:, 5]):.0f} %"
    most = f"{table[:, 1].max():.2f}"
    return [name, f"{found.taken}", f"{found.tau:g}", f"{held} of {len(results)}", most, *means, power]


def line(setting: Setting, result: dict[str, tuple[float, ...]]) -> list[str]:
    low, false, error, ties, others, power = result["default"]
    signals = f"{setting.signals} {setting.filter}" if setting.network in NETWORKS else f"{setting.signals}"
    found = "" if np.isnan(power) else f"{100 * power:.0f} %"
    counts = [f"{low:.0f}", f"{false:.2f}", f"{error:.2f}", f"{ties:.1f}", f"{others:.1f}"]
    return [setting.network, signals, *counts, found]


if __name__ == "__main__":
    main()
