"""Every method and control on one problem of ``make recovery``, scored alike.

Workers import this module, so that each keeps its own cache.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from nashgraph import edge_auc, edge_average_precision, edge_precision_recall, spectral_benefit, squared_distances
from nashgraph.baselines.controls import correlations, cosines, inner_products
from nashgraph.datasets import preferential_attachment, smooth_signals
from nashgraph.estimators import METHODS, GraphEstimator
from nashgraph.graph import adjacency_matrix
from nashgraph.validation import Array

from .recovery_problems import FIGURE, Problem, Setting, draw

DIGITS = 12  # scores nearer than this, relative to the largest, are ties: rounding must not order equal pairs
RIDGE = 1e-6  # relative to the mean variance
SLOW = {"glasso", "spectemp", "quadgame", "modular", "sigrep"}  # left out unless asked for
Row = dict[str, Any]


# ---------------------------------------------------------------------------------------------- the controls


def negative_distance(problem: Problem, random: np.random.Generator) -> Array:
    return -squared_distances(problem.X)


def inner_product(problem: Problem, random: np.random.Generator) -> Array:
    return inner_products(problem.X)


def cosine(problem: Problem, random: np.random.Generator) -> Array:
    return cosines(problem.X)


def correlation(problem: Problem, random: np.random.Generator) -> Array:
    return correlations(problem.X)


def inverse_covariance(problem: Problem, random: np.random.Generator) -> Array:
    """Score a pair by minus the inverse covariance; a little is added to the variances if signals are few."""
    covariance = np.cov(problem.X.T)
    found: Array = -np.linalg.inv(covariance + RIDGE * np.trace(covariance) / len(covariance) * np.eye(len(covariance)))
    return found - np.median(found[np.triu_indices(len(found), 1)])


def benefit_alone(problem: Problem, random: np.random.Generator) -> Array:
    """Score a pair by the sum of its spectral benefits: the prior's input alone, without the signals' likeness."""
    benefit = spectral_benefit(problem.X)
    return benefit[:, None] + benefit


def at_random(problem: Problem, random: np.random.Generator) -> Array:
    return random.random((problem.X.shape[1], problem.X.shape[1]))


CONTROLS: dict[str, Callable[[Problem, np.random.Generator], Array]] = {
    "negative distance": negative_distance,
    "cosine": cosine,
    "correlation": correlation,
    "inner product": inner_product,
    "inverse covariance": inverse_covariance,
    "benefit alone": benefit_alone,
    "random": at_random,
}


# ---------------------------------------------------------------------------------------------- one problem


def chosen(n_nodes: int, slow: bool) -> list[str]:
    """Return the methods that are run at a size: slow ones only up to their largest size."""
    return [name for name in METHODS if n_nodes <= METHODS[name].quick_up_to and (slow or name not in SLOW)]


def at_defaults(name: str) -> GraphEstimator:
    """Return a method at its defaults, with a fixed random state."""
    model = METHODS[name]()
    return model.set_params(**({"random_state": 0} if "random_state" in model.get_params() else {}))


def scored(model: GraphEstimator) -> Any:
    """Return a fitted model's scores of pairs: evidence if it has some, else weights."""
    return getattr(model, "evidence_", model.adjacency_).toarray()


def contenders(problem: Problem, seed: int, slow: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of every method and control, and the function that scores pairs."""
    for name in chosen(problem.X.shape[1], slow):
        yield name, lambda name=name: scored(at_defaults(name).fit(problem.X))
    for name, control in CONTROLS.items():
        yield name, lambda control=control: control(problem, np.random.default_rng(seed))


def trial(setting: Setting, slow: bool = True) -> list[Row]:
    """Return a row for every method and control on one problem. This runs in a worker."""
    warm_up(slow)
    problem = draw(setting)
    truth = adjacency_matrix(problem.truth)
    signals, nodes = problem.X.shape
    what = setting._replace(nodes=nodes, signals=signals)._asdict()
    rows = []
    for method, make in contenders(problem, setting.seed, slow):
        start, error = time.perf_counter(), ""
        try:
            weights = quietly(make)
        except Exception as failure:  # a method that fails gets the score of a method that learned nothing
            weights, error = np.zeros((nodes, nodes)), type(failure).__name__
        seconds = time.perf_counter() - start
        rows.append({**what, "method": method, **scores(weights, truth), "seconds": seconds, "error": error})
        if setting.group == FIGURE:  # the paper scores ordered pairs of weights as they are
            rows[-1]["auc_ordered"] = edge_auc(truth, weights)
    return rows


def scores(weights: Any, truth: Any) -> dict[str, float]:
    """Return the scores of symmetrised weights.

    Precision is over as many pairs as there are true edges, for all alike: if a sparse graph has fewer, the rest is
    drawn from its zeros, in expectation.
    """
    dense = weights.toarray() if sparse.issparse(weights) else np.asarray(weights, dtype=float)
    pairs = 0.5 * (dense + dense.T)
    np.fill_diagonal(pairs, 0.0)
    pairs = np.round(pairs / (np.abs(pairs).max() or 1.0), DIGITS)
    return {
        "auc": edge_auc(truth, pairs),
        "ap": edge_average_precision(truth, pairs),
        "precision": edge_precision_recall(truth, pairs + 2.0).precision,
        "gmse": squared_error(pairs, truth),
    }


def squared_error(pairs: Array, truth: Any) -> float:
    """Return the squared error of positive scores, at their best scale, relative to the truth's squares (GMSE)."""
    above = np.triu_indices(len(pairs), 1)
    found, wanted = np.maximum(pairs[above], 0.0), (truth.toarray()[above] != 0).astype(float)
    scale = found @ wanted / max(found @ found, 1e-300)
    return float(np.sum((scale * found - wanted) ** 2) / np.sum(wanted**2))


def quietly(make: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


@cache
def warm_up(slow: bool) -> None:
    """Fit every method once in this process, so that no measured time includes compilation."""
    X = smooth_signals(preferential_attachment(20, 1, random_state=0), 10, random_state=0)
    for name in chosen(20, slow):
        quietly(lambda name=name: at_defaults(name).fit(X))
