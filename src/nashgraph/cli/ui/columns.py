"""How columns look on the page, next to their lines of the plan: values in words, a small chart, empty cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...io.columns import as_name
from ...plan import ColumnPlan
from ...validation import Array


@dataclass(frozen=True)
class Look:
    """The values of a column in words, bars between 0 and 1, empty cells, and whether it has two values only."""

    summary: str = ""
    bars: tuple[float, ...] = ()
    empty: int = 0
    binary: bool = False


def looks_of(table: pd.DataFrame, columns: Sequence[ColumnPlan]) -> dict[str, Look]:
    """Return how columns look, by name; a plan may have lines for questions that the table has in its rows."""
    by_name = {str(name): place for place, name in enumerate(table.columns)}
    return {
        column.name: look_of(table.iloc[:, by_name[column.name]], column)
        for column in columns
        if column.name in by_name
    }


def look_of(column: pd.Series, plan: ColumnPlan) -> Look:
    """Return how a column looks: a histogram of numbers, the shares of words, examples of names."""
    values = column.dropna()
    empty = len(column) - len(values)
    texts = values.astype(object).map(lambda cell: as_name(cell).strip())
    answered = texts[~texts.str.casefold().isin([code.casefold() for code in plan.missing])]
    counts = answered.value_counts()
    binary = set(counts.index) <= {"0", "1"} and len(counts) == 2
    if plan.role in ("id", "label", "names"):
        return Look(_listed(list(texts.head(3)), len(texts)), empty=empty)
    numbers = pd.to_numeric(answered, errors="coerce").to_numpy(dtype=float)
    if plan.scale in ("number", "ordered", "") and len(numbers) and np.isfinite(numbers).all():
        return Look(f"{numbers.min():.4g} to {numbers.max():.4g}", _histogram(numbers), empty, binary)
    bars = tuple(float(count) / counts.iloc[0] for count in counts.head(14))
    if counts.empty or (plan.role == "ignore" and counts.iloc[0] == 1):
        return Look(_listed(list(texts.head(3)), len(texts)), empty=empty)
    shares = [f"{shortened(text)} {count / len(answered):.0%}" for text, count in counts.head(3).items()]
    more = f" and {len(counts) - 3} more" if len(counts) > 3 else ""
    return Look(", ".join(shares) + more, bars, empty, binary)


def _histogram(numbers: Array, most: int = 14) -> tuple[float, ...]:
    """Return the bars of a histogram; few different values have a bar each."""
    values, counts = np.unique(numbers, return_counts=True)
    if len(values) > most:
        counts = np.histogram(numbers, bins=most)[0]
    return tuple(float(count) / counts.max() for count in counts)


def _listed(texts: Sequence[str], total: int) -> str:
    return ", ".join(map(shortened, texts)) + (", …" if total > len(texts) else "")


def shortened(text: object, most: int = 28) -> str:
    """Return a text of at most so many letters."""
    if len(str(text)) <= most:
        return str(text)
    return f"{str(text)[: most - 1]}…"
