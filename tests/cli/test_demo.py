"""The demonstration as a stranger runs it."""

import networkx as nx
import pandas as pd
from typer.testing import CliRunner

from nashgraph import __version__, edge_auc
from nashgraph.cli.app import app
from nashgraph.cli.demo import karate_club

run = CliRunner().invoke


def test_demo_prints_a_table_and_writes_three_files(tmp_path):
    out = tmp_path / "demo"
    result = run(app, ["demo", "--out", str(out)])
    assert result.exit_code == 0, result.output
    for word in ("SmoothGL", "LinearGLGP", "GLGP", "AUC", "average precision", "stationarity", "hubs"):
        assert word in result.output
    assert sorted(file.name for file in out.iterdir()) == ["edges.csv", "karate.graphml", "karate.png"]
    edges = pd.read_csv(out / "edges.csv")
    graph = nx.read_graphml(out / "karate.graphml")
    assert len(edges) == graph.number_of_edges()
    assert (out / "karate.png").read_bytes().startswith(b"\x89PNG")
    order = [f"member {k + 1}" for k in range(34)]
    learned = nx.to_numpy_array(graph, nodelist=order).T
    assert edge_auc(learned, karate_club()) > 0.8


def test_demo_says_in_one_line_that_it_cannot_write(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = run(app, ["demo", "--out", str(blocked)])
    assert result.exit_code == 1
    assert "nashgraph demo:" in result.output
    assert "Traceback" not in result.output


def test_version_and_help():
    assert run(app, ["--version"]).output.strip() == f"nashgraph {__version__}"
    assert "demo" in run(app, ["--help"]).output
