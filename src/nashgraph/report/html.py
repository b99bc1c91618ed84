"""A summary as one HTML file that needs nothing else: data, styles, scripts and the drawing library are inside.

The page is built as a tree of elements and only then written, so that a name, a title or a note can never become
markup. A content security policy admits the page's own scripts and styles, by their hashes, and nothing from outside.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

import pandas as pd

from ..files import written_whole
from .plain import page_json, shortened, text
from .prose import MEANINGS, number, percent
from .summary import Summary

SCRIPTS = ("data.js", "network.js", "charts.js", "page.js")
HUBS_SHOWN = 15
HUBS_COUNTED = 5
HUBS_NAMED = 3
HEADINGS = {
    "influence": "Influence",
    "followers": "Listened to by",
    "listens_to": "Listens to",
    "action": "Action",
    "benefit": "Benefit",
}
CHARTS = {
    "weight": "Weight of a line",
    "listens_to": "How many a node listens to",
    "followers": "How many listen to it",
}


def write_report(summary: Summary, out_path: str | Path) -> None:
    """Write a summary as one HTML file, whole or not at all.

    The file holds everything it needs and asks nothing of the network; it opens by double-click.

    Parameters
    ----------
    summary : Summary
    out_path : str or Path

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

    page = fromstring(asset("page.html"))
    by_id = {element.get("id"): element for element in page.iter() if element.get("id")}
    by_id["title"].text = text(summary.title)
    find(page, "head/title").text = text(summary.title)
    fill_standfirst(by_id["standfirst"], summary)
    fill_terms(by_id["facts"], facts(summary))
    fill_or_remove(page, by_id["left-out"], summary.drawing.left_out)
    fill_passages(by_id["reading"], summary)
    fill_hubs(by_id["hubs"], by_id["hubs-sentence"], summary)
    fill_charts(by_id["distributions"], summary)
    fill_certificate(by_id["certificate"], summary.certificate)
    fill_or_remove(page, by_id["history"], summary.history_sentence, "figcaption")
    fill_or_remove(page, by_id["path"], summary.front_sentence, "p[@id='front-sentence']")
    fill_notes(by_id["notes"], summary)
    fill_terms(by_id["parameters"], summary.parameters.items(), MEANINGS)
    by_id[
        "made"
    ].text = f"Made by nashgraph {__version__}. The file is complete: it needs no network and sends nothing."
    by_id["data"].text = page_json(summary.to_dict())
    add_code(page, by_id["policy"])
    return "<!DOCTYPE html>\n" + tostring(page, encoding="unicode", method="html")


# ------------------------------------------------------------------------------------------------ parts


