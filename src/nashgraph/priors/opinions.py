"""Opinions that people form in a network, and graph filters of a signal: two priors that are linear in their signal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..games import as_welfare, solve_affine
from ..matching import node_values
from ..validation import Array, InputError, check_choice, check_finite
from .dynamics import DynamicsState
from .prior import Combinable, Graph, PriorState


@dataclass(frozen=True, eq=False, repr=False)
class Opinions(Combinable):
    r"""A measure of the opinions that people settle on (Friedkin and Johnsen 1990).

    .. math:: y = (1 - a \circ r) \circ s + a \circ (W y), \quad r = W 1 = c 1

    s are the innate opinions and a the susceptibilities. Everybody's opinion is a weighted mean of innate opinions. The
    measure is one of

    - "mean": :math:`\Phi = \frac1N \sum_i y_i`,
    - "polarisation": :math:`\Phi = \frac1N \sum_i (y_i - \bar y)^2`,
    - "disagreement": :math:`\Phi = \frac1{2N} \sum_{ij} W_{ij} (y_i - y_j)^2`.

    With :math:`u = \nabla_y g + W^\top (a \circ u)` the gradient is
    :math:`(a \circ u) y^\top - (a \circ s \circ u) 1^\top`, plus
    :math:`\frac1{2N} (1 (y \circ y)^\top - 2 y y^\top + (y \circ y) 1^\top)` for the disagreement. The terms that are
    constant in every row change nothing on S, where row sums are fixed, but they do where ties are deleted
    (:class:`Resilience`), so they are there. ``-Opinions(s)`` asks for a low measure.

    Assumption: :math:`0 \le a \le 1`; the opinions are then unique.

    ``innate`` is s, ``susceptibility`` is a, one number or one per node.

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> random = np.random.default_rng(0)
    >>> X, innate = random.normal(size=(20, 30)), random.normal(size=30)
    >>> apart, together = (GLGP(lam=20.0, prior=sign * Opinions(innate)).fit(X).welfare_ for sign in (1, -1))
    >>> apart > -together
    True
    """

    per_node: ClassVar[str] = "innate"
    innate: Array
    measure: str = "polarisation"
    susceptibility: Any = 1.0

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, ("mean", "polarisation", "disagreement"))
        innate = node_values(self.innate)
        check_finite("innate opinions", innate, ("node",), "give one finite number per node")
        share = np.broadcast_to(np.asarray(self.susceptibility, float), innate.shape)
        if not ((share >= 0) & (share <= 1)).all():
            raise InputError("susceptibility must lie between 0 (only the innate opinion counts) and 1")
        self._set(innate=innate, susceptibility=share)

    def _evaluate(self, weights: Graph, *, tol: float, start: DynamicsState | None) -> DynamicsState:
        dot = weights.dot
        tdot = weights.tdot
        share = self.susceptibility
        n = len(self.innate)
        # With row sums below 1 the innate opinion has what is left of a node's attention.
        sums = dot(np.ones(n))
        constant = (1.0 - share * sums) * self.innate
        first, second = (None, None) if start is None else (start.actions, start.adjoint)
        rest = solve_affine(lambda vector: share * dot(vector), constant, tol=tol, start=first)
        y = rest.point
        value, gradient, sides = self._measured(y, sums, dot, tdot)
        adjoint = solve_affine(lambda vector: tdot(share * vector), gradient, tol=tol, start=second).point
        # One column through the opinions, one through the row sums, and those of a measure that depends on W itself.
        left = np.column_stack([share * adjoint, -share * self.innate * adjoint, *sides[0]])
        right = np.column_stack([y, np.ones(n), *sides[1]])
        if len(sides[0]):  # the measure's own constant of each row joins the column of ones
            left[:, 1] += 0.5 * y**2 / n
        return DynamicsState(y, adjoint, value + float(adjoint @ rest.defect), left, right)

    def _measured(self, y: Array, sums: Array, dot: Any, tdot: Any) -> tuple[float, Array, tuple[list[Array], ...]]:
        """Return the measure at y, its gradient by y, and the columns of its own gradient by W but row constants."""
        n = len(y)
        none: tuple[list[Array], ...] = ([], [])
        if self.measure == "mean":
            return float(y.mean()), np.full(n, 1.0 / n), none
        if self.measure == "polarisation":
            apart = y - y.mean()
            return float(apart @ apart) / n, 2.0 * apart / n, none
        # Disagreement, the sum of W_ij (y_i - y_j)^2 / 2n, written out so that it takes two products.
        heard = dot(y)
        into = tdot(np.ones(n))
        value = 0.5 * float(sums @ y**2 + into @ y**2 - 2.0 * y @ heard) / n
        gradient = ((sums + into) * y - heard - tdot(y)) / n
        return value, gradient, ([np.full(n, 0.5 / n), -y / n], [y**2, y])


@dataclass(frozen=True, eq=False, repr=False)
class GraphFilter(Combinable):
    r"""A value of a signal passed through a polynomial filter of the graph.

    .. math:: \Phi(W) = g(y), \quad y = \sum_{k=0}^K h_k W^k b, \quad
              \nabla\Phi = \sum_{p=0}^{K-1} l_p (W^p b)^\top, \quad
              l_p = h_{p+1} \nabla g + W^\top l_{p+1}, \; l_K = 0

    The gradient has K columns and takes 2K products. Assumption: g is differentiable; no equation is solved.

    ``coefficients`` are :math:`h_0, \dots, h_K`, ``benefit`` is the signal b, and ``welfare`` is g.

    Examples
    --------
    Diffusion centrality counts what reaches others in three rounds:

    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> GLGP(lam=1.0, prior=GraphFilter([0.0, 1.0, 1.0, 1.0], np.arange(30.0) / 435)).fit(X).converged_
    True
    """

    per_node: ClassVar[str] = "benefit"
    coefficients: Any
    benefit: Array
    welfare: Any = "total"

    def __post_init__(self) -> None:
        coefficients = np.asarray(self.coefficients, float)
        if coefficients.ndim != 1 or len(coefficients) < 2:
            raise InputError("GraphFilter needs two or more coefficients h_0, h_1, ..., for example [0, 1, 0.5]")
        check_finite("GraphFilter coefficients", coefficients, ("coefficient",), "give finite numbers")
        benefit = node_values(self.benefit)
        welfare = as_welfare(self.welfare)
        self._set(coefficients=coefficients, benefit=benefit, welfare=welfare)

    def _evaluate(self, weights: Graph, *, tol: float, start: Any) -> PriorState:
        dot = weights.dot
        tdot = weights.tdot
        # W^k b for the right sides, then the left sides from the highest power down: 2K products in all.
        powers = [self.benefit]
        for _ in self.coefficients[1:]:
            powers.append(dot(powers[-1]))
        y = np.column_stack(powers) @ self.coefficients
        gradient = self.welfare.gradient(y)
        left = [self.coefficients[-1] * gradient]
        for coefficient in self.coefficients[-2:0:-1]:
            left.append(coefficient * gradient + tdot(left[-1]))
        worth = self.coefficients[0] * gradient + tdot(left[-1])
        lefts = np.column_stack(left[::-1])
        rights = np.column_stack(powers[:-1])
        return PriorState(float(self.welfare.value(y)), lefts, rights, actions=y, worth=worth)

    def with_benefit(self, benefit: Array) -> GraphFilter:
        """Return the filter of another signal."""
        return replace(self, benefit=benefit)

    def without(self, nodes: Array) -> GraphFilter:
        """Return the filter when some nodes, which have lost their ties, send nothing either."""
        benefit = self.benefit.copy()
        benefit[nodes] = 0.0
        return self.with_benefit(benefit)
