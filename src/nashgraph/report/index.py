"""One page over several reports: a row for each, with a link."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from ..files import written_whole
from .html import asset, page_template

STYLE = """
.wide { overflow-x: auto; }
th, td { overflow-wrap: normal; }
td:not(:last-child) { white-space: nowrap; }
"""


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
    style = asset("page.css") + STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = template.render(
        title=title,
        headings=headings,
        rows=rows,
        left_out=left_out,
        version=__version__,
        style=Markup(style),
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
    )
    with written_whole(path) as name:
        name.write_text(page, encoding="utf-8", newline="\n")
