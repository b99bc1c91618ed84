"""What every fit of ties can tell, and what is computed from it: the pairs that matter, and everybody's ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd
from joblib import cpu_count
from scipy.special import logit

from ..certificate import Certificate
from ..decisions import Decision
from ..pairs.threads import blas_threads
from ..tie_survey import TieSurvey
from ..validation import Array
from .answers import Errors
from .arrays import TieArrays

Part = TypeVar("Part")


class Weight(NamedTuple):
    """How much one part of the evidence counts, in log-odds for a standard deviation of it over pairs."""

    part: str
    name: str
    weight: float
    standard_error: float
    share: float


class TieFit(Protocol):
    """A fit of ties, by the numbers of people.

    ``probabilities`` has known pairs as 1 and 0 and a diagonal of 0. ``expected_reports`` are the probabilities that a
    person, if asked, would name each other one. ``parts`` are the reasons for and against a tie in log-odds relative to
    a mean pair. ``respondents`` has arrays over all people (recall, recall_low, recall_high, false_naming; NaN for
    those not asked).
    """

    @property
    def certificate(self) -> Certificate:
        """How well the fit's problem was solved."""
        ...

    @property
    def arrays(self) -> TieArrays:
        """The survey that was fitted."""
        ...

    @property
    def errors(self) -> Errors:
        """How far answers can be trusted."""
        ...

    @property
    def respondents(self) -> dict[str, Array]:
        """Arrays over all people: recall, recall_low, recall_high, false_naming."""
        ...

    @property
    def weights(self) -> list[Weight]:
        """The weight of each part of the evidence."""
        ...

    def probabilities(self, rows: Array, relation: int | None = None) -> Array:
        """Return the probabilities of ties of some people with everybody."""
        ...

    def expected_reports(self, rows: Array, relation: int | None = None) -> Array:
        """Return the probabilities that some people name each of the others."""
        ...

    def parts(self, one: int, other: int) -> list[tuple[str, str, float]]:
        """Return (part, what it is, log-odds) for one pair."""
        ...

    def ties(self, pairs: Pairs) -> pd.DataFrame:
        """Return expected_ties, ties_low and ties_high (a 90% interval) of everybody."""
        ...

    def draw(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Return the ends of the ties of one drawn network, the smaller number first."""
        ...


def by_blocks(job: Callable[[slice], Part], n_rows: int, n_columns: int, block: int = 2**18) -> Iterator[Part]:
    """Yield ``job(rows)`` for every block of rows, in order, a few at a time in threads; no N × N array is held."""
    size = max(1, block // max(1, n_columns))
    blocks = [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
    workers = min(cpu_count(), 8)
    if len(blocks) == 1 or workers == 1:
        yield from map(job, blocks)
        return
    with blas_threads().limit(limits=1), ThreadPoolExecutor(workers) as pool:
        for first in range(0, len(blocks), 4 * workers):
            yield from pool.map(job, blocks[first : first + 4 * workers])


class Pairs(NamedTuple):
    """The pairs that matter (ends i < j and probability), and every node's expected ties and their variance."""

    one: Array
    other: Array
    probability: Array
    expected: Array
    variance: Array


def likely_pairs(fit: TieFit, n: int, *, per_tie: float = 2.0, least: float = 0.03, bins: int = 400) -> Pairs:
    """Return the most probable pairs, ``per_tie`` for every expected tie and each node's best one, and sums.

    A node with several best pairs, as among people with the same traits, gets none of them: the order of the people
    would choose. Nor does a node get one that is a tie in less than a share ``least`` of networks. The pairs are cut at
    one log-odds, which a histogram of ``bins`` from −20 to 20 finds in one pass over all pairs.
    """

    def sums(block: slice) -> tuple[Array, Array, Array, Array]:
        rows = np.arange(block.start, block.stop)
        p = fit.probabilities(rows)
        highest = p.max(axis=1, keepdims=True)
        several = (p >= highest * (1.0 - 1e-4)).sum(axis=1) > 1  # probabilities this near are one, up to rounding
        best = np.where(several | (highest[:, 0] < least), -1, p.argmax(axis=1))
        counts = np.bincount(_bins(p, bins).ravel(), minlength=bins)
        return p.sum(axis=1), (p * (1.0 - p)).sum(axis=1), best, counts

    blocks = list(by_blocks(sums, n, n))
    expected = np.concatenate([block[0] for block in blocks])
    variance = np.concatenate([block[1] for block in blocks])
    best = np.concatenate([block[2] for block in blocks])
    counts = np.sum([block[3] for block in blocks], axis=0)
    above = np.cumsum(counts[::-1])[::-1]  # pairs in each bin and in those above
    few_enough = above <= per_tie * expected.sum()
    cut = int(np.argmax(few_enough)) if few_enough.any() else bins

    def likely(block: slice) -> tuple[Array, Array, Array]:
        rows = np.arange(block.start, block.stop)
        p = fit.probabilities(rows)
        columns = np.arange(n)
        best_one = (best[rows][:, None] == columns) | (best[None, :] == rows[:, None])
        chosen = ((_bins(p, bins) >= cut) | best_one) & (columns > rows[:, None]) & (p > 0)
        one, other = np.nonzero(chosen)
        return one + block.start, other, p[one, other]

    parts = list(by_blocks(likely, n, n))
    one, other, probability = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Pairs(one, other, probability, expected, variance)


def _bins(p: Array, bins: int) -> Array:
    """Return the bin of each probability's log-odds between −20 and 20."""
    with np.errstate(divide="ignore"):
        log_odds = np.clip(logit(p), -20.0, 20.0)
    return np.minimum(((log_odds + 20.0) * (bins / 40.0)).astype(np.int64), bins - 1)


def response_rate(survey: TieSurvey) -> list[Decision]:
    """Return how many people answered, and what follows for the others."""
    n = len(survey.names)
    answered = int(survey.answered.sum())
    if not 0 < answered < n:
        return []
    parts = []
    if survey.places.shape[1] or survey.groups.shape[1]:
        parts.append("place")
    parts.append("answers" if survey.traits.shape[1] else "what others told")
    reason = (
        f"{answered:,} of {n:,} asked: ties between two people who were not asked rest on {' and '.join(parts)} alone"
    )
    return [Decision("response_rate", (), reason)]


def respondents_table(survey: TieSurvey, fit: TieFit) -> pd.DataFrame:
    """Return the respondents with the names they gave and how reliable they are."""
    table = pd.DataFrame(fit.respondents, index=pd.Index(survey.index.texts, name="respondent"))
    named = survey.reports.groupby("respondent").size()
    table.insert(0, "names_given", named.reindex(table.index).fillna(0).astype(int))
    return table.loc[list(survey.respondents)]
