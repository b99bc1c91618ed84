"""Ties from a user's file (an edge list, a matrix, a graph file): as a truth, as known ties, or as a network."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import lazy_loader
import numpy as np
import pandas as pd

from ..files import in_bytes
from ..graph import LearnedGraph, as_graph
from ..matching import NameIndex
from ..validation import Array, listing
from .columns import as_name, numbers
from .dl import read_dl
from .errors import TableError, reading, too_large
from .graphs import guarded, unguarded
from .names import group_labels
from .options import BYTES_A_CELL, MAX_CELLS, TableOptions
from .read import check_file, read_table

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # it takes a tenth of a second, and learning does without

ENDS = (("source", "target"), ("from", "to"), ("ego", "alter"), ("sender", "receiver"))  # columns of an edge list
ALL = "*"  # in place of a target: all ties of the source are known
GRAPHS = {
    **{".graphml": "GraphML", ".xml": "GraphML", ".gml": "GML", ".dl": "UCINET's DL"},
    **dict.fromkeys((".net", ".paj", ".pajek"), "Pajek"),
}
# Columns of names, to be read to the letter ("007", "NA"), as a heading may spell them.
WRITTEN = tuple(write(end) for ends in ENDS for end in ends for write in (str.lower, str.upper, str.title))


class Ties(NamedTuple):
    """Ties by the names of their ends.

    ``table`` has source, target, tie (True or False), weight (1 where there is none) and whole: in such a row, all ties
    of the source are known, and its target is "*". ``directed`` is None where the file does not say.
    """

    table: pd.DataFrame
    directed: bool | None
    notes: list[str]

    @property
    def edges(self) -> pd.DataFrame:
        """Those that are ties between two nodes, or of a node with itself."""
        return self.table[self.table["tie"] & ~self.table["whole"]]

    def graph(self, directed: bool) -> nx.Graph[str]:
        """Return an empty graph; ``directed`` counts where the file does not say."""
        if directed if self.directed is None else self.directed:
            return nx.DiGraph()
        return nx.Graph()


class NoTiesError(TableError):
    """A file has ties, but none between the nodes in question."""


class Group(NamedTuple):
    """A group of the signals' table: the column that tells groups apart, and its value."""

    column: str
    value: str


def read_ties(path: str | Path, names: Sequence[str], group: Group | None = None) -> Ties:
    """Read ties between the nodes ``names``; those with a node that is not among them are left out, with a note.

    A table has the columns source and target (or from and to, ego and alter, sender and receiver), and may have weight
    (0 means no tie) or tie (1 or 0). Or it is a matrix with the nodes' names on both sides, a row's ties to the
    columns, or a matrix of numbers only, in the nodes' order. If a table has a column for groups, only the rows of
    ``group`` are used.
    """
    path = Path(path)
    ties = read_all_ties(path, names, group)
    check_weights(path, ties.edges)
    people = NameIndex(names)
    source = people.places(ties.table["source"])
    target = people.places(ties.table["target"])
    whole = ties.table["whole"].to_numpy(dtype=bool)
    inside = (source >= 0) & (whole | (target >= 0))
    ends = pd.unique(ties.table.loc[~whole, ["source", "target"]].to_numpy().ravel())
    others = [name for name in ends if people.place(name) < 0]
    others += [name for name in ties.table.loc[whole & ~inside, "source"] if name not in others]
    if not inside.any() and len(inside):
        raise NoTiesError(
            f"{path.name} has no tie between two nodes of the signals: it names {listing(others)}, and the nodes are "
            f"{listing(names)}"
        )
    table = ties.table[inside].reset_index(drop=True)
    table["source"] = [names[place] for place in source[inside]]
    table["target"] = [
        ALL if every else names[place] for every, place in zip(whole[inside], target[inside], strict=True)
    ]
    if inside.all():
        return ties._replace(table=table)
    note = f"left out {(~inside).sum()} tie(s) with {len(others)} node(s) that the signals do not have"
    return Ties(table, ties.directed, [*ties.notes, f"{path.name}: {note}: {listing(others)}"])


