"""Is a tie's frequency its probability? Compare the two on networks with a known truth.

``NASHGRAPH_DATA=... python -m benchmarks.reliability`` prints the tables, writes benchmarks/RELIABILITY.md and draws
docs/guide/reliability.svg. Without the data the real networks are left out.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import networkx as nx
import numpy as np
from joblib import Parallel, delayed, parallel_config
from matplotlib import pyplot as plt

from nashgraph import ConsensusGL, read_study
from nashgraph.datasets import load_villages, smooth_signals
from nashgraph.files import written_whole
from nashgraph.io import read_truth

from .auto_lam import NETWORKS
from .recovery_problems import TUNED, from_folder, population
from .report import Report

FILTERS = ("heat", "lowpass", "tikhonov", "gmrf")
BINS = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
DRAWS, QUESTIONS, PEOPLE = 3, 20, 500
VILLAGES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
FIGURE = Path(__file__).parent.parent / "docs" / "guide" / "reliability.svg"


def frequencies(X: Any, seed: int, **options: Any) -> np.ndarray:
    """Return the frequency of every pair, both directions taken together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = ConsensusGL(random_state=seed, **options).fit(X).graph_.undirected()
    frequency = graph.weights.copy()
    frequency.data = np.asarray(graph.edge_columns["frequency"])
    return frequency.toarray()


