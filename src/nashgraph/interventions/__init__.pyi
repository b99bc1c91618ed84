from .driver import Answer, Questions, answer_questions
from .game import Game, what_if
from .players import key_group, key_players
from .positions import diffusion_centrality, roles
from .seeds import best_seeds, expected_reach
from .support import best_support
from .ties import best_ties, costliest_ties

__all__ = [
    "Answer",
    "Game",
    "Questions",
    "answer_questions",
    "best_seeds",
    "best_support",
    "best_ties",
    "costliest_ties",
    "diffusion_centrality",
    "expected_reach",
    "key_group",
    "key_players",
    "roles",
    "what_if",
]
