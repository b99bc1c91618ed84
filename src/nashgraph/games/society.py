r"""A game with everything that advice needs of it: who plays, on which graph, and what a change would be worth.

The equilibrium :math:`y = b + W f(y)` and the adjoint :math:`u = \nabla g(y) + f'(y) \circ W^\top u` are found once; u_i
is what a unit of benefit given to node i is worth, and :math:`u_i f(y_j)` what a unit of weight from j to i is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..graph import LearnedGraph
from ..validation import Array, InputError, check_benefit, check_integer, check_weights, listing
from .interactions import Interaction, as_interaction
from .playing import adjoint, equilibrium
from .welfares import Welfare, as_welfare

INTERVAL = (0.05, 0.95)
TOL = 1e-10


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

    @classmethod
    def on(
        cls,
        graph: Any,
        benefit: Any = None,
        interaction: str | Interaction = "log1p",
        welfare: str | Welfare = "total",
    ) -> Game:
        """Return the game on a fitted model, a learned graph or a matrix of weights.

        Benefits left out are those the graph was learned with, or 1 for everybody where there were none.
        """
        members = tuple(getattr(graph, "resampled_graphs_", ()))
        learned = getattr(graph, "graph_", graph)
        if not isinstance(learned, LearnedGraph):
            learned = LearnedGraph.of(check_weights(learned))
        if benefit is None:
            benefit = learned.node_columns.get("benefit", np.ones(learned.n_nodes))
        given = check_benefit(aligned(benefit, learned.names), learned.n_nodes, normalize=False)
        return cls(
            learned.names, learned.weights, given, as_interaction(interaction), as_welfare(welfare), members
        )

    @property
    def n_nodes(self) -> int:
        """The number of players."""
        return len(self.names)

    @cached_property
    def actions(self) -> Array:
        """The equilibrium y."""
        return equilibrium(self.weights, self.benefit, self.interaction, tol=TOL, start=self.start)

    @cached_property
    def adjoint(self) -> Array:
        """What a unit of benefit is worth at each node, u."""
        return adjoint(self.weights, self.actions, self.interaction, self.welfare, tol=TOL)

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
        wanted = [names] if isinstance(names, str) else list(names)
        unknown = [repr(name) for name in wanted if name not in self.numbers]
        if unknown:
            some = listing(map(repr, self.names[:5].tolist()))
            raise InputError(f"there is no node {listing(unknown)}: names are like {some}")
        return np.array([self.numbers[name] for name in wanted], dtype=np.int64)

    def with_benefit(self, benefit: Array) -> Game:
        """Return the game with other benefits."""
        return replace(self, benefit=benefit, start=self.actions)

    def without(self, gone: Array) -> Game:
        """Return the game that the others play: who is gone has no benefit, no ear and no voice."""
        stays = np.ones(self.n_nodes)
        stays[gone] = 0.0
        left = scaled(self.weights, stays, stays)
        return replace(self, weights=left, benefit=self.benefit * stays, start=self.actions * stays)

    def each_member(self) -> Iterator[Game]:
        """Yield the game on the graph of each resample of a consensus."""
        for weights in self.members:
            yield replace(self, weights=sparse.csr_array(weights, dtype=float), members=())

    def influence(self) -> Array:
        """Return each node's influence, its column sum."""
        return np.asarray(self.weights.sum(axis=0), dtype=float).ravel()


def scaled(weights: Any, rows: Array, columns: Array) -> Any:
    """Return a CSR matrix with its rows and columns multiplied."""
    counts = np.diff(weights.indptr)
    data = weights.data * np.repeat(rows, counts) * columns[weights.indices]
    return sparse.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)


def aligned(values: Any, names: Array) -> Any:
    """Return a pandas Series in the order of the nodes, and anything else as it is."""
    index = getattr(values, "index", None)
    if index is None or callable(index):  # a list has a method of that name
        return values
    missing = [repr(name) for name in names.tolist() if name not in index]
    if missing:
        raise InputError(f"the series has no value for {listing(missing)}: its index must be the nodes' names")
    return values.loc[list(names)].to_numpy()


def check_size(name: str, size: object, n_nodes: int) -> int:
    """Check how many nodes or ties are asked for."""
    count = check_integer(name, size, low=1, remedy="it is how many to return; try 5")
    if count > n_nodes:
        raise InputError(f"{name}={count} is more than the {n_nodes} there are: ask for fewer")
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
    among = np.zeros(stacked.shape[1])
    for row in stacked:
        among[np.argsort(-row, kind="stable")[:best]] += 1.0 / len(stacked)
    return {"low": low, "high": high, "among_best": among}
