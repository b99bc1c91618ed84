r"""The network game on a named graph, its state, and the same game on every replicate of a consensus.

The state is solved once for each graph: the equilibrium :math:`y = b + W f(y)`, the adjoint
:math:`u = \nabla g(y) + f'(y) \circ W^\top u` and the welfare g(y). A unit of benefit given to node i is worth
:math:`u_i`; a unit of weight from j to i is worth :math:`u_i f(y_j)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..games import Interaction, Welfare, adjoint, as_interaction, as_welfare, equilibrium
from ..games.nash import spectral_radius
from ..graph import as_graph, interval_around
from ..validation import Array, InputError, check_benefit, check_integer, listing

BEST = 5  # how many nodes or ties are wanted, unless told otherwise
RADIUS = 0.95  # of networks of ties, which then are as strong as learned graphs, whose rows sum to 0.95
TOL, REPLICATE_TOL = 1e-10, 1e-4  # of equilibrium and adjoint; intervals need fewer digits
DENSE_NODES, DENSE_SHARE = 1500, 0.1  # products with a dense array are faster above this share of tied pairs


class TooFewError(InputError):
    """There are fewer nodes or ties to choose from than were asked for."""


@dataclass(frozen=True, eq=False)
class Game:
    """A network game on a graph with names.

    Attributes
    ----------
    names : array of shape (n_nodes,), of objects
    weights : CSR array, ``weights[i, j]`` is the weight with which j influences i
    benefit : array of shape (n_nodes,), non-negative
    interaction : Interaction
    welfare : Welfare
    replicate_weights : tuple of CSR arrays, a consensus's replicates or draws of a tie model, if there are any
    start : array, actions to start from, if some near the equilibrium are known
    tol : float, relative residual of equilibrium and adjoint
    influence_supported : bool or None, whether the signals support who is influential; None if that was not tested

    Examples
    --------
    >>> game = Game.on(np.array([[0.0, 0.5], [0.5, 0.0]]), np.ones(2), "linear")
    >>> game.actions, game.adjoint, game.value
    (array([2., 2.]), array([2., 2.]), 4.0)
    """

    names: Array
    weights: Any
    benefit: Array
    interaction: Interaction
    welfare: Welfare
    replicate_weights: tuple[Any, ...] = ()
    start: Array | None = None
    tol: float = TOL
    influence_supported: bool | None = None

    @classmethod
    def on(
        cls,
        graph: Any,
        benefit: Any = None,
        interaction: str | Interaction = "log1p",
        welfare: str | Welfare = "total",
        replicates: Sequence[Any] | None = None,
    ) -> Game:
        """Return the game on a fitted model, a learned graph, a networkx graph or a matrix of weights.

        A :class:`Game` is returned as it is, so several questions about one network share one solved game. The default
        benefits are those the graph was learned with, or 1 for every node; the default replicates those of the model.
        Probabilities of ties (:class:`~nashgraph.TieModel`) and draws of ties are scaled to a spectral radius of 0.95.
        """
        if isinstance(graph, Game):
            return graph
        learned = as_graph(graph)
        weights, others = learned.weights, getattr(graph, "replicate_graphs_", ()) if replicates is None else replicates
        if "probability" in learned.edge_columns and not learned.directed:
            weights, others = scaled_ties(weights), map(scaled_ties, others)
        if benefit is None:
            benefit = learned.node_columns.get("benefit", np.ones(learned.n_nodes))
        if isinstance(benefit, pd.Series):
            missing = [repr(name) for name in learned.names.tolist() if name not in benefit.index]
            if missing:
                raise InputError(f"benefit has no value for {listing(missing)}: its index must be the nodes' names")
            benefit = benefit.loc[list(learned.names)].to_numpy()
        given = check_benefit(benefit, learned.n_nodes, normalize=False)
        rules = as_interaction(interaction), as_welfare(welfare)
        supported = learned.influence_supported
        return cls(learned.names, weights, given, *rules, tuple(others), influence_supported=supported)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.names)

    @cached_property
    def matrix(self) -> Any:
        """The weights in the form that multiplies fastest: dense for a small graph with many ties, else CSR."""
        few = self.n_nodes <= DENSE_NODES and self.weights.nnz > DENSE_SHARE * self.n_nodes**2
        return self.weights.toarray() if few else self.weights

    @cached_property
    def actions(self) -> Array:
        """The equilibrium y."""
        if not self.benefit.any():  # every node with a benefit has left
            return np.zeros(self.n_nodes)
        return equilibrium(self.matrix, self.benefit, self.interaction, tol=self.tol, start=self.start)

    @cached_property
    def adjoint(self) -> Array:
        """The worth of a unit of benefit at each node, u."""
        return adjoint(self.matrix, self.actions, self.interaction, self.welfare, tol=self.tol)

    @cached_property
    def reach(self) -> Array:
        """How strongly each node's action affects its targets, f(y)."""
        return self.interaction.value(self.actions)

    @cached_property
    def value(self) -> float:
        """The welfare."""
        return float(self.welfare.value(self.actions))

    @cached_property
    def influence(self) -> Array:
        """Each node's influence, its column sum."""
        return np.asarray(self.weights.sum(axis=0), dtype=float).ravel()

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """The number of each name."""
        return {name: number for number, name in enumerate(self.names.tolist())}

    @cached_property
    def replicates(self) -> tuple[Game, ...]:
        """The game on each replicate's graph; all questions share them, so each is solved once."""
        return tuple(
            replace(
                self,
                weights=sparse.csr_array(weights, dtype=float),
                replicate_weights=(),
                start=self.actions,
                tol=REPLICATE_TOL,
            )
            for weights in self.replicate_weights
        )

    def numbered(self, names: Iterable[Any]) -> Array:
        """Return nodes by number; unknown names are an error."""
        wanted = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
        unknown = [repr(name) for name in wanted if name not in self.numbers]
        if unknown:
            some = listing(map(repr, self.names[:5].tolist()))
            raise InputError(f"there is no node {listing(unknown)}: the nodes are called {some}")
        return np.array([self.numbers[name] for name in wanted], dtype=np.int64)

    def with_benefit(self, benefit: Array) -> Game:
        """Return the game with other benefits."""
        return replace(self, benefit=benefit, start=self.actions)

    def with_weights(self, weights: Any) -> Game:
        """Return the game with other weights."""
        return replace(self, weights=weights, start=self.actions)

    def without(self, gone: Array) -> Game:
        """Return the game of the other nodes: those gone have no benefit and no ties."""
        stays = np.ones(self.n_nodes)
        stays[gone] = 0.0
        left = scaled(self.weights, stays, stays)
        return replace(self, weights=left, benefit=self.benefit * stays, start=self.actions * stays)

    def table(self, order: Array, **columns: Array) -> pd.DataFrame:
        """Return node columns as a table in this order, names first."""
        ordered = {column: np.asarray(values)[order] for column, values in columns.items()}
        return pd.DataFrame({"name": pd.Series(self.names[order], dtype=object), **ordered})


