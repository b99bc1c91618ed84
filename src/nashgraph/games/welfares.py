"""Welfare functions g: what a society's actions y are worth. The prior of the learned graph is g(y) at equilibrium.

A new welfare is one class with ``value`` (a number) and ``gradient`` (an array), both functions of y, registered under
its name. It should not decrease in any action: the adjoint is then non-negative, what a unit of benefit is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ..registry import Registry
from ..validation import Array, InputError, check_choice, check_vector


@runtime_checkable
class Welfare(Protocol):
    """The interface of g: its value and gradient.

    Examples
    --------
    >>> isinstance(TotalAction(), Welfare)
    True
    """

    def value(self, y: Array) -> float:
        """Return g(y)."""

    def gradient(self, y: Array) -> Array:
        """Return the gradient of g at y."""


WELFARES: Registry[Callable[[], Welfare]] = Registry("welfare")


@WELFARES.register("total")
@dataclass(frozen=True)
class TotalAction:
    """g(y) = sum_i y_i, the paper's total social welfare.

    Examples
    --------
    >>> import numpy as np
    >>> TotalAction().value(np.array([1.0, 2.0]))
    3.0
    """

    def value(self, y: Array) -> float:
        return float(np.sum(y))

    def gradient(self, y: Array) -> Array:
        return np.ones_like(y)


@WELFARES.register("utilitarian")
@dataclass(frozen=True)
class Utilitarian:
    """g(y) = sum_i y_i^2 / 2, which at the equilibrium is the sum of the players' payoffs.

    There y_i is the best reply b_i + sum_j W_ij f(y_j), so U_i = -y_i^2 / 2 + y_i * y_i.

    Examples
    --------
    >>> import numpy as np
    >>> Utilitarian().value(np.array([1.0, 2.0]))
    2.5
    """

    def value(self, y: Array) -> float:
        return 0.5 * float(y @ y)

    def gradient(self, y: Array) -> Array:
        return np.array(y)


@dataclass(frozen=True, eq=False)
class WeightedTotal:
    """g(y) = sum_i weights_i y_i, with non-negative weights: some nodes' actions count more than others'.

    Examples
    --------
    >>> import numpy as np
    >>> WeightedTotal([1.0, 0.5]).value(np.array([1.0, 2.0]))
    2.0
    """

    weights: Array

    def value(self, y: Array) -> float:
        return float(self.gradient(y) @ y)

    def gradient(self, y: Array) -> Array:
        remedy = "pass one non-negative weight per node"
        weights = check_vector("WeightedTotal weights", self.weights, len(y), remedy)
        if (weights < 0).any():
            raise InputError(f"WeightedTotal weights must not be negative, got {weights.min():g}: {remedy}")
        return weights


@dataclass(frozen=True, eq=False)
class EqualGroups:
    r"""Fairness between groups, given by the name of each node's: minus half the variance between their mean actions.

    .. math:: g(y) = -\frac12 \sum_k \frac{n_k}{N} (\bar y_k - \bar y)^2

    It is 0 where all groups act alike on average, and for two groups of equal size minus an eighth of the squared
    difference of their means. It decreases in some actions; add it to another prior to weigh the two, for example
    ``GamePrior(b) + 5.0 * GamePrior(b, welfare=EqualGroups(groups))``.

    Examples
    --------
    >>> import numpy as np
    >>> EqualGroups(["a", "a", "b", "b"]).value(np.array([1.0, 2.0, 2.0, 3.0]))
    -0.125
    """

    groups: Array

    def _above(self, y: Array) -> Array:
        """Return how far the mean of each node's group is above the mean of all."""
        members = np.unique(np.asarray(self.groups), return_inverse=True)[1]
        if members.shape != y.shape:
            raise InputError(f"EqualGroups needs one group per node: got {members.size} for {len(y)} nodes")
        means = np.bincount(members, y) / np.bincount(members)
        above: Array = means[members] - y.mean()
        return above

    def value(self, y: Array) -> float:
        return -0.5 * float(np.mean(self._above(y) ** 2))

    def gradient(self, y: Array) -> Array:
        return -self._above(y) / len(y)


@dataclass(frozen=True)
class CustomWelfare:
    """A user's own g, given by its value and its gradient.

    Examples
    --------
    >>> import numpy as np
    >>> rawls = CustomWelfare(lambda y: float(-np.log(np.exp(-y).sum())), lambda y: np.exp(-y) / np.exp(-y).sum())
    >>> rawls.gradient(np.array([1.0, 1.0]))
    array([0.5, 0.5])
    """

    value: Callable[[Array], float]
    gradient: Callable[[Array], Array]


def as_welfare(welfare: str | Welfare) -> Welfare:
    """Return the welfare function meant by a name or an object."""
    if not isinstance(welfare, str) and isinstance(welfare, Welfare):
        return welfare
    hint = ", or pass an object with value and gradient (see WeightedTotal, CustomWelfare)"
    return WELFARES[check_choice("welfare", welfare, WELFARES, hint)]()
