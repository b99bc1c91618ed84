r"""Seeds: nodes to inform first so that most nodes hear of it, and how many random seeds would do as well.

For cascades and thresholds the number reached is monotone and submodular in the seeds (Kempe, Kleinberg, Tardos 2003),
so the greedy choice reaches at least :math:`1 - 1/e = 63\%` of the best, up to the error of the draws.

The reach is drawn from reverse-reachable sets: who would have reached a random node in a random diffusion. Seeds reach,
in expectation, N times the share of these sets that they hit (Borgs, Brautbar, Chayes, Lucier 2014).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import hypergeom

from ..compiled import kernel
from ..matching import in_order
from ..validation import Array, InputError, check_choice, check_integer, check_vector
from .game import Game, check_size, firsts, stability
from .positions import check_spread


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
    graph : fitted model, LearnedGraph, matrix of weights or Game; along ``W[i, j]`` news go from j to i
    count : int, the number of seeds
    model : "cascade" or "threshold"
        "cascade": when j has heard, its tie to i passes the news on once, with probability min(1, scale W_ij).
        "threshold": i takes the news up when the weights of the nodes that have exceed a threshold, uniform in [0, 1];
        rows that sum to more than 1 are scaled to 1.
    scale : float, optional, a factor on the weights (default: 1)
    rounds : int, optional
        Every node that knows tries all its ties in each of this many rounds (Banerjee, Chandrasekhar, Duflo, Jackson
        2013). By default each tie is tried once, and news spread until they stop. Not for thresholds.
    samples : int, optional
        Number of draws to choose by, and as many others to estimate the reach (default: 10,000, or five for each node
        if that is more). Fewer are drawn, but at least 200, if they reach so many nodes that it would take long.
    random_state : int, the seed of the draws
    score : array of shape (n_nodes,), optional
        Takes the nodes of highest score, whatever they reach in common: ``diffusion_centrality(graph)``, or how often
        people named each as somebody who would spread news (Banerjee, Chandrasekhar, Duflo, Jackson 2019).

    Returns
    -------
    DataFrame with name, gain (how many more are reached with this seed), reached (by all so far, seeds included) and
    random_seeds (how many seeds drawn at random reach as many, in expectation). For a consensus, without a score, also
    low, high (of reached) and among_best (the share of replicates in which the node is a seed). ``attrs`` has error
    (the standard error of the last number reached), samples (of draws) and n_nodes.

    Examples
    --------
    >>> W = np.zeros((6, 6))
    >>> W[1:3, 0] = W[4:, 3] = 0.9
    >>> table = best_seeds(W, 2)
    >>> sorted(table.name), round(table.reached[1]), table.random_seeds.tolist()
    ([0, 3], 6, [2, 6])
    """
    game = Game.on(graph)
    seeds = check_size("count", count, game.n_nodes)
    draws, random = check_draws(samples, random_state, game.n_nodes)
    draw = partial(draw_sets, model=model, scale=scale, rounds=rounds)
    if score is not None:
        score = in_order("score", score, game.names, "the graph")
        chosen = firsts(check_vector("score", score, game.n_nodes, "pass a number for each node"), seeds)
    else:
        chosen = draw(game.weights, draws, random).greedy(seeds)
    sets = draw(game.weights, draws, random)  # not those that the seeds were chosen by, which overstate the reach
    gains = sets.gains(chosen)
    reached = np.cumsum(gains)
    table = {"name": pd.Series(game.names[chosen], dtype=object), "gain": gains, "reached": reached}
    table["random_seeds"] = [sets.random_seeds(number) for number in reached]
    over = []
    chosen_there = []
    for replicate in game.replicates if score is None else ():
        fewer = draw(replicate.weights, max(1, draws // 4), random)
        chosen_there.append(fewer.greedy(seeds))
        over.append(np.cumsum(fewer.gains(chosen)))
    table |= stability(game, reached, over, chosen_there, chosen)
    result = pd.DataFrame(table)
    share = reached[-1] / game.n_nodes
    # An upper bound: roots are drawn evenly, not independently.
    error = game.n_nodes * float(np.sqrt(max(0.0, share * (1.0 - share)) / len(sets)))
    result.attrs |= {"samples": len(sets), "error": error, "n_nodes": game.n_nodes}
    return result


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

    The parameters are those of :func:`best_seeds`.

    Examples
    --------
    >>> W = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> expected_reach(W, [0]), expected_reach(W, [1])
    (2.0, 1.0)
    """
    game = Game.on(graph)
    informed = np.unique(game.numbered(seeds))
    draws = check_draws(samples, random_state, game.n_nodes)
    sets = draw_sets(game.weights, *draws, model=model, scale=scale, rounds=rounds)
    return float(sets.gains(informed).sum())


def check_draws(samples: int | None, random_state: object, n_nodes: int) -> tuple[int, np.random.Generator]:
    """Check the number of draws and their seed."""
    random = np.random.default_rng(check_integer("random_state", random_state, low=0, high=2**32 - 1, remedy="try 0"))
    if samples is None:
        return max(10_000, 5 * n_nodes), random
    return check_integer("samples", samples, low=1, remedy="it is the number of diffusions to draw; try 10000"), random


def draw_sets(
    weights: Any,
    samples: int,
    random: np.random.Generator,
    model: str = "cascade",
    scale: float | None = None,
    rounds: int | None = None,
) -> ReverseSets:
    """Return reverse-reachable sets, fewer if they are so large that it would take long; see :func:`best_seeds`."""
    highest = "; for the nodes of highest centrality pass score=diffusion_centrality(graph)"
    check_choice("model", model, ("cascade", "threshold"), highest)
    if rounds is not None and model == "threshold":
        raise InputError("rounds is not for thresholds, where no tie is tried twice: leave it out")
    scale, rounds = check_spread(1.0 if scale is None else scale, rounds)
    n = weights.shape[0]
    threshold = model == "threshold"
    if threshold:
        shares = scale / np.maximum(1.0, scale * np.asarray(weights.sum(axis=1), dtype=float).ravel())
        lengths = weights.data * np.repeat(shares, np.diff(weights.indptr))
    else:
        with np.errstate(divide="ignore"):  # a tie that always passes on: e^-40 is below double precision
            lengths = np.minimum(-np.log1p(-np.minimum(1.0, scale * weights.data)), 40.0)
    shape = weights.indptr.astype(np.int64), weights.indices.astype(np.int64), lengths

    def drawn(count: int) -> ReverseSets:
        roots = random.permutation(n)[np.arange(count) % n]  # each equally often, which lowers the variance
        return ReverseSets(n, *sets_of_roots(*shape, roots, rounds or n, rounds is not None, threshold, random))

    pilot = drawn(min(100, samples))  # to see how large they are: of large sets, fewer are needed
    tries = (1.0 + np.minimum(1.0, lengths).sum() / n) * (rounds or 1)
    fitting = max(200, int(4e6 * len(pilot) / len(pilot.members) / tries))  # four million ties in all sets together
    return drawn(min(samples, fitting))


@dataclass(frozen=True, eq=False)
class ReverseSets:
    """Sets of nodes in CSR form: the members of all, and where each set starts."""

    n_nodes: int
    starts: Array
    members: Array

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def table(self) -> Any:
        """The sets as rows of a CSR array, the nodes as columns."""
        ones = np.ones(len(self.members), dtype=np.int8)
        return sparse.csr_array((ones, self.members, self.starts), shape=(len(self), self.n_nodes))

    def greedy(self, count: int) -> Array:
        """Return nodes one after the other, each the one that hits most of the sets not yet hit."""
        by_node = sparse.csc_array(self.table)
        fresh_sets = np.bincount(self.members, minlength=self.n_nodes)
        met = np.zeros(len(self), dtype=bool)
        chosen = np.empty(count, dtype=np.int64)
        for k in range(count):
            node = chosen[k] = np.argmax(fresh_sets)
            mine = by_node.indices[by_node.indptr[node] : by_node.indptr[node + 1]]
            mine = mine[~met[mine]]
            met[mine] = True
            fresh_sets -= np.bincount(self.table[mine].indices, minlength=self.n_nodes)
            fresh_sets[node] = -1
        return chosen

    def gains(self, seeds: Array) -> Array:
        """Return how many nodes each seed reaches, in expectation, that those before it do not."""
        rank = np.full(self.n_nodes, len(seeds))
        rank[seeds] = np.arange(len(seeds))
        first = np.minimum.reduceat(rank[self.members], self.starts[:-1])
        met = np.bincount(first, minlength=len(seeds) + 1)[: len(seeds)]
        return np.asarray(self.n_nodes * met / len(self), dtype=float)

    def random_reach(self, count: int) -> float:
        r"""Return how many nodes ``count`` seeds drawn at random reach, in expectation over the draws as well.

        They miss a set of s nodes with probability :math:`\binom{N-s}{count} / \binom{N}{count}`.
        """
        sizes, times = self._sizes
        hit = -np.expm1(hypergeom.logpmf(0, self.n_nodes, sizes, count))
        return float(self.n_nodes * (times @ hit) / len(self))

    def random_seeds(self, reached: float) -> int:
        """Return how many random seeds it takes to reach as many nodes, in expectation."""
        least = reached * (1.0 - 1e-9)  # rounding errors must not cost a seed
        return 1 + bisect_left(range(1, self.n_nodes), least, key=self.random_reach)

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        sizes, times = np.unique(np.diff(self.starts), return_counts=True)
        return sizes, times


@kernel()
def sets_of_roots(
    pointers: Array,
    sources: Array,
    lengths: Array,
    roots: Array,
    rounds: int,
    repeated: bool,
    threshold: bool,
    random: np.random.Generator,
) -> tuple[Array, Array]:
    """Return the sets of the roots: where each starts, and the members of all.

    The ties into a node lie one after the other on a line, each as long as its entry in ``lengths``, -log(1 - p). A
    Poisson process of rate 1 on this line hits each with probability p, independently, and costs as much as the ties it
    hits; the rest of a tie that was hit is skipped. With thresholds, lengths are probabilities, and a uniform point
    picks one tie or none.
    """
    n = len(pointers) - 1
    line = np.empty(len(lengths))
    for i in range(n):
        end = 0.0
        for k in range(pointers[i], pointers[i + 1]):
            end += lengths[k]
            line[k] = end
    seen = np.full(n, -1)
    starts = np.zeros(len(roots) + 1, dtype=np.int64)
    members = np.empty(4 * len(roots) + n, dtype=np.int32)
    size = 0
    for s in range(len(roots)):
        if size + n > len(members):
            members = np.concatenate((members, np.empty(len(members), dtype=np.int32)))
        first = begin = size
        members[size], seen[roots[s]] = roots[s], s
        size += 1
        for _ in range(rounds):
            end_of_round = size
            for k in range(begin, end_of_round):
                place = pointers[members[k]]
                stop = pointers[members[k] + 1]
                at = 0.0
                while place < stop:
                    at += random.random() if threshold else random.standard_exponential()
                    place += np.searchsorted(line[place:stop], at, side="right")
                    if place == stop:
                        break
                    if seen[sources[place]] != s:
                        members[size], seen[sources[place]] = sources[place], s
                        size += 1
                    if threshold:
                        break
                    at = line[place]
                    place += 1
            if size - first == n or (size == end_of_round and not repeated):
                break
            if not repeated:
                begin = end_of_round
        starts[s + 1] = size
    return starts, members[:size]
