r"""Key players: what the welfare loses when a node leaves, and which group costs most when it leaves.

When node i leaves, the others play the game on the rest and :math:`y_i = 0`. In the linear game the loss of total
action is the intercentrality of Ballester, Calvó-Armengol and Zenou (2006): with :math:`M = (I - W)^{-1}`,

.. math:: g(y) - g(y^{-i}) = \frac{u_i \, y_i}{M_{ii}}, \qquad y = M b, \; u = M^\top 1 .

Other games are solved again without each node, all N of them together (``variants.py``); a prior that cannot be solved
so is evaluated without one node after the other.

In large networks nodes are first ranked by the loss to first order at y. In a game with response φ, with
:math:`l = \delta\varphi'(z) \circ u`, it is

.. math::

    \nabla g_i \, y_i + f(y_i) \Bigl[ (W^\top l)_i - l_i \sum_k W_{ik} W_{ki}\, \delta\varphi'(z_k) f'(y_k) \Bigr] ,

and with any other prior
:math:`b_i\, \partial\Phi/\partial b_i + \sum_k W_{ik} (LR^\top)_{ik} + W_{ki} (LR^\top)_{ki}`. In the linear game
with total action the first is an upper bound of the loss (it subtracts only the two-step walks that return to i), so
the nodes of greatest loss are found for certain. In other games it is a guide: ``attrs`` has whether it was proven.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..games import Interaction, Linear, TotalAction, Welfare
from ..priors import FixedPointPrior, GamePrior
from ..priors.prior import columns as side_columns
from ..validation import Array
from .game import Game, check_best, check_size, firsts, greatest, stability
from .variants import BatchOptions, values_without_each


def key_players(
    graph: Any,
    benefit: Any = None,
    interaction: str | Interaction | None = None,
    welfare: str | Welfare | None = None,
    *,
    game: Any = None,
    best: int | None = None,
    batch: BatchOptions | None = None,
    most_tried: int = 40,
) -> pd.DataFrame:
    """Return what the welfare loses when each node leaves, the greatest loss first.

    Parameters
    ----------
    graph : fitted model, LearnedGraph, networkx graph, matrix of weights or Game
    benefit : array or Series of shape (n_nodes,), optional (default: that which the graph was learned with, or 1)
    interaction, welfare : by name, or objects of :mod:`nashgraph.games` (default: those which the graph was learned
        with, or "log1p" and "total")
    game : a prior or a fitted game, optional: what is played (default: the prior which the graph was learned with)
    best : int, optional, how many key players are wanted (default: 5)
    batch : BatchOptions, optional, up to which size all losses are computed
    most_tried : int, how many losses are computed in a larger network

    Returns
    -------
    DataFrame with name, loss, share (of the welfare), times_typical (loss divided by the median node's loss), action
    and influence; for a consensus also low, high (90% interval, scaled to be exact on the consensus)
    and among_best (the share of replicates in which the node is among the ``best`` first). ``attrs`` has typical_loss,
    the median node's loss; solved, how many losses are exact; and proven, whether no other node can be among the
    ``best``. Up to 1,500 nodes all losses are exact. In larger networks at most 40 are, those that can be among the
    ``best`` greatest; the others are NaN.

    Examples
    --------
    >>> W = np.zeros((4, 4))
    >>> W[1:, 0], W[0, 1:] = 0.3, 0.1
    >>> table = key_players(W, interaction="linear")
    >>> table.name.tolist(), table.loss.round(3).tolist(), table.times_typical.round(2).tolist()
    ([0, 1, 2, 3], [2.714, 1.672, 1.672, 1.672], [1.62, 1.0, 1.0, 1.0])
    """
    played = Game.on(graph, benefit, interaction, welfare, game=game)
    count = check_best(best, played.n_nodes)
    estimates = first_order_losses(played)
    loss, proven = losses(played, estimates, count, batch or BatchOptions(), most_tried)
    solved = np.isfinite(loss)
    ratio = np.divide(loss, estimates, out=np.ones_like(loss), where=solved & (estimates > 0))
    # The estimates of the others are scaled in the same way: the median and intervals are then losses.
    ratio[~solved] = np.median(ratio[solved])
    estimate = np.where(solved, loss, ratio * estimates)
    typical = float(np.median(estimate))
    scores = [ratio * first_order_losses(replicate) for replicate in played.replicates]
    over = stability(played, estimate, scores, [firsts(score, count) for score in scores])
    for end in {"low", "high"} & over.keys():
        over[end][~solved] = np.nan
    columns = {
        "loss": loss,
        "share": loss / played.size,
        "times_typical": loss / typical if typical > 0 else np.full_like(loss, np.nan),
    }
    if getattr(played.state, "actions", None) is not None:  # some priors have none
        columns["action"] = played.actions
    columns["influence"] = played.influence
    table = played.table(firsts(np.nan_to_num(loss, nan=-np.inf), played.n_nodes), **columns, **over)
    table.attrs |= {"typical_loss": typical, "solved": int(solved.sum()), "proven": proven}
    return table


def first_order_losses(game: Game) -> Array:
    """Return the loss without each node to first order; O(edges)."""
    if not isinstance(game.prior, FixedPointPrior):
        return _gradient_losses(game)
    prior = game.prior
    state = game.state
    weights = game.matrix
    slope = prior.interaction.slope(state.actions) * prior.outer_slope(game.products, state.actions)
    reached = weights.T @ state.left
    if isinstance(weights, np.ndarray):
        both = weights * weights.T
    else:
        both = weights.multiply(weights.T)
    direct = prior.welfare.gradient(state.actions) * state.actions
    return np.asarray(direct + state.right * (reached - state.left * (both @ slope)))


def _gradient_losses(game: Game) -> Array:
    """Return the loss without each node by the gradient alone: its benefit and its ties, both ways."""
    estimate = game.worth * game.benefit
    lefts = side_columns(game.state.left)
    rights = side_columns(game.state.right)
    for left, right in zip(lefts.T, rights.T, strict=True):
        estimate = estimate + left * (game.matrix @ right) + right * (game.matrix.T @ left)
    return np.asarray(estimate)


def losses(game: Game, estimates: Array, count: int, batch: BatchOptions, most_tried: int) -> tuple[Array, bool]:
    """Return the loss of welfare without each node, NaN for those that are not tried, and if the best are certain."""
    if batch.can(game, game.n_nodes):
        return game.value - values_without_each(game, batch), True
    few_enough = batch.max_nodes // 5  # each is a whole evaluation of the prior
    if game.n_nodes <= few_enough:
        return np.array([loss_without(game, node) for node in range(game.n_nodes)]), True
    exact, complete = greatest(estimates, partial(loss_without, game), count, max(most_tried, count))
    loss = np.full(game.n_nodes, np.nan)
    loss[[*exact]] = [*exact.values()]
    return loss, len(exact) == game.n_nodes or (complete and is_linear_total(game.prior))


def is_linear_total(prior: Any) -> bool:
    """Tell whether first-order losses are upper bounds: the linear game with total action, without cap."""
    return (
        isinstance(prior, GamePrior)
        and prior.plain
        and isinstance(prior.interaction, Linear)
        and isinstance(prior.welfare, TotalAction)
    )


def loss_without(game: Game, gone: int | list[int]) -> float:
    """Return what the welfare loses when one node leaves, or some leave together."""
    return game.value - game.without(np.array(gone)).value


def key_group(
    graph: Any,
    size: int,
    benefit: Any = None,
    interaction: str | Interaction | None = None,
    welfare: str | Welfare | None = None,
    *,
    game: Any = None,
    most_tried: int = 40,
) -> pd.DataFrame:
    """Return a group whose leaving costs much welfare, found greedily: one node after the other, the costliest first.

    In the linear game with total action a group's loss is the weight of all walks through it: monotone and submodular,
    so the greedy group reaches at least 1 - 1/e = 63% of the best group's loss. For other games there is no such
    guarantee. Each step tries at most ``most_tried`` nodes, in the order of their first-order loss.

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
    played = Game.on(graph, benefit, interaction, welfare, game=game)
    count = check_size("size", size, played.n_nodes - 1)
    chosen, loss = greedy_group(played, count, most_tried)
    scores = list[Array]()
    groups = list[Array]()
    for replicate in played.replicates:
        scores.append(np.array([loss_without(replicate, chosen[: k + 1]) for k in range(count)]))
        groups.append(np.array(greedy_group(replicate, count, 0)[0]))
    columns = {
        "gain": np.diff(loss, prepend=0.0),
        "loss": loss,
        **stability(played, loss, scores, groups, np.array(chosen)),
    }
    return pd.DataFrame({"name": pd.Series(played.names[chosen], dtype=object), **columns})


def greedy_group(game: Game, count: int, tried: int) -> tuple[list[int], Array]:
    """Return a group found greedily in ``tried`` games a step (0: by first-order losses), and the losses on the way."""
    chosen = list[int]()
    left = game
    values = list[float]()
    for _ in range(count):
        estimates = first_order_losses(left)
        estimates[chosen] = -np.inf
        exact, _complete = greatest(estimates, partial(loss_without, left), 1, tried)
        chosen.append(max(exact, key=lambda node: exact[node]) if exact else int(np.argmax(estimates)))
        left = left.without(np.array(chosen[-1:]))
        values.append(left.value)
    return chosen, game.value - np.array(values)
