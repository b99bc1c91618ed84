"""Graphs whose rows stay on the workers: the answers of the threads, with few searches, and as a worker is killed."""

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask is not installed: pip install 'nashgraph[distributed]'")

from nashgraph import GLGP, SmoothGL
from nashgraph.pairs import make_search
from nashgraph.smoothness import make_smoothness
from nashgraph.couplings import SparseSmoothness  # TODO# TODO
from nashgraph.couplings.choose import suitable_storage
from nashgraph.couplings.cluster import smoothness
from nashgraph.pairs.cluster.points import DaskPoints
from nashgraph.pairs.cluster.smoothness import DaskSmoothness
from nashgraph.validation import InputError

NODES = 300


@pytest.fixture(autouse=True)
def few_blocks(monkeypatch):
    monkeypatch.setattr(smoothness, "BLOCKS", 3)


@pytest.fixture(scope="module")
def signals():
    return np.random.default_rng(0).normal(size=(6, NODES))


def learn(signals, **where):
    return GLGP(degree=6, lam=0.2, tol=1e-3, **where).fit(signals)


def test_best_responses_are_those_among_all_pairs(threads, signals, random):
    held = DaskSmoothness(DaskPoints(signals, client=threads(2)), 0.5, 0.95)
    plain = SparseSmoothness(make_search(signals), 0.5, 0.95)
    left, right = random.random(NODES), random.random(NODES)
    searched = []
    for size in (0.0, 0.01, 0.02, 0.02, 5.0, 5.1, 0.0):  # small changes, none, and one that turns all over
        ours, theirs = held.respond(size * left, right), plain.respond(size * left, right)
        np.testing.assert_allclose(ours.matrix().toarray(), theirs.matrix().toarray(), atol=1e-9)
        np.testing.assert_allclose(ours.threshold, theirs.threshold, atol=1e-9)
        assert (ours.cost, ours.square) == pytest.approx((theirs.cost, theirs.square))
        searched.append(held.searched)
    assert searched[0] == NODES  # the first answer has no list to go by
    assert searched[1] == searched[3] == NODES  # and others need no search
    assert searched[4] > NODES


def test_graphs_are_worked_with_where_they_are(threads, signals, random):
    held = DaskSmoothness(DaskPoints(signals, client=threads(2)), 0.5, 0.95)
    plain = SparseSmoothness(make_search(signals), 0.5, 0.95)
    left, right = random.random(NODES), random.random(NODES)
    (one, two), (first, second) = ((term.smooth, term.respond(left, right)) for term in (held, plain))
    pairs = [(one, first), (one.mix(two, 0.3), first.mix(second, 0.3)), (held.hold(second.matrix()), second)]
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours.dot(right), theirs.dot(right))
        np.testing.assert_allclose(ours.tdot(right), theirs.tdot(right))
        assert (ours.cost, ours.square) == pytest.approx((theirs.cost, theirs.square))
        assert ours.sparse().cost == ours.cost
    assert one.distance(two) == pytest.approx(first.distance(second))
    assert held.neighbour_spread(left, right) == pytest.approx(plain.neighbour_spread(left, right))


def test_the_same_graph_with_any_number_of_workers(threads, signals):
    expected = learn(signals, storage="sparse")
    found = []
    for workers in (1, 3):
        threads(workers)
        found.append(learn(signals, engine="dask", storage="workers"))
    np.testing.assert_array_equal(*(model.adjacency_.toarray() for model in found))
    assert found[0].converged_
    assert found[0].objective_ == pytest.approx(expected.objective_, rel=1e-4)
    np.testing.assert_allclose(found[0].adjacency_.toarray(), expected.adjacency_.toarray(), atol=1e-2)


def test_a_killed_worker_takes_rows_along_that_are_made_again(processes, signals, random):
    held = DaskSmoothness(DaskPoints(signals, client=processes), 0.5, 0.95)
    plain = SparseSmoothness(make_search(signals), 0.5, 0.95)
    left, right = random.random(NODES), random.random(NODES)
    ours, theirs = held.respond(0.1 * left, right), plain.respond(0.1 * left, right)
    for pid in processes.run(os.getpid).values():  # both of them, one after the other
        os.kill(pid, signal.SIGKILL)
        np.testing.assert_allclose(ours.dot(right), theirs.dot(right))
        np.testing.assert_allclose(ours.matrix().toarray(), theirs.matrix().toarray(), atol=1e-12)
    again = held.respond(0.11 * left, right).matrix().toarray()
    np.testing.assert_allclose(again, plain.respond(0.11 * left, right).matrix().toarray(), atol=1e-12)


def test_it_is_taken_where_memory_here_does_not_suffice(threads, signals, monkeypatch):
    monkeypatch.setattr("nashgraph.couplings.choose.DENSE_NODES", 10)
    points = DaskPoints(signals, client=threads(1))
    assert suitable_storage(points, 0.5, 0.95, free=1e9)[0] == "sparse"
    assert suitable_storage(points, 0.5, 0.95, free=1e3)[0] == "workers"
    assert suitable_storage(make_search(signals), 0.5, 0.95, free=1e3)[0] == "implicit"
    assert isinstance(make_smoothness(points, 0.5, 0.95, "workers"), DaskSmoothness)
    with pytest.raises(InputError, match=r"storage='workers' holds graphs on the workers .* needs engine='dask'"):
        SmoothGL(storage="workers").fit(signals)
