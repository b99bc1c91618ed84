r"""Spectral templates: the sparsest graph whose eigenvectors are those of the signals' covariance.

With :math:`V_K` the K known eigenvectors (the templates),

.. math::

    \min_{S, R, \sigma} \; \|S\|_1 \quad\text{s.t.}\quad
    \|S - V_K \mathrm{diag}(\sigma) V_K^\top - R\|_F \le \varepsilon,\; R V_K = 0,\;
    S = S^\top \ge 0,\; \mathrm{diag}\,S = 0,\; \textstyle\sum_j S_{1j} = 1.

R is what the unknown eigenvectors may hold; K = N is the complete form, where R = 0. With fewer signals than nodes the
covariance has a null space, whose eigenvectors are arbitrary: it is left to R. The least-squares :math:`\sigma` and R
are explicit: in a full basis :math:`V = [V_K, V_\perp]` they match every entry of :math:`V^\top S V` but those that
pair a template with another column, so the constraint is

.. math:: \|T s\|^2 = 2 \sum_{k < l,\; k \le K} (V^\top S V)_{kl}^2 \le \varepsilon^2

on the vector s of the N(N-1)/2 edges: a cylinder. :math:`\|S\|_1 = 2\,1^\top s` is linear because S is non-negative.

Optimality: for some y, edges outside node 1 have reduced cost :math:`1 + T_e^\top y \ge 0`, and the gap between
:math:`1^\top s` and the dual value :math:`\min_{e \ni 1}(1 + T_e^\top y) - \varepsilon\|y\|` is zero. The certificate
is that gap, relative to the objective, of the very graph that is returned.

Method: the smallest feasible :math:`\varepsilon` is the convex :math:`\min \|T s\|` over the same polyhedron. It and
the problem itself are second-order cone programs, solved by interior points (``cone_program``); the problem on the
support they find is then solved in closed form (``template_support``). Nodes with equal entries in all templates are
taken as one, which changes nothing. T has q = K(2n-K-1)/2 rows for n different nodes: a step costs O(q^3), memory is
three arrays of q x q.

Several graphs may be optimal. With exact templates and the constant vector among their combinations, as in a survey
with a column for every answer, the objective :math:`1^\top S 1` depends on :math:`\sigma` alone, and most edges are
free. A small multiple of :math:`\|S\|_F^2` then picks the graph of least norm. It costs at most half the tolerance of
the gap, a linear program so perturbed keeps its optimum (Mangasarian and Meyer 1979), and the graph is certified
against the problem without it.

Reference: Segarra, Marques, Mateos, Ribeiro, *Network topology inference from spectral templates* (2017): the robust
problem with noisy templates, the incomplete form with :math:`R V_K = 0`, and the set of adjacency matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..certificate import LOG, Certificate, Ending
from ..pairs import blas_threads
from ..validation import Array, InputError
from .cone_program import ConePoint, solve_cone_program
from .template_map import TemplateMap
from .template_support import FEASIBILITY, Candidate, best_candidate

# An epsilon below ZERO is zero in working precision. One that is found stays above FLOOR, because a cone so
# nearly closed costs digits of the objective and gains nothing: the anchor's row of S is of size one.
ZERO, FLOOR = 1e-9, 1e-6
# The weight of the squared norm is this share of tol, over the heaviest weight.
TIE_BREAK = 0.25
# Three arrays of this many rows squared take about four gigabytes, and a step about a minute.
MOST_ROWS = 12_000
REMEDY = "raise max_iter, tol or slack"


class TemplateGraph(NamedTuple):
    """A graph S, the distance allowed, the smallest possible and the one reached, the sum of S, and the certificate."""

    weights: Array
    epsilon: float
    smallest_epsilon: float
    distance: float
    objective: float
    certificate: Certificate


def spectral_templates(
    eigenvectors: Array,
    n_components: int | None = None,
    *,
    epsilon: float | None = None,
    slack: float = 0.01,
    anchor: int = 0,
    tol: float = 1e-5,
    max_iter: int = 100,
) -> TemplateGraph:
    """Return the sparsest graph within ``epsilon`` of having the given eigenvectors.

    ``eigenvectors`` has orthonormal columns, the templates first, of which ``n_components`` (None: all) are known; the
    other parameters are those of :class:`~nashgraph.SpecTemp`. The distance may be above epsilon by 1e-8.

    Examples
    --------
    The eigenvectors of a ring of five weights tell it from all other graphs:

    >>> import numpy as np
    >>> ring = np.roll(np.eye(5), 1, axis=0) * np.array([1.0, 0.8, 1.2, 0.9, 1.1])
    >>> ring += ring.T
    >>> _, V = np.linalg.eigh(ring)
    >>> S = spectral_templates(V).weights
    >>> bool(np.abs(S - ring / ring[0].sum()).max() < 1e-4)
    True
    """
    templates = TemplateMap.of(eigenvectors[:, :n_components], anchor)
    _check_size(templates)
    # Many products and factors of middling size: BLAS takes three times as long for them with two threads as with one.
    with blas_threads().limit(limits=1):
        near = _nearest(templates, max_iter)
        nearest = templates.admissible(near.x[:-1])
        smallest = templates.distance(nearest)
        LOG.info("spectral templates: %d rows, smallest epsilon %.3e", templates.n_rows, smallest)
        allowed = _allowed(epsilon, smallest, near.certificate.value, slack)
        best, runs = _sparsest(templates, allowed, nearest, tol, max_iter)
    weights = templates.graph(best.edges)
    error, runs = max(best.gap, near.certificate.value), [near.certificate, *runs]
    iterations = sum(run.iterations for run in runs)
    ending = Ending.MAX_ITER if any(run.ending is Ending.MAX_ITER for run in runs) else Ending.STALLED
    if error <= tol and best.distance <= allowed + FEASIBILITY:
        ending = Ending.CONVERGED
    certificate = replace(runs[-1], value=error, tol=tol, ending=ending, iterations=iterations, remedy=REMEDY)
    return TemplateGraph(weights, allowed, smallest, best.distance, float(weights.sum()), certificate)


def template_basis(covariance: Array) -> tuple[Array, int]:
    """Return the eigenvectors of a covariance, largest eigenvalue first, and the number of nonzero ones.

    Only the eigenvectors of simple eigenvalues are templates; those of a repeated one, such as zero for fewer signals
    than nodes, are any basis of their space.
    """
    values, vectors = linalg.eigh(covariance, check_finite=False)
    rank = int(np.sum(values > len(values) * np.finfo(float).eps * values[-1]))
    return np.ascontiguousarray(vectors[:, ::-1]), rank


@dataclass(frozen=True, eq=False)
class ConeRows:
    """T with a row before it, for the bound of its norm: zero, or one at a further variable."""

    templates: TemplateMap
    bounded_by_last: bool

    @property
    def size(self) -> int:
        """The number of rows."""
        return 1 + self.templates.n_rows

    def apply(self, x: Array) -> Array:
        """Return the bound and T x."""
        if self.bounded_by_last:
            return np.append(x[-1], self.templates.apply(x[:-1]))
        return np.append(0.0, self.templates.apply(x))

    def adjoint(self, u: Array) -> Array:
        """Return the transpose times u."""
        back = self.templates.adjoint(u[1:])
        return np.append(back, u[0]) if self.bounded_by_last else back

    def gram(self, d: Array) -> Array:
        """Return the weighted product with the transpose."""
        out = np.zeros((self.size, self.size))
        self.templates.gram(d[: len(self.templates.counts)], out[1:, 1:])
        if self.bounded_by_last:
            out[0, 0] = d[-1]
        return out


def _nearest(templates: TemplateMap, max_iter: int) -> ConePoint:
    """Minimise the distance: a cone program in the edges and the distance itself."""
    costs = np.append(np.zeros(len(templates.counts)), 1.0)
    rows = ConeRows(templates, bounded_by_last=True)
    anchored = np.append(templates.at_anchor, 0.0)
    return solve_cone_program(costs, rows, np.zeros(rows.size), anchored, max_iter=max_iter)


def _sparsest(
    templates: TemplateMap, epsilon: float, nearest: Array, tol: float, max_iter: int
) -> tuple[Candidate, list[Certificate]]:
    """Minimise the total weight within the distance epsilon; return also what certifies each program solved for it."""
    rows = ConeRows(templates, bounded_by_last=False)
    bound = np.zeros(rows.size)
    bound[0] = epsilon
    heaviest, runs = float((nearest / templates.counts).max()), []
    while True:
        quadratic = TIE_BREAK * tol / heaviest / templates.counts
        costs = np.ones(len(templates.counts))
        point = solve_cone_program(costs, rows, bound, templates.at_anchor, g=quadratic, max_iter=max_iter)
        runs.append(point.certificate)
        best = best_candidate(templates, point, epsilon)
        found = float((best.edges / templates.counts).max())
        if best.gap <= tol or found <= 2.0 * heaviest:
            return best, runs
        heaviest = found  # heavier than foreseen, so the tie-break cost more than it should


def _check_size(templates: TemplateMap) -> None:
    """Refuse a problem that would fill the memory before its first step."""
    if templates.n_rows > MOST_ROWS:
        raise InputError(
            f"spectral templates with {templates.known} components on {len(templates.entries)} different nodes have "
            f"{templates.n_rows:,} equations, and more than {MOST_ROWS:,} take too much memory and time: lower "
            "n_components"
        )


def _allowed(epsilon: float | None, smallest: float, error: float, slack: float) -> float:
    """Return the distance to allow, or say that there is no graph within the one asked for."""
    if epsilon is None:
        return max((1.0 + slack) * smallest, FLOOR)
    if epsilon < smallest * (1.0 - error) - ZERO:
        raise InputError(
            f"epsilon={epsilon:g} is infeasible: no admissible graph is nearer to the spectral templates "
            f"than {smallest:.6g}; raise epsilon, lower n_components, or leave epsilon=None"
        )
    return max(epsilon, ZERO)
