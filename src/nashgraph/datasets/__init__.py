"""Networks and signals to learn from: synthetic ones, and real ones that are found on this machine or fetched."""

from .graphs import erdos_renyi, preferential_attachment, random_geometric, small_world, stochastic_block_model
from .networks import load_dolphins, load_karate, load_wiki_vote
from .signals import smooth_signals
from .store import Dataset, DatasetError
from .villages import ONE_RELIGION_VILLAGES, import_villages, load_villages

__all__ = [
    "ONE_RELIGION_VILLAGES",
    "Dataset",
    "DatasetError",
    "erdos_renyi",
    "import_villages",
    "load_dolphins",
    "load_karate",
    "load_villages",
    "load_wiki_vote",
    "preferential_attachment",
    "random_geometric",
    "small_world",
    "smooth_signals",
    "stochastic_block_model",
]
