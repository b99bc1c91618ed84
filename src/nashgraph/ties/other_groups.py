"""Lessons from other groups, all of whose ties are known: prior means and spreads of the weights of covariates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..graph import as_graph
from ..tie_survey import TieSurvey
from ..validation import InputError, listing
from .arrays import TieArrays, tie_arrays
from .fit import TieFit, fit_ties
from .options import TieOptions

FEW = 3  # groups, below which their spread is not measured
ASSUMED_SPREAD = 0.3
SPREADS = (0.1, 1.0)  # least and most, between groups


def read_groups(networks: Iterable[Any] | None, here: TieArrays) -> list[TieArrays]:
    """Return other groups, all of whose ties are known, as surveys."""
    groups = []
    with_signals = here.signals.shape[1] > 0
    for k, group in enumerate(networks or ()):
        if not isinstance(group, tuple | list) or len(group) not in (2, 3):
            raise InputError(f"networks[{k}] must be (network, traits) or (network, traits, X)", parameter="networks")
        graph = as_graph(group[0])
        traits = group[1]
        if isinstance(traits, pd.DataFrame):
            traits = traits.set_axis([str(column) for column in traits.columns], axis=1)
            if lacking := [name for name in here.trait_names if name not in traits]:
                raise InputError(
                    f"networks[{k}]: its traits lack {listing(lacking)}, which traits has: give the same columns",
                    parameter="networks",
                )
            traits = traits[here.trait_names]
        X = group[2] if len(group) == 3 and with_signals else None
        if with_signals and X is None:
            raise InputError(
                f"networks[{k}] has no X: likeness can be learned only where every group has it", parameter="networks"
            )
        names = [str(name) for name in graph.names]
        one, other = (graph.weights + graph.weights.T).nonzero()
        ties = [(names[i], names[j]) for i, j in zip(one, other, strict=True) if i < j]
        if isinstance(traits, pd.DataFrame):
            traits = traits.set_axis([str(name) for name in traits.index], axis=0)
        survey = TieSurvey.of(names, traits=traits, known={"ties": ties, "nodes": names})
        groups.append(tie_arrays(survey, X))
    return groups


def learned_from(groups: Sequence[TieArrays], options: TieOptions, n: int) -> dict[str, tuple[float, float]]:
    """Return the mean and spread over groups of every feature's weight, for a group of ``n`` people.

    People do not have more ties in a larger group, so the level falls with the logarithm of its size.
    """
    weights: dict[str, list[float]] = {}
    for group in groups:
        fit = fit_ties(group, options)
        found = _weights_of(fit)
        found["level"] += float(np.log((group.n - 1) / max(1, n - 1)))
        for name, value in found.items():
            weights.setdefault(name, []).append(value)
    learned = {}
    for name, values in weights.items():
        if len(values) >= FEW:
            spread = float(np.std(values, ddof=1))
        else:
            spread = ASSUMED_SPREAD
        learned[name] = (float(np.mean(values)), float(np.clip(spread, *SPREADS)))
    return learned


def _weights_of(fit: TieFit) -> dict[str, float]:
    """Return the weights of the features of pairs as they are, not standardised."""
    problem = fit.reports.problem
    values = fit.reports.block("tie")
    columns = np.flatnonzero(problem.in_tie)
    weights = {}
    for column, value in zip(columns, values, strict=True):
        weights[problem.terms.names[column]] = float(value / problem.terms.spread[column])
    # Popularity is unknown in a group that nobody was asked in: its ties are those of people of mean popularity.
    popularity = fit.reports.block("tie_person")
    if len(popularity):
        weights["level"] += 2.0 * float(np.log(np.exp(popularity).mean()))
    if len(fit.reports.block("likeness")):
        weights["likeness"] = float(fit.reports.block("likeness")[0])
    return weights
