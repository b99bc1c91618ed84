"""Tables in HTML, which many web pages and survey tools save under a name that ends in .xls."""

from __future__ import annotations

from collections.abc import Collection
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

from .columns import plain_numbers
from .errors import TableError
from .options import TableOptions
from .text import checked_names, decoded
from .vocabulary import GAPS


class _Tables(HTMLParser):
    """Collects the cells of the largest table of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[str]]] = []
        self.cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Open a table, a row or a cell."""
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            self.cell = []

    def handle_endtag(self, tag: str) -> None:
        """Store a cell."""
        if tag in ("td", "th") and self.cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self.cell).split()))
            self.cell = None

    def handle_data(self, data: str) -> None:
        """Add text to the open cell."""
        if self.cell is not None:
            self.cell.append(data)


def is_html(path: Path) -> bool:
    """Tell whether a file is a page in HTML, whatever its name."""
    with path.open("rb") as file:
        start = file.read(1000).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<table", b"<html", b"<!doctype html", b"<meta", b"<div", b"<?xml")) and (
        b"<table" in start or b"<html" in start
    )


def read_html(path: Path, options: TableOptions, exact: Collection[str]) -> tuple[pd.DataFrame, list[str]]:
    """Read the largest table of a page."""
    text, notes = decoded(path, options.encoding)
    page = _Tables()
    page.feed(text)
    rows = max(page.tables, key=len, default=[])
    width = max((len(row) for row in rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows if any(row)]
    if len(rows) < 2:
        raise TableError(f"{path.name} is a page in HTML without a table: save the table as .csv")
    table = pd.DataFrame(rows[1:], columns=checked_names(path.name, rows[0]), dtype=object)
    table = table.mask(table.isin(GAPS))
    table = table.apply(lambda column: column if column.name in exact else plain_numbers(column))
    table.attrs["reading"] = {"format": "HTML"}
    return table, [*notes, f"{path.name} is a page in HTML; its largest table was read"]
