"""``python -m benchmarks.diffusion``: seeds and key players chosen on a learned network, judged on the true one.

Villages: news start at five percent of the households, and whoever knows tells each neighbour with probability q in
each of T rounds (Banerjee, Chandrasekhar, Duflo, Jackson 2013); q is 1 over the largest eigenvalue of the network, T
is 3 or 6. Seeds are chosen on the true network, on one learned from the sixteen answers of the survey (the consensus
at its defaults, signals standardised, with and without b = hhSurveyed + 1), or without any network: at random, among
those that the survey calls leaders, among those surveyed. Networks drawn at random: seeds likewise, and the five whose
leaving costs the welfare most.

The measure is the share of the possible gain, (learned - random) / (true - random). Writes DIFFUSION.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from reproduce.study import COLOURS, Check, Experiment, Row, Study, mean_and_error, new_figure, where
from reproduce.villages import ALL_VILLAGES, QUICK_VILLAGES, C, prepare, village_problem

from nashgraph.datasets import (
    load_villages,
    preferential_attachment,
    small_world,
    smooth_signals,
    stochastic_block_model,
)
from nashgraph.estimators import ConsensusGL
from nashgraph.graph import adjacency_matrix
from nashgraph.interventions import Game, best_seeds, diffusion_centrality, key_group, key_players
from nashgraph.interventions.positions import largest_eigenvalue
from nashgraph.interventions.seeds import draw_sets
from nashgraph.metrics import equal_influence
from nashgraph.validation import Array

from .experiment import run

SHARE, ROUNDS = 0.05, (3, 6)
RANDOM_SETS, SAMPLES = 100, 10_000
KINDS = {
    "preferential attachment": lambda seed: preferential_attachment(100, 2, random_state=seed),
    "small world": lambda seed: small_world(100, 6, random_state=seed),
    "communities": lambda seed: stochastic_block_model(100, random_state=seed),
}
SIGNALS, DRAWS, GROUP = 50, 20, 5
TRUE, RANDOM, LEADERS, SURVEYED = "true network", "random", "leaders", "control: hhSurveyed"
LEARNED, TOLD = "learned network", "learned network, told hhSurveyed"
BY_INFLUENCE, BY_CENTRALITY = ", by influence", ", by diffusion centrality"
VILLAGES, KEY_PLAYERS = "villages", "key players"


def trials(quick: bool) -> list[Row]:
    """Return all villages and the draws of networks."""
    villages = [{"village": village} for village in (QUICK_VILLAGES if quick else ALL_VILLAGES)]
    return villages + [{"kind": kind, "draw": draw} for kind in KINDS for draw in range(1 if quick else DRAWS)]


def measure(seed: int, village: int = 0, kind: str = "", draw: int = 0) -> list[Row]:
    """Return how many each way of choosing reaches, in one village or on one draw."""
    if not kind:
        return measure_village(village, seed)
    of_graph, of_signals, of_choice = np.random.SeedSequence([seed, list(KINDS).index(kind), draw]).generate_state(3)
    graph = KINDS[kind](int(of_graph))
    signals = smooth_signals(graph, SIGNALS, "gmrf", noise=0.1, random_state=int(of_signals))
    model, truth = ConsensusGL(random_state=draw).fit(signals), adjacency_matrix(graph)
    pools = {RANDOM: np.arange(len(graph))}
    rows = list(seed_rows(truth, {LEARNED: model}, pools, int(of_choice)))
    rows += leaving_rows(equal_influence(truth, C), model, int(of_choice))
    return [{"networks": kind, "draw": draw, **row} for row in rows]


def measure_village(village: int, seed: int) -> list[Row]:
    """Return how many households of a village each way of choosing reaches."""
    X, benefit, surveyed, truth = village_problem(village)
    leader = load_villages([village])[village].attributes["leader"].to_numpy()
    models = {
        LEARNED: ConsensusGL(scale="standard", random_state=0).fit(X),
        TOLD: ConsensusGL(benefit=benefit, scale="standard", random_state=0).fit(X),
    }
    pools = {
        RANDOM: np.arange(len(leader)),
        LEADERS: np.flatnonzero(leader == 1),
        SURVEYED: np.flatnonzero(surveyed == 1),
    }
    rows = seed_rows(truth, models, pools, int(np.random.SeedSequence([seed, village]).generate_state(1)[0]))
    return [{"networks": VILLAGES, "draw": village, **row} for row in rows]


def seed_rows(truth: Any, models: dict[str, Any], pools: dict[str, Array], seed: int) -> Iterator[Row]:
    """Return the share of the true network that each choice of seeds reaches; all are scored on the same draws."""
    n = truth.shape[0]
    count, passing = max(1, round(SHARE * n)), 1.0 / largest_eigenvalue(truth)
    random = np.random.default_rng([seed, 1])  # not the draws that best_seeds uses, which would favour it
    for rounds in ROUNDS:
        judge = draw_sets(truth, SAMPLES, random, scale=passing, rounds=rounds)

        def row(strategy: str, seeds: Array, judge: Any = judge, rounds: int = rounds) -> Row:
            reached = np.mean([judge.gains(each).sum() for each in np.atleast_2d(seeds)]) / n
            return {"nodes": n, "chosen": count, "rounds": rounds, "strategy": strategy, "value": float(reached)}

        yield row(TRUE, numbers(best_seeds(truth, count, scale=passing, rounds=rounds, random_state=seed)))
        for name, model in models.items():
            weights = model.graph_.weights  # without names: seeds by number
            scale = 1.0 / largest_eigenvalue(weights)
            yield row(name, numbers(best_seeds(weights, count, scale=scale, rounds=rounds, random_state=seed)))
            yield row(name + BY_INFLUENCE, numbers(best_seeds(weights, count, score=weights.sum(axis=0))))
            central = best_seeds(weights, count, score=diffusion_centrality(weights, rounds=rounds))
            yield row(name + BY_CENTRALITY, numbers(central))
        for name, pool in pools.items():
            yield row(name, np.stack([drawn_from(pool, count, n, random) for _ in range(RANDOM_SETS)]))


def numbers(table: pd.DataFrame) -> Array:
    """Return the nodes of a table on a graph without names."""
    return table["name"].to_numpy(dtype=np.int64)


def drawn_from(pool: Array, count: int, n_nodes: int, random: np.random.Generator) -> Array:
    """Draw some of a pool, and some of the others if the pool is too small."""
    others = random.permutation(np.setdiff1d(np.arange(n_nodes), pool))
    return np.concatenate([random.permutation(pool), others])[:count]


def leaving_rows(truth: Any, model: ConsensusGL, seed: int) -> list[Row]:
    """Return the share of the true welfare that is lost without the key players of each choice.

    Benefits are 1 for everybody on both networks, so that a learned one adds only its ties. ``overlap`` is the share
    of the five that cost most one by one that are also those of the learned network.
    """
    learned, game = model.graph_.weights, Game.on(truth, np.ones(truth.shape[0]))
    n, random = game.n_nodes, np.random.default_rng(seed)
    everyone = np.ones(n)

    def loss(group: Array) -> float:
        return 1.0 - game.without(group).value / game.value

    top = [set(key_players(weights, everyone)["name"][:GROUP]) for weights in (truth, learned)]
    by_chance = [loss(random.permutation(n)[:GROUP]) for _ in range(RANDOM_SETS)]
    values = {
        TRUE: loss(numbers(key_group(truth, GROUP, everyone))),
        LEARNED: loss(numbers(key_group(learned, GROUP, everyone))),
        LEARNED + BY_INFLUENCE: loss(numbers(best_seeds(learned, GROUP, score=learned.sum(axis=0)))),
        RANDOM: float(np.mean(by_chance)),
    }
    overlaps = {LEARNED: len(top[0] & top[1]) / GROUP, RANDOM: GROUP / n, TRUE: 1.0}
    shared = {"nodes": n, "chosen": GROUP, "rounds": 0}
    return [
        {**shared, "strategy": name, "value": value, "overlap": overlaps.get(name)} for name, value in values.items()
    ]


def gains(frame: pd.DataFrame, networks: str, rounds: int) -> pd.DataFrame:
    """Return the share of the possible gain, a row for each network and a column for each way of choosing."""
    wide = where(frame, networks=networks, rounds=rounds).pivot(index="draw", columns="strategy", values="value")
    return wide.sub(wide[RANDOM], axis=0).div(wide[TRUE] - wide[RANDOM], axis=0)


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table: the nodes reached or welfare lost, and its share of the possible gain, with standard errors."""
    lines = []
    for networks, rounds in frame[["networks", "rounds"]].drop_duplicates().itertuples(index=False):
        rows = where(frame, networks=networks, rounds=rounds)
        what = f"{networks}, {KEY_PLAYERS}" if rounds == 0 else f"{networks}, seeds, T = {rounds}"
        shares = gains(frame, networks, rounds)
        for strategy in dict.fromkeys(rows["strategy"]):
            found = where(rows, strategy=strategy)
            value, error = mean_and_error(found["value"])
            share, share_error = mean_and_error(shares[strategy])
            overlap = found["overlap"].mean() if "overlap" in found else None
            lines.append(
                (what, strategy, value, error, share, share_error, None if pd.isna(overlap) else float(overlap))
            )
    headings = ("networks", "chosen by", "reached or lost", "±", "share of the possible gain", "± ", "overlap")
    return pd.DataFrame(lines, columns=list(headings))


