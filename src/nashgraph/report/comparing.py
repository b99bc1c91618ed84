"""Tests of differences: between the nodes or ties of one network, and between the networks of two groups."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.linalg import norm
from sklearn.base import clone

from ..estimators import SmoothGL
from ..graph import LearnedGraph, interval_around
from ..matching import names_of, order_of
from ..validation import Array, InputError, check_choice, check_integer
from . import plots
from .cut import cut_of
from .prose import speaking

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Differences(NamedTuple):
    """Which of some nodes or ties differ.

    ``values`` are the influence of each node or the weight of each tie; ``differ``, of shape (n, n), is whether the 90%
    interval of the difference excludes zero.
    """

    names: list[str]
    values: Array
    differ: Array


def differences(model: Any, of: str = "nodes", *, most: int = 20, nodes: Array | None = None) -> Differences:
    """Test which nodes differ in influence, or which ties in weight, by the replicates of a consensus.

    Two nodes differ if the 90% interval of the difference of their influence excludes zero. Comparing their own
    intervals instead is too careful, because replicates move both. Of many pairs about one in ten is marked by chance.

    Parameters
    ----------
    model : fitted ConsensusGL, with replicates
    of, most : "nodes" or "ties", and how many of the most influential or the heaviest to compare
    nodes : array of int, optional, nodes by number, the first of which are compared; the most influential if left out

    Examples
    --------
    >>> from nashgraph import ConsensusGL
    >>> X = np.random.default_rng(0).normal(size=(40, 15))
    >>> found = differences(ConsensusGL(random_state=0).fit(X), most=4)
    >>> len(found.names), int(found.differ.trace())
    (4, 0)
    """
    check_choice("of", of, ("nodes", "ties"))
    count = check_integer("most", most, low=2, remedy="it is how many nodes or ties to compare; try 20")
    replicates = getattr(model, "replicate_graphs_", None)
    graph = model.graph_
    if not replicates:
        raise InputError("the model has no replicates to compare by: fit ConsensusGL with n_replicates of 20 or more")
    if of == "nodes":
        chosen = (speaking(graph) if nodes is None else nodes)[:count]
        names = [str(name) for name in graph.names[chosen]]
        values = graph.influence[chosen]
        drawn = [np.asarray(each.sum(axis=0)).ravel()[chosen] for each in replicates]
    else:
        pairs = graph.undirected().listed
        pairs = pairs.take(np.argsort(-pairs.weight, kind="stable")[:count])
        names = [f"{graph.names[a]} – {graph.names[b]}" for a, b in zip(pairs.source, pairs.target, strict=True)]
        values = pairs.weight
        drawn = [0.5 * np.asarray((each + each.T)[pairs.source, pairs.target]).ravel() for each in replicates]

    def apart(each: Array) -> Array:
        return np.asarray(np.subtract.outer(each, each).ravel())

    low, high = interval_around(apart(values), [apart(each) for each in drawn])
    return Differences(names, values, ((low > 0) | (high < 0)).reshape(len(values), len(values)))


def plot_differences(found: Differences, ax: Axes | None = None) -> Axes:
    """Draw which nodes or ties differ: a dark cell if they do, a light one if the replicates do not tell.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> found = Differences(["ann", "bob"], np.array([0.9, 0.2]), np.array([[False, True], [True, False]]))
    >>> plot_differences(found, Figure().subplots()).images[0].get_array().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    ax = plots.axes_or_new(ax)
    ax.imshow(found.differ.astype(float), cmap="Greys", vmin=-0.15, vmax=1.4)
    for place, value in enumerate(found.values):
        ax.text(place, place, f"{value:.2g}", ha="center", va="center", fontsize=6)
    ax.set_xticks(range(len(found.names)), found.names, rotation=90, fontsize=7)
    ax.set_yticks(range(len(found.names)), found.names, fontsize=7)
    ax.set_title("dark: the difference is larger than its 90% interval", fontsize=9)
    return ax


class GroupTest(NamedTuple):
    """Whether the networks of two groups differ.

    ``structure`` is the norm of the differences of all ties and ``strength`` the difference of their sums; the p-value
    of the strength is NaN if a method gives every network the same. ``ties`` has one row for each pair with a tie in
    one of the networks: source, target, one, other, difference, p_value and p_adjusted (for all pairs together),
    smallest first.
    """

    structure: float
    strength: float
    p_structure: float
    p_strength: float
    ties: pd.DataFrame
    n_permutations: int


