r"""Complementary-pairs stability selection (Shah and Samworth 2013): ties with a bound on how many are there by chance.

The signals are halved at random, B times; on each of the 2B halves a graph is learned and its q heaviest of p pairs
of nodes are taken; a pair is *selected* if a share of at least :math:`\tau` of the halves takes it. Let L be the pairs
that one half takes with probability at most q/p, no better than drawing q of p pairs at random. Where signals are
independent draws of one source,

.. math:: E \, |\text{selected} \cap L| \;\le\; \frac{q^2}{p \, (2 \tau - 1)},

their Theorem 1 with :math:`\theta = q/p`; and where moreover the share of splits with a pair in *both* halves is
unimodal for all pairs of L, :math:`q/p \le 1/\sqrt 3`, then :math:`\le C(\tau, B) \, q^2 / p`, their Theorem 2, with

.. math:: C(\tau, B) = \frac{1}{2 \, (2 \tau - 1 - 1/2B)} \;\; (\tau \le 3/4), \qquad
    C(\tau, B) = \frac{4 \, (1 - \tau + 1/2B)}{1 + 1/B} \;\; (\tau > 3/4).

Proof in a line: the two halves of a split are independent, so a pair is in both with probability :math:`\pi^2 \le \pi
q/p`, and it must be in both of at least :math:`2\tau - 1` of the splits; Markov's inequality, or its sharper form for
unimodal counts, does the rest. So a half must know nothing of the other: everything that is learned is learned from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..graph import LearnedGraph
from ..validation import Array, InputError, check_choice, check_integer, check_number
from .members import values_at


@dataclass(frozen=True)
class Plan:
    """How pairs are selected, and what that bounds.

    Of ``n_pairs`` (p), each half takes ``taken`` (q); a share ``tau`` of the halves must take a pair; the signals are
    halved ``n_splits`` times (B). ``bound`` is on the expected number of selected pairs that a half takes no more often
    than chance, and ``kind`` says which bound it is.
    """

    n_pairs: int
    taken: int
    tau: float
    n_splits: int
    bound: float
    kind: str


def factor(tau: float, splits: int, kind: str) -> float:
    """Return by what :math:`q^2 / p` is multiplied to bound the expected number of selected pairs that are chance."""
    if kind == "worst-case":
        return 1.0 / (2.0 * tau - 1.0)
    slack = 0.5 / splits
    if tau <= 0.75:
        return 0.5 / (2.0 * tau - 1.0 - slack)
    return 4.0 * (1.0 - tau + slack) / (1.0 + 1.0 / splits)


def plan(n_nodes: int, false_edges: object, tau: object, n_splits: object, kind: str) -> Plan:
    """Return the plan whose bound is ``false_edges`` or just below: the most pairs a half may take."""
    check_choice("bound", kind, ("unimodal", "worst-case"))
    wanted = check_number("false_edges", false_edges, low=0, open_low=True, remedy="it is how many to expect; try 5")
    count = check_integer("n_splits", n_splits, low=5, remedy="it is how often the signals are halved; try 50")
    # The theorem is for multiples of 1/2B, and for a share of pairs below 1/sqrt(3).
    low = 0.5 + 1.0 / count
    share = check_number("tau", tau, low=low, high=1, remedy="it is the share of halves with a tie; try 0.9")
    share = float(np.ceil(2 * count * share - 1e-9)) / (2 * count)
    pairs = n_nodes * (n_nodes - 1) // 2
    multiple = factor(share, count, kind)
    most = pairs / np.sqrt(3.0) if kind == "unimodal" else pairs
    if share <= 0.75 and kind == "unimodal":
        most = min(most, 0.999 * pairs * np.sqrt(share - 0.5))
    if most < 1:
        raise InputError(
            f"select needs three nodes or more, and there are {n_nodes}: with one pair nothing is selected"
        )
    taken = int(min(np.sqrt(wanted * pairs / multiple), most))
    if taken < 1:
        raise InputError(
            f"false_edges={wanted:g} cannot be promised: with {pairs} pair(s) of nodes not even one may be taken; "
            f"ask for {multiple / pairs:.2g} or more"
        )
    return Plan(pairs, taken, share, count, multiple * taken**2 / pairs, kind)


def halves(n_signals: int, splits: int, entropy: int) -> Iterator[Array]:
    """Yield the rows of random halves, each followed by one of the rest: equally many, so that one may be left over."""
    for split in range(splits):
        random = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(split,)))
        drawn = random.permutation(n_signals)
        yield np.sort(drawn[: n_signals // 2])
        yield np.sort(drawn[n_signals // 2 : 2 * (n_signals // 2)])


def heaviest(weights: Any, count: int) -> Array:
    """Return the ``count`` heaviest pairs of a CSR matrix, as i n + j with i < j; fewer if the last ones tie."""
    mutual = sparse.triu(weights + weights.T, k=1, format="coo")
    rows, columns = mutual.coords
    keys = rows.astype(np.int64) * weights.shape[0] + columns
    if mutual.nnz <= count:
        return keys
    next_weight = -np.partition(-mutual.data, count)[count]
    return keys[mutual.data > (1.0 + 1e-9) * next_weight]  # nearer, weights are equal up to rounding


def shares_of(
    take: Callable[[Sequence[Array]], Iterator[Array]],
    rows: Sequence[Array],
    progress: Callable[[int, int], object] | None,
) -> tuple[Array, Array]:
    """Return the pairs that any half takes, as i n + j, and the share of halves that takes each.

    ``take`` yields the pairs of halves given by their rows.
    """
    taken: list[Array] = []
    for pairs in take(rows):
        taken.append(pairs)
        if progress is not None:
            progress(len(taken), len(rows))
    keys, counts = np.unique(np.concatenate(taken), return_counts=True)
    return keys, counts / len(taken)


def pairs_of_half(learn: Callable[[Array], Any], count: int, X: Array, rows: Array) -> Array:
    """Return the ``count`` heaviest pairs of the graph that is learned from some rows. This runs in a worker."""
    try:
        return heaviest(learn(X[rows]), count)
    except InputError as error:
        raise InputError(f"a half of the signals has too many gaps to learn from: {error}") from error


@dataclass(frozen=True, eq=False)
class Selection:
    """Ties selected with a promise.

    Attributes
    ----------
    graph : LearnedGraph, undirected
        The selected ties with their weight in the consensus, its columns, and ``share``, that of the halves with a tie.
    plan : Plan, with ``taken`` (q), ``tau``, ``n_splits`` (B), ``n_pairs`` (p), ``bound`` and its ``kind``
    """

    graph: LearnedGraph
    plan: Plan

    def edges(self) -> pd.DataFrame:
        """Return the ties as a table, heaviest first."""
        return self.graph.edges()

    @property
    def sentence(self) -> str:
        """What was selected and what is promised, in one sentence."""
        known = self.plan
        count = self.graph.n_edges
        worst = factor(known.tau, known.n_splits, "worst-case") * known.taken**2 / known.n_pairs
        if known.kind == "unimodal":
            assumed = f", if counts are unimodal, and {worst:.3g} if not"
        else:
            assumed = ""
        return (
            f"{count:,} of {known.n_pairs:,} pairs are among the {known.taken:,} heaviest in at least "
            f"{100 * known.tau:.0f}% of {2 * known.n_splits} random halves of the signals; on average at most "
            f"{known.bound:.3g} such pairs are ones that a half takes no more often than chance would "
            f"({100 * known.taken / known.n_pairs:.2g}%){assumed}. "
            "This bounds selection by chance, not how many are not ties."
        )


def selected(graph: LearnedGraph, found: Plan, keys: Array, shares: Array) -> Selection:
    """Return the selection: the ties of a graph that enough halves take."""
    mutual = graph.undirected()
    n = graph.n_nodes
    taken = sparse.csr_array((shares, (keys // n, keys % n)), shape=(n, n))
    share = values_at(sparse.csr_array(taken + taken.T), mutual.weights)
    whole = LearnedGraph(mutual.names, mutual.weights, False, {}, {"share": share, **mutual.edge_columns})
    return Selection(whole.at_least("share", found.tau - 1e-9), found)
