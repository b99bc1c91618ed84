"""Tables for people, out of what a command found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.table import Table

from ._running import printable

NAME_WIDTH = 16


def listed(frame: pd.DataFrame, title: str = "") -> Table:
    """Return a frame as a table with its columns as headings; text stands left, numbers right."""
    table = Table(box=None, pad_edge=False, title=title or None, title_justify="left")
    for place, column in enumerate(frame.columns):
        longest = max((len(str(value)) for value in frame[column]), default=0)
        table.add_column(
            str(column).replace("_", " "),
            justify="right" if place else "left",
            no_wrap=place > 0,
            min_width=None if place else min(longest, NAME_WIDTH),  # a row without its name says nothing
        )
    for row in frame.itertuples(index=False):
        table.add_row(*(_written(value, ".3f") for value in row))
    return table


def paired(content: Mapping[str, Any], title: str = "") -> Table:
    """Return names and values as a table of two columns."""
    table = Table(box=None, pad_edge=False, show_header=False, title=title or None, title_justify="left")
    for name, value in content.items():
        table.add_row(name.replace("_", " "), _written(value, ".4g"))
    return table


def _written(value: Any, how: str) -> str:
    return format(value, how) if isinstance(value, float) else printable(str(value))
