"""Match nodes by name if both objects have names; a matrix has none, and 0, 1, 2, ... do not count as names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from .validation import Array, InputError, listing


def names_of(thing: Any) -> list[str] | None:
    """Return the names by which a graph, a fitted model, a table or a Series knows its nodes; None without."""
    if isinstance(thing, nx.Graph):
        return as_names(thing)
    if isinstance(thing, pd.Series):
        return as_names(thing.index)
    if isinstance(thing, pd.DataFrame):
        return as_names(thing.columns)
    found = getattr(thing, "graph_", thing)
    return as_names(found.names) if hasattr(found, "names") else None


def as_names(given: Iterable[Any]) -> list[str] | None:
    """Return names as text; None where they are only numbers from 0 upward in their order."""
    names = [str(name) for name in given]
    return None if names == [str(k) for k in range(len(names))] else names


def order_of(names: list[str] | None, others: list[str] | None, ours: str, theirs: str) -> Array | None:
    """Return where our nodes stand among others, by name; None where either side has no names and places decide.

    ``ours`` and ``theirs`` say in messages whose the names are.
    """
    if names is None or others is None:
        return None
    places = {name: k for k, name in enumerate(others)}
    if len(places) < len(others):
        doubled = listing(sorted({name for name in others if others.count(name) > 1}))
        raise InputError(f"{theirs} names nodes more than once: {doubled}; every node needs one entry")
    lacks = {theirs: [name for name in names if name not in places], ours: sorted({*others} - {*names})}
    if any(lacks.values()):
        said = ", ".join(f"{who} lacks {listing(missing)}" for who, missing in lacks.items() if missing)
        raise InputError(
            f"{theirs} and {ours} do not name the same nodes: {said}; name them alike, leave out those that only one "
            "has, or pass an array in the order of the nodes"
        )
    return np.array([places[name] for name in names])


def in_order(name: str, value: Any, nodes: Iterable[Any]) -> Any:
    """Return a Series, or a table with nodes on both sides, as an array in the order of the nodes of X."""
    order = order_of(as_names(nodes), names_of(value), "X", name)
    if isinstance(value, pd.DataFrame):
        value = square(name, value)
    array = value.to_numpy()
    if order is None:
        return array
    return array[order] if array.ndim == 1 else array[np.ix_(order, order)]


def square(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with nodes on both sides, its rows in the order of its columns."""
    order = order_of(as_names(table.columns), as_names(table.index), f"{name}'s columns", f"{name}'s rows")
    return table if order is None else table.iloc[order]


def name_text(name: object) -> str:
    """Return a name as text; a whole number loses its point, because a column with gaps turns 5 into 5.0.

    Examples
    --------
    >>> name_text(5.0), name_text("5.0"), name_text("ann")
    ('5', '5.0', 'ann')
    """
    if isinstance(name, float | np.floating) and float(name).is_integer():
        return str(int(name))
    return str(name)


class NameIndex:
    """Who a label means among the names of people.

    A label means the name with the same text. If there is none, blanks around it do not count, and "5.0" means 5,
    unless that could mean two people.

    Examples
    --------
    >>> people = NameIndex(["ann", 7])
    >>> people.places(["7", " ann ", 7.0, "7.0", "bob"])
    array([ 1,  0,  1,  1, -1])
    """

    def __init__(self, names: Iterable[object]) -> None:
        self.texts = [name_text(name) for name in names]
        self.exact = {text: k for k, text in enumerate(self.texts)}
        if len(self.exact) < len(self.texts):
            doubled = sorted({text for text in self.texts if self.texts.count(text) > 1})
            raise InputError(f"people are named more than once: {listing(doubled)}; give every person one name")
        self.loose: dict[str, int] = {}
        for text, place in self.exact.items():
            plain = _plain(text)
            self.loose[plain] = -1 if plain in self.loose else place

    def place(self, label: object) -> int:
        """Return the number of the person whom a label means, or -1."""
        text = name_text(label)
        if text in self.exact:
            return self.exact[text]
        return self.loose.get(_plain(text), -1)

    def places(self, labels: Iterable[object]) -> Array:
        """Return the number of each person whom the labels mean, -1 for nobody."""
        return np.array([self.place(label) for label in labels], dtype=np.int64)


def _plain(text: str) -> str:
    text = text.strip()
    digits, point, zeros = text.partition(".")
    whole = bool(point) and digits.isdecimal() and set(zeros) == {"0"}
    return digits if whole else text
