"""How far answers about ties can be trusted: the share of ties recalled, and the variance of other errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from ..validation import Array, warn
from .arrays import TieArrays

ASSUMED_ERROR = 0.4  # variance, where answers cannot be checked against each other (villages 1 to 37)


def scaled_up(told: Array, features: Array) -> Array:
    """Return the counts, with the number of ties estimated in proportion if it was not asked (scale-up estimator)."""
    counts = told.copy()
    asked = ~np.isnan(told[:, 1:])
    holders = (asked * features[:, 1:].sum(axis=0)).sum(axis=1)
    lacking = np.isnan(counts[:, 0]) & (holders > 0)
    counts[lacking, 0] = np.nansum(counts[lacking, 1:], axis=1) / holders[lacking] * len(features)
    return counts


class Errors(NamedTuple):
    """How far answers can be trusted: the share of ties recalled, the variance of other errors, and the source."""

    recall: float
    variance: float
    source: str


class BothSides(NamedTuple):
    """For all pairs of traits, how many ties each side told of, as the moments that the errors are estimated from.

    ``difference`` is the squared difference of the two numbers. Its expectation is ``share * forgotten + variance *
    people`` with the share of ties that are forgotten and the variance of a count. ``spread`` is the standard deviation
    of ``difference`` if 30% are forgotten and counts are off by half a tie.
    """

    difference: Array
    forgotten: Array
    people: Array
    spread: Array


def both_sides(Z: Array, counts: Array) -> BothSides:
    """Compare what the people with one trait tell about those with another, and the other way round."""
    one, other = np.triu_indices(Z.shape[1], 1)
    told = Z.T @ counts  # told[k, l]: ties with l-people that k-people told of
    ties = counts[:, 0].sum()
    overlap = (counts[:, 0] @ (Z[:, one] * Z[:, other])) ** 2 / ties  # ties inside the overlap of two traits cancel
    forgotten = np.maximum((told + told.T)[one, other] - 2.0 * overlap, 1e-3 * ties)
    people = Z.sum(axis=0)[one] + Z.sum(axis=0)[other]
    difference = (told - told.T)[one, other] ** 2
    return BothSides(difference, forgotten, people, 0.3 * forgotten + 0.5 * people)


def estimate_errors(arrays: TieArrays, answers: Array, recall: float | None, variance: float | None) -> Errors:
    """Return recall and error variance: as given, from comparing both sides of ties, or assumed.

    If everybody was asked and forgot nothing, the k-people's ties with l-people are as many as the l-people's ties with
    k-people. The squared differences grow with the number of ties if ties are forgotten, and with the number of people
    if counts are off, so both variances come from a non-negative least-squares fit over all pairs of traits.
    """
    if recall is not None and variance is not None:
        return Errors(recall, variance, "recall given, error variance given")
    Z = arrays.features
    counts = scaled_up(answers, Z)
    full = ~np.isnan(counts).any(axis=1) & ~arrays.at_least.any(axis=1)
    few = full.mean() < 0.95
    parts = []
    if recall is not None:
        parts.append("recall given")
    if variance is not None:
        parts.append("error variance given")
    if few or Z.shape[1] < 4 or not np.nansum(counts[full]):
        if few:
            why = "fewer than 95% of the nodes answered everything"
        else:
            why = "too little was counted"
        missing = ["nothing forgotten"] if recall is None else []
        if variance is None:
            missing.append("small errors")
        parts.append(f"{', '.join(missing)} assumed: {why}, so the two sides of ties cannot be compared")
        return Errors(
            1.0 if recall is None else recall, ASSUMED_ERROR if variance is None else variance, "; ".join(parts)
        )
    sides = both_sides(Z[full], counts[full])
    weight = 1.0 / sides.spread
    if recall is None:
        columns = np.column_stack([sides.forgotten * weight, sides.people * weight])
        (share, estimate), _ = nnls(columns, sides.difference * weight)
        recall = max(0.5, 1.0 - float(share))
    else:
        rest = sides.difference - (1.0 - recall) * sides.forgotten
        normal = float((weight**2 * sides.people**2).sum())
        estimate = max(0.0, float((rest * weight**2 * sides.people).sum()) / normal)
    parts.append("the rest estimated from both sides of ties")
    return Errors(recall, float(estimate) if variance is None else variance, "; ".join(parts))


def error_variances(counts: Array, at_least: Array, errors: Errors) -> Array:
    """Return the error variance of every answer, in ties rather than in ties recalled.

    The variance of forgetting is left out on purpose: a tie that is forgotten is missing from all of a node's
    counts, so the counts still agree with each other, and measured precision is better without it
    (villages 1 to 37: 0.62 against 0.55).
    """
    # 0.05 stands for an answer that seems exact: it keeps log-odds finite (villages 1 to 37).
    noise = np.full(counts.shape, 0.05 + errors.variance / errors.recall**2)
    large = ~np.isnan(counts) & (counts >= 10)
    heaped = large & (np.mod(np.nan_to_num(counts), 5) == 0)
    if large.sum() >= 5 and heaped.sum() >= 0.8 * large.sum():
        noise[heaped] += 25.0 / 12.0  # uniform within 2.5
        warn(
            f"{int(heaped.sum())} of the {int(large.sum())} counts of 10 or more are multiples of 5: they are taken as "
            "rounded, with an error of up to 2.5"
        )
    noise[at_least] += 1.0
    return noise
