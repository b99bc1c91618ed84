"""The engine dask against the threads: the same bits with any number of workers, with gaps, and as workers are killed."""

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask is not installed: pip install 'nashgraph[distributed]'")

from nashgraph import GLGP, LinearGLGP, SmoothGL
from nashgraph.couplings.cluster.points import DaskPoints

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
def test_the_same_bits_as_the_threads_with_any_number_of_workers(workers, threads, signals, expected):
    threads(workers)
    assert_same(learn(signals, "dask"), expected)


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


def test_products_that_go_through_all_pairs_are_the_same_to_rounding(threads, signals):
    threads(2)
    X = signals[:, :200]
    ours, theirs = (
        GLGP(lam=0.5, storage="implicit", engine=engine, solver_params={"memory": 0}).fit(X).adjacency_.toarray()
        for engine in ("dask", "threads")
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


class Killer:
    """Kills the first worker: at the end of the pass of a number, or with its first part in hand."""

    def __init__(self, run, number, inside):
        self.run, self.number, self.inside = run, number, inside
        self.passes = self.killed = 0

    def __call__(self, points, work):
        self.passes += 1
        for part in self.run(points, work):
            if self.inside:
                self.kill(points.client)
            yield part
        self.kill(points.client)

    def kill(self, client):
        if self.passes == self.number and not self.killed:
            self.killed = min(client.run(os.getpid).values())
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.parametrize("inside", [False, True], ids=["between passes", "inside one"])
def test_a_killed_worker_costs_time_and_not_the_result(inside, processes, monkeypatch, signals, expected):
    killer = Killer(DaskPoints.run, 2, inside)
    monkeypatch.setattr(DaskPoints, "run", lambda points, work: killer(points, work))
    assert_same(learn(signals, "dask"), expected)
    assert killer.killed
    assert killer.passes > 2
    processes.wait_for_workers(2, timeout=60)
    assert killer.killed not in processes.run(os.getpid).values()
