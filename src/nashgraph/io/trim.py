"""Remove further header rows, totals and notes around the data of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..decisions import Decision, Remedy
from ..validation import listing
from .columns import is_text, plain_numbers
from .vocabulary import NOTES, OPEN_ANSWERS, TOTALS

MOST_HEADERS = 3  # rows below the first that may be headers: Qualtrics has two
MOST_NOTES = 20  # rows at the end of a table that may be notes
IMPORT_ID = re.compile(r'\s*\{"ImportId"')  # Qualtrics' third header row


@dataclass(eq=False)
class Trimmed:
    """A table without headers, totals and notes, and what these told."""

    table: pd.DataFrame
    labels: dict[str, str] = field(default_factory=dict)  # the question of a column, from a further header row
    no_data: tuple[int, ...] = ()  # rows that were left out, from 1
    decisions: list[Decision] = field(default_factory=list)


def trimmed(table: pd.DataFrame, no_data: Sequence[int] | None = None) -> Trimmed:
    """Return a table without further headers, totals and notes; ``no_data`` are the rows that a plan says they are."""
    headers = _header_rows(table)
    labels: dict[str, str] = {}
    if headers:
        table, labels = _named_by(table, headers)
    if no_data is None:
        below = [*range(headers), *_totals_and_notes(table, headers)]
    else:
        below = [row - 1 for row in no_data if row <= len(table)]
    decisions: list[Decision] = []
    if below:
        tail = [row for row in below if row >= headers]
        if headers:
            decisions.append(Decision("header rows", (), f"{headers} further header row(s) are not people"))
        if tail:
            shown = listing(dict.fromkeys(repr(_first_text(table, row)) for row in tail), 4)
            decisions.append(
                Decision("no data", (), f"{len(tail)} row(s) are totals or notes: {shown}", Remedy("no_data", ()))
            )
        table = table.drop(index=table.index[below]).reset_index(drop=True)
        table = table.apply(lambda column: plain_numbers(column) if is_text(column) else column)
        if headers and not labels:
            table = table.dropna(axis=1, how="all")
    return Trimmed(table, labels, tuple(row + 1 for row in below), decisions)


def _header_rows(table: pd.DataFrame) -> int:
    """Return how many rows on top are headers: Qualtrics marks them, and others are words above numbers."""
    top = table.iloc[: MOST_HEADERS + 1]
    if len(table) < MOST_HEADERS + 2 or table.shape[1] < 2:
        return 0
    for row in range(min(MOST_HEADERS, len(top))):
        cells = [str(cell) for cell in top.iloc[row] if not pd.isna(cell)]
        if sum(bool(IMPORT_ID.match(cell)) for cell in cells) > len(cells) / 2:
            return row + 1
    # Cells such as "Response" or "Open-Ended Response" stand for answers in SurveyMonkey's second header.
    words = [str(cell).strip().casefold() for cell in top.iloc[0] if not pd.isna(cell)]
    if sum(word in OPEN_ANSWERS for word in words) >= 1 and not any(word[:1].isdigit() for word in words):
        return 1
    text = [name for name, dtype in table.dtypes.items() if dtype.kind not in "biufM"]
    if len(text) < len(table.columns):  # a column of numbers from the first row on: that row is data
        return 0
    numeric_below = 0
    word_on_top = 0
    for name in text:
        column = table[name]
        rest = pd.to_numeric(column.iloc[1:], errors="coerce")
        if rest.notna().sum() < max(3, 0.7 * column.iloc[1:].notna().sum()):
            continue
        numeric_below += 1
        first = column.iloc[0]
        word_on_top += isinstance(first, str) and pd.isna(pd.to_numeric(first, errors="coerce"))
    return int(word_on_top >= 2 and word_on_top == numeric_below)


def _named_by(table: pd.DataFrame, headers: int) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a table whose unnamed columns have names from its second header, and the questions of the others."""
    labels: dict[str, str] = {}
    names: list[str] = []
    question = ""
    blank = [name in ("", f"column {place + 1}") for place, name in enumerate(map(str, table.columns))]
    for place, name in enumerate(map(str, table.columns)):
        cell: Any = table.iloc[0, place]
        below = "" if pd.isna(cell) else " ".join(str(cell).split())
        unnamed = blank[place] or name.startswith("Unnamed:")
        if not unnamed:
            question = name
        # SurveyMonkey writes a question over its first column only, and the choices below.
        choice = unnamed or (place + 1 < len(blank) and blank[place + 1] and below.casefold() not in OPEN_ANSWERS)
        full = f"{question} [{below}]" if choice and below else name
        if full == name and below and below.casefold() not in OPEN_ANSWERS and not IMPORT_ID.match(below):
            labels[name] = below
        names.append(full if full not in names else f"{full} ({place + 1})")
    return table.set_axis(pd.Index(names, dtype=object), axis=1), labels


def _totals_and_notes(table: pd.DataFrame, headers: int) -> list[int]:
    """Return the rows that are totals anywhere, or notes at the end: few cells, and text in the first."""
    rows: list[int] = []
    texts = [place for place in range(min(3, table.shape[1])) if table.iloc[:, place].dtype.kind not in "biufM"]
    for place in texts:
        column = table.iloc[:, place].astype(object)
        if column.nunique() < 0.5 * column.count():  # "average" may be an answer, where words recur
            continue
        total = column.map(lambda cell: isinstance(cell, str) and cell.strip(" :*.").casefold() in TOTALS)
        rows += [row for row in np.flatnonzero(total.to_numpy(bool)).tolist() if row >= headers]
    if table.shape[1] >= 3:
        filled = table.notna().to_numpy()
        last = len(table) - 1
        for row in range(last, max(headers, last - MOST_NOTES), -1):
            few = filled[row].sum() <= max(1, table.shape[1] // 4)
            if row in rows:
                continue
            if not few or (filled[row].any() and not _is_note(_first_text(table, row))):
                break
            rows.append(row)
    share = len(set(rows)) / max(1, len(table))
    return sorted(set(rows)) if share < 0.5 else []  # most rows cannot be totals


def _first_text(table: pd.DataFrame, row: int) -> str:
    cells = [str(cell) for cell in table.iloc[row] if not pd.isna(cell)]
    return cells[0].strip() if cells else ""


def _is_note(text: str) -> bool:
    """Tell whether a lonely cell is a note: it begins like one, or is a sentence."""
    start = re.match(r"[^\W\d_]+", text)
    return text[:1] in "*†‡(" or (start is not None and start[0].casefold() in NOTES) or len(text.split()) > 4
