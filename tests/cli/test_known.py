"""Known ties on the command line: a file of them, and the network learned from it."""

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
    return run("learn", folder / table, "--out", folder / out, *more)


def test_known_ties_give_probabilities_and_a_note(club):
    result = learn(club, "here.csv", "out", "--known", club / "ties.csv", "--json")
    assert result.exit_code == 0, result.output
    edges = pd.read_csv(club / "out" / "edges.csv")
    certain = edges[edges.probability == 1]
    written = {*zip(certain.source, certain.target, strict=True)}
    given = pd.read_csv(club / "ties.csv").query("to != '*'")
    assert len(written) == len(given)
    assert all((a, b) in written or (b, a) in written for a, b in given.itertuples(index=False))
    answer = json.loads(result.stdout)
    assert answer["method"] == "ties"
    assert any(f"from {len(given)} known ties, 12 people whose ties are all known" in note for note in answer["notes"])
    assert json.loads((club / "out" / "model.json").read_text())["known"]["path"] == "../ties.csv"
    again = run("rerun", club / "out", "--out", club / "again", "--json")
    assert json.loads(again.stdout)["same"] is True


def test_ties_alone_do_not_say_who_is_not_tied(club):
    (club / "few.csv").write_text("source,target\nm0,m1\n")
    result = learn(club, "here.csv", "out", "--known", club / "few.csv")
    assert result.exit_code == 1
    assert "nobody was asked: numbers of ties" in " ".join(error_lines(result))
    assert "(a row with the target *)" in " ".join(error_lines(result))


def test_a_consensus_that_learned_from_known_ties_is_shown_but_not_learned_again(club):
    assert learn(club, "here.csv", "out", "--set", "n_replicates=0").exit_code == 0
    file = club / "out" / "model.json"
    content = json.loads(file.read_text())
    content["job"]["parameters"]["known_weights"] = {"consensus": 1.0}
    file.write_text(json.dumps(content))
    assert run("show", club / "out").exit_code == 0
    result = run("rerun", club / "out", "--out", club / "again")
    assert result.exit_code == 1
    assert "has no parameter 'known_weights'" in " ".join(error_lines(result))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target\nm0,eve\n", "no tie between two nodes of the signals: it names eve, and the nodes are m0, m1"),
        ("source,target,tie\nm0,m1,1\nm1,m0,0\n", "tied and that they are not: m0 - m1"),
        ("source,target\nm0,m0\n", "m0 with itself"),
        ("source,target\nm0,m1\n*,m1\n", "the source in row 2 is *, which only a target can be"),
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


def test_other_methods_do_not_learn_from_ties(club):
    result = learn(club, "here.csv", "out", "--method", "smooth", "--known", club / "ties.csv")
    assert result.exit_code == 2
    assert "not for --method smooth" in " ".join(error_lines(result))
