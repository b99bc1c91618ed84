"""Graphs read back by other libraries are the graphs that were written."""

import csv
import json
from dataclasses import replace

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashgraph.graph import LearnedGraph
from nashgraph.io import read_edges, write_edges, write_graphml, write_node_link, write_nodes
from nashgraph.io.graphs import guarded, unguarded

HOSTILE = [
    'say "hi" & <bye>',
    "<script>alert(1)</script>",
    "two\nlines",
    "tab\tand\rreturn",
    "emoji 🦊",
    "مرحبا \u202ertl",
    "=SUM(A1:A9)",
    "-1+1",
    "@cmd",
    "NA",
    "]]>",
    " spaces ",
    "a,b;c|d",
    "007",
    "&amp;",
    "%s {x} \\n",
]


@pytest.fixture
def learned(random):
    weights = random.random((16, 16)) * (random.random((16, 16)) < 0.3)
    np.fill_diagonal(weights, 0.0)
    return LearnedGraph.of(weights, HOSTILE, node_columns={"action": random.random(16)})


@pytest.fixture(params=[True, False], ids=["directed", "undirected"])
def graph(learned, request):
    return learned if request.param else learned.undirected()


def expected(graph):
    """Return weights by pair of names, straight from the matrix."""
    weights = graph.weights.toarray()
    return {
        pair(graph, source, target): weights[i, j]
        for i, target in enumerate(HOSTILE)
        for j, source in enumerate(HOSTILE)
        if weights[i, j] > 0
    }


def pair(graph, source, target):
    return (source, target) if graph.directed else frozenset((source, target))


def test_graphml_comes_back_through_networkx(graph, tmp_path):
    write_graphml(graph, tmp_path / "g.graphml")
    found = nx.read_graphml(tmp_path / "g.graphml")
    assert found.is_directed() == graph.directed
    assert list(found) == HOSTILE
    assert {pair(graph, *ends): weight for *ends, weight in found.edges(data="weight")} == expected(graph)
    place = HOSTILE.index("007")
    assert found.nodes["007"] == {
        "name": "007",
        "label": "007",
        "influence": graph.influence[place],
        "action": graph.node_columns["action"][place],
    }


def test_graphml_comes_back_through_igraph(graph, tmp_path):
    write_graphml(graph, tmp_path / "g.graphml")
    found = igraph.Graph.Read_GraphML(str(tmp_path / "g.graphml"))
    assert found.is_directed() == graph.directed
    names = found.vs["name"]
    assert names == HOSTILE
    weights = {pair(graph, names[edge.source], names[edge.target]): edge["weight"] for edge in found.es}
    assert weights == pytest.approx(expected(graph), abs=1e-12)


