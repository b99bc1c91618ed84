"""The set S of admissible graphs: the points, the row best response, the smoothness term on S, and degree as beta."""

from .choose import STORAGES, make_smoothness
from .degree import beta_for_degree
from .dense import DenseCoupling, DenseSmoothness
from .implicit import ImplicitCoupling, ImplicitSmoothness
from .listed import ListedSmoothness
from .passes import LamRange, NeighbourSpread, Work
from .points import ENGINES, PartialPoints, Points, blas_threads, points_of, squared_distances
from .simplex import project_rows
from .smoothness import Coupling, Smoothness, SparseCoupling
from .sparse import SparseSmoothness

__all__ = [
    "ENGINES",
    "STORAGES",
    "Coupling",
    "DenseCoupling",
    "DenseSmoothness",
    "ImplicitCoupling",
    "ImplicitSmoothness",
    "LamRange",
    "ListedSmoothness",
    "NeighbourSpread",
    "PartialPoints",
    "Points",
    "Smoothness",
    "SparseCoupling",
    "SparseSmoothness",
    "Work",
    "beta_for_degree",
    "blas_threads",
    "make_smoothness",
    "points_of",
    "project_rows",
    "squared_distances",
]
