"""Whole members, halves and groups sent to workers: the same bits as one after the other, computed there."""

import json
import logging
import os
import signal
import threading

import joblib
import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="dask is not installed: pip install 'nashgraph[distributed]'")

from nashgraph import ConsensusGL, SmoothGL
from nashgraph.consensus import members, parallel
from nashgraph.pairs.cluster.client import inside_worker

from ..commands import run


@pytest.fixture(scope="module")
def signals():
    """Signals whose axes are in the other order, and not in one piece."""
    return np.random.default_rng(0).normal(size=(80, 12))[::2].T


@pytest.fixture(scope="module")
def expected(signals):
    return consensus().fit(signals)


@pytest.fixture
def made_here(monkeypatch):
    """The ladders that are made in this process."""
    found, ladder = [], members.smooth_ladder
    monkeypatch.setattr(members, "smooth_ladder", lambda *given: found.append(None) or ladder(*given))
    return found


def consensus(**given):
    return ConsensusGL(**{"n_replicates": 5, "signals": "answers", "random_state": 0, **given})


def assert_same(one, two):
    np.testing.assert_array_equal(one.adjacency_.toarray(), two.adjacency_.toarray())
    assert one.edges().equals(two.edges())
    assert one.graph_.nodes().equals(two.graph_.nodes())


def test_a_consensus_on_a_cluster_is_that_of_the_threads(processes, signals, expected, caplog):
    with caplog.at_level(logging.INFO, "nashgraph"):
        assert_same(consensus(engine="dask").fit(signals), expected)
    assert "engine: dask (workers: 2, threads: 2" in caplog.text


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_members_of_an_estimator_are_fitted_by_other_processes(backend, processes, signals):
    alone = consensus(estimator=SmoothGL(), n_replicates=0).fit(signals, n_jobs=1)
    with joblib.parallel_config(backend=backend):
        assert_same(consensus(estimator=SmoothGL(), n_replicates=0).fit(signals, n_jobs=2), alone)


@pytest.mark.parametrize("way", [{"n_jobs": -1}, {"engine": "dask"}], ids=["joblib", "engine"])
def test_halves_of_a_selection(way, processes, signals, expected, made_here):
    jobs, engine = way.get("n_jobs"), way.get("engine", "threads")
    model = consensus(n_replicates=0, engine=engine).fit(signals)
    made_here.clear()
    with joblib.parallel_config(backend="dask"):
        found = model.select(signals, 20, n_splits=5, n_jobs=jobs)
    assert not made_here
    alone = consensus(n_replicates=0).fit(signals).select(signals, 20, n_splits=5)
    assert found.edges().equals(alone.edges())
    assert len(found.edges())


def test_a_worker_that_is_killed_costs_time_only(processes):
    items = [*range(12)]
    answers = parallel.cluster_map(slow_square, np.ones(3), items, "numbers")
    found = [next(answers)]
    os.kill(min(processes.run(os.getpid).values()), signal.SIGKILL)
    assert [*found, *answers] == [(3.0 * item**2, True, 1) for item in items]
    processes.wait_for_workers(2, timeout=300)


def slow_square(common, item):
    import numba

    threading.Event().wait(0.1)
    return common.sum() * item**2, inside_worker(), numba.get_num_threads()


def test_few_are_under_way_at_a_time(threads):
    started = []
    numbers = (started.append(item) or item for item in range(9))
    with threads(1).as_current():
        answers = parallel.cluster_map(slow_square, np.ones(3), numbers, "numbers")
        next(answers)
        assert len(started) == parallel.TASKS_AHEAD + 1
        assert len(list(answers)) == 8


def test_groups_are_learned_by_workers_and_written_here(processes, tmp_path):
    random = np.random.default_rng(0)
    sizes = {"north": 20, "south": 22, "few": 6}
    table = pd.DataFrame(random.normal(size=(sum(sizes.values()), 6))).add_prefix("q")
    table["village"] = np.repeat([*sizes], [*sizes.values()])
    table.to_csv(tmp_path / "t.csv", index=False)
    # One of the groups has too few nodes for the promise, which is found after its fit.
    options = ("--group", "village", "--set", "n_replicates=2", "--set", "false_edges=0.01", "--json")
    answers = {}
    for out, more in {"here": (), "there": ("--set", f"scheduler={processes.scheduler.address}")}.items():
        result = run("learn", tmp_path / "t.csv", *options, *more, "--out", tmp_path / out)
        assert result.exit_code == 3, result.output
        answers[out] = json.loads(result.stdout)
    assert answers["there"]["left_out"] == answers["here"]["left_out"]
    assert [*answers["there"]["left_out"]] == ["few"]
    assert "engine: dask (workers: 2, threads: 2, whole groups)" in answers["there"]["notes"]
    for answer in answers["there"]["groups"].values():
        assert "engine: threads (within a worker of the cluster)" in answer["notes"]
    for file in ("edges.csv", "nodes.csv", "index.html", "groups/north/edges.csv", "groups/south/selected.csv"):
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes()
