r"""Spectral templates, the problem of :class:`~nashgraph.SpecTemp`.

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
support they find is then solved in closed form (``best_candidate``). Nodes with equal entries in all templates are
taken as one, which changes nothing. T has q = K(2n-K-1)/2 rows for n different nodes: a step costs O(q^3), memory is
three arrays of q x q.

Several graphs may be optimal. With exact templates and the constant vector among their combinations, as in a survey
with a column for every answer, the objective :math:`1^\top S 1` depends on :math:`\sigma` alone, and most edges are
free. A small multiple of :math:`\|S\|_F^2` then picks the graph of least norm. It costs at most half the tolerance of
the gap, a linear program so perturbed keeps its optimum (Mangasarian and Meyer 1979), and the graph is certified
against the problem without it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..certificate import LOG, Certificate, of_stages
from ..pairs import blas_threads
from ..validation import Array, InputError
from .cone_program import ConePoint, solve_cone_program
from .node_classes import Classes


class TemplateMap:
    r"""The linear map T, never stored, whose norm is the distance from the matrices that have the templates.

    Nodes with the same entry in every template are one class; the problem is convex, so some solution treats them
    alike. The anchor is a class of its own. The unknown is the vector x of the total weights within and between
    classes, so :math:`\|S\|_1 = 2\,1^\top x`, and the anchor's entries of x sum to one. With u the entries of a full
    orthonormal basis at one member of each class, T has a row for each pair of a template k and a later column l, and
    a column for each pair i, j of classes:

    .. math:: T_{kl,\,ij} = \sqrt2\,(u_{ik} u_{jl} + u_{il} u_{jk}), \qquad k < l,\; k \le K.

    Tx is made of entries of :math:`u^\top X u`, O(n^2 K), and the matrix :math:`T \mathrm{diag}(d) T^\top` of an
    interior-point step of K(K+1)/2 products of n x n matrices, O(K^2 n^3).

    ``entries`` holds u, ``pairs`` the pairs of classes that can have an edge, ``counts`` their numbers of edges.
    """

    def __init__(self, templates: Array, anchor: int) -> None:
        alone = np.arange(len(templates)) == anchor
        # Entries of unit vectors that agree to ten decimals are equal: eigenvectors are not known better.
        self.classes = classes = Classes.of(np.column_stack([templates.round(10), alone]))
        vectors = templates[classes.members] * classes.roots[:, None]
        n, self.n_templates = vectors.shape
        # QR completes the basis; its first columns are the templates up to sign, so they are put back.
        basis = linalg.qr(vectors, check_finite=False)[0]
        basis[:, : self.n_templates] = vectors
        self.entries: Array = basis / classes.roots[:, None]
        head, tail = np.triu_indices(n)
        counts = classes.sizes[head] * classes.sizes[tail]
        counts[head == tail] = 0.5 * classes.sizes * (classes.sizes - 1.0)
        some = counts > 0
        self.pairs = (head[some], tail[some])
        self.counts = counts[some]
        self.at_anchor = np.logical_or(*(classes.labels[anchor] == end for end in self.pairs)).astype(float)

    @property
    def n_rows(self) -> int:
        """The number of rows of T."""
        return self.n_templates * (2 * len(self.entries) - self.n_templates - 1) // 2

    def graph(self, edges: Array) -> Array:
        """Return the graph of all nodes."""
        weights = np.zeros((len(self.entries), len(self.entries)))
        weights[self.pairs] = weights[self.pairs[::-1]] = edges / self.counts
        return self.classes.graph(weights)

    def apply(self, edges: Array) -> Array:
        """Return T x, row by row of the pairs of a template and a later column."""
        matrix = self._doubled(edges)
        product = (self.entries[:, : self.n_templates].T @ matrix) @ self.entries
        return np.sqrt(2.0) * product[self._rows()]

    def adjoint(self, multiplier: Array) -> Array:
        """Return the transpose of T times a vector."""
        table = np.zeros((self.n_templates, len(self.entries)))
        table[self._rows()] = np.sqrt(2.0) * multiplier
        matrix = self.entries[:, : self.n_templates] @ table @ self.entries.T
        return matrix[self.pairs] + matrix[self.pairs[::-1]]

    def gram(self, ratios: Array, out: Array) -> None:
        r"""Write :math:`T \mathrm{diag}(d) T^\top`, a block for each pair of templates.

        With D the symmetric matrix of d, doubled on the diagonal, the entry of (k, l) and (k', l') is :math:`2
        \sum_{ij} D_{ij} (u_{ik} u_{ik'} u_{jl} u_{jl'} + u_{ik} u_{il'} u_{jl} u_{jk'})`.
        """
        u = self.entries
        doubled = 2.0 * self._doubled(ratios)
        # Rows of T are those of template k, one for each later column: a run of n - 1 - k.
        ends = np.cumsum(len(u) - 1 - np.arange(self.n_templates))
        parts = [slice(end - len(u) + 1 + k, end) for k, end in enumerate(ends)]
        for k in range(self.n_templates):
            spread = doubled @ (u * u[:, k : k + 1])
            for m in range(k + 1):
                summand = spread[:, m : m + 1] * u[:, m + 1 :] + u[:, m : m + 1] * spread[:, m + 1 :]
                block = u[:, k + 1 :].T @ summand
                out[parts[k], parts[m]] = block
                out[parts[m], parts[k]] = block.T

    def columns(self, support: Any) -> Array:
        """Return the columns of T for some of the pairs."""
        left, right = self._rows()
        at_head = self.entries[self.pairs[0][support]].T
        at_tail = self.entries[self.pairs[1][support]].T
        matrix: Array = at_head[left] * at_tail[right]
        matrix += at_head[right] * at_tail[left]
        matrix *= np.sqrt(2.0)
        return matrix

    def distance(self, edges: Array) -> float:
        """Return the distance of a graph from the matrices that have the templates."""
        return float(np.linalg.norm(self.apply(edges)))

    def admissible(self, edges: Array) -> Array:
        """Return the edges without negative weights, the anchor's summing to one."""
        clipped = np.maximum(edges, 0.0)
        return clipped / float(self.at_anchor @ clipped)

    def gap(self, edges: Array, multiplier: Array, epsilon: float) -> float:
        """Return a graph's duality gap, relative to its objective, shrinking the multiplier as needed."""
        slopes = self.adjoint(multiplier)
        # Shrinking the multiplier makes any of them feasible: zero always is.
        least = float(slopes[self.at_anchor == 0].min(initial=0.0))
        shrink = 1.0 if least >= -1.0 else -1.0 / least
        bound = 1.0 + shrink * (float(slopes[self.at_anchor == 1].min()) - epsilon * float(np.linalg.norm(multiplier)))
        total = float(edges.sum())
        return max(0.0, total - max(bound, 1.0)) / total

    def _doubled(self, edges: Array) -> Array:
        """Return the symmetric matrix of a vector of pairs, twice it on the diagonal."""
        matrix = np.zeros((len(self.entries), len(self.entries)))
        matrix[self.pairs] = edges
        matrix += matrix.T.copy()
        return matrix

    def _rows(self) -> Any:
        return np.triu_indices(self.n_templates, 1, len(self.entries))


