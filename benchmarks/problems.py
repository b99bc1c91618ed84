"""The problems that solvers are compared on, each generated from a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nashgraph import spectral_benefit
from nashgraph.datasets import preferential_attachment, random_geometric, smooth_signals
from nashgraph.pairs import make_search
from nashgraph.smoothness import beta_for_degree
from nashgraph.solvers import BestResponse, Problem

VISIBLE = 0.05  # a graph has visibly changed when it is this far from Smooth-GL's, relative to it


class Case(NamedTuple):
    """A problem and its lambda, with a name and the iterations the paper would run on it."""

    name: str
    make: Callable[[], tuple[Problem, float]]
    published_iterations: int


def village_signals(n: int, seed: int = 0):
    """Household answers like the villages': religion, roof, rooms, beds, electricity, latrine; many rows are equal.

    16 binary or small-integer columns, and benefits of two levels (b = h + 1 scaled to sum 1).
    """
    random = np.random.default_rng(seed)
    religion = random.choice(3, n, p=[0.9, 0.07, 0.03])
    roof = random.choice(5, n, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    electricity = random.choice(3, n, p=[0.6, 0.3, 0.1])
    latrine = random.choice(3, n, p=[0.3, 0.02, 0.68])
    rooms, beds = random.poisson(1.4, n) + 1, random.poisson(0.8, n)
    X = np.vstack(
        [np.eye(3)[religion].T, np.eye(5)[roof].T, rooms, beds, np.eye(3)[electricity].T, np.eye(3)[latrine].T]
    )
    benefit = 1.0 + (random.random(n) < 0.45)
    return X.astype(float), benefit / benefit.sum()


def village(n: int, beta: float, interaction: str) -> Case:
    """Return a village-like survey at the paper's lambda = 100."""

    def make() -> tuple[Problem, float]:
        X, benefit = village_signals(n)
        return Problem.from_signals(X, benefit, beta=beta, interaction=interaction, storage="dense"), 100.0

    iterations = 760 if interaction == "linear" else 320
    return Case(f"village-like N={n}, beta={beta:g}, {interaction}", make, iterations)


def by_degree(X, degree: float, interaction: str = "linear") -> tuple[Problem, float]:
    """Return a problem whose beta follows from a degree, and a lambda that visibly changes the graph."""
    beta = beta_for_degree(make_search(X), degree, 0.95)
    problem = Problem.from_signals(X, spectral_benefit(X), beta=beta, interaction=interaction, storage="dense")
    lam = 0.02
    while changed(problem, lam) < VISIBLE:
        lam *= 2.0
    return problem, lam


def changed(problem: Problem, lam: float) -> float:
    """Return how far the learned graph is from Smooth-GL's, relative to it."""
    smooth = problem.smooth
    return BestResponse(tol=1e-3).solve(problem, lam).weights.distance(smooth) / float(np.sqrt(smooth.square))


def attachment(n: int, m: int, degree: float) -> Case:
    """Low-pass signals on a preferential-attachment tree."""

    def make() -> tuple[Problem, float]:
        graph = preferential_attachment(n, random_state=0)
        return by_degree(smooth_signals(graph, m, noise=0.2, random_state=0), degree)

    return Case(f"preferential attachment N={n}, M={m}, degree {degree:g}", make, 700)


def geometric(n: int, m: int, degree: float) -> Case:
    """Heat-kernel signals on a random geometric graph."""

    def make() -> tuple[Problem, float]:
        graph = random_geometric(n, degree=degree, random_state=0)
        return by_degree(smooth_signals(graph, m, "heat", noise=0.1, random_state=0), degree, "log1p")

    return Case(f"random geometric N={n}, M={m}, degree {degree:g}", make, 320)
