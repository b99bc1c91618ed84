"""A summary, or a table of reports, as one HTML file that needs nothing else: data, style and script are inside.

The page is a Jinja template with autoescape, so that a name, a title or a note can never become markup. A content
security policy admits the page's own script and style, by their hashes, and nothing from outside. The script is bundled
from the modules in ``web/`` by ``make bundle``.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ..files import written_whole
from . import prose
from .game import page_table
from .plain import packed_json, text
from .summary import Summary

HUBS_COUNTED = 5
MEANINGS = {
    "n_replicates": "number of replicates of the signals",
    "n_degrees": "numbers of neighbours tried",
    "geometries": "what makes two nodes alike",
    "lam": "how much the prior counts",
    "degree": "neighbours wanted, before the prior counts",
    "beta": "spreads attention over more neighbours",
    "c": "attention everyone has to give",
    "benefit": "what each node gains by acting",
    "interaction": "how one's action moves a neighbour's",
    "welfare": "what counts as doing well",
    "tol": "how near to rest is near enough",
    "n_starts": "starts tried",
}


def write_report(summary: Summary, out_path: str | Path) -> None:
    """Write a summary as one HTML file, whole or not at all.

    The file holds everything it needs and asks nothing of the network; it opens by double-click.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from nashgraph import SmoothGL
    >>> from nashgraph.report import summarize
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> out = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(summarize(SmoothGL().fit(X)), out)
    >>> out.stat().st_size < 6e6
    True
    """
    page = render(summary)
    with written_whole(out_path) as name:
        name.write_text(page, encoding="utf-8", newline="\n")


def render(summary: Summary) -> str:
    """Return the page as text."""
    from .. import __version__  # noqa: PLC0415 (the package's root imports this module)

    graph = summary.graph
    plays_game = "action" in graph.node_columns
    areas = [score for name, score in summary.scores.items() if name.upper() == "AUC" and math.isfinite(score)]
    return page_template().render(
        summary=summary,
        prior=summary.prior,
        attention=graph.attention,
        plays_game=plays_game,
        certificate=prose.certificate(summary.certificate, plays_game),
        history=summary.history,
        front=None if summary.front is None else summary.front.dropna(),
        area=areas[0] if areas else None,
        facts=facts(summary),
        answers=answers(summary),
        leaders=prose.leaders(graph),
        verdicts=prose.verdicts(summary.cut, prose.leaders(graph), summary.agreement),
        methods=prose.methods_paragraph(summary),
        settled=summary.cut.share or summary.agreement >= 0,
        part=summary.prior_part,
        influence=summary.hubs["influence"],
        counted=min(HUBS_COUNTED, graph.n_nodes),
        meanings=MEANINGS,
        version=__version__,
        data=Markup(packed_json(summary.to_dict())),
        **code(),
    )


@cache
def page_template() -> Any:
    """Return the page's template: what goes into it is text that UTF-8 can hold, unless it is marked as markup."""
    pages = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else text(value),
    )
    pages.filters |= {"number": prose.number, "percent": prose.percent}
    return pages.get_template("page.html")


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the figures at the head of the page."""
    welfare, agreement = summary.drawing.views[summary.drawing.fitted].prior.welfare, summary.agreement
    return [
        ("nodes", f"{summary.graph.n_nodes:,}"),
        ("ties", f"{summary.cut.n_ties:,}"),
        ("ties of a node, on average", prose.number(2 * summary.cut.n_ties / summary.graph.n_nodes)),
        *([("of two resamples' weight is in common", prose.percent(agreement))] if math.isfinite(agreement) else []),
        *([("welfare", prose.number(welfare))] if math.isfinite(welfare) else []),
        *((name, prose.number(score)) for name, score in summary.scores.items()),
    ]


def answers(summary: Summary) -> list[tuple[str, str, list[str], list[Any]]]:
    """Return the interventions: title, sentence, headings and rows of each table."""
    numbers = {name: number for number, name in enumerate(summary.hubs["name"].head(len(summary.drawing.positions)))}
    given = [] if summary.interventions is None else summary.interventions.answers
    return [(each.title, each.sentence, *page_table(each.table.head(each.shown), numbers)) for each in given]


@cache
def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


@cache
def code() -> dict[str, Any]:
    """Return the page's style and script, and a policy that admits these by their hashes and nothing else."""
    style = asset("page.css")
    script = f"/*\nParts of d3:\n{asset('d3.LICENSE')}*/\n{asset('page.js')}"
    return {"style": Markup(style), "script": Markup(script), "policy": policy(style, script)}


def policy(style: str, script: str = "") -> str:
    """Return a content security policy that admits a style and a script by their hashes."""
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def write_index(
    path: str | Path,
    title: str,
    headings: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    left_out: Sequence[str],
    pictures: Sequence[str] = (),
) -> None:
    """Write a table of reports as one HTML file: a row has a report's address and cells, the first of them the link.

    ``pictures`` are the networks as SVG, one for each row (see :func:`~nashgraph.report.showing.still_picture`).

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "index.html"
    >>> write_index(file, "Villages", ["village", "nodes"], [("groups/1/report.html", ["1", "77"])], [])
    >>> '<a href="groups/1/report.html">1</a>' in file.read_text()
    True
    """
    from .. import __version__  # noqa: PLC0415 (the package's root imports this module)

    style = asset("page.css")
    page = (
        page_template()
        .environment.get_template("index.html")
        .render(
            title=title,
            headings=headings,
            rows=rows,
            left_out=left_out,
            pictures=[Markup(picture) for picture in pictures],
            version=__version__,
            style=Markup(style),
            policy=policy(style),
        )
    )
    with written_whole(path) as name:
        name.write_text(page, encoding="utf-8", newline="\n")
