"""The result of every loader of real data, and the error it raises if the data are not available."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import pandas as pd


class DatasetError(OSError):
    """A data set is not here, could not be fetched, or is not the one that was pinned."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A real network and what is known of its nodes. Everything lists the nodes in the order of ``names``.

    Parameters
    ----------
    name : str
    graph : networkx.Graph, or networkx.DiGraph where links have a direction
    signals : DataFrame of shape (n_signals, n_nodes), or None where the network has none
    names : list, the nodes of the graph
    attributes : DataFrame, one row per node
    source : str, where the data come from
    citation : str

    Examples
    --------
    >>> import networkx as nx
    >>> path = nx.path_graph(3)
    >>> Dataset("path", path, None, list(path), pd.DataFrame(index=list(path)), "networkx", "")
    Dataset('path': 3 nodes, 2 edges, no signals)
    """

    name: str
    graph: nx.Graph[Any]
    signals: pd.DataFrame | None
    names: list[Hashable]
    attributes: pd.DataFrame
    source: str
    citation: str

    def __repr__(self) -> str:
        edges = f"{self.graph.number_of_edges()} {'directed ' if self.graph.is_directed() else ''}edges"
        signals = "no signals" if self.signals is None else f"{len(self.signals)} signals"
        return f"Dataset({self.name!r}: {len(self.names)} nodes, {edges}, {signals})"
