r"""A game on a named graph, (graph, prior): its state, the same on every replicate of a model, and after a change.

The prior says what is played: the one that the graph was learned with, or another. Its state is solved once for each
graph, by the prior's own ``evaluate``. A unit of benefit given to node i is worth :math:`\partial\Phi / \partial b_i`;
a unit of weight from j to i is worth :math:`(L R^\top)_{ij}`, which in the paper's game is :math:`u_i f(y_j)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..games import Interaction, Welfare, spectral_radius
from ..graph import LearnedGraph, as_graph, interval_around
from ..matching import in_order
from ..priors import DynamicsState, GamePrior, UnansweredError
from ..priors.prior import InMemory, played_benefit, title, with_benefit, without
from ..validation import Array, InputError, check_benefit, check_integer, check_number, listing

BEST = 5  # how many nodes or ties are wanted, unless told otherwise
# of a state; intervals need fewer digits
TOL = 1e-10
REPLICATE_TOL = 1e-4


class TooFewError(InputError):
    """There are fewer nodes or ties to choose from than were asked for."""


@dataclass(frozen=True, eq=False)
class Game:
    """A game on a graph with names; make one with :meth:`on`.

    ``weights[i, j]`` is the weight with which j influences i, and ``prior`` says what is played with them.
    ``replicate_weights`` are the weights of a consensus's replicates or a tie model's draws, ``replicate_priors`` what
    is played on each of them (default: the same prior). ``replicates_are_draws`` says that they are draws of what is
    uncertain and not learned from halves of the signals, whose spread is larger. ``start`` is a state near that of this
    game, if one was computed, ``tol`` the relative error of a state, and ``influence_supported`` whether the signals
    support who is influential (None if that was not tested).

    Examples
    --------
    >>> game = Game.on(np.array([[0.0, 0.5], [0.5, 0.0]]), np.ones(2), "linear")
    >>> game.actions, game.worth, game.value
    (array([2., 2.]), array([2., 2.]), 4.0)
    """

    names: Array
    weights: Any
    prior: Any
    replicate_weights: tuple[Any, ...] = ()
    replicate_priors: tuple[Any, ...] = ()
    replicates_are_draws: bool = False
    start: Any = None
    tol: float = TOL
    influence_supported: bool | None = None

    @classmethod
    def on(
        cls,
        graph: Any,
        benefit: Any = None,
        interaction: str | Interaction | None = None,
        welfare: str | Welfare | None = None,
        replicates: Sequence[Any] | None = None,
        *,
        game: Any = None,
    ) -> Game:
        """Return the game on a fitted model, a learned graph, a networkx graph or a matrix of weights.

        A :class:`Game` is returned as it is, so several questions about one network share one solved game. ``game`` is
        what is played: a prior, or a game fitted to actions (:func:`nashgraph.fit_game`). Without it, the prior that
        the graph was learned with is played; ``benefit``, ``interaction`` and ``welfare`` replace those of a game. A
        graph learned without a prior plays the paper's game, with a benefit of 1 for every node. The default replicates
        are those of the model. Probabilities of ties (:class:`~nashgraph.TieModel`) and draws of ties are scaled to a
        spectral radius of 0.95, except for a fitted game, which has its own scale.
        """
        if isinstance(graph, Game):
            return graph
        learned = as_graph(graph)
        if replicates is None:
            others = getattr(graph, "replicate_graphs_", ())
        else:
            others = replicates
        rules = {"benefit": benefit, "interaction": interaction, "welfare": welfare}
        supported = learned.influence_supported
        if game is not None:
            if any(rule is not None for rule in rules.values()):
                raise InputError("game has its own benefit, interaction and welfare: leave these out, or game")
            if hasattr(game, "played_on"):  # a fitted game: weights of its own scale, and draws of its parameters
                return cls(**game.played_on(learned, tuple(others)), influence_supported=supported)
        weights = learned.weights
        if "probability" in learned.edge_columns and not learned.directed:
            weights = scaled_ties(weights)
            others = map(scaled_ties, others)
        if game is None:
            prior = prior_of(learned, rules)
        else:
            prior = with_benefits(game, learned)
        return cls(learned.names, weights, prior, tuple(others), influence_supported=supported)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.names)

    @cached_property
    def matrix(self) -> Any:
        """The weights in the form that multiplies fastest: dense for a small graph with many ties, else CSR."""
        # Below 1,500 nodes and above a tenth of all pairs, products with a dense array are faster.
        dense = self.n_nodes <= 1500 and self.weights.nnz > 0.1 * self.n_nodes**2
        return self.weights.toarray() if dense else self.weights

    @cached_property
    def products(self) -> InMemory:
        """The weights as a prior takes them."""
        return InMemory.of(self.matrix)

    @cached_property
    def state(self) -> Any:
        """The prior's state: value, gradient and, if it has them, actions and worth."""
        return self.prior.evaluate(self.products, tol=self.tol, start=self.start)

    @cached_property
    def value(self) -> float:
        """The value of the prior, in a game the welfare."""
        return float(self.state.value)

    @property
    def size(self) -> float:
        """The size of the value, by which gains and losses are divided; 1 if it is 0."""
        return abs(self.value) or 1.0

    @cached_property
    def actions(self) -> Array:
        """The action of each node; a prior without actions is an error."""
        actions = getattr(self.state, "actions", None)
        if actions is None or np.ndim(actions) != 1:
            raise UnansweredError(f"{title(self.prior)} has no single action of each node")
        return np.asarray(actions)

    @cached_property
    def worth(self) -> Array:
        """The worth of a unit of benefit at each node; a prior without benefits is an error."""
        worth = getattr(self.state, "worth", None)
        if worth is None:
            raise UnansweredError(f"{title(self.prior)} does not say what a unit of benefit is worth")
        return np.asarray(worth)

    @cached_property
    def benefit(self) -> Array:
        """The benefits; a prior without them is an error."""
        return played_benefit(self.prior)

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
        # Without priors of their own, replicates differ in the network alone.
        priors = self.replicate_priors or (self.prior,) * len(self.replicate_weights)
        games = []
        for weights, prior in zip(self.replicate_weights, priors, strict=True):
            csr = sparse.csr_array(weights, dtype=float)
            changes = {"weights": csr, "prior": prior, "replicate_weights": (), "replicate_priors": ()}
            games.append(self.altered(**changes, tol=REPLICATE_TOL))
        return tuple(games)

    def numbered(self, names: Iterable[Any]) -> Array:
        """Return nodes by number; unknown names are an error."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            wanted = [names]
        else:
            wanted = list(names)
        unknown = [repr(name) for name in wanted if name not in self.numbers]
        if unknown:
            some = listing(map(repr, self.names[:5].tolist()))
            raise InputError(f"there is no node {listing(unknown)}: the nodes are called {some}")
        return np.array([self.numbers[name] for name in wanted], dtype=np.int64)

    def altered(self, **changes: Any) -> Game:
        """Return the game with another prior or weights."""
        return replace(self, start=self.state, **changes)

    def with_benefit(self, benefit: Array) -> Game:
        """Return the game with other benefits."""
        return self.altered(prior=with_benefit(self.prior, benefit))

    def without(self, gone: Array) -> Game:
        """Return the game of the other nodes: those gone have no benefit, no ties and no action."""
        stays = np.ones(self.n_nodes)
        stays[gone] = 0.0
        left = scaled(self.weights, stays, stays)
        start = None
        if isinstance(self.state, DynamicsState):  # those who are gone do nothing
            state = self.state
            start = replace(state, actions=state.actions * stays, adjoint=state.adjoint * stays)
        return replace(self, weights=left, prior=without(self.prior, gone), start=start)

    def table(self, order: Array, **columns: Array) -> pd.DataFrame:
        """Return node columns as a table in this order, names first."""
        ordered = {column: np.asarray(values)[order] for column, values in columns.items()}
        return pd.DataFrame({"name": pd.Series(self.names[order], dtype=object), **ordered})


def prior_of(graph: LearnedGraph, rules: Mapping[str, Any]) -> Any:
    """Return the prior that a graph was learned with, with other rules if some are given; else the paper's game."""
    changes = {name: rule for name, rule in rules.items() if rule is not None}
    if "benefit" in changes:
        benefit = in_order("benefit", changes["benefit"], graph.names, "the graph")
        changes["benefit"] = check_benefit(benefit, graph.n_nodes, normalize=False)
    learned = graph.prior
    if learned is None or (("interaction" in changes or "welfare" in changes) and not isinstance(learned, GamePrior)):
        learned = GamePrior(benefit=graph.node_columns.get("benefit", np.ones(graph.n_nodes)))
    if isinstance(learned, GamePrior):
        return replace(learned, **changes)
    if changes:
        return with_benefit(learned, changes["benefit"])
    return learned


