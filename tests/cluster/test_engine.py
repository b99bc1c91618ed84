"""The engine dask against the threads: the same bits with any number of workers, and as workers are killed."""

import logging
import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask is not installed: pip install 'nashgraph[distributed]'")

from nashgraph import GLGP, LinearGLGP, SmoothGL
from nashgraph.couplings import ImplicitSmoothness, points_of
from nashgraph.couplings.cluster.points import DaskPoints
from nashgraph.couplings.passes import TimesRows

NODES = 1200  # so many that GLGP lists pairs
GRAPH = ("indptr", "indices", "data")


@pytest.fixture(scope="module")
def signals():
    return np.random.default_rng(0).normal(size=(6, NODES))


@pytest.fixture(scope="module")
def expected(signals):
    return learn(signals, "threads")


def learn(signals, engine):
    return GLGP(degree=6, lam=0.5, tol=1e-5, storage="sparse", engine=engine).fit(signals).adjacency_


def assert_same(one, two):
    for part in GRAPH:
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_same_bits_as_the_threads_with_any_number_of_workers(workers, threads, signals, expected, caplog):
    threads(workers)
    with caplog.at_level(logging.INFO, "nashgraph"):
        assert_same(learn(signals, "dask"), expected)
    assert f"engine: dask (workers: {workers}, threads: {workers})" in caplog.text


@pytest.mark.parametrize("kind", [SmoothGL, LinearGLGP])
@pytest.mark.parametrize("storage", ["dense", "sparse", "implicit"])
def test_every_storage_and_geometry_and_gaps(kind, storage, threads, signals):
    threads(2)
    X = signals[:, :300].copy()
    X[0, ::7] = np.nan
    ways = [{"missing": "pairwise"}, {"missing": "pairwise", "geometry": "inner", "dtype": "float32"}]
    for way in ways:
        ours, theirs = (kind(storage=storage, engine=each, **way).fit(X).adjacency_ for each in ("dask", "threads"))
        np.testing.assert_array_equal(*(a if storage == "dense" else a.toarray() for a in (ours, theirs)))


def test_parts_that_add_up_are_added_by_task(threads, signals):
    points = points_of(signals, "threads"), DaskPoints(signals, client=threads(2))
    graphs = [ImplicitSmoothness(each, 1.0, 0.95).smooth for each in points]
    ours, theirs = (graph.tdot(np.arange(NODES, dtype=float)) for graph in graphs[::-1])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert len(list(points[1].run(TimesRows(np.ones(NODES))))) == len(points[1].spans(adds=True)) - 1


class Killer:
    """Kills the first worker: at the end of the pass of a number, or with its first part in hand."""

    def __init__(self, run, number, inside):
        self.number, self.inside = number, inside
        self.passes = self.killed = 0

        def watched(points, work):
            self.passes += 1
            for part in run(points, work):
                if self.inside:
                    self.kill(points.client)
                yield part
            self.kill(points.client)

        self.watched = watched

    def kill(self, client):
        if self.passes == self.number and not self.killed:
            self.killed = min(client.run(os.getpid).values())
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.parametrize("inside", [False, True], ids=["between passes", "inside one"])
def test_a_killed_worker_costs_time_and_not_the_result(inside, processes, monkeypatch, signals, expected):
    killer = Killer(DaskPoints.run, 2, inside)
    monkeypatch.setattr(DaskPoints, "run", killer.watched)
    assert_same(learn(signals, "dask"), expected)
    assert killer.killed
    assert killer.passes > 2
    processes.wait_for_workers(2, timeout=60)
    assert killer.killed not in processes.run(os.getpid).values()
