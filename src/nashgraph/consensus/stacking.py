r"""Stacking: how much each group of members counts, by the known ties, and the probability of every pair.

With :math:`z_g(i,j) = \log(1 + (N-1) (W^{(g)}_{ij} + W^{(g)}_{ji}) / 2c)` the score of a pair in a group g of members,
and :math:`z_0` its score in the plain consensus, the log-odds of a tie are

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

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..pairs import GEOMETRIES
from ..validation import Array, InputError, check_number, listing, warn
from .aggregate import Mean, SlotSum
from .known_ties import KnownTies
from .members import SIGNAL, Ladders

CONSENSUS = "consensus"
SLOPE_PENALTY, LEAST_SLOPE = 1.0, 0.1  # rho_0 and b_0: the plain consensus always has a say
LEAST_WEIGHT = 1e-6  # below it there is only rounding
RIDGES = (np.inf, 1e4, 1e3, 1e2, 1e1, 1.0)
FOLDS, LEAST_PAIRS = 5, 10  # of ties and of non-ties, below which only the probabilities are fitted
REGRESSION = "pair regression"
MOST_PAIRS, MOST_ENTRIES = 10_000, 20_000_000


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
        return self._replace(
            scores=self.scores[which],
            tied=self.tied[which],
            weights=self.weights[which],
            groups=self.groups[which],
            offset=self.offset[which],
            controls={name: values[which] for name, values in self.controls.items()},
        )

    def odds(self, answer: Array) -> Array:
        """Return the log-odds of the pairs."""
        found: Array = answer[0] - self.offset + self.scores @ answer[1:]
        return found


def scores_of(graph: Any, c: float) -> Any:
    """Return the score of every pair in a graph, log(1 + (N - 1) (W_ij + W_ji) / 2c), as CSR.

    It is 0 where there is no edge, and log 2 where all ties weigh the same.
    """
    found = sparse.csr_array(0.5 * (graph + graph.T))
    found.data = np.log1p((found.shape[0] - 1) / c * found.data)
    return found


def spread_benefit(graph: Any, benefit: Array, c: float) -> Any:
    """Return the graph in S with the same edges whose weights depend only on the source's benefit."""
    found = graph.copy()
    found.data = np.maximum(benefit, 1e-9 * benefit.max())[graph.indices]
    found.data *= np.repeat(c / found.sum(axis=1), np.diff(graph.indptr))
    return found


def evidence_of(
    known: KnownTies, groups: Iterable[tuple[str, Any]], c: float, signals: Array, benefit: Array | None
) -> Evidence:
    """Return what the known pairs say about some groups of members, given by name and graph, the consensus first."""
    pairs, tied, weights, together = chosen_pairs(known)
    one, other = pairs.T
    named = {name: np.asarray(0.5 * (graph[one, other] + graph[other, one])).ravel() for name, graph in groups}
    scores = np.log1p((len(known.names) - 1) / c * np.stack(list(named.values()), axis=1))
    offset = np.full(len(pairs), np.log(len(known.names) - 1.0))
    return Evidence(tuple(named), scores, tied, weights, together, offset, controls_of(signals, pairs, benefit))


def chosen_pairs(known: KnownTies) -> tuple[Array, Array, Array, Array]:
    """Return pairs to learn from, whether they are tied, what each counts, and which belong together.

    All the ties and at most 10,000 non-ties, which then count for those left out. Where no non-tie is known, pairs of
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


def solve(evidence: Evidence, ridge: float, tol: float = 1e-9) -> Array:
    """Return (a, b, theta) of the problem above; infinite ``ridge`` leaves theta at 0.

    Scores are centred and scaled first: the bounds stay valid, and the solver needs it.
    """
    tied, weights, total = evidence.tied, evidence.weights, evidence.weights.sum()
    kept = evidence.scores if np.isfinite(ridge) else evidence.scores[:, :1]
    mean, scale = weights @ kept / total, np.maximum(kept.std(axis=0), 1e-3)
    columns = np.column_stack([np.ones(len(kept)), (kept - mean) / scale])
    centre = np.r_[0.0, scale[0], np.zeros(kept.shape[1] - 1)]
    penalty = np.r_[0.0, SLOPE_PENALTY / scale[0] ** 2, np.full(kept.shape[1] - 1, ridge)]

    def value(x: Array) -> tuple[float, Array]:
        eta, away = columns @ x - evidence.offset, x - centre
        loss = weights @ (np.logaddexp(0.0, eta) - tied * eta) + 0.5 * penalty @ away**2
        slope = columns.T @ (weights * (expit(eta) - tied)) + penalty * away
        return loss / total, slope / total

    bounds = [(None, None), (LEAST_SLOPE * scale[0], None), *([(0.0, None)] * (kept.shape[1] - 1))]
    start = np.r_[logit(np.clip(weights @ tied / total, 1e-6, 1 - 1e-6)) + evidence.offset.mean(), centre[1:]]
    options = {"maxiter": 2000, "maxcor": 30, "ftol": 1e-3 * tol, "gtol": tol}
    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    answer = np.zeros(evidence.scores.shape[1] + 1)
    answer[1 : len(found)] = found[1:] / scale
    answer[0] = found[0] - answer[1 : len(found)] @ mean
    return answer


@dataclass(frozen=True)
class LearnedFromTies:
    """What the known ties taught, with its scores on held-out known pairs and those of the controls.

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
            else f"change the weights of the members: on held-out pairs, AUC {self.auc['stacked']:.3f}"
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
    guess: Array = expit(unseen.odds(solve(seen, ridge, tol=1e-6)))
    return guess


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


