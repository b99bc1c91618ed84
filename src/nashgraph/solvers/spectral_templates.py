r"""Spectral templates: the sparsest graph whose eigenvectors are those of the signals' covariance.

With :math:`V_K` the K known eigenvectors (the templates),

.. math::

    \min_{S, R, \sigma} \; \|S\|_1 \quad\text{s.t.}\quad
    \|S - V_K \mathrm{diag}(\sigma) V_K^\top - R\|_F \le \varepsilon,\; R V_K = 0,\;
    S = S^\top \ge 0,\; \mathrm{diag}\,S = 0,\; \textstyle\sum_j S_{1j} = 1.

R is what the unknown eigenvectors may hold; K = N is the complete form, where R = 0. The least-squares
:math:`\sigma` and R are explicit: in a full basis :math:`V = [V_K, V_\perp]` they match every entry of
:math:`V^\top S V` but those that pair a template with another column, so the constraint is

.. math:: \|T s\|^2 = 2 \sum_{k < l,\; k \le K} (V^\top S V)_{kl}^2 \le \varepsilon^2

on the vector s of the N(N-1)/2 edges: a cylinder. :math:`\|S\|_1 = 2\,1^\top s` is linear because S is
non-negative.

Optimality: for some y, edges outside node 1 have reduced cost :math:`1 + T_e^\top y \ge 0`, and the gap
between :math:`1^\top s` and the dual value :math:`\min_{e \ni 1}(1 + T_e^\top y) - \varepsilon\|y\|` is
zero. That gap, relative to the objective, and the violation of the constraint are the stopping measures;
both are computed from the graph that is returned.

Method: the smallest feasible :math:`\varepsilon` is the convex :math:`\min \|T s\|` over the same
polyhedron. It and the problem itself are second-order cone programs, solved by interior points; the problem
on the support they find is then solved in closed form. An iteration costs O(q^2 p) with p = N(N-1)/2 edges
and q = K(2N-K-1)/2 rows of T, and memory is three arrays of q x p: meant for N up to about 100 (or 200 with
few templates).

Reference: Segarra, Marques, Mateos, Ribeiro, *Network topology inference from spectral templates* (2017): the
robust problem with noisy templates, the incomplete form with :math:`R V_K = 0`, and the set of adjacency
matrices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..validation import Array
from ._cone_program import ConePoint, solve_cone_program

# An epsilon below ZERO is zero in working precision. One that is found stays above FLOOR, because a cone so
# nearly closed costs digits of the objective and gains nothing: the anchor's row of S is of size one.
ZERO, FLOOR = 1e-9, 1e-6
FEASIBILITY = 1e-8
POLISHINGS = 40
DUST = 1e-9


class TemplateResult(NamedTuple):
    """A graph with the templates' eigenvectors, and what certifies it.

    Attributes
    ----------
    weights : array of shape (n_nodes, n_nodes), the graph S
    epsilon : float, the distance allowed
    smallest_epsilon : float, the smallest for which there is any graph
    distance : float, the distance of S from the templates' matrices
    objective : float, the sum of all entries of S
    gap : float, an upper bound on how far the objective is above the least possible, relative to it
    iterations : int, interior-point iterations of both programs
    converged : bool

    Examples
    --------
    >>> import numpy as np
    >>> TemplateResult(np.zeros((2, 2)), 0.1, 0.0, 0.1, 2.0, 0.0, 12, True).converged
    True
    """

    weights: Array
    epsilon: float
    smallest_epsilon: float
    distance: float
    objective: float
    gap: float
    iterations: int
    converged: bool


def spectral_templates(
    eigenvectors: Array,
    n_components: int | None = None,
    *,
    epsilon: float | None = None,
    slack: float = 0.01,
    anchor: int = 0,
    tol: float = 1e-7,
    max_iter: int = 100,
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
    tol : float
        Relative duality gap at which the result counts as converged.
    max_iter : int, of each of the two cone programs
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
    templates = Templates.of(eigenvectors, n_components, anchor)
    nearest = _nearest(templates, max_iter, verbose)
    smallest = templates.distance(_admissible(templates, nearest.x[:-1]))
    allowed = _allowed(epsilon, smallest, slack)
    if verbose:
        print(f"spectral templates: smallest epsilon {smallest:.3e} ({nearest.iterations} iterations)")
    rows = np.zeros((len(templates.matrix) + 1, templates.matrix.shape[1]))
    rows[1:] = templates.matrix
    bound = np.zeros(len(rows))
    bound[0] = allowed
    costs = np.ones(rows.shape[1])
    point = solve_cone_program(costs, rows, bound, templates.at_anchor, max_iter=max_iter, verbose=verbose)
    edges, gap, distance = _best_candidate(templates, point, allowed)
    if verbose:
        print(f"spectral templates: objective {2 * edges.sum():.8g}, gap {gap:.2e}, {point.iterations} steps")
    return TemplateResult(
        templates.graph(edges),
        allowed,
        smallest,
        distance,
        2.0 * float(edges.sum()),
        gap,
        nearest.iterations + point.iterations,
        max(gap, nearest.error) <= tol and distance <= allowed + FEASIBILITY,
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


class Templates(NamedTuple):
    """The distance from the templates' matrices as a linear map T of the edge vector.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.diag([1.0, 2.0], 1) + np.diag([1.0, 2.0], -1)
    >>> templates = Templates.of(np.linalg.eigh(path)[1], None, 0)
    >>> round(templates.distance(np.array([1.0, 0.0, 2.0])), 12)  # edges 01, 02, 12
    0.0
    """

    matrix: Array
    at_anchor: Array
    n_nodes: int

    @classmethod
    def of(cls, eigenvectors: Array, n_components: int | None, anchor: int) -> Templates:
        """Lay out T: a row for each pair of columns that holds a template, a column for each edge."""
        n = len(eigenvectors)
        known = n if n_components is None else n_components
        head, tail = np.triu_indices(n, 1)
        left, right = head[head < known], tail[head < known]
        at_head, at_tail = eigenvectors.T[:, head], eigenvectors.T[:, tail]
        matrix = at_head[left]
        matrix *= at_tail[right]
        other = at_head[right]
        other *= at_tail[left]
        matrix += other
        matrix *= np.sqrt(2.0)
        return cls(matrix, ((head == anchor) | (tail == anchor)).astype(float), n)

    def distance(self, edges: Array) -> float:
        """Return the distance of a graph from the matrices that have the templates as eigenvectors."""
        return float(np.linalg.norm(self.matrix @ edges))

    def graph(self, edges: Array) -> Array:
        """Return the symmetric matrix of an edge vector."""
        weights = np.zeros((self.n_nodes, self.n_nodes))
        weights[np.triu_indices(self.n_nodes, 1)] = edges
        weights += weights.T
        return weights

    def gap(self, edges: Array, multiplier: Array, epsilon: float) -> float:
        """Return a graph's duality gap, relative to its objective, shrinking the multiplier as needed."""
        slopes = multiplier @ self.matrix
        # Shrinking the multiplier makes any of them feasible: zero always is.
        least = float(slopes[self.at_anchor == 0].min(initial=0.0))
        shrink = 1.0 if least >= -1.0 else -1.0 / least
        bound = 1.0 + shrink * (float(slopes[self.at_anchor == 1].min()) - epsilon * float(np.linalg.norm(multiplier)))
        total = float(edges.sum())
        return max(0.0, total - max(bound, 1.0)) / total


