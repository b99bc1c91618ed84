"""A model in the terminal."""

import json

import pandas as pd
import pytest

from nashgraph import GLGP

from ..commands import error_lines, run


@pytest.fixture
def out(tmp_path, random):
    table = pd.DataFrame(random.normal(size=(20, 8)), columns=list("abcdefgh"))
    table.to_csv(tmp_path / "t.csv", index=False)
    run("learn", tmp_path / "t.csv", "--degree", "4", "--lam", "5", "--out", tmp_path / "out", "--title", "Twenty")
    return tmp_path / "out"


def test_show_prints_settings_certificate_and_hubs(out):
    for model in (out, out / "model.json"):
        result = run("show", model)
        assert result.exit_code == 0, result.output
        for word in ("Twenty (from t.csv)", "stationarity", "converged", "True", "strongest hubs", "lam", "benefit"):
            assert word in result.stdout


def test_hubs_are_those_of_the_graph(out):
    answer = json.loads(run("show", out, "--json").stdout)
    signals = pd.read_csv(out.parent / "t.csv").T
    strengths = (
        GLGP(lam=5, degree=4).fit(signals.set_axis([str(k + 1) for k in range(20)], axis=1)).adjacency_.sum(axis=0)
    )
    assert answer["hubs"][0]["name"] == str(strengths.argmax() + 1)
    assert answer["hubs"][0]["influence"] == pytest.approx(strengths.max())
    assert answer["parameters"]["lam"] == 5.0
    assert answer["certificate"]["converged"] is True


def test_without_edges_the_rest_is_shown(out):
    (out / "edges.csv").unlink()
    result = run("show", out)
    assert result.exit_code == 0
    assert "hubs are not shown" in result.stderr
    assert json.loads(run("show", out, "--json").stdout)["hubs"] is None


def test_what_is_no_model_is_said(out):
    (out / "model.json").write_text("{}")
    result = run("show", out)
    assert result.exit_code == 1
    assert error_lines(result) == ["nashgraph show: model.json is not a model of nashgraph"]
    assert "there is no file" in run("show", out / "nowhere").stderr
