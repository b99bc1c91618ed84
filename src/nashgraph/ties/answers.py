"""Answers about ties, checked and in the order of the nodes: counts by trait, numbers of ties, their errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from ..validation import Array, InputError, InputTypeError, listing, warn

MOST_TRAITS = 100  # 5,151 mixing terms, whose Hessian takes 212 MB
ASSUMED_ERROR = 0.4  # variance, where answers cannot be checked against each other (villages 1 to 37)


class Answers(NamedTuple):
    """The answers, a row for every node: its name, features Z = (1, T) with labels, and counts of ties by feature.

    The first label is "ties". A count is NaN where it was not asked; ``at_least`` marks "10+" and the like.
    """

    names: Array
    features: Array
    labels: list[str]
    counts: Array
    at_least: Array


def node_names(tables: Mapping[str, Any], X: Any) -> Array:
    """Return the nodes: those of the traits, else of X, else of the first table that there is."""
    if isinstance(X, pd.DataFrame) and tables.get("traits") is None:
        return _objects(X.columns)
    for table in tables.values():
        if isinstance(table, pd.DataFrame | pd.Series):
            if table.index.has_duplicates:
                doubled = table.index[table.index.duplicated()].unique()
                raise InputError(f"nodes have more than one row: {listing(doubled)}; give every node one row")
            return _objects(table.index)
    sizes = [len(table) for table in tables.values() if table is not None]
    if X is not None:
        sizes.append(np.shape(X)[1])
    if not sizes:
        raise InputError("nothing was given: pass traits, and counts or n_ties with one row for every node")
    return _objects(range(sizes[0]))


def _objects(items: Iterable[Any]) -> Array:
    return pd.Series(list(items), dtype=object).to_numpy()


def read_answers(names: Array, traits: Any, counts: Any, n_ties: Any) -> Answers:
    """Return the answers in the order of the nodes, or say what is wrong with them."""
    T, labels = read_traits(names, traits)
    values = np.full((len(names), 1 + T.shape[1]), np.nan)
    at_least = np.zeros(values.shape, dtype=bool)
    if n_ties is not None:
        table = in_node_order("n_ties", pd.DataFrame(n_ties), names)
        values[:, :1], at_least[:, :1] = _numbers("n_ties", table, names)
    if counts is not None:
        table = counts
        if not isinstance(counts, pd.DataFrame):
            table = pd.DataFrame(counts, columns=labels[: np.shape(counts)[1]])
        if unknown := [name for name in table.columns if str(name) not in labels]:
            raise InputError(
                f"counts has columns that are not traits: {listing(unknown)}; the traits are {listing(labels)}: name "
                "each column of counts like the column of traits that it counts"
            )
        place = [1 + labels.index(str(name)) for name in table.columns]
        values[:, place], at_least[:, place] = _numbers("counts", in_node_order("counts", table, names), names)
        check_countable(T, labels, [k - 1 for k in place])
    told = Answers(names, np.hstack([np.ones((len(names), 1)), T]), ["ties", *labels], values, at_least)
    check_consistent(told)
    return told


def read_traits(names: Array, traits: Any) -> tuple[Array, list[str]]:
    """Return the traits as numbers, a column for each."""
    if traits is None:
        return np.zeros((len(names), 0)), []
    table = in_node_order("traits", pd.DataFrame(traits), names)
    try:
        T = table.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"traits must be numbers, 1 where a node has the trait and 0 where not ({error}): "
            "pandas.get_dummies(traits) makes such columns of words"
        ) from error
    if not np.isfinite(T).all():
        row, column = np.argwhere(~np.isfinite(T))[0]
        raise InputError(
            f"traits has a gap for {names[row]} in {table.columns[column]!r} ({int((~np.isfinite(T)).sum())} such "
            "cells): fill it in, or leave the trait out; counts may have gaps, traits may not"
        )
    labels = [str(name) for name in table.columns]
    if len(labels) > MOST_TRAITS:
        raise InputError(
            f"traits has {len(labels)} columns, and at most {MOST_TRAITS} can be fitted, because memory grows with the "
            "fourth power of their number: keep those that people were asked about"
        )
    if doubled := sorted({name for name in labels if labels.count(name) > 1}):
        raise InputError(f"traits has several columns of one name: {listing(doubled)}; rename them, or keep one")
    return T, labels


def in_node_order(what: str, table: pd.DataFrame, names: Array) -> pd.DataFrame:
    """Return a table with a row for every node, matched by the text of its name; empty if it is not in the table."""
    if isinstance(table.index, pd.RangeIndex) and len(table) == len(names):
        return table
    index = pd.Index([str(name) for name in table.index])
    nodes = [str(name) for name in names]
    if strangers := [name for name in index if name not in {*nodes}]:
        raise InputError(
            f"{what} has rows for {len(strangers)} node(s) that traits does not have: {listing(strangers)}; write "
            "names alike, or add their traits"
        )
    if index.has_duplicates:
        raise InputError(f"{what} has more than one row for {listing(index[index.duplicated()].unique())}")
    return table.set_axis(index, axis=0).reindex(nodes)


def _numbers(what: str, table: pd.DataFrame, names: Array) -> tuple[Array, Array]:
    """Return counts as numbers, and where they end in + ("10+": ten or more)."""
    if all(dtype.kind in "iufb" for dtype in table.dtypes):
        values, at_least = table.to_numpy(dtype=float), np.zeros(table.shape, dtype=bool)
        wrong = ~np.isnan(values) & ((values < 0) | (values != np.round(values)))
    else:
        text = table.astype(object).where(table.notna(), "").map(lambda cell: str(cell).strip())
        at_least = text.map(lambda cell: cell.endswith("+")).to_numpy(dtype=bool)
        text = text.map(lambda cell: cell.rstrip("+"))
        values = text.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
        given = (text != "").to_numpy() | at_least
        wrong = np.where(np.isnan(values), given, (values < 0) | (values != np.round(values)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"{what} must be whole numbers of 0 or more, got {str(table.iloc[row, column])!r} for {names[row]} in "
            f"{table.columns[column]!r} ({int(wrong.sum())} such cells): leave a cell empty where the answer is not "
            "known, and write 10+ for ten or more"
        )
    return values, at_least


def check_countable(T: Array, labels: list[str], places: list[int]) -> None:
    """Refuse to count traits that are not 0 or 1, or that nobody or everybody has."""
    for k in places:
        if not np.isin(T[:, k], (0.0, 1.0)).all():
            raise InputError(
                f"counts has {labels[k]!r}, whose trait is not 0 or 1: only people who have a trait can be counted"
            )
        if T[:, k].all() or not T[:, k].any():
            who = "everybody" if T[:, k].all() else "nobody"
            other = "give these answers as n_ties" if T[:, k].all() else "check how the trait is coded"
            raise InputError(
                f"{who} has the trait {labels[k]!r}, so counting it says nothing of ties: {other}, or leave it out"
            )


def check_consistent(told: Answers) -> None:
    """Refuse counts above the number of ties, or above the number of others who have the trait."""
    Z, counts = told.features, np.where(told.at_least, np.nan, told.counts)
    most = Z.sum(axis=0)[None, :] - Z
    n = len(Z)
    above = told.counts > np.where(np.arange(Z.shape[1]) == 0, n - 1, most)
    if above.any():
        i, k = np.argwhere(above)[0]
        what = "ties" if k == 0 else f"ties with the trait {told.labels[k]!r}"
        raise InputError(
            f"{told.names[i]} has {told.counts[i, k]:g} {what}, and only {int(most[i, k])} other nodes could be meant "
            f"({int(above.sum())} such cells): correct the cells, or count only people who are in the table"
        )
    more = counts[:, 1:] > counts[:, :1]
    if more.any():
        i, k = np.argwhere(more)[0]
        raise InputError(
            f"{told.names[i]} has {counts[i, 1 + k]:g} ties with the trait {told.labels[1 + k]!r}, and only "
            f"{counts[i, 0]:g} ties in all ({int(more.sum())} such cells): correct counts or n_ties, or leave one of "
            "the two cells empty"
        )


def scaled_up(told: Array, features: Array) -> Array:
    """Return the counts, with the number of ties estimated in proportion if it was not asked (scale-up estimator)."""
    counts, asked = told.copy(), ~np.isnan(told[:, 1:])
    holders = (asked * features[:, 1:].sum(axis=0)).sum(axis=1)
    lacking = np.isnan(counts[:, 0]) & (holders > 0)
    counts[lacking, 0] = np.nansum(counts[lacking, 1:], axis=1) / holders[lacking] * len(features)
    return counts


class Errors(NamedTuple):
    """How far answers can be trusted: the share of ties recalled, the variance of other errors, and the source."""

    recall: float
    variance: float
    source: str


def estimate_errors(told: Answers, recall: float | None, variance: float | None) -> Errors:
    """Return recall and error variance: as given, from comparing both sides of ties, or assumed.

    If everybody was asked and forgot nothing, the k-people's ties with l-people are as many as the l-people's ties with
    k-people. The squared differences grow with the number of ties if ties are forgotten, and with the number of people
    if counts are off, so both variances come from a non-negative least-squares fit over all pairs of traits.
    """
    Z, counts = told.features, scaled_up(told.counts, told.features)
    full = ~np.isnan(counts).any(axis=1) & ~told.at_least.any(axis=1)
    known = {"recall given": recall, "error variance given": variance}
    given = [text for text, value in known.items() if value is not None]
    if len(given) == 2:
        return Errors(float(recall or 0.0), float(variance or 0.0), ", ".join(given))
    if full.mean() < 0.95 or Z.shape[1] < 4 or not np.nansum(counts[full]):
        assumed = [*(["nothing forgotten"] if recall is None else []), *(["small errors"] if variance is None else [])]
        few = "fewer than 95% of the nodes answered everything" if full.mean() < 0.95 else "too little was counted"
        why = f"{few}, so the two sides of ties cannot be compared"
        source = "; ".join([*given, f"{', '.join(assumed)} assumed: {why}"])
        return Errors(1.0 if recall is None else recall, ASSUMED_ERROR if variance is None else variance, source)
    Z, counts = Z[full], counts[full]
    k, other = np.triu_indices(Z.shape[1], 1)
    told_of = Z.T @ counts
    difference = (told_of - told_of.T)[k, other]
    ties = counts[:, 0].sum()
    both = (counts[:, 0] @ (Z[:, k] * Z[:, other])) ** 2 / ties  # ties inside the overlap of two traits cancel
    forgotten = np.maximum((told_of + told_of.T)[k, other] - 2.0 * both, 1e-3 * ties)
    people = Z.sum(axis=0)[k] + Z.sum(axis=0)[other]
    weight = 1.0 / (0.3 * forgotten + 0.5 * people)
    if recall is None:
        (share, off), _ = nnls(np.column_stack([forgotten * weight, people * weight]), difference**2 * weight)
        recall = max(0.5, 1.0 - float(share))
    else:
        rest = difference**2 - (1.0 - recall) * forgotten
        off = max(0.0, float((rest * weight**2 * people).sum() / (weight**2 * people**2).sum()))
    source = "; ".join([*given, "the rest estimated from both sides of ties"])
    return Errors(recall, float(off) if variance is None else variance, source)


def error_variances(told: Answers, errors: Errors) -> Array:
    """Return the error variance of every answer, in ties rather than in ties recalled.

    The variance of forgetting is left out on purpose: a tie that is forgotten is missing from all of a node's
    counts, so the counts still agree with each other, and measured precision is better without it
    (villages 1 to 37: 0.62 against 0.55).
    """
    # 0.05 stands for an answer that seems exact: it keeps log-odds finite (villages 1 to 37).
    noise = np.full(told.counts.shape, 0.05 + errors.variance / errors.recall**2)
    large = ~np.isnan(told.counts) & (told.counts >= 10)
    heaped = large & (np.mod(np.nan_to_num(told.counts), 5) == 0)
    if large.sum() >= 5 and heaped.sum() >= 0.8 * large.sum():
        noise[heaped] += 25.0 / 12.0  # uniform within 2.5
        warn(
            f"{int(heaped.sum())} of the {int(large.sum())} counts of 10 or more are multiples of 5: they are taken as "
            "rounded, with an error of up to 2.5"
        )
    noise[told.at_least] += 1.0
    return noise
