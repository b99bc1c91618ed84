"""What if: other benefits, nodes gone, influence capped; the new equilibrium, who gains and who loses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..validation import Array, InputError, check_benefit, check_number
from .interactions import Interaction
from .society import Game, check_best, how_steady, scaled
from .welfares import Welfare


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
    """Return what everybody does before and after a change, those first whom it moves most.

    Parameters
    ----------
    graph, benefit, interaction, welfare
        As in :func:`~nashgraph.key_players`.
    without : names
        Who leaves: no benefit, no ear, no voice.
    new_benefit : dict or Series by name, or array of shape (n_nodes,), optional
        The benefits after the change; who is not named keeps its own.
    cap_influence : float, optional
        The most influence that a node may have: what others hear of those above is scaled down to it.
    best : int, optional
        Of a consensus: among how many of the first to count a node; 5 by default.

    Returns
    -------
    DataFrame with name, before, after and change of the actions; of a consensus also low, high (the 90 % interval of
    the change over its resamples) and among_best (the share of resamples in which a node is among those moved most).
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
    if len(set(gone.tolist())) == game.n_nodes:
        raise InputError("nobody is left: name fewer nodes in without")
    if cap_influence is not None:
        remedy = "it is the most influence that a node may have; try 1"
        cap_influence = check_number("cap_influence", cap_influence, low=0, open_low=True, remedy=remedy)
    after = changed(game, gone, wanted, cap_influence)
    change = after.actions - game.actions
    over = [changed(member, gone, wanted, cap_influence).actions - member.actions for member in game.each_member()]
    steady = how_steady(over, count)
    if steady:
        steady["among_best"] = how_steady([np.abs(each) for each in over], count)["among_best"]
    order = np.argsort(-np.abs(change), kind="stable")
    table = game.table(order, before=game.actions, after=after.actions, change=change, **steady)
    table.attrs |= {"welfare_before": game.value, "welfare_after": after.value}
    return table


def changed(game: Game, gone: Array, benefit: Array, cap_influence: float | None) -> Game:
    """Return the game after the change."""
    if cap_influence is not None:
        share = np.minimum(1.0, cap_influence / np.maximum(game.influence, 1e-300))
        game = game.with_weights(scaled(game.weights, np.ones(game.n_nodes), share))
    game = game.with_benefit(benefit)
    return game.without(gone) if len(gone) else game


def changed_benefit(game: Game, given: Any) -> Array:
    """Return the benefits after the change, by name or for all."""
    if given is None:
        return game.benefit
    if isinstance(given, Mapping | pd.Series):
        values = game.benefit.copy()
        places = game.numbered(given.keys())
        values[places] = [
            check_number(f"new_benefit of {name!r}", value, low=0, remedy="a benefit is a number, 0 or more")
            for name, value in given.items()
        ]
        return values
    return check_benefit(given, game.n_nodes, normalize=False)
