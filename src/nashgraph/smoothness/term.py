r"""The smoothness term J on the admissible graphs S.

.. math:: J(W) = \langle W, D \rangle + \beta \|W\|_F^2, \quad S = \{W \ge 0,\; \mathrm{diag}\,W = 0,\; W 1 = c 1\}

D is the cost of an edge, for example :math:`\|x_i - x_j\|^2 / (2M)`. The lower J, the smoother the signals on W.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..certificate import LOG
from ..pairs import Bonus, CandidateSet, PairSearch, SparseWeights, Weights, project_rows
from ..pairs.candidates import ListedPairs
from ..pairs.memory import free_memory
from ..validation import Array, InputError, check_choice
from .degree import scale_for_degree

# "dense" keeps the costs of all pairs, "sparse" those of candidate pairs; both take the same steps.
STORAGES = ("dense", "sparse")
DENSE_NODES = 3000  # above this the costs of all pairs are cheaper to compute again than to read from memory


class Smoothness:
    r"""The term J for some signals, beta and c.

    ``dense`` is whether the costs of all pairs are stored and weight matrices returned as arrays.

    Examples
    --------
    >>> from nashgraph.pairs import make_search
    >>> smoothness = make_smoothness(make_search(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> smoothness.smooth.matrix().toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ]])
    >>> round(smoothness.value(smoothness.smooth), 12)
    2.25
    """

    def __init__(self, candidates: CandidateSet, beta: float, c: float, *, dense: bool) -> None:
        self.candidates = candidates
        self.beta = beta
        self.c = c
        self.dense = dense

    @property
    def search(self) -> PairSearch:
        """The search among all pairs."""
        return self.candidates.search

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.search)

    def respond(self, bonus: Bonus, *, proved: bool = True) -> Weights:
        r"""Return the best response to a bonus, among all pairs or, if it need not be proved, among the candidates.

        .. math:: \min_{W \in S} \; J(W) - \langle W, L R^\top \rangle

        It is :math:`W_{ij} = \frac{1}{2\beta} \max(0,\; \langle L_i, R_j \rangle + \eta_i - D_{ij})`, :math:`i \ne j`
        (Proposition "kkt" of the paper, for any bonus).
        """
        return self.candidates.respond(bonus, gain=0.5 / self.beta, total=self.c, proved=proved)

    def hold(self, matrix: Any) -> Weights:
        """Return a given W in S, dense or sparse, as weights."""
        held: Weights = self.candidates.pairs.hold(matrix)
        return held

    @cached_property
    def smooth(self) -> Weights:
        """The Smooth-GL graph, the best response to no bonus at all; found once."""
        return self.respond(Bonus.none(self.n_nodes))

    def value(self, weights: Weights) -> float:
        """Return J(W)."""
        return weights.cost + self.beta * weights.square

    def step(self, weights: Weights, bonus: Bonus, gamma: float) -> SparseWeights:
        r"""Return :math:`\mathrm{Proj}_S(W - \gamma (D + 2\beta W - L R^\top))`, which needs the costs of all pairs.

        With :math:`\gamma = 1/(2\beta)` the old W drops out and this is :meth:`respond`.
        """
        keep = 1.0 - 2.0 * self.beta * gamma
        pairs, held = self.check_all_pairs(weights)
        return pairs.step(held, bonus, keep=keep, gain=gamma, total=self.c)

    def check_all_pairs(self, weights: Weights) -> tuple[ListedPairs, SparseWeights]:
        """Return all pairs, and the weights if steps can start from them, as those of TTGD do, or refuse."""
        pairs = self.candidates.pairs
        if self.dense and isinstance(pairs, ListedPairs) and isinstance(weights, SparseWeights):
            return pairs, weights
        raise InputError(
            "solver='ttgd' needs storage='dense' and engine='threads', because its steps start from any W; "
            "use solver='best-response' for larger networks"
        )


def make_smoothness(
    search: PairSearch, beta: float, c: float, storage: str = "auto", nearest: tuple[Any, Any] | None = None
) -> Smoothness:
    """Return the smoothness term with its costs stored as named, or as suits.

    Dense while the costs of all pairs are few and fit a quarter of the free memory, else sparse. The graph is the same.
    ``nearest`` is what ``search.nearest`` returned, if it was asked already: the first candidates.

    Examples
    --------
    >>> from nashgraph.pairs import make_search
    >>> make_smoothness(make_search(np.random.default_rng(0).normal(size=(5, 40))), 1.0, 0.95).dense
    True
    """
    check_choice("storage", storage, ("auto", *STORAGES))
    if storage == "auto":
        storage, why = suitable_storage(search, beta, c)
        LOG.info("storage: %s (%s)", storage, why)
    dense = storage == "dense"
    return Smoothness(CandidateSet.of(search, everything=dense, nearest=nearest), beta, c, dense=dense)


def smoothness_of_degree(search: PairSearch, degree: float, c: float, storage: str = "auto") -> Smoothness:
    """Return the smoothness term whose Smooth-GL graph has ``degree`` neighbours per node on average.

    See :func:`~nashgraph.smoothness.beta_for_degree`. What the search for beta found are the first candidates, so that
    all pairs are gone through once.

    Examples
    --------
    >>> from nashgraph.pairs import make_search
    >>> search = make_search(np.random.default_rng(0).normal(size=(20, 100)))
    >>> smoothness = smoothness_of_degree(search, 7, c=0.95, storage="sparse")
    >>> smoothness.smooth.matrix().nnz / 100, search.scans
    (7.0, 1.0)
    """
    scale = scale_for_degree(search, degree, c)
    return make_smoothness(search, scale.beta, c, storage, scale.nearest)


def suitable_storage(search: PairSearch, beta: float, c: float, free: float | None = None) -> tuple[str, str]:
    """Return the name of the storage that suits, and the reason in words."""
    n = len(search)
    free = free_memory() if free is None else free
    if hasattr(search, "candidate_pairs"):
        return "sparse", f"{n} nodes, candidate pairs where the engine keeps them"
    dense = 120 * n * n  # bytes: cost and column of a pair, a few graphs of a line search with their transposes
    if n <= DENSE_NODES and dense <= free / 4:
        return "dense", f"{n} nodes need {dense / 1e9:.2g} of {free / 1e9:.2g} GB free"
    degree = expected_degree(search, beta, c)
    needed = 168 * n * degree  # bytes: six candidates for each neighbour, four graphs, each with its transpose
    why = f"{n} nodes with about {degree:.3g} neighbours need {needed / 1e9:.2g} of {free / 1e9:.2g} GB free"
    if needed > free:
        raise InputError(f"too little memory: {why}; use a smaller degree (or beta), or fewer nodes")
    return "sparse", why


def expected_degree(search: PairSearch, beta: float, c: float) -> float:
    """Return the mean number of Smooth-GL neighbours over 256 nodes, which tell it to a few per cent."""
    nodes = np.unique(np.linspace(0, len(search) - 1, 256).astype(int))
    counts: list[Array] = []
    geometry = search.geometry
    for first in range(0, len(nodes), geometry.block_size):
        some = nodes[first : first + geometry.block_size]
        scores = -0.5 / beta * geometry.rows(some)
        counts.append((project_rows(scores, c, skip=some)[0] > 0).sum(axis=1))
    return float(np.concatenate(counts).mean())
