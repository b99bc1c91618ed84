"""The game's two fixed points, by products only: x = a + K x (straight) and y = b + W f(y) (concave).

Both are monotone: a, b, K, W >= 0. On an admissible graph they are also contractions of factor c, so that plain
iteration always works, but slowly when c is near 1 (27,000 steps to 1e-12 at c = 0.999). The fast methods here
fall back on plain steps, in runs of doubling length, whenever they do not make progress: the whole then costs a
small multiple of plain iteration at the very worst.

Vectors may live on a device with the graph: they are arrays to NumPy's operators and functions of single numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..validation import Array
from .interactions import Interaction, Linear, Response

Product = Callable[[Array], Array]

MAX_PRODUCTS = 100_000  # four times what plain iteration needs at c = 0.999
KRYLOV_STEPS = 400  # a random graph needs 20, a ring of 500 nodes at c = 0.999 about 260
FIRST_PLAIN_RUN = 16  # plain steps after the first failure; doubled at each further one
TINY = 1e-32  # relative square of a product that is zero up to rounding: the method has broken down


class FixedPoint(NamedTuple):
    """Where a solve ended: the point, its defect (the map's image minus the point), and the products in float64.

    A defect of infinities says that the point ran away, that is, that there is no fixed point.
    """

    point: Array
    defect: Array
    products: int

    @property
    def residual(self) -> float:
        """The defect's norm relative to the point's."""
        return norm(self.defect) / (norm(self.point) or 1.0)


class Counter:
    """A product that counts its calls."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.calls = 0

    def __call__(self, vector: Array) -> Array:
        """Multiply, and count it."""
        self.calls += 1
        return self.product(vector)


def tangent(product: Product, slope: Array, outer: Array | None) -> Product:
    """Return v -> outer product(slope v)."""
    if outer is None:
        return lambda vector: product(slope * vector)
    return lambda vector: outer * product(slope * vector)


def norm(vector: Array) -> float:
    """Return the Euclidean norm, without numpy.linalg's overhead: these run on a few hundred numbers."""
    return float(vector @ vector) ** 0.5


def bicgstab(linear: Product, residual: Array, *, floor: float, max_steps: int) -> Array:
    """Return about the x with ``x - linear(x) = residual``, by BiCGSTAB (van der Vorst 1992) from zero.

    Ends where the residual's norm is at most ``floor``, or where the method breaks down. Vectors that are our own are
    overwritten: new memory for each would take as long as what is computed.
    """
    shadow = residual  # kept orthogonal to later residuals, which makes two short recurrences do
    size = float(residual @ residual)
    point = 0.0 * residual
    direction = 0.0 * residual
    image = 0.0 * residual
    before = alpha = omega = 1.0
    for _ in range(max_steps):
        rho = float(shadow @ residual)
        if norm(residual) <= floor or abs(rho) <= TINY * size or omega == 0.0:
            break
        direction -= omega * image
        direction *= rho / before * alpha / omega
        direction += residual
        image = direction - linear(direction)
        along = float(shadow @ image)
        if along == 0.0:  # a breakdown: the caller goes on in another way
            break
        # Half a step along the direction, then the step that leaves the least residual.
        alpha = rho / along
        before = rho
        half = -alpha * image
        half += residual
        point += alpha * direction
        if norm(half) <= floor:
            break
        turned = half - linear(half)
        square = float(turned @ turned)
        omega = float(turned @ half) / square if square > 0 else 0.0
        point += omega * half
        residual = -omega * turned
        residual += half
    return point


def solve_affine(
    linear: Product, constant: Array, *, tol: float, start: Array | None = None, growth: float = 1e8
) -> FixedPoint:
    """Solve ``x = constant + linear(x)`` for a non-negative linear map of spectral radius below 1.

    A point ``growth`` times as large as the start counts as running away. Only the caller can tell whether the map
    contracts; if it does, a second solve with infinite ``growth`` finds even such a point.

    Stops when ``||constant + linear(x) - x|| <= tol ||x||``, checked on the true residual. BiCGSTAB on
    ``I - linear`` does the work: two products a step and no stored basis; plain steps stand in where it breaks
    down. O(products) applications and a handful of vectors.
    """
    count = Counter(linear)
    best = constant if start is None else start
    floor = max(tol * norm(constant), 0.5 * tol * norm(best))
    best_residual = constant + count(best) - best
    limit = growth * (norm(best) + norm(constant))
    run = FIRST_PLAIN_RUN
    # A Krylov solve for the correction; where rounding left too much of it, plain steps, then another.
    while norm(best_residual) > tol * norm(best) and count.calls < MAX_PRODUCTS:
        trial = best + bicgstab(count, best_residual, floor=floor, max_steps=KRYLOV_STEPS)
        residual = constant + count(trial) - trial
        if norm(residual) < norm(best_residual):
            best = trial
            best_residual = residual
        if norm(best_residual) <= tol * norm(best):
            continue
        trial = best
        residual = best_residual
        for _ in range(run):
            trial = trial + residual
            residual = constant + count(trial) - trial
        run *= 2
        if not norm(trial) <= limit:
            return FixedPoint(trial, 0.0 * constant + np.inf, count.calls)
        best = trial
        best_residual = residual
    return FixedPoint(best, best_residual, count.calls)


def solve_response(
    product: Product,
    benefit: Array,
    interaction: Interaction,
    response: Response | None = None,
    *,
    tol: float,
    start: Array | None = None,
    growth: float = 1e8,
) -> FixedPoint:
    """Solve ``y = response(benefit + product(f(y)))``; without a response it is the game's, for f in H1.

    Stops when the residual's norm is at most ``tol`` times that of y, or of the benefit if that is larger. Newton's
    method: the next point solves the problem linearised at y, to an accuracy that grows with Newton's own (a tenth of
    the residual times its relative size). Without a response, F(y) = y - b - W f(y) is convex and its derivative has a
    non-negative inverse wherever W f'(y) contracts, so from any y >= 0 the exact iterates fall monotonically on the
    solution (the monotone Newton theorem) and no line search is needed; the same holds from the highest point where the
    map increases and is concave (an epidemic). Elsewhere a step may break down, or cycle at a kink of the response: one
    that does not halve the residual is refused, and plain steps, in runs of doubling length, lead out of there. For
    linear f without a response one affine solve is all. ``growth`` is that of :func:`solve_affine`.
    """
    if response is None and isinstance(interaction, Linear):
        return solve_affine(product, benefit, tol=tol, start=start, growth=growth)
    count = Counter(product)
    low: Any = benefit  # actions are at least the benefits where W and f are not negative
    high: Any = None
    if response is not None:
        low, high = response.range
    if start is not None:
        point = start.clip(min=low, max=high)
    elif response is None:
        point = benefit
    elif np.isinf(high):
        point = response.value(benefit)
    else:  # from the highest point the iterates of an increasing concave map fall on the solution
        point = np.full(len(benefit), high)

    def reply(point: Array) -> tuple[Array, Array]:
        inner = benefit + count(interaction.value(point))
        return inner, (inner if response is None else response.value(inner)) - point

    inner, residual = reply(point)
    run = FIRST_PLAIN_RUN
    least = norm(benefit)
    limit = growth * (norm(point) + least)
    while norm(residual) > tol * max(norm(point), least) and count.calls < MAX_PRODUCTS:
        size = norm(residual)
        scale = max(norm(point), least)
        accuracy = max(0.1 * min(size / scale, 1.0), 0.3 * tol * scale / size)
        linear = tangent(count, interaction.slope(point), None if response is None else response.slope(inner))
        step = bicgstab(linear, residual, floor=accuracy * size, max_steps=KRYLOV_STEPS)
        trial = (point + step).clip(min=low, max=high)
        trial_inner, trial_residual = reply(trial)
        if norm(trial_residual) < 0.5 * size:  # else Newton's step broke down, or cycles at a kink
            point = trial
            inner = trial_inner
            residual = trial_residual
            continue
        for _ in range(run):
            point = point + residual
            inner, residual = reply(point)
        run *= 2
        if not norm(point) <= limit:
            return FixedPoint(point, 0.0 * benefit + np.inf, count.calls)
    return FixedPoint(point, residual, count.calls)
