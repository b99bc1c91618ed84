"""The true network that a learned one is scored against, out of a user's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from ..validation import listing
from .columns import numbers
from .errors import TableError
from .formulas import unguarded
from .read import check_file
from .text import read_text

ENDS = ("source", "target")
# Columns of names, to be read to the letter ("007", "NA"), as a heading may spell them.
WRITTEN = tuple(write(end) for end in (*ENDS, "from", "to") for write in (str.lower, str.upper, str.title))


def read_truth(path: str | Path, names: Sequence[str], *, directed: bool = False) -> tuple[nx.Graph[str], list[str]]:
    r"""Read a true network on the nodes ``names``, in their order, and say how it was taken.

    The file is an edge list as text, with the columns source, target and, if it likes, weight (0 is no edge); or it is
    GraphML, which says itself whether edges have a direction. An edge from j to i means that j influences i.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "friends.csv"
    >>> _ = file.write_text("source,target\nann,bob\n")
    >>> read_truth(file, ["ann", "bob", "cat"])[1]
    ['the truth has 1 undirected edge(s) on 2 of 3 nodes']
    """
    path = check_file(Path(path))
    if path.suffix.lower() in (".graphml", ".xml"):
        given = _read_graphml(path)
        edges = [(str(source), str(target)) for source, target in given.edges()]
        directed = given.is_directed()
    else:
        edges = _read_edges(path)
    known = set(names)
    # A graph that we wrote may serve as truth: its names are guarded against spreadsheets.
    edges = [(_as_known(source, known), _as_known(target, known)) for source, target in edges]
    strangers = sorted({end for edge in edges for end in edge} - known)
    if strangers:
        raise TableError(
            f"{path.name} names {len(strangers)} node(s) that the signals do not have: {listing(strangers)}; the nodes "
            f"are {listing(names)}"
        )
    truth: nx.Graph[str] = nx.DiGraph() if directed else nx.Graph()
    truth.add_nodes_from(names)
    truth.add_edges_from((source, target) for source, target in edges if source != target)
    if not truth.number_of_edges():
        raise TableError(f"{path.name} has no edge between two different nodes, so there is nothing to score against")
    return truth, _what_it_is(truth, sum(source == target for source, target in edges))


def read_known(path: str | Path) -> pd.DataFrame:
    r"""Read a table of known ties, names to the letter; who takes them checks them.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ties.csv"
    >>> _ = file.write_text("source,target,tie\n007,008,1\n007,*,\n")
    >>> read_known(file).source.tolist()
    ['007', '007']
    """
    table, _ = read_text(check_file(Path(path)), exact=WRITTEN)
    return table


def _as_known(name: str, known: set[str]) -> str:
    return name if name in known else unguarded(name)


def _what_it_is(truth: nx.Graph[str], loops: int) -> list[str]:
    touched = sum(degree > 0 for _, degree in truth.degree())
    kind = "directed" if truth.is_directed() else "undirected"
    count = f"the truth has {truth.number_of_edges()} {kind} edge(s) on {touched} of {len(truth)} nodes"
    return [count, *([f"left {loops} edge(s) from a node to itself out of the truth"] if loops else [])]


def _read_edges(path: Path) -> list[tuple[str, str]]:
    table, _ = read_text(path, exact=WRITTEN)
    table.columns = [str(name).lower() for name in table.columns]
    if not {*ENDS} <= {*table.columns}:
        raise TableError(f"{path.name} must have the columns source and target, got {listing(table.columns)}")
    if "weight" in table:
        weights = numbers(table["weight"])
        if np.isnan(weights).any():
            raise TableError(f"{path.name}: the weight is missing in row {int(np.argmax(np.isnan(weights))) + 1}")
        table = table[weights != 0]
    return list(zip(table["source"], table["target"], strict=True))


def _read_graphml(path: Path) -> nx.Graph[Any]:
    """Read GraphML; where nodes have names besides their ids, as igraph writes them, those count."""
    try:
        graph = nx.read_graphml(path)
    except Exception as error:  # whatever a parser meets in a broken file
        raise TableError(f"{path.name} cannot be read as GraphML: {error}") from error
    named = nx.get_node_attributes(graph, "name")
    return nx.relabel_nodes(graph, named) if len(named) == len(graph) else graph
