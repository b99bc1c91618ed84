"""Known ties on the command line: a file of them, what was learned from it, and learning elsewhere from that."""

import json

import networkx as nx
import pandas as pd
import pytest

from nashgraph.datasets import smooth_signals

from ..commands import error_lines, run


@pytest.fixture
def club(tmp_path):
    graph = nx.karate_club_graph()
    for seed, name in enumerate(("here", "there")):
        table = pd.DataFrame(smooth_signals(graph, 30, "gmrf", random_state=seed).T)
        table.columns = [f"q{k}" for k in range(30)]
        table.insert(0, "name", [f"m{node}" for node in graph])
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    rows = [(f"m{a}", f"m{b}") for a, b in graph.edges() if min(a, b) < 12] + [(f"m{a}", "*") for a in range(12)]
    pd.DataFrame(rows, columns=["from", "to"]).to_csv(tmp_path / "ties.csv", index=False)
    return tmp_path


def learn(folder, table, out, *more):
    arguments = ["learn", folder / table, "--method", "consensus", "--set", "n_replicates=2", "--set", "random_state=0"]
    arguments += ["--benefit", "spectral"]
    return run(*arguments, "--out", folder / out, *more)


def test_known_ties_give_probabilities_and_a_note(club):
    result = learn(club, "here.csv", "out", "--known", club / "ties.csv", "--json")
    assert result.exit_code == 0, result.output
    edges = pd.read_csv(club / "out" / "edges.csv", keep_default_na=False)
    assert {"probability", "known"} <= {*edges.columns}
    assert set(edges.known) == {"tie", "no tie", ""}
    given = pd.read_csv(club / "ties.csv").query("to != '*'")
    written = {*zip(edges.source, edges.target, strict=True)}
    assert all((a, b) in written or (b, a) in written for a, b in given.itertuples(index=False))
    assert any("known tie(s)" in note for note in json.loads(result.stdout)["notes"])
    content = json.loads((club / "out" / "model.json").read_text())
    assert content["known"]["path"] == "../ties.csv"
    assert content["known_weights"]["consensus"] > 0
    graph = nx.read_graphml(club / "out" / "graph.graphml")
    assert all(0 <= data["probability"] <= 1 for _, _, data in graph.edges(data=True))
    again = run("rerun", club / "out", "--out", club / "again", "--json")
    assert json.loads(again.stdout)["same"] is True


def test_undirected_graphs_keep_probabilities(club):
    result = learn(club, "here.csv", "out", "--known", club / "ties.csv", "--undirected")
    assert result.exit_code == 0, result.output
    edges = pd.read_csv(club / "out" / "edges.csv", keep_default_na=False)
    assert (edges.probability[edges.known == "tie"] == 1).all()


def test_what_was_learned_here_serves_there(club):
    learn(club, "here.csv", "out", "--known", club / "ties.csv")
    result = learn(club, "there.csv", "other", "--known-from", club / "out" / "model.json", "--json")
    assert result.exit_code == 0, result.output
    assert any("known ties of here.csv taught" in note for note in json.loads(result.stdout)["notes"])
    assert "probability" in pd.read_csv(club / "other" / "edges.csv")
    again = run("rerun", club / "other", "--out", club / "again", "--json")
    assert json.loads(again.stdout)["same"] is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target\nm0,eve\n", "no tie between two nodes of the signals: it names eve, and the nodes are m0, m1"),
        ("source,target,tie\nm0,m1,1\nm1,m0,0\n", "tied and that they are not: m0 - m1"),
        ("source,target\nm0,m0\n", "m0 with itself"),
        ("a,b\nm0,m1\n", "must have the columns source and target (or from and to), or be a matrix"),
        ("source,target,tie\nm0,m1,perhaps\n", "'perhaps' is not a number; it must be 1, 0 or a weight"),
    ],
)
def test_bad_ties(club, text, message):
    (club / "bad.csv").write_text(text)
    result = learn(club, "here.csv", "out", "--known", club / "bad.csv")
    assert result.exit_code == 1
    assert message in " ".join(error_lines(result))
    assert not (club / "out").exists()


def test_only_the_consensus_learns_from_ties(club):
    result = run("learn", club / "here.csv", "--method", "smooth", "--known", club / "ties.csv", "--out", club / "out")
    assert result.exit_code == 2
    assert "does not learn from known ties" in " ".join(error_lines(result))


def test_a_model_without_known_ties_teaches_nothing(club):
    learn(club, "here.csv", "out")
    result = learn(club, "there.csv", "other", "--known-from", club / "out")
    assert result.exit_code == 1
    assert "has learned nothing from known ties" in " ".join(error_lines(result))
