r"""Which tie to build or to watch: what a weight from a speaker j to a listener i adds to the welfare.

The derivative of the welfare by :math:`W_{ij}` is :math:`u_i f(y_j)`: who listens matters by what its benefit is worth,
who speaks by how far its action reaches. The best pairs are found without going through all of them: with listeners
sorted by u and speakers by f(y), the next best pair is always beside one that was taken, and a heap has those. What a
whole tie gains, or its loss costs, is found exactly, by the new equilibrium, for those that can be among the first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..validation import Array, InputError, check_number
from .interactions import Interaction
from .playing import NoEquilibriumError
from .society import INTERVAL, Game, check_size, firsts, greatest
from .welfares import Welfare

MORE = 20  # pairs that are tried besides as many as were asked for


def best_ties(
    graph: Any,
    count: int,
    benefit: Any = None,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
    *,
    weight: float | None = None,
) -> pd.DataFrame:
    """Return the ties whose building would raise the welfare most, each by itself: who should listen to whom.

    Parameters
    ----------
    graph, benefit, interaction, welfare
        As in :func:`~nashgraph.key_players`.
    count : int
        How many.
    weight : float, optional
        What is added to the weight of a pair. Default: that of a tie in this graph, the mean weight by weight. A pair
        that has as much already is tied, and no candidate.

    Returns
    -------
    DataFrame with listener, speaker, worth (u_i f(y_j), the gain per weight to first order) and gain (of this weight,
    exact); of a consensus also low, high (the 90 % interval of the gain over its resamples, to first order, scaled to
    be exact on the consensus) and among_best (the share of resamples in which it is among as many of the greatest
    gain). ``attrs`` has weight, and gain, that of all of them together, infinite where they leave no equilibrium.
    Candidates are the pairs of the greatest worth, 20 more than asked for.

    Examples
    --------
    Nobody listens to the last, who does most, and all listen to the first:

    >>> W = np.zeros((3, 3))
    >>> W[1:, 0] = 0.5
    >>> best_ties(W, 1, [1.0, 1.0, 3.0], "linear")[["listener", "speaker"]].values.tolist()
    [[0, 2]]
    """
    game = Game.on(graph, benefit, interaction, welfare)
    added = typical_weight(game.weights) if weight is None else weight
    added = check_number("weight", added, low=0, open_low=True, remedy="it is what a new tie weighs; try 0.1")
    tied = pairs_above(game.weights, added)
    most = game.n_nodes * (game.n_nodes - 1) - len(tied)
    size = check_size("count", count, most, f"pairs without a tie of weight {added:.3g}")
    pairs = np.array(list(best_pairs(game, size + MORE, tied)))
    worth = _worth(game, pairs)
    gains = greatest(added * worth, lambda k: _changed(game, pairs[[k]], added).value - game.value, size, len(pairs))
    exact = _Exact(pairs, gains, added * worth)
    order = exact.first(size)
    columns = {"worth": worth[order], "gain": exact.values(order)}
    if members := list(game.each_member()):
        over, chosen = [], []
        for member in members:
            near = [*best_pairs(member, size + MORE, pairs_above(member.weights, added))]
            over.append(exact.scaled(pairs[order], added * _worth(member, pairs[order])))
            chosen.append(exact.best(np.array(near), added * _worth(member, np.array(near)), size))
        columns |= _steady(over, pairs[order], chosen)
    pairs = pairs[order]
    table = _named(game, pairs, columns)
    table.attrs["weight"] = added
    try:
        table.attrs["gain"] = _changed(game, pairs, added).value - game.value
    except NoEquilibriumError:  # each alone leaves one
        table.attrs["gain"] = np.inf
    return table


def costliest_ties(
    graph: Any,
    count: int,
    benefit: Any = None,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
) -> pd.DataFrame:
    """Return the ties whose loss would cost the welfare most, each by itself.

    Parameters
    ----------
    graph, count, benefit, interaction, welfare
        As in :func:`best_ties`.

    Returns
    -------
    DataFrame with listener, speaker, weight and loss (exact); of a consensus also low, high and among_best, as in
    :func:`best_ties`. Candidates are those that cost most to first order, w u_i f(y_j), 20 more than asked for.

    Examples
    --------
    >>> W = np.array([[0.0, 0.2, 0.0], [0.5, 0.0, 0.0], [0.1, 0.1, 0.0]])
    >>> costliest_ties(W, 1)[["listener", "speaker", "weight"]].values.tolist()
    [[1, 0, 0.5]]
    """
    game = Game.on(graph, benefit, interaction, welfare)
    pairs, weights, costs = _costs(game)
    size = check_size("count", count, len(pairs), "ties")
    losses = greatest(costs, lambda k: game.value - _changed(game, pairs[[k]], -weights[k]).value, size, size + MORE)
    exact = _Exact(pairs, losses, costs)
    order = exact.first(size)
    columns = {"weight": weights[order], "loss": exact.values(order)}
    if members := list(game.each_member()):
        over, chosen = [], []
        for member in members:
            held = np.asarray(member.weights[pairs[order, 0], pairs[order, 1]]).ravel()
            over.append(exact.scaled(pairs[order], held * _worth(member, pairs[order])))
            places, _, cost = _costs(member)
            near = firsts(cost, size + MORE)
            chosen.append(exact.best(places[near], cost[near], size))
        columns |= _steady(over, pairs[order], chosen)
    return _named(game, pairs[order], columns)


class _Exact:
    """What pairs gain or cost exactly, where it was found, and how that is to its first-order estimate."""

    def __init__(self, pairs: Array, found: dict[int, float], estimates: Array) -> None:
        self.found = found
        ratios = {k: value / estimates[k] if estimates[k] > 0 else 1.0 for k, value in found.items()}
        self.ratios = {(int(pairs[k, 0]), int(pairs[k, 1])): ratio for k, ratio in ratios.items()}
        self.usual = float(np.median(list(ratios.values())))

    def first(self, count: int) -> Array:
        """Return the places of the greatest."""
        return np.array(sorted(self.found, key=lambda k: -self.found[k])[:count])

    def values(self, places: Array) -> Array:
        """Return the exact values at some places."""
        return np.array([self.found[k] for k in places.tolist()])

    def scaled(self, pairs: Array, estimates: Array) -> Array:
        """Return estimates on another graph, scaled as those on this one are to be exact."""
        return estimates * [self.ratios.get((int(i), int(j)), self.usual) for i, j in pairs]

    def best(self, pairs: Array, estimates: Array, count: int) -> set[tuple[int, int]]:
        """Return the pairs of the greatest estimates on another graph, so scaled."""
        return {(int(i), int(j)) for i, j in pairs[firsts(self.scaled(pairs, estimates), count)]}


def best_pairs(game: Game, count: int, tied: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs (listener, speaker) of the greatest u_i f(y_j), without those that are tied; never N x N."""
    n = game.n_nodes
    listeners, speakers = firsts(game.adjoint, n), firsts(game.reach, n)
    u, reach = game.adjoint[listeners], game.reach[speakers]
    heap, yielded = [(-float(u[0] * reach[0]), 0, 0)], 0
    while heap and yielded < count:
        _, i, j = heapq.heappop(heap)
        if j + 1 < n:
            heapq.heappush(heap, (-float(u[i] * reach[j + 1]), i, j + 1))
        if j == 0 and i + 1 < n:
            heapq.heappush(heap, (-float(u[i + 1] * reach[0]), i + 1, 0))
        pair = int(listeners[i]), int(speakers[j])
        if pair[0] != pair[1] and pair[0] * n + pair[1] not in tied:
            yielded += 1
            yield pair


