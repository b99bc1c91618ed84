"""A model shown where it was fitted: its page in the browser, a still picture and six facts in a notebook."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import escape

from ..estimators import GraphEstimator
from ..graph import LearnedGraph
from . import prose
from .cut import Cut, cut_of
from .drawing import make_drawing
from .html import write_report
from .plain import shortened, text
from .plots import LINES_A_NODE, surest_pairs
from .summary import summarize

WIDTH, HEIGHT = 640, 400
LINES, CIRCLES, NAMES = 800, 700, 6  # what keeps a picture at about 40 kB and readable
COLOURS = ("#0072b2", "#b36b00", "#00805c", "#b0467f", "#6a51a3", "#c0392b", "#5b7a12", "#2b7f8c")
GREY = "#7d868e"


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


def still_picture(graph: LearnedGraph, layout: pd.DataFrame, width: int = WIDTH, names: int = NAMES) -> str:
    """Return the network as SVG: the surest ties, two or three for each node, circles by influence and community.

    ``layout`` is that of a summary: x, y and community of the nodes, most influential first.

    Examples
    --------
    >>> graph = LearnedGraph.of(np.array([[0.0, 0.4], [0.2, 0.0]]), ["ann", "bob"])
    >>> still_picture(graph, pd.DataFrame({"x": [-1.0, 1.0], "y": [0.0, 0.0], "community": [1, 1]})).count("<circle")
    2
    """
    order, height = graph.by_influence[: len(layout)], round(width * HEIGHT / WIDTH)
    count = min(len(order), CIRCLES)
    rank = np.full(graph.n_nodes, len(order))
    rank[order] = np.arange(len(order))
    places = layout[["x", "y"]].to_numpy()
    x, y = ((places / np.abs(places).max(axis=0).clip(1e-9) * 0.94 + 1) / 2 * (width, height)).T
    pairs = surest_pairs(cut_of(graph).ties, graph.n_edges)
    ends = np.stack([rank[pairs.source], rank[pairs.target]], axis=1)
    ends = ends[(ends < count).all(axis=1)][: int(min(LINES, LINES_A_NODE * len(order)))]
    tint = [COLOURS[group - 1] if group <= len(COLOURS) else GREY for group in layout["community"]]
    steps: dict[str, list[str]] = {}
    for a, b in ends.tolist():
        colour = tint[a] if tint[a] == tint[b] else GREY
        steps.setdefault(colour, []).append(f"M{x[a]:.0f} {y[a]:.0f}L{x[b]:.0f} {y[b]:.0f}")
    lines = "".join(f'<path d="{"".join(path)}" stroke="{colour}"/>' for colour, path in steps.items())
    told = graph.influence_supported is not False
    share = graph.influence[order] / max(float(graph.influence.mean()), 1e-12) if told else np.ones(len(order))
    radius = np.clip(7 * np.sqrt(share), 2.5, 14) * min(1.0, 6.0 / np.sqrt(count)) * width / WIDTH
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
