"""``python -m benchmarks.conjecture``: the paper's conjecture (C), what rewiring costs true networks.

Half of the ties, or a tenth, are rewired as in Table 1 (a tie goes to any pair that is not tied), and, as a control, by
swaps of two ties that keep everybody's number of ties. Four values are compared before and after, each less what
people have without ties: the welfare of the linear game with b = 1; that welfare after a tenth of the nodes fails, at
random (mean of eight draws) or starting with the best connected; and the size of an epidemic (mean field, rate 2,
imports 0.01). W = 0.9 A / ||A||_F: no eigenvalue of A exceeds ||A||_F, so the game has an equilibrium on every network.

In the welfare 1'W1 + 1'W^2 1 + ..., the first term is the number of ties and the second the sum of squared degrees:
swaps that keep degrees can change only later terms, which are small. Writes CONJECTURE.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from reproduce.study import COLOURS, Check, Experiment, Row, Study, new_figure, where
from reproduce.table1 import edge_array, pairs_apart, rewired
from reproduce.villages import ALL_VILLAGES
from scipy import sparse

from nashgraph.datasets import Dataset, erdos_renyi, load_dolphins, load_karate, load_villages, load_wiki_vote
from nashgraph.datasets.store import VARIABLE
from nashgraph.priors import Epidemic, welfare
from nashgraph.priors.prior import InMemory
from nashgraph.validation import Array

from .experiment import run

SCALE = 0.9
SHARES, HALF = (0.1, 0.5), 0.5
DRAWS, DRAWS_QUICK = 40, 20
FAILED, SCENARIOS = 0.1, 8
IMPORTS, RATE = 0.01, 2.0
CLEAR = 0.95  # share of the rewired networks above which a network is clearly better, or clearly worse
MOST = 0.2  # of the control's networks may look better or worse than rewired ones: 1% of the time by chance
CONTROL, CONTROLS, QUICK = "control: random", 20, 3
SMALL = {
    "karate": lambda: load_karate().graph,
    "dolphins": lambda: load_dolphins().graph,
    "wiki-vote": lambda: load_wiki_vote().graph,
    "florentine": nx.florentine_families_graph,
    "les miserables": nx.les_miserables_graph,
    "southern women": nx.davis_southern_women_graph,
}
RANDOM, SWAPS = "random", "degrees kept"


@cache
def networks() -> dict[str, dict[str, Callable[[], nx.Graph[Any]]]]:
    """Return how to get every network, by group and name."""
    home = Path(os.environ.get(VARIABLE, "")).expanduser() / "recovery"
    found: dict[str, dict[str, Callable[[], nx.Graph[Any]]]] = {
        "Table 1's and networkx's": dict(SMALL),
        "villages": {f"village {k}": partial(village, k) for k in ALL_VILLAGES},
    }
    for file in sorted(home.glob("*/truth.csv")):
        group = file.parent.name.split("_")[0]
        group = group if group in ("korea", "lazega", "brazil") else "other surveys"
        found.setdefault(group, {})[file.parent.name] = partial(named_ties, file)
    found[CONTROL] = {f"draw {k}": partial(erdos_renyi, 50, 6, random_state=k) for k in range(CONTROLS)}
    return found


@cache
def all_villages() -> dict[int, Dataset]:
    """Return the villages, read once; they may have to be fetched."""
    return load_villages()


def village(number: int) -> nx.Graph[Any]:
    """Return the true network of a village."""
    return all_villages()[number].graph


def named_ties(file: Path) -> nx.Graph[Any]:
    """Return the ties named by either end, without directions."""
    ties = pd.read_csv(file, dtype=str)
    return nx.Graph((one, other) for one, other in ties.itertuples(index=False) if one != other)


def prepare() -> None:
    """Fetch the networks before the trials ask for them at the same time."""
    all_villages(), load_wiki_vote(), load_dolphins()


def trials(quick: bool) -> list[Row]:
    """Return every network."""
    return [
        {"group": group, "name": name, "draws": DRAWS_QUICK if quick else DRAWS}
        for group, members in networks().items()
        for name in list(members)[: QUICK if quick else None]
    ]


def measure(group: str, name: str, draws: int, seed: int) -> list[Row]:
    """Return the remaining share of every value after rewiring, and the share of draws in which it is lower."""
    graph = networks()[group][name]()
    n, edges = len(graph), edge_array(graph)
    apart, before = pairs_apart(edges, n), values(edges, n)
    rows = []
    for rewiring, share in product((RANDOM, SWAPS), SHARES):
        random = np.random.default_rng([seed, int(100 * share), n, len(edges)])
        after = [
            values(rewired(edges, apart, share, random) if rewiring == RANDOM else swapped(edges, share, random), n)
            for _ in range(draws)
        ]
        for value, whole in before.items():
            left = np.array([each[value] for each in after]) / whole
            # A draw that changes nothing counts half: with fixed degrees, a star can only be rewired to itself.
            lower = np.mean(left < 1 - 1e-9) + 0.5 * np.mean(np.abs(left - 1) <= 1e-9)
            one = {"group": group, "network": name, "nodes": n, "ties": len(edges), "rewiring": rewiring}
            rows.append({**one, "rewired": share, "value": value, "left": float(left.mean()), "lower": float(lower)})
    return rows


def swapped(edges: Array, share: float, random: np.random.Generator) -> Array:
    """Return the edges after enough swaps (i, j), (k, l) -> (i, l), (k, j) to move a share of them, if possible."""
    now = [(int(i), int(j)) for i, j in edges]
    there = set(now)
    left = round(share * len(now) / 2)
    for _ in range(20 * left):
        one, other = (int(k) for k in random.integers(len(now), size=2))
        (i, j), (k, last) = now[one], now[other][:: random.choice((1, -1))]
        new = (min(i, last), max(i, last)), (min(k, j), max(k, j))
        if len({i, j, k, last}) < 4 or there & {*new}:
            continue
        there.difference_update((now[one], now[other]))
        there.update(new)
        now[one], now[other] = new
        left -= 1
        if left == 0:
            break
    return np.array(now)


def values(edges: Array, n: int) -> dict[str, float]:
    """Return the four values of a network, each minus its value without ties."""
    i, j = np.concatenate([edges, edges[:, ::-1]]).T
    W = sparse.csr_array((np.full(len(i), SCALE / np.sqrt(len(i))), (i, j)), shape=(n, n))
    some = max(1, round(FAILED * n))
    random = np.random.default_rng(0)  # the same failures on every network
    failures = [random.choice(n, some, replace=False) for _ in range(SCENARIOS)]
    attacked = np.argsort(-np.bincount(i, minlength=n), kind="stable")[:some]
    epidemic = Epidemic(np.full(n, IMPORTS), RATE)
    alone = n * float(epidemic.response.value(np.array(IMPORTS)))
    return {
        "welfare": added(W),
        "welfare after failures": float(np.mean([added(without(W, nodes)) for nodes in failures])),
        "welfare after an attack": added(without(W, attacked)),
        "epidemic": epidemic.evaluate(InMemory(W.dot, W.dot), tol=1e-10).value - alone,
    }


def without(W: Any, nodes: Array) -> Any:
    """Return a network after nodes have failed."""
    kept = np.setdiff1d(np.arange(W.shape[0]), nodes)
    return W[kept][:, kept]


def added(W: Any) -> float:
    """Return the gain from ties in the welfare of the linear game with b = 1."""
    return welfare(W, np.ones(W.shape[0]), "linear") - W.shape[0]


def counts(rows: pd.DataFrame) -> tuple[int, int, int]:
    """Return how many networks there are, and how many are clearly better and clearly worse than rewired ones."""
    return len(rows), int((rows["lower"] >= CLEAR).sum()), int((rows["lower"] <= 1 - CLEAR).sum())


def summary(frame: pd.DataFrame) -> Iterator[Row]:
    """Return a line for every group of networks and value: the share left after half of the ties are rewired."""
    half = where(frame, rewired=HALF)
    for (group, value), rows in half.groupby(["group", "value"], sort=False):
        line = {"networks": group, "number": rows["network"].nunique(), "value": value}
        for rewiring in (RANDOM, SWAPS):
            found = where(rows, rewiring=rewiring)
            _, better, worse = counts(found)
            line[f"{rewiring}: left (%)"] = 100 * float(found["left"].mean())
            line[f"{rewiring}: truth higher, lower"] = f"{better}, {worse}"
        yield line


def study(frame: pd.DataFrame) -> Study:
    """Say in how many networks the truth is better than its rewirings, by value, and how much degrees explain."""
    real, control = frame[frame["group"] != CONTROL], where(frame, group=CONTROL)
    checks = []
    for value in dict.fromkeys(frame["value"]):
        for rewiring in (RANDOM, SWAPS):
            n, better, worse = counts(where(real, value=value, rewiring=rewiring, rewired=HALF))
            claim = f"{value}: most true networks are clearly higher than rewired ones ({rewiring})"
            checks.append(Check(claim, 2 * better > n, f"{better} of {n} are, {worse} are clearly lower"))
    for rewiring in (RANDOM, SWAPS):
        found = [counts(rows) for _, rows in where(control, rewiring=rewiring, rewired=HALF).groupby("value")]
        most = max(max(better, worse) / n for n, better, worse in found)
        claim = f"random networks, the control, are neither higher nor lower ({rewiring})"
        checks.append(Check(claim, most <= MOST, f"at most {most:.0%} of them clearly are, for any value"))
    notes = [
        f"{real['network'].nunique()} real networks. 'Left' is the mean of what a value is after half of the ties are "
        f"rewired, in percent of what it was; 'clearly higher' means that at least {CLEAR:.0%} of the rewired networks "
        "are lower. An epidemic that is higher reaches more people. Networks of one population are not independent.",
        "Rewiring at random destroys hubs, and with f(x) = x and b = 1 the welfare is mostly the sum of squared "
        "degrees: what remains when degrees are kept is the effect of who is tied to whom.",
        "Printed by `python -m benchmarks.conjecture`.",
    ]
    return Study([], checks, notes, table=pd.DataFrame(summary(frame)), digits=1)


def draw(frame: pd.DataFrame) -> Any:
    """Draw the remaining share of every value, one point a network, rewired at random and with fixed degrees."""
    figure, panels = new_figure(columns=2, width=6.5, height=4.4, sharey=True)
    groups, shown = list(dict.fromkeys(frame["group"])), list(dict.fromkeys(frame["value"]))
    for axes, rewiring in zip(panels, (RANDOM, SWAPS), strict=True):
        for k, group in enumerate(groups):
            for position, value in enumerate(shown):
                left = 100 * where(frame, group=group, value=value, rewiring=rewiring, rewired=HALF)["left"]
                places = position + 0.11 * (k - len(groups) / 2) + np.zeros(len(left))
                axes.plot(
                    places, left, "o", color=COLOURS[k], markersize=3, alpha=0.5, label=None if position else group
                )
        axes.axhline(100.0, color="gray", linestyle=":")
        axes.set_xticks(range(len(shown)), [value.replace(" after", "\nafter") for value in shown])
        axes.set_title(f"half of the ties rewired, {rewiring}")
    panels[0].set_ylabel("left of the value (%)")
    panels[0].legend(fontsize=7)
    return figure


CONJECTURE = Experiment(
    "conjecture", "Conjecture (C): what rewiring costs real networks", trials, measure, study, draw, prepare=prepare
)

if __name__ == "__main__":
    run("conjecture")
