"""The engine dask against the threads: the same bits with any number of workers, and as workers are killed."""

import logging
import os
import pickle
import signal

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask is not installed: pip install 'nashgraph[distributed]'")

from nashgraph import GLGP, BestResponse, LinearGLGP, SmoothGL
from nashgraph.pairs import BlockSearch, Bonus, make_search, points_of, tree_search
from nashgraph.pairs import search as search_module
from nashgraph.pairs.cluster import search as on_workers
from nashgraph.pairs.cluster.client import put
from nashgraph.pairs.cluster.search import Workers
from nashgraph.pairs.scans import Nearest

from ..problems import HARDEST, TIED, check_laws_of_an_engine, hardest

NODES = 1200
GRAPH = ("indptr", "indices", "data")


@pytest.fixture(scope="module")
def signals():
    return np.random.default_rng(0).normal(size=(6, NODES))


@pytest.fixture(scope="module")
def expected(signals):
    return learn(signals, "threads")


def learn(signals, engine):
    solver = BestResponse(tol=1e-5, storage="sparse")
    return GLGP(degree=6, lam=0.5, engine=engine, solver=solver).fit(signals).adjacency_


def assert_same(one, two):
    for part in GRAPH:
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_same_bits_as_the_threads_with_any_number_of_workers(workers, threads, signals, expected, caplog):
    threads(workers)
    with caplog.at_level(logging.INFO, "nashgraph"):
        assert_same(learn(signals, "dask"), expected)
    assert f"engine: dask (workers: {workers}, threads: {workers})" in caplog.text


@pytest.mark.filterwarnings("ignore::nashgraph.validation.DataWarning")
def test_the_hardest_problems_end_where_the_threads_do(threads):
    threads(2)
    for name in HARDEST:
        ours, theirs = (BestResponse().solve(*hardest(name, "sparse", engine, n=80)) for engine in ("dask", "threads"))
        assert ours.converged
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("method", [SmoothGL, LinearGLGP, GLGP])
def test_laws_hold_where_many_pairs_tie(method, leaves, threads, monkeypatch):
    if leaves:
        leaf_by_leaf(monkeypatch, 10)
    threads(2)
    for shape in TIED:
        check_laws_of_an_engine(method, "dask", shape)


def leaf_by_leaf(monkeypatch, nodes=100):
    """Make scans go leaf by leaf, on threads and on workers, even for small and dense tables."""
    monkeypatch.setattr(search_module, "FIRST_NODES", nodes)
    monkeypatch.setattr(tree_search, "PAYS", np.inf)
    monkeypatch.setattr(on_workers, "LEAVES_NODES", nodes)


@pytest.mark.filterwarnings("ignore::nashgraph.validation.DataWarning")
@pytest.mark.parametrize("geometry", ["distance", "inner"])
@pytest.mark.parametrize("workers", [1, 3])
def test_leaf_by_leaf_the_same_bits_too(workers, geometry, threads, signals, monkeypatch):
    leaf_by_leaf(monkeypatch)
    threads(workers)
    for X in (signals, 5.0 + np.round(3.0 * signals[:2])):  # rows that repeat are one point
        given = {"degree": 6, "storage": "sparse", "geometry": geometry}
        assert_same(*(SmoothGL(engine=each, **given).fit(X).adjacency_ for each in ("dask", "threads")))
        assert_same(*(listed(X, engine, geometry) for engine in ("dask", "threads")))


def test_leaf_by_leaf_the_nearest_are_those_of_all_pairs(threads, signals, monkeypatch):
    leaf_by_leaf(monkeypatch)
    client = threads(2)
    search = make_search(signals, "dask")
    blocks = BlockSearch(Workers(points_of(signals), client))
    np.testing.assert_allclose(search.nearest(5)[0], blocks.nearest(5)[0], rtol=1e-12)
    assert search.leaves.pays[Nearest]
    assert search.leaves.looked[1] > 0


def listed(signals, engine, geometry):
    """Return the pairs that a scan lists under a bonus of rank 2, of all nodes."""
    search = make_search(signals, engine, geometry=geometry)
    sides = np.linspace(0, 1, 2 * NODES).reshape(2, NODES).T, np.linspace(1, 0, 2 * NODES).reshape(NODES, 2) ** 2
    cut = -search.nearest(8)[0][:, -1]
    return search.above(cut, Bonus.of(*sides), gain=1.0, total=0.95)[0]


