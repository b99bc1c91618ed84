"""Additions of the table and the truth to the page's data: columns, gaps, checks."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph.report import inputs, summarize
from nashgraph.report.reference import questions_of
from nashgraph.validation import DataWarning, InputError

from .models import held

PAIRS = np.array([[0, 1.0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 1.0], [0, 0, 1.0, 0]])
NAMES = ["ann", "bob", "cat", "dan"]


def data_of(columns=None, **options):
    return summarize(held(PAIRS, NAMES), columns=columns, **options).to_dict()


def column(data, name):
    return next(each for each in data["columns"] if each["name"] == name)


def test_columns_belong_to_their_nodes_whatever_the_order_of_the_rows():
    table = pd.DataFrame({"age": [62.5, 31, 45, 28]}, index=["dan", "ann", "bob", "cat"])
    data = data_of(table)
    assert dict(zip(data["nodes"]["name"], column(data, "age")["values"], strict=True)) == {
        "ann": 31,
        "bob": 45,
        "cat": 28,
        "dan": 62.5,
    }


def test_answers_are_levels_and_quantities_are_numbers():
    table = pd.DataFrame(
        {
            "side": ["n", "s", None, "n"],
            "yes": [0, 1, 1, np.nan],
            "told": [True, False, True, True],
            "age": ["31", "45.5", "28", "60"],
            "same": [1, 1, 1, 1],
        },
        index=NAMES,
    )
    data = data_of(table)
    assert {each["name"]: each["levels"] for each in data["columns"]} == {
        "side": ["n", "s"],
        "yes": ["0", "1"],
        "told": ["False", "True"],
        "age": None,
    }
    assert column(data, "side")["values"] == [0, 1, None, 0]
    assert data["nodes"]["missing"] == [0, 0, 0.2, 0.2]
    assert "missing" not in data_of(table[["age"]])["nodes"]


def test_communities_are_named_by_the_answers_that_set_them_apart():
    table = pd.DataFrame({"water": ["tap", "tap", "well", "well"], "coin": [1.5, 2.5, 2.5, 1.5]}, index=NAMES)
    profile = data_of(table)["profile"]
    assert (profile["names"], profile["columns"]) == (["water: tap", "water: well"], ["water", "coin"])
    assert profile["words"] == [["tap 100%", "2"], ["well 100%", "2"]]


def test_what_ties_go_by_is_what_tied_nodes_share():
    table = pd.DataFrame({"shared": ["x", "x", "y", "y"], "other": ["x", "y", "x", "y"]}, index=NAMES)
    alike = {each["name"]: each["alike"] for each in data_of(table)["columns"]}
    assert alike["shared"] == 1
    assert alike["other"] < 0


def test_ties_do_not_go_by_what_few_answered():
    table = pd.DataFrame({"all": ["x", "x", "y", "y"], "few": ["x", "x", None, "y"]}, index=NAMES)
    alike = {each["name"]: each["alike"] for each in data_of(table)["columns"]}
    assert alike == {"all": 1, "few": 0.5}


def test_of_very_many_columns_those_that_ties_go_by_are_kept(monkeypatch):
    monkeypatch.setattr(inputs, "CELLS", 8)
    table = pd.DataFrame({"a": ["x", "y", "x", "y"], "b": ["x", "x", "y", "y"], "c": [1, 1.5, 7, 7.5]}, index=NAMES)
    assert [each["name"] for each in data_of(table)["columns"]] == ["b", "c"]


def test_a_table_without_a_row_for_every_node_is_refused():
    with pytest.raises(InputError, match="lacks dan"):
        data_of(pd.DataFrame({"age": [1, 2, 3]}, index=NAMES[:3]))


def test_a_truth_goes_by_names_and_else_by_order():
    by_name = data_of(truth=nx.Graph([("dan", "ann")]))
    ends = [[by_name["nodes"]["name"][node] for node in side] for side in by_name["checks"]]
    assert {*ends[0], *ends[1]} == {"ann", "dan"}
    with pytest.warns(DataWarning, match="both are taken in one order"):
        by_order = data_of(truth=nx.DiGraph([(0, 1), (1, 2), (2, 3)]))["checks"]
    assert len(by_order[0]) == 3
    with pytest.raises(InputError, match="does not have: eve"):
        data_of(truth=nx.Graph([("ann", "eve")]))


def test_signals_belong_to_the_question_that_they_code():
    table = pd.DataFrame({"water": ["tap"], "water use": [1], "age": [3]})
    signals = pd.DataFrame(index=["water=tap", "water_well", "water use", "age", "ageing", "watery"])
    assert questions_of(signals, table).tolist() == ["water", "water", "water use", "age", "ageing", "watery"]


def test_columns_of_names_are_nothing_that_tied_people_have_in_common():
    names = [f"person {k}" for k in range(12)]
    table = pd.DataFrame({"friend": [*names[1:], names[0]], "side": [0, 1] * 6}, index=names)
    ring = np.roll(np.eye(12), 1, axis=1)
    columns = {column.name: column.alike for column in summarize(held(ring + ring.T, names), columns=table).columns}
    assert np.isnan(columns["friend"])
    assert columns["side"] < 0


def test_the_column_that_names_the_nodes_is_nothing_that_they_have_in_common():
    table = pd.DataFrame({"number": [1001, 1002, 1003, 1004], "age": [20.5, 30.5, 40.5, 50.5]})
    numbered = held(PAIRS, ["1001", "1002", "1003", "1004"])
    assert [column.name for column in summarize(numbered, columns=table).columns] == ["age"]
    assert [column.name for column in summarize(held(PAIRS, NAMES), columns=table).columns] == ["number", "age"]
