from ._fixed_points import FixedPoint, solve_affine, solve_concave, solve_response
from .changing import what_if
from .interactions import (
    INTERACTIONS,
    CustomInteraction,
    Exponential,
    Interaction,
    Linear,
    Log1p,
    Saturating,
    as_interaction,
    check_h1,
)
from .leaving import key_group, key_players
from .playing import adjoint, equilibrium, welfare
from .positions import roles
from .seeding import best_seeds, diffusion_centrality, expected_reach
from .society import Game
from .support import best_support
from .ties import best_ties, costliest_ties
from .welfares import WELFARES, CustomWelfare, EqualGroups, TotalAction, Utilitarian, WeightedTotal, Welfare, as_welfare

__all__ = [
    "INTERACTIONS",
    "WELFARES",
    "CustomInteraction",
    "CustomWelfare",
    "EqualGroups",
    "Exponential",
    "FixedPoint",
    "Game",
    "Interaction",
    "Linear",
    "Log1p",
    "Saturating",
    "TotalAction",
    "Utilitarian",
    "WeightedTotal",
    "Welfare",
    "adjoint",
    "as_interaction",
    "as_welfare",
    "best_seeds",
    "best_support",
    "best_ties",
    "check_h1",
    "costliest_ties",
    "diffusion_centrality",
    "equilibrium",
    "expected_reach",
    "key_group",
    "key_players",
    "roles",
    "solve_affine",
    "solve_concave",
    "solve_response",
    "welfare",
    "what_if",
]
