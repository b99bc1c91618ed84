"""The lambda-path of a table."""

import json

import numpy as np
import pandas as pd
import pytest

from nashgraph import SmoothGL, glgp_path
from nashgraph.cli._following import affordable

from ..commands import error_lines, run


@pytest.fixture
def table(tmp_path, random):
    frame = pd.DataFrame(random.normal(size=(30, 10)), columns=[f"q{k}" for k in range(10)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_the_path_is_that_of_the_library_and_the_strongest_cheap_prior_is_written(table):
    out = table.parent / "out"
    result = run("path", table, "--n-lams", "6", "--degree", "5", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    assert sorted(file.name for file in out.iterdir()) == [
        *("edges.csv", "graph.graphml", "graph.json", "model.json", "path.csv", "report.html")
    ]
    written = pd.read_csv(out / "path.csv")
    path = glgp_path(pd.read_csv(table).T, n_lams=6, degree=5)
    np.testing.assert_allclose(written["lam"], path.lams, rtol=1e-12)
    np.testing.assert_allclose(written["welfare"], path.welfares, rtol=1e-9)
    assert list(written.columns) == ["lam", "fidelity", "welfare", "objective", "stationarity", "edges", "converged"]
    chosen = json.loads(result.stdout)["certificate"]["lam"]
    least = SmoothGL(degree=5).fit(pd.read_csv(table).T).objective_
    place = affordable(path.fidelities, least)
    assert path.fidelities[place] <= 1.001 * least < path.fidelities[place + 1]
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
    result = run("path", table, "--benefit", "uniform", "--out", table.parent / "out")
    assert result.exit_code == 1
    assert "no lam changes an edge" in error_lines(result)[-1]
    assert not (table.parent / "out").exists()


@pytest.mark.parametrize(
    ("fidelities", "place"),
    [([1.0, 1.0005, 1.001, 1.002], 2), ([1.5, 2.0], 0), ([1.0], 0), ([1.0, 1.0, 1.0], 2)],
)
def test_the_strongest_prior_that_is_nearly_free_is_taken(fidelities, place):
    assert affordable(np.array(fidelities), 1.0) == place


def test_a_range_that_is_too_strong_is_said(table):
    result = run("path", table, "--lams", "1000,2000", "--out", table.parent / "out")
    assert "took lam = 1000, the weakest, though it costs more" in result.stderr
