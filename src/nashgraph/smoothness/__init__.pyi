from .degree import Ladder, beta_for_degree, response_ladder, smooth_ladder
from .term import STORAGES, Smoothness, expected_degree, make_smoothness, suitable_storage

__all__ = [
    "STORAGES",
    "Ladder",
    "Smoothness",
    "beta_for_degree",
    "expected_degree",
    "make_smoothness",
    "response_ladder",
    "smooth_ladder",
    "suitable_storage",
]