def check_weights(path: Path, edges: pd.DataFrame) -> None:
    """Refuse a weight that is negative or infinite."""
    odd = edges[~((edges["weight"] >= 0) & (edges["weight"] < np.inf))]
    if len(odd):
        source, target, weight = odd[["source", "target", "weight"]].to_numpy()[0]
        raise TableError(
            f"{path.name}: the weight from {unguarded(source)} to {unguarded(target)} is {weight:g}, and it must be a "
            "number of 0 or more: correct it, or leave this tie out"
        )


def read_all_ties(path: str | Path, names: Sequence[str] = (), group: Group | None = None) -> Ties:
    """Read all ties of a file, whoever's they are; ``names`` help to tell what nodes are called."""
    path = check_file(Path(path))
    if (kind := GRAPHS.get(path.suffix.lower())) is None:
        return _of_table(path, names, group)
    if (size := path.stat().st_size) > MAX_CELLS * BYTES_A_CELL:
        raise too_large(path.name, f"it has {in_bytes(size)}", MAX_CELLS)
    with reading(path, kind):
        graph = _read_graph(path, kind)
    return _of_graph(path, graph, names)


def _of_table(path: Path, names: Sequence[str], group: Group | None) -> Ties:
    bare = read_exact(path, (), header=False)
    if bare.shape == (len(names), len(names)) and all(dtype.kind in "biuf" for dtype in bare.dtypes):
        note = f"{path.name}: a matrix without names, taken in the order of the nodes"
        return _of_cells(path, bare.to_numpy(dtype=float), np.array(names, dtype=object), [note])
    table = read_exact(path, WRITTEN if group is None else (*WRITTEN, group.column))
    columns = {str(name).lower(): name for name in table.columns}
    if doubled := [name for name in table.columns if columns[str(name).lower()] != name]:
        raise TableError(
            f"{path.name} has columns that differ in capitals only: {listing(doubled)}; rename one of each"
        )
    ends = next((pair for pair in ENDS if {*pair} <= {*columns}), None)
    if ends is None:
        return _of_matrix(path, table.columns, names)
    if group is not None and group.column in table.columns:
        table = table[group_labels(table[group.column]).isin([group.value, guarded(group.value)])]
        if table.empty:
            raise NoTiesError(f"{path.name} has no ties in {group.column} {group.value}")
    source = _unguarded(table[columns[ends[0]]], names)
    target = _unguarded(table[columns[ends[1]]], names)
    gone = (source.str.strip() == "") | (target.str.strip() == "")
    if gone.any():
        raise TableError(f"{path.name}: an end is missing in row {int(np.argmax(gone)) + 1}")
    whole = target == ALL if ALL not in names else target.map(lambda name: False)  # a person may be called *
    everybody = (source == ALL) & (ALL not in names)
    if everybody.any():
        row = int(np.argmax(everybody)) + 1
        raise TableError(
            f"{path.name}: the source in row {row} is {ALL}, which only a target can be: write the name of a person "
            f"whose ties are all known as the source, and {ALL} as the target"
        )
    tied, weight = _tied(path, table, columns, whole)
    ties = {"source": source, "target": target, "tie": tied, "weight": weight, "whole": whole}
    return Ties(pd.DataFrame(ties), None, [])


def _unguarded(column: pd.Series, names: Sequence[str]) -> pd.Series:
    """Return the names in a column of a table, without the guard of our own files against spreadsheets."""
    known = {*names}

    def plain(cell: Any) -> str:
        name = as_name(cell)
        return name if name in known else unguarded(name)

    return column.map(plain).astype(object)


