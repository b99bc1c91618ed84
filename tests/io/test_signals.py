"""Tables as signals: names, categories, gaps, scales, and their notes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from nashgraph.io import TableError, TableOptions, group_names, load_signals, signals_of
from nashgraph.io.missing import filled


@pytest.fixture
def survey():
    return pd.DataFrame(
        {
            "id": ["ann", "bob", "cat", "dan"],
            "age": [31.0, 45.0, np.nan, 28.0],
            "side": ["n", "s", None, "n"],
            "owner": [True, False, True, True],
            "rank": [1, 2, 3, 4],
        }
    )


def test_rows_are_nodes_and_columns_are_signals(survey):
    found = signals_of(survey, TableOptions(missing="pairwise", standardize=False))
    assert list(found.table.columns) == ["ann", "bob", "cat", "dan"]
    assert list(found.table.index) == ["age", "side=n", "side=s", "owner=False", "owner=True", "rank"]
    assert found.table.loc["side=n"].tolist()[:2] == [1.0, 0.0]
    assert found.table["cat"].isna().tolist() == [True, True, True, False, False, False]
    assert found.benefit is None
    assert any("column 'side' is a category, coded as 2 signals of 0 and 1: n, s" in note for note in found.notes)


def test_gaps_are_filled_from_the_nearest_nodes():
    near = [[0.0, 1.0, 3.0], [0.1, 1.1, 5.0], [9.0, 8.0, 40.0], [9.1, 8.1, 60.0]] * 3
    table = pd.DataFrame([*near, [0.05, 1.05, np.nan]], columns=["a", "b", "c"])
    table["side"] = ["n", "n", "s", "s"] * 3 + [None]
    found = signals_of(table, TableOptions(missing="impute", standardize=False))
    last = found.table.iloc[:, -1]
    assert 3.0 <= last["c"] <= 5.0
    assert last[["side=n", "side=s"]].tolist() == [1.0, 0.0]
    assert last["a"] == 0.05
    assert any("filled 3 gap(s) in 3 signal(s)" in note for note in found.notes)


@pytest.mark.parametrize("seed", range(4))
def test_equally_near_nodes_fill_gaps_alike_in_any_order(seed):
    """On short scales many nodes are equally near, and rounding and the order of the file chose five of them."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.integers(1, 6, (29, 5)).astype(float), columns=list("abcde"))
    table = table.mask(random.random(table.shape) < 0.1)
    table.insert(0, "name", [f"p{number}" for number in range(29)])
    options = TableOptions(missing="impute", standardize=False)
    expected = signals_of(table, options).table
    for other in (table.sample(frac=1, random_state=1), table[["name", *"ecadb"]]):
        found = signals_of(other, options).table.loc[expected.index, expected.columns]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_last_place_among_the_nearest_is_shared():
    values = np.array([[0.0, np.nan], [0.0, 1.0], [0.0, 2.0], [1.0, 3.0], [-1.0, 4.0], [1.0, 5.0], [1.0, 9.0]])
    found, _ = filled(values, np.zeros(2), np.ones(2))
    assert found[0, 1] == pytest.approx((1.0 + 2.0 + 3.0 * (3.0 + 4.0 + 5.0 + 9.0) / 4.0) / 5.0)
    np.testing.assert_array_equal(found[1:], values[1:])


