"""A model shown where it was fitted: its report in the browser, or in a notebook."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import Any

from markupsafe import escape

from ..estimators import GraphEstimator
from .html import render, write_report
from .summary import summarize

FRAMED = 5_000  # nodes up to which a notebook holds the page; a larger one is megabytes
HEIGHT = 760


def open_report(model: GraphEstimator, file: str | Path | None = None, *, show: bool = True, **about: Any) -> Path:
    """Write a model's report, to a new temporary folder where no file is named, and open it."""
    path = Path(file) if file is not None else Path(tempfile.mkdtemp(prefix="nashgraph-")) / "report.html"
    write_report(summarize(model, **about), path)
    if show:
        webbrowser.open(path.resolve().as_uri())
    return path


def framed(model: GraphEstimator) -> str | None:
    """Return a model's report in a frame, which keeps its scripts from those of the notebook; None of a large one."""
    if model.graph_.n_nodes > FRAMED:
        return None
    return (
        f'<iframe srcdoc="{escape(render(summarize(model)))}" sandbox="allow-scripts allow-downloads" width="100%" '
        f'height="{HEIGHT}" style="border: 0" title="The learned network"></iframe>'
    )
