"""Other inputs than answers: known pairs, names, signals for likeness, and other groups whose ties are all known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse

from ..graph import as_graph
from ..validation import Array, InputError, InputTypeError, listing
from .answers import Answers, read_answers
from .mixing import Respondents

LIKENESS_COLUMNS = 24  # components kept of the signals
FORMS = (
    "give a table with the columns source, target (* says that all ties of the source are known) and, where there are "
    "non-ties, tie (1 or 0); a list of such rows; a networkx graph; or a dict with the lists 'ties', 'non_ties' and "
    "'nodes' (those whose ties are all known)"
)


class Known(NamedTuple):
    """Pairs whose tie is known, each once with the smaller number first, and the nodes all of whose ties are known."""

    one: Array
    other: Array
    value: Array
    complete: Array

    def ties(self) -> tuple[Array, Array]:
        """Return the ends of the known ties, in both directions."""
        one, other = self.one[self.value > 0], self.other[self.value > 0]
        return np.concatenate([one, other]), np.concatenate([other, one])


def read_known(known: Any, names: Array) -> Known:
    """Return the known pairs, without direction and matched by the text of names, or say what is wrong with them."""
    pairs, whole = ([], []) if known is None else read_claims(known)
    places, n = {str(name): k for k, name in enumerate(names.tolist())}, len(names)
    nodes = [str(node) for node in whole]
    named = [str(node) for one, other, _ in pairs for node in (one, other)] + nodes
    if strangers := [node for node in dict.fromkeys(named) if node not in places]:
        raise InputError(
            f"known names {len(strangers)} node(s) that X does not have: {listing(strangers)}; the nodes are "
            f"{listing(places)}: leave the strangers out, or write them as X does"
        )
    ends = np.array([(places[str(one)], places[str(other)]) for one, other, _ in pairs], np.int64).reshape(-1, 2)
    if (loops := ends[ends[:, 0] == ends[:, 1], 0]).size:
        raise InputError(f"known has a tie of {names[loops[0]]} with itself: leave it out")
    keys, tied = ends.min(axis=1) * n + ends.max(axis=1), np.array([tie for *_, tie in pairs], dtype=bool)
    if (both := np.intersect1d(keys[tied], keys[~tied])).size:
        shown = listing(f"{names[key // n]} - {names[key % n]}" for key in both)
        raise InputError(
            f"known says of {both.size} pair(s) that they are tied and that they are not: {shown}; keep one of the two"
        )
    asked = np.unique([places[node] for node in nodes]).astype(np.int64)
    if len(asked) * n > 50_000_000:
        raise InputError(
            f"known has all ties of {len(asked):,} of {n:,} nodes, too many pairs to list: leave some out, or pass "
            "n_ties and counts"
        )
    one, other = np.repeat(asked, n), np.tile(np.arange(n), len(asked))
    rest = (np.minimum(one, other) * n + np.maximum(one, other))[one != other]
    every = np.union1d(keys, rest)
    seen = np.bincount(np.concatenate([every // n, every % n]), minlength=n)
    return Known(every // n, every % n, np.isin(every, keys[tied]).astype(float), np.flatnonzero(seen == n - 1))


def read_claims(given: Any) -> tuple[list[tuple[Any, Any, bool]], list[Any]]:
    """Return known pairs by name, each with whether it is tied, and the nodes whose ties are all known."""
    if isinstance(given, nx.Graph):
        return [(*pair, True) for pair in given.edges()], [node for node, whole in given.nodes(data="known") if whole]
    if isinstance(given, Mapping):
        if unknown := {*map(str, given)} - {"ties", "non_ties", "nodes"}:
            raise InputError(f"known has parts that are not known: {listing(sorted(unknown))}; {FORMS}")
        parts = (("ties", True), ("non_ties", False))
        pairs = [(*checked_row(row)[:2], tie) for part, tie in parts for row in given.get(part, ())]
        return pairs, list(given.get("nodes", ()))
    if isinstance(given, pd.DataFrame):
        table = given.rename(
            columns=lambda name: {"from": "source", "to": "target"}.get(str(name).lower(), str(name).lower())
        )
        if not {"source", "target"} <= {*table.columns}:
            raise InputError(f"known has the columns {listing(given.columns)}, but it needs source and target; {FORMS}")
        wanted = [name for name in ("source", "target", "tie") if name in table.columns]
        given = zip(*(table[name].tolist() for name in wanted), strict=True)
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise InputTypeError(f"known cannot be a {type(given).__name__}: {FORMS}")
    rows = [checked_row(row) for row in given]
    return [row for row in rows if str(row[1]) != "*"], [row[0] for row in rows if str(row[1]) == "*"]


def checked_row(row: Any) -> tuple[Any, Any, bool]:
    """Return two nodes and whether they are tied."""
    if isinstance(row, str) or not isinstance(row, Iterable) or len(parts := tuple(row)) not in (2, 3):
        raise InputError(
            f"known has {row!r}, which is not a pair of nodes, with 1 or 0 for its tie or without; {FORMS}"
        )
    tie = str(parts[2]).strip().lower() if len(parts) == 3 and str(parts[1]) != "*" else "1"
    value = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}.get(tie)
    if value is None:
        raise InputError(f"known has the tie {parts[2]!r} for {parts[0]} and {parts[1]}: it must be 1 or 0")
    return parts[0], parts[1], value


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
            traits = traits.set_axis([str(column) for column in traits.columns], axis=1)
            if lacking := [name for name in told.labels[1:] if name not in traits]:
                raise InputError(
                    f"networks[{k}]: its traits lack {listing(lacking)}, which traits has: give the same columns"
                )
            traits = traits[told.labels[1:]]
        Z = read_answers(graph.names, traits, None, None).features
        likeness = read_likeness(given[2] if len(given) == 3 and with_likeness else None, graph.names)
        if with_likeness and not likeness.shape[1]:
            raise InputError(f"networks[{k}] has no X: likeness can be learned only where every group has it")
        told_likeness = None
        if with_likeness:
            told_likeness = np.asarray(ties.multiply(likeness @ likeness.T).sum(axis=1)).ravel()
        shift = float(np.log((len(told.names) - 1) / max(1, len(Z) - 1)))
        groups.append(Respondents(Z, np.arange(len(Z)), ties @ Z, likeness, told_likeness, shift))
    return groups


def with_known(told: Answers, known: Known) -> Answers:
    """Return the answers with the counts of complete nodes, or say where answers contradict known ties."""
    n, Z = len(told.names), told.features
    ends = known.ties()
    seen = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(n, n)) @ Z
    whole = np.isin(np.arange(n), known.complete)[:, None]
    wrong = whole & (told.counts != seen) & ~np.isnan(told.counts) & ~told.at_least
    if wrong.any():
        i, k = np.argwhere(wrong)[0]
        raise InputError(
            f"all ties of {told.names[i]} are known, {seen[i, k]:g} {told.labels[k]}, but the answer was "
            f"{told.counts[i, k]:g}: correct one of the two"
        )
    return told._replace(counts=np.where(whole, seen, told.counts))


def with_names(known: Known, named: Nominations, names: Array) -> Known:
    """Return the known pairs and the named ones, or say where names contradict known pairs."""
    n = len(names)
    before, said = known.one * n + known.other, named.ties()[0] * n + named.ties()[1]
    if (wrong := np.intersect1d(before[known.value == 0], said)).size:
        shown = listing(f"{names[key // n]} - {names[key % n]}" for key in wrong)
        raise InputError(
            f"nominations has {wrong.size} pair(s) that known says are not tied: {shown}; correct one of the two"
        )
    keys = np.union1d(before, said)
    tied = np.isin(keys, said) | np.isin(keys, before[known.value > 0])
    return Known(keys // n, keys % n, tied.astype(float), known.complete)


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


def read_nominations(given: Any, names: Array, most: int | None, recall: float | None) -> Nominations:
    """Return the names that people gave, or say what is wrong; a name that is None is of somebody who is not a node.

    A list as long as ``most`` was full: those not on it may still be tied. Recall is how often a named person names
    back, for full lists and others apart.
    """
    places = {str(name): k for k, name in enumerate(names.tolist())}
    lists = {_text(source): [_text(name) for name in named if name is not None] for source, named in _lists(given)}
    outside = {_text(source): sum(name is None for name in named) for source, named in _lists(given)}
    strangers = [name for source, named in lists.items() for name in (source, *named) if name not in places]
    if strangers:
        unique = list(dict.fromkeys(strangers))
        raise InputError(
            f"nominations has {len(unique)} name(s) that are not nodes: {listing(unique)}; correct the spelling, or "
            "leave out names of people outside the table"
        )
    if alone := [source for source, named in lists.items() if source in named]:
        raise InputError(f"nominations: {listing(alone)} named themselves; leave these names out")
    if most is not None and (
        longer := [source for source, named in lists.items() if len({*named}) + outside[source] > most]
    ):
        raise InputError(
            f"nominations: {listing(longer)} gave more than max_names={most} names; correct one of the two"
        )
    n = len(names)
    ends = [(places[source], places[name]) for source, named in lists.items() for name in dict.fromkeys(named)]
    rows, columns = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    named = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    asked = np.isin(np.arange(n), [places[source] for source in lists])
    length = np.diff(named.indptr)  # with those who are not nodes: they take up room too
    for source, count in outside.items():
        length[places[source]] += count
    full = asked & (length >= (most or n))
    back = np.zeros(n)
    for group in (full, asked & ~full):
        # How many of those named by somebody asked, and able to name back, did so? If fewer than ten, assume 0.7.
        could = group[columns] & asked[rows]
        did = np.asarray(named[columns[could], rows[could]]).ravel() if could.any() else np.zeros(0)
        found = float(did.mean()) if could.sum() >= 10 else 0.7
        back[group] = np.clip(found if recall is None else recall, 0.05, 0.98)  # an unnamed tie stays possible
    return Nominations(named, asked, back)


def _text(name: Any) -> str:
    """Return a name as text; a column of numbers with gaps has 7.0 for 7."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _lists(given: Any) -> Iterator[tuple[Any, list[Any]]]:
    if isinstance(given, pd.DataFrame) and {"source", "target"} <= {str(name).lower() for name in given.columns}:
        table = given.rename(columns=lambda name: str(name).lower())
        for source, rows in table.groupby("source", sort=False):
            yield source, rows["target"].dropna().tolist()
    elif isinstance(given, pd.DataFrame):
        for source, row in zip(given.index, given.to_numpy(dtype=object), strict=True):
            yield source, [name for name in row if not pd.isna(name) and str(name).strip()]
    elif isinstance(given, Mapping | pd.Series):
        for who, named in given.items():
            if isinstance(named, str) or not isinstance(named, Iterable):
                raise InputTypeError(f"nominations of {who} must be a list of names, got {named!r}")
            yield who, list(named)
    else:
        raise InputTypeError(
            f"nominations cannot be a {type(given).__name__}: give a table with the columns source and target, a table "
            "with a row for every node asked and its names in the cells, or a dict from node to a list of names"
        )
