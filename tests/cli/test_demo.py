"""The demonstration as a stranger runs it."""

import json
import sys

import networkx as nx
import pandas as pd

from nashgraph import __version__, edge_auc
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
    assert edge_auc(learned, load_karate().graph) > 0.8
    assert "karate club" in (out / "report.html").read_text()


def test_demo_for_machines(tmp_path):
    answer = json.loads(run("demo", "--out", tmp_path / "demo", "--json").stdout)
    consensus, smooth, _, glgp = (row["auc"] for row in answer["scores"].values())
    assert glgp > smooth > 0.9
    assert consensus > 0.9
    assert answer["seconds"].keys() == answer["scores"].keys()


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
