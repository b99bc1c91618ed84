"""The learned graph: the result of every fit, whatever the method.

``weights[i, j]`` is the weight with which node j influences node i, the edge j -> i. A node's *influence* is all the
weight with which it influences others: its column sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import lazy_loader
import numpy as np
import pandas as pd
from graspologic_native import leiden
from scipy import sparse

from .matching import square
from .validation import Array, InputError, check_number, check_weights

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # it takes a tenth of a second, and learning does without

NOT_CENTRAL = "These answers do not tell who is central. Ask everybody how many ties they have."
EVIDENCE = "evidence"  # the edge column by which ties are ranked and cut, if there is one
CONVENTIONAL_DEGREE = 6.0  # ties per node if nobody says: no guess from signals was better
SAME = 1e-9  # relative difference of evidence that is rounding
PAIR_COLUMNS = (EVIDENCE, "probability", "known")  # of two nodes: both directions have the same


def pair_numbers(one: Array, other: Array, n_nodes: int) -> Array:
    """Return a number for every pair of nodes, the same for both directions.

    Examples
    --------
    >>> pair_numbers(np.array([0, 2]), np.array([2, 0]), n_nodes=5)
    array([2, 2])
    """
    return np.minimum(one, other) * np.int64(n_nodes) + np.maximum(one, other)


def interval_around(estimate: Array, replicates: Iterable[Array]) -> tuple[Array, Array]:
    r"""Return the ends of the 90% interval of values, from replicates learned from halves of the signals.

    If T is a value learned from M signals, T' one from M fresh signals and T_h one from a half of the first, all with
    small independent errors of variance v/M, then Var(T_h - T) = v/M and Var(T' - T) = 2v/M. Hence the interval: T plus
    and minus :math:`1.645 \sqrt 2` times the root mean square of T_h - T. It holds 90% of the values that fresh signals
    would give, and T is inside by construction. Values that are never negative have no negative ends.
    """
    squares = np.zeros(len(estimate))
    least = float(np.min(estimate, initial=0.0))
    count = 0
    for values in replicates:
        squares += (values - estimate) ** 2
        least = min(least, float(np.min(values, initial=0.0)))
        count = count + 1
    width = 1.645 * np.sqrt(2.0 * squares / max(count, 1))
    return np.maximum(estimate - width, 0.0 if least >= 0 else -np.inf), estimate + width


class Edges(NamedTuple):
    """Edges by the numbers of their ends, strongest first; ``place`` is where each stands in ``weights.data``."""

    source: Array
    target: Array
    weight: Array
    place: Array

    def take(self, which: Array | slice) -> Edges:
        """Return some of the edges."""
        return Edges(*(column[which] for column in self))


@dataclass(frozen=True, eq=False, repr=False)
class LearnedGraph:
    """A weighted graph with names, and with columns of its own for edges and nodes.

    Attributes
    ----------
    names : array of shape (n_nodes,), of objects
    weights : CSR array of shape (n_nodes, n_nodes), positive entries only, none on the diagonal
        Symmetric where the graph is not directed.
    directed : bool
    node_columns : dict from name to array of shape (n_nodes,), for example "benefit" and "action"
        "influence_low" and "influence_high" are an interval of the influence, "rank_low" and "rank_high" of its rank;
        "missing" is the share of signals that a node lacks.
    edge_columns : dict from name to array as long as ``weights.data``, for example "frequency"
        They are shown wherever edges are: in :meth:`edges`, in every file, in the report. "evidence" ranks ties: unlike
        weights, which divide each node's attention, it can be compared between pairs.
    degree : float, optional
        Mean number of ties per node that :meth:`suggested` takes; None: 6, a convention.
    influence_supported : bool, optional
        Whether the signals support who is influential; None if that was not tested.
    prior : functional prior, optional
        The prior that the graph was learned with, with its benefits: the game that interventions play on it.

    Examples
    --------
    >>> graph = LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["ann", "bob"])
    >>> graph.edges()
      source target  weight
    0    bob    ann     0.4
    1    ann    bob     0.2
    >>> graph.influence, graph.undirected().edges().weight.tolist()
    (array([0.2, 0.4]), [0.30000000000000004])
    """

    names: Array
    weights: Any
    directed: bool = True
    node_columns: Mapping[str, Array] = field(default_factory=dict)
    edge_columns: Mapping[str, Array] = field(default_factory=dict)
    degree: float | None = None
    influence_supported: bool | None = None
    prior: Any = None

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        columns = ", ".join([*self.node_columns, *self.edge_columns])
        return f"<LearnedGraph: {self.n_nodes:,} nodes, {self.n_edges:,} {kind} edges{columns and f'; {columns}'}>"

    @classmethod
    def of(cls, matrix: Any, names: Iterable[Any] | None = None, **columns: Any) -> LearnedGraph:
        """Return the graph of a matrix, dense or sparse: its positive entries off the diagonal."""
        entries = sparse.coo_array(matrix)
        rows, places = entries.coords
        kept = (rows != places) & (entries.data > 0)
        shape = entries.shape
        weights = sparse.csr_array((entries.data[kept].astype(float), (rows[kept], places[kept])), shape=shape)
        column = np.empty(shape[0], dtype=object)  # of objects, because a name may be a tuple
        column[:] = list(range(shape[0]) if names is None else names)
        return cls(column, weights, **columns)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.names)

    @cached_property
    def n_edges(self) -> int:
        """The number of edges: a pair counts once if the graph is undirected."""
        return len(self.listed.weight)

    @cached_property
    def influence(self) -> Array:
        """Each node's influence on all others; a part of a graph (see :meth:`at_least`) keeps that of the whole."""
        whole = self.node_columns.get("influence", self.weights.sum(axis=0))
        return np.asarray(whole, dtype=float).ravel()

    @cached_property
    def by_influence(self) -> Array:
        """The nodes by number, the most influential first."""
        return np.argsort(-self.influence, kind="stable")

    @cached_property
    def attention(self) -> float | None:
        """The sum of all weights on a node, if it is the same for every node; else None."""
        sums = np.asarray(self.weights.sum(axis=1), dtype=float).ravel()
        if sums.max() > 0 and np.ptp(sums) <= 1e-5 * sums.max():
            return float(sums.mean())
        return None

    @property
    def strength(self) -> Array:
        """The values that rank edges: their evidence, or their weight if there is none."""
        return np.asarray(self.edge_columns.get(EVIDENCE, self.weights.data))

    @property
    def strengths(self) -> Any:
        """The values that rank edges as a CSR array."""
        return sparse.csr_array((self.strength, self.weights.indices, self.weights.indptr), shape=self.weights.shape)

    @cached_property
    def _targets(self) -> Array:
        """The target of every entry of ``weights.data``; ``weights.indices`` are the sources."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int64), np.diff(self.weights.indptr))

    @cached_property
    def pairs(self) -> Array:
        """The pair of every entry of ``weights.data``, by its number (:func:`pair_numbers`)."""
        return pair_numbers(self._targets, self.weights.indices, self.n_nodes)

    @cached_property
    def listed(self) -> Edges:
        """All edges by the numbers of their ends, those with most evidence first, or else the heaviest."""
        target = self._targets
        source = self.weights.indices.astype(np.int64)
        place = np.arange(self.weights.nnz)
        order = np.lexsort((target, source, -self.weights.data, -np.asarray(self.strength)))
        if not self.directed:
            order = order[source[order] < target[order]]
        return Edges(source[order], target[order], self.weights.data[order], place[order])

    def edges(self) -> pd.DataFrame:
        """Return the edges as a table (source, target, weight and the edge columns), strongest first."""
        listed = self.listed
        table = {"source": self.names[listed.source], "target": self.names[listed.target], "weight": listed.weight}
        return pd.DataFrame(
            table | {name: np.asarray(values)[listed.place] for name, values in self.edge_columns.items()}
        )

    def nodes(self) -> pd.DataFrame:
        """Return the nodes as a table, most influential first.

        ``influence``, ``followers`` (how many it influences), ``listens_to`` (how many influence it) and the columns.
        """
        table = {
            "influence": self.influence,
            "followers": np.bincount(self.weights.indices, minlength=self.n_nodes),
            "listens_to": np.diff(self.weights.indptr),
            **self.node_columns,
        }
        ordered = {name: np.asarray(values)[self.by_influence] for name, values in table.items()}
        # As objects, because pandas' own text cannot hold every name that Python's can.
        return pd.DataFrame({"name": pd.Series(self.names[self.by_influence], dtype=object), **ordered})

    def undirected(self) -> LearnedGraph:
        """Return the graph without directions: an edge, and each of its columns, is the mean of the two directions.

        A column of pairs (``probability``, ``known``) stays as it is.
        """
        if not self.directed:
            return self
        n = self.n_nodes
        rows = self._targets
        columns = self.weights.indices.astype(np.int64)
        keys, place = np.unique(np.concatenate([rows * n + columns, columns * n + rows]), return_inverse=True)

        def mutual(values: Array) -> Array:
            return 0.5 * np.bincount(place, weights=np.tile(np.asarray(values, dtype=float), 2), minlength=len(keys))

        weights = sparse.csr_array((mutual(self.weights.data), (keys // n, keys % n)), shape=(n, n))
        first = np.unique(place, return_index=True)[1] % len(rows)
        edge_columns = {
            name: np.asarray(values)[first] if name in PAIR_COLUMNS else mutual(values)
            for name, values in self.edge_columns.items()
        }
        # A node's influence becomes the mean of what it gives and what it gets, and so do the ends of its interval.
        gets = np.asarray(self.weights.sum(axis=1), dtype=float).ravel()
        sums = {"influence", "influence_low", "influence_high"} & self.node_columns.keys()
        ends = {name: 0.5 * (self.node_columns[name] + gets) for name in sums}
        node_columns = {**self.node_columns, **ends}
        return replace(self, weights=weights, directed=False, node_columns=node_columns, edge_columns=edge_columns)

    @cached_property
    def communities(self) -> Array:
        """The community of every node, from 1 for the largest: Leiden's method on modularity, seeded.

        Directions are left out: a pair has the mean of both weights. A node without ties is alone.
        """
        pairs = self.undirected().listed
        if not len(pairs.weight):
            return np.arange(1, self.n_nodes + 1)
        ends = (map(str, column.tolist()) for column in pairs[:2])
        weights = (pairs.weight / pairs.weight.max()).tolist()  # relative to the heaviest, so that units do not matter
        # Two iterations are igraph's default; more gained 0.002 of modularity at most.
        _, found = leiden(list(zip(*ends, weights, strict=True)), seed=0, iterations=2)
        label = -1 - np.arange(self.n_nodes)  # alone, unless found with others
        label[[int(node) for node in found]] = list(found.values())
        _, first, place, sizes = np.unique(label, return_index=True, return_inverse=True, return_counts=True)
        rank = np.empty(len(sizes), dtype=np.int64)
        rank[np.lexsort((first, -sizes))] = np.arange(1, len(sizes) + 1)
        return rank[place]

    def at_least(self, column: str, level: float, fewest: int = 0) -> LearnedGraph:
        """Return the part of the graph that is at least so high in an edge column, "frequency" for example.

        Every node keeps at least ``fewest`` of the edges into it, those highest in the column and then the heaviest.
        Nodes keep their influence in the whole graph.
        """
        if column not in self.edge_columns:
            known = ", ".join(self.edge_columns) or "none"
            raise InputError(f"the graph's edges have no {column!r}: of such columns it has {known}")
        values = np.asarray(self.edge_columns[column])
        weights = self.weights
        target = self._targets
        kept = values >= level
        short = np.flatnonzero(np.bincount(target[kept], minlength=self.n_nodes)[target] < fewest)
        order = short[np.lexsort((-weights.data[short], -values[short], target[short]))]
        first = np.searchsorted(target[order], target[order])  # where the edges into the same node begin
        kept[order[np.arange(len(order)) - first < fewest]] = True
        return self._part(kept)

    def suggested(self, degree: float | None = None) -> LearnedGraph:
        """Return the ties with most evidence, as many as give nodes ``degree`` ties on average.

        The default is that of the graph, or else 6, a convention: signals do not tell how many ties there are. Give the
        degree if you know it. Pairs with equal evidence are taken or left out together, whichever is nearer
        to the degree. Nodes keep their influence in the whole graph.
        """
        wanted = self.degree if degree is None else degree
        wanted = CONVENTIONAL_DEGREE if wanted is None else wanted
        wanted = check_number("degree", wanted, low=0, remedy="it is the mean number of ties per node; try 6")
        pairs = self.pairs[self.listed.place]
        order = np.sort(np.unique(pairs, return_index=True)[1])  # each pair where it is first listed
        count = min(max(1, round(self.n_nodes * wanted / 2)), len(order))
        if count < len(order):
            found = self.strength[self.listed.place[order]]
            equal = np.flatnonzero(np.abs(found - found[count]) <= SAME * abs(found[count]))
            fewer = equal[0]
            more = equal[-1] + 1
            count = fewer if fewer and count - fewer <= more - count else more
        taken = np.isin(pairs, pairs[order[:count]])
        kept = np.zeros(self.weights.nnz, dtype=bool)
        kept[self.listed.place[taken]] = True
        return self._part(kept)

    def _part(self, kept: Array) -> LearnedGraph:
        """Return some of the edges; of a pair without directions both entries are kept. Nodes keep their influence."""
        target = self._targets
        source = self.weights.indices
        if not self.directed:
            kept = np.isin(self.pairs, self.pairs[kept])
        entries = (self.weights.data[kept], (target[kept], source[kept]))
        return replace(
            self,
            weights=sparse.csr_array(entries, shape=self.weights.shape),
            node_columns={"influence": self.influence, **self.node_columns},
            edge_columns={name: np.asarray(each)[kept] for name, each in self.edge_columns.items()},
        )

    def to_networkx(self, directed: bool = True, threshold: float = 0.0) -> nx.Graph[Any]:
        """Return the graph for networkx, with all nodes, the edges heavier than ``threshold`` and all columns."""
        threshold = check_number("threshold", threshold, low=0, remedy="0 keeps every edge")
        table = (self if directed else self.undirected()).edges()
        table = table[table["weight"] > threshold]
        if directed and self.directed:
            graph: nx.Graph[Any] = nx.DiGraph()
        else:
            graph = nx.Graph()
        names = self.names.tolist()
        columns = {name: np.asarray(values).tolist() for name, values in self.node_columns.items()}
        graph.add_nodes_from(
            (name, {column: values[k] for column, values in columns.items()}) for k, name in enumerate(names)
        )
        data = table.drop(columns=["source", "target"]).to_dict("records")
        graph.add_edges_from(zip(table["source"].tolist(), table["target"].tolist(), data, strict=True))
        return graph


def adjacency_matrix(graph: nx.Graph[Any]) -> Any:
    """Return a networkx graph as a CSR matrix in our convention: entry [i, j] is the edge j -> i.

    Examples
    --------
    >>> adjacency_matrix(nx.DiGraph([("a", "b")])).toarray()
    array([[0., 0.],
           [1., 0.]])
    """
    return sparse.csr_array(nx.to_scipy_sparse_array(graph, dtype=float).T)


def as_graph(thing: Any) -> LearnedGraph:
    """Return a learned graph, a fitted estimator, a networkx graph, a table of nodes by nodes or a matrix as one value.

    Examples
    --------
    >>> as_graph(nx.path_graph(3)).n_edges, as_graph(np.eye(3)[::-1]).directed
    (2, True)
    """
    if isinstance(thing, LearnedGraph):
        return thing
    if isinstance(thing, nx.Graph):
        return LearnedGraph.of(check_weights(adjacency_matrix(thing)), thing, directed=thing.is_directed())
    if hasattr(thing, "get_params"):
        if not hasattr(thing, "graph_"):
            raise InputError(f"{type(thing).__name__} has no graph yet: call fit first")
        graph: LearnedGraph = thing.graph_
        return graph
    if isinstance(thing, pd.DataFrame):
        return LearnedGraph.of(check_weights(square("the table", thing).to_numpy()), thing.columns)
    return LearnedGraph.of(check_weights(thing))