def test_every_signal_is_scaled_over_what_is_there_the_coded_ones_too(survey):
    found = signals_of(survey, TableOptions(missing="pairwise", standardize=True))
    assert found.standardized
    assert found.table.isna().loc["age"].tolist() == [False, False, True, False]
    np.testing.assert_allclose(found.table.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(found.table.std(axis=1, ddof=0), 1)
    assert "scaled 6 signal(s) to mean 0 and spread 1 over the nodes; --no-standardize" in found.notes[-1]


@pytest.mark.parametrize(
    ("nodes", "wide", "standardize", "scaled", "said"),
    [
        ("rows", 1.0, None, True, "--no-standardize takes them as they are"),
        ("rows", 1.0, False, False, "signals are taken as they are"),
        ("rows", 50.0, False, False, "spreads 50 times as widely as 'a' and so decides the distances"),
        ("columns", 5.0, None, False, "signals are taken as they are; --standardize"),
        ("columns", 50.0, None, True, "over the nodes, for 'b' spreads 50 times as widely as 'a'; --no-standardize"),
        ("columns", 50.0, False, False, "--standardize puts them on one scale"),
        ("columns", 1.0, True, True, "scaled 2 signal(s)"),
    ],
)
def test_a_survey_is_scaled_and_recordings_where_their_spreads_are_uneven(nodes, wide, standardize, scaled, said):
    table = pd.DataFrame({"a": [0.0, 1.0, 5.0], "b": [wide * 5.0, wide, 0.0]}, index=["x", "y", "z"])
    if nodes == "columns":
        table = table.T.rename_axis("id").reset_index()
    found = signals_of(
        table, TableOptions(nodes=nodes, standardize=standardize, id="id" if nodes == "columns" else None)
    )
    assert found.standardized is scaled
    assert said in found.notes[-1]
    assert np.allclose(found.table.std(axis=1, ddof=0), 1) is scaled


@pytest.mark.parametrize("scale", [1e300, 1e200, 1e-200, 1e-300])
def test_scaling_neither_overflows_nor_vanishes(scale):
    table = pd.DataFrame({"a": [1.0, 5.0, 2.0, 7.0], "b": [1.0, 2.0, 4.0, 3.0]})
    plain, found = signals_of(table), signals_of(table * scale)
    np.testing.assert_allclose(found.table, plain.table, rtol=1e-12)


def test_drop_benefit_and_categories_by_name(survey):
    options = TableOptions(drop=("age,side",), benefit="rank", categorical=("owner",))
    found = signals_of(survey, options)
    assert list(found.table.index) == ["owner=False", "owner=True"]
    np.testing.assert_array_equal(found.benefit, [1, 2, 3, 4])


def test_a_category_of_numbers_is_coded_when_named(survey):
    found = signals_of(survey, TableOptions(categorical=("auto,rank",), missing="impute"))
    assert [name for name in found.table.index if name.startswith("rank=")] == ["rank=1", "rank=2", "rank=3", "rank=4"]
    assert "side=n" in found.table.index


def test_no_category_means_numbers_only(survey):
    with pytest.raises(TableError, match="row 1, column 'side': 'n' is not a number"):
        signals_of(survey, TableOptions(categorical=("none",), missing="impute"))


def test_names_come_from_a_column_called_id_or_none_or_row_numbers(survey):
    numbered = survey.assign(id=[7.0, 8.0, 9.0, 10.0])
    options = TableOptions(drop=("side", "age"))
    assert list(signals_of(numbered, options).table.columns) == ["7", "8", "9", "10"]
    without = signals_of(numbered, TableOptions(drop=("side", "age"), id="none"))
    assert list(without.table.columns) == ["1", "2", "3", "4"]
    assert "id" not in without.table.index
    assert any("'id' (its name says so)" in note for note in without.notes)
    renamed = signals_of(survey.rename(columns={"id": "household"}), TableOptions(drop=("side", "age"), id="household"))
    assert list(renamed.table.columns) == ["ann", "bob", "cat", "dan"]


def test_columns_are_nodes_when_told(tmp_path):
    (tmp_path / "t.csv").write_text(",ann,bob,cat\nmon,1,2,3\ntue,4,,6\nweight,1,0,2\n")
    options = TableOptions(nodes="columns", benefit="weight", missing="impute")
    found = load_signals(tmp_path / "t.csv", options)
    assert list(found.table.columns) == ["ann", "bob", "cat"]
    assert list(found.table.index) == ["mon", "tue"]
    assert found.table.loc["tue", "bob"] == 5.0
    np.testing.assert_array_equal(found.benefit, [1, 0, 2])
    assert any("filled 1 gap(s) in 1 signal(s)" in note for note in found.notes)


def test_constant_signals_are_left_out_and_said(survey):
    found = signals_of(survey.assign(same=1.0), TableOptions(missing="impute"))
    assert "same" not in found.table.index
    assert any("left out 1 signal(s) that are the same at every node: same" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"age": ["31", "45", "12 kg", "28"]}, {}, "row 3, column 'age': '12 kg' is not a number"),
        ({"age": ["1,5", "2,5", "3,5", "4,5"]}, {}, "pass --set decimal=,"),
        ({"age": [np.inf, 1, 2, 3]}, {}, "1 value.* infinite, the first at node ann, 'age'"),
        ({"age": pd.date_range("2020-01-01", periods=4)}, {}, "column 'age' holds dates"),
        ({"age": [1j, 2j, 3j, 4j]}, {}, "complex"),
        ({"id": ["ann", "bob", "ann", "dan"]}, {}, r"'ann' occurs 2 times, in rows 1, 3"),
        ({"id": ["ann", None, "cat", "dan"]}, {}, "1 node.* empty name, in rows 2"),
        ({"id": ["a\x07", "b", "c", "d"]}, {}, r"U\+0007, which GraphML cannot hold"),
        ({"rank": [1, 2, -3, 4]}, {"benefit": "rank"}, "--benefit rank is negative at 1 node.*, first at cat"),
        ({"rank": [1, 2, None, 4]}, {"benefit": "rank"}, "--benefit rank is missing"),
        ({}, {"drop": ("agee",)}, r"no column 'agee' \(did you mean 'age'\?\)"),
        ({"age": 1.0, "rank": 1.0, "side": "n", "owner": True}, {}, "every signal is the same"),
        ({}, {"nodes": "columns", "categorical": ("side",)}, "--categorical codes columns"),
        ({}, {"nodes": "columns", "ordinal": ("side",)}, "--ordinal codes columns"),
        ({"age": [[1], [2], [3], [4]]}, {}, "column 'age' holds lists or records"),
        ({"age": [{"a": 1}, None, None, None]}, {"missing": "pairwise"}, "column 'age' holds lists or records"),
        ({"age": pd.period_range("2020", periods=4, freq="Y")}, {}, "column 'age' holds dates"),
        (
            {"age": ["155,157", "156,250", "1,250", "99,100"]},
            {},
            r"may be 155157 or 155.157: pass --set thousands=, or",
        ),
        ({"age": ["31", "nil", "nil", "28"]}, {}, r"row 2.*nor is 1 more, in row 3.*missing with --set na='nil'"),
    ],
)
def test_what_cannot_be_used_is_said(survey, change, options, message):
    table = survey.dropna(how="all").assign(age=[31.0, 45.0, 30.0, 28.0], side=["n", "s", "s", "n"]).assign(**change)
    with pytest.raises(TableError, match=message):
        signals_of(table, TableOptions(**options))


