"""Nodes with many gaps are marked wherever the most influential are named, and in every file."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from ..commands import report_data, run

DRAWN = ("--method", "linear", "--set", "lam=9", "--set", "benefit=gain")


@pytest.fixture
def votes(tmp_path, random):
    """Forty members and sixty votes, the first four absent from most; one of them shares a single vote with another."""
    party = np.repeat([1.0, -1.0], 20)
    ideal = party[:, None] + 0.8 * random.normal(size=(40, 1))
    table = pd.DataFrame((ideal * random.normal(size=60) + random.normal(size=(40, 60)) > 0).astype(float))
    table.columns = [f"v{k}" for k in range(60)]
    table.iloc[0, 3:], table.iloc[1, :2], table.iloc[1, 8:], table.iloc[2, 20:] = np.nan, np.nan, np.nan, np.nan
    table.insert(0, "name", [f"s{k:02}" for k in range(40)])
    table["party"] = np.where(party > 0, "left", "right")
    table.to_csv(tmp_path / "votes.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("method", ["consensus", "smooth"])
def test_the_absent_are_no_hubs_and_are_marked(votes, method):
    out = votes / "out"
    result = run("learn", votes / "votes.csv", "--missing", "pairwise", "--method", method, "--out", out)
    assert result.exit_code == 0, result.output
    assert "share fewer than" in result.stderr
    assert "leave out the nodes with most gaps (s00 (9" in result.stderr
    nodes = pd.read_csv(out / "nodes.csv", index_col="name")
    assert nodes.loc["s00", "missing"] > 0.9
    assert nodes.loc["s20", "missing"] == 0.0
    assert not {"s00", "s01"} & {*nodes.index[:5]}
    assert '"missing":[' in report_data(out)
    assert "missing" in run("show", out).stdout


@pytest.mark.parametrize("how", ["pairwise", "impute"])
def test_an_influential_node_with_gaps_is_named_with_them(tmp_path, random, how):
    table = pd.DataFrame(random.normal(size=(30, 12)))
    table.iloc[0, 8:] = np.nan
    table["gain"] = [50.0, *[1.0] * 29]  # all listen to the first
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run("learn", tmp_path / "t.csv", "--missing", how, *DRAWN, "--out", tmp_path / "out")
    assert "most influential: 1 (" in result.stdout
    assert "(33% missing)" in result.stdout
    page = (tmp_path / "out" / "report.html").read_text()
    assert '"missing":[' in report_data(tmp_path / "out")
    assert "(33% missing)" in page


def test_files_have_communities_and_the_columns_of_the_table(votes):
    out = votes / "out"
    extra = pd.read_csv(votes / "votes.csv").assign(influence=range(40), flag=True, odd="a\x0bb")
    extra.to_csv(votes / "votes.csv", index=False)
    arguments = ["--missing", "impute", "--drop", "party,odd", "--method", "glgp", "--json", "--out", out]
    result = run("learn", votes / "votes.csv", *arguments)
    assert result.exit_code == 0, result.output
    nodes = pd.read_csv(out / "nodes.csv", index_col="name")
    assert {"influence", "action", "benefit", "missing", "community", "party", "v0", "influence (table)"} <= {*nodes}
    assert nodes.loc["s05", "influence (table)"] == 5
    assert nodes.loc["s05", "party"] == "left"
    assert np.isnan(nodes.loc["s00", "v30"])  # the input, not the filled values
    graph = nx.read_graphml(out / "graph.graphml")
    assert graph.nodes["s05"]["party"] == "left"
    assert graph.nodes["s05"]["influence"] == pytest.approx(nodes.loc["s05", "influence"])
    assert graph.nodes["s05"]["flag"] is True
    assert graph.nodes["s05"]["odd"] == "a\ufffdb"
    assert "v30" not in graph.nodes["s00"]
    same = nodes.groupby("community")["party"].agg(lambda side: side.value_counts(normalize=True).iloc[0])
    assert same.mean() > 0.7
    linked = json.loads((out / "graph.json").read_text())["nodes"]
    assert {node["id"]: node["community"] for node in linked} == nodes["community"].to_dict()
