"""A fitted result as summary data, as plots, and as one self-contained page."""

from .html import write_report
from .plots import plot_adjacency, plot_convergence, plot_graph, plot_path
from .summary import Summary, summarize

__all__ = [
    "Summary",
    "plot_adjacency",
    "plot_convergence",
    "plot_graph",
    "plot_path",
    "summarize",
    "write_report",
]
