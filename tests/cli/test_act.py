"""Interventions on the command line: the library's tables, in files and in words."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import ConsensusGL, best_support, key_players, what_if
from nashgraph.datasets import smooth_signals

from ..commands import error_lines, run

FILES = ["group.csv", "players.csv", "support.csv", "ties_to_build.csv", "ties_to_watch.csv"]


@pytest.fixture(scope="module")
def club(tmp_path_factory):
    """A folder with a table of 34 people and a consensus learned from it; names are numbers with zeros before."""
    folder = tmp_path_factory.mktemp("club")
    signals = smooth_signals(nx.karate_club_graph(), 30, "heat", random_state=0)
    table = pd.DataFrame(signals.T, columns=[f"q{k}" for k in range(30)])
    table.insert(0, "name", [f"{node:03d}" for node in range(34)])
    table.to_csv(folder / "club.csv", index=False)
    assert (
        run(
            "learn", folder / "club.csv", "--set", "standardize=no", "--set", "n_replicates=8", "--out", folder / "out"
        ).exit_code
        == 0
    )
    return folder


@pytest.fixture(scope="module")
def model(club):
    table = pd.read_csv(club / "club.csv", dtype={"name": str}).set_index("name")
    return ConsensusGL(n_replicates=8, random_state=0).fit(table.T)


def csv(folder, name):
    return pd.read_csv(folder / name, dtype={"name": str, "source": str, "target": str})


def files(folder):
    return [name for name in sorted(file.name for file in folder.iterdir()) if name not in ("roles.csv", "seeds.csv")]


def test_a_folder_gets_the_librarys_answers_with_intervals(club, model):
    result = run("act", club / "out", "--budget", "4", "--best", "3")
    assert result.exit_code == 0, result.output
    assert files(club / "out" / "act") == FILES
    written, expected = csv(club / "out" / "act", "players.csv"), key_players(model, best=3)
    assert written.columns.tolist() == expected.columns.tolist()
    assert written.name[:3].tolist() == expected.name[:3].tolist()
    for column in ("loss", "share", "times_typical", "action", "influence"):  # the file has seven digits
        np.testing.assert_allclose(written[column], expected[column], rtol=1e-5)
    np.testing.assert_allclose(written[["low", "high"]][:5], expected[["low", "high"]][:5], rtol=2e-3)
    support = best_support(model, 4, best=3)
    assert csv(club / "out" / "act", "support.csv").support.sum() == pytest.approx(support.support.sum(), rel=1e-4)
    for word in (
        "Key players",
        "without the median node by",
        "come from a model",
        "interval",
        "8 replicates",
        "The same budget gains",
        "Ties to watch",
        "seeds drawn at random reach as many",
        "Of these 3",
    ):
        assert word in " ".join(result.stdout.split())
    assert "\\n" not in result.stdout


def test_what_if_some_leave_or_get_other_benefits(club, model):
    (club / "new.csv").write_text("name,benefit\n033,0.5\n007,0\n")
    out = club / "what-if"
    given = ("--without", "000,001", "--without", "002", "--benefit", club / "new.csv", "--cap-influence", "1.5")
    result = run("act", club / "out", *given, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    expected = what_if(model, without=["000", "001", "002"], new_benefit={"033": 0.5, "007": 0.0}, cap_influence=1.5)
    written = csv(out, "what_if.csv")
    assert {*written.name[:5]} == {*expected.name[:5]}  # the nodes that left lose the same
    np.testing.assert_allclose(written.change, expected.change, rtol=1e-4, atol=1e-7)
    answer = json.loads(result.stdout)
    assert answer["figures"]["what_if"]["welfare_after"] == pytest.approx(expected.attrs["welfare_after"], rel=1e-5)
    assert {row["name"] for row in answer["what_if"]} == {*expected.name[:5]}
    assert answer["replicates"] == 8
    assert files(out) == sorted([*FILES, "what_if.csv"])


def test_any_network_will_do(tmp_path):
    graph = nx.relabel_nodes(nx.star_graph(4), lambda node: f"n{node}")
    nx.write_graphml(graph, tmp_path / "star.graphml")
    pd.DataFrame(graph.edges(), columns=["from", "to"]).to_csv(tmp_path / "star.csv", index=False)
    for given in (("star.graphml",), ("star.csv", "--undirected")):
        result = run("act", tmp_path / given[0], *given[1:], "--cost", "units", "--budget", "2", "--json")
        assert result.exit_code == 0, result.output
        answer = json.loads(result.stdout)
        assert answer["players"][0]["name"] == "n0"
        assert answer["weights"] == 8
        assert answer["notes"] == ["How stable they are is unknown: only a consensus learned with replicates shows it."]
        assert files(tmp_path / "act") == FILES
        assert csv(tmp_path / "act", "support.csv").support.tolist() == [1, 1, 0, 0, 0]


def test_a_graph_without_directions_is_played_both_ways(club, tmp_path):
    learn = ("--method", "smooth", "--degree", "3", "--set", "undirected=yes", "--out", tmp_path / "out")
    assert run("learn", club / "club.csv", *learn).exit_code == 0
    answer = json.loads(run("act", tmp_path / "out", "--json").stdout)
    assert answer["weights"] == 2 * len(pd.read_csv(tmp_path / "out" / "edges.csv"))


def test_the_rules_are_those_of_the_model_unless_given(club, tmp_path):
    learn = ("--method", "glgp", "--degree", "4", "--set", "interaction=linear", "--set", "welfare=utilitarian")
    assert run("learn", club / "club.csv", *learn, "--set", "lam=0.1", "--out", tmp_path / "out").exit_code == 0
    welfare = json.loads((tmp_path / "out" / "model.json").read_text())["certificate"]["welfare"]
    assert json.loads(run("act", tmp_path / "out", "--json").stdout)["welfare"] == pytest.approx(welfare)
    other = json.loads(run("act", tmp_path / "out" / "model.json", "--welfare", "total", "--json").stdout)
    assert other["welfare"] != pytest.approx(welfare)


@pytest.mark.parametrize(
    "prior",
    [
        ("--set", "prior=substitutes"),
        ("--set", "prior=spread"),
        ("--set", "prior=containment"),
        ("--set", "prior=diffusion"),
        ("--set", "prior=resilience"),
        ("--set", "prior__share=0.5"),
        ("--set", "prior__cap=0.03"),
    ],
)
def test_act_plays_the_prior_that_the_network_was_learned_with(club, tmp_path, prior):
    learn = ("--method", "glgp", "--degree", "4", "--set", "lam=0.01", "--out", tmp_path / "out")
    result = run("learn", club / "club.csv", *learn, *prior)
    assert result.exit_code == 0, result.output
    welfare = json.loads((tmp_path / "out" / "model.json").read_text())["certificate"]["welfare"]
    assert json.loads(run("act", tmp_path / "out", "--json").stdout)["welfare"] == pytest.approx(welfare, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budget", "0"), "budget must be a finite number in (0, inf), got 0.0"),
        (("--budget", "50", "--cost", "units"), "budget=50 units are more than the 34 nodes"),
        (("--without", "zoe"), "there is no node 'zoe'"),
        (("--best", "35"), "best=35 is more than the 34 nodes"),
        (("--benefit", "bad.csv"), "bad.csv names nodes that the network does not have: zoe"),
        (("--benefit", "negative.csv"), "the benefit of 001 is -1, and it must not be negative"),
        (("--benefit", "none.csv"), "there is no file"),
    ],
)
def test_bad_input_is_said(club, monkeypatch, options, message):
    monkeypatch.chdir(club)
    (club / "bad.csv").write_text("name,benefit\nzoe,1\n")
    (club / "negative.csv").write_text("name,benefit\n001,-1\n")
    result = run("act", "out", *options, "--out", "refused")
    assert result.exit_code == 1
    assert message in error_lines(result)[-1]
    assert not (club / "refused").exists()


def test_too_much_feedback_is_said_with_how_much_it_must_fall(tmp_path):
    (tmp_path / "pair.csv").write_text("source,target,weight\nann,bob,2\nbob,ann,2\n")
    result = run("act", tmp_path / "pair.csv", "--interaction", "linear")
    assert result.exit_code == 1
    assert "is 2 and must be below 1. It must fall by more than 50.00%" in error_lines(result)[-1]


def test_files_that_were_changed_are_refused(club, tmp_path):
    for name in ("edges.csv", "members.npz"):
        out = tmp_path / name
        assert run("learn", club / "club.csv", "--set", "n_replicates=2", "--out", out).exit_code == 0
        (out / name).write_bytes(b"other")
        result = run("act", out)
        assert result.exit_code == 1
        assert f"{name} was changed after model.json was written" in error_lines(result)[-1]


def test_a_folder_of_groups_says_where_the_networks_are(tmp_path):
    (tmp_path / "groups").mkdir()
    result = run("act", tmp_path)
    assert result.exit_code == 1
    assert "has a network for each group" in error_lines(result)[-1]