def _nearest(templates: Templates, max_iter: int, verbose: int) -> ConePoint:
    """Minimise the distance: a cone program in the edges and the distance itself."""
    q, p = templates.matrix.shape
    rows = np.zeros((q + 1, p + 1))
    rows[0, p] = 1.0
    rows[1:, :p] = templates.matrix
    costs = np.zeros(p + 1)
    costs[p] = 1.0
    anchored = np.append(templates.at_anchor, 0.0)
    return solve_cone_program(costs, rows, np.zeros(q + 1), anchored, max_iter=max_iter, verbose=verbose)


def _allowed(epsilon: float | None, smallest: float, slack: float) -> float:
    """Return the distance to allow, or say that there is no graph within the one asked for."""
    if epsilon is None:
        return max((1.0 + slack) * smallest, FLOOR)
    if epsilon < smallest - ZERO:
        raise ValueError(
            f"epsilon={epsilon:g} is infeasible: no admissible graph is nearer to the spectral templates "
            f"than {smallest:.6g}; raise epsilon, lower n_components, or leave epsilon=None"
        )
    return max(epsilon, ZERO)


def _admissible(templates: Templates, edges: Array) -> Array:
    """Return the edges without negative weights, the anchor's summing to one."""
    clipped = np.maximum(edges, 0.0)
    normal: Array = clipped / float(templates.at_anchor @ clipped)
    return normal