def _tied(path: Path, table: pd.DataFrame, columns: dict[str, Any], whole: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return which rows are ties, by a column tie or weight, where there is one, and the weights."""
    tied = pd.Series(True, index=table.index)
    weight = pd.Series(1.0, index=table.index)
    for name in ("weight", "tie"):
        if name in columns:
            found = _numbers(path, table[columns[name]])
            found = np.where(whole, 1.0, found)
            if np.isnan(found).any():
                raise TableError(f"{path.name}: the {name} is missing in row {int(np.argmax(np.isnan(found))) + 1}")
            if name == "tie" and (odd := ~np.isin(found, (0.0, 1.0))).any():
                raise TableError(f"{path.name}: the tie in row {int(np.argmax(odd)) + 1} is neither 1 nor 0")
            tied &= found != 0
            if name == "weight":
                weight = pd.Series(found, index=table.index)
    return tied, weight


def _numbers(path: Path, column: pd.Series) -> Array:
    """Return a column as numbers (true is 1), gaps as NaN; an error names the first cell that is not a number."""
    words = {"true": 1, "false": 0}
    plain = column.map(lambda value: words.get(str(value).strip().lower(), value), na_action="ignore")
    found = pd.to_numeric(plain.replace("", None), errors="coerce")
    if (odd := found.isna() & column.notna() & (column != "")).any():
        row = int(np.argmax(odd))
        raise TableError(
            f"{path.name}: row {row + 1}, column {column.name!r}: {column.iloc[row]!r} is not a number; it must be 1, "
            "0 or a weight"
        )
    return found.to_numpy(dtype=float, na_value=np.nan)


def _of_matrix(path: Path, headings: Iterable[str], names: Sequence[str]) -> Ties:
    """Return the ties in a matrix: a cell that is not 0 ties its row to its column, an empty one says nothing."""
    table = read_exact(path, [*headings])
    rows = _unguarded(table.iloc[:, 0], names)
    columns = _unguarded(pd.Series(table.columns[1:], dtype=object), names).tolist()
    if not columns or len(rows) != len(columns) or {*rows} != {*columns}:
        raise TableError(
            f"{path.name} must have the columns source and target (or from and to), or be a matrix with the same names "
            f"in its first row and first column; it has the columns {listing(table.columns)}"
        )
    place = {name: 1 + k for k, name in enumerate(columns)}
    cells = np.column_stack([_numbers(path, table.iloc[:, place[name]]) for name in rows])
    return _of_cells(path, cells, rows.to_numpy(dtype=object), [])


def _of_cells(path: Path, cells: Array, names: Array, notes: list[str]) -> Ties:
    source, target = np.nonzero(~np.isnan(cells) & ~np.eye(len(cells), dtype=bool))
    filled = np.nan_to_num(cells)
    if not (filled == filled.T).all():
        notes = [*notes, f"{path.name}: the matrix is not symmetric; its ties go from row to column"]
    weight = cells[source, target]
    ties = {"source": names[source], "target": names[target], "tie": weight != 0, "weight": weight, "whole": False}
    return Ties(pd.DataFrame(ties), None, notes)


def read_exact(path: Path, exact: Sequence[str], *, header: bool = True) -> pd.DataFrame:
    """Read a table, with some columns to the letter."""
    return read_table(path, TableOptions(header=header), exact)[0]


def has_column(path: Path, column: str) -> bool:
    """Return whether a file of ties is a table with such a column."""
    return path.suffix.lower() not in GRAPHS and column in read_exact(check_file(path), WRITTEN).columns


def _of_graph(path: Path, graph: nx.Graph[Any], names: Sequence[str]) -> Ties:
    """Return the ties of a graph between nodes by their names."""
    labels = _labels(path, graph, names)
    rows: list[tuple[str, str, bool, float, bool]] = []
    for source, target, weight in graph.edges(data="weight", default=1.0):
        one = labels[source]
        other = labels[target]
        try:
            rows.append((one, other, float(weight) != 0, float(weight), False))
        except (TypeError, ValueError):  # a word, or several weights of one edge
            what = f"the weight between {one} and {other} is {weight!r}, and not a number"
            raise TableError(f"{path.name}: {what}") from None
    rows += [(labels[node], ALL, True, 1.0, True) for node, whole in graph.nodes(data="known") if whole]
    columns = ["source", "target", "tie", "weight", "whole"]
    table = pd.DataFrame(rows, columns=columns).astype({"source": object, "target": object, "tie": bool, "whole": bool})
    return Ties(table, graph.is_directed(), [])


def _labels(path: Path, graph: nx.Graph[Any], names: Sequence[str]) -> dict[Any, str]:
    """Return what each node is called: by the attribute label or name, or by its id.

    networkx writes GML with running numbers as ids and igraph numbers the nodes of GraphML, so ids come last. Where
    ``names`` are known, the choice is whatever names most of them.
    """
    choices: list[dict[Any, str]] = []
    for attribute in ("label", "name"):
        given = nx.get_node_attributes(graph, attribute)
        if len(given) == len(graph):
            choices.append({node: as_name(name) for node, name in given.items()})
    choices.append({node: as_name(node) for node in graph})
    people = NameIndex(names)
    hits = [sum(people.place(name) >= 0 for name in choice.values()) for choice in choices]
    unique = [len({*choice.values()}) == len(choice) for choice in choices]
    if not names:  # several nodes called alike, such as a kind of person, are not named by that
        return choices[unique.index(True)]
    labels = choices[int(np.argmax(hits))]
    doubled = pd.Series(list(labels.values()), dtype=object)
    if doubled.duplicated().any():
        raise TableError(
            f"{path.name} has several nodes called {listing(doubled[doubled.duplicated()].unique())}: give each a name "
            "of its own"
        )
    return labels


def _read_graph(path: Path, kind: str) -> nx.Graph[Any]:
    if kind == "GML":
        return nx.read_gml(path, label="id")
    if kind == "GraphML":
        graphs = [part for part in ET.parse(path).iter() if part.tag.rpartition("}")[2] == "graph"]
        if len(graphs) > 1:
            what = f"{len(graphs)} graphs, and one is needed: save it as one graph without groups"
            raise TableError(f"{path.name} has {what}")
        return nx.read_graphml(path)
    if kind == GRAPHS[".dl"]:
        return read_dl(path)
    graph = nx.read_pajek(path)
    declared = re.search(r"^\*vertices\s+(\d+)", path.read_text(errors="replace"), re.IGNORECASE | re.MULTILINE)
    if declared and len(graph) < int(declared[1]):  # networkx takes those that share a name for one
        raise TableError(f"{path.name} has several nodes of one name: give each a name of its own")
    return graph


def read_truth(
    path: str | Path, names: Sequence[str], *, directed: bool = False, group: Group | None = None
) -> tuple[nx.Graph[str], list[str]]:
    r"""Read a true network on the nodes ``names``, in their order, and say how it was taken.

    The file is a list of edges, a matrix or a graph (see :func:`~nashgraph.io.ties.read_ties`). GraphML, GML and
    Pajek files say themselves whether edges have a direction. An edge from j to i means that j influences i.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "friends.csv"
    >>> _ = file.write_text("source,target\nann,bob\n")
    >>> read_truth(file, ["ann", "bob", "cat"])[1]
    ['the truth has 1 undirected edge(s) on 2 of 3 nodes']
    """
    ties = read_ties(path, names, group)
    truth = ties.graph(directed)
    loops = ties.edges["source"] == ties.edges["target"]
    truth.add_nodes_from(names)
    truth.add_edges_from(ties.edges.loc[~loops, ["source", "target"]].itertuples(index=False, name=None))
    if not truth.number_of_edges():
        name = Path(path).name
        raise NoTiesError(f"{name} has no edge between two different nodes, so there is nothing to score against")
    kind = "directed" if truth.is_directed() else "undirected"
    touched = sum(degree > 0 for _, degree in truth.degree())
    notes = [*ties.notes, f"the truth has {truth.number_of_edges()} {kind} edge(s) on {touched} of {len(truth)} nodes"]
    if loops.any():
        notes.append(f"left {loops.sum()} edge(s) from a node to itself out of the truth")
    return truth, notes


def read_known(path: str | Path, names: Sequence[str], group: Group | None = None) -> tuple[pd.DataFrame, list[str]]:
    r"""Read known ties between the nodes ``names``, as a table for ``TieModel().fit(X, known=...)``, and notes.

    In a matrix, an empty cell means that nothing is known; a graph's edges are ties, and the ties of its nodes with a
    true attribute ``known`` are all known.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ties.csv"
    >>> _ = file.write_text("source,target,tie\n007,008,1\n007,*,\n")
    >>> read_known(file, ["007", "008"])[0].source.tolist()
    ['007', '007']
    """
    ties = read_ties(path, names, group)
    table = ties.table
    whole = table["whole"].to_numpy(dtype=bool)
    if ALL in names and whole.any():  # * is a person here, so all pairs of these people are listed
        complete = table.loc[whole, "source"].tolist()
        table = table[~whole]
        pairs = {frozenset(pair) for pair in table[["source", "target"]].itertuples(index=False, name=None)}
        absent = [
            (one, other, False) for one in complete for other in names if one != other and {one, other} not in pairs
        ]
        table = pd.concat([table, pd.DataFrame(absent, columns=["source", "target", "tie"])], ignore_index=True)
    known = table[["source", "target", "tie"]]
    return known.assign(tie=known["tie"].astype(int)), ties.notes


def read_network(path: str | Path, *, directed: bool = True) -> LearnedGraph:
    r"""Read a network with weights, 1 where the file has none: a list of edges, a matrix, GraphML, GML or Pajek.

    An edge from source to target is the source's influence on the target. GraphML, GML and Pajek files say themselves
    whether edges have a direction.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = file.write_text("source,target,weight\nann,bob,0.5\nbob,cat,0.25\n")
    >>> read_network(file).edges().values.tolist()
    [['ann', 'bob', 0.5], ['bob', 'cat', 0.25]]
    """
    ties = read_all_ties(path)
    check_weights(Path(path), ties.edges)
    graph = ties.graph(directed)
    edges = ties.edges[ties.edges["source"] != ties.edges["target"]]
    graph.add_weighted_edges_from(edges[["source", "target", "weight"]].itertuples(index=False, name=None))
    if not graph.number_of_edges():
        raise TableError(f"{Path(path).name} has no tie between two different nodes")
    return as_graph(graph)


def read_node_numbers(path: str | Path, column: str, names: Sequence[str]) -> pd.Series:
    r"""Read a number of some nodes, by their names, from a table: its column of this name, or its only other column."""
    file = check_file(Path(path))
    headings = [str(name) for name in read_exact(file, ()).columns]
    named = next((name for name in headings if name.lower() in ("name", "id", "node")), headings[0])
    others = [name for name in headings if name != named]
    wanted = next((name for name in others if name.lower() == column), others[0] if len(others) == 1 else None)
    if wanted is None:
        raise TableError(f"{file.name} must have a column of names and one called {column}; it has {listing(headings)}")
    table = read_exact(file, [named])  # "007" is a name
    found = pd.Series(numbers(table[wanted])[0], index=[unguarded(as_name(name)) for name in table[named]], dtype=float)
    if found.index.has_duplicates:
        raise TableError(f"{file.name} names nodes more than once: {listing(found.index[found.index.duplicated()])}")
    if found.isna().any():
        raise TableError(f"{file.name}: the {column} of {listing(found.index[found.isna()])} is missing")
    known = {*names}
    if unknown := [name for name in found.index if name not in known]:
        what = f"names nodes that the network does not have: {listing(unknown)}"
        raise TableError(f"{file.name} {what}; the nodes are called {listing(names)}")
    if (negative := found < 0).any():
        first = found.index[int(np.argmax(negative))]
        raise TableError(f"{file.name}: the {column} of {first} is {found[first]:g}, and it must not be negative")
    return found
