"""The set S of admissible graphs: edge costs, the row best response, and the degree that fixes beta."""

from .degree import beta_for_degree
from .dense import DenseCoupling, DenseStorage
from .distances import distance_perron_vector, node_points, squared_distances
from .simplex import project_rows

__all__ = [
    "DenseCoupling",
    "DenseStorage",
    "beta_for_degree",
    "distance_perron_vector",
    "node_points",
    "project_rows",
    "squared_distances",
]
