"""Tables for people, out of what a command found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.table import Table

from ..certificate import Measure
from ._running import printable

NAME_WIDTH = 15
GAP = "  "  # between columns, in the cells: Rich before 14.3 counts padding at the edges that it does not draw
MEASURED = {
    Measure.STATIONARITY.value: "stationarity is 0 where no small change of the network is better",
    Measure.GAP.value: "the gap is how far the answer may be from the best",
}
MEANT = {
    "beta": "the larger, the more neighbours the weight is spread over",
    "lam": "strength of the prior, the belief that the network serves those in it",
    "welfare": "worth of all efforts in a game on the network, where nobody gains by another effort",
    "prior_share": "weight of the members that use the prior",
    "agreement": "share of the weight that two resamples of the signals have in common",
    "fidelity": "J, how far neighbours are from alike: less is smoother",
    "objective": "what the method made as small as it could",
    "auc": "chance that a true tie weighs more than a pair without; 0.5 is guessing",
    "average_precision": "share of true ties among the heaviest pairs, over all numbers of pairs",
    "precision": "share of true ties among as many pairs as are true",
}


def listed(frame: pd.DataFrame, title: str = "") -> Table:
    """Return a frame as a table with its columns as headings; text stands left, numbers right."""
    table = Table(box=None, padding=0, title=title or None, title_justify="left")
    cells = [[_written(value, ".3f") for value in frame[column]] for column in frame.columns]
    for place, (column, values) in enumerate(zip(frame.columns, cells, strict=True)):
        # Where it is narrow long names go over several lines, but a row without its name says nothing.
        least = None if place else min(max(map(len, values), default=0), NAME_WIDTH)
        table.add_column(
            "\n".join((GAP if place else "") + word for word in str(column).split("_")),
            justify="right" if place else "left",
            vertical="bottom",
            no_wrap=place > 0,
            min_width=least,
        )
    for row in zip(*cells, strict=True):
        table.add_row(row[0], *(GAP + cell for cell in row[1:]))
    return table


def paired(content: Mapping[str, Any], title: str = "", meant: Mapping[str, str] | None = None) -> Table:
    """Return names and values as a table of two columns, and beside them what is meant, where that needs words."""
    table = Table(box=None, pad_edge=False, show_header=False, title=title or None, title_justify="left")
    for name, value in content.items():
        words = [meant.get(name, "")] if meant else []
        table.add_row(name.replace("_", " "), _written(value, ".4g"), *words)
    return table


def _written(value: Any, how: str) -> str:
    if not isinstance(value, str) and pd.isna(value):
        return ""
    return format(value, how) if isinstance(value, float) else printable(str(value))