def pairs_above(weights: Any, least: float) -> set[int]:
    """Return the pairs of at least this weight, i N + j."""
    entries = sparse.coo_array(weights)
    rows, columns = entries.coords
    heavy = entries.data >= least * (1.0 - 1e-9)
    return {*(rows[heavy].astype(np.int64) * weights.shape[0] + columns[heavy]).tolist()}


def typical_weight(weights: Any) -> float:
    """Return the mean weight of a tie, by weight: that of the tie on which a random part of all weight lies."""
    data = sparse.coo_array(weights).data
    if not data.any():
        raise InputError("the graph has no tie, so that there is no usual weight: give weight, for example 0.1")
    return float(data @ data / data.sum())


def _costs(game: Game) -> tuple[Array, Array, Array]:
    """Return all ties as (listener, speaker), their weights, and what each costs to first order."""
    entries = sparse.coo_array(game.weights)
    rows, columns = entries.coords
    return np.stack([rows, columns], axis=1), entries.data, entries.data * game.adjoint[rows] * game.reach[columns]


def _changed(game: Game, pairs: Array, by: float) -> Game:
    """Return the game with this added to the weight of some pairs."""
    more = sparse.csr_array((np.full(len(pairs), by), (pairs[:, 0], pairs[:, 1])), shape=game.weights.shape)
    weights = game.weights + more
    weights.data = np.maximum(weights.data, 0.0)  # a tie taken off may leave a hair below zero
    return game.with_weights(weights)


def _worth(game: Game, pairs: Array) -> Array:
    """Return what a unit of weight is worth on each pair (listener, speaker)."""
    return np.asarray(game.adjoint[pairs[:, 0]] * game.reach[pairs[:, 1]])


def _steady(over: list[Array], pairs: Array, chosen: list[set[tuple[int, int]]]) -> dict[str, Array]:
    low, high = np.quantile(np.stack(over), INTERVAL, axis=0)
    among = [np.mean([(int(i), int(j)) in each for each in chosen]) for i, j in pairs]
    return {"low": low, "high": high, "among_best": np.array(among)}


def _named(game: Game, pairs: Array, columns: dict[str, Array]) -> pd.DataFrame:
    ends = {end: pd.Series(game.names[pairs[:, k]], dtype=object) for k, end in enumerate(("listener", "speaker"))}
    return pd.DataFrame({**ends, **columns})
