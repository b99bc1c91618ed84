"""Polishing an interior point of the template problem: the sparsest graph on its support, in closed form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..validation import Array
from .cone_program import ConePoint
from .template_map import TemplateMap

# How far above epsilon a distance may be.
FEASIBILITY = 1e-8
POLISHINGS = 40
EXACT = 1e-11
DUST = 1e-9


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
        gap, distance = templates.gap(admissible, multiplier, epsilon), templates.distance(admissible)
        return cls(admissible, gap, distance, max(gap, (distance - epsilon) / FEASIBILITY * 1e-7))


def best_candidate(templates: TemplateMap, point: ConePoint, epsilon: float) -> Candidate:
    """Return the best graph: the interior point's, or one of its polished forms.

    A polish is an active-set method from the interior point's support: edges that came out negative leave, and the few
    with the most negative reduced costs enter.
    """
    support = point.x > point.z
    best = Candidate.of(templates, np.where(point.x > DUST, point.x, 0.0), -point.u[1:], epsilon)
    for _ in range(POLISHINGS):
        if best.merit <= EXACT:
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
        entering = np.argsort(costs)[: max(1, support.sum() // 20)]
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
