from __future__ import annotations

import pandas as pd
import pytest
from reproduce.reproduction import comparison_table, markdown
from reproduce.study import (
    Check,
    Comparison,
    Study,
    closeness,
    compared,
    held,
    mean_and_error,
    paper_numbers,
    same_ranking,
    unfinished,
    verdict,
)


@pytest.mark.parametrize(
    ("shapes", "number", "expected"),
    [
        ((True, True), True, "reproduced"),
        ((True, True), False, "reproduced in shape only"),
        ((True, False), True, "partly reproduced"),
        ((False, False), True, "not reproduced"),
    ],
)
def test_the_verdict_follows_from_the_checks(shapes, number, expected):
    checks = [*(Check("a", holds, "") for holds in shapes), Check("b", number, "", shape=False)]
    assert Study([], checks).verdict == expected


def test_a_reading_does_not_change_the_literal_verdict():
    fails, holds = [Check("a", False, "")], [Check("a", True, "")]
    study = Study([], fails, readings={"other": holds})
    assert (study.verdict, verdict(study.readings["other"])) == ("not reproduced", "reproduced")
    assert held(fails + holds) == "1 of 2"


def test_a_ranking_that_differs_is_a_matter_of_shape():
    assert same_ranking("rank", {"a": 2.0, "b": 1.0}, {"a": 0.5, "b": 0.7}).shape


def test_the_standard_error_is_over_draws():
    mean, error = mean_and_error([1.0, 2.0, 3.0, 4.0])
    assert mean == 2.5
    assert error == pytest.approx((5 / 3) ** 0.5 / 2)
    assert mean_and_error([1.0]) == (1.0, None)


def test_closeness_looks_at_the_worst_and_at_those_with_a_number_only():
    lines = [Comparison("near", 0.5, None, 0.51), Comparison("far", 0.7, None, 0.6), Comparison("ours alone", 9.0)]
    assert closeness("AUC", lines, 0.2).holds
    check = closeness("AUC", lines, 0.05)
    assert not check.holds
    assert "far" in check.detail


def test_a_ranking_is_of_the_papers_methods_alone():
    paper = {"a": 0.5, "b": 0.7}
    assert same_ranking("rank", {"a": 1.0, "b": 2.0, "c": 9.0}, paper).holds
    assert same_ranking("rank", {"a": 2.0, "b": 1.0}, paper).detail == "here: a > b; in the paper: b > a"


def test_fits_that_did_not_converge_are_counted():
    fits = pd.DataFrame({"method": ["a", "a", "b"], "converged": [False, False, True]})
    assert unfinished(fits, "fits") == ["Not converged: a in 2 fits."]
    assert unfinished(fits[fits["converged"]], "fits") == []


def test_tables_leave_blank_what_is_missing():
    text = markdown(comparison_table([compared("a", [0.25, 0.75], 0.4), Comparison("b", 0.1)], digits=2))
    assert text.splitlines()[2:] == ["| a | 0.50 ± 0.25 | 0.40 | +0.10 |", "| b | 0.10 |  |  |"]
    assert markdown(pd.DataFrame({"x": [float("nan"), 1.0], "y": ["a|b", None]}), 1).splitlines()[2:] == [
        "|  | a\\|b |",
        "| 1.0 |  |",
    ]


def test_the_papers_numbers_are_complete():
    paper = paper_numbers()
    assert all("place" in part for part in paper.values())
    assert all(len(paper["table1"][name]) == 5 for name in ("Karate", "WikiVote", "Dolphins"))
    curves = [values for part in (paper["fig1"]["auc"], paper["fig1"]["welfare"]) for values in part.values()]
    assert all(isinstance(values, float) or len(values) == len(paper["fig1"]["lam"]) for values in curves)
    for game in ("log1p", "linear"):
        front = paper["fig2"][game]
        assert len(front["glgp_smoothness_cost"]) == len(front["glgp_welfare"])
        assert len(front["linear_smoothness_cost"]) == len(front["linear_welfare"])
        assert all(high >= mean >= low for high, mean, low in paper["table3"][game].values())
    methods = [values for name, values in paper["table2"].items() if name not in ("place", "statistics")]
    assert len(methods) == 6
    assert all(high >= mean >= low for high, mean, low in methods)
