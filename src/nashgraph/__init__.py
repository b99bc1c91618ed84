"""nashgraph learns a network's topology from signals on its nodes, when the network is one that people built.

>>> import networkx as nx
>>> from nashgraph import GLGP, edge_auc
>>> from nashgraph.datasets import smooth_signals
>>> club = nx.karate_club_graph()
>>> X = smooth_signals(club, n_signals=50, filter="gmrf", random_state=0)
>>> model = GLGP(lam=0.3, degree=10).fit(X)
>>> edge_auc(model.adjacency_, club) > 0.75
True
"""

from .compare import compare
from .couplings import project_rows, squared_distances
from .estimators import (
    GLGP,
    GLSigRep,
    GraphEstimator,
    GraphicalLassoGL,
    LinearGLGP,
    LogDegreeGL,
    ModularGL,
    QuadGameGL,
    SmoothGL,
    SpecTemp,
    glgp_path,
    spectral_benefit,
)
from .games import (
    CustomInteraction,
    CustomWelfare,
    Exponential,
    Interaction,
    Linear,
    Log1p,
    Saturating,
    TotalAction,
    Utilitarian,
    WeightedTotal,
    Welfare,
    adjoint,
    equilibrium,
    welfare,
)
from .metrics import (
    adjacency_matrix,
    edge_auc,
    edge_average_precision,
    edge_precision_recall,
    equal_influence,
    welfare_gain,
)
from .report import plot_adjacency, plot_convergence, plot_graph, plot_path, summarize, write_report
from .validation import DataWarning

__version__ = "0.1.0"

__all__ = [
    "GLGP",
    "CustomInteraction",
    "CustomWelfare",
    "DataWarning",
    "Exponential",
    "GLSigRep",
    "GraphEstimator",
    "GraphicalLassoGL",
    "Interaction",
    "Linear",
    "LinearGLGP",
    "Log1p",
    "LogDegreeGL",
    "ModularGL",
    "QuadGameGL",
    "Saturating",
    "SmoothGL",
    "SpecTemp",
    "TotalAction",
    "Utilitarian",
    "WeightedTotal",
    "Welfare",
    "adjacency_matrix",
    "adjoint",
    "compare",
    "edge_auc",
    "edge_average_precision",
    "edge_precision_recall",
    "equal_influence",
    "equilibrium",
    "glgp_path",
    "plot_adjacency",
    "plot_convergence",
    "plot_graph",
    "plot_path",
    "project_rows",
    "spectral_benefit",
    "squared_distances",
    "summarize",
    "welfare",
    "welfare_gain",
    "write_report",
]
