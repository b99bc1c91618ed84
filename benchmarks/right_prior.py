"""``python -m benchmarks.right_prior``: whether the prior of the task a network is good at recovers it best.

For each of five tasks a network is grown to be good at it: from a random graph, ties are moved one at a time by
simulated annealing on the functional. Signals are spread over it, and the network is learned with each of the five
priors, each with the benefits the network was grown with. Writes RIGHT_PRIOR.md and right_prior.csv.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse

from nashgraph import GLGP, edge_average_precision
from nashgraph.datasets import smooth_signals
from nashgraph.pairs import SparseWeights
from nashgraph.priors import Epidemic, GamePrior, GraphFilter, Opinions, Resilience, random_deletions

from .report import Report

N, M, TIES, C = 60, 10, 120, 0.9
PROPOSALS = 800
STRENGTHS = (1, 10, 100)  # times the default lambda
TUNING = 4  # draws on which the strength of every cell of the table is chosen, and which are not scored
# The functionals, from random numbers in (0, 1), one for every node, that are as skewed as benefits.
TASKS = {
    "game": lambda b: GamePrior(b**3 / (b**3).sum(), "linear"),
    "resilience": lambda b: Resilience(GamePrior(b**3 / (b**3).sum(), "linear"), random_deletions(N, 8, share=0.2)),
    "epidemic, low": lambda b: -Epidemic(0.001 + 0.3 * b**6, 1.0),
    "polarisation, low": lambda b: -Opinions(b - 0.5, "polarisation"),
    "filter": lambda b: GraphFilter([0.0, 1.0, 1.0], b**3 / (b**3).sum()),
}


def influence(A: np.ndarray) -> np.ndarray:
    """Return the weights of a network without direction: every row of the same sum, shared equally."""
    return C * A / np.maximum(A.sum(axis=1, keepdims=True), 1.0)


def value(prior, A: np.ndarray) -> float:
    """Return the functional of a network."""
    return prior.evaluate(SparseWeights(sparse.csr_array(influence(A)), np.zeros(N), 1.0), tol=1e-8).value


def random_network(random: np.random.Generator) -> np.ndarray:
    """Return a ring, so that nobody is isolated, with random ties."""
    A = np.eye(N, k=1) + np.eye(N, k=N - 1)
    A += A.T
    free = np.argwhere(np.triu(A + np.eye(N)) + np.tril(np.ones((N, N))) == 0)
    for i, j in free[random.permutation(len(free))[: TIES - N]]:
        A[i, j] = A[j, i] = 1.0
    order = random.permutation(N)
    return A[np.ix_(order, order)]


def grown(prior, A: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Move ties of a network by annealing until it is good at a task; everybody keeps at least one."""
    now = value(prior, A)
    trials = [value(prior, moved(A, random)) - now for _ in range(30)]
    heat = float(np.std(trials))
    for step in range(PROPOSALS):
        other = moved(A, random)
        found = value(prior, other)
        temperature = heat * (1.0 - step / PROPOSALS) ** 2 + 1e-300
        if found >= now or random.random() < np.exp((found - now) / temperature):
            A, now = other, found
    return A


def moved(A: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a network with one tie moved."""
    ties = np.argwhere(np.triu(A) > 0)
    while True:
        i, j = ties[random.integers(len(ties))]
        k, new = random.integers(N, size=2)
        if A[i].sum() > 1 and A[j].sum() > 1 and k != new and A[k, new] == 0:
            A = A.copy()
            A[i, j] = A[j, i] = 0.0
            A[k, new] = A[new, k] = 1.0
            return A


def scores(X, truth, prior) -> dict[int, float]:
    """Return the average precision at every strength."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lam = GLGP(prior=prior, degree=6, c=C).fit(X).lam_
        models = {strength: GLGP(lam=strength * lam, prior=prior, degree=6, c=C).fit(X) for strength in STRENGTHS}
    return {strength: edge_average_precision(truth, model, "mean") for strength, model in models.items()}


def draw(seed: int) -> list[dict]:
    """Grow a network for every task, and learn each, and a random one, with every prior and with controls."""
    random = np.random.default_rng([11, seed])
    b = random.random(N)
    start, rows = random_network(random), []
    networks = {"none (random)": start} | {task: grown(make(b), start, random) for task, make in TASKS.items()}
    for network, A in networks.items():
        X = smooth_signals(nx.from_numpy_array(A), M, "heat", random_state=seed)
        plain = edge_average_precision(A, GLGP(lam=0.0, prior=TASKS["game"](b), degree=6).fit(X), "mean")
        rows.append({"draw": seed, "network": network, "prior": "none", "strength": 0, "precision": plain})
        priors = {task: make(b) for task, make in TASKS.items()}
        if network in TASKS:  # a control: the right prior without knowledge of who is who
            priors["right, benefits shuffled"] = TASKS[network](random.permutation(b))
        for name, prior in priors.items():
            for strength, score in scores(X, A, prior).items():
                one = {"draw": seed, "network": network, "prior": name, "strength": strength}
                rows.append(one | {"precision": score})
    return rows


def chosen(table: pd.DataFrame) -> pd.DataFrame:
    """Return the scored draws, every cell at its best strength on the tuning draws."""
    tuning, scored = table[table["draw"] < TUNING], table[table["draw"] >= TUNING]
    means = tuning.groupby(["network", "prior", "strength"])["precision"].mean().reset_index()
    best = means.loc[means.groupby(["network", "prior"])["precision"].idxmax(), ["network", "prior", "strength"]]
    return scored.merge(best)


def main(draws: int = 12) -> None:
    """Run all draws and write the table."""
    here, rows = Path(__file__), []
    for seed in range(draws):
        rows += draw(seed)
        table = pd.DataFrame(rows)
        table.to_csv(here.with_name("right_prior.csv"), index=False, float_format="%.5f")
    found = chosen(table)
    report = Report("The right prior for the right network", "python -m benchmarks.right_prior")
    report.say(
        f"Mean average precision over {draws - TUNING} draws (N = {N}, M = {M}, {TIES} ties, chance "
        f"{TIES / (N * (N - 1) / 2):.3f}); rows are what the network was grown for, columns the prior. Each cell has "
        f"the strength, of {', '.join(map(str, STRENGTHS))} times the default, that was best on {TUNING} other draws. "
        "The control in the last column is the right prior with its benefits shuffled among nodes."
    )
    means = found.pivot_table(index="network", columns="prior", values="precision")
    columns = ["none", *TASKS, "right, benefits shuffled"]
    cells = [[row, *(f"{means.loc[row].get(name):.3f}".replace("nan", "") for name in columns)] for row in means.index]
    report.table(["network", *columns], cells)
    lines = []
    for task in TASKS:
        wide = found[found["network"] == task].pivot_table(index="draw", columns="prior", values="precision")
        others = wide[[name for name in TASKS if name != task]]
        rival = others.mean().idxmax()
        gains = wide[task] - wide["none"], wide[task] - wide[rival]
        errors = (f"{gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.3f}" for gain in gains)
        lines.append([task, *errors, rival])
    report.section("Right prior against none, and against the best wrong one (mean ± standard error)")
    report.table(["network", "right - none", "right - best wrong", "best wrong"], lines)
    report.write(here.with_name("RIGHT_PRIOR.md"))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
