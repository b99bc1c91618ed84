"""The paper's prior, the welfare of a network game; games with a cap, with substitutes, with several activities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..games import Log1p, TotalAction, as_interaction, as_welfare, solve_affine
from ..games.interactions import Response
from ..matching import node_values
from ..validation import Array, InputError, check_number
from .dynamics import DynamicsState, FixedPointPrior
from .prior import Combinable, Graph, by_column


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
        low = self._positive(z)
        if np.isinf(self.cap):
            return low
        # The upper corner is the lower one upside down.
        return self.cap - self._positive(self.cap - low)

    def slope(self, z: Array) -> Array:
        slope = self._rising(z)
        if np.isinf(self.cap):
            return slope
        return slope * self._rising(self.cap - self._positive(z))

    def rules(self) -> dict[str, Any]:
        """Return the response as data; without a cap it is null."""
        return {"kind": "clipped", "cap": None if np.isinf(self.cap) else self.cap, "width": self.width}

    def _positive(self, z: Array) -> Array:
        corner = np.square(np.maximum(z + self.width, 0.0)) / (4.0 * self.width or 1.0)
        return np.where(np.abs(z) < self.width, corner, np.maximum(z, 0.0))

    def _rising(self, z: Array) -> Array:
        if self.width == 0.0:
            return (z > 0.0).astype(float)
        return np.clip((z + self.width) / (2.0 * self.width), 0.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
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
        None leaves it to ``GLGP(benefit=...)``, which scales it to sum 1; one given here is used as it is.
    interaction : "log1p", "linear", "saturating", "exponential", another registered name, or an Interaction
    welfare : "total", "utilitarian", another registered name, or a Welfare
    share : float in [-1, 1], :math:`\delta`
    cap : float, optional
        The greatest action (default: none).
    rounding : float
        Half the width over which a corner is rounded, relative to the mean benefit. An action is at most a quarter of
        it away from that of the sharp corner, for given neighbours.

    Examples
    --------
    >>> from nashgraph.pairs import make_search
    >>> from nashgraph.smoothness import make_smoothness
    >>> smoothness = make_smoothness(make_search(np.array([[0.0, 1.0, 3.0]])), beta=1.0, c=0.5)
    >>> b = np.array([0.2, 0.3, 0.5])
    >>> games = GamePrior(b, "linear"), GamePrior(b, "linear", cap=0.5), GamePrior(b, "linear", share=-0.5)
    >>> [round(game.evaluate(smoothness.smooth).value, 4) for game in games]
    [1.7667, 1.45, 0.8333]
    """

    benefit: Any = None
    interaction: Any = field(default=Log1p())
    welfare: Any = field(default=TotalAction())
    share: float = 1.0
    cap: float | None = None
    rounding: float = 0.05
    response: Response = field(init=False, repr=False)

    def __post_init__(self) -> None:
        remedy = "it multiplies what neighbours do; 1 is the paper's, -1 to 0 are strategic substitutes"
        check_number("share", self.share, low=-1, high=1, remedy=remedy)
        if self.cap is not None:
            check_number("cap", self.cap, low=0, open_low=True, remedy="it is the greatest action; None is no cap")
        benefit = None if self.benefit is None else node_values(self.benefit)
        check_number("rounding", self.rounding, low=0, remedy="try 0.05; 0 leaves the corners sharp")
        # Corners of φ are rounded, because at a sharp one the value has no gradient.
        if self.plain or benefit is None:
            width = 0.0
        else:
            width = self.rounding * float(benefit.mean())
        response = Clipped(np.inf if self.cap is None else float(self.cap), width)
        interaction = as_interaction(self.interaction)
        welfare = as_welfare(self.welfare)
        self._set(benefit=benefit, interaction=interaction, welfare=welfare, response=response)

    @property
    def plain(self) -> bool:
        """Whether no action is ever at a bound."""
        return self.cap is None and self.share >= 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Activities(Combinable):
    r"""The welfare of a network game in which everybody has several activities at once (Chen, Zenou, Zhou 2018).

    .. math:: \Phi(W) = g(Y), \quad Y = B + \delta\, W Y - \kappa\, Y (1 1^\top - I), \quad
              \nabla\Phi = \delta\, U Y^\top

    Column k of Y are the actions in activity k, spurred by the neighbours' actions in the same activity. A positive
    :math:`\kappa` makes a person's activities substitutes (time spent on one is lost for the other), a negative one
    complements. The gradient has one column for each activity.

    Assumptions: :math:`\delta c + |\kappa| (K - 1) < 1`; actions are then unique. As in the reference, nobody is at a
    bound: with substitutes and very unequal benefits an action may be negative, and is meant as a shortfall.

    ``benefits`` is B, of shape (n_nodes, K), ``substitution`` is :math:`\kappa` and ``share`` is :math:`\delta`, in
    (0, 1]. The welfare is that of all actions as one vector.

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> X, B = np.random.default_rng(0).normal(size=(20, 30)), np.random.default_rng(1).random((30, 2))
    >>> model = GLGP(lam=1.0, prior=Activities(B, 0.2, share=0.8)).fit(X)
    >>> model.converged_, model.equilibrium_.shape
    (True, (30, 2))
    """

    per_node: ClassVar[str] = "benefits"
    benefits: Array
    substitution: float = 0.0
    share: float = 1.0
    welfare: Any = "total"

    def __post_init__(self) -> None:
        benefits = np.asarray(self.benefits, float)
        if benefits.ndim != 2:
            raise InputError(f"benefits must have one row per node and one column per activity, got {benefits.shape}")
        check_number("share", self.share, low=0, high=1, open_low=True, remedy="try 0.8")
        most = 1.0 / max(benefits.shape[1] - 1, 1)
        check_number("substitution", self.substitution, low=-most, high=most, remedy="try 0.1")
        self._set(benefits=benefits, welfare=as_welfare(self.welfare))

    def _evaluate(self, weights: Graph, *, tol: float, start: DynamicsState | None) -> DynamicsState:
        dot = by_column(weights.dot)
        tdot = by_column(weights.tdot)
        shape = self.benefits.shape

        # Both systems have the coupling between activities, which is symmetric; one has W and the other its transpose.
        def solved(product: Any, constant: Array, first: Array | None) -> Any:
            def linear(vector: Array) -> Array:
                Y = vector.reshape(shape)
                return (self.share * product(Y) - self.substitution * (Y.sum(axis=1, keepdims=True) - Y)).ravel()

            begin = None if first is None else first.ravel()
            return solve_affine(linear, constant.ravel(), tol=tol, start=begin)

        # The largest row sum of the map's matrix: below 1 it contracts.
        most = self.share * dot(np.ones(shape[0])).max() + abs(self.substitution) * (shape[1] - 1)
        if not most < 1.0:
            raise InputError(
                f"share * c + |substitution| * (activities - 1) is {most:.3g}: there may be no equilibrium; "
                "lower share, substitution or c until it is below 1"
            )
        rest = solved(dot, self.benefits, None if start is None else start.actions)
        slope = self.welfare.gradient(rest.point)
        adjoint = solved(tdot, slope, None if start is None else start.adjoint).point
        value = float(self.welfare.value(rest.point)) + float(adjoint @ rest.defect)
        Y = rest.point.reshape(shape)
        U = adjoint.reshape(shape)
        return DynamicsState(Y, U, value, self.share * U, Y)
