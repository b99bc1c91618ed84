"""The networks whose recovery is measured: synthetic, the paper's, real ones with simulated signals, real ones whole.

Reporting seeds count from 0. All tuning used seeds from 1000 on, villages with odd numbers and the real networks of
TUNED, which appear in no table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from sklearn.preprocessing import scale

from nashgraph import read_study
from nashgraph.datasets import (
    Dataset,
    DatasetError,
    erdos_renyi,
    load_dolphins,
    load_karate,
    load_villages,
    preferential_attachment,
    random_geometric,
    small_world,
    smooth_signals,
    stochastic_block_model,
)
from nashgraph.datasets.signals import FILTERS
from nashgraph.datasets.store import VARIABLE
from nashgraph.io import read_truth
from nashgraph.validation import Array
from reproduce import fig1

SYNTHETIC, FIGURE, SIMULATED, REAL = "synthetic", "Figure 1", "simulated on real", "real"
DISCRETE, MANY = "discretised", "many signals"
LEVELS, DISCRETE_NODES = 5, 60
# As many signals as in the published benchmarks of learned priors, whose networks are the first two.
MANY_SIGNALS = (200, 1000, 3000)
MANY_NETWORKS = (("small world", 50), ("tree", 20), ("blocks", 60), ("preferential 3", 60))
TUNED = {"korea", "emon", "ffe", "knecht", "classA", "polish", "montreal", "ds", "addhealth"}  # populations
TUNED |= {"brazil_10", "brazil_22", "brazil_23", "brazil_24", "brazil_30"}  # villages of one population
VILLAGES = "villages"
NOISE = 0.1  # times the spread of the signals
NETWORKS = {
    "tree": lambda nodes, seed: preferential_attachment(nodes, 1, random_state=seed),
    "preferential 3": lambda nodes, seed: preferential_attachment(nodes, 3, random_state=seed),
    "Erdős–Rényi": lambda nodes, seed: erdos_renyi(nodes, 6, random_state=seed),
    "small world": lambda nodes, seed: small_world(nodes, 6, random_state=seed),
    "blocks": lambda nodes, seed: stochastic_block_model(nodes, degree=6, random_state=seed),
    "geometric": lambda nodes, seed: random_geometric(nodes, 6, random_state=seed),
}


class Setting(NamedTuple):
    """The setting of a problem; ``nodes`` and ``signals`` are 0 if the data decide."""

    group: str
    source: str
    name: str = ""
    filter: str = ""
    nodes: int = 0
    signals: int = 0
    seed: int = 0


class Problem(NamedTuple):
    """Signals and the true network."""

    X: Array
    truth: Any


class Grid(NamedTuple):
    """The size of a run."""

    seeds: int = 4
    nodes: tuple[int, ...] = (300, 60)
    signals: tuple[int, ...] = (10, 50)
    draws: int = 40  # of Figure 1
    real: int | None = None  # so many villages, so many folders; None: all
    slow_every: int = 1  # slow methods (seconds at 60 nodes) run on one problem in so many; 0: on none


QUICK = Grid(seeds=1, nodes=(60,), signals=(10,), draws=2, real=3, slow_every=0)
SHORT = Grid(seeds=2, nodes=(60,), draws=10, slow_every=5)  # five has no factor in common with the kinds of network


def has_slow_methods(grid: Grid, number: int, setting: Setting) -> bool:
    """Tell whether slow methods run on a problem: on one in ``slow_every``, and on all tables except the villages'."""
    if grid.slow_every == 0:
        return False
    return number % grid.slow_every == 0 or (setting.group == REAL and setting.source != VILLAGES)


def settings(grid: Grid) -> list[Setting]:
    """Return all problems; the real ones come first, so that a broken file is found at once."""
    simulated = [
        Setting(SIMULATED, source, "", *rest) for source in whole_networks() for rest in simulations(grid, (0,))
    ]
    synthetic = [Setting(SYNTHETIC, kind, "", *rest) for rest in simulations(grid, grid.nodes) for kind in NETWORKS]
    figure = [Setting(FIGURE, FIGURE, seed=seed) for seed in range(grid.draws)]
    discrete = [
        Setting(DISCRETE, kind, "", *rest) for rest in simulations(grid, (DISCRETE_NODES,)) for kind in NETWORKS
    ]
    many = [
        Setting(MANY, kind, "", filter, nodes, signals, seed)
        for (kind, nodes), signals, filter, seed in product(MANY_NETWORKS, MANY_SIGNALS, FILTERS, range(grid.seeds))
        if signals <= 20 * max(grid.signals) or grid.real is None
    ]
    return [*real_networks(grid), *synthetic, *simulated, *figure, *discrete, *many]


