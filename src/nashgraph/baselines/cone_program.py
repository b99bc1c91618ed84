r"""A primal-dual interior-point method for programs with one second-order cone.

.. math:: \min_x \; c^\top x + \tfrac12 x^\top \mathrm{diag}(g)\, x \quad\text{s.t.}\quad
          a^\top x = 1,\; x \ge 0,\; w = h + B x \in Q,
          \qquad Q = \{(w_0, w_1) : \|w_1\| \le w_0\}

Optimality: there are :math:`\nu`, :math:`z \ge 0` and :math:`u \in Q` with :math:`c + g \circ x = \nu a + z + B^\top
u`, :math:`x^\top z = 0` and :math:`w^\top u = 0`. The stopping measure is the largest of the complementarity
:math:`x^\top z + w^\top u`, relative to :math:`c^\top x`, and the residuals of the linear equations.

Every iteration factors one matrix of the size of the cone, :math:`B\,\mathrm{diag}(z/x + g)^{-1} B^\top + W^2`, with W
the Nesterov-Todd scaling: O(m^3) for m rows, and what B takes to form the first term. It stays well posed as the cone
closes to an equation (:math:`h_0 \to 0`), where a matrix of the size of x would not.

Why not a general solver: spectral templates of the forty villages in ``ONE_RELIGION_VILLAGES`` take this method 52 s of
processor time and converge in all forty. Clarabel 0.11, in the best of the forms tried, takes 155 s and reaches the
tolerance in 22: with exact templates the cone is nearly closed (epsilon = 1e-6).

Reference: Nesterov and Todd (1997), with Mehrotra's predictor and corrector, in the form of Vandenberghe, *The CVXOPT
linear and quadratic cone program solvers* (2010).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..certificate import Certificate, Measure, Monitor
from ..validation import Array


class ConePoint(NamedTuple):
    """The primal x and the dual z and u of a cone program, and how far they are from optimal."""

    x: Array
    z: Array
    u: Array
    certificate: Certificate


def solve_cone_program(
    c: Array, B: Any, h: Array, a: Array, *, g: Array | float = 0.0, tol: float = 1e-10, max_iter: int = 100
) -> ConePoint:
    """Return the best point seen: at ``tol``, or where rounding lets the method improve no more.

    The matrix B need not be stored: ``B.apply(x)`` is its product with x, ``B.adjoint(u)`` that of its transpose, and
    ``B.gram(d)`` is B diag(d) times its transpose, a new array.
    """
    # A point inside all cones, which need not meet the linear equations: residuals fall with the gap.
    x = np.full(len(c), 1.0 / a.sum())
    z = np.ones(len(c))
    nu = 0.0
    w = h + B.apply(x)
    u = np.eye(1, len(h))[0]
    w[0] = max(w[0], 1.5 * float(np.linalg.norm(w[1:])) + 1e-3)
    monitor = Monitor(Measure.GAP, tol, max_iter)
    best = (x, z, u)
    least = np.inf
    since = 0
    iteration = 0
    while True:
        dual = c + g * x - nu * a - z - B.adjoint(u)
        primal = 1.0 - float(a @ x)
        cone = h + B.apply(x) - w
        gap = float(x @ z + w @ u)
        objective = float(c @ x)
        residual = max(float(np.abs(dual).max()), abs(primal), float(np.linalg.norm(cone)))
        error = max(gap / max(1.0, abs(objective)), residual)
        if error < 0.9 * least or least > 1e-4:
            since = 0
        else:
            since += 1
        if error < least:
            best = (x, z, u)
            least = error
        if monitor.check(iteration, objective, error) is not None:
            break
        # Near the end, six iterations without gain, or a point on the boundary, mean that rounding allows no more.
        if since > 6 or not all(y[0] > (1.0 + 1e-15) * np.linalg.norm(y[1:]) for y in (w, u)):
            break
        try:
            newton = Newton(B, a, x, z, g, Scaling(w, u), (dual, primal, cone))
        except linalg.LinAlgError:
            break
        step = newton.predicted_and_corrected(gap / (len(x) + 1))
        length = min(1.0, 0.99 * newton.longest(step))  # all of it would end on the boundary of the cones
        x = x + length * step.x
        z = z + length * step.z
        nu = nu + length * step.nu
        u = u + length * step.u
        w = w + length * step.w
        iteration = iteration + 1
    return ConePoint(*best, monitor.certificate(value=least))


class Step(NamedTuple):
    """A Newton direction."""

    x: Array
    z: Array
    nu: float
    u: Array
    w: Array


class Scaling:
    """The Nesterov-Todd scaling W of w and u, both inside the cone: ``W u = W^-1 w``, W^2 = size^2 (2 v v^T - J)."""

    def __init__(self, w: Array, u: Array) -> None:
        w_size = _determinant(w)
        u_size = _determinant(u)
        w_unit = w / w_size
        u_unit = u / u_size
        self.v = (w_unit + _reflect(u_unit)) / np.sqrt(2.0 * (1.0 + w_unit @ u_unit))
        self.size = float(np.sqrt(w_size / u_size))
        self.point = self.scale(u)
        self.determinant = _determinant(self.point)

    def scale(self, y: Array) -> Array:
        """Return W y."""
        inner = float(self.v[1:] @ y[1:])
        out = y + self.v * (y[0] + inner / (1.0 + self.v[0]))
        out[0] = self.v[0] * y[0] + inner
        return self.size * out

    def unscale(self, y: Array) -> Array:
        """Return W^-1 y."""
        return _reflect(self.scale(_reflect(y))) / self.size**2

    def square(self) -> Array:
        """Return W^2 as a matrix."""
        matrix: Array = 2.0 * self.size**2 * np.outer(self.v, self.v)
        matrix[np.diag_indices(len(self.v))] += self.size**2
        matrix[0, 0] -= 2.0 * self.size**2
        return matrix

    def divide(self, r: Array) -> Array:
        """Return the k whose Jordan product with the scaled point is r."""
        first = float(_reflect(self.point) @ r) / self.determinant**2
        out: Array = (r - first * self.point) / self.point[0]
        out[0] = first
        return out

    def inverse_step(self, d: Array) -> float:
        """Return 1 / (the longest step from the scaled point along d that stays in the cone), or 0."""
        unit = self.point / self.determinant
        first = float(_reflect(unit) @ d)
        rest = d[1:] - (d[0] + first) / (unit[0] + 1.0) * unit[1:]
        return max(0.0, (float(np.linalg.norm(rest)) - first) / self.determinant)


class Newton:
    """The linearised optimality conditions at a point, factored; LinAlgError where rounding made them indefinite."""

    def __init__(
        self,
        B: Any,
        a: Array,
        x: Array,
        z: Array,
        g: Array | float,
        scaling: Scaling,
        residuals: tuple[Array, float, Array],
    ) -> None:
        self.B = B
        self.a = a
        self.x = x
        self.z = z
        self.scaling = scaling
        self.residuals = residuals  # of the equations for the dual, the primal and the cone
        # x and z are eliminated first; what is left is a matrix of the size of the cone.
        self.ratio = 1.0 / (z / x + g)
        self.matrix = B.gram(self.ratio)
        self.matrix += scaling.square()
        # Rounding may make the smallest eigenvalues negative; refinement below takes the shift out again.
        raised = self.matrix.copy()
        raised[np.diag_indices(len(raised))] *= 1.0 + 1e-14
        self.cholesky = linalg.cholesky(raised, lower=True, overwrite_a=True, check_finite=False)
        self.row = B.apply(self.ratio * a)
        self.shifted = self._solve(self.row)
        self.curvature = float(a @ (self.ratio * a)) - float(self.row @ self.shifted)
        if not self.curvature > 0:
            raise linalg.LinAlgError("the curvature along the constraint is lost to rounding")

    def predicted_and_corrected(self, mean: float) -> Step:
        """Return Mehrotra's step; ``mean`` is the complementarity of one pair on average."""
        scaling = self.scaling
        products = self.x * self.z
        # The predictor aims at the solution. The less of it can be gone, the more the corrector centres.
        step = self.direction(-products, -scaling.point)
        damping = (1.0 - min(1.0, self.longest(step))) ** 3
        corrected = scaling.divide(
            damping * mean * np.eye(1, len(step.w))[0]
            - _product(scaling.point, scaling.point)
            - _product(scaling.unscale(step.w), scaling.scale(step.u))
        )
        return self.direction(damping * mean - products - step.x * step.z, corrected)

    def direction(self, complementarity: Array, jordan: Array) -> Step:
        """Return the step that meets the linear equations, with the right sides given for the products."""
        dual, primal, cone = self.residuals
        force = complementarity / self.x - dual
        right = self.scaling.scale(jordan) - cone - self.B.apply(self.ratio * force)
        base = self._solve(right)
        nu = (primal - float(self.a @ (self.ratio * force)) - float(self.row @ base)) / self.curvature
        u = base - nu * self.shifted
        x = self.ratio * (force + nu * self.a + self.B.adjoint(u))
        return Step(x, (complementarity - self.z * x) / self.x, nu, u, cone + self.B.apply(x))

    def longest(self, step: Step) -> float:
        """Return the longest step that keeps x, z, w and u in their cones."""
        inverse = max(
            float(np.max(-step.x / self.x)),
            float(np.max(-step.z / self.z)),
            self.scaling.inverse_step(self.scaling.unscale(step.w)),
            self.scaling.inverse_step(self.scaling.scale(step.u)),
        )
        return 1.0 / inverse if inverse > 0 else np.inf

    def _solve(self, right: Array) -> Array:
        """Solve with the matrix and refine: cheap compared with the factorisation, and digits are scarce at the end."""
        solution = np.zeros_like(right)
        for _ in range(4):
            solution += linalg.cho_solve((self.cholesky, True), right - self.matrix @ solution, check_finite=False)
        return solution


def _reflect(y: Array) -> Array:
    mirrored = -y
    mirrored[0] = y[0]
    return mirrored


def _product(p: Array, q: Array) -> Array:
    """Return the Jordan product of two vectors of the cone's space."""
    out: Array = p[0] * q + q[0] * p
    out[0] = p @ q
    return out


def _determinant(y: Array) -> float:
    length = float(np.linalg.norm(y[1:]))
    return float(np.sqrt((y[0] - length) * (y[0] + length)))