def test_the_edge_list_keeps_names_and_digits(graph, tmp_path):
    write_edges(graph, tmp_path / "edges.csv")
    with (tmp_path / "edges.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ends = [pair(graph, unguarded(row["source"]), unguarded(row["target"])) for row in rows]
    assert {end: float(row["weight"]) for end, row in zip(ends, rows, strict=True)} == expected(graph)
    weights = [float(row["weight"]) for row in rows]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize("write", [write_edges, write_nodes])
def test_no_cell_of_a_csv_is_a_formula(learned, tmp_path, write):
    write(learned, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        cells = {cell for row in csv.reader(file) for cell in row}
    assert not {cell for cell in cells if cell[:1] in "=+-@" and cell[:1]}
    assert "'=SUM(A1:A9)" in cells


@given(st.text(st.sampled_from("'=+-@\t\r5.a"), max_size=6))
def test_the_guard_against_formulas_comes_off_again(name):
    assert unguarded(guarded(name)) == name
    assert guarded(name)[:1] not in tuple("=+-@\t\r") or float(guarded(name)) is not None


def test_node_link_json_comes_back_through_networkx(graph, tmp_path):
    write_node_link(graph, tmp_path / "g.json")
    found = nx.node_link_graph(json.loads((tmp_path / "g.json").read_text(encoding="utf-8")), edges="edges")
    assert {pair(graph, *ends): weight for *ends, weight in found.edges(data="weight")} == expected(graph)
    assert [data["influence"] for _, data in found.nodes(data=True)] == graph.influence.tolist()
    assert list(found) == HOSTILE


def test_every_edge_column_is_in_every_file(graph, tmp_path):
    frequency = np.arange(graph.weights.nnz) / 7
    graph = replace(graph, edge_columns={"frequency": frequency})
    places = {pair(graph, HOSTILE[j], HOSTILE[i]): p for j, i, _, p in zip(*graph.listed, strict=True)}
    wanted = {ends: frequency[place] for ends, place in places.items()}

    write_edges(graph, tmp_path / "edges.csv")
    table = read_edges(tmp_path / "edges.csv")
    assert list(table) == ["source", "target", "weight", "frequency"]
    ends = [pair(graph, *row) for row in zip(table["source"], table["target"], strict=True)]
    assert dict(zip(ends, table["frequency"], strict=True)) == pytest.approx(wanted, rel=1e-15)

    write_graphml(graph, tmp_path / "g.graphml")
    found = nx.read_graphml(tmp_path / "g.graphml")
    assert {pair(graph, *ends): value for *ends, value in found.edges(data="frequency")} == wanted
    found = igraph.Graph.Read_GraphML(str(tmp_path / "g.graphml"))
    names = found.vs["name"]
    values = {pair(graph, names[edge.source], names[edge.target]): edge["frequency"] for edge in found.es}
    assert values == pytest.approx(wanted, rel=1e-12)

    write_node_link(graph, tmp_path / "g.json")
    edges = json.loads((tmp_path / "g.json").read_text(encoding="utf-8"))["edges"]
    assert {pair(graph, edge["source"], edge["target"]): edge["frequency"] for edge in edges} == wanted


def test_columns_of_every_type_and_values_that_are_missing(tmp_path):
    """Nodes and edges may have columns of the same name, with different types."""
    weights = np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.25], [0.0, 0.0, 0.0]])
    kind = 'kind <of> "node"'
    nodes = {
        "action": np.array([0.1, np.nan, np.inf]),
        "rank": np.array([3, 1, 2]),
        "leader": np.array([True, False, False]),
        kind: np.array(["a & b", None, 7], dtype=object),
    }
    edges = {"rank": np.array([np.nan, 0.5]), "note": np.array([None, "x < y"], dtype=object)}
    graph = LearnedGraph.of(weights, ["x", 1, ("y", 2)], node_columns=nodes, edge_columns=edges)
    wanted = {
        "x": {"influence": 0.0, "action": 0.1, "rank": 3, "leader": True, kind: "a & b"},
        "1": {"influence": 0.5, "rank": 1, "leader": False},
        "('y', 2)": {"influence": 0.25, "rank": 2, "leader": False, kind: "7"},
    }
    between = {("1", "x"): {"weight": 0.5}, ("('y', 2)", "1"): {"weight": 0.25, "rank": 0.5, "note": "x < y"}}

    write_graphml(graph, tmp_path / "g.graphml")
    found = nx.read_graphml(tmp_path / "g.graphml")
    assert dict(found.nodes(data=True)) == {n: {"name": n, "label": n, **data} for n, data in wanted.items()}
    assert {(a, b): data for a, b, data in found.edges(data=True)} == between
    assert igraph.Graph.Read_GraphML(str(tmp_path / "g.graphml")).vs["leader"] == [True, False, False]

    write_node_link(graph, tmp_path / "g.json")
    found = nx.node_link_graph(json.loads((tmp_path / "g.json").read_text(encoding="utf-8")), edges="edges")
    assert dict(found.nodes(data=True)) == wanted
    assert {(a, b): data for a, b, data in found.edges(data=True)} == between

    write_edges(graph, tmp_path / "edges.csv")
    lines = (tmp_path / "edges.csv").read_text(encoding="utf-8").splitlines()
    assert lines == [
        '"source","target","weight","rank","note"',
        '"1","x",0.5,"",""',
        '"(\'y\', 2)","1",0.25,0.5,"x < y"',
    ]


def test_a_graph_without_edges(tmp_path):
    graph = LearnedGraph.of(np.zeros((2, 2)), ["a", "b"])
    for write, name in ((write_edges, "e.csv"), (write_graphml, "g.graphml"), (write_node_link, "g.json")):
        write(graph, tmp_path / name)
    assert (tmp_path / "e.csv").read_text() == '"source","target","weight"\n'
    assert list(nx.read_graphml(tmp_path / "g.graphml")) == ["a", "b"]
    assert json.loads((tmp_path / "g.json").read_text())["edges"] == []
