"""A summary, or a table of reports, as one HTML file that needs nothing else, and what a notebook shows of a model.

The page is a Jinja template with autoescape, so that a name, a title or a note can never become markup. A content
security policy admits the page's own script and style, by their hashes, and nothing from outside. The script is bundled
from the modules in ``web/`` by ``make bundle``.
"""

from __future__ import annotations

import base64
import hashlib
import tempfile
import webbrowser
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from ..estimators import GraphEstimator
from ..files import written_whole
from ..graph import LearnedGraph
from . import prose
from .cut import Cut, cut_of
from .drawing import make_drawing
from .game import page_table
from .plots import LINES_A_NODE, surest_pairs
from .prose import packed_json, shortened, text
from .summary import Summary, summarize

COLOURS = ("#0072b2", "#b36b00", "#00805c", "#b0467f", "#6a51a3", "#c0392b", "#5b7a12", "#2b7f8c")
GREY = "#7d868e"


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
    areas = [score for name, score in summary.scores.items() if name.upper() == "AUC" and np.isfinite(score)]
    return page_template().render(
        summary=summary,
        attention=graph.attention,
        plays_game=plays_game,
        certificate=prose.certificate(summary.certificate, plays_game),
        front=None if summary.front is None else summary.front.dropna(),
        area=areas[0] if areas else None,
        facts=facts(summary),
        answers=answers(summary),
        leaders=prose.leaders(graph),
        verdicts=prose.verdicts(summary.cut, prose.leaders(graph), summary.agreement),
        methods=prose.methods_paragraph(summary),
        settled=summary.cut.share or summary.agreement >= 0,
        influence=summary.hubs["influence"],
        counted=min(5, graph.n_nodes),
        version=__version__,
        data=Markup(packed_json(summary.to_dict())),
        **code(),
    )


@cache
def page_template(name: str = "page.html") -> Any:
    """Return a page's template: what goes into it is text that UTF-8 can hold, unless it is marked as markup."""
    pages = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else text(value),
    )
    pages.filters |= {"number": prose.number, "percent": prose.percent}
    return pages.get_template(name)


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the figures at the head of the page."""
    welfare, agreement = summary.drawing.views[summary.drawing.fitted].prior.welfare, summary.agreement
    return [
        ("nodes", f"{summary.graph.n_nodes:,}"),
        ("ties", f"{summary.cut.n_ties:,}"),
        ("ties of a node, on average", prose.number(2 * summary.cut.n_ties / summary.graph.n_nodes)),
        *([("of two resamples' weight is in common", prose.percent(agreement))] if np.isfinite(agreement) else []),
        *([("welfare", prose.number(welfare))] if np.isfinite(welfare) else []),
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

    ``pictures`` are the networks as SVG, one for each row (see :func:`still_picture`).
    """
    from .. import __version__  # noqa: PLC0415 (the package's root imports this module)

    style = asset("page.css")
    page = page_template("index.html").render(
        title=title,
        headings=headings,
        rows=rows,
        left_out=left_out,
        pictures=[Markup(picture) for picture in pictures],
        version=__version__,
        style=Markup(style),
        policy=policy(style),
    )
    with written_whole(path) as name:
        name.write_text(page, encoding="utf-8", newline="\n")


def open_report(model: GraphEstimator, file: str | Path | None = None, *, show: bool = True, **about: Any) -> Path:
    """Write a model's report, to a new temporary folder where no file is named, and open it."""
    path = Path(file) if file is not None else Path(tempfile.mkdtemp(prefix="nashgraph-")) / "report.html"
    write_report(summarize(model, **about), path)
    if show:
        webbrowser.open(path.resolve().as_uri())
    return path


