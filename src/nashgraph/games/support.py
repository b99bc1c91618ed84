r"""Whom to support: the change of benefits within a budget that raises the welfare most.

**Quadratic cost.** With x the support in units of benefit :math:`s`, at most ``cap`` a node,

.. math:: \max_x \; g(y(b + s x)) \quad \text{s.t.} \quad \|x\|^2 \le B, \; 0 \le x \le cap .

The gradient is :math:`s\,u`, u the adjoint at b + s x. It is never negative where the welfare never falls with an
action, so that only the ball and the caps can bind, and x is optimal to first order when it is the best answer to its
own gradient: :math:`x = \min(cap, t\,u)` with t such that the budget is spent. That answer a is the step of Frank and
Wolfe; x moves to it, or part of the way where the welfare would not rise, until :math:`s\,u^\top (a - x)` is at most
tol times the gain. For total action this *is* the optimum up to tol: y is concave in b for concave f, and by concavity
:math:`s\,u^\top (a - x)` bounds what is missed. In the linear game with the sum of payoffs ("utilitarian"), where g is
convex, it is the optimum without caps as well, that of Galeotti, Golub and Goyal (2020): with :math:`M = (I - W)^{-1}`
and :math:`A = M^\top M`, :math:`s x = (\mu I - A)^{-1} A b` with :math:`\mu > \lambda_{\max}(A)`; any x >= 0 with
:math:`\mu s x = A (b + s x)` has such a :math:`\mu`, as A's Perron vector shows, and only one spends the budget.

**Units.** One unit each for B nodes, chosen greedily by the exact gain. For total action and concave f gains only
shrink as others are supported (u falls in b: the welfare is submodular), so that greed reaches 1 - 1/e = 63 % of the
best gain; in the linear game it is the best. For the sum of payoffs there is no such guarantee.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..validation import Array, InputError, check_choice, check_integer, check_number
from .interactions import Interaction
from .society import Game, check_best, firsts, greatest, how_steady
from .welfares import Welfare

COSTS = ("quadratic", "units")
STEPS, TOL_GAIN, MEMBER_TOL_GAIN = 200, 1e-8, 1e-4
TRIED = 12  # nodes whose gain is found exactly for each unit, at the most
MEMBER_ROUNDS = 3  # in which the units of a resample are given, by their worth


class Support(NamedTuple):
    """A support in units, and the game with it."""

    units: Array
    game: Game


def best_support(
    graph: Any,
    budget: float,
    benefit: Any = None,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
    *,
    cost: str = "quadratic",
    cap: float | None = None,
    unit: float | None = None,
    best: int | None = None,
) -> pd.DataFrame:
    """Return whom to support with a budget, so that the welfare rises most; who gets most is first.

    Parameters
    ----------
    graph, benefit, interaction, welfare
        As in :func:`~nashgraph.key_players`.
    budget : float
        With a quadratic cost, the sum of squares of all support; with units, how many nodes get one.
    cost : "quadratic" or "units"
        Squares make much for one dearer than little for many. Units are one each, or none.
    cap : float, optional
        The most that a node may get; for a quadratic cost.
    unit : float, optional
        What one of support adds to a benefit. Default: the mean benefit.
    best : int, optional
        Of a consensus: among how many of the first to count a node; with units, as many as there are.

    Returns
    -------
    DataFrame with name, support (in units), worth (what one more unit would add to the welfare, to first order, on top
    of the support), action_before and action_after; of a consensus also low, high (the 90 % interval of the support
    over its resamples) and among_best (the share of resamples in which a node is among the first). Its ``attrs`` have
    gain, and what the same budget gains when all get the same (gain_even), or when as many as ``best`` of the most
    influential do (gain_connected); unit, and how many those are (connected).

    Examples
    --------
    Two listen to the first, who gets most:

    >>> W = np.zeros((3, 3))
    >>> W[1:, 0] = 0.5
    >>> table = best_support(W, 1.0, interaction="linear")
    >>> table.name.tolist(), table.support.round(3).tolist(), round(table.attrs["gain"], 3)
    ([0, 1, 2], [0.816, 0.408, 0.408], 2.449)
    >>> best_support(W, 1, cost="units").support.tolist()
    [1.0, 0.0, 0.0]
    """
    check_choice("cost", cost, COSTS)
    game = Game.on(graph, benefit, interaction, welfare)
    size = (
        float(np.mean(game.benefit)) if unit is None else check_number("unit", unit, low=0, open_low=True, remedy=UNIT)
    )
    if cost == "units":
        count = check_units(budget, cap, game.n_nodes)
        spent, others = units_for(game, count, size), partial(units_by_worth, count=count, size=size)
        spread = np.full(game.n_nodes, count / game.n_nodes)
        connected = chosen(firsts(game.influence, count), game.n_nodes)
    else:
        count = check_best(best, game.n_nodes)
        money = check_number("budget", budget, low=0, open_low=True, remedy="it is what may be spent; try 10")
        most = np.inf if cap is None else check_number("cap", cap, low=0, open_low=True, remedy=CAP)
        spent = spend(game, money, most, size, TOL_GAIN)
        others = partial(spend, budget=money, cap=most, size=size, tol=MEMBER_TOL_GAIN, start=spent.units)
        spread = answer(np.ones(game.n_nodes), money, most)
        connected = answer(chosen(firsts(game.influence, count), game.n_nodes), money, most)
    steady = how_steady([others(member).units for member in game.each_member()], count)
    columns = {"support": spent.units, "worth": size * spent.game.adjoint}
    columns |= {"action_before": game.actions, "action_after": spent.game.actions}
    order = np.lexsort((-columns["worth"], -spent.units))
    table = game.table(order, **columns, **steady)
    table.attrs |= {"gain": spent.game.value - game.value, "unit": size, "connected": count}
    for name, units in (("gain_even", spread), ("gain_connected", connected)):
        table.attrs[name] = game.with_benefit(game.benefit + size * units).value - game.value
    return table


UNIT = "it is what one of support adds to a benefit; leave it out for the mean benefit"
CAP = "it is the most support that a node may get; leave it out for no limit"


def check_units(budget: object, cap: object, n_nodes: int) -> int:
    """Check a budget in units: a whole number, not more than there are nodes."""
    remedy = "with cost='units' it is how many nodes get one each"
    if isinstance(budget, float) and budget.is_integer():
        budget = int(budget)
    count = check_integer("budget", budget, low=1, remedy=remedy)
    if cap is not None:
        raise InputError("cap is for cost='quadratic': with cost='units' a node gets one or nothing; leave it out")
    if count > n_nodes:
        raise InputError(f"budget={count} units are more than the {n_nodes} nodes, and {remedy}: ask for fewer")
    return count


def chosen(nodes: Array, n_nodes: int) -> Array:
    """Return 1 at some nodes and 0 at the others."""
    units = np.zeros(n_nodes)
    units[nodes] = 1.0
    return units


def spend(game: Game, budget: float, cap: float, size: float, tol: float, start: Array | None = None) -> Support:
    """Return the best support at a quadratic cost; see the module for the problem and the stopping measure."""
    units = np.zeros(game.n_nodes) if start is None else start
    now = game.with_benefit(game.benefit + size * units)
    for _ in range(STEPS):
        target = answer(now.adjoint, budget, cap)
        missed = size * float(now.adjoint @ (target - units))
        if missed <= tol * max(now.value - game.value, 1e-12 * abs(now.value)):
            break
        share = 1.0
        while True:
            trial = units + share * (target - units)
            later = now.with_benefit(game.benefit + size * trial)
            if later.value >= now.value + 0.1 * share * missed or share < 1e-3:
                break
            share *= 0.5
        units, now = trial, later
    return Support(units, now)


def answer(worth: Array, budget: float, cap: float) -> Array:
    """Return the support x that is worth most, by so much a unit, with ``||x||^2 <= budget`` and ``0 <= x <= cap``.

    Examples
    --------
    >>> answer(np.array([4.0, 3.0]), 25.0, np.inf), answer(np.array([4.0, 3.0]), 25.0, 3.5)
    (array([4., 3.]), array([3.5, 3.5]))
    """
    units, free = np.zeros(len(worth)), worth > 0
    while free.any():
        left = budget - cap**2 * np.count_nonzero(units) if np.isfinite(cap) else budget
        scale = np.sqrt(max(left, 0.0) / float(worth[free] @ worth[free]))
        over = free & (scale * worth > cap)
        if not over.any():
            units[free] = scale * worth[free]
            break
        units[over] = cap
        free &= ~over
    return units


def units_for(game: Game, count: int, size: float) -> Support:
    """Return whom to give one unit each, found greedily by what it gains."""
    units, now = np.zeros(game.n_nodes), game
    for _ in range(count):
        estimates = np.where(units > 0, -np.inf, size * now.adjoint)
        tried = greatest(estimates, partial(_gain_of_one, now, size), 1, TRIED)
        units[max(tried, key=lambda node: tried[node])] = 1.0
        now = now.with_benefit(game.benefit + size * units)
    return Support(units, now)


def units_by_worth(game: Game, count: int, size: float) -> Support:
    """Return about the same, in a few rounds: each round those get a unit to whom one is worth most by then."""
    units, now = np.zeros(game.n_nodes), game
    for part in np.array_split(np.arange(count), min(count, MEMBER_ROUNDS)):
        units[firsts(np.where(units > 0, -np.inf, now.adjoint), len(part))] = 1.0
        now = now.with_benefit(game.benefit + size * units)
    return Support(units, now)


def _gain_of_one(game: Game, size: float, node: int) -> float:
    return game.with_benefit(game.benefit + size * chosen(np.array([node]), game.n_nodes)).value - game.value
