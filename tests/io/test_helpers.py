"""Return values of single helpers of nashgraph.io, one example each."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.io import TableError, TableOptions, tie_columns
from nashgraph.io.coding import choices, coded, coding_notes, numbered, ordered, ordinal_columns
from nashgraph.io.columns import as_name, is_code, is_wordy, numbers, plain_numbers, understood
from nashgraph.io.errors import Problems
from nashgraph.io.graphs import guarded, guarded_table, unguarded, unguarded_table
from nashgraph.io.missing import gap_codes, plain_codes, stray_codes
from nashgraph.io.names import chosen_column, chosen_columns, group_labels, plain_id, plain_names, split_names, why_code
from nashgraph.io.recognize import counted_ties, is_count, tie_note
from nashgraph.io.text import checked_names, found_separator, title_rows
from nashgraph.io.tie_answers import (
    count_of,
    counted_columns,
    names_given,
    outside_sentences,
    take_tie_answers,
    trait_of,
    with_alters,
)

NODES = ["ann", "bob", "cat"]
TIES = pd.DataFrame({"weaver": [1, 0, 1], "n_friends": [2, 0, 5], "n_friends_weaver": [1, 0, 2]})


def texts(*cells, name="x"):
    return pd.Series(cells, name=name, dtype=object)


def test_levels_and_categories():
    assert ordinal_columns(["q1", "q2,q3=low<high"], ["q1", "q2", "q3"]) == {
        "q1": [],
        "q2": ["low", "high"],
        "q3": ["low", "high"],
    }
    values, levels = numbered(texts("often", None, "never"), [])
    np.testing.assert_array_equal(values, [1.0, np.nan, 0.0])
    assert levels == ["never", "often"]
    assert ordered(["Agree", "Disagree", "Strongly agree"]) == ["Disagree", "Agree", "Strongly agree"]
    assert ordered(["26-40", "<18", "65+", "18-25"]) == ["<18", "18-25", "26-40", "65+"]
    assert ordered(["red", "blue"]) == []
    how = choices(TableOptions(), ["q1", "q2"], Problems())
    np.testing.assert_array_equal(coded(texts("n", "s", None), how).values, [[1, 0], [0, 1], [np.nan, np.nan]])
    assert coded(texts("n", "Refused", "s"), how).gaps == ["Refused"]
    assert coding_notes(coded(texts("no", "yes", "no", name=name), how) for name in ("q1", "q2")) == [
        "each of 2 columns ('q1', 'q2') is a category, coded as 2 signals of 0 and 1: no, yes"
    ]


def test_numbers_and_codes_in_text():
    np.testing.assert_array_equal(plain_numbers(texts("1", None, "2.5")), [1.0, np.nan, 2.5])
    assert plain_numbers(texts("02139", "10001")).tolist() == ["02139", "10001"]
    assert [is_code(texts(first, "12")) for first in ("007", "0.7", "0")] == [True, False, False]
    values, how = understood(texts("$1,200", "$850"))
    assert (values.tolist(), how) == ([1200.0, 850.0], "'$1,200' as 1200")
    assert understood(texts("1.234", "999"), TableOptions(decimal=","))[0].tolist() == [1234.0, 999.0]
    with pytest.raises(TableError, match="row 3, column 'x': '12 kg' is not a number; correct it, take it as"):
        numbers(texts("1200", "1100", "12 kg"))
    part = coded(texts("45 %", ".", "50 %"), choices(TableOptions(), ["x"], Problems()))
    np.testing.assert_array_equal(part.values[:, 0], [45, np.nan, 50])
    assert part.gaps == ["."]
    assert "'45 %' as 45" in part.said
    values, _, junk = numbers(texts("3", "4", "abt 5"), junk=0.05)
    np.testing.assert_array_equal(values, [3, 4, np.nan])
    assert junk == ["abt 5"]
    assert is_wordy(texts("18-25", "26-35", "18-25"))
    assert not is_wordy(texts("1200", "1100", "12 kg"))
    assert [as_name(value) for value in (3.0, "3.0", 7)] == ["3", "3.0", "7"]


def test_the_guard_against_formulas():
    assert [guarded(name) for name in ("ann", "=1+1", "'=1+1", "-5")] == ["ann", "'=1+1", "''=1+1", "-5"]
    assert [unguarded(name) for name in ("ann", "'=1+1", "''=1+1", "'tis")] == ["ann", "=1+1", "'=1+1", "'tis"]
    given = pd.DataFrame({"=name": ["@ann", "bob"], "age": [30, 40]})
    assert guarded_table(given).columns.tolist() == ["'=name", "age"]
    assert unguarded_table(guarded_table(given)).equals(given)


def test_codes_for_gaps():
    codes = gap_codes(["-99,refused", "b=9"], ["a", "b"])
    np.testing.assert_array_equal(codes.emptied(pd.Series([9, -99, 4.0], name="a")), [9, np.nan, 4])
    assert codes.emptied(texts("9.0", "Refused", "4", name="b")).isna().tolist() == [True, True, False]
    within = gap_codes(["-99,a=9", "b, or c?=8"], ["a", "b, or c?"]).within
    assert within == {"a": frozenset({"9"}), "b, or c?": frozenset({"8"})}
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
    assert plain_id(pd.DataFrame({"age": [31, 45, 45], "Household": [7, 9, 8]})) == "Household"
    assert plain_id(pd.DataFrame({"town": ["Ava", "Bo", "Cy"], "age": [31, 45, 45]})) == "town"
    assert group_labels(texts("1.0", "2.0")).tolist() == ["1", "2"]
    assert group_labels(texts("1.0", "01", "1")).tolist() == ["1.0", "01", "1"]


def test_texts_are_cut_into_columns():
    assert title_rows([["Survey 2019", "", ""], ["", "", ""], ["id", "age", "side"], ["1", "31", "n"]]) == 2
    assert title_rows([["id", "age"], ["1", "31"]]) == 0
    assert found_separator("a;b\n1,5;2,5\n") == ";"
    assert checked_names("survey.csv", ["", "age", ""]) == ["", "age", "column 3"]


def test_columns_that_count_ties():
    found = tie_columns(TIES)
    assert "; to learn from them add --ties n_friends --counts n_friends_weaver=weaver; " in tie_note(found, TIES)[0]
    assert counted_ties(found, TIES) == (["n_friends"], {"n_friends_weaver": "weaver"})
    assert is_count(pd.Series([3, 1, 88]), "plays", 0.9)
    assert not is_count(pd.Series([3, 1, 5]), "rating", 0.1)
    assert counted_columns("a, b?=c,n=job=weaver", ["a, b?", "c", "n", "job"]) == [
        ("a, b?", "c", None),
        ("n", "job", "weaver"),
    ]


def test_answers_about_ties(tmp_path):
    table = pd.DataFrame({"weaver": [1, 0, 1], "n": ["2", "10+", None], "of_weavers": [1, 2, 0], "age": [3, 4, 9]})
    asked = TableOptions(counts=("of_weavers=weaver",), ties="n")
    told, rest = take_tie_answers(table, NODES, asked, Problems(), [], [])
    assert (told.counts["weaver"].tolist(), told.n_ties["bob"], list(rest.columns)) == ([1, 2, 0], 10, ["age"])
    assert told.n_ties_at_least.tolist() == [False, True, False]
    np.testing.assert_array_equal(trait_of(texts("weaver", "smith", None), "weaver", "n"), [1, 0, np.nan])
    counted = count_of(texts("3", "refused", "10+", "-99", name="n"), gap_codes([], ["n"]), [])
    assert counted.dropna().tolist() == ["3", "10+"]
    friends = pd.DataFrame({"friend1": ["bob", "7", ""], "friend2": ["cat", None, None]})
    assert names_given(friends, list(friends), NODES, [], []) == ({"ann": ["bob", "cat"], "bob": [None]}, 2)
    assert outside_sentences([("ann", "Bobb"), ("ann", "zoe")], ["ann", "bob"])[1].endswith("(given by ann) type bob")
    (tmp_path / "alters.csv").write_text("egoID,alterID,job\n1,1,weaver\n1,2,smith\n2,1,weaver\n")
    egos = pd.DataFrame({"egoID": [1, 2, 3], "job": ["smith", "weaver", "smith"]})
    found, asked, _ = with_alters(egos, TableOptions(alters=str(tmp_path / "alters.csv")))
    np.testing.assert_array_equal(found["alters: job=weaver"], [1, 1, np.nan])
    assert (asked.ties, asked.counts[0]) == ("alters", "alters: job=smith=job=smith")
