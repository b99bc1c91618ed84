"""The demonstration as a new user runs it."""

import json
import sys

import networkx as nx
import pandas as pd
import pytest

from nashgraph import __version__, edge_auc
from nashgraph.cli.studies import verdicts_over_draws
from nashgraph.datasets import load_karate

from ..commands import run


def test_demo_prints_a_table_and_writes_four_files(tmp_path):
    out = tmp_path / "demo"
    result = run("demo", "--out", out)
    assert result.exit_code == 0, result.output
    for word in (
        "ConsensusGL",
        "SmoothGL",
        "LinearGLGP",
        "GLGP",
        "auc",
        "precision",
        "converged",
        "control: cosine",
        "control: chance",
        "the default, is",
        "influence:",
    ):
        assert word in result.output
    assert sorted(file.name for file in out.iterdir()) == ["edges.csv", "karate.graphml", "karate.png", "report.html"]
    edges = pd.read_csv(out / "edges.csv")
    graph = nx.read_graphml(out / "karate.graphml")
    assert len(edges) == graph.number_of_edges()
    assert (out / "karate.png").read_bytes().startswith(b"\x89PNG")
    order = [f"member {k + 1}" for k in range(34)]
    learned = nx.to_numpy_array(graph, nodelist=order).T
    assert edge_auc(load_karate().graph, learned) > 0.8
    assert "karate club" in (out / "report.html").read_text()


def test_demo_for_machines(tmp_path):
    answer = json.loads(run("demo", "--out", tmp_path / "demo", "--json").stdout)
    scores = answer["scores"]
    assert scores["GLGP"]["auc"] > 0.9
    assert scores["ConsensusGL"]["auc"] > 0.9
    assert scores["control: chance"]["auc"] == 0.5
    assert answer["seconds"].keys() == scores.keys()
    assert "the best control here" in answer["verdict"][0]


@pytest.mark.parametrize(
    ("lead", "word"), [(0.1, "is better than"), (0.0, "is no better than"), (-0.1, "is worse than")]
)
def test_the_verdict_needs_more_than_two_standard_errors(lead, word):
    names = ["Ours", "Theirs", "control: cosine", "control: chance", "control: shuffled benefit"]
    tables = [
        pd.DataFrame({"method": names, "average_precision": [0.5 + lead + noise, 0.5, 0.5, 0.1, 0.9]})
        for noise in (-0.02, 0.02, -0.02, 0.02)
    ]
    for line, rival in zip(verdicts_over_draws(tables, "Ours"), ("cosine", "Theirs"), strict=True):
        assert word in line
        assert f"here, {rival}:" in line
        assert "chance is 0.100" in line


def test_without_matplotlib_all_but_the_picture_is_there(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo", "--out", tmp_path / "demo")
    assert result.exit_code == 0, result.output
    assert "note: karate.png is left out" in result.stderr
    assert sorted(file.name for file in (tmp_path / "demo").iterdir()) == ["edges.csv", "karate.graphml", "report.html"]


def test_demo_says_in_one_line_that_it_cannot_write(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = run("demo", "--out", blocked)
    assert result.exit_code == 1
    assert result.stderr.startswith("nashgraph demo:")
    assert len(result.stderr.splitlines()) == 1


def test_version_and_help():
    assert run("--version").output.strip() == f"nashgraph {__version__}"
    assert "demo" in run("--help").output
