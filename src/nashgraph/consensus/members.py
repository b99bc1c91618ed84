"""The member networks of a consensus, each of a degree and a geometry, and their weighted mean.

Members that differ in their degree only are a *degree ladder*, which costs one scan over all pairs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..certificate import Certificate
from ..pairs import make_search
from ..pairs.tree_search import FIRST_NODES
from ..priors import GamePrior
from ..smoothness import Ladder, make_smoothness, response_ladder, smooth_ladder
from ..solvers import lam_for_cost
from ..validation import Array, warn
from .parallel import parallel_map

PARTIAL = "partial"  # the geometry of partial likeness, given all other nodes: the inverse covariance

# How a node's energy goes with its influence, by their correlation: below the first the distance fits, at the second
# the cosine, above the third the cosine and the inner product (fact 7 of docs/mathematics.md).
# The three levels were chosen on synthetic networks.
WEAK = 0.35
NEITHER = 0.45
STRONG = 0.55
DISTANCE_SHARE = 0.875  # of the distance, where it fits; the cosine has the rest
PARTIAL_SHARE = 0.5  # of partial likeness, where strong nodes are the popular ones
FEW_SIGNALS = 10  # with as many signals the inner product counts as much as the cosine
OUTLYING = 10.0  # times the median energy, beyond which more energy of a node is not counted
CROWDED = 0.1  # share of nodes with more equally near others than are kept that is worth a warning
SAME_SIGNALS = 1e-13  # relative to their size, how far all signals may differ by rounding: 450 ulps
N_SCANS = 3  # over all pairs, one for each geometry

FLOATS = np.finfo(float).tiny, np.finfo(float).max  # what a beta can be

PRIOR_SHARE = 0.5  # of the members with a prior
PRIOR_COSTS = (0.1, 1.0, 10.0)  # what a member with a prior may add to J, relative to it


def ladder_degrees(n_nodes: int, count: int) -> tuple[Array, int]:
    """Return log-spaced degrees from 2 to all nodes, and how many of a node's nearest can be its neighbours.

    In large networks the largest degree is smaller, so that a graph has about 250,000 edges, or 64 per node.
    """
    most = n_nodes - 1
    top = min(most, max(64, 250_000 // n_nodes))
    return np.unique(np.geomspace(min(2, most), top, count)), min(most, top + top // 2 + 8)


def geometry_weights(X: Array, cosine: Ladder) -> dict[str, float]:
    """Return the weight of each geometry, by whether strong nodes are the popular ones.

    The inner product's share falls with the number of signals: cosines of few signals are noisy, and a node's strength
    then tells more. Where strong nodes are clearly the popular ones, ties act through powers of the adjacency matrix,
    and nodes are also alike for what lies between them: partial likeness has half of the weight. With more signals than
    nodes it has at least 1 - N/M, the share of the degrees of freedom that an inverse covariance leaves over (facts 7
    and 10 of docs/mathematics.md).
    """
    influence = np.bincount(cosine.labels.ravel(), weights=cosine.weights.ravel(), minlength=len(cosine.labels))
    together = energy_correlation(X, influence)
    strong = float(np.interp(together, (NEITHER, STRONG), (0.0, 1.0)))
    distance = DISTANCE_SHARE * float(np.interp(together, (WEAK, NEITHER), (1.0, 0.0)))
    inner = FEW_SIGNALS / (FEW_SIGNALS + len(X)) * strong
    partial = max(PARTIAL_SHARE * strong, 1.0 - X.shape[1] / len(X))
    row_wise = {"cosine": 1.0 - distance - inner, "distance": distance, "inner": inner}
    return {name: (1.0 - partial) * weight for name, weight in row_wise.items()} | {PARTIAL: partial}


def energy_correlation(X: Array, influence: Array) -> float:
    """Return the correlation of each node's energy (outliers clipped) with its influence; 0 if one is constant."""
    energy = np.nanmean(X * X, axis=0)
    energy = np.minimum(energy, OUTLYING * np.median(energy))
    if np.ptp(energy) <= 1e-9 * energy.max() or np.ptp(influence) <= 1e-9 * influence.max():
        return 0.0
    return float(np.corrcoef(energy, influence)[0, 1])