def with_benefits(prior: Any, graph: LearnedGraph) -> Any:
    """Return a prior with the benefits that the graph was learned with, or 1, if it has none of its own."""
    if not hasattr(prior, "evaluate"):
        raise InputError(
            f"game must be a prior or a fitted game, got {prior!r}: see nashgraph.priors and nashgraph.fit_game"
        )
    if getattr(prior, "benefit", 0) is not None:
        size = getattr(prior, "n_nodes", None)
    else:
        size = None
    if size not in (None, graph.n_nodes):
        raise InputError(f"the game is for {size} nodes, and the graph has {graph.n_nodes}")
    if isinstance(prior, GamePrior) and prior.benefit is None:
        return replace(prior, benefit=graph.node_columns.get("benefit", np.ones(graph.n_nodes)))
    return prior


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
    if best is None:
        return min(BEST, n_nodes)
    return check_size("best", best, n_nodes)


def stability(
    game: Game, estimate: Array, scores: Sequence[Array], chosen: Sequence[Array], of: Array | None = None
) -> dict[str, Array]:
    """Return the 90% interval around each estimate, and in what share of the replicates it is among those chosen.

    ``of`` says what the estimates are of, in the numbers of ``chosen``: by default of all nodes.
    """
    if not scores:
        return {}
    low, high = interval_around(estimate, scores)
    if game.replicates_are_draws:  # of the quantity itself: their own quantiles
        low, high = np.quantile(np.array(scores), [0.05, 0.95], axis=0)
        low = np.minimum(low, estimate)
        high = np.maximum(high, estimate)
    whose = np.arange(len(estimate)) if of is None else of
    return {"low": low, "high": high, "among_best": np.mean([np.isin(whose, best) for best in chosen], axis=0)}


