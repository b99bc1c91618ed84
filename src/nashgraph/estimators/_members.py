"""The members of a consensus: graphs that differ in what the data cannot decide, and their weighted mean.

A member has a degree, a geometry, a weighting of the signals and a strength of the prior. Members that share the other
three are a *ladder* of degrees, which costs one pass over all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..pairs._kernels import scatter_rows
from ..smoothness import Ladder
from ..validation import Array

WHOLE = 0.5  # the weight of the signals as they are; the resamples share the rest
# How a node's energy goes with its influence, by their correlation: as the distance has it (below the first), as the
# cosine (at the second), as cosine and inner product (above the third).
WEAK, NEITHER, STRONG = 0.35, 0.45, 0.55
DISTANCE_SHARE = 0.875  # of the distance, beside the cosine, where strong nodes are not the popular ones
FEW_SIGNALS = 10  # with so many signals, the inner product counts as much as the cosine where strong nodes are popular
OUTLYING = 10.0  # times the median: what a node has of energy beyond counts no more
LEAST_KEPT, PAIRS_KEPT = 64, 1_000_000
DENSE_NODES = 3000


class Resample(NamedTuple):
    """A weighting of the signals: 0 is the signals as they are."""

    number: int
    weights: Array

    def of(self, X: Array) -> Array:
        """Return the signals so weighted: distances are then weighted sums over signals."""
        return X if self.number == 0 else X * np.sqrt(self.weights)[:, None]


class Member(NamedTuple):
    """A ladder of members: what its signals are, and what makes two nodes alike."""

    resample: Resample
    geometry: str


def resamples_of(n_signals: int, count: int, kind: str, entropy: int) -> Iterator[Resample]:
    """Yield the signals as they are and then ``count`` resamples, each drawn from a seed of its own.

    "bayes" draws Dirichlet weights (the Bayesian bootstrap); "half" a random half of the signals, or, every second
    time, the other half of the draw before.
    """
    yield Resample(0, np.ones(n_signals))
    for number in range(1, count + 1):
        draw = number if kind == "bayes" else (number + 1) // 2
        random = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(draw,)))
        if kind == "bayes":
            weights = n_signals * random.dirichlet(np.ones(n_signals))
        else:
            first = np.zeros(n_signals)
            first[random.permutation(n_signals)[: n_signals // 2]] = 1.0
            chosen = first if number % 2 else 1.0 - first
            weights = chosen * n_signals / chosen.sum()
        yield Resample(number, weights)


def ladder_degrees(n_nodes: int, count: int) -> tuple[Array, int]:
    """Return log-spaced degrees, from 2 to all nodes, and how many nearest of a node may be its neighbours.

    In large networks the largest degree is less, so that a graph has about a million edges, or 64 a node, at the most.
    """
    most = n_nodes - 1
    top = min(most, max(LEAST_KEPT, PAIRS_KEPT // n_nodes))
    return np.unique(np.geomspace(min(2, most), top, count)), min(most, top + top // 2 + 8)


def geometry_weights(X: Array, cosine: Ladder) -> dict[str, float]:
    """Return how much each geometry counts, by whether strong nodes are the popular ones (fact 7 of the design).

    Where a node's energy does not go with its influence in the mean cosine graph, the distance counts most, beside the
    cosine; where it does a little, the cosine alone; where it clearly does, the inner product counts beside the cosine,
    the less the more signals there are: cosines of few signals are noisy, and a node's strength then tells more.
    """
    together = energy_correlation(X, influence_of(cosine))
    distance = DISTANCE_SHARE * float(np.interp(together, (WEAK, NEITHER), (1.0, 0.0)))
    inner = FEW_SIGNALS / (FEW_SIGNALS + len(X)) * float(np.interp(together, (NEITHER, STRONG), (0.0, 1.0)))
    return {"cosine": 1.0 - distance - inner, "distance": distance, "inner": inner}


def energy_correlation(X: Array, influence: Array) -> float:
    """Return the correlation of each node's energy, outlying ones cut, with its influence; 0 where one is constant."""
    energy = np.nanmean(X * X, axis=0)
    energy = np.minimum(energy, OUTLYING * np.median(energy))
    if np.ptp(energy) <= 1e-9 * energy.max() or np.ptp(influence) <= 1e-9 * influence.max():
        return 0.0
    return float(np.corrcoef(energy, influence)[0, 1])


