from .degree import Ladder, answering_ladder, beta_for_degree, smooth_ladder
from .term import STORAGES, Smoothness, expected_degree, make_smoothness, suitable_storage

__all__ = [
    "STORAGES",
    "Ladder",
    "Smoothness",
    "answering_ladder",
    "beta_for_degree",
    "expected_degree",
    "make_smoothness",
    "smooth_ladder",
    "suitable_storage",
]
