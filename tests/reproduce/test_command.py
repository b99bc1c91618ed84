"""The command `python -m reproduce`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from reproduce.__main__ import main

from nashgraph.datasets import DatasetError

FIGURE_1 = ("fig1", "--quick", "--seed", "0", "--jobs")

# The interrupt comes when one trial is done, not by the clock: a busy machine may do all of them, or be in the middle
# of writing one, by the time another process has looked.
INTERRUPTED = """
import os, signal, sys
from reproduce import reproduction
from reproduce.__main__ import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is born deaf to interrupts

def run_one(*arguments, run=reproduction._run_one):
    run(*arguments)
    os.kill(os.getpid(), signal.SIGINT)

reproduction._run_one = run_one
sys.exit(main())
"""


def test_figure_1_gives_the_same_bits_in_two_processes_and_after_an_interruption(tmp_path):
    twice, resumed = tmp_path / "twice", tmp_path / "resumed"
    command = [sys.executable, "-c", INTERRUPTED, *FIGURE_1, "1", "--out", str(resumed)]
    stopped = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert stopped.returncode == 130, stopped.stderr
    assert "the same command goes on where it stopped" in stopped.stderr
    kept = resumed / ".trials" / "fig1"
    done = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert len(done) == 1
    assert not (resumed / "fig1.csv").exists()

    assert main([*FIGURE_1, "1", "--out", str(resumed)]) == 0
    assert all((kept / name).stat().st_mtime_ns == stamp for name, stamp in done.items())
    assert main([*FIGURE_1, "2", "--out", str(twice)]) == 0
    for file in ("fig1.csv", "REPRODUCTION.md"):
        assert (resumed / file).read_bytes() == (twice / file).read_bytes()


def test_json_has_the_verdicts_and_another_seed_gives_other_numbers(tmp_path, capsys):
    for seed in ("0", "1"):
        command = ["theorem1", "--quick", "--jobs", "1", "--json", "--seed", seed, "--out", str(tmp_path / seed)]
        assert main(command) == 0
        answer = json.loads(capsys.readouterr().out)
        assert set(answer["verdicts"]) == {"theorem1"}
        assert all({"claim", "holds", "detail"} == set(check) for check in answer["checks"]["theorem1"])
    assert (tmp_path / "0" / "theorem1.csv").read_bytes() != (tmp_path / "1" / "theorem1.csv").read_bytes()


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("NASHGRAPH_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("nashgraph.datasets.store.download_file", refuse)


def refuse(*_: object, **__: object) -> None:
    raise DatasetError("no net in this test")


@pytest.mark.usefixtures("no_data")
def test_an_experiment_without_data_is_left_out_and_the_others_run(tmp_path, capsys):
    assert main(["theorem1", "table1", "--quick", "--jobs", "1", "--out", str(tmp_path / "out")]) == 1
    printed = capsys.readouterr()
    assert "table1 is left out" in printed.err
    assert printed.out.startswith("theorem1  ")
    assert (tmp_path / "out" / "theorem1.csv").exists()
    assert not (tmp_path / "out" / "table1.csv").exists()


@pytest.mark.usefixtures("no_data")
def test_without_any_data_nothing_runs(tmp_path, capsys):
    assert main(["table1", "--quick", "--out", str(tmp_path / "out")]) == 1
    assert "nothing could be run: the data are not here" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table9"], "no such experiment: table9; there are table1, fig1"),
        (["fig1", "--jobs", "0"], "--jobs 0"),
        (["fig1", "--seed", "-1"], "--seed must be"),
        ([], "experiment"),
    ],
)
def test_a_wrong_call_says_what_there_is(arguments, message, tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
