from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from reproduce.reproduction import run_trials, stored_at
from reproduce.study import certified

from nashgraph.certificate import Certificate, Measure, Status, exact


def noisy_square(x: float, calls: str) -> list[dict[str, float]]:
    with Path(calls).open("a") as file:
        file.write(f"{x}\n")
    if x < 0:
        raise ValueError("no squares of negative numbers here")
    return [{"x": x, "square": x * x}, {"x": x, "square": x / 3.0}]


@pytest.fixture
def calls(tmp_path):
    path = tmp_path / "calls.txt"
    path.touch()
    return path


def squares(calls, *numbers: float) -> list[dict]:
    return [{"x": x, "calls": str(calls)} for x in numbers]


def test_rows_come_in_the_order_of_the_trials(tmp_path, calls):
    frame = run_trials("squares", noisy_square, squares(calls, 3.0, 1.0, 2.0), tmp_path)
    assert frame["x"].tolist() == [3.0, 3.0, 1.0, 1.0, 2.0, 2.0]


def test_a_kept_trial_is_not_run_again_and_gives_the_same_bits(tmp_path, calls):
    first = run_trials("squares", noisy_square, squares(calls, 0.1, 0.7), tmp_path)
    again = run_trials("squares", noisy_square, squares(calls, 0.1, 0.7, 0.3), tmp_path)
    assert calls.read_text().split() == ["0.1", "0.7", "0.3"]
    pd.testing.assert_frame_equal(first, again.iloc[:4], check_exact=True)


@pytest.mark.parametrize("damage", ["", "[{", "{}", "[1]", "\x00", "[" * 100_000])
def test_a_damaged_trial_is_run_again(tmp_path, calls, damage):
    trials = squares(calls, 0.1, 0.7)
    first = run_trials("squares", noisy_square, trials, tmp_path)
    stored_at("squares", trials[1], tmp_path).write_text(damage)
    again = run_trials("squares", noisy_square, trials, tmp_path)
    assert calls.read_text().split() == ["0.1", "0.7", "0.7"]
    pd.testing.assert_frame_equal(first, again, check_exact=True)


def test_processes_give_the_same_bits_as_one(tmp_path, calls):
    alone = run_trials("squares", noisy_square, squares(calls, 0.1, 0.2, 0.3), tmp_path / "a")
    together = run_trials("squares", noisy_square, squares(calls, 0.1, 0.2, 0.3), tmp_path / "b", jobs=2)
    pd.testing.assert_frame_equal(alone, together, check_exact=True)


def test_a_failing_trial_says_which_and_leaves_the_done_ones(tmp_path, calls):
    trials = squares(calls, 1.0, -2.0)
    with pytest.raises(ValueError, match="negative") as caught:
        run_trials("squares", noisy_square, trials, tmp_path)
    assert caught.value.__notes__ == [f"in trial {trials[1]} of squares"]
    assert [file.name for file in (tmp_path / ".trials" / "squares").iterdir()] == [
        stored_at("squares", trials[0], tmp_path).name
    ]


def test_other_arguments_and_other_code_are_other_trials(tmp_path, monkeypatch):
    trial = {"seed": 0}
    here = stored_at("fig1", trial, tmp_path)
    assert stored_at("fig1", {"seed": 1}, tmp_path) != here
    assert stored_at("fig2", trial, tmp_path) != here
    monkeypatch.setattr("reproduce.reproduction.code_digest", lambda: "changed")
    assert stored_at("fig1", trial, tmp_path) != here


def test_progress_counts_what_is_kept_already(tmp_path, calls):
    run_trials("squares", noisy_square, squares(calls, 0.1), tmp_path)
    told = []
    run_trials(
        "squares", noisy_square, squares(calls, 0.1, 0.7, 0.3), tmp_path, progress=lambda *news: told.append(news)
    )
    assert told == [("squares", 1, 3), ("squares", 2, 3), ("squares", 3, 3)]


def test_a_row_has_the_stationarity_of_a_fit_and_no_other_measure():
    gap = Certificate(Measure.GAP, 1e-3, 1e-4, Status.MAX_ITER, 9)
    assert certified(gap) == {"stationarity": None, "converged": False}
    assert certified(exact()) == {"stationarity": 0.0, "converged": True}
    assert certified() == {"stationarity": None, "converged": True}


def test_floats_are_kept_to_the_last_bit(tmp_path, calls):
    [trial] = squares(calls, 0.1 + 0.2)
    frame = run_trials("squares", noisy_square, [trial], tmp_path)
    assert frame["x"][0] == 0.1 + 0.2
    assert json.loads(stored_at("squares", trial, tmp_path).read_text())[1]["square"] == (0.1 + 0.2) / 3.0
