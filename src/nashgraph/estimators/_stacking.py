r"""Stacking: how much each group of members counts, by the known ties, and the probability of every pair.

With :math:`z_g(i,j) = \log(1 + N (W^{(g)}_{ij} + W^{(g)}_{ji}) / 2c)` the score of a pair in a group g of members, and
:math:`z_0` its score in the plain consensus, the log-odds of a tie are

.. math:: \eta_{ij} = a - \log(N-1) + b\, z_0(i,j) + \sum_g \theta_g\, z_g(i,j)

and the weights minimise, over the known pairs p with :math:`t_p = 1` for a tie and 0 for none,

.. math:: \sum_p v_p \left[\log(1 + e^{\eta_p}) - t_p \eta_p\right] + \tfrac{\rho_0}{2} (b-1)^2
          + \tfrac{\rho}{2} \sum_g (\sigma_g \theta_g)^2 \quad \text{over } b \ge b_0,\; \theta \ge 0

with :math:`\sigma_g` the spread of :math:`z_g` over them. The problem is convex; its solution is where, with
:math:`r_p = v_p (\mathrm{sigmoid}(\eta_p) - t_p)`,

.. math:: \sum_p r_p = 0, \qquad
          \min\Big(\theta_g,\; \sum_p r_p z_g(p) + \rho \sigma_g^2 \theta_g\Big) = 0 \;\; \text{for all } g,

and likewise for b: *calibrated* (as many ties as expected), and every group that counts explains all it can.

The shrinkage: the penalty pulls toward the plain consensus, not toward zero. :math:`\rho = \infty` ranks pairs as the
plain consensus does, and only turns its scores into probabilities. :math:`\rho` is cross-validated, and the largest
within one standard error of the best is taken, so that little knowledge changes little. The intercept carries over from
one table to another as a mean *degree*, not as a density: hence :math:`\log(N-1)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..validation import Array, InputError, check_number, listing
from ._known import KnownTies
from ._members import Mean, Sum

CONSENSUS, REGRESSION = "consensus", "pair regression"
SLOPE_PENALTY, LEAST_SLOPE = 1.0, 0.1  # rho_0 and b_0: the plain consensus always has a say
RIDGES = (np.inf, 1e4, 1e3, 1e2, 1e1, 1.0)
FOLDS, LEAST_PAIRS = 5, 10  # of ties and of non-ties, below which only the probabilities are fitted
MOST_PAIRS, MOST_ENTRIES = 100_000, 20_000_000


class Evidence(NamedTuple):
    """Known pairs as numbers: the scores (one column a group, the consensus first), the answers and their weights.

    ``groups`` says which pairs belong together in cross-validation, ``offset`` is log(N - 1), ``controls`` are plain
    features of the pairs, and ``names`` those of the columns of ``scores``.
    """

    names: tuple[str, ...]
    scores: Array
    tied: Array
    weights: Array
    groups: Array
    offset: Array
    controls: dict[str, Array]

    def part(self, which: Array) -> Evidence:
        """Return some of the pairs."""
        columns = (column[which] for column in self[1:6])
        return Evidence(self.names, *columns, {name: values[which] for name, values in self.controls.items()})

    def odds(self, answer: Array) -> Array:
        """Return the log-odds of the pairs."""
        found: Array = answer[0] - self.offset + self.scores @ answer[1:]
        return found


def scores_of(graph: Any, c: float) -> Any:
    """Return the score of every pair in a graph, log(1 + N (W_ij + W_ji) / 2c), as CSR: 0 where there is no edge."""
    found = sparse.csr_array(0.5 * (graph + graph.T))
    found.data = np.log1p(found.shape[0] / c * found.data)
    return found


def spread_benefit(graph: Any, benefit: Array, c: float) -> Any:
    """Return the graph in S with the same edges whose weights go by the benefit of the influencer alone."""
    found = graph.copy()
    found.data = np.maximum(benefit, 1e-9 * benefit.max())[graph.indices]
    found.data *= np.repeat(c / found.sum(axis=1), np.diff(graph.indptr))
    return found


def solve(evidence: Evidence, ridge: float) -> Array:
    """Return (a, b, theta) of the problem above; infinite ``ridge`` leaves theta at 0."""
    scores, tied, weights, offset = evidence.scores, evidence.tied, evidence.weights, evidence.offset
    kept = scores if np.isfinite(ridge) else scores[:, :1]
    scale = np.maximum(kept.std(axis=0), 1e-3)
    columns = np.column_stack([np.ones(len(kept)), kept / scale])
    penalty = np.r_[
        0.0, SLOPE_PENALTY / scale[0] ** 2, np.full(kept.shape[1] - 1, ridge if np.isfinite(ridge) else 0.0)
    ]
    centre = np.zeros(columns.shape[1])
    centre[1] = scale[0]
    total = weights.sum()

    def value(x: Array) -> tuple[float, Array]:
        eta = columns @ x - offset
        loss = weights @ (np.logaddexp(0.0, eta) - tied * eta) + 0.5 * penalty @ (x - centre) ** 2
        slope = columns.T @ (weights * (expit(eta) - tied)) + penalty * (x - centre)
        return loss / total, slope / total

    low = np.r_[-np.inf, LEAST_SLOPE * scale[0], np.zeros(len(centre) - 2)]
    rate = np.clip(weights @ tied / total, 1e-6, 1 - 1e-6)
    start = np.r_[np.log(rate / (1 - rate)) + offset.mean(), centre[1:]]
    options = {"maxiter": 2000, "ftol": 1e-13, "gtol": 1e-9}
    found = minimize(
        value, start, jac=True, method="L-BFGS-B", bounds=[(bound, None) for bound in low], options=options
    )
    answer = np.zeros(scores.shape[1] + 1)
    answer[: len(centre)] = found.x / np.r_[1.0, scale]
    return answer


@dataclass(frozen=True)
class LearnedFromTies:
    """What the known ties taught, and how it does on known pairs held out, beside the controls.

    Attributes
    ----------
    ties, non_ties : int, how many pairs were known
    ridge : float, the strength rho of the pull toward the plain consensus; infinite where only that is left
    log_loss, auc : dict from "stacked", "consensus" (the plain one, with probabilities), "pair regression" (logistic
        regression on plain features of the pairs) and "benefit" (where there is one) to the score on held-out pairs,
        the mean over folds; empty where too little was known to hold out some
    ties_only : bool, whether unknown pairs stood in for non-ties
    """

    ties: int
    non_ties: int
    ridge: float
    log_loss: Mapping[str, float]
    auc: Mapping[str, float]
    ties_only: bool = False

    @property
    def sentence(self) -> str:
        """What was learned, in words."""
        known = f"{self.ties} known tie(s) and {self.non_ties} known non-tie(s)"
        if not self.auc:
            return f"{known} are too few to weigh the members by: they give the plain consensus its probabilities"
        change = (
            "leave the plain consensus as it is, and give it probabilities"
            if np.isinf(self.ridge)
            else f"weigh the members anew: on held-out pairs, AUC {self.auc['stacked']:.3f}"
        )
        others = [f"{name} {auc:.3f}" for name, auc in self.auc.items() if name != "stacked" or np.isinf(self.ridge)]
        return f"{known} {change} (AUC of {', '.join(others)})"


def learn(evidence: Evidence, ties_only: bool = False) -> tuple[Array, LearnedFromTies]:
    """Return (a, b, theta) with the ridge that cross-validation finds, and what there is to say about it."""
    ties, others = int(evidence.tied.sum()), int((~evidence.tied).sum())
    known = 0 if ties_only else round(float(evidence.weights[~evidence.tied].sum()))
    folds = folds_of(evidence)
    trained = [evidence.tied[folds != fold] for fold in np.unique(folds)]
    if min(ties, others) < LEAST_PAIRS or not all(0 < held.sum() < len(held) for held in trained):
        return solve(evidence, np.inf), LearnedFromTies(ties, known, np.inf, {}, {}, ties_only)
    guesses = {ridge: held_out(evidence, folds, partial(stacked, ridge=ridge)) for ridge in RIDGES}
    ridge = best_ridge({ridge: by_fold(evidence, folds, guess, log_loss) for ridge, guess in guesses.items()})
    shown = {"stacked": guesses[ridge], CONSENSUS: guesses[np.inf]} | {
        name: held_out(evidence, folds, partial(regressed, control=name)) for name in evidence.controls
    }
    loss, area = (
        {name: float(np.nanmean(by_fold(evidence, folds, guess, score))) for name, guess in shown.items()}
        for score in (log_loss, roc_auc_score)
    )
    return solve(evidence, ridge), LearnedFromTies(ties, known, ridge, loss, area, ties_only)


def folds_of(evidence: Evidence) -> Array:
    """Return the fold of each pair: groups are dealt out, those with most ties first, so that folds have as many."""
    labels, place = np.unique(evidence.groups, return_inverse=True)
    ties = np.bincount(place, weights=evidence.tied)
    dealt = np.empty(len(labels), dtype=int)
    dealt[np.lexsort((np.random.default_rng(0).random(len(labels)), -ties))] = np.arange(len(labels)) % FOLDS
    return dealt[place]


def held_out(evidence: Evidence, folds: Array, fit: Callable[[Evidence, Evidence], Array]) -> Array:
    """Return a probability for every pair, by what was fitted to the pairs of the other folds."""
    guess = np.empty(len(folds))
    for fold in np.unique(folds):
        guess[folds == fold] = fit(evidence.part(folds != fold), evidence.part(folds == fold))
    return guess


def stacked(seen: Evidence, unseen: Evidence, ridge: float) -> Array:
    """Return the probabilities of unseen pairs by the stacking."""
    return expit(unseen.odds(solve(seen, ridge)))


def regressed(seen: Evidence, unseen: Evidence, control: str) -> Array:
    """Return the probabilities of unseen pairs by logistic regression on plain features."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    model.fit(seen.controls[control], seen.tied, logisticregression__sample_weight=seen.weights)
    guess: Array = model.predict_proba(unseen.controls[control])[:, 1]
    return guess


