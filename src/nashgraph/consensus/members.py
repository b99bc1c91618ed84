"""The member networks of a consensus: a degree, a geometry and a replicate of the signals each.

Members that differ in their degree only are a *degree ladder*, which costs one scan over all pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Generator, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..certificate import Certificate
from ..pairs import make_search
from ..smoothness import Ladder, smooth_ladder
from ..validation import Array
from .parallel import parallel_map

# How a node's energy goes with its influence, by their correlation: below the first the distance fits, at the second
# the cosine, above the third the cosine and the inner product (fact 7 of the design; chosen on synthetic networks).
WEAK, NEITHER, STRONG = 0.35, 0.45, 0.55
DISTANCE_SHARE = 0.875  # of the distance; the cosine has the rest
FEW_SIGNALS = 10  # with as many signals the inner product counts as much as the cosine
OUTLYING = 10.0  # times the median energy, beyond which more energy of a node is not counted
LEAST_NEIGHBOURS, MOST_PAIRS = 64, 1_000_000  # the largest degree, so that a graph has about a million edges
SINGLE_SIGNALS_WORK = 1e8  # signals times pairs up to which known ties may weigh every signal alone
LADDER_BYTES = 20  # per pair of a ladder: neighbour, weight, share
SIGNAL = "signal"  # how the groups of members made from one signal are called


class Replicate(NamedTuple):
    """Weights of the signals: number 0 is the signals as they are."""

    number: int
    weights: Array

    def of(self, X: Array) -> Array:
        """Return the weighted signals: distances are then weighted sums over signals."""
        return X if self.number == 0 else X * np.sqrt(self.weights)[:, None]


class Member(NamedTuple):
    """What a degree ladder is made of: a replicate and a geometry."""

    replicate: Replicate
    geometry: str


def draw_replicates(n_signals: int, count: int, scheme: str, entropy: int) -> Iterator[Replicate]:
    """Yield the signals as they are and then ``count`` replicates, each drawn from a seed of its own.

    "bayes" draws Dirichlet weights (the Bayesian bootstrap). "half" draws a random half of the signals, and every
    second time the other half of the draw before.
    """
    yield Replicate(0, np.ones(n_signals))
    for number in range(1, count + 1):
        draw = number if scheme == "bayes" else (number + 1) // 2
        random = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(draw,)))
        if scheme == "bayes":
            weights = n_signals * random.dirichlet(np.ones(n_signals))
        else:
            first = np.zeros(n_signals)
            first[random.permutation(n_signals)[: n_signals // 2]] = 1.0
            chosen = first if number % 2 else 1.0 - first
            weights = chosen * n_signals / chosen.sum()
        yield Replicate(number, weights)


def ladder_degrees(n_nodes: int, count: int) -> tuple[Array, int]:
    """Return log-spaced degrees from 2 to all nodes, and how many of a node's nearest can be its neighbours.

    In large networks the largest degree is smaller, so that a graph has about a million edges, or 64 per node.
    """
    most = n_nodes - 1
    top = min(most, max(LEAST_NEIGHBOURS, MOST_PAIRS // n_nodes))
    return np.unique(np.geomspace(min(2, most), top, count)), min(most, top + top // 2 + 8)


def influence_of(ladder: Ladder) -> Array:
    """Return each node's influence in the mean of a ladder."""
    return np.bincount(ladder.labels.ravel(), weights=ladder.weights.ravel(), minlength=len(ladder.labels))


def geometry_weights(X: Array, cosine: Ladder) -> dict[str, float]:
    """Return the weight of each geometry, by whether strong nodes are the popular ones (fact 7 of the design).

    If a node's energy is not correlated with its influence in the mean cosine graph, the distance has most of the
    weight; if it is a little, the cosine has all; if it clearly is, the inner product shares with the cosine. Its share
    falls with the number of signals: cosines of few signals are noisy, and a node's strength then tells more.
    """
    together = energy_correlation(X, influence_of(cosine))
    distance = DISTANCE_SHARE * float(np.interp(together, (WEAK, NEITHER), (1.0, 0.0)))
    inner = FEW_SIGNALS / (FEW_SIGNALS + len(X)) * float(np.interp(together, (NEITHER, STRONG), (0.0, 1.0)))
    return {"cosine": 1.0 - distance - inner, "distance": distance, "inner": inner}


def energy_correlation(X: Array, influence: Array) -> float:
    """Return the correlation of each node's energy (outliers clipped) with its influence; 0 if one is constant."""
    energy = np.nanmean(X * X, axis=0)
    energy = np.minimum(energy, OUTLYING * np.median(energy))
    if np.ptp(energy) <= 1e-9 * energy.max() or np.ptp(influence) <= 1e-9 * influence.max():
        return 0.0
    return float(np.corrcoef(energy, influence)[0, 1])


