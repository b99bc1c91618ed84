"""The sentences of a report: what certifies the answer, how to read the picture, and what is missing and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..solvers import Status
from ..validation import Array

MEASURES = (("gap", "gap_"), ("stationarity", "stationarity_"))
MEANINGS = {
    "lam": "how much the prior counts",
    "degree": "neighbours wanted, before the prior counts",
    "beta": "spreads attention over more neighbours",
    "c": "attention everyone has to give",
    "benefit": "what each node gains by acting",
    "interaction": "how one's action moves a neighbour's",
    "welfare": "what counts as doing well",
    "tol": "how near to rest is near enough",
    "multistart": "starts tried",
}


class Passage(NamedTuple):
    """A heading and the paragraph under it.

    Examples
    --------
    >>> Passage("A line", "joins two nodes.").heading
    'A line'
    """

    heading: str
    text: str


def number(value: float) -> str:
    """Write a number for reading: three figures, thousands apart, no exponent unless it must be.

    Examples
    --------
    >>> number(0.0123456), number(12345), number(3.2e-7), number(float("nan"))
    ('0.0123', '12,345', '3.2e-07', 'not known')
    """
    if not np.isfinite(value):
        return "not known"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"


def percent(share: float) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent(0.384), percent(3e-9)
    ('38 %', '0.0000003 %')
    """
    if share >= 0.0995:
        return f"{100 * share:.0f} %"
    return f"{np.format_float_positional(float(f'{100 * share:.1g}'), trim='-')} %"


# ------------------------------------------------------------------------------------------ certificate


def certificate(model: Any) -> str:
    """Return, in words, how good the answer is as an answer to the problem posed."""
    if hasattr(model, "result_"):
        return game_certificate(model)
    method = type(model).__name__
    if getattr(model, "n_iter_", None) == 1 and getattr(model, "stationarity_", None) == 0.0:
        return (
            f"Exact: {method} has one solution only, and each node's share of it is computed by a formula. There was "
            "nothing to iterate, and there is no better graph for this problem."
        )
    if not hasattr(model, "converged_"):
        return f"{method} gives no certificate of its answer."
    ended = "Converged" if model.converged_ else "Not converged"
    name, figure = next(
        ((name, getattr(model, attribute)) for name, attribute in MEASURES if hasattr(model, attribute)), ("", np.nan)
    )
    measured = f" {method}'s own measure, its {name}, ended at {number(figure)}; zero would be exact." if name else ""
    caution = "" if model.converged_ else " Read the graph with caution: more iterations may change it."
    return f"{ended} after {model.n_iter_:,} iterations.{measured}{caution}"


def game_certificate(model: Any) -> str:
    """Return the certificate of GLGP: its stationarity is how far every row is from a best response."""
    figure, asked = float(model.stationarity_), asked_for(model)
    status: Status = model.result_.status
    steps = f"after {model.n_iter_:,} step{'' if model.n_iter_ == 1 else 's'}"
    if model.converged_:
        opening = f"Converged: stationarity {figure:.1e}, below the {asked:.0e} asked for, {steps}."
    else:
        opening = (
            f"Not converged: stationarity {figure:.1e}, above the {asked:.0e} asked for, {steps}: {status.value}. "
            "Read the graph with caution."
        )
    meaning = (
        "If every node could share out its attention anew, for the best balance of likeness and welfare and with "
        f"everyone acting as they do now, the weights would move by {percent(figure)} of their size in all."
    )
    verdict = " So no node has anything left to change on its own." if model.converged_ else ""
    limits = (
        "On this network the actions are a Nash equilibrium: nobody does better by doing more or less alone. What is "
        "certified is that the calculation has come to rest, not that it is the only place where it could"
        if model.converged_
        else "The actions are a Nash equilibrium of this network all the same: nobody does better by doing more or "
        "less alone. But another network may balance likeness and welfare better"
    )
    hint = (
        "; with a strong prior (a large λ) there can be several, and other starts (multistart, init='path') look for "
        "them."
    )
    return f"{opening} {meaning}{verdict} {limits}{hint if model.converged_ else '.'}"


