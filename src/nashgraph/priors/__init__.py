"""Functional priors: what a network is good for, as a value and a low-rank gradient (fact 11 of the design)."""

from .dynamics import Dynamics, DynamicsState, Epidemic, FixedPointPrior
from .game import GamePrior
from .opinions import GraphFilter, Opinions
from .prior import CustomPrior, LinearPrior, Prior, State, SumOfPriors
from .resilience import Resilience, TieDeletion, random_deletions

__all__ = [
    "CustomPrior",
    "Dynamics",
    "DynamicsState",
    "Epidemic",
    "FixedPointPrior",
    "GamePrior",
    "GraphFilter",
    "LinearPrior",
    "Opinions",
    "Prior",
    "Resilience",
    "State",
    "SumOfPriors",
    "TieDeletion",
    "random_deletions",
]