def scaled(weights: Any, rows: Array, columns: Array) -> Any:
    """Return a CSR matrix with its rows and columns multiplied."""
    data = weights.data * np.repeat(rows, np.diff(weights.indptr)) * columns[weights.indices]
    return sparse.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)


def scaled_ties(weights: Any) -> Any:
    """Return a symmetric network of ties, 0 or 1 or probabilities, scaled to a spectral radius of 0.95.

    Unscaled, everybody's news would reach everybody, and a linear game would have no equilibrium.
    """
    return weights * (RADIUS / spectral_radius(weights)) if weights.nnz else weights


def check_size(name: str, size: object, most: int, what: str = "nodes") -> int:
    """Check how many nodes or ties are asked for."""
    count = check_integer(name, size, low=1, remedy="it is how many to return; try 5")
    if count > most:
        raise TooFewError(f"{name}={count} is more than the {most} {what} there are to choose from: ask for fewer")
    return count


def check_best(best: int | None, n_nodes: int) -> int:
    """Check how many nodes count as the best; five by default."""
    return min(BEST, n_nodes) if best is None else check_size("best", best, n_nodes)


def stability(estimate: Array, scores: list[Array], best: int) -> dict[str, Array]:
    """Return the 90% interval around each estimate, and in what share of the replicates it is among the best."""
    if not scores:
        return {}
    low, high = interval_around(estimate, scores)
    return {"low": low, "high": high, "among_best": frequency([firsts(row, best) for row in scores], len(low))}


def frequency(chosen: list[Array], n_nodes: int) -> Array:
    """Return the share of several choices that contain each node."""
    counts = np.bincount(np.concatenate(chosen), minlength=n_nodes)
    return np.asarray(counts / len(chosen), dtype=float)


def firsts(scores: Array, count: int) -> Array:
    """Return the places of the greatest scores, the greatest first."""
    return np.argsort(-scores, kind="stable")[:count]


def greatest(estimates: Array, exact: Callable[[int], float], count: int, most: int) -> dict[int, float]:
    """Return exact values of the candidates that can be among the ``count`` greatest; at most ``most`` are tried.

    Candidates are tried in the order of their estimates. The search stops when the next estimate, times the largest
    ratio of value to estimate so far (at least 1), is below the ``count`` greatest values. If the estimates are upper
    bounds, none is missed.

    Examples
    --------
    >>> greatest(np.array([1.0, 5.0, 4.0, 2.0]), lambda k: [1.0, 3.0, 4.0, 2.0][k], 1, 4)
    {1: 3.0, 2: 4.0}
    """
    found, ratio = dict[int, float](), 1.0
    for place in firsts(estimates, most).tolist():
        if len(found) >= count and ratio * estimates[place] <= sorted(found.values())[-count]:
            break
        found[place] = exact(place)
        if estimates[place] > 0:
            ratio = max(ratio, found[place] / estimates[place])
    return found