def weights_of(evidence: Evidence, answer: Array, n_degrees: int) -> dict[str, Any]:
    """Return the answer as a plain dict, for this table and for others."""
    counted = {
        name: float(value) for name, value in zip(evidence.names[1:], answer[2:], strict=True) if value > LEAST_WEIGHT
    }
    return {"intercept": float(answer[0]), CONSENSUS: float(answer[1]), "groups": counted, "n_degrees": n_degrees}


def check_known_weights(given: Any, n_degrees: int) -> dict[str, Any]:
    """Check weights that were fitted elsewhere."""
    remedy = "take the known_weights_ of a fitted model, or fit_known_weights of several"
    parts = {"intercept", CONSENSUS, "groups", "n_degrees"}
    if not isinstance(given, Mapping) or not parts <= {*given} or not isinstance(given["groups"], Mapping):
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
    """Reweight the mean of the members, which stays in S, and return the log-odds of all pairs but the intercept.

    Frequencies stay those of the plain consensus: by a single signal, or the benefit, nearly all pairs are tied.
    """
    shares = {CONSENSUS: weights[CONSENSUS], **weights["groups"]}
    total, odds = sum(shares.values()), SlotSum(len(mean.total.lengths))
    for name, graph in groups:
        share = shares.pop(name, 0.0)
        if share > 0:
            scores = scores_of(graph, c)
            odds.add(odds.slots_of(scores), scores.data, share)
        if name == CONSENSUS:
            mean.total.sums[0] *= share / total
        elif share > 0:
            mean.add_graph(graph, share / total)
    missing = [name for name, share in shares.items() if share > 0]
    if others := [name for name in missing if not name.startswith(SIGNAL)]:
        raise InputError(
            f"known_weights count members that are not here: {listing(others)}; give the same kind of benefit and "
            "estimator as where they were fitted"
        )
    if missing:
        warn(f"known_weights count signals that are not here: {listing(missing)}; they were left out")
    return odds.csr()[0]


def stack(
    known: KnownTies | None,
    known_weights: Mapping[str, Any] | None,
    n_degrees: int,
    mean: Mean,
    signals: Array,
    labels: Sequence[Any],
    ladders: Ladders,
    benefit: tuple[str, Array] | None,
) -> dict[str, Any]:
    """Reweight the members by known ties, or by weights from elsewhere, and return what was learned.

    ``benefit`` is its origin ("spectral" or "given") and its values, ``labels`` name the signals.
    """
    if known is None and known_weights is None:
        return {"known_": None, "known_weights_": None, "_known": None}
    plain = mean.weights

    def groups(counted: Container[str] | None = None) -> Iterator[tuple[str, Any]]:
        yield CONSENSUS, plain
        for geometry in GEOMETRIES:
            yield from ladders.single_degrees(signals, geometry)
        yield from ladders.single_signals(signals, labels, counted)
        if benefit is not None:
            yield f"benefit {benefit[0]}", spread_benefit(plain, benefit[1], ladders.c)

    evidence = record = None
    if known is None or known_weights is not None:
        weights = check_known_weights(known_weights, n_degrees)
    else:
        given = benefit[1] if benefit is not None and benefit[0] == "given" else None
        evidence = evidence_of(known, groups(), ladders.c, signals, given)
        answer, record = learn(evidence, known.ties_only)
        weights = weights_of(evidence, answer, n_degrees)
    odds = apply_weights(weights, groups(weights["groups"]), mean, ladders.c)
    return {"known_": record, "known_weights_": weights, "_known": known, "_odds": odds, "_evidence": evidence}


def fit_known_weights(models: Sequence[Any]) -> dict[str, Any]:
    """Return the weights that the known ties of several tables support together, for ``known_weights`` elsewhere.

    Parameters
    ----------
    models : list of ConsensusGL, each fitted with ``known``
        Of the same ``n_degrees``. What not all have (a signal, a kind of benefit) is left out, and whole tables are
        held out in cross-validation.

    Returns
    -------
    dict, which JSON can hold

    Examples
    --------
    >>> import networkx as nx
    >>> from nashgraph import ConsensusGL
    >>> from nashgraph.datasets import smooth_signals
    >>> club = nx.karate_club_graph()
    >>> ties = {"ties": club.edges(), "nodes": club}
    >>> models = [
    ...     ConsensusGL(random_state=0).fit(smooth_signals(club, 20, "heat", random_state=seed), known=ties)
    ...     for seed in (0, 1)
    ... ]
    >>> sorted(fit_known_weights(models))
    ['consensus', 'groups', 'intercept', 'n_degrees']
    """
    found = [getattr(model, "_evidence", None) for model in models]
    parts = [part for part in found if part is not None]
    if not parts or len(parts) < len(found):
        raise InputError("fit_known_weights needs models that were fitted with known ties: fit(X, known=...)")
    if len({model.n_degrees for model in models}) > 1:
        raise InputError("fit_known_weights needs models of the same n_degrees")
    evidence = parts[0]
    if len(parts) > 1:
        names = tuple(name for name in evidence.names if all(name in part.names for part in parts))
        places = [[part.names.index(name) for name in names] for part in parts]
        scores = np.concatenate([part.scores[:, place] for part, place in zip(parts, places, strict=True)])
        tied, weights, offset = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("tied", "weights", "offset")
        )
        tables = np.repeat(np.arange(len(parts)), [len(part.tied) for part in parts])
        evidence = Evidence(names, scores, tied, weights, tables, offset, {})
    return weights_of(evidence, learn(evidence)[0], models[0].n_degrees)
