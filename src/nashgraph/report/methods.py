"""A paragraph for the methods section of a paper."""

from __future__ import annotations

import html
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy

from ..graph import EVIDENCE
from ..validation import InputError
from .prose import number, percent

if TYPE_CHECKING:
    from .summary import Summary

GAME = (
    "Zhang, Liu, Wai and So (2026), Learning Graph Topology with Functional Priors via Bilevel Optimization, "
    "arXiv:2606.13885"
)
SMOOTH = "Kalofolias (2016), How to Learn a Graph from Smooth Signals, AISTATS"
LEIDEN = "Traag, Waltman and van Eck (2019), From Louvain to Leiden, Scientific Reports 9:5233"
TIES = (
    "Breza, Chandrasekhar, McCormick and Pan (2020), Using Aggregated Relational Data to Feasibly Identify Network "
    "Structure without Network Data, American Economic Review 110"
)
REFERENCES = {
    **{"GLGP": GAME, "LinearGLGP": GAME, "ConsensusGL": f"{SMOOTH}; {GAME}", "SmoothGL": SMOOTH, "TieModel": TIES}
}


PLACE = re.compile(r'<p [^>]*id="methods">(.*?)</p>', re.DOTALL)


def read_methods(page: str | Path) -> str:
    """Return the methods paragraph that a report page holds.

    Examples
    --------
    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "report.html"
    >>> _ = page.write_text('<p class="column" id="methods">A &amp; B were tied.</p>')
    >>> read_methods(page)
    'A & B were tied.'
    """
    try:
        found = PLACE.search(Path(page).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"there is no {page} to read the methods paragraph from; run nashgraph learn again") from error
    if found is None:
        raise InputError(f"{page} has no methods paragraph: it was written by an older version, so learn again")
    return html.unescape(found[1])


def methods_paragraph(summary: Summary) -> str:
    """Return what was done, with versions and references, ready to paste.

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> from nashgraph.report import summarize
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> methods_paragraph(summarize(SmoothGL(degree=4).fit(X)))
    "A network of 30 nodes was learned with SmoothGL (c 0.95, degree 4, ...; Kalofolias (2016), ...) in nashgraph ...
    """
    from .. import __version__  # noqa: PLC0415 (the package's root imports this module)

    cut, graph = summary.cut, summary.graph
    source = f" from {summary.source}" if summary.source else ""
    settings = ", ".join(f"{name} {value}" for name, value in summary.parameters.items() if value not in ("", "None"))
    reference = REFERENCES.get(summary.method)
    inside = "; ".join(part for part in (settings, reference) if part)
    counted = (
        f"Pairs of nodes with a {cut.column} of at least 50% were counted as tied"
        if cut.share
        else f"The pairs with most evidence were counted as tied, {graph.degree:.1f} per node on average"
        if cut.column == EVIDENCE and graph.degree is not None
        else "All pairs with a positive weight were counted as tied"
    )
    density = cut.n_ties / max(1, graph.n_nodes * (graph.n_nodes - 1) / 2)
    stability = (
        f" Two replicates shared {percent(summary.agreement)} of the weight." if np.isfinite(summary.agreement) else ""
    )
    scores = "".join(f" {name} against the true network: {number(score)}." for name, score in summary.scores.items())
    told = "likeness; none was observed"
    if "expected_ties" in graph.node_columns:
        told = "what people told about their ties, each with a probability"
    notes = "".join(f" {note.rstrip('.')}." for note in summary.notes)
    return (
        f"A network of {graph.n_nodes:,} nodes was learned{source} with {summary.method} ({inside}) in nashgraph "
        f"{__version__} (Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__})."
        f"{notes} {counted}: {cut.n_ties:,} ties, {percent(density)} of all pairs.{stability} The calculation: "
        f"{summary.certificate.sentence}.{scores} Communities were found by Leiden's method on modularity ({LEIDEN}). "
        f"The ties were inferred from {told}."
    )
