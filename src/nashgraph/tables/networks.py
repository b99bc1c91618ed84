"""A weighted network out of a user's file, and numbers that its nodes have, by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

from ..graph import LearnedGraph, as_graph
from ..validation import listing
from .columns import as_name, numbers
from .errors import TableError
from .formulas import unguarded
from .read import check_file
from .ties import read_all_ties, read_exact, rows_of

NAME_COLUMNS = ("name", "id", "node")


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
    graph: nx.Graph[str] = nx.DiGraph() if (directed if ties.directed is None else ties.directed) else nx.Graph()
    ends = [(unguarded(source), unguarded(target)) for source, target in rows_of(ties)]
    weights = ties.table["weight"][ties.table["tie"]].tolist()
    for (source, target), weight in zip(ends, weights, strict=True):
        if source != target:
            graph.add_edge(source, target, weight=weight)
    if not graph.number_of_edges():
        raise TableError(f"{Path(path).name} has no tie between two different nodes")
    return as_graph(graph)


def read_node_numbers(path: str | Path, column: str, names: Sequence[str]) -> pd.Series:
    r"""Read a number of some nodes, by their names, from a table: its column of this name, or its only other column.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "new.csv"
    >>> _ = file.write_text("name,benefit\nann,2.5\n")
    >>> read_node_numbers(file, "benefit", ["ann", "bob"]).to_dict()
    {'ann': 2.5}
    """
    file = check_file(Path(path))
    headings = [str(name) for name in read_exact(file, ()).columns]
    named = next((name for name in headings if name.lower() in NAME_COLUMNS), headings[0])
    others = [name for name in headings if name != named]
    wanted = next((name for name in others if name.lower() == column), others[0] if len(others) == 1 else None)
    if wanted is None:
        raise TableError(f"{file.name} must have a column of names and one called {column}; it has {listing(headings)}")
    table = read_exact(file, [named])  # "007" is a name
    found = pd.Series(numbers(table[wanted]), index=[unguarded(as_name(name)) for name in table[named]], dtype=float)
    if found.index.has_duplicates:
        raise TableError(f"{file.name} names nodes more than once: {listing(found.index[found.index.duplicated()])}")
    if found.isna().any():
        raise TableError(f"{file.name}: the {column} of {listing(found.index[found.isna()])} is missing")
    known = {*names}
    if unknown := [name for name in found.index if name not in known]:
        raise TableError(
            f"{file.name} names nodes that the network does not have: {listing(unknown)}; the nodes are called "
            f"{listing(names)}"
        )
    if (negative := found < 0).any():
        first = found.index[int(np.argmax(negative))]
        raise TableError(f"{file.name}: the {column} of {first} is {found[first]:g}, and it must not be negative")
    return found
