"""make recovery: a small grid through the real code, ranks on a frame made by hand, controls as documented."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from benchmarks import recovery_problems, recovery_report
from benchmarks.recovery_problems import (
    DISCRETE,
    FIGURE,
    MANY,
    QUICK,
    REAL,
    SHORT,
    SIMULATED,
    SYNTHETIC,
    Grid,
    Problem,
    Setting,
    has_slow_methods,
    settings,
)
from benchmarks.recovery_report import CONSENSUS, PROBLEM
from benchmarks.recovery_trials import CONTROLS, chosen, scores, trial
from scipy import sparse

from nashgraph import spectral_benefit
from nashgraph.estimators import METHODS

NODES = 20


@pytest.fixture(scope="module")
def rows():
    """Every group once, through the code that make recovery runs, without the slow methods."""
    given = [
        Setting(SYNTHETIC, "tree", "", "lowpass", NODES, 10),
        Setting(SYNTHETIC, "geometric", "", "gmrf", NODES, 10),
        Setting(SIMULATED, "karate", "", "heat", 0, 10),
        Setting(FIGURE, FIGURE),
        Setting(DISCRETE, "tree", "", "heat", NODES, 10),
        Setting(MANY, "tree", "", "gmrf", NODES, 3000),
    ]
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in (("spectemp", 0), ("glasso", 0), ("modular", NODES)):
            patch.setattr(METHODS[name], "quick_up_to", limit)
        patch.setattr("benchmarks.recovery_trials.warm_up", lambda slow: None)
        return pd.DataFrame([row for setting in given for row in trial(setting)])


def by_hand(*scored: tuple[int, str, float]) -> pd.DataFrame:
    rows = [
        {**dict.fromkeys(PROBLEM, ""), "group": SYNTHETIC, "seed": seed, "method": method}
        | dict.fromkeys(["ap", "auc", "precision", "gmse", "seconds"], score)
        for seed, method, score in scored
    ]
    return pd.DataFrame(rows)


def test_every_method_and_control_has_a_row_with_scores(rows):
    small = rows[rows["source"] == "tree"]
    assert set(small["method"]) == {*METHODS, *CONTROLS} - {"spectemp", "glasso"}
    assert set(rows.loc[rows["source"] == "karate", "method"]) == set(small["method"]) - {"modular"}
    assert (rows["error"] == "").all()
    assert rows[["auc", "ap", "precision"]].ge(0).all(axis=None)
    assert rows[["auc", "ap", "precision"]].le(1).all(axis=None)
    assert rows.loc[rows["source"] == "karate", "nodes"].eq(34).all()
    assert rows["auc_ordered"].notna().equals(rows["group"] == FIGURE)


def test_the_report_is_made_from_the_rows_and_says_what_is_missing(rows, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("NASHGRAPH_DATA", raising=False)
    recovery_report.write_report(rows, list(CONTROLS), tmp_path / "RECOVERY.md")
    capsys.readouterr()
    text = (tmp_path / "RECOVERY.md").read_text()
    assert "NASHGRAPH_DATA is not set" in text
    assert "(a) the consensus is first in mean rank by AP, real networks | not measured | not measured |" in text
    auc = rows.loc[(rows["group"] == FIGURE) & (rows["method"] == CONSENSUS), "auc"].mean()
    assert f"at least 0.96 | {auc:.4f}" in text
    assert text.index("## By family") < text.index("## Must show")


def test_without_data_there_are_no_real_networks_and_seeds_count_from_zero(monkeypatch):
    monkeypatch.delenv("NASHGRAPH_DATA", raising=False)
    asked = recovery_problems.settings(Grid())
    assert {setting.group for setting in asked} == {SYNTHETIC, SIMULATED, FIGURE, DISCRETE, MANY}
    assert len([setting for setting in asked if setting.group == SYNTHETIC]) == 6 * 4 * 2 * 2 * Grid().seeds
    assert len(set(asked)) == len(asked)
    assert max(setting.seed for setting in asked) < 1000


def test_a_folder_of_signals_and_truth_is_a_real_network(tmp_path, monkeypatch):
    folder = tmp_path / "recovery" / "club_1"
    folder.mkdir(parents=True)
    (folder / "signals.csv").write_text("id,age,side,same\na,30,n,1\nb,,n,1\nc,50,s,1\nd,40,s,1\n")
    (folder / "truth.csv").write_text("source,target\na,b\nb,a\nd,c\n")
    monkeypatch.setenv("NASHGRAPH_DATA", str(tmp_path))
    monkeypatch.setattr(recovery_problems, "villages", dict)
    [setting] = recovery_problems.real_networks(Grid())
    assert setting == Setting(REAL, "club", "club_1")
    problem = recovery_problems.draw(setting)
    np.testing.assert_allclose(problem.X.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(problem.X.std(axis=1), 1)
    assert len(problem.X) == 3  # age and the two sides; a constant trait is left out
    assert sorted(map(sorted, problem.truth.edges())) == [["a", "b"], ["c", "d"]]


def test_problems_are_the_same_every_time_and_noise_follows_the_spread():
    setting = Setting(SYNTHETIC, "preferential 3", "", "lowpass", NODES, 10, 3)
    one, two = recovery_problems.draw(setting), recovery_problems.draw(setting)
    np.testing.assert_array_equal(one.X, two.X)
    assert set(one.truth.edges()) == set(two.truth.edges())
    loud, soft = (recovery_problems.noisy_signals(nx.empty_graph(2000), 5, f, 0) for f in ("heat", "tikhonov"))
    np.testing.assert_allclose([loud.std(), soft.std()], np.sqrt(1 + recovery_problems.NOISE**2), rtol=0.02)


def test_ranks_are_of_average_precision_with_ties_averaged():
    frame = by_hand((0, "a", 0.9), (0, "b", 0.5), (0, "c", 0.5), (1, "a", 0.1), (1, "b", 0.2), (1, "c", 0.3))
    board = recovery_report.leaderboard(frame)
    assert board["rank"].to_dict() == {"c": 1.75, "a": 2.0, "b": 2.25}
    assert board["ap"].to_dict() == pytest.approx({"c": 0.4, "a": 0.5, "b": 0.35})


def test_a_method_left_out_somewhere_is_ranked_only_where_all_ran():
    frame = by_hand((0, CONSENSUS, 0.6), (0, "cosine", 0.5), (0, "slow", 0.9), (1, CONSENSUS, 0.6), (1, "cosine", 0.5))
    assert set(recovery_report.complete(frame)["method"]) == {CONSENSUS, "cosine"}
    assert set(recovery_report.common(frame)["seed"]) == {0}
    ours, all_ran = (
        recovery_report.first("", part, ["cosine"])
        for part in (recovery_report.complete(frame), recovery_report.common(frame))
    )
    assert ours.holds
    assert "next: cosine (control) 2.00" in ours.found
    assert not all_ran.holds
    assert "above it: slow 1.00" in all_ran.found


def test_a_tie_for_the_first_place_is_not_first():
    frame = by_hand((0, CONSENSUS, 0.5), (0, "cosine", 0.5))
    assert not recovery_report.first("", frame, ["cosine"]).holds


def test_networks_of_one_population_are_averaged_before_they_are_ranked():
    frame = by_hand((0, "a", 0.9), (0, "b", 0.5), (1, "a", 0.1), (1, "b", 0.3), (2, "a", 0.2), (2, "b", 0.3))
    frame["group"], frame["source"] = REAL, np.where(frame["seed"] < 2, "one", "other")
    assert recovery_report.leaderboard(frame)["rank"].to_dict() == {"a": 1.5, "b": 1.5}


def test_what_was_tuned_on_is_not_reported():
    assert recovery_problems.population("physicians_peoria_advice") == recovery_problems.population("medinn_peoria")
    assert recovery_problems.population("schoolA") == recovery_problems.population("classA_15")
    assert {recovery_problems.population("korea_01"), "brazil_10"} < recovery_problems.TUNED
    assert "brazil" not in recovery_problems.TUNED


def test_discretised_signals_have_five_values_as_common_as_each_other():
    X = recovery_problems.draw(Setting(DISCRETE, "tree", "", "heat", 60, 10)).X
    assert {tuple(np.unique(row, return_counts=True)[1]) for row in X} == {(12,) * 5}


def test_where_the_consensus_loses_is_said_with_the_winner():
    frame = by_hand((0, CONSENSUS, 0.6), (0, "a", 0.5), (1, CONSENSUS, 0.3), (1, "a", 0.4), (1, "b", 0.45))
    frame["source"] = np.where(frame["seed"] == 0, "won", "lost")
    [row] = recovery_report.losses(frame).itertuples()
    assert (row.Index, row.to) == ("lost", "b")
    assert row.gap == pytest.approx(0.15)


@pytest.fixture
def problem(signals):
    return Problem(signals, nx.path_graph(signals.shape[1]))


def control(name, problem):
    made = CONTROLS[name](problem, np.random.default_rng(0))
    return made[np.triu_indices_from(made, 1)]


def test_controls_are_what_they_say(problem):
    X = problem.X
    i, j = np.triu_indices(X.shape[1], 1)
    length = np.linalg.norm(X, axis=0)
    products = np.array([X[:, a] @ X[:, b] for a, b in zip(i, j, strict=True)])
    distances = np.array([np.sum((X[:, a] - X[:, b]) ** 2) for a, b in zip(i, j, strict=True)])
    np.testing.assert_allclose(control("inner product", problem), products / len(X))
    np.testing.assert_allclose(control("cosine", problem), products / (length[i] * length[j]))
    np.testing.assert_allclose(control("correlation", problem), np.corrcoef(X.T)[i, j])
    order = np.argsort(control("negative distance", problem))
    np.testing.assert_array_equal(order, np.argsort(-distances))
    benefit = spectral_benefit(X)
    np.testing.assert_array_equal(control("benefit alone", problem), benefit[i] + benefit[j])
    many = Problem(np.random.default_rng(0).normal(size=(90, 6)), None)
    inverse = -np.linalg.inv(np.cov(many.X.T))[np.triu_indices(6, 1)]
    np.testing.assert_allclose(control("inverse covariance", many), inverse - np.median(inverse), atol=1e-5)
    likeness = {"negative distance", "cosine", "correlation", "inner product", "inverse covariance"}
    assert set(CONTROLS) == likeness | {"benefit alone", "random"}


def test_a_node_without_a_signal_is_like_nobody(problem):
    silent = problem._replace(X=problem.X * (np.arange(problem.X.shape[1]) > 0))
    assert (CONTROLS["cosine"](silent, np.random.default_rng(0))[0] == 0).all()


def test_scores_are_of_symmetrised_weights_and_sparse_graphs_fill_up_with_zeros():
    path = nx.to_numpy_array(nx.path_graph(4))
    truth = sparse.csr_array(path)
    assert scores(np.triu(path), truth) == {"auc": 1.0, "ap": 1.0, "precision": 1.0, "gmse": 0.0}
    assert scores(-7.0 + path, truth)["precision"] == 1.0
    one = np.zeros((4, 4))
    one[0, 1] = 1.0
    assert scores(one, truth)["precision"] == pytest.approx((1 + 2 * 2 / 5) / 3)
    noise = path + 1e-15 * np.random.default_rng(0).random((4, 4))
    assert scores(np.zeros((4, 4)), truth)["auc"] == scores(1.0 + 0 * noise, truth)["auc"] == 0.5


def test_a_short_run_has_every_method_on_some_problems_of_every_group():
    asked = [each for each in settings(SHORT) if each.group != REAL]
    slow = {(each.group, each.source) for number, each in enumerate(asked) if has_slow_methods(SHORT, number, each)}
    assert slow == {(each.group, each.source) for each in asked}
    assert not any(has_slow_methods(QUICK, number, each) for number, each in enumerate(asked))


def test_slow_methods_are_left_out_above_their_size():
    assert set(chosen(10, slow=True)) == set(METHODS)
    assert "glasso" not in chosen(1000, slow=True)
    assert {CONSENSUS, "smooth", "glgp"} <= set(chosen(1000, slow=True))
    assert "glasso" not in chosen(10, slow=False)