def firsts(scores: Array, count: int) -> Array:
    """Return the places of the greatest scores, the greatest first."""
    return np.argsort(-scores, kind="stable")[:count]


def greatest(estimates: Array, exact: Callable[[int], float], count: int, most: int) -> tuple[dict[int, float], bool]:
    """Return exact values of candidates, the greatest estimates first, and whether no other can be among the best.

    At most ``most`` are tried. The search stops when the next estimate, times the largest ratio of value to estimate so
    far (at least 1), is below the ``count`` greatest values. If estimates are upper bounds, no other candidate is
    greater; estimates that only guide make this likely.
    """
    values = dict[int, float]()
    ratio = 1.0
    for place in firsts(estimates, most).tolist():
        if len(values) >= count and ratio * estimates[place] <= sorted(values.values())[-count]:
            return values, True
        values[place] = exact(place)
        if estimates[place] > 0:
            ratio = max(ratio, values[place] / estimates[place])
    return values, len(estimates) <= most


def what_if(
    graph: Any,
    benefit: Any = None,
    interaction: str | Interaction | None = None,
    welfare: str | Welfare | None = None,
    *,
    game: Any = None,
    without: Iterable[Any] = (),
    new_benefit: Any = None,
    cap_influence: float | None = None,
    best: int | None = None,
) -> pd.DataFrame:
    """Return every node's action before and after a change, the largest change first.

    Parameters
    ----------
    graph, benefit, interaction, welfare, game : as in :func:`~nashgraph.key_players`
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
    before = Game.on(graph, benefit, interaction, welfare, game=game)
    count = check_best(best, before.n_nodes)
    gone = before.numbered(without)
    if new_benefit is None:
        benefits = None
    else:
        benefits = changed_benefit(before, new_benefit)
    if len({*gone.tolist()}) == before.n_nodes:
        raise InputError("nobody is left: name fewer nodes in without")
    if cap_influence is not None:
        remedy = "it is the largest influence that a node may have; try 1"
        cap_influence = check_number("cap_influence", cap_influence, low=0, open_low=True, remedy=remedy)

    def changed(game: Game) -> Game:
        if cap_influence is not None:
            share = cap_influence / np.maximum(game.influence, cap_influence)
            game = game.altered(weights=scaled(game.weights, np.ones(game.n_nodes), share))
        if benefits is not None:
            game = game.with_benefit(game.benefit + (benefits - before.benefit))
        return game.without(gone) if len(gone) else game

    after = changed(before)
    change = after.actions - before.actions
    over = [changed(replicate).actions - replicate.actions for replicate in before.replicates]
    columns = stability(before, change, over, [firsts(np.abs(values), count) for values in over])
    order = firsts(np.abs(change), before.n_nodes)
    table = before.table(order, before=before.actions, after=after.actions, change=change, **columns)
    table.attrs |= {"welfare_before": before.value, "welfare_after": after.value}
    return table


def changed_benefit(game: Game, wanted: Any) -> Array:
    """Return the benefits after the change, given by name or for all nodes."""
    if not isinstance(wanted, Mapping | pd.Series):
        return check_benefit(wanted, game.n_nodes, normalize=False)
    values = game.benefit.copy()
    values[game.numbered(wanted.keys())] = [
        check_number(f"new_benefit of {name!r}", value, low=0, remedy="a benefit is a number, 0 or more")
        for name, value in wanted.items()
    ]
    return values
