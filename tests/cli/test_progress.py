"""Bars are drawn where somebody watches, and nowhere else."""

import io

import pytest
from rich.console import Console

from nashgraph.certificate import Record
from nashgraph.cli._progress import bar, converging, counting, share_done
from nashgraph.cli._running import Voice


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
    assert not any(answers)  # a true answer would stop the fit


@pytest.mark.parametrize("voice", [watched(terminal=False), Voice(quiet=True)])
def test_nothing_is_drawn_where_nobody_watches(voice, capsys):
    with counting(voice, "following", 2) as done:
        done()
    assert capsys.readouterr() == ("", "")
    assert not isinstance(voice.errors.file, io.StringIO) or voice.errors.file.getvalue() == ""


def test_the_way_is_measured_in_digits():
    assert share_done(1.0, 1e-3, 1e-6) == pytest.approx(0.5)
    assert share_done(1.0, 2.0, 1e-6) == 0.0
    assert share_done(1.0, 0.0, 1e-6) == share_done(1.0, 0.5, 0.0) == 1.0
