"""A learned graph as files: edges and nodes as CSV, GraphML, node-link JSON, and members.npz for a consensus.

Names are written as text. Every column of the graph's nodes and edges is written; missing values are left out.
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
from scipy import sparse

from ..graph import LearnedGraph
from ..validation import Array
from .errors import TableError
from .names import UNWRITABLE
from .options import BYTES_A_CELL, MAX_CELLS

SPACES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;", '"': "&quot;"}  # else XML makes plain blanks of the first three
TYPES = {"f": "double", "i": "long", "u": "long", "b": "boolean"}  # of GraphML, by the kind of a NumPy array

# Columns of nodes.csv and edges.csv that are numbers, where they are there.
NUMBERS = (
    "influence_low influence_high rank_low rank_high expected_ties ties_low ties_high benefit action missing silent "
    "community gossip",
    "evidence frequency probability low high",
)


def write_edges(graph: LearnedGraph, path: str | Path) -> None:
    """Write the edges as CSV: names to the letter and in quotes, weights to the last digit.

    A name that a spreadsheet would run as a formula gets an apostrophe before it; :func:`read_edges` takes it off.

    Examples
    --------
    >>> import tempfile
    >>> graph = LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["=1+1", "007"])
    >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> write_edges(graph, file)
    >>> print(file.read_text().splitlines()[1], read_edges(file).target[0])
    "007","'=1+1",0.4 =1+1
    """
    write_csv(graph.edges(), path, "source", "target")


def write_nodes(graph: LearnedGraph, path: str | Path) -> None:
    """Write the nodes as CSV, the most influential first: names as in the edges, influence, and every column.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "nodes.csv"
    >>> write_nodes(LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["ann", "bob"]), file)
    >>> file.read_text().splitlines()
    ['"name","influence","followers","listens_to"', '"bob",0.4,1,1', '"ann",0.2,1,1']
    """
    write_csv(graph.nodes(), path, "name")


def read_edges(path: str | Path, first: int | None = None) -> pd.DataFrame:
    """Read the first edges of what :func:`write_edges` wrote, or all of them.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> write_edges(LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["=1+1", "007"]), file)
    >>> read_edges(file).source.tolist()
    ['007', '=1+1']
    """
    return _read_csv(path, "weight", "source", "target", first=first)


def read_nodes(path: str | Path, first: int | None = None, number: str = "influence") -> pd.DataFrame:
    """Read the first nodes of what :func:`write_nodes` wrote, or all of them; the column ``number`` must be there.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "nodes.csv"
    >>> write_nodes(LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["NA", "@bob"]), file)
    >>> read_nodes(file).name.tolist()
    ['@bob', 'NA']
    """
    return _read_csv(path, number, "name", first=first)


def _read_csv(path: str | Path, number: str, *names: str, first: int | None = None) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, nrows=first)
        exact = pd.read_csv(path, nrows=first, usecols=list(names), dtype=str, keep_default_na=False)  # "007", "NA"
        for column in [number, *(name for name in NUMBERS[len(names) - 1].split() if name in table)]:
            # As text, "1_0" would become 10, and 400 digits overflow.
            if len(table) and not pd.api.types.is_numeric_dtype(table[column]):
                raise ValueError("a number is not one")
        table[number] = table[number].astype(float)
        if len(names) == 2 and not ((table[number] >= 0) & (table[number] < np.inf)).all():
            raise ValueError("a weight is missing or negative")
        if len(names) == 1 and exact[names[0]].duplicated().any():
            raise ValueError("a name occurs twice")
    except (ValueError, LookupError) as error:  # pandas' errors of parsing and UnicodeDecodeError are ValueErrors
        raise TableError(f"{Path(path).name} is damaged: learn the network again") from error
    return unguarded_table(table.assign(**exact))


def write_csv(table: pd.DataFrame, path: str | Path, *names: str) -> None:
    """Write a table as CSV, some columns as text and in quotes; headings and text are guarded against spreadsheets."""
    table = guarded_table(table.assign(**{name: table[name].map(str) for name in names}))
    table.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n", encoding="utf-8")


def write_graphml(graph: LearnedGraph, path: str | Path) -> None:
    """Write GraphML: nodes have their names as ids, edges their weights to the last digit.

    Gephi shows the label, igraph the name (it gets "&" in an id wrong) and networkx the id: all three are the name.
    networkx's own writer takes seven times as long (32 s against 4 s for 400,000 edges) and writes
    control characters that no reader accepts.

    Examples
    --------
    >>> import networkx as nx, tempfile
    >>> graph = LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["ann", "bob"])
    >>> file = Path(tempfile.mkdtemp()) / "graph.graphml"
    >>> write_graphml(graph, file)
    >>> nx.read_graphml(file)["bob"]["ann"]["weight"]
    0.4
    """
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in _graphml_lines(graph))


def write_node_link(graph: LearnedGraph, path: str | Path) -> None:
    """Write node-link JSON, as ``networkx.node_link_graph(data, edges="edges")`` reads it.

    Examples
    --------
    >>> import tempfile
    >>> graph = LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["ann", "bob"])
    >>> file = Path(tempfile.mkdtemp()) / "graph.json"
    >>> write_node_link(graph, file)
    >>> json.loads(file.read_text())["edges"][0]
    {'source': 'bob', 'target': 'ann', 'weight': 0.4}
    """
    nodes, edges = (list(_records(columns)) for columns in _columns(graph))
    content = {"directed": graph.directed, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges}
    Path(path).write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), encoding="utf-8")


# Writers of a learned graph, by the file's name: another format is a function and a line.
GRAPH_FILES = {
    "edges.csv": write_edges,
    "nodes.csv": write_nodes,
    "graph.graphml": write_graphml,
    "graph.json": write_node_link,
}


def _columns(graph: LearnedGraph) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the columns of the nodes (id first) and of the edges (source and target first), names as text."""
    names = np.array([str(name) for name in graph.names], dtype=object)
    listed = graph.listed
    nodes = {"id": names, "influence": graph.influence, **graph.node_columns}
    edges = {"source": names[listed.source], "target": names[listed.target], "weight": listed.weight}
    edges |= {name: np.asarray(values)[listed.place] for name, values in graph.edge_columns.items()}
    return {name: np.asarray(values) for name, values in nodes.items()}, edges