def check_above(frame: pd.DataFrame, claim: str, networks: str, rounds: int, strategy: str, other: str) -> Check:
    """Return the check that a choice gains more than another, by more than two standard errors of the difference."""
    shares = gains(frame, networks, rounds)
    mean, error = mean_and_error(shares[strategy] - shares[other])
    if error is None:
        return Check(claim, False, f"{mean:+.3f} of the possible gain on one network, which says nothing of others")
    detail = f"{mean:+.3f} ± {error:.3f} of the possible gain, {len(shares)} networks"
    return Check(claim, mean > 2.0 * error, detail)


def study(frame: pd.DataFrame) -> Study:
    """State the share of the possible gain from a learned network, and whether controls get less."""
    pairs = ((LEARNED, RANDOM), (LEARNED, LEADERS), (TOLD, RANDOM), (TOLD, LEADERS), (TOLD, SURVEYED))
    checks = [
        check_above(frame, f"villages, T = {rounds}: {ours} above {other}", VILLAGES, rounds, ours, other)
        for rounds in ROUNDS
        for ours, other in pairs
    ]
    for kind in KINDS:
        for rounds in (*ROUNDS, 0):
            what = f"seeds, T = {rounds}" if rounds else KEY_PLAYERS
            checks.append(
                check_above(frame, f"{kind}, {what}: {LEARNED} above {RANDOM}", kind, rounds, LEARNED, RANDOM)
            )
    return Study([], checks, notes(frame), table=summary(frame))


