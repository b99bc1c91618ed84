r"""Spectral templates: the sparsest graph whose eigenvectors are those of the signals' covariance.

With :math:`V_K` the K known eigenvectors (the templates),

.. math::

    \min_{S, R, \sigma} \; \|S\|_1 \quad\text{s.t.}\quad
    \|S - V_K \mathrm{diag}(\sigma) V_K^\top - R\|_F \le \varepsilon,\; R V_K = 0,\;
    S = S^\top \ge 0,\; \mathrm{diag}\,S = 0,\; \textstyle\sum_j S_{1j} = 1.

R is what the unknown eigenvectors may hold; K = N is the complete form, where R = 0. With fewer signals than
nodes the covariance has a null space, whose eigenvectors are arbitrary: it is left to R. The least-squares
:math:`\sigma` and R are explicit: in a full basis :math:`V = [V_K, V_\perp]` they match every entry of
:math:`V^\top S V` but those that pair a template with another column, so the constraint is

.. math:: \|T s\|^2 = 2 \sum_{k < l,\; k \le K} (V^\top S V)_{kl}^2 \le \varepsilon^2

on the vector s of the N(N-1)/2 edges: a cylinder. :math:`\|S\|_1 = 2\,1^\top s` is linear because S is
non-negative.

Optimality: for some y, edges outside node 1 have reduced cost :math:`1 + T_e^\top y \ge 0`, and the gap
between :math:`1^\top s` and the dual value :math:`\min_{e \ni 1}(1 + T_e^\top y) - \varepsilon\|y\|` is
zero. That gap, relative to the objective, and the violation of the constraint are the stopping measures;
both are computed from the graph that is returned.

Several graphs may be optimal. With exact templates and the constant vector among their combinations, as in a
survey with a column for every answer, the objective :math:`1^\top S 1` depends on :math:`\sigma` alone, and most
edges are free. Interior points then return the one of least Frobenius norm, to the accuracy that tol allows, and
first-order the one that it reaches; all of them treat nodes alike that the templates do not tell apart.

Method: nodes with equal entries in all templates are taken as one, which changes nothing (``_template_problem``). The
smallest feasible :math:`\varepsilon` is the convex :math:`\min \|T s\|` over the same polyhedron. It and the
problem itself are solved by interior points (``_template_interior``) up to ``MOST_ROWS`` rows of T, of which n
classes of nodes have q = K(2n-K-1)/2: a step costs O(q^3), memory is three arrays of q x q. Larger problems are
solved by splitting (``_template_splitting``), O(n^2 K) for a step and a few arrays of n x n, to a gap of 1e-4.

Reference: Segarra, Marques, Mateos, Ribeiro, *Network topology inference from spectral templates* (2017): the
robust problem with noisy templates, the incomplete form with :math:`R V_K = 0`, and the set of adjacency
matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..couplings import blas_threads
from ..validation import Array, InputError
from . import _template_interior, _template_splitting
from ._template_problem import Merged, Nearest

# An epsilon below ZERO is zero in working precision. One that is found stays above FLOOR, because a cone so
# nearly closed costs digits of the objective and gains nothing: the anchor's row of S is of size one.
ZERO, FLOOR = 1e-9, 1e-6
MOST_ROWS = 3000
METHODS = {"interior-point": _template_interior, "first-order": _template_splitting}


class TemplateResult(NamedTuple):
    """A graph with the templates' eigenvectors, and what certifies it.

    Attributes
    ----------
    weights : array of shape (n_nodes, n_nodes), the graph S
    epsilon : float, the distance allowed
    smallest_epsilon : float, the smallest for which there is any graph
    distance : float, the distance of S from the templates' matrices
    objective : float, the sum of all entries of S
    gap : float, how far the objective is from the least possible at most, relative to it
    tol : float, the gap asked for
    solver : str, the method that was used
    iterations : int, of both programs
    converged : bool

    Examples
    --------
    >>> import numpy as np
    >>> TemplateResult(np.zeros((2, 2)), 0.1, 0.0, 0.1, 2.0, 0.0, 1e-6, "interior-point", 12, True).converged
    True
    """

    weights: Array
    epsilon: float
    smallest_epsilon: float
    distance: float
    objective: float
    gap: float
    tol: float
    solver: str
    iterations: int
    converged: bool


def spectral_templates(
    eigenvectors: Array,
    n_components: int | None = None,
    *,
    epsilon: float | None = None,
    slack: float = 0.01,
    anchor: int = 0,
    solver: str = "auto",
    tol: float | None = None,
    max_iter: int | None = None,
    verbose: int = 0,
) -> TemplateResult:
    """Return the sparsest graph within ``epsilon`` of having the given eigenvectors.

    Parameters
    ----------
    eigenvectors : array of shape (n_nodes, n_nodes), orthonormal columns, the templates first
    n_components : int, optional
        The number K of templates; None takes all columns.
    epsilon : float, optional
        Distance allowed; None takes (1 + slack) times the smallest feasible one, and 1e-6 at least.
    slack : float
    anchor : int
        The node whose weights sum to one (the paper's node 1): it sets the scale of the graph.
    solver : "auto", "interior-point" or "first-order"
        "auto" goes by the number of rows of T.
    tol : float, optional
        Relative duality gap at which the result counts as converged. None takes 1e-5 for interior points and
        1e-4 for first-order. The distance may be above epsilon by 1e-8 with interior points; with first-order by
        what tol allows it, relative to the norm of the graph and at its price in the objective.
    max_iter : int, optional
        Of each of the two programs. None takes 100 for interior points and 20000 for first-order.
    verbose : int

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
    merged = Merged.of(eigenvectors[:, :n_components], anchor)
    if solver == "auto":
        solver = "interior-point" if merged.n_rows <= MOST_ROWS else "first-order"
    method = METHODS[solver]
    tol = method.DEFAULT_TOL if tol is None else tol
    max_iter = method.DEFAULT_MAX_ITER if max_iter is None else max_iter
    # Many products and factors of middling size: BLAS takes three times as long for them with two threads as with one.
    with blas_threads().limit(limits=1, user_api="blas"):
        nearest = method.nearest_graph(merged, tol=tol, max_iter=max_iter, verbose=verbose)
        if verbose:
            print(
                f"spectral templates: {len(merged.classes.labels)} nodes in {len(merged.classes.sizes)} classes, "
                f"{solver}; smallest epsilon {nearest.distance:.3e} ({nearest.iterations} iterations)"
            )
        allowed = _allowed(epsilon, nearest, slack)
        found = method.sparsest_graph(merged, allowed, nearest, tol=tol, max_iter=max_iter, verbose=verbose)
    weights = merged.classes.graph(found.weights)
    objective = float(weights.sum())
    if verbose:
        print(f"spectral templates: objective {objective:.8g}, gap {found.gap:.2e}, {found.iterations} steps")
    return TemplateResult(
        weights,
        allowed,
        nearest.distance,
        found.distance,
        objective,
        found.gap,
        tol,
        solver,
        nearest.iterations + found.iterations,
        max(found.gap, nearest.error) <= tol and found.feasible,
    )


def template_basis(covariance: Array) -> tuple[Array, int]:
    """Return the eigenvectors of a covariance, largest eigenvalue first, and the number of nonzero ones.

    Only the eigenvectors of simple eigenvalues are templates; those of a repeated one, such as zero for
    fewer signals than nodes, are any basis of their space.

    Examples
    --------
    >>> import numpy as np
    >>> basis, rank = template_basis(np.diag([1.0, 3.0, 0.0]))
    >>> np.abs(basis), rank
    (array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 1.]]), 2)
    """
    values, vectors = linalg.eigh(covariance, check_finite=False)
    rank = int(np.sum(values > len(values) * np.finfo(float).eps * values[-1]))
    return np.ascontiguousarray(vectors[:, ::-1]), rank


def _allowed(epsilon: float | None, nearest: Nearest, slack: float) -> float:
    """Return the distance to allow, or say that there is no graph within the one asked for."""
    if epsilon is None:
        return max((1.0 + slack) * nearest.distance, FLOOR)
    if epsilon < nearest.distance * (1.0 - nearest.error) - ZERO:
        raise InputError(
            f"epsilon={epsilon:g} is infeasible: no admissible graph is nearer to the spectral templates "
            f"than {nearest.distance:.6g}; raise epsilon, lower n_components, or leave epsilon=None"
        )
    return max(epsilon, ZERO)
