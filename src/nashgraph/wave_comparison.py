r"""A network in each wave of a panel, and whether it changed by more than chance.

Signals of wave s weigh :math:`w_s = \exp(-(t - s)^2 / 2 h^2)` in the network of wave t; waves are numbered in order,
and h is the bandwidth. Costs of pairs are sums over signals, :math:`D_{ij} = \sum_m w_m (x_{mi} - x_{mj})^2`, so a
weight is a factor :math:`\sqrt{w_s}` of the signal.

Change is the weight that moved, :math:`T = \sum_{ij} |W^b_{ij} - W^a_{ij}| / \sum_{ij} (W^a_{ij} + W^b_{ij})`, from 0
to 1. Two samples of one network differ, so T is compared with its distribution if nothing changed. Then the two answers
to a question could as well have been given in the other wave, so a question's two signals are swapped with probability
1/2 (without questions: signals are dealt to the waves again). The p-value (1 + #{T* ≥ T}) / (1 + number of draws) is
valid for any number of signals. For nodes, :math:`T_i` of the node's incoming and outgoing weights is standardised over
the draws, and compared with the largest of all nodes in each draw (Westfall and Young 1993): with probability 95%
chance brings no node below 0.05. Somebody who lost or gained a neighbour has changed as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from .estimators import ConsensusGL, GraphEstimator
from .estimators.base import checked_signals, drawn_seed
from .validation import Array, InputError, check_integer, check_number, listing


def fit_waves(
    X: Any, waves: Sequence[Any], estimator: GraphEstimator | None = None, *, bandwidth: float = 0.5
) -> dict[Any, GraphEstimator]:
    """Return a fitted model for each wave, in which signals weigh less the further away their wave is.

    Parameters
    ----------
    X : array or DataFrame of shape (n_signals, n_nodes)
    waves : the wave of each signal (row), in the order of time
    estimator : what is fitted; by default :class:`ConsensusGL`, which chooses kind and scale of all signals once
    bandwidth : how many waves signals reach; 0 uses each wave's own signals alone, 0.5 gives the next wave a weight of
        0.14

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 12))
    >>> models = fit_waves(X, [2023] * 10 + [2024] * 10)
    >>> [label for label in models], models[2024].adjacency_.shape
    ([2023, 2024], (12, 12))
    """
    signals, names, waves = _checked(X, waves, bandwidth)
    model, signals = _prepared(estimator, signals)
    labels = list(dict.fromkeys(waves))
    number = np.array([labels.index(wave) for wave in waves])
    models = {}
    for t, label in enumerate(labels):
        distance = np.abs(number - t)
        weight = (distance == 0).astype(float)
        if bandwidth > 0:
            weight = np.exp(-0.5 * (distance / bandwidth) ** 2)
        near = weight > 1e-6  # beyond, a signal has no effect but takes time
        weighted = pd.DataFrame(signals[near] * np.sqrt(weight[near])[:, None], columns=names)
        models[label] = clone(model).fit(weighted)
    return models


@dataclass(frozen=True)
class WaveComparison:
    """What :func:`compare_waves` found.

    Attributes
    ----------
    before, after : the waves that are compared
    change : float, the share of weight that moved
    expected : float, its mean if nothing changed
    p_value : float, the chance of so much change if nothing changed
    nodes : DataFrame with name, change, expected and p_value (adjusted for the number of nodes), most changed first
    n_permutations : int
    """

    before: Any
    after: Any
    change: float
    expected: float
    p_value: float
    nodes: pd.DataFrame
    n_permutations: int

    def __str__(self) -> str:
        return (
            f"{self.change:.0%} of the weight moved from {self.before} to {self.after}, {self.expected:.0%} expected "
            f"by chance (p = {self.p_value:.2g}, {self.n_permutations} permutations)"
        )


def compare_waves(
    X: Any,
    waves: Sequence[Any],
    *,
    before: Any = None,
    after: Any = None,
    questions: Sequence[Any] | None = None,
    estimator: GraphEstimator | None = None,
    n_permutations: int = 199,
    random_state: Any = 0,
) -> WaveComparison:
    """Return how much the network changed between two waves, and how much of it chance explains.

    Parameters
    ----------
    X : array or DataFrame of shape (n_signals, n_nodes), the signals of all waves for the same nodes
    waves : the wave of each signal (row)
    before, after : the waves to compare; by default the first and the last
    questions : the question of each signal, if the same questions were asked in both waves: their answers are swapped
        between waves. By default, signals are exchangeable and dealt to the waves again.
    estimator : what learns the networks; by default :class:`ConsensusGL` without replicates
    n_permutations : how many draws; each learns two networks
    random_state : int, RandomState or None

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> first = np.repeat(random.normal(size=(30, 4)), 3, axis=1)  # four groups of three nodes
    >>> second = np.tile(random.normal(size=(30, 4)), 3)  # other groups
    >>> X = np.vstack([first, second]) + random.normal(size=(60, 12))
    >>> print(compare_waves(X, ["spring"] * 30 + ["fall"] * 30, n_permutations=19))
    74% of the weight moved from spring to fall, 54% expected by chance (p = 0.05, 19 permutations)
    """
    signals, names, waves = _checked(X, waves, 0.0)
    check_integer("n_permutations", n_permutations, low=1, high=100_000, remedy="how many draws; try 199")
    labels = list(dict.fromkeys(waves))
    before = labels[0] if before is None else before
    after = labels[-1] if after is None else after
    if before == after or before not in labels or after not in labels:
        raise InputError(f"before and after must be two of the waves {listing(labels)}, got {before!r} and {after!r}")
    model, signals = _prepared(estimator or ConsensusGL(n_replicates=0), signals)
    of_wave = np.array([label == after for label in waves])
    used = np.array([label in (before, after) for label in waves])
    signals = signals[used]
    later = of_wave[used]
    if questions is None:
        pairs = None
    else:
        pairs = _pairs([q for q, use in zip(questions, used, strict=True) if use], later)
    random = np.random.default_rng(drawn_seed(random_state))
    change, by_node = _moved(model, signals, later)
    drawn = np.zeros(n_permutations)
    drawn_by_node = np.zeros((n_permutations, len(names)))
    for draw in range(n_permutations):
        drawn[draw], drawn_by_node[draw] = _moved(model, signals, _dealt(later, pairs, random))
    # Standardised by the draws alone, the observed change would be the largest too often.
    together = np.vstack([drawn_by_node, by_node])
    mean = together.mean(axis=0)
    spread = np.maximum(together.std(axis=0), 1e-12)
    largest = ((drawn_by_node - mean) / spread).max(axis=1)
    beyond = (largest[:, None] >= (by_node - mean) / spread - 1e-12).sum(axis=0)
    columns = {
        "name": names,
        "change": by_node,
        "expected": drawn_by_node.mean(axis=0),
        "p_value": (1 + beyond) / (1 + n_permutations),
    }
    nodes = pd.DataFrame(columns).sort_values("change", ascending=False, kind="stable", ignore_index=True)
    p_value = float((1 + (drawn >= change - 1e-12).sum()) / (1 + n_permutations))
    return WaveComparison(before, after, change, float(drawn.mean()), p_value, nodes, n_permutations)


def _checked(X: Any, waves: Sequence[Any], bandwidth: float) -> tuple[Array, Array, list[Any]]:
    signals, names = checked_signals(X)
    check_number("bandwidth", bandwidth, low=0, high=1e6, remedy="it is how many waves signals reach; try 0.5")
    waves = list(waves)
    if len(waves) != len(signals):
        raise InputError(f"waves has {len(waves)} labels and X has {len(signals)} signals: give the wave of each row")
    if len(set(waves)) < 2:
        raise InputError("there is one wave, and two are needed: give the wave of each row", parameter="waves")
    return signals, names, waves


def _prepared(estimator: GraphEstimator | None, signals: Array) -> tuple[GraphEstimator, Array]:
    """Return the estimator and the signals as it compares them; a consensus chooses by the signals of all waves."""
    model = ConsensusGL() if estimator is None else estimator
    if not isinstance(model, ConsensusGL):
        return model, signals
    kind, signals = model.compared(signals)
    return clone(model).set_params(signals=kind, scale="none"), signals


def _moved(model: GraphEstimator, signals: Array, later: Array) -> tuple[float, Array]:
    """Return the share of weight that differs between the networks of two sets of signals, in all and by node."""
    first = clone(model).fit(signals[~later]).adjacency_
    second = clone(model).fit(signals[later]).adjacency_
    apart = abs(second - first)
    both = abs(second) + abs(first)
    of_node = np.asarray(apart.sum(axis=0) + apart.sum(axis=1)).ravel()
    total = np.asarray(both.sum(axis=0) + both.sum(axis=1)).ravel()
    return float(apart.sum() / both.sum()), of_node / np.maximum(total, 1e-300)


def _pairs(questions: list[Any], later: Array) -> Array:
    """Return the rows of each question in the two waves, a pair of rows each."""
    pairs = []
    for question in dict.fromkeys(questions):
        rows = [row for row, label in enumerate(questions) if label == question]
        if len(rows) != 2 or later[rows].sum() != 1:
            raise InputError(f"the question {question!r} must have one signal in each of the two waves")
        pairs.append(rows)
    return np.array(pairs)


def _dealt(later: Array, pairs: Array | None, random: np.random.Generator) -> Array:
    """Return a draw of which signals are of the later wave, if waves do not matter."""
    if pairs is None:
        return random.permutation(later)
    dealt = later.copy()
    swapped = pairs[random.random(len(pairs)) < 0.5]
    dealt[swapped] = later[swapped[:, ::-1]]
    return dealt
