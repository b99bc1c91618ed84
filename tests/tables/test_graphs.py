"""Graphs read back by others are the graphs that were written."""

import csv
import json

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import GLGP, SmoothGL
from nashgraph.tables import graph_tables, write_edges, write_graphml, write_node_link

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
def model(random):
    signals = pd.DataFrame(random.normal(size=(12, len(HOSTILE))), columns=HOSTILE)
    return GLGP(lam=2.0, degree=4, benefit=random.random(len(HOSTILE))).fit(signals)


def expected(model, directed):
    """Return weights by pair of names, straight from the matrix."""
    weights = model.adjacency_ if directed else 0.5 * (model.adjacency_ + model.adjacency_.T)
    pairs = {}
    for i, target in enumerate(HOSTILE):
        for j, source in enumerate(HOSTILE):
            if weights[i, j] > 0 and (directed or j < i):
                pairs[(source, target) if directed else frozenset((source, target))] = weights[i, j]
    return pairs


@pytest.mark.parametrize("directed", [True, False])
def test_graphml_comes_back_through_networkx(model, tmp_path, directed):
    path = tmp_path / "g.graphml"
    write_graphml(graph_tables(model, directed=directed), path)
    graph = nx.read_graphml(path)
    assert graph.is_directed() == directed
    assert set(graph) == set(HOSTILE)
    found = {((a, b) if directed else frozenset((a, b))): w for a, b, w in graph.edges(data="weight")}
    assert found == expected(model, directed)
    assert graph.nodes["007"]["label"] == "007"
    assert graph.nodes["007"]["action"] == model.equilibrium_[HOSTILE.index("007")]


@pytest.mark.parametrize("directed", [True, False])
def test_graphml_comes_back_through_igraph(model, tmp_path, directed):
    path = tmp_path / "g.graphml"
    write_graphml(graph_tables(model, directed=directed), path)
    graph = igraph.Graph.Read_GraphML(str(path))
    assert graph.is_directed() == directed
    names = graph.vs["name"]
    assert names == HOSTILE
    found = {}
    for edge in graph.es:
        ends = names[edge.source], names[edge.target]
        found[ends if directed else frozenset(ends)] = edge["weight"]
    wanted = expected(model, directed)
    assert found.keys() == wanted.keys()
    assert max(abs(found[pair] - wanted[pair]) for pair in wanted) <= 1e-12


@pytest.mark.parametrize("directed", [True, False])
def test_the_edge_list_keeps_names_and_digits(model, tmp_path, directed):
    path = tmp_path / "edges.csv"
    write_edges(graph_tables(model, directed=directed), path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {
        ((row["source"], row["target"]) if directed else frozenset((row["source"], row["target"]))): float(
            row["weight"]
        )
        for row in rows
    }
    assert found == expected(model, directed)
    assert [float(row["weight"]) for row in rows] == sorted((float(row["weight"]) for row in rows), reverse=True)


def test_node_link_json_comes_back_through_networkx(model, tmp_path):
    path = tmp_path / "g.json"
    write_node_link(graph_tables(model), path)
    graph = nx.node_link_graph(json.loads(path.read_text(encoding="utf-8")), edges="edges")
    assert {(a, b): w for a, b, w in graph.edges(data="weight")} == expected(model, True)
    strength = {name: data["strength"] for name, data in graph.nodes(data=True)}
    np.testing.assert_allclose([strength[name] for name in HOSTILE], model.adjacency_.sum(axis=0))


def test_numbers_as_names_and_sparse_graphs(random):
    signals = random.normal(size=(5, 40))
    dense = graph_tables(SmoothGL(degree=3, storage="dense").fit(signals))
    sparse = graph_tables(SmoothGL(degree=3, storage="sparse").fit(signals))
    assert dense.nodes["name"].tolist() == [str(k) for k in range(40)]
    pd.testing.assert_frame_equal(
        dense.edges.sort_values(["source", "target"], ignore_index=True),
        sparse.edges.sort_values(["source", "target"], ignore_index=True),
    )