FEASIBILITY = 1e-8  # how far above epsilon a distance may be


class Candidate(NamedTuple):
    """An admissible graph with its relative duality gap and its distance; ``merit`` ranks candidates by both."""

    edges: Array
    gap: float
    distance: float
    merit: float

    @classmethod
    def of(cls, templates: TemplateMap, edges: Array, multiplier: Array, epsilon: float) -> Candidate:
        """Clip, normalise and certify."""
        admissible = templates.admissible(edges)
        gap = templates.gap(admissible, multiplier, epsilon)
        distance = templates.distance(admissible)
        return cls(admissible, gap, distance, max(gap, (distance - epsilon) / FEASIBILITY * 1e-7))


def best_candidate(templates: TemplateMap, point: ConePoint, epsilon: float) -> Candidate:
    """Return the best graph: the interior point's, or one polished by an active-set method from its support."""
    support = point.x > point.z
    # Weights below 1e-9 are an interior point's distance from zero; a merit below 1e-11 is rounding.
    best = Candidate.of(templates, np.where(point.x > 1e-9, point.x, 0.0), -point.u[1:], epsilon)
    # Solve on the support, let negative edges leave and those of negative reduced cost enter, and again.
    for _ in range(40):
        if best.merit <= 1e-11:
            break
        solved = _solve_on_support(templates, support, epsilon)
        if solved is None:
            break
        edges, multiplier, price = solved
        if price:
            best = min(Candidate.of(templates, edges, multiplier, epsilon), best, key=lambda one: one.merit)
        costs = price + templates.adjoint(multiplier)
        costs -= templates.at_anchor * float(costs[support & (templates.at_anchor == 1)].mean())
        costs[support] = 0.0
        entering = np.argsort(costs)[: max(1, support.sum() // 20)]  # the few of most negative reduced cost
        entering = entering[costs[entering] < -1e-11]
        leaving = edges < 0
        if not entering.size and not leaving.any():
            break
        support &= ~leaving
        support[entering] = True
    return best


def _solve_on_support(templates: TemplateMap, support: Any, epsilon: float) -> tuple[Array, Array, float] | None:
    r"""Solve the problem on a support in closed form; None where the support does not determine it.

    With the inequalities on the support dropped, :math:`s(t) = s_0 + t s_1` minimises :math:`t 1^\top s + \|Ts\|^2/2`
    subject to the anchor's sum, and :math:`\|T s(t)\|^2 = \|T s_0\|^2 + t^2 \|T s_1\|^2` gives the t at which the
    distance is epsilon. One QR factorisation of T on the support. Returns s, the multiplier y = T s / t and 1; where no
    graph of the support is near enough, s_0, T s_0 and 0, by which an edge that brings it nearer has negative cost.
    """
    at_anchor = templates.at_anchor[support]
    if len(at_anchor) < 2 or templates.n_rows < len(at_anchor) - 1 or not at_anchor.any():
        return None
    columns = templates.columns(support)
    keeping = linalg.null_space(at_anchor[None])  # the directions that keep the anchor's sum
    q, r = linalg.qr(columns @ keeping, mode="economic", check_finite=False)
    pivots = np.abs(np.diag(r))
    if pivots.min() <= 1e-11 * pivots.max():
        return None
    start = at_anchor / float(at_anchor @ at_anchor)
    base = start + keeping @ linalg.solve_triangular(r, -(q.T @ (columns @ start)))
    direction = keeping @ linalg.solve_triangular(r, -linalg.solve_triangular(r, keeping.sum(axis=0), trans=1))
    margin = epsilon**2 - float(np.sum((columns @ base) ** 2))
    pace = float(np.linalg.norm(columns @ direction))
    if pace == 0:  # all graphs of this support cost the same
        return None
    weight = float(np.sqrt(max(margin, 0.0))) / pace
    edges = np.zeros(len(support))
    edges[support] = base + weight * direction
    if margin <= 0:
        return edges, columns @ base, 0.0
    return edges, columns @ (edges[support] / weight), 1.0


MOST_ROWS = 12_000  # three arrays of this many rows squared take about four gigabytes, and a step about a minute


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
    """
    templates = TemplateMap(eigenvectors[:, :n_components], anchor)
    if templates.n_rows > MOST_ROWS:
        raise InputError(
            f"spectral templates with {templates.n_templates} components on {len(templates.entries)} different nodes "
            f"have {templates.n_rows:,} equations, and more than {MOST_ROWS:,} take too much memory and time: lower "
            "n_components"
        )
    # Many products and factors of middling size: BLAS takes three times as long for them with two threads as with one.
    with blas_threads().limit(limits=1):
        near = _nearest(templates, max_iter)
        nearest = templates.admissible(near.x[:-1])
        smallest = templates.distance(nearest)
        LOG.info("spectral templates: %d rows, smallest epsilon %.3e", templates.n_rows, smallest)
        allowed = _allowed(epsilon, smallest, near.certificate.value, slack)
        best, runs = _sparsest(templates, allowed, nearest, tol, max_iter)
    weights = templates.graph(best.edges)
    error = max(best.gap, near.certificate.value)
    runs = [near.certificate, *runs]
    feasible = best.distance <= allowed + FEASIBILITY
    certificate = of_stages(runs, error, tol, feasible=feasible, remedy="raise max_iter, tol or slack")
    return TemplateGraph(weights, allowed, smallest, best.distance, float(weights.sum()), certificate)


def template_basis(covariance: Array) -> tuple[Array, int]:
    """Return the eigenvectors of a covariance, largest eigenvalue first, and the number of nonzero ones."""
    values, vectors = linalg.eigh(covariance, check_finite=False)
    rank = int(np.sum(values > len(values) * np.finfo(float).eps * values[-1]))
    return np.ascontiguousarray(vectors[:, ::-1]), rank


class ConeRows:
    """The matrix of the cone programs: T with a row before it, for the bound of its norm."""

    def __init__(self, templates: TemplateMap, first: Array) -> None:
        self.templates = templates
        self.first = first
        self.n_edges = len(templates.counts)
        self.size = 1 + templates.n_rows

    def apply(self, x: Array) -> Array:
        """Return the bound and T x."""
        return np.append(self.first @ x, self.templates.apply(x[: self.n_edges]))

    def adjoint(self, u: Array) -> Array:
        """Return the transpose times u."""
        back: Array = u[0] * self.first
        back[: self.n_edges] += self.templates.adjoint(u[1:])
        return back

    def gram(self, d: Array) -> Array:
        """Return the weighted product with the transpose."""
        out = np.zeros((self.size, self.size))
        self.templates.gram(d[: self.n_edges], out[1:, 1:])
        out[0, 0] = d @ self.first**2
        return out


def _nearest(templates: TemplateMap, max_iter: int) -> ConePoint:
    """Minimise the distance: a cone program in the edges and the distance itself."""
    costs = np.append(np.zeros(len(templates.counts)), 1.0)
    rows = ConeRows(templates, costs)
    return solve_cone_program(costs, rows, np.zeros(rows.size), np.append(templates.at_anchor, 0.0), max_iter=max_iter)


def _sparsest(
    templates: TemplateMap, epsilon: float, nearest: Array, tol: float, max_iter: int
) -> tuple[Candidate, list[Certificate]]:
    """Minimise the total weight within the distance epsilon; return also what certifies each program solved for it."""
    rows = ConeRows(templates, np.zeros(len(templates.counts)))
    bound = np.zeros(rows.size)
    costs = np.ones(len(templates.counts))
    bound[0] = epsilon
    heaviest = float((nearest / templates.counts).max())
    runs = []
    while True:
        quadratic = 0.25 * tol / heaviest / templates.counts
        point = solve_cone_program(costs, rows, bound, templates.at_anchor, g=quadratic, max_iter=max_iter)
        runs.append(point.certificate)
        best = best_candidate(templates, point, epsilon)
        weight = float((best.edges / templates.counts).max())
        if best.gap <= tol or weight <= 2.0 * heaviest:
            return best, runs
        heaviest = weight  # heavier than foreseen, so the tie-break cost more than it should


def _allowed(epsilon: float | None, smallest: float, error: float, slack: float) -> float:
    """Return the distance to allow, or say that there is no graph within the one asked for."""
    if epsilon is None:
        # A cone more nearly closed costs digits of the objective and gains nothing: the anchor's row is of size one.
        return max((1.0 + slack) * smallest, 1e-6)
    if epsilon < smallest * (1.0 - error) - 1e-9:  # which is zero in working precision
        raise InputError(
            f"epsilon={epsilon:g} is infeasible: no admissible graph is nearer to the spectral templates "
            f"than {smallest:.6g}; raise epsilon, lower n_components, or leave epsilon=None"
        )
    return max(epsilon, 1e-9)
