r"""The fast solver: generalised conditional gradient toward the row-wise best response, with Anderson acceleration.

.. math:: \min_{W \in S} \; \ell(W) = J(W) - \lambda\,\Phi(W), \quad \nabla\Phi = L R^\top

**Optimality.** W is stationary iff :math:`W = B(W)`, its own row best response to the bonus :math:`\lambda L R^\top`
(facts 1 to 3 of docs/mathematics.md). **Stopping measure**: the stationarity :math:`\|W - B(W)\|_F / \|W\|_F`.

One iteration has three parts:

1. B(W), which also certifies W. Near a stationary point it is exact among the candidate pairs only, a working set. When
   the stationarity among them reaches the tolerance, one response among all pairs proves it, or extends the set, and
   the descent goes on. Far away, where steps decide which stationary point is found, all responses are proved, so that
   every storage and engine goes the same way.
2. A step that lowers the objective enough, the first of these two that does:

   a. the best response to an *accelerated* gradient. The unknown is (L, R), 2NK numbers, and Anderson's method combines
      the last few;
   b. a share of its own of the way to B(W) for every row: half of the last one if the row turned round since, 1.2 times
      it otherwise, at most all of it. If that does not lower the objective enough, all shares are halved. Where λ is
      large against β, rows flip between neighbours at the slightest change, and one share for all would hold everybody
      back.

3. The prior on the new W, warm-started and only as accurate as the step needs.

**Why it converges.** Along :math:`d = B(W) - W` the slope is
:math:`\langle \nabla\ell(W), d \rangle \le -2\beta\|d\|^2`, row by row. Every accepted step lowers the
objective by a fixed share of that (Armijo's rule), so :math:`\|d\|` tends to zero and the iterates cannot cycle. Where
that is below the objective's rounding, a step is accepted only if it lowers the stationarity itself.

``benchmarks/STEPS.md`` compares both kinds of steps with what was tried in their place.

References: Bredies, Lorenz, Maass, *A generalized conditional gradient method* (2009); Walker, Ni, *Anderson
acceleration for fixed-point iterations* (2011).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..certificate import Measure, Monitor, Status
from ..pairs import Weights, blas_threads
from ..priors import State
from ..priors.prior import EXACT, PriorState, columns
from ..validation import Array, check_integer, check_number
from .problem import Problem, Result, SolverOptions


@dataclass(frozen=True, kw_only=True, repr=False)
class BestResponse(SolverOptions):
    """The fast solver of :class:`~nashgraph.GLGP` and its settings; the defaults are those of ``make stress``.

    The settings of every solver are ``tol``, ``max_iter``, ``n_starts``, ``storage`` and ``callback``: see
    :class:`~nashgraph.solvers.SolverOptions`.

    Attributes
    ----------
    memory : int
        States that Anderson's method combines; 0 turns it off.

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> GLGP(solver=BestResponse(tol=1e-8, n_starts=4))
    GLGP(solver=BestResponse(tol=1e-08, n_starts=4))
    """

    memory: int = 6
    # Share of what the slope promises that a step must keep: along the way to B(W), and when accelerated. The second is
    # smaller, because a good proposal may be far off that way.
    armijo: float = 0.1
    enough: float = 0.01
    first_accuracy: float = 1e-4  # of the first state: the first steps change W by far more
    # Factors of a row's share of the way: after it turned round, and otherwise.
    turned: float = 0.5
    goes_on: float = 1.2
    far: float = 0.1  # stationarity above which responses are proved to be those among all pairs

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("memory", self.memory, low=0, remedy="try 6; 0 turns acceleration off")
        for name in ("armijo", "enough", "first_accuracy", "turned", "goes_on", "far"):
            given = getattr(self, name)
            usual = getattr(type(self), name)
            check_number(name, given, low=0, high=1e10, open_low=True, remedy=f"try {usual:g}")

    def solve(self, problem: Problem, lam: float, start: Weights | Result | None = None) -> Result:
        """Descend from ``start`` to a stationary point; with a Result to start from, the prior on it is known."""
        scans = problem.smoothness.search.scans
        monitor = Monitor(Measure.STATIONARITY, self.tol, self.max_iter, self.callback)
        # Vectors and CSR products gain nothing from BLAS's threads, which would compete with the kernels' own.
        with blas_threads().limit(limits=1):
            weights, state = problem.start_of(start)
            accuracy = self.first_accuracy if state is None else EXACT
            run = Descent(problem, lam, self)
            now = run.evaluate(weights, accuracy, state)
            iteration = 0
            while True:
                now, response, stationarity, accuracy = run.certify(now)
                if monitor.check(iteration, now.objective, stationarity, now.state.value) is not None:
                    break
                step = run.step(now, response, stationarity, 0.3 * accuracy)
                if step is not None:
                    now = step
                    iteration += 1
                elif not run.exact:  # rough states, or pairs left out, may hide the way down
                    run.exact = True
                    now = run.evaluate(now.weights, EXACT, now.state)
                else:
                    monitor.stall()
                    break
            if monitor.status is not Status.CONVERGED:  # the last state may be rough
                now = run.evaluate(now.weights, EXACT, now.state)
                stationarity = problem.stationarity(now.weights, now.state, lam)
        spent = problem.smoothness.search.scans - scans
        return Result(now.weights, now.state, now.objective, spent, monitor.certificate(value=stationarity))


class Iterate(NamedTuple):
    """A weight matrix, the prior on it to some accuracy, and the objective."""

    weights: Weights
    state: State
    objective: float
    accuracy: float


@dataclass
class Descent:
    """A descent under way: the problem at one λ, the states remembered, and how far rows may go."""

    problem: Problem
    lam: float
    options: BestResponse
    acceleration: Acceleration = field(init=False)
    shares: Array = field(init=False)  # of the way to B(W), row by row
    way: Any = None  # the last step's whole way to B(W); None after an accelerated step
    # Whether all states are solved for good and all responses are proved, because rough ones led no farther.
    exact: bool = False
    far: bool = True  # whether the last iterate was far from stationary

    def __post_init__(self) -> None:
        self.acceleration = Acceleration(self.options.memory)
        self.shares = np.ones(self.problem.smoothness.n_nodes)

    def evaluate(self, weights: Weights, tol: float, start: State | None) -> Iterate:
        """Evaluate the prior and the objective."""
        state = self.problem.prior.evaluate(weights, tol=tol, start=start)
        return Iterate(weights, state, self.problem.objective(weights, state, self.lam), tol)

    def certify(self, now: Iterate) -> tuple[Iterate, Weights, float, float]:
        """Return the iterate, its best response, its stationarity, and how accurate its state must be.

        If the state was too rough for that, it is solved more accurately first. One that has converged is solved for
        good, and its response is proved; so is that of one that is far from stationary.
        """
        proved = self.exact
        for _ in range(4):
            response = self.problem.respond(now.state, self.lam, proved=proved)
            stationarity = now.weights.distance(response) / float(np.sqrt(now.weights.square))
            self.far = self.exact or stationarity > self.options.far
            converged = stationarity <= self.options.tol
            accuracy = self.needed_accuracy(now, stationarity)
            wanted = EXACT if converged else accuracy
            if self.far and not proved:
                proved = True
            elif now.accuracy > wanted:
                now = self.evaluate(now.weights, wanted, now.state)
            elif converged and not proved:
                proved = True
            else:
                break
        return now, response, stationarity, accuracy

    def needed_accuracy(self, now: Iterate, stationarity: float) -> float:
        """Return how accurate the state of a W of this stationarity must be.

        A relative error e of the state moves the best response by about e |lam L R^T| / (2 beta), the norm taken over
        edges, which should be 5% of its distance from W; and the objective by about e^2 lam Φ, which should be at most
        10% of the least decrease that is enough, where e may be 1 / (1 - c) times the residual. The norm over edges
        takes one product for each column: a row has about c^2 / |W_i|^2 neighbours, and (W r^2)_i / c is the mean over
        them.
        """
        if self.exact:
            return EXACT
        smoothness = self.problem.smoothness
        size = float(np.sqrt(now.weights.square))
        own = smoothness.beta * size**2
        total = 0.0
        dot = now.weights.dot
        neighbours = smoothness.c * smoothness.n_nodes / size**2
        for left, right in zip(columns(now.state.left).T, columns(now.state.right).T, strict=True):
            total += neighbours * float((self.lam * left) ** 2 @ dot(right**2))
        by_step = 0.1 * own / max(np.sqrt(total) * size, 2.0 * own)
        scale = max(self.lam * abs(now.state.value), own)
        by_objective = (1.0 - smoothness.c) * np.sqrt(0.2 * self.options.enough * own / scale)
        return float(np.clip(stationarity * min(by_step, by_objective), EXACT, self.options.first_accuracy))

    def step(self, now: Iterate, response: Weights, stationarity: float, accuracy: float) -> Iterate | None:
        """Return an iterate of lower objective, or None if there is none to be told from rounding."""
        return self.accelerated(now, stationarity, accuracy) or self.row_by_row(now, response, stationarity, accuracy)

    def accelerated(self, now: Iterate, stationarity: float, accuracy: float) -> Iterate | None:
        """Return the best response to the proposed gradient; None if there is none or it is refused."""
        proposal = self.acceleration.propose()
        if proposal is None:
            return None
        response = self.problem.respond(proposal, self.lam, proved=self.far)
        step = self.evaluate(response, accuracy, now.state)
        self.acceleration.add(proposal, step.state)
        promised = 2.0 * self.problem.smoothness.beta * stationarity**2 * now.weights.square
        accepted = self.lower(now, step, self.options.enough * promised, stationarity)
        self.acceleration.judge(accepted=accepted)
        if not accepted:
            return None
        self.way = None
        return step

    def row_by_row(self, now: Iterate, response: Weights, stationarity: float, accuracy: float) -> Iterate | None:
        """Go a share of its own of the way in every row; None if the objective cannot fall.

        Every row's way descends by itself, so that any shares do: the slope is -2 beta sum_i share_i |d_i|^2 at most.
        """
        options = self.options
        way = response.minus(now.weights)
        if self.way is None:
            turned = np.zeros(len(self.shares), bool)
        else:
            turned = way.row_products(self.way) < 0
        grown = np.minimum(1.0, options.goes_on * self.shares)
        self.way = way
        self.shares = np.where(turned, options.turned * self.shares, grown)
        squares = way.row_products(way)
        while self.shares.max() > 1e-10:  # a shorter step is rounding
            whole = self.shares.min() == 1.0
            weights = response if whole else now.weights.mix(response, self.shares)
            step = self.evaluate(weights, accuracy, now.state)
            promised = 2.0 * self.problem.smoothness.beta * float(self.shares @ squares)
            accepted = self.lower(now, step, options.armijo * promised, stationarity)
            if accepted or whole:
                self.acceleration.add(now.state, step.state)
            if accepted:
                return step
            self.shares = options.turned * self.shares
        return None

    def lower(self, now: Iterate, step: Iterate, enough: float, stationarity: float) -> bool:
        """Return whether a step lowers the objective enough; if that is below rounding, the stationarity decides."""
        fall = now.objective - step.objective
        size = abs(self.problem.smoothness.value(now.weights)) + self.lam * abs(now.state.value)
        if max(abs(fall), enough) > self.problem.rounding * size:
            return fall >= enough
        return self.problem.stationarity(step.weights, step.state, self.lam, proved=self.far) < stationarity


class Acceleration:
    r"""Anderson acceleration of the map from a gradient (L, R) to that at its best response.

    .. math:: z = \sum_k a_k\, G(z_k), \quad a = \arg\min_{1^\top a = 1} \big\|\sum_k a_k (G(z_k) - z_k)\big\|

    Input and output of the map are stored for the last few steps (type II, Walker and Ni 2011), solved in differences,
    O(n memory^2). Both sides are scaled to like size, and entries of a proposal keep the sign they had.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.wait = self.refused = self.added = 0
        self.scales = self.output = self.residual = np.empty(0)
        self.shape: tuple[int, ...] = ()
        # Differences of consecutive outputs and residuals, in a ring: their order does not matter.
        self.steps = self.changes = np.empty((0, 0))

    def _vector(self, state: Any) -> Array:
        left = np.ravel(state.left)
        right = np.ravel(state.right)
        if not len(self.scales):
            self.shape = np.shape(state.left)
            sizes = [float(np.linalg.norm(left)) or 1.0, float(np.linalg.norm(right)) or 1.0]
            self.scales = np.repeat(sizes, len(left))
        return np.concatenate([left, right]) / self.scales

    def add(self, state: Any, resulting: Any) -> None:
        """Store a gradient and the one at its best response, or on the way to it."""
        point = self._vector(state)
        image = self._vector(resulting)
        residual = image - point
        if self.added == 0:
            self.steps, self.changes = np.empty((2, self.memory, len(image)))
        elif self.memory:
            place = (self.added - 1) % self.memory
            np.subtract(image, self.output, out=self.steps[place])
            np.subtract(residual, self.residual, out=self.changes[place])
        self.output = image
        self.residual = residual
        self.added += 1

    def propose(self) -> PriorState | None:
        """Return the gradient to respond to next; None if too few are stored, or the last were refused."""
        if self.wait:
            self.wait -= 1
            return None
        known = min(self.added - 1, self.memory)
        if known < 1:
            return None
        point = self.output - least_squares(self.changes[:known], self.residual) @ self.steps[:known]
        left, right = np.split(np.where(point * self.output > 0, point, 0.0) * self.scales, 2)
        return PriorState(np.nan, left.reshape(self.shape), right.reshape(self.shape))

    def judge(self, *, accepted: bool) -> None:
        """Wait for one step after a refused proposal, and for three after the next."""
        self.refused = 0 if accepted else min(3, 2 * self.refused + 1)
        self.wait = self.refused


def least_squares(changes: Array, residual: Array) -> Array:
    """Return the mixture of changes nearest to a residual, without directions that are rounding.

    It comes from the Gram matrix of the changes scaled to one length, ten times faster than a factorisation of the
    changes; directions below the root of the rounding are lost, which is good enough for a proposal.
    """
    products = changes @ changes.T
    scale = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    kept = values > 1e-12 * values[-1]
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    found: Array = inverse @ (changes @ residual / scale) / scale
    return found