def notes(frame: pd.DataFrame) -> list[str]:
    """Return the remarks for readers."""
    many, draws = (where(frame, networks=networks)["draw"].nunique() for networks in (VILLAGES, next(iter(KINDS))))
    return [
        f"{many} villages, seeds at {SHARE:.0%} of the households; {draws} draws of each kind of network, 100 nodes, "
        f"{SIGNALS} signals of a Gaussian Markov random field with noise 0.1. A claim holds if the mean difference is "
        "more than two standard errors. Regret is 1 minus the share of the possible gain.",
        "Households that were not surveyed have no ties to each other in the data, so that seeds among the surveyed "
        "reach more of it, whatever the village is like: what a network that was told hhSurveyed gains is to be read "
        "against that control.",
        "Drawn networks make their own signals, as the methods assume; the answers of a survey no network has made.",
        "The greedy choice on the network is what was planned to be judged; the other two ways of choosing are shown "
        "for comparison.",
        "Printed by `python -m benchmarks.diffusion`.",
    ]


def draw(frame: pd.DataFrame) -> Any:
    """Draw the share of the possible gain in every village and on every draw."""
    figure, axes = new_figure(width=10.0, height=4.8)
    shown = [(VILLAGES, ROUNDS[-1], name) for name in (LEARNED, TOLD, LEADERS, SURVEYED)]
    shown += [(kind, rounds, LEARNED) for kind in KINDS for rounds in (ROUNDS[-1], 0)]
    for k, (networks, rounds, strategy) in enumerate(shown):
        values, colour = gains(frame, networks, rounds)[strategy].to_numpy(), COLOURS[0 if networks == VILLAGES else 2]
        axes.plot([k] * len(values), values, "o", color=colour, alpha=0.3, markersize=4)
        axes.plot([k - 0.2, k + 0.2], [values.mean()] * 2, color=colour, linewidth=2.5)
    names = [
        f"{networks}:\n{strategy}" if rounds else f"{networks}:\n{KEY_PLAYERS}" for networks, rounds, strategy in shown
    ]
    axes.set_xticks(range(len(shown)), [name.replace(" ", "\n") for name in names], fontsize=7)
    axes.axhline(0.0, color="gray", linestyle=":")
    axes.axhline(1.0, color="gray", linestyle=":")
    axes.set(
        ylabel="share of the possible gain", title="0: at random; 1: on the true network; points: networks, bar: mean"
    )
    return figure


DIFFUSION = Experiment(
    "diffusion", "Acting on a learned network: seeds and key players", trials, measure, study, draw, prepare=prepare
)

if __name__ == "__main__":
    run("diffusion")