def conditional_signals(X: Array) -> Array:
    r"""Return signals whose inner products are minus the inverse covariance of X, except on the diagonal.

    With :math:`C = (1 - \delta) S + \delta \mu I` the covariance of Ledoit and Wolf (2004), and the singular value
    decomposition of the centred X, :math:`S = V \mathrm{diag}(s^2) V^\top`, every other direction has the eigenvalue
    :math:`\delta \mu`; with a the largest eigenvalue of the inverse,
    :math:`a I - C^{-1} = V \mathrm{diag}(a - 1/\lambda) V^\top` is an inner product of min(M, N) signals. So partial
    likeness is searched as inner products are, at any size. A signal that a node lacks counts as that signal's mean.
    """
    filled = np.where(np.isnan(X), np.nanmean(X, axis=1, keepdims=True), X)
    n_signals, n = X.shape
    centred = (filled - filled.mean(axis=0)) / np.sqrt(n_signals)
    if np.abs(centred).max() <= SAME_SIGNALS * np.abs(filled).max():
        centred[:] = 0.0
    unit = float(np.abs(centred).max()) or 1.0  # fourth powers of signals of any size must be finite
    centred /= unit
    _, roots, directions = linalg.svd(centred, full_matrices=False, check_finite=False)
    found: Array = roots**2
    mean = found.sum() / n
    squares = float(found @ found)
    if mean <= 0.0:
        return np.zeros_like(directions)
    fourth = float(np.sum(np.einsum("mi,mi->m", centred, centred) ** 2))  # sum of |x|^4, over M^2
    spread = squares - n * mean**2
    if spread > 0:
        shrinkage = min(1.0, max(0.0, fourth - squares / n_signals) / spread)
    else:
        shrinkage = 1.0
    eigenvalues = np.maximum((1.0 - shrinkage) * found + shrinkage * mean, np.finfo(float).eps * found.max())
    if n_signals > n:
        least = eigenvalues.min()
    else:
        least = max(shrinkage * mean, np.finfo(float).eps * found.max())
    return np.asarray(np.sqrt(np.maximum(1.0 / least - 1.0 / eigenvalues, 0.0))[:, None] / unit * directions)


def search_of(X: Array, geometry: str, engine: str = "threads") -> Any:
    """Return the pair search of some signals in a geometry, partial likeness among them."""
    if geometry == PARTIAL:
        return make_search(conditional_signals(X), engine, geometry="inner")
    return make_search(X, engine, geometry=geometry)


