"""Names that people gave ("who are your five closest friends?"), as known ties and counts with their errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from ..validation import Array, InputError, InputTypeError, listing


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
    """Return the names that people gave, or say what is wrong.

    ``given`` is a table with the columns source and target, a table with a row for every node asked and a name in
    each cell, or a dict from node to a list of names, with None for somebody who is not a node. A list as long as
    ``most`` was full: those not on it may still be tied. Recall is how often a named person names back, for full lists
    and others apart.
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
    asked = np.zeros(n, dtype=bool)
    asked[[places[source] for source in lists]] = True
    length = np.diff(named.indptr)  # with those who are not nodes: they take up room too
    length[[places[source] for source in lists]] += list(outside.values())
    full = asked & (length >= (most or n))
    back = np.zeros(n)
    for group in (full, asked & ~full):
        # Of those who were named by somebody asked and could name back, how many did? 0.7 is assumed of fewer than ten.
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
