"""The look of the experiments' figures, after the paper's, in colours that all eyes can tell apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # matplotlib is an extra: imported where something is drawn

__all__ = ["COLOURS", "Figure", "new_figure", "save_figure"]
# Okabe and Ito's colours, the dark ones first.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f", "#8c510a", "#66a61e")


def new_figure(columns: int = 1, width: float = 5.4, height: float = 4.0, **options: Any) -> tuple[Figure, Any]:
    """Return an empty figure and its axes, with a light grid."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'nashgraph[plot]'") from error
    figure = Figure(figsize=(width * columns, height), layout="constrained")
    axes = figure.subplots(1, columns, **options)
    for each in figure.axes:
        each.grid(alpha=0.3)
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, the same bytes each time."""
    import matplotlib  # noqa: PLC0415

    with matplotlib.rc_context({"svg.hashsalt": "nashgraph"}), written_whole(path) as partial:
        figure.savefig(partial, format="svg", metadata={"Date": None})
