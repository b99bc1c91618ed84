"""Known ties: accepted formats, and errors for others."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import InputError, TieModel, edge_average_precision
from nashgraph.datasets import smooth_signals, stochastic_block_model
from nashgraph.tie_survey import TieSurvey
from nashgraph.ties.arrays import tie_arrays

NAMES = ["ann", "bob", "cat", "dan"]


def known_pairs(given, names=NAMES):
    """Return known pairs by number: ends, values, and the people all of whose ties are known."""
    arrays = tie_arrays(TieSurvey.of(names, known=given))
    parts = (arrays.known_one, arrays.known_other, arrays.known_value, arrays.complete)
    return [part.tolist() for part in parts]


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"source": ["ann", "cat"], "target": ["bob", "ann"], "tie": [1, 0]}),
        pd.DataFrame({"From": ["bob", "ann"], "To": ["ann", "cat"], "Tie": [True, False]}),
        pd.DataFrame({"source": ["ann", "cat"], "target": ["bob", "ann"], "tie": ["1", "0"]}),
        [("ann", "bob"), ("ann", "cat", 0), ("bob", "ann", 1)],
        {"ties": [("ann", "bob")], "non_ties": [("cat", "ann")]},
    ],
)
def test_pairs_in_any_form(given):
    assert known_pairs(given) == [[0, 0], [1, 2], [1.0, 0.0], []]


def test_nodes_whose_ties_are_all_known_in_any_form():
    graph = nx.Graph([("ann", "bob")])
    graph.add_node("ann", known=True)
    table = pd.DataFrame({"source": ["ann", "ann"], "target": ["bob", "*"], "tie": [1, None]})
    every = [("ann", "bob"), ("ann", "cat", 0), ("dan", "ann", 0)]  # all pairs of ann
    for given in (graph, table, [("ann", "bob"), ("ann", "*")], {"ties": [("ann", "bob")], "nodes": ["ann"]}, every):
        assert known_pairs(given) == [[0, 0, 0], [1, 2, 3], [1.0, 0.0, 0.0], [0]]


def test_names_that_are_numbers_may_be_given_as_text():
    assert known_pairs([("0", "2"), (1, 2, 0)], range(3))[:2] == [[0, 1], [2, 2]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([("ann", "bob"), ("bob", "ann", 0)], "tied and that they are not: ann - bob"),
        ([("ann", "eve"), ("fay", "bob")], "2 node.s. that are not people: eve, fay; the people are ann, bob, cat"),
        ({"ties": [("ann", "bob")], "nodes": ["eve"]}, "that are not people: eve"),
        ([("ann", "ann")], "a tie of ann with itself"),
        ([("ann", "bob", 2)], "the tie 2 for ann and bob: it must be 1 or 0"),
        ([("ann", "bob", None)], "it must be 1 or 0"),
        (["ann"], "not a pair of people"),
        ({"edges": []}, "parts that are not known: edges"),
        (pd.DataFrame({"a": [1], "b": [2]}), "has the columns a, b, but it needs source and target"),
        ("ties.csv", "cannot be a str"),
        (7, "cannot be a int"),
    ],
)
def test_what_cannot_be_known(given, message):
    with pytest.raises(InputError, match=message):
        known_pairs(given)


def test_known_ties_teach_how_much_likeness_counts():
    graph = stochastic_block_model(60, n_blocks=3, degree=8, random_state=0)
    X = smooth_signals(graph, 20, "heat", random_state=0)
    ties = [edge for edge in graph.edges() if {*edge} & {*range(20)}]
    known = {"ties": ties, "nodes": list(range(20))}
    model = TieModel().fit(X, known=known)
    assert model.weights_["weight"].abs().max() > 0.1
    rest = np.arange(20, 60)
    p = model.probabilities().to_numpy()[np.ix_(rest, rest)]
    truth = nx.to_numpy_array(graph)[np.ix_(rest, rest)]
    assert edge_average_precision(truth, p) > 2 * truth.mean()
    with pytest.raises(InputError, match=r"nobody was asked: .*the target"):
        TieModel().fit(X, known=ties)
