r"""Key players: what the welfare loses when a node leaves, and which group costs most when it leaves.

When node i leaves, the others play the game on the rest and :math:`y_i = 0`. In the linear game the loss of total
action is the intercentrality of Ballester, Calvó-Armengol and Zenou (2006): with :math:`M = (I - W)^{-1}`,

.. math:: g(y) - g(y^{-i}) = \frac{u_i \, y_i}{M_{ii}}, \qquad y = M b, \; u = M^\top 1 .

Other games are solved again without each node, all N of them together. At the equilibrium y of the whole game let
:math:`G = (I - W \mathrm{diag} f'(y))^{-1}`. Without row and column i its inverse is
:math:`G - G_{\cdot i} G_{i \cdot} / G_{ii}`, so a chord Newton step for all games is two products of N x N matrices. It
is repeated, about six times, until :math:`\|b + W f(y) - y\| \le tol \, \|y\|` in every game.

In large networks nodes are first ranked by the loss to first order at y,

.. math:: \nabla g_i \, y_i + f(y_i) \Bigl[ (W^\top u)_i - u_i \sum_k W_{ik} W_{ki} f'(y_k) \Bigr] .

In the linear game with total action this is an upper bound of the loss (it subtracts only the two-step walks that
return to i), so the nodes of greatest loss are found for certain. In other games it is a guide.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..games import Interaction, Welfare
from ..validation import Array
from .game import TOL, Game, check_best, check_size, firsts, greatest, stability

ALL_NODES = 1500  # up to this many nodes, all games without a node are solved together, in a few N x N arrays
TRIED = 40  # in larger networks, at most this many are solved one by one, those of greatest loss to first order


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
    graph : fitted model, LearnedGraph, networkx graph, matrix of weights or Game
    benefit : array or Series of shape (n_nodes,), optional (default: that which the graph was learned with, or 1)
    interaction, welfare : by name, or objects of :mod:`nashgraph.games`
    best : int, optional, how many key players are wanted (default: 5)

    Returns
    -------
    DataFrame with name, loss, share (of the welfare), times_typical (loss divided by the median node's loss), action
    and influence; for a consensus also low, high (90% interval, scaled to be exact on the consensus)
    and among_best (the share of replicates in which the node is among the ``best`` first). ``attrs`` has typical_loss,
    the median node's loss, and solved, how many losses are exact. Up to 1,500 nodes all are. In larger networks at most
    40 are, those that can be among the ``best`` greatest; the others are NaN.

    Examples
    --------
    >>> W = np.zeros((4, 4))
    >>> W[1:, 0], W[0, 1:] = 0.3, 0.1
    >>> table = key_players(W, interaction="linear")
    >>> table.name.tolist(), table.loss.round(3).tolist(), table.times_typical.round(2).tolist()
    ([0, 1, 2, 3], [2.714, 1.672, 1.672, 1.672], [1.62, 1.0, 1.0, 1.0])
    """
    game = Game.on(graph, benefit, interaction, welfare)
    count = check_best(best, game.n_nodes)
    estimates = first_order_losses(game)
    loss = losses(game, estimates, count)
    solved = np.isfinite(loss)
    ratio = np.divide(loss, estimates, out=np.ones_like(loss), where=solved & (estimates > 0))
    ratio[~solved] = np.median(ratio[solved])
    estimate = np.where(solved, loss, ratio * estimates)
    typical = float(np.median(estimate))
    scores = [ratio * first_order_losses(replicate) for replicate in game.replicates]
    over = stability(estimate, scores, [firsts(each, count) for each in scores])
    for end in {"low", "high"} & over.keys():
        over[end][~solved] = np.nan
    columns = {
        "loss": loss,
        "share": loss / game.value,
        "times_typical": loss / typical if typical > 0 else np.full_like(loss, np.nan),
        "action": game.actions,
        "influence": game.influence,
    }
    table = game.table(firsts(np.nan_to_num(loss, nan=-np.inf), game.n_nodes), **columns, **over)
    table.attrs |= {"typical_loss": typical, "solved": int(solved.sum())}
    return table


