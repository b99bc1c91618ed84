"""Functional priors: what a network is good for, as a value and a low-rank gradient (fact 11 of the design)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..registry import Registry
from ..validation import Array
from .dynamics import Dynamics, DynamicsState, Epidemic, FixedPointPrior
from .evidence import PriorEvidence, prior_evidence
from .game import Activities, GamePrior
from .implicit import ImplicitPrior
from .opinions import GraphFilter, Opinions
from .prior import CustomPrior, LinearPrior, Prior, State, SumOfPriors
from .resilience import Resilience, TieDeletion, random_deletions, targeted_deletions

# Priors by name, made from benefits that sum to 1: what ``GLGP(prior="epidemic")`` and --prior mean.
PRIORS: Registry[Callable[[Array], Any]] = Registry("prior")
PRIORS.register("game")(GamePrior)
PRIORS.register("substitutes")(lambda b: GamePrior(b, "linear", share=-0.9))
PRIORS.register("spread")(lambda b: Epidemic(0.01 + 0.1 * b / b.max(), 1.5))
PRIORS.register("containment")(lambda b: -Epidemic(0.01 + 0.1 * b / b.max(), 1.5))
PRIORS.register("resilience")(lambda b: Resilience(GamePrior(b), random_deletions(len(b))))
PRIORS.register("agreement")(lambda b: -Opinions(b / b.max(), "polarisation"))
PRIORS.register("diffusion")(lambda b: GraphFilter([0.0, 1.0, 1.0, 1.0], b))

__all__ = [
    "PRIORS",
    "Activities",
    "CustomPrior",
    "Dynamics",
    "DynamicsState",
    "Epidemic",
    "FixedPointPrior",
    "GamePrior",
    "GraphFilter",
    "ImplicitPrior",
    "LinearPrior",
    "Opinions",
    "Prior",
    "PriorEvidence",
    "Resilience",
    "State",
    "SumOfPriors",
    "TieDeletion",
    "prior_evidence",
    "random_deletions",
    "targeted_deletions",
]
