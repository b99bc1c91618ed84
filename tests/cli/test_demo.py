"""The demonstration as a new user runs it."""

import json
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import __version__, edge_auc
from nashgraph.cli.demo import club_sentence, drawn_village

from ..commands import run

FILES = ["edges.csv", "karate.png", "report.html", "village.graphml", "village.png"]


def test_demo_prints_two_tables_and_writes_five_files(tmp_path):
    out = tmp_path / "demo"
    result = run("demo", "--out", out)
    assert result.exit_code == 0, result.output
    for words in (
        "TieModel",
        "control: mixing of traits and numbers of ties",
        "Whom to inform first: household",
        "Whom to interview next: household",
        "ConsensusGL",
        "control: cosine",
        "control: chance",
        "ablation: shuffled benefit",
        "the default, is above every control for",
    ):
        assert words in result.output
    assert sorted(file.name for file in out.iterdir()) == FILES
    for picture in ("village.png", "karate.png"):
        assert (out / picture).read_bytes().startswith(b"\x89PNG")
    village = drawn_village(0)
    learned = nx.read_graphml(out / "village.graphml")
    assert len(pd.read_csv(out / "edges.csv")) == learned.number_of_edges()
    assert edge_auc(village.A, nx.to_numpy_array(learned, nodelist=village.traits.index.to_list())) > 0.7
    assert "A simulated village" in (out / "report.html").read_text()


def test_demo_for_machines_and_the_tie_model_beats_its_controls(tmp_path):
    answer = json.loads(run("demo", "--out", tmp_path / "demo", "--json").stdout)
    scores = {name: row["average_precision"] for name, row in answer["village"].items()}
    ours = scores.pop("TieModel")
    assert ours > 1.5 * max(scores.values())
    reach = answer["reached"]
    assert reach["drawn at random"] < reach["chosen on the learned network"]
    assert answer["club"]["control: chance"]["heat"] == pytest.approx(78 / (34 * 33 / 2))
    assert answer["verdict"].startswith("ConsensusGL, the default, is above every control")


def test_a_drawn_village_is_what_the_demo_says_of_it():
    village = drawn_village(3, n_households=200, ties=6.0, asked=0.5, forgotten=0.2)
    assert village.A.sum() / 200 == 6.0
    assert np.array_equal(village.A, village.A.T)
    assert len(village.counts) == len(village.n_ties) == 100
    true_ties = pd.Series(village.A.sum(axis=1), index=village.traits.index)[village.n_ties.index]
    assert village.n_ties.sum() / true_ties.sum() == pytest.approx(0.8, abs=0.05)
    assert (village.counts.max(axis=1) <= village.n_ties).all()


def test_the_sentence_counts_controls_and_methods_apart_and_no_ablation():
    names = ["ConsensusGL", "GLGP", "control: cosine", "ablation: shuffled benefit"]
    table = pd.DataFrame({"method": names, "heat": [0.6, 0.5, 0.4, 0.9], "gmrf": [0.6, 0.7, 0.5, 0.9]})
    assert club_sentence(table) == (
        "ConsensusGL, the default, is above every control for 2 of 2 kinds of signals, and above the other methods for "
        "1."
    )


def test_without_matplotlib_all_but_the_pictures_is_there(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo", "--out", tmp_path / "demo")
    assert result.exit_code == 0, result.output
    assert "note: the pictures are left out" in result.stderr
    written = sorted(file.name for file in (tmp_path / "demo").iterdir())
    assert written == [name for name in FILES if not name.endswith(".png")]


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
