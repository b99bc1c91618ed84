r"""Ties to build and ties to watch: what a weight from a source j to a target i adds to the welfare.

The derivative of the prior by :math:`W_{ij}` is :math:`(L R^\top)_{ij}`, in the paper's game :math:`u_i f(y_j)`. In a
small network the exact value with (or without) every tie is computed (``variants.py``), so the best are certain.

In a large one, pairs are tried in the order of a bound. For concave f, non-negative weights and total action, adding w
from j to i gains at most

.. math:: w\, u_i f(y_j) \big/ \bigl(1 - w f'(y_j) (x_j - 1)\bigr), \qquad x = 1 + W f'(y) \circ x ,

since f lies below its tangent at y and :math:`G_{ji} \le (G 1)_j - 1` for
:math:`G = (I - W \mathrm{diag} f'(y))^{-1}`. The bound is a product of a number of the target and one of the source, so
with both sorted the next best pair is always next to a pair already taken, and a heap finds the pairs in order without
an N x N array. The search ends when the next bound is below the best exact gains: they are then certain. In other
games, and for the loss without a tie, the derivative is a guide and no bound (except in the linear game with total
action), and ``attrs`` has whether it was proven. A pair is the number i N + j.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..games import Interaction, NoEquilibriumError, TotalAction, WeightedTotal, Welfare, solve_affine
from ..priors import GamePrior
from ..priors.prior import columns as side_columns
from ..validation import Array, check_number
from .game import Game, TooFewError, check_size, firsts, greatest, stability
from .players import is_linear_total
from .variants import BatchOptions, changed, values_with_pairs

DENSE_PAIRS = 4_000_000  # up to so many pairs their first-order values are held as one array of 32 MB


def best_ties(
    graph: Any,
    count: int,
    benefit: Any = None,
    interaction: str | Interaction | None = None,
    welfare: str | Welfare | None = None,
    *,
    game: Any = None,
    weight: float | None = None,
    batch: BatchOptions | None = None,
    most_tried: int = 100,
) -> pd.DataFrame:
    """Return the ties that would raise the welfare most if they were added, each by itself.

    Parameters
    ----------
    graph, benefit, interaction, welfare, game : as in :func:`~nashgraph.key_players`
    count : int, how many
    weight : float, optional, the weight that is added to a pair (default: the weighted mean weight of the ties). Pairs
        that have as much already are not candidates.
    batch : BatchOptions, optional, up to which size the gain of every pair is computed
    most_tried : int, how many gains beyond ``count`` are computed in a larger network

    Returns
    -------
    DataFrame with source, target, worth (the gain per weight to first order) and gain (of this weight, exact); for a
    consensus also low, high and among_best, as in key_players. ``attrs`` has weight; gain, that of all together:
    infinite if together they leave no equilibrium; and proven, whether no other pair gains more.

    Examples
    --------
    >>> W = np.zeros((3, 3))
    >>> W[1:, 0] = 0.5
    >>> best_ties(W, 1, [1.0, 1.0, 3.0], "linear")[["source", "target"]].values.tolist()
    [[2, 0]]
    """
    played = Game.on(graph, benefit, interaction, welfare, game=game)
    added = typical_weight(played.weights) if weight is None else weight
    added = check_number("weight", added, low=0, open_low=True, remedy="it is the weight of a new tie; try 0.1")
    tied = tied_pairs(played.weights, added)
    n_candidates = played.n_nodes * (played.n_nodes - 1) - len(tied)
    size = check_size("count", count, n_candidates, f"pairs without a tie of weight {added:.3g}")
    bound = source_bounds(played, added)

    def promising(game: Game) -> Array:
        return best_pairs(game, size + most_tried, tied_pairs(game.weights, added))

    search = Search(
        first_order=lambda game, pairs: added * worth(game, pairs),
        gains=lambda pairs: changed(played, pairs, added).value - played.value,
        promising=promising,
    )
    if (batch or BatchOptions()).can(played, n_candidates):
        pairs = np.setdiff1d(all_pairs(played.n_nodes), tied)
        gains = values_with_pairs(played, pairs, np.full(len(pairs), added), batch) - played.value
        table = search.all_known(played, size, pairs, gains)
    elif bound is None:
        table = search.by_estimates(played, size, promising(played), None)
    else:
        ordered = best_pairs(played, size + most_tried, tied, bound)
        targets, sources = divmod(ordered, played.n_nodes)
        table = search.by_estimates(played, size, ordered, added * played.state.left[targets] * bound[sources])
    pairs, gains, over, proven = table
    result = named(played, pairs, worth=worth(played, pairs), gain=gains, **over)
    try:
        together = changed(played, pairs, added).value - played.value
    except NoEquilibriumError:  # each alone leaves one
        together = np.inf
    result.attrs |= {"weight": added, "gain": together, "proven": proven}
    return result


def costliest_ties(
    graph: Any,
    count: int,
    benefit: Any = None,
    interaction: str | Interaction | None = None,
    welfare: str | Welfare | None = None,
    *,
    game: Any = None,
    batch: BatchOptions | None = None,
    most_tried: int = 100,
) -> pd.DataFrame:
    """Return the ties whose loss would cost most welfare, each by itself; parameters as in :func:`best_ties`.

    The table has source, target, weight and loss (exact); for a consensus also low, high and among_best. ``attrs`` has
    proven, whether no other tie costs more.

    Examples
    --------
    >>> W = np.array([[0.0, 0.2, 0.0], [0.5, 0.0, 0.0], [0.1, 0.1, 0.0]])
    >>> costliest_ties(W, 1)[["source", "target", "weight"]].values.tolist()
    [[0, 1, 0.5]]
    """
    played = Game.on(graph, benefit, interaction, welfare, game=game)
    size = check_size("count", count, played.weights.nnz, "ties")

    def cost(game: Game, pairs: Array) -> Array:
        return weight_of(game, pairs) * worth(game, pairs)

    def promising(game: Game) -> Array:
        ties = tied_pairs(game.weights)
        return ties[firsts(cost(game, ties), size + most_tried)]

    search = Search(
        first_order=cost,
        gains=lambda pairs: played.value - changed(played, pairs, -weight_of(played, pairs)).value,
        promising=promising,
    )
    if (batch or BatchOptions()).can(played, played.weights.nnz):
        pairs = tied_pairs(played.weights)
        losses = played.value - values_with_pairs(played, pairs, -weight_of(played, pairs), batch)
        pairs, losses, over, proven = search.all_known(played, size, pairs, losses)
    else:
        candidates = promising(played)
        if is_linear_total(played.prior):
            bound = cost(played, candidates)
        else:
            bound = None
        pairs, losses, over, proven = search.by_estimates(played, size, candidates, bound)
    table = named(played, pairs, weight=weight_of(played, pairs), loss=losses, **over)
    table.attrs["proven"] = proven
    return table


Ranked = tuple[Array, Array, dict[str, Array], bool]


@dataclass(frozen=True)
class Search:
    """A search for the pairs of greatest exact value.

    ``first_order`` estimates the value of pairs in a game, ``gains`` is the exact value of a pair in the game asked
    about, and ``promising`` are the pairs of greatest estimate in a replicate.
    """

    first_order: Callable[[Game, Array], Array]
    gains: Callable[[Array], float]
    promising: Callable[[Game], Array]

    def all_known(self, game: Game, size: int, pairs: Array, values: Array) -> Ranked:
        """Return the best pairs if the value of every candidate is known, and their stability."""
        order = firsts(values, size)
        return pairs[order], values[order], self._over(game, size, pairs, values, pairs[order], values[order]), True

    def by_estimates(self, game: Game, size: int, pairs: Array, bounds: Array | None) -> Ranked:
        """Return the best pairs found in the order of bounds, or of estimates, and whether no other is better."""
        guide = self.first_order(game, pairs) if bounds is None else bounds
        exact, complete = greatest(guide, lambda place: self.gains(pairs[[place]]), size, len(pairs))
        tried = np.array([*exact])
        values = np.array([*exact.values()])
        order = firsts(values, size)
        chosen = pairs[tried[order]]
        over = self._over(game, size, pairs[tried], values, chosen, values[order])
        n_all = game.n_nodes * (game.n_nodes - 1)
        return chosen, values[order], over, (bounds is not None or len(pairs) == n_all) and complete

    def _over(
        self, game: Game, size: int, pairs: Array, values: Array, chosen: Array, chosen_values: Array
    ) -> dict[str, Array]:
        """Return how stable the chosen pairs are; estimates on replicates are scaled to be exact on the game."""
        if not game.replicates:
            return {}
        estimates = self.first_order(game, pairs)
        ratio = np.divide(values, estimates, out=np.ones_like(values), where=estimates > 0)
        by_pair = dict(zip(pairs.tolist(), ratio.tolist(), strict=True))
        usual = float(np.median(ratio))

        def scaled(replicate: Game, some: Array) -> Array:
            return self.first_order(replicate, some) * [by_pair.get(pair, usual) for pair in some.tolist()]

        best = list[Array]()
        scores = list[Array]()
        for replicate in game.replicates:
            candidates = self.promising(replicate)
            best.append(candidates[firsts(scaled(replicate, candidates), size)])
            scores.append(scaled(replicate, chosen))
        return stability(game, chosen_values, scores, best, chosen)


def source_bounds(game: Game, weight: float) -> Array | None:
    """Return what a source adds to an upper bound of the gain, or None if the game has no such bound."""
    prior = game.prior
    if not (isinstance(prior, GamePrior) and prior.plain and isinstance(prior.welfare, TotalAction | WeightedTotal)):
        return None
    slope = prior.interaction.slope(game.actions)
    everyone = np.ones(game.n_nodes)
    reached = solve_affine(lambda vector: prior.share * (game.matrix @ (slope * vector)), everyone, tol=1e-8).point
    # A hundredth of a per mille covers the error of this solve.
    left = 1.0 - 1.00001 * weight * prior.share * slope * (reached - 1.0)
    return game.state.right / left if (left > 0).all() else None


def best_pairs(game: Game, count: int, tied: Iterable[int], right: Array | None = None) -> Array:
    """Return the pairs of greatest first-order value that are not tied; ``right`` replaces what sources have."""
    n = game.n_nodes
    lefts = side_columns(game.state.left)
    if right is None:
        rights = side_columns(game.state.right)
    else:
        rights = right[:, None]
    if lefts.shape[1] == 1 and (rights >= 0).all() and (right is not None or n * n > DENSE_PAIRS):
        pairs = heaped_pairs(lefts[:, 0], rights[:, 0], {*np.asarray(tied).tolist()})
        return np.fromiter(_first(pairs, count), dtype=np.int64)
    if n * n <= DENSE_PAIRS:
        candidates = np.setdiff1d(all_pairs(n), np.asarray(tied))
    else:  # those who are strong in one column, as targets and as sources
        strong = max(50, int(np.sqrt(4 * count)))
        targets = np.unique(np.argsort(-np.abs(lefts), axis=0)[:strong])
        sources = np.unique(np.argsort(-np.abs(rights), axis=0)[:strong])
        crossed = (targets[:, None] * np.int64(n) + sources).ravel()
        candidates = np.setdiff1d(crossed[crossed // n != crossed % n], np.asarray(tied))
    return candidates[firsts(worth(game, candidates), count)]


def _first(pairs: Iterator[int], count: int) -> Iterator[int]:
    for _, pair in zip(range(count), pairs, strict=False):
        yield pair


def heaped_pairs(left: Array, right: Array, left_out: set[int]) -> Iterator[int]:
    """Yield pairs by decreasing left_i right_j, for right >= 0, except some; never N x N."""
    n = len(left)
    targets = firsts(left, n)
    sources = firsts(right, n)
    left = left[targets]
    right = right[sources]
    heap = [(-float(left[0] * right[0]), 0, 0)]
    while heap:
        _, i, j = heapq.heappop(heap)
        if j + 1 < n:
            heapq.heappush(heap, (-float(left[i] * right[j + 1]), i, j + 1))
        if j == 0 and i + 1 < n:
            heapq.heappush(heap, (-float(left[i + 1] * right[0]), i + 1, 0))
        pair = int(targets[i]) * n + int(sources[j])
        if targets[i] != sources[j] and pair not in left_out:
            yield pair


def all_pairs(n: int) -> Array:
    """Return all pairs of two different nodes."""
    pairs = np.arange(n * n)
    return pairs[pairs // n != pairs % n]


def tied_pairs(weights: Any, least: float = 0.0) -> Array:
    """Return the pairs that have an entry of at least this weight."""
    entries = sparse.coo_array(weights)
    rows, columns = entries.coords
    return (rows.astype(np.int64) * weights.shape[0] + columns)[entries.data >= least * (1.0 - 1e-9)]


def typical_weight(weights: Any) -> float:
    """Return the weighted mean weight of a tie, so that a consensus's many tiny weights count little."""
    data = sparse.coo_array(weights).data
    if not data.any():
        raise TooFewError("the graph has no tie, so there is no usual weight: give weight, for example 0.1")
    return float(data @ data / data.sum())


def worth(game: Game, pairs: Array) -> Array:
    """Return what a unit of weight is worth on each pair."""
    targets, sources = divmod(pairs, game.n_nodes)
    lefts = side_columns(game.state.left)
    rights = side_columns(game.state.right)
    return np.einsum("pk,pk->p", lefts[targets], rights[sources])


def weight_of(game: Game, pairs: Array) -> Array:
    """Return the weight of each pair."""
    return np.asarray(game.weights[divmod(pairs, game.n_nodes)]).ravel()


def named(game: Game, pairs: Array, **columns: Array) -> pd.DataFrame:
    """Return a table of pairs, by the names of their ends."""
    targets, sources = (pd.Series(game.names[ends], dtype=object) for ends in divmod(pairs, game.n_nodes))
    return pd.DataFrame({"source": sources, "target": targets, **columns})
