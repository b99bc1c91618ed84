r"""A game with everything that advice needs of it: who plays, on which graph, and what a change would be worth.

The equilibrium :math:`y = b + W f(y)` and the adjoint :math:`u = \nabla g(y) + f'(y) \circ W^\top u` are found once;
:math:`u_i` is what a unit of benefit given to node i is worth, and :math:`u_i f(y_j)` what a unit of weight from j to i
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..graph import as_graph
from ..validation import Array, InputError, check_benefit, check_integer, listing
from .interactions import Interaction, as_interaction
from .playing import adjoint, equilibrium
from .welfares import Welfare, as_welfare

INTERVAL = (0.05, 0.95)
TOL, MEMBER_TOL = 1e-10, 1e-4  # of the equilibrium; intervals need fewer digits
DENSE_NODES, DENSE_SHARE = 1500, 0.1  # above this share of pairs tied, products with a dense array are quicker


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
    members : tuple of CSR arrays, the graphs of a consensus's resamples; empty where there are none
    start : array, actions near the equilibrium, where they are known
    tol : float, the relative residual of equilibrium and adjoint

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
    members: tuple[Any, ...] = ()
    start: Array | None = None
    tol: float = TOL

    @classmethod
    def on(
        cls,
        graph: Any,
        benefit: Any = None,
        interaction: str | Interaction = "log1p",
        welfare: str | Welfare = "total",
    ) -> Game:
        """Return the game on a fitted model, a learned graph, a networkx graph or a matrix of weights.

        Benefits left out are those the graph was learned with, or 1 for everybody where there were none. The members
        are a consensus's ``replicate_graphs_``.
        """
        if isinstance(graph, Game):
            return graph
        members, learned = tuple(getattr(graph, "replicate_graphs_", ())), as_graph(graph)
        if benefit is None:
            benefit = learned.node_columns.get("benefit", np.ones(learned.n_nodes))
        given = check_benefit(aligned(benefit, learned.names), learned.n_nodes, normalize=False)
        return cls(learned.names, learned.weights, given, as_interaction(interaction), as_welfare(welfare), members)

    @property
    def n_nodes(self) -> int:
        """The number of players."""
        return len(self.names)

    @cached_property
    def matrix(self) -> Any:
        """The weights as they are quickest to multiply: an array where few nodes have many ties, else CSR."""
        few = self.n_nodes <= DENSE_NODES and self.weights.nnz > DENSE_SHARE * self.n_nodes**2
        return self.weights.toarray() if few else self.weights

    @cached_property
    def actions(self) -> Array:
        """The equilibrium y."""
        if not self.benefit.any():  # all who had a benefit are gone
            return np.zeros(self.n_nodes)
        return equilibrium(self.matrix, self.benefit, self.interaction, tol=self.tol, start=self.start)

    @cached_property
    def adjoint(self) -> Array:
        """What a unit of benefit is worth at each node, u."""
        return adjoint(self.matrix, self.actions, self.interaction, self.welfare, tol=self.tol)

    @cached_property
    def reach(self) -> Array:
        """What others feel of each node's action, f(y)."""
        return self.interaction.value(self.actions)

    @cached_property
    def value(self) -> float:
        """The welfare."""
        return float(self.welfare.value(self.actions))

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """The number of each name."""
        return {name: number for number, name in enumerate(self.names.tolist())}

    def numbered(self, names: Iterable[Any]) -> Array:
        """Return nodes by number; an error says which are unknown."""
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
        """Return the game that the others play: who is gone has no benefit, no ear and no voice."""
        stays = np.ones(self.n_nodes)
        stays[gone] = 0.0
        left = scaled(self.weights, stays, stays)
        return replace(self, weights=left, benefit=self.benefit * stays, start=self.actions * stays)

    def each_member(self) -> Iterator[Game]:
        """Yield the game on the graph of each resample of a consensus."""
        for weights in self.members:
            yield replace(
                self, weights=sparse.csr_array(weights, dtype=float), members=(), start=self.actions, tol=MEMBER_TOL
            )

    @cached_property
    def influence(self) -> Array:
        """Each node's influence, its column sum."""
        return np.asarray(self.weights.sum(axis=0), dtype=float).ravel()

    def table(self, order: Array, **columns: Array) -> pd.DataFrame:
        """Return columns of nodes as a table, in this order, with the nodes' names first."""
        ordered = {column: np.asarray(values)[order] for column, values in columns.items()}
        return pd.DataFrame({"name": pd.Series(self.names[order], dtype=object), **ordered})


def scaled(weights: Any, rows: Array, columns: Array) -> Any:
    """Return a CSR matrix with its rows and columns multiplied."""
    counts = np.diff(weights.indptr)
    data = weights.data * np.repeat(rows, counts) * columns[weights.indices]
    return sparse.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)


def aligned(values: Any, names: Array) -> Any:
    """Return a pandas Series in the order of the nodes, and anything else as it is."""
    if not isinstance(values, pd.Series):
        return values
    missing = [repr(name) for name in names.tolist() if name not in values.index]
    if missing:
        raise InputError(f"benefit has no value for {listing(missing)}: its index must be the nodes' names")
    return values.loc[list(names)].to_numpy()


def check_size(name: str, size: object, most: int, what: str = "nodes") -> int:
    """Check how many nodes or ties are asked for."""
    count = check_integer(name, size, low=1, remedy="it is how many to return; try 5")
    if count > most:
        raise InputError(f"{name}={count} is more than the {most} {what} there are to choose from: ask for fewer")
    return count


def check_best(best: int | None, n_nodes: int) -> int:
    """Check among how many of the first to count; five by default, where there are so many."""
    return min(5, n_nodes) if best is None else check_size("best", best, n_nodes)


def how_steady(scores: list[Array], best: int) -> dict[str, Array]:
    """Return, over the members of a consensus, the 90 % interval of each score and how often it is among the best."""
    if not scores:
        return {}
    stacked = np.stack(scores)
    low, high = np.quantile(stacked, INTERVAL, axis=0)
    return {"low": low, "high": high, "among_best": among_best([firsts(row, best) for row in stacked], len(low))}


def firsts(scores: Array, count: int) -> Array:
    """Return which scores are the greatest, in order."""
    return np.argsort(-scores, kind="stable")[:count]


def among_best(chosen: list[Array], n_nodes: int) -> Array:
    """Return the share of several choices in which each node is."""
    counts = np.bincount(np.concatenate(chosen), minlength=n_nodes)
    return np.asarray(counts / len(chosen), dtype=float)


def greatest(estimates: Array, exact: Callable[[int], float], count: int, most: int) -> dict[int, float]:
    """Return exact values of those that can be among the ``count`` greatest, by their estimates; ``most`` at the most.

    They are found in the order of the estimates, until the next estimate, times the largest ratio of value to estimate
    seen (1 at least), is below the ``count`` greatest values. Where estimates are upper bounds none is missed.

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
