"""The set S of admissible graphs: edge costs, the row best response, how a graph is held, and degree as beta."""

from ._kernels import first_change, neighbour_spread
from .choose import DTYPES, STORAGES, make_storage
from .degree import beta_for_degree
from .dense import DenseCoupling, DenseStorage
from .distances import (
    PartialPoints,
    Points,
    blas_threads,
    distance_perron_vector,
    node_points,
    points_of,
    squared_distances,
)
from .implicit import ImplicitCoupling, ImplicitStorage
from .listed import ListedStorage, listed_storage
from .protocol import Coupling, Storage, fidelity, smooth_graph
from .simplex import project_rows, project_simplex
from .sparse import SparseCoupling, SparseStorage, positive_part

__all__ = [
    "DTYPES",
    "STORAGES",
    "Coupling",
    "DenseCoupling",
    "DenseStorage",
    "ImplicitCoupling",
    "ImplicitStorage",
    "ListedStorage",
    "PartialPoints",
    "Points",
    "SparseCoupling",
    "SparseStorage",
    "Storage",
    "beta_for_degree",
    "blas_threads",
    "distance_perron_vector",
    "fidelity",
    "first_change",
    "listed_storage",
    "make_storage",
    "neighbour_spread",
    "node_points",
    "points_of",
    "positive_part",
    "project_rows",
    "project_simplex",
    "smooth_graph",
    "squared_distances",
]
