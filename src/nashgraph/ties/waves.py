r"""Ties in each wave: the other waves say how probable a tie is, and the wave's own reports decide.

With L_ij the log-odds of a tie from a fit to all other waves, a pair is tied in this wave with log-odds a + s L_ij, and
a respondent i names j with probability ρ_i, logit ρ_i = t + logit of their recall in all waves, if they are tied, else
φ_i. The three numbers maximise

    Σ_pairs log[ (1 − π_ij) P(reports | no tie) + π_ij P(reports | tie) ]
        − a²/(2 · 3²) − (s − 0.4)²/(2 · 0.3²) − t²/(2 · 0.2²),

whose gradient is that of the complete data under the posterior q of ties: Σ (q − π), Σ (q − π) L and
Σ q (N − ρ), less the prior's. The slope s is the persistence of ties. Successive waves share few ties, yet all other
waves together predict a wave far better than its neighbour does, so they are pooled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, logit

from ..certificate import Certificate, Measure, Status, summed_up
from ..validation import Array
from .answers import Errors
from .arrays import TieArrays
from .fitted import Pairs, TieFit, Weight

LEAST = 1e-6  # probability that logarithms are taken of


def without_wave(arrays: TieArrays, wave: int) -> TieArrays:
    """Return the survey without the reports of one wave."""
    other = arrays.wave != wave
    asked = arrays.asked.copy()
    asked[:, :, wave] = False
    columns = {name: getattr(arrays, name)[other] for name in ("respondent", "source", "target", "relation", "wave")}
    return replace(arrays, asked=asked, **columns)


@dataclass(frozen=True, eq=False)
class WaveTask:
    """One wave: log-odds of ties from the others, who was asked, whom they named, their recall and false naming."""

    log_odds: Array
    asked: Array
    named: Array
    recall: Array
    false: Array
    level_spread: float = 3.0  # of a, which keeps the density where s shrinks log-odds
    persistence: tuple[float, float] = (0.4, 0.3)  # of s: real waves share 13 to 42% of their ties
    recall_spread: float = 0.2  # of t: recall and density are weakly told apart, and the question stays the same

    def likelihoods(self, t: float) -> tuple[Array, Array, Array]:
        """Return recall in this wave, and the log-likelihood of both ends' reports with and without a tie."""
        recall = expit(t + logit(self.recall))[:, None]
        false = self.false[:, None]
        with_tie = np.where(self.named, np.log(recall), np.log1p(-recall))
        without = np.where(self.named, np.log(false), np.log1p(-false))
        with_tie[~self.asked] = 0.0
        without[~self.asked] = 0.0
        return recall, with_tie + with_tie.T, without + without.T

    def posterior(self, values: Array) -> Array:
        """Return the probabilities of ties given the reports, with (a, s, t)."""
        a, s, t = values
        _, tie, none = self.likelihoods(t)
        return expit(a + s * self.log_odds + tie - none)

    def objective(self, values: Array) -> tuple[float, Array]:
        """Return minus the penalised log-likelihood of (a, s, t), and its gradient."""
        a, s, t = values
        upper = np.triu_indices(len(self.asked), 1)
        prior = a + s * self.log_odds
        recall, tie, none = self.likelihoods(t)
        pi = expit(prior)
        q = expit(prior + tie - none)
        log_likelihood = np.logaddexp(tie - np.logaddexp(0.0, -prior), none - np.logaddexp(0.0, prior))[upper].sum()
        mean, spread = self.persistence
        change_of_s = (s - mean) / spread
        penalty = 0.5 * ((a / self.level_spread) ** 2 + change_of_s**2 + (t / self.recall_spread) ** 2)
        change = (q - pi)[upper]
        off_diagonal = ~np.eye(len(q), dtype=bool) & self.asked[:, None]
        named = (q * (self.named - recall))[off_diagonal].sum()
        level = change.sum() - a / self.level_spread**2
        slope = (change * self.log_odds[upper]).sum() - change_of_s / spread
        slopes = [level, slope, named - t / self.recall_spread**2]
        return float(penalty - log_likelihood), -np.array(slopes)