def asked_for(model: Any) -> float:
    """Return the stationarity a model was asked to reach."""
    return float((getattr(model, "solver_params", None) or {}).get("tol", getattr(model, "tol", np.nan)))


def absences(model: Any, has_path: bool) -> tuple[str, ...]:
    """Say what the report leaves out, and why."""
    method = type(model).__name__
    said = []
    if not hasattr(model, "equilibrium_"):
        said.append(f"There are no actions and no welfare, because {method} plays no game on its graph.")
    if not hasattr(model, "result_"):
        said.append(f"There is no convergence curve, because {method} keeps no record of its steps.")
    if not has_path:
        said.append("There is no Pareto front, because one λ was fitted and not a path of them (see glgp_path).")
    return tuple(said)


# --------------------------------------------------------------------------------------- distributions


def weights_sentence(weights: Array) -> str:
    """Say how the weights are spread; ``weights`` come heaviest first."""
    if not len(weights):
        return "The graph has no edges."
    tenth = max(1, len(weights) // 10)
    return (
        f"Half of the {len(weights):,} edges weigh {number(float(np.median(weights)))} or less. The heaviest tenth of "
        f"them carries {percent(float(weights[:tenth].sum() / weights.sum()))} of all weight."
    )


def degree_sentence(counts: Array, verb: str) -> str:
    """Say how many neighbours nodes have.

    Examples
    --------
    >>> degree_sentence(np.array([1, 2, 6]), "listens to")
    'The middle node listens to 2 others; it is 1 at the least and 6 at the most.'
    """
    middle = number(float(np.median(counts)))
    others = "other" if middle == "1" else "others"
    least, most = f"{counts.min():,}", f"{counts.max():,}"
    return f"The middle node {verb} {middle} {others}; it is {least} at the least and {most} at the most."


def history_sentence(history: pd.DataFrame) -> str:
    """Say how a run went."""
    first, last = float(history["stationarity"].iloc[0]), float(history["stationarity"].iloc[-1])
    if len(history) == 1:
        return f"One step was enough: the stationarity was {number(last)} at once."
    return (
        "How far the weights are from rest after each step, on a scale of powers of ten: from "
        f"{number(first)} to {number(last)} in {len(history) - 1:,} step{'s' if len(history) > 2 else ''}."
    )


def front_sentence(front: pd.DataFrame) -> str:
    """Say what the Pareto front trades."""
    along = front[front["lam"].notna()]
    weakest, strongest = along.iloc[0], along.iloc[-1]
    return (
        "Each point is the network learned with one λ. To the left the signals fit the network better, upwards its "
        f"people do better. From λ = {number(weakest['lam'])} to {number(strongest['lam'])} the welfare goes from "
        f"{number(weakest['welfare'])} to {number(strongest['welfare'])}, and the misfit from "
        f"{number(weakest['fidelity'])} to {number(strongest['fidelity'])}."
    )


# --------------------------------------------------------------------------------------- how to read it


def reading(model: Any, attention: float | None, has_path: bool, scores: Mapping[str, float]) -> tuple[Passage, ...]:
    """Return the "how to read this" of a model.

    ``attention`` is what every node's incoming weights sum to, None where it differs between nodes.
    """
    return (
        Passage("A line is attention", line_text(attention)),
        Passage("A large circle is influential", circle_text(model, attention)),
        Passage("What the method takes for granted", assumption_text(model)),
        Passage("What the picture does not show", limits_text(attention)),
        Passage("How sure one may be", certainty_text(scores)),
        Passage("What to try next", next_text(model, has_path)),
    )


def line_text(attention: float | None) -> str:
    """Say what an edge is."""
    if attention is None:
        return (
            "A line between two nodes says that their signals are alike beyond what the rest explains; the heavier, "
            "the stronger. Where the two directions differ, the arrow runs from the node that influences to the one "
            "that is influenced."
        )
    return (
        "An arrow from Ann to Bea says that Bea listens to Ann: in the learned network, Ann influences Bea. Every "
        f"node has the same amount of attention to give, {number(attention)} in all, and a weight is the part of it "
        f"that goes to one other node. A weight of {number(attention / 5)} is a fifth of somebody's attention. The "
        "stronger the line, the larger the weight."
    )


def circle_text(model: Any, attention: float | None) -> str:
    """Say what influence and action are."""
    influence = "A circle grows with influence: all the weight with which a node influences others, added up."
    if attention is not None:
        influence += (
            f" Since everyone gives {number(attention)}, the average influence is {number(attention)} too; a node "
            f"with {number(3 * attention)} receives the attention of three."
        )
    if not hasattr(model, "equilibrium_"):
        return influence
    return influence + (
        " The darker circles (lighter ones on a dark page) act more. Action is best thought of as effort: everyone "
        "does more the more they gain from it themselves (their benefit) and the more those they listen to do. The "
        "actions shown are those at which everybody has settled."
    )


def assumption_text(model: Any) -> str:
    """Say what the method assumes."""
    alike = (
        "That linked nodes answer, rate or behave alike: the method looks for a network on which the signals vary "
        "little from neighbour to neighbour."
    )
    if not hasattr(model, "benefit_"):
        return f"{alike} {type(model).__name__} adds no assumption about what the network does for its people."
    benefit = (
        "equal for all, so that it changes nothing"
        if np.ptp(model.benefit_) <= 1e-12 * model.benefit_.max()
        else "larger for nodes that are unlike the rest (the “spectral” rule)"
        if isinstance(model.benefit, str)
        else "the one given by hand"
    )
    return (
        f"{alike} And that people build networks that are good for them: of two networks that fit the signals about "
        "as well, the one on which everyone together achieves more is preferred. How much this second point counts "
        f"is λ, here {number(float(model.lam_))}; at λ = 0 it would not count at all. It works only through who has "
        f"the larger benefit, and here the benefit is {benefit}. If that is not your view of the people in this "
        "table, do not lean on the hubs."
    )


def limits_text(attention: float | None) -> str:
    """Say what is not shown."""
    few = (
        " Attention is limited, and how many neighbours share it is a setting, not a finding."
        if attention is not None
        else " How many lines there are follows from a setting, not from the data alone."
    )
    return (
        "No causes. Two nodes may be alike because one influences the other, because like seeks like, or because "
        "something outside the table moves both. The lines were inferred, and nobody was seen talking to anybody. A "
        f"missing line is no proof that there is no tie.{few} Nor do the arrows come from time: they say who would "
        "listen to whom if the assumptions hold."
    )


def certainty_text(scores: Mapping[str, float]) -> str:
    """Say how sure one may be, and what an AUC means where there is one."""
    area = next((score for name, score in scores.items() if name.upper() == "AUC"), np.nan)
    known = (
        f" Here the true network is known: put a pair that is tied beside one that is not, and the tied one has the "
        f"larger weight in {percent(area)} of cases (the AUC, even weights counting half; guessing gives 50 %)."
        if np.isfinite(area)
        else ""
    )
    return (
        "The certificate below says that the calculation is finished; it cannot say that the network is true. Trust "
        "most what stays when something else changes: a hub that is there for other settings, for half of the "
        "signals, and for another method. Trust single faint lines least." + known
    )


def next_text(model: Any, has_path: bool) -> str:
    """Say what to try next."""
    strengths = (
        "Move the λ slider and watch which hubs stay."
        if has_path
        else "Fit a path of λ and watch which hubs stay."
        if hasattr(model, "result_")
        else "Fit GLGP as well and see which hubs both find."
    )
    return (
        f"{strengths} Compare with SmoothGL, which has no game. Learn from a random half of the signals and then from "
        "the other. Hold the hubs against what is known: who leads, who was asked, who joined first. If you know who "
        "has most to gain, pass it as the benefit."
    )
