r"""The reduced form of the game as a regression function, with its derivatives, averaged over draws of the network.

.. math:: m(\phi, b) = \mathrm{NE}(\phi W; Z b, f) + V d, \qquad
          y = \mathrm{NE}(\phi W; Z b, f) \iff y = \varphi(Z b + \phi W f(y))

The response φ(z) is max(0, z), or that of a link. For f(x) = x without a link there is none: y = (I - φW)⁻¹ Z b,
which may be negative. Differentiating the fixed point gives the
columns of the Jacobian, each one solve by products with W (or a factorisation if components are small):

.. math:: \frac{\partial m}{\partial \phi} = M\, W f(y), \quad \frac{\partial m}{\partial b} = M Z, \quad
          M = (I - \phi\, \mathrm{diag}(s) W \mathrm{diag} f'(y))^{-1} \mathrm{diag}(s), \quad s = \varphi'(z) .

The search and the covariance both need the whole Jacobian, so there is no adjoint: it is one solve for each term.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.csgraph import connected_components

from ..games import Interaction, NoEquilibriumError, solve_affine, solve_response, spectral_radius
from ..games.interactions import Response
from ..validation import Array, InputError
from .links import Log, Logit, Normal


class NotIdentifiedError(InputError):
    """The data do not tell the peer effect from something else; the message says from what."""


class Statistic(NamedTuple):
    """A statistic, its degrees of freedom and its p-value."""

    statistic: float
    freedom: float
    p_value: float


class Point(NamedTuple):
    """The regression function at some parameters, and its Jacobian: φ first, then played and outside terms."""

    mean: Array
    jacobian: Array


class Estimate(NamedTuple):
    """What a method returns: φ and the coefficients, their covariance, and the action that the fit predicts for all.

    ``between`` is the part of the covariance that comes from not knowing the network.
    """

    parameters: Array
    covariance: Array
    mean: Array
    log_likelihood: float = np.nan
    between: Array | None = None
    overidentification: Statistic | None = None
    bootstrap: Array | None = None


def dense_blocks(weights: Any, most: int, together: int = 64) -> list[tuple[Array, Array]] | None:
    """Return connected components as dense blocks (people, weights); None if one has more than ``most`` people.

    Components that begin within the same ``together`` places share a block, because each block costs a call.
    """
    labels = connected_components(weights, directed=False)[1]
    sizes = np.bincount(labels)
    if sizes.max(initial=0) > most:
        return None
    block_of = ((np.cumsum(sizes) - sizes) // together)[labels]
    order = np.argsort(block_of, kind="stable")
    blocks = []
    for people in np.split(order, np.flatnonzero(np.diff(block_of[order])) + 1):
        blocks.append((people, weights[people][:, people].toarray()))
    return blocks


@dataclass(frozen=True, eq=False)
class Network:
    """One network with the columns that are played on it and those that are not."""

    weights: Any
    played: Array
    outside: Array
    interaction: Interaction
    response: Response | None = None  # none in the linear game; its actions may be negative
    tol: float = 1e-12
    dense_up_to: int = 400  # people in a component: above, products with W are faster than a factorisation
    dense_share: float = 0.05  # of all pairs tied, above which up to five times as many are factored

    @property
    def linear(self) -> bool:
        """Whether the reduced form is linear in everything but φ."""
        return self.response is None

    @cached_property
    def blocks(self) -> list[tuple[Array, Array]] | None:
        """Connected components as dense blocks, None if one is too large to be factored."""
        many_ties = self.weights.nnz > self.dense_share * self.weights.shape[0] ** 2
        return dense_blocks(self.weights, 5 * self.dense_up_to if many_ties else self.dense_up_to)

    def actions(self, phi: float, benefit: Array) -> Array:
        """Return the equilibrium of the game."""
        if self.linear:  # for one column products are faster than a factorisation
            rest = solve_affine(lambda vector: phi * (self.weights @ vector), benefit, tol=self.tol)
            if rest.residual <= 1e-9:
                return rest.point
            return self.solver(phi, None)(benefit[:, None])[:, 0]
        rest = solve_response(
            lambda vector: phi * (self.weights @ vector), benefit, self.interaction, self.response, tol=self.tol
        )
        if not rest.residual <= 1e-6:
            raise NoEquilibriumError("the game has no equilibrium at these parameters")
        return rest.point

    def solver(self, phi: float, slopes: tuple[Array, Array] | None) -> Callable[[Array], Array]:
        """Return R -> (I - φ diag(s) W diag(f'))⁻¹ R for several columns."""
        if self.blocks is not None:
            return self._factored(phi, slopes)
        system = phi * self.weights
        if slopes is not None:
            system = sparse.diags_array(slopes[0]) @ system @ sparse.diags_array(slopes[1])
        csr = sparse.csr_array(system)

        def solve(columns: Array) -> Array:
            points = [solve_affine(lambda v: csr @ v, np.array(column), tol=self.tol).point for column in columns.T]
            return np.column_stack(points)

        return solve

    def _factored(self, phi: float, slopes: tuple[Array, Array] | None) -> Callable[[Array], Array]:
        """Return the solver that factors each block."""
        factors = []
        for people, weights in self.blocks or []:
            system = -phi * weights
            if slopes is not None:
                system = slopes[0][people, None] * system * slopes[1][people]
            system.flat[:: len(people) + 1] += 1.0
            factors.append((people, lu_factor(system, overwrite_a=True, check_finite=False)))

        def solve(columns: Array) -> Array:
            solution = np.empty_like(columns)
            for people, factor in factors:
                solution[people] = lu_solve(factor, columns[people], check_finite=False)
            return solution

        return solve

    def at(self, phi: float, coefficients: Array) -> Point:
        """Return the regression function and its Jacobian."""
        k = self.played.shape[1]
        if self.linear:  # one factorisation for everything
            solve = self.solver(phi, None)
            by_terms = solve(self.played)
            played = by_terms @ coefficients[:k]
            by_phi = solve((self.weights @ played)[:, None])
        else:
            played = self.actions(phi, self.played @ coefficients[:k])
            sources = np.column_stack([self.weights @ self.interaction.value(played), self.played])
            assert self.response is not None
            outer = self.response.slope(self.played @ coefficients[:k] + phi * sources[:, 0])
            through = self.solver(phi, (outer, self.interaction.slope(played)))(outer[:, None] * sources)
            by_phi = through[:, :1]
            by_terms = through[:, 1:]
        jacobian = np.column_stack([by_phi, by_terms, self.outside])
        return Point(played + self.outside @ coefficients[k:], jacobian)

    def columns(self, phi: float) -> Array:
        """Return the regressors at given φ, for a linear game: (I - φW)⁻¹ Z and V."""
        return np.column_stack([self.solver(phi, None)(self.played), self.outside])


class Powers:
    r"""The means over draws of the columns Z, W Z, W² Z and so on, computed when they are needed.

    .. math:: \frac1R \sum_r (I - \phi W_r)^{-1} Z_r = \sum_k \phi^k \, \frac1R \sum_r W_r^k Z_r

    One series does for every φ and all draws. With :math:`q = |\phi| \max_r \|W_r\|_\infty < 1` the terms from the K-th
    on add at most :math:`q^K / (1 - q)` of the largest entry of Z.
    """

    def __init__(self, weights: list[Any], played: list[Array]) -> None:
        self.weights = weights
        self.last = played
        self.means = [np.mean(played, axis=0)]
        self.norm = max(float(abs(network).sum(axis=1).max()) for network in weights)

    def enough(self, phi: float, tol: float = 1e-13, most: float = 2e7, longest: int = 400) -> Array | None:
        """Return the terms that φ needs, (K, n, columns); None if solving is faster, or they have too many numbers."""
        q = abs(phi) * self.norm
        if q >= 1.0:
            return None
        count = 2
        if q > 0.0:
            count += int(np.log(tol * (1.0 - q)) / np.log(q))
        if count > longest or count * self.means[0].size > most:
            return None
        while len(self.means) < count:
            self.last = [weights @ values for weights, values in zip(self.weights, self.last, strict=True)]
            self.means.append(np.mean(self.last, axis=0))
        return np.array(self.means[:count])


@dataclass(frozen=True, eq=False)
class ReducedForm:
    """The regression function averaged over draws of the network."""

    networks: tuple[Network, ...]

    @property
    def linear(self) -> bool:
        """Whether the regression function is linear in everything but φ."""
        return self.networks[0].linear

    @property
    def n_coefficients(self) -> int:
        """The number of parameters without φ."""
        return self.networks[0].played.shape[1] + self.networks[0].outside.shape[1]

    @cached_property
    def bound(self) -> float:
        """The largest |φ| for which every draw's game surely has an equilibrium."""
        radius = max(spectral_radius(network.weights) if network.weights.nnz else 0.0 for network in self.networks)
        return 1.0 / radius if radius > 0 else np.inf

    @property
    def family(self) -> Any:
        """The distribution of actions around the regression function."""
        response = self.networks[0].response
        return response if isinstance(response, Logit | Log) else Normal()

    @cached_property
    def powers(self) -> Powers:
        """Those series of the played columns."""
        return Powers([network.weights for network in self.networks], [network.played for network in self.networks])

    @cached_property
    def outside(self) -> Array:
        """The mean over draws of the terms that are not played."""
        return np.asarray(np.mean([network.outside for network in self.networks], axis=0))

    def at(self, phi: float, coefficients: Array) -> Point:
        """Return the mean over draws, and the Jacobian of the mean."""
        terms = self.powers.enough(phi) if self.linear else None
        if terms is None:
            points = [network.at(phi, coefficients) for network in self.networks]
            mean = np.mean([point.mean for point in points], axis=0)
            return Point(mean, np.mean([point.jacobian for point in points], axis=0))
        k = terms.shape[2]
        orders = np.arange(len(terms))
        by_terms = np.tensordot(phi**orders, terms, 1)
        by_phi = np.tensordot(orders[1:] * phi ** orders[:-1], terms[1:], 1) @ coefficients[:k]
        mean = by_terms @ coefficients[:k] + self.outside @ coefficients[k:]
        return Point(mean, np.column_stack([by_phi, by_terms, self.outside]))

    def columns(self, phi: float) -> Array:
        """Return the regressors at given φ, for a linear game."""
        terms = self.powers.enough(phi)
        if terms is None:
            return np.mean([network.columns(phi) for network in self.networks], axis=0)
        return np.column_stack([np.tensordot(phi ** np.arange(len(terms)), terms, 1), self.outside])

    def means(self, phi: float, coefficients: Array) -> Array:
        """Return the regression function on each draw, (n_draws, n)."""
        k = self.networks[0].played.shape[1]
        means = []
        for network in self.networks:
            played = network.actions(phi, network.played @ coefficients[:k])
            means.append(played + network.outside @ coefficients[k:])
        return np.array(means)
