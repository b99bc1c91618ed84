"""Interaction functions f: how much a neighbour's action y_j moves a node.

The paper's assumption H1: f is defined on x >= 0, twice differentiable, with f(0) = 0, non-decreasing, concave,
1-Lipschitz, f(x) <= x and |f''(x)| <= 1. Under H1 and row sums c < 1 the game has exactly one equilibrium.

A new interaction is one class with ``value`` and ``slope``, both functions of an array, registered under its name: the
command line, its help and the tests over all interactions then have it. If it is made of NumPy's functions of single
numbers (``np.exp``, ``+``), it is computed on a GPU where the vectors are there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ..registry import Registry
from ..validation import Array, InputError, check_choice


@runtime_checkable
class Interaction(Protocol):
    """The interface of f: its value and its derivative at non-negative arrays.

    Examples
    --------
    >>> isinstance(Log1p(), Interaction)
    True
    """

    def value(self, x: Array) -> Array:
        """Return f(x)."""

    def slope(self, x: Array) -> Array:
        """Return f'(x)."""


class Response(Protocol):
    """A node's response to some pressure z: φ, its slope, and the least and greatest value it can have."""

    @property
    def range(self) -> tuple[float, float]: ...

    def value(self, z: Array) -> Array:
        """Return φ(z)."""

    def slope(self, z: Array) -> Array:
        """Return φ'(z)."""


INTERACTIONS: Registry[Callable[[], Interaction]] = Registry("interaction")


@INTERACTIONS.register("linear")
@dataclass(frozen=True)
class Linear:
    """f(x) = x, the linear-quadratic game of Ballester, Calvó-Armengol and Zenou.

    Examples
    --------
    >>> float(Linear().value(2.0))
    2.0
    """

    def value(self, x: Array) -> Array:
        return np.positive(x)

    def slope(self, x: Array) -> Array:
        return np.power(x, 0.0)


@INTERACTIONS.register("log1p")
@dataclass(frozen=True)
class Log1p:
    """f(x) = log(1 + x): the paper's concave interaction.

    Examples
    --------
    >>> float(Log1p().slope(1.0))
    0.5
    """

    def value(self, x: Array) -> Array:
        return np.log1p(x)

    def slope(self, x: Array) -> Array:
        return 1.0 / (1.0 + x)


@INTERACTIONS.register("saturating")
@dataclass(frozen=True)
class Saturating:
    """f(x) = 2x / (2 + x): influence that levels off at 2.

    The plainer x / (1 + x) breaks H1, since its second derivative is -2 at 0.

    Examples
    --------
    >>> float(Saturating().value(2.0))
    1.0
    """

    def value(self, x: Array) -> Array:
        return 2.0 * x / (2.0 + x)

    def slope(self, x: Array) -> Array:
        return 4.0 / (2.0 + x) ** 2


@INTERACTIONS.register("exponential")
@dataclass(frozen=True)
class Exponential:
    """f(x) = 1 - exp(-x): influence that levels off at 1.

    Examples
    --------
    >>> float(Exponential().slope(0.0))
    1.0
    """

    def value(self, x: Array) -> Array:
        return -np.expm1(-x)

    def slope(self, x: Array) -> Array:
        return np.exp(-x)


@dataclass(frozen=True)
class CustomInteraction:
    """A user's own f, given as functions for f and f' of an array, and checked against H1 when made.

    Examples
    --------
    >>> import numpy as np
    >>> arctan = CustomInteraction(np.arctan, lambda x: 1 / (1 + x**2))
    >>> CustomInteraction(np.sqrt, lambda x: 0.5 / np.sqrt(x))
    Traceback (most recent call last):
    ...
    nashgraph.decisions.InputError: interaction breaks H1: it must be finite for x >= 0, but f'(0) = inf
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]

    def __post_init__(self) -> None:
        """Refuse an f outside H1."""
        check_h1(self)


def as_interaction(interaction: str | Interaction) -> Interaction:
    """Return the interaction meant by a name or an object; a user's own object is checked against H1."""
    if isinstance(interaction, str) or not isinstance(interaction, Interaction):
        hint = ", or pass an object with value and slope (see CustomInteraction)"
        return INTERACTIONS[check_choice("interaction", interaction, INTERACTIONS, hint)]()
    if type(interaction).__module__ != __name__:
        check_h1(interaction)
    return interaction


def check_h1(interaction: Interaction) -> None:
    """Check f against every clause of H1 on a grid of x from 0 to 1e6; raise naming the clause and the x."""
    x = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 1201)])
    middle = 0.5 * (x[1:] + x[:-1])
    step = np.diff(x)
    with np.errstate(all="ignore"):
        f, slope, halfway = (
            np.broadcast_to(np.asarray(part(at), dtype=float), at.shape)
            for part, at in ((interaction.value, x), (interaction.slope, x), (interaction.slope, middle))
        )
        quotient = np.diff(f) / step
        curvature = np.diff(slope) / step
    for values, symbol in ((f, "f"), (slope, "f'")):
        _require(np.isfinite(values), "it must be finite for x >= 0", symbol, x, values)
    slack = 1e-9
    _require(np.abs(f[:1]) <= slack, "f(0) must be 0", "f", x, f)
    _require(slope >= -slack, "f must be non-decreasing", "f'", x, slope)
    _require(np.abs(slope) <= 1 + slack, "f must be 1-Lipschitz", "f'", x, slope)
    _require(f <= x * (1 + slack) + slack, "f(x) must be at most x", "f", x, f)
    # On a grid this fine a difference quotient agrees with the derivative to about 1e-4, and rounding is below 1e-9.
    _require(np.abs(quotient - halfway) <= 1e-3, "slope must be the derivative of f", "f'", middle, halfway)
    _require(curvature <= slack, "f must be concave", "f''", middle, curvature)
    _require(np.abs(curvature) <= 1 + slack, "|f''(x)| must be at most 1", "f''", middle, curvature)


def _require(holds: Array, clause: str, symbol: str, x: Array, values: Array) -> None:
    if not np.all(holds):
        first = int(np.argmin(holds))
        raise InputError(f"interaction breaks H1: {clause}, but {symbol}({x[first]:.6g}) = {values[first]:.6g}")
