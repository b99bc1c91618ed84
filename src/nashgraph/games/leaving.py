r"""Key players: what the welfare loses when a node leaves, and which group's leaving costs most.

With node i gone the others play the game on the rest, :math:`y_i = 0`. In the linear game the loss of total action has
a closed form, the intercentrality of Ballester, Calvó-Armengol and Zenou (2006): with :math:`M = (I - W)^{-1}`,

.. math:: g(y) - g(y^{-i}) = \frac{u_i \, y_i}{M_{ii}}, \qquad y = M b, \; u = M^\top 1 .

In the others every game without a node is solved anew. All N of them are solved together: at the equilibrium y of the
whole game let :math:`G = (I - W \mathrm{diag} f'(y))^{-1}`; without row and column i its inverse is
:math:`G - G_{\cdot i} G_{i \cdot} / G_{ii}`, and with that a chord Newton step for all is two products of N x N
matrices, O(N^3), repeated until :math:`\|b + W f(y) - y\| \le tol \, \|y\|` in every game; some six times.

In large networks nodes are first ranked by what the loss is to first order at y,

.. math:: \nabla g_i \, y_i + f(y_i) \Bigl[ (W^\top u)_i - u_i \sum_k W_{ik} W_{ki} f'(y_k) \Bigr] ,

which in the linear game with total action is never less than the loss (of the walks that return to i it takes off those
of two steps only), so that the first by loss are found for certain; in the others it is a guide.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..validation import Array
from .interactions import Interaction
from .society import INTERVAL, TOL, Game, among_best, check_best, check_size, firsts, greatest, how_steady
from .welfares import Welfare

TOGETHER = 1500  # nodes up to which all games without a node are solved together, in a few N x N arrays
MOST = 40  # beyond, so many are solved one by one, at the most: those that matter most to first order
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
    graph : fitted model, LearnedGraph, networkx graph or matrix of weights
    benefit : array or Series of shape (n_nodes,), optional
        Default: that the graph was learned with, or 1 for everybody.
    interaction, welfare
        As in :class:`~nashgraph.GLGP`.
    best : int, optional
        How many key players are wanted; 5 by default.

    Returns
    -------
    DataFrame with name, loss, share (of the welfare), action and influence; of a consensus also low, high (the 90 %
    interval of the loss over its resamples) and among_best (the share of resamples in which a node is among the
    ``best`` first). Up to 1,500 nodes every loss is exact. Above, those are found, and exact, that may be among the
    ``best`` greatest, 40 at the most; the others are NaN. Over resamples losses are to first order, scaled to be exact
    on the consensus.

    Examples
    --------
    A star: its middle is the key player. Alone, each of the others would do 1, and all do 5.714 together.

    >>> W = np.zeros((4, 4))
    >>> W[1:, 0], W[0, 1:] = 0.3, 0.1
    >>> table = key_players(W, interaction="linear")
    >>> table.name.tolist(), table.loss.round(3).tolist()
    ([0, 1, 2, 3], [2.714, 1.672, 1.672, 1.672])
    """
    game = Game.on(graph, benefit, interaction, welfare)
    count = check_best(best, game.n_nodes)
    estimates = first_order_losses(game)
    loss = losses(game, estimates, count)
    found = np.isfinite(loss)
    ratio = np.divide(loss, estimates, out=np.ones_like(loss), where=found & (estimates > 0))
    ratio[~found] = np.median(ratio[found])
    steady = how_steady([ratio * first_order_losses(member) for member in game.each_member()], count)
    for end in {"low", "high"} & steady.keys():
        steady[end][~found] = np.nan
    columns = {"loss": loss, "share": loss / game.value, "action": game.actions, "influence": game.influence}
    return game.table(firsts(np.nan_to_num(loss, nan=-np.inf), game.n_nodes), **columns, **steady)


def first_order_losses(game: Game) -> Array:
    """Return the loss without each node to first order at the equilibrium; O(edges)."""
    actions, weights = game.actions, game.matrix
    slope, reached = game.interaction.slope(actions), weights.T @ game.adjoint
    both = weights * weights.T if isinstance(weights, np.ndarray) else weights.multiply(weights.T)
    own = game.welfare.gradient(actions) * actions
    return np.asarray(own + game.reach * (reached - game.adjoint * (both @ slope)))


def losses(game: Game, estimates: Array, count: int) -> Array:
    """Return the loss of welfare without each node, NaN where it is not among the ``count`` greatest for sure."""
    if game.n_nodes <= TOGETHER:
        return game.value - values_without_each(game)
    found = np.full(game.n_nodes, np.nan)
    for node, loss in greatest(estimates, partial(_loss_of_one, game), count, max(MOST, count)).items():
        found[node] = loss
    return found


def loss_of(game: Game, gone: list[int]) -> float:
    """Return what the welfare loses when some nodes leave together."""
    return game.value - game.without(np.array(gone)).value


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
        np.maximum(points, 0.0, out=points)
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
    loss; a test has a network of five where it reaches 89 %. For other games there is no such guarantee.

    At each step those are tried, 40 at the most, that may cost most by the first-order loss (see :func:`key_players`).

    Parameters
    ----------
    graph, benefit, interaction, welfare
        As in :func:`key_players`.
    size : int
        How many; fewer than there are nodes.

    Returns
    -------
    DataFrame with name, gain (what its leaving costs after the others') and loss (of all so far); of a consensus also
    low, high (of that loss, over its resamples) and among_best (the share of resamples whose own group has the node)

    Examples
    --------
    Two stars: one middle each, rather than the two nodes of the greatest loss alone.

    >>> W = np.zeros((6, 6))
    >>> W[1:3, 0] = W[4:, 3] = W[0, 1:3] = W[3, 4:] = 0.3
    >>> sorted(key_group(W, 2).name)
    [0, 3]
    """
    game = Game.on(graph, benefit, interaction, welfare)
    count = check_size("size", size, game.n_nodes - 1)
    chosen, loss = group_of(game, count, MOST)
    columns = {"gain": np.diff(loss, prepend=0.0), "loss": loss}
    if members := list(game.each_member()):
        own = [group_of(member, count, 0) for member in members]
        over = [group_losses(member, chosen, *found) for member, found in zip(members, own, strict=True)]
        columns["low"], columns["high"] = np.quantile(over, INTERVAL, axis=0)
        columns["among_best"] = among_best([np.array(group) for group, _ in own], game.n_nodes)[chosen]
    return pd.DataFrame({"name": pd.Series(game.names[chosen], dtype=object), **columns})


def group_of(game: Game, count: int, most: int) -> tuple[list[int], Array]:
    """Return a group found greedily, with the loss of its first, of its first two, and so on.

    So many are tried for each place at the most; with 0, who is first to first order is taken.
    """
    chosen, left, values = list[int](), game, list[float]()
    for _ in range(count):
        estimates = first_order_losses(left)
        estimates[chosen] = -np.inf
        tried = greatest(estimates, partial(_loss_of_one, left), 1, most)
        chosen.append(max(tried, key=lambda node: tried[node]) if tried else int(np.argmax(estimates)))
        left = left.without(np.array(chosen[-1:]))
        values.append(left.value)
    return chosen, game.value - np.array(values)


def group_losses(game: Game, group: list[int], own: list[int], known: Array) -> list[float]:
    """Return the loss of a group's first, of its first two, and so on; while it is the game's own, it is known."""
    return [
        float(known[k]) if {*group[: k + 1]} == {*own[: k + 1]} else loss_of(game, group[: k + 1])
        for k in range(len(group))
    ]


def _loss_of_one(game: Game, node: int) -> float:
    return loss_of(game, [node])
