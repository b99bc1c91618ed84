from .by_name import PRIORS
from .dynamics import Dynamics, DynamicsState, Epidemic, FixedPointPrior
from .game import Activities, GamePrior
from .nash import adjoint, equilibrium, welfare
from .opinions import GraphFilter, Opinions
from .prior import CustomPrior, LinearPrior, Prior, State, SumOfPriors, UnansweredError
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
    "LinearPrior",
    "Opinions",
    "Prior",
    "PriorTest",
    "Resilience",
    "State",
    "SumOfPriors",
    "TieDeletion",
    "UnansweredError",
    "adjoint",
    "equilibrium",
    "prior_test",
    "random_deletions",
    "targeted_deletions",
    "welfare",
]
