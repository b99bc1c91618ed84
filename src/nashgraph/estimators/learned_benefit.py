r"""Benefits learned from columns: which of them tell who is influential, reported like a regression.

.. math:: \min_{\theta, \tau} \; L(W) + \tfrac{\rho}{2}(\|\theta\|^2 + \tau^2) \quad\text{s.t.}\quad
          W = \arg\min_{W \in S} J(W) - \lambda_0 e^\tau\, \Phi(W;\, b), \quad b = \mathrm{softplus}(a + Z\theta) / N

Z are standardised columns, a makes b equal where :math:`\theta = 0`, and :math:`\lambda_0` is the default strength. The
hypergradient is the adjoint one level up. Let T be the directions that keep the support and the row sums of W,
:math:`H = 2\beta I - \lambda \nabla^2\Phi` there, and :math:`H v = P_T \nabla L(W)`. Then, :math:`D_v` being the
derivative along v,

.. math:: \frac{dL}{d\tau} = \lambda \langle v, \nabla\Phi \rangle, \qquad
          \frac{dL}{d\theta} = \lambda\, Z^\top (b' \circ D_v\, \partial\Phi / \partial b),

and :math:`\partial\Phi / \partial b` is the adjoint that the solver has anyway. Optimality: the hypergradient is zero;
L-BFGS stops at ``tol``. L has kinks where the support changes, and a solve may end there. Intervals are those of the
sandwich estimator over groups of nodes, or over networks if there are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import approx_fprime, minimize
from scipy.sparse.linalg import LinearOperator, minres
from scipy.special import expit
from scipy.stats import t as student

from ..pairs import make_search
from ..priors import GamePrior
from ..priors.prior import InMemory, columns
from ..smoothness import beta_for_degree, make_smoothness
from ..solvers import BestResponse, Problem, solve_at_cost
from ..validation import Array, InputError, check_integer

Loss = Callable[[Array], tuple[float, Array]]
OFFSET = float(np.log(np.e - 1.0))  # softplus(OFFSET) = 1
RIDGE = 1e-3
UNIFORM = 0.1  # share of the uniform distribution in the log score, which keeps it finite
GROUPS = 10


class Task(NamedTuple):
    """One network to learn from: signals, columns of its nodes (one row per node), and known ties.

    ``known`` are pairs (i, j) of node numbers that are tied, or functions of W that return a loss and its gradient by
    W; the mean over all is minimised.
    """

    X: Any
    columns: Any
    known: Any


@dataclass(frozen=True, eq=False)
class LearnedBenefit:
    """What :func:`learn_benefit` found.

    ``table`` has one row per column and one for the strength: estimate, low, high (95%), sign. Estimates are per
    standard deviation of the column; a sign is "+", "-", or "?" if the interval holds 0. The strength is the logarithm
    of how many times the default it is. ``benefits`` are those of each network, scaled to sum 1; ``lam`` is the
    strength for these in the first network.
    """

    table: pd.DataFrame
    benefits: list[Array]
    lam: float
    loss: float
    loss_without: float


def learn_benefit(
    tasks: Task | Sequence[Task],
    *,
    degree: float = 20,
    c: float = 0.95,
    prior: Callable[[Array], Any] = GamePrior,
    tol: float = 1e-5,
    max_iter: int = 50,
) -> LearnedBenefit:
    """Learn from known ties, or any loss of the weights, how columns of the nodes make benefits.

    ``tasks`` are networks with the same columns, all learned from together. ``degree`` is the mean number of
    neighbours; ties outside of them cannot be learned from, so more is better than few. ``prior`` makes a prior of
    benefits, for example ``lambda b: GamePrior(b, "linear")`` or ``Epidemic``; ``tol`` is that of the hypergradient.

    Examples
    --------
    Everybody knows one of three people, who have the mark 1; the signals do not show it:

    >>> random = np.random.default_rng(0)
    >>> mark = (np.arange(40) < 3).astype(float)
    >>> X, known = random.normal(size=(10, 40)), [(i, i % 3) for i in range(3, 40)]
    >>> found = learn_benefit(Task(X, pd.DataFrame({"mark": mark, "age": random.normal(size=40)}), known))
    >>> found.table["sign"].tolist(), found.loss < found.loss_without
    (['+', '?', '+'], True)
    """
    given = [tasks] if isinstance(tasks, Task) else list(tasks)
    check_integer("max_iter", max_iter, low=1, remedy="try 50")
    if not given:
        raise InputError("tasks is empty: give at least one Task(X, columns, known)")
    networks = [Network.of(task, degree, c, prior) for task in given]
    names = networks[0].names
    if any(network.names != names for network in networks):
        raise InputError(f"all tasks need the same columns, here {', '.join(map(str, names))}")

    def total(point: Array) -> tuple[float, Array]:
        found = [network.loss(point) for network in networks]
        value = float(np.mean([value for value, _ in found])) + 0.5 * RIDGE * float(point @ point)
        return value, np.mean([slopes[0] for _, slopes in found], axis=0) + RIDGE * point

    start = np.mean([network.popularity() for network in networks], axis=0)
    options = {"maxiter": max_iter, "gtol": tol}
    bounds = [(-6.0, 6.0)] * len(start)
    found = minimize(total, start, jac=True, method="L-BFGS-B", bounds=bounds, tol=tol, options=options)
    # The sandwich: how the hypergradient varies over groups, between two inverses of its own derivative.
    bread = np.linalg.pinv(approx_fprime(found.x, lambda point: total(point)[1], 1e-4), hermitian=True)
    many = len(networks) >= GROUPS
    parts = [network.loss(found.x, parts=not many)[1] for network in networks]
    scores = np.concatenate(parts)
    scores = (scores - scores.mean(axis=0)) * (1.0 / len(parts))
    spread = np.sqrt(np.diag(bread @ (scores.T @ scores) @ bread) * len(scores) / max(len(scores) - 1, 1))
    reach = spread * student.ppf(0.975, max(len(scores) - 1, 1)) if len(scores) > 1 else np.full(len(spread), np.inf)
    table = pd.DataFrame({"estimate": found.x, "low": found.x - reach, "high": found.x + reach}, [*names, "strength"])
    table["sign"] = np.select([table["low"] > 0, table["high"] < 0], ["+", "-"], "?")
    benefits = [network.benefit(found.x[:-1]) for network in networks]
    none = float(np.mean([network.score(network.smoothness.smooth.matrix().toarray())[0] for network in networks]))
    with_prior = float(np.mean([network.loss(found.x)[0] for network in networks]))
    lam = networks[0].lam * float(np.exp(found.x[-1]) * benefits[0].sum())
    return LearnedBenefit(table, [b / b.sum() for b in benefits], lam, with_prior, none)


@dataclass(eq=False)
class Network:
    """A network's problem, its columns and its losses; the last solution is where the next solve starts."""

    smoothness: Any
    Z: Array
    names: list[Any]
    losses: list[Loss]
    make: Callable[[Array], Any]
    targets: Array | None
    lam: float
    last: Any = None

    @classmethod
    def of(cls, task: Task, degree: float, c: float, make: Callable[[Array], Any]) -> Network:
        """Return the network of a task."""
        frame = pd.DataFrame(task.columns)
        Z = frame.to_numpy(float)
        search = make_search(np.asarray(task.X, float))
        if len(Z) != len(search):
            raise InputError(f"columns has {len(Z)} rows, but X has {len(search)} nodes: give one row per node")
        if not np.isfinite(Z).all():
            raise InputError("columns has missing or infinite values: fill them in")
        Z = (Z - Z.mean(axis=0)) / np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0)
        smoothness = make_smoothness(search, beta_for_degree(search, min(degree, len(Z) - 1), c), c, "dense")
        losses, targets = list(task.known), None
        if losses and not callable(losses[0]):
            pairs = np.asarray(losses)
            if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.min() < 0 or pairs.max() >= len(Z):
                raise InputError(f"known must be pairs of node numbers from 0 to {len(Z) - 1}")
            groups = [pairs[np.isin(pairs[:, 0] % GROUPS, group)] for group in range(GROUPS)]
            losses = [log_score(each, len(pairs) / GROUPS, c) for each in groups]
            targets = np.bincount(pairs[:, 1], minlength=len(Z)).astype(float)
        if not losses:
            raise InputError("known is empty: give pairs of nodes that are tied")
        network = cls(smoothness, Z, list(frame.columns), losses, make, targets, 0.0)
        start = network.popularity()[:-1]
        problem = Problem(smoothness, make(network.benefit(start if start.any() else Z[0] + 0.1)))
        lam, _ = solve_at_cost(
            problem, lambda lam, callback: BestResponse(tol=1e-2, callback=callback).solve(problem, lam)
        )
        network.lam = lam or 1.0
        return network

    def popularity(self) -> Array:
        """Return a start: how often nodes are named, regressed on the columns, and the default strength."""
        start = np.zeros(self.Z.shape[1] + 1)
        if self.targets is not None:
            popular = np.log1p(self.targets)
            start[:-1] = np.linalg.lstsq(self.Z, popular - popular.mean(), rcond=None)[0]
        return np.clip(start, -3.0, 3.0)

    def benefit(self, slopes: Array) -> Array:
        """Return b."""
        found: Array = np.logaddexp(0.0, OFFSET + self.Z @ slopes) / len(self.Z)
        return found

    def score(self, W: Array) -> tuple[float, list[Array]]:
        """Return the mean loss of a graph, and the gradient of each part by W."""
        found = [loss(W) for loss in self.losses]
        return float(np.mean([value for value, _ in found])), [slope / len(found) for _, slope in found]

    def loss(self, point: Array, *, parts: bool = False) -> tuple[float, Array]:
        """Return the loss at some parameters, and its hypergradient in a row, or that of each part in rows."""
        slopes, lam = point[:-1], self.lam * float(np.exp(point[-1]))
        prior = self.make(self.benefit(slopes))
        result = BestResponse(tol=1e-9, max_iter=2000).solve(Problem(self.smoothness, prior), lam, self.last)
        self.last = result.weights
        W = result.weights.matrix().toarray()
        value, gradients = self.score(W)
        support = W > 0
        counts = np.maximum(support.sum(axis=1, keepdims=True), 1)

        def tangent(V: Array) -> Array:
            """Project onto directions that keep the support and the row sums."""
            kept = np.where(support, V, 0.0)
            return np.where(support, kept - kept.sum(axis=1, keepdims=True) / counts, 0.0)

        def along(V: Array) -> tuple[Array, Array]:
            """Return the derivatives of the prior's gradient by W and by b along V."""
            # Of differences, relative to W: states are exact to rounding.
            step = 1e-5 * float(np.linalg.norm(W)) / max(float(np.linalg.norm(V)), 1e-300)
            up, down = (prior.evaluate(InMemory.of(W + sign * step * V)) for sign in (1, -1))
            by_graph = columns(up.left) @ columns(up.right).T - columns(down.left) @ columns(down.right).T
            return by_graph / (2 * step), (up.left - down.left) / (2 * step * prior.share)

        def hessian(vector: Array) -> Array:
            V = tangent(vector.reshape(W.shape))
            return (2.0 * self.smoothness.beta * V - lam * tangent(along(V)[0])).ravel()

        operator = LinearOperator((W.size, W.size), matvec=hessian)
        bends = expit(OFFSET + self.Z @ slopes) / len(self.Z)
        state, rows = prior.evaluate(InMemory.of(W)), []
        for gradient in gradients if parts else [np.sum(gradients, axis=0)]:
            V = tangent(minres(operator, tangent(gradient).ravel(), rtol=1e-7, maxiter=200)[0].reshape(W.shape))
            strength = lam * float(np.sum(V * np.outer(state.left, state.right)))
            rows.append([*(lam * self.Z.T @ (bends * along(V)[1])), strength])
        return value, np.array(rows)


def log_score(pairs: Array, count: float, c: float) -> Loss:
    """Return the loss of known ties: minus the mean logarithm of what W says of i naming j, with a uniform share."""

    def loss(W: Array) -> tuple[float, Array]:
        i, j = pairs.T
        likely = (1.0 - UNIFORM) * W[i, j] / c + UNIFORM / (len(W) - 1)
        gradient = np.zeros_like(W)
        np.add.at(gradient, (i, j), -(1.0 - UNIFORM) / (c * likely * count))
        return -float(np.log(likely).sum()) / count, gradient

    return loss
