"""``python -m benchmarks.peer_effects``: published fits, bias and coverage of peer effects, targeting and time.

Actions are made with a known peer effect on eight villages that nothing was tuned on, and fitted on the true network,
on one draw of a tie model taken as the truth (the control), and averaged over 20 draws. Writes PEER_EFFECTS.md.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.linalg import splu

from nashgraph import GameFit, GamePrior, TieModel, best_support, fit_game
from nashgraph.games import solve_affine
from nashgraph.interventions import Game
from nashgraph.validation import Array

from .evidence import told, village
from .report import Report

VILLAGES = (38, 41, 42, 43, 44, 47, 48, 50)
EFFECTS = (0.0, 0.2, 0.4, 0.6)
DESIGNS = {
    "all asked ten traits": {},
    "the same, 30% forgotten, off by one": {"forgotten": 0.3, "off": True},
    "30% asked": {"share": 0.3},
}


class World(NamedTuple):
    """Villages as one network, its rows divided by their sums, and the group of everybody."""

    cases: list[Any]
    A: Any
    W: Any

    @classmethod
    def of(cls, numbers: tuple[int, ...]) -> World:
        """Return some villages."""
        cases = [village(number) for number in numbers]
        A = sparse.block_diag([sparse.csr_array(case.A) for case in cases], format="csr")
        A.eliminate_zeros()
        return cls(cases, sparse.csr_array(A), normalized(A))

    def draws(self, seed: int, count: int, design: dict[str, Any]) -> list[Any]:
        """Return draws of all villages' networks, each from its own tie model."""
        blocks = []
        for case in self.cases:
            model = TieModel(random_state=seed).fit(traits=case.traits, **told(case, seed, **design))
            sampled = model.sample(count, random_state=seed)
            names = sampled[0].names.tolist()
            order = [names.index(name) for name in case.traits.index]
            blocks.append([draw.weights[order][:, order] for draw in sampled])
        return [sparse.block_diag([block[k] for block in blocks], format="csr") for k in range(count)]


def normalized(A: Any) -> Any:
    """Return a network with rows divided by their sums."""
    sums = np.maximum(np.asarray(A.sum(axis=1)).ravel(), 1.0)
    return sparse.csr_array(sparse.diags_array(1.0 / sums) @ A)


def simulated(W: Any, phi: float, seed: int, passed_on: bool = False) -> tuple[Array, Array]:
    """Return covariates and actions; errors are added at the end, or passed on along ties as well."""
    random = np.random.default_rng([seed, 7])
    n = W.shape[0]
    X, error = random.normal(size=(n, 2)), random.normal(size=n)
    solve = splu(sparse.csc_array(sparse.eye_array(n) - phi * W)).solve
    benefit = 1.0 + X.sum(axis=1)
    return X, solve(benefit + error) if passed_on else solve(benefit) + error


class Tally:
    """Estimates of one quantity over runs."""

    def __init__(self) -> None:
        self.rows: dict[Any, list[tuple[float, float, bool]]] = defaultdict(list)

    def add(self, key: Any, truth: float, fit: GameFit) -> None:
        """Add a fit of a known peer effect."""
        low, high = fit.interval
        self.rows[key].append((fit.peer_effect - truth, fit.standard_error, low <= truth <= high))

    def figures(self, key: Any) -> list[str]:
        """Return bias, spread, mean standard error and coverage."""
        error, standard, inside = np.array(self.rows[key], dtype=float).T
        return [f"{error.mean():+.3f}", f"{error.std(ddof=1):.3f}", f"{standard.mean():.3f}", f"{inside.mean():.0%}"]


HEADINGS = ["bias", "spread", "standard error", "coverage of 95%", "runs"]


def published(report: Report) -> None:
    """Fit what econet's authors published."""
    folder = Path(os.environ["NASHGRAPH_DATA"]) / "congress"
    money = pd.read_csv(folder / "campaign.csv")
    G = np.load(folder / "campaign_alumni.npz")["G"]
    terms = ["gender", "party", "nchair", "isolate"]
    settings: dict[str, Any] = {"normalize": False, "errors": "classical"}
    first = fit_game(G, money.PAC / 1e6, money[terms], played="constant", **settings)
    laws = pd.read_csv(folder / "effectiveness.csv")
    G = np.load(folder / "effectiveness_cosponsors.npz")["G"]
    second = fit_game(G, "les ~ gender + party + nchair", data=laws, **settings)
    for title, fit in (("Campaign money (econet's model A)", first), ("Legislative effectiveness", second)):
        report.say(f"{title}: log-likelihood {fit.log_likelihood:.3f}.")
        rows = [[row.term, f"{row.estimate:.5f}", f"{row.standard_error:.5f}"] for row in fit.coefficients.itertuples()]
        report.table(["term", "estimate", "standard error"], rows)


def on_the_true_network(report: Report, world: World, runs: int) -> None:
    """Bias and coverage of each method, for errors of the kind that it assumes."""
    rows = []
    for phi in EFFECTS:
        tally = Tally()
        for seed in range(runs):
            X, y = simulated(world.W, phi, seed)
            tally.add("nls", phi, fit_game(world.A, y, X))
            X, y = simulated(world.W, phi, seed, passed_on=True)
            for method in ("qml", "2sls"):
                tally.add(method, phi, fit_game(world.A, y, X, method=method))
        rows += [[f"{method}, effect {phi}", *tally.figures(method), str(runs)] for method in ("nls", "qml", "2sls")]
    report.table([f"{world.A.shape[0]} people", *HEADINGS], rows)