def test_all_problems_are_said_at_once(survey):
    table = survey.assign(age=["31", "45 kg", "30", "28"], rank=[1, np.inf, 3, 4], when=pd.Timestamp("2020-01-01"))
    options = TableOptions(drop=("sid",), keep=("owned",), benefit="wealth", missing="error")
    with pytest.raises(TableError) as refused:
        signals_of(table.assign(id=["ann", "ann", "cat", "dan"]), options)
    message = str(refused.value)
    assert message.startswith("8 problems: (1) there is no column 'sid' (did you mean 'side'?)")
    for part in (
        "'45 kg' is not a number",
        "infinite",
        "dates",
        "'ann' occurs 2 times",
        "'owned'",
        "'wealth'",
        "missing",
    ):
        assert part in message


def test_empty_columns_and_texts_of_all_different_values_are_left_out_and_said(survey):
    table = survey.assign(nothing=None, remark=["fine", "so so", "none at all", "see above"])
    found = signals_of(table, TableOptions(missing="pairwise"))
    assert not [name for name in found.table.index if name.startswith(("nothing", "remark"))]
    assert "left out 1 column(s) without values: nothing" in found.notes
    assert any("'remark' (text with 4 different values); --id" in note for note in found.notes)
    recorded = pd.DataFrame({"": ["mon", "tue", "wed"], "ann": [1.0, np.nan, 2.0], "bob": [3.0, np.nan, 1.0]})
    found = signals_of(recorded, TableOptions(nodes="columns"))
    assert list(found.table.index) == ["mon", "wed"]
    assert "left out 1 signal(s) without values: tue" in found.notes


def test_named_categories_come_besides_those_of_text(survey):
    found = signals_of(survey, TableOptions(categorical=("rank",), missing="pairwise"))
    assert {"side=n", "owner=True", "rank=1"} <= {*found.table.index}
    only = signals_of(survey.drop(columns="side"), TableOptions(categorical=("none,rank",), missing="pairwise"))
    assert list(only.table.index) == ["age", "owner", "rank=1", "rank=2", "rank=3", "rank=4"]