def fill_standfirst(paragraph: Element, summary: Summary) -> None:
    """Say in two sentences what was learned from what, and who stands out."""
    source = f" from {text(summary.source)}" if summary.source else ""
    paragraph.text = (
        f"{summary.method} learned {summary.n_edges:,} ties among {summary.n_nodes:,} nodes{source}. Most influential: "
    )
    names = shown_names(summary.hubs.head(HUBS_NAMED))
    for place, name in enumerate(names):
        last = place == len(names) - 1
        add(paragraph, "bdi", name).tail = ". " if last else " and " if place == len(names) - 2 else ", "


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the figures at the head of the page."""
    found = [
        ("nodes", f"{summary.n_nodes:,}"),
        ("ties", f"{summary.n_edges:,}"),
        ("neighbours listened to, on average", number(summary.n_edges / summary.n_nodes)),
    ]
    own = summary.drawing.views[summary.drawing.fitted]
    if own.action is not None:
        found.append(("welfare", number(own.welfare)))
    return found + [(text(name), number(score)) for name, score in summary.scores.items()]


def fill_passages(parent: Element, summary: Summary) -> None:
    """Write the passages of "how to read this"."""
    for passage in summary.reading:
        add(parent, "h3", passage.heading)
        add(parent, "p", passage.text)


def fill_hubs(table: Element, sentence: Element, summary: Summary) -> None:
    """Write the most influential nodes as a table whose names are buttons."""
    hubs = summary.hubs.head(HUBS_SHOWN)
    influence = summary.hubs["influence"]
    if summary.n_edges:
        counted = min(HUBS_COUNTED, summary.n_nodes)
        share = percent(float(influence.head(counted).sum() / influence.sum()))
        sentence.text = f"The {counted} most influential of {summary.n_nodes:,} nodes hold {share} of all influence."
    if summary.front is not None:
        sentence.text = f"{sentence.text or ''} The table is that of the fitted graph, whichever λ is drawn above."
    columns = [name for name in HEADINGS if name in hubs.columns]
    row = SubElement(find(table, "thead"), "tr")
    add(row, "th", "Node", scope="col")
    for name in columns:
        add(row, "th", HEADINGS[name], scope="col", **{"class": "figure"})
    body = find(table, "tbody")
    top = float(hubs["influence"].iloc[0]) or 1.0
    written = {column: evenly(hubs[column]) for column in columns}
    for place, name in enumerate(shown_names(hubs)):
        row = SubElement(body, "tr")
        cell = SubElement(row, "th", scope="row")
        add(SubElement(cell, "button", {"type": "button", "class": "node", "data-node": str(place)}), "bdi", name)
        for column in columns:
            cell = SubElement(row, "td", {"class": "figure"})
            if column == "influence":
                cell.append(bar(float(hubs[column].iloc[place]) / top))
            add(cell, "span", written[column][place])


def evenly(values: pd.Series[Any]) -> list[str]:
    """Write a column of numbers with as many decimals each, three figures for the largest.

    Examples
    --------
    >>> evenly(pd.Series([4.321, 0.5])), evenly(pd.Series([28, 7]))
    (['4.32', '0.50'], ['28', '7'])
    """
    largest = float(values.abs().max())
    whole = values.dtype.kind in "iu" or largest == 0
    decimals = 0 if whole else max(0, 2 - math.floor(math.log10(largest)))
    return [f"{value:,.{decimals}f}" for value in values]


def bar(share: float) -> Element:
    """Return a small bar, some share of its full length."""
    drawing = Element(
        "svg", {"class": "bar", "viewBox": "0 0 100 8", "preserveAspectRatio": "none", "aria-hidden": "true"}
    )
    SubElement(drawing, "rect", {"width": f"{100 * share:.1f}", "height": "8"})
    return drawing


def fill_charts(parent: Element, summary: Summary) -> None:
    """Make room for the histograms, with their sentences; the same picture is not shown twice."""
    mutual = bool((summary.hubs["followers"] == summary.hubs["listens_to"]).all())
    for name, bins in summary.distributions.items():
        if mutual and name == "listens_to":
            continue
        figure = SubElement(parent, "figure")
        heading = "How many neighbours a node has" if mutual and name == "followers" else CHARTS[name]
        add(figure, "h3", heading, id=f"{name}-heading")
        SubElement(figure, "div", {"class": "chart needs-script", "data-chart": name})
        add(figure, "figcaption", bins.sentence)


def fill_certificate(parent: Element, certificate: str) -> None:
    """Write the certificate, its first sentence large."""
    opening, stop, rest = certificate.partition(". ")
    add(parent, "p", opening + stop.strip(), **{"class": "opening"})
    if rest:
        add(parent, "p", rest)


def fill_notes(parent: Element, summary: Summary) -> None:
    """Write what was done to the table and what is left out."""
    for heading, sentences in (("The table", summary.notes), ("Not in this report", summary.absent)):
        if sentences:
            add(parent, "h3", heading)
            items = SubElement(parent, "ul")
            for sentence in sentences:
                add(items, "li", text(sentence), dir="auto")


def fill_terms(parent: Element, terms: Iterable[tuple[str, str]], meanings: Mapping[str, str] = {}) -> None:
    """Write names and values as a list of definitions, some with what they mean."""
    for name, value in terms:
        group = SubElement(parent, "div")
        term = add(group, "dt", text(name))
        if name in meanings:
            add(term, "small", meanings[name])
        add(group, "dd", text(value), dir="auto")


def fill_or_remove(page: Element, element: Element, sentence: str, inside: str = ".") -> None:
    """Write a sentence, or take the whole element out where there is none."""
    if sentence:
        find(element, inside).text = sentence
        return
    parent = next(parent for parent in page.iter() if element in list(parent))
    parent.remove(element)


def shown_names(hubs: pd.DataFrame) -> list[str]:
    """Return the names of some nodes as they are shown."""
    return shortened([text(name) for name in hubs["name"]])


# ------------------------------------------------------------------------------------------------- tools


def add(parent: Element, tag: str, content: str, **attributes: str) -> Element:
    """Add an element that holds text."""
    element = SubElement(parent, tag, attributes)
    element.text = content
    return element


def find(parent: Element, path: str) -> Element:
    """Return an element that the page must have."""
    element = parent.find(path)
    if element is None:
        raise LookupError(f"page.html has no {path} in its {parent.tag}: reinstall nashgraph, its assets are damaged")
    return element


@cache
def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def add_code(page: Element, policy: Element) -> None:
    """Put styles and scripts into the page, and a policy that admits these and nothing else."""
    style = asset("page.css")
    find(page, "head/style").text = style
    library = f"/*\n{asset('d3.LICENSE')}*/\n{asset('d3.min.js')}"
    scripts = [library, '"use strict";\n' + "\n".join(asset(name) for name in SCRIPTS)]
    body = find(page, "body")
    for script in scripts:
        SubElement(body, "script").text = script
    rules = [
        "default-src 'none'",
        f"style-src {digest(style)}",
        f"script-src {' '.join(digest(script) for script in scripts)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    policy.set("content", "; ".join(rules))


def digest(code: str) -> str:
    """Return the hash by which a policy names a script.

    Examples
    --------
    >>> digest("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