@pytest.mark.parametrize("kind", [SmoothGL, LinearGLGP])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_every_storage_and_geometry_and_gaps(kind, storage, threads, signals):
    threads(2)
    X = signals[:, :300].copy()
    X[0, ::7] = np.nan
    ways = [{"missing": "pairwise"}, {"missing": "pairwise", "geometry": "inner"}]
    for way in ways:
        ours = kind(storage=storage, engine="dask", **way).fit(X).adjacency_
        theirs = kind(storage=storage, engine="threads", **way).fit(X).adjacency_
        np.testing.assert_array_equal(ours.toarray(), theirs.toarray())


class Killer:
    """Kills the first worker: at the end of a numbered scan, or during its first part."""

    def __init__(self, run, number, inside):
        self.number, self.inside = number, inside
        self.scans = self.killed = 0

        def watched(points, *arguments):
            self.scans += 1
            for part in run(points, *arguments):
                if self.inside:
                    self.kill(points.client)
                yield part
            self.kill(points.client)

        self.watched = watched

    def kill(self, client):
        if self.scans == self.number and not self.killed:
            self.killed = min(client.run(os.getpid).values())
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.parametrize(
    ("leaves", "inside"),
    [(False, False), (False, True), (True, True)],
    ids=["between scans", "inside one", "inside one, leaf by leaf"],
)
def test_a_killed_worker_costs_time_and_not_the_result(leaves, inside, processes, monkeypatch, signals, expected):
    if leaves:
        leaf_by_leaf(monkeypatch)
        expected = learn(signals, "threads")
    killer = Killer(Workers.shared_out, 2, inside)
    monkeypatch.setattr(Workers, "shared_out", killer.watched)
    assert_same(learn(signals, "dask"), expected)
    assert killer.killed
    assert killer.scans > 2
    processes.wait_for_workers(2, timeout=300)
    assert killer.killed not in processes.run(os.getpid).values()


def test_tasks_are_dealt_out_as_workers_become_free_after_any_number_of_scans(threads):
    client = threads(2)
    earlier = [put(client, number) for number in range(6)]
    tasks = client.map(lambda *_: None, earlier[:1] * 20, earlier[-1:] * 20, range(20), pure=False)
    client.gather(tasks)

    def dealt_out(key, dask_scheduler):
        return dask_scheduler.is_rootish(dask_scheduler.tasks[key])

    assert client.run_on_scheduler(dealt_out, tasks[0].key)


def test_what_is_sent_arrives_as_new_arrays_and_goes_on_as_it_came(threads):
    client = threads(1)
    first = put(client, np.arange(5.0)).result()
    for sent in (first, pickle.loads(pickle.dumps(first))):
        assert np.array_equal(sent.value, np.arange(5.0))
        assert sent.value.flags.writeable
        assert sent.value.flags.aligned
    buffers = []
    pickle.dumps(sent, protocol=5, buffer_callback=buffers.append)
    assert [bytes(buffer.raw()) for buffer in buffers] == [bytes(sent.packed)]
    assert sent.once(np.sum) == sent.once(np.prod) == 10


def test_points_arrive_in_memory_without_what_stays_here(threads, signals):
    threads(1)
    points = Workers(points_of(signals), by_leaf=True).geometry
    assert len(points.tree.nodes) == NODES
    there = pickle.loads(pickle.dumps(points))
    assert "tree" not in vars(there)
    assert "order" in vars(there)
    assert np.array_equal(there.tree.nodes, points.tree.nodes)


@pytest.mark.parametrize("by_leaf", [False, True])
def test_points_are_with_every_worker_before_a_scan_needs_them(by_leaf, threads, signals):
    threads(3)
    workers = Workers(points_of(signals), by_leaf=by_leaf)
    client, key = workers.client, workers.sent.key
    client.gather(workers.ready)
    assert {*client.who_has([workers.sent])[key]} == {*client.nthreads()}

    def has_tree(dask_worker):
        return "tree" in vars(dask_worker.data[key].value)

    assert {*client.run(has_tree).values()} == {by_leaf}


def test_tasks_get_smaller_toward_the_end():
    sizes = np.diff(on_workers.spans(20_000, 100, 20_000, threads=2))
    assert sizes.sum() == 20_000
    assert (sizes % 100 == 0).all()
    assert (np.diff(sizes) <= 0).all()
    assert sizes[0] == on_workers.TASK_PAIRS / 20_000
    assert sizes[-1] == on_workers.LEAST_PAIRS / 20_000
