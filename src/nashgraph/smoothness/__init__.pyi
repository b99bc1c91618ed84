from .degree import Ladder, Scale, beta_for_degree, response_ladder, scale_for_degree, smooth_ladder
from .term import STORAGES, Smoothness, expected_degree, make_smoothness, smoothness_of_degree, suitable_storage

__all__ = [
    "STORAGES",
    "Ladder",
    "Scale",
    "Smoothness",
    "beta_for_degree",
    "expected_degree",
    "make_smoothness",
    "response_ladder",
    "scale_for_degree",
    "smooth_ladder",
    "smoothness_of_degree",
    "suitable_storage",
]
