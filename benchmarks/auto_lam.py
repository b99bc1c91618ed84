"""What lam="auto" does to the recovery of networks, beside lam=1 and no prior, over kinds of network and signals.

``python -m benchmarks.auto_lam`` prints the table and writes benchmarks/AUTO_LAM.md. Nothing is tuned on it: the cost
of a thousandth was taken from the gallery's fifth example, where it is compared with others.
"""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config

from nashgraph import GLGP, SmoothGL, edge_auc
from nashgraph.datasets import (
    erdos_renyi,
    preferential_attachment,
    random_geometric,
    small_world,
    smooth_signals,
    stochastic_block_model,
)
from nashgraph.files import written_whole

N = 60
SEEDS = range(3)
NETWORKS = {
    "tree of preferential attachment": lambda seed: preferential_attachment(N, 1, random_state=seed),
    "preferential attachment, 2 edges": lambda seed: preferential_attachment(N, 2, random_state=seed),
    "Erdős–Rényi": lambda seed: erdos_renyi(N, 6, random_state=seed),
    "small world": lambda seed: small_world(N, 6, 0.1, random_state=seed),
    "blocks": lambda seed: stochastic_block_model(N, n_blocks=4, degree=6, random_state=seed),
    "random geometric": lambda seed: random_geometric(N, random_state=seed),
}
REPORT = Path(__file__).with_name("AUTO_LAM.md")


def trial(network: str, filter: str, signals: int, degree: int, seed: int) -> dict[str, Any]:
    graph = NETWORKS[network](seed)
    X = smooth_signals(graph, signals, filter, noise=0.1, random_state=100 + seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smooth, one, auto = (
            model.fit(X) for model in (SmoothGL(degree=degree), GLGP(lam=1.0, degree=degree), GLGP(degree=degree))
        )
    base = edge_auc(graph, smooth.adjacency_)
    return {
        "network": network,
        "signals": f"{signals} {filter}",
        "degree": degree,
        "SmoothGL": base,
        "lam=1": edge_auc(graph, one.adjacency_) - base,
        "auto": edge_auc(graph, auto.adjacency_) - base,
        "cost": 1000 * (auto.prior_.fidelity / smooth.objective_ - 1.0),
    }


def report(table: pd.DataFrame) -> str:
    lines = [
        f"| {row.network} | {row.signals} | {row.degree} | {row.SmoothGL:.3f} | {row.one:+.3f} | {row.auto:+.3f} "
        f"| {row.cost:.2f} |"
        for row in table.rename(columns={"lam=1": "one"}).itertuples()
    ]
    spans = "\n".join(
        f"- `{name}`: {table[name].min():+.3f} to {table[name].max():+.3f}, {table[name].mean():+.4f} on average; "
        f"below no prior by more than 0.01 in {(table[name] < -0.01).sum()} of {len(table)}."
        for name in ("lam=1", "auto")
    )
    return (
        f"""# What lam="auto" does to the recovery of networks

Made by `python -m benchmarks.auto_lam`: {N} nodes, spectral benefit, log1p, means over {len(SEEDS)} draws. The columns
lam=1 and auto are AUC minus SmoothGL's; cost is the share of J spent by auto, in thousandths.

{spans}

| network | signals | degree | SmoothGL | lam=1 | auto | cost |
|---|---|---|---|---|---|---|
"""
        + "\n".join(lines)
        + "\n"
    )


def main() -> None:
    settings = list(product(NETWORKS, ("lowpass", "gmrf"), (10, 50), (6, N - 1)))
    with parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        rows = Parallel()(delayed(trial)(*setting, seed) for setting in settings for seed in SEEDS)
    keys = ["network", "signals", "degree"]
    table = pd.DataFrame(rows).groupby(keys, sort=False, as_index=False).mean()
    if not np.isfinite(table["auto"]).all():
        raise SystemExit("a setting has no score: check the problems above")
    text = report(table)
    print(text)
    with written_whole(REPORT) as path:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
