"""Bars are drawn on a terminal; elsewhere a line is written now and then."""

import io
import re
import time
import warnings
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from nashgraph.certificate import ENGINE_LOG, LOG, Record
from nashgraph.cli import fitting
from nashgraph.cli import messages as progress
from nashgraph.cli.fitting import announce, announce_ties
from nashgraph.cli.messages import Meter, Note, Voice, bar, converging, counting, engine_noted, share_done
from nashgraph.compiled import _say_compiling, kernel
from nashgraph.estimators import ConsensusGL


def watched(terminal=True):
    voice = Voice()
    voice.errors = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    return voice


def test_pieces_of_work_are_counted():
    voice = watched()
    with counting(voice, "following", 3) as done:
        for _ in range(3):
            done()
    assert "following" in voice.errors.file.getvalue()
    assert "3 of 3" in voice.errors.file.getvalue()


def test_iterates_are_told_with_what_is_to_come():
    voice = watched()
    with bar(voice, "learning") as tell:
        told = converging(tell)
        answers = [told(Record(k, 1.0, 10.0**-k), 1e-6) for k in range(5)]
    assert "1e-04 → 1e-06" in voice.errors.file.getvalue()
    assert not any(answers)  # returning True would stop the fit


def test_a_bar_never_goes_back_nor_promises_an_end_it_cannot_know(monkeypatch):
    """Every round of a fit, and every lambda tried, has iterates that look good before the next starts again."""
    clock = iter(range(1000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    meter, shares, left = Meter(), [], []

    def tell(share, state):
        meter.tell(share, state)
        shares.append(meter.share)
        left.append(meter.left)

    told = converging(tell)
    for value in (0.1, 0.1, 1e-2, 1e-4, 1e-7, 5e-3, 1e-4, 0.1, 1e-5, 1e-7):
        told(Record(0, 1.0, value), 1e-6)
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] < 1.0
    assert ", about 0 s left" not in left
    assert left[3] != ""


def test_what_was_there_before_says_nothing_of_the_pace(monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[0])
    meter = Meter()
    for done in range(1, 31):  # taken over from an interrupted run
        meter.tell(done / 40, "")
    assert meter.left == ""
    seconds[0] = 3.0
    meter.tell(31 / 40, "31 of 40")
    assert meter.line == "3 s so far, 78% done (31 of 40), about 27 s left"


def test_a_line_is_written_every_so_often_where_there_is_no_terminal(monkeypatch):
    monkeypatch.setenv("NASHGRAPH_PROGRESS", "0.05")
    voice = watched(terminal=False)
    with counting(voice, "following", 4) as done:
        time.sleep(0.2)  # a long step
        done()
        time.sleep(0.2)
    lines = voice.errors.file.getvalue().splitlines()
    # The number of seconds depends on the machine: a busy one is slow.
    assert re.fullmatch(r"following: \d+ s so far", lines[0])
    assert re.match(r"following: \d+ s so far, 25% done \(1 of 4\)", lines[-1])


@pytest.mark.parametrize("voice", [watched(terminal=False), Voice(quiet=True)])
def test_nothing_is_said_of_what_takes_a_moment(voice, capsys):
    with counting(voice, "following", 2) as done:
        done()
    assert capsys.readouterr() == ("", "")
    assert not isinstance(voice.errors.file, io.StringIO) or voice.errors.file.getvalue() == ""


def test_the_way_is_measured_in_digits():
    assert share_done(1.0, 1e-3, 1e-6) == pytest.approx(0.5)
    assert share_done(1.0, 2.0, 1e-6) == 0.0
    assert share_done(1.0, 0.0, 1e-6) == share_done(1.0, 0.5, 0.0) == 1.0


def test_notes_are_collected_as_data_and_not_read_out_of_log_lines(capsys):
    voice = Voice(brief=True)
    with engine_noted(voice), voice.noting_warnings():
        ENGINE_LOG.info("engine: cuda (%s)", "a device")
        LOG.info("engine: this is somebody else's line")
        warnings.warn("not converged", UserWarning, stacklevel=1)
        voice.note("scaled 5 signals")
    assert voice.collected == [
        Note("engine: cuda (a device)"),
        Note("not converged", warning=True),
        Note("scaled 5 signals"),
    ]
    assert capsys.readouterr().err == "warning: not converged\n"  # the others are in the report


def test_a_long_fit_is_announced_before_it_starts(monkeypatch):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(3, 5000)))
    voice = SimpleNamespace(told=[])
    voice.tell = voice.told.append
    announce(ConsensusGL(), SimpleNamespace(table=table), voice)
    assert len(voice.told) == 1
    assert re.fullmatch(r"learning 5,000 nodes takes about \d+ s and 508 MB of memory", voice.told[0])
    monkeypatch.setattr(fitting, "expected_cost", lambda *given: (3000.0, 1e18))
    announce(ConsensusGL(), SimpleNamespace(table=table), voice)
    assert "about 50 minutes" in voice.told[1]
    assert "--set n_replicates=0" in voice.told[2]
    assert "not enough free memory" in voice.told[3]
    announce(ConsensusGL(), SimpleNamespace(table=table.iloc[:, :4999]), voice)
    assert len(voice.told) == 4


def test_a_long_tie_model_is_announced_before_it_starts():
    voice, told = SimpleNamespace(told=[]), SimpleNamespace(traits=pd.DataFrame(np.zeros((20_000, 8))))
    voice.tell = voice.told.append
    for n_nodes in (20_000, 4999):
        announce_ties(SimpleNamespace(table=pd.DataFrame(np.zeros((10, n_nodes))), told=told), voice)
    assert voice.told == ["learning 20,000 nodes from what people told takes about 4 minutes"]


def test_compiling_is_told_once_and_not_kept(tmp_path, monkeypatch):
    (tmp_path / "doubling.py").write_text("def double(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    _say_compiling.cache_clear()
    double = kernel()(import_module("doubling").double)
    voice = watched(terminal=False)
    with engine_noted(voice):
        assert double(2) == 4
        assert double(2.5) == 5.0
    assert voice.errors.file.getvalue().count("compiling for this machine, once after installing") == 1
    assert voice.notes == []
