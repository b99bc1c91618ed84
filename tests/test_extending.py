"""The extension points, each used by something defined here, outside the package: one class and one registration.

What is registered is known to the estimators, to the comparison and to the command line: to its options, its help, its
completion, its records and its reruns. Nothing of the package is changed for it.
"""

import json
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from nashgraph import GLGP, GraphEstimator, InputError, SmoothGL, compare, squared_distances
from nashgraph.certificate import Measure, Watch
from nashgraph.couplings import ENGINES, PartialPoints, Points
from nashgraph.estimators import METHODS
from nashgraph.games import INTERACTIONS, WELFARES, check_h1

from .commands import error_lines, run

RAW = ("--method", "glgp", "--no-standardize")


@contextmanager
def registered(registry, name, thing):
    registry.register(name)(thing)
    try:
        yield
    finally:
        registry.unregister(name)


@pytest.fixture
def table(tmp_path, random):
    frame = pd.DataFrame(random.normal(size=(30, 12)), columns=[f"q{k}" for k in range(12)])
    frame["rank"] = np.arange(1.0, 31.0)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def signals(table):
    """Return the signals as the command line reads them."""
    frame = pd.read_csv(table)
    return frame.set_axis([str(k + 1) for k in range(len(frame))]).T


def written(out):
    """Return the learned weights in an edge list, in the order of the nodes."""
    edges = pd.read_csv(out / "edges.csv")
    weights = np.zeros((30, 30))
    weights[edges["target"] - 1, edges["source"] - 1] = edges["weight"]
    return weights


# ------------------------------------------------------------------------------------------------ a method


class NearestGL(GraphEstimator):
    """Everybody listens to the nearest alike, and drifts toward them in ``max_iter`` rounds."""

    def __init__(self, n_neighbors=5, degree=10, max_iter=3, tol=2e-3, callback=None):
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback

    def _learn(self, X):
        if not 0 < self.n_neighbors < X.shape[1]:
            raise InputError(f"n_neighbors must be below the number of nodes, got {self.n_neighbors}")
        distances = squared_distances(X)
        np.fill_diagonal(distances, np.inf)
        weights = np.zeros_like(distances)
        nearest = np.argsort(distances, axis=1)[:, : self.n_neighbors]
        np.put_along_axis(weights, nearest, 1.0 / self.n_neighbors, axis=1)
        watch = Watch(Measure.CHANGE, self.tol, self.max_iter, self.callback)
        iteration, ending = 0, None
        while ending is None:
            iteration += 1
            ending = watch.ends(iteration, 0.0, 0.1**iteration)
        return {"adjacency_": weights, "certificate_": watch.certificate(ending), "nearest_": float(distances.min())}


@pytest.fixture
def nearest():
    with registered(METHODS, "nearest", NearestGL):
        yield


def test_a_method(nearest, table):
    model = NearestGL(n_neighbors=4).fit(signals(table))
    assert len(model.edges()) == 4 * 30
    assert model.converged_
    assert compare(signals(table), methods=["smooth", "nearest"])["method"].tolist() == ["smooth", "nearest"]

    out = table.parent / "out"
    result = run(
        "learn", table, "--method", "nearest", "--no-standardize", "--set", "n_neighbors=4", "--out", out, "--json"
    )
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(written(out), model.adjacency_)
    certificate = json.loads(result.stdout)["certificate"]
    assert certificate.items() >= model.certificate_.as_dict().items()
    assert certificate["nearest"] == pytest.approx(model.nearest_)
    assert "last change of the graph" in (out / "report.html").read_text()
    assert run("show", out).exit_code == run("rerun", out, "--out", table.parent / "again").exit_code == 0
    shown = json.loads(run("compare", table, "--methods", "nearest,smooth", "--degree", "5", "--json").stdout)
    assert [row["method"] for row in shown["methods"]] == ["nearest", "smooth"]
    assert "nearest" in run("learn", "--help").output


def test_what_a_method_does_not_have_or_refuses_is_said(nearest, table):
    out = table.parent / "out"
    result = run("learn", table, "--method", "nearest", "--c", "0.5", "--out", out)
    assert (result.exit_code, "nearest has no --c (consensus, smooth" in result.stderr) == (2, True)
    result = run("learn", table, "--method", "nearest", "--set", "n_neighbors=30", "--out", out)
    assert result.exit_code == 1
    assert error_lines(result)[-1] == "nashgraph learn: n_neighbors must be below the number of nodes, got 30"
    result = run("learn", table, "--method", "nearest", "--set", "max_iter=2", "--out", out)
    assert result.exit_code == 3
    assert "warning: NearestGL not converged: last change of the graph" in result.stderr


