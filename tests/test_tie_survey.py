"""TieSurvey: tables about ties in any order of people, by label; what is refused, counted once, or noted."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph.tie_survey import TieSurvey
from nashgraph.validation import InputError

PEOPLE = ["ann", "bob", "cat", "dan"]
TRAITS = pd.DataFrame({"a": [1, 0, 1, 0], "b": [0, 0, 1, 1]}, index=PEOPLE)


def test_integer_labels_in_another_order_are_labels():
    traits = pd.DataFrame({"a": [1, 0, 1, 0]}, index=[2, 0, 3, 1])
    survey = TieSurvey.of(traits=traits, counts=pd.DataFrame({"a": [0, 1, 0, 1]}), n_ties=pd.Series([5, 6, 7, 8]))
    assert survey.names.tolist() == [2, 0, 3, 1]
    assert survey.n_ties.tolist() == [7, 5, 8, 6]
    assert survey.counts["a"].tolist() == [0, 0, 1, 1]


def test_a_table_without_names_is_taken_in_order():
    survey = TieSurvey.of(traits=TRAITS, n_ties=[1, 2, 3, 2])
    assert survey.n_ties.tolist() == [1, 2, 3, 2]
    assert TieSurvey.of(traits=TRAITS, n_ties=pd.Series([1, 2, 3, 2])).n_ties["cat"] == 3


def test_rows_are_optional_and_10_plus_is_at_least_10():
    survey = TieSurvey.of([*range(20)], n_ties=pd.Series(["3", "10+", ""], index=["5.0", 7, 3]))
    assert survey.n_ties.dropna().to_dict() == {"5": 3.0, "7": 10.0}
    assert survey.n_ties_at_least[survey.n_ties_at_least].index.tolist() == ["7"]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"counts": pd.DataFrame([[1, 2]] * 4, columns=["a", "a"], index=PEOPLE)}, "several columns of one name: a"),
        ({"n_ties": pd.Series([1, 2], index=["ann", "ann"])}, "more than one row for ann"),
        ({"n_ties": pd.Series([1, 2], index=["ann", "eve"])}, "not among the people: eve"),
        ({"counts": pd.DataFrame({"z": [1]}, index=["ann"])}, "not traits: z"),
        ({"n_ties": pd.Series([1.5], index=["ann"])}, "whole numbers of 0 or more, got '1.5'"),
        ({"reports": {"ann": ["eve"]}}, "not people: eve"),
        ({"asked": ["eve"]}, "asked has 1 name"),
        ({"known": [("ann", "bob", 1), ("bob", "ann", 0)]}, "tied and that they are not: ann - bob"),
        ({"known": [("ann", "ann")]}, "with itself"),
        ({"known": {"tie": []}}, "parts that are not known"),
        ({"reports": {"ann": ["bob", "cat"]}, "room": 1}, "ann gave more than max_names=1"),
        ({"pairs": pd.DataFrame({"source": ["ann"], "target": ["bob"]})}, "no column of numbers"),
        ({"pairs": pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "ann"], "kin": [1, 2]})}, "two rows"),
        ({"reports": {"ann": ["bob"]}, "wave": 3}, "not among the waves"),
        ({"places": pd.DataFrame({"x": ["here"] * 4}, index=PEOPLE)}, "places must be numbers"),
    ],
)
def test_refusals(tables, words):
    with pytest.raises(InputError, match=words):
        TieSurvey.of(**{"traits": TRAITS, **tables})


def test_people_named_alike_are_refused():
    with pytest.raises(InputError, match="named more than once: 0"):
        TieSurvey.of([0, "0"], n_ties=[1, 2])


def test_reports_keep_who_said_what():
    table = pd.DataFrame(
        {
            "respondent": ["ann", "bob", "ann", "ann"],
            "source": ["bob", "bob", "bob", "ann"],
            "target": ["ann", "cat", "ann", None],
            "wave": [2, 10, 2, 2],
        }
    )
    survey = TieSurvey.of(PEOPLE, reports=table, asked=["dan", "ann"])
    assert survey.reports[["respondent", "source", "target"]].to_numpy().tolist() == [
        ["ann", "bob", "ann"],
        ["bob", "bob", "cat"],
    ]
    assert survey.respondents.tolist() == ["dan", "ann", "bob"]
    assert survey.waves == ["2", "10"]
    assert [decision.kind for decision in survey.decisions] == ["repeated"]


def test_people_who_named_themselves_are_noted():
    survey = TieSurvey.of(PEOPLE, reports={"ann": ["ann", "bob"]})
    assert survey.reports["target"].tolist() == ["bob"]
    assert [decision.kind for decision in survey.decisions] == ["named_themselves"]


def test_names_outside_the_table_take_up_room():
    survey = TieSurvey.of(PEOPLE, reports={"ann": ["bob", "eve"], "bob": []}, outside="keep")
    assert survey.reports["target"].tolist() == ["bob", None]
    assert survey.respondents.tolist() == ["ann", "bob"]
    assert TieSurvey.of(PEOPLE, reports={"ann": ["bob", None]}).reports["target"].tolist() == ["bob", None]


def test_known_ties_from_every_form():
    graph = nx.Graph([("bob", "ann")])
    graph.add_node("cat", known=True)
    of_graph = TieSurvey.of(PEOPLE, known=graph)
    of_dict = TieSurvey.of(PEOPLE, known={"ties": [("ann", "bob")], "nodes": ["cat"]})
    of_rows = TieSurvey.of(PEOPLE, known=[("ann", "bob", 1), ("bob", "ann", True), ("cat", "*", np.nan)])
    for survey in (of_graph, of_dict, of_rows):
        assert survey.known.to_numpy().tolist() == [["ann", "bob", True]]
        assert survey.complete == ["cat"]


def test_a_person_called_star_is_a_person():
    survey = TieSurvey.of(["ann", "*"], known=[("ann", "*")])
    assert survey.known.to_numpy().tolist() == [["ann", "*", True]]
    assert survey.complete == []


def test_contradicting_counts_are_noted_by_the_number_of_people():
    counts = pd.DataFrame({"a": [1, 2, 1, 2], "b": [0, 0, 0, 0]}, index=PEOPLE)
    survey = TieSurvey.of(traits=TRAITS, counts=counts, n_ties=pd.Series([0, 1, 2, 9], index=PEOPLE))
    noted = {decision.kind: decision for decision in survey.decisions}
    assert noted["contradicting_counts"].columns == ("ann", "bob")
    assert noted["contradicting_counts"].reason.startswith("2 people told of more ties with a trait")
    assert noted["more_than_others"].columns == ("dan",)


def test_places_groups_and_pairs_follow_the_people():
    places = pd.DataFrame({"house": [3.0, 1.0]}, index=["cat", "ann"])
    groups = pd.Series(["h1", "h2"], index=["bob", "ann"], name="household")
    pairs = pd.DataFrame({"from": ["bob"], "to": ["ann"], "kin": [1]})
    survey = TieSurvey.of(PEOPLE, places=places, groups=groups, pairs=pairs)
    assert survey.places["house"].dropna().to_dict() == {"ann": 1.0, "cat": 3.0}
    assert survey.groups["household"].tolist() == ["h2", "h1", None, None]
    assert survey.pairs.to_numpy().tolist() == [["ann", "bob", 1.0]]


def test_people_of_reports_alone():
    survey = TieSurvey.of(reports={"ann": ["bob"], "cat": []}, known=[("bob", "dan")])
    assert survey.names.tolist() == ["ann", "cat", "bob", "dan"]
