"""A learned graph as files: an edge list, GraphML for Gephi, igraph and networkx, and JSON for anything else."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
from scipy import sparse

SPACES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;", '"': "&quot;"}  # else XML makes plain blanks of the first three


@dataclass(frozen=True, eq=False)
class GraphTables:
    """A graph as two tables.

    Attributes
    ----------
    nodes : DataFrame, with ``name``, ``strength`` (total weight of the edges that leave the node, or touch it where the
        graph is undirected) and, where there is a game, ``benefit`` and ``action``
    edges : DataFrame, with ``source``, ``target`` and ``weight``, strongest first
    directed : bool

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> graph = graph_tables(SmoothGL(degree=1).fit(np.array([[0.0, 0.1, 5.0], [0.0, 0.2, 4.0]])))
    >>> graph.edges
      source target  weight
    0      0      1    0.95
    1      1      0    0.95
    2      1      2    0.95
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame
    directed: bool


def graph_tables(model: Any, *, directed: bool = True) -> GraphTables:
    """Return the graph of a fitted estimator; undirected, an edge weighs the mean of its two directions.

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> model = SmoothGL(degree=1).fit(np.array([[0.0, 0.1, 5.0], [0.0, 0.2, 4.0]]))
    >>> graph_tables(model, directed=False).edges.weight.tolist()
    [0.95, 0.475]
    """
    names = np.array([str(name) for name in model.node_names_], dtype=object)
    weights = sparse.csr_array(model.adjacency_)
    mutual = weights if directed else sparse.csr_array(0.5 * (weights + weights.T))
    pairs = sparse.coo_array(mutual if directed else sparse.tril(mutual))
    target, source = pairs.coords
    order = np.lexsort((target, source, -pairs.data))
    order = order[pairs.data[order] > 0]
    nodes = {"name": names, "strength": np.asarray(mutual.sum(axis=0)).ravel()}
    for column, attribute in (("benefit", "benefit_"), ("action", "equilibrium_")):
        values = np.asarray(getattr(model, attribute, ()))
        if values.shape == names.shape:
            nodes[column] = values
    edges = {"source": names[source[order]], "target": names[target[order]], "weight": pairs.data[order].astype(float)}
    return GraphTables(pd.DataFrame(nodes), pd.DataFrame(edges), directed)


def write_edges(graph: GraphTables, path: str | Path) -> None:
    """Write the edges as CSV: names to the letter and in quotes, weights to the last digit.

    Examples
    --------
    >>> import tempfile
    >>> from nashgraph import SmoothGL
    >>> graph = graph_tables(SmoothGL(degree=1).fit(np.array([[0.0, 0.1, 5.0], [0.0, 0.2, 4.0]])))
    >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> write_edges(graph, file)
    >>> file.read_text().splitlines()[:2]
    ['"source","target","weight"', '"0","1",0.95']
    """
    graph.edges.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n", encoding="utf-8")


def write_graphml(graph: GraphTables, path: str | Path) -> None:
    """Write GraphML: nodes have their names as ids, edges their weights to the last digit.

    Gephi shows the label, igraph goes by the name (of an id it gets "&" wrong), networkx by the id: all are the name.

    Examples
    --------
    >>> import networkx as nx, tempfile
    >>> from nashgraph import SmoothGL
    >>> file = Path(tempfile.mkdtemp()) / "graph.graphml"
    >>> write_graphml(graph_tables(SmoothGL(degree=1).fit(np.array([[0.0, 0.1, 5.0], [0.0, 0.2, 4.0]]))), file)
    >>> nx.read_graphml(file)["1"]["2"]["weight"]
    0.95
    """
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in _graphml_lines(graph))


def _graphml_lines(graph: GraphTables) -> Iterator[str]:
    numbers = [str(column) for column in graph.nodes if column != "name"]
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for text in ("name", "label"):
        yield f'<key id="{text}" for="node" attr.name="{text}" attr.type="string"/>'
    for column in numbers:
        yield f'<key id="{column}" for="node" attr.name="{column}" attr.type="double"/>'
    yield '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>'
    yield f'<graph id="G" edgedefault="{"directed" if graph.directed else "undirected"}">'
    ids = {name: escape(name, SPACES) for name in graph.nodes["name"]}
    for name, *values in zip(graph.nodes["name"], *(graph.nodes[column].tolist() for column in numbers), strict=True):
        data = "".join(f'<data key="{column}">{value!r}</data>' for column, value in zip(numbers, values, strict=True))
        names = f'<data key="name">{ids[name]}</data><data key="label">{ids[name]}</data>'
        yield f'<node id="{ids[name]}">{names}{data}</node>'
    edges = graph.edges
    for source, target, weight in zip(edges["source"], edges["target"], edges["weight"].tolist(), strict=True):
        yield f'<edge source="{ids[source]}" target="{ids[target]}"><data key="weight">{weight!r}</data></edge>'
    yield "</graph>"
    yield "</graphml>"


def write_node_link(graph: GraphTables, path: str | Path) -> None:
    """Write node-link JSON, as ``networkx.node_link_graph(data, edges="edges")`` reads it.

    Examples
    --------
    >>> import tempfile
    >>> from nashgraph import SmoothGL
    >>> file = Path(tempfile.mkdtemp()) / "graph.json"
    >>> write_node_link(graph_tables(SmoothGL(degree=1).fit(np.array([[0.0, 0.1, 5.0], [0.0, 0.2, 4.0]]))), file)
    >>> json.loads(file.read_text())["edges"][0]
    {'source': '0', 'target': '1', 'weight': 0.95}
    """
    content = {
        "directed": graph.directed,
        "multigraph": False,
        "graph": {},
        "nodes": graph.nodes.rename(columns={"name": "id"}).to_dict("records"),
        "edges": graph.edges.to_dict("records"),
    }
    with Path(path).open("w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, allow_nan=False)
