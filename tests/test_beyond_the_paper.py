"""The three experiments in benchmarks/ that are not in the paper."""

from __future__ import annotations

import os
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from benchmarks import beyond, conjecture, diffusion
from benchmarks.experiment import page_of
from reproduce.fig1 import GLGP_NAMES
from reproduce.reproduction import read_trials, run_trials, section

from nashgraph.datasets import load_karate
from reproduce import Experiment, Study, table1

HERE = Path(beyond.__file__).parent
with_data = pytest.mark.skipif(
    not os.environ.get("NASHGRAPH_DATA"), reason="the real data are not here: set NASHGRAPH_DATA to their folder"
)


def holds(study: Study, words: str) -> bool:
    [check] = [check for check in study.checks if words in check.claim]
    return check.holds


@pytest.mark.parametrize("experiment", [beyond.BEYOND, diffusion.DIFFUSION, conjecture.CONJECTURE])
def test_what_the_repository_keeps_follows_from_its_csv(experiment: Experiment):
    text = section(experiment, experiment.study(read_trials(experiment, HERE)))
    assert (HERE / page_of(experiment)).read_text(encoding="utf-8") == text
    assert (HERE / f"{experiment.name}.svg").exists()
    assert 0 < len(experiment.trials(True)) < len(experiment.trials(False))


# ------------------------------------------------------------------------------------------ Conjecture (C)


def test_swaps_keep_degrees_and_move_ties():
    edges = table1.edge_array(load_karate().graph)
    new = conjecture.swapped(edges, 0.5, np.random.default_rng(0))
    assert np.array_equal(np.bincount(new.ravel()), np.bincount(edges.ravel()))
    old, fresh = {tuple(edge) for edge in edges}, {tuple(map(int, edge)) for edge in new}
    assert len(fresh) == len(old)
    assert 20 < len(fresh - old) <= 40


def test_values_of_a_cycle_have_closed_forms():
    edges = np.array([[0, 1], [1, 2], [2, 3], [0, 3]])
    weight, found = conjecture.SCALE / np.sqrt(8), conjecture.values(edges, 4)
    assert found["welfare"] == pytest.approx(4 / (1 - 2 * weight) - 4)
    path = np.linalg.solve(np.eye(3) - weight * np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.ones(3)).sum()
    assert found["welfare after an attack"] == pytest.approx(path - 3)
    y = np.roots([2 * weight * 2, 1 + 0.02 - 2 * weight * 2, -0.02]).max()  # y (1 + 2 z) = 2 z, z = 0.01 + 2 w y
    assert found["epidemic"] == pytest.approx(4 * (y - 0.02 / 1.02), rel=1e-6)


def test_hubs_explain_what_rewiring_costs(monkeypatch):
    star = nx.compose(nx.star_graph(20), nx.path_graph(21))
    drawn = {"star": lambda: star}, {f"draw {k}": lambda k=k: nx.gnm_random_graph(30, 60, seed=k) for k in range(5)}
    monkeypatch.setattr(conjecture, "networks", lambda: {"hubs": drawn[0], conjecture.CONTROL: drawn[1]})
    found = [row for trial in conjecture.trials(quick=False) for row in conjecture.measure(**trial, seed=0)]
    study = conjecture.study(pd.DataFrame(found))
    assert holds(study, "welfare: most true networks are clearly higher than rewired ones (random)")
    assert not holds(study, "welfare: most true networks are clearly higher than rewired ones (degrees kept)")
    assert holds(study, "random networks, the control, are neither higher nor lower (random)")
    conjecture.draw(pd.DataFrame(found))


# ------------------------------------------------------------------------------------------ beyond the paper's settings


