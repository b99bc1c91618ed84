r"""Whom to support: the change of benefits within a budget that raises the welfare most.

**Quadratic cost.** With x the support in units of benefit :math:`s`, at most ``cap`` for each node,

.. math:: \max_x \; g(y(b + s x)) \quad \text{s.t.} \quad \|x\|^2 \le B, \; 0 \le x \le cap .

The gradient is :math:`s\,u`, with u the adjoint at b + s x. If the welfare never falls with an action it is
non-negative, so only the ball and the caps can bind, and x is stationary when it maximises its own gradient:
:math:`x = \min(cap, t\,u)` with the t that spends the budget. This maximiser a is the Frank-Wolfe step: x moves to it,
or part of the way if the welfare would not rise, until :math:`s\,u^\top (a - x)` is at most tol times the gain. For
total action this is the optimum up to tol: y is concave in b for concave f, so :math:`s\,u^\top (a - x)` bounds what is
missing. In the linear game with the sum of payoffs ("utilitarian"), where g is convex, it is also the optimum if there
are no caps, that of Galeotti, Golub and Goyal (2020).

**Units.** One unit each for B nodes, chosen greedily by the exact gain. For total action and concave f, gains shrink as
others are supported (the welfare is submodular), so the greedy choice reaches at least 1 - 1/e = 63% of the best gain;
in the linear game it is the best. For the sum of payoffs there is no such guarantee.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..games import Interaction, Welfare
from ..validation import Array, InputError, check_choice, check_integer, check_number
from .game import Game, check_best, firsts, greatest, stability


def best_support(
    graph: Any,
    budget: float,
    benefit: Any = None,
    interaction: str | Interaction | None = None,
    welfare: str | Welfare | None = None,
    *,
    game: Any = None,
    cost: str = "quadratic",
    cap: float | None = None,
    unit: float | None = None,
    best: int | None = None,
) -> pd.DataFrame:
    """Return the support within a budget that raises the welfare most; the largest first.

    Parameters
    ----------
    graph, benefit, interaction, welfare, game : as in :func:`~nashgraph.key_players`
    budget : float, with a quadratic cost the sum of squares of all support; with units how many nodes get one
    cost : "quadratic" (the cost grows with the square of each node's support) or "units" (one to ``budget`` nodes)
    cap : float, optional, the largest support of a node, for a quadratic cost
    unit : float, optional, what one unit of support adds to a benefit (default: the mean size of a benefit)
    best : int, optional, for a consensus how many of the first ``among_best`` counts; with units, all that get one

    Returns
    -------
    DataFrame with name, support (in units), worth (what one more unit would add to the welfare, to first order),
    action_before and action_after; for a consensus also low, high and among_best, as in key_players. ``attrs`` has
    gain, gain_even (the same budget spread evenly), gain_connected (for the ``connected`` most influential) and unit.

    Examples
    --------
    >>> W = np.zeros((3, 3))
    >>> W[1:, 0] = 0.5
    >>> table = best_support(W, 1.0, interaction="linear")
    >>> table.name.tolist(), table.support.round(3).tolist(), round(table.attrs["gain"], 3)
    ([0, 1, 2], [0.816, 0.408, 0.408], 2.449)
    """
    check_choice("cost", cost, ("quadratic", "units"))
    game = Game.on(graph, benefit, interaction, welfare, game=game)
    size = float(np.mean(np.abs(game.benefit)))
    if unit is not None:
        remedy = "it is what one unit of support adds to a benefit; leave it out for the mean benefit"
        size = check_number("unit", unit, low=0, open_low=True, remedy=remedy)
    if cost == "units":
        count = check_units(budget, cap, game.n_nodes)
        units, after = units_for(game, count, size)
        on_replicate = partial(units_for, count=count, size=size, rounds=min(count, 3), tried=0)
        even = np.full(game.n_nodes, count / game.n_nodes)
        connected = most_influential(game, count)
    else:
        count = check_best(best, game.n_nodes)
        money = check_number("budget", budget, low=0, open_low=True, remedy="it is what may be spent; try 10")
        remedy = "it is the largest support of a node; leave it out for no limit"
        most = np.inf if cap is None else check_number("cap", cap, low=0, open_low=True, remedy=remedy)
        units, after = spend(game, money, most, size)
        on_replicate = partial(spend, budget=money, cap=most, size=size, tol=1e-4, start=units)
        even, connected = (
            linear_maximiser(worth, money, most) for worth in (np.ones(game.n_nodes), most_influential(game, count))
        )
    columns = {"support": units, "worth": size * after.worth}
    if getattr(game.state, "actions", None) is not None:  # some priors have none
        columns |= {"action_before": game.actions, "action_after": after.actions}
    over = [on_replicate(replicate)[0] for replicate in game.replicates]  # to fewer digits
    columns |= stability(game, units, over, [firsts(each, count) for each in over])
    table = game.table(np.lexsort((-columns["worth"], -units)), **columns)
    table.attrs |= {"gain": after.value - game.value, "unit": size, "connected": count}
    for name, others in (("gain_even", even), ("gain_connected", connected)):
        table.attrs[name] = game.with_benefit(game.benefit + size * others).value - game.value
    return table


def check_units(budget: object, cap: object, n_nodes: int) -> int:
    """Check a budget in units: a whole number, not more than there are nodes."""
    remedy = "with the cost units it is how many nodes get one each"
    if isinstance(budget, float) and budget.is_integer():
        budget = int(budget)
    count = check_integer("budget", budget, low=1, remedy=remedy)
    if cap is not None:
        raise InputError("cap is for the cost quadratic: with the cost units a node gets one or nothing; leave it out")
    if count > n_nodes:
        raise InputError(f"budget={count} units are more than the {n_nodes} nodes, and {remedy}: ask for fewer")
    return count


def most_influential(game: Game, count: int) -> Array:
    """Return 1 for the most influential nodes and 0 for the others."""
    return np.bincount(firsts(game.influence, count), minlength=game.n_nodes).astype(float)


def spend(
    game: Game, budget: float, cap: float, size: float, tol: float = 1e-8, start: Array | None = None
) -> tuple[Array, Game]:
    """Return the best support at a quadratic cost, and the game with it; the module has the stopping measure."""
    units = np.zeros(game.n_nodes)
    now = game
    if start is not None:
        units = start
        now = game.with_benefit(game.benefit + size * start)
    for _ in range(200):
        target = linear_maximiser(now.worth, budget, cap)
        missed = size * float(now.worth @ (target - units))
        if missed <= tol * max(now.value - game.value, 1e-12 * abs(now.value)):
            break
        share = 1.0
        while True:
            trial = units + share * (target - units)
            later = now.with_benefit(game.benefit + size * trial)
            if later.value >= now.value + 0.1 * share * missed or share < 1e-3:
                break
            share *= 0.5
        units = trial
        now = later
    return units, now


def linear_maximiser(worth: Array, budget: float, cap: float) -> Array:
    """Return the support x that maximises worth · x with ``||x||^2 <= budget`` and ``0 <= x <= cap``."""
    units = np.zeros(len(worth))
    free = worth > 0
    while free.any():
        left = budget - cap**2 * np.count_nonzero(units) if cap < math.sqrt(budget) else budget
        scale = np.sqrt(max(left, 0.0) / float(worth[free] @ worth[free]))
        over = free & (scale * worth > cap)
        if not over.any():
            units[free] = scale * worth[free]
            break
        units[over] = cap
        free &= ~over
    return units


def units_for(game: Game, count: int, size: float, rounds: int | None = None, tried: int = 12) -> tuple[Array, Game]:
    """Return which nodes get one unit each, found greedily in rounds; with ``tried`` 0, by first-order gains alone."""
    units = np.zeros(game.n_nodes)
    now = game

    def gain(node: int) -> float:
        return now.with_benefit(now.benefit + size * np.eye(1, game.n_nodes, node)[0]).value - now.value

    for part in np.array_split(np.arange(count), rounds or count):
        worth = np.where(units > 0, -np.inf, size * now.worth)
        gains, _complete = greatest(worth, gain, 1, tried)
        units[max(gains, key=lambda node: gains[node]) if gains else firsts(worth, len(part))] = 1.0
        now = now.with_benefit(game.benefit + size * units)
    return units, now
