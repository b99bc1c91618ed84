"""Match the nodes of two objects by label.

If both have labels and the sets are equal, nodes are matched by label, also if the labels are numbers. If the sets
differ, that is an error. Nodes are matched by position only if one side has no labels: a matrix, or something whose
nodes are numbered 0, 1, 2, ... in order while the other side has names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import lazy_loader
import numpy as np
import pandas as pd

from .validation import Array, InputError, listing, warn

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # it takes a tenth of a second, and learning does without


def names_of(thing: Any) -> list[str] | None:
    """Return the labels of a graph, a fitted model, a table or a Series as text; None for a matrix.

    Examples
    --------
    >>> names_of(nx.path_graph(3)), names_of(np.eye(3)) is None
    (['0', '1', '2'], True)
    """
    if isinstance(thing, nx.Graph):
        return as_names(thing)
    if isinstance(thing, pd.Series):
        return as_names(thing.index)
    if isinstance(thing, pd.DataFrame):
        return as_names(thing.columns)
    learned = getattr(thing, "graph_", thing)
    return as_names(learned.names) if hasattr(learned, "names") else None


def as_names(labels: Iterable[Any]) -> list[str]:
    """Return labels as text; a whole number has one spelling, whether it is stored as 5 or as 5.0."""
    return [name_text(label) for label in labels]


def is_numbered(names: list[str]) -> bool:
    """Tell whether labels are 0, 1, 2, ... in order, which is how arrays and tables number what has no names."""
    return names == [str(place) for place in range(len(names))]


def order_of(names: list[str] | None, others: list[str] | None, ours: str, theirs: str) -> Array | None:
    """Return the position of each of our nodes among others, by label; None if positions decide.

    ``ours`` and ``theirs`` name the two sides in messages.

    Examples
    --------
    >>> order_of(["0", "1", "2"], ["2", "0", "1"], "truth", "score")
    array([1, 2, 0])
    """
    if names is None or others is None:
        return None
    check_unique(names, ours)
    check_unique(others, theirs)
    places = {name: place for place, name in enumerate(others)}
    absent = [name for name in names if name not in places]
    extra = sorted({*others} - {*names})
    if not absent and not extra:
        return np.array([places[name] for name in names], dtype=np.int64)
    # Numbers that share no label with the names are only positions; numbers that share some are labels with a mistake.
    share_nothing = len(absent) == len(names)
    if share_nothing and (is_numbered(names) or is_numbered(others)):
        numbered, named = (ours, theirs) if is_numbered(names) else (theirs, ours)
        warn(
            f"{numbered} numbers the nodes 0, 1, 2, ... and {named} has names for them: both are taken in one order; "
            f"give {numbered} the same names to have nodes matched by name"
        )
        return None
    lacks = [f"{theirs} lacks {listing(absent)}"] if absent else []
    lacks += [f"{ours} lacks {listing(extra)}"] if extra else []
    raise InputError(
        f"{theirs} and {ours} do not name the same nodes: {', '.join(lacks)}; name them alike, leave out those that "
        "only one has, or pass an array in the order of the nodes",
        parameter=theirs,
    )


def check_unique(names: list[str], owner: str) -> None:
    """Refuse a label that two nodes share."""
    unique, counts = np.unique(np.array(names, dtype=object), return_counts=True)
    doubled = unique[counts > 1]
    if doubled.size:
        raise InputError(
            f"{owner} names nodes more than once: {listing(doubled)}; every node needs one entry", parameter=owner
        )


def in_order(name: str, value: Any, nodes: Iterable[Any], owner: str = "X") -> Any:
    """Return a Series, or a table with nodes on both sides, as an array in the order of the nodes; arrays as they are.

    Examples
    --------
    >>> in_order("benefit", pd.Series({"bob": 2.0, "ann": 1.0}), ["ann", "bob"])
    array([1., 2.])
    """
    if not isinstance(value, pd.Series | pd.DataFrame):
        return value
    order = order_of(as_names(nodes), names_of(value), owner, name)
    if isinstance(value, pd.DataFrame):
        value = square(name, value)
    array = value.to_numpy()
    if order is None:
        return array
    return array[order] if array.ndim == 1 else array[np.ix_(order, order)]


def node_values(values: Any) -> Any:
    """Return numbers by node: a Series keeps its labels, until the nodes are known; anything else is an array."""
    if isinstance(values, pd.Series):
        return values.astype(float)
    return np.asarray(values, dtype=float)


def has_labels(value: Any) -> bool:
    """Tell whether a value, or a field of a dataclass such as a prior, is a Series or a table."""
    if isinstance(value, tuple):
        return any(has_labels(part) for part in value)
    if not is_dataclass(value) or isinstance(value, type):
        return isinstance(value, pd.Series | pd.DataFrame)
    return any(has_labels(getattr(value, part.name)) for part in fields(value) if part.init)


def fields_in_order(name: str, value: Any, nodes: Iterable[Any], owner: str = "X") -> Any:
    """Return a Series or table as :func:`in_order` does; in a dataclass, such as a prior, do so for all its fields."""
    if isinstance(value, tuple):
        parts = tuple(fields_in_order(name, part, nodes, owner) for part in value)
        changed = any(after is not before for after, before in zip(parts, value, strict=True))
        return parts if changed else value
    if not is_dataclass(value) or isinstance(value, type):
        return in_order(name, value, nodes, owner)
    changes = {}
    for part in fields(value):
        if part.init:
            before = getattr(value, part.name)
            after = fields_in_order(part.name, before, nodes, owner)
            if after is not before:
                changes[part.name] = after
    return replace(value, **changes) if changes else value


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
