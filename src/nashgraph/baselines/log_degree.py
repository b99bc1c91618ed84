r"""The problem of :class:`~nashgraph.LogDegreeGL`, by Newton's method on a dual with one variable per node.

With :math:`\theta = 1/\sqrt{\alpha\beta}` and :math:`\delta = \sqrt{\alpha/\beta}` the solution is :math:`\delta` times
that of the unit problem with costs :math:`\theta D` and :math:`\alpha = \beta = 1` (Kalofolias and Perraudin), so
:math:`\theta` alone decides which edges there are. The dual of the unit problem is

.. math:: \max_{\mu > 0} \; \sum_i \log \mu_i + N
          - \tfrac14 \sum_{i<j} \max(0,\, \mu_i + \mu_j - 2\theta D_{ij})^2 .

It is smooth and strictly concave, and any :math:`\mu` gives an admissible sparse graph, :math:`w_{ij} = \tfrac12
\max(0, \mu_i + \mu_j - 2\theta D_{ij})`. Optimality: :math:`\mu_i d_i = 1` at every node, with the degree :math:`d =
w1`. The difference between the two objectives is :math:`\sum_i (\mu_i d_i - 1 - \log \mu_i d_i)`, a sum of non-negative
terms without cancellation; its mean over nodes, which is the duality gap of the problem above over :math:`\alpha N`, is
the stopping measure.

Newton's method is the semismooth one: the generalised Hessian is :math:`\tfrac12` times the signless Laplacian of the
present edges plus :math:`\mathrm{diag}(\mu)^{-2}`, positive definite, so conjugate-gradient steps of O(edges) solve for
a direction, and an Armijo search makes it converge from anywhere. A step is a few passes over the pairs. 5 to 20 steps
are usual; graphs that are almost trees (mean degree near 2) take 50 to 150, and in the limit of large theta, a linear
program, rounding stops it short of the gap asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg

from ..certificate import LOG, Certificate, Measure, Monitor
from ..validation import Array, InputError
from .candidate_pairs import CandidatePairs, NearestPairs, NodeSums


@dataclass(frozen=True, eq=False)
class LogDegreeGraph:
    """A solution of the unit problem: theta, the dual variables mu, sums over edges, and all Newton steps certified."""

    theta: float
    potential: Array
    sums: NodeSums
    certificate: Certificate

    @property
    def mean_degree(self) -> float:
        """The mean number of edges of positive weight at a node."""
        return float(self.sums.counts.mean())

    def objective(self, alpha: float, beta: float) -> float:
        r"""Return the objective at the graph scaled for alpha and beta, for which theta must be right."""
        scale = len(self.potential) * float(np.log(np.sqrt(alpha / beta)))
        return alpha * (unit_objective(self.potential, self.sums) - scale)

    def after(self, steps: int) -> LogDegreeGraph:
        """Return the graph with the steps counted that led to its start."""
        return replace(self, certificate=replace(self.certificate, iterations=self.certificate.iterations + steps))


def log_degree_graph(
    pairs: CandidatePairs,
    *,
    theta: float | None = None,
    degree: float | None = None,
    grow: bool = False,
    tol: float = 1e-9,
    max_iter: int = 500,
) -> LogDegreeGraph:
    """Solve the unit problem at a theta or, without one, at the theta that gives a mean degree.

    ``grow`` adds pairs that were left out and would be edges, until there are none: the graph is that of all pairs.
    """
    graph = None
    steps = 0
    while True:
        if theta is not None:
            graph = solve_unit(pairs, theta, graph, tol=tol, max_iter=max_iter)
        else:
            assert degree is not None
            graph = solve_for_degree(pairs, degree, graph, tol=tol, max_iter=max_iter)
        if not (grow and isinstance(pairs, NearestPairs) and pairs.extend(graph.potential, graph.theta)):
            return graph.after(steps)
        steps += graph.certificate.iterations


def solve_unit(
    pairs: CandidatePairs, theta: float, start: LogDegreeGraph | None = None, *, tol: float = 1e-9, max_iter: int = 500
) -> LogDegreeGraph:
    """Solve the unit problem at theta, from a graph at this or another theta.

    The larger theta, the more the dual is like a linear program, where Newton's method from afar is slow. So theta is
    approached from below by factors of two, each solved roughly, once the graph has about ten edges per node.
    By default the start is each node as if it chose its edges alone.
    """
    if start is None:
        nearest = pairs.nearest(min(pairs.n_nodes - 1, 64))  # as many as tell a node's first potential
        at = min(theta, guess_theta(nearest, 10.0)) if nearest.any() else theta
        potential = lonely_potential(nearest, at)
    else:
        at = start.theta
        potential = start.potential
    steps = 0
    stride = 2.0  # factor of each step on the way to a large theta
    while at * stride < theta:
        graph = newton(pairs, at, potential, tol=1e-2, max_iter=max_iter)
        steps += graph.certificate.iterations
        at *= stride
        potential = graph.potential * stride  # exact where nodes choose alone and costs dominate
    return newton(pairs, theta, potential * (theta / at), tol=tol, max_iter=max_iter).after(steps)


def solve_for_degree(
    pairs: CandidatePairs, degree: float, start: LogDegreeGraph | None = None, *, tol: float = 1e-9, max_iter: int = 500
) -> LogDegreeGraph:
    """Solve the unit problem at the theta that gives ``degree`` edges of positive weight per node on average.

    The logarithm of theta is found by the secant method inside a bracket, on the logarithm of the mean degree, with
    each solve started from the last, until the degree is met to 2% or to one edge, or no theta meets it: degrees come
    in steps, and below two there may be none at all. The graph returned is the best seen, solved to ``tol``.
    """
    if start is None:
        theta = guess_theta(pairs.nearest(min(pairs.n_nodes - 1, int(2 * degree) + 8)), degree)
    else:
        theta = start.theta
    search = Search(float(np.log(degree)), float(np.log(theta)))
    accuracy = max(0.02 * degree, 1.0 / pairs.n_nodes)
    best = None
    graph = start
    steps = 0
    # Degrees fall in steps, so the nearest that is met is remembered.
    for _ in range(40):  # the bracket halves each time, so that more would tell apart rounding only
        # A degree is known long before the gap is small: only the last solve is to the tolerance asked for.
        graph = solve_unit(pairs, theta, graph, tol=max(tol, 1e-7), max_iter=max_iter)
        steps += graph.certificate.iterations
        converged = graph.certificate.converged
        LOG.info("log-degree: theta %.6g gives degree %.4g", theta, graph.mean_degree)
        if best is None or (converged and abs(graph.mean_degree - degree) < abs(best.mean_degree - degree)):
            best = graph
        place = search.next_place(float(np.log(theta)), float(np.log(graph.mean_degree)))
        if abs(best.mean_degree - degree) <= accuracy or place is None or not converged:
            break
        theta = float(np.exp(place))
    assert best is not None
    return solve_unit(pairs, best.theta, best, tol=tol, max_iter=max_iter).after(steps)


def newton(pairs: CandidatePairs, theta: float, potential: Array, *, tol: float, max_iter: int) -> LogDegreeGraph:
    """Run the semismooth Newton method at one theta from the given positive potentials."""
    monitor = Monitor(Measure.GAP, tol, max_iter)
    sums = pairs.sums(potential, theta)
    iteration = 1
    while monitor.check(iteration, unit_objective(potential, sums), duality_gap(potential, sums)) is None:
        step = newton_step(pairs.edges(potential, theta), potential, sums)
        moved = line_search(pairs, theta, potential, sums, step)
        if moved is None:
            monitor.stall()
            break
        potential, sums = moved
        iteration += 1
    remedy = "raise max_iter or tol, or ask for a denser graph (larger degree, alpha or beta)"
    return LogDegreeGraph(theta, potential, sums, monitor.certificate(remedy=remedy))


def unit_objective(potential: Array, sums: NodeSums) -> float:
    """Return the unit problem's objective at the graph of the potentials."""
    with np.errstate(divide="ignore"):  # a run cut short may leave a node alone: infinite, and rightly so
        return float(potential @ sums.degree - 0.5 * sums.square.sum() - np.log(sums.degree).sum())


