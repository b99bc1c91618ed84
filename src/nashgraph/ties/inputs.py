"""What the model of counts takes besides counts: likeness of signals, names, and other groups whose ties are known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from ..graph import as_graph
from ..tie_survey import TieSurvey
from ..validation import Array, InputError, listing, warn
from .arrays import TieArrays, tie_arrays
from .mixing import Respondents


class Known(NamedTuple):
    """Pairs whose tie is known, each once with the smaller number first, and the nodes all of whose ties are known."""

    one: Array
    other: Array
    value: Array
    complete: Array

    def ties(self) -> tuple[Array, Array]:
        """Return the ends of the known ties, in both directions."""
        one = self.one[self.value > 0]
        other = self.other[self.value > 0]
        return np.concatenate([one, other]), np.concatenate([other, one])


def likeness_of(signals: Array, components: int = 24) -> Array:
    """Return standardised signals as coordinates whose inner products are likeness.

    Nodes are brought to the same length: strong signals would look like popularity. The first ``components`` singular
    directions are kept, which have nearly all that survey answers say.
    """
    if not signals.shape[1]:
        return signals
    left, size, _ = np.linalg.svd(signals / signals.shape[1] ** 0.25, full_matrices=False)
    likeness = (left * size)[:, :components]
    length = np.linalg.norm(likeness, axis=1, keepdims=True)
    return likeness / np.maximum(length, 1e-9) * np.sqrt(np.mean(length**2))


def nearness_of(places: Array, ranges: tuple[float, ...] = (4.0, 16.0), components: int = 40, seed: int = 0) -> Array:
    """Return places as coordinates whose inner products are nearness, with a spread of 1 over pairs.

    Nearness is a sum of exp(−distance / range), the ranges in units of the distance to the nearest two others. Ranges
    of 4 and 16 and 40 components were as good as any (6 villages up to 37). Unknown places are near nobody. Beyond
    1,000 people the components come from a sample of so many (Nyström).
    """
    known = np.flatnonzero(np.isfinite(places).all(axis=1)) if places.size else np.zeros(0, dtype=np.int64)
    coordinates = np.zeros((len(places), 0))
    if len(known) < 3:
        return coordinates
    points = places[known]
    sample = np.random.default_rng(seed).permutation(len(known))[:1000]
    gaps = np.sqrt(((points[:, None, :] - points[None, sample, :]) ** 2).sum(axis=2))
    nearest = np.sort(gaps, axis=0)[1:3]
    unit = max(float(np.median(nearest.mean(axis=0))), 1e-12)
    kernel = np.zeros(gaps.shape)
    for scale in ranges:
        kernel += np.exp(-gaps / (unit * scale))
    size, vectors = np.linalg.eigh(kernel[sample])
    first = np.argsort(-size)[:components]
    first = first[size[first] > 1e-9 * size.max()]
    factors = kernel @ (vectors[:, first] / np.sqrt(size[first]))
    factors -= factors.mean(axis=0)
    likeness = factors[sample] @ factors[sample].T
    spread = float(likeness[np.triu_indices(len(sample), 1)].std())
    coordinates = np.zeros((len(places), len(first)))
    coordinates[known] = factors / np.sqrt(max(spread, 1e-12))
    return coordinates


def read_groups(networks: Iterable[Any] | None, here: TieArrays) -> list[Respondents]:
    """Return other groups, all of whose ties are known, as respondents who told everything."""
    groups = []
    with_likeness = here.signals.shape[1] > 0
    for k, group in enumerate(networks or ()):
        if not isinstance(group, tuple | list) or len(group) not in (2, 3):
            raise InputError(f"networks[{k}] must be (network, traits) or (network, traits, X)", parameter="networks")
        graph = as_graph(group[0])
        ties = ((graph.weights + graph.weights.T) > 0).astype(float)
        traits = group[1]
        if isinstance(traits, pd.DataFrame):
            traits = traits.set_axis([str(column) for column in traits.columns], axis=1)
            if lacking := [name for name in here.trait_names if name not in traits]:
                raise InputError(
                    f"networks[{k}]: its traits lack {listing(lacking)}, which traits has: give the same columns",
                    parameter="networks",
                )
            traits = traits[here.trait_names]
        X = group[2] if len(group) == 3 and with_likeness else None
        there = tie_arrays(TieSurvey.of(graph.names, traits=traits), X)
        likeness = likeness_of(there.signals)
        if with_likeness and not likeness.shape[1]:
            raise InputError(
                f"networks[{k}] has no X: likeness can be learned only where every group has it", parameter="networks"
            )
        told_likeness = None
        if with_likeness:
            told_likeness = np.asarray(ties.multiply(likeness @ likeness.T).sum(axis=1)).ravel()
        Z = there.features
        shift = float(np.log((here.n - 1) / max(1, len(Z) - 1)))
        groups.append(Respondents(Z, np.arange(len(Z)), ties @ Z, likeness, told_likeness, shift))
    return groups


def with_known_ties(arrays: TieArrays) -> Array:
    """Return the answers, those of complete nodes from their known ties, and warn if they told otherwise."""
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


class Nominations(NamedTuple):
    """The names that people gave: 1 in ``named`` (CSR) where the row named the column, and who was asked for names.

    ``recall`` is the share of their ties that people name, 0 for those not asked.
    """

    named: Any
    asked: Array
    recall: Array

    def ties(self) -> tuple[Array, Array]:
        """Return the ends of the pairs of which at least one named the other, the smaller number first."""
        either = sparse.coo_array(sparse.triu(self.named + self.named.T, 1))
        return either.coords[0].astype(np.int64), either.coords[1].astype(np.int64)

    def counts(self, features: Array) -> tuple[Array, Array]:
        """Return estimates of Σ_j A_ij Z_j for everybody, and their error variances (Horvitz and Thompson).

        A tie is seen with probability 1 − (1 − recall_i)(1 − recall_j), and stands for one over that many.
        """
        one, other = self.ties()
        seen = 1.0 - (1.0 - self.recall[one]) * (1.0 - self.recall[other])
        n = len(features)
        both = (np.concatenate([one, other]), np.concatenate([other, one]))
        weight = sparse.csr_array((np.tile(1.0 / seen, 2), both), shape=(n, n))
        spread = sparse.csr_array((np.tile((1.0 - seen) / seen**2, 2), both), shape=(n, n))
        return weight @ features, spread @ features**2


def nominations_of(arrays: TieArrays, recall: float | None) -> Nominations | None:
    """Return the names that people gave, whatever the relation and wave; None if nobody was asked for names.

    A list as long as there was room for was full: those not on it may still be tied. Recall is how often a named person
    names back, for full lists and others apart.
    """
    n = arrays.n
    asked: Array = np.asarray(arrays.asked.any(axis=(1, 2)))
    if not asked.any():
        return None
    inside = arrays.target >= 0
    other_end = np.where(arrays.respondent == arrays.source, arrays.target, arrays.source)
    ends = (arrays.respondent[inside], other_end[inside])
    named = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(n, n))
    named.data[:] = 1.0  # in several relations or waves
    length = np.bincount(arrays.respondent, minlength=n)  # with people outside the table: they take up room too
    most = arrays.room.max(initial=-1)
    full = asked & (length >= (most if most > 0 else n))
    rows, columns = sparse.coo_array(named).coords
    back = np.zeros(n)
    for group in (full, asked & ~full):
        # How many of those named by somebody asked, and able to name back, did so? If fewer than ten, assume 0.7.
        could = group[columns] & asked[rows]
        did = np.asarray(named[columns[could], rows[could]]).ravel() if could.any() else np.zeros(0)
        share = float(did.mean()) if could.sum() >= 10 else 0.7
        back[group] = np.clip(share if recall is None else recall, 0.05, 0.98)  # an unnamed tie stays possible
    return Nominations(named, asked, back)


def with_names(known: Known, named: Nominations, n: int) -> Known:
    """Return the known pairs and the named ones; known pairs stay as they are where names contradict them."""
    before = known.one * n + known.other
    one, other = named.ties()
    said = one * n + other
    wrong = np.intersect1d(before[known.value == 0], said)
    if wrong.size:
        warn(f"{wrong.size} pair(s) were named that are known not to be tied: they count as not tied")
        said = np.setdiff1d(said, wrong)
    keys = np.union1d(before, said)
    tied = np.isin(keys, said) | np.isin(keys, before[known.value > 0])
    return Known(keys // n, keys % n, tied.astype(float), known.complete)
