"""A summary as one HTML file that needs nothing else: data, styles, scripts and the drawing library are inside.

The page is a Jinja template with autoescape, so that a name, a title or a note can never become markup. A content
security policy admits the page's own scripts and styles, by their hashes, and nothing from outside.
"""

from __future__ import annotations

import base64
import hashlib
import math
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ..files import written_whole
from . import prose
from .interventions import page_table
from .plain import page_json, text
from .summary import Summary

SCRIPTS = (
    "data.js",
    "game.js",
    "aspects.js",
    "checks.js",
    "bubbles.js",
    "sheets.js",
    "lines.js",
    "circles.js",
    "network.js",
    "zoom.js",
    "svg.js",
    "why.js",
    "selection.js",
    "whatif.js",
    "table.js",
    "save.js",
    "charts.js",
    "page.js",
)
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
    "multistart": "starts tried",
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
        settled=prose.settled_sentence(graph, summary.agreement),
        part=summary.prior_part,
        influence=summary.hubs["influence"],
        counted=min(HUBS_COUNTED, graph.n_nodes),
        mutual=bool((summary.hubs["followers"] == summary.hubs["listens_to"]).all()),
        meanings=MEANINGS,
        version=__version__,
        data=Markup(page_json(summary.to_dict())),
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
        (
            "ties" if summary.ties is summary.graph else "ties that half of the members have",
            f"{summary.ties.n_edges:,}",
        ),
        ("neighbours listened to, on average", prose.number(float(summary.hubs["listens_to"].mean()))),
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
    """Return the page's style and scripts, and a policy that admits these by their hashes and nothing else."""

    def digest(script: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"

    style = asset("page.css")
    library = f"/*\n{asset('d3.LICENSE')}*/\n{asset('d3.min.js')}"
    scripts = [library, '"use strict";\n' + "\n".join(asset(name) for name in SCRIPTS)]
    policy = (
        f"default-src 'none'; style-src {digest(style)}; script-src {' '.join(map(digest, scripts))}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"style": Markup(style), "scripts": [Markup(script) for script in scripts], "policy": policy}
