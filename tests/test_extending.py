"""The extension points, each used by something defined here, outside the package: one class and one registration.

The estimators, the comparison and the command line know a registered name: in options, help, completion, records and
reruns. No file of the package is changed for it.
"""

import json
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from nashgraph import (
    GLGP,
    BestResponse,
    ConsensusGL,
    GamePrior,
    GraphEstimator,
    InputError,
    SmoothGL,
    compare,
    project_rows,
    squared_distances,
)
from nashgraph.certificate import Measure, Monitor, Status
from nashgraph.estimators import METHODS
from nashgraph.games import INTERACTIONS, WELFARES, check_h1
from nashgraph.io import GRAPH_FILES
from nashgraph.pairs import ENGINES, BlockSearch, SparseWeights, make_search, points_of
from nashgraph.smoothness import STORAGES, make_smoothness
from nashgraph.solvers import Problem

from .commands import error_lines, run
from .problems import random_graph

RAW = ("--method", "glgp", "--set", "standardize=no")


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
    """Everybody listens to the nearest alike, and drifts toward them in ``max_iter`` steps."""

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
        monitor = Monitor(Measure.CHANGE, self.tol, self.max_iter, self.callback)
        iteration, status = 0, None
        while status is None:
            iteration += 1
            status = monitor.check(iteration, 0.0, 0.1**iteration)
        return {"adjacency_": weights, "certificate_": monitor.certificate(status), "nearest_": float(distances.min())}


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
        "learn",
        table,
        "--method",
        "nearest",
        "--set",
        "standardize=no",
        "--set",
        "n_neighbors=4",
        "--out",
        out,
        "--json",
    )
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(written(out), model.adjacency_.toarray())
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
    result = run("learn", table, "--method", "nearest", "--set", "c=0.5", "--out", out)
    assert (result.exit_code, "nearest has no --set c (consensus, smooth" in result.stderr) == (2, True)
    result = run("learn", table, "--method", "nearest", "--set", "n_neighbors=30", "--out", out)
    assert result.exit_code == 1
    assert error_lines(result)[-1] == "nashgraph learn: n_neighbors must be below the number of nodes, got 30"
    result = run("learn", table, "--method", "nearest", "--set", "max_iter=2", "--out", out)
    assert result.exit_code == 3
    assert "has not converged: last change of the graph" in result.stderr


# --------------------------------------------------------------------------- an interaction and a welfare


@dataclass(frozen=True)
class Arctangent:
    """f(x) = arctan(x)."""

    def value(self, x):
        return np.arctan(x)

    def slope(self, x):
        return 1.0 / (1.0 + x**2)


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
    model = GLGP(**given, prior=GamePrior(interaction=Arctangent(), welfare=Logarithmic())).fit(data)
    with registered(INTERACTIONS, "arctangent", Arctangent), registered(WELFARES, "logarithmic", Logarithmic):
        named = GLGP(**given, prior=GamePrior(interaction="arctangent", welfare="logarithmic")).fit(data)
        np.testing.assert_array_equal(named.adjacency_.toarray(), model.adjacency_.toarray())
        out, game = table.parent / "out", ("--set", "interaction=arctangent", "--set", "welfare=logarithmic")
        result = run("learn", table, *RAW, "--set", "lam=2", "--set", "benefit=rank", *game, "--out", out, "--json")
        assert result.exit_code == 0, result.output
        np.testing.assert_allclose(written(out), model.adjacency_.toarray(), atol=1e-9)
        assert json.loads(result.stdout)["certificate"]["welfare"] == pytest.approx(model.welfare_)
        assert run("rerun", out, "--out", table.parent / "again").exit_code == 0
        path = run(
            "path",
            table,
            "--lams",
            "0.5,2",
            "--set",
            "standardize=no",
            "--set",
            "benefit=rank",
            *game,
            "--out",
            out,
            "--json",
        )
        assert path.exit_code == 0, path.output
        assert pd.read_csv(out / "path.csv")["welfare"][1] == pytest.approx(model.welfare_)
        compared = run("compare", table, "--methods", "glgp", "--set", "benefit=rank", *game, "--json")
        assert compared.exit_code == 0, compared.output
        shown = run("learn", "--set", "help").output
        assert "arctangent" in shown
        assert "logarithmic" in shown
    result = run("learn", table, "--set", "interaction=arctangent")
    assert (result.exit_code, "'arctangent' is not known" in result.stderr) == (2, True)


# --------------------------------------------------------------------------- an engine that searches pairs


