"""The theta that gives a degree in the log-degree model: a first guess that treats each node alone, and a search."""

from __future__ import annotations

import numpy as np

from ..validation import Array, InputError

# The search gives up this far from its first guess, in log theta: degrees do not change any more out there.
SEARCH_RANGE = 7.0


def lonely_potential(nearest: Array, theta: float) -> Array:
    r"""Return the potentials of the problem in which every node chooses its edges alone.

    :math:`\sum_j \max(0, \mu_i - \theta z_{ij}) = 1/\mu_i` over the sorted distances z of row i: with k neighbours it
    is a quadratic equation, and k is the number of activation levels below :math:`\theta^{-2}`.
    """
    last = np.sum(activation_levels(nearest) < theta**-2, axis=1).clip(min=1) - 1
    summed = theta * np.take_along_axis(np.cumsum(nearest, axis=1), last[:, None], axis=1)[:, 0]
    potential: Array = (summed + np.sqrt(summed**2 + 4.0 * (last + 1))) / (2.0 * (last + 1))
    return potential


def activation_levels(nearest: Array) -> Array:
    r"""Return :math:`k z_k^2 - z_k \sum_{j \le k} z_j`: a node alone has k edges iff it is below theta^-2."""
    ranks = np.arange(1, nearest.shape[1] + 1)
    levels: Array = nearest * np.maximum(ranks * nearest - np.cumsum(nearest, axis=1), 0.0)
    return levels


def guess_theta(nearest: Array, degree: float) -> float:
    r"""Return the theta at which nodes alone have ``degree`` edges on average.

    Kalofolias and Perraudin average the intervals of theta of all nodes; here the levels of all nodes are pooled and
    cut at the rank wanted, which is exact for the problem in which every node chooses alone.
    """
    levels = np.sort(activation_levels(nearest), axis=None)
    rank = min(max(round(degree * len(nearest)), 1), levels.size - 1)
    level = 0.5 * (levels[rank - 1] + levels[rank])
    if level <= 0.0:
        positive = levels[levels > 0.0]
        level = positive[0] if positive.size else float(nearest.max()) ** 2
    if level <= 0.0:
        raise InputError(
            "degree cannot set the sparsity: every node has the same signals, so all distances are zero; "
            "check X, or pass alpha and beta"
        )
    return float(level**-0.5)


class Search:
    """Find where a decreasing function of one number takes a value: secant steps kept inside a bracket."""

    def __init__(self, wanted: float, place: float) -> None:
        self.wanted = wanted
        self.origin = place
        self.low, self.high = -np.inf, np.inf
        self.last: tuple[float, float] | None = None

    def next_place(self, place: float, value: float) -> float | None:
        """Take in a value and return where to look next; None when the bracket has closed."""
        excess = value - self.wanted
        if excess > 0:
            self.low = place
        else:
            self.high = place
        slope = -1.0
        if self.last is not None and place != self.last[0]:
            slope = min((value - self.last[1]) / (place - self.last[0]), -0.1)
        self.last = (place, value)
        target = place - float(np.clip(excess / slope, -2.0, 2.0))
        width = self.high - self.low
        if width < 1e-6 or abs(place - self.origin) > SEARCH_RANGE:
            return None
        if np.isfinite(width) and not self.low + 0.05 * width <= target <= self.high - 0.05 * width:
            target = 0.5 * (self.low + self.high)
        return target
