"""One fit of the tie model: the shared mixing, then everybody's tilts, then calibrated probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import poisson

from ..certificate import Certificate, Measure, Status, summed_up
from ..validation import Array
from .answers import Errors, error_variances, estimate_errors, scaled_up
from .arrays import TieArrays
from .count_noise import error_covariances
from .fitted import Pairs, Weight
from .inputs import Known, Nominations, likeness_of, nearness_of, nominations_of, with_known_ties, with_names
from .mixing import Mixing, Respondents, fit_mixing
from .pair_sums import Factors, expected_counts, sigmoid
from .probabilities import calibrated, calibration, drawn_network, levelled
from .tilts import Task, fit_tilts, known_rows

PULL = 10.0  # towards the mixing of other groups, where there are too few of them to measure their spread
CALIBRATED_UP_TO = 5000  # nodes; beyond, the second fit would double minutes
KAPPAS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.5)  # tried where no ties are known to learn it from
ASSUMED_KAPPA = 0.5  # where nobody counted traits: costs little where signals say nothing (villages 1 to 37)
TRIED_PAIRS = 2_000_000  # to compare them by


@dataclass(frozen=True, eq=False, repr=False)
class CountsResult:
    """The fitted model of counts: see :class:`~nashgraph.ties.fitted.TieFit` for what it can tell."""

    arrays: TieArrays
    certificate: Certificate
    errors: Errors
    low_rank: Factors
    mixing: Mixing
    tilts: Array
    likeness: Array
    known: Known
    named: Nominations | None
    answers: Array
    noise: Array
    asked: Array
    spread: float

    @property
    def respondents(self) -> dict[str, Array]:
        """What is known of each respondent: the share of their ties that people with lists like theirs name."""
        recall = np.full(self.arrays.n, np.nan)
        if self.named is not None:
            recall[self.named.asked] = self.named.recall[self.named.asked]
        nothing = np.full(self.arrays.n, np.nan)
        return {"recall": recall, "recall_low": nothing, "recall_high": nothing, "false_naming": nothing}

    @property
    def weights(self) -> list[Weight]:
        """How much the log-odds of a pair vary with each part, in standard deviations over pairs."""
        G = self.mixing.matrix
        left = {
            "mixing of traits": (self.arrays.features @ G, self.arrays.features),
            "own answers": (2.0 * self.tilts, self.arrays.features),
            "likeness of signals": (self.likeness, self.likeness),
        }
        spreads = {name: _spread_over_pairs(*factors) for name, factors in left.items()}
        total = max(sum(spread**2 for spread in spreads.values()), 1e-12)
        return [Weight(name, "", spread, np.nan, spread**2 / total) for name, spread in spreads.items() if spread > 0]

    def probabilities(self, rows: Array, relation: int | None = None) -> Array:
        """Return the probabilities of ties of some people with everybody; relations are one to this model."""
        p = sigmoid(self.low_rank.left[rows] @ self.low_rank.right.T)
        # pairs that were named count as known to this model
        certain = self.known
        place = np.full(self.arrays.n, -1)
        place[rows] = np.arange(len(rows))
        one, other, value = known_rows(certain[:3], place >= 0)
        p[place[one], other] = value
        p[np.arange(len(rows)), rows] = 0.0
        return p

    def expected_reports(self, rows: Array, relation: int | None = None) -> Array:
        """Return the probabilities that people name each other: of a tie, times the share of ties that are named."""
        recall = np.zeros(self.arrays.n)
        if self.named is not None:
            recall = np.where(self.named.asked, self.named.recall, self.named.recall[self.named.asked].mean())
        return self.probabilities(rows) * recall[rows][:, None]

    def parts(self, one: int, other: int) -> list[tuple[str, str, float]]:
        """Return the reasons for and against one tie."""
        Z = self.arrays.features
        labels = self.arrays.labels
        names = self.arrays.names
        mean = Z.mean(axis=0)
        G = self.mixing.matrix
        rows: list[tuple[str, str, float]] = []
        for me, you in ((one, other), (other, one)):
            for k, label in enumerate(labels):
                part = self.tilts[me, k] * (Z[you, k] - mean[k]) if k else self.tilts[me, 0]
                if abs(part) < 1e-9:
                    continue
                has = "has" if Z[you, k] else "does not have"
                count = self.answers[me, k]
                answer = "" if np.isnan(count) else f"{names[me]} told of {count:.3g} ties"
                reason = answer if k == 0 else f"{answer} with {label}, and {names[you]} {has} it"
                rows.append(("own answers", reason or f"how often {names[me]} is named", float(part)))
        mixing = float(Z[one] @ G @ Z[other] - mean @ G @ mean)
        rows.append(("mixing of traits", "how people with their traits mix", mixing))
        if self.likeness.shape[1]:
            likeness = float(self.likeness[one] @ self.likeness[other])
            rows.append(("likeness of signals", "likeness of their signals", likeness))
        return rows

    def draw(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Return one drawn network; the popularity of people who were not asked is drawn too."""
        n = self.arrays.n
        unsure = np.where(self.asked, 0.0, np.sqrt(self.spread))
        shift = (random.normal(size=n) * unsure - unsure**2 / 2)[:, None]
        ones = np.ones_like(shift)
        left = np.hstack([self.low_rank.left, shift, ones])
        right = np.hstack([self.low_rank.right, ones, shift])
        drawn = sparse.coo_array(sparse.triu(drawn_network(Factors(left, right), random)))
        keys = drawn.coords[0].astype(np.int64) * n + drawn.coords[1]
        known = self.known.one * n + self.known.other
        keys = np.union1d(np.setdiff1d(keys, known), known[self.known.value > 0])
        return keys // n, keys % n

    def ties(self, pairs: Pairs) -> pd.DataFrame:
        """Return every node's expected number of ties with a 90% interval."""
        recall = self.errors.recall
        told = self.answers[:, 0]
        complete = np.isin(np.arange(self.arrays.n), self.known.complete)
        # For those not asked, pairs and popularity vary; an answer narrows this to its error and what is forgotten.
        before = pairs.variance + self.spread * pairs.expected**2
        error = self.noise[:, 0] + (1.0 - recall) / recall * np.nan_to_num(told)
        after = np.where(np.isnan(told), before, 1.0 / (1.0 / np.maximum(before, 1e-9) + 1.0 / error))
        half = 1.645 * np.sqrt(np.where(complete, 0.0, after))
        centre = np.where(np.isnan(told), pairs.expected, told)
        low = np.maximum(np.minimum(centre - half, pairs.expected), 0.0)
        high = np.minimum(np.maximum(centre + half, pairs.expected), self.arrays.n - 1.0)
        ends = {"expected_ties": pairs.expected, "ties_low": low, "ties_high": high}
        return pd.DataFrame(ends, index=self.arrays.names)


