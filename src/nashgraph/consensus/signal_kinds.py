"""What the signals are: answers to different questions, or samples of one kind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..scaling import spread_ratio
from ..validation import Array

KINDS = ANSWERS, SAMPLES = "answers", "samples"


class Kind(NamedTuple):
    """What the signals are, "answers" or "samples", and why."""

    name: str
    reason: str


def kind_of_signals(X: Array, few_values: int = 10, uneven: float = 10.0, sparse_share: float = 0.5) -> Kind:
    """Tell answers to different questions from repeated samples of one kind, by the values and the units.

    Signals with at most ``few_values`` values are answers (89% of the columns of real survey tables are), unless all
    have three or more, equally often: samples of one kind, in classes. Signals are also answers if their units differ:
    the 90% quantile of spreads is more than ``uneven`` times the 10% quantile (for samples of one kind it was at most
    3.3 times). They are answers if they are sparse counts, how often somebody plays a song or goes to a shop: in most
    of them more than ``sparse_share`` of the nodes have the lowest value. Nothing here changes with a signal's unit.
    """
    part = X[:, :10_000]  # enough to count values
    values = np.array([len(np.unique(row[np.isfinite(row)])) for row in part])
    few = np.mean(values <= few_values)
    # Samples of one kind in three classes or more have much the same frequencies: by their own quantiles they differ by
    # 0, by common thresholds by 0.12 to 0.69; questions of 43 real tables, which are not reported, by 0.34 to 0.90. Two
    # classes do not tell: questions that few people say yes to also have the same frequencies.
    if few >= 0.5 and len(X) >= 5 and values.min() >= 3 and frequency_distance(part, few_values) <= 0.15:
        return Kind(SAMPLES, "the signals have few different values, but all have them about equally often")
    if few >= 0.5:
        return Kind(ANSWERS, f"{100 * few:.0f}% of the signals have at most {few_values} different values")
    ratio = spread_ratio(part)
    if ratio > uneven:
        return Kind(ANSWERS, f"the signals have different units: their spreads differ by a factor of {ratio:.0f}")
    at_lowest = share_at_lowest(part)
    if at_lowest > sparse_share:
        return Kind(
            ANSWERS, f"the signals are sparse counts: {100 * at_lowest:.0f}% of the nodes have the lowest value"
        )
    return Kind(SAMPLES, "most signals have many different values and similar spreads")


def share_at_lowest(X: Array) -> float:
    """Return the share of nodes that have a signal's lowest value, for the median signal."""
    lowest = np.fmin.reduce(X, axis=1)
    counts = (lowest[:, None] == X).sum(axis=1)
    observed = np.maximum(np.isfinite(X).sum(axis=1), 1)
    return float(np.median(counts / observed))


def frequency_distance(X: Array, few_values: int = 10) -> float:
    """Return how far the frequencies of a signal's values are from the mean: the 90% quantile of total variations."""
    frequencies = np.zeros((len(X), few_values + 1))  # the last is for all signals with more values
    for row, signal in zip(frequencies, X, strict=True):
        counts = np.unique(signal[np.isfinite(signal)], return_counts=True)[1]
        row[-1] = len(counts) > few_values
        if len(counts) <= few_values:
            row[: len(counts)] = counts / max(int(counts.sum()), 1)
    return float(np.quantile(0.5 * np.abs(frequencies - frequencies.mean(axis=0)).sum(axis=1), 0.9))