def duality_gap(potential: Array, sums: NodeSums) -> float:
    """Return the mean of x - 1 - log x over nodes, with x = mu d; infinite where a node has no edge."""
    with np.errstate(divide="ignore"):
        excess = potential * sums.degree - 1.0
        return float(np.mean(np.maximum(excess - np.log1p(excess), 0.0)))


def dual_loss(potential: Array, sums: NodeSums) -> float:
    """Return the dual's value, less N, with its sign changed: what Newton's method makes small."""
    return float(0.5 * sums.square.sum() - np.log(potential).sum())


def newton_step(edges: Any, potential: Array, sums: NodeSums) -> Array:
    """Return the Newton direction by conjugate gradients, solved the better the nearer the solution is."""
    gradient = sums.degree - 1.0 / potential
    # The generalised Hessian: half the signless Laplacian of the present edges, and a positive diagonal.
    diagonal = 0.5 * sums.counts + potential**-2
    pattern = sparse.csr_array((np.full(edges.nnz, 0.5), edges.indices, edges.indptr), shape=edges.shape)
    # Scaled by the diagonal on both sides the matrix has a unit diagonal and eigenvalues in (0, 2).
    root = diagonal**-0.5
    accuracy = 0.01 * min(0.1, float(np.sqrt(np.mean((potential * gradient) ** 2))))
    matrix = sparse.diags_array(root) @ pattern @ sparse.diags_array(root) + sparse.eye_array(len(root))
    step, _ = cg(sparse.csr_array(matrix), -root * gradient, rtol=max(accuracy, 1e-10), maxiter=500)
    return root * step