class Counted:
    """An executor that goes through one block after the other, each with its own rows, and counts its scans."""

    started = 0

    def __init__(self, geometry):
        self.geometry = geometry

    def blocks(self, task, nodes):
        type(self).started += 1
        for first in range(0, len(nodes), 7):
            some = nodes[first : first + 7]
            yield task(some, self.geometry.rows(some))


def counted_search(X, node_costs=None, sizes=None):
    return BlockSearch(Counted(points_of(X, node_costs, sizes)))


def test_an_engine(table):
    model = GLGP(lam=2.0, solver=BestResponse(storage="sparse")).fit(signals(table))
    smooth = SmoothGL(storage="sparse").fit(signals(table))
    with registered(ENGINES, "counted", counted_search):
        Counted.started = 0
        found = SmoothGL(storage="sparse", engine="counted").fit(signals(table)).adjacency_.toarray()
        np.testing.assert_allclose(found, smooth.adjacency_.toarray(), atol=1e-12)
        assert Counted.started > 0
        Counted.started, out = 0, table.parent / "out"
        options = (*RAW, "--set", "lam=2", "--set", "engine=counted", "--set", "storage=sparse")
        result = run("learn", table, *options, "--out", out)
        assert result.exit_code == 0, result.output
        assert Counted.started > 0
        np.testing.assert_allclose(written(out), model.adjacency_.toarray(), atol=1e-9)
        assert json.loads((out / "model.json").read_text())["job"]["parameters"]["engine"] == "counted"
        assert run("rerun", out, "--out", table.parent / "again").exit_code == 0
        assert "[auto|threads|cuda|dask|counted]" in run("learn", "--set", "help").output
    assert run("learn", table, "--set", "engine=counted").exit_code == 2
    with pytest.raises(InputError, match="engine='counted' is not known"):
        SmoothGL(engine="counted").fit(signals(table))


# ----------------------------------------------------------------------------------- a functional prior


@dataclass(frozen=True)
class PlainState:
    """The values of a prior at one W that a solver needs."""

    value: float
    left: np.ndarray
    right: np.ndarray


def fixed_point(update, start, tol):
    """Repeat an update until it changes nothing any more."""
    while np.linalg.norm((new := update(start)) - start) > tol * np.linalg.norm(new):
        start = new
    return new


@dataclass(frozen=True)
class Epidemic:
    """Less the share of infected nodes: y = tau z / (1 + tau z) with z = b + W y, where b comes from outside."""

    imported: np.ndarray
    tau: float = 1.0

    def evaluate(self, weights, *, tol=1e-13, start=None):
        exact = min(tol, 1e-12)

        def spread(y):
            pressure = self.tau * (self.imported + weights.dot(y))
            return pressure / (1.0 + pressure)

        y = fixed_point(spread, self.imported, exact)
        slope = self.tau / (1.0 + self.tau * (self.imported + weights.dot(y))) ** 2
        u = fixed_point(lambda u: -1.0 + weights.tdot(slope * u), -np.ones_like(y), exact)
        return PlainState(-float(y.sum()), slope * u, y)


@dataclass(frozen=True)
class Resilience:
    """The mean total action of y = b + W log(1 + y), without the nodes that each of K scenarios takes away."""

    benefit: np.ndarray
    stay: np.ndarray  # of shape (n_nodes, K): 0 where a scenario takes the node away

    def evaluate(self, weights, *, tol=1e-13, start=None):
        exact, share = min(tol, 1e-12), 1.0 / self.stay.shape[1]
        value, left, right = 0.0, np.empty_like(self.stay), np.empty_like(self.stay)
        for k, stay in enumerate(self.stay.T):

            def act(y, stay=stay):
                return self.benefit + stay * weights.dot(stay * np.log1p(y))

            y = fixed_point(act, self.benefit, exact)

            def count(u, stay=stay, y=y):
                return 1.0 + stay / (1.0 + y) * weights.tdot(stay * u)

            value += share * float(y.sum())
            left[:, k], right[:, k] = share * stay * fixed_point(count, np.ones_like(y), exact), stay * np.log1p(y)
        return PlainState(value, left, right)


def outside_prior(name, n):
    random = np.random.default_rng(1)
    if name == "epidemic":
        return Epidemic(0.1 * random.random(n))
    return Resilience(random.random(n), (random.random((n, 3)) < 0.8).astype(float))


