"""Known ties: what a user knows of the network already, in whatever form, as pairs of nodes with or without a tie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd

from ..validation import Array, InputError, InputTypeError, listing, warn

PARTS = ("ties", "non_ties", "nodes")
ENDS = (("source", "target"), ("from", "to"))
TIE, NO_TIE = "tie", "no tie"
ALL = "*"  # in place of a target: all ties of the source are known
FORMS = (
    "give a table with the columns source, target (* says that all ties of the source are known) and, where there are "
    "non-ties, tie (1 or 0); a list of such rows; a networkx graph; or a dict with the lists 'ties', 'non_ties' and "
    "'nodes' (those whose ties are all known)"
)


@dataclass(frozen=True, eq=False)
class KnownTies:
    """Pairs of nodes of which it is known whether they are tied; ties have no direction.

    Attributes
    ----------
    names : array of shape (n_nodes,), of all nodes
    pairs : array of shape (n_pairs, 2), the numbers of the two nodes, the smaller first, in order
    values : array of shape (n_pairs,), whether they are tied
    whole : array, the numbers of the nodes whose ties are all known

    Examples
    --------
    >>> known = known_ties({"ties": [("ann", "bob")], "nodes": ["ann"]}, ["ann", "bob", "cat", "dan"])
    >>> known.pairs.tolist(), known.values.tolist()
    ([[0, 1], [0, 2], [0, 3]], [True, False, False])
    """

    names: Array
    pairs: Array
    values: Array
    whole: Array

    @property
    def n_ties(self) -> int:
        """How many pairs are known to be tied."""
        return int(self.values.sum())

    @property
    def ties_only(self) -> bool:
        """Whether no pair is known to have no tie."""
        return bool(self.values.all())

    def groups(self) -> Array:
        """Return which known pairs belong together: those of a node whose ties are all known; the others are alone."""
        n = len(self.names)
        whole = np.isin(self.pairs, self.whole)
        first = np.where(whole[:, 0], self.pairs[:, 0], self.pairs[:, 1])
        return np.where(whole.any(axis=1), first, n + np.arange(len(self.pairs)))

    def of(self, pairs: Array) -> Array:
        """Return, for any pairs of nodes, 1 for a tie, 0 for none and -1 where it is not known."""
        n = len(self.names)
        mine = self.pairs[:, 0] * n + self.pairs[:, 1]
        asked = pairs.min(axis=1) * n + pairs.max(axis=1)
        place = np.minimum(np.searchsorted(mine, asked), len(mine) - 1)
        return np.where(mine[place] == asked, self.values[place].astype(int), -1)


class Claims(NamedTuple):
    """What is known, by the names of the nodes."""

    ties: list[Any]
    non_ties: list[Any]
    nodes: list[Any]


def known_ties(given: Any, names: Iterable[Any]) -> KnownTies:
    """Return the known ties meant by a table, a networkx graph, a list of pairs or a dict; or say what is wrong.

    Nodes are those of X, by the text of their names. Ties have no direction, so that (a, b) and
    (b, a) are one pair, and a pair cannot be both a tie and none. Of a networkx graph, all edges are ties, and the
    nodes with a true attribute ``known`` are those whose ties are all known.
    """
    column = np.empty(len(listed := list(names)), dtype=object)
    column[:] = listed
    if isinstance(given, KnownTies):
        given = claims_of(given)
    claims = read_claims(given)
    places = {str(name): k for k, name in enumerate(listed)}
    check_names(claims, places)
    n = len(listed)
    ties, others = (numbered(places, part, n) for part in (claims.ties, claims.non_ties))
    whole = np.unique([places[str(node)] for node in claims.nodes]).astype(int)
    rest = np.array([], dtype=int)
    if whole.size:
        one, other = np.repeat(whole, n), np.tile(np.arange(n), whole.size)
        one, other = one[one != other], other[one != other]
        rest = np.minimum(one, other) * n + np.maximum(one, other)
    if (both := np.intersect1d(ties, others)).size:
        shown = listing(f"{listed[key // n]} - {listed[key % n]}" for key in both)
        raise InputError(
            f"known says of {both.size} pair(s) that they are tied and that they are not: {shown}; a pair "
            "has no direction, so keep one of the two"
        )
    keys = np.union1d(np.union1d(ties, others), rest)
    check_enough(len(ties), len(keys))
    return KnownTies(column, np.stack([keys // n, keys % n], axis=1), np.isin(keys, ties), whole)


def check_enough(n_ties: int, n_pairs: int) -> None:
    """Refuse known ties that nothing can be learned from, and warn where there are no non-ties."""
    if not n_pairs:
        raise InputError(f"known is empty: {FORMS}")
    if not n_ties:
        raise InputError(
            f"known has {n_pairs} pair(s) without a tie and none with one, so there is nothing to tell them from: add "
            "some ties"
        )
    if n_ties == n_pairs:
        warn(
            "known has ties only, and probabilities need pairs without a tie as well: all other pairs are taken for "
            "non-ties, so that ranks mean what they say and probabilities are too low; add pairs with tie 0, or name "
            "the nodes whose ties are all known"
        )


def read_claims(given: Any) -> Claims:
    """Return what is known by names, out of any of the forms."""
    if isinstance(given, nx.Graph):
        return Claims(list(given.edges()), [], [node for node, known in given.nodes(data="known") if known])
    if isinstance(given, Mapping):
        if not {*given} <= {*PARTS}:
            raise InputError(
                f"known has parts that are not known: {listing(sorted(map(str, {*given} - {*PARTS})))}; {FORMS}"
            )
        ties, others = ([checked_row(row)[:2] for row in given.get(part, ())] for part in PARTS[:2])
        return Claims(ties, others, list(given.get("nodes", ())))
    if isinstance(given, pd.DataFrame):
        given = rows_of(given)
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise InputTypeError(f"known cannot be a {type(given).__name__}: {FORMS}")
    claims = Claims([], [], [])
    for row in given:
        source, target, tie = checked_row(row)
        if str(target) == ALL:
            claims.nodes.append(source)
        else:
            (claims.ties if tie else claims.non_ties).append((source, target))
    return claims


def claims_of(known: KnownTies) -> dict[str, list[Any]]:
    """Return known ties by names again."""
    named = known.names[known.pairs]
    return {
        "ties": named[known.values].tolist(),
        "non_ties": named[~known.values].tolist(),
        "nodes": known.names[known.whole].tolist(),
    }


def rows_of(table: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield source, target and, where the table has it, tie."""
    columns = {str(name).lower(): name for name in table.columns}
    ends = next((pair for pair in ENDS if {*pair} <= {*columns}), None)
    if ends is None:
        raise InputError(f"known has the columns {listing(table.columns)}, but it needs source and target; {FORMS}")
    wanted = [columns[name] for name in (*ends, "tie") if name in columns]
    yield from zip(*(table[name].tolist() for name in wanted), strict=True)