class Sum:
    """A weighted sum of graphs as they come: an N x N array while that is small, else CSR."""

    def __init__(self, n_nodes: int) -> None:
        self.n_nodes = n_nodes
        self.dense = np.zeros((n_nodes, n_nodes)) if n_nodes <= DENSE_NODES else None
        self.sparse: Any = None if n_nodes <= DENSE_NODES else sparse.csr_array((n_nodes, n_nodes))

    def add_rows(self, labels: Array, values: Array, share: float) -> None:
        """Add values that each node has for some others."""
        if self.dense is not None:
            scatter_rows(labels, values, share, self.dense)
            return
        pointers = np.arange(self.n_nodes + 1, dtype=np.int64) * labels.shape[1]
        graph = sparse.csr_array((values.ravel(), labels.ravel(), pointers), shape=(self.n_nodes, self.n_nodes))
        self.add(graph, share)

    def add(self, graph: Any, share: float) -> None:
        """Add a CSR matrix."""
        if self.dense is None:
            self.sparse = self.sparse + share * graph
        else:
            rows = np.repeat(np.arange(self.n_nodes), np.diff(graph.indptr))
            self.dense[rows, graph.indices] += share * graph.data

    def scale(self, factor: float) -> None:
        """Multiply all of it."""
        if self.dense is None:
            self.sparse = factor * self.sparse
        else:
            self.dense *= factor

    def csr(self, dtype: Any = np.float64) -> Any:
        """Return the sum as CSR, its columns in order and its positive entries only."""
        found = sparse.csr_array(self.sparse if self.dense is None else self.dense, dtype=dtype)
        found.eliminate_zeros()
        found.sort_indices()
        return found


class Mean:
    """A weighted mean of graphs, the share of them that has each edge, and one graph for each resample."""

    def __init__(self, n_nodes: int) -> None:
        self.weights, self.frequency = Sum(n_nodes), Sum(n_nodes)
        self.graphs: list[Any] = []

    def scale(self, factor: float) -> None:
        """Make room for more members."""
        self.weights.scale(factor)
        self.frequency.scale(factor)

    def add(self, ladder: Ladder, share: float) -> None:
        """Add the members of a ladder, with their share."""
        self.weights.add_rows(ladder.labels, ladder.weights, share)
        self.frequency.add_rows(ladder.labels, ladder.shares, share)

    def add_graph(self, graph: Any, share: float) -> None:
        """Add one member with its share."""
        self.weights.add(graph, share)
        held = np.ones_like(graph.data), graph.indices, graph.indptr
        self.frequency.add(sparse.csr_array(held, shape=graph.shape), share)


def mean_of_ladders(
    ladders: Callable[[Array, Sequence[Member]], Generator[Ladder, None, None]],
    X: Array,
    resamples: list[Resample],
    geometries: dict[str, float],
    done: Callable[[], object],
    restored: Callable[[Mean], int] = lambda _: 0,
    keep: Callable[[Mean, int], object] = lambda *_: None,
) -> Mean:
    """Return the mean over resamples and geometries of ladders of degrees, added in their order.

    ``restored`` may add what an earlier run has done to an empty mean, and tells of how many resamples that is;
    ``keep`` is called with the mean and the number of resamples after each.
    """
    n_nodes = X.shape[1]
    mean = Mean(n_nodes)
    before = restored(mean)
    for _ in range(before * len(geometries)):
        done()
    left, count = resamples[before:], len(resamples)
    members = [Member(resample, geometry) for resample in left for geometry in geometries]
    with closing(ladders(X, members)) as made:  # who stops here stops those that are under way, too
        for resample in left:
            share = 1.0 if count == 1 else WHOLE if resample.number == 0 else (1.0 - WHOLE) / (count - 1)
            graph = Sum(n_nodes)
            for weight in geometries.values():
                found = next(made)
                mean.add(found, share * weight)
                graph.add_rows(found.labels, found.weights, weight)
                done()
            if resample.number:
                mean.graphs.append(graph.csr(np.float32))
            keep(mean, resample.number + 1)
    return mean


def influence_of(ladder: Ladder) -> Array:
    """Return each node's influence in the mean of a ladder."""
    return np.bincount(ladder.labels.ravel(), weights=ladder.weights.ravel(), minlength=len(ladder.labels))