def notebook_view(model: GraphEstimator) -> str:
    """Return what a notebook shows of a fitted model: a picture that does not move, and six facts."""
    cut = cut_of(model.graph_)
    facts = "".join(
        f'<tr><th style="text-align:start;font-weight:400;opacity:.75">{escape(name)}</th>'
        f'<td style="text-align:start">{escape(value)}</td></tr>'
        for name, value in facts_of(model, cut)
    )
    graph = model.graph_
    picture = still_picture(graph, make_drawing(model, None, cut).layout(graph.names[graph.by_influence]))
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:center">{picture}<div><table>{facts}</table>'
        "<p>Open the page with <code>model.report()</code>.</p></div></div>"
    )


def facts_of(model: GraphEstimator, cut: Cut) -> list[tuple[str, str]]:
    """Return six facts about a learned network."""
    graph, first = model.graph_, prose.leaders(model.graph_)
    at = f" ({cut.column} of 50% or more)" if cut.share else ""
    stability = f"{model.agreement_:.0%} of the weight" if np.isfinite(model.agreement_) else "not measured"
    leaders = f"not settled: {first.first[0]} or others" if first.rivals else ", ".join(first.first)
    leaders = leaders if first.supported else first.sentence
    return [
        ("method", type(model).__name__),
        ("nodes", f"{graph.n_nodes:,}"),
        ("ties", f"{cut.n_ties:,}{at}"),
        ("most influential", leaders),
        ("replicates agree on", stability),
        ("calculation", model.certificate_.sentence),
    ]


def still_picture(graph: LearnedGraph, layout: pd.DataFrame, width: int = 640, names: int = 6) -> str:
    """Return the network as SVG: the surest ties, two or three for each node, circles by influence and community.

    ``layout`` is that of a summary: x, y and community of the nodes, most influential first. At most 800 lines and 700
    circles keep a picture at about 40 kB and readable.
    """
    order, height = graph.by_influence[: len(layout)], round(width * 0.625)
    count = min(len(order), 700)
    rank = np.full(graph.n_nodes, len(order))
    rank[order] = np.arange(len(order))
    places = layout[["x", "y"]].to_numpy()
    x, y = ((places / np.abs(places).max(axis=0).clip(1e-9) * 0.94 + 1) / 2 * (width, height)).T
    pairs = surest_pairs(cut_of(graph).ties, graph.n_edges)
    ends = np.stack([rank[pairs.source], rank[pairs.target]], axis=1)
    ends = ends[(ends < count).all(axis=1)][: int(min(800, LINES_A_NODE * len(order)))]
    tint = [COLOURS[group - 1] if group <= len(COLOURS) else GREY for group in layout["community"]]
    steps: dict[str, list[str]] = {}
    for a, b in ends.tolist():
        colour = tint[a] if tint[a] == tint[b] else GREY
        steps.setdefault(colour, []).append(f"M{x[a]:.0f} {y[a]:.0f}L{x[b]:.0f} {y[b]:.0f}")
    lines = "".join(f'<path d="{"".join(path)}" stroke="{colour}"/>' for colour, path in steps.items())
    told = graph.influence_supported is not False
    share = graph.influence[order] / max(float(graph.influence.mean()), 1e-12) if told else np.ones(len(order))
    radius = np.clip(7 * np.sqrt(share), 2.5, 14) * min(1.0, 6.0 / np.sqrt(count)) * width / 640
    dots: dict[str, list[str]] = {}
    for k in range(count):
        dots.setdefault(tint[k], []).append(f'<circle cx="{x[k]:.0f}" cy="{y[k]:.0f}" r="{max(1.5, radius[k]):.1f}"/>')
    circles = "".join(f'<g fill="{colour}">{"".join(group)}</g>' for colour, group in dots.items())
    called = shortened([text(name) for name in graph.names[order[: names if told else 0]]])
    labels = "".join(
        f'<text x="{x[k]:.0f}" y="{y[k] - radius[k] - 4:.0f}">{escape(name[:24])}</text>'
        for k, name in enumerate(called)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="The {len(ends)} surest ties of {len(x)} nodes">'
        f'<g stroke-opacity=".5" fill="none">{lines}</g>{circles}'
        f'<g font-family="sans-serif" font-size="11" text-anchor="middle" fill="currentColor">{labels}</g></svg>'
    )