def checked_row(row: Any) -> tuple[Any, Any, bool]:
    """Return two nodes and whether they are tied."""
    if isinstance(row, str) or not isinstance(row, Iterable) or len(parts := tuple(row)) not in (2, 3):
        raise InputError(
            f"known has {row!r}, which is not a pair of nodes, with 1 or 0 for its tie or without; {FORMS}"
        )
    tie = str(parts[2]).strip().lower() if len(parts) == 3 and str(parts[1]) != ALL else "1"
    value = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}.get(tie)
    if value is None:
        raise InputError(f"known has the tie {parts[2]!r} for {parts[0]} and {parts[1]}: it must be 1 or 0")
    return parts[0], parts[1], value


def numbered(places: Mapping[Any, int], pairs: list[Any], n_nodes: int) -> Array:
    """Return each pair as one number, in order, without doubles."""
    keys = set()
    for one, other in pairs:
        first, second = sorted((places[str(one)], places[str(other)]))
        if first == second:
            raise InputError(f"known has a tie of {one} with itself: leave it out, nodes have no ties with themselves")
        keys.add(first * n_nodes + second)
    return np.array(sorted(keys), dtype=int)


def check_names(claims: Claims, places: Mapping[str, int]) -> None:
    """Refuse nodes that X does not have."""
    named = [node for pair in (*claims.ties, *claims.non_ties) for node in pair] + claims.nodes
    if strangers := [node for node in dict.fromkeys(map(str, named)) if node not in places]:
        raise InputError(
            f"known names {len(strangers)} node(s) that X does not have: {listing(strangers)}; the nodes are "
            f"{listing(places)}: leave the strangers out, or write them as X does"
        )


def numbered_pairs(pairs: Any, names: Array) -> Array:
    """Return pairs of names as an array of their numbers."""
    claims = Claims([checked_row(row)[:2] for row in pairs], [], [])
    places = {str(name): k for k, name in enumerate(names.tolist())}
    check_names(claims, places)
    return np.array([(places[str(one)], places[str(other)]) for one, other in claims.ties], dtype=int).reshape(-1, 2)
