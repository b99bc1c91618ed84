"""A model in the terminal."""

import hashlib
import json
import os

import pandas as pd
import pytest

from nashgraph import GLGP
from nashgraph.datasets import preferential_attachment, smooth_signals

from ..commands import error_lines, run

RAW = ("--method", "glgp", "--set", "standardize=no", "--degree", "4", "--set", "lam=5")


@pytest.fixture
def out(tmp_path, random):
    table = pd.DataFrame(random.normal(size=(20, 8)), columns=list("abcdefgh"))
    table.to_csv(tmp_path / "t.csv", index=False)
    run("learn", tmp_path / "t.csv", *RAW, "--out", tmp_path / "out", "--set", "title=Twenty")
    return tmp_path / "out"


def test_show_prints_settings_certificate_and_hubs(out):
    for model in (out, out / "model.json"):
        result = run("show", model)
        assert result.exit_code == 0, result.output
        for word in ("Twenty (from t.csv)", "converged: stationarity", "most influential", "lam", "benefit"):
            assert word in result.stdout


def test_figures_are_said_in_words(out):
    lines = run("show", out).stdout.splitlines()
    said = {line.split()[0]: line for line in reversed(lines) if line}  # the figures come before the settings
    for name, words in [("welfare", "value of all efforts"), ("lam", "strength of the prior"), ("smoothness", "alike")]:
        assert words in said[name]
    assert "(stationarity is 0 if no small change of the network is better)" in said["converged:"]


def test_the_most_influential_are_those_of_the_graph(out):
    answer = json.loads(run("show", out, "--json").stdout)
    signals = pd.read_csv(out.parent / "t.csv").T
    strengths = (
        GLGP(lam=5, degree=4)
        .fit(signals.set_axis([str(k + 1) for k in range(20)], axis=1))
        .adjacency_.toarray()
        .sum(axis=0)
    )
    assert answer["most_influential"][0]["name"] == str(strengths.argmax() + 1)
    assert answer["most_influential"][0]["influence"] == pytest.approx(strengths.max())
    assert answer["parameters"]["lam"] == 5.0
    assert answer["certificate"]["converged"] is True


def test_without_nodes_the_rest_is_shown(out):
    (out / "nodes.csv").unlink()
    result = run("show", out)
    assert result.exit_code == 0
    assert "most influential nodes are not shown" in result.stderr
    assert json.loads(run("show", out, "--json").stdout)["most_influential"] is None


def test_what_is_no_model_is_said(out):
    (out / "model.json").write_text("{}")
    result = run("show", out)
    assert result.exit_code == 1
    (line,) = error_lines(result)
    assert line.startswith("nashgraph show: model.json is not a model of nashgraph: give the model.json that")
    assert "there is no file" in run("show", out / "nowhere").stderr


def test_a_table_of_nodes_that_was_changed_is_not_taken_for_the_models(out):
    (out / "nodes.csv").write_text("anything")
    result = run("show", out)
    assert result.exit_code == 0
    assert "nodes.csv is not as it was written" in result.stderr


def test_without_directions_influence_is_what_touches_a_node(out):
    run("learn", out.parent / "t.csv", *RAW, "--set", "undirected=yes", "--out", out)
    signals = pd.read_csv(out.parent / "t.csv").T
    influence = GLGP(lam=5, degree=4).fit(signals).graph_.undirected().influence
    first = json.loads(run("show", out, "--json").stdout)["most_influential"][0]
    assert (first["name"], first["influence"]) == (str(influence.argmax() + 1), pytest.approx(influence.max()))


def test_an_earlier_models_certificate_is_shown_as_it_is(out):
    content = json.loads((out / "model.json").read_text())
    content["certificate"] = {"converged": True, "stationarity": 1e-9, "n_iter": 7}
    (out / "model.json").write_text(json.dumps(content))
    result = run("show", out)
    assert result.exit_code == 0
    assert "n iter" in result.stdout


