"""Signals brought to one scale, and tables that were scaled the wrong way round."""

from __future__ import annotations

import numpy as np

from .validation import Array, warn


def standardised(X: Array) -> Array:
    """Return signals of mean 0 and spread 1 over the nodes that have them; constant ones are 0, gaps stay NaN."""
    observed = np.isfinite(X)
    counts = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    values = np.where(observed, X, 0.0)
    centred = np.where(observed, values - values.sum(axis=1, keepdims=True) / counts, 0.0)
    size = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    spread = np.sqrt(np.square(centred).sum(axis=1, keepdims=True) / counts)
    varies = spread > 1e-12 * size  # below, differences are rounding
    result = np.where(varies, centred / np.where(varies, spread, 1.0), 0.0)
    return np.where(np.isnan(X), np.nan, result)


def warn_of_standardised_nodes(X: Array, rounding: float = 1e-6) -> None:
    """Warn of nodes that all have mean 0 and spread 1, as StandardScaler leaves them: it scales columns, not signals.

    That takes away what tells people apart, and leaves signals of different units as they were.
    """
    if min(X.shape) < 3:
        return
    counts = np.isfinite(X).sum(axis=0)
    if counts.min() < 3:
        return
    means = np.abs(np.nanmean(X, axis=0))
    population = np.nanstd(X, axis=0)  # StandardScaler's spread
    sample = population * np.sqrt(counts / (counts - 1.0))  # pandas'
    for spreads in (population, sample):
        scaled = np.abs(spreads - 1.0) <= rounding
        constant = spreads <= rounding
        if (means <= rounding).all() and (scaled | constant).all() and scaled.sum() >= 2:
            warn(
                "every node has mean 0 and spread 1 over the signals, as StandardScaler leaves it: X has nodes in its "
                "columns, so StandardScaler scales people and not their answers. Pass X without it: ConsensusGL scales "
                "signals itself (scale='auto'). If nodes are meant to be scaled, as measurements of sensors are, say "
                "signals='samples'"
            )
            return


def spread_ratio(X: Array) -> float:
    """Return the 90% quantile of the signals' spreads over the 10% quantile; constant signals are left out."""
    spreads = np.nanstd(X, axis=1)
    spreads = spreads[spreads > 0]
    if not spreads.size:
        return 1.0
    low, high = np.quantile(spreads, (0.1, 0.9))
    return float(high / low)