def by_fold(evidence: Evidence, folds: Array, guess: Array, score: Callable[..., float]) -> Array:
    """Return a score of the guesses in each fold, NaN in those without a tie or without a non-tie."""
    found = []
    for fold in np.unique(folds):
        tied, weights, values = evidence.tied[folds == fold], evidence.weights[folds == fold], guess[folds == fold]
        found.append(score(tied, values, sample_weight=weights) if 0 < tied.sum() < len(tied) else np.nan)
    return np.array(found)


def best_ridge(losses: Mapping[float, Array]) -> float:
    """Return the largest ridge whose loss is within one standard error of the least."""
    best = min(losses, key=lambda ridge: float(np.nanmean(losses[ridge])))
    for ridge in RIDGES:
        more = (losses[ridge] - losses[best])[~np.isnan(losses[best])]
        if more.mean() <= more.std() / np.sqrt(max(len(more) - 1, 1)):
            return ridge
    return best


# ------------------------------------------------------------------------------------- from known ties to evidence


def evidence_of(
    known: KnownTies, groups: Iterable[tuple[str, Any]], c: float, signals: Array, benefit: Array | None
) -> Evidence:
    """Return what the known pairs say about some groups of members, given by name and graph, the consensus first."""
    pairs, tied, weights, together = chosen_pairs(known)
    named = {name: scores_of(graph, c)[pairs[:, 0], pairs[:, 1]] for name, graph in groups}
    scores = np.stack([np.asarray(column, dtype=float).ravel() for column in named.values()], axis=1)
    offset = np.full(len(pairs), np.log(len(known.names) - 1.0))
    return Evidence(tuple(named), scores, tied, weights, together, offset, controls_of(signals, pairs, benefit))


