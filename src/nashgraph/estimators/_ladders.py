"""Ladders of degrees: members of a consensus that differ in their degree only, made and counted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Generator, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..certificate import Certificate
from ..pairs import make_search
from ..smoothness import Ladder, smooth_ladder
from ..validation import Array
from ._many import in_order
from ._members import Member, Sum
from ._stacking import SIGNAL
from .base import GraphEstimator

SIGNALS_WORK = 1e8  # up to so many signals times pairs, each signal has a ladder of its own where known ties ask for it
LADDER_BYTES = 20  # of a pair in a ladder: who it is with, the weight, the share


class Ladders:
    """The ladders of one fit: made once for the signals as they are, and counted.

    Parameters
    ----------
    degrees, kept : the degrees, and how many nearest of a node may be its neighbours
    c : float, the row sum
    engine : str, who searches pairs
    estimator : GraphEstimator, optional
        Fitted for each rung; None takes the closed form of a smooth graph, all rungs in one pass.
    n_jobs : int, optional, ladders made at the same time or, where there is an estimator, rungs
    progress : callable, optional, called with the number of steps done and of all steps
    """

    def __init__(
        self,
        degrees: Array,
        kept: int,
        c: float,
        engine: str,
        estimator: GraphEstimator | None = None,
        n_jobs: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self.degrees, self.kept, self.c, self.engine = degrees, kept, c, engine
        self.estimator, self.n_jobs, self.progress = estimator, n_jobs, progress
        self.known: dict[str, Ladder] = {}
        self.whole: Array | None = None
        self.certificates: list[Certificate] = []
        self.steps = self.taken = 0

    def __call__(self, X: Array, geometry: str) -> Ladder:
        """Return the ladder of some signals; that of the first signals asked for is kept."""
        self.whole = X if self.whole is None else self.whole
        if X is not self.whole:
            return self._made(X, geometry)
        if geometry not in self.known:
            self.known[geometry] = self._made(X, geometry)
        return self.known[geometry]

    def of(self, X: Array, members: Sequence[Member]) -> Generator[Ladder, None, None]:
        """Yield the ladders of resamples of the signals, in order; those of the signals as they are are made here."""
        make = partial(resampled_ladder, self.degrees, self.kept, self.c, self.engine)
        others = [] if self.estimator is not None else [member for member in members if member.resample.number]
        size = X.shape[1] * self.kept * LADDER_BYTES
        made = in_order(make, X, others, "resamples", n_jobs=self.n_jobs, engine=self.engine, answer_bytes=size)
        for member in members:
            if others and member.resample.number:
                yield next(made)
            else:
                yield self(member.resample.of(X), member.geometry)

    def rungs(self, X: Array, geometry: str) -> Iterator[tuple[str, Any]]:
        """Yield name and graph of each degree alone."""
        ladder = self(X, geometry)
        for k, weights in enumerate(ladder.rungs(self.c)):
            graph = Sum(X.shape[1])
            graph.add_rows(ladder.labels, weights, 1.0)
            yield f"{geometry} {k}", graph.csr()

    def signal_by_signal(
        self, X: Array, labels: Sequence[Any], counted: Container[str] | None
    ) -> Iterator[tuple[str, Any]]:
        """Yield name and graph of each signal alone (of those that count), if they are not too many nor have gaps."""
        if self.estimator is not None or X.size * X.shape[1] > SIGNALS_WORK:
            return
        for k in np.flatnonzero(np.isfinite(X).all(axis=1)).tolist():
            if counted is None or f"{SIGNAL} {labels[k]}" in counted:
                ladder, graph = self._made(X[k : k + 1], "distance"), Sum(X.shape[1])
                graph.add_rows(ladder.labels, ladder.weights, 1.0)
                yield f"{SIGNAL} {labels[k]}", graph.csr()

    def done(self) -> None:
        """Tell that a step is done."""
        self.taken += 1
        if self.progress is not None:
            self.progress(self.taken, self.steps)

    def finish(self) -> None:
        """Tell that all is done, also what was not needed."""
        self.taken = self.steps - 1
        self.done()

    def _made(self, X: Array, geometry: str) -> Ladder:
        if self.estimator is None:
            return smooth_ladder(make_search(X, self.engine, geometry=geometry), self.degrees, self.c, self.kept)
        known = self.estimator.get_params()
        settings = [
            {name: value for name, value in (("degree", degree), ("geometry", geometry)) if name in known}
            for degree in (self.degrees if "degree" in known else self.degrees[:1])
        ]
        members = list(in_order(partial(fitted, self.estimator), X, settings, "members", n_jobs=self.n_jobs))
        graphs = [graph for graph, _ in members]
        self.certificates += [certificate for _, certificate in members]
        everybody = np.tile(np.arange(X.shape[1], dtype=np.int32), (X.shape[1], 1))
        held = np.mean([graph > 0 for graph in graphs], axis=0)
        return Ladder(everybody, np.mean(graphs, axis=0), held, np.array([]))


def resampled_ladder(degrees: Array, kept: int, c: float, engine: str, X: Array, member: Member) -> Ladder:
    """Return the ladder of a resample in closed form, without the costs that it was made of. This runs in a worker."""
    points = make_search(member.resample.of(X), engine, geometry=member.geometry)
    return smooth_ladder(points, degrees, c, kept)._replace(nearest=None)


def fitted(estimator: GraphEstimator, X: Array, setting: dict[str, Any]) -> tuple[Array, Certificate]:
    """Return the graph of one member and its certificate. This runs in a worker, and the consensus warns for all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clone(estimator).set_params(**setting).fit(X)
    graph = model.adjacency_
    return graph.toarray() if sparse.issparse(graph) else graph, model.certificate_