def compare_groups(model: Any, one: Any, other: Any, *, n_permutations: int = 199, random_state: int = 0) -> GroupTest:
    """Test whether two groups have different networks on the same nodes, by permutation (a network comparison test).

    Null hypothesis: the signals of both groups come from one distribution, so their labels can be exchanged. Signals
    are standardised for each node within each group, so that groups that differ only in level or spread count as equal.
    The structure is the Euclidean norm of ``t_one - t_other``, with t the evidence of every pair (see
    :func:`plot_evidence`); van Borkulo and others (2023) take the largest difference of a tie, which found fewer of the
    differences we simulated. The strength is theirs, ``|sum t_one - sum t_other|``. Single ties are adjusted for their
    number by the largest difference in each permutation (Westfall and Young). Signals must be exchangeable: respondents
    or independent days, not the categories of one question.

    Parameters
    ----------
    model : estimator, fitted or not; it is fitted 2 (n_permutations + 1) times, so use a fast one (n_replicates=0)
    one, other : the signals of the groups, of shapes (n_signals, n_nodes), with the same nodes
    n_permutations, random_state : int

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> random = np.random.default_rng(0)
    >>> factor = np.kron(np.eye(2), np.ones(4))
    >>> one = random.normal(size=(60, 2)) @ factor + random.normal(size=(60, 8))
    >>> other = random.normal(size=(60, 2)) @ factor[:, [0, 4, 1, 5, 2, 6, 3, 7]] + random.normal(size=(60, 8))
    >>> found = compare_groups(SmoothGL(degree=3), one, other, n_permutations=19)
    >>> found.p_structure
    0.05
    """
    count = check_integer("n_permutations", n_permutations, low=19, remedy="try 199")
    names = names_of(one)
    order = order_of(names, names_of(other), "one", "other")
    first = standardized("one", one)
    second = standardized("other", other)
    second = second if order is None else second[:, order]
    if first.shape[1] != second.shape[1]:
        raise InputError(
            f"one has {first.shape[1]} nodes and other {second.shape[1]}: pass signals of the same nodes, in one order"
        )
    if first.shape[1] > 2_000:
        raise InputError("every pair is tested, so at most 2,000 nodes can be compared; choose some of them")
    pooled = np.vstack([first, second])
    split = len(first)
    ties = [tie_values(model, part) for part in (first, second)]
    apart = ties[0] - ties[1]
    norms = [norm(apart)]
    tops = []
    sums = [[part.sum() for part in ties]]
    larger = np.zeros_like(apart)
    random = np.random.default_rng(random_state)
    for _ in range(count):
        drawn = random.permutation(len(pooled))
        parts = [tie_values(model, standardized("", pooled[rows])) for rows in (drawn[:split], drawn[split:])]
        by_chance = np.abs(parts[0] - parts[1])
        larger += by_chance >= np.abs(apart)
        norms.append(norm(by_chance))
        tops.append(by_chance.max())
        sums.append([part.sum() for part in parts])
    strengths = np.abs(np.diff(sums, axis=1)).ravel()
    if isinstance(one, pd.DataFrame):
        called = np.asarray(one.columns)
    else:
        called = np.arange(len(apart))
    listed = np.triu(np.maximum(*ties), 1).nonzero()
    adjusted = (np.asarray(tops) >= np.abs(apart[listed])[:, None]).sum(axis=1)
    table = pd.DataFrame({"source": called[listed[0]], "target": called[listed[1]]})
    table = table.assign(one=ties[0][listed], other=ties[1][listed], difference=apart[listed])
    table = table.assign(p_value=(1 + larger[listed]) / (count + 1), p_adjusted=(1 + adjusted) / (count + 1))
    return GroupTest(
        structure=float(norms[0]),
        strength=float(strengths[0]),
        p_structure=float(np.mean(np.asarray(norms) >= norms[0])),
        p_strength=np.nan if np.ptp(sums) <= 1e-9 * np.max(sums) else float(np.mean(strengths >= strengths[0])),
        ties=table.sort_values(["p_adjusted", "p_value"], kind="stable", ignore_index=True),
        n_permutations=count,
    )


class GroupComparison(NamedTuple):
    """What the page of several groups says of their differences: a sentence, and a row of cells for two groups each."""

    sentence: str
    rows: list[tuple[str, str, str, str]]


def compared_groups(
    signals: Mapping[str, pd.DataFrame], *, most_pairs: int = 6, most_nodes: int = 200, n_permutations: int = 99
) -> GroupComparison:
    """Test whether the networks of groups of the same people differ (:func:`compare_groups`), two groups at a time.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> waves = {"2019": pd.DataFrame(random.normal(size=(20, 5))), "2021": pd.DataFrame(random.normal(size=(20, 4)))}
    >>> compared_groups(waves).sentence
    'The groups have different people, so they have no ties in common to compare.'
    """
    people = {frozenset(map(str, table.columns)) for table in signals.values()}
    pairs = list(combinations(signals, 2))
    if len(people) > 1 or not pairs:
        return GroupComparison("The groups have different people, so they have no ties in common to compare.", [])
    if len(pairs) > most_pairs or len(next(iter(people))) > most_nodes:
        return GroupComparison("Too many groups or people for a test here: compare two with compare_groups.", [])
    rows = []
    for one, other in pairs:
        test = compare_groups(SmoothGL(), signals[one], signals[other], n_permutations=n_permutations)
        differ = int((test.ties["p_adjusted"] <= 0.05).sum())
        if np.isnan(test.p_strength):
            strength = "not tested"
        else:
            strength = f"{test.p_strength:.2f}"
        rows.append((f"{one} and {other}", f"{test.p_structure:.2f}", strength, f"{differ:,} of {len(test.ties):,}"))
    sentence = (
        f"Permutation tests of the same people in two groups, by SmoothGL with {n_permutations} permutations of the "
        "signals. A small p-value says that the ties differ as a whole, or their sum; it assumes that signals are "
        "exchangeable, as days or independent questions are."
    )
    return GroupComparison(sentence, rows)


def tie_values(model: Any, X: Array) -> Array:
    """Return the evidence of every pair in the network of some signals, as a symmetric matrix."""
    pairs: LearnedGraph = clone(model).fit(X).graph_.undirected()
    listed = pairs.listed
    values = np.zeros((pairs.n_nodes, pairs.n_nodes))
    values[listed.source, listed.target] = values[listed.target, listed.source] = cut_of(pairs).evidence[listed.place]
    return values


def standardized(name: str, X: Any) -> Array:
    """Return signals with mean 0 and variance 1 at every node; a node that does not vary is 0."""
    from sklearn.preprocessing import scale  # noqa: PLC0415 (a tenth of a second, and few runs compare groups)

    values = np.asarray(X, dtype=float)
    if values.ndim != 2 or len(values) < 2 or not np.isfinite(values).all():
        raise InputError(f"{name} must be a table of numbers without gaps, with two or more signals (rows)")
    return np.asarray(scale(values))
