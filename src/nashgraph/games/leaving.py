r"""Key players: what the welfare loses when a node leaves, and which group's leaving costs most.

With node i gone the others play the game on the rest, :math:`y_i = 0`. In the linear game the loss of total action has a
closed form, the intercentrality of Ballester, Calvó-Armengol and Zenou (2006): with :math:`M = (I - W)^{-1}`,

.. math:: g(y) - g(y^{-i}) = \frac{u_i \, y_i}{M_{ii}}, \qquad y = M b, \; u = M^\top 1 .

In the others every game without a node is solved anew. All N of them are solved together: at the equilibrium y of the
whole game let :math:`G = (I - W \mathrm{diag} f'(y))^{-1}`; without row and column i its inverse is :math:`G - G_{\cdot i}
G_{i \cdot} / G_{ii}`, and with that a chord Newton step for all is one product of N x N matrices, O(N^3), repeated until
:math:`\|b + W f(y) - y\| \le tol \, \|y\|` in every game; some six times.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pandas as pd

from ..validation import Array
from .interactions import Interaction
from .society import TOL, Game, check_best, check_size, how_steady
from .welfares import Welfare

TOGETHER = 1500  # nodes up to which all games without a node are solved together, in a few N x N arrays
CANDIDATES = 20  # beyond, so many are solved one by one: those that matter most to first order
STEPS = 60


def key_players(
    graph: Any,
    benefit: Any = None,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
    *,
    best: int | None = None,
) -> pd.DataFrame:
    """Return what the welfare loses when each node leaves, the greatest loss first.

    Parameters
    ----------
    graph : fitted model, LearnedGraph or matrix of weights
    benefit : array or Series of shape (n_nodes,), optional
        Default: that the graph was learned with, or 1 for everybody.
    interaction, welfare
        As in :class:`~nashgraph.GLGP`.
    best : int, optional
        Of a consensus: among how many of the first to count a node; 5 by default.

    Returns
    -------
    DataFrame with name, loss, share (of the welfare), action and influence; of a consensus also low, high (the 90 %
    interval of the loss over its resamples) and among_best (the share of resamples in which a node is among the first).
    Above 1,500 nodes only those have a loss that matter most to first order, u_i y_i, 20 of them; the rest is NaN.

    Examples
    --------
    A star: its middle is the key player.

    >>> W = np.zeros((4, 4))
    >>> W[1:, 0], W[0, 1:] = 0.3, 0.1
    >>> table = key_players(W, interaction="linear")
    >>> table.name.tolist()[0], round(table.loss[0], 3)
    (0, 2.286)
    """
    game = Game.on(graph, benefit, interaction, welfare)
    count = check_best(best, game.n_nodes)
    loss, asked = losses(game)
    table = {"loss": loss, "share": loss / game.value, "action": game.actions, "influence": game.influence()}
    over = [losses(member, asked)[0] for member in game.each_member()]
    table |= how_steady(over, count)
    order = np.argsort(-np.nan_to_num(loss, nan=-1.0), kind="stable")
    ordered = {column: values[order] for column, values in table.items()}
    return pd.DataFrame({"name": pd.Series(game.names[order], dtype=object), **ordered})


def losses(game: Game, asked: Array | None = None) -> tuple[Array, Array | None]:
    """Return the loss of welfare without each node, NaN where it was not asked for, and which were."""
    if game.n_nodes <= TOGETHER:
        return game.value - values_without_each(game), None
    if asked is None:
        asked = np.argsort(-game.adjoint * game.actions, kind="stable")[:CANDIDATES]
    found = np.full(game.n_nodes, np.nan)
    for node in asked.tolist():
        found[node] = game.value - game.without(np.array([node])).value
    return found, asked


def values_without_each(game: Game) -> Array:
    """Return the welfare of the others without each node, all games solved together; five N x N arrays."""
    n, dense = game.n_nodes, game.weights.toarray()
    inverse = np.linalg.inv(np.eye(n) - dense * game.interaction.slope(game.actions))
    everyone = np.arange(n)
    points = np.tile(game.actions[:, None], (1, n))  # column i is the game without i
    points[everyone, everyone] = 0.0
    scale = float(np.linalg.norm(game.actions))
    for _ in range(STEPS):
        defect = game.benefit[:, None] + dense @ game.interaction.value(points) - points
        defect[everyone, everyone] = 0.0
        if float(np.abs(defect).max()) <= TOL * scale / np.sqrt(n):
            break
        step = inverse @ defect
        points += step - inverse * (np.diag(step) / np.diag(inverse))
        points[everyone, everyone] = 0.0
    return np.array([game.welfare.value(points[:, k]) for k in range(n)])


def key_group(
    graph: Any,
    size: int,
    benefit: Any = None,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
) -> pd.DataFrame:
    """Return a group whose leaving costs the welfare much, found greedily: one after the other, the greatest first.

    In the linear game with total action the welfare is the weight of all walks in the network, and a group's loss that
    of the walks it is on: a coverage, monotone and submodular, so that greed reaches 1 - 1/e = 63 % of the best group's
    loss. For other games there is no such guarantee.

    Greed is lazy: a node's loss is found anew only while its last one would still make it the first.

    Returns
    -------
    DataFrame with name, gain (what its leaving costs after the others') and loss (of all so far)

    Examples
    --------
    >>> W = np.zeros((6, 6))
    >>> W[1:3, 0] = W[4:, 3] = W[0, 1:3] = W[3, 4:] = 0.3
    >>> sorted(key_group(W, 2).name)
    [0, 3]
    """
    game = Game.on(graph, benefit, interaction, welfare)
    count = check_size("size", size, game.n_nodes - 1)
    first, asked = losses(game)
    nodes = range(game.n_nodes) if asked is None else asked.tolist()
    heap = [(-float(first[node]), node, 0) for node in nodes]
    heapq.heapify(heap)
    chosen, total, rows = list[int](), 0.0, []
    while heap and len(chosen) < count:
        bound, node, when = heapq.heappop(heap)
        if when < len(chosen):
            loss = game.value - game.without(np.array([*chosen, node])).value
            heapq.heappush(heap, (-(loss - total), node, len(chosen)))
            continue
        chosen.append(node)
        total -= bound
        rows.append({"name": game.names[node], "gain": -bound, "loss": total})
    return pd.DataFrame(rows)