# --------------------------------------------------------------------------- an interaction and a welfare


@dataclass(frozen=True)
class Arctangent:
    """f(x) = arctan(x)."""

    def value(self, x):
        return np.arctan(x)

    def slope(self, x):
        return 1.0 / (1.0 + x**2)

    def curvature(self, x):
        return -2.0 * x / (1.0 + x**2) ** 2


@dataclass(frozen=True)
class Logarithmic:
    """g(y) = sum of log(1 + y)."""

    def value(self, y):
        return float(np.log1p(y).sum())

    def gradient(self, y):
        return 1.0 / (1.0 + y)


def test_an_interaction_with_a_welfare(table):
    check_h1(Arctangent())
    given = {"lam": 2.0, "benefit": np.arange(1.0, 31.0)}
    data = signals(table).drop(index="rank")
    model = GLGP(interaction=Arctangent(), welfare=Logarithmic(), **given).fit(data)
    with registered(INTERACTIONS, "arctangent", Arctangent), registered(WELFARES, "logarithmic", Logarithmic):
        named = GLGP(interaction="arctangent", welfare="logarithmic", **given).fit(data)
        np.testing.assert_array_equal(named.adjacency_, model.adjacency_)
        out, game = table.parent / "out", ("--interaction", "arctangent", "--welfare", "logarithmic")
        result = run("learn", table, *RAW, "--lam", "2", "--benefit", "rank", *game, "--out", out, "--json")
        assert result.exit_code == 0, result.output
        np.testing.assert_allclose(written(out), model.adjacency_, atol=1e-9)
        assert json.loads(result.stdout)["certificate"]["welfare"] == pytest.approx(model.welfare_)
        assert run("rerun", out, "--out", table.parent / "again").exit_code == 0
        path = run(
            "path", table, "--lams", "0.5,2", "--no-standardize", "--benefit", "rank", *game, "--out", out, "--json"
        )
        assert path.exit_code == 0, path.output
        assert pd.read_csv(out / "path.csv")["welfare"][1] == pytest.approx(model.welfare_)
        compared = run("compare", table, "--methods", "glgp", "--benefit", "rank", *game, "--json")
        assert compared.exit_code == 0, compared.output
        shown = run("learn", "--help").output
        assert "arctangent" in shown
        assert "logarithmic" in shown
    result = run("learn", table, "--interaction", "arctangent")
    assert (result.exit_code, "'arctangent' is not known" in result.stderr) == (2, True)


# ------------------------------------------------------------------------------ a place where signals live


class CountedPoints(Points):
    """Signals that are gone through one block after the other, each on rows that are made anew, and counted."""

    passes = 0

    def run(self, work):
        type(self).passes += 1
        for first in range(0, len(self), 7):
            yield work(first, self.rows(first, min(len(self), first + 7)).copy())


def counted_points(X, lift=None):
    return PartialPoints(X, lift) if np.isnan(X).any() else CountedPoints(X, lift)


@pytest.mark.parametrize("storage", ["sparse", "implicit"])
def test_a_place_where_signals_live(table, storage):
    model = GLGP(lam=2.0, storage=storage).fit(signals(table))
    smooth = SmoothGL(storage=storage).fit(signals(table))
    with registered(ENGINES, "counted", counted_points):
        CountedPoints.passes = 0
        np.testing.assert_allclose(
            SmoothGL(storage=storage, engine="counted").fit(signals(table)).adjacency_.toarray(),
            smooth.adjacency_.toarray(),
            atol=1e-12,
        )
        assert CountedPoints.passes > 0
        CountedPoints.passes, out = 0, table.parent / "out"
        options = (*RAW, "--lam", "2", "--engine", "counted", "--set", f"storage={storage}")
        result = run("learn", table, *options, "--out", out)
        assert result.exit_code == 0, result.output
        assert CountedPoints.passes > 1
        np.testing.assert_allclose(written(out), model.adjacency_.toarray(), atol=1e-9)
        assert json.loads((out / "model.json").read_text())["job"]["parameters"]["engine"] == "counted"
        assert run("rerun", out, "--out", table.parent / "again").exit_code == 0
        assert "[auto|threads|cuda|dask|counted]" in run("learn", "--help").output
    assert run("learn", table, "--engine", "counted").exit_code == 2
    with pytest.raises(InputError, match="engine='counted' is not known"):
        SmoothGL(engine="counted").fit(signals(table))
