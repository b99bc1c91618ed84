"""Other people's methods: each learns a graph and returns it with the certificate of its problem."""

from .candidate_pairs import CandidatePairs, NearestPairs
from .laplacian_rank import constrained_rank
from .log_degree import log_degree_graph
from .quadratic_games import quad_game
from .signal_representation import sig_rep
from .template_graph import spectral_templates, template_basis

__all__ = [
    "CandidatePairs",
    "NearestPairs",
    "constrained_rank",
    "log_degree_graph",
    "quad_game",
    "sig_rep",
    "spectral_templates",
    "template_basis",
]