def chosen_pairs(known: KnownTies) -> tuple[Array, Array, Array, Array]:
    """Return pairs to learn from, whether they are tied, what each counts, and which belong together.

    All the ties and at most 100,000 non-ties, which then count for those left out. Where no non-tie is known, pairs of
    which nothing is known stand in for them.
    """
    n, random = len(known.names), np.random.default_rng(0)
    ties, others, together = known.pairs[known.values], known.pairs[~known.values], known.groups()
    groups = together[~known.values]
    if known.ties_only:
        first, second = np.sort(random.integers(n, size=(2, 3 * MOST_PAIRS)), axis=0)
        keys = np.unique((first * n + second)[first != second])
        others = np.stack([keys // n, keys % n], axis=1)
        others = others[known.of(others) < 0]
        total, groups = n * (n - 1) / 2 - len(ties), -1 - np.arange(len(others))
    else:
        total = float(len(others))
    kept = np.sort(random.permutation(len(others))[:MOST_PAIRS])
    weights = np.r_[np.ones(len(ties)), np.full(len(kept), total / max(len(kept), 1))]
    tied = np.r_[np.ones(len(ties), dtype=bool), np.zeros(len(kept), dtype=bool)]
    return np.r_[ties, others[kept]], tied, weights, np.r_[together[known.values], groups[kept]]


def controls_of(signals: Array, pairs: Array, benefit: Array | None) -> dict[str, Array]:
    """Return plain features of pairs: differences, inner product, cosine and distance of the signals, and the benefit.

    The differences of single signals are left out where they would take more than 20 million numbers.
    """
    X = np.nan_to_num(signals).T
    one, other = X[pairs[:, 0]], X[pairs[:, 1]]
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    inner = np.einsum("ij,ij->i", one, other)
    cosine = inner / np.maximum(norms[pairs].prod(axis=1), 1e-300)
    distance = (norms[pairs] ** 2).sum(axis=1) - 2.0 * inner
    features = [inner, cosine, distance]
    if one.size <= MOST_ENTRIES:
        features += list(np.abs(one - other).T)
    if benefit is None:
        return {REGRESSION: np.stack(features, axis=1)}
    popular = [benefit[pairs].sum(axis=1), benefit[pairs].prod(axis=1) * len(benefit)]
    return {REGRESSION: np.stack(features + popular, axis=1), "benefit": np.stack(popular, axis=1)}


# ----------------------------------------------------------------------------------------- from weights to a graph


def weights_of(evidence: Evidence, answer: Array, n_degrees: int) -> dict[str, Any]:
    """Return the answer as a plain dict, for this table and for others."""
    counted = {name: float(value) for name, value in zip(evidence.names[1:], answer[2:], strict=True) if value > 0}
    return {"intercept": float(answer[0]), CONSENSUS: float(answer[1]), "groups": counted, "n_degrees": n_degrees}


def check_known_weights(given: Any, n_degrees: int) -> dict[str, Any]:
    """Check weights that were fitted elsewhere."""
    remedy = "take the known_weights_ of a fitted model, or fit_known_weights of several"
    if not isinstance(given, Mapping) or not {"intercept", CONSENSUS, "groups", "n_degrees"} <= {*given}:
        raise InputError(f"known_weights must be a dict with intercept, consensus, groups and n_degrees: {remedy}")
    if given["n_degrees"] != n_degrees:
        raise InputError(
            f"known_weights were fitted with n_degrees={given['n_degrees']} and this consensus has {n_degrees}: "
            "take the same"
        )
    check_number("known_weights['intercept']", given["intercept"], remedy=remedy)
    for name, value in {CONSENSUS: given[CONSENSUS], **given["groups"]}.items():
        check_number(f"known_weights of {name}", value, low=0, open_low=name == CONSENSUS, remedy=remedy)
    return dict(given)


def apply_weights(weights: Mapping[str, Any], groups: Iterable[tuple[str, Any]], mean: Mean, c: float) -> Any:
    """Reweight the mean of the members, which stays in S, and return the log-odds of all pairs but the intercept."""
    shares = {CONSENSUS: weights[CONSENSUS], **weights["groups"]}
    total, odds = sum(shares.values()), Sum(mean.weights.n_nodes)
    for name, graph in groups:
        share = shares.pop(name, 0.0)
        if share > 0:
            odds.add(scores_of(graph, c), share)
        if name == CONSENSUS:
            mean.scale(share / total)
        elif share > 0:
            mean.add_graph(graph, share / total)
    if missing := [name for name, share in shares.items() if share > 0]:
        raise InputError(
            f"known_weights count members that are not here: {listing(missing)}; give the same kind of benefit and "
            "estimator as where they were fitted"
        )
    return odds.csr()


def fit_known_weights(models: Iterable[Any]) -> dict[str, Any]:
    """Return the weights that the known ties of several tables support together, for ``known_weights`` elsewhere.

    Parameters
    ----------
    models : list of ConsensusGL, each fitted with ``known``
        Of the same ``n_degrees`` and kind of benefit. Whole tables are held out in cross-validation.

    Returns
    -------
    dict, which JSON can hold

    Examples
    --------
    >>> import networkx as nx
    >>> from nashgraph import ConsensusGL
    >>> from nashgraph.datasets import smooth_signals
    >>> club = nx.karate_club_graph()
    >>> models = [
    ...     ConsensusGL(random_state=0).fit(smooth_signals(club, 20, "heat", random_state=seed), known={"ties": club.edges(), "nodes": club})
    ...     for seed in (0, 1)
    ... ]
    >>> sorted(fit_known_weights(models))
    ['consensus', 'groups', 'intercept', 'n_degrees']
    """
    found = [getattr(model, "_evidence", None) for model in models]
    parts = [part for part in found if part is not None]
    if not parts or len(parts) < len(found):
        raise InputError("fit_known_weights needs models that were fitted with known ties: fit(X, known=...)")
    if len({part.names for part in parts}) > 1 or len({model.n_degrees for model in models}) > 1:
        raise InputError(
            "fit_known_weights needs models of one kind: the same n_degrees, estimator and kind of benefit"
        )
    columns = [np.concatenate([part[k] for part in parts]) for k in range(1, 4)]
    groups = np.repeat(np.arange(len(parts)), [len(part.tied) for part in parts])
    if len(parts) == 1:
        groups = parts[0].groups
    evidence = Evidence(parts[0].names, *columns, groups, np.concatenate([part.offset for part in parts]), {})
    return weights_of(evidence, learn(evidence)[0], models[0].n_degrees)
