r"""The network game on a named graph, its state, the same game on every replicate of a consensus, and after a change.

The state is solved once for each graph: the equilibrium :math:`y = b + W f(y)`, the adjoint
:math:`u = \nabla g(y) + f'(y) \circ W^\top u` and the welfare g(y). A unit of benefit given to node i is worth
:math:`u_i`; a unit of weight from j to i is worth :math:`u_i f(y_j)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..games import Interaction, Welfare, adjoint, as_interaction, as_welfare, equilibrium
from ..games.nash import spectral_radius
from ..graph import as_graph, interval_around
from ..matching import in_order
from ..validation import Array, InputError, check_benefit, check_integer, check_number, listing

BEST = 5  # how many nodes or ties are wanted, unless told otherwise
TOL, REPLICATE_TOL = 1e-10, 1e-4  # of equilibrium and adjoint; intervals need fewer digits
DENSE_NODES, DENSE_SHARE = 1500, 0.1  # products with a dense array are faster above this share of tied pairs


class TooFewError(InputError):
    """There are fewer nodes or ties to choose from than were asked for."""


@dataclass(frozen=True, eq=False)
class Game:
    """A network game on a graph with names; make one with :meth:`on`.

    ``weights[i, j]`` is the weight with which j influences i, and ``replicate_weights`` are those of a consensus's
    replicates or a tie model's draws. ``start`` are actions near the equilibrium, if some are known, ``tol`` is the
    relative residual of equilibrium and adjoint, and ``influence_supported`` whether the signals support who is
    influential (None if that was not tested).

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
        benefit = in_order("benefit", benefit, learned.names, "the graph")
        return cls(
            names=learned.names,
            weights=weights,
            benefit=check_benefit(benefit, learned.n_nodes, normalize=False),
            interaction=as_interaction(interaction),
            welfare=as_welfare(welfare),
            replicate_weights=tuple(others),
            influence_supported=learned.influence_supported,
        )

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
        matrices = (sparse.csr_array(weights, dtype=float) for weights in self.replicate_weights)
        return tuple(self.altered(weights=each, replicate_weights=(), tol=REPLICATE_TOL) for each in matrices)

    def numbered(self, names: Iterable[Any]) -> Array:
        """Return nodes by number; unknown names are an error."""
        wanted = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
        unknown = [repr(name) for name in wanted if name not in self.numbers]
        if unknown:
            some = listing(map(repr, self.names[:5].tolist()))
            raise InputError(f"there is no node {listing(unknown)}: the nodes are called {some}")
        return np.array([self.numbers[name] for name in wanted], dtype=np.int64)

    def altered(self, **changes: Any) -> Game:
        """Return the game with other benefits or weights."""
        return replace(self, start=self.actions, **changes)

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
    """Return ties (0, 1 or probabilities) scaled to a spectral radius of 0.95: as strong as those of learned graphs."""
    radius = spectral_radius(weights) if weights.nnz else 0.0
    return weights * (0.95 / radius) if radius > 0 else weights


def check_size(name: str, size: object, most: int, what: str = "nodes") -> int:
    """Check how many nodes or ties are asked for."""
    count = check_integer(name, size, low=1, remedy="it is how many to return; try 5")
    if count > most:
        raise TooFewError(f"{name}={count} is more than the {most} {what} there are to choose from: ask for fewer")
    return count


def check_best(best: int | None, n_nodes: int) -> int:
    """Check how many nodes count as the best; five by default."""
    return min(BEST, n_nodes) if best is None else check_size("best", best, n_nodes)


def stability(
    estimate: Array, scores: Sequence[Array], chosen: Sequence[Array], of: Array | None = None
) -> dict[str, Array]:
    """Return the 90% interval around each estimate, and in what share of the replicates it is among those chosen.

    ``of`` says what the estimates are of, in the numbers of ``chosen``: by default of all nodes.
    """
    if not scores:
        return {}
    low, high = interval_around(estimate, scores)
    whose = np.arange(len(estimate)) if of is None else of
    return {"low": low, "high": high, "among_best": np.mean([np.isin(whose, each) for each in chosen], axis=0)}


