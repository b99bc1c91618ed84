"""learn --set false_edges: a selection of ties with a promise, written next to the graph."""

import networkx as nx
import pandas as pd
import pytest

from nashgraph.datasets import smooth_signals

from ..commands import run


@pytest.fixture
def table(tmp_path):
    """Signals on a karate club, members in rows."""
    X = smooth_signals(nx.karate_club_graph(), 40, "heat", random_state=0)
    frame = pd.DataFrame(X.T, columns=[f"s{k}" for k in range(40)])
    frame.insert(0, "name", [f"member {k}" for k in range(34)])
    frame.to_csv(tmp_path / "club.csv", index=False)
    return tmp_path / "club.csv"


def test_selected_ties_are_written_and_the_promise_is_said(table):
    out = table.parent / "out"
    result = run("learn", table, "--set", "false_edges=2", "--out", out)
    assert result.exit_code == 0, result.output
    assert "on average at most" in result.stderr
    assert "selected.csv" in result.stdout
    found, whole = (pd.read_csv(out / name) for name in ("selected.csv", "edges.csv"))
    assert (found["share"] >= 0.9).all()
    assert 10 < len(found) < len(whole)
    again = run("rerun", out / "model.json", "--out", table.parent / "again")
    assert again.exit_code == 0, again.output
    pd.testing.assert_frame_equal(found, pd.read_csv(table.parent / "again" / "selected.csv"))
    assert "selected.csv" not in run("learn", table, "--out", table.parent / "plain").stdout


def test_only_a_consensus_selects(table):
    result = run("learn", table, "--set", "false_edges=2", "--method", "smooth", "--out", table.parent / "out")
    assert result.exit_code == 2
    assert "take --method consensus" in result.stderr
