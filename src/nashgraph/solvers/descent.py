r"""Descent by best responses: everybody answers everybody, accelerated, and never uphill.

.. math:: \min_{W \in S} \; \ell(W) = J(W) - \lambda\, g(y(W)), \quad y = \max(0, b + W f(y))

W is stationary iff :math:`W = B(W)`, its own row best response to the bonus :math:`\lambda\, u f(y)^\top` (facts 1 to 3
of the design), and :math:`\|W - B(W)\|_F / \|W\|_F` is the stopping measure. An outer step is

1. B(W), one pass over all pairs, which also certifies W;
2. a candidate: the best response to an *accelerated* play (y, u), 2N numbers, by Anderson's method; or, where that
   does not lower the objective, B(W) itself; or, where that does not lower it enough, a point between W and B(W),
   found by interpolation: :math:`d = B(W) - W` descends, :math:`\langle \nabla\ell(W), d\rangle \le -2\beta\|d\|^2`;
3. the game on the candidate, by a few warm-started products, only as accurately as the step needs.

So the objective never rises, beyond its own rounding, and every step decreases it by a share of what the slope
promises: an accelerated one by :math:`\sigma\,|\langle \nabla\ell, d\rangle| \ge 2\sigma\beta\|d\|^2`, where
:math:`\sigma` is ``ENOUGH``, one along d by ``ARMIJO`` times that and its share of the way, which the curvature of the
objective bounds from below. The decreases add up to no more than :math:`\ell(W_0) - \inf \ell`, so :math:`\|d\|` tends
to zero: the iterates cannot go round in a cycle whose stationarity stays away from zero, as they can where any decrease
will do. Where what is promised is less than the objective's rounding, a step is taken only if it lowers the
stationarity itself: else steps that overshoot would be taken there, one after the other.

Where lambda is large against beta, rows flip between neighbours at the slightest change of the play, and a few of them
would hold back all others. But every row's part of d descends by itself, :math:`\langle \nabla_i \ell, d_i \rangle \le
-2\beta\|d_i\|^2`, so each may go a share of its own: less if it turned round since the last step, more if it went on.
Once a step had to go so, the next ones do, until an accelerated one is taken. Where even that does not get on,
:class:`Pace` notices, and the run ends as slow.

Near a saddle Anderson's method, which looks for any fixed point, would lead back into it, and plain steps leave it by a
few per cent of their length more each time. There the stationarity rises while the objective falls, and the play
proposed lies *farther* along the way of the last two steps (two, for a step and its return to cancel): twice as far
after each that is taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..certificate import Callback, Ending, Measure, Watch
from ..couplings import Coupling, row_products
from ..validation import Array
from ._anderson import Anderson
from .problem import Play, Problem
from .result import Result

# Of what the slope promises, a step must keep so much: one along it, and one of Anderson's.
ARMIJO, ENOUGH = 0.1, 0.01
FIRST_ACCURACY = 1e-4
LEAST_SHARE = 1e-10
# Anderson's proposals move by a share of the residual left: less after one that was refused, more after one taken.
GROW, SHRINK, LEAST_MIX = 1.5, 0.5, 0.05
# A stationarity that has not fallen below RISING of what it was two steps ago rises; proposals then go so many times as
# far as those two steps, at first, and at least.
RISING, FARTHER, LEAST_FARTHER = 0.98, 4.0, 2.0
# After a proposal refused so many steps make none: one, then three.
WAITS = 3
# Where whole steps fail, a row that turned round goes less far, one that goes on a little farther, and all half as far
# while the objective does not fall enough.
TURNED, GOES_ON, ROW_TRIES = 0.5, 1.2, 12
# A run is slow when the best stationarity has not halved in PATIENCE steps for every iteration allowed. A saddle takes
# hundreds to leave, in whole steps while the stationarity rises; a step cut below SHORT of the way counts as COUNTS_AS.
PATIENCE, SHORT, COUNTS_AS = 10, 0.1, 5


class Iterate(NamedTuple):
    """A graph, the game on it to some accuracy, and its objective at the lambda of the run."""

    coupling: Coupling
    play: Play
    objective: float
    accuracy: float


def descend(
    problem: Problem,
    lam: float,
    start: Coupling | None = None,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    memory: int = 6,
    callback: Callback | None = None,
    pace: Pace | None = None,
    play: Play | None = None,
) -> Result:
    """Descend from ``start`` (default: the Smooth-GL graph) to a stationary point, going through all pairs every step.

    The arguments are those of :func:`nashgraph.solvers.best_response`, which decides whether all pairs are worth it.
    Where this descent goes on with others, ``pace`` is theirs, and ``play`` the game on the start, solved for good.
    """
    passes = problem.smoothness.passes
    watch = Watch(Measure.STATIONARITY, tol, max_iter, callback)
    accuracy = FIRST_ACCURACY if play is None else problem.exact
    now = evaluate(problem, lam, problem.smooth if start is None else start, accuracy, play)
    run = Run(problem, lam, PlayMemory(memory, now.play), pace or Pace(max_iter))
    ending: Ending | None = None
    iteration = 0
    while ending is None:
        response, stationarity = run.certify(now)
        accuracy = run.needed_accuracy(now, stationarity)
        if now.accuracy > accuracy or stationarity <= tol:
            # The game on this graph was solved too roughly to certify it; the last one is solved for good.
            now = run.evaluate(now.coupling, problem.exact if stationarity <= tol else accuracy, now.play)
            response, stationarity = run.certify(now)
            accuracy = run.needed_accuracy(now, stationarity)
        ending = watch.ends(iteration, now.objective, stationarity, now.play.welfare)
        if ending is None and run.pace.slow(stationarity):
            ending = Ending.SLOW
        if ending is None:
            step = run.step(now, response, stationarity, 0.3 * accuracy)
            ending = Ending.STALLED if step is None else None
            now, iteration = step or now, iteration + 1
    if ending is not Ending.CONVERGED:
        now = run.evaluate(now.coupling, problem.exact, now.play)
        _, stationarity = run.certify(now)
    spent = problem.smoothness.passes - passes
    return Result(now.coupling, now.play, now.objective, spent, watch.certificate(ending, stationarity))


class Pace:
    """How a descent gets on: the best stationarity so far, what was spent since it last halved, how far rows may go.

    Examples
    --------
    >>> pace = Pace(max_iter=200)
    >>> pace.slow(0.1)
    False
    >>> for _ in range(400):
    ...     pace.take(share=0.01)
    >>> pace.slow(0.09), pace.slow(0.04)
    (True, False)
    """

    def __init__(self, max_iter: int) -> None:
        self.patience = PATIENCE * max_iter
        self.best, self.spent = np.inf, 0
        self.way: Any = None
        self.shares = np.ones(1)

    def shares_of(self, way: Any) -> Array:
        """Return how far each row should go on its way, given as CSR, by whether it turned round since the last."""
        if self.way is not None:
            turned = row_products(way, self.way) < 0
            self.shares = np.where(turned, TURNED * self.shares, np.minimum(1.0, GOES_ON * self.shares))
        self.way = way
        return self.shares

    def take(self, share: float) -> None:
        """Count a step by the share of the way that it went."""
        self.spent += COUNTS_AS if share < SHORT else 1

    def slow(self, stationarity: float) -> bool:
        """Tell whether too much was spent since the stationarity last halved."""
        if stationarity <= 0.5 * self.best:
            self.best, self.spent = stationarity, 0
        return self.spent >= self.patience


class PlayMemory:
    """The plays (y, u) of a descent, and which to answer next.

    A play determines a graph, its best response, and the game on that graph gives the next play. Each such pair, the
    play that was answered and the play that came of it, is remembered, and Anderson's combination of least residual is
    proposed; or, while the stationarity rises, a play farther on. Actions and adjoints are scaled to like size, and
    what is proposed stays possible (y >= 0, u of the sign it had).

    Examples
    --------
    >>> plays = PlayMemory(5, Play(np.ones(2), np.ones(2), 0.0))
    >>> for size, stationarity in ((1.0, 0.1), (1.1, 0.2), (1.3, 0.3)):
    ...     play = Play(np.full(2, size), np.ones(2), 0.0)
    ...     plays.add(play, play)
    ...     plays.pass_by(play, stationarity)
    >>> plays.propose().actions.round(6)
    array([2.5, 2.5])
    """

    def __init__(self, memory: int, first: Play) -> None:
        self.anderson = Anderson(memory)
        self.share, self.stride = 1.0, FARTHER
        self.farther = False
        self.wait = self.refused = 0
        self.trail: list[tuple[Array, float]] = []
        n = len(first.actions)
        self.scales = np.repeat([np.linalg.norm(first.actions), np.linalg.norm(first.adjoint) or 1.0], n)

    def add(self, answered: Play, resulting: Play) -> None:
        """Remember a play and the one that came of answering it."""
        self.anderson.add(self._vector(answered), self._vector(resulting))

    def pass_by(self, play: Play, stationarity: float) -> None:
        """Remember the play of the graph reached, and how far that is from its best response."""
        self.trail = [*self.trail[-2:], (self._vector(play), stationarity)]

    def propose(self) -> Play | None:
        """Return the play to answer next; None where too few are remembered, or the last were refused."""
        if self.wait:
            self.wait -= 1
            return None
        if len(self.anderson) < 2 or self.anderson.memory == 0:
            return None
        (before, was), (now, rises) = self.trail[0], self.trail[-1]
        self.farther = len(self.trail) == 3 and rises > RISING * was
        proposal = now + self.stride * (now - before) if self.farther else self.anderson.propose(self.share)
        actions, adjoint = np.split(proposal * self.scales, 2)
        sign = np.split(self.anderson.outputs[-1], 2)[1]
        return Play(np.maximum(actions, 0.0), np.where(adjoint * sign > 0, adjoint, 0.0), np.nan)

    def judge(self, *, taken: bool) -> None:
        """Go on from whether the last proposal was taken."""
        self.refused = 0 if taken else min(WAITS, 2 * self.refused + 1)
        self.wait = self.refused
        if self.farther:
            self.stride = 2.0 * self.stride if taken else max(LEAST_FARTHER, 0.25 * self.stride)
        else:
            self.share = min(1.0, GROW * self.share) if taken else max(LEAST_MIX, SHRINK * self.share)

    def _vector(self, play: Play) -> Array:
        return np.concatenate([play.actions, play.adjoint]) / self.scales


def evaluate(problem: Problem, lam: float, coupling: Coupling, tol: float, start: Play | None) -> Iterate:
    """Play the game on a graph and take its objective."""
    play = problem.play(coupling, tol=tol, start=start)
    return Iterate(coupling, play, problem.objective(coupling, play, lam), tol)


class Run(NamedTuple):
    """A descent under way: the problem at one lambda, the plays remembered, and how it gets on."""

    problem: Problem
    lam: float
    plays: PlayMemory
    pace: Pace

    def evaluate(self, coupling: Coupling, tol: float, start: Play | None) -> Iterate:
        """Play the game on a graph and take its objective."""
        return evaluate(self.problem, self.lam, coupling, tol, start)

    def certify(self, now: Iterate) -> tuple[Coupling, float]:
        """Return the best response to a graph and the graph's stationarity."""
        response = self.problem.respond(now.play, self.lam)
        return response, now.coupling.distance(response) / float(np.sqrt(now.coupling.square))

    def needed_accuracy(self, now: Iterate, stationarity: float) -> float:
        """Return how accurately the game on a graph of this stationarity must be solved.

        A relative error e of the play moves the best response by about e |lam u f(y)^T| / (2 beta), the norm taken over
        edges, which should be 5 % of its distance from W; and the objective by about e^2 lam g, which should be 10 % at
        most of the least decrease that is enough, where e may be 1 / (1 - c) times the residual. The norm over edges
        takes one product: a row has about c^2 / |W_i|^2 neighbours, and (W f(y)^2)_i / c is the mean over them.
        """
        left, right = self.problem.bonus(now.play, self.lam)
        size, smoothness = float(np.sqrt(now.coupling.square)), self.problem.smoothness
        own = smoothness.beta * size**2
        neighbours = smoothness.c * len(left) / size**2
        bonus = float(np.sqrt(neighbours * (left**2 @ now.coupling.dot(right**2))))
        by_step = 0.1 * own / max(bonus * size, 2.0 * own)
        by_objective = (1.0 - smoothness.c) * np.sqrt(0.2 * ENOUGH * own / max(self.lam * abs(now.play.welfare), own))
        return float(np.clip(stationarity * min(by_step, by_objective), self.problem.exact, FIRST_ACCURACY))

    def step(self, now: Iterate, response: Coupling, stationarity: float, accuracy: float) -> Iterate | None:
        """Return a graph of lower objective, or None where there is none to be told from rounding."""
        promised = self.promised(now, response, stationarity)
        self.plays.pass_by(now.play, stationarity)
        found = self._accelerated(now, stationarity, promised, accuracy)
        if found is None and self.pace.way is not None:
            found = self._row_by_row(now, response, accuracy)
            if found is not None:
                self.plays.add(now.play, found.play)
        return found or self._descending(now, response, stationarity, promised, accuracy)

    def promised(self, now: Iterate, response: Coupling, stationarity: float) -> float:
        """Return the slope from a graph toward its best response, <grad l(W), d>, from J's part and the bonus's."""
        left, right = self.problem.bonus(now.play, self.lam)
        squares = response.square - now.coupling.square * (1.0 + stationarity**2)
        slope = response.cost - now.coupling.cost + self.problem.smoothness.beta * squares
        return min(0.0, slope - float(left @ (response.dot(right) - now.coupling.dot(right))))

    def lower(self, now: Iterate, step: Iterate, enough: float, stationarity: float) -> bool:
        """Tell whether a step lowers the objective enough; where that is less than rounding, the stationarity tells."""
        gap = step.objective - now.objective
        size = abs(self.problem.smoothness.fidelity(now.coupling)) + self.lam * abs(now.play.welfare)
        if max(abs(gap), abs(enough)) > self.problem.rounding * size:
            return gap <= enough
        return self.certify(step)[1] < stationarity

    def _accelerated(self, now: Iterate, stationarity: float, promised: float, accuracy: float) -> Iterate | None:
        """Answer the play that is proposed; None where there is none or the objective does not fall enough."""
        plays = self.plays
        proposal = plays.propose()
        if proposal is None:
            return None
        step = self.evaluate(self.problem.respond(proposal, self.lam), accuracy, now.play)
        plays.add(proposal, step.play)
        if self.lower(now, step, ENOUGH * promised, stationarity):
            plays.judge(taken=True)
            self.pace.take(1.0)
            self.pace.way = None
            return step
        plays.judge(taken=False)
        return None

    def _descending(
        self, now: Iterate, response: Coupling, stationarity: float, promised: float, accuracy: float
    ) -> Iterate | None:
        """Go to the best response, or as far toward it as the objective falls enough; None where it cannot fall.

        Enough is ARMIJO times what the slope at W promises. Shares of the way are tried by fitting a parabola to the
        slope and the last value.
        """
        step = self.evaluate(response, accuracy, now.play)
        self.plays.add(now.play, step.play)
        share = 1.0
        while not self.lower(now, step, ARMIJO * share * promised, stationarity):
            if share == 1.0 and self.pace.way is None and self.problem.smoothness.holds:
                found = self._row_by_row(now, response, accuracy, step)
                if found is not None:
                    return found
            curvature = step.objective - now.objective - share * promised
            parabola = -0.5 * promised * share**2 / curvature if curvature > 0 else 0.5 * share
            share = float(np.clip(parabola, 0.1 * share, 0.7 * share))
            if share < LEAST_SHARE:
                return None
            step = self.evaluate(now.coupling.mix(response, share), accuracy, now.play)
        self.pace.take(share)
        return step

    def _row_by_row(
        self, now: Iterate, response: Coupling, accuracy: float, whole: Iterate | None = None
    ) -> Iterate | None:
        """Go a share of its own of the way in every row; None where that does not lower the objective enough.

        Every row's way descends by itself, so that any shares do: the slope is -2 beta sum_i share_i |d_i|^2 at most.
        Made as CSR. ``whole`` is the response with its game, where that is known.
        """
        weights = now.coupling.sparse().weights
        way = sparse.csr_array(response.sparse().weights - weights)
        shares = np.broadcast_to(self.pace.shares_of(way), way.shape[:1])
        squares, lengths = row_products(way, way), np.diff(way.indptr)
        for _ in range(ROW_TRIES):
            if whole is not None and shares.min() == 1.0:
                step = whole
            else:
                part = np.repeat(shares, lengths) * way.data, way.indices, way.indptr
                moved = sparse.csr_array(weights + sparse.csr_array(part, shape=way.shape))
                moved.eliminate_zeros()
                step = self.evaluate(self.problem.smoothness.hold(moved), accuracy, now.play)
            least = 2.0 * self.problem.smoothness.beta * float(shares @ squares)
            if step.objective < now.objective - ARMIJO * least:
                self.pace.take(float(shares @ squares / squares.sum()))
                return step
            shares = self.pace.shares = TURNED * shares
        return None
