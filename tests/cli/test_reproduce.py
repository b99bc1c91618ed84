from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.commands import run

from nashgraph.cli import options
from nashgraph.cli.commands import completing

FIGURE_1 = ("reproduce", "fig1", "--quick", "--seed", "0")


# The interrupt comes when one trial is done, not by the clock: a busy machine may do all of them, or be in the middle
# of writing one, by the time another process has looked.
INTERRUPTED = """
import os, signal
from nashgraph.cli import main
from nashgraph.experiments import reproduction

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is born deaf to interrupts

def run_one(*arguments, run=reproduction._run_one):
    run(*arguments)
    os.kill(os.getpid(), signal.SIGINT)

reproduction._run_one = run_one
main()
"""


def test_figure_1_gives_the_same_bits_in_two_processes_and_after_an_interruption(tmp_path):
    twice, resumed = tmp_path / "twice", tmp_path / "resumed"
    command = [sys.executable, "-c", INTERRUPTED, *FIGURE_1, "--jobs", "1", "--out", str(resumed)]
    stopped = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert stopped.returncode == 130, stopped.stderr
    assert "the same command goes on where it stopped" in stopped.stderr
    kept = resumed / ".trials" / "fig1"
    done = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert len(done) == 1
    assert not (resumed / "fig1.csv").exists()

    assert run(*FIGURE_1, "--jobs", "1", "--out", str(resumed)).exit_code == 0
    assert all((kept / name).stat().st_mtime_ns == stamp for name, stamp in done.items())
    assert run(*FIGURE_1, "--jobs", "2", "--out", str(twice)).exit_code == 0
    for file in ("fig1.csv", "REPRODUCTION.md"):
        assert (resumed / file).read_bytes() == (twice / file).read_bytes()


def test_json_has_the_verdicts_and_another_seed_gives_other_numbers(tmp_path):
    for seed in ("0", "1"):
        command = ("reproduce", "theorem1", "--quick", "--jobs", "1", "--json", "--seed", seed)
        answer = json.loads(run(*command, "--out", tmp_path / seed).stdout)
        assert set(answer["verdicts"]) == {"theorem1"}
        assert all({"claim", "holds", "detail"} == set(check) for check in answer["checks"]["theorem1"])
    assert (tmp_path / "0" / "theorem1.csv").read_bytes() != (tmp_path / "1" / "theorem1.csv").read_bytes()


def test_what_has_no_data_is_left_out_and_said(tmp_path, monkeypatch):
    monkeypatch.setenv("NASHGRAPH_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("nashgraph.datasets.store.download_file", refuse)
    arguments = ("reproduce", "theorem1", "table1", "--quick", "--jobs", "1", "--out", str(tmp_path / "out"))
    result = run(*arguments)
    assert result.exit_code == 1
    assert "table1 is left out" in result.stderr
    assert (tmp_path / "out" / "theorem1.csv").exists()
    assert not (tmp_path / "out" / "table1.csv").exists()


def refuse(*_: object, **__: object) -> None:
    from nashgraph.datasets import DatasetError

    raise DatasetError("no net in this test")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("table9",), "no such experiment: table9"), (("fig1", "--jobs", "0"), "--jobs 0"), ((), "[table1|fig1|")],
)
def test_a_wrong_call_says_what_there_is(arguments, message, tmp_path):
    result = run("reproduce", *arguments, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_completion_knows_the_experiments():
    assert completing(options.EXPERIMENTS)("tab") == ["table1", "table2", "table3"]
    assert "[table1|fig1|" in run("reproduce", "--help").output


def test_without_any_data_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("nashgraph.datasets.store.download_file", refuse)
    monkeypatch.setenv("NASHGRAPH_DATA", str(tmp_path / "nothing"))
    result = run("reproduce", "table1", "--quick", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "nothing could be run: the data are not here" in result.stderr
    assert not (tmp_path / "out").exists()
