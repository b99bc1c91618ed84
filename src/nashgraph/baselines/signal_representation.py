r"""GL-SigRep, the problem of :class:`~nashgraph.GLSigRep`, by exact alternating minimisation.

X holds one node per row here. Each block is convex. The signals are :math:`Y = (I + \alpha L)^{-1} X`. The Laplacian is
one point w of a simplex with an entry for each pair of nodes, and its squared norm needs the degrees d only:

.. math:: \min_w \; \langle w, \alpha z \rangle + \beta\,(2\|w\|^2 + \|d(w)\|^2)
          \quad\text{s.t.}\quad w \ge 0,\; \textstyle\sum w = N/2, \qquad z_{ij} = \|y_i - y_j\|^2

**Optimality and stopping.** With g the gradient of this block at w, :math:`f(w) - f^\star \le \max_s \langle g, w - s
\rangle - 2\beta\|w - s\|^2` over the simplex, because f minus :math:`2\beta\|w\|^2` is convex. The maximiser is one
simplex projection, and the bound is the duality gap at the multipliers :math:`2\beta\,d(w)`: zero exactly at the
optimum, and quadratic in the distance to it. As Y follows from L, the same gap at :math:`(L, Y(L))`, over the
objective, certifies the whole problem: it is zero where both blocks are optimal.

**Cost.** The curvature within the simplex lies between :math:`4\beta` and :math:`2\beta N`, so accelerated projected
gradient with restarts takes :math:`O(\sqrt N \log 1/\varepsilon)` steps, each a few passes over the N(N-1)/2 pairs. The
Y-step is a Cholesky factorisation, O(N^3), with min(M, N) right-hand sides. Memory: a few N x N arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import squareform

from ..certificate import Certificate, Measure, Monitor
from ..pairs import squared_distances
from ..pairs._kernels import project_row
from ..validation import Array
from .accelerated import INNER_SHARE, INNER_STEPS, Iterate, accelerated_descent, alternate


class SmoothedGraph(NamedTuple):
    """The N x N weights, the denoised signals in the shape of X, and what certifies them."""

    weights: Array
    denoised: Array
    objective: float
    certificate: Certificate


def sig_rep(X: Array, alpha: float, beta: float, *, tol: float = 1e-6, max_iter: int = 200) -> SmoothedGraph:
    """Minimise over Laplacian and signals in turn, from Y = X of shape (n_signals, n_nodes)."""
    observed = _compressed(X)
    n = X.shape[1]

    def rest(weights: Array) -> tuple[LaplacianBlock, float]:
        signals = signal_step(observed, weights, alpha)
        return LaplacianBlock(pair_costs(signals, alpha), beta), float(np.sum((observed - signals) ** 2))

    monitor = Monitor(Measure.GAP, tol, max_iter)
    # The first graph is that of the signals as they are, from the complete graph.
    noisy = LaplacianBlock(pair_costs(observed, alpha), beta)
    complete = np.full(n * (n - 1) // 2, 1.0 / (n - 1.0))
    start, _ = accelerated_descent(noisy, complete, Monitor(Measure.GAP, INNER_SHARE * tol, INNER_STEPS))
    weights = alternate(start, rest, monitor)
    signals = np.ascontiguousarray(signal_step(X.T, weights, alpha).T)
    certificate = monitor.certificate(remedy="raise max_iter, or lower alpha (less smoothing settles sooner)")
    return SmoothedGraph(squareform(weights), signals, certificate.history[-1].objective, certificate)


def signal_step(signals: Array, weights: Array, alpha: float) -> Array:
    r"""Return :math:`Y = (I + \alpha L)^{-1} X` for the Laplacian of the pair weights, by Cholesky."""
    system = -alpha * squareform(weights)
    system[np.diag_indices_from(system)] = 1.0 - system.sum(axis=1)
    factor = linalg.cho_factor(system, overwrite_a=True, check_finite=False)
    return linalg.cho_solve(factor, signals, check_finite=False)


def pair_costs(signals: Array, alpha: float) -> Array:
    r"""Return :math:`\alpha \|y_i - y_j\|^2` for the pairs i < j of the rows of ``signals``, by rows."""
    costs: Array = squareform(squared_distances(signals.T), checks=False)
    costs *= 2.0 * alpha * signals.shape[1]
    return costs


@dataclass(frozen=True, eq=False)
class LaplacianBlock:
    """The Laplacian's block: the quadratic program above in the weights of the pairs i < j, by rows, at given costs."""

    costs: Array
    beta: float

    @property
    def conditioning(self) -> float:
        """Zero: the known bound, 2 / N, is far too small for sparse graphs and slows the method; restarts do better."""
        return 0.0

    def at(self, point: Array) -> Iterate:
        """Return the weights with their degrees."""
        return Iterate(point, squareform(point, checks=False).sum(axis=1))

    def step(self, at: Iterate) -> Iterate:
        """Return the projected gradient step."""
        # Within the simplex no curvature is above 2 beta N.
        return self.at(self._projected(at, 1.0 / (2.0 * self.beta * len(at.image))))

    def measure(self, at: Iterate) -> tuple[float, float]:
        """Return the value, and the gap that one more projection gives."""
        weights, degrees = at
        value = float(weights @ self.costs + self.beta * (2.0 * weights @ weights + degrees @ degrees))
        difference = weights - self._projected(at, 0.25 / self.beta)
        return value, float(difference @ (self._gradient(at) - 2.0 * self.beta * difference))

    def _gradient(self, at: Iterate) -> Array:
        weights, degrees = at
        ends = squareform(np.add.outer(degrees, degrees), checks=False)
        return self.costs + 4.0 * self.beta * weights + 2.0 * self.beta * ends

    def _projected(self, at: Iterate, step: float) -> Array:
        moved: Array = at.point - step * self._gradient(at)
        project_row(moved, -1, 1.0, 0.5 * len(at.image), np.empty_like(moved))  # in place; no entry is left out
        return moved


def _compressed(X: Array) -> Array:
    """Return the nodes as rows, with at most N columns that have the same inner products.

    The problem sees X through X X^T only, and not the mean of each signal, so many signals cost no more than N.
    """
    centred = X - X.mean(axis=1, keepdims=True)
    if len(X) > X.shape[1]:
        (centred,) = linalg.qr(centred, mode="r", check_finite=False)
        centred = centred[: X.shape[1]]
    return np.ascontiguousarray(centred.T)