class Ladders:
    """The degree ladders of one fit; those of the signals as they are get stored, and finished steps are counted.

    Parameters
    ----------
    degrees, n_nearest : the degrees, and how many of a node's nearest can be its neighbours
    c : float, the row sum
    engine : str, who searches pairs
    estimator : graph estimator, optional
        Fitted once per degree. None uses the closed form of a smooth graph: one scan for all degrees.
    n_jobs : int, optional, ladders (or, with an estimator, degrees) computed at the same time
    progress : callable, optional, called with the number of steps done and of all steps
    """

    def __init__(
        self,
        degrees: Array,
        n_nearest: int,
        c: float,
        engine: str,
        estimator: Any = None,
        n_jobs: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self.degrees, self.n_nearest, self.c, self.engine = degrees, n_nearest, c, engine
        self.estimator, self.n_jobs, self.progress = estimator, n_jobs, progress
        self.stored: dict[str, Ladder] = {}
        self.whole: Array | None = None
        self.certificates: list[Certificate] = []
        self.n_steps = self.n_done = 0

    def __call__(self, X: Array, geometry: str) -> Ladder:
        """Return the ladder of some signals; that of the first signals asked for is stored."""
        self.whole = X if self.whole is None else self.whole
        if X is not self.whole:
            return self._made(X, geometry)
        if geometry not in self.stored:
            self.stored[geometry] = self._made(X, geometry)
        return self.stored[geometry]

    def of(self, X: Array, members: Sequence[Member]) -> Generator[Ladder, None, None]:
        """Yield the ladders of replicates in order; ladders of the signals as they are are computed here."""
        make = partial(replicate_ladder, self.degrees, self.n_nearest, self.c, self.engine)
        others = [] if self.estimator is not None else [member for member in members if member.replicate.number]
        size = X.shape[1] * self.n_nearest * LADDER_BYTES
        made = parallel_map(make, X, others, "replicates", n_jobs=self.n_jobs, engine=self.engine, result_bytes=size)
        for member in members:
            if others and member.replicate.number:
                yield next(made)
            else:
                yield self(member.replicate.of(X), member.geometry)

    def single_degrees(self, X: Array, geometry: str) -> Iterator[tuple[str, Any]]:
        """Yield name and graph of each degree alone."""
        ladder = self(X, geometry)
        for k, weights in enumerate(ladder.rungs(self.c)):
            yield f"{geometry} {k}", graph_of_rows(ladder.labels, weights)

    def single_signals(
        self, X: Array, labels: Sequence[Any], counted: Container[str] | None
    ) -> Iterator[tuple[str, Any]]:
        """Yield name and graph of each signal alone (of those counted), unless they are too many; gaps are skipped."""
        if self.estimator is not None or X.size * X.shape[1] > SINGLE_SIGNALS_WORK:
            return
        for k in np.flatnonzero(np.isfinite(X).all(axis=1)).tolist():
            if counted is None or f"{SIGNAL} {labels[k]}" in counted:
                ladder = self._made(X[k : k + 1], "distance")
                yield f"{SIGNAL} {labels[k]}", graph_of_rows(ladder.labels, ladder.weights)

    def step(self) -> None:
        """Report that a step is done."""
        self.n_done += 1
        if self.progress is not None:
            self.progress(self.n_done, self.n_steps)

    def finish(self) -> None:
        """Report that all steps are done, including those that were not needed."""
        self.n_done = self.n_steps - 1
        self.step()

    def _made(self, X: Array, geometry: str) -> Ladder:
        if self.estimator is None:
            return smooth_ladder(make_search(X, self.engine, geometry=geometry), self.degrees, self.c, self.n_nearest)
        known = self.estimator.get_params()
        settings = [
            {name: value for name, value in (("degree", degree), ("geometry", geometry)) if name in known}
            for degree in (self.degrees if "degree" in known else self.degrees[:1])
        ]
        members = list(parallel_map(partial(fitted, self.estimator), X, settings, "members", n_jobs=self.n_jobs))
        graphs = [graph for graph, _ in members]
        self.certificates += [certificate for _, certificate in members]
        everybody = np.tile(np.arange(X.shape[1], dtype=np.int32), (X.shape[1], 1))
        frequency = np.mean([graph > 0 for graph in graphs], axis=0)
        return Ladder(everybody, np.mean(graphs, axis=0), frequency, np.array([]))


def graph_of_rows(labels: Array, weights: Array) -> Any:
    """Return the graph in which each node has some neighbours with weights, as CSR without zeros."""
    n, count = labels.shape
    pointers = np.arange(n + 1, dtype=np.int64) * count
    graph = sparse.csr_array((weights.ravel(), labels.ravel(), pointers), shape=(n, n), dtype=np.float64, copy=True)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def replicate_ladder(degrees: Array, n_nearest: int, c: float, engine: str, X: Array, member: Member) -> Ladder:
    """Return the ladder of a replicate in closed form, without its costs. This runs in a worker."""
    points = make_search(member.replicate.of(X), engine, geometry=member.geometry)
    return smooth_ladder(points, degrees, c, n_nearest)._replace(nearest=None)


def fitted(estimator: Any, X: Array, setting: dict[str, Any]) -> tuple[Array, Certificate]:
    """Return the graph of one member and its certificate. This runs in a worker; the consensus warns for all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clone(estimator).set_params(**setting).fit(X)
    graph = model.adjacency_
    return graph.toarray() if sparse.issparse(graph) else graph, model.certificate_
