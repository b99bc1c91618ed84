r"""Ties to build and ties to watch: what a weight from a source j to a target i adds to the welfare.

The derivative of the welfare by :math:`W_{ij}` is :math:`u_i f(y_j)`. With targets sorted by u and sources by f(y), the
next best pair is always next to a pair already taken, so a heap finds the best pairs without an N x N array. Their
gain, or the loss without them, is then exact, from the new equilibrium. A pair is the number i N + j.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..games import Interaction, Welfare
from ..games.nash import NoEquilibriumError
from ..validation import Array, check_number
from .game import Game, TooFewError, check_size, firsts, greatest, stability

MORE = 20  # candidates beyond those asked for: the first-order ranking and the exact one differ a little


def best_ties(
    graph: Any,
    count: int,
    benefit: Any = None,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
    *,
    weight: float | None = None,
) -> pd.DataFrame:
    """Return the ties that would raise the welfare most if they were added, each by itself.

    Parameters
    ----------
    graph, benefit, interaction, welfare : as in :func:`~nashgraph.key_players`
    count : int, how many
    weight : float, optional, the weight that is added to a pair (default: the weighted mean weight of the ties). Pairs
        that have as much already are not candidates.

    Returns
    -------
    DataFrame with source, target, worth (u_i f(y_j), the gain per weight to first order) and gain (of this weight,
    exact); for a consensus also low, high and among_best, as in key_players. ``attrs`` has weight, and gain, that of
    all together: infinite if together they leave no equilibrium. Candidates are the pairs of greatest worth.

    Examples
    --------
    >>> W = np.zeros((3, 3))
    >>> W[1:, 0] = 0.5
    >>> best_ties(W, 1, [1.0, 1.0, 3.0], "linear")[["source", "target"]].values.tolist()
    [[2, 0]]
    """
    game = Game.on(graph, benefit, interaction, welfare)
    added = typical_weight(game.weights) if weight is None else weight
    added = check_number("weight", added, low=0, open_low=True, remedy="it is the weight of a new tie; try 0.1")
    most = game.n_nodes * (game.n_nodes - 1) - len(tied_pairs(game.weights, added))
    size = check_size("count", count, most, f"pairs without a tie of weight {added:.3g}")

    def candidates(game: Game) -> Array:
        return np.array([*best_pairs(game, size + MORE, tied_pairs(game.weights, added))], dtype=np.int64)

    def gain(pair: Array) -> float:
        return changed(game, pair, added).value - game.value

    pairs, gains, over = ranked(game, size, candidates, lambda game, pairs: added * worth(game, pairs), gain)
    table = named(game, pairs, worth=worth(game, pairs), gain=gains, **over)
    try:
        together = changed(game, pairs, added).value - game.value
    except NoEquilibriumError:  # each alone leaves one
        together = np.inf
    table.attrs |= {"weight": added, "gain": together}
    return table


def costliest_ties(
    graph: Any,
    count: int,
    benefit: Any = None,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
) -> pd.DataFrame:
    """Return the ties whose loss would cost most welfare, each by itself; parameters as in :func:`best_ties`.

    The table has source, target, weight and loss (exact); for a consensus also low, high and among_best.

    Examples
    --------
    >>> W = np.array([[0.0, 0.2, 0.0], [0.5, 0.0, 0.0], [0.1, 0.1, 0.0]])
    >>> costliest_ties(W, 1)[["source", "target", "weight"]].values.tolist()
    [[0, 1, 0.5]]
    """
    game = Game.on(graph, benefit, interaction, welfare)
    size = check_size("count", count, game.weights.nnz, "ties")

    def candidates(game: Game) -> Array:
        ties = tied_pairs(game.weights)
        return ties[firsts(cost(game, ties), size + MORE)]

    def cost(game: Game, pairs: Array) -> Array:
        return held(game, pairs) * worth(game, pairs)

    def loss(pair: Array) -> float:
        return game.value - changed(game, pair, -held(game, pair)).value

    pairs, losses, over = ranked(game, size, candidates, cost, loss)
    return named(game, pairs, weight=held(game, pairs), loss=losses, **over)


def ranked(
    game: Game,
    size: int,
    candidates: Callable[[Game], Array],
    first_order: Callable[[Game, Array], Array],
    exact: Callable[[Array], float],
) -> tuple[Array, Array, dict[str, Array]]:
    """Return the candidates of greatest exact value, these values, and their stability over replicates."""
    pairs = candidates(game)
    estimates = first_order(game, pairs)
    found = greatest(estimates, lambda k: exact(pairs[[k]]), size, len(pairs))
    ratios = {int(pairs[k]): value / estimates[k] if estimates[k] > 0 else 1.0 for k, value in found.items()}
    usual = float(np.median([*ratios.values()]))
    order = sorted(found, key=lambda k: -found[k])[:size]
    chosen, values = pairs[order], np.array([found[k] for k in order])

    def scaled(replicate: Game, pairs: Array) -> Array:  # by the ratio of exact value to estimate on the consensus
        return first_order(replicate, pairs) * [ratios.get(pair, usual) for pair in pairs.tolist()]

    own = [(replicate, candidates(replicate)) for replicate in game.replicates]
    best = [pairs[firsts(scaled(replicate, pairs), size)] for replicate, pairs in own]
    over = [scaled(replicate, chosen) for replicate in game.replicates]
    return chosen, values, stability(values, over, best, chosen)


def best_pairs(game: Game, count: int, tied: Iterable[int]) -> Iterator[int]:
    """Yield the pairs of greatest u_i f(y_j) that are not tied; never N x N."""
    left_out = {*tied}
    n = game.n_nodes
    targets, sources = firsts(game.adjoint, n), firsts(game.reach, n)
    u, reach = game.adjoint[targets], game.reach[sources]
    heap, yielded = [(-float(u[0] * reach[0]), 0, 0)], 0
    while heap and yielded < count:
        _, i, j = heapq.heappop(heap)
        if j + 1 < n:
            heapq.heappush(heap, (-float(u[i] * reach[j + 1]), i, j + 1))
        if j == 0 and i + 1 < n:
            heapq.heappush(heap, (-float(u[i + 1] * reach[0]), i + 1, 0))
        pair = int(targets[i]) * n + int(sources[j])
        if targets[i] != sources[j] and pair not in left_out:
            yielded += 1
            yield pair


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
    return np.asarray(game.adjoint[targets] * game.reach[sources])


def held(game: Game, pairs: Array) -> Array:
    """Return the weight of each pair."""
    return np.asarray(game.weights[divmod(pairs, game.n_nodes)]).ravel()


def changed(game: Game, pairs: Array, by: Any) -> Game:
    """Return the game with something added to the weight of some pairs."""
    more = sparse.csr_array((np.full(len(pairs), by), divmod(pairs, game.n_nodes)), shape=game.weights.shape)
    weights = game.weights + more
    weights.data = np.maximum(weights.data, 0.0)  # removing a tie may leave a rounding error below zero
    return game.altered(weights=weights)


def named(game: Game, pairs: Array, **columns: Array) -> pd.DataFrame:
    """Return a table of pairs, by the names of their ends."""
    targets, sources = (pd.Series(game.names[ends], dtype=object) for ends in divmod(pairs, game.n_nodes))
    return pd.DataFrame({"source": sources, "target": targets, **columns})
