from .choose import STORAGES, make_smoothness
from .csr import row_products, union
from .degree import Ladder, answering_ladder, beta_for_degree, smooth_ladder
from .dense import DenseCoupling, DenseSmoothness
from .engines import ENGINES
from .implicit import ImplicitCoupling, ImplicitSmoothness
from .listed import ListedSmoothness
from .passes import LamRange, NeighbourSpread, Work
from .points import PartialPoints, Points, points_of, squared_distances
from .simplex import project_rows
from .smoothness import HERE, Coupling, Place, Smoothness, SparseCoupling, place_of, single_of
from .sparse import SparseSmoothness
from .threads import blas_threads

__all__ = [
    "ENGINES",
    "HERE",
    "STORAGES",
    "Coupling",
    "DenseCoupling",
    "DenseSmoothness",
    "ImplicitCoupling",
    "ImplicitSmoothness",
    "Ladder",
    "LamRange",
    "ListedSmoothness",
    "NeighbourSpread",
    "PartialPoints",
    "Place",
    "Points",
    "Smoothness",
    "SparseCoupling",
    "SparseSmoothness",
    "Work",
    "answering_ladder",
    "beta_for_degree",
    "blas_threads",
    "make_smoothness",
    "place_of",
    "points_of",
    "project_rows",
    "row_products",
    "single_of",
    "smooth_ladder",
    "squared_distances",
    "union",
]