def _spread_over_pairs(left: Array, right: Array) -> float:
    """Return the standard deviation of left_i · right_j + left_j · right_i over pairs, from a sample of people."""
    few = np.linspace(0, len(left) - 1, min(len(left), 500)).astype(int)
    both = left[few] @ right[few].T
    return float((0.5 * (both + both.T))[np.triu_indices(len(few), 1)].std()) if len(few) > 1 else 0.0


@dataclass
class CountsFit:
    """One fit: from checked input to everything that is stored."""

    arrays: TieArrays
    groups: list[Respondents]
    recall: float | None
    error: float | None
    calibrate: bool
    tol: float
    max_iter: int
    seed: int

    def __post_init__(self) -> None:
        arrays = self.arrays
        self.Z = arrays.features
        self.n = arrays.n
        self.likeness = likeness_of(arrays.signals)
        # Other groups have no places, so their likeness could not be compared with this group's.
        self.nearness = np.zeros((self.n, 0)) if self.groups else nearness_of(arrays.places)
        self.told = with_known_ties(arrays)
        self.errors: Errors = estimate_errors(arrays, self.told, self.recall, self.error)
        self.named: Nominations | None = nominations_of(arrays, self.recall)
        self.known = Known(arrays.known_one, arrays.known_other, arrays.known_value, arrays.complete)
        if self.named is not None:
            self.known = with_names(self.known, self.named, self.n)

    def run(self) -> CountsResult:
        """Fit the mixing, then the tilts, and calibrate."""
        counts, noise = self.answers()
        complete = np.isin(np.arange(self.n), self.known.complete)
        asked: Array = np.asarray(~np.isnan(counts).all(axis=1))
        mixing, anchor, pull = self.mixing(counts, asked)
        own = np.flatnonzero(asked & ~complete)
        known = self.known[:3]
        scaled = self.likeness * np.sqrt(max(mixing.kappa, 0.0))
        spread = popularity_spread(counts[:, 0])
        offset = self.popularity(mixing, scaled, asked, complete, spread)
        task = self.task(mixing, scaled, offset, own, counts, noise)
        certificate = mixing_certificate(mixing)
        tilts = np.zeros_like(task.counts)
        low_rank = task.factors(tilts)
        if len(own):
            tilts, low_rank, of_tilts = fit_tilts(task, self.tol, self.max_iter)
            certificate = of_tilts if certificate.converged else summed_up([of_tilts, certificate])
        lines = np.tile([0.0, 1.0], (3, 1))
        if self.calibrate and self.n <= CALIBRATED_UP_TO and len(own):
            lines = calibration(low_rank, task, self.errors, anchor, pull, self.seed, self.tol)
        everywhere = np.zeros_like(self.Z)
        everywhere[:, 0] = offset
        everywhere[own] += tilts
        final = calibrated(low_rank, lines, asked)
        told = own[~np.isnan(counts[own, 0])]
        if (lines[2] != (0.0, 1.0)).any() and len(told):
            before, _ = expected_counts(low_rank, np.ones((self.n, 1)), told, np.ones(self.n))
            final = levelled(final, told, known, before[:, 0] if not len(known[0]) else counts[told, 0])
        return CountsResult(
            arrays=self.arrays,
            certificate=certificate,
            errors=self.errors,
            low_rank=final,
            mixing=mixing,
            tilts=everywhere,
            likeness=scaled,
            known=self.known,
            named=self.named,
            answers=counts,
            noise=noise,
            asked=asked,
            spread=spread,
        )

    def task(self, mixing: Mixing, likeness: Array, offset: Array, rows: Array, counts: Array, noise: Array) -> Task:
        """Return the problem of the tilts, in which answers bind as far as recall and errors let them."""
        n_features = self.Z.shape[1]
        nothing = np.zeros((len(rows), n_features, n_features))
        task = Task(self.Z, mixing.matrix, likeness, offset, rows, counts[rows], nothing, self.known[:3])
        counted = ~np.isnan(self.told[rows]).all(axis=1)
        recall = np.where(counted, self.errors.recall, 1.0)  # what names say has its own error
        low_rank = task.factors(np.zeros_like(task.counts))
        return task._replace(noise=error_covariances(low_rank, self.Z, rows, noise[rows], recall))

    def answers(self) -> tuple[Array, Array]:
        """Return counts in ties (rather than in ties recalled) and error variances; names fill what was not counted."""
        noise = error_variances(self.told, self.arrays.at_least, self.errors)
        open_ended = self.arrays.at_least
        others = self.Z.sum(axis=0) - self.Z
        counts = np.minimum(self.told, others)  # nobody is tied to more people than there are
        bound = counts[open_ended]  # "10+": the mean of what is at least 10, if people have about so many
        above = bound * poisson.sf(bound - 2, bound) / np.maximum(poisson.sf(bound - 1, bound), 1e-9)
        counts[open_ended] = above
        counts /= self.errors.recall
        complete = self.known.complete
        counts[complete] = self.told[complete]  # these are known, not told
        noise[complete] = 1e-3
        if self.named is not None:
            estimate, variance = self.named.counts(self.Z)
            empty = np.isnan(counts) & self.named.asked[:, None]
            counts[empty], noise[empty] = estimate[empty], 1.0 + variance[empty]
        return counts, noise

    def mixing(self, counts: Array, asked: Array) -> tuple[Mixing, Mixing | None, float]:
        """Return the mixing of this group, and that of other groups it is pulled to."""
        rows = np.flatnonzero(asked)
        told = scaled_up(counts[rows], self.Z)
        if self.nearness.shape[1]:
            self.likeness = self.with_nearness(Respondents(self.Z, rows, told, self.nearness))
            return fit_mixing([Respondents(self.Z, rows, told, self.likeness)], kappa=1.0), None, 0.0
        likeness = None
        if self.likeness.shape[1] and len(rows) and np.isin(rows, self.known.complete).all():
            one, other = self.known.ties()  # those of all respondents are known
            alike = np.einsum("pm,pm->p", self.likeness[one], self.likeness[other])
            likeness = np.bincount(one, alike, self.n)[rows]
        here = Respondents(self.Z, rows, told, self.likeness, likeness)
        if not self.groups:
            unknown = self.likeness.shape[1] and likeness is None
            return fit_mixing([here], kappa=self.tried_kappa(here) if unknown else 0.0), None, 0.0
        anchor = fit_mixing(self.groups)
        pull = group_pull(self.groups, anchor)
        return (fit_mixing([here], anchor, pull) if len(rows) else anchor), anchor, pull

    def with_nearness(self, here: Respondents) -> Array:
        """Return nearness and likeness of signals side by side, each with the weight that predicts the counts best."""
        near = here.likeness * np.sqrt(self.tried_kappa(here))
        if not self.likeness.shape[1]:
            return near
        both = here._replace(likeness=self.likeness)
        return np.hstack([near, self.likeness * np.sqrt(self.tried_kappa(both, near))])

    def tried_kappa(self, here: Respondents, alongside: Array | None = None) -> float:
        """Return the weight of likeness under which mixing predicts best which traits people's ties have.

        ``alongside`` are coordinates of likeness that count fully.

        The Poisson deviance of counts given the number of ties: likeness also says who is popular, mostly wrongly.
        """
        few = np.arange(len(here.rows))[:: 1 + len(here.rows) * self.n // TRIED_PAIRS]
        rows = here.rows[few]
        told = here.counts[few]
        if np.isnan(told[:, 1:]).all():
            return ASSUMED_KAPPA
        best = 0.0
        least = np.inf
        nothing = np.zeros((self.n, 0)) if alongside is None else alongside
        for kappa in KAPPAS:
            likeness = np.hstack([nothing, here.likeness * np.sqrt(kappa)])
            fitted = fit_mixing([here._replace(rows=rows, counts=told, likeness=likeness)], kappa=1.0)
            theta = self.Z[rows] @ fitted.matrix @ self.Z.T + likeness[rows] @ likeness.T
            theta[np.arange(len(rows)), rows] = -np.inf
            expected = np.maximum(sigmoid(theta) @ self.Z, 1e-6)
            expected *= np.maximum(told[:, :1], 1e-3) / expected[:, :1]
            seen = ~np.isnan(told[:, 1:])
            deviance = float((expected[:, 1:] - np.nan_to_num(told[:, 1:]) * np.log(expected[:, 1:]))[seen].sum())
            if deviance < least - 1e-6:
                best = kappa
                least = deviance
        return best

    def popularity(self, mixing: Mixing, likeness: Array, asked: Array, complete: Array, spread: float) -> Array:
        """Return log popularity of those not asked, from ties to complete nodes and from being named.

        Seen over expected ties, both with 1 / spread added: the mean of a gamma distribution. Those asked for
        names have the probability that a tie of theirs goes unnamed instead; their number of ties is fitted to
        their names.
        """
        offset = np.zeros(self.n)
        if not complete.any() and self.named is None:
            return offset
        seen = np.zeros(self.n)
        share = complete.astype(float)  # of their ties that we know
        if self.named is not None:
            share = np.where(complete, 1.0, self.named.recall)
            offset[self.named.asked] = np.log1p(-self.named.recall[self.named.asked])
            seen += np.asarray(self.named.named[self.named.asked & ~complete].sum(axis=0)).ravel()
        rows = np.flatnonzero(share)
        theta = self.Z[rows] @ mixing.matrix @ self.Z.T + likeness[rows] @ likeness.T
        theta[np.arange(len(rows)), rows] = -np.inf
        expected = share[rows] @ sigmoid(theta)
        one, other = self.known.ties()
        seen += np.bincount(other[complete[one]], minlength=self.n)
        open_ones = ~asked & ~complete
        offset[open_ones] = np.log((seen + 1.0 / spread) / (expected + 1.0 / spread))[open_ones]
        return offset


def popularity_spread(n_ties: Array) -> float:
    """Return the variance of log popularity, from how much more numbers of ties vary than chance would have them."""
    told = n_ties[~np.isnan(n_ties)]
    if len(told) < 3 or not told.any():
        return 0.25  # nobody's number of ties tells it
    return max(0.02, float(np.log1p(max(0.0, told.var(ddof=1) - told.mean()) / told.mean() ** 2)))


def mixing_certificate(mixing: Mixing) -> Certificate:
    """Return the certificate of the mixing alone; it ends far below this unless many answers are missing."""
    tol = 1e-3
    status = Status.CONVERGED if mixing.gradient <= tol else Status.MAX_ITER
    remedy = "ask more people the same questions"
    return Certificate(Measure.GRADIENT, mixing.gradient, tol, status, mixing.steps, remedy)


def group_pull(groups: list[Respondents], anchor: Mixing) -> float:
    """Return the strength of the pull to other groups' mixing: one over the variance of the groups around it."""
    if len(groups) < 3 or len(anchor.matrix) == 1:
        return PULL
    around = [fit_mixing([group], anchor, PULL).matrix - anchor.matrix for group in groups[:20]]
    return float(np.clip(1.0 / max(1e-6, np.var([matrix[1:, 1:] for matrix in around])), 1.0, 100.0))