def test_levels_are_numbered_in_their_order(survey):
    table = survey.assign(q=["often", "never", "rarely", None], size=["S", "L", "M", "S"])
    options = TableOptions(ordinal=("q", "size=S<M<L"), missing="pairwise", standardize=False)
    found = signals_of(table, options)
    np.testing.assert_array_equal(found.table.loc["q"], [2, 0, 1, np.nan])
    assert found.table.loc["size"].tolist() == [0, 2, 1, 0]
    assert "column 'q' has levels in order, numbered from 0: never < rarely < often" in found.notes
    with pytest.raises(TableError, match=r"levels of column 'size' are S, L, M, in no known.* --ordinal 'size=LOWEST<"):
        signals_of(table, TableOptions(ordinal=("size",), missing="pairwise"))
    with pytest.raises(TableError, match="levels of column 'size' have L, which"):
        signals_of(table, TableOptions(ordinal=("size=S<M",), missing="pairwise"))
    refused = table.assign(q=["often", "Refused", "rarely", "never"])
    found = signals_of(refused, TableOptions(ordinal=("q",), missing="pairwise", standardize=False, drop=("size",)))
    np.testing.assert_array_equal(found.table.loc["q"], [2, np.nan, 1, 0])
    ranked = pd.Categorical(["S", "L", "M", "S"], categories=["S", "M", "L"], ordered=True)
    found = signals_of(table.assign(size=ranked), TableOptions(missing="pairwise", standardize=False))
    assert found.table.loc["size"].tolist() == [0, 2, 1, 0]


@pytest.mark.parametrize(
    ("when", "named"),
    [
        ({"time": [0.0, 0.1, 0.3, 0.7, 0.8]}, ["0", "0.1", "0.3", "0.7", "0.8"]),
        ({"k": [1, 2, 3, 4, 5]}, ["1", "2", "3", "4", "5"]),
        ({"k": ["a", "b", "c", "d", "e"]}, ["a", "b", "c", "d", "e"]),
        ({"k": [1.0, 2.5, 1.5, 4.0, 0.5]}, None),
    ],
)
def test_a_clock_in_the_first_column_of_recordings_is_no_node(when, named):
    table = pd.DataFrame({**when, "left": [1.0, 3.0, 2.0, 5.0, 4.0], "right": [2.0, 1.0, 4.0, 3.0, 5.0]})
    found = signals_of(table, TableOptions(nodes="columns"))
    assert list(found.table.columns) == (["left", "right"] if named else ["k", "left", "right"])
    assert list(found.table.index) == (named or ["1", "2", "3", "4", "5"])


def test_columns_coded_alike_have_one_note_and_levels_a_hint(survey):
    often = ["never", "often", "rarely", "never"]
    table = survey[["id"]].assign(a=["yes", "no", "no", "yes"], b=["no", "yes", "no", "yes"], c=often)
    notes = signals_of(table).notes
    assert "each of 2 columns ('a', 'b') is a category, coded as 2 signals of 0 and 1: no, yes" in notes
    assert any(note.endswith("an order (never < rarely < often): --ordinal 'c' numbers them in it") for note in notes)
    assert not any("if they are levels" in note for note in signals_of(table, TableOptions(categorical=("c",))).notes)


def test_codes_for_gaps_are_taken_out_or_told(survey):
    table = survey.assign(age=[31, 45, -99, 28], rank=[1, 2, 999, 4], side=["n", "s", "refused", "n"])
    with pytest.raises(TableError, match=r"3 value.*missing.*-99, 999, refused are taken as missing; --na none"):
        signals_of(table, TableOptions(missing="error"))
    found = signals_of(table, TableOptions(missing="pairwise"))
    assert found.table["cat"].isna().sum() == 4
    assert "side=refused" not in found.table.index
    assert "column 'rank' has 999, taken as missing; --na none takes codes as they are" in found.notes
    assert signals_of(table, TableOptions(na=("none",))).table.notna().all(axis=None)
    kept = TableOptions(keep=("age", "rank"), categorical=("side",))
    assert signals_of(table, kept).table.notna().all(axis=None)
    named = signals_of(table, TableOptions(na=("none,refused", "rank=4"), missing="pairwise", standardize=False))
    assert "side=refused" not in named.table.index
    np.testing.assert_array_equal(named.table.loc["rank"], [1, 2, 999, np.nan])
    assert named.table.loc["age", "cat"] == -99


