"""Diffusion models, and reverse-reachable sets: who would have reached a random node in a random diffusion.

Seeds reach, in expectation, N times the share of these sets that they hit (Borgs, Brautbar, Chayes, Lucier 2014). The
same sets serve to choose seeds; others, drawn independently, to estimate their reach without bias.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from ..compiled import kernel
from ..validation import Array

CERTAIN = 40.0  # -log(1 - p) of a tie that always passes on; e^-40 is below double precision
MOST = 4_000_000  # ties passed in all sets together: the larger the sets, the fewer are needed
PILOT, FEWEST = 100, 200  # sets drawn to see how large they are; the fewest that are drawn after that


@dataclass(frozen=True, eq=False)
class Diffusion:
    """How news spread: through at most one tie into each node (threshold), or each tie by itself (cascade).

    ``lengths`` has, in the order of ``weights.data``, the probability of a tie (threshold) or -log(1 - p) of it.
    """

    weights: Any
    lengths: Array
    threshold: bool
    rounds: int | None

    @classmethod
    def cascade(cls, weights: Any, scale: float, rounds: int | None = None) -> Diffusion:
        """Return the cascade in which a tie of weight w passes on with probability min(1, scale w)."""
        with np.errstate(divide="ignore"):
            lengths = -np.log1p(-np.minimum(1.0, scale * weights.data))
        return cls(weights, np.minimum(lengths, CERTAIN), False, rounds)

    @classmethod
    def thresholds(cls, weights: Any, scale: float) -> Diffusion:
        """Return the linear threshold diffusion; rows that sum to more than 1 are scaled to 1."""
        sums = scale * np.asarray(weights.sum(axis=1), dtype=float).ravel()
        rows = scale / np.maximum(1.0, sums)
        return cls(weights, weights.data * np.repeat(rows, np.diff(weights.indptr)), True, None)

    def draw(self, samples: int, random: np.random.Generator) -> ReverseSets:
        """Return this many sets, or fewer if they are so large that it would take long."""
        pilot = self._draw(min(PILOT, samples), random)
        tries = (1.0 + np.minimum(1.0, self.lengths).sum() / pilot.n_nodes) * (self.rounds or 1)
        fitting = max(FEWEST, int(MOST * len(pilot) / len(pilot.members) / tries))
        return self._draw(min(samples, fitting), random)

    def _draw(self, samples: int, random: np.random.Generator) -> ReverseSets:
        n = self.weights.shape[0]
        roots = random.permutation(n)[np.arange(samples) % n]  # each equally often, which lowers the variance
        shape = self.weights.indptr.astype(np.int64), self.weights.indices.astype(np.int64), self.lengths
        rounds, repeated = (n, False) if self.rounds is None else (self.rounds, True)
        return ReverseSets(n, *draw_sets(*shape, roots, rounds, repeated, self.threshold, random))


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
        n, (sizes, times) = self.n_nodes, self._sizes
        left = n - sizes - count + 1.0  # not positive: a set this large cannot be missed
        missed = gammaln(n - sizes + 1.0) + gammaln(n - count + 1.0) - gammaln(np.maximum(left, 1.0)) - gammaln(n + 1.0)
        hit = np.where(left > 0, -np.expm1(missed), 1.0)
        return float(n * (times @ hit) / len(self))

    def random_seeds(self, reached: float) -> int:
        """Return how many random seeds it takes to reach as many nodes, in expectation."""
        least = reached * (1.0 - 1e-9)  # rounding errors must not cost a seed
        return 1 + bisect_left(range(1, self.n_nodes), least, key=self.random_reach)

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        sizes, times = np.unique(np.diff(self.starts), return_counts=True)
        return sizes, times


@kernel()
def draw_sets(
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

    The ties into a node lie one after the other on a line, each as long as -log(1 - p). A Poisson process of rate 1 on
    this line hits each with probability p, independently, and costs as much as the ties it hits; the rest of a tie that
    was hit is skipped. With thresholds, a uniform point picks one tie or none.
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
                place, stop = pointers[members[k]], pointers[members[k] + 1]
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
