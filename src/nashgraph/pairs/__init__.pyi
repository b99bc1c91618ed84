from .bonus import Bonus
from .candidates import CandidatePairs, CandidateSet
from .engines import ENGINES
from .points import GappedPoints, Points, points_of
from .scans import Executor, Task
from .search import GEOMETRIES, BlockSearch, PairSearch, block_search, make_search, squared_distances
from .simplex import project_rows
from .threads import blas_threads
from .weights import SparseWeights, Weights

__all__ = [
    "ENGINES",
    "GEOMETRIES",
    "BlockSearch",
    "Bonus",
    "CandidatePairs",
    "CandidateSet",
    "Executor",
    "GappedPoints",
    "PairSearch",
    "Points",
    "SparseWeights",
    "Task",
    "Weights",
    "blas_threads",
    "block_search",
    "make_search",
    "points_of",
    "project_rows",
    "squared_distances",
]
