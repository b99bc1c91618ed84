"""What if: other benefits, nodes gone, influence capped; the equilibrium before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..games import Interaction, Welfare
from ..validation import Array, InputError, check_benefit, check_number
from .game import Game, check_best, firsts, frequency, scaled, stability


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
    graph, benefit, interaction, welfare
        As in :func:`~nashgraph.key_players`.
    without : names
        Nodes that leave, with their benefit and their ties.
    new_benefit : dict or Series by name, or array of shape (n_nodes,), optional
        Benefits after the change; nodes that are not named keep theirs.
    cap_influence : float, optional
        Largest influence that a node may have: the weights of more influential nodes are scaled down to it.
    best : int, optional
        For a consensus: how many of the largest changes ``among_best`` counts (default: 5).

    Returns
    -------
    DataFrame with name, before, after and change of the actions; for a consensus also low, high (90% interval of the
    change over replicates) and among_best (the share of replicates in which the change is among the largest).
    ``attrs`` has welfare_before and welfare_after.

    Examples
    --------
    >>> W = np.zeros((3, 3))
    >>> W[1:, 0] = 0.5
    >>> table = what_if(W, interaction="linear", new_benefit={0: 3.0})
    >>> table[["name", "before", "after", "change"]].values.tolist()
    [[0, 1.0, 3.0, 2.0], [1, 1.5, 2.5, 1.0], [2, 1.5, 2.5, 1.0]]
    >>> table.attrs
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
            share = np.minimum(1.0, cap_influence / np.maximum(game.influence, 1e-300))
            game = game.with_weights(scaled(game.weights, np.ones(game.n_nodes), share))
        game = game.with_benefit(wanted)
        return game.without(gone) if len(gone) else game

    after = changed(game)
    change = after.actions - game.actions
    over = [changed(replicate).actions - replicate.actions for replicate in game.replicates]
    columns = stability(change, over, count)
    if over:
        columns["among_best"] = frequency([firsts(np.abs(each), count) for each in over], game.n_nodes)
    order = np.argsort(-np.abs(change), kind="stable")
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
