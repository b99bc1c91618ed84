"""Levels that have an order, such as never, rarely, often: given by the user, or known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd

from ..validation import Array, listing
from .columns import as_name
from .errors import TableError
from .names import chosen_column, split_names

# From the lowest up; words with a stroke between mean the same.
SCALES = (
    "strongly disagree, disagree, somewhat disagree|slightly disagree, neutral|neither|neither agree nor disagree|"
    "undecided|not sure, somewhat agree|slightly agree, agree, strongly agree",
    "completely disagree|totally disagree, disagree|rather disagree, neutral|neither agree nor disagree, "
    "agree|rather agree, completely agree|totally agree",
    "never, almost never|hardly ever, rarely|seldom, occasionally|sometimes, often|frequently, usually|very often, "
    "almost always|nearly always, always",
    "never, yearly, monthly, weekly, daily",
    "not at all, a little|slightly|a bit, somewhat|moderately, quite|quite a bit|a lot|much, very|very much, "
    "extremely|completely",
    "very bad|very poor|terrible, bad|poor, fair|average|ok|neither good nor bad, good, very good, excellent",
    "very low, low, medium|middle|moderate|average, high, very high",
    "very dissatisfied, dissatisfied, neutral|neither|neither satisfied nor dissatisfied, satisfied, very satisfied",
    "very unlikely, unlikely, neutral|neither|neither likely nor unlikely, likely, very likely",
    "not important|not important at all|unimportant, slightly important|somewhat important, important, very important",
    "very small, small, medium, large|big, very large|very big",
    "none|no|no schooling|no education, some primary, primary|primary school|elementary, some secondary, "
    "secondary|secondary school|high school, some college, tertiary|college|university|bachelor, "
    "graduate|postgraduate|master, phd|doctorate",
    "no|false, maybe|partly|sometimes, yes|true",
)
BELOW = re.compile(r"\s*(?:<|under|below|less|up to|at most)", re.IGNORECASE)
ABOVE = re.compile(r"\s*(?:>|over|above|more)", re.IGNORECASE)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def ordinal_columns(given: Iterable[str], columns: Collection[str]) -> dict[str, list[str]]:
    """Return the columns of levels that a user names, each with its levels where they are given.

    Examples
    --------
    >>> ordinal_columns(["q1", "q2,q3=low<high"], ["q1", "q2", "q3"])
    {'q1': [], 'q2': ['low', 'high'], 'q3': ['low', 'high']}
    """
    found = {}
    for item in given:
        names, _, levels = (item, "", "") if item in columns else item.partition("=")
        order = [level.strip() for level in levels.split("<")] if levels else []
        for name in split_names([names], columns):
            found[chosen_column(name, columns)] = order
    return found


def numbered(column: pd.Series, order: list[str]) -> tuple[Array, list[str]]:
    """Return a column of levels as 0, 1, 2, ... and the levels in their order.

    Examples
    --------
    >>> numbered(pd.Series(["often", None, "never"], name="q1"), [])
    (array([ 1., nan,  0.]), ['never', 'often'])
    """
    given = column.astype(object).map(lambda cell: as_name(cell).strip(), na_action="ignore")
    seen = list(pd.unique(given.dropna()))
    if not order:
        order = ordered(seen) or _kept_order(column)
    unknown = [level for level in seen if level not in order]
    if not order or unknown:
        what = (
            f"have {listing(unknown)}, which the order has not" if order else f"are {listing(seen)}, in no known order"
        )
        raise TableError(
            f"the levels of column {column.name!r} {what}: pass --ordinal '{column.name}=LOWEST<...<HIGHEST'"
        )
    places = {level: float(place) for place, level in enumerate(order)}
    return given.map(places).to_numpy(dtype=float, na_value=np.nan), order


def _kept_order(column: pd.Series) -> list[str]:
    """Return the order in which a file keeps the values of a category; that of the alphabet says nothing."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return []
    kept = [as_name(level) for level in column.dtype.categories if (column == level).any()]
    return kept if column.dtype.ordered or kept != sorted(kept) else []


def ordered(levels: Collection[str]) -> list[str]:
    """Return levels from the lowest up, or none where their order is not known.

    Examples
    --------
    >>> ordered(["Agree", "Disagree", "Strongly agree"]), ordered(["26-40", "<18", "65+", "18-25"])
    (['Disagree', 'Agree', 'Strongly agree'], ['<18', '18-25', '26-40', '65+'])
    >>> ordered(["red", "blue"])
    []
    """
    for scale in SCALES:
        rank = {word: k for k, words in enumerate(scale.split(", ")) for word in words.split("|")}
        found = {rank.get(" ".join(level.casefold().split())) for level in levels}
        if None not in found and len(found) == len(levels):
            return sorted(levels, key=lambda level: rank[" ".join(level.casefold().split())])
    places = {level: NUMBER.search(level.replace(",", "")) for level in levels}
    if not all(places.values()):
        return []
    keys = {
        level: (float(number[0]), -1 if BELOW.match(level) else int(bool(ABOVE.match(level))))
        for level, number in places.items()
        if number
    }
    return sorted(levels, key=lambda level: keys[level]) if len({*keys.values()}) == len(keys) else []