@pytest.mark.parametrize("name", ["epidemic", "resilience"])
def test_a_prior_s_gradient_meets_central_differences(name, random):
    prior, W = outside_prior(name, 9), random_graph(9, 0.9, random)
    state = prior.evaluate(SparseWeights(sparse.csr_array(W), np.zeros(9), 1.0))
    gradient = np.reshape(state.left, (9, -1)) @ np.reshape(state.right, (9, -1)).T
    for _ in range(5):
        step = np.where(W > 1e-3, random.normal(size=(9, 9)), 0.0) * 1e-5
        up, down = (
            prior.evaluate(SparseWeights(sparse.csr_array(W + sign * step), np.zeros(9), 1.0)).value for sign in (1, -1)
        )
        assert (up - down) / 2 == pytest.approx(float(np.sum(gradient * step)), rel=1e-5)


@pytest.mark.parametrize("lam", [0.5, 20.0])
@pytest.mark.parametrize("name", ["epidemic", "resilience"])
def test_a_prior_from_outside_is_solved_for_on_both_storages(name, lam, random):
    X, prior = random.normal(size=(6, 60)), outside_prior(name, 60)
    results = {}
    for storage in STORAGES:
        problem = Problem(make_smoothness(make_search(X), 0.5, 0.95, storage), prior)
        result = results[storage] = BestResponse(tol=1e-6).solve(problem, lam)
        assert result.converged
        assert result.certificate.value <= 1e-6
        # The certificate by its definition: the projection of all scores, computed another way.
        state, W = prior.evaluate(result.weights), result.weights.matrix().toarray()
        bonus = lam * np.reshape(state.left, (60, -1)) @ np.reshape(state.right, (60, -1)).T
        response, _ = project_rows((bonus - squared_distances(X)) / (2 * 0.5), 0.95)
        assert np.linalg.norm(W - response) <= 1e-5 * np.linalg.norm(W)
        assert state.value > prior.evaluate(problem.smooth).value  # the prior has done something
    dense, sparse_one = results["dense"], results["sparse"]
    assert sparse_one.objective == pytest.approx(dense.objective, rel=1e-8)
    np.testing.assert_allclose(sparse_one.weights.matrix().toarray(), dense.weights.matrix().toarray(), atol=1e-4)


# ------------------------------------------------- a column of edges and nodes, a format, a stopping rule, replicates


class RankedGL(NearestGL):
    """The same, with a value for every edge and every node."""

    def _edge_columns(self):
        return {"closeness": np.linspace(0.1, 0.9, int(np.count_nonzero(self.adjacency_.toarray())))}

    def _node_columns(self):
        return {"popularity": self.adjacency_.toarray().sum(axis=0)}


def write_pairs(graph, path):
    """A format: one pair of names a line."""
    path.write_text("\n".join(f"{edge.source} {edge.target}" for edge in graph.edges().itertuples()))


def test_a_column_and_a_format_reach_every_file(table, monkeypatch):
    monkeypatch.setitem(GRAPH_FILES, "graph.pairs", write_pairs)
    with registered(METHODS, "ranked", RankedGL):
        out = table.parent / "out"
        assert run("learn", table, "--method", "ranked", "--out", out).exit_code == 0
    edges = pd.read_csv(out / "edges.csv")
    assert edges["closeness"].between(0.1, 0.9).all()
    assert "popularity" in pd.read_csv(out / "nodes.csv").columns
    for file in ("graph.graphml", "graph.json"):
        assert all(name in (out / file).read_text() for name in ("closeness", "popularity"))
    assert len((out / "graph.pairs").read_text().splitlines()) == len(edges)


def test_a_stopping_rule(random):
    """A callback that returns a status is another stopping rule, for every solver that has a monitor."""
    X = random.normal(size=(6, 40))
    solver = BestResponse(callback=lambda record: record.iteration >= 2 and Status.STALLED)
    with pytest.warns(ConvergenceWarning, match="no further progress"):
        model = GLGP(degree=5, lam=20.0, solver=solver).fit(X)
    assert model.certificate_.status is Status.STALLED
    assert model.n_iter_ == 2


class LeaveOneOut(ConsensusGL):
    """Replicates of all signals but one in place of halves."""

    def _halves(self, n_signals):
        return [np.delete(np.arange(n_signals), k) for k in range(self.n_replicates)]


def test_a_replicate_scheme(random):
    X = random.normal(size=(12, 25))
    ours, usual = (kind(n_replicates=6, random_state=0).fit(X) for kind in (LeaveOneOut, ConsensusGL))
    np.testing.assert_allclose(ours.adjacency_.toarray().sum(axis=1), usual.adjacency_.toarray().sum(axis=1))
    width = [float((model.edges()["high"] - model.edges()["low"]).mean()) for model in (ours, usual)]
    assert width[0] < 0.7 * width[1]  # one signal of twelve changes less than six do