def test_beyond_chooses_on_the_tuning_villages_alone():
    rows = [
        {"village": v, "tuning": v == 1, "interaction": game, "beta": beta, "lam": beta, "control": 0.7,
         "auc": 0.6 + (0.1 if (beta == 1.0) == (v == 1) else 0.0), "auc_symmetric": 0.75, "stationarity": 0.0}
        for v in (1, 10) for game in GLGP_NAMES for beta in (1.0, 10.0)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    assert beyond.chosen(frame, "linear") == (1.0, 1.0)
    study = beyond.study(frame)
    assert holds(study, "GLGP f(x)=x: above Table 2's best")
    assert not holds(study, "GLGP f(x)=x: above the control as it is")
    assert any("on the border of the grid" in note and "0.1000 lower" in note for note in study.notes)


# ------------------------------------------------------------------------------------------ acting on a learned network


def fake_diffusion(**values: float) -> pd.DataFrame:
    """A table of three networks of each kind with given reaches of every way of choosing."""
    reached = {diffusion.TRUE: 0.8, diffusion.RANDOM: 0.4, diffusion.LEADERS: 0.5, diffusion.SURVEYED: 0.6}
    reached |= {diffusion.LEARNED: values["learned"], diffusion.TOLD: values["told"]}
    return pd.DataFrame(
        [
            {"networks": networks, "draw": draw, "rounds": rounds, "strategy": strategy, "overlap": None,
             "value": value + 0.01 * draw * (strategy != diffusion.RANDOM)}
            for networks in (diffusion.VILLAGES, *diffusion.KINDS) for rounds in (*diffusion.ROUNDS, 0)
            for draw in range(3) for strategy, value in reached.items()
            if rounds or networks != diffusion.VILLAGES
        ]
    )  # fmt: skip


def test_the_share_of_the_possible_gain_is_between_random_and_the_truth():
    shares = diffusion.gains(fake_diffusion(learned=0.5, told=0.6), diffusion.VILLAGES, 3)
    assert (shares[diffusion.TRUE] == 1).all()
    assert (shares[diffusion.RANDOM] == 0).all()
    assert shares.loc[0, diffusion.LEARNED] == pytest.approx(0.25)


def test_a_network_that_only_knows_who_was_surveyed_is_not_above_that_control():
    study = diffusion.study(fake_diffusion(learned=0.45, told=0.6))
    assert holds(study, "T = 3: learned network, told hhSurveyed above random")
    assert not holds(study, "T = 3: learned network, told hhSurveyed above control")
    assert not holds(study, "villages, T = 6: learned network above leaders")
    assert holds(
        diffusion.study(fake_diffusion(learned=0.45, told=0.7)), "T = 6: learned network, told hhSurveyed above c"
    )


def test_one_network_is_no_evidence():
    frame = fake_diffusion(learned=0.7, told=0.7)
    study = diffusion.study(frame[frame["draw"] == 0])
    assert not any(check.holds for check in study.checks)
    assert "one network" in study.checks[0].detail


def test_seeds_and_key_players_of_a_drawn_network_are_judged_on_the_true_one():
    frame = pd.DataFrame(diffusion.measure(0, kind="preferential attachment"))
    best = frame.loc[frame.groupby("rounds")["value"].idxmax(), "strategy"]
    assert frame["value"].between(0, 1).all()
    assert (best != diffusion.RANDOM).all()
    shares = diffusion.gains(frame, "preferential attachment", 0)
    assert shares[diffusion.LEARNED].item() > 0.3
    assert frame.loc[(frame["rounds"] == 0) & (frame["strategy"] == diffusion.LEARNED), "overlap"].item() > 0.2


def test_a_pool_that_is_too_small_is_filled_up():
    drawn = diffusion.drawn_from(np.array([3, 4]), 4, 6, np.random.default_rng(0))
    assert {3, 4} < set(drawn)
    assert len(set(drawn)) == 4


@with_data
def test_a_village_is_seeded_in_every_way(tmp_path):
    frame = run_trials("diffusion", diffusion.measure, [{"village": 10, "seed": 0}], tmp_path)
    shares = diffusion.gains(frame, diffusion.VILLAGES, 6)
    assert {diffusion.LEADERS, diffusion.SURVEYED, diffusion.LEARNED, diffusion.TOLD} < set(shares.columns)
    assert 0.2 < shares[diffusion.SURVEYED].item() < 0.8