def test_of_a_consensus_the_intervals_are_shown(out):
    hubs = smooth_signals(preferential_attachment(60, random_state=0), 50, "heat", noise=0.1, random_state=0)
    pd.DataFrame(hubs.T).add_prefix("s").to_csv(out.parent / "hubs.csv", index_label="name")
    run("learn", out.parent / "hubs.csv", "--set", "standardize=no", "--out", out, "--force")
    answer = json.loads(run("show", out, "--json").stdout)
    first, tie = answer["most_influential"][0], answer["strongest_ties"][0]
    assert tie["low"] <= tie["high"]
    assert 0 < tie["frequency"] <= 1
    said = run("show", out).stdout
    assert f"{tie['low']:.2f} to {tie['high']:.2f}" in said
    assert f"{first['influence_low']:.2f} to {first['influence_high']:.2f}" in said
    assert first["influence_low"] <= first["influence"] <= first["influence_high"]
    assert 1 <= first["rank_low"] <= first["rank_high"]
    assert f" {first['rank_low']} to {first['rank_high']} " in run("show", out).stdout


def test_edges_that_were_changed_are_said(out):
    text = (out / "edges.csv").read_text()
    assert "edges.csv" not in run("show", out).stderr
    (out / "edges.csv").write_bytes(text.encode()[:-40] + b"\xff\x00")
    result = run("show", out)
    assert result.exit_code == 0
    assert "edges.csv is not as it was written" in result.stderr


BROKEN = ["anything", "name,influence\na,much\n", "name\na\n", 'name,influence\n"a,1\n', "name,influence\n\xff,1\n"]
BROKEN.append("name,influence,ties_low,ties_high\na,1,few,many\n")
BROKEN += [f"name,influence,{column}\na,1,1\nb,1,1{400 * '0'}\n" for column in ("benefit", "community", "gossip")]


@pytest.mark.parametrize("content", [*BROKEN, "name,influence,benefit\nzz,1,1\n"])
def test_a_damaged_nodes_csv_with_the_right_checksum_is_said(out, content):
    (out / "nodes.csv").write_bytes(content.encode("latin-1"))
    record = json.loads((out / "model.json").read_text())
    record["nodes_sha256"] = hashlib.sha256((out / "nodes.csv").read_bytes()).hexdigest()
    (out / "model.json").write_text(json.dumps(record))
    for command in ("show", "act") if content in BROKEN else ("act",):
        result = run(command, out)
        assert result.exit_code == 1, result.output
        assert "nodes.csv is damaged" in result.stderr
        assert "learn the network again" in result.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="about pipes in place of files")
def test_a_page_that_is_a_pipe_or_no_text_is_refused(out):
    (out / "report.html").write_bytes(b"\xff\xfe")
    assert "has no methods paragraph" in error_lines(run("show", out, "--methods"))[0]
    (out / "report.html").unlink()
    os.mkfifo(out / "report.html")
    assert "to read the methods paragraph from" in error_lines(run("show", out, "--methods"))[0]


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ("weight,low,high\na,b,1,x,y", 1),
        ("weight,low\na,b,1,0.5", 0),
        ("weight,low,high\na,b,1,1_0,1", 1),
        (f"weight,low,high\na,b,1,1{400 * '0'},1", 1),
        ("weight\na,b,-1", 1),
        ("weight\na,b,1_0", 1),
    ],
)
def test_odd_numbers_in_edges_csv_with_the_right_checksum(out, columns, code):
    (out / "edges.csv").write_text(f"source,target,{columns}\n")
    record = json.loads((out / "model.json").read_text())
    record["edges_sha256"] = hashlib.sha256((out / "edges.csv").read_bytes()).hexdigest()
    (out / "model.json").write_text(json.dumps(record))
    result = run("show", out)
    assert result.exit_code == code, result.output
    assert ("edges.csv is damaged" in result.stderr) == (code == 1)
