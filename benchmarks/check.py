"""``python -m benchmarks.check``: how often ``nashgraph check`` finds structure, without any and with some.

Size: tables of many kinds without structure, and real tables whose columns were shuffled. Power: signals spread over
networks of the recovery problems, and the real tables unchanged. Writes CHECK.md.
"""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from nashgraph import InputError, check_network, read_study

from .recovery_problems import NETWORKS, noisy_signals, recovery_home, villages
from .report import Report

PERMUTATIONS = 59
NULL_DRAWS, SHUFFLES, DRAWS = 200, 4, 10
NULLS = {
    "normal, 10 columns, 30 nodes": lambda random: random.normal(size=(10, 30)),
    "normal, 50 columns, 200 nodes": lambda random: random.normal(size=(50, 200)),
    "five levels": lambda random: random.integers(1, 6, size=(8, 40)).astype(float),
    "yes and no, rare": lambda random: (random.random((12, 60)) < 0.1).astype(float),
    "counts": lambda random: random.poisson(2.0, size=(8, 60)).astype(float),
    "lognormal, sigma 2": lambda random: random.lognormal(0, 2, size=(6, 50)),
    "one huge cell": lambda random: huge(random.normal(size=(8, 40))),
    "a third missing": lambda random: np.where(random.random((8, 60)) < 0.33, np.nan, random.normal(size=(8, 60))),
}
FILTERS, SIGNALS, NODES = ("lowpass", "gmrf", "heat"), (10, 50), 60


def huge(X: np.ndarray) -> np.ndarray:
    """Return signals with one cell far above all others."""
    X[0, 0] = 1e6
    return X


def found(X, seed: int, questions=None) -> bool:
    """Return whether the check finds something."""
    return check_network(X, questions=questions, n_permutations=PERMUTATIONS, random_state=seed).found


def shuffled(table: pd.DataFrame, questions: list[str], random: np.random.Generator) -> pd.DataFrame:
    """Return a table with the whole answers to each question shuffled among all nodes."""
    values = table.to_numpy(float).copy()
    owners = np.array(questions, dtype=object)
    for question in dict.fromkeys(questions):
        rows = np.flatnonzero(owners == question)
        values[rows] = values[np.ix_(rows, random.permutation(values.shape[1]))]
    return pd.DataFrame(values, table.index, table.columns)


def real_tables() -> dict[str, tuple[pd.DataFrame, list[str] | None]]:
    """Return the real tables of at most 60 signals by name, with the question of every signal."""
    tables = {}
    for folder in sorted(recovery_home().iterdir()):
        if not (folder / "signals.csv").is_file():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                study = read_study(folder / "signals.csv", gaps="pairwise")
            except InputError:  # a file that asks for a decision before it can be read
                continue
        if study.signals.shape[1] <= 400 and len(study.signals) <= 60:
            tables[folder.name] = study.signals, [study.questions[name] for name in study.signals.index]
    for number, village in list(villages().items())[::5]:
        assert village.signals is not None
        owners = [str(name).rpartition("=")[0] or str(name).rstrip("0123456789") for name in village.signals.index]
        tables[f"village {number}"] = village.signals, owners
    return tables


def main() -> None:
    """Run all, and write the page."""
    report = Report("Is there a network in these answers? Size and power of the check", "python -m benchmarks.check")
    report.say(
        f"Level 5%, {PERMUTATIONS} shuffles of each column. A share is that of tables in which something is found."
    )
    report.section("Size: tables without structure")
    rows, total = [], []
    for name, make in NULLS.items():
        hits = [found(make(np.random.default_rng([5, k])), k) for k in range(NULL_DRAWS)]
        total += hits
        rows.append([name, str(len(hits)), f"{np.mean(hits):.1%}"])
    report.table(["table", "draws", "found"], rows)
    tables = real_tables()
    again = [
        found(shuffled(table, questions, np.random.default_rng([6, k])), k, questions)
        for table, questions in tables.values()
        for k in range(SHUFFLES)
    ]
    report.say(
        f"{len(tables)} real tables of at most 60 signals, answers to each question shuffled, {SHUFFLES} times each: "
        f"found in {np.mean(again):.1%}. Over all {len(total) + len(again)} tables without structure: nothing found in "
        f"{1 - np.mean(total + again):.1%}."
    )
    report.section(f"Power: signals of the recovery problems, {NODES} nodes, {DRAWS} draws")
    rows = []
    for kind in NETWORKS:
        cells = [kind]
        for filter, signals in product(FILTERS, SIGNALS):
            graphs = [NETWORKS[kind](NODES, seed) for seed in range(DRAWS)]
            hits = [found(noisy_signals(graph, signals, filter, seed), seed) for seed, graph in enumerate(graphs)]
            cells.append(f"{np.mean(hits):.0%}")
        rows.append(cells)
    report.table(["network", *(f"{filter}, M = {signals}" for filter, signals in product(FILTERS, SIGNALS))], rows)
    seen = {name: found(table, 0, questions) for name, (table, questions) in tables.items()}
    missed = ", ".join(name for name, hit in seen.items() if not hit)
    report.say(f"Real tables: something found in {sum(seen.values())} of {len(seen)}; nothing in {missed or 'none'}.")
    report.write(Path(__file__).with_name("CHECK.md"))


if __name__ == "__main__":
    main()
