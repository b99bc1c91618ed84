"""True networks out of files."""

import igraph
import networkx as nx
import pytest

from nashgraph.tables import TableError, read_truth

NAMES = ["ann", "bob", "NA", "007"]


@pytest.fixture
def write(tmp_path):
    def make(content, name="truth.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return make


def test_edges_are_undirected_unless_told(write):
    path = write("Source;Target;Weight\nann;bob;1\n007;NA;2.5\nbob;007;0\n")
    truth, notes = read_truth(path, NAMES)
    assert list(truth) == NAMES
    assert {frozenset(edge) for edge in truth.edges()} == {frozenset(("ann", "bob")), frozenset(("007", "NA"))}
    assert notes == ["the truth has 2 undirected edge(s) on 4 of 4 nodes"]
    directed, notes = read_truth(path, NAMES, directed=True)
    assert list(directed.edges()) == [("ann", "bob"), ("007", "NA")]
    assert "2 directed" in notes[0]


def test_graphml_of_networkx_and_of_igraph(tmp_path):
    nx.write_graphml(nx.DiGraph([("ann", "bob")]), tmp_path / "a.graphml")
    truth, _ = read_truth(tmp_path / "a.graphml", NAMES)
    assert list(truth.edges()) == [("ann", "bob")]
    graph = igraph.Graph([(0, 1)])
    graph.vs["name"] = ["007", "ann"]
    graph.write_graphml(str(tmp_path / "b.graphml"))
    truth, _ = read_truth(tmp_path / "b.graphml", NAMES)
    assert not truth.is_directed()
    assert {frozenset(edge) for edge in truth.edges()} == {frozenset(("007", "ann"))}


def test_loops_are_left_out_and_said(write):
    truth, notes = read_truth(write("source,target\nann,ann\nann,bob\n"), NAMES)
    assert truth.number_of_edges() == 1
    assert "left 1 edge(s) from a node to itself" in notes[1]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("source,target\nann,eve\n", "t.csv", "names 1 node.* do not have: eve; the nodes are ann, bob"),
        ("from,to\nann,bob\n", "t.csv", "must have the columns source and target, got from, to"),
        ("source,target,weight\nann,bob,\n", "t.csv", "weight is missing in row 1"),
        ("source,target,weight\nann,bob,much\n", "t.csv", "row 1, column 'weight': 'much' is not a number"),
        ("source,target\nann,ann\n", "t.csv", "no edge between two different nodes"),
        ("<graphml", "t.graphml", "cannot be read as GraphML"),
    ],
)
def test_what_is_no_truth_is_said(write, content, name, message):
    with pytest.raises(TableError, match=message):
        read_truth(write(content, name), NAMES)
