r"""Seeds: nodes to inform first so that most nodes hear of it, and how many random seeds would do as well.

Greedy choice takes the node that reaches most, then the one that reaches most of the others, and so on. For cascades
and thresholds the number reached is monotone and submodular in the seeds (Kempe, Kleinberg, Tardos 2003), so this
reaches at least :math:`1 - 1/e = 63\%` of the best, up to the error of the draws.

A few more random seeds often reach as many as the best ones, and need no network (Akbarpour, Malladi, Saberi 2020, Just
a few seeds more). So every result says how many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ..graph import interval_around
from ..validation import Array, InputError, check_choice, check_integer, check_vector
from .diffusion import Diffusion, ReverseSets
from .game import Game, check_size, firsts
from .positions import centrality, check_spread

MODELS = ("cascade", "threshold", "centrality", "influence")
SAMPLES = 10_000
REPLICATE_SAMPLES = 4  # a replicate has a quarter of the draws


def best_seeds(
    graph: Any,
    count: int,
    *,
    model: str = "cascade",
    scale: float | None = None,
    rounds: int | None = None,
    samples: int | None = None,
    random_state: int = 0,
    score: Any = None,
) -> pd.DataFrame:
    """Return the nodes to inform first, the one that reaches most first.

    Parameters
    ----------
    graph : fitted model, LearnedGraph, matrix of weights or Game
        ``W[i, j]`` is the weight with which j influences i: news go from j to i.
    count : int
        Number of seeds.
    model : "cascade", "threshold", "centrality" or "influence"
        "cascade": when j has heard, its tie to i passes the news on once, with probability min(1, scale W_ij).
        "threshold": i takes the news up when the weights of the nodes that have exceed a threshold, uniform in [0, 1];
        rows that sum to more than 1 are scaled to 1. Both choose greedily, on draws. "centrality" takes the nodes of
        highest :func:`~nashgraph.diffusion_centrality`, "influence" those of highest influence, whatever they share.
    scale : float, optional
        Factor on the weights (default: 1; for the centrality, 1 over the largest eigenvalue).
    rounds : int, optional
        Every node that knows tries all its ties in each of this many rounds (Banerjee, Chandrasekhar, Duflo, Jackson
        2013). By default each tie is tried once, and news spread until they stop. Not for thresholds.
    samples : int, optional
        Number of draws to choose by, and as many others to estimate the reach (default: 10,000, or five for each node
        if that is more). Fewer are drawn, but at least 200, if they reach so many nodes that it would take long.
    random_state : int
        Seed of the draws.
    score : array of shape (n_nodes,), optional
        Takes the nodes of highest score, whatever the model: for example how often people named each as somebody who
        would spread news (Banerjee, Chandrasekhar, Duflo, Jackson 2019, Using gossips to spread information).

    Returns
    -------
    DataFrame with name, gain (how many more are reached with this seed), reached (by all so far, seeds included) and
    random_seeds (how many seeds drawn at random reach as many, in expectation); under "centrality" and "influence" in
    the cascade, so that the models can be compared. For a consensus also low, high (90% interval of reached over
    replicates) and among_best (the share of replicates in which the node is a seed). ``attrs`` has error, the standard
    error of the last number reached, samples, the number of draws, and n_nodes.

    Examples
    --------
    In two stars the middles are told first. It takes two random seeds to reach as many as the first one, and all six
    nodes to reach as many as both.

    >>> W = np.zeros((6, 6))
    >>> W[1:3, 0] = W[4:, 3] = 0.9
    >>> table = best_seeds(W, 2)
    >>> sorted(table.name), round(table.reached[1]), table.random_seeds.tolist()
    ([0, 3], 6, [2, 6])
    """
    game = Game.on(graph)
    seeds = check_size("count", count, game.n_nodes)
    check_choice("model", model, MODELS)
    settings = check_diffusion(model, scale, rounds)
    draws, random = check_draws(samples, random_state, game.n_nodes)
    spread = diffusion(game.weights, model, *settings)
    if score is not None:
        chosen = firsts(check_vector("score", score, game.n_nodes, "pass a number for each node"), seeds)
    else:
        chosen = choose(spread, spread.draw(draws, random), seeds, model, *settings)
    sets = spread.draw(draws, random)  # not the sets that the seeds were chosen by: those overstate the reach
    gains = sets.gains(chosen)
    reached = np.cumsum(gains)
    table = {"name": pd.Series(game.names[chosen], dtype=object), "gain": gains, "reached": reached}
    table["random_seeds"] = [sets.random_seeds(number) for number in reached]
    if game.replicates and score is None:
        over, among = [], np.zeros(game.n_nodes)
        for replicate in game.replicates:
            spread = diffusion(replicate.weights, model, *settings)
            own = spread.draw(max(1, draws // REPLICATE_SAMPLES), random)
            among[choose(spread, own, seeds, model, *settings)] += 1.0 / len(game.replicates)
            over.append(np.cumsum(own.gains(chosen)))
        low, high = interval_around(reached, over)
        table |= {"low": low, "high": high, "among_best": among[chosen]}
    found = pd.DataFrame(table)
    share = reached[-1] / game.n_nodes
    # An upper bound: roots are drawn evenly, not independently.
    error = game.n_nodes * float(np.sqrt(max(0.0, share * (1.0 - share)) / len(sets)))
    found.attrs |= {"samples": len(sets), "error": error, "n_nodes": game.n_nodes}
    return found


def expected_reach(
    graph: Any,
    seeds: Iterable[Any],
    *,
    model: str = "cascade",
    scale: float | None = None,
    rounds: int | None = None,
    samples: int | None = None,
    random_state: int = 0,
) -> float:
    """Return how many nodes are reached, in expectation, from the seeds named; seeds included.

    The parameters are those of :func:`best_seeds`; ``model`` is "cascade" or "threshold".

    Examples
    --------
    >>> W = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> expected_reach(W, [0]), expected_reach(W, [1])
    (2.0, 1.0)
    """
    game = Game.on(graph)
    check_choice("model", model, MODELS[:2])
    told = np.unique(game.numbered(seeds))
    spread = diffusion(game.weights, model, *check_diffusion(model, scale, rounds))
    return float(spread.draw(*check_draws(samples, random_state, game.n_nodes)).gains(told).sum())


def choose(
    spread: Diffusion, sets: ReverseSets, count: int, model: str, scale: float | None, rounds: int | None
) -> Array:
    """Return the seeds by number, the best first."""
    if model == "centrality":
        return firsts(centrality(spread.weights, scale, rounds), count)
    if model == "influence":
        return firsts(np.asarray(spread.weights.sum(axis=0)).ravel(), count)
    return sets.greedy(count)


def diffusion(weights: Any, model: str, scale: float | None, rounds: int | None) -> Diffusion:
    """Return how news spread on a graph."""
    factor = 1.0 if scale is None else scale
    return Diffusion.thresholds(weights, factor) if model == "threshold" else Diffusion.cascade(weights, factor, rounds)


def check_diffusion(model: str, scale: float | None, rounds: int | None) -> tuple[float | None, int | None]:
    """Check the settings of a diffusion."""
    if rounds is not None and model == "threshold":
        raise InputError("rounds is not for thresholds, where no tie is tried twice: leave it out")
    return check_spread(scale, rounds)


def check_draws(samples: int | None, random_state: object, n_nodes: int) -> tuple[int, np.random.Generator]:
    """Check the number of draws and their seed."""
    random = np.random.default_rng(check_integer("random_state", random_state, low=0, remedy="try 0"))
    if samples is None:
        return max(SAMPLES, 5 * n_nodes), random
    remedy = f"it is the number of diffusions to draw; try {SAMPLES}"
    return check_integer("samples", samples, low=1, remedy=remedy), random
