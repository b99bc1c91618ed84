r"""Seeding: whom to inform first, so that most hear of it. Who knows passes it on to those who listen.

Greed takes the node that reaches most, then the one that reaches most of those not yet reached, and so on. The number
reached is monotone and submodular in the seeds for cascades and thresholds (Kempe, Kleinberg, Tardos 2003), so that
greed reaches at least :math:`1 - 1/e = 63\,\%` of what the best seeds reach, up to the error of the draws.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse.linalg import ArpackNoConvergence, eigs

from ..validation import Array, InputError, check_choice, check_integer, check_number
from ._reverse_sets import Diffusion, ReverseSets
from .society import INTERVAL, Game, check_size

MODELS = ("cascade", "threshold", "centrality", "influence")
SAMPLES = 10_000
FOR_MEMBERS = 4  # a member of a consensus has a quarter of the draws
DENSE = 50  # nodes up to which eigenvalues are all found at once


def best_seeds(
    graph: Any,
    count: int,
    *,
    model: str = "cascade",
    scale: float | None = None,
    rounds: int | None = None,
    samples: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return whom to inform first, the one who reaches most first.

    Parameters
    ----------
    graph : fitted model, LearnedGraph or matrix of weights
        ``W[i, j]`` is the weight with which j influences i: news go from j to i.
    count : int
        How many seeds.
    model : "cascade", "threshold", "centrality" or "influence"
        "cascade": a tie passes on with probability min(1, scale W_ij), once, when j has heard of it. "threshold": i
        takes it up when the weights of those who have exceed a threshold, uniform in [0, 1]; rows that sum to more than
        1 are scaled to 1. For both, greed on draws. "centrality" takes the nodes of highest
        :func:`diffusion_centrality`, "influence" those of most influence, whomever they share.
    scale : float, optional
        Multiplies the weights. 1 by default; for the centrality itself, 1 over the largest eigenvalue.
    rounds : int, optional
        Whoever knows tries in each of so many rounds, and then it is over (Banerjee, Chandrasekhar, Duflo, Jackson
        2013). By default everybody tries each tie once, for as long as it goes on. Not for thresholds.
    samples : int, optional
        How many draws to choose by, and as many to judge by: 10,000 by default, or five for each node where that is
        more; fewer, but at least 200, where a draw reaches so many that all would take long.
    seed : int
        Of the draws.

    Returns
    -------
    DataFrame with name, gain (how many more are reached with this seed) and reached (by all so far, themselves
    included); under "centrality" and "influence" in the cascade, so that the four can be compared. Of a consensus also
    low, high (the 90 % interval of reached over its resamples) and among_best (the share of resamples in which the node
    is a seed; where two are nearly alike, a quarter of the draws, which is what a resample has, may take either).
    ``attrs["error"]`` is the standard error of the last number reached, of ``attrs["samples"]`` draws.

    Examples
    --------
    Two stars: their middles are told first.

    >>> W = np.zeros((6, 6))
    >>> W[1:3, 0] = W[4:, 3] = 0.9
    >>> table = best_seeds(W, 2)
    >>> sorted(table.name), round(table.reached[1])
    ([0, 3], 6)
    """
    game = Game.on(graph)
    seeds = check_size("count", count, game.n_nodes)
    check_choice("model", model, MODELS)
    draws = check_samples(samples, game.n_nodes)
    settings = check_diffusion(model, scale, rounds)
    random = np.random.default_rng(check_seed(seed))
    spread = diffusion(game.weights, model, *settings)
    chosen = choose(spread, spread.draw(draws, random), seeds, model, *settings)
    judged = spread.draw(draws, random)  # others than those chosen by, which flatter the choice
    gains = judged.gains(chosen)
    table = {"name": pd.Series(game.names[chosen], dtype=object), "gain": gains, "reached": np.cumsum(gains)}
    if game.members:
        fewer = max(1, draws // FOR_MEMBERS)
        reached, among = [], np.zeros(game.n_nodes)
        for member in game.each_member():
            spread = diffusion(member.weights, model, *settings)
            sets = spread.draw(fewer, random)
            among[choose(spread, sets, seeds, model, *settings)] += 1.0 / len(game.members)
            reached.append(np.cumsum(sets.gains(chosen)))
        low, high = np.quantile(reached, INTERVAL, axis=0)
        table |= {"low": low, "high": high, "among_best": among[chosen]}
    found = pd.DataFrame(table)
    found.attrs |= {"samples": len(judged), "error": standard_error(judged, float(gains.sum()))}
    return found


def expected_reach(
    graph: Any,
    seeds: Iterable[Any],
    *,
    model: str = "cascade",
    scale: float | None = None,
    rounds: int | None = None,
    samples: int | None = None,
    seed: int = 0,
) -> float:
    """Return how many nodes are reached, in expectation, when those named are told first; themselves included.

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
    random = np.random.default_rng(check_seed(seed))
    return float(spread.draw(check_samples(samples, game.n_nodes), random).gains(told).sum())


def diffusion_centrality(graph: Any, *, scale: float | None = None, rounds: int | None = None) -> Array:
    r"""Return how often all hear, in expectation, of what each node alone was told.

    .. math:: \sum_{t=1}^{T} (q W^\top)^t \, 1

    Banerjee, Chandrasekhar, Duflo and Jackson (2013), The diffusion of microfinance. Between influence (T = 1) and
    eigenvector centrality (T large).

    Parameters
    ----------
    graph : fitted model, LearnedGraph or matrix of weights
    scale : float, optional
        q; by default 1 over the largest eigenvalue of W, at which news neither die out nor explode.
    rounds : int, optional
        T; by default log N / log(ties of a node), rounded up: how far apart two nodes of a random network are.

    Examples
    --------
    0 tells 1, and 1 tells 2:

    >>> diffusion_centrality(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), scale=0.5, rounds=2)
    array([0.75, 0.5 , 0.  ])
    """
    game = Game.on(graph)
    return centrality(game.weights, *check_diffusion("centrality", scale, rounds))


def choose(
    spread: Diffusion, sets: ReverseSets, count: int, model: str, scale: float | None, rounds: int | None
) -> Array:
    """Return the seeds by number, the best first."""
    if model == "centrality":
        return np.argsort(-centrality(spread.weights, scale, rounds), kind="stable")[:count]
    if model == "influence":
        return np.argsort(-np.asarray(spread.weights.sum(axis=0)).ravel(), kind="stable")[:count]
    return sets.greedy(count)


def diffusion(weights: Any, model: str, scale: float | None, rounds: int | None) -> Diffusion:
    """Return how news spread on a graph."""
    factor = 1.0 if scale is None else scale
    if model == "threshold":
        return Diffusion.thresholds(weights, factor)
    return Diffusion.cascade(weights, factor, rounds)


def centrality(weights: Any, scale: float | None, rounds: int | None) -> Array:
    """Return the diffusion centrality of each node."""
    n = weights.shape[0]
    passing = 1.0 / largest_eigenvalue(weights) if scale is None else scale
    typical = np.log(n) / np.log(max(2.0, weights.nnz / n))
    heard, total = np.ones(n), np.zeros(n)
    for _ in range(max(1, int(np.ceil(typical))) if rounds is None else rounds):
        heard = passing * (weights.T @ heard)
        total += heard
    return total


def largest_eigenvalue(weights: Any) -> float:
    """Return the largest eigenvalue of a non-negative matrix, to six digits; refuse one without a circle."""
    n = weights.shape[0]
    if n <= DENSE:
        found = np.linalg.eigvals(weights.toarray())
    else:
        try:
            found = eigs(weights, k=1, v0=np.ones(n), tol=1e-6, return_eigenvectors=False)
        except ArpackNoConvergence:
            found = np.asarray(weights.sum(axis=1))  # an upper bound
    value = float(np.abs(found).max())
    if value <= 1e-9 * weights.max():
        raise InputError("nobody hears back of what they say, so the largest eigenvalue of the graph is 0: give scale")
    return value


def standard_error(sets: ReverseSets, reached: float) -> float:
    """Return the standard error of a number reached, or a little more: roots are drawn evenly, not independently."""
    share = reached / sets.n_nodes
    return sets.n_nodes * float(np.sqrt(max(0.0, share * (1.0 - share)) / len(sets)))


def check_samples(samples: int | None, n_nodes: int) -> int:
    """Check the number of draws."""
    if samples is None:
        return max(SAMPLES, 5 * n_nodes)
    return check_integer("samples", samples, low=1, remedy=f"it is how many diffusions to draw; try {SAMPLES}")


def check_diffusion(model: str, scale: float | None, rounds: int | None) -> tuple[float | None, int | None]:
    """Check what a diffusion is told."""
    if rounds is not None:
        rounds = check_integer("rounds", rounds, low=1, remedy="it is how long news travel; try 5")
        if model == "threshold":
            raise InputError("rounds is not for thresholds, which nobody tries twice: leave it out")
    if scale is not None:
        scale = check_number("scale", scale, low=0, open_low=True, remedy="it multiplies the weights; try 1")
    return scale, rounds


def check_seed(seed: object) -> int:
    """Check the seed of the draws."""
    return check_integer("seed", seed, low=0, remedy="try 0")
