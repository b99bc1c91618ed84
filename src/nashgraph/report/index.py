"""One page over several reports: a row for each, with a link."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..files import written_whole
from .html import code, page_template


def write_index(
    path: str | Path,
    title: str,
    headings: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    left_out: Sequence[str],
) -> None:
    """Write a table of reports as one HTML file: a row has a report's address and cells, the first of them the link.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "index.html"
    >>> write_index(file, "Villages", ["village", "nodes"], [("groups/1/report.html", ["1", "77"])], [])
    >>> '<a href="groups/1/report.html">1</a>' in file.read_text()
    True
    """
    from .. import __version__  # noqa: PLC0415 (the package's root imports this module)

    template = page_template().environment.get_template("index.html")
    page = template.render(title=title, headings=headings, rows=rows, left_out=left_out, version=__version__, **code())
    with written_whole(path) as name:
        name.write_text(page, encoding="utf-8", newline="\n")
