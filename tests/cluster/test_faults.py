"""Errors of clusters, one sentence each, and the options of the command line."""

import os
import subprocess
import sys

import pytest

distributed = pytest.importorskip("distributed", reason="dask is not installed: pip install 'nashgraph[distributed]'")
from distributed.scheduler import KilledWorker

from nashgraph import SmoothGL
from nashgraph.pairs.cluster import client as clusters
from nashgraph.validation import InputError

from ..commands import run


@pytest.fixture
def table(tmp_path, random):
    rows = [",".join(f"{value:.6f}" for value in row) for row in random.normal(size=(40, 5))]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e", *rows]))
    return tmp_path / "t.csv"


def learn(table, out, *options):
    return run("learn", table, "--method", "smooth", "--set", "storage=sparse", "--out", table.parent / out, *options)


def test_workers_are_started_said_and_ended(table):
    result = learn(table, "ours", "--set", "workers=1")
    assert result.exit_code == 0, result.output
    assert "note: engine: dask (workers started on this machine: 1;" in result.stderr
    assert "note: engine: dask (workers: 1, threads: 1)" in result.stderr
    assert learn(table, "theirs").exit_code == 0
    ours, theirs = ((table.parent / out / "edges.csv").read_bytes() for out in ("ours", "theirs"))
    assert ours == theirs
    with pytest.raises(ValueError, match="No clients"):
        distributed.Client.current()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere"])
def test_a_scheduler_that_is_not_there(address, table, monkeypatch):
    monkeypatch.setattr(clusters, "REACHED", 0.5)
    result = learn(table, "out", "--set", f"scheduler={address}")
    assert result.exit_code == 1
    assert f"the scheduler {address} cannot be reached: check that it runs" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "scheduler=tcp://here:1", "--set", "workers=2"), "give one of them"),
        (("--set", "workers=2", "--set", "engine=threads"), "ask for --set engine=dask, not threads"),
        (("--set", "workers=2", "--method", "logdegree"), "has no --set engine"),
    ],
)
def test_options_that_exclude_each_other(options, said, table):
    result = learn(table, "out", *options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_without_the_extra_the_remedy_is_named(signals, monkeypatch):
    monkeypatch.setattr(clusters, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'nashgraph\[distributed\]'; try engine='threads'"):
        SmoothGL(engine="dask").fit(signals)


def test_too_little_memory_is_said_before_anything_is_sent(signals, threads):
    threads(1, memory_limit="100MB")
    with pytest.raises(InputError, match=r"may use 0\.1 GB of memory and needs about 0\.33 GB: give workers more"):
        SmoothGL(engine="dask").fit(signals)


def test_no_worker_comes(signals, threads, monkeypatch):
    monkeypatch.setattr(clusters, "WAITED", 0.1)
    threads(0)
    with pytest.raises(InputError, match=r"no worker came to the scheduler .* start some \(dask worker"):
        SmoothGL(engine="dask").fit(signals)


def test_a_worker_without_nashgraph(signals, threads, tmp_path):
    (tmp_path / "nashgraph.py").write_text("raise ImportError('there is none')")
    client = threads(0, protocol="tcp://")
    command = [sys.executable, "-m", "distributed.cli.dask_worker", client.scheduler.address]
    options = ["--no-nanny", "--no-dashboard", "--nthreads", "1"]
    with subprocess.Popen(
        [*command, *options], env=os.environ | {"PYTHONPATH": str(tmp_path)}, stderr=subprocess.DEVNULL, cwd=tmp_path
    ) as worker:
        try:
            with pytest.raises(InputError, match=r"the worker tcp://\S+ cannot import nashgraph \(there is none\)"):
                SmoothGL(engine="dask").fit(signals)
        finally:
            worker.kill()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KilledWorker("task", None, 3), "too little memory"),
        (MemoryError(), "too little memory"),
        (distributed.client.FutureCancelledError("task", "lost"), "the connection to the scheduler .* was lost"),
        (ModuleNotFoundError("no nashgraph"), "a worker cannot import nashgraph"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_breaks_on_the_way_is_said(error, said, threads):
    with pytest.raises(InputError, match=said), clusters.failures_said(threads(1)):
        raise error


def test_another_version():
    with pytest.raises(InputError, match=r"the worker tcp://there has nashgraph 0\.0\.1, and .* is needed"):
        clusters.check_versions({"tcp://there": "0.0.1"})