def simulations(grid: Grid, nodes: tuple[int, ...]) -> Iterator[tuple[str, int, int, int]]:
    """Yield filter, number of nodes, number of signals and seed, the large first."""
    for n, m, filter, seed in product(nodes, grid.signals, FILTERS, range(grid.seeds)):
        yield filter, n, m, seed


def real_networks(grid: Grid) -> Iterator[Setting]:
    """Yield the villages, the small first, and every folder of signals and truth, except those tuned on."""
    if not os.environ.get(VARIABLE):
        return
    numbers = sorted(villages(), key=lambda number: len(villages()[number].names))
    for number in [number for number in numbers if number % 2 == 0][: grid.real]:
        yield Setting(REAL, VILLAGES, str(number))
    folders = sorted(file.parent.name for file in recovery_home().glob("*/truth.csv") if has_signals(file))
    untouched = [folder for folder in folders if not TUNED & {folder, population(folder)}]
    for folder in untouched[: grid.real]:
        yield Setting(REAL, population(folder), folder)


def population(folder: str) -> str:
    """Return the population of a network: networks of the same people, or of one study, share one."""
    first, *rest = folder.split("_")
    if first == "schoolA":
        return "classA"
    return f"doctors {rest[0]}" if first in {"physicians", "medinn"} else first


def has_signals(truth: Path) -> bool:
    """Tell whether a folder has signals and a truth."""
    return truth.with_name("signals.csv").is_file()


def recovery_home() -> Path:
    """Return the folder of real networks to measure recovery on."""
    return Path(os.environ[VARIABLE]).expanduser() / "recovery"


@cache
def villages() -> dict[int, Dataset]:
    """Return the villages, read once a process; none if they are not on this machine."""
    try:
        return load_villages(download=False)
    except DatasetError:
        return {}


@cache
def whole_networks() -> dict[str, Dataset]:
    """Return the real networks that signals are simulated on; the dolphins if they are on this machine."""
    try:
        return {"karate": load_karate(), "dolphins": load_dolphins(download=False)}
    except DatasetError:
        return {"karate": load_karate()}


def draw(setting: Setting) -> Problem:
    """Return the problem of a setting: the same whenever it is asked for."""
    if setting.group == FIGURE:
        graph, X = fig1.draw_problem(setting.seed, seed=0)
        return Problem(X, graph)
    if setting.group == REAL:
        return village(int(setting.name)) if setting.source == VILLAGES else from_folder(recovery_home() / setting.name)
    of_graph, of_signals = (int(state) for state in np.random.SeedSequence(setting.seed).generate_state(2))
    simulated = setting.group == SIMULATED
    graph = whole_networks()[setting.source].graph if simulated else NETWORKS[setting.source](setting.nodes, of_graph)
    X = noisy_signals(graph, setting.signals, setting.filter, of_signals)
    return Problem(cut_at_quantiles(X) if setting.group == DISCRETE else X, graph)


def cut_at_quantiles(X: Array) -> Array:
    """Return signals with five values each, equally frequent over the nodes, centred and scaled."""
    shares = np.linspace(0, 1, LEVELS + 1)[1:-1]
    return standardised(np.stack([np.searchsorted(np.quantile(row, shares), row) for row in X]).astype(float))


def noisy_signals(graph: nx.Graph[Any], count: int, filter: str, seed: int) -> Array:
    """Return smooth signals with noise in proportion to their spread, which differs by magnitudes between filters."""
    random = np.random.RandomState(seed)
    clean = smooth_signals(graph, count, filter, random_state=random)
    return clean + NOISE * clean.std() * random.standard_normal(clean.shape)


def village(number: int) -> Problem:
    """Return a village; methods don't see who was surveyed."""
    data = villages()[number]
    assert data.signals is not None
    return Problem(standardised(data.signals.to_numpy()), data.graph)


def from_folder(folder: Path) -> Problem:
    """Return a folder's signals, gaps filled, and truth; a tie named from either side is a tie."""
    table = read_study(folder / "signals.csv", gaps="impute").signals
    truth, _ = read_truth(folder / "truth.csv", list(table.columns))
    return Problem(standardised(table.to_numpy()), truth)


def standardised(X: Array) -> Array:
    """Return every signal, coded ones too, with mean 0 and spread 1 over the nodes; constant ones are left out."""
    scaled: Array = scale(X[np.ptp(X, axis=1) > 0], axis=1)
    return scaled
