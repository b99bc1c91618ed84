from .bonus import Bonus
from .candidates import CandidateSet
from .engines import ENGINES
from .scans import Work
from .search import GEOMETRIES, GappedPairSearch, PairSearch, make_search, squared_distances
from .simplex import project_rows
from .threads import blas_threads
from .weights import HERE, Place, SparseWeights, Weights

__all__ = [
    "ENGINES",
    "GEOMETRIES",
    "HERE",
    "Bonus",
    "CandidateSet",
    "GappedPairSearch",
    "PairSearch",
    "Place",
    "SparseWeights",
    "Weights",
    "Work",
    "blas_threads",
    "make_search",
    "project_rows",
    "squared_distances",
]
