"""A fitted result as summary data, as plots, and as one self-contained page."""

from .comparing import Differences, GroupTest, compare_groups, differences, plot_differences
from .figures import (
    plot_calibration,
    plot_evidence,
    plot_influence,
    plot_networks,
    plot_precision_recall,
    plot_profile,
    plot_stability,
    stability_curve,
)
from .html import write_report
from .plots import plot_adjacency, plot_convergence, plot_graph, plot_path
from .prose import methods_paragraph
from .summary import Summary, summarize

__all__ = [
    "Differences",
    "GroupTest",
    "Summary",
    "compare_groups",
    "differences",
    "methods_paragraph",
    "plot_adjacency",
    "plot_calibration",
    "plot_convergence",
    "plot_differences",
    "plot_evidence",
    "plot_graph",
    "plot_influence",
    "plot_networks",
    "plot_path",
    "plot_precision_recall",
    "plot_profile",
    "plot_stability",
    "stability_curve",
    "summarize",
    "write_report",
]
