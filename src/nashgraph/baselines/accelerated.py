"""The accelerated gradient method that the baselines share, and the alternation around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from ..certificate import Certificate, Measure, Monitor, Status
from ..validation import Array

# An alternation solves for its graph to this share of the gap it is to reach, in at most so many steps.
INNER_SHARE = 0.1
INNER_STEPS = 20_000


class Iterate(NamedTuple):
    """A point, and what else a step needs: an affine function of the point, such as the gradient or the degrees."""

    point: Array
    image: Array


class Block(Protocol):
    """A convex quadratic f over a convex set."""

    @property
    def conditioning(self) -> float:
        """The smallest curvature of f over its largest, or 0 where restarts are to make do without it."""

    def at(self, point: Array) -> Iterate:
        """Return the point with its image."""

    def step(self, at: Iterate) -> Iterate:
        """Return the projected gradient step of length 1 / L, with L the largest curvature of f."""

    def measure(self, at: Iterate) -> tuple[float, float]:
        """Return f, which is positive, and a bound on how far it is above its minimum."""


def accelerated_descent(block: Block, start: Array, monitor: Monitor) -> tuple[Array, Certificate]:
    r"""Minimise a convex quadratic f over a convex set C, from a point of C.

    .. math:: \min_{x \in C} f(x), \qquad
              x_{k+1} = P_C\big(y_k - \nabla f(y_k) / L\big), \quad
              y_{k+1} = x_{k+1} + m_k (x_{k+1} - x_k), \quad
              m_k = \min\Big(\frac{t_k - 1}{t_{k+1}}, \frac{1 - \sqrt q}{1 + \sqrt q}\Big)

    with :math:`t_{k+1} = \tfrac12 (1 + \sqrt{1 + 4 t_k^2})` from :math:`t_0 = 1` and q the conditioning of f.

    **Optimality and stopping.** The block's own bound on :math:`f(x) - \min f`, over f(x), is looked at every few
    steps, and the monitor says whether it is small enough. The result is never above the start except by rounding: if
    it would be, the start is returned, and the certificate says that it stalled.

    **Restart.** Momentum that points uphill, :math:`\langle y_k - x_{k+1}, x_{k+1} - x_k \rangle > 0`, is dropped: t
    begins again at 1.

    The image of :math:`y_k` is that of the points it is made of, so a step needs one evaluation only.

    References
    ----------
    Beck, Teboulle, *A fast iterative shrinkage-thresholding algorithm* (2009); O'Donoghue, Candès, *Adaptive restart
    for accelerated gradient schemes* (2015), the gradient scheme.
    """
    current = ahead = block.at(start)
    first: tuple[float, float] | None = None
    root = np.sqrt(block.conditioning)
    most = (1.0 - root) / (1.0 + root)
    age = 1.0
    iteration = 0
    while True:
        # Measuring costs about as much as half a step.
        if iteration % 5 == 0 or iteration >= monitor.max_iter:
            value, gap = block.measure(current)
            first = first or (value, gap)
            if monitor.check(iteration, value, gap / value) is not None:
                break
        moved = block.step(ahead)
        if (ahead.point - moved.point) @ (moved.point - current.point) > 0.0:
            age = 1.0
        older = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * age**2))
        share = min((age - 1.0) / older, most)
        ahead = Iterate(*(now + share * (now - before) for now, before in zip(moved, current, strict=True)))
        current = moved
        age = older
        iteration = iteration + 1
    if value > first[0] * (1.0 + 1e-14):
        return start, monitor.certificate(monitor.stall(), first[1] / first[0])
    return current.point, monitor.certificate()


def alternate(start: Array, rest: Callable[[Array], tuple[Block, float]], monitor: Monitor) -> Array:
    r"""Minimise over a graph and over the rest in turn, each to its optimum, from a graph.

    ``rest`` minimises over everything but the graph. It returns the problem in the graph that is left, and the part of
    the objective that the graph does not enter. The objective never rises. **Stopping** is by the gap of the graph,
    over the objective, at the rest that is best for it: zero exactly where both are optimal given the other. Not being
    jointly convex, the problem may have several such points. If a whole solve improves nothing, it ends as stalled.
    """
    graph = start
    iteration = 0
    while True:
        block, constant = rest(graph)
        value, gap = block.measure(block.at(graph))
        if monitor.check(iteration, constant + value, gap / (constant + value)) is not None:
            return graph
        graph, inner = accelerated_descent(block, graph, Monitor(Measure.GAP, INNER_SHARE * monitor.tol, INNER_STEPS))
        if inner.status is Status.STALLED:
            monitor.stall()
            return graph
        iteration += 1
