"""Return values of single helpers of nashgraph.io, one example each."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.io import TableError, TableOptions, group_names
from nashgraph.io.columns import as_name, is_code, numbers, plain_numbers, understood
from nashgraph.io.graphs import guarded, guarded_table, unguarded, unguarded_table
from nashgraph.io.missing import filled, plain_codes, stray_codes
from nashgraph.io.names import chosen_column, chosen_columns, group_labels, plain_names, split_names, why_code
from nashgraph.io.reshape import is_count
from nashgraph.io.scales import ordered
from nashgraph.io.text import checked_names, found_separator, title_rows


def texts(*cells, name="x"):
    return pd.Series(cells, name=name, dtype=object)


def test_orders_that_are_known():
    assert ordered(["Agree", "Disagree", "Strongly agree"]) == ["Disagree", "Agree", "Strongly agree"]
    assert ordered(["26-40", "<18", "65+", "18-25"]) == ["<18", "18-25", "26-40", "65+"]
    assert ordered(["never", "once a week", "less than once a month", "every day"]) == [
        "never",
        "less than once a month",
        "once a week",
        "every day",
    ]
    assert ordered(["red", "blue"]) == []


def test_numbers_and_codes_in_text():
    np.testing.assert_array_equal(plain_numbers(texts("1", None, "2.5")), [1.0, np.nan, 2.5])
    assert plain_numbers(texts("02139", "10001")).tolist() == ["02139", "10001"]
    assert [is_code(texts(first, "12")) for first in ("007", "0.7", "0")] == [True, False, False]
    values, how = understood(texts("$1,200", "$850"))
    assert (values.tolist(), how) == ([1200.0, 850.0], "'$1,200' as 1200")
    assert understood(texts("1.234", "999"), TableOptions(decimal=","))[0].tolist() == [1234.0, 999.0]
    with pytest.raises(TableError, match="row 3, column 'x': '12 kg' is not a number; correct it, take it as"):
        numbers(texts("1200", "1100", "12 kg"))
    values, _, junk = numbers(texts("3", "4", "abt 5"), junk=0.05)
    np.testing.assert_array_equal(values, [3, 4, np.nan])
    assert junk == ["abt 5"]
    assert [as_name(value) for value in (3.0, "3.0", 7)] == ["3", "3.0", "7"]


def test_the_guard_against_formulas():
    assert [guarded(name) for name in ("ann", "=1+1", "'=1+1", "-5")] == ["ann", "'=1+1", "''=1+1", "-5"]
    assert [unguarded(name) for name in ("ann", "'=1+1", "''=1+1", "'tis")] == ["ann", "=1+1", "'=1+1", "'tis"]
    given = pd.DataFrame({"=name": ["@ann", "bob"], "age": [30, 40]})
    assert guarded_table(given).columns.tolist() == ["'=name", "age"]
    assert unguarded_table(guarded_table(given)).equals(given)


def test_codes_for_gaps():
    assert plain_codes(np.array([1, 5, 3, 99, 2, 4.0])) == [99.0]
    assert plain_codes(np.array([31, 64, 99, 58.0])) == plain_codes(np.array([12, -99, -3.0])) == []
    assert plain_codes(np.array([1200, -99, 900.0])) == [-99.0]
    scale = np.resize([1.0, 2.0, 3.0], 12)
    assert (stray_codes(np.append(scale, 9.0)), stray_codes(np.append(scale, 4.0))) == ([9.0], [])


def test_names_of_columns_and_rows():
    with pytest.raises(TableError, match=r"no column 'incom' \(did you mean 'income'\?\): there are age, income"):
        chosen_column("incom", ["age", "income"])
    assert chosen_columns(["a,b", "c"], ["a", "b", "c", "d"]) == ["a", "b", "c"]
    assert split_names(["auto,b", "c,d"], ["a", "b", "c,d"]) == ["auto", "b", "c,d"]
    given = (["5.0", "12"], ["5.0", "5"], ["1.0", "ann"])
    assert [plain_names(names) for names in given] == [["5", "12"], ["5", "5"], ["1.0", "ann"]]
    assert why_code(pd.Series([1001, 1002, 1003, 1004, 1005], name="who")) == "it counts the rows"
    assert why_code(pd.Series([1200, 900, 1550, 700, 1200], name="income")) == ""
    assert why_code(pd.Series([2139, 2140, 2138, 2139], name="zip_code")) == "its name says so"
    assert group_labels(texts("1.0", "2.0")).tolist() == ["1", "2"]
    assert group_labels(texts("1.0", "01", "1")).tolist() == ["1.0", "01", "1"]


def test_texts_are_cut_into_columns():
    assert title_rows([["Survey 2019", "", ""], ["", "", ""], ["id", "age", "side"], ["1", "31", "n"]]) == 2
    assert title_rows([["id", "age"], ["1", "31"]]) == 0
    assert found_separator("a;b\n1,5;2,5\n") == ";"
    assert checked_names("survey.csv", ["", "age", ""]) == ["", "age", "column 3"]


def test_counts_in_long_tables():
    assert is_count(pd.Series([3, 1, 88]), "plays", 0.9)
    assert not is_count(pd.Series([3, 1, 5]), "rating", 0.1)


def test_groups_need_a_column_with_values():
    table = pd.DataFrame({"village": [None, None], "x": [1.0, 2.0]})
    with pytest.raises(TableError, match="the column 'village' is empty, so there are no groups"):
        group_names(table, "village")


def test_the_last_place_among_the_nearest_is_shared():
    values = np.array([[0.0, np.nan], [0.0, 1.0], [0.0, 2.0], [1.0, 3.0], [-1.0, 4.0], [1.0, 5.0], [1.0, 9.0]])
    found, _ = filled(values, np.zeros(2), np.ones(2))
    assert found[0, 1] == pytest.approx((1.0 + 2.0 + 3.0 * (3.0 + 4.0 + 5.0 + 9.0) / 4.0) / 5.0)
    np.testing.assert_array_equal(found[1:], values[1:])