def line_search(
    pairs: CandidatePairs, theta: float, potential: Array, sums: NodeSums, step: Array
) -> tuple[Array, NodeSums] | None:
    """Halve the step until the dual loss falls enough; None where no step lowers it beyond rounding."""
    loss = dual_loss(potential, sums)
    slope = float(step @ (sums.degree - 1.0 / potential))
    # The loss is known to a few roundings only, which must not stop the last steps.
    noise = 1e-13 * (abs(loss) + len(potential))
    shrinking = float(np.max(-step / potential))
    length = 1.0 if shrinking < 0.9 else 0.9 / shrinking
    for _ in range(40):
        trial = potential + length * step
        trial_sums = pairs.sums(trial, theta)
        if dual_loss(trial, trial_sums) <= loss + 1e-4 * length * slope + noise:
            return trial, trial_sums
        length *= 0.5
    return None


def lonely_potential(nearest: Array, theta: float) -> Array:
    r"""Return the potentials of the problem in which every node chooses its edges alone.

    They solve :math:`\sum_j \max(0, \mu_i - \theta z_{ij}) = 1/\mu_i` over the sorted distances z of row i: with k
    neighbours it is a quadratic equation, and k is the number of activation levels below :math:`\theta^{-2}`.
    """
    last = np.sum(activation_levels(nearest) < theta**-2, axis=1).clip(min=1) - 1
    summed = theta * np.take_along_axis(np.cumsum(nearest, axis=1), last[:, None], axis=1)[:, 0]
    return (summed + np.sqrt(summed**2 + 4.0 * (last + 1))) / (2.0 * (last + 1))


def activation_levels(nearest: Array) -> Array:
    r"""Return :math:`k z_k^2 - z_k \sum_{j \le k} z_j`: a node alone has k edges iff it is below theta^-2."""
    ranks = np.arange(1, nearest.shape[1] + 1)
    return nearest * np.maximum(ranks * nearest - np.cumsum(nearest, axis=1), 0.0)


def guess_theta(nearest: Array, degree: float) -> float:
    r"""Return the theta at which nodes alone have ``degree`` edges on average.

    Kalofolias and Perraudin average the intervals of theta of all nodes; here the levels of all nodes are pooled and
    cut at the rank wanted, which is exact for the problem in which every node chooses alone.
    """
    levels = np.sort(activation_levels(nearest), axis=None)
    rank = min(max(round(degree * len(nearest)), 1), levels.size - 1)
    level = 0.5 * (levels[rank - 1] + levels[rank])
    if level <= 0.0:
        positive = levels[levels > 0.0]
        level = positive[0] if positive.size else float(nearest.max()) ** 2
    if level <= 0.0:
        raise InputError(
            "degree cannot set the sparsity: every node has the same signals, so all distances are zero; "
            "check the signals, or give alpha and beta"
        )
    return float(level**-0.5)


class Search:
    """Find where a decreasing function of one number takes a value: secant steps kept inside a bracket."""

    def __init__(self, wanted: float, place: float) -> None:
        self.wanted = wanted
        self.origin = place
        self.low = -np.inf
        self.high = np.inf
        self.last: tuple[float, float] | None = None

    def next_place(self, place: float, value: float) -> float | None:
        """Take in a value and return where to look next; None when the bracket has closed."""
        excess = value - self.wanted
        # The function decreases: a value that is too large lies to the left of the place wanted.
        if excess > 0:
            self.low = place
        else:
            self.high = place
        slope = -1.0
        if self.last is not None and place != self.last[0]:
            slope = min((value - self.last[1]) / (place - self.last[0]), -0.1)
        self.last = (place, value)
        target = place - float(np.clip(excess / slope, -2.0, 2.0))
        width = self.high - self.low
        # A thousand times the first guess, or a thousandth of it: degrees do not change any more out there.
        if width < 1e-6 or abs(place - self.origin) > 7.0:
            return None
        if np.isfinite(width) and not self.low + 0.05 * width <= target <= self.high - 0.05 * width:
            target = 0.5 * (self.low + self.high)
        return target
