"""The columns of a user's table in the report: what a node answered, and how much answers differ along ties."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..graph import LearnedGraph
from ..validation import Array, InputError, listing
from .plain import plain, shortened, text
from .prose import number

FEW = 6  # a column of whole numbers with no more values than this is shown as answers, not as a quantity
MANY = 50  # text with more values than this is shown nowhere: it names nodes rather than describes them
CELLS = 600_000  # of all columns together; they are the larger part of a large page
FIGURES = 4
APART, FAR = 0.2, 0.3  # a lead (see Profile) from which a category, a quantity sets a community apart
NAMING = 3  # answers in the name of a community
PROFILED = 10  # columns in the table of communities
# Answers that say nothing without their question.
BARE = re.compile(r"(none|other|yes|no|true|false|unknown|[-\d.,\s]*)", re.IGNORECASE)


class InputColumn(NamedTuple):
    """One column of the table.

    Attributes
    ----------
    name : str
    values : array over the nodes, numbers or places in ``levels``; NaN where nothing was answered
    levels : list of str, the answers there are; None for a quantity
    ordered : bool, whether the levels have an order: whole numbers, or an ordered category of pandas
    alike : float, by how much less tied nodes differ in it than any two: 1 not at all, 0 as much as any
    """

    name: str
    values: Array
    levels: list[str] | None
    ordered: bool
    alike: float

    def to_dict(self, order: Array) -> dict[str, Any]:
        """Return the column as JSON has it, of some nodes in an order."""
        values = self.values[order]
        kept = (
            [None if np.isnan(code) else int(code) for code in values]
            if self.levels
            else plain(values, figures=FIGURES)
        )
        about = {"name": text(self.name), "levels": self.levels, "ordered": self.ordered}
        return {**about, "alike": plain(self.alike, 3), "values": kept}


def input_columns(table: pd.DataFrame, ties: LearnedGraph) -> list[InputColumn]:
    """Return the columns of a table with a row for every node; of very many, those that differ least along ties.

    Examples
    --------
    >>> weights = np.array([[0, 1.0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 1.0], [0, 0, 1.0, 0]])
    >>> table = pd.DataFrame({"age": [31, 33, 60, 62.5], "side": ["n", "n", "s", "s"], "note": list("abcd")})
    >>> found = input_columns(table, LearnedGraph.of(weights))
    >>> [(column.name, column.levels, round(column.alike, 2)) for column in found]
    [('age', None, 0.99), ('side', ['n', 's'], 1.0), ('note', ['a', 'b', 'c', 'd'], 0.0)]
    """
    found = []
    for name in table.columns:
        values, levels, ordered = _coded(table[name])
        if levels is None or 1 < len(levels) <= MANY:
            alike = _alike(values, ties, categorical=levels is not None and not ordered)
            found.append(InputColumn(str(name), values, levels, ordered, alike))
    most = max(1, CELLS // len(table))
    surest = sorted(found, key=lambda column: -np.nan_to_num(column.alike, nan=-1.0))[:most]
    kept = {id(column) for column in surest}
    return [column for column in found if id(column) in kept]


class Profile(NamedTuple):
    """Communities by the answers that set them apart.

    Attributes
    ----------
    names : list of str, a name for each community: its three most unusual answers
    columns : list of str, the columns that tell communities apart most
    leads : array of shape (n_communities, n_columns), from -1 to 1: how much more frequent the community's most unusual
        answer is in it than among all, or how many times two standard deviations its mean is from that of all
    words : list of lists of str, that answer with its share, or the mean
    """

    names: list[str]
    columns: list[str]
    leads: Array
    words: list[list[str]]

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as JSON has it."""
        return {
            "names": self.names,
            "columns": self.columns,
            "leads": self.leads.round(3).tolist(),
            "words": self.words,
        }


def profile_of(columns: Sequence[InputColumn], community: Array, order: Array, names: Array) -> Profile:
    """Return what sets communities apart; ``order`` numbers the nodes of ``community`` and ``names``, hubs first.

    A community without an unusual answer is called by its most influential node.

    Examples
    --------
    >>> table = pd.DataFrame({"water": ["tap", "tap", "well", "well"], "coin": [1.5, 2.5, 2.5, 1.5]})
    >>> graph = LearnedGraph.of(np.ones((4, 4)))
    >>> profile = profile_of(input_columns(table, graph), np.array([0, 0, 1, 1]), np.arange(4), np.array(list("abcd")))
    >>> profile.names, profile.words[0]
    (['tap', 'well'], ['tap 100%', '2'])
    """
    found = [_profiled(column, column.values[order], community) for column in columns]
    size = np.bincount(community)
    leads = np.array([lead for lead, _, _ in found]).reshape(len(found), len(size)).T
    least = np.array([FAR if column.levels is None or column.ordered else APART for column in columns])
    called = []
    for each in range(len(size)):
        most = [k for k in np.argsort(-np.abs(leads[each]), kind="stable")[:NAMING] if abs(leads[each, k]) >= least[k]]
        around = f"around {text(names[int(np.argmax(community == each))])}"
        called.append(", ".join(found[k][2][each] for k in most) or around)
    telling = np.argsort(-(size @ leads**2), kind="stable")[:PROFILED]
    words = [[found[k][1][each] for k in telling] for each in range(len(size))]
    return Profile(shortened(called), [text(columns[k].name) for k in telling], leads[:, telling], words)


