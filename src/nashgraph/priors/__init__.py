"""Functional priors: what a network is good for, as a value and a low-rank gradient (fact 11 of the design)."""

from .game import GamePrior, GameState
from .prior import Prior, State

__all__ = ["GamePrior", "GameState", "Prior", "State"]
