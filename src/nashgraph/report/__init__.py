"""A fitted result as summary data, as plots, and as one self-contained page."""

from .figures import (
    plot_calibration,
    plot_evidence,
    plot_influence,
    plot_precision_recall,
    plot_stability,
    stability_curve,
)
from .html import write_report
from .methods import methods_paragraph
from .plots import plot_adjacency, plot_convergence, plot_graph, plot_path
from .summary import Summary, summarize

__all__ = [
    "Summary",
    "methods_paragraph",
    "plot_adjacency",
    "plot_calibration",
    "plot_convergence",
    "plot_evidence",
    "plot_graph",
    "plot_influence",
    "plot_path",
    "plot_precision_recall",
    "plot_stability",
    "stability_curve",
    "summarize",
    "write_report",
]