def firsts(scores: Array, count: int) -> Array:
    """Return the places of the greatest scores, the greatest first."""
    return np.argsort(-scores, kind="stable")[:count]


def greatest(estimates: Array, exact: Callable[[int], float], count: int, most: int) -> dict[int, float]:
    """Return exact values of the candidates that can be among the ``count`` greatest; at most ``most`` are tried.

    The search stops when the next estimate, times the largest ratio of value to estimate so far (at least 1), is below
    the ``count`` greatest values: if estimates are upper bounds, none is missed.
    """
    found, ratio = dict[int, float](), 1.0
    for place in firsts(estimates, most).tolist():
        if len(found) >= count and ratio * estimates[place] <= sorted(found.values())[-count]:
            break
        found[place] = exact(place)
        if estimates[place] > 0:
            ratio = max(ratio, found[place] / estimates[place])
    return found


def what_if(
    graph: Any,
    benefit: Any = None,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
    *,
    without: Iterable[Any] = (),
    new_benefit: Any = None,
    cap_influence: float | None = None,
    best: int | None = None,
) -> pd.DataFrame:
    """Return every node's action before and after a change, the largest change first.

    Parameters
    ----------
    graph, benefit, interaction, welfare : as in :func:`~nashgraph.key_players`
    without : names of nodes that leave, with their benefit and their ties
    new_benefit : dict or Series by name (nodes that are not named keep theirs), or array of shape (n_nodes,), optional
    cap_influence : float, optional, to which the weights of more influential nodes are scaled down
    best : int, optional, for a consensus how many of the largest changes ``among_best`` counts (default: 5)

    Returns
    -------
    DataFrame with name, before, after and change of the actions; for a consensus also low, high and among_best, as in
    key_players. ``attrs`` has welfare_before and welfare_after.

    Examples
    --------
    >>> W = np.zeros((3, 3))
    >>> W[1:, 0] = 0.5
    >>> what_if(W, interaction="linear", new_benefit={0: 3.0}).attrs
    {'welfare_before': 4.0, 'welfare_after': 8.0}
    """
    game = Game.on(graph, benefit, interaction, welfare)
    count = check_best(best, game.n_nodes)
    gone, wanted = game.numbered(without), changed_benefit(game, new_benefit)
    if len({*gone.tolist()}) == game.n_nodes:
        raise InputError("nobody is left: name fewer nodes in without")
    if cap_influence is not None:
        remedy = "it is the largest influence that a node may have; try 1"
        cap_influence = check_number("cap_influence", cap_influence, low=0, open_low=True, remedy=remedy)

    def changed(game: Game) -> Game:
        if cap_influence is not None:
            share = cap_influence / np.maximum(game.influence, cap_influence)
            game = game.altered(weights=scaled(game.weights, np.ones(game.n_nodes), share))
        game = game.altered(benefit=wanted)
        return game.without(gone) if len(gone) else game

    after = changed(game)
    change = after.actions - game.actions
    over = [changed(replicate).actions - replicate.actions for replicate in game.replicates]
    columns = stability(change, over, [firsts(np.abs(each), count) for each in over])
    order = firsts(np.abs(change), game.n_nodes)
    table = game.table(order, before=game.actions, after=after.actions, change=change, **columns)
    table.attrs |= {"welfare_before": game.value, "welfare_after": after.value}
    return table


def changed_benefit(game: Game, given: Any) -> Array:
    """Return the benefits after the change, given by name or for all nodes."""
    if given is None:
        return game.benefit
    if not isinstance(given, Mapping | pd.Series):
        return check_benefit(given, game.n_nodes, normalize=False)
    values = game.benefit.copy()
    values[game.numbered(given.keys())] = [
        check_number(f"new_benefit of {name!r}", value, low=0, remedy="a benefit is a number, 0 or more")
        for name, value in given.items()
    ]
    return values
