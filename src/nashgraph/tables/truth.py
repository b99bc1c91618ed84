"""The true network that a learned one is scored against, and the ties that are known, out of a user's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import pandas as pd

from .ties import Group, NoTiesError, read_ties, rows_of


def read_truth(
    path: str | Path, names: Sequence[str], *, directed: bool = False, group: Group | None = None
) -> tuple[nx.Graph[str], list[str]]:
    r"""Read a true network on the nodes ``names``, in their order, and say how it was taken.

    The file is a list of edges, a matrix or a graph (see :func:`~nashgraph.tables.ties.read_ties`). GraphML, GML and
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
    edges = list(rows_of(ties))
    truth: nx.Graph[str] = nx.DiGraph() if (directed if ties.directed is None else ties.directed) else nx.Graph()
    truth.add_nodes_from(names)
    truth.add_edges_from((source, target) for source, target in edges if source != target)
    if not truth.number_of_edges():
        name = Path(path).name
        raise NoTiesError(f"{name} has no edge between two different nodes, so there is nothing to score against")
    return truth, [*ties.notes, *_what_it_is(truth, sum(source == target for source, target in edges))]


def read_known(path: str | Path, names: Sequence[str], group: Group | None = None) -> tuple[pd.DataFrame, list[str]]:
    r"""Read known ties between the nodes ``names``, as a table for ``ConsensusGL().fit(X, known=...)``, and notes.

    Of a matrix, an empty cell says that nothing is known; a graph's edges are ties, and the ties of its nodes with a
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
    return ties.table.drop(columns="weight").assign(tie=ties.table["tie"].astype(int)), ties.notes


def _what_it_is(truth: nx.Graph[str], loops: int) -> list[str]:
    touched = sum(degree > 0 for _, degree in truth.degree())
    kind = "directed" if truth.is_directed() else "undirected"
    count = f"the truth has {truth.number_of_edges()} {kind} edge(s) on {touched} of {len(truth)} nodes"
    return [count, *([f"left {loops} edge(s) from a node to itself out of the truth"] if loops else [])]