def test_numbers_as_people_write_them(survey):
    written = survey.assign(
        income=["$1,200", "$850", "$12,400.50", "$9,000"],
        share=["45%", "50 %", ".", "3%"],
        plays=["1 200", "12'400", "850", "7"],
    )
    found = signals_of(written, TableOptions(missing="pairwise", standardize=False))
    assert found.table.loc["income"].tolist() == [1200, 850, 12400.5, 9000]
    np.testing.assert_array_equal(found.table.loc["share"], [45, 50, np.nan, 3])
    assert found.table.loc["plays"].tolist() == [1200, 12400, 850, 7]
    assert "column 'income' was read as numbers, '$1,200' as 1200" in found.notes
    grouped = pd.DataFrame({"income": ["1,200", "1,850", "2,400"], "age": [31, 45, 31]})
    with pytest.raises(TableError, match=r"^column 'income' has numbers like '1,200', which may be 1200 or 1.200"):
        signals_of(grouped)
    for options, first in ((TableOptions(thousands=","), 1200), (TableOptions(decimal=","), 1.2)):
        assert signals_of(grouped, replace(options, standardize=False)).table.loc["income", "1"] == first


def test_a_node_without_values_is_left_out():
    table = pd.DataFrame({"id": [*"xyz"], "a": [1.0, np.nan, 2.0], "b": [1.0, np.nan, 3.0], "worth": [1.0, 2.0, 4.0]})
    found = signals_of(table, TableOptions(benefit="worth"))
    assert list(found.table.columns) == list(found.columns.index) == ["x", "z"]
    assert found.benefit.tolist() == [1.0, 4.0]
    assert found.missing.tolist() == [0.0, 0.0]
    assert "left out 1 node(s) without any answer: y" in found.notes
    with pytest.raises(TableError, match="2 of 3 nodes have no values at all"):
        signals_of(table.assign(a=[1.0, np.nan, np.nan], b=[1.0, np.nan, np.nan]), TableOptions(benefit="worth"))


def test_missing_categories_and_nullable_numbers():
    table = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": pd.Categorical(["x", None, "y"])})
    found = signals_of(table.assign(c=[1.0, 2.0, 4.0]), TableOptions(missing="pairwise"))
    assert found.table["2"].isna().tolist() == [True, True, True, False]


def test_words_for_no_answer_are_no_category_unless_codes_are_switched_off():
    table = pd.DataFrame({"side": ["n", "s", "Refused", "n", "don't know"], "age": [1.0, 2.0, 3.0, 5.0, 4.0]})
    found = signals_of(table, TableOptions(missing="pairwise"))
    assert [name for name in found.table.index if name.startswith("side")] == ["side=n", "side=s"]
    assert np.isnan(found.table.loc["side=n"].to_numpy()).tolist() == [False, False, True, False, True]
    assert any("Refused, don't know taken as missing" in note for note in found.notes)
    kept = signals_of(table, TableOptions(na=("none",)))
    assert "side=Refused" in kept.table.index


def test_long_tables_have_who_and_what_in_every_row():
    table = pd.DataFrame({"id": ["a", None, "b"], "question": ["q", "q", "q"], "answer": [1, 2, 3]})
    with pytest.raises(TableError, match="column 'id' is empty in row 2: fill it in"):
        signals_of(table, TableOptions(long=True))
    named = pd.DataFrame({"id": ["a", "b", "b"], "question": ["id", "id", "q"], "answer": [1, 2, 3]})
    with pytest.raises(TableError, match="a question has the name 'id', and so has the column of those who answer"):
        signals_of(named, TableOptions(long=True))


def test_groups_need_a_column_with_values():
    table = pd.DataFrame({"village": [None, None], "x": [1.0, 2.0]})
    with pytest.raises(TableError, match="the column 'village' is empty, so there are no groups"):
        group_names(table, "village")
