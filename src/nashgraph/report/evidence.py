"""What ties rest on: the weight of each question and the respondents; changes over waves, and ties per person."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from ..estimators import GraphEstimator, TieModel
from ..validation import Array, InputError
from .prose import number, percent, shortened, text

HALF_WIDTH = 1.645  # standard errors on each side of a 90% interval


class Bar(NamedTuple):
    """A bar and its interval on a scale from 0 to 100, with its name and its figure in words."""

    name: str
    words: str
    start: float
    length: float
    low: float
    high: float


class Respondent(NamedTuple):
    """Where a respondent stands in the figure of recall, and who it is in words."""

    words: str
    x: float
    recall: float
    low: float
    high: float


class Change(NamedTuple):
    """Ties formed and lost from one wave to the next, and the surest of them in words."""

    waves: str
    formed: int
    lost: int
    surest: list[str]


class Evidence(NamedTuple):
    """Figures of what a tie model rests on; an empty list where it has none."""

    weights: list[Bar]
    respondents: list[Respondent]
    reliability: str
    changes: list[Change]


def evidence_of(model: GraphEstimator) -> Evidence:
    """Return the figures of a tie model; none of another model."""
    if not isinstance(model, TieModel):
        return Evidence([], [], "", [])
    respondents = model.respondents_.dropna(subset=["recall"])
    bars = weight_bars(model.weights_)
    return Evidence(bars, recall_points(respondents), reliability(respondents), changes_of(model))


def weight_bars(weights: pd.DataFrame, most: int = 12) -> list[Bar]:
    """Return the parts of the evidence that count most, on one scale that contains zero and all intervals."""
    largest = weights.sort_values("weight", key=lambda column: -column.abs(), kind="stable").head(most)
    value = largest["weight"].to_numpy(dtype=float)
    half = HALF_WIDTH * largest["standard_error"].fillna(0.0).to_numpy(dtype=float)
    ends = np.concatenate([[0.0], value - half, value + half])
    scale = 100.0 / max(float(np.ptp(ends)), 1e-12)
    start = scale * (np.minimum(value, 0.0) - ends.min())
    low = scale * (value - half - ends.min())
    high = scale * (value + half - ends.min())
    names = shortened([text(name) for name in largest["name"]])
    words = [number(each) for each in value]
    return [*map(Bar, names, words, start, scale * np.abs(value), low, high)]


def recall_points(respondents: pd.DataFrame, most: int = 60) -> list[Respondent]:
    """Return respondents in the order of their recall, evenly chosen if there are very many."""
    ranked = respondents.sort_values("recall", kind="stable")
    count = min(most, len(ranked))
    chosen = ranked.iloc[np.linspace(0, len(ranked) - 1, count).round().astype(int)]
    points = []
    ends = chosen[["recall", "recall_low", "recall_high"]].to_numpy(dtype=float).tolist()
    for place, (name, (recall, low, high)) in enumerate(zip(chosen.index, ends, strict=True)):
        words = f"{text(name)}: {recall:.0%} ({low:.0%} to {high:.0%})"
        points.append(Respondent(words, (place + 0.5) / count, recall, low, high))
    return points


def reliability(respondents: pd.DataFrame) -> str:
    """Return in two sentences how many of their ties respondents name, and how often they name somebody else."""
    if respondents.empty:
        return ""
    recall = respondents["recall"]
    names = respondents["names_given"].mean()
    wrong = percent(float(respondents["false_naming"].mean()))
    return (
        f"{len(respondents):,} people gave {names:.1f} names on average. By estimate, they name {recall.mean():.0%} "
        f"of their ties ({recall.min():.0%} to {recall.max():.0%}), and somebody who is not tied to them with a "
        f"probability of {wrong}."
    )


def changes_of(model: TieModel, most: int = 5) -> list[Change]:
    """Return what changed between waves: pairs more likely formed or lost than not, and the surest of them."""
    waves = model.survey_.waves
    if len(waves) < 2:
        return []
    try:
        table = model.changes()
    except InputError:  # counts have no waves
        return []
    rows = []
    for before, after in pairwise(waves):
        part = table[(table["before"] == before) & (table["after"] == after)]
        surest = []
        for row in part.head(most).to_dict("records"):
            change = "formed" if row["formed"] > row["lost"] else "lost"
            surest.append(f"{text(row['source'])} – {text(row['target'])} {change} ({row[change]:.0%})")
        formed = int((part["formed"] > 0.5).sum())
        lost = int((part["lost"] > 0.5).sum())
        rows.append(Change(f"{text(before)} to {text(after)}", formed, lost, shortened(surest)))
    return rows


def ties_per_node(graphs: Sequence[Any], n_ties: int | None, most_bins: int = 24) -> dict[str, Array]:
    """Return how many nodes have how many ties, with 90% intervals from halves of the signals, or from drawn networks.

    The ties of a replicate are its ``n_ties`` heaviest pairs, or all of them. Bins have one width of whole numbers.
    """
    degrees = np.array([degrees_in(weights, n_ties) for weights in graphs])
    width = -(-(int(degrees.max(initial=0)) + 1) // most_bins)
    n_bins = int(degrees.max(initial=0)) // width + 1
    counts = np.array([np.bincount(row // width, minlength=n_bins) for row in degrees])
    low, high = np.quantile(counts, [0.05, 0.95], axis=0)
    return {"ties": width * np.arange(n_bins + 1), "people": counts.mean(axis=0), "low": low, "high": high}


def degrees_in(weights: Any, n_ties: int | None) -> Array:
    """Return the number of ties of every node in a matrix of weights, each pair counted once."""
    pairs = sparse.triu(sparse.csr_array(weights + weights.T), k=1).tocoo()
    heaviest = np.argsort(-pairs.data, kind="stable")[:n_ties]
    ends = np.concatenate([pairs.coords[0][heaviest], pairs.coords[1][heaviest]])
    return np.bincount(ends, minlength=weights.shape[0])
