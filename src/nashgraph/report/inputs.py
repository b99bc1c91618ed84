"""The columns of a user's table in the report: what a node answered, and how much answers differ along ties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..graph import LearnedGraph
from ..validation import Array, InputError, listing
from .places import coordinates_of
from .prose import number, plain, shortened, text

CELLS = 600_000  # of all columns together; they are the larger part of a large page


class InputColumn(NamedTuple):
    """One column of the table: numbers over the nodes, or places in ``levels``, the answers there are; NaN for a gap.

    ``ordered`` is whether the levels have an order: whole numbers, or an ordered category of pandas. ``alike`` is by
    how much less tied nodes differ in it than any two: 1 not at all, 0 as much as any. ``place`` is "longitude" or
    "latitude" for coordinates.
    """

    name: str
    values: Array
    levels: list[str] | None
    ordered: bool
    alike: float
    by_chance: float = np.nan
    learned_from: bool | None = None
    place: str = ""

    @property
    def is_categorical(self) -> bool:
        """Whether answers are alike or not, and nothing between."""
        return self.levels is not None and not self.ordered

    def to_dict(self, order: Array) -> dict[str, Any]:
        """Return the column as JSON has it, of some nodes in an order."""
        kept = plain(self.values[order], 8 if self.place else 4)  # 4 figures of a degree are kilometres
        return {
            "name": text(self.name),
            "levels": self.levels,
            "ordered": self.ordered,
            "alike": plain(self.alike, 3),
            "by_chance": plain(self.by_chance, 3),
            "learned_from": self.learned_from,
            "place": self.place,
            "values": [None if code is None else int(code) for code in kept] if self.levels else kept,
        }


def input_columns(table: pd.DataFrame, ties: LearnedGraph) -> list[InputColumn]:
    """Return the columns of a table with a row for every node; of very many, those that differ least along ties."""
    found = []
    axes = {name: axis for axis, name in coordinates_of(table).items()}
    for name in table.columns:
        values, levels, ordered = _coded(table[name])
        if levels is None or 1 < len(levels) <= 50:  # text with more names nodes rather than describes them
            place = axes.get(name, "")
            column = InputColumn(str(name), values, levels, ordered, alike=np.nan, place=place)
            alike = alike_along(ties, values, categorical=column.is_categorical)
            found.append(column._replace(alike=alike))
    most = max(1, CELLS // len(table))
    surest = sorted(found, key=lambda column: -np.nan_to_num(column.alike, nan=-1.0))[:most]
    kept = {id(column) for column in surest}
    return [column for column in found if id(column) in kept]


class Profile(NamedTuple):
    """Communities by the answers that set them apart: a name for each, and the columns that tell them apart most.

    ``leads`` has a row for each community and a column for each of ``columns``, from -1 to 1: how much more frequent
    the community's most unusual answer is in it than among all, or how many times two standard deviations its mean is
    from that of all. ``words`` has that answer with its share, or the mean.
    """

    names: list[str]
    columns: list[str]
    leads: Array
    words: list[list[str]]


def profile_of(columns: Sequence[InputColumn], community: Array, order: Array, names: Array) -> Profile:
    """Return what sets communities apart; ``order`` numbers the nodes of ``community`` and ``names``, hubs first.

    A community without an unusual answer is called by its number. Columns that name or identify people describe nobody,
    so no community is called by them.
    """
    columns = [column for column in columns if not column.place and not names_people(column, names)]
    found = [_profiled(column, column.values[order], community) for column in columns]
    size = np.bincount(community)
    leads = np.array([lead for lead, _, _ in found]).reshape(len(found), len(size)).T
    # The lead from which a quantity or a category sets a community apart.
    least = np.array([0.3 if column.levels is None or column.ordered else 0.2 for column in columns])
    called = []
    for each in range(len(size)):
        most = [k for k in np.argsort(-np.abs(leads[each]), kind="stable")[:3] if abs(leads[each, k]) >= least[k]]
        most = [k for k in most if found[k][2][each]]  # a blank answer says nothing
        called.append(", ".join(found[k][2][each] for k in most) or f"community {each + 1}")
    telling = np.argsort(-(size @ leads**2), kind="stable")[:10]
    words = [[found[k][1][each] for k in telling] for each in range(len(size))]
    called = _without_common_prefix(called)
    return Profile(shortened(called), [text(columns[k].name) for k in telling], leads[:, telling], words)


def without_names(table: pd.DataFrame, names: Iterable[Any]) -> pd.DataFrame:
    """Return a table without the columns that repeat the names of the nodes, such as the number of a household."""
    called = [text(name) for name in names]
    repeated = [name for name in table.columns if [text(value) for value in table[name]] == called]
    return table.drop(columns=repeated)


def names_people(column: InputColumn, names: Array) -> bool:
    """Whether a column holds names of nodes, such as friends: a third of its answers are.

    A few answers, such as 0 and 1, may be names by chance.
    """
    if column.levels is None or len(column.levels) < 5:
        return False
    people = {text(name).strip().casefold() for name in names}
    named = sum(level.strip().casefold() in people for level in column.levels)
    return 3 * named >= len(column.levels)


def _without_common_prefix(called: list[str]) -> list[str]:
    """Drop what all names begin with up to a slash, such as the group of a Kobo form: "house/water: tap"."""
    start = called[0][: called[0].rfind("/") + 1] if called else ""
    if len(called) < 2 or not all(name.startswith(start) for name in called):
        return called
    return [name.removeprefix(start) for name in called]


def _said(name: str, answer: str, levels: list[str]) -> str:
    """Return an answer with its question; a blank one says nothing, and 0 and 1 are read as no and yes."""
    if levels == ["0", "1"]:
        return name if answer == "1" else f"no {name}"
    return f"{name}: {answer}" if answer.strip() else ""


def _profiled(column: InputColumn, values: Array, community: Array) -> tuple[Array, list[str], list[str]]:
    """Return for each community its lead in a column (see Profile), its answer, and what that says in a name."""
    known = np.isfinite(values)
    count = int(community.max()) + 1
    answered = np.bincount(community[known], minlength=count)
    enough = answered >= 2
    per = np.maximum(answered, 1)
    name = text(column.name)
    if column.levels is None or column.ordered:
        try:
            scale = np.array(column.levels, dtype=float) if column.levels else None
        except ValueError:
            scale = None
        if scale is None:
            given = values[known]
        else:
            given = scale[values[known].astype(int)]
        spread = float(given.std(ddof=1)) if len(given) > 1 else 0.0
        mean = np.bincount(community[known], weights=given, minlength=count) / per
        if spread:
            lead = np.clip((mean - given.mean()) / (2 * spread), -1, 1)
        else:
            lead = np.zeros(count)
        said = [column.levels[round(at)] if column.levels and scale is None else number(float(at)) for at in mean]
        called = [f"{name}: {'high' if each > 0 else 'low'}" for each in lead]
    else:
        share = np.zeros((count, len(column.levels)))
        np.add.at(share, (community[known], values[known].astype(int)), 1.0)
        apart = share / per[:, None] - share.sum(axis=0) / max(int(known.sum()), 1)
        most = apart.argmax(axis=1)
        lead = apart.max(axis=1)
        words = ["no", "yes"] if column.levels == ["0", "1"] else column.levels
        answers = [words[k] for k in most]
        said = [f"{answer} {share[each, most[each]] / per[each]:.0%}" for each, answer in enumerate(answers)]
        called = [_said(name, column.levels[k], column.levels) for k in most]
    return np.where(enough, lead, 0.0), [word if ok else "" for word, ok in zip(said, enough, strict=True)], called


def of_nodes(table: pd.DataFrame, names: Iterable[Any]) -> pd.DataFrame:
    """Return a table's rows in the order of the nodes: by name where it is indexed by names, else as they come."""
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
        if len(distinct) > 6 or (distinct % 1).any():  # a quantity; else answers
            return np.where(np.isfinite(values), values, np.nan), None, False
        places = np.searchsorted(distinct, values)
        return np.where(np.isfinite(values), places, np.nan), [f"{value:g}" for value in distinct], len(distinct) > 2
    codes, answers = pd.factorize(column.map(text, na_action="ignore").astype(object), sort=True)
    return np.where(codes < 0, np.nan, codes), shortened([*answers]), False


def alike_along(ties: LearnedGraph, values: Array, *, categorical: bool) -> float:
    """Return one minus how much the ends of a tie differ, relative to any two nodes; a gap counts as typical."""
    known = values[np.isfinite(values)]
    target = np.repeat(np.arange(ties.n_nodes), np.diff(ties.weights.indptr))
    one = values[target]
    other = values[ties.weights.indices]
    weight = ties.weights.data
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