def _records(columns: dict[str, Array]) -> Iterator[dict[str, Any]]:
    """Yield each row without the values it lacks."""
    for row in zip(*(_plain(values) for values in columns.values()), strict=True):
        yield {column: value for column, value in zip(columns, row, strict=True) if value is not None}


def _plain(values: Array) -> list[Any]:
    """Return a column's values, None where missing; what is neither a number nor true or false is text."""
    numeric = values.dtype.kind in TYPES
    there = np.isfinite(values) if numeric else ~pd.isna(values)
    if numeric:
        plain = values.tolist()
    else:
        plain = [str(value) for value in values]
    return [value if known else None for value, known in zip(plain, there.tolist(), strict=True)]


def _graphml_lines(graph: LearnedGraph) -> Iterator[str]:
    nodes, edges = _columns(graph)
    ids = nodes.pop("id")
    sources = edges.pop("source")
    targets = edges.pop("target")
    nodes = {"name": ids, "label": ids, **nodes}
    # By number, because a column of the nodes and one of the edges may have the same name.
    node_keys = {column: f"n{k}" for k, column in enumerate(nodes)}
    edge_keys = {column: f"e{k}" for k, column in enumerate(edges)}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for part, keys, columns in (("node", node_keys, nodes), ("edge", edge_keys, edges)):
        for column, key in keys.items():
            kind = TYPES.get(columns[column].dtype.kind, "string")
            yield f'<key id="{key}" for="{part}" attr.name="{_written(column)}" attr.type="{kind}"/>'
    yield f'<graph id="G" edgedefault="{"directed" if graph.directed else "undirected"}">'
    written = {name: _written(name) for name in ids}
    for name, record in zip(ids, _records(nodes), strict=True):
        yield f'<node id="{written[name]}">{_data(record, node_keys)}</node>'
    for source, target, record in zip(sources, targets, _records(edges), strict=True):
        yield f'<edge source="{written[source]}" target="{written[target]}">{_data(record, edge_keys)}</edge>'
    yield "</graph>"
    yield "</graphml>"


