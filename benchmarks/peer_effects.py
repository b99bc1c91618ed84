"""``python -m benchmarks.peer_effects``: published fits, bias and coverage of peer effects, targeting and time.

Actions are made with a known peer effect on villages that nothing was tuned on, and fitted on the true network, on one
draw of a tie model taken as the truth (the control), and over 20 draws. Every finished run is a
line of a file in build/peer_effects, so that a command that was cut off goes on where it stopped, and PEER_EFFECTS.md
is written from these lines after every part. ``--runs 0`` writes the page only, ``--only draws`` runs parts whose title
has this word.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
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

from .evidence import ALL, told, village
from .report import Report

EIGHT = (38, 41, 42, 43, 44, 47, 48, 50)
EFFECTS = (0.0, 0.2, 0.4, 0.6)
OWN = "of one person"
PASSED = "passed on"
ALL_ASKED = "all asked ten traits"
DESIGNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    ALL_ASKED: ({}, {}),
    "30% forgotten": ({"forgotten": 0.3}, {"recall": 0.7}),
    "30% asked": ({"share": 0.3}, {}),
}
STORE = Path("build") / "peer_effects"

Line = dict[str, Any]


class World:
    """Villages as one network, its rows divided by their sums."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.cases = [village(number) for number in numbers]
        self.A = sparse.csr_array(sparse.block_diag([case.A for case in self.cases], format="csr"))
        self.A.eliminate_zeros()
        self.W = normalized(self.A)
        self.n_people = self.A.shape[0]

    def draws(self, design: str, seed: int, count: int = 20) -> list[Any]:
        """Return draws of the whole network; two seeds share the answers, but no draw and no action."""
        file = STORE / f"{self.n_people} people, {design}, {seed}.pickle"
        if file.is_file():
            return list(pickle.loads(file.read_bytes()))
        blocks = []
        for place in range(len(self.cases)):
            model = self._model(design, 0 if design == ALL_ASKED else seed // 2, place)
            sampled = model.sample(count, random_state=seed)
            names = sampled[0].names.tolist()
            order = [names.index(name) for name in self.cases[place].traits.index]
            blocks.append([draw.weights[order][:, order] for draw in sampled])
        draws = [sparse.block_diag([block[k] for block in blocks], format="csr") for k in range(count)]
        file.write_bytes(pickle.dumps(draws))
        return draws

    @cache  # noqa: B019 (lives as long as the run)
    def _model(self, design: str, answers: int, place: int) -> TieModel:
        """Return the tie model of a village; with everybody asked and nothing forgotten there is one set of answers."""
        asked, settings = DESIGNS[design]
        case = self.cases[place]
        return TieModel(random_state=answers, **settings).fit(traits=case.traits, **told(case, answers, **asked))


def normalized(A: Any) -> Any:
    """Return a network with rows divided by their sums."""
    sums = np.maximum(np.asarray(A.sum(axis=1)).ravel(), 1.0)
    return sparse.csr_array(sparse.diags_array(1.0 / sums) @ A)


def random_network(n: int, random: np.random.Generator) -> Any:
    """Return a network in which everybody hears eight others on average."""
    A = sparse.random_array((n, n), density=8.0 / n, rng=random, format="csr")
    A.data[:] = 1.0
    return A


def simulated(W: Any, phi: float, seed: int, errors: str = OWN) -> tuple[Array, Array]:
    """Return covariates and actions, with errors that are added to actions or passed on along ties as well."""
    random = np.random.default_rng([seed, 7])
    n = W.shape[0]
    X = random.normal(size=(n, 2))
    error = random.normal(size=n)
    solve = splu(sparse.csc_array(sparse.eye_array(n) - phi * W)).solve
    benefit = 1.0 + X.sum(axis=1)
    return X, solve(benefit + error) if errors == PASSED else solve(benefit) + error


def estimated(truth: float, fit: GameFit, **cell: Any) -> Line:
    """Return what a fit of a known peer effect says."""
    low, high = fit.interval
    return {
        **cell,
        "effect": truth,
        "error": round(fit.peer_effect - truth, 5),
        "standard_error": round(fit.standard_error, 5),
        "width": round(high - low, 5),
        "inside": bool(low <= truth <= high),
    }


# ------------------------------------------------------------------------------------------ parts: the lines of one run


def on_the_true_network(world: World, seed: int) -> Iterator[Line]:
    """Fit with each method, for each kind of errors."""
    for phi in EFFECTS:
        for errors in (OWN, PASSED):
            X, y = simulated(world.W, phi, seed, errors)
            for method in ("nls", "qml", "2sls", "smm"):
                graph = [world.A] * 4 if method == "smm" else world.A
                yield estimated(phi, fit_game(graph, y, X, method=method), method=method, errors=errors)


def on_draws(world: World, design: str, seed: int) -> Iterator[Line]:
    """Fit over 20 draws, and on the first of them as if it were the truth."""
    draws = world.draws(design, seed)
    for phi in EFFECTS:
        X, y = simulated(world.W, phi, seed)
        for method in ("nls", "2sls"):
            yield estimated(phi, fit_game(draws[0], y, X, method=method), method=f"{method}, one draw", design=design)
        for method in ("nls", "smm"):
            yield estimated(phi, fit_game(draws, y, X, method=method), method=f"{method}, 20 draws", design=design)


def interaction_chosen(seed: int, n: int = 1000) -> Iterator[Line]:
    """Say whether the likelihood chooses the interaction that actions were made with."""
    for truth in ("log1p", "linear"):
        random = np.random.default_rng([seed, 9])
        A = random_network(n, random)
        b = np.exp(random.normal(size=n))
        actions = GamePrior(b, truth, share=0.8).evaluate(normalized(A)).actions
        y = np.maximum(actions + 0.3 * random.normal(size=n), 0.0)
        likelihood = {f: fit_game(A, y, b, interaction=f).log_likelihood for f in ("log1p", "linear")}
        yield {"truth": truth, "chosen": max(likelihood, key=lambda name: likelihood[name])}


def targeting(world: World, seed: int, budget: int = 20, phi: float = 0.5) -> Iterator[Line]:
    """Compare support chosen with a fitted game to the best support in the true one, and to simpler choices."""
    X, y = simulated(world.W, phi, seed)
    truth = Game.on(world.W, game=GamePrior(1.0 + X.sum(axis=1), "linear", share=phi))
    draws = world.draws(ALL_ASKED, seed)
    mean = sum(draws[1:], draws[0]) / len(draws)
    n = world.n_people

    def gain(support: Array) -> float:
        return truth.with_benefit(truth.benefit + support).value - truth.value

    def supported(graph: Any, fit: GameFit | None = None) -> Array:
        table = best_support(graph, budget, cost="units", unit=1.0, game=fit)
        return np.asarray(table.set_index("name").support.sort_index())

    def first(scores: Array) -> Array:
        return (np.argsort(np.argsort(-scores, kind="stable")) < budget).astype(float)

    choices = {
        "fitted on the true network": supported(world.A, fit_game(world.A, y, X)),
        "fitted over 20 draws": supported(mean, fit_game(draws, y, X)),
        "control: fitted on one draw": supported(draws[0], fit_game(draws[0], y, X)),
        "control: the most ties, of the true network": first(np.asarray(world.A.sum(axis=0)).ravel()),
        "control: the most ties, of the draws": first(np.asarray(mean.sum(axis=0)).ravel()),
        "control: people who act most": first(y),
    }
    # At random is 0, the best choice in the true game 1.
    even = gain(np.full(n, budget / n))
    best = gain(supported(truth))
    for name, support in choices.items():
        yield {"choice": name, "share": round((gain(support) - even) / (best - even), 4)}


def times(seed: int, n: int = 5000, phi: float = 0.4) -> Iterator[Line]:
    """Take the time of fits on random networks of 5,000 people with five covariates."""
    random = np.random.default_rng([seed, 8])
    A = random_network(n, random)
    W = normalized(A)
    X = random.normal(size=(n, 5))
    y = solve_affine(lambda vector: phi * (W @ vector), 1.0 + X.sum(axis=1), tol=1e-12).point + random.normal(size=n)
    for method in ("nls", "2sls"):
        begun = time.perf_counter()
        fit_game(A, y, X, method=method)
        yield {"fit": f"{method}, one network", "seconds": time.perf_counter() - begun}
    thinned = []
    for _ in range(20):
        draw = A.copy()
        draw.data = (random.random(A.nnz) < 0.9).astype(float)
        draw.eliminate_zeros()
        thinned.append(draw)
    for method in ("nls", "smm"):
        begun = time.perf_counter()
        fit_game(thinned, y, X, method=method)
        yield {"fit": f"{method}, 20 draws", "seconds": time.perf_counter() - begun}


# ------------------------------------------------------------------------------------------ the page


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


def figures(report: Report, lines: pd.DataFrame, cell: list[str]) -> None:
    """Write bias, spread, standard error and coverage of each cell, with their Monte Carlo errors."""
    rows = []
    for key, group in lines.groupby([*cell, "effect"], sort=False):
        n = len(group)
        error = group["error"]
        inside = group["inside"].mean()
        rows.append(
            [
                ", ".join(map(str, key[:-1])),
                f"{key[-1]}",
                f"{error.mean():+.3f} ± {error.std() / np.sqrt(n):.3f}",
                f"{error.std():.3f}",
                f"{group['standard_error'].mean():.3f}",
                f"{group['width'].median():.2f}",
                f"{100 * inside:.1f}% ± {100 * np.sqrt(inside * (1 - inside) / n):.1f}",
                f"{n}",
            ]
        )
    headings = ["true effect", "bias", "spread", "standard error", "median width", "coverage of 95%", "runs"]
    report.table([", ".join(cell), *headings], rows)


def interactions(report: Report, lines: pd.DataFrame) -> None:
    """Write how often the likelihood chooses the interaction that actions were made with."""
    rows = []
    for truth, group in lines.groupby("truth"):
        rows.append([truth, f"{(group.chosen == truth).sum()} of {len(group)}"])
    report.table(["actions made with, 1,000 people", "the likelihood chooses it"], rows)


def supports(report: Report, lines: pd.DataFrame) -> None:
    """Write the share of the possible gain of each way to choose people."""
    report.say("Support for 20 people, peer effect 0.5. Support at random gains 0, the best in the true game 1.")
    rows = []
    for name, group in lines.groupby("choice", sort=False):
        error = group.share.std() / np.sqrt(len(group))
        rows.append([name, f"{group.share.mean():.3f} ± {error:.3f}", f"{group.share.min():.2f}", f"{len(group)}"])
    report.table(["20 people chosen by", "share of the possible gain", "least", "runs"], rows)


def seconds(report: Report, lines: pd.DataFrame) -> None:
    """Write how long fits take."""
    rows = []
    for name, group in lines.groupby("fit", sort=False):
        rows.append([name, f"{group.seconds.median():.2f} s", f"{group.seconds.min():.2f} s", f"{len(group)}"])
    report.table(["5,000 people, 40,000 ties, five covariates", "median time", "least", "runs"], rows)


Table = Callable[[Report, pd.DataFrame], None]


class Part(NamedTuple):
    """A section of the page: what one run gives, how many runs, and the table made of all."""

    title: str
    run: Callable[[int], Iterator[Line]]
    runs: int
    table: Table

    @property
    def file(self) -> Path:
        """Where finished runs are."""
        return STORE / f"{self.title}.jsonl"

    def finished(self) -> dict[int, list[Line]]:
        """Return the finished runs by their seeds."""
        if not self.file.is_file():
            return {}
        return {run["seed"]: run["lines"] for run in map(json.loads, self.file.read_text().splitlines())}

    def continued(self, most: int, page: Callable[[], None]) -> None:
        """Make the runs that are missing, and write the page every 20."""
        finished = self.finished()
        for seed in range(min(self.runs, most)):
            if seed in finished:
                continue
            run = {"seed": seed, "lines": list(self.run(seed))}
            with self.file.open("a") as file:
                file.write(json.dumps(run) + "\n")
            if seed % 20 == 19:
                page()


def villages_of(n_people: int) -> tuple[int, ...]:
    """Return villages, the last ones first, until they have so many people."""
    chosen = list[int]()
    count = 0
    for number in reversed(ALL):
        if count < n_people:
            chosen.append(number)
            count += len(village(number).A)
    return tuple(chosen)


def parts() -> list[Part]:
    """Return the sections in the order in which they run."""

    @cache
    def world(name: str) -> World:
        return World(EIGHT if name == "eight" else villages_of(5000))

    sections = [
        Part(
            "On the true network of eight villages",
            lambda seed: on_the_true_network(world("eight"), seed),
            200,
            lambda report, lines: figures(report, lines, ["method", "errors"]),
        )
    ]
    for design in DESIGNS:
        sections.append(
            Part(
                f"On draws for eight villages, {design}",
                lambda seed, design=design: on_draws(world("eight"), design, seed),
                200,
                lambda report, lines: figures(report, lines, ["method"]),
            )
        )
    sections += [
        Part("Which interaction", interaction_chosen, 100, interactions),
        Part("Whom to support", lambda seed: targeting(world("eight"), seed), 50, supports),
        Part("Time", times, 5, seconds),
        Part(
            "On the true network of 5,000 people",
            lambda seed: on_the_true_network(world("5,000"), seed),
            100,
            lambda report, lines: figures(report, lines, ["method", "errors"]),
        ),
        Part(
            f"On draws for 5,000 people, {ALL_ASKED}",
            lambda seed: on_draws(world("5,000"), ALL_ASKED, seed),
            20,
            lambda report, lines: figures(report, lines, ["method"]),
        ),
    ]
    return sections


def page(sections: list[Part]) -> None:
    """Write PEER_EFFECTS.md from the finished runs of all parts."""
    report = Report("Peer effects: bias, coverage, targeting", "python -m benchmarks.peer_effects")
    report.say(
        "Two covariates and the errors have the variance 1, and covariates the effect 1. *Bias* is the mean error of "
        "the peer effect, *spread* its standard deviation over runs, *standard error* the mean of those estimated, "
        "*median width* that of the 95% interval. ± is one Monte Carlo standard error. Errors are added to the actions "
        f"({OWN}, the model of nls), or {PASSED} along ties as well (the model of qml and 2sls); on draws they are "
        f"{OWN}. The villages are real: eight have 710 surveyed households, and 5,000 people are in as many as it "
        "takes. If people forget or are not asked, two runs share the answers, but no draw and no action. The model "
        "is told that 30% are forgotten. Fewer runs if a fit is slow."
    )
    report.section("Published fits")
    published(report)
    for part in sections:
        report.section(part.title)
        lines = [line for run in part.finished().values() for line in run]
        if lines:
            part.table(report, pd.DataFrame(lines))
        else:
            report.say("Not run yet.")
    report.write(Path(__file__).parent / "PEER_EFFECTS.md")


def main() -> None:
    """Run what is missing and write the page."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.peer_effects")
    options.add_argument("--runs", type=int, default=200, help="the most runs of each part")
    options.add_argument("--only", default="", help="a word in the titles of the parts to run")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    STORE.mkdir(parents=True, exist_ok=True)
    sections = parts()
    for part in sections:
        if chosen.only.lower() in part.title.lower():
            part.continued(chosen.runs, lambda: page(sections))
    page(sections)


if __name__ == "__main__":
    main()