def on_many_people(report: Report, runs: int, n: int = 5000, phi: float = 0.4) -> None:
    """Do the same on a random network of 5,000 people, and take the time."""
    random, tally, seconds = np.random.default_rng(0), Tally(), defaultdict[str, list[float]](list)
    A = sparse.random_array((n, n), density=8.0 / n, rng=random, format="csr")
    A.data[:] = 1.0
    W = normalized(A)
    for seed in range(runs):
        random = np.random.default_rng([seed, 8])
        X = random.normal(size=(n, 5))
        mean = solve_affine(lambda vector: phi * (W @ vector), 1.0 + X.sum(axis=1), tol=1e-12).point
        y = mean + random.normal(size=n)
        for method in ("nls", "2sls"):
            begun = time.perf_counter()
            tally.add(method, phi, fit_game(A, y, X, method=method))
            seconds[method].append(time.perf_counter() - begun)
    rows = [[m, *tally.figures(m), str(runs), f"{np.median(seconds[m]):.2f} s"] for m in ("nls", "2sls")]
    report.table([f"{n:,} people, effect {phi}", *HEADINGS, "time"], rows)


def on_draws(report: Report, world: World, runs: int, n_draws: int = 20) -> None:
    """Bias and coverage where the network is known only by questions, and the control: one draw as the truth."""
    seconds = list[float]()
    for phi in (0.0, 0.4):
        tally = Tally()
        for seed in range(runs):
            X, y = simulated(world.W, phi, seed)
            for name, design in DESIGNS.items():
                draws = world.draws(seed, n_draws, design)
                tally.add((name, "one draw"), phi, fit_game(draws[0], y, X))
                begun = time.perf_counter()
                tally.add((name, "20 draws"), phi, fit_game(draws, y, X))
                seconds.append(time.perf_counter() - begun)
        rows = [[f"{name}: {what}", *tally.figures((name, what)), str(runs)] for name, what in tally.rows]
        report.table([f"effect {phi}", *HEADINGS], rows)
    report.say(f"A fit over {n_draws} draws of {world.A.shape[0]} people takes {np.median(seconds):.1f} s.")


def interaction_chosen(report: Report, runs: int, n: int = 1000) -> None:
    """Count how often the likelihood chooses the interaction that actions were made with."""
    rows = []
    for truth in ("log1p", "linear"):
        right = 0
        for seed in range(runs):
            random = np.random.default_rng([seed, 9])
            A = sparse.random_array((n, n), density=8.0 / n, rng=random, format="csr")
            A.data[:] = 1.0
            b = np.exp(random.normal(size=n))
            actions = GamePrior(b, truth, share=0.8).evaluate(normalized(A)).actions
            y = np.maximum(actions + 0.3 * random.normal(size=n), 0.0)
            likelihood = {f: fit_game(A, y, b, interaction=f).log_likelihood for f in ("log1p", "linear")}
            right += max(likelihood, key=lambda name: likelihood[name]) == truth
        rows.append([truth, f"{right} of {runs}"])
    report.table([f"actions made with, {n:,} people", "chosen"], rows)


def targeting(report: Report, world: World, runs: int, budget: int = 20, phi: float = 0.5) -> None:
    """Compare support chosen with a fitted game to the best support in the true one."""
    shares = defaultdict[str, list[float]](list)
    for seed in range(runs):
        X, y = simulated(world.W, phi, seed)
        truth = Game.on(world.W, game=GamePrior(1.0 + X.sum(axis=1), "linear", share=phi))
        draws = world.draws(seed, 20, {})
        fits = {"true network": fit_game(world.A, y, X), "20 draws, all asked": fit_game(draws, y, X)}
        networks = {"true network": world.A, "20 draws, all asked": sum(draws[1:], draws[0]) / len(draws)}

        def gain(support: Array, truth: Game = truth) -> float:
            return truth.with_benefit(truth.benefit + support).value - truth.value

        best = gain(units(best_support(truth, budget, cost="units", unit=1.0)))
        even = gain(np.full(truth.n_nodes, budget / truth.n_nodes))
        for name, fit in fits.items():
            chosen = best_support(networks[name], budget, cost="units", unit=1.0, game=fit)
            shares[name].append((gain(units(chosen)) - even) / (best - even))
    rows = [[name, f"{np.mean(values):.2f}", f"{np.min(values):.2f}"] for name, values in shares.items()]
    report.table([f"support for {budget} people", "share of the possible gain", "least of all runs"], rows)


def units(table: pd.DataFrame) -> Array:
    """Return the support of each node, in the order of the network."""
    return table.set_index("name").support.sort_index().to_numpy()


def main(runs: int = 100, few: int = 20) -> None:
    """Print the page; fewer runs with ``--quick``."""
    if "--quick" in sys.argv:
        runs, few = 12, 8
    warnings.simplefilter("ignore")
    command = "python -m benchmarks.peer_effects" + (" --quick" if "--quick" in sys.argv else "")
    report = Report("Peer effects: bias, coverage, targeting", command)
    world = World.of(VILLAGES)
    sections: dict[str, Callable[[], None]] = {
        "Published fits": lambda: published(report),
        "On the true network": lambda: on_the_true_network(report, world, runs),
        "Many people": lambda: on_many_people(report, few),
        "On answers to questions": lambda: on_draws(report, world, few),
        "Which interaction": lambda: interaction_chosen(report, few),
        "Whom to support": lambda: targeting(report, world, max(5, few // 3)),
    }
    report.say(
        "Errors have the variance 1 and two covariates the effect 1. *Bias* is the mean error of the peer effect, "
        "*spread* its standard deviation over runs, *standard error* the mean of those estimated."
    )
    for title, section in sections.items():
        report.section(title)
        section()
    report.write(Path(__file__).parent / "PEER_EFFECTS.md")


if __name__ == "__main__":
    main()
