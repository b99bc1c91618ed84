r"""Counts as evidence: how many ties people have, and how many with each trait, through sums that err.

Person i counts y_i = Zᵀ A_i over the ties that are recalled, a share ρ of all, and miscounts. In ties, the answers
a_i = y_i / ρ have the errors

    V_i = ½ (1 − ρ) / ρ · Zᵀ diag(p_i) Z + diag(v),

because a tie that is forgotten is missing from all of a person's counts at once. The probabilities p are those without
counts. Summing over all networks is not possible, so the log-likelihood of counts is replaced by its saddle point,

    log E exp(−½ Σ_i |a_i − Zᵀ A_i|²) ≈ min over E  log E exp(Σ_i E_i · Zᵀ A_i) − Σ_i E_i · a_i + ½ Σ_i E_iᵀ V_i E_i,

with the norm of V_i⁻¹, and expectations over ties given everything else. The tilt E_i is what a person's answers add to
the log-odds of their ties, by feature of the other end. So counts also enter the classes of groups. The function is
convex in E, and zero gradient says that expected counts are those told up to the errors: a_i − Zᵀ p_i = V_i E_i.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.stats import poisson

from ..validation import Array, warn
from .answers import Errors, error_variances
from .arrays import TieArrays

MOST_COLUMNS = 2000  # people by whom the curvature is estimated
NOT_TOLD = 1e12  # curvature of a tilt whose count was not asked: it stays 0


@dataclass(frozen=True)
class Counts:
    """Counted answers, in ties: the first feature is 1, so its count is the number of ties.

    ``features`` and ``answers`` are people × features (NaN: not asked), ``variance`` has the errors of answers, and
    ``recall`` the share of ties that is recalled. ``binding`` is the share of the covariance of forgotten ties that
    answers are discounted by: people differ more than independent ties would have them (half was best in 6 villages).
    """

    features: Array
    answers: Array
    variance: Array
    recall: float = 1.0
    binding: float = 0.5

    def reordered(self, order: Array) -> Counts:
        """Return the counts with people in another order: entry k is person ``order[k]``."""
        return replace(self, features=self.features[order], answers=self.answers[order], variance=self.variance[order])


def with_known_ties(arrays: TieArrays) -> Array:
    """Return the answers, those of complete people from their known ties, and warn if they told otherwise."""
    n = arrays.n
    ends = arrays.known_ties()
    seen = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(n, n)) @ arrays.features
    complete = np.isin(np.arange(n), arrays.complete)[:, None]
    answers = arrays.answers
    other = complete & (answers != seen) & ~np.isnan(answers) & ~arrays.at_least
    if (people := other.any(axis=1)).any():
        warn(
            f"{int(people.sum())} people all of whose ties are known told of another number (for example "
            f"{arrays.names[people][0]}): their known ties are used"
        )
    return np.where(complete, seen, answers)


def counts_of(arrays: TieArrays, errors: Errors) -> Counts | None:
    """Return what people counted; None if nobody was asked. People whose ties are all known tell nothing more."""
    told = arrays.answers.copy()
    told[arrays.complete] = np.nan
    if np.isnan(told).all():
        return None
    Z = arrays.features
    variance = error_variances(told, arrays.at_least, errors)
    counts = np.minimum(told, Z.sum(axis=0) - Z)  # nobody is tied to more people than there are
    open_ended = arrays.at_least
    least = counts[open_ended]  # "10+": the mean of what is at least 10, if people have about so many
    counts[open_ended] = least * poisson.sf(least - 2, least) / np.maximum(poisson.sf(least - 1, least), 1e-9)
    return Counts(Z, counts / errors.recall, variance, errors.recall)


class Tilts:
    """The tilts E of the people who counted, with the errors V of their answers.

    ``values`` (people who counted × features) are 0 where a count was not asked.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.rows = np.flatnonzero(~np.isnan(counts.answers).all(axis=1))
        self.told = ~np.isnan(counts.answers[self.rows])
        self.answers = np.where(self.told, counts.answers[self.rows], 0.0)
        self.values = np.zeros(self.told.shape)
        n_features = self.told.shape[1]
        self.noise = np.zeros((len(self.rows), n_features, n_features))
        self.scale = np.tile(np.eye(n_features), (len(self.rows), 1, 1))
        self.relative_residual = np.inf

    def answering(self, answers: Array) -> Tilts:
        """Return a start for the tilts if the same people had given other answers, with errors of the same size."""
        other = copy(self)
        other.answers = np.where(self.told, answers[self.rows], 0.0)
        return other

    @property
    def of_features(self) -> Array:
        """The tilts as features × people, 0 for people who counted nothing."""
        everybody = np.zeros(self.counts.features.shape[::-1])
        everybody[:, self.rows] = self.values.T
        return everybody

    @property
    def objective(self) -> float:
        """The part −E · a + ½ E V E."""
        return float((self.values * (0.5 * self._discount() - self.answers)).sum())

    def _discount(self) -> Array:
        return np.einsum("nab,nb->na", self.noise, self.values)

    def gradient(self, expected: Array) -> Array:
        """Return the gradient, given expected counts (features × people)."""
        return np.where(self.told, expected.T[self.rows] - self.answers + self._discount(), 0.0)

    def measure_errors(self, rows_of: Callable[[Array], Array]) -> float:
        """Compute V from the probabilities without counts; return how much it changed, relative to its size."""
        before = self.noise
        forgotten = self.counts.binding * (1.0 - self.counts.recall) / self.counts.recall
        place = np.arange(self.told.shape[1])
        self.noise = np.zeros(before.shape)
        if forgotten > 0:
            self.noise = forgotten * self._products(rows_of)
        self.noise[:, place, place] += self.counts.variance[self.rows]
        return float(np.linalg.norm(self.noise - before) / np.linalg.norm(self.noise))

    def measure_curvature(self, rows_of: Callable[[Array], Array]) -> None:
        """Compute each person's own block of the Hessian, in whose coordinates the search for E is fast."""

        def variances(people: Array) -> Array:
            p = rows_of(people)
            return p * (1.0 - p)

        blocks = self._products(variances) + self.noise
        place = np.arange(blocks.shape[1])
        blocks[:, place, place] += np.where(self.told, 1e-6, NOT_TOLD)
        self.scale = np.linalg.cholesky(np.linalg.inv(blocks))

    def _products(self, rows_of: Callable[[Array], Array], seed: int = 0) -> Array:
        """Return Σ_j w_ij Z_j Z_jᵀ of the people who counted, for rows of weights w."""
        Z = self.counts.features
        n_people, n_features = Z.shape
        columns = np.arange(n_people)
        if n_people > MOST_COLUMNS:
            columns = np.sort(np.random.default_rng(seed).permutation(n_people)[:MOST_COLUMNS])
        upper = np.triu_indices(n_features)
        pairs = Z[columns][:, upper[0]] * Z[columns][:, upper[1]] * (n_people / len(columns))
        size = max(1, 2**22 // n_people)
        packed = []
        for start in range(0, len(self.rows), size):
            packed.append(rows_of(self.rows[start : start + size])[:, columns] @ pairs)
        products = np.empty(self.noise.shape)
        products[:, upper[0], upper[1]] = np.vstack(packed)
        products[:, upper[1], upper[0]] = products[:, upper[0], upper[1]]
        return products

    def solve(self, evaluate: Callable[[Array], tuple[float, Array]], tol: float, max_iter: int = 60) -> None:
        """Find E: ``evaluate`` returns the log-likelihood with tilts (features × people), and the expected counts."""
        start = self.values
        size = np.sqrt((self.answers**2).sum() + self.counts.variance[self.rows][self.told].sum())

        def moved(scaled: Array) -> Array:
            move = np.einsum("nab,nb->na", self.scale, scaled.reshape(start.shape))
            return start + move * self.told

        def objective(scaled: Array) -> tuple[float, Array]:
            self.values = moved(scaled)
            value, expected = evaluate(self.of_features)
            gradient = self.gradient(expected)
            self.relative_residual = float(np.linalg.norm(gradient)) / size
            return value + self.objective, np.einsum("nab,na->nb", self.scale, gradient).ravel()

        def check(scaled: Array) -> None:
            if self.relative_residual <= tol:
                raise StopIteration

        nothing = np.zeros(start.size)
        objective(nothing)
        if self.relative_residual > tol:
            options = {"maxiter": max_iter, "maxcor": 12, "ftol": 0.0, "gtol": 0.0}
            best = minimize(objective, nothing, jac=True, method="L-BFGS-B", callback=check, options=options)
            self.values = moved(best.x)