def _data(record: dict[str, Any], keys: dict[str, str]) -> str:
    return "".join(f'<data key="{keys[column]}">{_written(value)}</data>' for column, value in record.items())


def _written(value: Any) -> str:
    if isinstance(value, str):
        return escape(UNWRITABLE.sub("\ufffd", value), SPACES)
    return repr(value).lower() if isinstance(value, bool) else repr(value)


# Text that a spreadsheet takes for a formula, and text that we made of one; a plain number, "-5", is harmless.
FORMULA = re.compile(r"'*(?:[=@\t\r]|[+\-](?!\d+(?:\.\d+)?$))")


def guarded(text: str) -> str:
    """Return text with an apostrophe before what would be a formula; :func:`unguarded` takes it off again."""
    return f"'{text}" if FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """Return the text that :func:`guarded` was given."""
    if text.startswith("'") and FORMULA.match(text):
        return text[1:]
    return text


def guarded_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its headings and its text guarded."""
    return table.map(lambda value: guarded(value) if isinstance(value, str) else value).rename(columns=guarded)


def unguarded_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table that :func:`guarded_table` was given."""
    return table.map(lambda value: unguarded(value) if isinstance(value, str) else value).rename(columns=unguarded)


def write_members(path: str | Path, names: Iterable[Any], weights: Any, members: Sequence[Any]) -> None:
    """Write a graph (7 digits) and those of its replicates (3 digits); the same graphs give the same bytes."""
    number = np.uint16 if weights.shape[0] < 2**16 else np.uint32
    graphs = [weights, *members]
    np.savez_compressed(
        path,
        names=np.array([str(name) for name in names], dtype=np.str_),
        weights=weights.data.astype(np.float32),
        members=np.concatenate([graph.data for graph in members] or [np.zeros(0)]).astype(np.float16),
        columns=np.concatenate([graph.indices for graph in graphs]).astype(number),
        counts=np.stack([np.diff(graph.indptr) for graph in graphs]).astype(number),
    )


MEMBER_PARTS = {"names": ("U", 1), "weights": ("f", 1), "members": ("f", 1), "columns": ("u", 1), "counts": ("u", 2)}


@np.errstate(invalid="ignore")  # a damaged file may have NaN for a number of ties
def read_members(path: Path) -> tuple[list[str], Any, list[Any]]:
    """Return the names, the graph and the graphs of its replicates."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_CELLS * BYTES_A_CELL:
            raise ValueError("it is too large")
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            parts = {name: kept[name] for name in MEMBER_PARTS}
        if odd := [name for name, part in parts.items() if (part.dtype.kind, part.ndim) != MEMBER_PARTS[name]]:
            raise ValueError(f"{odd[0]} is not as it was written")
        names = parts["names"].tolist()
        counts = parts["counts"].astype(np.int64)
        columns = parts["columns"]
        if len({*names}) < len(names):
            raise ValueError("a name occurs twice")
        data = np.concatenate([parts["weights"].astype(float), parts["members"].astype(float)])
        ends = np.cumsum(counts.sum(axis=1))
        found = counts.shape[1], ends[-1], ends[-1]
        if found != (len(names), len(data), len(columns)):
            raise ValueError("its parts do not fit")
        if not ((data >= 0) & (data <= 1)).all():
            raise ValueError("its weights are not between 0 and 1")
        graphs = [
            _graph(data[end - row.sum() : end], columns[end - row.sum() : end], row)
            for row, end in zip(counts, ends.tolist(), strict=True)
        ]
    except Exception as error:  # of the archive, of its arrays, or of what they should be
        raise TableError(f"{path.name} is damaged ({error}): learn the network again") from error
    return names, graphs[0], graphs[1:]


def _graph(data: Array, columns: Array, counts: Array) -> Any:
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    graph = sparse.csr_array((data, columns.astype(np.int32), pointers), shape=(len(counts), len(counts)))
    graph.check_format()
    return graph
