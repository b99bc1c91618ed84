"""How long interventions take: 330 nodes, all tied, and 20,000 with 50 ties each; alone and with 20 replicates."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from nashgraph.interventions import (
    Game,
    best_seeds,
    best_support,
    best_ties,
    costliest_ties,
    diffusion_centrality,
    key_group,
    key_players,
    roles,
    what_if,
)

REPLICATES, LIMITS = 20, {330: 0.2, 20_000: 10.0}
QUESTIONS: dict[str, Callable[[Game], Any]] = {
    "key players": key_players,
    "key group of 5": lambda game: key_group(game, 5),
    "support": lambda game: best_support(game, 10),
    "10 units": lambda game: best_support(game, 10, cost="units"),
    "ties to build": lambda game: best_ties(game, 5),
    "ties to watch": lambda game: costliest_ties(game, 5),
    "seeds, cascade": lambda game: best_seeds(game, 5),
    "seeds, threshold": lambda game: best_seeds(game, 5, model="threshold"),
    "seeds, centrality": lambda game: best_seeds(game, 5, score=diffusion_centrality(game)),
    "roles": roles,
    "what if": lambda game: what_if(game, without=[0]),
}


def network(n_nodes: int, ties: int, random: np.random.Generator) -> Any:
    """Return weights in S; influence follows a heavy tail."""
    popularity = random.pareto(1.5, n_nodes) + 0.1
    rows = np.repeat(np.arange(n_nodes), ties)
    columns = random.choice(n_nodes, len(rows), p=popularity / popularity.sum())
    kept = rows != columns
    weights = sparse.csr_array((random.random(kept.sum()), (rows[kept], columns[kept])), shape=(n_nodes, n_nodes))
    return replicate(weights, 1.0, random)


def replicate(weights: Any, share: float, random: np.random.Generator) -> Any:
    """Return a share of the ties, with other weights, in S."""
    data = weights.data * random.random(weights.nnz) * (random.random(weights.nnz) <= share)
    found = sparse.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)
    return sparse.csr_array(sparse.diags_array(0.95 / np.maximum(found.sum(axis=1), 1e-300)) @ found)


def main() -> None:
    random = np.random.default_rng(0)
    print("| nodes | answer | seconds | with replicates |\n|---|---|---|---|")
    for n_nodes, ties in ((330, 330), (20_000, 50)):
        weights = network(n_nodes, ties, random)
        replicates = tuple(replicate(weights, min(1.0, 16 / ties * 1.2), random) for _ in range(REPLICATES))
        benefit = random.random(n_nodes)
        for name, ask in QUESTIONS.items():
            seconds = []
            for graphs in ((), replicates):
                for _ in range(2):  # the first run loads modules and kernels
                    game = replace(Game.on(weights, benefit), replicate_weights=graphs)
                    start = time.process_time()
                    ask(game)
                    spent = time.process_time() - start
                seconds.append(spent)
            late = " (over the limit)" if seconds[0] > LIMITS[n_nodes] else ""
            print(f"| {n_nodes:,} | {name} | {seconds[0]:.3f}{late} | {seconds[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
