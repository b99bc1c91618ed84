"""A summary as one HTML file that needs nothing else: data, style and script are inside.

The page is a Jinja template with autoescape, so that a name, a title or a note can never become markup. A content
security policy admits the page's own script and style, by their hashes, and nothing from outside. The script is bundled
from the modules in ``web/`` by ``make bundle``.
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
from .methods import methods_paragraph
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
        verdicts=prose.verdicts(summary.cut, prose.leaders(graph), summary.agreement),
        methods=methods_paragraph(summary),
        settled=prose.settled_sentence(graph, summary.agreement),
        part=summary.prior_part,
        influence=summary.hubs["influence"],
        counted=min(HUBS_COUNTED, graph.n_nodes),
        mutual=bool((summary.hubs["followers"] == summary.hubs["listens_to"]).all()),
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

    def digest(part: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"

    style = asset("page.css")
    script = f"/*\nParts of d3:\n{asset('d3.LICENSE')}*/\n{asset('page.js')}"
    policy = (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"style": Markup(style), "script": Markup(script), "policy": policy}
