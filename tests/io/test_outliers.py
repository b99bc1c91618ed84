"""Values that alone would decide the result are refused with their place; values that are far out are reported."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.io import TableError, TableOptions, signals_of


def survey(value):
    incomes = np.random.default_rng(0).normal(1000, 200, size=20).round(1)
    return pd.DataFrame({"id": [f"p{k}" for k in range(20)], "income": np.where(np.arange(20) == 6, value, incomes)})


@pytest.mark.parametrize("value", [1e34, -1e34, 1e9, 1e8, 1e300])
def test_absurd_values_are_refused_by_their_place(value):
    with pytest.raises(TableError, match=r"1 signal.* absurd .* at node p6 \(number 7\), 'income'"):
        signals_of(survey(value))


def test_what_the_message_says_works():
    with pytest.raises(TableError, match=r"--na 1.2345678e\+34, or .*--keep"):
        signals_of(survey(1.2345678e34))
    options = TableOptions(na=("1.2345678e+34",), missing="pairwise")
    missing = signals_of(survey(1.2345678e34).assign(age=[30, 40] * 10), options)
    assert missing.table["p6"].isna().tolist() == [True, False]
    assert signals_of(survey(1e34), TableOptions(keep=("income",))).table.shape == (1, 20)


def test_values_far_out_are_said():
    found = signals_of(survey(1e6))
    assert any(note.startswith("far out: 1e+06 at node p6 (number 7), 'income'") for note in found.notes)
    assert not any("far out" in note for note in signals_of(survey(9000)).notes)


@pytest.mark.parametrize(
    "values",
    [
        [0.0] * 19 + [1.0],
        [0.0] * 19 + [400.0],
        [0.0] * 15 + [1.0, 5.0, 40.0, 300.0, 2000.0],
        np.exp(np.random.default_rng(0).normal(0, 2, size=20)),
        [1e-30 * k for k in range(20)],
    ],
)
def test_rare_answers_and_long_tails_are_no_outliers(values):
    found = signals_of(survey(1000).assign(other=values))
    assert len(found.table) == 2
    assert not any("far out" in note for note in found.notes)


def test_few_nodes_and_recordings():
    table = pd.DataFrame({"": ["mon", "tue"], "a": [1.0, 2.0], "b": [2.0, 3.0], "c": [4.0, 1e34]})
    with pytest.raises(TableError, match=r"1e\+34 at node c \(number 3\), 'tue'"):
        signals_of(table, TableOptions(nodes="columns"))
    with pytest.raises(TableError, match="absurd"):
        signals_of(pd.DataFrame({"a": [2.0, 2.0, 2.0, 1e34]}))
