"""Several methods on one table."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from nashgraph import SmoothGL, SpecTemp, compare, edge_auc
from nashgraph.cli.app import app
from nashgraph.datasets import smooth_signals
from nashgraph.estimators import METHODS

from ..commands import error_lines, run


@pytest.fixture
def club(tmp_path):
    graph = nx.karate_club_graph()
    table = pd.DataFrame(smooth_signals(graph, 20, "gmrf", random_state=0).T, columns=[f"q{k}" for k in range(20)])
    table.to_csv(tmp_path / "club.csv", index=False)
    edges = pd.DataFrame([(a + 1, b + 1) for a, b in graph.edges()], columns=["source", "target"])
    edges.to_csv(tmp_path / "truth.csv", index=False)
    return tmp_path


def test_scores_are_printed_and_written(club):
    arguments = (
        "compare",
        club / "club.csv",
        "--truth",
        club / "truth.csv",
        "--methods",
        "smooth,glgp",
        "--degree",
        "5",
        "--set",
        "standardize=no",
    )
    result = run(*arguments, "--out", club / "out")
    assert result.exit_code == 0, result.output
    for word in ("smooth", "glgp", "auc", "welfare", "converged"):
        assert word in result.stdout
    written = pd.read_csv(club / "out" / "compare.csv")
    assert written["method"].tolist()[:3] == ["smooth", "glgp", "control: correlation"]
    assert written["scored"].unique().tolist() == ["symmetrised"]
    assert "it is scored on weights made symmetric" in result.stderr
    assert "precision is that of the 78 heaviest pairs of each" in result.stderr
    assert "the best control, " in result.stdout
    assert "chance 0.139" in result.stdout
    weights = SmoothGL(degree=5).fit(pd.read_csv(club / "club.csv").T).adjacency_.toarray()
    assert written["auc"][0] == pytest.approx(edge_auc(nx.karate_club_graph(), weights, "mean"))
    answer = json.loads(run(*arguments, "--json").stdout)
    assert [row["method"] for row in answer["methods"]][:2] == ["smooth", "glgp"]
    assert answer["methods"][0]["auc"] == pytest.approx(written["auc"][0])


def test_without_a_truth_it_is_said_that_welfare_is_not_one(club):
    result = run("compare", club / "club.csv", "--methods", "smooth,linear")
    assert "without a true network nothing here shows which method is right" in result.stderr
    heading = next(line for line in result.stdout.splitlines() if line.startswith("method"))
    assert heading.split() == ["method", "edges", "seconds", "converged", "welfare"]


def test_a_method_that_fails_is_told_and_the_others_stay(club):
    pd.read_csv(club / "club.csv").iloc[:, :2].to_csv(club / "short.csv", index=False)
    result = run("compare", club / "short.csv", "--methods", "smooth", "--methods", "glasso", "--json")
    assert result.exit_code == 3
    smooth, glasso = json.loads(result.stdout)["methods"]
    assert smooth["converged"] is True
    assert glasso["converged"] is False
    assert glasso["welfare"] is None
    assert "cv=5" in glasso["error"]
    assert "note: glasso: alpha=None finds alpha by cross-validation" in result.stderr


def test_what_several_methods_warn_of_is_said_once(club):
    table = pd.read_csv(club / "club.csv")
    table.iloc[1] = table.iloc[0]
    table.to_csv(club / "club.csv", index=False)
    result = run("compare", club / "club.csv", "--methods", "smooth,linear")
    notes = [line for line in result.stderr.splitlines() if "exactly the signals of another" in line]
    assert len(notes) == 1
    assert notes[0].startswith("note: smooth, linear: 1 node(s) have exactly")


def test_slow_methods_are_left_out_unless_named(club, monkeypatch):
    monkeypatch.setattr(SpecTemp, "quick_up_to", 33)
    result = run("compare", club / "club.csv", "--degree", "4", "--json")
    answer = json.loads(result.stdout)
    assert "spectemp" not in [row["method"] for row in answer["methods"]]
    assert len(answer["methods"]) == len(METHODS) - 1
    assert any("left out spectemp, slow on 34 nodes" in note for note in answer["notes"])


def test_methods_that_need_more_signals_are_left_out_unless_named(club):
    table = pd.read_csv(club / "club.csv").iloc[:, :6]
    table.to_csv(club / "club.csv", index=False)
    result = run("compare", club / "club.csv")
    assert result.exit_code == 0, result.output
    assert "left out glasso, for which 6 signal(s) are too few; --methods takes them in" in result.stderr
    table.iloc[3, 2] = np.nan
    table.to_csv(club / "club.csv", index=False)
    result = run("compare", club / "club.csv", "--missing", "pairwise")
    assert result.stderr.count("glasso") == 1


def test_the_game_that_scores_is_the_one_asked_for(club):
    given = (
        "compare",
        club / "club.csv",
        "--methods",
        "smooth",
        "--degree",
        "4",
        "--json",
        "--set",
        "interaction=linear",
        "--set",
        "standardize=no",
    )
    scored = [
        json.loads(run(*given, *more).stdout)["methods"][0]["welfare"]
        for more in ([], ["--set", "welfare=utilitarian"])
    ]
    table = pd.read_csv(club / "club.csv").T
    for found, welfare in zip(scored, ("total", "utilitarian"), strict=True):
        row = compare(table, None, [SmoothGL(degree=4)], interaction="linear", welfare=welfare).iloc[0]
        assert found == pytest.approx(row["welfare"])
    assert scored[0] != pytest.approx(scored[1])


def test_gaps_are_left_to_the_methods_that_can(club):
    table = pd.read_csv(club / "club.csv")
    table.iloc[3, 4:8] = np.nan
    table.to_csv(club / "club.csv", index=False)
    given = ("compare", club / "club.csv", "--truth", club / "truth.csv", "--missing", "pairwise")
    result = run(*given, "--methods", "smooth,glasso", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["methods"]
    assert [row["method"] for row in rows][:2] == ["smooth", "control: correlation"]
    assert all(row["auc"] > 0 for row in rows)
    assert "left out glasso: complete signals are needed there" in result.stderr
    assert "none of these methods accepts gaps" in run(*given, "--methods", "glasso").stderr


def test_a_terminal_of_eighty_columns_shows_all(club):
    given = ["compare", str(club / "club.csv"), "--truth", str(club / "truth.csv"), "--methods", "smooth"]
    shown = CliRunner().invoke(app, given, env={"COLUMNS": "80"}).stdout
    assert "converged" in shown
    assert "control: cosine" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--methods", "smooth,magic"], "there is no method 'magic'"),
        (["--methods", "smooth,smooth"], "more than once"),
    ],
)
def test_what_cannot_be_compared_is_said(club, options, message):
    result = run("compare", club / "club.csv", *options, "--out", club / "out")
    assert result.exit_code in (1, 2)
    assert message in error_lines(result)[-1]
    assert not (club / "out").exists()