def expected_cost(X: Array, n_degrees: int, n_replicates: int) -> tuple[float, float]:
    """Return about how many seconds and bytes a plain consensus takes, from the nearest of a few nodes.

    On two cores, with 5,000 to 50,000 nodes and 20 replicates, the processor time was 0.7 to 1.1 times the estimate,
    for Gaussian signals, eight Likert answers and twenty yes/no answers alike.
    """
    n = X.shape[1]
    kept = ladder_degrees(n, n_degrees)[1]
    search = make_search(X)
    sample = np.unique(np.linspace(0, n - 1, max(256, n // 50)).astype(int))
    for nodes in (sample[:2], sample):  # the first time, code is loaded or compiled
        start = time.perf_counter()
        search.nearest(kept, nodes=nodes)
    scan = (time.perf_counter() - start) * n / len(sample)
    # Large networks are first looked at in single precision. A kept pair costs a replicate four times what it costs a
    # scan. All else takes about as long as one more scan, and 240 bytes per kept pair.
    scans = N_SCANS * (0.5 if n >= FIRST_NODES else 1.0)
    replicates = n_replicates * 4.0 * N_SCANS * kept / n
    return (scans + 1 + replicates) * scan, n * kept * (8.0 * n_replicates + 240.0)


@dataclass(eq=False)
class Ladders:
    """The degree ladders of one fit; those of the signals as they are get stored, and finished steps are counted.

    An ``estimator`` is fitted once per degree. Without one, the closed form of a smooth graph needs one scan for all.
    """

    degrees: Array
    n_nearest: int
    c: float
    engine: str
    estimator: Any = None
    n_jobs: int | None = None
    progress: Callable[[int, int], object] | None = None
    all_pairs_up_to: int = 3000  # nodes up to which all pairs have evidence: 72 MB
    stored: dict[str, Ladder] = field(default_factory=dict)
    whole: Array | None = None
    certificates: list[Certificate] = field(default_factory=list)
    n_steps: int = 0
    n_done: int = 0

    def __call__(self, X: Array, geometry: str) -> Ladder:
        """Return the ladder of some signals; that of the first signals asked for is stored."""
        self.whole = X if self.whole is None else self.whole
        if X is not self.whole:
            return self._made(X, geometry)
        if geometry not in self.stored:
            self.stored[geometry] = self._made(X, geometry)
        return self.stored[geometry]

    def warn_crowded(self) -> None:
        """Warn if many nodes have more equally near others than are kept, which then are chosen by chance."""
        found = [ladder for ladder in self.stored.values() if self.n_nearest < len(ladder.labels) - 1]
        ends = [(ladder.weights[:, -1] > 0) & (ladder.weights[:, -1] == ladder.weights[:, -2]) for ladder in found]
        share = max((float(end.mean()) for end in ends), default=0.0)
        if share >= CROWDED:
            warn(
                f"{share:.0%} of the nodes have more equally near others than the {self.n_nearest} that are kept for "
                "each: chance chooses which, so single ties of such nodes mean little; add signals that differ"
            )

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
            return smooth_ladder(search_of(X, geometry, self.engine), self.degrees, self.c, self.n_nearest)
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


def fitted(estimator: Any, X: Array, setting: dict[str, Any]) -> tuple[Array, Certificate]:
    """Return the graph of one member and its certificate. This runs in a worker; the consensus warns for all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clone(estimator).set_params(**setting).fit(X)
    return model.adjacency_.toarray(), model.certificate_


class MemberMean(NamedTuple):
    """A weighted mean of member networks: the weights, and how often each edge is there, both as CSR arrays."""

    weights: Any
    frequency: Any

    @classmethod
    def nothing(cls, n_nodes: int) -> MemberMean:
        """Return the mean of no members yet."""
        return cls(sparse.csr_array((n_nodes, n_nodes)), sparse.csr_array((n_nodes, n_nodes)))

    def plus(self, ladder: Ladder, share: float) -> MemberMean:
        """Return the mean with the members of a ladder, which count by their share."""
        n, n_nearest = ladder.labels.shape
        pointers = np.arange(n + 1) * n_nearest
        weights = sparse.csr_array((share * ladder.weights.ravel(), ladder.labels.flatten(), pointers), shape=(n, n))
        shares = sparse.csr_array((share * ladder.shares.ravel(), ladder.labels.flatten(), pointers), shape=(n, n))
        weights.sort_indices()  # sums of sorted matrices are sorted, and values are found in them by bisection
        shares.sort_indices()
        return MemberMean(self.weights + weights, self.frequency + shares)

    def scaled(self, share: float) -> MemberMean:
        """Return the mean with all its members counting less."""
        return MemberMean(share * self.weights, share * self.frequency)

    def edges(self) -> tuple[Any, Array]:
        """Return the weights as CSR without zeros, and the inclusion frequency of each edge."""
        weights = self.weights.copy()
        weights.data[weights.data <= 0.0] = 0.0
        weights.eliminate_zeros()
        return weights, np.minimum(values_at(self.frequency, weights), 1.0)  # a sum can end a little above 1


def values_at(matrix: Any, pattern: Any) -> Array:
    """Return the value of a CSR matrix at each edge of a CSR pattern, 0 where it has none."""
    return np.asarray(matrix[pattern.tocoo().coords]).ravel()


def with_prior_members(
    mean: MemberMean,
    smooth: Any,
    signals: Array,
    ladders: Ladders,
    geometries: dict[str, float],
    game: GamePrior,
) -> tuple[MemberMean, float]:
    """Add best responses to the game on a graph, each at several strengths; return the mean and the mean strength."""
    state = game.evaluate(smooth, tol=1e-12)
    left = state.left
    right = state.right
    mean = mean.scaled(1.0 - PRIOR_SHARE)
    lams: list[float] = []
    searched = {name: weight for name, weight in geometries.items() if name != PARTIAL}
    total = sum(searched.values())
    for geometry, weight in searched.items():
        points = make_search(signals, ladders.engine, geometry=geometry)
        betas = ladders(signals, geometry).betas
        middle = make_smoothness(points, float(betas[len(betas) // 2]), ladders.c)
        for cost in PRIOR_COSTS:
            lams.append(lam_for_cost(middle, left, right, cost))
            found = response_ladder(points, betas, ladders.c, ladders.n_nearest, lams[-1] * left, right)
            mean = mean.plus(found, PRIOR_SHARE * weight / (total * len(PRIOR_COSTS)))
            ladders.step()
    return mean, float(np.mean(lams))
