r"""The paper's prior: the welfare at the equilibrium of a network game, and games with a cap or with substitutes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..games import as_interaction, as_welfare
from ..games.interactions import Response
from ..validation import Array, check_number
from .dynamics import FixedPointPrior


@dataclass(frozen=True)
class Clipped:
    """φ(z) = min(max(0, z), cap), with parabolas of a given width on either side of the two corners."""

    cap: float = np.inf
    width: float = 0.0

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest action."""
        return 0.0, self.cap

    def value(self, z: Array) -> Array:
        """Return φ(z)."""
        low = self._positive(z)
        return low if np.isinf(self.cap) else self.cap - self._positive(self.cap - low)

    def slope(self, z: Array) -> Array:
        """Return φ'(z)."""
        slope = self._rising(z)
        return slope if np.isinf(self.cap) else slope * self._rising(self.cap - self._positive(z))

    def _positive(self, z: Array) -> Array:
        corner = np.square(np.maximum(z + self.width, 0.0)) / (4.0 * self.width or 1.0)
        return np.where(np.abs(z) < self.width, corner, np.maximum(z, 0.0))

    def _rising(self, z: Array) -> Array:
        return np.clip((z + self.width) / (2.0 * self.width), 0.0, 1.0) if self.width else (z > 0.0).astype(float)


@dataclass(frozen=True, eq=False)
class GamePrior(FixedPointPrior):
    r"""The welfare of a network game as a functional prior.

    .. math:: \Phi(W) = g(y), \quad y = \min(\max(0,\; b + \delta\, W f(y)),\; \text{cap}), \quad
              \nabla\Phi = \delta\,(\varphi'(z) \circ u) f(y)^\top

    The paper's game has :math:`\delta = 1` and no cap. A negative :math:`\delta` makes actions *strategic substitutes*:
    people do less where their neighbours do more (Bramoullé, Kranton, D'Amours 2014).

    Assumptions: f satisfies H1. Then the equilibrium is unique on every graph of S for :math:`-1 \le \delta \le 1`,
    because the map contracts by :math:`|\delta| c < 1`; other :math:`\delta` are refused. The two corners of the map
    are rounded, because :math:`\Phi` would have kinks where an action reaches 0 or the cap: a strong prior leads right
    into them, and no graph there is stationary. The paper's game never reaches a corner and is left as it is.

    Parameters
    ----------
    benefit : array of shape (n_nodes,), non-negative
    interaction : str or Interaction
    welfare : str or Welfare
    share : float in [-1, 1], :math:`\delta`
    cap : float, optional
        The greatest action (default: none).
    rounding : float
        Half the width over which a corner is rounded, relative to the mean benefit. An action is at most a quarter of
        it away from that of the sharp corner, for given neighbours.

    Examples
    --------
    >>> from nashgraph.pairs import PairSearch
    >>> from nashgraph.smoothness import make_smoothness
    >>> smoothness = make_smoothness(PairSearch(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> b = np.array([0.2, 0.3, 0.5])
    >>> games = GamePrior(b, "linear"), GamePrior(b, "linear", cap=0.5), GamePrior(b, "linear", share=-0.5)
    >>> [round(game.evaluate(smoothness.smooth).value, 4) for game in games]
    [1.7667, 1.45, 0.8333]
    """

    benefit: Array
    interaction: Any = "log1p"
    welfare: Any = "total"
    share: float = 1.0
    cap: float | None = None
    rounding: float = 0.05
    response: Response = field(init=False, repr=False)

    def __post_init__(self) -> None:
        remedy = "it multiplies what neighbours do; 1 is the paper's, -1 to 0 are strategic substitutes"
        check_number("share", self.share, low=-1, high=1, remedy=remedy)
        if self.cap is not None:
            check_number("cap", self.cap, low=0, open_low=True, remedy="it is the greatest action; None is no cap")
        object.__setattr__(self, "benefit", np.asarray(self.benefit, float))
        object.__setattr__(self, "interaction", as_interaction(self.interaction))
        object.__setattr__(self, "welfare", as_welfare(self.welfare))
        check_number("rounding", self.rounding, low=0, remedy="try 0.05; 0 leaves the corners sharp")
        # Corners of φ are rounded, because at a sharp one the value has no gradient.
        width = 0.0 if self.plain else self.rounding * float(np.mean(self.benefit))
        object.__setattr__(self, "response", Clipped(np.inf if self.cap is None else float(self.cap), width))

    @property
    def plain(self) -> bool:
        """Whether no action is ever at a bound."""
        return self.cap is None and self.share >= 0.0
