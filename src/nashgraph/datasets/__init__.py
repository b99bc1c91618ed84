"""Networks and signals to learn from."""

from .graphs import (
    erdos_renyi,
    preferential_attachment,
    random_geometric,
    small_world,
    stochastic_block_model,
)
from .signals import smooth_signals

__all__ = [
    "erdos_renyi",
    "preferential_attachment",
    "random_geometric",
    "small_world",
    "smooth_signals",
    "stochastic_block_model",
]