def pairs_of(frequency: np.ndarray, truth: nx.Graph[Any], asked: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    """Return frequency and truth of each pair; if not everybody was asked, only pairs with an end that was."""
    use = np.triu(np.ones_like(frequency, dtype=bool), 1)
    if asked is not None:
        use &= asked[:, None] | asked
    return frequency[use], nx.to_numpy_array(truth)[use] > 0


def synthetic(network: str, filter: str, signals: int, seed: int) -> tuple[np.ndarray, ...]:
    graph = NETWORKS[network](2000 + seed)
    X = smooth_signals(graph, signals, filter, noise=0.1, random_state=3000 + seed)
    return pairs_of(frequencies(X, seed), graph)


def real(folder: Path) -> tuple[np.ndarray, ...]:
    X = read_study(folder / "signals.csv", gaps="impute").signals
    truth, _ = read_truth(folder / "truth.csv", list(X.columns))
    return pairs_of(frequencies(X, 0, scale="standard"), truth)


def village(number: int) -> tuple[np.ndarray, ...]:
    found = load_villages([number], download=False)[number]
    asked = found.attributes["hhSurveyed"].to_numpy() == 1
    return pairs_of(frequencies(found.signals, 0, scale="standard"), found.graph, asked)


def families() -> Iterator[tuple[str, list[Any]]]:
    """Yield each family of networks with its trials."""
    for signals in (10, 50):
        axes = product(NETWORKS, FILTERS, (signals,), range(DRAWS))
        yield f"synthetic, {signals} signals", [delayed(synthetic)(*one) for one in axes]
    home = Path(os.environ.get("NASHGRAPH_DATA", "nowhere"))
    for name in ("korea", "lazega"):
        if folders := sorted(home.glob(f"recovery/{name}_*")):
            yield name.title(), [delayed(real)(folder) for folder in folders]
    if (home / "villages").exists():
        yield "Indian villages", [delayed(village)(number) for number in VILLAGES]


def reliability(frequency: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs in each bin of frequency, and the share of them that are ties."""
    place = np.clip(np.ceil(10 * frequency - 1e-9).astype(int) - 1, 0, 9)
    counts = np.bincount(place, minlength=10)
    with np.errstate(invalid="ignore"):
        return counts, np.bincount(place, weights=true, minlength=10) / counts


def coverage(network: str, filter: str, signals: int, seed: int) -> tuple[float, float]:
    """Return how often the weight of a likely tie, and the rank of a node, of fresh signals lie in the intervals."""
    graph = NETWORKS[network](2000 + seed)
    samples = [smooth_signals(graph, signals, filter, noise=0.1, random_state=place + seed) for place in (3000, 4000)]
    return inside_intervals(*samples, seed)


def coverage_of_questions(folder: Path) -> tuple[float, float]:
    """Return the same for a random half of the questions of a survey, and the other half."""
    X = from_folder(folder).X
    drawn = np.random.default_rng(0).permutation(len(X))
    return inside_intervals(X[drawn[: len(X) // 2]], X[drawn[len(X) // 2 : 2 * (len(X) // 2)]], 0)


def surveys() -> list[Path]:
    """Return the real tables with enough questions to halve them, without those used for tuning."""
    folders = sorted(Path(os.environ.get("NASHGRAPH_DATA", "nowhere")).glob("recovery/*"))
    untouched = [folder for folder in folders if folder.is_dir() and not TUNED & {folder.name, population(folder.name)}]
    return [folder for folder in untouched if len(X := from_folder(folder).X) >= QUESTIONS and X.shape[1] <= PEOPLE]


def inside_intervals(X: np.ndarray, other: np.ndarray, seed: int) -> tuple[float, float]:
    """Return the share of ties (frequency 0.5 or more) with weights, and nodes with ranks, inside their intervals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, fresh = (ConsensusGL(random_state=seed).fit(each) for each in (X, other))
    first = model.graph_
    likely = np.asarray(first.edge_columns["frequency"]) >= 0.5
    rows = np.repeat(np.arange(first.n_nodes), np.diff(first.weights.indptr))
    again = fresh.adjacency_.toarray()[rows, first.weights.indices]
    inside = (first.edge_columns["low"] <= again) & (again <= first.edge_columns["high"])
    rank = np.empty(first.n_nodes)
    rank[fresh.graph_.by_influence] = np.arange(1, first.n_nodes + 1)
    low, high = (first.node_columns[f"rank_{end}"] for end in ("low", "high"))
    return float(inside[likely].mean()), float(((low <= rank) & (rank <= high)).mean())


def draw(curves: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Draw the share of true ties against the frequency, for bins of 30 pairs or more."""
    mpl.rcParams.update({"svg.hashsalt": "nashgraph", "svg.fonttype": "none", "font.size": 10})
    figure, axes = plt.subplots(figsize=(6.4, 4.4))
    axes.plot([0, 1], [0, 1], color="0.6", linestyle=":", label="frequency = probability")
    middle = (BINS[1:] + BINS[:-1]) / 2
    for marker, (name, (counts, shares)) in zip("osD^v", curves.items(), strict=False):
        axes.plot(middle[counts >= 30], shares[counts >= 30], marker=marker, label=name)
    axes.set(xlabel="frequency of a tie", ylabel="share of such pairs that are ties", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)
    figure.tight_layout()
    with written_whole(FIGURE) as beside:
        figure.savefig(beside, format="svg", metadata={"Date": None})


def main() -> None:
    report = Report("Is a tie's frequency its probability?", "python -m benchmarks.reliability")
    report.say(
        "All unordered pairs by the frequency that `ConsensusGL().fit(X).graph_.undirected()` gives them, and the "
        "share of them that are ties. Synthetic: six kinds of network of 60 nodes, four filters, "
        f"{DRAWS} draws. Real signals are standardised, their gaps filled; of the villages, numbers "
        f"{VILLAGES[0]} to {VILLAGES[-1]}, pairs with a household that was asked for its ties. Bins include their "
        "upper end; a share is left out where fewer than 30 pairs are in the bin."
    )
    curves, all_ties = {}, {}
    with parallel_config("loky", inner_max_num_threads=1):
        for name, jobs in families():
            parts = Parallel(n_jobs=-1)(jobs)
            frequency, true = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            curves[name], all_ties[name] = reliability(frequency, true), float(true.mean())
        axes = list(product(NETWORKS, FILTERS, (10, 50), range(1)))
        inside = np.array(Parallel(n_jobs=-1)(delayed(coverage)(*one) for one in axes))
        folders = surveys()
        halved = np.array(Parallel(n_jobs=-1)(delayed(coverage_of_questions)(folder) for folder in folders))
    report.section("Share of true ties by frequency")
    rows = [["all pairs", *(f"{100 * share:.0f} %" for share in all_ties.values())]]
    for k in range(10):
        cells = [(counts[k], shares[k]) for counts, shares in curves.values()]
        told = [f"{100 * share:.0f} % of {count:,}" if count >= 30 else f"({count})" for count, share in cells]
        rows.append([f"{BINS[k]:.1f} to {BINS[k + 1]:.1f}", *told])
    report.table(["frequency", *curves], rows)
    report.section("What the intervals cover")
    report.say(
        "Consensus of fresh, independent signals on the same network: how often the weight of a tie of frequency 0.5 "
        "or more lies between `low` and `high` of the first signals, and the rank of a node between `rank_low` and "
        "`rank_high`. Both should be 90%: the intervals are for what as many fresh signals would give. Of surveys "
        f"with {QUESTIONS} questions or more that nothing was tuned on ({', '.join(f.name for f in folders)}), a "
        "random half of the questions foretells the other half."
    )
    few = np.array([one[2] == 10 for one in axes])
    report.table(
        ["signals", "weights", "ranks"],
        [
            [name, *(f"{100 * value:.0f} %" for value in found.mean(axis=0))]
            for name, found in (("10", inside[few]), ("50", inside[~few]), ("halves of questions", halved))
            if len(found)
        ],
    )
    draw(curves)
    report.write(Path(__file__).with_name("RELIABILITY.md"))


if __name__ == "__main__":
    main()
