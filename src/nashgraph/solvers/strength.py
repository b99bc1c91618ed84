r"""Three lambdas: where the prior first changes an edge, where it raises J by a given share, where it outweighs D.

All are seen from the Smooth-GL graph, to first order in lambda. With the bonus :math:`\lambda\, l_i r_j`, row i moves
by its bonus less its neighbours' mean, over :math:`2\beta`, so that J rises from its minimum :math:`J_0` by

.. math:: \frac{\lambda^2}{4\beta} \sum_i l_i^2 \sum_{j \in N_i} (r_j - \bar r_{N_i})^2

until neighbours change. For GLGP the bonus is :math:`\lambda\, u f(y)^\top`, for its linear approximation
:math:`\lambda\, 1 b^\top`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..certificate import LOG, Record
from ..pairs import Bonus, PairSearch
from ..pairs.weights import rows_of
from ..smoothness import Smoothness
from ..validation import Array, InputError
from .descent import BestResponse
from .problem import Problem, Result, SolverOptions

COST = 1e-3  # share of J, as a typical row has it, that lam="auto" spends on the prior (benchmarks/DEFAULT_LAM.md)
LEEWAY = 2.0  # how many times that a prior may really cost before lambda is halved (benchmarks/STEPS.md)
# Steps of the best response in which a lambda must come near a stationary point, and how near. Where the graph nearly
# tips over, steps are slow: at a million nodes one lambda took 148 when it was tried, and half of it takes 9
# (benchmarks/GPU.md). On 120 problems of `make recovery`, tried once, default fits took at most 12: 40 changes none.
PATIENCE = 40
NEAR = 1e-4


def lam_for_cost(smoothness: Smoothness, left: Array, right: Array, cost: float = COST) -> float:
    """Return the lambda at which the bonus lam * <left_i, right_j> raises J by a share ``cost``, to first order.

    Zero where the bonus does not tell any node's neighbours apart: no lambda changes anything then.
    """
    bonus = Bonus.of(left, right)
    moved = smoothness.smooth.bonus_spread(bonus)
    if moved <= (1e-9 * float(np.linalg.norm(left)) * float(np.abs(right).max())) ** 2:
        return 0.0
    return float(np.sqrt(4.0 * smoothness.beta * cost * smoothness.value(smoothness.smooth) / moved))


def typical_share(smoothness: Smoothness) -> float:
    r"""Return what J would be if every row were a typical one, as a share of J; 1 at most.

    Row i of the Smooth-GL graph has :math:`J_i = c\,\eta_i - \beta \|W_i\|^2`, between half of :math:`c\,\eta_i` and
    all of it, so that the thresholds tell rows apart. Where a few nodes with huge signals hold most of J, a thousandth
    of it would be an enormous prior for everybody else.
    """
    threshold = smoothness.smooth.threshold
    assert threshold is not None  # the Smooth-GL graph is a best response
    return min(1.0, float(np.median(threshold) / threshold.mean()))


def solve_at_cost(
    problem: Problem, solve: Callable[[float, Budget], Result], cost: float = COST, patience: float = np.inf
) -> tuple[float, Result]:
    """Solve with a lambda whose prior costs about a share ``cost`` of J, as a typical row has it, and return both.

    The first lambda is that of the first order. It is halved until the best response at the Smooth-GL graph, the first
    point of the way, does not raise J by more than ``LEEWAY`` times the cost; then the problem is solved. If the graph
    tips over on the way, lambda is halved again. ``solve`` takes lambda and a :class:`Budget`, a callback which raises
    :class:`GivenUp` to stop such a run.
    """
    smoothness = problem.smoothness
    state = problem.smooth_state
    least = smoothness.value(problem.smooth)
    share = cost * typical_share(smoothness)
    lam = lam_for_cost(smoothness, state.left, state.right, share)
    allowed = least + LEEWAY * share * max(least, np.finfo(float).tiny)
    proved = True
    for _ in range(20):
        # The first response is searched for among all pairs. Its candidates serve the smaller lambdas, too.
        response = problem.respond(state, lam, proved=proved)
        proved = False
        if smoothness.value(response) <= allowed:
            first = problem.smooth.distance(response) / float(np.sqrt(problem.smooth.square))
            try:
                return lam, solve(lam, Budget(lam, allowed, first, patience))
            except GivenUp as reason:
                LOG.info("lam: %.3g %s", lam, reason)
        else:
            LOG.info("lam: %.3g would cost more than %.2g of J at once", lam, LEEWAY * share)
        lam *= 0.5
    # The last goes to its end, a millionth of the first.
    return lam, solve(lam, Budget(lam, np.inf, first=0.0, turn=np.inf))


class GivenUp(Exception):  # noqa: N818 (it ends a trial, and is no error)
    """A lambda is too large, and its run was stopped; the message says why."""


@dataclass
class Budget:
    """A callback that gives a lambda up as soon as its J is above a limit, its graph tips over, or steps are slow.

    A graph tips over if more people follow a few, who then gain more, and attract others. It then comes to be farther
    from its best response than the Smooth-GL graph was, ``first``, or ``turn`` times as far as it has been on the way.
    J is the objective without the welfare's part.
    """

    lam: float
    limit: float
    first: float
    patience: float = np.inf
    turn: float = 4.0  # on the tables of tests/problems.py runs that ended well had 2 at most, and those that tipped 6
    least: float = np.inf  # stationarity on the way

    def watching(self, solver: SolverOptions) -> SolverOptions:
        """Return a solver whose runs end with the budget, or with the callback that it has.

        Its responses need no proof on the way: a run that gets farther away than it began is given up.
        """
        callback = solver.callback

        def both(record: Record) -> bool:
            return bool(callback is not None and callback(record)) or self(record)

        if isinstance(solver, BestResponse):
            return replace(solver, callback=both, far=max(solver.far, self.first))
        return replace(solver, callback=both)

    def __call__(self, record: Record) -> bool:
        """Give up, or go on."""
        if record.iteration == 0:
            self.first = max(self.first, record.value)
            self.least = np.inf
        self.least = min(self.least, record.value)
        if record.objective + self.lam * record.welfare > self.limit:
            raise GivenUp("costs too much of J")
        farthest = max(NEAR, min(self.first, self.turn * self.least))
        if record.value > farthest and np.isfinite(self.turn):
            raise GivenUp("makes the graph tip over")
        if record.iteration >= self.patience and record.value > NEAR:
            raise GivenUp("takes too many steps")
        return False


def lam_range(problem: Problem) -> tuple[float, float]:
    r"""Return the lambdas between which the prior matters: where it is first felt, and where it dominates.

    Seen from the Smooth-GL graph with its state, to first order in lambda: the first is the least lambda at which
    a pair gains or loses its edge, or at which J rises by a ten-thousandth if that is less (where all pairs are edges,
    none changes for long); the second is that at which, in every row, the bonus
    :math:`\lambda \langle L_i, R_j \rangle` differs between nodes by as much as all else,
    :math:`\max_j D_{ij} - \min_j D_{ij} + 2\beta c`.

    Two scans: for the pairs that change first, and for each node's farthest.
    """
    smoothness = problem.smoothness
    state = problem.smooth_state
    left, right = (np.reshape(side, (smoothness.n_nodes, -1)) for side in (state.left, state.right))
    spread = np.ptp(right, axis=0)
    if float(spread.max()) <= 1e-12 * float(np.abs(right).max()):
        raise InputError(
            "no lam changes an edge, because all nodes act alike on the graph without prior (is benefit uniform?): "
            "give a benefit that differs between nodes, or the lams yourself"
        )
    felt = lam_for_cost(smoothness, left, right, 1e-4)
    low = first_change(problem, left, right - right.mean(axis=0), felt)
    # What nodes cost differs by this much in each row; beyond, the prior alone decides.
    search = smoothness.search
    nearest = np.asarray(search.nearest(1)[0])[:, 0]
    others = farthest_costs(search) - nearest + 2.0 * smoothness.beta * smoothness.c
    weighed = np.abs(left) @ spread
    high = float((others / np.maximum(weighed, np.finfo(float).tiny)).max())
    return min(low, high), high


def first_change(problem: Problem, left: Array, right: Array, most: float) -> float:
    r"""Return the least lambda, at most ``most``, at which a pair gains or loses its edge, to first order.

    Row i is ``max(0, eta_i - d_ij)`` up to scale. With its neighbours fixed, the bonus moves ``eta_i`` by lam times the
    neighbours' mean bonus, so pair (i, j) crosses zero at (d_ij - eta_i) / (its bonus - the mean bonus), where that is
    positive. The pairs that cross before some lambda are edges, or score more than :math:`\lambda` times the mean bonus
    less :math:`\eta_i` at that lambda: one search finds them all.
    """
    smoothness = problem.smoothness
    threshold = problem.smooth.threshold
    assert threshold is not None  # the Smooth-GL graph is a best response
    graph = problem.smooth.matrix()
    counts = np.maximum(np.diff(graph.indptr), 1)
    pattern = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    mean = np.einsum("ik,ik->i", left, pattern @ right) / counts

    def crossings(pairs: Any) -> Array:
        rows = rows_of(pairs)
        gap = pairs.data - threshold[rows]
        pull = np.einsum("ek,ek->e", left[rows], right[pairs.indices]) - mean[rows]
        # Pairs within rounding of zero are on the edge already and are passed over.
        moves = (np.abs(gap) > 1e-9 * largest) & (gap * pull > 0.0)
        return np.asarray(gap[moves] / pull[moves])

    search = smoothness.search
    edges = sparse.csr_array(
        (search.costs(rows_of(graph), graph.indices), graph.indices, graph.indptr), shape=graph.shape
    )
    largest = float(np.abs(threshold).max())
    first = float(crossings(edges).min(initial=np.inf))
    lam = min(first, most)
    bonus = Bonus.of(lam * left, right)
    cut = lam * mean - threshold
    slack = 1e-9 * (np.abs(cut) + largest + bonus.sizes)
    # An infinite margin: no cut may be raised.
    pairs, _ = search.above(cut - bonus.shift - slack, bonus, gain=1.0, total=1.0, margin=np.inf)
    return min(lam, float(crossings(pairs).min(initial=np.inf)))


def farthest_costs(search: PairSearch) -> Array:
    """Return the largest cost of each node: with twice the costs as a bonus, the nearest are the farthest."""
    left, right = search.geometry.factors()
    bonus = Bonus.of(2.0 * left, right)
    costs, _ = search.nearest(1, bonus)
    farthest: Array = bonus.shift - np.asarray(costs)[:, 0]
    return farthest


def path_range(problem: Problem) -> tuple[float, float]:
    """Return the lambdas worth a path: from where the prior is first felt to where it costs as much as J at the latest.

    The cost is that of the first order. Beyond, up to where :func:`lam_range` ends, the signals hardly count any more,
    a few nodes take all influence, and the solver is slow.
    """
    low, high = lam_range(problem)
    state = problem.smooth_state
    dear = lam_for_cost(problem.smoothness, state.left, state.right, 1.0)
    return low, min(high, max(dear, 10.0 * low))