@dataclass(frozen=True, eq=False, repr=False)
class WaveFit:
    """The ties of one wave; what is known of respondents and covariates comes from the other waves."""

    others: TieFit
    arrays: TieArrays
    task: WaveTask
    values: Array
    certificate: Certificate

    @property
    def errors(self) -> Errors:
        """The mean recall in this wave."""
        recall = self.recall[self.task.asked]
        return Errors(float(recall.mean()) if len(recall) else 1.0, 0.0, "estimated from reports, with a prior")

    @property
    def recall(self) -> Array:
        """Everybody's recall in this wave."""
        return expit(self.values[2] + logit(self.task.recall))

    @property
    def respondents(self) -> dict[str, Array]:
        """Recall with its interval and false naming, of all waves."""
        return self.others.respondents

    @property
    def weights(self) -> list[Weight]:
        """What each part of the evidence counts, in all waves."""
        return self.others.weights

    def probabilities(self, rows: Array, relation: int | None = None) -> Array:
        """Return the probabilities of ties of some people with everybody."""
        return self.arrays.with_known(self.task.posterior(self.values)[rows], rows)

    def expected_reports(self, rows: Array, relation: int | None = None) -> Array:
        """Return the probabilities that some people name each of the others."""
        p = self.probabilities(rows)
        return p * self.recall[rows][:, None] + (1.0 - p) * self.task.false[rows][:, None]

    def parts(self, one: int, other: int) -> list[tuple[str, str, float]]:
        """Return the reasons in all waves, and what this wave adds."""
        _, tie, none = self.task.likelihoods(self.values[2])
        a, s, _ = self.values
        there = float(self.task.log_odds[one, other])
        parts = self.others.parts(one, other)
        parts.append(("waves", "ties change between waves", float(a + (s - 1.0) * there)))
        parts.append(("reports", "what people reported in this wave", float((tie - none)[one, other])))
        return parts

    def ties(self, pairs: Pairs) -> pd.DataFrame:
        """Return everybody's expected number of ties with a 90% interval."""
        return self.others.ties(pairs)

    def draw(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Return the ends of the ties of one drawn network."""
        p = self.probabilities(np.arange(self.arrays.n))
        one, other = np.nonzero(np.triu(random.random(p.shape) < p, 1))
        return one, other


def fit_waves(arrays: TieArrays, fit: Callable[[TieArrays], TieFit], tol: float) -> list[WaveFit]:
    """Return a fit for each wave; ``fit`` fits the other waves together."""
    fits = []
    everybody = np.arange(arrays.n)
    for wave in range(len(arrays.waves)):
        others = fit(without_wave(arrays, wave))
        p = others.probabilities(everybody)
        respondents = others.respondents
        recall = _filled(respondents["recall"])
        false = _filled(respondents["false_naming"])
        named = np.zeros((arrays.n, arrays.n), dtype=bool)
        here = (arrays.wave == wave) & (arrays.target >= 0)
        respondent = arrays.respondent[here]
        source = arrays.source[here]
        named[respondent, np.where(source == respondent, arrays.target[here], source)] = True
        task = WaveTask(
            log_odds=logit(np.clip(p, LEAST, 1.0 - LEAST)),
            asked=np.asarray(arrays.asked[:, :, wave].any(axis=1)),
            named=named,
            recall=np.clip(recall, LEAST, 1.0 - LEAST),
            false=np.clip(false, LEAST, 1.0 - LEAST),
        )
        size = max(1.0, float(named.sum()))
        best = minimize(
            task.objective, np.array([-2.0, 0.4, 0.0]), jac=True, method="BFGS", options={"gtol": tol * size}
        )
        gradient = float(np.abs(best.jac).max()) / size
        status = Status.CONVERGED if gradient <= tol else Status.MAX_ITER
        own = Certificate(Measure.GRADIENT, gradient, tol, status, int(best.nit), "raise max_iter")
        fits.append(WaveFit(others, arrays, task, best.x, summed_up([own, others.certificate])))
    return fits


def _filled(values: Array) -> Array:
    """Return the mean for people of whom nothing is known."""
    return np.where(np.isnan(values), np.nanmean(values), values)


def changes_between(fits: Sequence[WaveFit], labels: Sequence[str], names: Array, least: float) -> pd.DataFrame:
    """Return the probability that each tie was formed or lost from a wave to the next, the surest changes first."""
    everybody = np.arange(len(names))
    tables = []
    for k in range(len(labels) - 1):
        before = fits[k].probabilities(everybody)
        after = fits[k + 1].probabilities(everybody)
        formed = (1.0 - before) * after
        lost = before * (1.0 - after)
        one, other = np.nonzero(np.triu(np.maximum(formed, lost) >= least, 1))
        columns = {
            "source": names[one],
            "target": names[other],
            "before": labels[k],
            "after": labels[k + 1],
            "formed": formed[one, other],
            "lost": lost[one, other],
        }
        tables.append(pd.DataFrame(columns))
    table = pd.concat(tables, ignore_index=True)
    surest = table[["formed", "lost"]].max(axis=1)
    return table.loc[surest.sort_values(ascending=False, kind="stable").index].reset_index(drop=True)