def first_order_losses(game: Game) -> Array:
    """Return the loss without each node to first order at the equilibrium; O(edges)."""
    actions, weights = game.actions, game.matrix
    slope, reached = game.interaction.slope(actions), weights.T @ game.adjoint
    both = weights * weights.T if isinstance(weights, np.ndarray) else weights.multiply(weights.T)
    own = game.welfare.gradient(actions) * actions
    return np.asarray(own + game.reach * (reached - game.adjoint * (both @ slope)))


def losses(game: Game, estimates: Array, count: int) -> Array:
    """Return the loss of welfare without each node; in large networks NaN for those that are not tried."""
    if game.n_nodes <= ALL_NODES:
        return game.value - values_without_each(game)
    found = greatest(estimates, partial(loss_without, game), count, max(TRIED, count))
    loss = np.full(game.n_nodes, np.nan)
    loss[[*found]] = [*found.values()]
    return loss


def loss_without(game: Game, gone: int | list[int]) -> float:
    """Return what the welfare loses when one node leaves, or some leave together."""
    return game.value - game.without(np.array(gone)).value


def values_without_each(game: Game) -> Array:
    """Return the welfare of the others without each node, all games solved together; five N x N arrays."""
    n, dense = game.n_nodes, game.weights.toarray()
    inverse = np.linalg.inv(np.eye(n) - dense * game.interaction.slope(game.actions))
    everyone = np.arange(n)
    points = np.tile(game.actions[:, None], (1, n))  # column i is the game without i
    points[everyone, everyone] = 0.0
    scale = float(np.linalg.norm(game.actions))
    for _ in range(60):  # it takes about six
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
    """Return a group whose leaving costs much welfare, found greedily: one node after the other, the costliest first.

    In the linear game with total action a group's loss is the weight of all walks through it: monotone and submodular,
    so the greedy group reaches at least 1 - 1/e = 63% of the best group's loss. For other games there is no such
    guarantee. Each step tries at most 40 nodes, in the order of their first-order loss.

    The parameters are those of :func:`key_players`, and the size of the group, less than the number of nodes. The table
    has name, gain (what its leaving adds to the loss) and loss (of all so far); for a consensus also low, high (of that
    loss) and among_best (the share of replicates whose own group contains the node).

    Examples
    --------
    >>> W = np.zeros((6, 6))
    >>> W[1:3, 0] = W[4:, 3] = W[0, 1:3] = W[3, 4:] = 0.3
    >>> sorted(key_group(W, 2).name)
    [0, 3]
    """
    game = Game.on(graph, benefit, interaction, welfare)
    count = check_size("size", size, game.n_nodes - 1)
    chosen, loss = greedy_group(game, count, TRIED)
    scores = [np.array([loss_without(each, chosen[: k + 1]) for k in range(count)]) for each in game.replicates]
    own = [np.array(greedy_group(each, count, 0)[0]) for each in game.replicates]
    columns = {"gain": np.diff(loss, prepend=0.0), "loss": loss, **stability(loss, scores, own, np.array(chosen))}
    return pd.DataFrame({"name": pd.Series(game.names[chosen], dtype=object), **columns})


def greedy_group(game: Game, count: int, tried: int) -> tuple[list[int], Array]:
    """Return a group found greedily in ``tried`` games a step (0: by first-order losses), and the losses on the way."""
    chosen, left, values = list[int](), game, list[float]()
    for _ in range(count):
        estimates = first_order_losses(left)
        estimates[chosen] = -np.inf
        found = greatest(estimates, partial(loss_without, left), 1, tried)
        chosen.append(max(found, key=lambda node: found[node]) if found else int(np.argmax(estimates)))
        left = left.without(np.array(chosen[-1:]))
        values.append(left.value)
    return chosen, game.value - np.array(values)