def _best_candidate(templates: Templates, point: ConePoint, epsilon: float) -> tuple[Array, float, float]:
    """Return the best graph as (edges, gap, distance): the interior point's, or one of its polished forms.

    A polish is an active-set method from the interior point's support: edges that came out negative leave,
    and the few with the most negative reduced costs enter.
    """
    support = point.x > point.z
    best = Candidate.of(templates, np.where(point.x > DUST, point.x, 0.0), -point.u[1:], epsilon)
    for _ in range(POLISHINGS):
        solved = _solve_on_support(templates, support, epsilon)
        if solved is None:
            break
        edges, multiplier, price = solved
        if price:
            best = min(Candidate.of(templates, edges, multiplier, epsilon), best, key=lambda one: one.merit)
        costs = price + multiplier @ templates.matrix
        costs -= templates.at_anchor * float(costs[support & (templates.at_anchor == 1)].mean())
        costs[support] = 0.0
        entering = np.argsort(costs)[: max(1, support.sum() // 20)]
        entering = entering[costs[entering] < -1e-11]
        leaving = edges < 0
        if not entering.size and not leaving.any():
            break
        support &= ~leaving
        support[entering] = True
    return best.edges, best.gap, best.distance


class Candidate(NamedTuple):
    """An admissible graph and its certificate."""

    edges: Array
    gap: float
    distance: float
    merit: float

    @classmethod
    def of(cls, templates: Templates, edges: Array, multiplier: Array, epsilon: float) -> Candidate:
        """Clip, normalise and certify."""
        admissible = _admissible(templates, edges)
        gap, distance = templates.gap(admissible, multiplier, epsilon), templates.distance(admissible)
        return cls(admissible, gap, distance, max(gap, (distance - epsilon) / FEASIBILITY * 1e-7))


def _solve_on_support(templates: Templates, support: Any, epsilon: float) -> tuple[Array, Array, float] | None:
    r"""Solve the problem on a support in closed form; None where the support does not determine it.

    With the inequalities on the support dropped, :math:`s(t) = s_0 + t s_1` minimises
    :math:`t 1^\top s + \|Ts\|^2/2` subject to the anchor's sum, and
    :math:`\|T s(t)\|^2 = \|T s_0\|^2 + t^2 \|T s_1\|^2` gives the t at which the distance is epsilon. One QR
    factorisation of T on the support. Returns s, the multiplier y = T s / t and 1; where no graph of the
    support is near enough, s_0, T s_0 and 0, by which an edge that brings it nearer has negative cost.
    """
    at_anchor = templates.at_anchor[support]
    columns = templates.matrix[:, support]
    if len(at_anchor) < 2 or len(columns) < len(at_anchor) - 1 or not at_anchor.any():
        return None
    # A Householder reflection takes at_anchor to an axis; the other axes are the directions that keep its
    # sum.
    lead = int(np.argmax(at_anchor))
    mirror = at_anchor / np.linalg.norm(at_anchor)
    mirror[lead] += 1.0
    mirror /= np.linalg.norm(mirror)
    turned = np.delete(columns - 2.0 * np.outer(columns @ mirror, mirror), lead, axis=1)
    cost = np.delete(1.0 - 2.0 * mirror.sum() * mirror, lead)
    q, r = linalg.qr(turned, mode="economic", check_finite=False)
    pivots = np.abs(np.diag(r))
    if pivots.min() <= 1e-11 * pivots.max():
        return None

    def unturn(coordinates: Array) -> Array:
        full = np.insert(coordinates, lead, 0.0)
        back: Array = full - 2.0 * float(mirror @ full) * mirror
        return back

    start = at_anchor / float(at_anchor @ at_anchor)
    base = start + unturn(linalg.solve_triangular(r, -(q.T @ (columns @ start))))
    direction = unturn(linalg.solve_triangular(r, -linalg.solve_triangular(r, cost, trans=1)))
    room, pace = epsilon**2 - float(np.sum((columns @ base) ** 2)), float(np.linalg.norm(columns @ direction))
    if pace == 0:  # all graphs of this support cost the same
        return None
    weight = float(np.sqrt(max(room, 0.0))) / pace
    edges = np.zeros(len(support))
    edges[support] = base + weight * direction
    if room <= 0:
        return edges, columns @ base, 0.0
    return edges, columns @ (edges[support] / weight), 1.0
