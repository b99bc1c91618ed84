from .by_name import PRIORS
from .dynamics import Dynamics, DynamicsState, Epidemic, FixedPointPrior
from .game import Activities, GamePrior
from .implicit import ImplicitPrior
from .opinions import GraphFilter, Opinions
from .prior import CustomPrior, LinearPrior, Prior, State, SumOfPriors
from .relabelling import PriorTest, prior_test
from .resilience import Resilience, TieDeletion, random_deletions, targeted_deletions

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
    "PriorTest",
    "Resilience",
    "State",
    "SumOfPriors",
    "TieDeletion",
    "prior_test",
    "random_deletions",
    "targeted_deletions",
]
