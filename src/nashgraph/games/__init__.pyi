from ._fixed_points import FixedPoint, solve_affine, solve_response
from .feedback import NoEquilibriumError, spectral_radius
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
from .welfares import WELFARES, CustomWelfare, EqualGroups, TotalAction, Utilitarian, WeightedTotal, Welfare, as_welfare

__all__ = [
    "INTERACTIONS",
    "WELFARES",
    "CustomInteraction",
    "CustomWelfare",
    "EqualGroups",
    "Exponential",
    "FixedPoint",
    "Interaction",
    "Linear",
    "Log1p",
    "NoEquilibriumError",
    "Saturating",
    "TotalAction",
    "Utilitarian",
    "WeightedTotal",
    "Welfare",
    "as_interaction",
    "as_welfare",
    "check_h1",
    "solve_affine",
    "solve_response",
    "spectral_radius",
]
