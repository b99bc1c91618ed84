"""Other inputs than answers: known pairs, signals for similarity, and other groups whose ties are all known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from ..graph import as_graph
from ..validation import Array, InputError, listing
from .answers import Answers, read_answers
from .mixing import Respondents
from .names import Nominations

LIKENESS_COLUMNS = 24  # components kept of the signals


class Known(NamedTuple):
    """Pairs whose tie is known, each once with the smaller number first, and the nodes all of whose ties are known."""

    one: Array
    other: Array
    value: Array
    complete: Array


def read_likeness(X: Any, names: Array) -> Array:
    """Return signals as coordinates whose inner products are likeness.

    Signals are standardised, and nodes brought to the same length: strong signals would look like popularity.
    """
    if X is None:
        return np.zeros((len(names), 0))
    table = X.T if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X, dtype=float).T)
    if len(table) != len(names):
        raise InputError(
            f"X has {len(table)} nodes (columns) and traits has {len(names)}: give both for the same nodes"
        )
    if isinstance(X, pd.DataFrame):
        place = {str(name): k for k, name in enumerate(table.index)}
        if missing := [name for name in names if str(name) not in place]:
            raise InputError(f"X has no column for {listing(missing)}: name its columns like the rows of traits")
        table = table.iloc[[place[str(name)] for name in names]]
    values = table.to_numpy(dtype=float)
    values = values - np.nanmean(values, axis=0)
    deviation = np.nanstd(values, axis=0)
    values = np.nan_to_num(values[:, deviation > 0] / deviation[deviation > 0])
    if not values.shape[1]:
        raise InputError("X is the same for every node in every signal, so it says nothing of likeness: leave it out")
    left, size, _ = np.linalg.svd(values / values.shape[1] ** 0.25, full_matrices=False)
    likeness = (left * size)[:, :LIKENESS_COLUMNS]
    length = np.linalg.norm(likeness, axis=1, keepdims=True)
    return likeness / np.maximum(length, 1e-9) * np.sqrt(np.mean(length**2))


def read_groups(networks: Iterable[Any] | None, told: Answers, with_likeness: bool) -> list[Respondents]:
    """Return other groups, all of whose ties are known, as respondents who told everything."""
    groups = []
    for k, given in enumerate(networks or ()):
        if not isinstance(given, tuple | list) or len(given) not in (2, 3):
            raise InputError(f"networks[{k}] must be (network, traits) or (network, traits, X)")
        graph = as_graph(given[0])
        ties = ((graph.weights + graph.weights.T) > 0).astype(float)
        traits = given[1]
        if isinstance(traits, pd.DataFrame):
            if lacking := [name for name in told.labels[1:] if name not in [str(column) for column in traits.columns]]:
                raise InputError(
                    f"networks[{k}]: its traits lack {listing(lacking)}, which traits has: give the same columns"
                )
            traits = traits.set_axis([str(column) for column in traits.columns], axis=1)[told.labels[1:]]
        there = read_answers(graph.names, traits, None, None)
        Z = there.features
        likeness = read_likeness(given[2] if len(given) == 3 and with_likeness else None, graph.names)
        if with_likeness and not likeness.shape[1]:
            raise InputError(f"networks[{k}] has no X: likeness can be learned only where every group has it")
        told_likeness = (
            np.asarray((ties.multiply(likeness @ likeness.T)).sum(axis=1)).ravel() if with_likeness else None
        )
        shift = float(np.log((len(told.names) - 1) / max(1, len(Z) - 1)))
        groups.append(Respondents(Z, np.arange(len(Z)), ties @ Z, likeness, told_likeness, shift))
    return groups


def with_known(told: Answers, known: Known) -> Answers:
    """Return the answers with the counts of complete nodes, or say where answers contradict known ties."""
    n, Z = len(told.names), told.features
    tied = known.value > 0
    ends = (np.concatenate([known.one[tied], known.other[tied]]), np.concatenate([known.other[tied], known.one[tied]]))
    seen = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(n, n)) @ Z
    whole = np.zeros((n, 1), dtype=bool)
    whole[known.complete] = True
    wrong = whole & (told.counts != seen) & ~np.isnan(told.counts) & ~told.at_least
    if wrong.any():
        i, k = np.argwhere(wrong)[0]
        raise InputError(
            f"{told.names[i]} is complete with {seen[i, k]:g} known {told.labels[k]} but answered "
            f"{told.counts[i, k]:g}: correct one of the two, or leave the node out of complete"
        )
    return told._replace(counts=np.where(whole, seen, told.counts))


def with_names(known: Known, named: Nominations, names: Array) -> Known:
    """Return the known pairs and the named ones, or say where names contradict known pairs."""
    n = len(names)
    before, said = known.one * n + known.other, named.ties()[0] * n + named.ties()[1]
    if (wrong := np.intersect1d(before[known.value == 0], said)).size:
        shown = listing(f"{names[key // n]} - {names[key % n]}" for key in wrong)
        raise InputError(
            f"nominations has {wrong.size} pair(s) that known says are not tied: {shown}; correct one of the two, or "
            "leave the nodes out of complete"
        )
    keys = np.union1d(before, said)
    tied = np.isin(keys, said) | np.isin(keys, before[known.value > 0])
    return Known(keys // n, keys % n, tied.astype(float), known.complete)
