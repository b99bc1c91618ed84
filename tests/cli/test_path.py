"""The lambda-path of a table."""

import json
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from nashgraph import GLGP, BestResponse, GamePrior
from nashgraph.cli import fitting

from ..commands import error_lines, run


@pytest.fixture
def table(tmp_path, random):
    frame = pd.DataFrame(random.normal(size=(30, 10)), columns=[f"q{k}" for k in range(10)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_the_path_is_that_of_the_library_and_the_strongest_cheap_prior_is_written(table):
    out = table.parent / "out"
    result = run("path", table, "--n-lams", "6", "--degree", "5", "--set", "standardize=no", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    assert sorted(file.name for file in out.iterdir()) == [
        *(
            "edges.csv",
            "graph.graphml",
            "graph.json",
            "layout.csv",
            "model.json",
            "nodes.csv",
            "path.csv",
            "plan.toml",
            "report.html",
        )
    ]
    written = pd.read_csv(out / "path.csv")
    path = GLGP(degree=5).path(pd.read_csv(table).T, n_lams=6)
    np.testing.assert_allclose(written["lam"], path.lams, rtol=1e-12)
    np.testing.assert_allclose(written["welfare"], path.welfares, rtol=1e-9)
    assert list(written.columns) == [
        "lam",
        "smoothness_cost",
        "welfare",
        "objective",
        "stationarity",
        "edges",
        "converged",
    ]
    chosen = json.loads(result.stdout)["certificate"]["lam"]
    place = path.affordable()
    assert path.smoothness_costs[place] <= 1.001 * path.least < path.smoothness_costs[place + 1]
    assert chosen == pytest.approx(path.lams[place])
    assert f"took lam = {chosen:.4g}, the strongest of 6 that cost at most a thousandth" in result.stderr
    assert len(pd.read_csv(out / "edges.csv")) == written["edges"][place]


def test_lambdas_may_be_given(table):
    out = table.parent / "out"
    assert run("path", table, "--lams", "0,1,10", "--out", out).exit_code == 0
    assert pd.read_csv(out / "path.csv")["lam"].tolist() == [0.0, 1.0, 10.0]
    result = run("path", table, "--lams", "0,one", "--out", table.parent / "other")
    assert result.exit_code == 2
    assert "--lams 0,one must be numbers" in error_lines(result)[-1]


def test_a_uniform_benefit_has_no_path(table):
    result = run("path", table, "--set", "benefit=uniform", "--out", table.parent / "out")
    assert result.exit_code == 1
    assert "no lam changes an edge" in error_lines(result)[-1]
    assert not (table.parent / "out").exists()


def test_a_range_that_is_too_strong_is_said(table):
    result = run("path", table, "--lams", "1000,2000", "--out", table.parent / "out")
    assert "took lam = 1000, the weakest, though it costs more" in result.stderr


def test_other_parameters_may_be_set_and_are_recorded_in_full(table):
    out = table.parent / "out"
    settings = ("--set", "tol=1e-3", "--set", "welfare=utilitarian", "--set", "standardize=no")
    assert run("path", table, "--lams", "0.1,1", *settings, "--out", out).exit_code == 0
    parameters = json.loads((out / "model.json").read_text())["job"]["parameters"]
    assert parameters.items() >= {"lams": [0.1, 1.0], "tol": 1e-3, "welfare": "utilitarian", "storage": "auto"}.items()
    assert not {"lam", "callback", "missing", "n_lams"} & parameters.keys()
    model = GLGP(prior=GamePrior(welfare="utilitarian"), solver=BestResponse(tol=1e-3))
    path = model.path(pd.read_csv(table).T, [0.1, 1.0])
    np.testing.assert_allclose(pd.read_csv(out / "path.csv")["welfare"], path.welfares, rtol=1e-9)


def test_every_solve_is_counted(table, monkeypatch):
    told = []
    counting = fitting.counting

    @contextmanager
    def counted(voice, what, total):
        with counting(voice, what, total) as count:
            yield lambda: (told.append(total), count())

    monkeypatch.setattr(fitting, "counting", counted)
    assert run("path", table, "--n-lams", "4", "--out", table.parent / "out").exit_code == 0
    assert told == [7] * 7


def test_a_prior_by_name_is_learned_and_rerun(tmp_path):
    random = np.random.default_rng(0)
    table = tmp_path / "table.csv"
    columns = {f"q{k}": random.normal(size=30) for k in range(6)} | {"risk": random.random(30)}
    pd.DataFrame(columns).to_csv(table, index=False)
    asked = (
        "--method",
        "glgp",
        "--set",
        "prior=containment",
        "--set",
        "benefit=risk",
        "--set",
        "lam=5",
        "--out",
        tmp_path / "out",
    )
    assert run("learn", table, *asked).exit_code == 0
    record = json.loads((tmp_path / "out" / "model.json").read_text())
    assert record["job"]["parameters"]["prior"] == "containment"
    assert record["certificate"]["welfare"] < 0  # minus the size of the epidemic
    again = run("rerun", tmp_path / "out" / "model.json", "--out", tmp_path / "again")
    assert "the graph is the same" in again.stdout
    refused = run("learn", table, "--set", "prior=contain", "--out", tmp_path / "no")
    assert refused.exit_code == 2
    assert "containment" in refused.output