def _profiled(column: InputColumn, values: Array, community: Array) -> tuple[Array, list[str], list[str]]:
    """Return for each community its lead in a column (see Profile), its answer, and what that says in a name."""
    known = np.isfinite(values)
    count = int(community.max()) + 1
    answered = np.bincount(community[known], minlength=count)
    enough, per = answered >= 2, np.maximum(answered, 1)
    name = text(column.name)
    if column.levels is None or column.ordered:
        try:
            scale = np.array(column.levels, dtype=float) if column.levels else None
        except ValueError:
            scale = None
        given = values[known] if scale is None else scale[values[known].astype(int)]
        spread = float(given.std(ddof=1)) if len(given) > 1 else 0.0
        mean = np.bincount(community[known], weights=given, minlength=count) / per
        lead = np.clip((mean - given.mean()) / (2 * spread), -1, 1) if spread else np.zeros(count)
        said = [column.levels[round(at)] if column.levels and scale is None else number(float(at)) for at in mean]
        called = [f"{name}: {'high' if each > 0 else 'low'}" for each in lead]
    else:
        share = np.zeros((count, len(column.levels)))
        np.add.at(share, (community[known], values[known].astype(int)), 1.0)
        apart = share / per[:, None] - share.sum(axis=0) / max(int(known.sum()), 1)
        most = apart.argmax(axis=1)
        lead = apart.max(axis=1)
        answers = [column.levels[k] for k in most]
        said = [f"{answer} {share[each, most[each]] / per[each]:.0%}" for each, answer in enumerate(answers)]
        called = [f"{name}: {answer}" if BARE.fullmatch(answer) else answer for answer in answers]
    return np.where(enough, lead, 0.0), [word if ok else "" for word, ok in zip(said, enough, strict=True)], called


def of_nodes(table: pd.DataFrame, names: Iterable[Any]) -> pd.DataFrame:
    """Return a table's rows in the order of the nodes: by name where it is indexed by names, else as they come.

    Examples
    --------
    >>> of_nodes(pd.DataFrame({"age": [45, 31]}, index=["bob", "ann"]), ["ann", "bob"])["age"].tolist()
    [31, 45]
    """
    rows = {str(name): place for place, name in enumerate(table.index)}
    wanted = [str(name) for name in names]
    unknown = [name for name in wanted if name not in rows]
    if not unknown and len(rows) == len(table):
        return table.iloc[[rows[name] for name in wanted]]
    if len(table) == len(wanted) and isinstance(table.index, pd.RangeIndex):
        return table
    raise InputError(
        f"columns has {len(table)} row(s) and the graph {len(wanted)} nodes, of which it lacks {listing(unknown)}: "
        "pass one row for each node, indexed by the nodes' names or in their order"
    )


def missing_share(table: pd.DataFrame) -> Array | None:
    """Return the share of a table that each node left empty; None where nobody left anything."""
    share = table.isna().to_numpy().mean(axis=1) if len(table.columns) else np.zeros(len(table))
    return share if share.any() else None


def _coded(column: pd.Series[Any]) -> tuple[Array, list[str] | None, bool]:
    """Return a column as numbers, or as places in the list of its answers, and whether these have an order."""
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        ranks = column.cat.codes.to_numpy(dtype=float)
        return np.where(ranks < 0, np.nan, ranks), shortened([text(level) for level in column.cat.categories]), True
    given = column.dropna()
    boolean = given.astype(object).map(lambda value: isinstance(value, bool | np.bool_)).all()
    parsed = pd.to_numeric(given.astype(object), errors="coerce")
    if not boolean and parsed.notna().all():
        values = parsed.reindex(column.index).to_numpy(dtype=float)
        distinct = np.unique(values[np.isfinite(values)])
        if len(distinct) > FEW or (distinct % 1).any():
            return np.where(np.isfinite(values), values, np.nan), None, False
        places = np.searchsorted(distinct, values)
        return np.where(np.isfinite(values), places, np.nan), [f"{value:g}" for value in distinct], len(distinct) > 2
    answers = column.map(text, na_action="ignore").astype(object)
    levels = sorted(answers.dropna().unique())
    codes = answers.map({level: float(place) for place, level in enumerate(levels)})
    return codes.to_numpy(dtype=float), shortened(levels), False


def _alike(values: Array, ties: LearnedGraph, *, categorical: bool) -> float:
    """Return one minus how much the ends of a tie differ, over how much any two nodes do; a gap counts as typical."""
    known = values[np.isfinite(values)]
    target = np.repeat(np.arange(ties.n_nodes), np.diff(ties.weights.indptr))
    one, other, weight = values[target], values[ties.weights.indices], ties.weights.data
    both = np.isfinite(one) & np.isfinite(other)
    if len(known) < 2 or not both.any():
        return np.nan
    if categorical:
        _, counts = np.unique(known, return_counts=True)
        any_two = 1.0 - float((counts * (counts - 1)).sum()) / (len(known) * (len(known) - 1))
        differ = (one != other).astype(float)
    else:
        any_two = 2.0 * float(known.var(ddof=1))
        differ = (one - other) ** 2
    if any_two <= 0:
        return np.nan
    return float((weight * (1.0 - differ / any_two)).sum(where=both) / weight.sum())
