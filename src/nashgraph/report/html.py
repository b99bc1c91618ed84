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
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ..estimators import GraphEstimator
from ..files import written_whole
from ..graph import LearnedGraph
from . import prose
from .comparing import GroupComparison
from .cut import cut_of
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
    >>> from nashgraph import SmoothGL
    >>> out = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(summarize(SmoothGL().fit(np.random.default_rng(0).normal(size=(20, 30)))), out)
    >>> out.stat().st_size < 6e6
    True
    """
    page = render(summary)
    with written_whole(out_path) as name:
        name.write_text(page, encoding="utf-8", newline="\n")


def render(summary: Summary) -> str:
    """Return the page as text."""
    graph = summary.graph
    script = f"/*\nParts of d3:\n{asset('d3.LICENSE')}*/\n{asset('page.js')}"
    leaders = prose.leaders(graph)
    numbers = {name: number for number, name in enumerate(summary.hubs["name"].head(len(summary.drawing.positions)))}
    if summary.interventions is None:
        answers = []
    else:
        answers = summary.interventions.answers
    return filled(
        "page.html",
        script,
        summary=summary,
        numbers=numbers,
        answers=[(each, *page_table(each.table.head(each.shown), numbers)) for each in answers],
        leaders=leaders,
        verdicts=prose.verdicts(summary, leaders),
        methods=prose.methods_paragraph(summary),
        supplement=prose.methods_supplement(summary),
        calibration_words=prose.calibration_sentence(summary.trust),
        data=Markup(packed_json(summary.to_dict())),
    )


@cache
def templates() -> Environment:
    """Return the pages' templates: what goes into them is text that UTF-8 can hold, unless it is marked as markup."""
    pages = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else text(value),
    )
    pages.filters |= {"number": prose.number, "percent": prose.percent}
    return pages


def filled(page: str, script: str, **values: Any) -> str:
    """Return a page with its style and script, and a policy that admits these by their hashes and nothing else."""
    from .. import __version__  # noqa: PLC0415 (the package's root imports this module)

    style = asset("page.css")
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]
    policy = (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    inside = {"style": Markup(style), "script": Markup(script), "policy": policy, "version": __version__}
    return templates().get_template(page).render(**values, **inside)


@cache
def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def write_index(
    path: str | Path,
    title: str,
    headings: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    left_out: Sequence[str],
    pictures: Sequence[str] = (),
    comparison: GroupComparison | None = None,
) -> None:
    """Write a table of reports as one HTML file: a row has a report's address and cells, the first of them the link.

    ``pictures`` are the networks as SVG, one for each row (see :func:`still_picture`). What the last column says of
    every row alike stands once, below the table.
    """
    drawn = [Markup(picture) for picture in pictures]
    last = {cells[-1] for _, cells in rows}
    said_once = last.pop() if len(last) == 1 and len(rows) > 1 else ""
    if said_once:
        headings = headings[:-1]
        rows = [(address, cells[:-1]) for address, cells in rows]
    values = {"title": title, "headings": headings, "rows": rows, "left_out": left_out, "pictures": drawn}
    page = filled("index.html", "", said_once=said_once, comparison=comparison, **values)
    with written_whole(path) as name:
        name.write_text(page, encoding="utf-8", newline="\n")


def open_report(model: GraphEstimator, file: str | Path | None = None, *, show: bool = True, **about: Any) -> Path:
    """Write a model's report, to a new temporary folder where no file is named, and open it."""
    if file is not None:
        path = Path(file)
    else:
        path = Path(tempfile.mkdtemp(prefix="nashgraph-")) / "report.html"
    write_report(summarize(model, **about), path)
    if show:
        webbrowser.open(path.resolve().as_uri())
    return path


def notebook_view(model: GraphEstimator) -> str:
    """Return what a notebook shows of a fitted model: a picture that does not move, and six facts."""
    graph = model.graph_
    cut = cut_of(model.graph_)
    layout = make_drawing(model, None, cut).layout(graph.names[graph.by_influence])
    page = templates().get_template("notebook.html")
    picture = Markup(still_picture(graph, layout))
    return page.render(model=model, method=type(model).__name__, cut=cut, leaders=prose.leaders(graph), picture=picture)


def still_picture(graph: LearnedGraph, layout: pd.DataFrame, width: int = 640, names: int = 6) -> str:
    """Return the network as SVG: the surest ties, two or three for each node, circles by influence and community.

    ``layout`` is that of a summary: x, y and community of the nodes, most influential first. At most 800 lines and 700
    circles keep a picture at about 40 kB and readable.
    """
    order = graph.by_influence[: len(layout)]
    height = round(width * 0.625)
    count = min(len(order), 700)
    rank = np.full(graph.n_nodes, len(order))
    rank[order] = np.arange(len(order))
    places = layout[["x", "y"]].to_numpy()
    x, y = ((places / np.abs(places).max(axis=0).clip(1e-9) * 0.94 + 1) / 2 * (width, height)).T
    pairs = surest_pairs(cut_of(graph).ties, graph.n_edges)
    ends = np.stack([rank[pairs.source], rank[pairs.target]], axis=1)
    ends = ends[(ends < count).all(axis=1)][: int(min(800, LINES_A_NODE * len(order)))]
    tint = [COLOURS[group - 1] if group <= len(COLOURS) else GREY for group in layout["community"]]
    lines = defaultdict[str, list[Any]](list)
    circles = defaultdict[str, list[Any]](list)
    for a, b in ends.tolist():
        lines[tint[a] if tint[a] == tint[b] else GREY].append((x[a], y[a], x[b], y[b]))
    told = graph.influence_supported is not False
    if told:
        share = graph.influence[order] / max(float(graph.influence.mean()), 1e-12)
    else:
        share = np.ones(len(order))
    radius = np.clip(7 * np.sqrt(share), 2.5, 14) * min(1.0, 6.0 / np.sqrt(count)) * width / 640
    for k in range(count):
        circles[tint[k]].append((x[k], y[k], max(1.5, radius[k])))
    called = shortened([text(name) for name in graph.names[order[: names if told else 0]]])
    labels = [(x[k], y[k] - radius[k] - 4, name[:24]) for k, name in enumerate(called)]
    size = {"width": width, "height": height, "n_nodes": len(x), "n_ties": len(ends)}
    return templates().get_template("picture.svg").render(lines=lines, circles=circles, labels=labels, **size)
