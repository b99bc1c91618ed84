"""The lambda-path of a table."""

import json

import numpy as np
import pandas as pd
import pytest

from nashgraph import glgp_path
from nashgraph.cli._following import knee

from ..commands import error_lines, run


@pytest.fixture
def table(tmp_path, random):
    frame = pd.DataFrame(random.normal(size=(30, 10)), columns=[f"q{k}" for k in range(10)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_the_path_is_that_of_the_library_and_its_knee_is_written(table):
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
    place = knee(path.fidelities, path.welfares)
    assert chosen == pytest.approx(path.lams[place])
    assert f"took lam = {chosen:.4g}, the knee of the front" in result.stderr
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
    ("fidelities", "welfares", "place"),
    [
        ([1, 1.1, 3, 9], [0, 8, 9, 10], 1),
        ([1, 5, 6, 9], [0, 1, 9, 10], 2),
        ([1], [1], 0),
        ([1, 1, 1], [2, 2, 2], 0),
        ([1, 2, 3], [1, 2, 3], 0),
    ],
)
def test_the_knee_is_farthest_from_the_line_between_the_ends(fidelities, welfares, place):
    assert knee(np.array(fidelities, float), np.array(welfares, float)) == place
